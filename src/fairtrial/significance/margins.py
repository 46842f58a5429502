"""Decisions at a margin: superior, non-inferior, equivalent or inferior."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial._text import format_difference, format_html_table, format_interval
from fairtrial.errors import InputError
from fairtrial.significance.methodology import MAX_SKEWNESS, compute_skewness
from fairtrial.significance.names import get_display_name
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.resampled import paired_t
from fairtrial.significance.scores import (
    MAX_EXACT_WILCOXON,
    Better,
    compute_differences,
    read_paired_columns,
    round_noise,
)

if TYPE_CHECKING:
    import pandas as pd

DecisionWord = Literal["superior", "equivalent", "non-inferior", "inferior", "inconclusive"]
DECISIONS: tuple[DecisionWord, ...] = ("superior", "equivalent", "non-inferior", "inferior", "inconclusive")
"""Possible decisions, strongest first."""

_PASSED = ("superior", "equivalent", "non-inferior")

# The signed-rank limits require the means of all pairs: 12.5 million pairs for 5,000 differences.
_MAX_SIGNED_RANKS = 5000


@dataclass(frozen=True)
class MarginTest:
    """One of the tests on which a decision at a margin is based.

    Attributes
    ----------
    name : str
        "superiority", "non-inferiority", "equivalence" or "inferiority".
    null : tuple of float
        Boundary of the null hypothesis: zero, or a loss equal to the margin. For equivalence, the two boundaries are -margin
        and margin.
    p_value : float
        One-sided p-value. For equivalence, this is the larger of two p-values. The test passes if and only if p is at most (1 -
        level) / 2.
    passed : bool
        Whether the null hypothesis is rejected.

    Examples
    --------
    >>> decide_margin(-0.001, -0.005, 0.003, margin=0.01).tests[1].name
    'non-inferiority'
    """

    name: str
    null: tuple[float, ...]
    p_value: float
    passed: bool


@dataclass(frozen=True)
class MarginDecision:
    """Decision on a difference, based on its confidence limits and a margin.

    Attributes
    ----------
    decision : str
        The strongest decision that the limits support: superior, equivalent (only if requested), non-inferior, inferior or
        inconclusive.
    margin : float
        The largest loss that does not matter.
    difference, low, high : float
        Difference (new minus old) and its confidence limits, in the unit of the measure.
    level : float
        Confidence level of the limits.
    tests : tuple of MarginTest
        All tests: superiority, non-inferiority, equivalence, inferiority.
    needed : int or None
        Number of rows, clusters or data sets that would suffice for a decision with the same difference and variance. None if
        the goal is reached, if the new model is inferior, or if no number can be estimated.
    passed : bool
        Whether the goal is reached. The goal is equivalence if requested, and otherwise non-inferiority or superiority.
    test : str
        Name of the test from which the limits are derived, such as "wilcoxon"; empty if unknown.
    n : int
        Number of rows, clusters or data sets; 0 if unknown.
    caveats : tuple of Finding
        Assumptions and limitations that apply to this decision.

    Examples
    --------
    >>> decision = decide_margin(-0.001, -0.005, 0.003, margin=0.01)
    >>> decision.decision, decision.passed
    ('non-inferior', True)
    """

    decision: DecisionWord
    margin: float
    difference: float
    low: float
    high: float
    level: float
    tests: tuple[MarginTest, ...]
    needed: int | None
    passed: bool
    test: str = ""
    n: int = 0
    caveats: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as a dictionary of plain values, as used in JSON documents.

        Returns
        -------
        dict
        """
        return {
            "margin": self.margin,
            "decision": self.decision,
            "passed": self.passed,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "needed": self.needed,
            "tests": [
                {
                    "name": test.name,
                    "null": list(test.null),
                    "p_value": test.p_value,
                    "alpha": (1 - self.level) / 2,
                    "passed": test.passed,
                }
                for test in self.tests
            ],
        }

    def frame(self) -> pd.DataFrame:
        """Return the decision and the p-value of each test as a data frame with one row."""
        import pandas as pd

        p_values = {f"p_{test.name.replace('-', '_')}": test.p_value for test in self.tests}
        limits = {"difference": self.difference, "low": self.low, "high": self.high, "level": self.level}
        row = {"decision": self.decision, "passed": self.passed, "margin": self.margin, **limits, **p_values}
        return pd.DataFrame([{**row, "test": self.test, "n": self.n, "needed": self.needed}])

    @property
    def summary(self) -> str:
        """The decision and the caveats as text."""
        return " ".join([f"{self}.", *render_all(self.caveats)])

    def __str__(self) -> str:
        interval = format_interval(self.low, self.high, self.level)
        text = f"{self.decision} at the margin {self.margin:g}: difference {format_difference(self.difference)}, {interval}"
        test = f", {get_display_name(self.test)}, n = {self.n:,}" if self.test else ""
        return text + test + (f"; a decision would need about {self.needed:,}" if self.needed is not None else "")

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def check_margin(margin: float) -> float:
    """Check that a margin is a positive number."""
    _check.check_number("margin", margin)
    if not 0 < margin < math.inf:
        raise InputError(
            f"margin must be greater than 0, got {margin:g}: pass the largest loss that does not matter, such as 0.01"
        )
    return float(margin)


