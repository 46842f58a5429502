"""Confidence intervals for differences between models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._frames import to_pandas
from fairtrial._text import format_html_table, join_names
from fairtrial.errors import InputError
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.kernels.delong import compute_auc_covariance, compute_placements
from fairtrial.measures import intervals
from fairtrial.measures.auc_inference import AucContrast, contrast_placements
from fairtrial.measures.intervals import BoundMeasure, Interval, IntervalPlan
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.measures.rows import DrawCounts, ScoreRows

if TYPE_CHECKING:
    import pandas as pd

_AUC_METHODS = ("score", "delong", "newcombe")
_NO_VARIANCE = 1e-18
_ALIKE = "both models rank all cases equally, so the confidence limits do not apply to new cases"


def difference(
    measure: str | Measure,
    y_true: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    **options: Any,
) -> Interval:
    """Compute a confidence interval for the difference between two models on the same rows.

    Parameters
    ----------
    measure : str or Measure
        Measure on which the models are compared.
    y_true : array-like of shape (n,)
        True labels.
    first, second : array-like
        Predictions of the two models: labels, scores, probabilities or values, depending on the measure.
    **options : Any
        Options for `differences`, such as `level`.

    Returns
    -------
    Interval
        Estimate and confidence limits of measure(first) - measure(second).

    Examples
    --------
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
    cluster: npt.ArrayLike | None = None,
    **params: Any,
) -> Differences:
    """Compute confidence intervals for the paired differences between all pairs of models.

    All pairs share the same bootstrap resamples. The intervals are not adjusted for multiple comparisons.

    Parameters
    ----------
    measure : str or Measure
        Measure on which the models are compared.
    y_true : array-like of shape (n,)
        True labels.
    models : mapping of str to array-like, or DataFrame
        Predictions of each model, keyed by its name: labels, scores, probabilities or values, depending on the measure. In a
        data frame, each column contains the predictions of one model.
    method : str, default "auto"
        "auto", "bca", "percentile", "score", "delong" or "newcombe". "auto" selects "score" for two-class AUCs of unweighted
        rows and "bca" otherwise. "score" and "newcombe" combine the confidence limits of the two AUCs into limits for
        their difference (Zou & Donner 2008).
    level : float, default 0.95
        Confidence level.
    resamples : int, default 2000
        Number of bootstrap resamples.
    seed : int, default 0
        Seed of the bootstrap.
    stratified : bool, default False
        Whether to resample the rows of each class separately.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        All classes, in the order of the score columns. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    average : str, default "auto"
        Averaging over classes, as in a call to the measure.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent.
    **params : Any
        Parameters of the measure.

    Returns
    -------
    Differences

    Examples
    --------
    >>> y = [0, 0, 1, 1]
    >>> found = differences("accuracy", y, {"a": [0, 0, 1, 1], "b": [0, 1, 1, 0]}, seed=1)
    >>> found.frame()[["first", "second", "estimate"]]
      first second  estimate
    0     a      b       0.5
    """
    models = _to_model_dict(models)
    if len(models) < 2:
        raise InputError(f"models must contain at least 2 models, got {len(models)}")
    clusters = intervals.read_clusters(cluster, sample_weight, stratified)
    plan = IntervalPlan(str(method).replace("_", "-"), level, resamples, seed, stratified, clusters)
    allowed_methods = ("auto", "bca", "percentile", *_AUC_METHODS)
    if plan.method not in allowed_methods:
        raise InputError(f"method must be one of {join_names(map(repr, allowed_methods))} for differences, got {method!r}")
    if average is None:
        raise InputError("average must not be None for a difference: pass average='macro', average='weighted' or positive=")
    resolved_measure = get_measure(measure)
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    if labels is None and resolved_measure.facts.needs == "labels":
        options["labels"] = _collect_labels(y_true, models)
    bound_measures = [
        BoundMeasure(
            resolved_measure, _read_model_rows(resolved_measure, y_true, name, y, options), {"average": average, **params}
        )
        for name, y in models.items()
    ]
    pairs = list(combinations(range(len(bound_measures)), 2))
    names = list(models)
    plain_auc = all(bound_measure.is_plain_auc for bound_measure in bound_measures)
    if plan.method in _AUC_METHODS and not plain_auc:
        raise InputError(
            f"method={plan.method!r} needs two-class AUCs of unweighted rows, got {resolved_measure.name}: use 'bca'"
        )
    if plan.method in _AUC_METHODS or (plan.method == "auto" and plain_auc):
        pair_intervals = _compute_auc_differences(bound_measures, pairs, plan)
    else:
        pair_intervals = _bootstrap_differences(bound_measures, pairs, plan)
    return Differences(resolved_measure.name, tuple((names[i], names[j]) for i, j in pairs), tuple(pair_intervals))


