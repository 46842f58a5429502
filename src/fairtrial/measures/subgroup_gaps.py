"""Gaps between each subgroup and the other rows, with simultaneous limits and p-values.

Each value of a measure has its own confidence limits, such as Wilson limits. The limits for a subgroup and those for the rest
are combined into limits for their difference (MOVER: Newcombe 1998; Zou & Donner 2008). The p-value is computed by inverting
these limits. Both the p-values and the limits are adjusted using the joint normal distribution of the gaps (single-step max-t;
Hothorn, Bretz & Westfall 2008). The p-values therefore always agree with the limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.measures.auc_inference import compute_t_quantile, estimate_auc
from fairtrial.measures.intervals import (
    ConfidenceLimits,
    build_auc_estimate,
    compute_score_limits,
    compute_weighted_wilson_limits,
    compute_wilson_limits,
    count_effective_rows,
    make_clustered_wilson_limits,
)
from fairtrial.measures.tally import tally_scores

MIN_CASES = 10
"""Minimum number of cases that the subgroup and the rest each need for limits and a p-value.

Cases are the rows or clusters that the measure counts. With 8 rows in each, the two-sided 5 % test of a proportion has a type I
error rate of up to 7.7 %. With 10 or more rows, it is at most 7 %.
"""

# Up to this number of cases, the variance of all rows fully replaces a smaller variance of a subgroup. With more cases, the
# weight of the replacement decreases.
_FULL_REPLACEMENT = 50

_DRAWS = 20_000
_LARGEST_Z = 7.5
_MAX_STEPS, _TOLERANCE = 100, 1e-14
_REFERENCE_LEVEL = 0.95


@dataclass(frozen=True)
class PartialValue:
    """The value of a measure on a subgroup, or on all rows outside the subgroup.

    Attributes
    ----------
    value : float
        The value; NaN if it is undefined.
    cases : float
        Effective number of cases, i.e. of rows or clusters that the measure counts.
    compute_limits : callable
        Function that maps a confidence level to the confidence limits.
    needed : int
        Smallest number of cases for which limits are valid.
    """

    value: float
    cases: float
    compute_limits: Callable[[float], ConfidenceLimits]
    needed: int = MIN_CASES

    @cached_property
    def error(self) -> float:
        """The standard error implied by the width of the limits."""
        low, high = self.compute_limits(_REFERENCE_LEVEL)
        return (high - low) / (2 * _compute_z(1 - _REFERENCE_LEVEL))

    @property
    def has_limits(self) -> bool:
        """Whether the value is defined and there are enough cases for limits."""
        return self.cases >= self.needed and math.isfinite(self.value) and self.error > 0


@dataclass(frozen=True)
class SubgroupValues:
    """The values of a measure on each of several subgroups and on all rows outside it.

    Attributes
    ----------
    subgroups, rests : tuple of PartialValue
        The value on each subgroup, and on all rows outside the subgroup.
    sizes : ndarray of shape (K,)
        Number of rows that the measure counts in each subgroup, or the sum of their weights.
    correlations : ndarray of shape (K, K), optional
        Correlations between the values of the subgroups; None if they are independent.
    obstacle : str, optional
        Kind of finding that explains why there are no limits although there are enough cases; otherwise empty.
    """

    subgroups: tuple[PartialValue, ...]
    rests: tuple[PartialValue, ...]
    sizes: FloatArray
    correlations: FloatArray | None = None
    obstacle: str = ""


@dataclass(frozen=True)
class Gap:
    """The difference between a subgroup and the rest.

    Attributes
    ----------
    value, rest : float
        Value of the measure on the subgroup, and on all rows outside the subgroup.
    low, high : float
        Simultaneous confidence limits for the difference.
    p_value, p_adjusted : float
        p-value of this gap alone, and p-value adjusted for all gaps of all families.
    cases, rest_cases : float
        Effective number of cases of the subgroup and of the rest.
    needed : int
        Smallest number of cases for which limits are valid.
    """

    value: float
    rest: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    cases: float
    rest_cases: float
    needed: int

    @property
    def difference(self) -> float:
        """The value on the subgroup minus the value on the rest."""
        return self.value - self.rest


def compute_gaps(values: SubgroupValues, level: float, families: int = 1, seed: int = 0) -> list[Gap]:
    """Compute the gap of each subgroup, with simultaneous limits and adjusted p-values.

    A family consists of the gaps of all subgroups for one model and measure. The limits and p-values are adjusted for
    `families` such families.

    >>> values = estimate_proportions(np.array([40.0, 30, 20]), np.array([50.0, 50, 50]))
    >>> [round(gap.difference, 2) for gap in compute_gaps(values, 0.95)]
    [0.3, 0.0, -0.3]
    """
    pairs = list(zip(values.subgroups, values.rests, strict=True))
    tested = [index for index, pair in enumerate(pairs) if all(part.has_limits for part in pair)]
    covariance, rest_correlations = _relate_values(values)
    correlations = _compute_gap_correlations(values, covariance)[np.ix_(tested, tested)]
    family = GapFamily.from_correlations(correlations, families, seed)
    critical = family.find_critical_z(level) if tested else math.nan
    gaps = []
    for index, (subgroup, rest) in enumerate(pairs):
        low = high = p_value = p_adjusted = math.nan
        if index in tested:
            limit = partial(combine_limits, subgroup, rest, rest_correlations[index])
            z = _invert_limits(limit, subgroup.value - rest.value)
            low, high = limit(_get_level(critical))
            p_value, p_adjusted = _compute_p(z), family.compute_adjusted_p(z)
            if z <= critical:  # rounding errors must not make the limits disagree with the test
                low, high = min(low, 0.0), max(high, 0.0)
        counts = subgroup.cases, rest.cases, max(subgroup.needed, rest.needed)
        gaps.append(Gap(subgroup.value, rest.value, low, high, p_value, p_adjusted, *counts))
    return gaps


@dataclass(frozen=True)
class GapFamily:
    """The distribution of the largest absolute value of several correlated normal statistics.

    Attributes
    ----------
    comparisons : int
        Number of distinct comparisons.
    families : int
        Number of families that are adjusted jointly (Bonferroni).
    largest : ndarray
        Simulated largest absolute values, in descending order.
    """

    comparisons: int
    families: int
    largest: FloatArray

    @classmethod
    def from_correlations(cls, correlations: FloatArray, families: int = 1, seed: int = 0) -> GapFamily:
        """Simulate the distribution with the given correlations.

        If there are only two gaps and their correlation is 1 or -1, they count as one comparison.
        """
        count = len(correlations)
        distinct = 1 if count == 2 and abs(correlations[0, 1]) > 1 - 1e-6 else count
        if distinct < 2:
            return cls(max(1, distinct), families, np.empty(0))
        eigenvalues, vectors = np.linalg.eigh(correlations)
        factor = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        draws = factor @ _draw_normals(count, seed)
        return cls(distinct, families, np.sort(np.abs(draws, out=draws).max(axis=0))[::-1])

    def compute_adjusted_p(self, z: float) -> float:
        """Compute the adjusted p-value: the probability that any absolute value is at least `z`.

        The result is the smaller of the simulated probability and the Bonferroni bound, multiplied by `families`.
        """
        bound = self.comparisons * _compute_p(z)
        if len(self.largest):
            count = int(np.searchsorted(-self.largest, -z, side="right"))
            bound = min(bound, (count + 1) / (len(self.largest) + 1))
        return min(1.0, self.families * bound)

    def find_critical_z(self, level: float) -> float:
        """Find the z value above which the adjusted p-value is at most 1 - `level`."""
        alpha = (1 - level) / self.families
        critical = _compute_z(alpha / self.comparisons)
        count = math.floor(alpha * (len(self.largest) + 1)) - 1
        return min(critical, float(self.largest[count])) if 0 <= count < len(self.largest) else critical


@lru_cache(maxsize=2)
def _draw_normals(count: int, seed: int) -> FloatArray:
    """Draw independent standard normal values, one column per draw.

    All measures of a judgement use the same draws.
    """
    return np.ascontiguousarray(np.random.default_rng(seed).standard_normal((_DRAWS, count)).T)


def combine_limits(first: PartialValue, second: PartialValue, correlation: float, level: float) -> ConfidenceLimits:
    """Combine the limits for two values into limits for their difference (Zou & Donner 2008)."""
    (a_low, a_high), (b_low, b_high) = first.compute_limits(level), second.compute_limits(level)
    estimate = first.value - second.value
    low = estimate - _combine_distances(first.value - a_low, b_high - second.value, correlation)
    return low, estimate + _combine_distances(a_high - first.value, second.value - b_low, correlation)


def _combine_distances(first: float, second: float, correlation: float) -> float:
    return math.sqrt(max(0.0, first**2 - 2 * correlation * first * second + second**2))


def _invert_limits(limit: Callable[[float], ConfidenceLimits], difference: float) -> float:
    """Find the z value of the largest confidence level at which the limits exclude zero."""
    if difference == 0:
        return 0.0
    outside, inside = 0.0, _LARGEST_Z
    distance_outside, distance_inside = abs(difference), _compute_distance(limit, difference, inside)
    if not distance_inside <= 0:
        return outside if math.isnan(distance_inside) else inside
    # Illinois method: regula falsi, but the distance at an end is halved if the end is kept twice in a row.
    middle, was_outside = outside, None
    for _ in range(_MAX_STEPS):
        previous, middle = middle, outside + (inside - outside) * distance_outside / (distance_outside - distance_inside)
        distance = _compute_distance(limit, difference, middle)
        if abs(middle - previous) < _TOLERANCE or distance == 0:
            break
        is_outside = distance > 0
        if is_outside:
            outside, distance_outside = middle, distance
            distance_inside /= 2 if was_outside is True else 1
        else:
            inside, distance_inside = middle, distance
            distance_outside /= 2 if was_outside is False else 1
        was_outside = is_outside
    return middle


def _compute_distance(limit: Callable[[float], ConfidenceLimits], difference: float, z: float) -> float:
    """Compute the distance between zero and the nearer limit.

    The distance is negative if the limits contain zero.
    """
    low, high = limit(_get_level(z))
    return low if difference > 0 else -high


def _get_level(z: float) -> float:
    return math.erf(z / math.sqrt(2))


def _compute_p(z: float) -> float:
    return math.erfc(z / math.sqrt(2))


def _compute_z(p: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(p / 2))


def _relate_values(values: SubgroupValues) -> tuple[FloatArray, list[float]]:
    """Compute the subgroups' covariance matrix and each subgroup's correlation with the rest."""
    errors = np.array([part.error if part.has_limits else 0.0 for part in values.subgroups])
    count = len(errors)
    if values.correlations is None:
        return np.diag(errors**2), [0.0] * count
    covariance = values.correlations * np.outer(errors, errors)
    rest_weights = -_build_contrasts(values.sizes) + np.eye(count)
    shared = (rest_weights * covariance).sum(axis=1)
    spread = errors * np.sqrt(np.einsum("gk,kl,gl->g", rest_weights, covariance, rest_weights))
    with np.errstate(divide="ignore", invalid="ignore"):
        return covariance, np.nan_to_num(np.clip(shared / spread, -1, 1)).tolist()


def _build_contrasts(sizes: FloatArray) -> FloatArray:
    """Build the weights of all subgroups in each gap.

    The subgroup of the gap has a weight of 1. Every other subgroup has a negative weight: minus its proportion of the remaining
    rows.
    """
    others = sizes.sum() - sizes
    contrasts = -sizes[None, :] / np.where(others > 0, others, 1.0)[:, None]
    np.fill_diagonal(contrasts, 1.0)
    return np.asarray(contrasts)


def _compute_gap_correlations(values: SubgroupValues, covariance: FloatArray) -> FloatArray:
    contrasts = _build_contrasts(values.sizes)
    product = contrasts @ covariance @ contrasts.T
    spread = np.sqrt(np.maximum(np.diagonal(product), 1e-300))
    return np.asarray(np.clip(product / np.outer(spread, spread), -1, 1))


def sum_by_code(codes: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sum the values that share a code.

    >>> sum_by_code(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [1.0, 0.0, 5.0, 0.0]
    """
    return np.bincount(codes, values, minlength=count).astype(np.float64)


