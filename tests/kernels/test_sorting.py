"""The radix sort orders every float as NumPy does."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from fairtrial.kernels.sorting import LONG, order_by_radix, order_scores

EDGES = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 2.2e-308, -2.2e-308, 1.8e308, -1.8e308, 1.0, -1.0]


def test_zero_of_either_sign_is_one_number():
    column = np.array([0.0, -0.0, 1.0, -1.0, 0.0, -0.0])
    np.testing.assert_array_equal(order_by_radix(column), [3, 0, 1, 4, 5, 2])


@given(column=hnp.arrays(float, st.integers(0, 60), elements=st.floats(allow_nan=False) | st.sampled_from(EDGES)))
@settings(max_examples=200, deadline=None)
def test_radix_order_is_numpys_stable_order(column):
    np.testing.assert_array_equal(order_by_radix(column), np.argsort(column, kind="stable"))


@pytest.mark.parametrize("n", [1, LONG - 1, LONG, 50_001])
def test_order_is_stable_at_every_length_and_leaves_the_column_alone(n):
    column = np.random.default_rng(n).normal(size=n).round(2)
    before = column.copy()
    np.testing.assert_array_equal(order_scores(column), np.argsort(column, kind="stable"))
    np.testing.assert_array_equal(column, before)
