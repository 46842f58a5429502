"""Intervals of error rates: as published, exact where they must be, unknown where nothing varies."""

import math

import numpy as np
import pytest
from scipy import stats

from fairtrial.reproduce.ranking.error_intervals import (
    as_rate,
    difference_limits,
    exact,
    over_cells,
    over_repeats,
    shared_level,
    wilson_limits,
)


def test_newcombes_interval_is_his():
    # Newcombe 1998 (Statistics in Medicine 17, 873-890), Table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20.
    assert difference_limits(80.0, 60.0, 70, 80) == pytest.approx((5.24, 33.39), abs=0.005)
    assert difference_limits(90.0, 30.0, 10, 10) == pytest.approx((17.05, 80.90), abs=0.005)
    assert difference_limits(100.0, 0.0, 10, 20) == pytest.approx((67.91, 100.0), abs=0.005)
    assert difference_limits(0.0, 0.0, 1000)[0] < 0 < difference_limits(0.0, 0.0, 1000)[1]
    assert math.isnan(difference_limits(math.nan, 1.0, 1000)[0])


def test_higher_levels_are_wider():
    narrow, wide = (difference_limits(80.0, 60.0, 70, 80, level) for level in (0.95, shared_level(50)))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert shared_level(50) == pytest.approx(0.999)


def test_four_errors_of_four_do_not_show_that_most_are_errors():
    """By the closed form the lower limit is the fourth root of 0.025; Wilson's, 51 %, would decide."""
    assert exact(1.0, 4).low == pytest.approx(100 * 0.025**0.25)
    assert exact(1.0, 4).less(50).above is None
    assert exact(0.7, 1000).less(50).above is True


def test_means_over_repeats_are_students():
    values = [0.0, 0.5, 1.0, 1.0, 0.0]
    low, high = stats.t.interval(0.95, 4, 50, 100 * stats.sem(values))
    assert (over_repeats(values).low, over_repeats(values).high) == pytest.approx((low, high))
    assert over_repeats([1.0] * 4).above is None


def test_means_over_cells_leave_out_what_is_undefined():
    """By hand: two cells of 3 and 2 defined repeats, variances 1/3 and 1/8, degrees of freedom after Welch."""
    nan = math.nan
    first, second = np.array([0.0, 1.0, nan, 1.0]), np.array([0.5, nan, nan, 0.0])
    parts = np.array([(1 / 3) / 3, (1 / 8) / 2])
    freedom = parts.sum() ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(parts.sum()) / 2
    mean = (2 / 3 + 1 / 4) / 2
    found = over_cells([first, second])
    assert (found.value, found.low, found.high) == pytest.approx((100 * mean, 100 * (mean - half), 100 * (mean + half)))
    assert math.isnan(over_cells([first, np.full(4, nan)]).value)
    whole = np.array([[0.0, 1.0, 1.0, 1.0], [0.5, 0.0, 0.0, 1.0]])
    assert over_cells(list(whole)) == over_repeats(whole.mean(axis=0))


def test_one_defined_repeat_tells_no_spread():
    found = over_cells([np.array([1.0, math.nan]), np.array([0.0, 1.0])])
    assert found.value == 75.0
    assert math.isnan(found.low)


def test_limits_of_rates_stay_within_0_and_100():
    assert as_rate(over_repeats([0.0, 0.0, 0.0, 1.0])).low == 0.0
    assert as_rate(over_repeats([1.0, 1.0, 1.0, 0.0])).high == 100.0
    assert math.isnan(as_rate(over_repeats([1.0, 1.0])).low)
    assert math.isnan(wilson_limits(math.nan, 0)[0])
