"""Division by zero without warnings."""

import numpy as np
import pytest

from fairtrial.kernels.arithmetic import compute_ratio


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [(1, 2, 0.5), (0, 3, 0.0), (0, 0, np.nan), (1, 0, np.inf), (-1, 0, -np.inf), (np.nan, 0, np.nan), (np.inf, 2, np.inf)],
)
def test_quotient_zero_over_zero_and_infinity(numerator, denominator, expected):
    np.testing.assert_array_equal(compute_ratio(numerator, denominator), expected)


def test_arrays_are_divided_elementwise_with_broadcasting():
    found = compute_ratio([[1, 2], [0, 4]], [2, 0])
    np.testing.assert_array_equal(found, [[0.5, np.inf], [0, np.inf]])
    assert found.dtype == np.float64


def test_numpys_settings_are_left_alone():
    before = np.geterr()
    compute_ratio(1, 0)
    assert np.geterr() == before
