"""Confidence limits and tests for AUCs that remain valid if a class has few cases.

The methods were chosen on the basis of simulations (docs/calibration.md). An AUC is treated as a proportion observed in an
effective number of cases, `auc * (1 - auc) / variance`. With few cases, DeLong's variance is often too small. If Hanley and
McNeil's variance (1982) is larger, it replaces DeLong's variance. The weight of the replacement decreases once the rarer class
has more than `FULL_REPLACEMENT` cases. The confidence limits are Wilson limits with a t quantile and Satterthwaite's degrees of
freedom.

The confidence limits for the difference between two AUCs combine the limits for both AUCs, using DeLong's correlation (Zou &
Donner 2008). The errors of two correlated models partly cancel out. For a difference, the weight of the replacement therefore
starts to decrease at fewer cases, which gives the test more power.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.delong import compute_placements

MIN_DECIDABLE_CASES = 5
"""If a class has fewer cases than this or occurs in fewer clusters, differences between AUCs are not tested."""

MIN_DECIDABLE_CLUSTERS = 10
"""If there are fewer clusters than this, differences between AUCs are not tested."""

FULL_REPLACEMENT, FULL_REPLACEMENT_OF_DIFFERENCES = 200, 30
_LARGEST_T = 1e4
_BISECTION_STEPS = 80


@dataclass(frozen=True)
class VariancePart:
    """One component of DeLong's variances for two AUCs and their difference.

    Each class contributes one component with its own degrees of freedom. If rows are clustered, the covariance between the
    classes is a third component.
    """

    first: float
    second: float
    difference: float
    df: float

    @classmethod
    def from_values(cls, variances: Iterable[float], df: float) -> VariancePart:
        """Build a component from the variances of both AUCs and of their difference."""
        first, second, difference = variances
        return cls(first, second, difference, df)


@dataclass(frozen=True)
class AucEstimate:
    """An AUC with the statistics needed for its confidence limits.

    Attributes
    ----------
    auc : float
        Estimate; NaN if a class has no cases.
    positives, negatives : float
        Number of cases in each class. If rows are clustered, the number of independent cases that would give the same variance.
    parts : tuple of (float, float)
        Components of DeLong's variance, each with its degrees of freedom.
    clusters : tuple of (int, int) or None
        Number of clusters that contain cases of each class; None if rows are independent.
    full_replacement : int
        Number of cases of the rarer class above which the weight of DeLong's variance increases.
    """

    auc: float
    positives: float
    negatives: float
    parts: tuple[tuple[float, float], ...]
    clusters: tuple[int, int] | None = None
    full_replacement: int = FULL_REPLACEMENT

    @property
    def units(self) -> tuple[float, float]:
        """The number of cases in each class, or the number of clusters if rows are clustered."""
        return (self.positives, self.negatives) if self.clusters is None else self.clusters

    @cached_property
    def variance(self) -> float:
        """DeLong's variance, or a larger variance if a class has few cases."""
        delong = max(0.0, math.fsum(value for value, _ in self.parts))
        weight = min(1.0, self.full_replacement / max(1, min(self.units)))
        return delong + weight * max(0.0, compute_hanley_mcneil_variance(self.auc, self.positives, self.negatives) - delong)

    @cached_property
    def effective_cases(self) -> float:
        """The number of cases at which a proportion equal to the AUC has the variance of the AUC."""
        if 0 < self.auc < 1:
            return self.auc * (1 - self.auc) / self.variance
        # This is the limit as the AUC approaches 0 or 1.
        return 2 * self.units[0] * self.units[1] / (1 + max(self.units))

    @cached_property
    def df(self) -> float:
        """Degrees of freedom (Satterthwaite); at most the number of clusters minus 1."""
        return compute_satterthwaite_df(self.parts, min(self.units), self.clusters is not None)

    def compute_limits(self, level: float) -> tuple[float, float]:
        """Compute the confidence limits for the AUC.

        >>> estimate = AucEstimate(0.9, 10, 300, ((0.004, 9), (0.0001, 299)))
        >>> low, high = estimate.compute_limits(0.95)
        >>> low < 0.9 < high
        True
        """
        return self.compute_t_limits(compute_t_quantile(level, self.df))

    def compute_t_limits(self, t: float) -> tuple[float, float]:
        """Compute Wilson limits from the effective number of cases and the t quantile `t`."""
        if math.isnan(self.auc):
            return math.nan, math.nan
        cases = self.effective_cases
        centre = self.auc + t * t / (2 * cases)
        half = t * math.sqrt(self.auc * (1 - self.auc) / cases + t * t / (4 * cases * cases))
        scale = 1 + t * t / cases
        low = 0.0 if self.auc == 0 else max(0.0, (centre - half) / scale)
        return low, 1.0 if self.auc == 1 else min(1.0, (centre + half) / scale)


