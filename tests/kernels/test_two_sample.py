"""Each two-sample statistic equals another implementation or its definition, also for overlapping sets."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from fairtrial.kernels import ranking, two_sample as kernels
from tests.reference import two_sample as reference


@st.composite
def arrangements(draw, most=14):
    """Sides (b, n, splits) with every combination of test and training, and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(3, most))
    return rng.integers(0, 4, size=(2, n, 3), dtype=np.uint8), rng


def each(sides):
    for b in range(sides.shape[0]):
        for s in range(sides.shape[2]):
            yield b, s, *reference.parts(sides[b, :, s])


@given(drawn=arrangements(), distinct=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_kolmogorov_smirnov_is_scipys(drawn, distinct):
    sides, rng = drawn
    x = rng.integers(0, distinct, size=sides.shape[1]).astype(float)
    order = np.argsort(x, kind="stable")
    found = np.empty((2, 3))
    kernels.compute_kolmogorov_smirnov(order, np.append(np.diff(x[order]) > 0, True), sides, found)
    for b, s, test, train in each(sides):
        np.testing.assert_allclose(found[b, s], scipys(x[test], x[train]), atol=1e-12)


def scipys(test, train):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about the p value, which is not looked at
        return ks_2samp(test, train, method="asymp").statistic if len(test) and len(train) else np.nan


@given(drawn=arrangements(), k=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_hellinger_equals_its_definition(drawn, k):
    sides, rng = drawn
    codes = rng.integers(0, k, size=sides.shape[1])
    found = np.empty((2, 3))
    kernels.compute_hellinger(codes, k, sides, found)
    for b, s, test, train in each(sides):
        expected = reference.hellinger(codes, test, train) if len(test) and len(train) else np.nan
        np.testing.assert_allclose(found[b, s], expected, atol=1e-7)


def test_hellinger_of_shares_in_closed_form():
    sides = np.array([1, 1, 1, 1, 2, 2], dtype=np.uint8)[None, :, None]  # test: 3/4 and 1/4; train: 0 and 1
    found = np.empty((1, 1))
    kernels.compute_hellinger(np.array([0, 0, 0, 1, 1, 1]), 2, sides, found)
    assert found[0, 0] == pytest.approx(np.sqrt(1 - np.sqrt(1 / 4)))


@given(drawn=arrangements(), k=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_auc_of_neighbours_is_sklearns(drawn, k):
    sides, rng = drawn
    n = sides.shape[1]
    k = min(k, n - 1)
    rows = rng.normal(size=(n, 2))
    far = cdist(rows, rows) + np.diag(np.full(n, np.inf))
    pos, neg = np.empty((2, 3, 2 * k + 1), dtype=np.intp), np.empty((2, 3, 2 * k + 1), dtype=np.intp)
    kernels.tally_neighbours(np.arange(n), np.argsort(far, axis=1)[:, :k], sides, pos, neg)
    found = np.empty(6)
    ranking.compute_auc(pos.reshape(6, -1), neg.reshape(6, -1), found)
    for b, s, test, train in each(sides):
        scores = reference.neighbour_scores(rows, sides[b, :, s], k)
        truth = [1] * len(test) + [0] * len(train)
        defined = len(test) and len(train)
        expected = roc_auc_score(truth, scores[np.append(test, train)]) if defined else np.nan
        np.testing.assert_allclose(found[3 * b + s], expected)


@given(drawn=arrangements())
@settings(max_examples=40, deadline=None)
def test_sums_and_sizes(drawn):
    sides, rng = drawn
    x = rng.normal(size=sides.shape[1])
    test_sum, train_sum = np.ones((2, 3)), np.zeros((2, 3))
    kernels.sum_by_side(x, sides, test_sum, train_sum)
    test_size, train_size = np.empty(3), np.empty(3)
    for b, s, test, train in each(sides):
        kernels.count_sizes(sides, b, test_size, train_size)
        assert (test_size[s], train_size[s]) == (len(test), len(train))
        assert test_sum[b, s] == pytest.approx(1 + x[test].sum())
        assert train_sum[b, s] == pytest.approx(x[train].sum())


@given(drawn=arrangements())
@settings(max_examples=60, deadline=None)
def test_duplicates_equal_a_search_through_all_pairs(drawn):
    sides, rng = drawn
    groups = np.unique(rng.integers(0, 4, size=sides.shape[1]), return_inverse=True)[1]
    labels = rng.integers(0, 3, size=len(groups))
    same, other = np.empty((2, 3), dtype=np.intp), np.empty((2, 3), dtype=np.intp)
    kernels.count_duplicates(groups, labels, 3, sides, same, other)
    for b, s, _, _ in each(sides):
        assert (same[b, s], other[b, s]) == reference.twins(groups[:, None].astype(float), labels, sides[b, :, s])
