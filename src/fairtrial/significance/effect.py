"""Effect sizes: how large a difference is, whatever its p value. Positive means that the first is larger, in all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import FallbackWarning, InputError, UndefinedMeasureWarning
from fairtrial.kernels.arithmetic import Binning, compute_ratio
from fairtrial.measures import intervals
from fairtrial.measures.bootstrap import Resamples
from fairtrial.measures.intervals import IntervalPlan
from fairtrial.significance.outcome import Effect
from fairtrial.significance.scores import compute_differences, read_paired_columns, round_noise

_COHEN = ((0.2, 0.5, 0.8), "Cohen 1988")
_ROMANO = ((0.147, 0.33, 0.474), "Romano et al. 2006")
_VARGHA = ((0.06, 0.14, 0.21), "Vargha & Delaney 2000")
_CORRELATION = ((0.1, 0.3, 0.5), "Cohen 1988, as for correlations")
_SIZES = ("negligible", "small", "medium", "large")
# The median absolute deviation of a normal distribution times this is its standard deviation.
_MAD_SCALE = 1.482602218505602


def cohens_d(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = True, level: float = 0.95) -> Effect:
    """Cohen's d: the difference of the means over the pooled standard deviation sqrt((s_a^2 + s_b^2) / 2).

    With `paired=False` the columns may differ in length, and variances are pooled by degrees of freedom. The estimate does not
    depend on `paired` when the lengths agree; the interval does: from the noncentral t of two samples, or of pairs
    (Algina & Keselman 2003), which is shorter where the columns are correlated.

    >>> print(cohens_d([0.80, 0.85, 0.78, 0.90], [0.77, 0.86, 0.74, 0.85]))
    cohens_d 0.4865 (95 % interval -0.1215 to 1.053); small (Cohen 1988)
    """
    return _compute_standardised("cohens_d", a, b, paired, level, corrected=False)


def hedges_g(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = True, level: float = 0.95) -> Effect:
    """Hedges' g: Cohen's d freed of its bias in small samples by Hedges' exact factor (1981).

    The factor has n_a + n_b - 2 degrees of freedom, or n - 1 for pairs.

    >>> print(hedges_g([0.80, 0.85, 0.78, 0.90], [0.77, 0.86, 0.74, 0.85], paired=False))
    hedges_g 0.4225 (95 % interval -0.9443 to 1.879); small (Cohen 1988)
    """
    return _compute_standardised("hedges_g", a, b, paired, level, corrected=True)


def cohens_d_av(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> Effect:
    """Cohen's d_av of pairs: the mean difference over the mean of the two standard deviations (Lakens 2013).

    The interval is that of d for pairs (Algina & Keselman 2003), rescaled.

    >>> round(cohens_d_av([1, 2, 3, 4], [0, 2, 1, 5]).estimate, 4)
    0.2898
    """
    first, second = read_paired_columns(a, b, min_rows=2)
    _check.check_between("level", level, 0, 1)
    spread = (_compute_sd(first) + _compute_sd(second)) / 2
    return _build_d_effect("cohens_d_av", first, second, spread, True, level, 1.0)


def _compute_standardised(
    name: str, a: npt.ArrayLike, b: npt.ArrayLike, paired: bool, level: float, *, corrected: bool
) -> Effect:
    first, second = _read_two_columns(a, b, paired, min_rows=2)
    _check.check_between("level", level, 0, 1)
    df = _count_degrees(first, second, paired)
    return _build_d_effect(
        name, first, second, _compute_pooled_sd(first, second), paired, level, _compute_hedges_factor(df) if corrected else 1.0
    )


def _read_two_columns(a: npt.ArrayLike, b: npt.ArrayLike, paired: bool, min_rows: int) -> tuple[FloatArray, FloatArray]:
    if paired:
        return read_paired_columns(a, b, min_rows)
    columns = []
    for name, values in (("first", a), ("second", b)):
        column = _check.check_finite(name, _check.check_numbers(name, _check.check_column(name, values)))
        if len(column) < min_rows:
            raise InputError(f"{name} must have at least {min_rows} rows, got {len(column)}")
        columns.append(column)
    return columns[0], columns[1]


def _compute_sd(values: FloatArray) -> float:
    # Equal numbers can have a variance of rounding size.
    return 0.0 if np.all(values == values[0]) else float(values.std(ddof=1))


def _compute_pooled_sd(first: FloatArray, second: FloatArray) -> float:
    n, m = len(first), len(second)
    return float(np.sqrt(((n - 1) * _compute_sd(first) ** 2 + (m - 1) * _compute_sd(second) ** 2) / (n + m - 2)))


def _count_degrees(first: FloatArray, second: FloatArray, paired: bool) -> int:
    return len(first) - 1 if paired else len(first) + len(second) - 2


def _compute_hedges_factor(df: int) -> float:
    from scipy.special import gammaln

    return float(np.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / np.sqrt(df / 2)) if df > 1 else float("nan")


def _build_d_effect(
    name: str, first: FloatArray, second: FloatArray, spread: float, paired: bool, level: float, factor: float
) -> Effect:
    gap = float(compute_differences(first, second).mean() if paired else first.mean() - second.mean())
    if spread == 0 or np.isnan(factor):
        return _build_undefined_effect(
            name, level, "neither column varies" if spread == 0 else "two rows are too few for the correction"
        )
    error = _compute_standard_error(first, second, paired)
    if error == 0:
        note = "all differences are equal, so there is no interval"
        return Effect(name, factor * gap / spread, float("nan"), float("nan"), level, note)
    low, high = compute_noncentral_t_limits(gap / error, _count_degrees(first, second, paired), level)
    # The limits are those of the true effect, which Hedges' correction of the estimate does not move.
    d, unit = factor * gap / spread, error / spread
    return Effect(name, d, low * unit, high * unit, level, _describe_size(d, *_COHEN))


def _compute_standard_error(first: FloatArray, second: FloatArray, paired: bool) -> float:
    """Standard error of the difference of the means."""
    if paired:
        return _compute_sd(compute_differences(first, second)) / float(np.sqrt(len(first)))
    return _compute_pooled_sd(first, second) * float(np.sqrt(1 / len(first) + 1 / len(second)))


def compute_noncentral_t_limits(t: float, df: float, level: float) -> tuple[float, float]:
    """Limits of the noncentrality parameter that a t statistic is compatible with.

    >>> low, high = compute_noncentral_t_limits(2.0, 10, 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.184, 4.101)
    """
    from scipy.optimize import brentq
    from scipy.special import chdtrc, nctdtr

    if t < 0:
        low, high = compute_noncentral_t_limits(-t, df, level)
        return -high, -low

    def compute_cdf(nc: float) -> float:
        chance = float(nctdtr(df, nc, t))
        if np.isfinite(chance):
            return chance
        # scipy gives NaN where t is large; there t is nearly nc over the root of a scaled chi-squared.
        return float(chdtrc(df, df * (nc / t) ** 2)) if nc > 0 else 1.0

    def find_limit(probability: float) -> float:
        reach = 10 + t
        while compute_cdf(t + reach) > probability:
            reach *= 2
        return float(brentq(lambda nc: compute_cdf(nc) - probability, t - reach, t + reach, xtol=1e-10))

    tail = (1 - level) / 2
    return find_limit(1 - tail), find_limit(tail)


def cliffs_delta(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = False, level: float = 0.95) -> Effect:
    """Cliff's delta: the share of (a, b) pairs with a > b minus the share with a < b.

    All pairs across the columns count, whether rows belong together or not; `paired=True` makes the interval allow for rows
    that do. The interval is Cliff's (1996, asymmetric, from the consistent variance), or, at delta = 1 or -1, that of Feng &
    Cliff (2004).

    >>> print(cliffs_delta([3, 4, 5, 6], [1, 2, 3, 4]))
    cliffs_delta 0.75 (95 % interval -0.09279 to 0.9667); large (Romano et al. 2006)
    """
    first, second = _read_two_columns(a, b, paired, min_rows=2)
    _check.check_between("level", level, 0, 1)
    delta, low, high = _compute_delta(first, second, paired, level)
    return Effect("cliffs_delta", delta, low, high, level, _describe_size(delta, *_ROMANO))


def vargha_delaney_a12(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = False, level: float = 0.95) -> Effect:
    """Vargha and Delaney's A12: the probability that a value of the first is larger, ties counting half.

    It is (1 + Cliff's delta) / 2, and so are its limits.

    >>> print(vargha_delaney_a12([3, 4, 5, 6], [1, 2, 3, 4]))
    vargha_delaney_a12 0.875 (95 % interval 0.4536 to 0.9833); large (Vargha & Delaney 2000)
    """
    first, second = _read_two_columns(a, b, paired, min_rows=2)
    _check.check_between("level", level, 0, 1)
    delta, low, high = ((1 + value) / 2 for value in _compute_delta(first, second, paired, level))
    return Effect("vargha_delaney_a12", delta, low, high, level, _describe_size(delta - 0.5, *_VARGHA))


def _compute_delta(first: FloatArray, second: FloatArray, paired: bool, level: float) -> tuple[float, float, float]:
    from scipy.special import ndtri

    rows, columns, square = _compute_dominance(first, second)
    delta = float(rows.mean())
    n, m, z = len(first), len(second), float(ndtri((1 + level) / 2))
    if abs(delta) == 1:
        smaller_n = min(n, m)
        inner = (smaller_n - z**2) / (smaller_n + z**2)
        return (1.0, inner, 1.0) if delta > 0 else (-1.0, -1.0, -inner)
    if paired:
        variance = float((rows + columns).var(ddof=1)) / n
    else:
        of_cells = n * m * (square - delta**2) / ((n - 1) * (m - 1))
        variance = ((m - 1) * rows.var(ddof=1) + (n - 1) * columns.var(ddof=1) + of_cells) / (n * m)
    reach = z * np.sqrt(variance * ((1 - delta**2) ** 2 + z**2 * variance))
    low, high = ((delta - delta**3 + sign * reach) / (1 - delta**2 + z**2 * variance) for sign in (-1, 1))
    return delta, float(max(low, -1.0)), float(min(high, 1.0))


def _compute_dominance(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Mean sign of a_i - b_j for each i and for each j, and the share of pairs that are not tied; by sorting."""
    combined = np.concatenate([first, second])
    rounded = round_noise(combined, combined)
    x, y = rounded[: len(first)], rounded[len(first) :]
    xs, ys = np.sort(x), np.sort(y)
    rows = (np.searchsorted(ys, x, "left") - (len(y) - np.searchsorted(ys, x, "right"))) / len(y)
    columns = ((len(x) - np.searchsorted(xs, y, "right")) - np.searchsorted(xs, y, "left")) / len(x)
    tied = (np.searchsorted(ys, x, "right") - np.searchsorted(ys, x, "left")).sum() / (len(x) * len(y))
    return rows, columns, float(1 - tied)


def akinshin_gamma(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    paired: bool = True,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Effect:
    """Akinshin's gamma: Cohen's d made robust, the difference of the medians over the pooled median absolute deviation.

    The deviations are scaled to agree with the standard deviation under normality, so gamma is near d there. It is positive
    when the first is larger, as all effect sizes here; Akinshin subtracts the other way round. Bootstrap interval (BCa).

    >>> round(akinshin_gamma([1, 2, 3, 4, 5], [2, 3, 4, 6, 9]).estimate, 4)
    -0.4266
    """
    first, second = _read_two_columns(a, b, paired, min_rows=2)
    n = len(first)
    gamma = _compute_gamma(first[None, :], second[None, :])[0]
    if np.isnan(gamma):
        return _build_undefined_effect("akinshin_gamma", level, "the median absolute deviations are zero")

    def compute_resampled(counts: IntArray) -> FloatArray:
        return _compute_gamma(_repeat_drawn(first, counts), _repeat_drawn(second, counts if paired else counts[n:]))

    strata = None if paired else np.repeat([0, 1], [n, len(second)])
    return _bootstrap_effect(
        "akinshin_gamma",
        float(gamma),
        n if paired else n + len(second),
        strata,
        compute_resampled,
        _COHEN,
        level,
        resamples,
        seed,
    )


def _repeat_drawn(column: FloatArray, counts: IntArray) -> FloatArray:
    return np.repeat(column, counts[: len(column)])[None, :]


def _compute_gamma(first: FloatArray, second: FloatArray) -> FloatArray:
    n, m = first.shape[1], second.shape[1]
    centres = np.median(first, axis=1), np.median(second, axis=1)
    mads = (
        np.median(np.abs(sample - centre[:, None]), axis=1) for sample, centre in zip((first, second), centres, strict=True)
    )
    squares = [(_MAD_SCALE * mad) ** 2 for mad in mads]
    pooled = np.sqrt(((n - 1) * squares[0] + (m - 1) * squares[1]) / (n + m - 2))
    # Rounding leaves deviations that should be zero just above it.
    size = 1e-12 * np.maximum(np.abs(centres[0]), np.abs(centres[1]))
    return np.where(pooled > size, (centres[0] - centres[1]) / np.where(pooled > size, pooled, 1.0), np.nan)


def rank_biserial(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Effect:
    """Matched-pairs rank-biserial correlation (Kerby 2014): (R+ - R-) / (R+ + R-), the ranks of Wilcoxon's test.

    Zero differences are dropped before ranking; if nothing else is left, it is undefined. Bootstrap interval over pairs (BCa).

    >>> round(rank_biserial([0.9, 0.8, 0.7, 0.95], [0.8, 0.85, 0.5, 0.8]).estimate, 4)
    0.8
    """
    first, second = read_paired_columns(a, b)
    delta = compute_differences(first, second)
    compute_balance = _build_rank_biserial(delta)
    estimate = float(compute_balance(np.ones((1, len(delta)), dtype=np.uint8))[0])
    if np.isnan(estimate):
        return _build_undefined_effect("rank_biserial", level, "all differences are zero")
    if abs(estimate) == 1:
        # No resample could differ: the limit is that of a coin which could still have fallen on one side every time.
        limit = 2 * ((1 - level) / 2) ** (1 / np.count_nonzero(delta)) - 1
        low, high = (limit, 1.0) if estimate > 0 else (-1.0, -limit)
        note = "all differences have one sign: the limit is that of their number alone"
        return Effect("rank_biserial", estimate, float(low), float(high), level, note)
    plan = IntervalPlan("bca", level, resamples, seed, False)
    draws = Resamples(len(delta), resamples, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)  # the note tells it
        interval = intervals.compute_bootstrap_intervals(
            lambda draw_counts: compute_balance(draw_counts)[:, None], [estimate], ["rank_biserial"], plan, draws
        )[0]
    notes = [_describe_size(estimate, *_CORRELATION), f"{interval.method} bootstrap", interval.note]
    return Effect("rank_biserial", estimate, interval.low, interval.high, level, "; ".join(note for note in notes if note))


def _build_rank_biserial(delta: FloatArray) -> Callable[[npt.NDArray[np.uint8]], FloatArray]:
    """(R+ - R-) / (R+ + R-) of resamples, given how often each pair is drawn (R x n): one sort serves all."""
    nonzero = np.flatnonzero(delta)
    sizes, group = np.unique(np.abs(delta[nonzero]), return_inverse=True)
    signed = np.sign(delta[nonzero])
    up, down = Binning(group[signed > 0], len(sizes)), Binning(group[signed < 0], len(sizes))

    def compute_balance(draw_counts: npt.NDArray[np.uint8]) -> FloatArray:
        plus, minus = (
            up.compute_sums(draw_counts[:, nonzero[signed > 0]]),
            down.compute_sums(draw_counts[:, nonzero[signed < 0]]),
        )
        pair_counts = plus + minus
        mean_rank = pair_counts.cumsum(axis=1) - (pair_counts - 1) / 2
        total = pair_counts.sum(axis=1)
        return compute_ratio(((plus - minus) * mean_rank).sum(axis=1), total * (total + 1) / 2)

    return compute_balance


def _bootstrap_effect(
    name: str,
    estimate: float,
    n: int,
    strata: IntArray | None,
    compute_statistic: Callable[[IntArray], FloatArray],
    sizes: tuple[tuple[float, float, float], str],
    level: float,
    resamples: int,
    seed: int,
) -> Effect:
    def compute(draw_counts: npt.NDArray[np.uint8]) -> FloatArray:
        return np.array([compute_statistic(counts.astype(np.intp)) for counts in draw_counts])

    plan = IntervalPlan("auto", level, resamples, seed, False)
    interval = intervals.compute_bootstrap_intervals(compute, [estimate], [name], plan, Resamples(n, resamples, seed, strata))[
        0
    ]
    notes = [
        _describe_size(estimate, *sizes),
        f"{interval.method} bootstrap" if interval.method != "none" else "no interval",
        interval.note,
    ]
    return Effect(name, estimate, interval.low, interval.high, level, "; ".join(note for note in notes if note))


def _describe_size(value: float, limits: tuple[float, float, float], source: str) -> str:
    # A value on the limit has reached it, float noise or not.
    return f"{_SIZES[int(np.searchsorted(limits, abs(value) + 1e-12, 'right'))]} ({source})"


def _build_undefined_effect(name: str, level: float, reason: str) -> Effect:
    warnings.warn(f"{name} is undefined: {reason}; NaN is given", UndefinedMeasureWarning, stacklevel=3)
    return Effect(name, float("nan"), float("nan"), float("nan"), level, f"undefined: {reason}")
