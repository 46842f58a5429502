"""Power analysis: smallest detectable difference and required number of cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from math import isqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial._text import format_html_table, format_number
from fairtrial.errors import InputError
from fairtrial.significance.names import get_display_name, register_method, resolve_name
from fairtrial.significance.scores import compute_differences, read_paired_columns

if TYPE_CHECKING:
    import pandas as pd

register_method("proportions", "two-proportion z test", statistic="z")

Test = Literal["wilcoxon", "paired_t", "mcnemar", "proportions"]
_TESTS: tuple[Test, ...] = ("wilcoxon", "paired_t", "mcnemar", "proportions")
# Asymptotic efficiency of the Wilcoxon test relative to the t test for normal differences.
_EFFICIENCY = 3 / np.pi
_LARGEST = 10**9
# Largest numbers of cases for which the power of the Wilcoxon test is simulated and that of the McNemar test is enumerated.
_MAX_SIMULATED, _MAX_ENUMERATED = 30, 10_000
# Number of pairwise means of differences per simulation. With 30 differences, this yields 21,500 samples. The standard error of
# the power is then at most 0.0034.
_SIMULATED_MEANS = 10_000_000


@dataclass(frozen=True)
class Power:
    """Power of a test, number of cases needed, and smallest detectable difference.

    Attributes
    ----------
    test : str
        Name of the test.
    unit : str
        What `n` counts: "data sets" or "test cases".
    alpha : float
        Significance level.
    target : float
        The desired power.
    n : float
        Number of data sets or test cases; NaN if not given.
    difference : float
        The difference to detect; NaN if not given.
    power : float
        Probability that the test detects `difference` with `n` cases; NaN if one of them is not given.
    n_needed : float
        Smallest number of cases for which the power to detect `difference` reaches `target`; NaN if `difference` is not given.
    minimal_difference : float
        Smallest difference that the test detects with `n` cases and probability `target`; NaN if `n` is not given.
    method : str
        How the power is computed.
    caveats : tuple of Finding
        Assumptions and limitations that apply to this result.

    Examples
    --------
    >>> power(test="paired_t", difference=0.5, sd=1, n=20).n_needed
    34.0
    """

    test: str
    unit: str
    alpha: float
    target: float
    n: float
    difference: float
    power: float
    n_needed: float
    minimal_difference: float
    method: str
    caveats: tuple[Finding, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return the result as a data frame with one row."""
        import pandas as pd

        return pd.DataFrame([{name: value for name, value in vars(self).items() if name != "caveats"}])

    @property
    def summary(self) -> str:
        """The power, the test and the caveats as text."""
        test = f"Two-sided {get_display_name(self.test)} with alpha {self.alpha:g} ({self.method})."
        return " ".join([f"{self}.", test, *render_all(self.caveats)])

    def __str__(self) -> str:
        sentences, needs = [], []
        if not np.isnan(self.power):
            power = format_number(self.power, "{:.3f}")
            sentences.append(
                f"With {self.n:,.0f} {self.unit}, the power for a difference of {format_number(self.difference)} is {power}"
            )
        if not np.isnan(self.n_needed):
            difference = "" if sentences else f" to detect a difference of {format_number(self.difference)}"
            needs.append(f"{self.n_needed:,.0f} {self.unit}{difference}")
        if not np.isnan(self.minimal_difference):
            cases = "" if sentences else f" with {self.n:,.0f} {self.unit}"
            needs.append(f"a difference of {format_number(self.minimal_difference)}{cases}")
        if needs:
            sentences.append(f"A power of {self.target:g} needs {', or '.join(needs)}")
        return ". ".join(sentences)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def power(
    a: npt.ArrayLike | None = None,
    b: npt.ArrayLike | None = None,
    *,
    test: Test = "wilcoxon",
    difference: float | None = None,
    n: int | None = None,
    sd: float | None = None,
    discordant: float | None = None,
    accuracy: float | None = None,
    alpha: float = 0.05,
    target: float = 0.8,
) -> Power:
    """Compute the power, the number of cases needed and the smallest detectable difference.

    Parameters
    ----------
    a, b : array-like, optional
        Scores of two learners in a study ("wilcoxon" and "paired_t"). By default, `n` and `sd` are computed from the scores.
        The observed difference is not used, because power at the observed difference only restates the p-value.
    test : {"wilcoxon", "paired_t", "mcnemar", "proportions"}, default "wilcoxon"
        "wilcoxon" and "paired_t" compare two learners over n data sets. "mcnemar" compares them on the same n test cases, and
        "proportions" on two different sets of n test cases.
    difference : float, optional
        The difference to detect, e.g. in accuracy.
    n : int, optional
        Number of data sets or test cases.
    sd : float, optional
        Standard deviation, over data sets, of the difference between the learners ("wilcoxon" and "paired_t").
    discordant : float, optional
        Proportion of cases that exactly one learner predicts correctly ("mcnemar", Connor 1987).
    accuracy : float, optional
        Accuracy of the better learner ("proportions").
    alpha : float, default 0.05
        Significance level.
    target : float, default 0.8
        The desired power.

    Returns
    -------
    Power
        The results. Values that cannot be computed from the arguments are NaN.

    Notes
    -----
    The power of the t test is computed from the noncentral t distribution. The power of the exact Wilcoxon test is simulated
    for up to 30 data sets. At least 21,500 samples are drawn with a fixed seed, so the standard error is at most 0.0034. The
    power is exact if a significant result requires that all differences have the same sign, e.g. for 6 data sets at 5 %. For
    more than 30 data sets, the power is that of the t test with 3/pi times as many data sets. This factor is the asymptotic
    relative efficiency of the Wilcoxon test for normal differences. The power of the McNemar test (mid-p) is computed by
    enumeration for up to 10,000 test cases. For more test cases, the normal approximation of Connor (1987) is used. `n_needed`
    is the smallest n for which the power, computed in the same way, reaches the target.

    Examples
    --------
    >>> print(power(test="paired_t", difference=0.5, sd=1, n=20))
    With 20 data sets, the power for a difference of 0.5 is 0.565. A power of 0.8 needs 34 data sets, or a difference of 0.66
    >>> round(power(difference=1.7, sd=1, n=6).power, 3)  # all six differences are positive
    0.761
    """
    test = resolve_name("test", test, _TESTS)
    _check.check_between("alpha", alpha, 0, 1)
    _check.check_between("target", target, alpha, 1)
    n, sd = _read_study_scores(a, b, n, sd, test)
    if n is not None:
        _check.check_whole_number("n", n, 2)
    size = None if difference is None else abs(_check_finite_difference(difference))
    if size == 0:
        raise InputError("difference must not be 0: a test cannot show that there is no difference")
    curve, approximate, largest = _build_power_curve(test, sd, discordant, accuracy, alpha)
    if size is not None and size > largest:
        raise InputError(
            f"difference must be at most {largest:g} here, got {difference!r}: it cannot exceed discordant or accuracy"
        )
    if n is None and size is None:
        raise InputError("n or difference (or the scores a and b) must be given")
    nan = float("nan")
    return Power(
        test=test,
        unit="data sets" if test in ("wilcoxon", "paired_t") else "test cases",
        alpha=alpha,
        target=target,
        n=nan if n is None else float(n),
        difference=nan if size is None else size,
        power=nan if n is None or size is None else curve(n, size),
        n_needed=nan if size is None else find_n_needed(curve, approximate, size, target, test),
        minimal_difference=nan if n is None else _find_minimal_difference(curve, n, target, sd, largest),
        method=_METHOD_NAMES[test],
        caveats=_list_power_caveats(test, a is not None),
    )


