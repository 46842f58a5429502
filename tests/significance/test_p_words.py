"""Rounding never moves a p-value across alpha."""

import re

import pytest
from scipy import stats

from fairtrial._text import choose_p_format, format_p_value


def test_mid_p_values_of_mcnemar_near_alpha_keep_their_side():
    found = [2 * stats.binom.cdf(k, n, 0.5) - stats.binom.pmf(k, n, 0.5) for n in range(5, 200) for k in range(n // 2)]
    near = [p for p in found if abs(p - 0.05) < 5e-4]
    assert near
    for p in near:
        number = float(re.fullmatch(r"p = (\S+)", format_p_value(p, 0.05))[1])
        assert (number < 0.05, number > 0.05) == (p < 0.05, p > 0.05)


@pytest.mark.parametrize(
    ("p", "alpha", "text"),
    [
        (0.05, 0.05, "p = 0.05"),
        (0.0500160, 0.05, "p = 0.05002"),
        (0.0499800, 0.05, "p = 0.04998"),
        (0.0123, 0.05, "p = 0.012"),
        (0.0123, 0.012, "p = 0.0123"),
        (1e-9, 0.05, "p < 0.001"),
    ],
)
def test_two_digits_unless_more_are_needed(p, alpha, text):
    assert format_p_value(p, alpha) == text


def test_undefined_bounds_and_digits():
    assert format_p_value(float("nan"), 0.05) == "p undefined"
    assert format_p_value(0.012, 0.05, at_most=True) == "p <= 0.012"
    assert format_p_value(0.0121, 0.05, at_most=True) == "p <= 0.013", "a bound is rounded up"
    assert format_p_value(0.04996, 0.05, at_most=True) == "p <= 0.04996", "but not across alpha"
    assert format_p_value(0.019824, 0.05, digits=3) == "p = 0.0198"


def test_one_format_for_a_column():
    assert choose_p_format([0.9, 0.0496, float("nan")], 0.05) == "{:.3g}"
