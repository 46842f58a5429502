"""Statistics of a model in memory: measures with intervals, from rows or from counts of rows."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import FallbackWarning, UndefinedMeasureWarning
from fairtrial.kernels.delong import compute_auc_variance
from fairtrial.measures import Measure, evaluate, intervals as closed
from fairtrial.measures.bootstrap import compute_bca_limits, compute_percentile_limits
from fairtrial.measures.confusion import Cells, Confusion
from fairtrial.measures.intervals import Interval
from fairtrial.measures.measure import LabelMeasure, average_over_classes, registry
from fairtrial.measures.tally import ScoreTally, tally_scores
from fairtrial.predictions.columns import Roles, format_label
from fairtrial.predictions.read import DatasetPredictions, ScoreKind, list_codes
from fairtrial.study.records import ABSTAINED

if TYPE_CHECKING:
    import pandas as pd

# If there are more rows, intervals come from counts where possible; the rest is resampled less often and without the BCa
# correction, which no longer matters.
MANY_ROWS = 50_000
REDUCED_RESAMPLES = 200
MAX_COUNT_RESAMPLES = 500

MEAN_LOSSES = ("brier", "log_loss")
BINS = 4096

_BATCH_SIZE, _JACKKNIFE_GROUPS = 250, 500
_MAX_DELONG_AUC, _MIN_AUC_CLASS_ROWS = 0.95, 20
_MEANS_OF_RECALLS = ("balanced_accuracy", "g_mean")


class ModelStatistics(Protocol):
    """What the judge must know of a model, in memory or streamed, to choose measures."""

    @property
    def dataset(self) -> str:
        """The name of the data set."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the data set."""

    @property
    def positive(self) -> int | None:
        """The index of the positive class."""

    @property
    def scores(self) -> Any:
        """Scores of every class, or None."""

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""


@dataclass(frozen=True)
class JudgeSettings:
    """Options of a judgement: confidence level, resamples, seed, significance level."""

    level: float = 0.95
    resamples: int = 2000
    seed: int = 0
    alpha: float = 0.05
    binary_only: tuple[str, ...] = ()
    """Measures that are left out for models without a positive class."""

    def limit_resamples(self, rows: int) -> int:
        """Use fewer resamples if there are very many rows."""
        return self.resamples if rows <= MANY_ROWS else min(self.resamples, REDUCED_RESAMPLES)

    def explain_unavailable(self, model: ModelStatistics, measure: Measure) -> str:
        """Explain what a model lacks for a measure; empty if nothing."""
        if not model.has(measure):
            return f"needs {measure.facts.needs}"
        return "needs a positive class" if model.positive is None and measure.name in self.binary_only else ""

    def make_undefined_interval(self, model: ModelStatistics, measure: Measure) -> Interval:
        """Make an interval without a value, with the reason as its note."""
        nan = float("nan")
        return Interval(measure.name, nan, nan, nan, self.level, "", self.explain_unavailable(model, measure))


