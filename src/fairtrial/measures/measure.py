"""Base classes of measures.

A measure consists of a formula and metadata. The base classes check the input, average over classes, handle batches and
resamples, issue warnings, and build scorers and docstrings.
"""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

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
Direction = Literal["max", "min", "target", "none"]
Average = Literal["auto", "binary", "macro", "weighted", "micro"] | None
Rows = LabelRows | ScoreRows | ProbabilityRows | ValueRows


@dataclass(frozen=True)
class MeasureFacts:
    """Metadata of a measure.

    Attributes
    ----------
    name : str
        Identifier in the registry, in study files and on the command line.
    needs : {"labels", "scores", "probabilities", "values", "results"}
        Input of the measure: predicted labels, scores, probabilities, predicted numbers, or values of other measures.
    direction : {"max", "min", "target", "none"}
        Which values are better: higher ("max"), lower ("min"), closer to `target` ("target"), or neither ("none").
    range : tuple of float
        Smallest and largest possible values.
    chance : float or None
        Expected value under random guessing with two classes; None if this value depends on the class proportions.
    cite : str
        Reference, as in the bibliography.
    summary : str
        First line of the docstring.
    aliases : tuple of str
        Other names in the registry.
    per_class : bool
        Whether the measure has one value per class. These values can be averaged.
    proportion : bool
        Whether the measure is a proportion of rows. Proportions have Wilson intervals.
    rank_based : bool
        Whether only the order of the scores matters.
    undefined : str
        Condition under which the measure is undefined.
    averages : tuple
        Values that the argument `average` accepts.
    display_name : str
        Human-readable name, such as "AUC". Default: the name, with spaces instead of underscores.
    exceptions : tuple of str
        Rules of `fairtrial.testing.check_measure` that do not apply: "class order", "weight scale" or "perfect predictions".
    target : float or None
        Best value of a measure with the direction "target"; None for other measures.
    better : str
        Which values are better: "higher", "lower", "neither", or values near a target ("near 1").
    has_direction : bool
        Whether higher or lower values are better. If so, models can be ranked by the measure.

    Examples
    --------
    >>> from fairtrial.measures import auc
    >>> auc.facts.display_name, auc.facts.direction, auc.facts.range, auc.facts.chance
    ('AUC', 'max', (0, 1), 0.5)
    """

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

    @property
    def display_name(self) -> str:
        """The human-readable name."""
        return _DISPLAY_NAMES.get(self.name, self.name.replace("_", " "))

    @property
    def target(self) -> float | None:
        """The best value of a measure with the direction "target"; None for other measures."""
        return _TARGETS.get(self.name)

    @property
    def better(self) -> str:
        """Which values are better: "higher", "lower", "neither", or near a target ("near 1")."""
        return {"max": "higher", "min": "lower", "none": "neither"}.get(self.direction) or f"near {self.target:g}"

    @property
    def has_direction(self) -> bool:
        """Whether higher or lower values are better."""
        return self.direction in ("max", "min")

    @property
    def best_value(self) -> str:
        """A clause that explains why a measure without a direction cannot rank models."""
        if self.target is not None:
            return f"its best value is {self.target:g}"
        return "neither higher nor lower values are better"

    @property
    def exceptions(self) -> tuple[str, ...]:
        """The rules of `fairtrial.testing.check_measure` that do not apply to this measure."""
        return _EXCEPTIONS.get(self.name, ())

    def get_chance(self, n_classes: int) -> float:
        """Return the expected value under random guessing with `n_classes` classes.

        The result is NaN if this value depends on the class proportions.

        >>> from fairtrial.measures import balanced_accuracy
        >>> balanced_accuracy.facts.get_chance(4)
        0.25
        """
        if self.name in _CHANCE_PER_CLASS and n_classes > 1:
            return 1 / n_classes
        return float("nan") if self.chance is None else self.chance


# Measures whose chance level is 1 over the number of classes.
_CHANCE_PER_CLASS = frozenset({"balanced_accuracy"})

# These are not fields of MeasureFacts, because the fields of user-defined measures are part of the content keys of studies.
_DISPLAY_NAMES: dict[str, str] = {}
_TARGETS: dict[str, float] = {}
_EXCEPTIONS: dict[str, tuple[str, ...]] = {}

registry: Registry[Measure] = Registry("measure", group="fairtrial.measures")