def decide_margin(
    difference: float,
    low: float,
    high: float,
    margin: float,
    *,
    level: float = 0.95,
    better: Literal["max", "min"] = "max",
    equivalent: bool = False,
    units: int | None = None,
    df: float = math.inf,
    overlap: float = 0.0,
) -> MarginDecision:
    """Make a decision at a margin from the confidence limits of a difference.

    Each test is one-sided at significance level (1 - level) / 2. The following rules assume that higher values are better. The
    new model is superior if the lower limit is above 0, and non-inferior if the lower limit is above -margin. The models are
    equivalent if both limits are between -margin and margin. The new model is inferior if the upper limit is below -margin. If
    the limits are NaN, the decision is inconclusive.

    Parameters
    ----------
    difference, low, high : float
        Difference (new minus old) and its confidence limits.
    margin : float
        The largest loss that does not matter. It must be greater than 0.
    level : float, default 0.95
        Confidence level of the limits.
    better : {"max", "min"}, default "max"
        Whether larger or smaller values are better.
    equivalent : bool, default False
        Whether to require equivalence instead of non-inferiority.
    units : int, optional
        Number of rows, clusters or data sets. If given, the number that would suffice for a decision is estimated.
    df : float, optional
        Degrees of freedom of the t distribution on which the limits are based. Default: infinite (normal distribution).
    overlap : float, default 0
        Ratio of test rows to training rows if the units are splits of one data set. The variance of the mean difference is then
        s^2 (1/units + overlap).

    Returns
    -------
    MarginDecision

    Examples
    --------
    >>> decide_margin(-0.02, -0.055, 0.01, margin=0.04, units=100).needed
    307
    """
    check_margin(margin)
    gain, worst, best = (difference, low, high) if better == "max" else (-difference, -high, -low)
    half_alpha = (1 - level) / 2

    def make_test(name: str, *nulls: float) -> MarginTest:
        # A null value below the difference is tested with the lower limit, a null value above it with the upper limit.
        tests = {
            "superiority": worst > 0,
            "non-inferiority": worst > -margin,
            "equivalence": worst > -margin and best < margin,
            "inferiority": best < -margin,
        }
        lower = name in ("superiority", "non-inferiority", "equivalence")
        tails = [_compute_tail(gain - nulls[0], gain - worst, best - gain, level, df)] if lower else []
        if name in ("equivalence", "inferiority"):
            tails.append(_compute_tail(nulls[-1] - gain, best - gain, gain - worst, level, df))
        sign = 1 if better == "max" else -1
        return MarginTest(
            name, tuple(sorted(sign * null + 0.0 for null in nulls)), _agree(max(tails), tests[name], half_alpha), tests[name]
        )

    tests = (
        make_test("superiority", 0.0),
        make_test("non-inferiority", -margin),
        make_test("equivalence", -margin, margin),
        make_test("inferiority", -margin),
    )
    superior, non_inferior, is_equivalent, inferior = (test.passed for test in tests)
    decision: DecisionWord = "inconclusive"
    if superior:
        decision = "superior"
    elif equivalent and is_equivalent:
        decision = "equivalent"
    elif non_inferior:
        decision = "non-inferior"
    elif inferior:
        decision = "inferior"
    passed = is_equivalent if equivalent else decision in _PASSED
    needed = None
    if not passed and decision != "inferior" and units is not None:
        needed = _count_needed(gain, worst, best, margin, equivalent, units, overlap)
    return MarginDecision(decision, margin, difference, low, high, level, tests, needed, passed)