@dataclass(frozen=True)
class PositiveClasses:
    """The positive and the negative class of each data set that has a positive one, and whether it was given."""

    classes: Mapping[str, tuple[str, str]]
    specified: bool = False
    can_flip: bool = True
    """Whether another positive class would flip the scores: not if the score columns name their classes."""

    @classmethod
    def from_models(cls, models: Iterable[ModelStatistics], roles: Roles, specified: bool) -> PositiveClasses:
        """Collect the positive classes of the data sets of several models."""
        classes = {}
        for model in models:
            if model.positive is not None:
                names = [format_label(label) for label in model.classes]
                classes[model.dataset] = names[model.positive], names[1 - model.positive] if len(names) == 2 else "LABEL"
        can_flip = any(name is None for model_columns in roles.models for name, _ in model_columns.scores)
        return cls(classes, specified, can_flip)

    @property
    def reason(self) -> str:
        """How the positive class was chosen."""
        return "as asked for" if self.specified else "the second of two in their order"

    @property
    def summary(self) -> str:
        """The positive class in a sentence; empty if no data set has one.

        >>> PositiveClasses({"a": ("yes", "no")}).summary
        "The positive class is 'yes' (the second of two in their order; --positive LABEL names another)."
        """
        if not self.classes:
            return ""
        labels = list(dict.fromkeys(label for label, _ in self.classes.values()))
        text = f"{labels[0]!r}"
        if len(labels) > 1:
            by_label = {
                label: [name for name, class_pair in self.classes.items() if class_pair[0] == label] for label in labels
            }
            text = ", ".join(f"{label!r} on {' and '.join(names)}" for label, names in by_label.items())
        reason_text = self.reason if self.specified else f"{self.reason}; --positive LABEL names another"
        return f"The positive class is {text} ({reason_text})."

    def select_below_chance(self, scores: pd.DataFrame) -> pd.DataFrame:
        """Select the AUCs of data sets with a positive class whose whole interval lies below one half."""
        is_below = (scores["measure"] == "auc") & (scores["high"].to_numpy(dtype=np.float64) < 0.5)
        return scores[is_below & scores["dataset"].isin(list(self.classes))]

    @property
    def remedy(self) -> str:
        """What to do if the scores are those of the other class."""
        if not self.can_flip:
            return "check which class each column of scores belongs to"
        negatives = {negative for _, negative in self.classes.values()}
        return f"pass --positive {shlex.quote(negatives.pop()) if len(negatives) == 1 else 'LABEL'}"