class Measure:
    """A function of predictions, with metadata such as its direction and range.

    Call a measure with the true labels and the predictions of a model. The method `of` computes the measure from a sufficient
    statistic, e.g. from a confusion table. The attribute `facts` contains the metadata.

    Parameters
    ----------
    formula : callable
        Formula of the measure.
    facts : MeasureFacts
        Metadata of the measure.

    Examples
    --------
    >>> from fairtrial.measures import Confusion, accuracy, get_measure
    >>> accuracy([1, 1, 0, 0], [1, 0, 0, 0])
    0.75
    >>> accuracy.of(Confusion([[2, 0], [1, 1]]))
    0.75
    >>> get_measure("f1").display_name, get_measure("f1").facts.direction
    ('F1 score', 'max')
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

    @property
    def display_name(self) -> str:
        """The human-readable name, such as "AUC" or "F1 score"; `name` is the identifier."""
        return self.facts.display_name

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Compute the value. If it is undefined, return NaN and issue a warning."""
        return self._unwrap_value(np.asarray(self.formula(*args, **params)))

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> Any:
        """Check the true labels and the predictions and return them as rows.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels or values.
        y : array-like
            Predicted labels, scores, probabilities or values, depending on the measure.
        **options : Any
            The options `positive`, `labels` and `sample_weight`, as in a call to the measure.

        Returns
        -------
        rows
            Input of `compute_values`.
        """
        raise InputError(f"{self.name} is computed from values of other measures, not from columns of predictions")

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Compute the value for all rows, or for each resample of the rows.

        Parameters
        ----------
        rows : rows
            Result of `read_rows`.
        draw_counts : ndarray of shape (R, n), optional
            How often each row is drawn in each resample. Default: no resamples, so one value is computed from all rows.
        average : {"auto", "binary", "macro", "weighted", "micro"} or None, default "auto"
            Average over classes, as in a call to the measure.
        **params : Any
            Parameters of the formula.

        Returns
        -------
        ndarray of shape (R,), or (R, k) if `average` is None
        """
        raise InputError(f"{self.name} is computed from values of other measures, not from rows")

    def check(self, average: Average, params: Mapping[str, Any]) -> None:
        """Raise an InputError if the measure does not accept this average or these parameters.

        Parameters
        ----------
        average : str or None
            Average over classes.
        params : mapping of str to object
            Parameters of the formula, keyed by name.

        Raises
        ------
        InputError
            If the average or a parameter is unknown.
        """
        _check.check_one_of("average", average, self.averages)
        known_names = [
            p.name for p in inspect.signature(self.formula).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        for name in params:
            if name not in known_names:
                hint = suggest_name(name, [*known_names, "positive", "labels", "average", "sample_weight"])
                raise InputError(f"{self.name} has no parameter {name!r}: {hint}")

    def scorer(self, **options: Any) -> MeasureScorer:
        """Return a scorer for `cross_validate`, `GridSearchCV` and similar tools of scikit-learn.

        Parameters
        ----------
        **options : Any
            The options `positive`, `labels` and `average`, and the parameters of the measure.

        Returns
        -------
        MeasureScorer
            If lower values are better, the scorer negates them, because scikit-learn maximizes scores. If values near a target
            are better, the score is minus the distance from the target.
        """
        from fairtrial.measures.scorer import MeasureScorer

        if self.facts.direction == "none":
            raise InputError(f"a scorer needs a direction, but {self.name} has none: choose another measure")
        formula_params = {
            name: value for name, value in options.items() if name not in ("positive", "labels", "average", "sample_weight")
        }
        self.check(options.get("average", "auto"), formula_params)
        return MeasureScorer(self, options)

    def is_better(self, first: float, second: float) -> bool:
        """Return whether the value `first` is better than the value `second`.

        Parameters
        ----------
        first, second : float
            Values of the measure.

        Returns
        -------
        bool
        """
        if self.facts.target is not None:
            return abs(first - self.facts.target) < abs(second - self.facts.target)
        if self.facts.direction == "none":
            return False
        return first > second if self.facts.direction == "max" else first < second

    def __repr__(self) -> str:
        return f"<measure {self.name}: {self.facts.summary}>"

    def __reduce__(self) -> str:
        return str(self.formula.__qualname__)

    def warn_undefined(self, value: FloatArray, stacklevel: int = 3) -> None:
        """Warn if a value is NaN.

        Parameters
        ----------
        value : ndarray
            One or more values of the measure.
        stacklevel : int, default 3
            As in `warnings.warn`.
        """
        undefined = int(np.isnan(value).sum())
        if undefined:
            subset = "" if value.ndim == 0 else f" for {undefined} of {value.size} values"
            warnings.warn(
                f"{self.name} is undefined (NaN){subset} because {self.facts.undefined}",
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
    """A measure of predicted labels.

    The formula uses a `Confusion` or, if the measure has a value for each class, `Cells`.
    """

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
        """Compute the measure from true and predicted labels."""
        rows = self.read_rows(y_true, y_pred, positive=positive, labels=labels, sample_weight=sample_weight)
        return self._estimate(rows, average, params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> LabelRows:
        """Check true and predicted labels and return them as rows."""
        return LabelRows.read(y_true, y, **options)

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Compute the value for all rows, or for each resample of the rows."""
        table = rows.confusion(draw_counts)
        value = self._compute_value(table, average, params)
        return value[None] if draw_counts is None else value

    def of(self, table: Confusion, *, average: Average = "auto", **params: Any) -> Any:
        """Compute the measure from a confusion table, or from each table of a batch."""
        self.check(average, params)
        _check_kind(self, table, Confusion)
        return self._unwrap_value(self._compute_value(table, average, params))

    def count_successes(self, rows: LabelRows, average: Average = "auto", **params: Any) -> tuple[float, float]:
        """Return the numerator and the denominator of a proportion."""
        numerator, denominator = self.formula(self._select_operand(rows.confusion(), average), **params)
        return float(numerator), float(denominator)

    def count_table_successes(
        self, table: Confusion, average: Average = "auto", **params: Any
    ) -> tuple[FloatArray, FloatArray]:
        """Return the numerators and the denominators of a proportion for a batch of tables."""
        numerators, denominators = self.formula(self._select_operand(table, average), **params)
        return np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)

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
                f"positive must be given for {self.name} if the classes are {list(table.labels)}: "
                "pass positive=, labels= or average='macro'"
            )
        return Cells(*(cell[..., table.positive] for cell in cells))

    @staticmethod
    def _is_averaged(table: Confusion, average: Average) -> bool:
        return average in ("macro", "weighted") or (average == "auto" and table.positive is None and len(table.labels) > 2)


