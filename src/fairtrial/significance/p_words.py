"""How a p value is written beside its level: with so many digits that it does not seem to lie on the other side."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

_MOST_DIGITS = 17


def told_p(p: float, alpha: float, *, digits: int = 2, floor: bool = False) -> str:
    """A p value in words, to stand beside the level alpha; one at the floor of its resamples may be smaller.

    >>> told_p(0.01234, 0.05), told_p(0.050016, 0.05), told_p(0.04998, 0.05)
    ('p = 0.012', 'p = 0.05002', 'p = 0.04998')
    >>> told_p(0.001, 0.05, floor=True), told_p(float("nan"), 0.05)
    ('p at most 0.001', 'p is undefined')
    """
    if isnan(p):
        return "p is undefined"
    return f"p {'at most' if floor else '='} {p_form([p], alpha, digits).format(p)}"


def p_form(values: Iterable[float], alpha: float, digits: int = 2) -> str:
    """The format of p values that stand beside a level: with so many digits that none seems to lie on its other side.

    >>> p_form([0.0123], 0.05), p_form([0.0496], 0.05), p_form([0.0123, 0.05000004], 0.05)
    ('{:.2g}', '{:.3g}', '{:.7g}')
    """
    near = [value for value in map(float, values) if value != alpha and not isnan(value)]
    while digits < _MOST_DIGITS and any(_crosses(float(f"{value:.{digits}g}"), value, alpha) for value in near):
        digits += 1
    return f"{{:.{digits}g}}"


def _crosses(shown_as: float, value: float, alpha: float) -> bool:
    return shown_as == alpha or (shown_as < alpha) != (value < alpha)
