"""The rows on which a model is judged, as arrays that measures and tests take."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import FallbackWarning, InputError, UndefinedMeasureWarning
from fairtrial.kernels.delong import compute_auc_variance
from fairtrial.measures import Measure, evaluate, get_measure, intervals as closed
from fairtrial.measures.bootstrap import compute_bca_limits, compute_percentile_limits
from fairtrial.measures.confusion import Cells, Confusion
from fairtrial.measures.intervals import Interval
from fairtrial.measures.measure import LabelMeasure, average_over_classes, registry
from fairtrial.measures.tally import ScoreTally, tally_scores
from fairtrial.predictions.columns import Roles, format_label
from fairtrial.predictions.read import DatasetPredictions, ScoreKind
from fairtrial.predictions.validate import Notes, resolve_positive_index
from fairtrial.study.records import ABSTAINED

if TYPE_CHECKING:
    import pandas as pd

# Beyond this many rows intervals come from counts, and what cannot is resampled less often, without BCa's correction, which no
# longer matters there.
MANY_ROWS = 50_000


REDUCED_RESAMPLES = 200


@dataclass(frozen=True)
class JudgeSettings:
    """How to judge: level of intervals, resamples, seed, level of tests."""

    level: float = 0.95
    resamples: int = 2000
    seed: int = 0
    alpha: float = 0.05
    binary_only: tuple[str, ...] = ()
    """Measures that are left out of models without a positive class."""

    def limit_resamples(self, rows: int) -> int:
        """Fewer resamples of very many rows."""
        return self.resamples if rows <= MANY_ROWS else min(self.resamples, REDUCED_RESAMPLES)


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Undefined values and replaced methods are told in tables, not as warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        warnings.simplefilter("ignore", FallbackWarning)
        yield


@dataclass(frozen=True)
class PositiveClasses:
    """The positive class and the other one of each data set of two classes, and whether the positive one was given."""

    classes: Mapping[str, tuple[str, str]]
    specified: bool = False
    can_flip: bool = True
    """Whether another positive class would turn the scores: not where their columns name their classes."""

    @property
    def reason(self) -> str:
        """How it was chosen."""
        return "as asked for" if self.specified else "the second of two in their order"

    @property
    def summary(self) -> str:
        """In a sentence; nothing where no data set has two classes.

        >>> PositiveClasses({"a": ("yes", "no")}).words
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

    @property
    def remedy(self) -> str:
        """What to do about scores of the other class."""
        if not self.can_flip:
            return "check which class each column of scores belongs to"
        negatives = {negative for _, negative in self.classes.values()}
        return f"pass --positive {shlex.quote(negatives.pop()) if len(negatives) == 1 else 'LABEL'}"


def find_positive_classes(
    classes: Mapping[str, tuple[list[str], int | None]], roles: Roles, specified: bool
) -> PositiveClasses:
    """From the classes of each data set and the place of the positive one."""
    binary = {
        name: (texts[index], texts[1 - index])
        for name, (texts, index) in classes.items()
        if index is not None and len(texts) == 2
    }
    multiclass = {
        name: (texts[index], "LABEL") for name, (texts, index) in classes.items() if index is not None and len(texts) > 2
    }
    can_flip = any(name is None for model_columns in roles.models for name, _ in model_columns.scores)
    return PositiveClasses(binary | multiclass, specified, can_flip)


def find_below_chance(scores: pd.DataFrame, positives: PositiveClasses) -> pd.DataFrame:
    """The lines of AUCs whose interval lies wholly below one half, of data sets with a positive class."""
    is_below = (scores["measure"] == "auc") & (scores["high"].to_numpy(dtype=np.float64) < 0.5)
    return scores[is_below & scores["dataset"].isin(list(positives.classes))]


def format_below_chance_notes(scores: pd.DataFrame, positives: PositiveClasses) -> list[str]:
    """A sentence for each of them."""
    several = scores["dataset"].nunique() > 1
    return [
        f"auc of {line['model']}{' on ' + str(line['dataset']) if several else ''}, {line['estimate']:.4g} (interval "
        f"{line['low']:.4g} to {line['high']:.4g}), is worse than guessing: perhaps the scores are those of the other class; "
        f"{positives.remedy}."
        for line in find_below_chance(scores, positives).to_dict("records")
    ]


