"""Confidence intervals and a paired test for the costs of false positives and false negatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError
from fairtrial.measures.auc_inference import compute_t_quantile
from fairtrial.measures.intervals import (
    compute_clustered_wilson_limits,
    compute_wilson_limits,
    count_effective_rows,
    read_clusters,
)
from fairtrial.measures.rows import LabelRows
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome

PER_CASES = 1000
"""Number of cases to which reported costs refer."""

register_method("cost_test", "adjusted paired cost test", cite="Bonett & Price 2012", statistic="difference")

_ONE_CLUSTER = "all rows are in one cluster, so the confidence limits are undefined"


def check_costs(costs: Any) -> tuple[float, float]:
    """Check that the costs of a false positive and a false negative are positive numbers.

    >>> check_costs([1, 10])
    (1.0, 10.0)
    """
    try:
        pair = tuple(float(cost) for cost in costs)
    except (TypeError, ValueError):
        pair = ()
    if len(pair) != 2:
        raise InputError(
            f"costs must be two numbers, the costs of a false positive and of a false negative, got {costs!r}: "
            "pass e.g. (1, 10)"
        )
    for name, cost in zip(("false positive", "false negative"), pair, strict=True):
        if not (math.isfinite(cost) and cost > 0):
            raise InputError(f"the cost of a {name} must be a number above 0, got {cost:g}: pass a positive cost")
    return pair


@dataclass(frozen=True)
class CostUnits:
    """The independent units (rows or clusters), the row weights, and the costs of errors.

    Attributes
    ----------
    costs : (float, float)
        Costs of a false positive and a false negative.
    rows : int
        Number of rows.
    weights : ndarray or None
        Weight of each row.
    clusters : ndarray or None
        Cluster of each row, as an integer code starting at 0.
    effective : float or None
        Effective number of units in the smaller class; see `count_class_units`. If None, the number of units is used.
    """

    costs: tuple[float, float]
    rows: int
    weights: FloatArray | None = None
    clusters: IntArray | None = None
    effective: float | None = None

    @property
    def count(self) -> int:
        """The number of clusters, or of rows if there are no clusters."""
        return self.rows if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def df(self) -> float:
        """The degrees of freedom for the variance of a sum over units."""
        return max(1.0, min(self.count, self.count if self.effective is None else self.effective) - 1.0)

    @property
    def total(self) -> float:
        """The total weight of all rows."""
        return float(self.rows) if self.weights is None else float(self.weights.sum())

    @property
    def typical_weight(self) -> float:
        """The weight of a typical row: the mean of the row weights, weighted by themselves."""
        return 1.0 if self.weights is None else float((self.weights**2).sum()) / self.total

    @property
    def error_variance(self) -> float:
        """Variance that one additional error of each kind would add to the total cost.

        This term accounts for rare errors that do not occur in the sample.
        """
        return (self.costs[0] ** 2 + self.costs[1] ** 2) * self.typical_weight**2

    def sum_units(self, values: FloatArray) -> FloatArray:
        """Compute the sum of the weighted row values in each unit."""
        weighted = values if self.weights is None else values * self.weights
        if self.clusters is None:
            return weighted
        return np.bincount(self.clusters, weighted, minlength=self.count).astype(np.float64)

    def compute_quantile(self, level: float) -> float:
        """Compute the t quantile for two-sided confidence limits."""
        return compute_t_quantile(level, self.df)

    def compare(self, first: FloatArray, second: FloatArray, level: float) -> Outcome:
        """Test whether the mean cost differs between two models.

        `first` and `second` contain the row costs of the two models.
        """
        scale = PER_CASES / self.total
        if self.count < 2:
            nan = float("nan")
            estimate = float(self.sum_units(first - second).sum()) * scale
            effect = Effect("difference in cost per 1,000 cases", estimate, nan, nan, level, _ONE_CLUSTER)
            return Outcome("cost_test", estimate, nan, n=self.rows, effect=effect)
        from scipy.stats import t as student

        sums = self.sum_units(first - second)
        total = float(sums.sum())
        error = math.sqrt(compute_sum_variance(sums, sums) + 2 * self.error_variance)
        half = self.compute_quantile(level) * error
        p_value = min(1.0, 2 * float(student.sf(abs(total) / error, self.df)))
        effect = Effect(
            "difference in cost per 1,000 cases", total * scale, (total - half) * scale, (total + half) * scale, level
        )
        costs = (PER_CASES * float(self.sum_units(values).sum()) / self.total for values in (first, second))
        return Outcome(
            "cost_test",
            total * scale,
            p_value,
            df=None if self.clusters is None else round(self.df, 1),
            n=self.rows,
            effect=effect,
            details=dict(zip(("first", "second"), costs, strict=True)),
        )

    def compute_ratio_limits(self, first: FloatArray, second: FloatArray, level: float) -> tuple[float, float]:
        """Compute Fieller limits for the ratio of two mean costs.

        The Fieller limits are NaN if the second mean cost is not significantly above zero, or if there is only one unit.
        """
        nan = float("nan"), float("nan")
        if self.count < 2:
            return nan
        numerators, denominators = self.sum_units(first), self.sum_units(second)
        squared = self.compute_quantile(level) ** 2
        top, bottom = float(numerators.sum()), float(denominators.sum())
        a = bottom**2 - squared * (compute_sum_variance(denominators, denominators) + self.error_variance)
        b = top * bottom - squared * compute_sum_variance(numerators, denominators)
        c = top**2 - squared * (compute_sum_variance(numerators, numerators) + self.error_variance)
        root = b * b - a * c
        if a <= 0 or root < 0:
            return nan
        return max(0.0, (b - math.sqrt(root)) / a), (b + math.sqrt(root)) / a


def count_class_units(
    is_positive: npt.NDArray[np.bool_], weights: FloatArray | None, clusters: IntArray | None
) -> float | None:
    """Compute the effective number of units in the smaller of the two classes.

    Return None if rows are neither weighted nor clustered.
    """
    if weights is None and clusters is None:
        return None
    row_weights = np.ones(len(is_positive)) if weights is None else weights
    return min(count_effective_rows(row_weights * (is_positive == flag), clusters) for flag in (True, False))


def compute_sum_variance(first: FloatArray, second: FloatArray) -> float:
    """Estimate the covariance of two sums over independent units."""
    n = len(first)
    return float((first @ second - first.sum() * second.sum() / n) * n / (n - 1))


def compute_cost_limits(
    false_positives: FloatArray, false_negatives: FloatArray, totals: FloatArray, costs: tuple[float, float], level: float
) -> tuple[float, float]:
    """Compute confidence limits for the mean cost per case.

    The first three arguments contain the total weights of false positives, false negatives and all rows in each unit. The
    confidence limits for the cost are computed from the Wilson limits for both error proportions (Zou & Donner 2008). If there
    is only one unit, its totals must be counts of independent, unweighted rows.

    >>> low, high = compute_cost_limits(np.array([0.0]), np.array([0.0]), np.array([100.0]), (1, 1), 0.95)
    >>> low, round(high, 3)
    (0.0, 0.052)
    """
    n = float(totals.sum())
    errors = (false_positives, false_negatives)
    proportions = [float(error.sum()) / n for error in errors]
    if len(totals) == 1:
        limits = [compute_wilson_limits(proportion * n, n, level) for proportion in proportions]
        product = math.prod(proportions)
        spread = math.prod(proportion * (1 - proportion) for proportion in proportions)
        correlation = -product / math.sqrt(spread) if spread > 0 else 0.0
    else:
        limits = [compute_clustered_wilson_limits(error, totals, level) for error in errors]
        deviations = [error - proportion * totals for error, proportion in zip(errors, proportions, strict=True)]
        spread = math.prod(float(deviation @ deviation) for deviation in deviations)
        correlation = float(deviations[0] @ deviations[1]) / math.sqrt(spread) if spread > 0 else 0.0
    estimate = sum(cost * proportion for cost, proportion in zip(costs, proportions, strict=True))
    distances = [
        [cost * abs(limit[side] - proportion) for cost, limit, proportion in zip(costs, limits, proportions, strict=True)]
        for side in (0, 1)
    ]
    below, above = (float(np.sqrt(np.maximum(0.0, x * x + y * y + 2 * correlation * x * y))) for x, y in distances)
    return float(np.maximum(0.0, estimate - below)), estimate + above


def cost_test(
    y_true: npt.ArrayLike,
    pred_a: npt.ArrayLike,
    pred_b: npt.ArrayLike,
    costs: tuple[float, float] = (1.0, 1.0),
    *,
    level: float = 0.95,
    positive: object = None,
    sample_weight: npt.ArrayLike | None = None,
    cluster: npt.ArrayLike | None = None,
) -> Outcome:
    """Test whether two models incur different error costs on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels. If there are more than two classes, `positive` is required.
    pred_a, pred_b : array-like of shape (n,)
        Predicted labels of the two models.
    costs : (float, float), default (1, 1)
        Costs of a false positive and a false negative.
    level : float, default 0.95
        Confidence level of the interval.
    positive : label, optional
        The positive class. Default: the second of the two classes in sort order.
    sample_weight : array-like of shape (n,), optional
        Row weights.
    cluster : array-like of shape (n,), optional
        Cluster to which each row belongs, e.g. a patient. Rows in the same cluster may be dependent.

    Returns
    -------
    Outcome
        The statistic and the effect are both the difference in cost per 1,000 cases, `pred_a` minus `pred_b`.

    Notes
    -----
    This is a paired t test on the costs per row or cluster. The variance of the difference includes one additional error of
    each kind for each model, similar to Bonett and Price (2012) for paired proportions. Without these additional errors, the
    test would ignore rare but costly errors that happen not to occur in the sample. A permutation test would not control the
    type I error if one model makes few costly errors and the other many cheap ones.

    Examples
    --------
    >>> y = [1] * 20 + [0] * 80
    >>> a, b = [1] * 18 + [0] * 2 + [1] * 10 + [0] * 70, [1] * 10 + [0] * 10 + [1] * 4 + [0] * 76
    >>> print(cost_test(y, a, b, costs=(1, 10)))
    adjusted paired cost test: difference = -740, p = 0.019, n = 100
    """
    checked = check_costs(costs)
    _check.check_between("level", level, 0, 1)
    rows = [LabelRows.read(y_true, labels, positive=positive, sample_weight=sample_weight) for labels in (pred_a, pred_b)]
    clusters = read_clusters(cluster, sample_weight)
    values = []
    for model_rows in rows:
        code = model_rows.classes.require_positive()
        is_positive, is_alert = model_rows.true == code, model_rows.predicted == code
        values.append(compute_row_costs(is_positive, is_alert, checked))
    if clusters is not None:
        _check.check_same_length(y_true=rows[0].true, cluster=clusters)
    effective = count_class_units(rows[0].true == rows[0].classes.require_positive(), rows[0].weights, clusters)
    return CostUnits(checked, len(values[0]), rows[0].weights, clusters, effective).compare(values[0], values[1], level)


def compute_row_costs(is_positive: npt.NDArray[np.bool_], alert: npt.NDArray[Any], costs: tuple[float, float]) -> FloatArray:
    """Compute the cost of each row.

    `alert` contains the proportion of positive predictions for each row, which is 0 or 1 if each row has a single prediction.

    >>> compute_row_costs(np.array([True, False]), np.array([0.0, 1.0]), (1, 10)).tolist()
    [10.0, 1.0]
    """
    return np.where(is_positive, costs[1] * (1.0 - alert), costs[0] * np.asarray(alert, dtype=np.float64))