def estimate_proportions(hits: FloatArray, totals: FloatArray, squares: FloatArray | None = None) -> SubgroupValues:
    """Estimate a proportion in each subgroup from counts or from sums of weights.

    If the rows are weighted, `squares` contains the sums of squared weights.
    """

    def build(successes: float, trials: float, square: float) -> PartialValue:
        if not trials > 0:
            return _UNDEFINED
        if squares is None:
            return PartialValue(successes / trials, trials, partial(compute_wilson_limits, successes, trials))
        limit = partial(compute_weighted_wilson_limits, successes, trials, square)
        return PartialValue(successes / trials, trials / square * trials, limit)

    all_squares = totals if squares is None else squares
    columns = np.stack([hits, totals, all_squares], axis=1)
    subgroups = tuple(build(*line) for line in columns.tolist())
    rests = tuple(build(*line) for line in (columns.sum(axis=0) - columns).tolist())
    return SubgroupValues(subgroups, rests, np.asarray(totals, dtype=np.float64))


def estimate_clustered_proportions(hits: FloatArray, totals: FloatArray) -> SubgroupValues:
    """Estimate a proportion in each subgroup from clustered rows.

    The counts have one row per cluster and one column per subgroup.
    """

    def build(successes: FloatArray, trials: FloatArray) -> PartialValue:
        total, clusters = float(trials.sum()), int((trials > 0).sum())
        if not total:
            return _UNDEFINED
        limit = make_clustered_wilson_limits(successes, trials)
        return PartialValue(float(successes.sum()) / total, clusters, limit)

    sums = totals.sum(axis=0)
    subgroups = tuple(build(hits[:, k], totals[:, k]) for k in range(len(sums)))
    rests = tuple(build(hits.sum(axis=1) - hits[:, k], totals.sum(axis=1) - totals[:, k]) for k in range(len(sums)))
    means = np.array([part.value for part in subgroups])
    contributions = np.nan_to_num((hits - means * totals) / np.where(sums > 0, sums, 1.0))
    return SubgroupValues(subgroups, rests, sums, _correlate(contributions.T))


