"""Post-hoc comparisons of learners: all pairs, or each learner with a control, with adjusted p-values.

The Bergmann-Hommel procedure is exact for up to 16 learners. A set of pairs is *exhaustive* if exactly these pairs can be equal
at the same time. Such a set consists of the pairs within the blocks of a partition of the learners. The adjusted p-value of a
pair is the largest |I| min p(I) over the exhaustive sets I that contain the pair. Enumerating these Bell(k) - 1 sets is
feasible for up to about 9 learners. For more learners, let v be the smallest p-value of I. The blocks of I are then cliques in
the graph of pairs with p >= v. For each pair and each v, the procedure needs a partition into such cliques in which both
learners share a block. Of these partitions, it needs the one with the most pairs. Dynamic programming over subsets of learners
finds it for all pairs at once.

With few data sets, the p-value of a pair is exact: it is computed from all swaps of the two learners. Swapping two learners on
a data set changes only the sign of the difference between their ranks, regardless of the other learners. For the hypothesis
that all learners are equal, the Shaffer and Bergmann-Hommel procedures then use the omnibus permutation test instead of the
smallest p-value (closed testing).
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
from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all
from fairtrial._text import format_count, format_html_table, format_p_value
from fairtrial.errors import InputError
from fairtrial.kernels import significance as kernels
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.significance import omnibus as omnibus_tests
from fairtrial.significance.adjust import (
    ADJUSTMENT_METHODS as ADJUSTMENTS,
    FALSE_DISCOVERY_METHODS,
    adjust,
    apply_step_down,
    check_p_values,
)
from fairtrial.significance.names import get_display_name, register_method, resolve_name
from fairtrial.significance.scores import Better, ScoreTable, compute_sign_flip_p, read_table

if TYPE_CHECKING:
    import pandas as pd

register_method("bergmann", "Bergmann-Hommel", cite="Bergmann & Hommel 1988; García & Herrera 2008")
register_method("shaffer", "Shaffer", cite="Shaffer 1986; García & Herrera 2008")
register_method("nemenyi", "Nemenyi", cite="Nemenyi 1963; Demšar 2006")
register_method("tukey", "Tukey", cite="Tukey 1949")
register_method("dunnett", "Dunnett", cite="Dunnett 1955")
register_method("bonferroni-dunn", "Bonferroni-Dunn", cite="Dunn 1961; Demšar 2006")


def shaffer(p_values: npt.ArrayLike, *, p_overall: float | None = None) -> FloatArray:
    """Adjust the p-values of all pairs of learners, using Shaffer's static procedure (1986).

    The procedure modifies that of Holm. It multiplies each p-value by the largest number of hypotheses that can still be true
    at the same time. For example, if one pair of three learners differs, at least one other pair must differ, too. The
    procedure is valid under any dependence and is never less powerful than Holm.

    Parameters
    ----------
    p_values : array-like of shape (k (k - 1) / 2,)
        Raw p-values of all pairs of k learners.
    p_overall : float, optional
        p-value of an omnibus test, i.e. of the hypothesis that all learners are equal. If given, the omnibus test decides on
        this hypothesis, so the smallest p-value is multiplied by a smaller number. No adjusted p-value is then smaller than
        `p_overall`.

    Returns
    -------
    ndarray
        Adjusted p-values in the order of `p_values`.

    Examples
    --------
    >>> shaffer([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.03]
    """
    p = check_p_values(p_values)
    k = count_learners(len(p))
    possible = sorted(count_true_pairs(k))
    if p_overall is not None and k > 2:
        possible.remove(len(p))
    n_remaining = np.arange(len(p), 0, -1)
    max_true = np.array(possible)[np.searchsorted(possible, n_remaining, side="right") - 1]
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = apply_step_down(max_true * p[order])
    return np.clip(adjusted, _bound_by_overall(p, p_overall), 1.0)


def _bound_by_overall(p: FloatArray, p_overall: float | None) -> FloatArray:
    """Return lower bounds for adjusted p-values: the raw p-values or, if larger, `p_overall`."""
    return p if p_overall is None else np.maximum(p, check_p_values([p_overall])[0])


@cache
def count_true_pairs(k: int) -> frozenset[int]:
    """Return Shaffer's S(k): the possible numbers of equal pairs among k learners.

    >>> sorted(count_true_pairs(4))
    [0, 1, 2, 3, 6]
    """
    if k < 2:
        return frozenset({0})
    return frozenset(comb(j, 2) + rest for j in range(1, k + 1) for rest in count_true_pairs(k - j))


def count_learners(pairs: int) -> int:
    """Return the number of learners that form this many pairs."""
    k = (1 + isqrt(1 + 8 * pairs)) // 2
    if comb(k, 2) != pairs:
        examples = ", ".join(str(count) for count in accumulate(range(1, 6)))
        raise InputError(
            f"p_values must have one value for each pair of learners ({examples} ...), got {pairs}: pass all pairs"
        )
    return k


MAX_LEARNERS = 16
_MAX_ONE_THREAD = 10  # up to this many learners, threads cost more than they save


def bergmann(p_values: npt.ArrayLike, *, p_overall: float | None = None) -> FloatArray:
    """Adjust the p-values of all pairs of learners, using the Bergmann-Hommel procedure (1988).

    The procedure is valid under any dependence and is never less powerful than the static procedure of Shaffer.

    Parameters
    ----------
    p_values : array-like of shape (k (k - 1) / 2,)
        Raw p-values of all pairs of k learners, 2 <= k <= 16, in the order (1, 2), (1, 3), ..., (1, k), (2, 3), ... This is the
        order of `itertools.combinations` and of SciPy's `squareform`.
    p_overall : float, optional
        p-value of an omnibus test, i.e. of the hypothesis that all learners are equal. If given, the omnibus test decides on
        this hypothesis instead of the smallest p-value. No adjusted p-value is then smaller than `p_overall`.

    Returns
    -------
    ndarray
        Adjusted p-values in the order of `p_values`.

    Notes
    -----
    A pair with a larger raw p-value can have a smaller adjusted p-value. In the example, the third and the fourth pair show
    this effect.

    Examples
    --------
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
    # If the overall test decides whether all learners are equal, the next largest set of equal pairs excludes one learner.
    most = comb(k, 2) if p_overall is None or k == 2 else comb(k - 1, 2)
    chunk = -(-len(thresholds) // (8 if k > _MAX_ONE_THREAD else 1))
    scaled = run_in_chunks(
        lambda start, stop: kernels.scale_thresholds(square, thresholds[start:stop], most), len(thresholds), chunk
    )
    adjusted = np.max(scaled, axis=0)[np.triu_indices(k, 1)]
    return np.asarray(np.clip(adjusted, _bound_by_overall(p, p_overall), 1.0))


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
    """The comparison of two learners.

    Attributes
    ----------
    first, second : str
        Names of the learners.
    statistic : float
        The test statistic of the difference (first minus second).
    p_raw, p_adjusted : float
        Raw and adjusted p-values.
    effect : float
        Difference between the mean ranks or, for ANOVA, t tests and F tests, between the mean scores (first minus second).

    Examples
    --------
    >>> Comparison("tree", "bayes", -1.41, 0.157, 0.334, -1.0).p_adjusted
    0.334
    """

    first: str
    second: str
    statistic: float
    p_raw: float
    p_adjusted: float
    effect: float


@dataclass(frozen=True)
class PostHoc:
    """The results of a post-hoc procedure: all comparisons of learners.

    Attributes
    ----------
    method : str
        Name of the procedure, such as "holm".
    omnibus : str
        Omnibus test that matches the comparisons, such as "friedman" for mean ranks.
    alpha : float
        Significance level.
    n : int
        Number of data sets.
    learners : tuple of str
        Names of the learners.
    means : tuple of float
        Mean rank of each learner or, for ANOVA, t tests and F tests, its mean score.
    comparisons : tuple of Comparison
        The compared pairs.
    better : {"max", "min"}
        Whether larger or smaller scores are better.
    control : str or None
        The control learner; None if all pairs were compared.
    critical_difference : float or None
        Smallest significant difference between two `means`. Available for Nemenyi and Bonferroni-Dunn if p is asymptotic.
    distribution : {"exact", "asymptotic"}
        Method for computing the raw p-values.
    smallest_p : float
        Smallest adjusted p-value that is possible with this number of data sets and these ties. It is 0 if p is asymptotic.
    caveats : tuple of Finding
        Limitations of the conclusion, e.g. that the procedure does not control the family-wise error rate.

    Examples
    --------
    >>> table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.6], [0.6, 0.5, 0.4], [0.7, 0.6, 0.5], [0.8, 0.7, 0.6]]
    >>> posthoc(table, "bergmann").groups
    (('0',), ('1',), ('2',))
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
    distribution: str = "asymptotic"
    smallest_p: float = 0.0
    caveats: tuple[Finding, ...] = ()

    @property
    def pair_test(self) -> str:
        """Display name of the test that yields the raw p-values."""
        if self.omnibus == "anova":
            return "t test with the error of the ANOVA"
        if self.omnibus not in _RANK_OMNIBUS:
            return get_display_name(self.omnibus)
        ranks = {"friedman": "ranks", "aligned": "aligned ranks", "quade": "weighted ranks"}[self.omnibus]
        return (
            f"permutation test of differences in {ranks} (exact)" if self.distribution == "exact" else f"z test of mean {ranks}"
        )

    @property
    def can_decide(self) -> bool:
        """Whether any pair could differ significantly on this many data sets."""
        return self.smallest_p <= self.alpha

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per comparison.

        Its columns are the attributes of `Comparison`.
        """
        import pandas as pd

        return pd.DataFrame([vars(comparison) for comparison in self.comparisons])

    @property
    def order(self) -> tuple[str, ...]:
        """The learners, best first."""
        sign = -1 if self.omnibus not in _RANK_OMNIBUS and self.better == "max" else 1
        indices = np.argsort(sign * np.array(self.means), kind="stable")
        return tuple(self.learners[index] for index in indices)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of learners without significant differences, best first.

        Two learners share a group if and only if their adjusted p-value is above alpha. A learner that differs significantly
        from all others forms its own group. A group can omit a learner that ranks between two of its members. If there is a
        control, there is one group: the control and all learners that do not differ significantly from it.
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
        """The significant differences and the number of comparisons without a significant difference, as text."""
        position = {name: i for i, name in enumerate(self.order)}
        significant = [comparison for comparison in self.comparisons if comparison.p_adjusted <= self.alpha]
        sentences = []
        for comparison in significant:
            better, worse = sorted((comparison.first, comparison.second), key=position.__getitem__)
            p = format_p_value(comparison.p_adjusted, self.alpha)
            sentences.append(f"{better} is significantly better than {worse} ({p}).")
        n_other, total = len(self.comparisons) - len(significant), format_count(len(self.comparisons), "pair")
        if not self.can_decide:
            sentences.append(render(Finding.of("posthoc_cannot_decide", n=self.n, smallest=self.smallest_p, alpha=self.alpha)))
        elif n_other:
            sentences.append(f"No significant difference in {n_other} of {total} ({self._describe_design()}).")
        else:
            sentences.append(f"All {total} differ significantly ({self._describe_design()}).")
        return " ".join([*sentences, *render_all(self.caveats)])

    def _describe_design(self) -> str:
        parts = [get_display_name(self.method), get_display_name(self.omnibus), format_count(self.n, "data set")]
        return ", ".join(parts if self.control is None else [*parts, f"control {self.control}"])

    def __str__(self) -> str:
        return f"{self.summary}\n{self.frame().to_string(index=False, float_format='{:.4g}'.format)}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def posthoc(
    scores: ScoreTable | pd.DataFrame | npt.ArrayLike,
    method: str = "holm",
    control: str | None = None,
    *,
    better: Better = "max",
    omnibus: Omnibus | str | None = None,
    alpha: float = 0.05,
    distribution: Literal["auto", "exact", "asymptotic"] = "auto",
) -> PostHoc:
    """Compare all pairs of learners, or each learner with a control, on a table of scores.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (N, k)
        Scores with one row per data set and one column per learner.
    method : str, default "holm"
        For all pairs: "nemenyi" (studentized range), "shaffer", "bergmann" (up to 16 learners) or "tukey". With a control:
        "bonferroni-dunn" or "dunnett". In both cases: the methods of `adjust`, such as "holm", "hochberg" or "none".
    control : str, optional
        Learner with which all others are compared. Default: all pairs are compared.
    better : {"max", "min"}, default "max"
        Whether larger or smaller scores are better.
    omnibus : {"friedman", "aligned", "quade", "anova"}, optional
        Quantity to compare. "anova" compares mean scores, using t statistics with a pooled error. The other values compare mean
        ranks, using z statistics. Default: "anova" for "tukey" and "dunnett", otherwise "friedman".
    alpha : float, default 0.05
        Significance level.
    distribution : {"auto", "exact", "asymptotic"}, default "auto"
        Method for computing the p-value of a pair. "exact" considers all possible swaps of the two learners on the data sets,
        and "asymptotic" uses the normal or t distribution. "auto" is exact for ranks on up to 12 data sets or 50 scores.

    Returns
    -------
    PostHoc
        `statistic` and `effect` are negative if the first learner has the smaller (better) mean rank or, after ANOVA, the
        smaller mean.

    Notes
    -----
    Exact p-values are valid regardless of the other learners. Their smallest possible value is 2 ** (1 - N), so no pair can
    differ significantly at 5 % on fewer than 6 data sets. "shaffer" and "bergmann" also use the omnibus permutation test of
    all learners. "nemenyi" reports the larger of its own and the Bonferroni-adjusted exact p-value.

    The variance of a difference between Friedman ranks is that of Demšar (2006), without a correction for ties. The variances
    of aligned and Quade ranks are computed over all permutations within data sets, as in the omnibus tests. García, Fernández,
    Luengo and Herrera (2010) give the formulas k (n + 1) / 6 and k (k + 1) (2n + 1) (k - 1) / (18 n (n + 1)). The first formula
    gives far too small a variance for aligned ranks. The second formula is correct for Quade ranks only if k = 3.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"tree": [0.9, 0.8, 0.9, 0.6], "bayes": [0.8, 0.7, 0.7, 0.5], "rule": [0.7, 0.6, 0.6, 0.4]})
    >>> posthoc(table, "holm").frame().round(4)
      first second  statistic  p_raw  p_adjusted  effect
    0  tree  bayes    -1.4142  0.125       0.375    -1.0
    1  tree   rule    -2.8284  0.125       0.375    -2.0
    2 bayes   rule    -1.4142  0.125       0.375    -1.0
    >>> posthoc(table, "nemenyi", distribution="asymptotic").groups
    (('tree', 'bayes'), ('bayes', 'rule'))
    """
    method = resolve_name("method", method, POSTHOC_METHODS)
    resolved_omnibus = _check_choice(method, control, omnibus)
    _check.check_one_of("distribution", distribution, ("auto", "exact", "asymptotic"))
    if distribution == "exact" and resolved_omnibus == "anova":
        raise InputError("distribution must not be 'exact' after ANOVA, which compares means: use omnibus='friedman'")
    _check.check_one_of("better", better, ("max", "min"))
    _check.check_between("alpha", alpha, 0, 1)
    table = read_table(scores)
    learner_means = (
        _build_anova_means(table) if resolved_omnibus == "anova" else _build_rank_means(table, resolved_omnibus, better)
    )
    k = len(table.learners)
    first, second = _list_pair_indices(table, control)
    statistic = learner_means.compute_statistics(first, second)
    exact = None
    if resolved_omnibus != "anova" and distribution != "asymptotic":
        exact = _build_exact_pairs(table, resolved_omnibus, better, (first, second), distribution)
    p_raw = learner_means.compute_p_values(statistic) if exact is None else exact.p_raw
    adjusted = _adjust_posthoc_p_values(method, statistic, p_raw, k, learner_means.df, alpha, exact)
    smallest = 0.0 if exact is None else exact.compute_smallest_p(method, alpha)
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
        None if exact is not None else _compute_critical_difference(method, learner_means, k, alpha),
        "asymptotic" if exact is None else "exact",
        smallest,
        list_adjustment_caveats(method),
    )


