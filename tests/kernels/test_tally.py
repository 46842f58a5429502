"""Tallies built by sorting and merging equal those of a dictionary."""

import numpy as np
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from fairtrial.kernels import tally as kernels
from tests.reference import ranking as reference
from tests.reference.cases import scored_rows


def as_dictionary(values, pos, neg):
    return {float(v): [float(p), float(q)] for v, p, q in zip(values, pos, neg, strict=True)}


@given(rows=scored_rows(weighted=False))
@settings(max_examples=100, deadline=None)
def test_split_keeps_the_order_of_each_class(rows):
    y, s, _ = rows
    positives, negatives = kernels.split_scores(y, s)
    np.testing.assert_array_equal(positives, s[y])
    np.testing.assert_array_equal(negatives, s[~y])


@given(rows=scored_rows(weighted=False))
@settings(max_examples=100, deadline=None)
def test_merge_counts_each_distinct_score_once_and_downwards(rows):
    y, s, w = rows
    n = len(s)
    positives, negatives = np.sort(s[y]), np.sort(s[~y])
    values, pos, neg = (np.full((1, n), 99.0) for _ in range(3))
    size = kernels.merge_tallies(
        positives[None], negatives[None], np.array([len(positives)]), np.array([len(negatives)]), values, pos, neg
    )
    expected = reference.tally(y, s, w)
    assert list(as_dictionary(values[0, :size], pos[0, :size], neg[0, :size]).items()) == list(expected.items())
    assert not pos[0, size:].any()
    assert not neg[0, size:].any()


@given(
    data=hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6).flatmap(
        lambda shape: st.tuples(
            hnp.arrays(bool, shape), hnp.arrays(float, shape, elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0]))
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_merge_of_many_lines_treats_each_line_alone(data):
    y, s = data
    B, n = s.shape
    sides = [np.full((B, n), np.inf) for _ in range(2)]
    for side, chosen in zip(sides, (y, ~y), strict=True):
        for b in range(B):
            side[b, : chosen[b].sum()] = np.sort(s[b, chosen[b]])
    values, pos, neg = np.empty((B, n)), np.empty((B, n)), np.empty((B, n))
    widest = kernels.merge_tallies(*sides, y.sum(axis=1), (~y).sum(axis=1), values, pos, neg)
    expected = [reference.tally(y[b], s[b], np.ones(n)) for b in range(B)]
    assert widest == max(len(each) for each in expected)
    for b in range(B):
        size = len(expected[b])
        assert as_dictionary(values[b, :size], pos[b, :size], neg[b, :size]) == expected[b]
        assert not (pos[b, size:] + neg[b, size:]).any()


@given(rows=scored_rows())
@settings(max_examples=100, deadline=None)
def test_group_sorted_adds_the_weights_of_equal_scores(rows):
    y, s, w = rows
    order = np.argsort(-s, kind="stable")
    values, pos, neg = (np.empty(len(s)) for _ in range(3))
    size = kernels.sum_equal_scores(s[order], y[order], w[order], values, pos, neg)
    expected = {float(v): [w[y & (s == v)].sum(), w[~y & (s == v)].sum()] for v in np.unique(s)[::-1]}
    assert values[:size].tolist() == list(expected)
    np.testing.assert_allclose(np.c_[pos, neg][:size], list(expected.values()))
