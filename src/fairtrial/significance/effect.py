"""Effect sizes for the difference between two samples.

All effect sizes increase with the values in the first sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import intervals
from fairtrial.measures.bootstrap import Resamples
from fairtrial.measures.intervals import IntervalPlan
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect
from fairtrial.significance.scores import (
    MAX_EXACT_WILCOXON,
    compute_differences,
    compute_sign_flip_p,
    rank_values,
    read_paired_columns,
    round_noise,
)

register_method("cohens_d", "Cohen's d")
register_method("cohens_d_av", "Cohen's d_av")
register_method("hedges_g", "Hedges' g")
register_method("cliffs_delta", "Cliff's delta")
register_method("vargha_delaney_a12", "Vargha-Delaney A12")
register_method("akinshin_gamma", "Akinshin's gamma")
register_method("rank_biserial", "rank-biserial correlation")

_COHEN = ((0.2, 0.5, 0.8), "Cohen 1988")
_ROMANO = ((0.147, 0.33, 0.474), "Romano et al. 2006")
_VARGHA = ((0.06, 0.14, 0.21), "Vargha & Delaney 2000")
_CORRELATION = ((0.1, 0.3, 0.5), "Cohen 1988, for correlations")
_SIZES = ("negligible", "small", "medium", "large")
# Factor that converts the median absolute deviation of a normal distribution to its standard deviation.
_MAD_SCALE = 1.482602218505602
# Up to this many differences, the limits of the rank-biserial correlation come from the exact distribution of signed ranks.
_MAX_EXACT_LIMITS = 60


def cohens_d(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = True, level: float = 0.95) -> Effect:
    """Compute Cohen's d: the difference in means divided by the pooled standard deviation.

    For samples of equal length, paired or not, the pooled standard deviation is sqrt((s_a^2 + s_b^2) / 2). The confidence
    interval is based on the noncentral t distribution (for pairs: Algina & Keselman 2003). For positively correlated samples,
    the paired interval is narrower than the unpaired one.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two samples.
    paired : bool, default True
        Whether values at the same position form a pair. Unpaired samples may differ in length.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Effect

    Examples
    --------
    >>> print(cohens_d([0.80, 0.85, 0.78, 0.90], [0.77, 0.86, 0.74, 0.85]))
    Cohen's d 0.486, 95 % CI -0.122 to 1.05; small (Cohen 1988)
    """
    return _compute_standardised("cohens_d", a, b, paired, level, corrected=False)


def hedges_g(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = True, level: float = 0.95) -> Effect:
    """Compute Hedges' g: Cohen's d with the exact small-sample correction of Hedges (1981).

    The correction factor is based on n_a + n_b - 2 degrees of freedom, or on n - 1 for pairs.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two samples.
    paired : bool, default True
        Whether values at the same position form a pair. Unpaired samples may differ in length.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Effect

    Examples
    --------
    >>> print(hedges_g([0.80, 0.85, 0.78, 0.90], [0.77, 0.86, 0.74, 0.85], paired=False))
    Hedges' g 0.423, 95 % CI -0.944 to 1.88; small (Cohen 1988)
    """
    return _compute_standardised("hedges_g", a, b, paired, level, corrected=True)


def cohens_d_av(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> Effect:
    """Compute Cohen's d_av: the mean difference divided by the mean standard deviation.

    This effect size is intended for paired samples (Lakens 2013). Its interval is that for Cohen's d with pairs (Algina &
    Keselman 2003), rescaled to the mean standard deviation.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two samples.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Effect

    Examples
    --------
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
    # Because of rounding errors, the computed variance of equal numbers can be slightly above zero.
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
            name, level, "neither column varies" if spread == 0 else "the correction needs at least 3 rows"
        )
    error = _compute_standard_error(first, second, paired)
    if error == 0:
        note = "no interval because all differences are equal"
        return Effect(name, factor * gap / spread, float("nan"), float("nan"), level, note)
    low, high = compute_noncentral_t_limits(gap / error, _count_degrees(first, second, paired), level)
    # These are limits of the true effect, which Hedges' correction of the estimate does not affect.
    d, unit = factor * gap / spread, error / spread
    return Effect(name, d, low * unit, high * unit, level, _describe_size(d, *_COHEN))


def _compute_standard_error(first: FloatArray, second: FloatArray, paired: bool) -> float:
    if paired:
        return _compute_sd(compute_differences(first, second)) / float(np.sqrt(len(first)))
    return _compute_pooled_sd(first, second) * float(np.sqrt(1 / len(first) + 1 / len(second)))


