"""Bounds on errors, checked against Quinlan's book, scipy and closed forms."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import beta, norm

from fairtrial.kernels.c45 import (
    compute_x_log_x,
    count_errors,
    estimate_errors,
    estimate_extra_errors,
    find_majority,
    make_x_log_x_table,
    sum_weights,
)
from tests.reference.trees_twin import extra

Z = float(norm.isf(0.25))


@pytest.mark.parametrize(("n", "rate"), [(6, 0.206), (9, 0.143), (1, 0.75)])
def test_no_errors_as_in_quinlans_book(n, rate):
    """C4.5: Programs for Machine Learning (1993), section 4.2: U25%(0, 6) = .206, U25%(0, 9) = .143, U25%(0, 1) = .750."""
    assert estimate_errors(np.array([float(n), 0.0]), 0.25, Z) / n == pytest.approx(rate, abs=5e-4)


def test_one_error_in_sixteen_is_near_quinlans_book():
    """The book gives U25%(1, 16) = .157, the exact binomial limit is .160; release 8 takes the normal one."""
    found = estimate_errors(np.array([15.0, 1.0]), 0.25, Z) / 16
    assert found == pytest.approx(0.157, abs=5e-3)
    assert found == pytest.approx(beta.ppf(0.75, 2, 15), abs=5e-3)


@given(st.floats(0.1, 1e4), st.floats(0, 1), st.floats(0.01, 0.5))
def test_extra_errors_equal_the_reference(n, share, confidence):
    errors = n * share
    assert estimate_extra_errors(n, errors, confidence, float(norm.isf(confidence))) == pytest.approx(
        extra(n, errors, confidence), abs=1e-8
    )


def test_an_empty_leaf_expects_nothing():
    assert estimate_errors(np.zeros(3), 0.25, Z) == 0


def test_x_log_x_by_table_and_by_formula():
    table = make_x_log_x_table(100)
    assert table[0] == table[1] == 0
    assert table[8] == pytest.approx(24)
    assert [compute_x_log_x(float(x), table) for x in range(101)] == pytest.approx(
        [compute_x_log_x(float(x), table[:0]) for x in range(101)]
    )


def test_the_first_of_equal_classes_is_the_majority():
    assert find_majority(np.array([2.0, 3.0, 3.0 + 1e-9])) == 1
    assert count_errors(np.array([2.0, 3.0, 3.0])) == 5
    assert sum_weights(np.array([2.0, 3.0])) == 5