PowerCurve = Callable[[float, float], float]
_METHOD_NAMES = {
    "wilcoxon": f"exact or simulated up to {_MAX_SIMULATED} data sets, then noncentral t with efficiency 3/pi",
    "paired_t": "noncentral t",
    "mcnemar": f"mid-p test, enumerated up to {_MAX_ENUMERATED:,} test cases, then Connor's normal approximation",
    "proportions": "normal approximation",
}


def _read_study_scores(
    a: npt.ArrayLike | None, b: npt.ArrayLike | None, n: int | None, sd: float | None, test: Test
) -> tuple[int | None, float | None]:
    if a is None and b is None:
        return n, sd
    if a is None or b is None:
        raise InputError("a and b must be given together: pass the scores of both learners")
    if test not in ("wilcoxon", "paired_t"):
        raise InputError(f"a and b must be None for {test!r}, which does not use scores: pass n and discordant or accuracy")
    first, second = read_paired_columns(a, b, min_rows=2)
    spread = float(compute_differences(first, second).std(ddof=1)) if sd is None else sd
    return (len(first) if n is None else n), spread


def _check_finite_difference(difference: float) -> float:
    if not np.isfinite(difference):
        raise InputError(f"difference must be finite, got {difference!r}")
    return float(difference)


def _build_power_curve(
    test: Test, sd: float | None, discordant: float | None, accuracy: float | None, alpha: float
) -> tuple[PowerCurve, PowerCurve, float]:
    """Build a function that computes the power of a test from n and a difference.

    Return this function, a fast approximation of it, and the largest possible difference.
    """
    if test in ("wilcoxon", "paired_t"):
        if sd is None or not 0 < sd < np.inf:
            raise InputError(f"sd must be a finite number above 0, got {sd!r}: pass the standard deviation of the differences")
        spread = float(sd)
        efficiency = _EFFICIENCY if test == "wilcoxon" else 1.0

        def compute_t_power(n: float, size: float) -> float:
            return _compute_t_power(n, size / spread, alpha, efficiency)

        def compute_wilcoxon_power(n: float, size: float) -> float:
            is_small = n <= _MAX_SIMULATED
            return _compute_wilcoxon_power(int(n), size / spread, alpha) if is_small else compute_t_power(n, size)

        return compute_wilcoxon_power if test == "wilcoxon" else compute_t_power, compute_t_power, float("inf")
    if test == "mcnemar":
        if discordant is None or not 0 < discordant <= 1:
            raise InputError(
                f"discordant must be above 0 and at most 1, got {discordant!r}: pass the proportion of discordant cases"
            )
        discordant_rate = float(discordant)

        def compute_connor_power(n: float, size: float) -> float:
            return _compute_connor_power(n, size, discordant_rate, alpha)

        def compute_mcnemar_power(n: float, size: float) -> float:
            is_small = n <= _MAX_ENUMERATED
            return _compute_mcnemar_power(int(n), size, discordant_rate, alpha) if is_small else compute_connor_power(n, size)

        return compute_mcnemar_power, compute_connor_power, discordant_rate
    if accuracy is None or not 0 < accuracy <= 1:
        raise InputError(f"accuracy must be above 0 and at most 1, got {accuracy!r}: pass the accuracy of the better learner")
    base = float(accuracy)

    def compute_proportions_power(n: float, size: float) -> float:
        return _compute_proportions_power(n, base, base - size, alpha)

    return compute_proportions_power, compute_proportions_power, base


