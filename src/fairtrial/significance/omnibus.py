"""Omnibus tests of several learners: rank tests and repeated-measures ANOVA.

Each rank test assigns a rank score to every cell of the score table. The rank scores are centred within each data set. Under
the null hypothesis, the rank scores of a data set are exchangeable. Let S be the vector that contains the sum of the rank
scores of each learner. Let A be the sum of all squared rank scores. Let J be a matrix of ones. Over all permutations within
data sets, the covariance matrix of S is A / (k - 1) (I - J / k). The rank statistics in this module and in `posthoc` follow
from S and A.

All rank statistics except Page's L increase with the sum of squares of S. Their exact p-value is the proportion of all
permutations within data sets with a sum of squares at least as large as the observed one. Permutations of different
data sets are independent, so the distribution of S is built up one data set at a time. Sums that differ only in the order of
the learners are merged.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import significance as kernels
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome
from fairtrial.significance.scores import Better, ScoreTable, rank_values, read_table, round_noise

if TYPE_CHECKING:
    import pandas as pd

register_method("friedman", "Friedman test", statistic="chi2")
register_method(
    "iman_davenport",
    "Friedman test (Iman-Davenport)",
    cite="Friedman 1937; Iman & Davenport 1980; Demšar 2006",
    statistic="F",
)
register_method("friedman (iman_davenport)", "Friedman test (Iman-Davenport)", statistic="F")
register_method("aligned_ranks", "Friedman aligned ranks test", statistic="chi2")
register_method("aligned", "Friedman aligned ranks test", statistic="chi2")
register_method("quade", "Quade test", statistic="F")
register_method("page_trend", "Page trend test", cite="Page 1963", statistic="L")
register_method("anova", "repeated-measures ANOVA", cite="Greenhouse & Geisser 1959", statistic="F")
register_method("anova (Greenhouse & Geisser)", "repeated-measures ANOVA (Greenhouse-Geisser)", statistic="F")

Ties = Literal["corrected", "uncorrected"]
Distribution = Literal["auto", "exact", "monte-carlo", "asymptotic"]
DISTRIBUTIONS: tuple[Distribution, ...] = ("auto", "exact", "monte-carlo", "asymptotic")

# Up to this many data sets or cells, p-values are computed by permutation. The type I error of the F test was simulated
# (100,000 tables each, 3 to 10 learners). In larger tables, it is at most 5.6 % at the 5 % level and 1.2 % at the 1 % level. In
# smaller tables, it is up to 19.4 % at the 5 % level (3 x 3).
_MAX_PERMUTED_DATASETS, _MAX_PERMUTED_CELLS = 12, 50
# Largest number of rank sums that are enumerated, and largest number of orders of the learners on one data set.
_MAX_ENUMERATED, _MAX_ORDERS = 1_000_000, 50_000
_CHUNK_CELLS = 500_000

_ALL_SCORES_EQUAL = Finding.of("all_scores_equal")


@dataclass(frozen=True)
class RankScores:
    """Rank scores of k learners on N data sets.

    All rank scores are multiples of a fraction that floats represent exactly, so equal sums have equal float values.

    `without_ties` is the sum of squares that would result if there were no ties. The mean rank of a learner is `centre` plus
    `unit` times the sum of the learner's rank scores. `centre` is the mean rank over all learners.
    """

    cells: FloatArray
    without_ties: float
    unit: float
    centre: float

    @property
    def sums(self) -> FloatArray:
        """S, the sum of the rank scores of each learner."""
        return np.asarray(self.cells.sum(axis=0))

    @property
    def squares(self) -> float:
        """A, the sum of all squared rank scores."""
        return float((self.cells**2).sum())

    @property
    def means(self) -> FloatArray:
        """Mean rank of each learner. Smaller ranks are better."""
        return np.asarray(self.sums * self.unit + self.centre)


def compute_friedman_ranks(table: ScoreTable, better: Better) -> RankScores:
    """Rank the scores within each data set."""
    n, k = table.shape
    return RankScores(table.compute_ranks(better) - (k + 1) / 2, n * k * (k * k - 1) / 12, 1 / n, (k + 1) / 2)


def compute_aligned_ranks(table: ScoreTable, better: Better) -> RankScores:
    """Rank all N x k scores together after subtracting the mean of each data set.

    Scores and ranks are multiplied by k to avoid fractions that floats cannot represent exactly.
    """
    n, k = table.shape
    values = table.values if better == "min" else -table.values
    aligned = round_noise(k * values - values.sum(axis=1, keepdims=True), k * table.row_scale)
    ranks = rank_values(aligned.ravel()).reshape(n, k)
    rows = ranks.sum(axis=1, keepdims=True)
    m = n * k
    without_ties = k * k * (m * (m + 1) * (2 * m + 1) / 6) - k * float((rows**2).sum())
    return RankScores(k * ranks - rows, without_ties, 1 / m, (m + 1) / 2)


def compute_quade_ranks(table: ScoreTable, better: Better) -> RankScores:
    """Compute ranks within data sets, weighted by the rank of the data set's range of scores."""
    n, k = table.shape
    ranges = round_noise(table.values.max(axis=1) - table.values.min(axis=1), table.row_scale[:, 0])
    weights = rank_values(ranges)[:, None]
    squares = n * (n + 1) * (2 * n + 1) * k * (k * k - 1) / 72
    return RankScores(weights * (table.compute_ranks(better) - (k + 1) / 2), squares, 2 / (n * (n + 1)), (k + 1) / 2)


