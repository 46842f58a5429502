"""DeLong's variance: against pROC 1.18.0 (R), against the definition by pairs, and its covariance against the variance."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.delong import compute_auc_covariance, compute_auc_variance, compute_placements
from fairtrial.measures import ScoreTally

# pROC: var(roc(y, s, direction = "<")), printed with 12 digits
TEN = ([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9], 0.875, 0.0136574074074)
TIED = ([0, 0, 1, 0, 0, 1, 1, 0, 1, 1], [0, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.8, 0.8, 0.9], 0.78, 0.0268)


def by_pairs(y, s):
    """The definition: mean of the kernel over pairs, and the variances of its row and column means."""
    y, s = np.asarray(y), np.asarray(s)
    kernel = (np.sign(s[y == 1][:, None] - s[y == 0][None, :]) + 1) / 2
    rows, columns = kernel.mean(axis=1), kernel.mean(axis=0)
    return kernel.mean(), rows.var(ddof=1) / len(rows) + columns.var(ddof=1) / len(columns)


@pytest.mark.parametrize(("y", "s", "auc", "variance"), [TEN, TIED])
def test_variance_equals_procs(y, s, auc, variance):
    tally = ScoreTally.from_scores(y, s)
    found = compute_auc_variance(tally.pos, tally.neg)
    assert (found[0], found[1] + found[2]) == pytest.approx((auc, variance), rel=1e-11)


def test_covariance_equals_procs():
    y = np.array([0, 0, 1, 1, 0, 1, 1, 0]) == 1
    a = np.array([0.1, 0.3, 0.7, 0.9, 0.2, 0.4, 0.8, 0.5])
    b = np.array([0.2, 0.6, 0.5, 0.7, 0.4, 0.3, 0.9, 0.1])
    aucs, covariance = compute_auc_covariance(np.stack([compute_placements(a, y), compute_placements(b, y)]), y)
    # pROC: var(ra), var(rb), cov(ra, rb)
    assert covariance == pytest.approx(
        np.array([[0.0078125, 0.00260416666667], [0.00260416666667, 0.02864583333333]]), rel=1e-11
    )
    assert aucs[0] - aucs[1] == pytest.approx(0.125)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 15), st.integers(2, 15))
def test_variance_and_placements_equal_the_definition(seed, n_pos, n_neg):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([True, False], [n_pos, n_neg]))
    s = rng.integers(0, 6, len(y)).astype(float)
    expected = by_pairs(y, s)
    tally = ScoreTally.from_scores(y, s)
    auc, *parts = compute_auc_variance(tally.pos, tally.neg)
    assert (auc, sum(parts)) == pytest.approx(expected, abs=1e-12)
    aucs, covariance = compute_auc_covariance(compute_placements(s, y)[None], y)
    assert (aucs[0], covariance[0, 0]) == pytest.approx(expected, abs=1e-12)


def test_long_columns_take_the_radix_path_and_agree():
    rng = np.random.default_rng(0)
    y = rng.random(30_000) < 0.4
    s = (rng.normal(size=30_000) + y).round(2)
    tally = ScoreTally.from_scores(y, s)
    aucs, covariance = compute_auc_covariance(compute_placements(s, y)[None], y)
    auc, *parts = compute_auc_variance(tally.pos, tally.neg)
    assert (aucs[0], covariance[0, 0]) == pytest.approx((auc, sum(parts)), rel=1e-9)


def test_one_class_and_single_cases_have_no_variance():
    assert np.isnan(compute_auc_variance(np.array([1.0, 2.0]), np.zeros(2))).all()
    auc, from_positives, from_negatives = compute_auc_variance(np.array([1.0, 0.0]), np.array([0.0, 3.0]))
    assert (auc, from_negatives) == (1, 0)
    assert np.isnan(from_positives)
