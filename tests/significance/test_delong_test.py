"""DeLong's test against pROC, a twin by definition, and its degenerate cases."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance.delong_test import delong

Y = [0, 0, 0, 0, 1, 1, 1, 1]
A, B = [0.1, 0.2, 0.3, 0.6, 0.5, 0.7, 0.8, 0.9], [0.1, 0.5, 0.3, 0.8, 0.4, 0.2, 0.6, 0.7]


def by_definition(y, *scores):
    """AUCs and their covariance from all pairs, structural components as in the paper."""
    y = np.asarray(y)
    rows, columns = [], []
    for score in np.asarray(scores, dtype=float):
        positive, negative = score[y == 1][:, None], score[y == 0][None, :]
        kernel = (positive > negative) + 0.5 * (positive == negative)
        rows.append(kernel.mean(axis=1))
        columns.append(kernel.mean(axis=0))
    aucs = np.array([row.mean() for row in rows])
    return aucs, np.cov(rows) / (y == 1).sum() + np.cov(columns) / (y == 0).sum()


def test_against_proc():
    found = delong(Y, A, B)
    # R: pROC::roc.test(method = "delong")
    assert (found.statistic, found.p_value) == pytest.approx((1.837117307, 0.06619257972))
    assert (found.effect.low, found.effect.high) == pytest.approx((-0.02507597303, 0.77507597303))
    assert (found.details["AUC first"], found.details["AUC second"]) == pytest.approx((0.9375, 0.5625))


def test_against_proc_with_ties():
    i = np.arange(1, 61)
    y = np.tile([0, 0, 1], 20)
    a, b = np.round(y + (i * 7) % 13 / 6, 2), np.round(y + (i * 11) % 17 / 6, 2)
    found = delong(y, a, b)
    assert (found.statistic, found.p_value) == pytest.approx((0.4266844124, 0.6696092055))
    assert (found.effect.low, found.effect.high) == pytest.approx((-0.1122960793, 0.1747960793))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=4, max_size=30), st.integers(2, 28))
def test_two_by_definition(rows, positives):
    scores = np.array(rows, dtype=float).T
    n = scores.shape[1]
    y = np.arange(n) < min(positives, n - 2)
    aucs, covariance = by_definition(y, scores[0], scores[1])
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    if variance < 1e-12:
        return
    found = delong(y.astype(int), scores[0], scores[1])
    z = (aucs[0] - aucs[1]) / np.sqrt(variance)
    assert found.statistic == pytest.approx(z, abs=1e-9)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert delong(y.astype(int), scores[1], scores[0]).statistic == pytest.approx(-z, abs=1e-9)


def test_many_by_definition():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    scores = [y * strength + rng.normal(size=80) for strength in (1.5, 1.0, 0.8, 0.2)]
    aucs, covariance = by_definition(y, *scores)
    contrasts = np.array([[1, -1, 0, 0], [1, 0, -1, 0], [1, 0, 0, -1]])
    theta = contrasts @ aucs
    chi2 = theta @ np.linalg.solve(contrasts @ covariance @ contrasts.T, theta)
    found = delong(y, *scores)
    assert found.statistic == pytest.approx(chi2)
    assert found.df == 3
    assert found.p_value == pytest.approx(stats.chi2.sf(chi2, 3))
    # the order of the learners does not matter
    assert delong(y, *scores[::-1]).statistic == pytest.approx(chi2)


def test_a_learner_given_twice_adds_no_degree_of_freedom():
    two, three = delong(Y, A, B), delong(Y, A, B, B)
    assert three.df == 1
    assert three.statistic == pytest.approx(two.statistic**2)
    assert three.p_value == pytest.approx(two.p_value)


def test_equal_rankings_have_p_1():
    found = delong(Y, A, np.exp(A))
    assert (found.statistic, found.p_value, found.effect.estimate) == (0, 1, 0)
    assert [caveat.kind for caveat in found.caveats] == ["same_ranking"]
    many = delong(Y, A, A, A)
    assert (many.p_value, many.df) == (1, 0)


def test_one_pair_out_of_order_among_many_is_no_equal_ranking():
    """One positive and its neighbouring negative change places: the AUC changes by 1/(PN), its variance is 2/(PN)^2."""
    n = 40_000
    a = np.arange(n, dtype=float)
    y = np.arange(n) % 2
    b = a.copy()
    b[[0, 1]] = b[[1, 0]]
    assert delong(y, a, b).statistic == pytest.approx(1 / np.sqrt(2), rel=1e-3)


def test_difference_without_variance_is_undefined():
    with pytest.warns(UndefinedMeasureWarning, match="delong"):
        found = delong([0, 0, 1, 1], [1, 2, 3, 4], [4, 3, 2, 1])
    assert np.isnan(found.p_value)
    assert found.effect.estimate == 1
    with pytest.warns(UndefinedMeasureWarning, match="delong"):
        many = delong([0, 0, 1, 1], [1, 2, 3, 4], [4, 3, 2, 1], [1, 2, 3, 4])
    assert np.isnan(many.p_value)
    assert np.isnan(many.statistic)


def test_positive_class_can_be_named():
    y = ["ill" if each else "well" for each in Y]
    ill = delong(y, A, B, positive="ill")
    assert ill.statistic == pytest.approx(delong(Y, A, B).statistic)
    assert delong(y, A, B, positive="well").statistic == pytest.approx(-ill.statistic)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="y_true"):
        delong([0, 0, 1], [1, 2, 3], [1, 2, 3])
    with pytest.raises(InputError, match="score_b"):
        delong([0, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, np.nan])
    with pytest.raises(InputError, match="score_b"):
        delong([0, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3])