def friedman(
    scores: pd.DataFrame | npt.ArrayLike,
    *,
    better: Better = "max",
    ties: Ties = "corrected",
    distribution: Distribution = "auto",
    resamples: int = 50_000,
    seed: int = 0,
) -> Outcome:
    """Test whether any of several learners differ, using the Friedman test.

    Asymptotically, the statistic has a chi-squared distribution with k - 1 degrees of freedom. The asymptotic p-value is more
    conservative than that of `iman_davenport`. The exact p-values of the two tests are equal.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    ties : {"corrected", "uncorrected"}, default "corrected"
        "corrected" divides by the variance of the observed ranks, as R does. "uncorrected" divides by the variance of ranks
        without ties (Demšar 2006), which is conservative.
    distribution : {"auto", "exact", "monte-carlo", "asymptotic"}, default "auto"
        How p is computed. "exact" enumerates all orders of the learners within data sets, "monte-carlo" draws random orders,
        and "asymptotic" uses the chi-squared distribution. "auto" uses permutations for up to 12 data sets or 50 scores, and
        the asymptotic distribution for larger tables. Permutations are enumerated if this takes at most about a million steps,
        and are otherwise drawn at random.
    resamples : int, default 50000
        Number of random orders, if not all orders are enumerated.
    seed : int, default 0
        Seed of the random orders.

    Returns
    -------
    Outcome
        The effect is Kendall's W. Its interval covers both the noncentral F interval and the jackknife interval, and excludes
        zero if and only if p is below 0.05. `details` contains the mean ranks. If the learners do not differ on any data set,
        the statistic is NaN and p is 1.

    Examples
    --------
    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(friedman(table))
    Friedman test (exact): chi2 = 3.5, df = 2, p = 0.27, n = 4
    """
    table = _read_rank_table(scores, better, ties)
    plan = PermutationPlan(distribution, resamples, seed)
    return _build_chi_squared_outcome("friedman", table, compute_friedman_ranks(table, better), better, ties, plan)


def aligned_ranks(
    scores: pd.DataFrame | npt.ArrayLike,
    *,
    better: Better = "max",
    ties: Ties = "corrected",
    distribution: Distribution = "auto",
    resamples: int = 50_000,
    seed: int = 0,
) -> Outcome:
    """Test whether any of several learners differ, using the Friedman aligned ranks test.

    The mean of each data set is subtracted from its scores, and all scores are ranked together. Large differences therefore
    count more than in the Friedman test, and scores must be comparable between data sets. Asymptotically, the statistic has a
    chi-squared distribution with k - 1 degrees of freedom (Hodges & Lehmann 1962; García et al. 2010).

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    ties : {"corrected", "uncorrected"}, default "corrected"
        "corrected" divides by the variance of the observed ranks. "uncorrected" divides by the variance of ranks without ties,
        which is conservative.
    distribution : {"auto", "exact", "monte-carlo", "asymptotic"}, default "auto"
        How p is computed. "exact" enumerates all orders of the learners within data sets, "monte-carlo" draws random orders,
        and "asymptotic" uses the chi-squared distribution. "auto" uses permutations for up to 12 data sets or 50 scores, and
        the asymptotic distribution for larger tables. Permutations are enumerated if this takes at most about a million steps,
        and are otherwise drawn at random.
    resamples : int, default 50000
        Number of random orders, if not all orders are enumerated.
    seed : int, default 0
        Seed of the random orders.

    Returns
    -------
    Outcome
        The effect is Kendall's W. Its interval covers both the noncentral F interval and the jackknife interval, and excludes
        zero if and only if p is below 0.05. There is no interval if this test and the Friedman test disagree on significance.
        `details` contains the mean ranks. If the learners do not differ on any data set, the statistic is NaN and p is 1.

    Examples
    --------
    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(aligned_ranks(table, ties="uncorrected"))
    Friedman aligned ranks test (exact, ties uncorrected): chi2 = 3.75, df = 2, p = 0.12, n = 4
    """
    table = _read_rank_table(scores, better, ties)
    plan = PermutationPlan(distribution, resamples, seed)
    return _build_chi_squared_outcome("aligned_ranks", table, compute_aligned_ranks(table, better), better, ties, plan)


