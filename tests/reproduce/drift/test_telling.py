from math import nan

import pytest

from fairtrial.reproduce.drift.telling import number_told


@pytest.mark.parametrize(
    ("value", "form", "told"), [(0.256, "{:.2f}", "0.26"), (-1.5, "{:+.1f}", "-1.5"), (nan, "{}", "undefined")]
)
def test_numbers(value, form, told):
    assert number_told(value, form) == told