def compute_losses(probabilities: FloatArray, y_true: IntArray, positive: int | None, name: str) -> FloatArray:
    """What each row adds to the Brier score or to the log loss; a named one of several classes is judged against the rest.

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


_MEANS_OF_RECALLS = ("balanced_accuracy", "g_mean")


class WithUnknownLabels(LabelMeasure):
    """A measure of labels on tables of codes, the last of which may be ABSTAINED; on others it is the measure itself."""

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
    """The measure that knows what a prediction outside the classes counts as.

    >>> from fairtrial.measures import get_measure
    >>> allow_unknown_labels(get_measure("recall"))([0, 1, 1, 1], [0, 1, 1, ABSTAINED], labels=[0, 1, ABSTAINED], positive=1)
    0.6666666666666666
    """
    return WithUnknownLabels(measure) if isinstance(measure, LabelMeasure) else measure


def prepare_table(measure: Measure, table: Confusion) -> Confusion:
    """The table as a measure sees it: with strays as the wrong class where that is the rule, else as a further label."""
    is_mean_recall = measure.name in _MEANS_OF_RECALLS and registry[measure.name] is measure
    return (
        count_unknown_as_errors(table)
        if has_unknown_labels(table) and (is_mean_recall or (measure.facts.per_class and _is_binary_table(table)))
        else table
    )


def prepare_class_table(table: Confusion) -> Confusion:
    """The table as a table of classes sees it: of two classes a stray is the other one."""
    return count_unknown_as_errors(table) if has_unknown_labels(table) and _is_binary_table(table) else table


def has_unknown_labels(table: Confusion) -> bool:
    """Whether the last label of a table of codes is that of predictions outside the classes."""
    return bool(table.labels[-1] == ABSTAINED)


def count_unknown_as_errors(table: Confusion) -> Confusion:
    """The same with each stray as the next class, which is a wrong one.

    >>> count_unknown_as_errors(Confusion([[3, 1, 2], [0, 4, 5], [0, 0, 0]], (0, 1, ABSTAINED))).table.tolist()
    [[3.0, 3.0], [5.0, 4.0]]
    """
    k = len(table.labels) - 1
    cells = table.table[..., :k, :k].copy()
    codes = np.arange(k)
    cells[..., codes, (codes + 1) % k] += table.table[..., :k, k]
    return Confusion(cells, table.labels[:k], table.positive)


def list_codes(n_classes: int, with_unknown: bool) -> list[int]:
    """The labels of a table of codes."""
    return [*range(n_classes), *([ABSTAINED] if with_unknown else [])]


def _is_binary_table(table: Confusion) -> bool:
    return len(table.labels) == 3


BINS = 4096


_RESAMPLES, _BATCH_SIZE, _JACKKNIFE_GROUPS = 500, 250, 500


_MAX_DELONG_AUC, _MIN_AUC_CLASS_ROWS = 0.95, 20


def compute_table_interval(measure: Measure, table: Confusion, settings: JudgeSettings, unweighted: bool) -> Interval:
    """A measure of labels: Wilson's interval of a proportion, else percentiles of tables drawn anew."""
    with ignore_warnings():
        estimate = float(measure.of(table))  # type: ignore[attr-defined]
        if not unweighted:
            return _build_empty_interval(measure.name, estimate, settings)
        parts = _get_proportion_counts(measure, table)
        if parts is not None and parts[1] > 0:
            return Interval(
                measure.name, estimate, *closed.compute_wilson_limits(*parts, settings.level), settings.level, "wilson"
            )

        def compute(cells: FloatArray) -> FloatArray:
            return np.asarray(measure.of(Confusion(cells, table.labels, table.positive)))  # type: ignore[attr-defined]

        return _compute_resampled_interval(measure.name, estimate, table.table, compute, settings)