def iman_davenport(
    scores: ScoreTable | pd.DataFrame | npt.ArrayLike,
    *,
    better: Better = "max",
    ties: Ties = "corrected",
    distribution: Distribution = "auto",
    resamples: int = 50_000,
    seed: int = 0,
) -> Outcome:
    """Test whether any of several learners differ, using the Friedman test (Iman-Davenport).

    Asymptotically, the statistic has an F distribution with k - 1 and (k - 1)(N - 1) degrees of freedom. This form is less
    conservative than the chi-squared form. If all data sets rank the learners in the same way, F is infinite, and p is the
    probability of such agreement by chance.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    ties : {"corrected", "uncorrected"}, default "corrected"
        "corrected" divides by the variance of the observed ranks, as R does. "uncorrected" divides by the variance of ranks
        without ties (Demšar 2006), which is conservative.
    distribution : {"auto", "exact", "monte-carlo", "asymptotic"}, default "auto"
        How p is computed. "exact" enumerates all orders of the learners within data sets, "monte-carlo" draws random orders,
        and "asymptotic" uses the F distribution. "auto" uses permutations for up to 12 data sets or 50 scores, and the
        asymptotic distribution for larger tables. Permutations are enumerated if this takes at most about a million steps, and
        are otherwise drawn at random.
    resamples : int, default 50000
        Number of random orders, if not all orders are enumerated.
    seed : int, default 0
        Seed of the random orders.

    Returns
    -------
    Outcome
        The effect is Kendall's W. Its interval covers both the noncentral F interval and the jackknife interval, and excludes
        zero if and only if p is below 0.05. `details` contains the mean ranks. If the learners do not differ on any data set,
        the statistic is NaN and p is 1.

    Examples
    --------
    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(iman_davenport(table))
    Friedman test (Iman-Davenport, exact): F = 2.33, df = 2 and 6, p = 0.27, n = 4
    """
    table = _read_rank_table(scores, better, ties)
    n, k = table.shape
    rank_scores = compute_friedman_ranks(table, better)
    chi = _compute_chi_squared(rank_scores, ties)
    with np.errstate(divide="ignore"):
        f = float(np.divide((n - 1) * chi, n * (k - 1) - chi))
    return _build_f_outcome(
        "iman_davenport", table, rank_scores, f, better, ties, PermutationPlan(distribution, resamples, seed)
    )


def quade(
    scores: pd.DataFrame | npt.ArrayLike,
    *,
    better: Better = "max",
    distribution: Distribution = "auto",
    resamples: int = 50_000,
    seed: int = 0,
) -> Outcome:
    """Test whether any of several learners differ, using the Quade test.

    The Quade test extends the Friedman test: it weights each data set by the rank of its range of scores. Scores must therefore
    be comparable between data sets. Asymptotically, the statistic has an F distribution with k - 1 and (k - 1)(N - 1) degrees
    of freedom. Ties receive mean ranks, and the variance is that of the observed ranks, as in R.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    distribution : {"auto", "exact", "monte-carlo", "asymptotic"}, default "auto"
        How p is computed. "exact" enumerates all orders of the learners within data sets, "monte-carlo" draws random orders,
        and "asymptotic" uses the F distribution. "auto" uses permutations for up to 12 data sets or 50 scores, and the
        asymptotic distribution for larger tables. Permutations are enumerated if this takes at most about a million steps, and
        are otherwise drawn at random.
    resamples : int, default 50000
        Number of random orders, if not all orders are enumerated.
    seed : int, default 0
        Seed of the random orders.

    Returns
    -------
    Outcome
        The effect is Kendall's W. Its interval covers both the noncentral F interval and the jackknife interval, and excludes
        zero if and only if p is below 0.05. There is no interval if this test and the Friedman test disagree on significance.
        `details` contains the mean ranks. If the learners do not differ on any data set, the statistic is NaN and p is 1.

    Examples
    --------
    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(quade(table))
    Quade test (exact): F = 2.6, df = 2 and 6, p = 0.18, n = 4
    """
    table = _read_rank_table(scores, better, "corrected")
    n, _ = table.shape
    rank_scores = compute_quade_ranks(table, better)
    between = float((rank_scores.sums**2).sum()) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        f = float(np.divide((n - 1) * between, rank_scores.squares - between))
    return _build_f_outcome("quade", table, rank_scores, f, better, "corrected", PermutationPlan(distribution, resamples, seed))


