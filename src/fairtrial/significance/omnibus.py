"""Does any of many learners differ? Friedman, Iman-Davenport, aligned ranks, Quade, and the analysis of variance.

Each rank test gives every cell of the table a *placing*: a rank score centred within its data set, so that under the null
hypothesis the placings of a data set are exchangeable. With S the sum of each learner's placings and A the sum of all squares,
the covariance of S over all exchanges is A / (k - 1) (I - 1/k), and every statistic here and in `posthoc` follows from S and A.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial.errors import UndefinedMeasureWarning
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
register_method("anova", "repeated-measures ANOVA", cite="Greenhouse & Geisser 1959", statistic="F")
register_method("anova (Greenhouse & Geisser)", "repeated-measures ANOVA (Greenhouse-Geisser)", statistic="F")
register_method("iman_davenport (ties corrected)", "Friedman test (Iman-Davenport)", statistic="F")
register_method("friedman (ties corrected)", "Friedman test", statistic="chi2")
register_method("aligned_ranks (ties corrected)", "Friedman aligned ranks test", statistic="chi2")

Ties = Literal["corrected", "uncorrected"]

_ALL_SCORES_EQUAL = Finding.of("all_scores_equal")


@dataclass(frozen=True)
class RankScores:
    """Placings of k learners on N data sets: exact multiples of a fraction, so equal sums are equal floats.

    `squares` is the sum of all squares, `without_ties` what it would be without ties, `unit` turns a sum of placings into
    the learner's mean, `centre` being the mean over all learners.
    """

    cells: FloatArray
    without_ties: float
    unit: float
    centre: float

    @property
    def sums(self) -> FloatArray:
        """S, one for each learner."""
        return np.asarray(self.cells.sum(axis=0))

    @property
    def squares(self) -> float:
        """A."""
        return float((self.cells**2).sum())

    @property
    def means(self) -> FloatArray:
        """Mean rank of each learner, 1 the best."""
        return np.asarray(self.sums * self.unit + self.centre)


def compute_friedman_ranks(table: ScoreTable, better: Better) -> RankScores:
    """Ranks within each data set."""
    n, k = table.shape
    return RankScores(table.compute_ranks(better) - (k + 1) / 2, n * k * (k * k - 1) / 12, 1 / n, (k + 1) / 2)


def compute_aligned_ranks(table: ScoreTable, better: Better) -> RankScores:
    """Ranks of all n k scores together, after the mean of its data set is taken from each.

    Both are multiplied by k, which keeps them free of fractions that floats cannot hold.
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
    """Ranks within each data set, weighted by the rank of the data set's range."""
    n, k = table.shape
    ranges = round_noise(table.values.max(axis=1) - table.values.min(axis=1), table.row_scale[:, 0])
    weights = rank_values(ranges)[:, None]
    squares = n * (n + 1) * (2 * n + 1) * k * (k * k - 1) / 72
    return RankScores(weights * (table.compute_ranks(better) - (k + 1) / 2), squares, 2 / (n * (n + 1)), (k + 1) / 2)


def friedman(scores: pd.DataFrame | npt.ArrayLike, *, better: Better = "max", ties: Ties = "corrected") -> Outcome:
    """Friedman's test on a table of scores (rows data sets, columns learners); chi-squared with k - 1 degrees of freedom.

    `ties="corrected"` divides by the variance that the ranks have (as R does), `"uncorrected"` by the one they would have
    without ties (as Demsar 2006 prints it; conservative). Where all scores of every data set are equal, the statistic is NaN
    and p is 1. The effect is Kendall's W, its interval the wider of noncentral F and jackknife. `details` has the mean ranks.

    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(friedman(table))
    friedman (ties corrected): statistic 3.5, df = 2, p = 0.1738, n = 4
    """
    table = _read_rank_table(scores, better, ties)
    return _build_chi_squared_outcome("friedman", table, compute_friedman_ranks(table, better), better, ties)


def aligned_ranks(scores: pd.DataFrame | npt.ArrayLike, *, better: Better = "max", ties: Ties = "corrected") -> Outcome:
    """Friedman's test on aligned ranks (Hodges & Lehmann 1962; statistic of Garcia et al. 2010); chi-squared, df k - 1.

    The mean of its data set is taken from each score, then all are ranked together, so that large differences count more.
    Scores must be comparable between data sets. `ties` as in `friedman`; without ties both forms agree.

    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(aligned_ranks(table, ties="uncorrected"))
    aligned_ranks (ties uncorrected): statistic 3.746, df = 2, p = 0.1536, n = 4
    """
    table = _read_rank_table(scores, better, ties)
    return _build_chi_squared_outcome("aligned_ranks", table, compute_aligned_ranks(table, better), better, ties)


