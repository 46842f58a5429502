"""Bootstrap test of the difference in a measure between two models on the same rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial.measures.bootstrap import compute_bca_limits, compute_percentile_limits
from fairtrial.measures.intervals import BoundMeasure, IntervalPlan, read_clusters
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.measures.rows import DrawCounts
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome

register_method("bootstrap_difference", "bootstrap", cite="Efron 1987", statistic="difference")

_BISECTION_STEPS = 40


def bootstrap_difference(
    measure: str | Measure,
    y_true: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    method: Literal["bca", "percentile"] = "bca",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    stratified: bool = False,
    positive: object = None,
    labels: Any = None,
    average: Any = "auto",
    cluster: npt.ArrayLike | None = None,
    **params: Any,
) -> Outcome:
    """Test whether a measure differs between two models, using the bootstrap.

    Rows are drawn with replacement, and each resample contains the same rows for both models. The p-value is 1 minus the
    confidence level at which one confidence limit is zero. Hence p < 0.05 if and only if the 95 % interval excludes zero. The
    smallest possible p-value is 2 / (resamples + 1).

    Parameters
    ----------
    measure : str or Measure
        The measure to compare.
    y_true : array-like of shape (n,)
        True labels or values.
    a, b : array-like
        Predictions of the two models, in the form that the measure requires: labels, scores, probabilities or numbers.
    method : {"bca", "percentile"}, default "bca"
        Type of bootstrap interval, as in `fairtrial.measures.difference`.
    level : float, default 0.95
        Confidence level of the interval.
    resamples : int, default 2000
        Number of bootstrap resamples.
    seed : int, default 0
        Random seed.
    stratified : bool, default False
        Whether to draw the rows of each class separately.
    positive : label, optional
        The positive class.
    labels : sequence, optional
        All class labels. Default: the labels that occur in the data.
    average : str, default "auto"
        How to average the measure over classes.
    cluster : array-like of shape (n,), optional
        Cluster to which each row belongs, e.g. a patient. Whole clusters are then drawn instead of rows.
    **params : object
        Additional parameters of the measure.

    Returns
    -------
    Outcome
        The statistic and the effect are both measure(a) - measure(b).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> good, fair = y + rng.normal(size=200), y + 2 * rng.normal(size=200)
    >>> outcome = bootstrap_difference("ks", y, good, fair)
    >>> outcome.p_value < 0.05, outcome.effect.low > 0
    (True, True)
    """
    _check.check_one_of("method", method, ("bca", "percentile"))
    plan = IntervalPlan(method, level, resamples, seed, stratified, read_clusters(cluster, stratified=stratified))
    resolved_measure = get_measure(measure)
    if labels is None and resolved_measure.facts.needs == "labels":
        labels = _list_labels(y_true, a, b)
    options = {"positive": positive, "labels": labels, "sample_weight": None}
    first, second = (
        BoundMeasure(resolved_measure, resolved_measure.read_rows(y_true, y, **options), {"average": average, **params})
        for y in (a, b)
    )

    def compute(draw_counts: DrawCounts) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray(first.compute_resampled(draw_counts) - second.compute_resampled(draw_counts))[:, None]

    estimate = first.estimate() - second.estimate()
    resolved_measure.warn_undefined(np.asarray(estimate))
    draws = plan.build_resamples(first.rows)
    bootstrap = _BootstrapDifference(
        estimate, draws.compute_values(compute)[:, 0], draws.compute_jackknife(compute)[:, 0] if method == "bca" else None
    )
    low, high = bootstrap.compute_limits(level)
    return Outcome(
        "bootstrap_difference",
        estimate,
        bootstrap.compute_p_value(),
        n=len(first.rows.true),
        variant=f"{bootstrap.method}, {resamples} resamples",
        effect=Effect(f"difference in {resolved_measure.name}", estimate, low, high, level),
        details={"first": first.estimate(), "second": second.estimate()},
        caveats=bootstrap.caveats,
        resamples=resamples,
        undefined_resamples=bootstrap.n_undefined,
    )


class _BootstrapDifference:
    """Bootstrap distribution of the difference, with methods for confidence limits and the p-value."""

    def __init__(self, estimate: float, values: FloatArray, jackknife: FloatArray | None) -> None:
        self.estimate, self.count = estimate, len(values)
        # Rounding errors must not decide on which side of zero a resample lies.
        scale = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        self.values, self.jackknife = np.where(np.abs(values) <= 1e-12 * scale, 0.0, values)[~np.isnan(values)], jackknife
        self.is_defined = bool(len(self.values)) and not np.isnan(estimate)
        self.is_constant = self.is_defined and bool((self.values == estimate).all())
        has_bca = (
            self.is_defined and jackknife is not None and compute_bca_limits(self.values, estimate, jackknife, 0.95) is not None
        )
        self.method = "bca" if has_bca else "percentile"

    @property
    def n_undefined(self) -> int:
        return self.count - len(self.values)

    @property
    def caveats(self) -> tuple[Finding, ...]:
        caveats = []
        if self.n_undefined:
            caveats.append(Finding.of("undefined_resamples", undefined=self.n_undefined, resamples=self.count))
        if self.is_constant:
            caveats.append(Finding.of("constant_resamples"))
        elif self.jackknife is not None and self.method == "percentile":
            caveats.append(Finding.of("bca_unavailable"))
        return tuple(caveats)

    def compute_limits(self, level: float) -> tuple[float, float]:
        if not self.is_defined:
            return float("nan"), float("nan")
        limits = None
        if self.method == "bca" and self.jackknife is not None:
            limits = compute_bca_limits(self.values, self.estimate, self.jackknife, level)
        return compute_percentile_limits(self.values, level) if limits is None else limits

    def compute_p_value(self) -> float:
        if not self.is_defined:
            return float("nan")
        smallest_p = 2 / (len(self.values) + 1)
        if self.is_constant:
            return 1.0 if self.estimate == 0 else smallest_p
        outside, inside = 0.0, 1 - smallest_p
        if not self._is_zero_inside(inside):
            return smallest_p
        for _ in range(_BISECTION_STEPS):
            middle = (outside + inside) / 2
            outside, inside = (outside, middle) if self._is_zero_inside(middle) else (middle, inside)
        return 1 - outside

    def _is_zero_inside(self, level: float) -> bool:
        low, high = self.compute_limits(level)
        return low <= 0 <= high


def _list_labels(*columns: npt.ArrayLike) -> list[Any]:
    named_columns = {
        name: _check.check_column(name, column) for name, column in zip(("y_true", "a", "b"), columns, strict=True)
    }
    classes, _ = _check.encode_labels(None, None, **named_columns)
    return list(classes.names.tolist())
