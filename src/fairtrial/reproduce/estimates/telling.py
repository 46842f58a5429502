"""Numbers with their intervals as words, in which no end that decides reads as nothing."""

from __future__ import annotations

from math import isnan

from fairtrial.reproduce.interval import Interval

_MORE = 3  # so many more digits at most


def told(number: Interval, digits: int, *, nothing: int = 0, sign: bool = False) -> str:
    """The number and its interval, with more digits where an end would be rounded to `nothing`, the value of no effect.

    So for the number itself, where its interval lies on one side.

    >>> told(Interval(-0.03, -0.06, -0.004), 1), told(Interval(1.02, 1.004, 1.04), 2, nothing=1)
    ('-0.030 (-0.060 to -0.004)', '1.020 (1.004 to 1.040)')
    >>> told(Interval(0.01, -0.2, 0.3), 1)
    '0.0 (-0.2 to 0.3)'
    """
    asked = [number.low, number.high] if number.less(nothing).sign == 0 else [number.value, number.low, number.high]
    enough = max(_needed(each, digits, nothing) for each in asked)
    value, low, high = (_written(each, enough, sign=sign) for each in (number.value, number.low, number.high))
    return f"{value} (interval unknown)" if isnan(number.low) else f"{value} ({low} to {high})"


def shown(number: float, digits: int, *, sign: bool = False) -> str:
    """A rounded number, with as many more digits as it takes not to read as 0; a 0 has no minus.

    >>> shown(-0.03, 1), shown(-0.26, 1), shown(-1e-9, 1)
    ('-0.03', '-0.3', '0.0')
    """
    return _written(number, _needed(number, digits, 0), sign=sign)


def _needed(number: float, digits: int, nothing: int) -> int:
    """How many digits tell the number from `nothing`; those asked for, where a few more do not."""
    return next((each for each in range(digits, digits + _MORE + 1) if round(number - nothing, each) != 0), digits)


def _written(number: float, digits: int, *, sign: bool) -> str:
    return f"{number:{'+' if sign else ''}z.{digits}f}"
