"""The bootstrap of the difference of any measure between two models of the same rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.measures.intervals import Bound, Plan
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.measures.resampling import bca_limits, percentile_limits
from fairtrial.measures.rows import Drawn
from fairtrial.significance.outcome import Effect, Outcome

_STEPS = 40


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
    _check.one_of("method", method, ("bca", "percentile"))
    plan = Plan(method, level, resamples, seed, stratified)
    chosen = get_measure(measure)
    if labels is None and chosen.facts.needs == "labels":
        labels = _all_labels(y_true, a, b)
    options = {"positive": positive, "labels": labels, "sample_weight": None}
    first, second = (Bound(chosen, chosen.rows(y_true, y, **options), {"average": average, **params}) for y in (a, b))

    def compute(drawn: Drawn) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray(first.drawn(drawn) - second.drawn(drawn))[:, None]

    estimate = first.estimate() - second.estimate()
    chosen.warn_undefined(np.asarray(estimate))
    draws = plan.draws(first.rows)
    found = _Bootstrapped(estimate, draws.values(compute)[:, 0], draws.left_out(compute)[:, 0] if method == "bca" else None)
    low, high = found.limits(level)
    return Outcome(
        "bootstrap_difference",
        estimate,
        found.p_value(),
        n=len(first.rows.true),
        variant=f"{found.method}, {resamples} resamples",
        effect=Effect(f"difference in {chosen.name}", estimate, low, high, level),
        details={"first": first.estimate(), "second": second.estimate()},
        caveats=found.notes,
    )


class _Bootstrapped:
    """Resampled differences, with limits at any level and the level at which they touch zero."""

    def __init__(self, estimate: float, values: FloatArray, left_out: FloatArray | None) -> None:
        self.estimate, self.count = estimate, len(values)
        # Float noise must not decide on which side of zero a resample lies.
        scale = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        self.values, self.left_out = np.where(np.abs(values) <= 1e-12 * scale, 0.0, values)[~np.isnan(values)], left_out
        self.defined = bool(len(self.values)) and not np.isnan(estimate)
        self.flat = self.defined and bool((self.values == estimate).all())
        corrected = self.defined and left_out is not None and bca_limits(self.values, estimate, left_out, 0.95) is not None
        self.method = "bca" if corrected else "percentile"

    @property
    def notes(self) -> tuple[str, ...]:
        undefined = self.count - len(self.values)
        told = [f"undefined in {undefined} of {self.count} resamples, which are left out"] if undefined else []
        if self.flat:
            told.append("all resamples agree, so the limits say nothing about cases not seen")
        elif self.left_out is not None and self.method == "percentile":
            told.append("BCa does not exist here, so percentile limits are given")
        return tuple(told)

    def limits(self, level: float) -> tuple[float, float]:
        if not self.defined:
            return float("nan"), float("nan")
        found = None
        if self.method == "bca" and self.left_out is not None:
            found = bca_limits(self.values, self.estimate, self.left_out, level)
        return percentile_limits(self.values, level) if found is None else found

    def p_value(self) -> float:
        if not self.defined:
            return float("nan")
        least = 2 / (len(self.values) + 1)
        if self.flat:
            return 1.0 if self.estimate == 0 else least
        outside, inside = 0.0, 1 - least
        if not self._holds_zero(inside):
            return least
        for _ in range(_STEPS):
            middle = (outside + inside) / 2
            outside, inside = (outside, middle) if self._holds_zero(middle) else (middle, inside)
        return 1 - outside

    def _holds_zero(self, level: float) -> bool:
        low, high = self.limits(level)
        return low <= 0 <= high


def _all_labels(*columns: npt.ArrayLike) -> list[Any]:
    named = {name: _check.column(name, each) for name, each in zip(("y_true", "a", "b"), columns, strict=True)}
    classes, _ = _check.encode(None, None, **named)
    return list(classes.names.tolist())