def compute_tally_interval(
    measure: Measure, tally: ScoreTally, settings: JudgeSettings, unweighted: bool, coarse_tally: ScoreTally | None = None
) -> Interval:
    """A measure of scores: DeLong's or Newcombe's interval of an AUC, else the spread of the binned tally drawn anew.

    `coarser` is the same tally in bins, where that is at hand: it saves putting the whole one into bins again.
    """
    with ignore_warnings():
        estimate = float(measure.of(tally))  # type: ignore[attr-defined]
        if not unweighted:
            return _build_empty_interval(measure.name, estimate, settings)
        if measure.name == "auc":
            return _compute_auc_interval(estimate, tally, settings)
        coarse = merge_into_bins(tally if coarse_tally is None else coarse_tally, BINS)
        offset = estimate - float(measure.of(coarse))  # type: ignore[attr-defined]

        def compute(cells: FloatArray) -> FloatArray:
            drawn = ScoreTally(coarse.values, cells[:, 0], cells[:, 1])
            return offset + np.asarray(measure.of(drawn))  # type: ignore[attr-defined]

        interval = _compute_resampled_interval(measure.name, estimate, np.stack([coarse.pos, coarse.neg]), compute, settings)
    lowest, highest = measure.facts.range
    return Interval(
        interval.measure,
        estimate,
        max(lowest, interval.low),
        min(highest, interval.high),
        settings.level,
        interval.method,
        interval.note,
    )


def compute_mean_interval(
    name: str, mean: float, deviation: float, rows: int, settings: JudgeSettings, unweighted: bool
) -> Interval:
    """A mean over very many rows: normal limits."""
    if not unweighted or not np.isfinite(mean):
        return _build_empty_interval(name, mean, settings)
    half = closed.compute_normal_quantile(settings.level) * deviation / np.sqrt(rows)
    return Interval(name, mean, mean - half, mean + half, settings.level, "normal")


def merge_into_bins(tally: ScoreTally, bins: int) -> ScoreTally:
    """Neighbouring scores put together, about equally many rows in each bin; its value is its highest score."""
    if len(tally.values) <= bins:
        return ScoreTally(tally.values, tally.pos.astype(np.float64), tally.neg.astype(np.float64))
    starts = find_bin_starts(tally, bins)
    pos, neg = (np.add.reduceat(counts, starts, dtype=np.float64) for counts in (tally.pos, tally.neg))
    return ScoreTally(tally.values[starts], pos, neg)


def find_bin_starts(tally: ScoreTally, bins: int) -> IntArray:
    """Where each bin begins. Summed up in blocks, so that no column as long as the tally is made."""
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


def _compute_resampled_interval(
    name: str, estimate: float, cells: FloatArray, compute: Callable[[FloatArray], FloatArray], settings: JudgeSettings
) -> Interval:
    """Limits from redrawn counts: BCa as in memory, and percentiles beyond the rows where its correction still matters."""
    values = np.concatenate([compute(part) for part in _draw_count_batches(cells, settings)])
    if cells.sum() <= MANY_ROWS and not np.isnan(estimate) and not np.isnan(values).all():
        defined = values[~np.isnan(values)]
        limits = compute_bca_limits(defined, estimate, compute(_compute_jackknife_counts(cells, settings.seed)), settings.level)
        if limits is not None:
            note = (
                "" if len(defined) == len(values) else f"undefined in {len(values) - len(defined)} of {len(values)} resamples"
            )
            return Interval(name, estimate, *limits, settings.level, "bca", note)
    return _compute_percentile_interval(name, estimate, values, settings)


def _draw_count_batches(cells: FloatArray, settings: JudgeSettings) -> Iterator[FloatArray]:
    """Redrawn counts, as many as the rows deserve, a part at a time."""
    rng = np.random.default_rng(settings.seed)
    flat = np.asarray(cells, dtype=np.float64).ravel()
    remaining = settings.resamples if flat.sum() <= MANY_ROWS else min(settings.resamples, _RESAMPLES)
    while remaining:
        drawn = rng.multinomial(round(flat.sum()), flat / flat.sum(), min(remaining, _BATCH_SIZE))
        remaining -= len(drawn)
        yield drawn.astype(np.float64).reshape(-1, *cells.shape)


