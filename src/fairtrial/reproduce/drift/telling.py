"""Numbers in sentences: one that does not exist is called undefined."""

from __future__ import annotations

from math import isnan

from fairtrial.reproduce.interval import Interval


def number_told(value: float, form: str = "{:.2f}") -> str:
    """The number as a word.

    >>> number_told(0.5), number_told(float("nan"))
    ('0.50', 'undefined')
    """
    return "undefined" if isnan(value) else form.format(value)


def interval_told(found: Interval, form: str = "{:.2f}") -> str:
    """The number with its interval.

    >>> interval_told(Interval(0.5, 0.4, 0.6)), interval_told(Interval(float("nan"), 0, 0))
    ('0.50 (0.40 to 0.60)', 'undefined')
    """
    return "undefined" if isnan(found.value) else found.told(form)
