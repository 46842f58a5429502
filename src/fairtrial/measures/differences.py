"""Confidence intervals of the differences between models that were judged on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels.delong import auc_covariance, placements
from fairtrial.kernels.threads import in_chunks
from fairtrial.measures.closed_intervals import newcombe, normal_quantile
from fairtrial.measures.intervals import Bound, Interval, Plan, intervals_from_draws, say_fallback
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.measures.rows import Drawn, ScoreRows

if TYPE_CHECKING:
    import pandas as pd

_OF_AUCS = ("delong", "newcombe")
_HIGH = 0.95
_NO_VARIANCE = 1e-18


def difference(
    measure: str | Measure,
    y_true: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    **options: Any,
) -> Interval:
    """Interval of measure(first) - measure(second), both models being judged on the same rows; options as in `interval`.

    >>> y = [0, 0, 1, 1, 0, 1, 1, 0]
    >>> found = difference("auc", y, [0.1, 0.3, 0.7, 0.9, 0.2, 0.4, 0.8, 0.5], [0.2, 0.6, 0.5, 0.7, 0.4, 0.3, 0.9, 0.1])
    >>> found.estimate
    0.125
    """
    return differences(measure, y_true, {"first": first, "second": second}, **options).intervals[0]


def differences(
    measure: str | Measure,
    y_true: npt.ArrayLike,
    models: Mapping[str, npt.ArrayLike] | pd.DataFrame,
    *,
    method: str = "auto",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    stratified: bool = False,
    positive: object = None,
    labels: Any = None,
    sample_weight: npt.ArrayLike | None = None,
    average: Any = "auto",
    **params: Any,
) -> Differences:
    """Intervals of the paired differences of every two models: the same resamples serve all.

    `method` "auto" is for two-class AUCs without weights DeLong, or Newcombe with fewer than 20 cases in a class or an AUC
    beyond 0.95; for all else BCa. "newcombe" adds up the two models' own intervals, with DeLong's correlation (Zou & Donner
    2008). Each interval stands for itself: with many models some will miss their target by chance.

    >>> y = [0, 0, 1, 1]
    >>> found = differences("accuracy", y, {"a": [0, 0, 1, 1], "b": [0, 1, 1, 0]}, seed=1)
    >>> found.frame()[["first", "second", "estimate"]]
      first second  estimate
    0     a      b       0.5
    """
    models = _by_name(models)
    if len(models) < 2:
        raise InputError(f"models must hold at least 2 models, got {len(models)}")
    plan = Plan(str(method).replace("_", "-"), level, resamples, seed, stratified)
    if plan.method not in ("auto", "bca", "percentile", *_OF_AUCS):
        raise InputError(f"method must be auto, bca, percentile, delong or newcombe for differences, got {method!r}")
    if average is None:
        raise InputError("average must give one number for a difference, got None: choose 'macro', 'weighted' or positive=")
    chosen = get_measure(measure)
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    if labels is None and chosen.facts.needs == "labels":
        options["labels"] = _all_labels(y_true, models)
    bound = [
        Bound(chosen, _rows(chosen, y_true, name, y, options), {"average": average, **params}) for name, y in models.items()
    ]
    pairs = list(combinations(range(len(bound)), 2))
    names = list(models)
    plain_auc = all(one.plain_auc for one in bound)
    if plan.method in _OF_AUCS and not plain_auc:
        raise InputError(f"method {plan.method!r} must have two-class AUCs without weights, got {chosen.name}: use 'bca'")
    if plan.method in _OF_AUCS or (plan.method == "auto" and plain_auc):
        found = _auc_differences(bound, pairs, plan)
    else:
        found = _bootstrap_differences(bound, pairs, plan)
    return Differences(chosen.name, tuple((names[i], names[j]) for i, j in pairs), tuple(found))


@dataclass(frozen=True, repr=False)
class Differences:
    """Paired differences of several models under one measure."""

    measure: str
    pairs: tuple[tuple[str, str], ...]
    intervals: tuple[Interval, ...]

    def frame(self) -> pd.DataFrame:
        """A line for each pair: first, second, estimate of first - second, low, high, level, method, note."""
        import pandas as pd

        lines = [
            {"first": first, "second": second, **vars(one)}
            for (first, second), one in zip(self.pairs, self.intervals, strict=True)
        ]
        return pd.DataFrame(lines).drop(columns="measure")

    def __str__(self) -> str:
        frame = self.frame()
        shown = frame if frame["note"].any() else frame.drop(columns="note")
        return f"differences in {self.measure}\n{shown.to_string(index=False, float_format='{:.4g}'.format)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False)


def _by_name(models: Any) -> dict[str, npt.ArrayLike]:
    """Models by name: a mapping, or the columns of a frame."""
    if not isinstance(models, Mapping) and not hasattr(models, "columns"):
        raise InputError(f"models must map names to predictions, or be a frame with a column each, got {type(models).__name__}")
    return {str(name): models[name] for name in models}


def _rows(measure: Measure, y_true: npt.ArrayLike, name: str, y: npt.ArrayLike, options: dict[str, Any]) -> Any:
    try:
        rows = measure.rows(y_true, y, **options)
        return rows if not isinstance(rows, ScoreRows) else replace(rows, scores=_check.finite("y_score", rows.scores))
    except InputError as error:
        raise InputError(f"model {name!r}: {error}") from None


def _bootstrap_differences(bound: list[Bound], pairs: list[tuple[int, int]], plan: Plan) -> list[Interval]:
    def compute(drawn: Drawn) -> FloatArray:
        values = [one.drawn(drawn) for one in bound]
        return np.column_stack([values[i] - values[j] for i, j in pairs])

    values = [one.estimate() for one in bound]
    estimates = [values[i] - values[j] for i, j in pairs]
    name = bound[0].measure.name
    if np.isnan(estimates).any():
        bound[0].measure.warn_undefined(np.asarray(estimates))
    return intervals_from_draws(compute, estimates, [name] * len(pairs), plan, plan.draws(bound[0].rows))


def _auc_differences(bound: list[Bound], pairs: list[tuple[int, int]], plan: Plan) -> list[Interval]:
    ranked = [one.rows.binary for one in bound]
    chosen = ranked[0].is_positive
    if chosen.all() or not chosen.any():
        bound[0].measure.warn_undefined(np.asarray(np.nan))
        nan = float("nan")
        return [Interval("auc", nan, nan, nan, plan.level, "none", "undefined: both classes must occur") for _ in pairs]
    placed = in_chunks(lambda start, _: placements(ranked[start].scores, chosen), len(ranked), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        aucs, covariance = auc_covariance(np.stack(placed), chosen)
    found = []
    for i, j in pairs:
        # Two perfect rankings place every case alike too, but may differ on cases not seen.
        alike = bool(np.array_equal(placed[i], placed[j])) and covariance[i, i] > _NO_VARIANCE
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        easy = variance > _NO_VARIANCE and (plan.method == "delong" or not (bound[0].few or max(aucs[[i, j]]) > _HIGH))
        if alike:
            note = "the models rank alike, so the limits say nothing about cases not seen"
            found.append(Interval("auc", 0.0, 0.0, 0.0, plan.level, "delong", note))
        elif easy and plan.method != "newcombe":
            found.append(_wald(float(aucs[i] - aucs[j]), float(variance), plan.level))
        else:
            spread = np.sqrt(covariance[i, i] * covariance[j, j])
            correlation = float(covariance[i, j] / spread) if spread > _NO_VARIANCE else 0.0
            found.append(_added_up(bound[i], bound[j], correlation, plan))
    return found


def _wald(estimate: float, variance: float, level: float) -> Interval:
    half = normal_quantile(level) * float(np.sqrt(variance))
    return Interval("auc", estimate, max(-1.0, estimate - half), min(1.0, estimate + half), level, "delong")


def _added_up(first: Bound, second: Bound, correlation: float, plan: Plan) -> Interval:
    """Squares of the distances to the models' own Newcombe limits, added up (Zou & Donner 2008)."""
    (a, a_low, a_high), (b, b_low, b_high) = (
        (one.estimate(), *newcombe(one.estimate(), one.rows.binary.tally, plan.level)) for one in (first, second)
    )
    note = ""
    if plan.method == "delong":
        note = "DeLong's variance does not exist here, so Newcombe's limits of both models are added up"
        say_fallback(f"difference of auc: {note}")
    low = a - b - _hypotenuse(a - a_low, b_high - b, correlation)
    high = a - b + _hypotenuse(a_high - a, b - b_low, correlation)
    return Interval("auc", a - b, max(-1.0, low), min(1.0, high), plan.level, "newcombe", note)


def _hypotenuse(first: float, second: float, correlation: float) -> float:
    return float(np.sqrt(max(0.0, first**2 - 2 * correlation * first * second + second**2)))


def _all_labels(y_true: npt.ArrayLike, models: Mapping[str, npt.ArrayLike]) -> list[Any]:
    """Classes that occur in the truth or in any model's predictions, so that all models share one list."""
    columns = {"y_true": _check.column("y_true", y_true)}
    columns.update({str(name): _check.column(str(name), y) for name, y in models.items()})
    classes, _ = _check.encode(None, None, **columns)
    return list(classes.names.tolist())
