"""Columns become checked rows; every measure refuses invalid input in the same way."""

import math

import numpy as np
import pandas as pd
import pytest

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures.measure import MultiScoreMeasure, ScoreMeasure
from fairtrial.measures.rows import LabelRows, ProbabilityRows, ScoreRows, ValueRows, WeightedRows
from tests.reference import cases

FROM_COLUMNS = [each for each in measures.registry.values() if each.facts.needs in cases.MAKE]
OF_CLASSES = [each for each in FROM_COLUMNS if each.facts.needs != "values"]
OF_SCORES = [each for each in FROM_COLUMNS if isinstance(each, ScoreMeasure)]
OF_TALLIES = [each for each in OF_SCORES if not isinstance(each, MultiScoreMeasure)]
PLAIN = {"positive": None, "labels": None, "sample_weight": None}


def each_of(chosen):
    return pytest.mark.parametrize("measure", chosen, ids=[each.name for each in chosen])


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def good(measure):
    return cases.MAKE[measure.facts.needs](np.random.default_rng(5), 2, 12)


@each_of(FROM_COLUMNS)
def test_empty_columns_are_refused(measure):
    with pytest.raises(InputError, match=r"y_true.*0"):
        measure([], [])


@each_of(FROM_COLUMNS)
def test_columns_of_different_lengths_are_refused(measure):
    y, x = good(measure)
    with pytest.raises(InputError, match=r"y_true.*12.*y_\w+.*11"):
        measure(y, x[:-1])


@each_of(FROM_COLUMNS)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0] + [1.0] * 11, "sample_weight.*-1.0.*0"),
        ([0.0] * 12, "sample_weight"),
        ([1.0] * 11, "sample_weight.*11"),
        ([1.0] * 11 + [math.nan], "sample_weight.*nan.*11"),
        (["heavy"] * 12, "sample_weight.*'heavy'"),
    ],
)
def test_bad_weights_are_refused(measure, weights, message):
    y, x = good(measure)
    with pytest.raises(InputError, match=message):
        measure(y, x, sample_weight=weights)


@each_of(FROM_COLUMNS)
@pytest.mark.parametrize("weights", [None, np.ones(12)])
@pytest.mark.parametrize("bad_value", [math.nan, math.inf, -math.inf])
def test_predictions_that_are_not_finite_are_refused(measure, bad_value, weights):
    y, x = good(measure)
    if measure.facts.needs != "labels":
        x = x.copy()
        x[3] = bad_value
        with pytest.raises(InputError, match=r"y_\w+.*(nan|inf).*\b3\b"):
            measure(y, x, sample_weight=weights)
    elif math.isnan(bad_value):
        x = x.astype(float)
        x[3] = bad_value
        with pytest.raises(InputError, match=r"y_pred.*\b3\b"):
            measure(y, x, sample_weight=weights)


@each_of(OF_CLASSES)
@pytest.mark.parametrize("missing", [None, math.nan])
def test_missing_labels_are_refused(measure, missing):
    y, x = good(measure)
    with pytest.raises(InputError, match=r"y_true.*\b0\b"):
        measure([missing, *y[1:].tolist()], x)


@each_of(OF_CLASSES)
def test_labels_beside_the_given_ones_are_refused(measure):
    y, x = good(measure)
    with pytest.raises(InputError, match=r"y_true.*1"):
        measure(y, x, labels=[0, 7])


@each_of(OF_CLASSES)
def test_a_positive_class_that_does_not_exist_is_refused(measure):
    y, x = good(measure)
    with pytest.raises(InputError, match=r"positive.*5"):
        measure(y, x, positive=5)


@each_of([each for each in FROM_COLUMNS if each.facts.needs in ("labels", "scores")])
def test_an_unknown_average_is_refused(measure):
    y, x = good(measure)
    with pytest.raises(InputError, match=r"average.*'makro'"):
        measure(y, x, average="makro")


