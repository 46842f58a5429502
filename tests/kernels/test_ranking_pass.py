"""Six measures in one pass equal the public ones, ties included, and keep exactly equal what is equally good."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial import measures
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.reproduce.ranking_kernels import MEASURES, compute_six_measures, make_buffers, rank_scores
from tests.reference.cases import scored_rows


def six(y, s, severity_ratio=1.0, room=None):
    out = np.empty(6)
    y, s = np.asarray(y, np.uint8), np.asarray(s, float)
    compute_six_measures(s, y, severity_ratio, room or make_buffers(len(s)), out)
    return out


def public(y, s, severity_ratio):
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        found = {name: measures.get_measure(name)(y, s, positive=1, labels=[0, 1]) for name in MEASURES}
        ratio = None if np.isnan(severity_ratio) else severity_ratio
        found["h_measure"] = measures.h_measure(y, s, positive=1, labels=[0, 1], severity_ratio=ratio)
    return [found[name] for name in MEASURES]


@given(rows=scored_rows(max_rows=60, weighted=False), severity_ratio=st.sampled_from([1.0, np.nan, 0.3]))
@settings(max_examples=200, deadline=None)
def test_all_six_equal_the_public_measures(rows, severity_ratio):
    y, s, _ = rows
    np.testing.assert_allclose(six(y, s, severity_ratio), public(y.astype(int), s, severity_ratio), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("digits", [1, 2, 15])
def test_rankings_of_a_hundred_cases_equal_the_public_measures(digits):
    rng, room = np.random.default_rng(digits), make_buffers(130)
    for _ in range(40):
        n = rng.integers(30, 130)
        s = rng.random(n).round(digits) ** rng.choice([1, 9])
        y = (s + rng.normal(0, 0.4, n) > 0.5).astype(int)
        y[:2] = 0, 1
        np.testing.assert_allclose(six(y, s, 1.0, room), public(y, s, 1.0), rtol=1e-9, atol=1e-12)


def test_a_worked_example():
    # REFERENCE: Berrar's definition of H (Beta(2, 2)); AUC, AUCH and KS of R hmeasure 1.0-2.
    y, s = [0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9]
    h, auc, auch, _, ks, _ = six(y, s)
    np.testing.assert_allclose([h, auc, auch, ks], [0.5799731183, 0.875, 0.9166666667, 0.6666666667], rtol=1e-9)
    assert six(y, s, np.nan)[0] == pytest.approx(0.5915901308, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_without_ties_taks_is_a_straight_line_of_the_auc(seed):
    rng = np.random.default_rng(seed)
    n = 60
    y, s = rng.integers(0, 2, n), rng.random(n)
    y[:2] = 0, 1
    found = dict(zip(MEASURES, six(y, s), strict=True))
    assert found["taks"] == pytest.approx((found["auc"] - 0.5) * n / (n - 1), abs=1e-12)


def test_rankings_that_are_equally_good_get_exactly_equal_values():
    # In both, 4 of 7 x 5 pairs are in the wrong order; sums of sevenths and fifths would not come out equal.
    s = np.linspace(1, 0, 12)
    one = dict(zip(MEASURES, six([1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0], s), strict=True))
    other = dict(zip(MEASURES, six([1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0], s), strict=True))
    assert one["auc"] == other["auc"] == 31 / 35
    assert one["taks"] == other["taks"]
    assert one["ks"] != other["ks"]


def test_one_class_or_equal_scores_are_undefined():
    assert np.isnan(six([1, 1], [0.1, 0.2])).all()
    assert np.isnan(six([0, 0], [0.1, 0.2])).all()
    values = six([0, 1, 1], [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(np.isnan(values), [False, False, False, False, False, True])


@given(rows=scored_rows(max_rows=90, weighted=False))
@settings(max_examples=60, deadline=None)
def test_ranks_are_numpys(rows):
    y, s, _ = rows
    room = make_buffers(len(s))
    rank_scores(s, y.astype(np.uint8), room)
    np.testing.assert_array_equal(room.values, np.sort(s)[::-1])
    for value in set(s.tolist()):
        assert room.sorted_classes[room.values == value].sum() == y[s == value].sum()


def test_scores_that_lie_next_to_each_other_are_ranked():
    s = np.r_[np.full(30, 1.0), np.nextafter(1.0, 2)]
    room = make_buffers(31)
    rank_scores(s, np.r_[np.zeros(30, np.uint8), np.ones(1, np.uint8)], room)
    assert room.sorted_classes[0] == 1
    tiny = np.arange(30) * 5e-324
    room = make_buffers(30)
    rank_scores(tiny, np.zeros(30, np.uint8), room)
    np.testing.assert_array_equal(room.values, tiny[::-1])