@dataclass(frozen=True)
class _ExactPairs:
    """Exact p-values of the pairs, and the p-value of the exact omnibus test."""

    p_raw: FloatArray
    p_overall: float
    n_different: FloatArray
    k: int

    def adjust(self, method: str, p_raw: FloatArray, p_overall: float, alpha: float) -> FloatArray:
        if method in ("shaffer", "bergmann"):
            return (shaffer if method == "shaffer" else bergmann)(p_raw, p_overall=p_overall)
        return adjust(p_raw, "bonferroni" if method in ("nemenyi", "bonferroni-dunn") else method, alpha=alpha)

    def compute_smallest_p(self, method: str, alpha: float) -> float:
        """Compute the smallest adjusted p-value that is possible with these ties."""
        return float(self.adjust(method, np.minimum(1.0, 2.0 ** (1 - self.n_different)), 0.0, alpha).min())


def _build_exact_pairs(
    table: ScoreTable, omnibus: str, better: Better, pairs: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]], distribution: str
) -> _ExactPairs | None:
    """Compute exact p-values of pairs by swapping the two learners on each data set.

    Return None if the p-values are to be asymptotic.
    """
    if distribution == "auto" and not omnibus_tests.permutes_by_default(*table.shape):
        return None
    rank_scores = RANKINGS[omnibus](table, better)
    differences = (rank_scores.cells[:, pairs[0]] - rank_scores.cells[:, pairs[1]]).T
    # If "exact" is requested for a table with too many orders, the overall p-value is still a permutation p-value.
    n, k = table.shape
    plan = omnibus_tests.PermutationPlan("auto" if omnibus_tests.permutes_by_default(n, k) else "monte-carlo")
    overall = plan.compute_p(rank_scores.cells)
    assert overall is not None
    p_raw = np.array([compute_sign_flip_p(difference) for difference in differences])
    return _ExactPairs(p_raw, overall.p_value, (differences != 0).sum(axis=1).astype(np.float64), k)