def compute_one_sided_power(
    n: int, effect: float, alpha: float, test: Literal["wilcoxon", "paired_t"], is_approximate: bool = False
) -> float:
    """Compute the power of the one-sided test at significance level alpha / 2.

    The differences are assumed to be normal with mean `effect` and variance 1.

    >>> round(compute_one_sided_power(34, 0.5, 0.05, "paired_t"), 3)
    0.808
    """
    if test == "wilcoxon" and n <= _MAX_SIMULATED and not is_approximate:
        return _compute_wilcoxon_tails(n, effect, alpha)[0]
    return _compute_t_tails(n, effect, alpha, _EFFICIENCY if test == "wilcoxon" else 1.0)[0]


def _compute_t_power(n: float, effect: float, alpha: float, efficiency: float) -> float:
    return min(1.0, sum(_compute_t_tails(n, effect, alpha, efficiency)))


def _compute_t_tails(n: float, effect: float, alpha: float, efficiency: float) -> tuple[float, float]:
    """Return the probabilities that the t test rejects in the upper and lower tails."""
    from scipy.special import nctdtr, stdtrit

    # With so few data sets, no result of the exact rank test can be significant.
    if efficiency < 1 and 2.0 ** (1 - n) > alpha:
        return 0.0, 0.0
    cases = n * efficiency
    df, shift = cases - 1, effect * np.sqrt(cases)
    critical = float(stdtrit(df, 1 - alpha / 2))
    # scipy returns NaN far in the tails, where the probability is 0.
    at_most, below = np.nan_to_num([nctdtr(df, shift, critical), nctdtr(df, shift, -critical)], nan=0.0)
    return float(1 - at_most), float(below)