@each_of(OF_SCORES)
def test_three_classes_need_three_columns_of_scores(measure):
    with pytest.raises(InputError, match="y_score"):
        measure([0, 1, 2], [0.1, 0.5, 0.9])
    with pytest.raises(InputError, match=r"y_score.*\[0, 1, 2\].*2"):
        measure([0, 1, 2], np.ones((3, 2)))
    with pytest.raises(InputError, match=r"y_score.*\(3, 1, 2\)"):
        measure([0, 1, 2], np.ones((3, 1, 2)))


@each_of(OF_TALLIES)
def test_a_binary_average_of_three_classes_needs_a_positive_one(measure):
    y, s = cases.scores(np.random.default_rng(0), 3, 12)
    with pytest.raises(InputError, match="positive"):
        measure(y, s, average="binary")
    same(measure(y, s, average="binary", positive=2), measure(y == 2, s[:, 2]))


@each_of(OF_TALLIES)
def test_an_average_over_classes_needs_a_column_for_each(measure):
    with pytest.raises(InputError, match="averaging over classes needs one column of scores per class"):
        measure([0, 1], [0.1, 0.9], average="macro")


@each_of(OF_TALLIES)
def test_naming_a_class_singles_it_out(measure):
    y, s = cases.scores(np.random.default_rng(1), 3, 30)
    single = measure(y, s, average=None)
    for c in range(3):
        same(measure(y, s, positive=c), single[c])
        same(measure(y, s[:, c], positive=c), single[c])


@each_of(OF_TALLIES)
@pytest.mark.parametrize("only", [0, 1])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5]])
def test_scores_of_one_class_give_nan_with_a_warning(measure, only, weights):
    with pytest.warns(UndefinedMeasureWarning, match=f"^{measure.name} "):
        assert math.isnan(measure([only] * 3, [0.1, 0.5, 0.9], sample_weight=weights))


@each_of([each for each in FROM_COLUMNS if each.facts.needs == "values"])
def test_numbers_that_are_none_are_refused(measure):
    with pytest.raises(InputError, match=r"y_true.*'many'"):
        measure(["many", "few"], [1.0, 2.0])


@each_of([each for each in FROM_COLUMNS if each.facts.needs == "probabilities"])
@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.2, 1.2], "y_prob.*1.2.*1"),
        ([-0.1, 0.4], "y_prob.*-0.1.*0"),
        ([[0.5, 0.5], [0.5, 0.6]], "y_prob.*1.1.*1"),
    ],
)
def test_invalid_probabilities_are_refused(measure, probabilities, message):
    with pytest.raises(InputError, match=message):
        measure([0, 1], probabilities)


def test_labels_of_two_kinds_are_refused():
    with pytest.raises(InputError, match=r"y_true.*text.*y_pred.*numbers"):
        measures.accuracy(["0", "1"], [0, 1])


def test_a_column_may_be_a_matrix_of_one_column_and_any_sequence():
    assert measures.accuracy(np.array([[0], [1]]), (0, 1)) == 1.0
    assert measures.auc([False, True], np.array([[0.1], [0.9]])) == 1.0


def test_a_matrix_of_labels_is_refused():
    with pytest.raises(InputError, match="y_pred"):
        measures.accuracy([0, 1], [[0, 1], [1, 0]])


def test_label_rows_count_a_batch_of_resamples():
    rows = LabelRows.read(["a", "b", "b"], ["a", "a", "b"], **PLAIN)
    drawn = np.array([[1.0, 1.0, 1.0], [3.0, 0.0, 0.0], [0.0, 1.0, 2.0]])
    expected = [[[1, 0], [1, 1]], [[3, 0], [0, 0]], [[0, 0], [1, 2]]]
    np.testing.assert_array_equal(rows.confusion(drawn).table, expected)
    np.testing.assert_array_equal(rows.confusion().table, expected[0])


