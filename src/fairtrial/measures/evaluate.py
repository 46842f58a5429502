"""All measures of one model in one table."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import intervals, ranking
from fairtrial.measures.intervals import BoundMeasure, Interval, IntervalPlan
from fairtrial.measures.measure import Measure, get_measure, registry

if TYPE_CHECKING:
    import pandas as pd

_COLUMN = {"labels": "y_pred", "values": "y_pred", "scores": "y_score", "probabilities": "y_score"}

_INPUT_KINDS = ("labels", "scores", "probabilities")


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Measures of one model with their intervals; `notes` say what was left out or assumed, and why."""

    intervals: tuple[Interval, ...]
    rows: int
    notes: tuple[str, ...] = ()
    about: str = ""

    def __getitem__(self, name: str) -> Interval:
        canonical = get_measure(name).name
        for interval in self.intervals:
            if interval.measure == canonical:
                return interval
        raise InputError(f"{name} was not evaluated: name it in measures=, and pass what it needs")

    def frame(self) -> pd.DataFrame:
        """A line for each measure: estimate, limits, how they were found, and the measure's facts."""
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
                    "better": "higher" if facts.direction == "max" else "lower",
                    "chance": np.nan if facts.chance is None else facts.chance,
                    "note": interval.note,
                }
            )
        return pd.DataFrame(lines).set_index("measure")

    def __str__(self) -> str:
        frame = self.frame()
        level = f"{100 * self.intervals[0].level:g} %" if self.intervals else ""
        width = max([len(name) for name in frame.index] + [7])
        lines = [f"{'measure':{width}}  {'estimate':>9}  {level + ' interval':^19}  {'better':6}  method"]
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
        return self.frame().to_html(float_format="{:.4f}".format, na_rep="") + notes


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
) -> Evaluation:
    """The whole table of one model: every measure that its predictions allow, with an interval each.

    `y_pred` are labels; `y_score` are scores or probabilities of the positive class, or a column for each class. Measures of
    probabilities are given when the scores are probabilities. Without `y_pred`, labels are read off probabilities (the most
    likely class), and the notes say so. `interval`: "auto" (see `fairtrial.measures.interval`), "bca", "percentile", or None,
    which is immediate: all intervals of 100,000 rows take some twenty seconds.

    >>> y = [0, 0, 1, 1, 0, 1, 1, 0]
    >>> print(evaluate(y, y_score=[0.1, 0.3, 0.7, 0.9, 0.2, 0.4, 0.8, 0.5], measures=["accuracy", "auc", "brier"], seed=1))
    measure    estimate     95 % interval     better  method
    accuracy     0.8750     0.5291    0.9776  higher  wilson
    auc          0.9375     0.5133    0.9946  higher  newcombe
    brier        0.1112     0.0475    0.2188  lower   bca
    8 rows, positive class 1, 95 % intervals
    labels are those more likely than not
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
        raise InputError("measures must name at least one measure")
    plan = IntervalPlan(interval or "auto", level, resamples, seed, stratified)
    with warnings.catch_warnings():
        # One summary for the whole table instead of a warning for each line.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        results = (
            intervals.compute_intervals(bound_measures, plan)
            if interval
            else [_build_point_estimate(bound_measure, level) for bound_measure in bound_measures]
        )
    undefined = [result.measure for result in results if np.isnan(result.estimate)]
    if undefined:
        warnings.warn(f"undefined here and given as NaN: {', '.join(undefined)}", UndefinedMeasureWarning, stacklevel=2)
    rows = bound_measures[0].rows
    return Evaluation(
        tuple(results), len(rows.true), tuple(inputs.notes), _describe_table(rows, average, level if interval else None)
    )


class _EvaluationInput:
    """The columns as given, the rows made of them once per need, and what had to be said about them."""

    def __init__(self, y_true: Any, y_pred: Any, y_score: Any, options: dict[str, Any]) -> None:
        self.y_true, self.options = y_true, options
        self.columns = {"y_pred": y_pred, "y_score": y_score}
        self.notes: list[str] = []
        self._rows: dict[str, Any] = {}
        self._not_probabilities = self._explain_not_probabilities()
        if y_pred is None and not self._not_probabilities:
            self._derive_labels()

    def has_input(self, needs: str) -> bool:
        """Whether measures with these needs can be computed."""
        if self.columns.get(_COLUMN.get(needs, "")) is None:
            return False
        return needs != "probabilities" or not self._not_probabilities

    def explain_missing(self, needs: str) -> str:
        """The reason why they cannot."""
        if needs == "probabilities" and self.columns["y_score"] is not None:
            return f"y_score does not hold probabilities ({self._not_probabilities})"
        if needs == "results":
            return "it is computed from results of other measures; call it on these"
        return f"{_COLUMN[needs]} is not given"

    def count_classes(self) -> int:
        """Number of classes in the truth."""
        classes, _ = _check.encode_labels(self.options["labels"], None, y_true=_check.check_column("y_true", self.y_true))
        return len(classes)

    def get_rows(self, measure: Measure) -> Any:
        """Checked rows, shared by all measures with the same needs."""
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
            self.notes.append("labels are the most likely class of each row")
        elif len(rows.classes) == 2:
            positive_code = 0 if rows.classes.positive == 0 else 1
            predicted_codes = np.where(rows.scores > 0.5, positive_code, 1 - positive_code)
            self.notes.append("labels are those more likely than not")
        else:
            return
        self.columns["y_pred"] = rows.classes.names[predicted_codes]


def _describe_table(rows: Any, average: str, level: float | None) -> str:
    """What the table is about: rows, classes and how they are averaged, level of the intervals."""
    parts = [f"{len(rows.true)} rows"]
    classes = getattr(rows, "classes", None)
    if classes is not None and classes.positive is not None:
        parts.append(f"positive class {classes.names[classes.positive]!s}")
    elif classes is not None and len(classes) > 2:
        parts.append(f"{len(classes)} classes, {'macro' if average == 'auto' else average} average")
    if level is not None:
        parts.append(f"{100 * level:g} % intervals")
    return ", ".join(parts)


def _select_measures(measures: str | Measure | Iterable[str | Measure], inputs: _EvaluationInput) -> list[Measure]:
    if isinstance(measures, str) and measures == "all":
        possible = [needs for needs in _INPUT_KINDS if inputs.has_input(needs)]
        for needs in _INPUT_KINDS:
            if needs not in possible:
                inputs.notes.append(f"measures of {needs} are left out: {inputs.explain_missing(needs)}")
        possible_measures = [measure for needs in possible for measure in registry.values() if measure.facts.needs == needs]
        return (
            possible_measures
            if inputs.count_classes() > 2
            else [measure for measure in possible_measures if measure is not ranking.hand_till]
        )  # it is AUC for two
    if not isinstance(measures, (str, Measure, Iterable)):
        raise InputError(f"measures must be 'all', a measure or a list of them, got {measures!r}")
    measure_list = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    selected_measures = [get_measure(item) for item in measure_list]
    for measure in selected_measures:
        if not inputs.has_input(measure.facts.needs):
            raise InputError(f"{measure.name} must have {measure.facts.needs}: {inputs.explain_missing(measure.facts.needs)}")
    return selected_measures


def _build_params(measure: Measure, average: Any) -> dict[str, Any]:
    """The average where the measure knows it, else its only one."""
    if average is None:
        raise InputError("average must give one number for each line, got None: choose 'macro', 'weighted' or positive=")
    _check.check_one_of("average", average, ("auto", "binary", "macro", "weighted", "micro"))
    return {"average": average if average in measure.averages else "auto"}


def _build_point_estimate(bound_measure: BoundMeasure, level: float) -> Interval:
    return Interval(bound_measure.measure.name, bound_measure.estimate(), float("nan"), float("nan"), level, "")
