import pytest

from fairtrial.reproduce.estimates.telling import shown, told
from fairtrial.reproduce.interval import Interval


def test_an_end_that_decides_does_not_read_as_nothing():
    """What bagging naive Bayes lost on twonorm in the full run."""
    assert told(Interval(-0.02852, -0.05542, -0.001616), 1) == "-0.029 (-0.055 to -0.002)"
    assert told(Interval(0.9848, 0.9704, 0.9994), 2, nothing=1) == "0.985 (0.970 to 0.999)"


@pytest.mark.parametrize(("low", "words"), [(-0.04, "+0.30 (-0.04 to +0.60)"), (0.04, "+0.30 (+0.04 to +0.60)")])
def test_the_side_of_an_end_shows_whether_or_not_it_decides(low, words):
    assert told(Interval(0.3, low, 0.6), 1, sign=True) == words


def test_others_have_the_digits_asked_for():
    assert told(Interval(1.5, 1.0, 2.0), 1) == "1.5 (1.0 to 2.0)"
    assert told(Interval(1.001, 0.9, 1.1), 2, nothing=1) == "1.00 (0.90 to 1.10)"
    assert told(Interval(0.5, float("nan"), float("nan")), 1) == "0.5 (interval unknown)"


def test_an_end_at_nothing_stays_there():
    assert told(Interval(0.5, 0.0, 1.0), 1) == "0.5 (0.0 to 1.0)"
    assert told(Interval(0.5, -1e-12, 1.0), 1) == "0.5 (0.0 to 1.0)"


def test_a_single_number_keeps_its_sign_and_a_zero_has_none():
    assert (shown(-0.03, 1, sign=True), shown(0.26, 1, sign=True), shown(-1e-12, 1)) == ("-0.03", "+0.3", "0.0")
