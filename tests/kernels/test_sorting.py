"""The radix sort orders every float as NumPy does."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from fairtrial.kernels.sorting import _LONG, order_by_radix, order_scores, sort_both, sort_by_radix, sort_scores

EDGES = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 2.2e-308, -2.2e-308, 1.8e308, -1.8e308, 1.0, -1.0]


@given(column=hnp.arrays(float, st.integers(0, 60), elements=st.floats(allow_nan=False) | st.sampled_from(EDGES)))
@settings(max_examples=200, deadline=None)
def test_radix_sort_orders_all_numbers(column):
    expected = np.sort(column)
    sort_by_radix(column)
    np.testing.assert_array_equal(column, expected)


def test_zero_of_either_sign_is_one_number():
    column = np.array([0.0, -0.0, 1.0, -1.0, 0.0, -0.0])
    np.testing.assert_array_equal(order_by_radix(column), [3, 0, 1, 4, 5, 2])
    sort_by_radix(column)
    np.testing.assert_array_equal(column, [-1, 0, 0, 0, 0, 1])


@given(column=hnp.arrays(float, st.integers(0, 60), elements=st.floats(allow_nan=False) | st.sampled_from(EDGES)))
@settings(max_examples=200, deadline=None)
def test_radix_order_is_numpys_stable_order(column):
    np.testing.assert_array_equal(order_by_radix(column), np.argsort(column, kind="stable"))


@pytest.mark.parametrize("n", [1, _LONG - 1, _LONG, 50_001])
def test_order_is_stable_at_every_length_and_leaves_the_column_alone(n):
    column = np.random.default_rng(n).normal(size=n).round(2)
    before = column.copy()
    np.testing.assert_array_equal(order_scores(column), np.argsort(column, kind="stable"))
    np.testing.assert_array_equal(column, before)


@given(column=hnp.arrays(float, st.integers(1, 30), elements=st.floats(-3, 3)), nans=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_nan_goes_to_the_ends(column, nans):
    bad_value = np.full(nans, np.nan)
    bad_value[::2] *= -1
    mixed = np.random.default_rng(0).permutation(np.r_[column, bad_value])
    sort_by_radix(mixed)
    assert np.isnan(mixed[0]) or np.isnan(mixed[-1])
    np.testing.assert_array_equal(mixed[~np.isnan(mixed)], np.sort(column))


@pytest.mark.parametrize("n", [1, _LONG - 1, _LONG, 50_001])
@pytest.mark.parametrize("kind", ["normal", "ties", "constant", "huge range"])
def test_sort_is_in_place_and_right_at_every_length(n, kind):
    rng = np.random.default_rng(n)
    column = {
        "normal": rng.normal(size=n),
        "ties": rng.integers(-3, 3, n).astype(float),
        "constant": np.full(n, -2.5),
        "huge range": rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    }[kind]
    expected = np.sort(column)
    sort_scores(column)
    np.testing.assert_array_equal(column, expected)


@pytest.mark.parametrize("bad_value", [np.nan, -np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [100, 30_000])
def test_values_that_are_not_finite_are_sorted_to_an_end(bad_value, n):
    column = np.random.default_rng(0).random(n)
    column[n // 2] = bad_value
    sort_scores(column)
    assert not (np.isfinite(column[0]) and np.isfinite(column[-1]))


@pytest.mark.parametrize("n", [3, 60_000])
def test_two_columns_are_sorted_each_for_itself(n):
    rng = np.random.default_rng(n)
    first, second = rng.normal(size=n), rng.normal(size=n + 1)
    expected = np.sort(first), np.sort(second)
    sort_both(first, second)
    np.testing.assert_array_equal(first, expected[0])
    np.testing.assert_array_equal(second, expected[1])
