"""Groups and walks equal those found by looking at every pair, with either engine and any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.kernels import neighbours
from fairtrial.kernels.neighbours import find_chains_by_class, find_groups_by_class, find_nearest_chain, find_nearest_groups
from tests.kernels.test_live_tree import clouds
from tests.reference import dob_scv as reference


@pytest.fixture
def eager(monkeypatch):
    """Look ahead and build anew even where it is not worth it."""
    for name, value in {"_WORTH_THREADS": 20, "_WORTH_PRODUCTS": 20, "_WORTH_BUILDING": 8}.items():
        monkeypatch.setattr(neighbours, name, value)
    monkeypatch.setenv("FAIRTRIAL_THREADS", "2")


@given(clouds(), st.integers(2, 12))
@settings(max_examples=60, deadline=None)
def test_groups_equal_brute_force(cloud, size):
    points, kinds, rng = cloud
    seeds = rng.permutation(len(points))
    assert find_nearest_groups(points, kinds, seeds, size).tolist() == reference.groups(points, kinds, seeds, size)


@pytest.mark.parametrize("engine", ["tree", "batched"])
@pytest.mark.parametrize("digits", [0, 1, 12])
@pytest.mark.parametrize(("n", "columns"), [(1, 2), (2, 1), (700, 1), (700, 3), (500, 18)])
@pytest.mark.usefixtures("eager")
def test_looking_ahead_changes_nothing(engine, digits, n, columns):
    rng = np.random.default_rng(n + columns)
    points, kinds = rng.normal(size=(n, columns)).round(digits), np.zeros(columns, np.int8)
    seeds = rng.permutation(n)
    for size in (2, 5, 10):
        assert find_nearest_groups(points, kinds, seeds, size, engine).tolist() == reference.groups(points, kinds, seeds, size)


@pytest.mark.parametrize(("engine", "columns"), [("tree", 2), ("batched", 16)])
def test_a_class_that_is_worth_threads(engine, columns):
    rng = np.random.default_rng(0)
    points, kinds = rng.normal(size=(21_000, columns)), np.zeros(columns, np.int8)
    seeds = rng.permutation(len(points))
    members = find_nearest_groups(points, kinds, seeds, 5, engine)
    assert np.array_equal(np.sort(members), np.arange(len(points)))
    left = np.ones(len(points), bool)
    for start in range(0, len(points), 5):
        seed, found = members[start], members[start + 1 : start + 5].tolist()
        left[seed] = False
        if start % 500 == 0:  # each hundredth group is looked at
            assert found == reference.nearest(points, kinds, seed, np.flatnonzero(left), 4)
        left[found] = False


@given(clouds(most=250))
@settings(max_examples=40, deadline=None)
def test_walk_equals_brute_force(cloud):
    points, kinds, rng = cloud
    start = int(rng.integers(len(points)))
    assert find_nearest_chain(points, kinds, start).tolist() == reference.chain(points, kinds, start)


@pytest.mark.parametrize("columns", [2, 16])
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.usefixtures("eager")
def test_classes_are_independent(monkeypatch, columns, threads):
    monkeypatch.setenv("FAIRTRIAL_THREADS", threads)
    rng = np.random.default_rng(columns)
    points, kinds = rng.normal(size=(90, columns)), np.zeros(columns, np.int8)
    classes = [np.arange(0, 60), np.arange(60, 71), np.arange(71, 90)]
    seeds = [rng.permutation(len(rows)) for rows in classes]
    for rows, order, found in zip(classes, seeds, find_groups_by_class(points, kinds, classes, seeds, 4), strict=True):
        assert found.tolist() == rows[reference.groups(points[rows], kinds, order, 4)].tolist()
    for rows, found in zip(classes, find_chains_by_class(points, kinds, classes, [3, 0, 18]), strict=True):
        assert found[0] == rows[{60: 3, 11: 0, 19: 18}[len(rows)]]
        assert found.tolist() == rows[reference.chain(points[rows], kinds, int(found[0] - rows[0]))].tolist()