def estimate_aucs(
    scores: FloatArray, is_positive: npt.NDArray[np.bool_], codes: IntArray, count: int, clusters: IntArray | None = None
) -> SubgroupValues:
    """Estimate the AUC of each of `count` subgroups from unweighted rows."""
    masks = [codes == code for code in range(count)]
    sizes = np.array([mask.sum() for mask in masks], dtype=np.float64)

    def build(mask: npt.NDArray[np.bool_]) -> PartialValue:
        if not is_positive[mask].any() or is_positive[mask].all():
            return _UNDEFINED
        chosen = np.ascontiguousarray(scores[mask])
        if clusters is None:
            estimate = build_auc_estimate(tally_scores(is_positive[mask], chosen, None))
        else:
            estimate = estimate_auc(chosen, is_positive[mask], clusters[mask])
        return PartialValue(estimate.auc, min(estimate.units), estimate.compute_limits)

    correlations = None
    if clusters is not None:
        contributions = [_compute_auc_contributions(scores, is_positive, mask, clusters) for mask in masks]
        correlations = _correlate(np.stack(contributions))
    return SubgroupValues(tuple(map(build, masks)), tuple(build(~mask) for mask in masks), sizes, correlations)


def _compute_auc_contributions(
    scores: FloatArray, is_positive: npt.NDArray[np.bool_], mask: npt.NDArray[np.bool_], clusters: IntArray
) -> FloatArray:
    """Compute the contribution of each cluster to the AUC of a subgroup (Obuchowski 1997)."""
    from fairtrial.kernels.delong import compute_placements

    count, chosen = int(clusters.max()) + 1, is_positive[mask]
    if not chosen.any() or chosen.all():
        return np.zeros(count)
    placements = compute_placements(np.ascontiguousarray(scores[mask]), chosen)
    deviations = placements - placements[chosen].mean()
    weights = np.where(chosen, 1 / chosen.sum(), 1 / (~chosen).sum())
    return sum_by_code(clusters[mask], deviations * weights, count)