def _compute_jackknife_counts(cells: FloatArray, seed: int) -> FloatArray:
    """Counts with each row left out in turn, or each of 500 random groups of rows, as the bootstrap of rows does it."""
    flat = np.asarray(cells, dtype=np.float64).ravel()
    rows = np.repeat(np.arange(len(flat)), np.round(flat).astype(np.intp))
    groups = min(len(rows), _JACKKNIFE_GROUPS)
    group_index = np.random.default_rng(seed).permutation(len(rows)) % groups
    out = np.zeros((groups, len(flat)))
    np.add.at(out, (group_index, rows), 1.0)
    return (flat - out).reshape(-1, *cells.shape)


def redraw_counts(cells: FloatArray, settings: JudgeSettings) -> FloatArray:
    """Counts of rows drawn with replacement: the same as drawing the rows, for a cell is all that is known of each."""
    rng = np.random.default_rng(settings.seed)
    flat = np.asarray(cells, dtype=np.float64).ravel()
    drawn = rng.multinomial(round(flat.sum()), flat / flat.sum(), min(settings.resamples, _RESAMPLES))
    return drawn.astype(np.float64).reshape(-1, *cells.shape)


def _get_proportion_counts(measure: Measure, table: Confusion) -> tuple[float, float] | None:
    """Numerator and denominator, where the measure is a share of rows."""
    facts = measure.facts
    if not facts.proportion or (facts.per_class and table.positive is None):
        return None
    operand: Any = table
    if facts.per_class:
        cells = table.cells
        operand = type(cells)(*(cell[..., table.positive] for cell in cells))
    numerator, denominator = measure.formula(operand)
    return float(numerator), float(denominator)


def _compute_auc_interval(estimate: float, tally: ScoreTally, settings: JudgeSettings) -> Interval:
    if np.isnan(estimate):
        return _build_empty_interval("auc", estimate, settings)
    _, variance = compute_auc_variance(tally.pos, tally.neg)
    is_small = min(float(tally.positives), float(tally.negatives)) < _MIN_AUC_CLASS_ROWS
    if 0 < estimate < 1 and variance > 0 and not is_small and 1 - _MAX_DELONG_AUC <= estimate <= _MAX_DELONG_AUC:
        return Interval(
            "auc", estimate, *closed.compute_delong_limits(estimate, variance, settings.level), settings.level, "delong"
        )
    return Interval(
        "auc", estimate, *closed.compute_newcombe_limits(estimate, tally, settings.level), settings.level, "newcombe"
    )


def _compute_percentile_interval(name: str, estimate: float, values: FloatArray, settings: JudgeSettings) -> Interval:
    defined = values[~np.isnan(values)]
    if np.isnan(estimate) or not len(defined):
        return _build_empty_interval(name, estimate, settings)
    note = "" if len(defined) == len(values) else f"undefined in {len(values) - len(defined)} of {len(values)} resamples"
    return Interval(name, estimate, *compute_percentile_limits(defined, settings.level), settings.level, "percentile", note)


def _build_empty_interval(name: str, estimate: float, settings: JudgeSettings) -> Interval:
    return Interval(name, estimate, float("nan"), float("nan"), settings.level, "", "")


_LABEL_MEASURES = ("accuracy", "balanced_accuracy", "kappa", "mcc", "f_score")


BINARY_ONLY = ("average_precision", "h_measure", "ks")


MEAN_LOSSES = ("brier", "log_loss")


_PROBABILITY_MEASURES = (*MEAN_LOSSES, "calibration_error")


class ModelStatistics(Protocol):
    """A model, held or counted, of which measures are chosen."""

    @property
    def dataset(self) -> str:
        """The data set."""

    @property
    def positive(self) -> int | None:
        """The place of the positive class."""

    @property
    def scores(self) -> Any:
        """Scores of every class, None where there are none."""

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""