@dataclass(frozen=True)
class AucContrast:
    """The AUCs of two models on the same rows, with the statistics for testing their difference.

    Attributes
    ----------
    first, second : float
        AUCs of the two models.
    positives, negatives : int
        Number of cases in each class.
    parts : tuple of VariancePart
        Components of DeLong's variances.
    rows : int
        Number of rows.
    marks : int
        0 if all ranks are exact; otherwise, the number of scores between which ranks are interpolated.
    clusters : tuple of (int, int) or None
        Number of clusters that contain cases of each class; None if rows are independent.
    independent_parts : tuple of VariancePart
        Components of DeLong's variances, computed as if all rows were independent; empty if there are no clusters.
    """

    first: float
    second: float
    positives: int
    negatives: int
    parts: tuple[VariancePart, ...]
    rows: int = 0
    marks: int = 0
    clusters: tuple[int, int] | None = None
    independent_parts: tuple[VariancePart, ...] = ()

    @property
    def units(self) -> tuple[int, int]:
        """The number of cases in each class, or the number of clusters if rows are clustered."""
        return (self.positives, self.negatives) if self.clusters is None else self.clusters

    @property
    def estimate(self) -> float:
        """The first AUC minus the second."""
        return self.first - self.second

    @property
    def error(self) -> float:
        """DeLong's standard error of the difference."""
        return math.sqrt(max(0.0, math.fsum(part.difference for part in self.parts)))

    @property
    def is_decidable(self) -> bool:
        """Whether there are enough cases and clusters to test the difference."""
        is_few = self.clusters is not None and self.parts[-1].df + 1 < MIN_DECIDABLE_CLUSTERS
        return min(self.units) >= MIN_DECIDABLE_CASES and not is_few

    @property
    def is_alike(self) -> bool:
        """Whether both models rank all cases in the same order, with an AUC other than 0 or 1."""
        return self.estimate == 0 and self.error == 0 and 0 < self.first < 1

    @cached_property
    def correlation(self) -> float:
        """DeLong's correlation between the two AUCs; 0 if it is undefined."""
        first, second, difference = (
            math.fsum(values) for values in zip(*((p.first, p.second, p.difference) for p in self.parts), strict=True)
        )
        spread = math.sqrt(first * second)
        return min(1.0, max(-1.0, (first + second - difference) / (2 * spread))) if spread > 0 else 0.0

    @cached_property
    def df(self) -> float:
        """The smallest of the degrees of freedom for the two AUCs and their difference."""
        fewest = min(self.units)
        columns = ([(getattr(part, name), part.df) for part in self.parts] for name in ("first", "second", "difference"))
        return min(compute_satterthwaite_df(column, fewest, self.clusters is not None) for column in columns)

    @cached_property
    def estimates(self) -> tuple[AucEstimate, AucEstimate]:
        """Both AUCs with their variances."""
        return self._estimate_both(FULL_REPLACEMENT)

    @cached_property
    def _contrasted_estimates(self) -> tuple[AucEstimate, AucEstimate]:
        return self._estimate_both(FULL_REPLACEMENT_OF_DIFFERENCES)

    def _estimate_both(self, full_replacement: int) -> tuple[AucEstimate, AucEstimate]:
        first, second = (
            AucEstimate(
                getattr(self, name),
                *self._count_effective_cases(name),
                tuple((getattr(part, name), part.df) for part in self.parts),
                self.clusters,
                full_replacement,
            )
            for name in ("first", "second")
        )
        return first, second

    def _count_effective_cases(self, name: str) -> tuple[float, float]:
        """Divide the number of cases in each class by the design effect of clustering."""
        if self.clusters is None:
            return self.positives, self.negatives
        clustered, independent = (
            math.fsum(getattr(part, name) for part in parts) for parts in (self.parts, self.independent_parts)
        )
        design_effect = max(1.0, clustered / independent) if independent else math.inf
        positives, negatives = self.clusters
        return max(positives, self.positives / design_effect), max(negatives, self.negatives / design_effect)

    def compute_limits(self, level: float) -> tuple[float, float]:
        """Compute the confidence limits for the difference; NaN if a class has no cases."""
        if not self.parts:
            return math.nan, math.nan
        if self.is_alike:
            return 0.0, 0.0
        return self._compute_t_limits(compute_t_quantile(level, self.df))

    def compute_p_value(self) -> float:
        """Compute the p-value: 1 minus the confidence level at which one of the limits is zero.

        The p-value is NaN if there are too few cases or clusters.
        """
        from scipy.special import stdtr

        if not self.is_decidable or math.isnan(self.estimate):
            return math.nan
        if self.estimate == 0:
            return 1.0
        outside, inside = 0.0, _LARGEST_T
        for _ in range(_BISECTION_STEPS):
            middle = (outside + inside) / 2
            low, high = self._compute_t_limits(middle)
            outside, inside = (middle, inside) if low > 0 or high < 0 else (outside, middle)
        if inside == _LARGEST_T:  # the limits exclude zero at every level
            first, second = (math.sqrt(estimate.variance) for estimate in self._contrasted_estimates)
            outside = abs(self.estimate) / _combine_distances(first, second, self.correlation)
        return float(2 * stdtr(self.df, -outside))

    def _compute_t_limits(self, t: float) -> tuple[float, float]:
        (a_low, a_high), (b_low, b_high) = (estimate.compute_t_limits(t) for estimate in self._contrasted_estimates)
        correlation = self.correlation
        low = self.estimate - _combine_distances(self.first - a_low, b_high - self.second, correlation)
        high = self.estimate + _combine_distances(a_high - self.first, self.second - b_low, correlation)
        return max(-1.0, low), min(1.0, high)


