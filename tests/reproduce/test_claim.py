"""Interval estimates, and claims that are judged by them."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from fairtrial.reproduce.claim import (
    OUTCOMES,
    Claim,
    IntervalEstimate,
    are_all_positive,
    combine_outcomes,
    count_outcomes,
    estimate_mean,
    mark_inconclusive,
)
from tests.reproduce import read_numbers

NAN = float("nan")


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_interval_of_a_mean_is_that_of_the_t_test(level):
    values = np.random.default_rng(1).normal(1, 2, 12)
    expected = ttest_1samp(values, 0).confidence_interval(level)
    estimate = estimate_mean(values, level)
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    assert estimate.value == pytest.approx(values.mean())


@pytest.mark.parametrize("values", [[], [3.0]])
def test_fewer_than_two_values_are_inconclusive(values):
    estimate = estimate_mean(values)
    assert estimate.sign == 0
    assert estimate.is_positive is None
    assert estimate.is_within(100) is None


@pytest.mark.parametrize(
    ("low", "high", "sign"), [(0.1, 0.3, 1), (-0.3, -0.1, -1), (-0.1, 0.3, 0), (0.0, 0.3, 0), (np.nan, np.nan, 0)]
)
def test_sign_is_the_side_of_zero(low, high, sign):
    assert IntervalEstimate(0.2, low, high).sign == sign


def test_subtract_shifts_the_whole_interval():
    assert IntervalEstimate(1.0, 0.5, 1.5).subtract(0.4).is_positive is True
    assert IntervalEstimate(1.0, 0.5, 1.5).subtract(0.6).is_positive is None
    assert IntervalEstimate(1.0, 0.5, 1.5).subtract(2).is_positive is False


def test_being_close_to_zero_requires_a_narrow_interval():
    assert IntervalEstimate(0, -0.009, 0.009).is_within(0.01) is True
    assert IntervalEstimate(0, -0.02, 0.02).is_within(0.01) is None
    assert IntervalEstimate(0.03, 0.02, 0.04).is_within(0.01) is False


def test_widened_interval_has_the_joint_level():
    values = np.random.default_rng(2).normal(1, 2, 7)
    wide, expected = estimate_mean(values).widen(10), estimate_mean(values, 0.995)
    assert (wide.low, wide.high) == pytest.approx((expected.low, expected.high))
    assert (-wide).low == -wide.high


def test_intervals_below_zero_by_chance_rarely_contradict_a_claim():
    rng = np.random.default_rng(3)
    joint = [are_all_positive(estimate_mean(values) for values in rng.normal(size=(10, 6))) for _ in range(400)]
    single = [combine_outcomes(estimate_mean(values).is_positive for values in rng.normal(size=(10, 6))) for _ in range(400)]
    assert joint.count(True) == 0
    assert joint.count(False) <= 0.05 * 400  # at most 2.5 % expected
    assert single.count(False) > 0.15 * 400  # 22 % expected


def test_no_estimate_and_an_unknown_interval_are_inconclusive():
    assert are_all_positive([]) is None
    assert are_all_positive([IntervalEstimate(1.0, NAN, NAN), IntervalEstimate(1.0, 0.5, 1.5)]) is None


def test_an_interval_contradicts_only_if_it_is_below_zero_at_the_joint_level():
    assert are_all_positive([IntervalEstimate(1, 0.5, 1.5), IntervalEstimate(-1, -1.99, -0.01)]) is None


def test_one_contradicted_part_contradicts_the_claim():
    assert combine_outcomes(iter([None, False, True])) is False
    assert combine_outcomes(iter([None, True])) is None
    assert combine_outcomes(iter([True])) is True


def test_format_of_undefined_estimates():
    assert IntervalEstimate(NAN, NAN, NAN).format() == "undefined"
    assert IntervalEstimate(0.5, NAN, NAN).format("{:.2f}") == "0.50 (interval unknown)"
    assert IntervalEstimate(0.5, 0.25, 0.75).format("{:.2f}") == "0.50 (0.25 to 0.75)"


@pytest.mark.parametrize(("reproduced", "outcome"), [(True, "reproduced"), (False, "contradicted"), (None, "inconclusive")])
def test_a_claim_has_one_of_three_outcomes(reproduced, outcome):
    claim = Claim("The SVM is better", reproduced, "82.2 and 81.3")
    assert claim.outcome == outcome
    assert read_numbers(count_outcomes([claim, claim])) == [2, *(2 * (name == outcome) for name in OUTCOMES.values())]


def test_claims_marked_as_inconclusive_keep_their_numbers():
    claims = mark_inconclusive([Claim("a", True, "1"), Claim("b", False, "2"), Claim("c", None, "3")], "too few rows")
    assert [claim.reproduced for claim in claims] == [None] * 3
    assert [claim.text for claim in claims] == ["a", "b", "c"]
    assert [claim.details for claim in claims] == ["1; too few rows", "2; too few rows", "3"]
