import numpy as np
import pytest
from scipy.stats import norm

from fairtrial.learners.naive_bayes import BinnedDensity, CountDensity, KernelDensity, NormalDensity, compute_mean_gap

VALUES = np.array([1.0, 2.0, 4.0, 5.0, 7.0])
CLASSES = np.array([0, 0, 0, 1, 1])
WEIGHT = np.array([1.0, 2.0, 1.0, 1.0, 1.0])


def test_the_mean_gap():
    assert compute_mean_gap(VALUES) == 1.5
    assert compute_mean_gap(np.array([3.0, 3.0])) == 0.01


def test_counts_add_one():
    density = CountDensity.fit(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]), 3, 2)
    np.testing.assert_allclose(density(np.array([0.0, 2.0])), [[3 / 6, 1 / 4], [1 / 6, 1 / 4]])


def test_a_value_at_a_cut_lies_below_it():
    counts = CountDensity.fit(np.array([0, 1]), np.array([0, 1]), np.ones(2), 2, 2)
    np.testing.assert_allclose(BinnedDensity(np.array([4.5]), counts)(np.array([4.5, 4.6])), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])


def test_the_normal_curve_is_scipys_over_one_precision():
    density = NormalDensity.fit(VALUES, CLASSES, WEIGHT, 2)
    rounded = np.rint(VALUES / 1.5) * 1.5
    mean = np.average(rounded[:3], weights=WEIGHT[:3])
    deviation = np.sqrt(np.average((rounded[:3] - mean) ** 2, weights=WEIGHT[:3]))
    around = np.rint(3.2 / 1.5) * 1.5
    expected = norm.cdf(around + 0.75, mean, deviation) - norm.cdf(around - 0.75, mean, deviation)
    assert density(np.array([3.2]))[0, 0] == pytest.approx(expected)


def test_a_constant_class_is_a_sixth_of_the_precision_wide():
    density = NormalDensity.fit(np.array([1.0, 1.0, 4.0]), np.array([0, 0, 1]), np.ones(3), 2)
    np.testing.assert_allclose(density.deviations, [0.5, 0.5])


def test_kernels_are_a_mean_of_normal_curves():
    density = KernelDensity.fit(VALUES, CLASSES, WEIGHT, 2)
    around = np.rint(VALUES[:3] / 1.5) * 1.5
    width = np.ptp(around) / np.sqrt(4)
    masses = norm.cdf(around - 2 + 0.75, 0, width) - norm.cdf(around - 2 - 0.75, 0, width)
    assert density(np.array([2.0]))[0, 0] == pytest.approx(np.average(masses, weights=WEIGHT[:3]))


def test_a_class_without_values_has_a_curve_of_its_own():
    density = KernelDensity.fit(np.array([1.0, 2.0]), np.array([0, 0]), np.ones(2), 2)
    assert np.isfinite(density(np.array([1.0, 5.0]))).all()
