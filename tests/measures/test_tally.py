"""The tally of scores: counting with and without weights, adding, display and invalid input."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from fairtrial import measures
from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally
from fairtrial.measures.tally import tally_models, tally_scores
from tests.reference import cases, ranking as reference


def as_dictionary(tally):
    return {float(v): [float(p), float(q)] for v, p, q in zip(tally.values, tally.pos, tally.neg, strict=True)}


def equal(tally, expected):
    assert tally.values.tolist() == list(expected)
    np.testing.assert_allclose(np.c_[tally.pos, tally.neg], np.array(list(expected.values())).reshape(-1, 2), atol=1e-12)


@given(rows=cases.scored_rows())
@settings(max_examples=100, deadline=None)
def test_a_weighted_tally_equals_counting_in_a_dictionary(rows):
    y, s, w = rows
    equal(tally_scores(y, s, w), reference.tally(y, s, w))


@given(rows=cases.scored_rows(weighted=False))
@settings(max_examples=100, deadline=None)
def test_weights_of_one_give_the_tally_without_weights(rows):
    y, s, w = rows
    equal(tally_scores(y, s, None), reference.tally(y, s, w))


@given(first=cases.scored_rows(), second=cases.scored_rows())
@settings(max_examples=60, deadline=None)
def test_tallies_add_up_to_the_tally_of_the_rows_together(first, second):
    together = [np.concatenate(parts) for parts in zip(first, second, strict=True)]
    equal(tally_scores(*first) + tally_scores(*second), reference.tally(*together))


@given(rows=cases.scored_rows(max_rows=10, weighted=False))
@settings(max_examples=40, deadline=None)
def test_tallies_of_many_models_are_those_of_each(rows):
    y, s, w = rows
    scores, truths = np.stack([s, -s, np.zeros(len(s))]), np.stack([y, ~y, y])
    for truth in (y, truths):
        tallies = tally_models(truth, scores)
        for b, line in enumerate(scores):
            some = tallies.pos[b] + tallies.neg[b] > 0
            own = ScoreTally(tallies.values[b, some], tallies.pos[b, some], tallies.neg[b, some])
            equal(own, reference.tally(np.broadcast_to(truth, scores.shape)[b], line, w))


def test_the_positive_class_may_be_any():
    y, s = ["no", "yes", "no"], [0.2, 0.9, 0.2]
    assert as_dictionary(ScoreTally.from_scores(y, s)) == {0.9: [1, 0], 0.2: [0, 2]}
    assert as_dictionary(ScoreTally.from_scores(y, s, positive="no")) == {0.9: [0, 1], 0.2: [2, 0]}


def test_totals_are_weights_of_the_classes():
    tally = ScoreTally.from_scores([0, 1, 1], [0.1, 0.2, 0.2], sample_weight=[1, 2, 0.5])
    assert (tally.positives, tally.negatives) == (2.5, 1.0)


def test_more_than_two_classes_need_a_positive_one():
    with pytest.raises(InputError, match="positive"):
        ScoreTally.from_scores([0, 1, 2], np.eye(3))
    assert ScoreTally.from_scores([0, 1, 2], np.eye(3), positive=2).positives == 1


@pytest.mark.parametrize("weights", [None, np.ones(3)])
@pytest.mark.parametrize("bad_value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 1, 2])
def test_scores_that_are_not_finite_are_found_in_either_class(row, bad_value, weights):
    s = np.array([0.1, 0.2, 0.3])
    s[row] = bad_value
    with pytest.raises(InputError, match=f"y_score.*-?{abs(bad_value)}.*{row}"):
        tally_scores(np.array([True, False, True]), s, weights)


@pytest.mark.parametrize("bad_value", [np.nan, -np.nan, np.inf, -np.inf])
def test_a_bad_value_in_a_long_column_is_found_too(bad_value):
    s = np.random.default_rng(0).random(50_000)
    s[777] = bad_value
    with pytest.raises(InputError, match=rf"y_score.*{abs(bad_value)}.*777"):
        tally_scores(np.arange(50_000) % 2 == 0, s, None)


@pytest.mark.parametrize("copies", [1, 4_000])
def test_the_callers_scores_are_not_sorted(copies):
    s = np.array([3.0, 1.0, 2.0] * copies)
    tally_scores(np.array([True, False, True] * copies), s, None)
    assert s.tolist() == [3, 1, 2] * copies


def count_with_numpy(y, s):
    values, inverse = np.unique(s, return_inverse=True)
    pos, neg = (np.bincount(inverse, weights=side, minlength=len(values)) for side in (y, ~y))
    return values[::-1].tolist(), pos[::-1].tolist(), neg[::-1].tolist()


LONG_COLUMNS = {
    "probabilities": lambda rng, n: rng.random(n),
    "logits": lambda rng, n: rng.normal(size=n),
    "negative": lambda rng, n: -rng.random(n),
    "rounded": lambda rng, n: rng.normal(size=n).round(1),
    "constant": lambda _, n: np.full(n, -2.5),
    "zeros of both signs": lambda rng, n: rng.choice([0.0, -0.0, 0.5], n),
    "smallest and largest": lambda rng, n: rng.choice([5e-324, 2.2e-308, 0.0, 1.0, 1.7e308], n),
    "too wide for 64 bits": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    "differing only in the last bits": lambda rng, n: np.r_[0.0, 0.5 + 2.0**-53 * rng.permutation(n - 1)],
    "negative, differing only in the last bits": lambda rng, n: np.r_[0.0, -0.5 - 2.0**-53 * rng.permutation(n - 1)],
    "in order": lambda _, n: np.linspace(-1, 1, n),
    "in reverse order": lambda _, n: np.linspace(1, 0, n),
}


@pytest.mark.parametrize("n", [3_999, 4_000, 30_001])
@pytest.mark.parametrize("kind", LONG_COLUMNS)
def test_a_long_column_is_counted_as_numpy_counts(kind, n):
    rng = np.random.default_rng(n)
    s, y = LONG_COLUMNS[kind](rng, n), rng.random(n) < 0.3
    tally = tally_scores(y, s, None)
    assert (tally.values.tolist(), tally.pos.tolist(), tally.neg.tolist()) == count_with_numpy(y, s)


@given(
    data=hnp.arrays(float, 20, elements=st.floats(allow_nan=False, allow_infinity=False)),
    y=hnp.arrays(bool, 20),
    seed=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_any_finite_scores_of_a_long_column_are_counted(data, y, seed):
    rows = np.random.default_rng(seed).integers(0, 20, 4_100)
    tally = tally_scores(y[rows], data[rows], None)
    assert (tally.values.tolist(), tally.pos.tolist(), tally.neg.tolist()) == count_with_numpy(y[rows], data[rows])


def test_a_batch_does_not_add_up_and_has_no_frame():
    single = ScoreTally.from_scores([0, 1], [0.1, 0.2])
    batch = ScoreTally(single.values, single.pos[None], single.neg[None])
    with pytest.raises(InputError, match="tallies"):
        single + batch
    with pytest.raises(InputError, match="frame"):
        batch.frame()
    assert str(batch) != str(single)


def test_a_single_tally_shows_itself():
    tally = ScoreTally.from_scores([0, 1, 1], [0.1, 0.2, 0.2])
    assert str(tally) == "ScoreTally: 2 distinct scores, 2 positives, 1 negatives"
    assert tally.frame().to_dict("list") == {"score": [0.2, 0.1], "positives": [2, 0], "negatives": [0, 1]}
    assert "<table" in tally._repr_html_()


def test_counts_may_come_in_any_order():
    tally = ScoreTally.from_counts([0.1, 0.9, 0.1], [0, 3, 1], [5, 1, 0])
    assert (tally.values.tolist(), tally.pos.tolist(), tally.neg.tolist()) == ([0.9, 0.1], [3, 1], [1, 5])
    with pytest.raises(InputError, match="neg"):
        ScoreTally.from_counts([0.1], [1], [-1])
    with pytest.raises(InputError, match=r"auc\.of.*ScoreTally.*int"):
        measures.auc.of(5)