@dataclass(frozen=True, eq=False)
class InMemoryModel:
    """A model on the rows of a data set, each once: true and predicted class indices, scores of every class, weights.

    A predicted label that is missing or not a class is ABSTAINED.
    """

    dataset: str
    name: str
    classes: tuple[Any, ...]
    positive: int | None
    row_indices: IntArray
    y_true: IntArray
    y_pred: IntArray | None
    scores: FloatArray | None
    kind: ScoreKind | None
    weights: FloatArray | None

    @classmethod
    def from_dataset(cls, dataset: DatasetPredictions, name: str, positive: int | None) -> InMemoryModel:
        """Take the model's first prediction of each row."""
        model = dataset.models[name]
        lines = model.first_lines
        row_indices = model.row_indices[lines]
        return cls(
            dataset.name,
            name,
            dataset.classes,
            positive,
            row_indices,
            dataset.y_true[row_indices],
            model.prediction[lines] if model.has_labels else None,
            None if model.scores is None else model.scores[lines],
            model.score_kind,
            None if dataset.weights is None else dataset.weights[row_indices],
        )

    def select_rows(self, selection: npt.NDArray[Any]) -> InMemoryModel:
        """Select some of the rows (a mask or positions)."""
        return replace(
            self,
            row_indices=self.row_indices[selection],
            y_true=self.y_true[selection],
            y_pred=None if self.y_pred is None else self.y_pred[selection],
            scores=None if self.scores is None else self.scores[selection],
            weights=None if self.weights is None else self.weights[selection],
        )

    @property
    def y_score(self) -> FloatArray | None:
        """Scores as measures take them: of the positive class if there are two, else of each class."""
        if self.scores is None or len(self.classes) > 2:
            return self.scores
        return np.ascontiguousarray(self.scores[:, 1 if self.positive is None else self.positive])

    @property
    def has_unknown_labels(self) -> bool:
        """Whether some predicted labels are not classes."""
        return self.y_pred is not None and bool((self.y_pred == ABSTAINED).any())

    def get_measure_options(self, with_unknown: bool = False) -> dict[str, Any]:
        """Get the options that measures take, with a code for unknown labels if asked for."""
        return {"labels": list_codes(len(self.classes), with_unknown), "positive": self.positive}

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""
        return {
            "labels": self.y_pred is not None,
            "scores": self.scores is not None,
            "probabilities": self.kind == "probability",
        }.get(measure.facts.needs, False)

    def select_input(self, measure: Measure) -> Any:
        """Select the labels or scores that the measure takes."""
        return self.y_pred if measure.facts.needs == "labels" else self.y_score

    def compute_value(self, measure: Measure) -> float:
        """Compute the value of a measure; NaN if it is undefined."""
        has_unknown = measure.facts.needs == "labels" and self.has_unknown_labels
        adapted_measure = allow_unknown_labels(measure) if has_unknown else measure
        with ignore_warnings():
            return float(
                adapted_measure(
                    self.y_true, self.select_input(measure), sample_weight=self.weights, **self.get_measure_options(has_unknown)
                )
            )

    def compute_intervals(self, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
        """Compute measures with intervals; those that cannot be computed are NaN, with the reason as a note."""
        available = [measure for measure in measures if not settings.explain_unavailable(self, measure)]
        by_measure: dict[str, Interval] = {}
        if len(self.y_true) > MANY_ROWS and self.weights is None:
            by_measure = {interval.measure: interval for interval in self._compute_count_intervals(available, settings)}
        remaining = [measure for measure in available if measure.name not in by_measure]
        if remaining:
            method = "auto" if len(self.y_true) <= MANY_ROWS else "percentile"
            evaluated = self._evaluate_intervals(remaining, method, settings)
            by_measure.update((interval.measure, interval) for interval in evaluated)
        return [
            by_measure[measure.name] if measure.name in by_measure else settings.make_undefined_interval(self, measure)
            for measure in measures
        ]

    def _compute_count_intervals(self, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
        """Compute the intervals for which counts are sufficient, without resampling rows."""
        intervals = CountIntervals(settings)
        results = []
        label_measures = [measure for measure in measures if measure.facts.needs == "labels"]
        if label_measures and self.y_pred is not None:
            options: dict[str, Any] = self.get_measure_options(self.has_unknown_labels)
            table = Confusion.from_labels(self.y_true, self.y_pred, **options)
            results += [intervals.from_table(measure, table) for measure in label_measures]
        score_measures = [measure for measure in measures if measure.facts.needs == "scores"]
        if score_measures and self.positive is not None and self.scores is not None:
            tally = tally_scores(self.y_true == self.positive, np.ascontiguousarray(self.scores[:, self.positive]), None)
            results += [intervals.from_tally(measure, tally) for measure in score_measures]
        for measure in measures:
            if measure.name in MEAN_LOSSES and self.scores is not None:
                losses = compute_losses(self.scores, self.y_true, self.positive, measure.name)
                deviation = float(losses.std(ddof=1))
                results.append(intervals.from_mean(measure.name, self.compute_value(measure), deviation, len(losses)))
        return results

    def _evaluate_intervals(self, measures: list[Measure], method: str, settings: JudgeSettings) -> tuple[Interval, ...]:
        """Evaluate all measures on the same resamples; only measures of labels are given unknown labels."""
        if self.has_unknown_labels and len({measure.facts.needs == "labels" for measure in measures}) > 1:
            labels, others = (
                [measure for measure in measures if (measure.facts.needs == "labels") is needs_labels]
                for needs_labels in (True, False)
            )
            return (*self._evaluate_intervals(labels, method, settings), *self._evaluate_intervals(others, method, settings))
        for_labels = measures[0].facts.needs == "labels"
        has_unknown = self.has_unknown_labels and for_labels
        with ignore_warnings():
            return evaluate(
                self.y_true,
                None if self.has_unknown_labels and not for_labels else self.y_pred,
                None if has_unknown else self.y_score,
                [allow_unknown_labels(measure) for measure in measures] if has_unknown else measures,
                interval=method,
                level=settings.level,
                resamples=settings.limit_resamples(len(self.y_true)),
                seed=settings.seed,
                sample_weight=self.weights,
                **self.get_measure_options(has_unknown),
            ).intervals


@dataclass(frozen=True)
class CountIntervals:
    """Computes measures with intervals from counts alone; weighted counts give no intervals."""

    settings: JudgeSettings
    unweighted: bool = True

    def from_table(self, measure: Measure, table: Confusion) -> Interval:
        """Compute a measure of labels: Wilson's interval of a proportion, else an interval from redrawn tables."""
        table, measure = prepare_table(measure, table), allow_unknown_labels(measure)
        with ignore_warnings():
            estimate = float(measure.of(table))  # type: ignore[attr-defined]
            if not self.unweighted:
                return self._make_empty(measure.name, estimate)
            proportion = _get_proportion_counts(measure, table)
            if proportion is not None and proportion[1] > 0:
                limits = closed.compute_wilson_limits(*proportion, self.settings.level)
                return self._make(measure.name, estimate, limits, "wilson")

            def compute(cells: FloatArray) -> FloatArray:
                return np.asarray(measure.of(Confusion(cells, table.labels, table.positive)))  # type: ignore[attr-defined]

            return self._resample(measure.name, estimate, table.table, compute)

    def from_tally(self, measure: Measure, tally: ScoreTally, coarse_tally: ScoreTally | None = None) -> Interval:
        """Compute a measure of scores: DeLong's or Newcombe's interval of an AUC, else an interval from redrawn bins.

        `coarse_tally` is the same tally in bins, if it is at hand: it saves binning the whole one again.
        """
        with ignore_warnings():
            estimate = float(measure.of(tally))  # type: ignore[attr-defined]
            if not self.unweighted:
                return self._make_empty(measure.name, estimate)
            if measure.name == "auc":
                return self._compute_auc_interval(estimate, tally)
            coarse = merge_into_bins(tally if coarse_tally is None else coarse_tally, BINS)
            offset = estimate - float(measure.of(coarse))  # type: ignore[attr-defined]

            def compute(cells: FloatArray) -> FloatArray:
                drawn = ScoreTally(coarse.values, cells[:, 0], cells[:, 1])
                return offset + np.asarray(measure.of(drawn))  # type: ignore[attr-defined]

            interval = self._resample(measure.name, estimate, np.stack([coarse.pos, coarse.neg]), compute)
        lowest, highest = measure.facts.range
        return replace(interval, low=max(lowest, interval.low), high=min(highest, interval.high))

    def from_mean(self, name: str, mean: float, deviation: float, rows: int) -> Interval:
        """Compute normal limits of a mean over very many rows."""
        if not self.unweighted or not np.isfinite(mean):
            return self._make_empty(name, mean)
        half = closed.compute_normal_quantile(self.settings.level) * deviation / np.sqrt(rows)
        return self._make(name, mean, (mean - half, mean + half), "normal")

    def _compute_auc_interval(self, estimate: float, tally: ScoreTally) -> Interval:
        if np.isnan(estimate):
            return self._make_empty("auc", estimate)
        level = self.settings.level
        _, variance = compute_auc_variance(tally.pos, tally.neg)
        is_small = min(float(tally.positives), float(tally.negatives)) < _MIN_AUC_CLASS_ROWS
        if 0 < estimate < 1 and variance > 0 and not is_small and 1 - _MAX_DELONG_AUC <= estimate <= _MAX_DELONG_AUC:
            return self._make("auc", estimate, closed.compute_delong_limits(estimate, variance, level), "delong")
        return self._make("auc", estimate, closed.compute_newcombe_limits(estimate, tally, level), "newcombe")

    def _resample(self, name: str, estimate: float, cells: FloatArray, compute: Callable[[FloatArray], FloatArray]) -> Interval:
        """Compute limits from redrawn counts: BCa as for rows in memory, percentiles if there are very many rows."""
        is_small = bool(cells.sum() <= MANY_ROWS)
        resamples = self.settings.resamples if is_small else min(self.settings.resamples, MAX_COUNT_RESAMPLES)
        values = np.concatenate([compute(drawn) for drawn in draw_counts(cells, resamples, self.settings.seed)])
        defined = values[~np.isnan(values)]
        if np.isnan(estimate) or not len(defined):
            return self._make_empty(name, estimate)
        note = "" if len(defined) == len(values) else f"undefined in {len(values) - len(defined)} of {len(values)} resamples"
        if is_small:
            jackknife = compute(_compute_jackknife_counts(cells, self.settings.seed))
            limits = compute_bca_limits(defined, estimate, jackknife, self.settings.level)
            if limits is not None:
                return self._make(name, estimate, limits, "bca", note)
        return self._make(name, estimate, compute_percentile_limits(defined, self.settings.level), "percentile", note)

    def _make(self, name: str, estimate: float, limits: tuple[float, float], method: str, note: str = "") -> Interval:
        return Interval(name, estimate, *limits, self.settings.level, method, note)

    def _make_empty(self, name: str, estimate: float) -> Interval:
        return self._make(name, estimate, (float("nan"), float("nan")), "")


def draw_counts(cells: FloatArray, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Draw counts with replacement, batch by batch: the same as drawing rows, because rows of a cell do not differ."""
    rng = np.random.default_rng(seed)
    flat = np.asarray(cells, dtype=np.float64).ravel()
    while resamples > 0:
        drawn = rng.multinomial(round(flat.sum()), flat / flat.sum(), min(resamples, _BATCH_SIZE))
        resamples -= len(drawn)
        yield drawn.astype(np.float64).reshape(-1, *cells.shape)


def _compute_jackknife_counts(cells: FloatArray, seed: int) -> FloatArray:
    """Leave out each row in turn, or each of 500 random groups of rows, as the bootstrap of rows does."""
    flat = np.asarray(cells, dtype=np.float64).ravel()
    rows = np.repeat(np.arange(len(flat)), np.round(flat).astype(np.intp))
    groups = min(len(rows), _JACKKNIFE_GROUPS)
    group_index = np.random.default_rng(seed).permutation(len(rows)) % groups
    out = np.zeros((groups, len(flat)))
    np.add.at(out, (group_index, rows), 1.0)
    return (flat - out).reshape(-1, *cells.shape)


def _get_proportion_counts(measure: Measure, table: Confusion) -> tuple[float, float] | None:
    """Get numerator and denominator if the measure is a proportion of rows."""
    facts = measure.facts
    if not facts.proportion or (facts.per_class and table.positive is None):
        return None
    operand: Any = table
    if facts.per_class:
        cells = table.cells
        operand = type(cells)(*(cell[..., table.positive] for cell in cells))
    numerator, denominator = measure.formula(operand)
    return float(numerator), float(denominator)


def merge_into_bins(tally: ScoreTally, bins: int) -> ScoreTally:
    """Merge neighbouring scores into bins of about equally many rows; the value of a bin is its highest score."""
    if len(tally.values) <= bins:
        return ScoreTally(tally.values, tally.pos.astype(np.float64), tally.neg.astype(np.float64))
    starts = find_bin_starts(tally, bins)
    pos, neg = (np.add.reduceat(counts, starts, dtype=np.float64) for counts in (tally.pos, tally.neg))
    return ScoreTally(tally.values[starts], pos, neg)


def find_bin_starts(tally: ScoreTally, bins: int) -> IntArray:
    """Find where each bin starts, block by block: no temporary array is as long as the tally."""
    total = float(tally.positives + tally.negatives)
    step, block = total / bins, 1 << 20
    starts, before = [np.zeros(1, dtype=np.intp)], 0.0
    last = 0
    for start in range(0, len(tally.values), block):
        window = slice(start, start + block)
        cumulative = before + np.cumsum(tally.pos[window] + tally.neg[window].astype(np.float64))
        bin_index = (cumulative / step).astype(np.intp)
        new = np.flatnonzero(np.diff(np.append(last, bin_index)) > 0) + start + 1
        starts.append(new)
        before, last = float(cumulative[-1]), int(bin_index[-1])
    all_starts = np.concatenate(starts)
    return all_starts[all_starts < len(tally.values)]


def compute_losses(probabilities: FloatArray, y_true: IntArray, positive: int | None, name: str) -> FloatArray:
    """Compute what each row adds to the Brier score or log loss; a positive class of several is judged against the rest.

    >>> compute_losses(np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([0, 1]), 1, "brier").tolist()
    [0.0625, 0.25]
    """
    if positive is not None and probabilities.shape[1] > 2:
        positive_probability = probabilities[:, positive]
        probabilities, y_true = (
            np.column_stack([1 - positive_probability, positive_probability]),
            (y_true == positive).astype(np.intp),
        )
    true_probability = np.take_along_axis(probabilities, y_true[:, None], axis=1)[:, 0]
    if name == "log_loss":
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(true_probability))
    squares = (probabilities**2).sum(axis=1) - 2 * true_probability + 1
    return np.asarray(squares / 2 if probabilities.shape[1] == 2 else squares)


class WithUnknownLabels(LabelMeasure):
    """A measure of labels for tables of codes whose last one may be ABSTAINED; otherwise the measure itself."""

    def __init__(self, wrapped: LabelMeasure) -> None:
        super().__init__(wrapped.formula, wrapped.facts)
        self.wrapped = wrapped

    def _select_operand(self, table: Confusion, average: Any) -> Confusion | Cells:
        return super()._select_operand(prepare_table(self.wrapped, table), average)

    def _compute_value(self, table: Confusion, average: Any, params: dict[str, Any]) -> FloatArray:
        if has_unknown_labels(table) and self.facts.per_class and self._is_averaged(table, average):
            return average_over_classes(super()._compute_value(table, None, params)[..., :-1], table.true[..., :-1], average)
        return super()._compute_value(table, average, params)


def allow_unknown_labels(measure: Measure) -> Measure:
    """Wrap a measure so that predictions outside the classes count as errors.

    >>> from fairtrial.measures import get_measure
    >>> allow_unknown_labels(get_measure("recall"))([0, 1, 1, 1], [0, 1, 1, ABSTAINED], labels=[0, 1, ABSTAINED], positive=1)
    0.6666666666666666
    """
    return WithUnknownLabels(measure) if isinstance(measure, LabelMeasure) else measure


def prepare_table(measure: Measure, table: Confusion) -> Confusion:
    """Prepare a table for a measure: unknown labels count as a wrong class if that is the rule, else as a further label."""
    is_mean_recall = measure.name in _MEANS_OF_RECALLS and registry[measure.name] is measure
    return (
        count_unknown_as_errors(table)
        if has_unknown_labels(table) and (is_mean_recall or (measure.facts.per_class and _is_binary_table(table)))
        else table
    )


def prepare_class_table(table: Confusion) -> Confusion:
    """Prepare a table for class-wise rates: with two classes, an unknown label counts as the wrong one."""
    return count_unknown_as_errors(table) if has_unknown_labels(table) and _is_binary_table(table) else table


def has_unknown_labels(table: Confusion) -> bool:
    """Whether the last code of a table stands for predictions outside the classes."""
    return bool(table.labels[-1] == ABSTAINED)


def count_unknown_as_errors(table: Confusion) -> Confusion:
    """Count each unknown label as the next class, which is a wrong one.

    >>> count_unknown_as_errors(Confusion([[3, 1, 2], [0, 4, 5], [0, 0, 0]], (0, 1, ABSTAINED))).table.tolist()
    [[3.0, 3.0], [5.0, 4.0]]
    """
    k = len(table.labels) - 1
    cells = table.table[..., :k, :k].copy()
    codes = np.arange(k)
    cells[..., codes, (codes + 1) % k] += table.table[..., :k, k]
    return Confusion(cells, table.labels[:k], table.positive)


def _is_binary_table(table: Confusion) -> bool:
    return len(table.labels) == 3


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Ignore warnings about undefined values and replaced methods: the tables report them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        warnings.simplefilter("ignore", FallbackWarning)
        yield