def compute_noncentral_t_limits(t: float, df: float, level: float) -> tuple[float, float]:
    """Compute confidence limits for the noncentrality parameter of a t statistic.

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
        # For large t, scipy returns NaN. In this case, t is approximately nc divided by the square root of chi-squared / df.
        return float(chdtrc(df, df * (nc / t) ** 2)) if nc > 0 else 1.0

    def find_limit(probability: float) -> float:
        reach = 10 + t
        while compute_cdf(t + reach) > probability:
            reach *= 2
        return float(brentq(lambda nc: compute_cdf(nc) - probability, t - reach, t + reach, xtol=1e-10))

    tail = (1 - level) / 2
    return find_limit(1 - tail), find_limit(tail)


def cliffs_delta(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = False, level: float = 0.95) -> Effect:
    """Compute Cliff's delta: the proportion of pairs with a > b minus that with a < b.

    Every value in `a` is compared with every value in `b`. The interval is the asymmetric interval of Cliff (1996), based on
    the consistent variance estimate. If delta is 1 or -1, the interval is that of Feng and Cliff (2004).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two samples.
    paired : bool, default False
        Whether values at the same position form a pair. This affects only the interval.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Effect

    Examples
    --------
    >>> print(cliffs_delta([3, 4, 5, 6], [1, 2, 3, 4]))
    Cliff's delta 0.75, 95 % CI -0.0928 to 0.967; large (Romano et al. 2006)
    """
    first, second = _read_two_columns(a, b, paired, min_rows=2)
    _check.check_between("level", level, 0, 1)
    delta, low, high = _compute_delta(first, second, paired, level)
    return Effect("cliffs_delta", delta, low, high, level, _describe_size(delta, *_ROMANO))


def vargha_delaney_a12(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = False, level: float = 0.95) -> Effect:
    """Compute Vargha-Delaney A12: the probability that a random value in `a` exceeds one in `b`.

    Ties count as one half. A12 equals (1 + Cliff's delta) / 2, and the confidence limits are transformed accordingly.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two samples.
    paired : bool, default False
        Whether values at the same position form a pair. This affects only the interval.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Effect

    Examples
    --------
    >>> print(vargha_delaney_a12([3, 4, 5, 6], [1, 2, 3, 4]))
    Vargha-Delaney A12 0.875, 95 % CI 0.454 to 0.983; large (Vargha & Delaney 2000)
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
    """Return the mean signs of a_i - b_j by i and by j, and the proportion of untied pairs."""
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
    """Compute Akinshin's gamma: the difference between the medians divided by the pooled MAD.

    Gamma is a robust alternative to Cohen's d. The median absolute deviations (MAD) are scaled to estimate the standard
    deviation of normal data. In Akinshin's original definition, the sign is reversed. The interval is a BCa bootstrap interval.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two samples.
    paired : bool, default True
        Whether values at the same position form a pair. Unpaired samples may differ in length.
    level : float, default 0.95
        Confidence level of the interval.
    resamples : int, default 2000
        Number of bootstrap resamples.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    Effect

    Examples
    --------
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
    # Rounding errors leave deviations slightly above zero.
    size = 1e-12 * np.maximum(np.abs(centres[0]), np.abs(centres[1]))
    return np.where(pooled > size, (centres[0] - centres[1]) / np.where(pooled > size, pooled, 1.0), np.nan)


def rank_biserial(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> Effect:
    """Compute the matched-pairs rank-biserial correlation (R+ - R-) / (R+ + R-).

    R+ and R- are the rank sums of the Wilcoxon signed-rank test (Kerby 2014). Zero differences are dropped before ranking. If
    all differences are zero, the correlation is undefined.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The two samples.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Effect
        The interval excludes zero if and only if the p-value of `wilcoxon` is below 1 - level.

    Notes
    -----
    The interval is obtained by inverting the Wilcoxon test under a model. In this model, the difference with rank i is positive
    with probability 1 / (1 + exp(-2 t i)). If the learners do not differ, t is 0. The confidence limits for t are the values at
    which R+ has a one-sided p-value of (1 - level) / 2. The confidence limits for the correlation are its expected values at
    these values of t. In simulations with 15 and 30 normal, heavy-tailed and skewed differences, the coverage of 95 % intervals
    was between 92.5 % and 96.5 %.

    Examples
    --------
    >>> round(rank_biserial([0.9, 0.8, 0.7, 0.95], [0.8, 0.85, 0.5, 0.8]).estimate, 4)
    0.8
    """
    first, second = read_paired_columns(a, b)
    _check.check_between("level", level, 0, 1)
    delta = compute_differences(first, second)
    delta = delta[delta != 0]
    if not len(delta):
        return _build_undefined_effect("rank_biserial", level, "all differences are zero")
    signed_ranks = np.sign(delta) * rank_values(np.abs(delta))
    p = compute_sign_flip_p(signed_ranks) if len(delta) <= MAX_EXACT_WILCOXON else float("nan")
    return build_rank_biserial(signed_ranks, level, p_value=p)


def build_rank_biserial(
    signed_ranks: FloatArray,
    level: float,
    *,
    p_value: float,
    rank_total: float | None = None,
    correction: float = 0.5,
    variance_factor: float = 1.0,
) -> Effect:
    """Compute the rank-biserial correlation of signed ranks and its confidence interval.

    The confidence limits agree with `p_value`, the p-value of the exact test, and are exact for up to 60 differences. If
    `p_value` is NaN, they are based on the normal approximation with the given continuity correction and variance factor.
    `rank_total` is the sum of all ranks, including those of zero differences.
    """
    ranks, total = np.abs(signed_ranks), float(np.abs(signed_ranks).sum() if rank_total is None else rank_total)
    plus, minus = float(ranks[signed_ranks > 0].sum()), float(ranks[signed_ranks < 0].sum())
    estimate = (plus - minus) / total
    tilted = _TiltedSigns(ranks, (1 - level) / 2, p_value, correction, variance_factor)
    low, high = tilted.find_lower_limit(plus) / total, -tilted.find_lower_limit(minus) / total
    note = f"{_describe_size(estimate, *_CORRELATION)}; inverted Wilcoxon test"
    return Effect("rank_biserial", estimate, min(low, estimate), max(high, estimate), level, note)


@dataclass(frozen=True)
class _TiltedSigns:
    """Model in which rank i is positive with probability 1 / (1 + exp(-2 t i))."""

    ranks: FloatArray
    tail: float
    p_value: float
    correction: float
    variance_factor: float

    def find_lower_limit(self, plus: float) -> float:
        """Compute E(R+ - R-) at the t for which P(R+ >= `plus`) equals `tail`."""
        from scipy.optimize import brentq

        if plus == 0:
            return -float(self.ranks.sum())
        is_exact = not np.isnan(self.p_value) and len(self.ranks) <= _MAX_EXACT_LIMITS
        compute_tail = self._compute_exact_tail if is_exact else self._build_approximate_tail(plus)
        reach = 40 / float(self.ranks.min())
        t = brentq(lambda t: compute_tail(plus, t) - self.tail, -reach, reach, xtol=1e-12 * reach)
        return float((self.ranks * np.tanh(t * self.ranks)).sum())

    def _compute_exact_tail(self, plus: float, t: float) -> float:
        from scipy.special import expit

        sizes, least = np.rint(2 * self.ranks).astype(np.int64), round(2 * plus)
        # chance[s] is the probability that the positive ranks sum to s.
        chance = np.zeros(int(sizes.sum()) + 1)
        chance[0] = 1.0
        for size, positive in zip(sizes, expit(2 * t * self.ranks), strict=True):
            moved = chance[:-size] * positive
            chance *= 1 - positive
            chance[size:] += moved
        return float(chance[least:].sum())

    def _build_approximate_tail(self, plus: float) -> Callable[[float, float], float]:
        from scipy.special import expit, ndtr, ndtri

        def compute_z(t: float) -> float:
            positive = expit(2 * t * self.ranks)
            variance = self.variance_factor * float((self.ranks**2 * positive * (1 - positive)).sum())
            gap = plus - float((self.ranks * positive).sum())
            shortfall = max(abs(gap) - self.correction, 0.0) * np.sign(gap)
            return float(shortfall / np.sqrt(max(variance, 1e-300)))

        # At t = 0, the smaller tail probability must equal that of the exact test.
        is_known = not np.isnan(self.p_value) and 2 * plus > self.ranks.sum()
        offset = -float(ndtri(max(self.p_value / 2, 1e-300))) - compute_z(0.0) if is_known else 0.0
        return lambda _, t: float(ndtr(-compute_z(t) - offset))


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
        _describe_method(interval.method),
        interval.note,
    ]
    return Effect(name, estimate, interval.low, interval.high, level, "; ".join(note for note in notes if note))


def _describe_size(value: float, limits: tuple[float, float, float], source: str) -> str:
    # A value at the threshold counts as having reached it, despite rounding errors.
    return f"{_SIZES[int(np.searchsorted(limits, abs(value) + 1e-12, 'right'))]} ({source})"


def _describe_method(method: str) -> str:
    return "no interval" if method == "none" else f"{'BCa' if method == 'bca' else method} bootstrap"


def _build_undefined_effect(name: str, level: float, reason: str) -> Effect:
    warnings.warn(f"{name} is undefined and returns NaN: {reason}", UndefinedMeasureWarning, stacklevel=3)
    return Effect(name, float("nan"), float("nan"), float("nan"), level, f"undefined: {reason}")
