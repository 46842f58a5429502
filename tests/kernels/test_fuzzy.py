import numpy as np
import pytest

from fairtrial.kernels.fuzzy import compute_membership, find_best_by_class, sum_by_class


@pytest.mark.parametrize(
    ("place", "label", "degree"), [(0.0, 0, 1.0), (0.25, 0, 0.75), (0.25, 1, 0.25), (2.0, 0, 0.0), (np.nan, 3, 1.0)]
)
def test_a_triangle_falls_to_zero_at_its_neighbours(place, label, degree):
    assert compute_membership(place, label) == degree


def test_degrees_multiply_and_a_missing_label_asks_nothing():
    rules = np.array([[0, 1], [0, -1]], dtype=np.int32)
    places = np.array([[0.25, 0.5], [1.0, 1.0]])
    sums = sum_by_class(rules, places, np.array([0, 1]), np.array([2.0, 1.0]), 2)
    np.testing.assert_allclose(sums, [[2 * 0.75 * 0.5, 0.0], [2 * 0.75, 0.0]])
    best = find_best_by_class(rules, np.array([0, 1]), np.array([0.5, 1.0]), places, 2)
    np.testing.assert_allclose(best, [[0.75 * 0.5 * 0.5, 0.75], [0.0, 0.0]])