def iman_davenport(scores: pd.DataFrame | npt.ArrayLike, *, better: Better = "max", ties: Ties = "corrected") -> Outcome:
    """Iman and Davenport's F form of Friedman's test, df k - 1 and (k - 1)(N - 1); less conservative than chi-squared.

    Where all data sets rank the learners alike F is infinite; p is then the chance of that, one over the number of orders
    to the power N - 1.

    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(iman_davenport(table))
    iman_davenport (ties corrected): statistic 2.333, df = 2, 6, p = 0.178, n = 4
    """
    table = _read_rank_table(scores, better, ties)
    n, k = table.shape
    rank_scores = compute_friedman_ranks(table, better)
    chi = _compute_chi_squared(rank_scores, ties)
    with np.errstate(divide="ignore"):
        f = float(np.divide((n - 1) * chi, n * (k - 1) - chi))
    return _build_f_outcome("iman_davenport", table, rank_scores, f, better, f"ties {ties}")


def quade(scores: pd.DataFrame | npt.ArrayLike, *, better: Better = "max") -> Outcome:
    """Quade's test: Friedman's with data sets weighted by the rank of their range; F with df k - 1 and (k - 1)(N - 1).

    Ties have mean ranks and the variance of the ranks that occur, as in R. Scores must be comparable between data sets.

    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(quade(table))
    quade: statistic 2.6, df = 2, 6, p = 0.1537, n = 4
    """
    table = _read_rank_table(scores, better, "corrected")
    n, _ = table.shape
    rank_scores = compute_quade_ranks(table, better)
    between = float((rank_scores.sums**2).sum()) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        f = float(np.divide((n - 1) * between, rank_scores.squares - between))
    return _build_f_outcome("quade", table, rank_scores, f, better, "")


def anova(scores: pd.DataFrame | npt.ArrayLike) -> Outcome:
    """One-way repeated-measures analysis of variance: learners within data sets.

    `p_value` holds under sphericity (all differences between learners have the same variance); `details` has Greenhouse and
    Geisser's `epsilon` (1: spherical) and `p_corrected`, which allows for its lack. The effect is partial eta squared, its
    interval from the noncentral F distribution. All scores of every data set equal: F is NaN and p is 1. The same differences
    on every data set: F is infinite and p is NaN, there being no error to compare with.

    >>> table = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4]])
    >>> print(anova(table))
    anova: statistic 2.818, df = 2, 6, p = 0.1371, n = 4
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
        effect=_compute_eta_squared(f, n, k),
        details=details,
        caveats=tuple(caveats),
    )


def compute_sums_of_squares(values: FloatArray) -> tuple[float, float]:
    """Between learners, and of the residuals; what float noise alone can leave counts as zero."""
    n, k = values.shape
    # Only differences within a data set matter; taking the first learner off keeps common offsets out of the rounding.
    d = round_noise(values - values[:, :1], np.abs(values).max(axis=1, keepdims=True))
    columns = d.mean(axis=0) - d.mean()
    residuals = d - d.mean(axis=1, keepdims=True) - columns
    noise = n * k * (16 * np.finfo(float).eps * np.abs(d).max(initial=0.0)) ** 2
    sums = (n * float((columns**2).sum()), float((residuals**2).sum()))
    return sums[0] if sums[0] > noise else 0.0, sums[1] if sums[1] > noise else 0.0


def compute_sphericity(values: FloatArray) -> float:
    """Greenhouse and Geisser's epsilon; NaN where the residuals are zero."""
    k = values.shape[1]
    if compute_sums_of_squares(values)[1] == 0:
        return float("nan")
    centre = np.eye(k) - 1 / k
    spread = centre @ np.cov(values, rowvar=False) @ centre
    return min(1.0, float(np.trace(spread) ** 2 / ((k - 1) * (spread**2).sum())))


def _read_rank_table(scores: pd.DataFrame | npt.ArrayLike, better: str, ties: str) -> ScoreTable:
    _check.check_one_of("better", better, ("max", "min"))
    _check.check_one_of("ties", ties, ("corrected", "uncorrected"))
    return read_table(scores)


def _compute_chi_squared(rank_scores: RankScores, ties: Ties) -> float:
    k = rank_scores.cells.shape[1]
    if rank_scores.squares == 0:
        return float("nan")
    squares = rank_scores.squares if ties == "corrected" else rank_scores.without_ties
    return float((k - 1) * (rank_scores.sums**2).sum() / squares)


def _build_chi_squared_outcome(test: str, table: ScoreTable, rank_scores: RankScores, better: Better, ties: Ties) -> Outcome:
    from scipy.special import chdtrc

    k = len(table.learners)
    chi = _compute_chi_squared(rank_scores, ties)
    p = 1.0 if np.isnan(chi) else float(chdtrc(k - 1, chi))
    return _build_rank_outcome(test, table, rank_scores, (chi, p, k - 1.0), better, f"ties {ties}")