@dataclass(frozen=True, eq=False)
class InMemoryModel:
    """A model on the rows of a data set, each once: codes of the truth and of the labels, scores of every class, weights.

    A label that is none of the classes, or missing, is ABSTAINED.
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
        """The model's first prediction of each row."""
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
        """The same on some of the rows (a mask, or places)."""
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
        """Scores as measures take them: of the positive class where there are two, else of each."""
        if self.scores is None or len(self.classes) > 2:
            return self.scores
        return np.ascontiguousarray(self.scores[:, 1 if self.positive is None else self.positive])

    @property
    def has_unknown_labels(self) -> bool:
        """Whether some labels are none of the classes."""
        return self.y_pred is not None and bool((self.y_pred == ABSTAINED).any())

    def get_measure_options(self, with_unknown: bool = False) -> dict[str, Any]:
        """What measures must know besides the columns; measures of labels where some are `strays` know of them."""
        return {"labels": list_codes(len(self.classes), with_unknown), "positive": self.positive}

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""
        return {
            "labels": self.y_pred is not None,
            "scores": self.scores is not None,
            "probabilities": self.kind == "probability",
        }.get(measure.facts.needs, False)

    def select_input(self, measure: Measure) -> Any:
        """The column that the measure takes."""
        return self.y_pred if measure.facts.needs == "labels" else self.y_score

    def compute_value(self, measure: Measure) -> float:
        """The value alone, NaN where it is undefined."""
        has_unknown = measure.facts.needs == "labels" and self.has_unknown_labels
        adapted_measure = allow_unknown_labels(measure) if has_unknown else measure
        with ignore_warnings():
            return float(
                adapted_measure(
                    self.y_true, self.select_input(measure), sample_weight=self.weights, **self.get_measure_options(has_unknown)
                )
            )


def find_positive_index(dataset: DatasetPredictions, positive: object) -> int | None:
    """The place of the positive class, which must exist in every data set."""
    return resolve_positive_index([format_label(label) for label in dataset.classes], positive, dataset.name)


def select_measures(models: Sequence[ModelStatistics], requested: Any, streamed: bool = False) -> list[Measure]:
    """The measures asked for, or those that suit what the models give; the first one is the main one.

    Unasked that is AUC where every model has scores of a positive class, else accuracy. `counted` files are never held.
    """
    if requested is None:
        return _select_default_measures(models, streamed)
    requests = [requested] if isinstance(requested, (str, Measure)) else list(requested)
    if not requests:
        raise InputError("measures must name at least one measure, got none")
    chosen = [get_measure(name) for name in requests]
    for measure in chosen:
        if streamed and not (measure.facts.needs in ("labels", "scores") or measure.name in MEAN_LOSSES):
            raise InputError(
                f"{measure.name} must be one that counts give for a large file, which it is not: judge a sample of the rows"
            )
        if not any(model.has(measure) for model in models):
            raise InputError(f"{measure.name} must have {measure.facts.needs}, which no model gives: choose another measure")
    return chosen


def _select_default_measures(models: Sequence[ModelStatistics], streamed: bool) -> list[Measure]:
    score_measures = ("auc", *BINARY_ONLY) if any(model.positive is not None for model in models) else ("auc",)
    names = [*_LABEL_MEASURES, *score_measures, *(MEAN_LOSSES if streamed else _PROBABILITY_MEASURES)]
    if all(model.scores is not None and model.positive is not None for model in models):
        names = ["auc", *(name for name in names if name != "auc")]
    chosen = [get_measure(name) for name in names]
    return [measure for measure in chosen if any(model.has(measure) for model in models)]


def find_binary_only(
    models: Sequence[ModelStatistics], measures: Sequence[Measure], requested: bool, notes: Notes
) -> tuple[str, ...]:
    """Measures that were not asked for and are left out on data sets without a positive class, which is told."""
    datasets = list(dict.fromkeys(model.dataset for model in models if model.positive is None))
    names = tuple(measure.name for measure in measures if measure.name in BINARY_ONLY)
    if requested or not names or not datasets:
        return ()
    listing = ", ".join(map(repr, datasets[:6])) + (f" and {len(datasets) - 6} more" if len(datasets) > 6 else "")
    notes.add(
        f"{', '.join(names)} need a positive class, which data sets of more than two classes have only if it is named: they "
        f"are left out on {listing}."
    )
    return names


