"""Numbers with their intervals."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from fairtrial.reproduce.interval import Interval, all_above, all_hold, mean_interval


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_of_a_mean_is_that_of_the_t_test(level):
    values = np.random.default_rng(1).normal(1, 2, 12)
    expected = ttest_1samp(values, 0).confidence_interval(level)
    found = mean_interval(values, level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.value == pytest.approx(values.mean())


@pytest.mark.parametrize(("values", "told"), [([], "undefined"), ([3.0], "+3.0000 (interval unknown)")])
def test_too_few_values_say_nothing(values, told):
    found = mean_interval(values)
    assert found.sign == 0
    assert found.above is None
    assert found.within(100) is None
    assert found.told() == told


@pytest.mark.parametrize(
    ("low", "high", "sign"), [(0.1, 0.3, 1), (-0.3, -0.1, -1), (-0.1, 0.3, 0), (0.0, 0.3, 0), (np.nan, np.nan, 0)]
)
def test_the_side_of_zero(low, high, sign):
    assert Interval(0.2, low, high).sign == sign


def test_a_fixed_number_less():
    assert Interval(1.0, 0.5, 1.5).less(0.4).above is True
    assert Interval(1.0, 0.5, 1.5).less(0.6).above is None
    assert Interval(1.0, 0.5, 1.5).less(2).above is False


def test_being_near_zero_needs_a_narrow_interval():
    assert Interval(0, -0.009, 0.009).within(0.01) is True
    assert Interval(0, -0.02, 0.02).within(0.01) is None
    assert Interval(0.03, 0.02, 0.04).within(0.01) is False


def test_a_wider_interval_is_that_of_the_shared_level():
    values = np.random.default_rng(2).normal(1, 2, 7)
    wide, twin = mean_interval(values).widened(10), mean_interval(values, 0.995)
    assert (wide.low, wide.high) == pytest.approx((twin.low, twin.high))
    assert (-wide).low == -wide.high


def test_of_many_intervals_by_chance_below_zero_few_refuse_a_claim():
    rng = np.random.default_rng(3)
    verdicts = [all_above(mean_interval(each) for each in rng.normal(size=(10, 6))) for _ in range(400)]
    plain = [all_hold(mean_interval(each).above for each in rng.normal(size=(10, 6))) for _ in range(400)]
    assert verdicts.count(True) == 0
    assert verdicts.count(False) <= 0.05 * 400  # at most 2.5 % are due
    assert plain.count(False) > 0.15 * 400  # 22 %


def test_nothing_and_the_unknown_stay_open():
    assert all_above([]) is None
    assert all_above([Interval(1.0, np.nan, np.nan), Interval(1.0, 0.5, 1.5)]) is None


def test_one_part_that_does_not_hold_decides():
    assert all_hold(iter([None, False, True])) is False
    assert all_hold(iter([None, True])) is None
    assert all_hold(iter([True])) is True


def test_what_does_not_exist_is_called_undefined():
    assert Interval(np.nan, np.nan, np.nan).told() == "undefined"
    assert Interval(0.5, np.nan, np.nan).told("{:.2f}") == "0.50 (interval unknown)"
    assert Interval(0.5, 0.25, 0.75).told("{:.2f}") == "0.50 (0.25 to 0.75)"