def anova(scores: ScoreTable | pd.DataFrame | npt.ArrayLike) -> Outcome:
    """Test whether any of several learners differ, using one-way repeated-measures ANOVA.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.

    Returns
    -------
    Outcome
        `p_value` assumes sphericity: all differences between learners have the same variance. `details` contains the
        Greenhouse-Geisser `epsilon` (1 means sphericity) and `p_corrected`, which does not assume sphericity. The effect is
        partial eta squared, with an interval based on the noncentral F distribution.

    Notes
    -----
    If the learners do not differ on any data set, F is NaN and p is 1. If the differences are the same on every data set, F is
    infinite and p is NaN because there is no error variance.

    Examples
    --------
    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(anova(table))
    repeated-measures ANOVA: F = 2.82, df = 2 and 6, p = 0.14, n = 4
    """
    from scipy.special import fdtrc

    table = read_table(scores)
    n, k = table.shape
    effect, error = compute_sums_of_squares(table.values)
    df = (k - 1.0, (k - 1.0) * (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        f = float(np.divide(effect / df[0], error / df[1]))
    epsilon = compute_sphericity(table.values)
    if np.isnan(f):
        p = corrected = 1.0
        _warn_omnibus_undefined("anova", render(_ALL_SCORES_EQUAL))
    elif np.isinf(f):
        p = corrected = float("nan")
        _warn_omnibus_undefined(
            "anova", "The learners differ by the same amounts on every data set: F is infinite and p is NaN."
        )
    else:
        p, corrected = float(fdtrc(*df, f)), float(fdtrc(epsilon * df[0], epsilon * df[1], f))
    caveats = [Finding.of("normal_errors")]
    caveats += [Finding.of("corrected_p")] if k > 2 else []
    caveats += [_ALL_SCORES_EQUAL] if np.isnan(f) else []
    details = {"epsilon": epsilon, "p_corrected": corrected}
    details |= {f"mean {name}": float(mean) for name, mean in zip(table.learners, table.values.mean(axis=0), strict=True)}
    return Outcome(
        "anova",
        f,
        p,
        df=df,
        n=n,
        effect=compute_eta_squared(f, n, k),
        details=details,
        caveats=tuple(caveats),
    )


def page_trend(
    scores: pd.DataFrame | npt.ArrayLike,
    *,
    order: Sequence[str] | None = None,
    distribution: Distribution = "auto",
    resamples: int = 50_000,
    seed: int = 0,
) -> Outcome:
    """Test whether scores increase along a given order of the learners, using Page's trend test.

    The order must be fixed in advance, e.g. an increasing number of trees. The test is one-sided and more powerful than the
    Friedman test against such a trend (Page 1963).

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.
    order : sequence of str, optional
        Learners sorted from the smallest to the largest expected score. Default: the order of the columns.
    distribution : {"auto", "exact", "monte-carlo", "asymptotic"}, default "auto"
        How p is computed. "exact" enumerates all orders of the learners within data sets (up to 8 learners), and "monte-carlo"
        draws random orders. "asymptotic" uses the normal distribution with a variance corrected for ties. "auto" uses
        permutations for up to 12 data sets or 50 scores, and the asymptotic distribution for larger tables.
    resamples : int, default 50000
        Number of random orders, if not all orders are enumerated.
    seed : int, default 0
        Seed of the random orders.

    Returns
    -------
    Outcome
        The statistic is Page's L: the rank sum of each learner times its position in the order, summed over the learners. The
        effect is the Spearman correlation between the order and the scores, averaged over data sets. It has no interval. If the
        learners do not differ on any data set, p is 1.

    Examples
    --------
    >>> table = np.array([[0.7, 0.8, 0.9], [0.6, 0.7, 0.8], [0.7, 0.9, 0.8], [0.4, 0.5, 0.6]])
    >>> print(page_trend(table))
    Page trend test (exact): L = 55, p = 0.0069, n = 4
    """
    from scipy.special import ndtr

    table = read_table(scores)
    plan = PermutationPlan(distribution, resamples, seed)
    names = table.learners if order is None else tuple(map(str, order))
    if sorted(names) != sorted(table.learners):
        raise InputError(f"order must have each learner once, got {list(names)}: use {list(table.learners)}")
    n, k = table.shape
    ranks = table.compute_ranks("min")[:, [table.learners.index(name) for name in names]]
    centred = ranks - (k + 1) / 2
    positions = np.arange(1, k + 1, dtype=np.float64) - (k + 1) / 2
    trend, squares = float((centred @ positions).sum()), (centred**2).sum(axis=1)
    deviation = float(np.sqrt((positions**2).sum() * squares.sum() / (k - 1)))
    permuted = _permute_trend(centred, positions, trend, plan) if deviation else None
    z = trend / deviation if deviation else float("nan")
    p = 1.0 if not deviation else float(ndtr(-z)) if permuted is None else permuted.p_value
    if not deviation:
        _warn_omnibus_undefined("page_trend", render(_ALL_SCORES_EQUAL))
    # If all scores on a data set are equal, the correlation is undefined.
    spread = np.sqrt((positions**2).sum() * squares[squares > 0])
    correlation = float(((centred @ positions)[squares > 0] / spread).mean()) if deviation else float("nan")
    nan = float("nan")
    return Outcome(
        "page_trend",
        trend + n * k * (k + 1) ** 2 / 4,
        p,
        n=n,
        variant="asymptotic" if permuted is None else permuted.variant,
        alternative="increasing",
        ties=Finding.of("tied_ranks"),
        effect=Effect("mean rank correlation", correlation, nan, nan),
        details={"z": z} | {f"mean rank {name}": float(mean) for name, mean in zip(names, ranks.mean(axis=0), strict=True)},
        caveats=(Finding.of("approximate_p" if permuted is None else "independent_datasets"),)
        + (() if deviation else (_ALL_SCORES_EQUAL,)),
        resamples=None if permuted is None else permuted.resamples,
    )


def _permute_trend(centred: FloatArray, positions: FloatArray, trend: float, plan: PermutationPlan) -> PermutedP | None:
    """Compute the permutation p-value of a trend. Return None if p is asymptotic."""
    n, k = centred.shape
    if plan.distribution == "asymptotic" or (plan.distribution == "auto" and not permutes_by_default(n, k)):
        return None
    # Ranks and positions are multiples of 1/2. In the array of probabilities, index 0 stands for the smallest trend on a data
    # set.
    cells, weights, observed = np.rint(2 * centred).astype(np.int64), np.rint(2 * positions).astype(np.int64), round(4 * trend)
    is_small = factorial(k) <= _MAX_ORDERS
    if plan.distribution == "exact" and not is_small:
        raise InputError(f"distribution must not be 'exact' for {k} learners, which have too many orders: use 'monte-carlo'")
    if is_small and plan.distribution != "monte-carlo":
        chances, lowest = np.ones(1), 0
        for row in map(tuple, np.sort(cells, axis=1).tolist()):
            row_lowest, row_chances = _enumerate_trend(row, tuple(weights.tolist()))
            chances, lowest = np.convolve(chances, row_chances), lowest + row_lowest
        return PermutedP(min(1.0, float(chances[max(0, observed - lowest) :].sum())), None)
    generator, at_least = np.random.default_rng(plan.seed), 0
    chunk = max(1, _CHUNK_CELLS // cells.size)
    ordered = np.array(sorted(np.sort(cells, axis=1).tolist()))
    for start in range(0, plan.resamples, chunk):
        tables = np.repeat(ordered[None], min(chunk, plan.resamples - start), axis=0)
        at_least += int(((generator.permuted(tables, axis=2) @ weights).sum(axis=1) >= observed).sum())
    return PermutedP((1 + at_least) / (1 + plan.resamples), plan.resamples)


@lru_cache(maxsize=256)
def _enumerate_trend(row: tuple[int, ...], weights: tuple[int, ...]) -> tuple[int, FloatArray]:
    """Return the smallest possible trend on a data set, and the probability of each trend.

    The probabilities belong to consecutive integers, which start with the smallest trend.
    """
    trends = np.array(list(permutations(row)), dtype=np.int64) @ np.array(weights)
    return int(trends.min()), np.bincount(trends - trends.min()) / len(trends)


def compute_sums_of_squares(values: FloatArray) -> tuple[float, float]:
    """Compute the sums of squares between learners and of the residuals.

    Sums that differ from zero only by rounding errors are set to zero.
    """
    n, k = values.shape
    # Subtracting the scores of the first learner removes offsets that are common to all learners, which reduces rounding
    # errors.
    d = round_noise(values - values[:, :1], np.abs(values).max(axis=1, keepdims=True))
    columns = d.mean(axis=0) - d.mean()
    residuals = d - d.mean(axis=1, keepdims=True) - columns
    noise = n * k * (16 * np.finfo(float).eps * np.abs(d).max(initial=0.0)) ** 2
    sums = (n * float((columns**2).sum()), float((residuals**2).sum()))
    return sums[0] if sums[0] > noise else 0.0, sums[1] if sums[1] > noise else 0.0


def compute_sphericity(values: FloatArray) -> float:
    """Compute the Greenhouse-Geisser epsilon. Return NaN if the residuals are zero."""
    k = values.shape[1]
    if compute_sums_of_squares(values)[1] == 0:
        return float("nan")
    centre = np.eye(k) - 1 / k
    spread = centre @ np.cov(values, rowvar=False) @ centre
    return min(1.0, float(np.trace(spread) ** 2 / ((k - 1) * (spread**2).sum())))


def _read_rank_table(scores: ScoreTable | pd.DataFrame | npt.ArrayLike, better: str, ties: str) -> ScoreTable:
    _check.check_one_of("better", better, ("max", "min"))
    _check.check_one_of("ties", ties, ("corrected", "uncorrected"))
    return read_table(scores)


def _compute_chi_squared(rank_scores: RankScores, ties: Ties) -> float:
    k = rank_scores.cells.shape[1]
    if rank_scores.squares == 0:
        return float("nan")
    squares = rank_scores.squares if ties == "corrected" else rank_scores.without_ties
    return float((k - 1) * (rank_scores.sums**2).sum() / squares)


def _build_chi_squared_outcome(
    test: str, table: ScoreTable, rank_scores: RankScores, better: Better, ties: Ties, plan: PermutationPlan
) -> Outcome:
    from scipy.special import chdtrc

    k = len(table.learners)
    chi = _compute_chi_squared(rank_scores, ties)
    permuted = plan.compute_p(rank_scores.cells)
    p = 1.0 if np.isnan(chi) else float(chdtrc(k - 1, chi)) if permuted is None else permuted.p_value
    return _build_rank_outcome(test, table, rank_scores, (chi, p, k - 1.0), better, ties, permuted)


def _build_f_outcome(
    test: str, table: ScoreTable, rank_scores: RankScores, f: float, better: Better, ties: Ties, plan: PermutationPlan
) -> Outcome:
    from scipy.special import fdtrc

    n, k = table.shape
    df = (k - 1.0, (k - 1.0) * (n - 1))
    permuted = plan.compute_p(rank_scores.cells)
    if np.isnan(f):
        p = 1.0
    elif permuted is not None:
        p = permuted.p_value
    elif np.isinf(f):
        p = float(_count_orders(rank_scores.cells[0])) ** -(n - 1)
    else:
        # The p-value of the F test can be smaller than the probability of full agreement, although no result is rarer.
        p = max(float(fdtrc(*df, f)), float(factorial(k)) ** -(n - 1))
    return _build_rank_outcome(test, table, rank_scores, (f, p, df), better, ties, permuted)


@dataclass(frozen=True)
class PermutedP:
    """The p-value of a permutation test.

    `resamples` is the number of random permutations, or None if all permutations were enumerated.
    """

    p_value: float
    resamples: int | None

    @property
    def variant(self) -> str:
        """Form of the test: "exact", or the number of random permutations."""
        return "exact" if self.resamples is None else f"Monte Carlo, {self.resamples:,} permutations"


@dataclass(frozen=True)
class PermutationPlan:
    """Method for computing the p-value of a rank test."""

    distribution: Distribution = "auto"
    resamples: int = 50_000
    seed: int = 0

    def __post_init__(self) -> None:
        _check.check_one_of("distribution", self.distribution, DISTRIBUTIONS)
        _check.check_whole_number("resamples", self.resamples, 1)
        _check.check_whole_number("seed", self.seed, 0)

    def compute_p(self, scores: FloatArray) -> PermutedP | None:
        """Compute the permutation p-value of rank scores. Return None if p is asymptotic.

        The rank scores must be multiples of 1/4.
        """
        n, k = scores.shape
        if self.distribution == "asymptotic" or (self.distribution == "auto" and not permutes_by_default(n, k)):
            return None
        cells = np.rint(4 * scores).astype(np.int64)
        cells //= max(1, int(np.gcd.reduce(cells.ravel())))
        observed = int((cells.sum(axis=0) ** 2).sum())
        # The order of the data sets and the direction of the ranks do not affect p.
        rows = min(_sort_rows(cells), _sort_rows(-cells))
        exact = None if self.distribution == "monte-carlo" else _enumerate_squares(rows)
        if exact is not None:
            values, tails = exact
            return PermutedP(min(1.0, float(tails[np.searchsorted(values, observed)])), None)
        if self.distribution == "exact":
            raise InputError(
                f"distribution must not be 'exact' for {n} data sets and {k} learners, which have too many orders: "
                "use 'monte-carlo'"
            )
        drawn = _draw_squares(rows, self.resamples, self.seed)
        at_least = len(drawn) - int(np.searchsorted(drawn, observed))
        return PermutedP((1 + at_least) / (1 + self.resamples), self.resamples)


def _sort_rows(cells: npt.NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    """Sort rank scores within and between data sets.

    Data sets with the most possible orders come first, because the first data set does not need to be permuted.
    """
    rows = (tuple(sorted(row)) for row in cells.tolist())
    return tuple(sorted(rows, key=lambda row: (-_count_orders(np.array(row)), row)))


def permutes_by_default(n: int, k: int) -> bool:
    """Return whether tests of k learners on n data sets use permutations by default.

    >>> permutes_by_default(12, 20), permutes_by_default(16, 3), permutes_by_default(14, 4)
    (True, True, False)
    """
    return n <= _MAX_PERMUTED_DATASETS or n * k <= _MAX_PERMUTED_CELLS


@lru_cache(maxsize=64)
def _enumerate_squares(rows: tuple[tuple[int, ...], ...]) -> tuple[npt.NDArray[np.int64], FloatArray] | None:
    """Return the possible values of the sum of squares of S, and their upper tail probabilities.

    The values are in ascending order. Return None if there are too many of them.
    """
    sums = np.array(rows[:1], dtype=np.int64)
    chances: FloatArray = np.ones(1)
    n_orders = [_count_orders(np.array(row)) for row in rows]
    if max(n_orders[1:], default=1) > _MAX_ORDERS:
        return None
    for i, row in enumerate(rows[1:], start=1):
        # Codes with this radix order the sums lexicographically. All vectors of sums have the same total, so one column is left
        # out.
        radix = int(np.ptp(sums)) + row[-1] - row[0] + 1
        if len(sums) * n_orders[i] > _MAX_ENUMERATED or radix ** (len(row) - 1) > np.iinfo(np.int64).max:
            return None
        # The number of sums never decreases, so it must not exceed the limit for the next data set.
        limit = _MAX_ENUMERATED // n_orders[i + 1] if i + 1 < len(rows) else _MAX_ENUMERATED
        sums, chances, codes = kernels.add_row(sums, chances, np.array(row, dtype=np.int64), n_orders[i], limit)
        if not len(sums):
            return None
        # Sorting the sums makes the result independent of the hash table.
        ascending = np.argsort(codes)
        sums, chances = sums[ascending], chances[ascending]
    values, inverse = np.unique((sums**2).sum(axis=1), return_inverse=True)
    return values, np.bincount(inverse, chances)[::-1].cumsum()[::-1]


@lru_cache(maxsize=16)
def _draw_squares(rows: tuple[tuple[int, ...], ...], resamples: int, seed: int) -> npt.NDArray[np.int64]:
    """Draw random permutations within data sets, and return the sorted sums of squares of S."""
    cells, generator = np.array(rows, dtype=np.int64), np.random.default_rng(seed)
    chunk = max(1, _CHUNK_CELLS // cells.size)
    drawn = []
    for start in range(0, resamples, chunk):
        tables = np.repeat(cells[None], min(chunk, resamples - start), axis=0)
        drawn.append((generator.permuted(tables, axis=2).sum(axis=1) ** 2).sum(axis=1))
    return np.sort(np.concatenate(drawn))


def _count_orders(row: npt.NDArray[np.generic]) -> int:
    """Count the distinct orders of the rank scores of a data set, which may contain ties."""
    orders = factorial(len(row))
    for tied in np.unique(row, return_counts=True)[1]:
        orders //= factorial(int(tied))
    return orders


def _build_rank_outcome(
    test: str,
    table: ScoreTable,
    rank_scores: RankScores,
    result: tuple[float, float, float | tuple[float, float]],
    better: Better,
    ties: Ties,
    permuted: PermutedP | None,
) -> Outcome:
    statistic, p, df = result
    caveats = [Finding.of("approximate_p" if permuted is None else "independent_datasets")]
    if np.isnan(statistic):
        caveats.append(_ALL_SCORES_EQUAL)
        _warn_omnibus_undefined(test, render(_ALL_SCORES_EQUAL))
    variant = "asymptotic" if permuted is None else permuted.variant
    return Outcome(
        test,
        statistic,
        p,
        df=df,
        n=len(table.datasets),
        variant=variant if ties == "corrected" else f"{variant}, ties uncorrected",
        ties=Finding.of("tied_ranks"),
        effect=_compute_concordance_beside(test, table, better, p),
        details={f"mean rank {name}": float(mean) for name, mean in zip(table.learners, rank_scores.means, strict=True)},
        caveats=tuple(caveats),
        resamples=None if permuted is None else permuted.resamples,
    )


def _compute_concordance_beside(test: str, table: ScoreTable, better: Better, p: float) -> Effect:
    """Compute Kendall's W as the effect of a test.

    The interval is based on the Friedman test. It is omitted if `test` and the Friedman test disagree on significance.
    """
    is_friedman = test in ("friedman", "iman_davenport")
    effect = compute_concordance(table, better, p if is_friedman else None)
    if is_friedman or np.isnan(effect.low) or (p < 1 - effect.level) == (effect.low > 0):
        return effect
    nan = float("nan")
    return Effect(
        effect.name, effect.estimate, nan, nan, effect.level, "no interval because the Friedman test decides differently"
    )


def compute_concordance(table: ScoreTable, better: Better, p_value: float | None, level: float = 0.95) -> Effect:
    """Compute Kendall's W: how well the data sets agree on the order of the learners.

    W is 0 if all mean ranks are equal, and 1 if all data sets rank the learners in the same way. The interval excludes zero if
    and only if `p_value` is below 1 - level. If `p_value` is None, the p-value of the F test is used.
    """
    n, k = table.shape
    cells = compute_friedman_ranks(table, better).cells
    squares = float((cells**2).sum())
    name, nan = "Kendall's W", float("nan")
    if squares == 0:
        return Effect(name, nan, nan, nan, level, "undefined: all scores are equal")
    w = float((cells.sum(axis=0) ** 2).sum()) / (n * squares)
    if w > 1 - 1e-12:
        note = "no interval because all data sets agree"
        warnings.warn(f"{name}: {note}", UndefinedMeasureWarning, stacklevel=6)
        return Effect(name, 1.0, nan, nan, level, note)
    # The F limits are too narrow for large W, and the jackknife limits are too narrow for very regular tables.
    f = (n - 1) * w / (1 - w)
    limits = (*_compute_explained_limits(f, n, k, level), *compute_jackknife_limits(cells, level))
    low, high = _match_test((min(limits), max(limits)), f, (n, k), p_value, level)
    return Effect(name, w, min(w, low), max(w, high), level)


def compute_jackknife_limits(cells: FloatArray, level: float) -> tuple[float, ...]:
    """Compute jackknife limits for the mean rank correlation between data sets (Fisher's z).

    Return an empty tuple if the limits are undefined.
    """
    from scipy.special import stdtrit

    n, squares = len(cells), (cells**2).sum(axis=1)
    remaining_sums, remaining_squares = cells.sum(axis=0) - cells, squares.sum() - squares
    if n < 3 or not remaining_squares.all():
        return ()
    z = _transform_fisher(_compute_mean_correlation((cells.sum(axis=0) ** 2).sum() / squares.sum(), n))
    jackknife_z = _transform_fisher(_compute_mean_correlation((remaining_sums**2).sum(axis=1) / remaining_squares, n - 1))
    reach = stdtrit(n - 1, (1 + level) / 2) * np.sqrt((n - 1) / n * ((jackknife_z - jackknife_z.mean()) ** 2).sum())
    return max(0.0, float(np.tanh(z - reach))), max(0.0, float(np.tanh(z + reach)))


def _compute_mean_correlation(n_times_w: npt.ArrayLike, n: int) -> FloatArray:
    """Compute the bias-corrected W: (N W - 1) / (N - 1)."""
    return (np.asarray(n_times_w, dtype=np.float64) - 1) / (n - 1)


def _transform_fisher(correlation: FloatArray) -> FloatArray:
    return np.asarray(np.arctanh(np.clip(correlation, -0.999999, 0.999999)))


def compute_eta_squared(f: float, n: int, k: int, p_value: float | None = None, level: float = 0.95) -> Effect:
    """Compute partial eta squared, F / (F + N - 1).

    This is the proportion of the variance within data sets that is explained by the learners. The interval excludes zero if and
    only if `p_value` is below 1 - level. By default, the p-value of the F test is used.
    """
    name, nan = "partial eta squared", float("nan")
    if np.isnan(f):
        return Effect(name, nan, nan, nan, level, "undefined: all scores are equal")
    if np.isinf(f):
        return Effect(name, 1.0, nan, nan, level, "no interval because all data sets agree")
    estimate = f / (f + n - 1)
    low, high = _match_test(_compute_explained_limits(f, n, k, level), f, (n, k), p_value, level)
    # For a tiny F, both limits are zero although the estimate is not.
    return Effect(name, estimate, min(low, estimate), max(high, estimate), level)


def _compute_explained_limits(f: float, n: int, k: int, level: float) -> tuple[float, float]:
    """Compute confidence limits for the explained proportion, lambda / (lambda + N (k - 1)).

    Here, lambda is the noncentrality parameter of the F distribution.
    """
    low, high = compute_noncentral_f_limits(f, k - 1, (k - 1) * (n - 1), level)
    return low / (low + n * (k - 1)), high / (high + n * (k - 1))


def _match_test(
    limits: tuple[float, float], f: float, shape: tuple[int, int], p_value: float | None, level: float
) -> tuple[float, float]:
    """Adjust the interval of the explained proportion to the p-value.

    The interval excludes zero if and only if p is below 1 - level. A proportion cannot be negative, so the test of zero is
    one-sided. Proportions below 1 / (N + 1) are therefore excluded by one-sided tests. If the learners do not differ, the mean
    of W is approximately this value. Larger proportions are excluded by two-sided tests. Each test has a type I error of 1 -
    level, so the interval has the confidence level `level`.
    """
    from scipy.optimize import brentq
    from scipy.special import fdtrc, ncfdtr

    (low, high), (n, k), alpha = limits, shape, 1 - level
    df1, df2 = k - 1, (k - 1) * (n - 1)
    p_asymptotic = float(fdtrc(df1, df2, f))
    p = p_asymptotic if p_value is None else p_value
    high = max(high, 1 / (n + 1))
    if p >= alpha:
        return 0.0, high
    # An exact p-value differs from that of the F test. The p-values of small proportions are scaled by the same ratio.
    scale = p_asymptotic / p if p_asymptotic > 1e-12 else 1.0

    def compute_excess(noncentrality: float) -> float:
        return float(ncfdtr(df1, df2, noncentrality, f)) - (1 - alpha * scale)

    noncentrality = df1 if compute_excess(df1) >= 0 else brentq(compute_excess, 0.0, df1) if compute_excess(0.0) > 0 else 0.0
    return max(low, noncentrality / (noncentrality + n * df1)), high


def compute_noncentral_f_limits(f: float, df1: float, df2: float, level: float) -> tuple[float, float]:
    """Compute confidence limits for the noncentrality parameter of an F statistic.

    >>> [round(limit, 2) for limit in compute_noncentral_f_limits(5.0, 3, 20, 0.95)]
    [0.97, 35.24]
    """
    from scipy.optimize import brentq
    from scipy.special import ncfdtr

    def find_noncentrality(probability: float) -> float:
        if ncfdtr(df1, df2, 0.0, f) <= probability:
            return 0.0
        top = max(1.0, df1 * f)
        while ncfdtr(df1, df2, top, f) > probability:
            top *= 2
        return float(brentq(lambda nc: ncfdtr(df1, df2, nc, f) - probability, 0.0, top, xtol=1e-10 * top))

    return find_noncentrality((1 + level) / 2), find_noncentrality((1 - level) / 2)


def _has_ties(table: ScoreTable) -> bool:
    return any(len(np.unique(row)) < len(row) for row in table.values)


def _warn_omnibus_undefined(test: str, reason: str) -> None:
    warnings.warn(f"{test}: {reason}", UndefinedMeasureWarning, stacklevel=4)