def test_score_rows_of_pairs_hold_the_rows_of_the_two_classes():
    rows = ScoreRows.read([0, 1, 2, 1], np.arange(12.0).reshape(4, 3), **PLAIN)
    pairs = rows.one_vs_one
    assert len(pairs) == 6
    assert pairs[0].is_positive.tolist() == [True, False, False]
    assert pairs[0].scores.tolist() == [0.0, 3.0, 9.0]
    assert pairs[2].scores.tolist() == [1.0, 4.0, 10.0]


def test_score_rows_know_the_weight_of_each_class():
    rows = ScoreRows.read(["x", "y", "x"], np.ones((3, 3)), positive=None, labels=["x", "y", "z"], sample_weight=[1, 2, 5])
    np.testing.assert_array_equal(rows.support(), [[6, 2, 0]])
    np.testing.assert_array_equal(rows.support(np.array([[0.0, 1.0, 2.0]])), [[10, 2, 0]])


def test_a_redrawn_tally_leaves_rows_of_weight_zero_out():
    rows = ScoreRows.read([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], positive=None, labels=None, sample_weight=[1, 1, 1, 0])
    tally = rows.binary.redraw(np.ones((1, len(rows.true))))
    assert tally.positives == [2]
    assert tally.negatives == [1]


@pytest.mark.parametrize(("positive", "expected"), [(None, [[0.8, 0.2], [0.3, 0.7]]), ("a", [[0.2, 0.8], [0.7, 0.3]])])
def test_one_column_is_the_probability_of_the_positive_class(positive, expected):
    rows = ProbabilityRows.read(["a", "b"], [0.2, 0.7], positive=positive, labels=None, sample_weight=None)
    np.testing.assert_allclose(rows.probabilities, expected)


def test_one_column_of_three_classes_is_the_named_class_against_the_rest():
    rows = ProbabilityRows.read(["a", "b", "c"], [0.2, 0.7, 0.1], positive="b", labels=None, sample_weight=None)
    assert rows.true.tolist() == [0, 1, 0]
    np.testing.assert_allclose(rows.true_class_probabilities, [0.8, 0.7, 0.9])


@pytest.mark.parametrize(
    ("contributions", "expected"),
    [
        ([1.0, 2.0, 6.0], [3.0, 1.5]),
        ([1.0, 2.0, np.inf], [np.inf, 1.5]),
        ([1.0, -np.inf, 0.0], [-np.inf, -np.inf]),
        ([np.inf, 1.0, -np.inf], [np.nan, np.inf]),
    ],
)
def test_an_infinite_contribution_counts_with_its_sign_where_it_has_weight(contributions, expected):
    rows = WeightedRows(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]))
    np.testing.assert_array_equal(rows.mean(np.array(contributions)), expected)


def test_value_rows_are_plain_numbers():
    rows = ValueRows.read([1, 2], [3, 4.5], sample_weight=[1, 3])
    assert rows.mean(rows.predicted).tolist() == [(3 + 3 * 4.5) / 4]
    assert rows.total().tolist() == [4.0]


def test_columns_of_a_frame_go_by_their_names():
    y, p = ["no", "yes", "no"], np.array([0.2, 0.9, 0.4])
    swapped = pd.DataFrame({"yes": p, "no": 1 - p})
    assert measures.auc(y, swapped) == measures.auc(y, p) == 1.0
    assert measures.brier(y, swapped) == pytest.approx(measures.brier(y, p))


def test_quantile_bins_count_weights():
    rng = np.random.default_rng(0)
    y, p, w = rng.integers(0, 2, 40), rng.random(40).round(1), rng.integers(0, 4, 40)
    weighted = measures.calibration_error(y, p, strategy="quantile", bins=5, sample_weight=w)
    assert weighted == pytest.approx(measures.calibration_error(np.repeat(y, w), np.repeat(p, w), strategy="quantile", bins=5))