def compute_intervals(model: InMemoryModel, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
    """The measures of a model with their intervals; those that it does not allow are NaN, with the reason."""
    available = [measure for measure in measures if not explain_unavailable(model, measure, settings)]
    by_measure: dict[str, Interval] = {}
    if len(model.y_true) > MANY_ROWS and model.weights is None:
        by_measure = {interval.measure: interval for interval in _compute_count_intervals(model, available, settings)}
    remaining = [measure for measure in available if measure.name not in by_measure]
    if remaining:
        method = "auto" if len(model.y_true) <= MANY_ROWS else "percentile"
        by_measure.update((interval.measure, interval) for interval in _evaluate_intervals(model, remaining, method, settings))
    return [
        by_measure[measure.name] if measure.name in by_measure else make_undefined_interval(model, measure, settings)
        for measure in measures
    ]


def explain_unavailable(model: ModelStatistics, measure: Measure, settings: JudgeSettings) -> str:
    """What a model lacks for a measure; nothing where it has all."""
    if not model.has(measure):
        return f"needs {measure.facts.needs}"
    return "needs a positive class" if model.positive is None and measure.name in settings.binary_only else ""


def make_undefined_interval(model: ModelStatistics, measure: Measure, settings: JudgeSettings) -> Interval:
    """No value, with the reason."""
    nan = float("nan")
    return Interval(measure.name, nan, nan, nan, settings.level, "", explain_unavailable(model, measure, settings))


def _compute_count_intervals(model: InMemoryModel, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
    """Intervals from counts, where counts are enough: they need no second look at the rows."""
    results = []
    label_measures = [measure for measure in measures if measure.facts.needs == "labels"]
    if label_measures:
        table = Confusion.from_labels(model.y_true, model.y_pred, **model.get_measure_options(model.has_unknown_labels))  # type: ignore[arg-type]
        results += [
            compute_table_interval(allow_unknown_labels(measure), prepare_table(measure, table), settings, True)
            for measure in label_measures
        ]
    score_measures = [measure for measure in measures if measure.facts.needs == "scores"]
    if score_measures and model.positive is not None and model.scores is not None:
        tally = tally_scores(model.y_true == model.positive, np.ascontiguousarray(model.scores[:, model.positive]), None)
        results += [compute_tally_interval(measure, tally, settings, True) for measure in score_measures]
    for measure in measures:
        if measure.name in MEAN_LOSSES and model.scores is not None:
            row_losses = compute_losses(model.scores, model.y_true, model.positive, measure.name)
            results.append(
                compute_mean_interval(
                    measure.name, model.compute_value(measure), float(row_losses.std(ddof=1)), len(row_losses), settings, True
                )
            )
    return results


def _evaluate_intervals(
    model: InMemoryModel, measures: list[Measure], method: str, settings: JudgeSettings
) -> tuple[Interval, ...]:
    """By the same draws for all; labels that are none of the classes are a matter of measures of labels alone."""
    if model.has_unknown_labels and len({measure.facts.needs == "labels" for measure in measures}) > 1:
        labels, others = (
            [measure for measure in measures if (measure.facts.needs == "labels") is needs_labels]
            for needs_labels in (True, False)
        )
        return (*_evaluate_intervals(model, labels, method, settings), *_evaluate_intervals(model, others, method, settings))
    for_labels = measures[0].facts.needs == "labels"
    has_unknown = model.has_unknown_labels and for_labels
    with ignore_warnings():
        return evaluate(
            model.y_true,
            None if model.has_unknown_labels and not for_labels else model.y_pred,
            None if has_unknown else model.y_score,
            [allow_unknown_labels(measure) for measure in measures] if has_unknown else measures,
            interval=method,
            level=settings.level,
            resamples=settings.limit_resamples(len(model.y_true)),
            seed=settings.seed,
            sample_weight=model.weights,
            **model.get_measure_options(has_unknown),
        ).intervals
