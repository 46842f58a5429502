"""Distances of encoded cases are the standardised Euclidean and the HEOM ones."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import InputError
from fairtrial.resampling.dob_scv import as_cases, as_keel_cases, split_rows_by_class
from tests.reference import dob_scv as reference


def all_distances(cases):
    everyone = np.arange(len(cases.points))
    return np.sqrt([reference.distances(cases.points, cases.kinds, one, everyone) for one in everyone])


def test_complete_numbers_are_standardised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1, 1000, 1e-5] + [0, 5, 1]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(all_distances(as_cases(X)), expected, rtol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 25), gaps=st.sampled_from([0.0, 0.2, 0.8]))
@settings(max_examples=40, deadline=None)
def test_heom(seed, n, gaps):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.choice(["u", "v"], n), "c": 7.0, "d": rng.integers(0, 3, n)}, dtype=object
    )
    frame = frame.mask(rng.random(frame.shape) < gaps, None)
    rows = [[None if pd.isna(value) else value for value in row] for row in frame.to_numpy(object).tolist()]
    typed = frame.astype({"a": float, "b": "category", "c": float, "d": float})
    found = all_distances(as_cases(typed))
    np.testing.assert_allclose(found, reference.heom(rows, [False, True, False, False]), rtol=1e-6)


def test_one_missing_value_makes_it_heom():
    X = np.array([[0.0, 1.0], [10.0, np.nan], [5.0, 1.0]])
    np.testing.assert_allclose(all_distances(as_cases(X)) ** 2, [[0, 2, 0.25], [2, 1, 1.25], [0.25, 1.25, 0]], rtol=1e-6)


def test_equal_steps_of_whole_numbers_are_ties():
    X = np.random.default_rng(0).integers(0, 50, (300, 1)).astype(float)
    points = as_cases(X).points[:, 0]
    steps = points[:, None] - points[None]
    for step in range(1, 30):
        assert len(np.unique(steps[np.isclose(X - X.T, step)])) == 1


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 1.7e308])
def test_any_scale(scale):
    X = np.array([[-1.0], [0.0], [1.0]]) * scale
    found = all_distances(as_cases(X))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], [0, 1.5**0.5, 6**0.5], rtol=1e-3 if scale < 1e-300 else 1e-6)


def test_columns_that_tell_nothing_are_left_out():
    cases = as_cases(np.array([[1.0, 3.0], [1.0, 4.0]]))
    assert cases.points.shape == (2, 1)
    assert as_cases(np.ones((3, 2))).points.tolist() == [[0.0]] * 3
    assert np.isnan(as_cases(np.array([[np.nan], [np.nan]])).points).all()


def test_infinite_numbers_are_refused():
    with pytest.raises(InputError, match=r"^X\b.*inf.*1"):
        as_cases([[1.0], [np.inf]])


def test_keel_compares_nominal_values_by_their_classes():
    frame = pd.DataFrame({"colour": ["red", "red", "blue", "blue"], "size": [0.0, 2.0, 0.0, 2.0]})
    cases = as_keel_cases(frame, np.array([0, 1, 1, 1]))
    assert cases.weights.tolist() == [-1.0, 1.0]
    assert cases.proportions[0].tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_classes_come_in_order_of_appearance():
    assert [rows.tolist() for rows in split_rows_by_class(np.array([2, 0, 2, 1, 0]))] == [[0, 2], [1, 4], [3]]
