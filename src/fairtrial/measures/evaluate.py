"""Evaluate one model on many measures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._text import format_count, format_html_table, format_percentage, join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import intervals, ranking
from fairtrial.measures.intervals import BoundMeasure, Interval, IntervalPlan
from fairtrial.measures.measure import Measure, get_measure, registry

if TYPE_CHECKING:
    import pandas as pd

_COLUMN = {"labels": "y_pred", "values": "y_pred", "scores": "y_score", "probabilities": "y_score"}

_INPUT_KINDS = ("labels", "scores", "probabilities")

# With two classes or one column of scores, Hand and Till's M equals the AUC, and top-k accuracy is undefined.
_MORE_CLASSES = (ranking.hand_till, ranking.top_k_accuracy)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Values of many measures for one model, with confidence intervals.

    Attributes
    ----------
    intervals : tuple of Interval
        Estimate and confidence limits of each measure.
    rows : int
        Number of rows.
    notes : tuple of str
        Assumptions, and reasons for omitting measures.
    about : str
        One-line description of the rows, classes and confidence level.
    n_classes : int
        Number of classes. Some chance levels depend on it.

    Examples
    --------
    >>> evaluation = evaluate([0, 1, 1, 0], [0, 1, 0, 0], measures=["accuracy", "recall"])
    >>> evaluation["accuracy"].estimate, evaluation["recall"].estimate
    (0.75, 0.5)
    """

    intervals: tuple[Interval, ...]
    rows: int
    notes: tuple[str, ...] = ()
    about: str = ""
    n_classes: int = 2

    def __getitem__(self, name: str) -> Interval:
        canonical = get_measure(name).name
        for interval in self.intervals:
            if interval.measure == canonical:
                return interval
        raise InputError(f"measures must include {name}: it was not evaluated")

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per measure.

        The columns contain the estimate, the confidence limits, the method, the direction, the chance level and a note.
        """
        import pandas as pd

        lines = []
        for interval in self.intervals:
            facts = registry[interval.measure].facts
            lines.append(
                {
                    "measure": interval.measure,
                    "estimate": interval.estimate,
                    "low": interval.low,
                    "high": interval.high,
                    "method": interval.method,
                    "better": facts.better,
                    "chance": facts.get_chance(self.n_classes),
                    "note": interval.note,
                }
            )
        return pd.DataFrame(lines).set_index("measure")

    def __str__(self) -> str:
        frame = self.frame()
        level = format_percentage(self.intervals[0].level) if self.intervals else ""
        width = max([len(name) for name in frame.index] + [7])
        lines = [f"{'measure':{width}}  {'estimate':>9}  {level + ' CI':^19}  {'better':6}  method"]
        for name, line in frame.iterrows():
            limits = "" if np.isnan(line["low"]) else f"{line['low']:9.4f} {line['high']:9.4f}"
            note = "" if not line["note"] else f" ({line['note']})"
            lines.append(
                f"{name:{width}}  {line['estimate']:9.4f}  {limits:19}  {line['better']:6}  {line['method']}{note}".rstrip()
            )
        return "\n".join([*lines, self.about, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in (self.about, *self.notes))
        return format_html_table(self.frame(), index=True) + notes


def evaluate(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike | None = None,
    y_score: npt.ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = "all",
    *,
    interval: str | None = "auto",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    stratified: bool = False,
    positive: object = None,
    labels: Any = None,
    average: Any = "auto",
    sample_weight: npt.ArrayLike | None = None,
    cluster: npt.ArrayLike | None = None,
) -> Evaluation:
    """Compute all measures that a model's predictions allow, with confidence intervals.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,), optional
        Predicted labels. Default: the most probable class of each row, if `y_score` contains probabilities.
    y_score : array-like of shape (n,) or (n, k), optional
        Scores or probabilities of the positive class, or one column per class.
    measures : str, Measure or list of them, default "all"
        Measures to compute.
    interval : {"auto", "bca", "percentile"} or None, default "auto"
        Interval method, as in `interval`. If it is None, no intervals are computed, which is much faster.
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
    average : {"auto", "binary", "macro", "weighted", "micro"}, default "auto"
        Averaging over classes, for measures that are computed per class.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> y = [0, 0, 1, 1, 0, 1, 1, 0]
    >>> print(evaluate(y, y_score=[0.1, 0.3, 0.7, 0.9, 0.2, 0.4, 0.8, 0.45], measures=["accuracy", "auc", "brier"], seed=1))
    measure    estimate        95 % CI        better  method
    accuracy     0.8750     0.5291    0.9776  higher  wilson
    auc          0.9375     0.4447    0.9965  higher  score
    brier        0.1053     0.0478    0.2133  lower   bca
    8 rows, positive class 1, 95 % confidence intervals
    predicted labels: the positive class if its probability is at least 0.5
    """
    _check.check_one_of("interval", interval, ("auto", "bca", "percentile", None))
    _check.check_between("level", level, 0, 1)
    if y_pred is None and y_score is None:
        raise InputError("y_pred or y_score must be given, got neither")
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    inputs = _EvaluationInput(y_true, y_pred, y_score, options)
    bound_measures = [
        BoundMeasure(measure, inputs.get_rows(measure), _build_params(measure, average))
        for measure in _select_measures(measures, inputs)
    ]
    if not bound_measures:
        raise InputError("measures must contain at least 1 measure, got 0")
    clusters = intervals.read_clusters(cluster, sample_weight, stratified)
    plan = IntervalPlan(interval or "auto", level, resamples, seed, stratified, clusters)
    with warnings.catch_warnings():
        # Issue one warning for the whole table instead of one per measure.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        results = (
            intervals.compute_intervals(bound_measures, plan)
            if interval
            else [_build_point_estimate(bound_measure, level) for bound_measure in bound_measures]
        )
    undefined = [result.measure for result in results if np.isnan(result.estimate)]
    if undefined:
        verb = "is" if len(undefined) == 1 else "are"
        warnings.warn(f"{join_names(undefined, None)} {verb} undefined (NaN)", UndefinedMeasureWarning, stacklevel=2)
    rows = bound_measures[0].rows
    about = _describe_table(rows, average, level if interval else None)
    classes = getattr(rows, "classes", None)
    n_classes = 2 if classes is None else len(classes)
    return Evaluation(tuple(results), len(rows.true), tuple(inputs.notes), about, n_classes)


class _EvaluationInput:
    """The input columns and the notes, with the checked rows for each kind of input."""

    def __init__(self, y_true: Any, y_pred: Any, y_score: Any, options: dict[str, Any]) -> None:
        self.y_true, self.options = y_true, options
        self.columns = {"y_pred": y_pred, "y_score": y_score}
        self.notes: list[str] = []
        self._rows: dict[str, Any] = {}
        self._not_probabilities = self._explain_not_probabilities()
        if y_pred is None and not self._not_probabilities:
            self._derive_labels()

    def has_input(self, needs: str) -> bool:
        """Return whether measures that need this input can be computed."""
        if self.columns.get(_COLUMN.get(needs, "")) is None:
            return False
        return needs != "probabilities" or not self._not_probabilities

    def explain_missing(self, needs: str) -> str:
        if needs == "probabilities" and self.columns["y_score"] is not None:
            return f"y_score does not contain probabilities ({self._not_probabilities})"
        if needs == "results":
            return "call it with the values of other measures"
        return f"pass {_COLUMN[needs]}="

    def count_classes(self) -> int:
        classes, _ = _check.encode_labels(self.options["labels"], None, y_true=_check.check_column("y_true", self.y_true))
        return len(classes)

    def get_rows(self, measure: Measure) -> Any:
        """Return the checked rows, which all measures with the same kind of input share."""
        needs = measure.facts.needs
        if needs not in self._rows:
            self._rows[needs] = measure.read_rows(self.y_true, self.columns[_COLUMN[needs]], **self.options)
        return self._rows[needs]

    def _explain_not_probabilities(self) -> str:
        if self.columns["y_score"] is None:
            return "none are given"
        try:
            self._rows["probabilities"] = registry["brier"].read_rows(self.y_true, self.columns["y_score"], **self.options)
        except InputError as error:
            registry["auc"].read_rows(self.y_true, self.columns["y_score"], **self.options)
            return str(error)
        return ""

    def _derive_labels(self) -> None:
        rows = registry["auc"].read_rows(self.y_true, self.columns["y_score"], **self.options)
        if rows.scores.ndim == 2:
            predicted_codes = rows.scores.argmax(axis=1)
            self.notes.append("predicted labels: the most probable class of each row")
        elif len(rows.classes) == 2:
            positive_code = 0 if rows.classes.positive == 0 else 1
            predicted_codes = np.where(rows.scores >= 0.5, positive_code, 1 - positive_code)
            self.notes.append("predicted labels: the positive class if its probability is at least 0.5")
        else:
            return
        self.columns["y_pred"] = rows.classes.names[predicted_codes]


def _describe_table(rows: Any, average: str, level: float | None) -> str:
    """Describe the rows, classes, averaging method and confidence level in one line."""
    parts = [format_count(len(rows.true), "row")]
    classes = getattr(rows, "classes", None)
    if classes is not None and classes.positive is not None:
        parts.append(f"positive class {classes.names[classes.positive]!s}")
    elif classes is not None and len(classes) > 2:
        parts.append(f"{len(classes)} classes, {'macro' if average == 'auto' else average} average")
    if level is not None:
        parts.append(f"{format_percentage(level)} confidence intervals")
    return ", ".join(parts)


def _select_measures(measures: str | Measure | Iterable[str | Measure], inputs: _EvaluationInput) -> list[Measure]:
    if isinstance(measures, str) and measures == "all":
        possible = [needs for needs in _INPUT_KINDS if inputs.has_input(needs)]
        for needs in _INPUT_KINDS:
            if needs not in possible:
                inputs.notes.append(f"measures of {needs} are omitted: {inputs.explain_missing(needs)}")
        possible_measures = [measure for needs in possible for measure in registry.values() if measure.facts.needs == needs]
        return (
            possible_measures
            if inputs.count_classes() > 2 and np.ndim(inputs.columns["y_score"]) != 1
            else [measure for measure in possible_measures if measure not in _MORE_CLASSES]
        )
    if not isinstance(measures, (str, Measure, Iterable)):
        raise InputError(f"measures must be 'all', a measure or a list of them, got {measures!r}")
    measure_list = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    selected_measures = [get_measure(item) for item in measure_list]
    for measure in selected_measures:
        if not inputs.has_input(measure.facts.needs):
            raise InputError(f"{measure.name} needs {measure.facts.needs}: {inputs.explain_missing(measure.facts.needs)}")
    return selected_measures


def _build_params(measure: Measure, average: Any) -> dict[str, Any]:
    """Return the requested averaging method if the measure accepts it, and "auto" otherwise."""
    if average is None:
        raise InputError("average must not be None: pass average='macro', average='weighted' or positive=")
    _check.check_one_of("average", average, ("auto", "binary", "macro", "weighted", "micro"))
    return {"average": average if average in measure.averages else "auto"}


def _build_point_estimate(bound_measure: BoundMeasure, level: float) -> Interval:
    return Interval(bound_measure.measure.name, bound_measure.estimate(), float("nan"), float("nan"), level, "")