def _compute_wilcoxon_power(n: int, effect: float, alpha: float) -> float:
    """Compute the power of the exact Wilcoxon test for normal differences with variance 1."""
    return sum(_compute_wilcoxon_tails(n, effect, alpha))


def _compute_wilcoxon_tails(n: int, effect: float, alpha: float) -> tuple[float, float]:
    """Return the probabilities that the Wilcoxon test rejects in the upper and lower tails."""
    from scipy.special import ndtr

    critical = _find_wilcoxon_critical(n, alpha)
    if critical > n * (n + 1) // 2:
        return 0.0, 0.0
    if critical == n * (n + 1) // 2:
        return float(ndtr(effect) ** n), float(ndtr(-effect) ** n)
    thresholds = _simulate_wilcoxon_thresholds(n, critical)
    chances = (np.arange(len(thresholds)) + 0.5) / len(thresholds)
    positive, negative = np.interp([effect, -effect], thresholds, chances, left=0.0, right=1.0).tolist()
    return positive, negative


def _find_wilcoxon_critical(n: int, alpha: float) -> int:
    """Find the smallest significant R+ of n differences without ties."""
    counts = np.ones(1)
    for rank in range(1, n + 1):
        counts = (np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))) / 2
    tails = counts[::-1].cumsum()[::-1]
    return int(np.argmax(np.append(2 * tails <= alpha * (1 + 1e-12), True)))