def _compute_tail(distance: float, half_width: float, other_half_width: float, level: float, df: float) -> float:
    """Compute the one-sided p-value for a null value that lies `distance` below the estimate.

    The standard error is derived from the half-width on the side of the null value, so the p-value agrees with the limit.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    half = half_width if distance >= 0 else other_half_width
    if math.isnan(distance) or math.isnan(half):
        return math.nan
    if half == 0:
        return 0.0 if distance > 0 else 1.0
    share = 1 - (1 - level) / 2
    if math.isinf(df):
        return float(ndtr(-distance / half * ndtri(share)))
    return float(stdtr(df, -distance / half * float(stdtrit(df, share))))


def _agree(p: float, passed: bool, half_alpha: float) -> float:
    """Correct a p-value that contradicts the decision because of rounding errors."""
    if math.isnan(p):
        return p
    return min(p, half_alpha) if passed else max(p, math.nextafter(half_alpha, 1))


def _count_needed(
    gain: float, worst: float, best: float, margin: float, equivalent: bool, units: int, overlap: float
) -> int | None:
    """Estimate how many units are needed for a decision.

    The half-widths of the interval are assumed to be proportional to the standard error.
    """
    ratios = []
    if gain > -margin:
        ratios.append((gain - worst) / (gain + margin))
        if equivalent:
            ratios.append((best - gain) / (margin - gain) if gain < margin else math.inf)
    else:
        ratios.append((best - gain) / (-margin - gain) if gain < -margin else math.inf)
    ratio = max(ratios)
    if not math.isfinite(ratio):
        return None
    precision = (1 / units + overlap) / (ratio * ratio) - overlap
    return max(units + 1, math.ceil(1 / precision - 1e-9)) if precision > 0 else None


def margin_test(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    margin: float,
    *,
    method: Literal["wilcoxon", "t"] = "wilcoxon",
    alpha: float = 0.05,
    better: Better = "max",
    equivalent: bool = False,
) -> MarginDecision:
    """Decide whether one learner is superior or non-inferior to another over several data sets.

    The decision is based on the confidence limits of the difference (first minus second) at level 1 - alpha. Each test is
    one-sided at significance level alpha / 2.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores of the new and the old learner on the same data sets, or on other independent units.
    margin : float
        The largest loss that does not matter. It must be greater than 0.
    method : {"wilcoxon", "t"}, default "wilcoxon"
        "wilcoxon" uses the Hodges-Lehmann estimate (the median of the means of all pairs of differences) and limits obtained by
        inverting the signed-rank test. These limits are exact for up to 500 differences. They assume that the differences are
        symmetrically distributed. "t" uses the mean and the t interval, which assumes normally distributed differences. If the
        differences are strongly asymmetric, a caveat is added.
    alpha : float, default 0.05
        Significance level. If there are several comparisons, divide it by their number.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    equivalent : bool, default False
        Whether to require equivalence (two one-sided tests) instead of non-inferiority.

    Returns
    -------
    MarginDecision
        If there are too few differences, the signed-rank limits are infinite. If the differences do not vary, the t limits are
        NaN. In both cases, the decision is inconclusive.

    Raises
    ------
    InputError
        If the margin is not greater than 0, if the numbers of scores differ, or if "wilcoxon" is used for more than 5,000
        differences.

    Examples
    --------
    >>> new = [0.842, 0.911, 0.773, 0.884, 0.690, 0.951, 0.713, 0.806]
    >>> old = [0.840, 0.912, 0.770, 0.880, 0.694, 0.950, 0.715, 0.801]
    >>> print(margin_test(new, old, margin=0.01))
    non-inferior at the margin 0.01: difference +0.001, 95 % CI -0.002 to 0.004, Wilcoxon signed-rank test, n = 8
    """
    margin = check_margin(margin)
    _check.check_one_of("method", method, ("wilcoxon", "t"))
    _check.check_one_of("better", better, ("max", "min"))
    _check.check_between("alpha", alpha, 0, 1)
    a, b = read_paired_columns(first, second, min_rows=2)
    if method == "t":
        decision = decide_by_t_limits(paired_t(a, b, level=1 - alpha), margin, better=better, equivalent=equivalent)
    else:
        decision = _decide_by_signed_ranks(a, b, margin, alpha, better, equivalent)
    skewness = compute_skewness(compute_differences(a, b))
    if abs(skewness) <= MAX_SKEWNESS or math.isinf(decision.low):
        return decision
    limits, shape = ("t", "normal") if method == "t" else ("signed-rank", "symmetric")
    return replace(decision, caveats=(Finding.of("asymmetric_margin", skewness=skewness, limits=limits, shape=shape),))


def decide_by_t_limits(
    outcome: Outcome, margin: float, *, better: Better, equivalent: bool, overlap: float | None = 0.0
) -> MarginDecision:
    """Make a decision at a margin from the t interval of an outcome.

    If `overlap` is None, the number of splits is fixed, and `needed` is not estimated.
    """
    effect, df = outcome.effect, outcome.df
    assert effect is not None
    # If the differences do not vary, the interval has zero width, but this does not mean that the estimate is precise.
    is_constant = effect.low == effect.high
    low, high = (math.nan, math.nan) if is_constant else (effect.low, effect.high)
    decision = decide_margin(
        effect.estimate,
        low,
        high,
        margin,
        level=effect.level,
        better=better,
        equivalent=equivalent,
        units=None if overlap is None else outcome.n,
        df=df[1] if isinstance(df, tuple) else math.inf if df is None else df,
        overlap=overlap or 0.0,
    )
    caveats = (Finding.of("constant_differences"),) if is_constant else ()
    return replace(decision, test=outcome.test, n=outcome.n, caveats=caveats)


def _decide_by_signed_ranks(
    a: FloatArray, b: FloatArray, margin: float, alpha: float, better: Better, equivalent: bool
) -> MarginDecision:
    n, d = len(a), compute_differences(a, b)
    if n > _MAX_SIGNED_RANKS:
        raise InputError(f"method must be 't' for more than {_MAX_SIGNED_RANKS:,} differences, got 'wilcoxon' and {n:,}")
    averages = _compute_pair_averages(d, max(np.abs(a).max(), np.abs(b).max()))
    cdf = _compute_signed_rank_cdf(n)
    k, low, high = _find_limits(averages, cdf, alpha)
    decision = decide_margin(
        float(np.median(averages)), low, high, margin, level=1 - alpha, better=better, equivalent=equivalent, units=n
    )
    gains = averages if better == "max" else -averages[::-1]

    def compute_p(test: MarginTest) -> float:
        nulls = test.null if better == "max" else tuple(sorted(-null for null in test.null))
        below = float(cdf[int(np.searchsorted(gains, nulls[0], side="right"))])  # rejects values up to the first null
        above = float(cdf[len(gains) - int(np.searchsorted(gains, nulls[-1], side="left"))])
        return above if test.name == "inferiority" else max(below, above) if test.name == "equivalence" else below

    tests = tuple(replace(test, p_value=compute_p(test)) for test in decision.tests)
    needed = decision.needed if k else _count_for_finite_limits(a, b, margin, alpha, better, equivalent)
    return replace(decision, tests=tests, needed=needed, test="wilcoxon", n=n)


def _compute_pair_averages(differences: FloatArray, scale: float) -> FloatArray:
    i, j = np.triu_indices(len(differences))
    return np.sort(round_noise((differences[i] + differences[j]) / 2, scale))


def _find_limits(averages: FloatArray, cdf: FloatArray, alpha: float) -> tuple[int, float, float]:
    """Return k and the confidence limits, i.e. the k-th smallest and k-th largest average."""
    k = int(np.searchsorted(cdf, alpha / 2 * (1 + 1e-12), side="right"))
    return (k, float(averages[k - 1]), float(averages[-k])) if k else (0, -math.inf, math.inf)


def compute_signed_rank_limits(differences: npt.ArrayLike, alpha: float = 0.05) -> tuple[float, float, float]:
    """Compute the Hodges-Lehmann estimate of differences and its confidence limits.

    The limits are obtained by inverting the Wilcoxon signed-rank test. They are infinite if there are too few differences. If
    there are more than 5,000 differences, or if not all are finite, the estimate is their mean and the limits are NaN.

    >>> [round(value, 4) for value in compute_signed_rank_limits([0.01, 0.02, 0.03, 0.05, 0.04, 0.3])]
    [0.035, 0.01, 0.3]
    """
    d = np.asarray(differences, dtype=np.float64)
    if len(d) > _MAX_SIGNED_RANKS or not np.isfinite(d).all():
        return float(np.mean(d)), math.nan, math.nan
    averages = _compute_pair_averages(d, float(np.abs(d).max()))
    return float(np.median(averages)), *_find_limits(averages, _compute_signed_rank_cdf(len(d)), alpha)[1:]


def _count_for_finite_limits(
    a: FloatArray, b: FloatArray, margin: float, alpha: float, better: Better, equivalent: bool
) -> int:
    """Estimate how many differences are needed if the signed-rank limits are infinite.

    The estimate is the larger of two numbers: the number for finite signed-rank limits, and the number for a decision by t
    limits.
    """
    smallest = math.ceil(-math.log2(alpha / 2) - 1e-12)
    if np.ptp(compute_differences(a, b)) == 0:
        return smallest
    by_t = decide_by_t_limits(paired_t(a, b, level=1 - alpha), margin, better=better, equivalent=equivalent)
    return max(smallest, by_t.needed or 0)


@lru_cache(maxsize=16)
def _compute_signed_rank_cdf(n: int) -> FloatArray:
    """Compute the distribution function of the signed-rank sum of n differences."""
    from scipy.special import ndtr

    total = n * (n + 1) // 2
    if n > MAX_EXACT_WILCOXON:
        deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return np.asarray(ndtr((np.arange(total + 1) + 0.5 - total / 2) / deviation))
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    for rank in range(1, n + 1):
        chance[rank:] += chance[:-rank].copy()
        chance /= 2
    return np.minimum(np.cumsum(chance), 1.0)
