"""Centres and distances from them."""

import numpy as np

from fairtrial.resampling.shift import compute_centre, compute_outlyingness


def test_centre_of_numbers_names_and_nothing():
    values = np.array([[1.0, 2.0, np.nan], [2.0, 2.0, np.nan], [6.0, 0.0, np.nan]])
    np.testing.assert_array_equal(compute_centre(values, np.array([False, True, False])), [3.0, 2.0, np.nan])


def test_distances_are_relative_to_their_mean():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    far = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
    np.testing.assert_allclose(compute_outlyingness(rows, np.zeros(3, dtype=bool)), far / far.mean())


def test_equal_rows_all_lie_at_one():
    assert compute_outlyingness(np.ones((3, 2)), np.zeros(2, dtype=bool)).tolist() == [1, 1, 1]
