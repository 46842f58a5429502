from math import nan

import pytest

from fairtrial.reproduce.drift.telling import interval_told, number_told
from fairtrial.reproduce.interval import Interval


@pytest.mark.parametrize(
    ("value", "form", "told"), [(0.256, "{:.2f}", "0.26"), (-1.5, "{:+.1f}", "-1.5"), (nan, "{}", "undefined")]
)
def test_numbers(value, form, told):
    assert number_told(value, form) == told


def test_intervals_of_nothing_are_undefined_and_unknown_ones_are_said_to_be():
    assert interval_told(Interval(nan, nan, nan)) == "undefined"
    assert interval_told(Interval(0.5, nan, nan)) == "0.50 (interval unknown)"
    assert interval_told(Interval(0.5, 0.25, 0.75)) == "0.50 (0.25 to 0.75)"