def _build_f_outcome(test: str, table: ScoreTable, rank_scores: RankScores, f: float, better: Better, variant: str) -> Outcome:
    from scipy.special import fdtrc

    n, k = table.shape
    df = (k - 1.0, (k - 1.0) * (n - 1))
    if np.isnan(f):
        p = 1.0
    elif np.isinf(f):
        p = float(_count_orders(rank_scores.cells[0])) ** -(n - 1)
    else:
        # Nothing is rarer than all data sets agreeing, which the F distribution does not know.
        p = max(float(fdtrc(*df, f)), float(factorial(k)) ** -(n - 1))
    return _build_rank_outcome(test, table, rank_scores, (f, p, df), better, variant)


def _count_orders(row: FloatArray) -> int:
    """In how many orders a data set can place the learners, its ties kept."""
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
    variant: str,
) -> Outcome:
    statistic, p, df = result
    caveats = [Finding.of("approximate_p")]
    if np.isnan(statistic):
        caveats.append(_ALL_SCORES_EQUAL)
        _warn_omnibus_undefined(test, render(_ALL_SCORES_EQUAL))
    return Outcome(
        test,
        statistic,
        p,
        df=df,
        n=len(table.datasets),
        variant=variant,
        ties=Finding.of("tied_ranks"),
        effect=_compute_concordance(table, better),
        details={f"mean rank {name}": float(mean) for name, mean in zip(table.learners, rank_scores.means, strict=True)},
        caveats=tuple(caveats),
    )


def _compute_concordance(table: ScoreTable, better: Better, level: float = 0.95) -> Effect:
    """Kendall's W: 0 where the data sets do not agree at all on the order of the learners, 1 where all rank them alike."""
    n, k = table.shape
    cells = compute_friedman_ranks(table, better).cells
    squares = float((cells**2).sum())
    name, nan = "Kendall's W", float("nan")
    if squares == 0:
        return Effect(name, nan, nan, nan, level, "undefined: all scores are equal")
    w = float((cells.sum(axis=0) ** 2).sum()) / (n * squares)
    if w > 1 - 1e-12:
        note = "no limits: all data sets agree"
        warnings.warn(f"{name}: {note}", UndefinedMeasureWarning, stacklevel=5)
        return Effect(name, 1.0, nan, nan, level, note)
    # Each fails where the other holds: the F limits where W is large, the jackknife where the table is too regular.
    limits = (*_compute_explained_limits((n - 1) * w / (1 - w), n, k, level), *compute_jackknife_limits(cells, level))
    return Effect(name, w, min(w, *limits), max(w, *limits), level)


def compute_jackknife_limits(cells: FloatArray, level: float) -> tuple[float, ...]:
    """Limits of the mean rank correlation between data sets, which W tends to, on Fisher's scale; none if they do not exist."""
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
    """(N W - 1) / (N - 1): without the bias of W."""
    return (np.asarray(n_times_w, dtype=np.float64) - 1) / (n - 1)


def _transform_fisher(correlation: FloatArray) -> FloatArray:
    return np.asarray(np.arctanh(np.clip(correlation, -0.999999, 0.999999)))


def _compute_eta_squared(f: float, n: int, k: int, level: float = 0.95) -> Effect:
    """Partial eta squared, F / (F + N - 1): the share of the variance within data sets that the learners explain."""
    name, nan = "partial eta squared", float("nan")
    if np.isnan(f):
        return Effect(name, nan, nan, nan, level, "undefined: all scores are equal")
    if np.isinf(f):
        return Effect(name, 1.0, nan, nan, level, "no limits: the data sets agree fully")
    estimate = f / (f + n - 1)
    low, high = _compute_explained_limits(f, n, k, level)
    # A tiny F has both limits at zero although the estimate is not zero.
    return Effect(name, estimate, min(low, estimate), max(high, estimate), level)


def _compute_explained_limits(f: float, n: int, k: int, level: float) -> tuple[float, float]:
    """Limits of the share explained, which is lambda / (lambda + N (k - 1)), lambda being the noncentrality."""
    low, high = compute_noncentral_f_limits(f, k - 1, (k - 1) * (n - 1), level)
    return low / (low + n * (k - 1)), high / (high + n * (k - 1))


def compute_noncentral_f_limits(f: float, df1: float, df2: float, level: float) -> tuple[float, float]:
    """The noncentralities at which F lies at the upper and at the lower end of the central `level` of its distribution.

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


def _warn_omnibus_undefined(test: str, reason: str) -> None:
    warnings.warn(f"{test}: {reason}", UndefinedMeasureWarning, stacklevel=4)