def _combine_distances(first: float, second: float, correlation: float) -> float:
    return math.sqrt(max(0.0, first**2 - 2 * correlation * first * second + second**2))


def compute_hanley_mcneil_variance(auc: float, positives: float, negatives: float) -> float:
    """Return the larger of Hanley and McNeil's variances (1982) for `auc` and 1 - `auc`.

    >>> compute_hanley_mcneil_variance(0.9, 5, 100) == compute_hanley_mcneil_variance(1 - 0.9, 5, 100)
    True
    """
    values = []
    for a in (auc, 1 - auc):
        excess_positives, excess_negatives = a / (2 - a) - a * a, 2 * a * a / (1 + a) - a * a
        values.append(a * (1 - a) + (positives - 1) * excess_positives + (negatives - 1) * excess_negatives)
    return max(values) / (positives * negatives)


def compute_satterthwaite_df(parts: Iterable[tuple[float, float]], fewest: float, is_clustered: bool = False) -> float:
    """Compute the Satterthwaite degrees of freedom of a sum of variances.

    If all variances are zero, the result is `fewest` - 1, but at least 1. If rows are clustered, all parts come from the same
    clusters. The result is then at most the degrees of freedom of the last part, which uses all clusters.
    """
    all_parts = list(parts)
    known = [(value, df) for value, df in all_parts if value and df > 0]
    total = math.fsum(value for value, _ in known)
    if not known or not total > 0 or total * total == 0:
        return max(1.0, fewest - 1.0)
    df = total**2 / math.fsum(value**2 / df for value, df in known)
    return max(1.0, min(df, all_parts[-1][1])) if is_clustered else df


