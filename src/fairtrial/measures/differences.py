"""Confidence intervals of the differences between models that were judged on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels.delong import auc_covariance, placements
from fairtrial.kernels.threads import in_chunks
from fairtrial.measures.closed_intervals import normal_quantile
from fairtrial.measures.intervals import Bound, Interval, Plan, intervals_from_draws
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.measures.rows import Drawn

if TYPE_CHECKING:
    import pandas as pd


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
    models: Mapping[str, npt.ArrayLike],
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

    `method` "auto" is DeLong for a two-class AUC without weights and BCa otherwise. Each interval stands for itself: with many
    models some will miss their target by chance.

    >>> y = [0, 0, 1, 1]
    >>> found = differences("accuracy", y, {"a": [0, 0, 1, 1], "b": [0, 1, 1, 0]}, seed=1)
    >>> found.frame()[["first", "second", "estimate"]]
      first second  estimate
    0     a      b       0.5
    """
    if len(models) < 2:
        raise InputError(f"models must hold at least 2 models, got {len(models)}")
    plan = Plan(method.replace("_", "-"), level, resamples, seed, stratified)
    if plan.method not in ("auto", "bca", "percentile", "delong"):
        raise InputError(f"method must be 'auto', 'bca', 'percentile' or 'delong' for differences, got {method!r}")
    chosen = get_measure(measure)
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    if labels is None and chosen.facts.needs == "labels":
        options["labels"] = _all_labels(y_true, models)
    bound = [Bound(chosen, chosen.rows(y_true, y, **options), {"average": average, **params}) for y in models.values()]
    pairs = list(combinations(range(len(bound)), 2))
    names = list(models)
    plain_auc = all(one.plain_auc for one in bound)
    if plan.method == "delong" and not plain_auc:
        raise InputError(f"method 'delong' compares two-class AUCs without weights, got {chosen.name}: use 'bca'")
    if plan.method == "delong" or (plan.method == "auto" and plain_auc):
        found = _delong_differences(bound, pairs, plan)
    else:
        found = _bootstrap_differences(bound, pairs, plan)
    return Differences(chosen.name, tuple((names[i], names[j]) for i, j in pairs), tuple(found))


@dataclass(frozen=True)
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

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False)


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


def _delong_differences(bound: list[Bound], pairs: list[tuple[int, int]], plan: Plan) -> list[Interval]:
    ranked = [one.rows.binary for one in bound]
    chosen = ranked[0].is_positive
    if min(chosen.sum(), (~chosen).sum()) < 2:
        return _bootstrap_differences(bound, pairs, plan)
    placed = in_chunks(lambda start, _: placements(ranked[start].scores, chosen), len(ranked), 1)
    aucs, covariance = auc_covariance(np.stack(placed), chosen)
    z = normal_quantile(plan.level)
    found = []
    for i, j in pairs:
        estimate = float(aucs[i] - aucs[j])
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        if variance > 1e-18:
            half = z * float(np.sqrt(variance))
            low, high, note = max(-1.0, estimate - half), min(1.0, estimate + half), ""
        else:
            low = high = estimate
            note = "the models rank alike, so the limits say nothing about cases not seen"
        found.append(Interval("auc", estimate, low, high, plan.level, "delong", note))
    return found


def _all_labels(y_true: npt.ArrayLike, models: Mapping[str, npt.ArrayLike]) -> list[Any]:
    """Classes that occur in the truth or in any model's predictions, so that all models share one list."""
    columns = {"y_true": _check.column("y_true", y_true)}
    columns.update({str(name): _check.column(str(name), y) for name, y in models.items()})
    classes, _ = _check.encode(None, None, **columns)
    return list(classes.names.tolist())
