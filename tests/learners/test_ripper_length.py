"""Closed forms by hand."""

import math

import pytest

from fairtrial.learners.ripper_rules import RuleCounts, compute_exceptions_length, compute_rule_length, compute_subset_length


def test_a_subset_of_known_rate():
    assert compute_subset_length(8, 2, 0.25) == pytest.approx(2 * 2 + 6 * math.log2(4 / 3))
    assert compute_subset_length(8, 0, 0.0) == 0
    assert compute_subset_length(8, 8, 1.0) == 0
    assert math.isfinite(compute_subset_length(8, 3, 1.0))


def test_a_rule():
    assert compute_rule_length(0, 10) == 0
    assert compute_rule_length(1, 16) == pytest.approx((0 + 4 + 15 * math.log2(16 / 15)) / 2)
    assert compute_rule_length(4, 16) == pytest.approx((2 + 2 * 1 + 4 * 2 + 12 * math.log2(4 / 3)) / 2)


def test_exceptions_are_expected_on_the_larger_side():
    few = RuleCounts(covered=4, left=11, wrong=1, missed=3)
    larger_left = compute_subset_length(4, 1, 0.25) + compute_subset_length(11, 3, 0.7 * 4 / 11)
    assert compute_exceptions_length(0.3, few) == pytest.approx(4 + larger_left)
    many = RuleCounts(covered=11, left=4, wrong=3, missed=1)
    assert compute_exceptions_length(0.3, many) == pytest.approx(
        4 + compute_subset_length(11, 3, 0.3 * 4 / 11) + compute_subset_length(4, 1, 0.25)
    )
    assert compute_exceptions_length(0.3, RuleCounts(7, 0, 0, 0)) == pytest.approx(3)


def test_counts_without_a_rule():
    assert RuleCounts(10, 5, 2, 1).exclude(RuleCounts(4, 11, 1, 4)) == RuleCounts(6, 9, 1, 4)