def compute_t_quantile(level: float, df: float) -> float:
    """Return t such that a t-distributed variable is between -t and t with probability `level`."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))


def estimate_auc(scores: FloatArray, is_positive: npt.NDArray[np.bool_], clusters: IntArray | None = None) -> AucEstimate:
    """Compute an AUC with its variance.

    Rows in the same cluster may be dependent (Obuchowski 1997).
    """
    contrast = contrast_aucs(scores, scores, is_positive, clusters)
    return contrast.estimates[0]


def contrast_aucs(
    first: FloatArray, second: FloatArray, is_positive: npt.NDArray[np.bool_], clusters: IntArray | None = None
) -> AucContrast:
    """Compare the AUCs of two models on the same rows.

    Rows in the same cluster may be dependent (Obuchowski 1997).
    """
    placements = [compute_placements(np.ascontiguousarray(scores), is_positive) for scores in (first, second)]
    return contrast_placements(placements[0], placements[1], is_positive, clusters)


def contrast_placements(
    first: FloatArray, second: FloatArray, is_positive: npt.NDArray[np.bool_], clusters: IntArray | None = None
) -> AucContrast:
    """Compare two AUCs from the placements of all cases (see kernels/delong.py)."""
    columns = (first, second, first - second)
    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if not positives or not negatives:
        return AucContrast(math.nan, math.nan, positives, negatives, (), len(is_positive))
    means = [float(column[is_positive].mean()) for column in columns]
    is_alike = not columns[2].any()
    estimates = (means[0], means[0]) if is_alike else (means[0], means[1])
    independent_parts = tuple(
        VariancePart.from_values([_compute_mean_variance(column[mask]) for column in columns], count - 1.0)
        for mask, count in ((is_positive, positives), (~is_positive, negatives))
    )
    if clusters is None:
        return AucContrast(*estimates, positives, negatives, independent_parts, len(is_positive))
    codes = np.unique(clusters, return_inverse=True)[1]
    return AucContrast(
        *estimates,
        positives,
        negatives,
        _compute_cluster_parts(columns, means, is_positive, codes),
        len(is_positive),
        clusters=(len(np.unique(codes[is_positive])), len(np.unique(codes[~is_positive]))),
        independent_parts=independent_parts,
    )


def _compute_mean_variance(values: FloatArray) -> float:
    """Compute the variance of a mean.

    The result is exactly 0 if all values are equal up to rounding errors.
    """
    if len(values) < 2 or np.ptp(values) < 1e-13:
        return 0.0
    return float(values.var(ddof=1)) / len(values)


def _compute_cluster_parts(
    columns: Sequence[FloatArray], means: Sequence[float], is_positive: npt.NDArray[np.bool_], codes: IntArray
) -> tuple[VariancePart, ...]:
    """Compute a variance component for each class and one for the covariance between classes."""
    parts, counts = compute_cluster_covariances(np.stack(columns), np.asarray(means), is_positive, codes)
    return tuple(
        VariancePart.from_values(np.diagonal(part).tolist(), count - 1.0) for part, count in zip(parts, counts, strict=True)
    )


def compute_cluster_covariances(
    placements: FloatArray, aucs: FloatArray, is_positive: npt.NDArray[np.bool_], codes: IntArray
) -> tuple[list[FloatArray], list[int]]:
    """Compute the components of the covariance matrix of AUCs from within-cluster sums.

    The method is that of Obuchowski (1997). `placements` has one row per AUC or difference between AUCs. The first result
    contains three components: one for the positives, one for the negatives, and one for the covariance between the classes. The
    second result contains the number of clusters for each component.
    """
    deviations = placements - aucs[:, None]
    deviations = np.where(np.abs(deviations) < 1e-13, 0.0, deviations)
    masks, count = (is_positive, ~is_positive), int(codes.max()) + 1
    sums = [
        np.stack([np.bincount(codes[mask], weights=row[mask], minlength=count) for row in deviations]) / mask.sum()
        for mask in masks
    ]
    counts = [*(len(np.unique(codes[mask])) for mask in masks), count]
    products = [sums[0] @ sums[0].T, sums[1] @ sums[1].T, sums[0] @ sums[1].T + sums[1] @ sums[0].T]
    return [product * (n / (n - 1) if n > 1 else 0.0) for product, n in zip(products, counts, strict=True)], counts
