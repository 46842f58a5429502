from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.learners.naive_bayes import find_cut_points


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -(shares * np.log2(shares)).sum() if len(labels) else 0.0


def plain(values, labels):
    """Fayyad and Irani by trying every cut, written for rows of weight one."""
    best = None
    for low, high in pairwise(sorted(set(values))):
        cut = (low + high) / 2
        left, right = labels[values <= cut], labels[values > cut]
        within = (len(left) * entropy(left) + len(right) * entropy(right)) / len(labels)
        if best is None or within < best[0] - 1e-12:
            best = (within, cut, left, right)
    if best is None or len(labels) < 2:
        return []
    within, cut, left, right = best
    gain = entropy(labels) - within
    k, k1, k2 = (len(np.unique(each)) for each in (labels, left, right))
    delta = np.log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(left) - k2 * entropy(right))
    if gain <= (np.log2(len(labels) - 1) + delta) / len(labels):
        return []
    below = values <= cut
    return [*plain(values[below], labels[below]), cut, *plain(values[~below], labels[~below])]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 60), k=st.integers(1, 3))
def test_against_a_plain_implementation(seed, n, k):
    rng = np.random.default_rng(seed)
    codes = rng.integers(k, size=n)
    values = np.round(rng.normal(codes * 2.0, 1.0), 1)
    assert find_cut_points(values, codes, np.ones(n), k) == pytest.approx(plain(values, codes))


def test_a_weight_of_two_is_a_row_twice():
    rng = np.random.default_rng(4)
    codes = rng.integers(2, size=40)
    values = rng.normal(codes * 3.0, 1.0)
    twice = np.r_[values, values]
    assert find_cut_points(values, codes, np.full(40, 2.0), 2) == find_cut_points(twice, np.r_[codes, codes], np.ones(80), 2)


def test_missing_constant_and_pure_columns_have_no_cut():
    codes = np.array([0, 0, 1, 1])
    assert find_cut_points(np.full(4, np.nan), codes, np.ones(4), 2) == []
    assert find_cut_points(np.full(4, 7.0), codes, np.ones(4), 2) == []
    assert find_cut_points(np.arange(4.0), np.zeros(4, dtype=int), np.ones(4), 2) == []
