"""Measures of one class against the rest: published values, scikit-learn, a reference, and empty denominators."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from tests.reference import cases, labels as reference

CASES = 1000
LABOUR = measures.Confusion([[14, 6], [9, 28]], labels=("bad", "good"))


def test_the_tutorials_two_classifiers_share_precision_and_recall():
    for table in (measures.Confusion([[400, 100], [300, 200]]), measures.Confusion([[0, 100], [300, 200]])):
        assert measures.precision.of(table) == pytest.approx(0.667, abs=5e-4)
        assert measures.recall.of(table) == pytest.approx(0.4)


def test_the_tutorials_two_classifiers_of_equal_accuracy_differ_in_recall():
    weak, strong = measures.Confusion([[400, 100], [300, 200]]), measures.Confusion([[200, 300], [100, 400]])
    assert [measures.recall.of(weak), measures.specificity.of(weak)] == pytest.approx([0.4, 0.8])
    assert [measures.recall.of(strong), measures.specificity.of(strong)] == pytest.approx([0.8, 0.4])


def test_always_positive_on_90_to_10_has_f_of_947():
    assert measures.f_score([1] * 90 + [0] * 10, [1] * 100) == pytest.approx(0.947, abs=5e-4)


@pytest.mark.parametrize(
    ("measure", "bad", "good", "weighted"),
    [
        (measures.recall, 0.7, 0.757, 0.737),
        (measures.fpr, 0.243, 0.3, 0.28),
        (measures.precision, 0.609, 0.824, 0.748),
        (measures.f_score, 0.651, 0.789, 0.74),
    ],
)
def test_weka_prints_labour_class_by_class(measure, bad, good, weighted):
    np.testing.assert_allclose(measure.of(LABOUR, average=None), [bad, good], atol=5e-4)
    assert measure.of(LABOUR, average="weighted") == pytest.approx(weighted, abs=5e-4)


def test_precision_is_not_galdi_and_tagliaferris_specificity():
    """They call TP / (TP + FP) 'specificity' (ERRATA); here it keeps its usual meaning."""
    table = measures.Confusion([[70, 10], [5, 15]])
    assert measures.precision.of(table) == 15 / 25
    assert measures.specificity.of(table) == 70 / 80


SHARED = {
    "recall": (measures.recall, {}, metrics.recall_score, {"zero_division": np.nan}),
    "precision": (measures.precision, {}, metrics.precision_score, {"zero_division": np.nan}),
    "f_score": (measures.f_score, {}, metrics.f1_score, {"zero_division": np.nan}),
    "f_score beta 2": (measures.f_score, {"beta": 2}, metrics.fbeta_score, {"beta": 2, "zero_division": np.nan}),
    "f_score beta .5": (measures.f_score, {"beta": 0.5}, metrics.fbeta_score, {"beta": 0.5, "zero_division": np.nan}),
    "jaccard": (measures.jaccard, {}, metrics.jaccard_score, {}),
}


@pytest.mark.parametrize("name", SHARED)
def test_equals_scikit_learn_in_every_average(name):
    ours, own, theirs, their = SHARED[name]
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        k = 2 + seed % 3
        y, p = cases.labels(rng, k)
        w = cases.weights(rng, len(y), kept=k)
        average = [None, "macro", "weighted", "micro"][seed // 3 % 4]
        expected = theirs(y, p, sample_weight=w, average=average, **their)
        np.testing.assert_allclose(ours(y, p, sample_weight=w, average=average, **own), expected, atol=1e-12)
        if k == 2:
            for positive in (0, 1):
                expected = theirs(y, p, sample_weight=w, pos_label=positive, **their)
                assert ours(y, p, sample_weight=w, positive=positive, **own) == pytest.approx(expected, abs=1e-12)


def test_likelihood_ratios_equal_scikit_learns():
    compared = 0
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        y, p = cases.labels(rng, 2)
        w = cases.weights(rng, len(y), kept=2)
        found = (
            [each(y, p, sample_weight=w) for each in (measures.positive_likelihood_ratio, measures.negative_likelihood_ratio)]
            if _has_all_cells(y, p, w)
            else None
        )
        if found is not None:
            compared += 1
            np.testing.assert_allclose(found, metrics.class_likelihood_ratios(y, p, sample_weight=w), rtol=1e-10)
    assert compared > CASES / 2


def _has_all_cells(y, p, w):
    return (metrics.confusion_matrix(y, p, sample_weight=w) > 0).all()


def test_markedness_and_youdens_j_multiply_to_the_square_of_mcc():
    for seed in range(200):
        y, p = cases.labels(np.random.default_rng(seed), 2)
        product = measures.youden_j(y, p) * measures.markedness(y, p)
        assert product == pytest.approx(metrics.matthews_corrcoef(y, p) ** 2, abs=1e-12)


def test_fowlkes_mallows_is_the_root_of_precision_times_recall():
    for seed in range(200):
        y, p = cases.labels(np.random.default_rng(seed), 2)
        expected = math.sqrt(metrics.precision_score(y, p) * metrics.recall_score(y, p))
        assert measures.fowlkes_mallows(y, p) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@pytest.mark.parametrize("name", reference.ONE_CLASS)
@given(rows=cases.labelled_rows())
@settings(max_examples=25, deadline=None)
def test_equals_the_reference_for_each_class(name, rows):
    y, p, w, classes = rows
    expected = [reference.ONE_CLASS[name](reference.cells(y, p, w, c)) for c in classes]
    found = measures.get_measure(name)(y, p, sample_weight=w, labels=classes, average=None)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_every_measure_of_one_class_has_a_reference_implementation():
    assert {each.name for each in measures.registry.values() if each.facts.per_class} == set(reference.ONE_CLASS)


@pytest.mark.parametrize("weights", [None, [0.1, 0.2, 0.7, 0.3]])
@pytest.mark.parametrize(
    ("measure", "y", "p"),
    [
        (measures.recall, [0, 0, 0, 0], [0, 1, 0, 0]),
        (measures.fnr, [0, 0, 0, 0], [0, 1, 0, 0]),
        (measures.specificity, [1, 1, 1, 1], [0, 1, 0, 0]),
        (measures.fpr, [1, 1, 1, 1], [0, 1, 0, 0]),
        (measures.precision, [1, 0, 1, 0], [0, 0, 0, 0]),
        (measures.npv, [1, 0, 1, 0], [1, 1, 1, 1]),
        (measures.f_score, [0, 0, 0, 0], [0, 0, 0, 0]),
        (measures.jaccard, [0, 0, 0, 0], [0, 0, 0, 0]),
        (measures.youden_j, [1, 1, 1, 1], [0, 1, 0, 0]),
        (measures.markedness, [1, 0, 1, 0], [1, 1, 1, 1]),
        (measures.fowlkes_mallows, [1, 0, 1, 0], [0, 0, 0, 0]),
        (measures.positive_likelihood_ratio, [1, 0, 1, 0], [0, 0, 0, 0]),
        (measures.negative_likelihood_ratio, [1, 0, 1, 0], [1, 1, 1, 1]),
        (measures.diagnostic_odds_ratio, [1, 0, 1, 0], [1, 1, 1, 1]),
        (measures.single_point_auc, [1, 1, 1, 1], [0, 1, 0, 0]),
    ],
)
def test_an_empty_denominator_is_nan_with_a_warning(measure, y, p, weights):
    with pytest.warns(UndefinedMeasureWarning, match=f"^{measure.name} "):
        assert math.isnan(measure(y, p, sample_weight=weights))


def test_ratios_without_errors_are_infinite():
    y = [1, 1, 0, 0]
    assert measures.positive_likelihood_ratio(y, [1, 0, 0, 0]) == math.inf
    assert measures.negative_likelihood_ratio(y, [0, 1, 1, 1]) == math.inf
    assert measures.diagnostic_odds_ratio(y, [1, 0, 0, 0]) == math.inf


def test_a_class_that_is_absent_leaves_the_macro_average_without_a_value_but_not_the_weighted_one():
    y, p = ["a", "b", "a"], ["a", "b", "b"]
    with pytest.warns(UndefinedMeasureWarning, match="recall"):
        assert math.isnan(measures.recall(y, p, labels=["a", "b", "c"], average="macro"))
    assert measures.recall(y, p, labels=["a", "b", "c"], average="weighted") == pytest.approx(2 / 3)


def test_undefined_classes_are_counted_in_the_warning():
    with pytest.warns(UndefinedMeasureWarning, match="precision.*2 of 3"):
        found = measures.precision([0, 1, 2], [0, 0, 0], average=None)
    np.testing.assert_array_equal(found, [1 / 3, np.nan, np.nan])


def test_more_than_two_classes_are_averaged_unless_one_is_named():
    y, p = ["a", "b", "c", "c"], ["a", "b", "a", "c"]
    assert measures.recall(y, p) == measures.recall(y, p, average="macro") == pytest.approx(2.5 / 3)
    assert measures.recall(y, p, positive="c") == 0.5
    assert measures.recall(y, p, average="micro") == 0.75


def test_binary_without_a_positive_class_is_refused():
    with pytest.raises(InputError, match="positive"):
        measures.recall(["a", "b", "c"], ["a", "b", "c"], average="binary")


@pytest.mark.parametrize("beta", [-1, math.inf, math.nan])
def test_beta_must_be_finite_and_not_negative(beta):
    with pytest.raises(InputError, match=f"beta.*{beta}"):
        measures.f_score([0, 1], [0, 1], beta=beta)


def test_the_second_class_is_positive_by_default():
    y, p = ["no", "no", "yes"], ["no", "yes", "yes"]
    assert measures.precision(y, p) == 0.5
    assert measures.precision(y, p, positive="no") == 1.0
    assert measures.precision(y, p, labels=["yes", "no"]) == 1.0
    assert measures.recall([False, True], [True, True]) == 1.0
    assert measures.recall([-1, 1, 1], [-1, 1, -1]) == 0.5


def test_a_lone_zero_or_one_keeps_its_meaning():
    assert measures.specificity([0, 0], [0, 0]) == 1.0
    assert measures.recall([1, 1], [1, 1]) == 1.0
    assert measures.specificity([-1.0, -1.0], [-1.0, -1.0]) == 1.0
