"""Numbers as proportions of their class below them."""

import numpy as np

from fairtrial.resampling.shift import rank_within_classes


def test_ties_missing_values_and_nominal_columns():
    values = np.array([[5.0, 0.0], [5.0, 1.0], [np.nan, 1.0], [9.0, 0.0], [2.0, 2.0]])
    found = rank_within_classes(values, np.array([False, True]), np.array([0, 0, 0, 0, 1]))
    np.testing.assert_allclose(found[:, 0], [1 / 3, 1 / 3, np.nan, 5 / 6, 0.5])
    np.testing.assert_array_equal(found[:, 1], values[:, 1])


def test_where_a_class_lies_and_how_wide_it_is_does_not_matter():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    moved = values * np.where(labels, 100.0, 1.0)[:, None] + 7 * labels[:, None]
    numeric = np.zeros(3, dtype=bool)
    np.testing.assert_allclose(rank_within_classes(moved, numeric, labels), rank_within_classes(values, numeric, labels))


def test_nothing_known_of_a_class():
    assert np.isnan(rank_within_classes(np.full((2, 1), np.nan), np.array([False]), np.zeros(2, dtype=int))).all()