Influences = Callable[[npt.NDArray[np.bool_]], tuple[float, FloatArray, FloatArray]]
"""Function that maps a selection of rows to the value, the influence of each row on the value, and the weight of each row."""


def estimate_by_influence(
    compute: Influences,
    codes: IntArray,
    count: int,
    clusters: IntArray | None,
    limits: tuple[float, float],
    needed: int = MIN_CASES,
) -> SubgroupValues:
    """Estimate any measure on each of `count` subgroups.

    The confidence limits are computed from the influence of each row or cluster.
    """
    common_spread: float | None = None

    def build(mask: npt.NDArray[np.bool_]) -> tuple[PartialValue, FloatArray, float]:
        n_units = 0 if clusters is None else int(clusters.max()) + 1
        if not mask.any():
            return _UNDEFINED, np.zeros(n_units), 0.0
        value, influences, weights = compute(mask)
        unit_codes = None if clusters is None else clusters[mask]
        cases = count_effective_rows(weights, None if unit_codes is None else np.unique(unit_codes, return_inverse=True)[1])
        if unit_codes is not None:
            influences = sum_by_code(unit_codes, influences, n_units)
        error = 0.0
        if cases > 1:
            spread = cases * float(influences @ influences)
            # A small subgroup may contain no rare large losses, so the variance of all rows replaces a smaller variance.
            weight = 0.0 if common_spread is None else min(1.0, _FULL_REPLACEMENT / cases)
            error = math.sqrt((spread + weight * max(0.0, (common_spread or 0.0) - spread)) / (cases - 1))
        limit = partial(_compute_t_limits, value, error, cases - 1, limits)
        return PartialValue(value, cases, limit, needed), influences, float(weights.sum())

    masks = [codes == code for code in range(count)]
    common = build(np.ones(len(codes), dtype=bool))
    common_spread = common[0].cases * float(common[1] @ common[1])
    built = [build(mask) for mask in masks]
    rests = tuple(build(~mask)[0] for mask in masks)
    correlations = None if clusters is None else _correlate(np.stack([influences for _, influences, _ in built]))
    sizes = np.array([size for _, _, size in built])
    return SubgroupValues(tuple(part for part, _, _ in built), rests, sizes, correlations)


