"""Numbers with their intervals, and what they say of a claim: it holds, it does not, or it stays open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf, isnan

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Interval:
    """A number with the ends of its 95 % interval; `freedom` are the degrees of freedom behind it, where it is Student's."""

    value: float
    low: float
    high: float
    freedom: float = inf

    def __neg__(self) -> Interval:
        """Of the number with its sign turned."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    @property
    def sign(self) -> int:
        """The side of 0 that the whole interval lies on; 0 where it holds 0 or is not known."""
        return int(self.low > 0) - int(self.high < 0)

    @property
    def above(self) -> bool | None:
        """Whether the number is above 0; None where its interval does not tell.

        >>> Interval(2, 1, 3).above, Interval(-2, -3, -1).above, Interval(0.5, -1, 2).above
        (True, False, None)
        """
        return {1: True, -1: False, 0: None}[self.sign]

    def less(self, amount: float) -> Interval:
        """The same number minus a fixed one: `(x.less(0.1)).above` asks whether x is above 0.1."""
        return replace(self, value=self.value - amount, low=self.low - amount, high=self.high - amount)

    def widened(self, parts: int) -> Interval:
        """So wide that several such intervals hold together with 95 % (Bonferroni), their ends taken as Student's.

        >>> Interval(0, -2.2622, 2.2622, freedom=9).widened(10).told("{:.2f}")
        '0.00 (-3.69 to 3.69)'
        """
        from scipy.stats import t

        factor = float(t.isf(0.025 / parts, self.freedom) / t.isf(0.025, self.freedom))
        below, above = factor * (self.value - self.low), factor * (self.high - self.value)
        return replace(self, low=self.value - below, high=self.value + above)

    def within(self, most: float) -> bool | None:
        """Whether the number is at most so far from 0: no, only where the whole interval lies farther; None in between.

        >>> Interval(0.0, -0.01, 0.01).clip(0.02), Interval(0.0, -0.1, 0.1).clip(0.02), Interval(1.0, 0.9, 1.1).clip(0.02)
        (True, None, False)
        """
        if -most <= self.low and self.high <= most:
            return True
        return False if self.low > most or self.high < -most else None

    def told(self, form: str = "{:+.4f}") -> str:
        """The number and its interval as words; one that does not exist is called undefined.

        >>> Interval(0.5, -1, 2).told("{:.1f}"), Interval(float("nan"), 0, 1).told()
        ('0.5 (-1.0 to 2.0)', 'undefined')
        """
        if isnan(self.value):
            return "undefined"
        if isnan(self.low):
            return f"{form.format(self.value)} (interval unknown)"
        return f"{form.format(self.value)} ({form.format(self.low)} to {form.format(self.high)})"


def mean_interval(values: npt.ArrayLike, level: float = 0.95) -> Interval:
    """The mean of independent values with Student's interval; its ends are NaN with fewer than two values.

    >>> mean_interval([1.0, 2.0, 4.0]).told("{:.2f}")
    '2.33 (-1.46 to 6.13)'
    """
    from scipy.stats import t

    given = np.asarray(values, dtype=float)
    mean = float(given.mean()) if len(given) else float("nan")
    if len(given) < 2:
        return Interval(mean, float("nan"), float("nan"))
    half = float(t.ppf((1 + level) / 2, len(given) - 1) * given.std(ddof=1) / np.sqrt(len(given)))
    return Interval(mean, mean - half, mean + half, len(given) - 1)


def all_above(numbers: Iterable[Interval]) -> bool | None:
    """Whether all of several numbers are above 0: yes, where each interval is; no, where one is below 0 although so many look.

    >>> all_above([Interval(1, 0.5, 1.5)] * 3), all_above([Interval(1, 0.5, 1.5), Interval(-1, -1.99, -0.01)])
    (True, None)
    >>> all_above([Interval(1, 0.5, 1.5), Interval(-1, -1.1, -0.9)])
    False
    """
    found = list(numbers)
    refused = any(each.widened(len(found)).above is False for each in found)
    return False if refused else True if found and all(each.above for each in found) else None


def all_hold(verdicts: Iterable[bool | None]) -> bool | None:
    """Of several parts of a claim: False if one does not hold, open if one is open, or if there is none.

    >>> all_hold([True, True]), all_hold([True, None, False]), all_hold([True, None]), all_hold([])
    (True, False, None, None)
    """
    found = list(verdicts)
    return False if False in found else None if None in found or not found else True
