"""Which of many learners differ? All pairs, or all against a control, with adjusted p values.

Bergmann and Hommel's procedure is exact up to 16 learners. A set of pairs is *exhaustive* if exactly its pairs can be equal
together: the pairs within the blocks of a partition of the learners. The adjusted p-value of a pair is the largest |I| min
p(I) over the exhaustive sets I that contain it. Listing these Bell(k) - 1 sets ends at about 9 learners, but they need not be
listed: with v the smallest p-value of I, the blocks of I are cliques of the graph of pairs with p >= v, and we need the
partition into cliques with the most pairs such that the pair in question lies within a block. A dynamic programme over subsets
of learners finds it for all pairs at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import accumulate, combinations
from math import comb, isqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._text import format_p_value
from fairtrial.errors import InputError
from fairtrial.kernels import significance as kernels
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.significance import omnibus as omnibus_tests
from fairtrial.significance.adjust import ADJUSTMENT_METHODS as ADJUSTMENTS, adjust, apply_step_down, check_p_values
from fairtrial.significance.names import register_method, resolve_name
from fairtrial.significance.scores import Better, ScoreTable, read_table

if TYPE_CHECKING:
    import pandas as pd

register_method("bergmann", "Bergmann-Hommel", cite="Bergmann & Hommel 1988; García & Herrera 2008")
register_method("shaffer", "Shaffer", cite="Shaffer 1986; García & Herrera 2008")
register_method("nemenyi", "Nemenyi", cite="Nemenyi 1963; Demšar 2006")
register_method("tukey", "Tukey", cite="Tukey 1949")
register_method("dunnett", "Dunnett", cite="Dunnett 1955")
register_method("bonferroni-dunn", "Bonferroni-Dunn", cite="Dunn 1961; Demšar 2006")


def shaffer(p_values: npt.ArrayLike) -> FloatArray:
    """Adjusted p values of all pairs of k learners (Shaffer 1986, static), in the order given.

    Holm's procedure with the number of hypotheses that may still be true *together*: if one pair differs, some other pair
    must differ too. Valid under any dependence and never worse than Holm. All k (k - 1) / 2 pairs have to be there.

    >>> shaffer([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.03]
    """
    p = check_p_values(p_values)
    possible = sorted(count_true_pairs(count_learners(len(p))))
    n_remaining = np.arange(len(p), 0, -1)
    max_true = np.array(possible)[np.searchsorted(possible, n_remaining, side="right") - 1]
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = apply_step_down(max_true * p[order])
    return np.clip(adjusted, p, 1.0)


@cache
def count_true_pairs(k: int) -> frozenset[int]:
    """Shaffer's S(k): how many of the pairs of k learners can be equal at once.

    >>> sorted(count_true_pairs(4))
    [0, 1, 2, 3, 6]
    """
    if k < 2:
        return frozenset({0})
    return frozenset(comb(j, 2) + rest for j in range(1, k + 1) for rest in count_true_pairs(k - j))


def count_learners(pairs: int) -> int:
    """The number of learners that have this many pairs."""
    k = (1 + isqrt(1 + 8 * pairs)) // 2
    if comb(k, 2) != pairs:
        examples = ", ".join(str(count) for count in accumulate(range(1, 6)))
        raise InputError(
            f"p_values must hold one value for each pair of learners ({examples} ...), got {pairs}: give all pairs"
        )
    return k


MAX_LEARNERS = 16


def bergmann(p_values: npt.ArrayLike) -> FloatArray:
    """Adjusted p values of all pairs of k learners (Bergmann & Hommel 1988), 2 <= k <= 16.

    The pairs come in the order (1, 2), (1, 3), ..., (1, k), (2, 3), ..., that of `itertools.combinations` and of SciPy's
    `squareform`. Valid under any dependence and never worse than Shaffer's static procedure.
    A pair with a larger p value may have the smaller adjusted one, as the third below: the sets that hold it decide.

    >>> bergmann([0.001, 0.02, 0.04, 0.03, 0.3, 0.4]).round(3).tolist()
    [0.006, 0.06, 0.06, 0.09, 0.3, 0.4]
    """
    p = check_p_values(p_values)
    k = count_learners(len(p))
    if k > MAX_LEARNERS:
        raise InputError(
            f"bergmann must have at most {MAX_LEARNERS} learners, got {k}: use 'shaffer', or compare with a control"
        )
    square = np.zeros((k, k))
    square[np.triu_indices(k, 1)] = p
    square += square.T
    thresholds = np.unique(p)

    def compute_chunk(start: int, stop: int) -> FloatArray:
        return np.asarray(
            np.max(
                [v * kernels.compute_max_pairs(kernels.compute_adjacency(square >= v), k) for v in thresholds[start:stop]],
                axis=0,
            )
        )

    chunk = -(-len(thresholds) // 8)
    adjusted = np.max(run_in_chunks(compute_chunk, len(thresholds), chunk), axis=0)[np.triu_indices(k, 1)]
    return np.asarray(np.clip(adjusted, p, 1.0))


Omnibus = Literal["friedman", "aligned", "quade", "anova"]


RANKINGS = {
    "friedman": omnibus_tests.compute_friedman_ranks,
    "aligned": omnibus_tests.compute_aligned_ranks,
    "quade": omnibus_tests.compute_quade_ranks,
}


ALL_PAIRS = ("nemenyi", "tukey", "shaffer", "bergmann")


WITH_CONTROL = ("bonferroni-dunn", "dunnett")


POSTHOC_METHODS = (*ALL_PAIRS, *WITH_CONTROL, *ADJUSTMENTS)


_UNIT = {"friedman": "mean rank", "aligned": "mean aligned rank", "quade": "weighted mean rank", "anova": "mean"}


_GRID_STEPS = 200


_RANK_OMNIBUS = ("friedman", "aligned", "quade")


@dataclass(frozen=True)
class Comparison:
    """Two learners compared; `effect` is the first's mean rank (after anova: mean score) less the second's."""

    first: str
    second: str
    statistic: float
    p_raw: float
    p_adjusted: float
    effect: float


@dataclass(frozen=True)
class PostHoc:
    """All comparisons of a post-hoc procedure. Rows, groups and words follow from the same adjusted p values.

    `means` has each learner's mean rank (mean score after anova, t and F tests). `critical_difference` is the difference of
    two `means` that is just told apart at `alpha`; it exists for Nemenyi and Bonferroni-Dunn, else it is None.
    """

    method: str
    omnibus: str
    alpha: float
    n: int
    learners: tuple[str, ...]
    means: tuple[float, ...]
    comparisons: tuple[Comparison, ...]
    better: str = "max"
    control: str | None = None
    critical_difference: float | None = None

    def frame(self) -> pd.DataFrame:
        """One row for each comparison: first, second, statistic, p_raw, p_adjusted, effect."""
        import pandas as pd

        return pd.DataFrame([vars(comparison) for comparison in self.comparisons])

    @property
    def order(self) -> tuple[str, ...]:
        """The learners, the best first."""
        sign = -1 if self.omnibus not in _RANK_OMNIBUS and self.better == "max" else 1
        indices = np.argsort(sign * np.array(self.means), kind="stable")
        return tuple(self.learners[index] for index in indices)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of learners of which no two are told apart, the best first.

        Two learners share a group exactly where their adjusted p value is above alpha; a learner told apart from all others is
        a group of its own. A group may leave out a learner that lies between two of its members. Against a control there is
        one group: the control and the learners not told apart from it, which are not compared with each other.
        """
        similar_pairs = {
            frozenset((comparison.first, comparison.second))
            for comparison in self.comparisons
            if not comparison.p_adjusted <= self.alpha
        }
        if self.control is not None:
            with_control = frozenset((self.control,)).union(*similar_pairs)
            return (tuple(name for name in self.order if name in with_control),)
        neighbours = {
            name: {neighbour for pair in similar_pairs if name in pair for neighbour in pair - {name}} for name in self.learners
        }
        position = {name: i for i, name in enumerate(self.order)}
        cliques = [sorted(clique, key=position.__getitem__) for clique in _find_maximal_cliques(neighbours)]
        return tuple(tuple(clique) for clique in sorted(cliques, key=lambda names: [position[name] for name in names]))

    @property
    def summary(self) -> str:
        """The findings in plain words."""
        position = {name: i for i, name in enumerate(self.order)}
        different_pairs = [
            " is better than ".join(sorted((comparison.first, comparison.second), key=position.__getitem__))
            + f" ({format_p_value(comparison.p_adjusted, self.alpha, digits=3)})"
            for comparison in self.comparisons
            if comparison.p_adjusted <= self.alpha
        ]
        versus = f"each learner against {self.control}" if self.control is not None else "all pairs"
        finding_text = "; ".join(different_pairs) if different_pairs else "no two learners are told apart"
        n_not_significant = len(self.comparisons) - len(different_pairs)
        remainder_text = (
            f" {n_not_significant} of {len(self.comparisons)} comparisons are left open, which does not show equality."
            if n_not_significant
            else ""
        )
        sets = f"{self.n} data set{'s' if self.n != 1 else ''}"
        return f"{self.method} after {self.omnibus}, {versus}, alpha {self.alpha:.15g}, {sets}: {finding_text}.{remainder_text}"

    def __str__(self) -> str:
        return f"{self.summary}\n{self.frame().to_string(index=False, float_format='{:.4g}'.format)}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + self.frame().to_html(index=False)


def posthoc(
    scores: pd.DataFrame | npt.ArrayLike,
    method: str = "holm",
    control: str | None = None,
    *,
    better: Better = "max",
    omnibus: Omnibus | str | None = None,
    alpha: float = 0.05,
) -> PostHoc:
    """Compare all pairs of learners, or each with a `control`, on a table of scores (rows data sets, columns learners).

    - all pairs only: "nemenyi" (studentized range), "shaffer", "bergmann" (exact, to 16 learners), "tukey";
    - with a control only: "bonferroni-dunn", "dunnett";
    - either: the methods of `adjust`: "holm", "hochberg", "hommel", "finner" ... "none".

    `omnibus` says what is compared: "friedman" (the default), "aligned" or "quade" mean ranks by a normal statistic, or "anova"
    means by a t statistic with the pooled error (the default, and the only choice, of "tukey" and "dunnett").
    The variance of a difference of Friedman ranks is Demsar's, without correction for ties. Those of aligned and Quade's
    ranks are the variance over all exchanges within data sets, as in the omnibus tests; the formulas printed in Garcia et al.
    2010, k (n + 1) / 6 and k (k + 1) (2n + 1) (k - 1) / (18 n (n + 1)), are far too small for aligned ranks and fit Quade's at
    k = 3 only. The columns `statistic` and `effect` are negative where the first learner has the smaller mean rank (the
    better) or, after anova, the smaller mean.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"tree": [0.9, 0.8, 0.9, 0.6], "bayes": [0.8, 0.7, 0.7, 0.5], "rule": [0.7, 0.6, 0.6, 0.4]})
    >>> found = posthoc(table, "nemenyi")
    >>> found.frame().round(4)
      first second  statistic   p_raw  p_adjusted  effect
    0  tree  bayes    -1.4142  0.1573      0.3335    -1.0
    1  tree   rule    -2.8284  0.0047      0.0130    -2.0
    2 bayes   rule    -1.4142  0.1573      0.3335    -1.0
    >>> found.groups
    (('tree', 'bayes'), ('bayes', 'rule'))
    """
    method = resolve_name("method", method, POSTHOC_METHODS)
    resolved_omnibus = _check_choice(method, control, omnibus)
    _check.check_one_of("better", better, ("max", "min"))
    _check.check_between("alpha", alpha, 0, 1)
    table = read_table(scores)
    learner_means = (
        _build_anova_means(table) if resolved_omnibus == "anova" else _build_rank_means(table, resolved_omnibus, better)
    )
    k = len(table.learners)
    first, second = _list_pair_indices(table, control)
    statistic = learner_means.compute_statistics(first, second)
    p_raw = learner_means.compute_p_values(statistic)
    adjusted = _adjust_posthoc_p_values(method, statistic, p_raw, k, learner_means.df, alpha)
    effect = learner_means.means[first] - learner_means.means[second]
    rows = zip(first, second, statistic, p_raw, adjusted, effect, strict=True)
    return PostHoc(
        method,
        resolved_omnibus,
        alpha,
        len(table.datasets),
        table.learners,
        tuple(learner_means.means.tolist()),
        tuple(Comparison(table.learners[i], table.learners[j], *map(float, numbers)) for i, j, *numbers in rows),
        better,
        None if control is None else str(control),
        _compute_critical_difference(method, learner_means, k, alpha),
    )


@dataclass(frozen=True)
class _LearnerMeans:
    """Means of the learners, sums with their standard error, and its degrees of freedom."""

    means: FloatArray
    sums: FloatArray
    error: float
    unit: float
    df: float

    def compute_statistics(self, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> FloatArray:
        # Without any spread all sums are equal: no statistic.
        return np.asarray((self.sums[first] - self.sums[second]) / (self.error or np.nan))

    def compute_p_values(self, statistic: FloatArray) -> FloatArray:
        from scipy.special import ndtr, stdtr

        size = -np.abs(statistic)
        tail = ndtr(size) if np.isinf(self.df) else stdtr(self.df, size)
        return np.where(np.isnan(statistic), 1.0, 2 * tail)


def _build_rank_means(table: ScoreTable, omnibus: str, better: Better) -> _LearnerMeans:
    rank_scores = RANKINGS[omnibus](table, better)
    squares = rank_scores.without_ties if omnibus == "friedman" else rank_scores.squares
    error = float(np.sqrt(2 * squares / (len(table.learners) - 1)))
    return _LearnerMeans(rank_scores.means, rank_scores.sums, error, rank_scores.unit, np.inf)


def _build_anova_means(table: ScoreTable) -> _LearnerMeans:
    n, k = table.shape
    error = omnibus_tests.compute_sums_of_squares(table.values)[1]
    if error == 0:
        raise InputError(
            "scores must not differ by the same amounts on every data set, got no error to compare with: use 'friedman'"
        )
    df = (k - 1.0) * (n - 1)
    means = table.values.mean(axis=0)
    return _LearnerMeans(means, means, float(np.sqrt(2 * error / df / n)), 1.0, df)


def _check_choice(method: str, control: str | None, omnibus: str | None) -> str:
    parametric = method in ("tukey", "dunnett")
    default_omnibus = "anova" if parametric else "friedman"
    resolved_omnibus = resolve_name("omnibus", omnibus or default_omnibus, (*RANKINGS, "anova"))
    if parametric and resolved_omnibus != "anova":
        raise InputError(f"omnibus must be 'anova' for {method}, got {resolved_omnibus!r}: for ranks use 'nemenyi' or 'holm'")
    if resolved_omnibus == "anova" and method in ("nemenyi", "bonferroni-dunn"):
        raise InputError(f"omnibus must be one of {list(RANKINGS)} for {method}, got 'anova': use 'tukey' or 'dunnett'")
    if method in ALL_PAIRS and control is not None:
        raise InputError(f"control must be None for {method}, which compares all pairs, got {control!r}: use 'holm'")
    if method in WITH_CONTROL and control is None:
        raise InputError(f"control must be a learner for {method}, got None: name it, or use 'holm' for all pairs")
    return resolved_omnibus


def _list_pair_indices(table: ScoreTable, control: str | None) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    k = len(table.learners)
    if control is None:
        pairs = list(combinations(range(k), 2))
    else:
        control_index = table.find_column(str(control))
        pairs = [(control_index, index) for index in range(k) if index != control_index]
    first, second = np.array(pairs, dtype=np.intp).T
    return first, second


def _adjust_posthoc_p_values(
    method: str, statistic: FloatArray, p_raw: FloatArray, k: int, df: float, alpha: float
) -> FloatArray:
    size = np.abs(np.nan_to_num(statistic))
    if method in ("nemenyi", "tukey"):
        adjusted = compute_studentized_range_p(size, k, df)
    elif method == "dunnett":
        adjusted = compute_dunnett_p(size, k, df)
    elif method in ("shaffer", "bergmann"):
        return (shaffer if method == "shaffer" else bergmann)(p_raw)
    else:
        return adjust(p_raw, "bonferroni" if method == "bonferroni-dunn" else method, alpha=alpha)
    return np.clip(adjusted, p_raw, 1.0)


def _compute_critical_difference(method: str, learner_means: _LearnerMeans, k: int, alpha: float) -> float | None:
    from scipy.optimize import brentq
    from scipy.special import ndtri

    if method == "nemenyi":
        critical = brentq(lambda z: float(compute_studentized_range_p(np.array([z]), k)[0]) - alpha, 0.0, 40.0, xtol=1e-12)
    elif method == "bonferroni-dunn":
        critical = -ndtri(alpha / (2 * (k - 1)))
    else:
        return None
    return float(critical * learner_means.error * learner_means.unit)


def compute_studentized_range_p(z: FloatArray, k: int, df: float = np.inf) -> FloatArray:
    """P that the largest |difference| of k means, over its standard error, exceeds z: the studentized range over sqrt(2).

    >>> compute_studentized_range_p(np.array([2.344, 2.569]), 3).round(4).tolist()
    [0.05, 0.0275]
    """
    from scipy.special import ndtr

    t = np.linspace(0, 1, _GRID_STEPS + 1)

    def compute_tail(q: FloatArray) -> FloatArray:
        # k phi(x) [Phi(x)^(k-1) - (Phi(x) - Phi(x - q))^(k-1)] integrated; the difference is kept as one product for far tails.
        width = 18 + q[..., None] / 2
        x = -9 + t * width
        below = ndtr(x)
        with np.errstate(divide="ignore"):
            outside = -np.expm1((k - 1) * np.log1p(-ndtr(x - q[..., None]) / below))
        inner = k * _compute_normal_density(x) * below ** (k - 1) * outside
        return np.asarray((inner * width).sum(axis=-1) / _GRID_STEPS)

    return _average_over_sd(compute_tail, np.sqrt(2) * np.asarray(z, dtype=np.float64), df)


def compute_dunnett_p(z: FloatArray, k: int, df: float = np.inf) -> FloatArray:
    """P that the largest |difference| of k - 1 means from a control's, over its standard error, exceeds z (Dunnett).

    >>> compute_dunnett_p(np.array([2.54]), 4, df=20).round(3).tolist()
    [0.05]
    """
    from scipy.special import ndtr

    t = np.linspace(-1, 1, 2 * _GRID_STEPS + 1)

    def compute_tail(q: FloatArray) -> FloatArray:
        width = 9 + q[..., None] / 2
        x = t * width
        beyond = ndtr(x - q[..., None]) + ndtr(-x - q[..., None])
        with np.errstate(divide="ignore"):
            inner = _compute_normal_density(x) * -np.expm1((k - 1) * np.log1p(-np.minimum(beyond, 1.0)))
        return np.asarray((inner * width).sum(axis=-1) / _GRID_STEPS)

    return _average_over_sd(compute_tail, np.sqrt(2) * np.asarray(z, dtype=np.float64), df)


def _compute_normal_density(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def _average_over_sd(compute_tail: Callable[[FloatArray], FloatArray], q: FloatArray, df: float) -> FloatArray:
    """The mean of tail(q s), s estimating a standard deviation of 1 with df degrees of freedom: trapezoids in log s."""
    if np.isinf(df):
        return compute_tail(q)
    reach = np.sqrt(40 / df)
    u = np.linspace(-reach - 40 / df, min(reach, 0.5 + 0.5 * np.log1p(120 / df)), _GRID_STEPS + 1)
    log_density = df * (u - np.expm1(2 * u) / 2)
    weight = np.exp(log_density - log_density.max())
    # One comparison at a time: a grid of all of them would not fit a cache.
    return np.asarray([(weight * compute_tail(quantile * np.exp(u))).sum() / weight.sum() for quantile in q])


def _find_maximal_cliques(neighbours: dict[str, set[str]]) -> list[set[str]]:
    """Bron and Kerbosch's algorithm with a pivot."""
    cliques: list[set[str]] = []

    def grow(clique: set[str], candidates: set[str], excluded: set[str]) -> None:
        if not candidates and not excluded:
            cliques.append(clique)
            return
        pivot = max(sorted(candidates | excluded), key=lambda name: len(neighbours[name] & candidates))
        for name in sorted(candidates - neighbours[pivot]):
            grow(clique | {name}, candidates & neighbours[name], excluded & neighbours[name])
            candidates = candidates - {name}
            excluded = excluded | {name}

    grow(set(), set(neighbours), set())
    return cliques
