"""KEEL's way of forming groups, against a reference that computes KEEL's distance from plain values."""

import numpy as np
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.neighbours import compute_keel_distance, find_keel_groups
from fairtrial.resampling.dob_scv import as_keel_cases
from tests.reference import dob_scv as reference


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30), size=st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_groups_equal_the_reference(seed, n, size):
    import pandas as pd

    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 4, n) / 4, "b": rng.choice(["u", "v", "w"], n), "c": rng.normal(size=n).round(1)}
    )
    frame.loc[rng.random(n) < 0.1, "b"] = None
    classes = rng.integers(0, 2, n)
    rows = [[None if pd.isna(value) else value for value in row] for row in frame.to_numpy(object).tolist()]
    cases = as_keel_cases(frame, classes)
    for name in np.unique(classes):
        members = np.flatnonzero(classes == name)
        seeds = rng.permutation(len(members))
        taken, places = find_keel_groups(cases.points[members], cases.weights, cases.proportions, seeds, size)
        found = [members[group].tolist() for group in np.split(taken, np.flatnonzero(places == 0)[1:])]
        assert found == reference.keel_groups(rows, [False, True, False], classes.tolist(), name, members[seeds].tolist(), size)
        assert all(each.tolist() == list(range(len(each))) for each in np.split(places, np.flatnonzero(places == 0)[1:]))


def test_copies_are_no_neighbours():
    points = np.array([[0.0], [0.0], [1.0], [0.0]])
    taken, places = find_keel_groups(points, np.ones(1), np.zeros((1, 1, 1)), np.arange(4), 3)
    assert (taken.tolist(), places.tolist()) == ([0, 2, 1, 3], [0, 1, 0, 0])


def test_the_deviation_multiplies():
    points = np.array([[0.0, np.nan], [8.0, 1.0]])
    assert compute_keel_distance(points, np.array([2.0, 5.0]), np.zeros((2, 1, 1)), 0, 1) == np.sqrt(8 / 4 * 2 + 1)
