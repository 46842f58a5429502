"""What a measure is: a formula over a sufficient statistic, with facts attached.

The formula is all that is written for one measure. Checking, averaging over classes, batches, resamples, warnings and scorers
are the same for all and live here.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._registry import Registry, suggest_name
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.confusion import Cells, Confusion
from fairtrial.measures.rows import DrawCounts, LabelRows, ProbabilityRows, ScoreRows, ValueRows
from fairtrial.measures.tally import ScoreTally

if TYPE_CHECKING:
    from fairtrial.measures.scorer import MeasureScorer

Needs = Literal["labels", "scores", "probabilities", "values", "results"]
Direction = Literal["max", "min"]
Average = Literal["auto", "binary", "macro", "weighted", "micro"] | None
Rows = LabelRows | ScoreRows | ProbabilityRows | ValueRows


@dataclass(frozen=True)
class MeasureFacts:
    """What is known of a measure besides its formula."""

    name: str
    needs: Needs
    direction: Direction
    range: tuple[float, float]
    chance: float | None
    cite: str
    summary: str
    aliases: tuple[str, ...] = ()
    per_class: bool = False
    proportion: bool = False
    rank_based: bool = False
    undefined: str = "a denominator is zero"
    averages: tuple[Average, ...] = ()


registry: Registry[Measure] = Registry("measure", group="fairtrial.measures")


class Measure:
    """A measure: call it on columns, or use `of` on a statistic; `facts` tells its direction, range and reference.

    Subclasses say how columns become rows (`rows`) and how rows give values (`values`).
    """

    averages: tuple[Average, ...] = ("auto",)

    def __init__(self, formula: Callable[..., Any], facts: MeasureFacts) -> None:
        functools.update_wrapper(self, formula)
        self.formula = formula
        self.facts = replace(facts, averages=self.averages)
        self.name = facts.name
        formula_parameters = [
            p for p in inspect.signature(formula).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        call = [p for p in inspect.signature(type(self).__call__).parameters.values() if p.name not in ("self", "params")]
        if type(self) is not Measure:
            self.__signature__ = inspect.Signature([*call, *formula_parameters])

    def __call__(self, *args: Any, **params: Any) -> Any:
        """The value; NaN with a warning where it is undefined."""
        return self._unwrap_value(np.asarray(self.formula(*args, **params)))

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> Any:
        """Checked rows of two columns."""
        raise InputError(f"{self.name} is computed from results of other measures, not from columns of predictions")

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Value for each resample in `draw_counts` (R x n), or for the rows: shape (R,), or (R, k) without average."""
        raise InputError(f"{self.name} is computed from results of other measures, not from rows")

    def check(self, average: Average, params: Mapping[str, Any]) -> None:
        """Whether the measure knows this average and these parameters."""
        _check.check_one_of("average", average, self.averages)
        known_names = [
            p.name for p in inspect.signature(self.formula).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        for name in params:
            if name not in known_names:
                hint = suggest_name(name, [*known_names, "positive", "labels", "average", "sample_weight"])
                raise InputError(f"{self.name} has no parameter {name!r}: {hint}")

    def scorer(self, **options: Any) -> MeasureScorer:
        """A scorer for scikit-learn's `cross_validate`, `GridSearchCV` and the like; smaller-is-better is negated."""
        from fairtrial.measures.scorer import MeasureScorer

        formula_params = {
            name: value for name, value in options.items() if name not in ("positive", "labels", "average", "sample_weight")
        }
        self.check(options.get("average", "auto"), formula_params)
        return MeasureScorer(self, options)

    def is_better(self, first: float, second: float) -> bool:
        """Whether `first` is better than `second`."""
        return first > second if self.facts.direction == "max" else first < second

    def __repr__(self) -> str:
        return f"<measure {self.name}: {self.facts.summary}>"

    def __reduce__(self) -> str:
        return str(self.formula.__qualname__)

    def warn_undefined(self, value: FloatArray, stacklevel: int = 3) -> None:
        """Warn if a value is NaN."""
        undefined = int(np.isnan(value).sum())
        if undefined:
            where = "" if value.ndim == 0 else f" for {undefined} of {value.size} values"
            warnings.warn(
                f"{self.name} is undefined{where}: {self.facts.undefined}; NaN is returned",
                UndefinedMeasureWarning,
                stacklevel=stacklevel,
            )

    def _unwrap_value(self, value: FloatArray, stacklevel: int = 4) -> Any:
        self.warn_undefined(value, stacklevel)
        return float(value) if value.ndim == 0 else value

    def _estimate(self, rows: Any, average: Average, params: dict[str, Any]) -> Any:
        self.check(average, params)
        return self._unwrap_value(self.compute_values(rows, average=average, **params)[0], stacklevel=5)


class LabelMeasure(Measure):
    """A measure of predicted labels: a formula over the Confusion, or over the Cells of each class."""

    def __init__(self, formula: Callable[..., Any], facts: MeasureFacts) -> None:
        self.averages = ("auto", "binary", "macro", "weighted", "micro", None) if facts.per_class else ("auto",)
        super().__init__(formula, facts)

    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Sequence[Any] | None = None,
        average: Average = "auto",
        sample_weight: npt.ArrayLike | None = None,
        **params: Any,
    ) -> Any:
        """The value for two columns of labels."""
        rows = self.read_rows(y_true, y_pred, positive=positive, labels=labels, sample_weight=sample_weight)
        return self._estimate(rows, average, params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> LabelRows:
        """Checked rows of two columns."""
        return LabelRows.read(y_true, y, **options)

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Value for each resample, or for the rows themselves."""
        table = rows.confusion(draw_counts)
        value = self._compute_value(table, average, params)
        return value[None] if draw_counts is None else value

    def of(self, table: Confusion, *, average: Average = "auto", **params: Any) -> Any:
        """The value of a table, or of each table of a batch."""
        self.check(average, params)
        _check_kind(self, table, Confusion)
        return self._unwrap_value(self._compute_value(table, average, params))

    def count_successes(self, rows: LabelRows, average: Average = "auto", **params: Any) -> tuple[float, float]:
        """Numerator and denominator of a proportion."""
        numerator, denominator = self.formula(self._select_operand(rows.confusion(), average), **params)
        return float(numerator), float(denominator)

    def _compute_value(self, table: Confusion, average: Average, params: dict[str, Any]) -> FloatArray:
        value = self.formula(self._select_operand(table, average), **params)
        if self.facts.proportion:
            value = compute_ratio(*value)
        if self.facts.per_class and average is None:
            return np.asarray(value)
        if self.facts.per_class and self._is_averaged(table, average):
            return average_over_classes(value, table.true, average)
        return np.asarray(value)

    def _select_operand(self, table: Confusion, average: Average) -> Confusion | Cells:
        if not self.facts.per_class:
            return table
        cells = table.cells
        if average == "micro":
            return Cells(*(cell.sum(axis=-1) for cell in cells))
        if average is None or self._is_averaged(table, average):
            return cells
        if table.positive is None:
            raise InputError(
                f"positive must be named for {self.name} when the classes are {list(table.labels)}: "
                "pass positive=, labels=, or average='macro'"
            )
        return Cells(*(cell[..., table.positive] for cell in cells))

    @staticmethod
    def _is_averaged(table: Confusion, average: Average) -> bool:
        return average in ("macro", "weighted") or (average == "auto" and table.positive is None and len(table.labels) > 2)


class ScoreMeasure(Measure):
    """A measure of scores: a formula over ScoreTally."""

    averages: tuple[Average, ...] = ("auto", "binary", "macro", "weighted", None)

    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_score: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Sequence[Any] | None = None,
        average: Average = "auto",
        sample_weight: npt.ArrayLike | None = None,
        **params: Any,
    ) -> Any:
        """The value for a column of labels and a column of scores (or a column for each class)."""
        rows = self.read_rows(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
        return self._estimate(rows, average, params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> ScoreRows:
        """Checked rows of two columns."""
        return ScoreRows.read(y_true, y, **options)

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Value for each resample, or for the rows themselves."""
        if average == "auto":
            binary = rows.classes.positive is not None or len(rows.classes) < 2
            average = "binary" if binary else "macro"
        ranked_rows = (rows.binary,) if average == "binary" else rows.one_vs_rest
        tallies = [class_rows.tally if draw_counts is None else class_rows.redraw(draw_counts) for class_rows in ranked_rows]
        values = [np.atleast_1d(self.formula(tally, **params)) for tally in tallies]
        if average == "binary":
            return values[0]
        return average_over_classes(np.stack(values, axis=-1), rows.support(draw_counts), average)

    def of(self, tally: ScoreTally, **params: Any) -> Any:
        """The value of a tally, or of each tally of a batch."""
        _check_kind(self, tally, ScoreTally)
        self.check("auto", params)
        return self._unwrap_value(np.asarray(self.formula(tally, **params)))


class MultiScoreMeasure(ScoreMeasure):
    """A measure of scores whose formula sees all rows, because it combines classes in its own way."""

    averages = ("auto",)

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Value for each resample, or for the rows themselves."""
        del average
        return np.atleast_1d(self.formula(rows, draw_counts, **params))


class RowMeasure(Measure):
    """A measure that is a running sum over rows."""

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Value for each resample, or for the rows themselves."""
        del average
        rows = rows if draw_counts is None else replace(rows, weights=rows.redraw(draw_counts))
        return np.atleast_1d(self.formula(rows, **params))

    def of(self, rows: Any, **params: Any) -> Any:
        """The value of rows that were read before."""
        _check_kind(self, rows, ProbabilityRows if self.facts.needs == "probabilities" else ValueRows)
        return self._unwrap_value(self.compute_values(rows, **params)[0])


class ProbabilityMeasure(RowMeasure):
    """A measure of class probabilities: a formula over ProbabilityRows."""

    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_prob: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Sequence[Any] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        **params: Any,
    ) -> Any:
        """The value for a column of labels and probabilities of the positive class, or of every class."""
        rows = self.read_rows(y_true, y_prob, positive=positive, labels=labels, sample_weight=sample_weight)
        return self._estimate(rows, "auto", params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> ProbabilityRows:
        """Checked rows of two columns."""
        return ProbabilityRows.read(y_true, y, **options)


class ValueMeasure(RowMeasure):
    """A measure of predicted numbers: a formula over ValueRows."""

    def __call__(
        self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None, **params: Any
    ) -> Any:
        """The value for two columns of numbers."""
        return self._estimate(self.read_rows(y_true, y_pred, sample_weight=sample_weight), "auto", params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> ValueRows:
        """Checked rows of two columns."""
        return ValueRows.read(y_true, y, sample_weight=options.get("sample_weight"))


_MEASURE_CLASSES: dict[str, type[Measure]] = {
    "labels": LabelMeasure,
    "scores": ScoreMeasure,
    "class scores": MultiScoreMeasure,
    "probabilities": ProbabilityMeasure,
    "values": ValueMeasure,
    "results": Measure,
}


def measure(
    *,
    needs: Literal["labels", "scores", "class scores", "probabilities", "values", "results"],
    direction: Direction,
    range: tuple[float, float],  # noqa: A002  the word of STYLE.md for this fact
    cite: str,
    chance: float | None = None,
    name: str | None = None,
    **facts: Any,
) -> Callable[[Callable[..., Any]], Measure]:
    """Make a measure of a formula and register it.

    What the formula takes depends on `needs`: the Confusion (or, with `per_class=True`, the Cells of each class), the
    ScoreTally, the ProbabilityRows, the ValueRows, or, for "results", whatever it likes. With `proportion=True` it returns
    numerator and denominator, which also gives the measure Wilson and Clopper-Pearson intervals. `chance` is the value of
    guessing in a two-class problem, None where it depends on the class shares.
    """

    _check.check_one_of("needs", needs, _MEASURE_CLASSES)
    _check.check_one_of("direction", direction, ("max", "min"))

    def register(formula: Callable[..., Any]) -> Measure:
        measure_facts = MeasureFacts(
            name=name or formula.__name__,
            needs="scores" if needs == "class scores" else needs,
            direction=direction,
            range=range,
            chance=chance,
            cite=cite,
            summary=(inspect.getdoc(formula) or "").split("\n")[0].rstrip("."),
            **facts,
        )
        new_measure = _MEASURE_CLASSES[needs](formula, measure_facts)
        registry.add(measure_facts.name, new_measure, aliases=measure_facts.aliases)
        return new_measure

    return register


def _check_kind(measure: Measure, statistic: object, kind: type) -> None:
    if not isinstance(statistic, kind):
        raise InputError(f"{measure.name}.of must have a {kind.__name__}, got {type(statistic).__name__}")


def average_over_classes(values: FloatArray, support: FloatArray, average: Average) -> FloatArray:
    """Average over the last axis; None keeps it. A class without a value leaves the average without one."""
    if average is None:
        return values
    if average == "weighted":
        weighted = np.where(support > 0, values * support, 0.0)
        return compute_ratio(weighted.sum(axis=-1), support.sum(axis=-1))
    return np.asarray(values.mean(axis=-1))


def get_measure(measure: str | Measure) -> Measure:
    """A measure by name; a measure is returned as it is."""
    return measure if isinstance(measure, Measure) else registry[measure]