class ScoreMeasure(Measure):
    """A measure of scores. The formula uses a `ScoreTally`."""

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
        """Compute the measure from true labels and scores (one column, or one per class)."""
        rows = self.read_rows(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
        return self._estimate(rows, average, params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> ScoreRows:
        """Check true labels and scores and return them as rows."""
        return ScoreRows.read(y_true, y, **options)

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Compute the value for all rows, or for each resample of the rows."""
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
        """Compute the measure from a tally of scores, or from each tally of a batch."""
        _check_kind(self, tally, ScoreTally)
        self.check("auto", params)
        return self._unwrap_value(np.asarray(self.formula(tally, **params)))


class MultiScoreMeasure(ScoreMeasure):
    """A measure of scores whose formula uses the rows of all classes."""

    averages = ("auto",)

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Compute the value for all rows, or for each resample of the rows."""
        del average
        if not self.facts.proportion:
            return np.atleast_1d(self.formula(rows, draw_counts, **params))
        weights = np.ones(len(rows.true)) if rows.weights is None else rows.weights
        lines = weights[None] if draw_counts is None else draw_counts * weights
        return np.asarray(compute_ratio(lines @ self.formula(rows, **params), lines.sum(axis=1)))


class RowMeasure(Measure):
    """A measure whose formula uses rows and their weights."""

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Compute the value for all rows, or for each resample of the rows."""
        del average
        rows = rows if draw_counts is None else replace(rows, weights=rows.redraw(draw_counts))
        values = self.formula(rows, **params)
        return np.atleast_1d(rows.mean(values) if self.facts.proportion else values)

    def of(self, rows: Any, **params: Any) -> Any:
        """Compute the measure from rows returned by `read_rows`."""
        _check_kind(self, rows, ProbabilityRows if self.facts.needs == "probabilities" else ValueRows)
        return self._unwrap_value(self.compute_values(rows, **params)[0])


class ProbabilityMeasure(RowMeasure):
    """A measure of class probabilities. The formula uses `ProbabilityRows`."""

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
        """Compute the measure from true labels and probabilities (one column, or one per class)."""
        rows = self.read_rows(y_true, y_prob, positive=positive, labels=labels, sample_weight=sample_weight)
        return self._estimate(rows, "auto", params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> ProbabilityRows:
        """Check true labels and probabilities and return them as rows."""
        return ProbabilityRows.read(y_true, y, **options)


class SetMeasure(ProbabilityMeasure):
    """A measure of prediction sets.

    The input is one boolean column per class, or probabilities that are compared with a threshold.
    """

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> ProbabilityRows:
        """Check the true labels and the prediction sets or probabilities, and return them as rows."""
        array = np.asarray(y)
        if array.dtype.kind not in "biu" or (array.ndim == 1 and array.dtype != bool) or not np.isin(array, (0, 1)).all():
            return super().read_rows(y_true, y, **options)
        return ProbabilityRows.read_sets(y_true, y, **options)


LimitsFunction = Callable[..., tuple[float, float, str, str]]
"""Function that computes the limits, the method and a note from an `OutcomeSample`, a confidence level and parameters."""
_Limits = TypeVar("_Limits", bound=LimitsFunction)


class OutcomeMeasure(ProbabilityMeasure):
    """A measure that compares the probabilities of one class with the outcomes.

    By default, these are the probabilities of the positive class. If there are more than two classes and no positive class is
    given, they are the probabilities of each row's most probable class. The formula uses a `ScoreTally`. If `limits` is set,
    it computes confidence limits without resampling.
    """

    limits: LimitsFunction | None = None
    is_bootstrapped = True
    """Whether the bootstrap gives valid limits. If not, the function `limits` is used instead."""

    def compute_values(
        self, rows: Any, draw_counts: DrawCounts | None = None, *, average: Average = "auto", **params: Any
    ) -> FloatArray:
        """Compute the value for all rows, or for each resample of the rows."""
        del average
        ranked = rows.outcomes
        return np.atleast_1d(self.formula(ranked.tally if draw_counts is None else ranked.redraw(draw_counts), **params))

    def of(self, rows: Any, **params: Any) -> Any:
        """Compute the measure from rows returned by `read_rows`, or from a tally of probabilities."""
        if not isinstance(rows, ScoreTally):
            return super().of(rows, **params)
        self.check("auto", params)
        return self._unwrap_value(np.asarray(self.formula(rows, **params)))


class ValueMeasure(RowMeasure):
    """A measure of predicted numbers. The formula uses `ValueRows`."""

    def __call__(
        self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None, **params: Any
    ) -> Any:
        """Compute the measure from true and predicted numbers."""
        return self._estimate(self.read_rows(y_true, y_pred, sample_weight=sample_weight), "auto", params)

    def read_rows(self, y_true: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> ValueRows:
        """Check true and predicted numbers and return them as rows."""
        return ValueRows.read(y_true, y, sample_weight=options.get("sample_weight"))


COMMON_PARAMETERS = {
    "y_true": ("array-like of shape (n,)", "True labels."),
    "y_pred": ("array-like of shape (n,)", "Predicted labels."),
    "y_score": ("array-like of shape (n,) or (n, k)", "Scores of the positive class, or one column per class."),
    "y_prob": ("array-like of shape (n,) or (n, k)", "Probabilities of the positive class, or one column per class."),
    "positive": ("label, optional", "Positive class. Default: the second class in sort order, if there are two classes."),
    "labels": ("list, optional", "All classes, in the order of the score columns. Default: the classes in the data, sorted."),
    "average": (
        '{"auto", "binary", "macro", "weighted"} or None, default "auto"',
        'Average over classes. "binary" is the value of the positive class; None returns one value per class.\n'
        '"auto" is "binary" with two classes, else "macro".',
    ),
    "sample_weight": ("array-like of shape (n,), optional", "Weights of the rows."),
}
_VALUE_PARAMETERS = {
    "y_true": ("array-like of shape (n,)", "True values."),
    "y_pred": ("array-like of shape (n,)", "Predicted values."),
}
_MICRO_AVERAGE = (
    '{"auto", "binary", "macro", "weighted", "micro"} or None, default "auto"',
    COMMON_PARAMETERS["average"][1] + ' "micro" pools the counts.',
)
_NO_AVERAGE = ('{"auto"}', "The measure has one value for all classes.")


_SECTIONS = ("Parameters", "Returns", "Notes", "References", "Examples")


def complete_docstring(text: str, **sections: str) -> str:
    """Add sections to a docstring.

    If a section already exists, the new content comes before the existing content.

    >>> print(complete_docstring("Shift.\\n\\nParameters\\n----------\\nby : int", Parameters="x : int", Returns="int"))
    Shift.
    <BLANKLINE>
    Parameters
    ----------
    x : int
    by : int
    <BLANKLINE>
    Returns
    -------
    int
    """
    introduction, *parts = re.split(r"^(\w+)\n-{3,}\n", inspect.cleandoc(text), flags=re.MULTILINE)
    own_sections = {title: content.strip() for title, content in zip(parts[::2], parts[1::2], strict=True)}
    contents = {title: "\n".join(filter(None, (sections.get(title), own_sections.get(title)))) for title in _SECTIONS}
    ordered = [f"{title}\n{'-' * len(title)}\n{content}" for title, content in contents.items() if content]
    return "\n\n".join([introduction.strip(), *ordered])


def describe_parameters(descriptions: Mapping[str, tuple[str, str]]) -> str:
    """Format the types and meanings of parameters as lines of a docstring."""
    return "\n".join(f"{name} : {kind}\n    " + text.replace("\n", "\n    ") for name, (kind, text) in descriptions.items())


def _build_docstring(measure: Measure) -> str:
    """Add the call parameters, return value and reference to the docstring of the formula."""
    call = inspect.signature(type(measure).__call__).parameters
    descriptions = {name: text for name, text in COMMON_PARAMETERS.items() if name in call}
    if measure.facts.needs == "values":
        descriptions |= _VALUE_PARAMETERS
    if "average" in descriptions and len(measure.averages) == 1:
        descriptions["average"] = _NO_AVERAGE
    elif "micro" in measure.averages:
        descriptions["average"] = _MICRO_AVERAGE
    return complete_docstring(
        measure.formula.__doc__ or "",
        Parameters=describe_parameters(descriptions),
        Returns=_describe_value(measure),
        References=measure.facts.cite,
    )


def _describe_value(measure: Measure) -> str:
    facts = measure.facts
    kind = "float, or ndarray of shape (k,) if `average` is None" if None in measure.averages else "float"
    kind = "float or ndarray" if facts.needs == "results" else kind
    direction = {"target": f"a value {facts.better}", "none": "neither higher nor lower"}.get(facts.direction, facts.better)
    chance = "" if facts.chance is None else f" Random guessing scores {facts.chance:g}."
    return (
        f"{kind}\n    {_describe_range(*facts.range)}; {direction} is better.{chance}\n"
        f"    NaN, with an `UndefinedMeasureWarning`, if {facts.undefined}."
    )


def _describe_range(low: float, high: float) -> str:
    if np.isinf(low) and np.isinf(high):
        return "Any number"
    if np.isinf(low):
        return f"At most {high:g}"
    return f"At least {low:g}" if np.isinf(high) else f"Between {low:g} and {high:g}"


_MEASURE_CLASSES: dict[str, type[Measure]] = {
    "labels": LabelMeasure,
    "scores": ScoreMeasure,
    "class scores": MultiScoreMeasure,
    "probabilities": ProbabilityMeasure,
    "outcomes": OutcomeMeasure,
    "class sets": SetMeasure,
    "values": ValueMeasure,
    "results": Measure,
}
_INPUTS: dict[str, str] = {"class scores": "scores", "class sets": "probabilities", "outcomes": "probabilities"}


def measure(
    *,
    needs: Literal["labels", "scores", "class scores", "probabilities", "class sets", "outcomes", "values", "results"],
    direction: Direction,
    range: tuple[float, float],  # noqa: A002  the name of this fact
    cite: str,
    chance: float | None = None,
    name: str | None = None,
    display_name: str | None = None,
    target: float | None = None,
    exceptions: tuple[str, ...] = (),
    **facts: Any,
) -> Callable[[Callable[..., Any]], Measure]:
    """Turn a formula into a measure and register it.

    The input of the formula depends on `needs`:

    - "labels": a `Confusion`, or `Cells` with `per_class=True`;
    - "scores": a `ScoreTally`;
    - "class scores": the rows and, unless `proportion=True`, the draw counts of resamples;
    - "probabilities", "class sets" or "values": the rows;
    - "outcomes": a `ScoreTally` of the probabilities of the positive class, or of the most probable class;
    - "results": the arguments of the call.

    Parameters
    ----------
    needs : {"labels", "scores", "class scores", "probabilities", "class sets", "outcomes", "values", "results"}
        Input of the measure. "class sets" are boolean columns, one per class, or probabilities.
    direction : {"max", "min", "target", "none"}
        Which values are better: higher ("max"), lower ("min"), closer to `target` ("target"), or neither ("none").
    range : tuple of float
        Smallest and largest possible values.
    cite : str
        Reference.
    chance : float, optional
        Expected value under random guessing with two classes. Omit `chance` if this value depends on the class proportions.
    name : str, optional
        Name in the registry. Default: the name of the function.
    display_name : str, optional
        Human-readable name, such as "AUC". Default: the name, with spaces instead of underscores.
    target : float, optional
        Best value. Pass it if and only if the direction is "target".
    exceptions : tuple of str, optional
        Rules of `fairtrial.testing.check_measure` that do not apply. Pass "class order" if the value depends on the order of
        the classes. Pass "weight scale" if the value changes when all weights are multiplied by a constant. Pass "perfect
        predictions" if correct predictions do not always have the best value.
    **facts : Any
        Other fields of `MeasureFacts`. With `proportion=True`, the measure has Wilson and Clopper-Pearson intervals. For
        labels, the formula must then return the numerator and the denominator. For class scores,
        probabilities and class sets, it must return the success of each row as a number from 0 to 1.

    Returns
    -------
    callable
        Decorator that returns a `Measure`.

    Examples
    --------
    >>> from fairtrial.measures import measure, registry
    >>> @measure(needs="labels", direction="max", range=(0, 1), proportion=True, cite="Jaccard 1912")
    ... def example_hit_rate(table):
    ...     'Proportion of correct labels.'
    ...     return table.hits.sum(axis=-1), table.total
    >>> example_hit_rate([1, 1, 0, 0], [1, 0, 0, 0])
    0.75
    >>> registry.remove("example_hit_rate")
    """

    _check.check_one_of("needs", needs, _MEASURE_CLASSES)
    _check.check_one_of("direction", direction, ("max", "min", "target", "none"))
    if (direction == "target") != (target is not None):
        raise InputError(f"target must be given if and only if direction is 'target', got {target!r} with {direction!r}")

    def register(formula: Callable[..., Any]) -> Measure:
        measure_facts = MeasureFacts(
            name=name or formula.__name__,
            needs=cast("Needs", _INPUTS.get(needs, needs)),
            direction=direction,
            range=range,
            chance=chance,
            cite=cite,
            summary=(inspect.getdoc(formula) or "").split("\n")[0].rstrip("."),
            **facts,
        )
        if display_name is not None:
            _DISPLAY_NAMES[measure_facts.name] = display_name
        if target is not None:
            _TARGETS[measure_facts.name] = target
        if exceptions:
            _EXCEPTIONS[measure_facts.name] = exceptions
        new_measure = _MEASURE_CLASSES[needs](formula, measure_facts)
        if formula.__module__.startswith("fairtrial."):
            # Docstrings of user-defined measures are part of the content keys of studies and stay unchanged.
            new_measure.__doc__ = _build_docstring(new_measure)
        registry.add(measure_facts.name, new_measure, aliases=measure_facts.aliases)
        return new_measure

    return register


def set_limits(measure: Measure) -> Callable[[_Limits], _Limits]:
    """Return a decorator that makes a function the `limits` of an `OutcomeMeasure`."""

    def register(limits: _Limits) -> _Limits:
        assert isinstance(measure, OutcomeMeasure)
        measure.limits = limits
        return limits

    return register


def _check_kind(measure: Measure, statistic: object, kind: type) -> None:
    if not isinstance(statistic, kind):
        raise InputError(f"{measure.name}.of needs a {kind.__name__}, got {type(statistic).__name__}")


def average_over_classes(values: FloatArray, support: FloatArray, average: Average) -> FloatArray:
    """Average the values of the classes (last axis), unless `average` is None.

    The average is NaN if a value is NaN, but a weighted average ignores classes without rows.
    """
    if average is None:
        return values
    if average == "weighted":
        weighted = np.where(support > 0, values * support, 0.0)
        return compute_ratio(weighted.sum(axis=-1), support.sum(axis=-1))
    return np.asarray(values.mean(axis=-1))


def get_measure(measure: str | Measure) -> Measure:
    """Return the measure with this name or alias.

    Parameters
    ----------
    measure : str or Measure
        Name or alias. A `Measure` is returned unchanged.

    Returns
    -------
    Measure

    Raises
    ------
    UnknownNameError
        If no measure has this name.

    Examples
    --------
    >>> get_measure("roc_auc").name
    'auc'
    """
    return measure if isinstance(measure, Measure) else registry[measure]
