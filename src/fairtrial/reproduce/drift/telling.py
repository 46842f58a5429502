"""Numbers in sentences: one that does not exist is called undefined."""

from __future__ import annotations

from math import isnan


def number_told(value: float, form: str = "{:.2f}") -> str:
    """The number as a word.

    >>> number_told(0.5), number_told(float("nan"))
    ('0.50', 'undefined')
    """
    return "undefined" if isnan(value) else form.format(value)
