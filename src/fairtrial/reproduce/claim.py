"""Claims of a paper and the interval estimates by which they are judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan

import numpy as np
import numpy.typing as npt

from fairtrial._text import format_count

OUTCOMES = {True: "reproduced", False: "contradicted", None: "inconclusive"}
_TOO_FEW_DATA = "inconclusive at this scale"


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate with its 95 % confidence interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and its confidence limits.
    degrees_of_freedom : float
        Degrees of freedom of the t distribution; infinite for a normal approximation.
    """

    value: float
    low: float
    high: float
    degrees_of_freedom: float = inf

    def __neg__(self) -> IntervalEstimate:
        """Negate the estimate and its interval."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    @property
    def sign(self) -> int:
        """1 if the interval lies above 0, -1 if it lies below 0, otherwise 0."""
        return int(self.low > 0) - int(self.high < 0)

    @property
    def is_positive(self) -> bool | None:
        """Whether the quantity is positive; None if the interval contains 0.

        >>> IntervalEstimate(2, 1, 3).is_positive, IntervalEstimate(-2, -3, -1).is_positive
        (True, False)
        >>> IntervalEstimate(0.5, -1, 2).is_positive is None
        True
        """
        return {1: True, -1: False, 0: None}[self.sign]

    def subtract(self, amount: float) -> IntervalEstimate:
        """Subtract a constant; `x.subtract(0.1).is_positive` tests whether x exceeds 0.1."""
        return replace(self, value=self.value - amount, low=self.low - amount, high=self.high - amount)

    def widen(self, n_intervals: int) -> IntervalEstimate:
        """Widen the interval to a joint coverage of 95 % for `n_intervals` intervals (Bonferroni).

        >>> IntervalEstimate(0, -2.2622, 2.2622, degrees_of_freedom=9).widen(10).format("{:.2f}")
        '0.00 (-3.69 to 3.69)'
        """
        from scipy.stats import t

        factor = float(t.isf(0.025 / n_intervals, self.degrees_of_freedom) / t.isf(0.025, self.degrees_of_freedom))
        below, above = factor * (self.value - self.low), factor * (self.high - self.value)
        return replace(self, low=self.value - below, high=self.value + above)

    def is_within(self, limit: float) -> bool | None:
        """Return whether the quantity lies within `limit` of 0; None if the interval crosses a limit.

        >>> IntervalEstimate(0.0, -0.01, 0.01).is_within(0.02), IntervalEstimate(1.0, 0.9, 1.1).is_within(0.02)
        (True, False)
        >>> IntervalEstimate(0.0, -0.1, 0.1).is_within(0.02) is None
        True
        """
        if -limit <= self.low and self.high <= limit:
            return True
        return False if self.low > limit or self.high < -limit else None

    def format(self, pattern: str = "{:+.4f}") -> str:
        """Format the estimate, followed by its confidence limits in parentheses.

        >>> IntervalEstimate(0.5, -1, 2).format("{:.1f}"), IntervalEstimate(float("nan"), 0, 1).format()
        ('0.5 (-1.0 to 2.0)', 'undefined')
        """
        if isnan(self.value):
            return "undefined"
        if isnan(self.low):
            return f"{pattern.format(self.value)} (interval unknown)"
        return f"{pattern.format(self.value)} ({pattern.format(self.low)} to {pattern.format(self.high)})"


def estimate_mean(values: npt.ArrayLike, level: float = 0.95) -> IntervalEstimate:
    """Estimate a mean of independent values with a t interval; fewer than two values give NaN limits.

    >>> estimate_mean([1.0, 2.0, 4.0]).format("{:.2f}")
    '2.33 (-1.46 to 6.13)'
    """
    from scipy.stats import t

    array = np.asarray(values, dtype=float)
    mean = float(array.mean()) if len(array) else float("nan")
    if len(array) < 2:
        return IntervalEstimate(mean, float("nan"), float("nan"))
    half = float(t.ppf((1 + level) / 2, len(array) - 1) * array.std(ddof=1) / np.sqrt(len(array)))
    return IntervalEstimate(mean, mean - half, mean + half, len(array) - 1)


def are_all_positive(estimates: Iterable[IntervalEstimate]) -> bool | None:
    """Return whether all quantities are positive; None if the intervals do not decide this.

    The result is True if every interval lies above 0. It is False if an interval lies below 0 even after a Bonferroni
    correction.

    >>> are_all_positive([IntervalEstimate(1, 0.5, 1.5)] * 3)
    True
    >>> are_all_positive([IntervalEstimate(1, 0.5, 1.5), IntervalEstimate(-1, -1.1, -0.9)])
    False
    """
    estimates = list(estimates)
    contradicted = any(estimate.widen(len(estimates)).is_positive is False for estimate in estimates)
    return False if contradicted else True if estimates and all(estimate.is_positive for estimate in estimates) else None


def combine_outcomes(outcomes: Iterable[bool | None]) -> bool | None:
    """Combine the outcomes of the parts of a claim.

    The result is False if one part is contradicted. Otherwise it is None if a part is inconclusive or if there are no parts.

    >>> combine_outcomes([True, True]), combine_outcomes([True, None, False])
    (True, False)
    >>> combine_outcomes([True, None]) is None, combine_outcomes([]) is None
    (True, True)
    """
    outcomes = list(outcomes)
    return False if False in outcomes else None if None in outcomes or not outcomes else True


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, its outcome, and the numbers that decide it.

    Attributes
    ----------
    text : str
        What the paper claims.
    reproduced : bool or None
        True if the claim is reproduced, False if it is contradicted, None if the result is inconclusive.
    details : str
        Our numbers, with 95 % confidence limits in parentheses.

    Examples
    --------
    >>> from fairtrial.reproduce import Claim
    >>> Claim("C4.5 is more robust than the SVM", True, "difference -0.0455 (-0.0671 to -0.0239)").outcome
    'reproduced'
    """

    text: str
    reproduced: bool | None
    details: str

    @property
    def outcome(self) -> str:
        """The outcome in one word: `reproduced`, `contradicted` or `inconclusive`."""
        return OUTCOMES[self.reproduced]


def mark_inconclusive(claims: Iterable[Claim], reason: str = _TOO_FEW_DATA) -> tuple[Claim, ...]:
    """Mark decided claims as inconclusive and append the reason to their details.

    >>> mark_inconclusive([Claim("a", True, "+2 (+1 to +3)")])[0].details
    '+2 (+1 to +3); inconclusive at this scale'
    """
    return tuple(
        claim if claim.reproduced is None else replace(claim, reproduced=None, details=f"{claim.details}; {reason}")
        for claim in claims
    )


def count_outcomes(claims: Sequence[Claim]) -> str:
    """Count the claims by outcome.

    >>> count_outcomes([Claim("a", True, ""), Claim("b", None, ""), Claim("c", True, "")])
    '3 claims: 2 reproduced, 0 contradicted, 1 inconclusive.'
    """
    counts = [f"{sum(claim.outcome == outcome for claim in claims)} {outcome}" for outcome in OUTCOMES.values()]
    return f"{format_count(len(claims), 'claim')}: {', '.join(counts)}."