def _compute_t_limits(value: float, error: float, df: float, limits: tuple[float, float], level: float) -> ConfidenceLimits:
    """Compute t limits for a value, or score limits if the measure is bounded.

    The score limits use the same standard error.
    """
    if not df > 0 or not math.isfinite(value):
        return math.nan, math.nan
    if not error:
        return value, value
    low, high = limits
    t, width = compute_t_quantile(level, df), high - low
    if not math.isfinite(width) or not low < value < high:
        return max(low, value - t * error), min(high, value + t * error)
    proportion = (value - low) / width
    cases = proportion * (1 - proportion) * (width / error) ** 2
    below, above = compute_score_limits(proportion * cases, cases, t)
    return low + width * below, low + width * above


def _correlate(contributions: FloatArray) -> FloatArray:
    """Compute the correlations between values from the contributions of clusters.

    `contributions` has one row per value and one column per cluster. The mean of each row must be zero.
    """
    product = contributions @ contributions.T
    spread = np.sqrt(np.diagonal(product))
    scale = np.outer(spread, spread)
    correlations = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
    np.fill_diagonal(correlations, 1.0)
    return np.asarray(correlations)


def _return_no_limits(level: float) -> ConfidenceLimits:
    del level
    return math.nan, math.nan


_UNDEFINED = PartialValue(math.nan, 0.0, _return_no_limits)


def compute_cell_influences(table: FloatArray, compute: Callable[[FloatArray], FloatArray]) -> tuple[float, FloatArray]:
    """Compute a function of a table of counts, and the influence of one row in each cell.

    The influences are computed by numerical differentiation.

    >>> value, influences = compute_cell_influences(np.array([[6.0, 2], [1, 3]]), lambda t: (t[..., 0, 0] + t[..., 1, 1]) / 12)
    >>> value, influences.round(3).tolist()
    (0.75, [[0.25, -0.75], [-0.75, 0.25]])
    """
    step, total = 1e-6, float(table.sum())
    shifted = (1 - step) * table[None] + step * total * np.eye(table.size).reshape(-1, *table.shape)
    value, *moved = compute(np.concatenate([table[None], shifted])).tolist()
    return value, (np.asarray(moved).reshape(table.shape) - value) / step


def estimate_from_tables(
    tables: FloatArray, compute: Callable[[FloatArray], FloatArray], limits: tuple[float, float]
) -> SubgroupValues:
    """Estimate a function of each subgroup's table of counts, with delta-method limits."""

    def build(table: FloatArray) -> PartialValue:
        cases = float(table.sum())
        if cases < 2:
            return _UNDEFINED
        value, influences = compute_cell_influences(table, compute)
        error = math.sqrt(max(0.0, float((table * influences**2).sum()) / (cases * (cases - 1))))
        return PartialValue(value, cases, partial(_compute_t_limits, value, error, cases - 1, limits))

    total = tables.sum(axis=0)
    subgroups, rests = tuple(map(build, tables)), tuple(build(total - table) for table in tables)
    return SubgroupValues(subgroups, rests, tables.sum(axis=(1, 2)))


def omit_subgroup_limits(values: SubgroupValues) -> SubgroupValues:
    """Remove the limits but keep the values.

    Limits cannot be computed if the rows are clustered but only counts are known.
    """
    subgroups, rests = (
        tuple(PartialValue(part.value, part.cases, _return_no_limits, part.needed) for part in parts)
        for parts in (values.subgroups, values.rests)
    )
    return SubgroupValues(subgroups, rests, values.sizes, obstacle="gap_streamed")


def find_level_of_pairs(values: Sequence[PartialValue], level: float) -> float:
    """Find the confidence level per pair that gives all differences the joint level `level`.

    The values must be independent.
    """
    count = len(values)
    pairs = [(first, second) for first in range(count) for second in range(first + 1, count)]
    contrasts = np.array([np.eye(count)[first] - np.eye(count)[second] for first, second in pairs])
    product = (contrasts * np.array([value.error for value in values]) ** 2) @ contrasts.T
    spread = np.sqrt(np.diagonal(product))
    family = GapFamily.from_correlations(product / np.outer(spread, spread))
    return _get_level(family.find_critical_z(level))
