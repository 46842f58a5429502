"""The tree equals a search through all remaining points exactly."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.kd_tree import (
    build_live_tree,
    compute_box_bound,
    compute_leaf_distances,
    find_nearest_live,
    insert_neighbour,
    remove_point,
)
from tests.reference import dob_scv as reference


@st.composite
def clouds(draw, most=400):
    """Points of all kinds of columns: ties, copies, constant columns, gaps."""
    n = draw(st.integers(1, most))
    kinds = np.array(draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=5)), np.int8)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    fine = draw(st.booleans())
    points = rng.random((n, len(kinds)))
    points = points if fine else points.round(1)
    points[:, kinds == 2] = rng.integers(0, 3, (n, int((kinds == 2).sum())))
    if draw(st.booleans()):
        points = points[rng.integers(0, max(1, n // 8), n)]
    if draw(st.booleans()):
        points[:, 0] = 0.0
    gaps = rng.random(points.shape) < draw(st.sampled_from([0.0, 0.1, 0.9]))
    points[gaps & (kinds > 0)] = np.nan
    return points, kinds, rng


def ask(tree, points, one, count):
    distances, numbers, scratch = np.empty(count), np.empty(count, np.int64), np.empty(tree.ids.shape[1])
    found = find_nearest_live(tree, points[one], one, distances, numbers, scratch)
    return numbers[:found].tolist(), distances[:found]


@given(clouds(), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_nearest_among_those_left(cloud, count):
    points, kinds, rng = cloud
    tree = build_live_tree(points, kinds, np.arange(len(points)))
    left = np.arange(len(points))
    for _ in range(6):
        one = int(rng.integers(len(points)))
        others = left[left != one]
        found, distances = ask(tree, points, one, count)
        assert found == reference.nearest(points, kinds, one, others, count)
        np.testing.assert_array_equal(distances, reference.distances(points, kinds, one, np.array(found, dtype=int)))
        gone = rng.choice(left, size=len(left) // 3, replace=False)
        for each in gone:
            remove_point(tree, each)
        left = np.setdiff1d(left, gone)
        assert np.flatnonzero(tree.where >= 0).tolist() == left.tolist()
        assert tree.live[0] == len(left)
        assert tree.first[0] == (left[0] if len(left) else len(points))


@given(clouds())
@settings(max_examples=40, deadline=None)
def test_no_bound_exceeds_a_distance(cloud):
    points, kinds, _ = cloud
    tree = build_live_tree(points, kinds, np.arange(len(points)))
    leaves, scratch = len(tree.ids), np.empty(tree.ids.shape[1])
    for leaf in range(leaves):
        node = leaves - 1 + leaf
        compute_leaf_distances(kinds, tree.blocks, leaf, tree.live[node], points[0], scratch)
        for place in range(tree.live[node]):
            assert compute_box_bound(kinds, tree.low, tree.high, node, points[0]) <= scratch[place]


def test_a_tree_of_some_points_knows_no_others():
    points = np.random.default_rng(0).random((300, 2))
    chosen = np.arange(0, 300, 3)
    tree = build_live_tree(points, np.zeros(2, np.int8), chosen)
    assert ask(tree, points, 1, 300)[0] == reference.nearest(points, [0, 0], 1, chosen, 300)


def test_many_copies_are_given_by_number():
    points = np.zeros((5000, 2))
    tree = build_live_tree(points, np.zeros(2, np.int8), np.arange(5000))
    for gone in (0, 1, 3):
        remove_point(tree, gone)
    assert ask(tree, points, 2, 4)[0] == [4, 5, 6, 7]


@pytest.mark.parametrize("size", [1, 3])
def test_a_full_list_keeps_the_nearest(size):
    distances, numbers = np.empty(size), np.empty(size, np.int64)
    given_pairs = [(2.0, 5), (1.0, 9), (2.0, 1), (1.0, 2), (3.0, 0)]
    count = 0
    for pair in given_pairs:
        count = insert_neighbour(distances, numbers, count, *pair)
    assert list(zip(distances, numbers, strict=True)) == sorted(given_pairs)[:size]