@dataclass(frozen=True, repr=False)
class Differences:
    """Paired differences between models on one measure.

    Attributes
    ----------
    measure : str
        Name of the measure.
    pairs : tuple of (str, str)
        Names of the first and the second model of each pair.
    intervals : tuple of Interval
        Interval for the difference (first minus second) of each pair.

    Examples
    --------
    >>> found = differences("accuracy", [0, 1], {"a": [0, 1], "b": [0, 0], "c": [1, 1]})
    >>> found.pairs
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    """

    measure: str
    pairs: tuple[tuple[str, str], ...]
    intervals: tuple[Interval, ...]

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per pair.

        The columns contain the two models, the estimate, the confidence limits, the level, the method and a note.
        """
        import pandas as pd

        lines = [
            {"first": first, "second": second, **vars(interval)}
            for (first, second), interval in zip(self.pairs, self.intervals, strict=True)
        ]
        return pd.DataFrame(lines).drop(columns="measure")

    def __str__(self) -> str:
        frame = self.frame()
        display_frame = frame if frame["note"].any() else frame.drop(columns="note")
        table = display_frame.to_string(index=False, float_format="{:.4g}".format)
        return f"Differences in {get_measure(self.measure).display_name}\n{table}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return format_html_table(self.frame())


def _to_model_dict(models: Any) -> dict[str, npt.ArrayLike]:
    """Convert a mapping or a data frame to a dictionary of predictions keyed by model name."""
    table = models if isinstance(models, Mapping) else to_pandas(models)
    if table is None:
        raise InputError(f"models must be a mapping of names to predictions or a data frame, got {type(models).__name__}")
    return {str(name): table[name] for name in table}


def _read_model_rows(measure: Measure, y_true: npt.ArrayLike, name: str, y: npt.ArrayLike, options: dict[str, Any]) -> Any:
    try:
        rows = measure.read_rows(y_true, y, **options)
        return rows if not isinstance(rows, ScoreRows) else replace(rows, scores=_check.check_finite("y_score", rows.scores))
    except InputError as error:
        raise InputError(f"model {name!r}: {error}") from None


def _bootstrap_differences(
    bound_measures: list[BoundMeasure], pairs: list[tuple[int, int]], plan: IntervalPlan
) -> list[Interval]:
    def compute(draw_counts: DrawCounts) -> FloatArray:
        values = [bound_measure.compute_resampled(draw_counts) for bound_measure in bound_measures]
        return np.column_stack([values[i] - values[j] for i, j in pairs])

    values = [bound_measure.estimate() for bound_measure in bound_measures]
    estimates = [values[i] - values[j] for i, j in pairs]
    name = bound_measures[0].measure.name
    if np.isnan(estimates).any():
        bound_measures[0].measure.warn_undefined(np.asarray(estimates))
    return intervals.compute_bootstrap_intervals(
        compute, estimates, [name] * len(pairs), plan, plan.build_resamples(bound_measures[0].rows)
    )


def _compute_auc_differences(
    bound_measures: list[BoundMeasure], pairs: list[tuple[int, int]], plan: IntervalPlan
) -> list[Interval]:
    ranked_rows = [bound_measure.rows.binary for bound_measure in bound_measures]
    is_positive = ranked_rows[0].is_positive
    if is_positive.all() or not is_positive.any():
        bound_measures[0].measure.warn_undefined(np.asarray(np.nan))
        nan = float("nan")
        return [
            Interval("auc", nan, nan, nan, plan.level, "none", f"undefined because {bound_measures[0].measure.facts.undefined}")
            for _ in pairs
        ]
    placement_columns = run_in_chunks(
        lambda start, _: compute_placements(ranked_rows[start].scores, is_positive), len(ranked_rows), 1
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        aucs, covariance = compute_auc_covariance(np.stack(placement_columns), is_positive)
    if plan.method in ("auto", "score"):
        contrasts = [
            contrast_placements(placement_columns[i], placement_columns[j], is_positive, plan.clusters) for i, j in pairs
        ]
        return [_build_score_interval(contrast, plan.level) for contrast in contrasts]
    pair_intervals = []
    for i, j in pairs:
        # Two perfect rankings have equal placements but may differ on new cases.
        is_alike = bool(np.array_equal(placement_columns[i], placement_columns[j])) and covariance[i, i] > _NO_VARIANCE
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        if is_alike:
            pair_intervals.append(Interval("auc", 0.0, 0.0, 0.0, plan.level, "delong", _ALIKE))
        elif variance > _NO_VARIANCE and plan.method != "newcombe":
            pair_intervals.append(_compute_wald_interval(float(aucs[i] - aucs[j]), float(variance), plan.level))
        else:
            spread = np.sqrt(covariance[i, i] * covariance[j, j])
            correlation = float(covariance[i, j] / spread) if spread > _NO_VARIANCE else 0.0
            pair_intervals.append(_combine_newcombe(bound_measures[i], bound_measures[j], correlation, plan))
    return pair_intervals


def _build_score_interval(contrast: AucContrast, level: float) -> Interval:
    limits, note = contrast.compute_limits(level), _ALIKE if contrast.is_alike else ""
    return Interval("auc", contrast.estimate, *limits, level, "score", note)


def _compute_wald_interval(estimate: float, variance: float, level: float) -> Interval:
    half = intervals.compute_normal_quantile(level) * float(np.sqrt(variance))
    return Interval("auc", estimate, max(-1.0, estimate - half), min(1.0, estimate + half), level, "delong")


def _combine_newcombe(first: BoundMeasure, second: BoundMeasure, correlation: float, plan: IntervalPlan) -> Interval:
    """Combine the Newcombe limits for two AUCs into limits for their difference."""
    (a, a_low, a_high), (b, b_low, b_high) = (
        (
            bound_measure.estimate(),
            *intervals.compute_newcombe_limits(bound_measure.estimate(), bound_measure.rows.binary.tally, plan.level),
        )
        for bound_measure in (first, second)
    )
    note = ""
    if plan.method == "delong":
        note = "combined Newcombe limits, because the DeLong variance is zero"
        intervals.warn_fallback(f"AUC difference: {note}")
    low = a - b - _compute_hypotenuse(a - a_low, b_high - b, correlation)
    high = a - b + _compute_hypotenuse(a_high - a, b - b_low, correlation)
    return Interval("auc", a - b, max(-1.0, low), min(1.0, high), plan.level, "newcombe", note)


def _compute_hypotenuse(first: float, second: float, correlation: float) -> float:
    return float(np.sqrt(max(0.0, first**2 - 2 * correlation * first * second + second**2)))


def _collect_labels(y_true: npt.ArrayLike, models: Mapping[str, npt.ArrayLike]) -> list[Any]:
    """List the classes that occur among the true labels or in any model's predictions."""
    columns = {"y_true": _check.check_column("y_true", y_true)}
    columns.update({str(name): _check.check_column(str(name), y) for name, y in models.items()})
    classes, _ = _check.encode_labels(None, None, **columns)
    return list(classes.names.tolist())