def compute_needed_datasets(method: str, k: int, alpha: float, n_pairs: int) -> int:
    """Compute the smallest number of data sets for which exact p-values can be significant.

    >>> compute_needed_datasets("bergmann", 3, 0.05, 3), compute_needed_datasets("holm", 3, 0.05, 3)
    (6, 7)
    """
    n = 2
    while _ExactPairs(np.ones(n_pairs), 1.0, np.full(n_pairs, float(n)), k).compute_smallest_p(method, alpha) > alpha:
        n += 1
    return n


def list_adjustment_caveats(method: str) -> tuple[Finding, ...]:
    """List the caveats of adjustments that do not control the family-wise error rate."""
    if method == "finner":
        return (Finding.of("finner_error"),)
    if method in FALSE_DISCOVERY_METHODS:
        return (Finding.of("false_discovery_rate", method=get_display_name(method)),)
    return ()


@dataclass(frozen=True)
class _LearnerMeans:
    """Means and sums of scores or rank scores, and the standard error of a difference in sums."""

    means: FloatArray
    sums: FloatArray
    error: float
    unit: float
    df: float

    def compute_statistics(self, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> FloatArray:
        # If the scores do not vary, all sums are equal, and the statistic is undefined.
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
            "scores must not differ by the same amounts on every data set because the error is zero: use omnibus='friedman'"
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
        raise InputError(
            f"omnibus must be one of {list(RANKINGS)} for {method}, got 'anova': after ANOVA, use "
            "the method 'tukey' or 'dunnett'"
        )
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
    method: str, statistic: FloatArray, p_raw: FloatArray, k: int, df: float, alpha: float, exact: _ExactPairs | None
) -> FloatArray:
    size = np.abs(np.nan_to_num(statistic))
    if exact is not None:
        adjusted = exact.adjust(method, p_raw, exact.p_overall, alpha)
        return np.clip(compute_studentized_range_p(size, k), adjusted, 1.0) if method == "nemenyi" else adjusted
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
    """Compute p-values from the distribution of the studentized range.

    A p-value is the probability that any two of k sample means differ by more than z standard errors of a difference. All k
    population means are assumed to be equal.

    >>> compute_studentized_range_p(np.array([2.344, 2.569]), 3).round(4).tolist()
    [0.05, 0.0275]
    """
    from scipy.special import ndtr

    t = np.linspace(0, 1, _GRID_STEPS + 1)

    def compute_tail(q: FloatArray) -> FloatArray:
        # The integrand is k phi(x) [Phi(x)^(k-1) - (Phi(x) - Phi(x - q))^(k-1)], written as a product to be precise in the
        # tails.
        width = 18 + q[..., None] / 2
        x = -9 + t * width
        below = ndtr(x)
        with np.errstate(divide="ignore"):
            outside = -np.expm1((k - 1) * np.log1p(-ndtr(x - q[..., None]) / below))
        inner = k * _compute_normal_density(x) * below ** (k - 1) * outside
        return np.asarray((inner * width).sum(axis=-1) / _GRID_STEPS)

    return _average_over_sd(compute_tail, np.sqrt(2) * np.asarray(z, dtype=np.float64), df)


def compute_dunnett_p(z: FloatArray, k: int, df: float = np.inf) -> FloatArray:
    """Compute the p-values of Dunnett's two-sided test.

    A p-value is the probability that any of k - 1 sample means differs from that of a control by more than z standard errors
    of a difference. All k population means are assumed to be equal.

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
    """Average tail(q s) over s, an estimate of a standard deviation of 1."""
    if np.isinf(df):
        return compute_tail(q)
    reach = np.sqrt(40 / df)
    u = np.linspace(-reach - 40 / df, min(reach, 0.5 + 0.5 * np.log1p(120 / df)), _GRID_STEPS + 1)
    log_density = df * (u - np.expm1(2 * u) / 2)
    weight = np.exp(log_density - log_density.max())
    # Comparisons are computed one at a time, because a grid of all comparisons would not fit into the cache.
    return np.asarray([(weight * compute_tail(quantile * np.exp(u))).sum() / weight.sum() for quantile in q])


def _find_maximal_cliques(neighbours: dict[str, set[str]]) -> list[set[str]]:
    """Find the maximal cliques of a graph by the Bron-Kerbosch algorithm with a pivot."""
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