@lru_cache(maxsize=64)
def _simulate_wilcoxon_thresholds(n: int, critical: int) -> npt.NDArray[np.float64]:
    """Simulate the shifts at which R+ becomes significant for n standard normal differences.

    The shifts are sorted. R+ is the number of pairs of differences with a positive mean, if each difference is also paired with
    itself. R+ is therefore at least `critical` if the `critical`-th largest mean is positive.
    """
    generator, means = np.random.default_rng(0), n * (n + 1) // 2
    first, second = np.triu_indices(n)
    samples, thresholds = min(200_000, _SIMULATED_MEANS // means), []
    for start in range(0, samples, 2000):
        draws = generator.normal(size=(min(2000, samples - start), n))
        walsh = (draws[:, first] + draws[:, second]) / 2
        thresholds.append(-np.partition(walsh, means - critical, axis=1)[:, means - critical])
    return np.sort(np.concatenate(thresholds))


def _compute_mcnemar_power(n: int, size: float, discordant_rate: float, alpha: float) -> float:
    """Sum the probabilities of all discordant counts for which the mid-p test is significant."""
    from scipy.special import bdtr
    from scipy.stats import binom

    low, high = (int(binom.ppf(chance, n, discordant_rate)) for chance in (1e-15, 1 - 1e-15))
    discordant = np.arange(max(low, 0), min(high, n) + 1)
    few = _find_mcnemar_critical(n, alpha)[discordant]
    share = (discordant_rate + size) / (2 * discordant_rate)
    can_reject = few >= 0
    rejected = np.zeros(len(discordant))
    counts, cases = few[can_reject], discordant[can_reject]
    rejected[can_reject] = bdtr(counts, cases, share) + bdtr(counts, cases, 1 - share)
    return float(min(1.0, (binom.pmf(discordant, n, discordant_rate) * rejected).sum()))


@lru_cache(maxsize=8)
def _list_mcnemar_critical(alpha: float, largest: int) -> npt.NDArray[np.int64]:
    from scipy.special import bdtr, ndtri
    from scipy.stats import binom

    cases = np.arange(largest + 1)

    def is_significant(few: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        at_most = np.where(few >= 0, bdtr(np.maximum(few, 0), cases, 0.5), 0.0)
        mid_p = 2 * at_most - binom.pmf(few, cases, 0.5)
        return np.asarray((mid_p <= alpha) & (2 * few < cases))

    # The error of the normal approximation is a few counts at most.
    few = np.floor(cases / 2 + ndtri(alpha / 2) * np.sqrt(cases) / 2).astype(np.int64) + 4
    few = np.minimum(few, cases)
    while (wrong := (few >= 0) & ~is_significant(few)).any():
        few = few - wrong
    return few


def _find_mcnemar_critical(n: int, alpha: float) -> npt.NDArray[np.int64]:
    """Find the largest significant value of the smaller discordant count for totals up to n.

    The value is -1 if no count is significant.
    """
    largest = 100 if n <= 100 else 1000 if n <= 1000 else _MAX_ENUMERATED
    return _list_mcnemar_critical(alpha, largest)


def _compute_connor_power(n: float, size: float, discordant_rate: float, alpha: float) -> float:
    from scipy.special import ndtr, ndtri

    reach, spread = (
        np.sqrt(n) * size - ndtri(1 - alpha / 2) * np.sqrt(discordant_rate),
        np.sqrt(max(0.0, discordant_rate - size**2)),
    )
    return float(ndtr(reach / spread)) if spread > 0 else float(reach > 0)


def _compute_proportions_power(n: float, first: float, second: float, alpha: float) -> float:
    from scipy.special import ndtr, ndtri

    mean = (first + second) / 2
    reach = np.sqrt(n) * abs(first - second) - ndtri(1 - alpha / 2) * np.sqrt(2 * mean * (1 - mean))
    spread = np.sqrt(first * (1 - first) + second * (1 - second))
    return float(ndtr(reach / spread)) if spread > 0 else float(reach > 0)


def find_n_needed(curve: PowerCurve, approximate: PowerCurve, size: float, target: float, test: str) -> float:
    """Find the smallest n that reaches the target power. Return NaN if it exceeds 10^9."""
    low, high = 1, 2
    while approximate(high, size) < target:
        low, high = high, high * 2
        if high > _LARGEST:
            return float("nan")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if approximate(middle, size) < target else (low, middle)
    if curve is approximate:
        return float(high)
    # The power of a discrete test does not always increase with n, so bisection could miss the smallest n.
    n = max(2, high - (4 if test == "wilcoxon" else 10 + 3 * isqrt(high)))
    while curve(n, size) < target:
        n += 1
    return float(n)


def _find_minimal_difference(curve: PowerCurve, n: int, target: float, sd: float | None, largest: float) -> float:
    from scipy.optimize import brentq

    top = min(largest, 1e3 * (sd or 1.0))
    if curve(n, top) < target:
        return float("nan")
    return float(brentq(lambda size: curve(n, size) - target, 1e-12 * top, top, xtol=1e-14 * top, rtol=1e-12))


def _list_power_caveats(test: Test, from_study: bool) -> tuple[Finding, ...]:
    caveats = [Finding.of("normal_differences")] if test in ("wilcoxon", "paired_t") else []
    if from_study:
        caveats.append(Finding.of("estimated_sd"))
    return tuple(caveats)
