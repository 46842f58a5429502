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
from fairtrial.measures.intervals import Bound, Interval, Plan, intervals_of
from fairtrial.measures.measure import Measure, get_measure, registry
from fairtrial.measures.multiclass import hand_till

if TYPE_CHECKING:
    import pandas as pd

_COLUMN = {"labels": "y_pred", "values": "y_pred", "scores": "y_score", "probabilities": "y_score"}

_KINDS = ("labels", "scores", "probabilities")


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Measures of one model with their intervals; `notes` say what was left out or assumed, and why."""

    intervals: tuple[Interval, ...]
    rows: int
    notes: tuple[str, ...] = ()
    about: str = ""

    def __getitem__(self, name: str) -> Interval:
        canonical = get_measure(name).name
        for one in self.intervals:
            if one.measure == canonical:
                return one
        raise InputError(f"{name} was not evaluated: name it in measures=, and pass what it needs")

    def frame(self) -> pd.DataFrame:
        """A line for each measure: estimate, limits, how they were found, and the measure's facts."""
        import pandas as pd

        lines = []
        for one in self.intervals:
            facts = registry[one.measure].facts
            lines.append(
                {
                    "measure": one.measure,
                    "estimate": one.estimate,
                    "low": one.low,
                    "high": one.high,
                    "method": one.method,
                    "better": "higher" if facts.direction == "max" else "lower",
                    "chance": np.nan if facts.chance is None else facts.chance,
                    "note": one.note,
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
    _check.one_of("interval", interval, ("auto", "bca", "percentile", None))
    _check.between("level", level, 0, 1)
    if y_pred is None and y_score is None:
        raise InputError("y_pred or y_score must be given, got neither")
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    given = _Given(y_true, y_pred, y_score, options)
    bound = [Bound(each, given.rows_for(each), _params(each, average)) for each in _chosen(measures, given)]
    if not bound:
        raise InputError("measures must name at least one measure")
    plan = Plan(interval or "auto", level, resamples, seed, stratified)
    with warnings.catch_warnings():
        # One summary for the whole table instead of a warning for each line.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = intervals_of(bound, plan) if interval else [_without_limits(one, level) for one in bound]
    undefined = [one.measure for one in found if np.isnan(one.estimate)]
    if undefined:
        warnings.warn(f"undefined here and given as NaN: {', '.join(undefined)}", UndefinedMeasureWarning, stacklevel=2)
    rows = bound[0].rows
    return Evaluation(tuple(found), len(rows.true), tuple(given.notes), _about(rows, average, level if interval else None))


class _Given:
    """The columns as given, the rows made of them once per need, and what had to be said about them."""

    def __init__(self, y_true: Any, y_pred: Any, y_score: Any, options: dict[str, Any]) -> None:
        self.y_true, self.options = y_true, options
        self.columns = {"y_pred": y_pred, "y_score": y_score}
        self.notes: list[str] = []
        self._rows: dict[str, Any] = {}
        self._not_probabilities = self._why_not_probabilities()
        if y_pred is None and not self._not_probabilities:
            self._labels_from_probabilities()

    def has(self, needs: str) -> bool:
        """Whether measures with these needs can be computed."""
        if self.columns.get(_COLUMN.get(needs, "")) is None:
            return False
        return needs != "probabilities" or not self._not_probabilities

    def why_not(self, needs: str) -> str:
        """The reason why they cannot."""
        if needs == "probabilities" and self.columns["y_score"] is not None:
            return f"y_score does not hold probabilities ({self._not_probabilities})"
        if needs == "results":
            return "it is computed from results of other measures; call it on these"
        return f"{_COLUMN[needs]} is not given"

    def classes(self) -> int:
        """Number of classes in the truth."""
        classes, _ = _check.encode(self.options["labels"], None, y_true=_check.column("y_true", self.y_true))
        return len(classes)

    def rows_for(self, measure: Measure) -> Any:
        """Checked rows, shared by all measures with the same needs."""
        needs = measure.facts.needs
        if needs not in self._rows:
            self._rows[needs] = measure.rows(self.y_true, self.columns[_COLUMN[needs]], **self.options)
        return self._rows[needs]

    def _why_not_probabilities(self) -> str:
        if self.columns["y_score"] is None:
            return "none are given"
        try:
            self._rows["probabilities"] = registry["brier"].rows(self.y_true, self.columns["y_score"], **self.options)
        except InputError as error:
            registry["auc"].rows(self.y_true, self.columns["y_score"], **self.options)
            return str(error)
        return ""

    def _labels_from_probabilities(self) -> None:
        rows = registry["auc"].rows(self.y_true, self.columns["y_score"], **self.options)
        if rows.scores.ndim == 2:
            picked = rows.scores.argmax(axis=1)
            self.notes.append("labels are the most likely class of each row")
        elif len(rows.classes) == 2:
            wanted = 0 if rows.classes.positive == 0 else 1
            picked = np.where(rows.scores > 0.5, wanted, 1 - wanted)
            self.notes.append("labels are those more likely than not")
        else:
            return
        self.columns["y_pred"] = rows.classes.names[picked]


def _about(rows: Any, average: str, level: float | None) -> str:
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


def _chosen(measures: str | Measure | Iterable[str | Measure], given: _Given) -> list[Measure]:
    if isinstance(measures, str) and measures == "all":
        possible = [needs for needs in _KINDS if given.has(needs)]
        for needs in _KINDS:
            if needs not in possible:
                given.notes.append(f"measures of {needs} are left out: {given.why_not(needs)}")
        wanted = [each for needs in possible for each in registry.values() if each.facts.needs == needs]
        return wanted if given.classes() > 2 else [each for each in wanted if each is not hand_till]  # it is AUC for two
    if not isinstance(measures, (str, Measure, Iterable)):
        raise InputError(f"measures must be 'all', a measure or a list of them, got {measures!r}")
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    chosen = [get_measure(each) for each in listed]
    for each in chosen:
        if not given.has(each.facts.needs):
            raise InputError(f"{each.name} must have {each.facts.needs}: {given.why_not(each.facts.needs)}")
    return chosen


def _params(measure: Measure, average: Any) -> dict[str, Any]:
    """The average where the measure knows it, else its only one."""
    if average is None:
        raise InputError("average must give one number for each line, got None: choose 'macro', 'weighted' or positive=")
    _check.one_of("average", average, ("auto", "binary", "macro", "weighted", "micro"))
    return {"average": average if average in measure.averages else "auto"}


def _without_limits(one: Bound, level: float) -> Interval:
    return Interval(one.measure.name, one.estimate(), float("nan"), float("nan"), level, "")
