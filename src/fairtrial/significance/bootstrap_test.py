"""Bootstrap test of the difference of any measure between two models on the same rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.measures.bootstrap import compute_bca_limits, compute_percentile_limits
from fairtrial.measures.intervals import BoundMeasure, IntervalPlan
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.measures.rows import DrawCounts
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome

register_method("bootstrap_difference", "the bootstrap of the difference", cite="Efron 1987")

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
    **params: Any,
) -> Outcome:
    """Is the difference of a measure between two models more than the chance of which rows were tested?

    Rows are drawn with replacement, the same for both models. The interval is BCa or percentile, as in
    `fairtrial.measures.difference`; p is the level at which that interval would just touch zero, two-sided and never below
    2/(resamples + 1), so that p < 0.05 and an interval without zero are the same statement. The statistic is the difference.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> good, fair = y + rng.normal(size=200), y + 2 * rng.normal(size=200)
    >>> found = bootstrap_difference("ks", y, good, fair)
    >>> found.p_value < 0.05, found.effect.low > 0
    (True, True)
    """
    _check.check_one_of("method", method, ("bca", "percentile"))
    plan = IntervalPlan(method, level, resamples, seed, stratified)
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
        caveats=bootstrap.notes,
    )


class _BootstrapDifference:
    """Resampled differences, with limits at any level and the level at which they touch zero."""

    def __init__(self, estimate: float, values: FloatArray, jackknife: FloatArray | None) -> None:
        self.estimate, self.count = estimate, len(values)
        # Float noise must not decide on which side of zero a resample lies.
        scale = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        self.values, self.jackknife = np.where(np.abs(values) <= 1e-12 * scale, 0.0, values)[~np.isnan(values)], jackknife
        self.is_defined = bool(len(self.values)) and not np.isnan(estimate)
        self.is_constant = self.is_defined and bool((self.values == estimate).all())
        has_bca = (
            self.is_defined and jackknife is not None and compute_bca_limits(self.values, estimate, jackknife, 0.95) is not None
        )
        self.method = "bca" if has_bca else "percentile"

    @property
    def notes(self) -> tuple[str, ...]:
        undefined = self.count - len(self.values)
        messages = [f"undefined in {undefined} of {self.count} resamples, which are left out"] if undefined else []
        if self.is_constant:
            messages.append("all resamples agree, so the limits say nothing about cases not seen")
        elif self.jackknife is not None and self.method == "percentile":
            messages.append("BCa does not exist here, so percentile limits are given")
        return tuple(messages)

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
