"""Statistics from which a judgement is computed.

The module contains the protocols and their implementation for rows in memory.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._findings import Finding
from fairtrial._text import format_count, join_names
from fairtrial.errors import FallbackWarning, UndefinedMeasureWarning
from fairtrial.measures import Measure, auc, calibration_curve, decision_differences, evaluate, intervals as closed
from fairtrial.measures.auc_inference import AucContrast, contrast_aucs
from fairtrial.measures.bootstrap import compute_bca_limits, compute_distances, compute_percentile_limits
from fairtrial.measures.confusion import Cells, Confusion
from fairtrial.measures.intervals import (
    WITHOUT_LIMITS,
    BoundMeasure,
    Interval,
    IntervalPlan,
    count_effective_rows,
    read_clusters,
)
from fairtrial.measures.measure import LabelMeasure, OutcomeMeasure, ScoreMeasure, average_over_classes, registry
from fairtrial.measures.rows import DrawCounts, OutcomeSample, ProbabilityRows
from fairtrial.measures.subgroup_gaps import (
    SubgroupValues,
    compute_cell_influences,
    estimate_aucs,
    estimate_by_influence,
    estimate_clustered_proportions,
    estimate_from_tables,
    estimate_proportions,
    sum_by_code,
)
from fairtrial.measures.tally import ScoreTally, tally_scores
from fairtrial.predictions.columns import Roles, format_label
from fairtrial.predictions.probabilities import ProbabilityAssessment
from fairtrial.predictions.read import DatasetPredictions, PredictionFile, ScoreKind, list_codes
from fairtrial.predictions.validate import choose_positive
from fairtrial.significance import mcnemar
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome
from fairtrial.significance.permutation import (
    LabelSwaps,
    RowSwaps,
    compute_permutation_p,
    list_permutation_caveats,
    prepare_swaps,
)
from fairtrial.study.records import ABSTAINED

if TYPE_CHECKING:
    import pandas as pd

# With more rows than this, intervals are computed from counts if possible. All other intervals use fewer resamples and omit the
# BCa correction, whose effect is negligible in this case.
MANY_ROWS = 50_000
REDUCED_RESAMPLES = 200
MAX_COUNT_RESAMPLES = 500

# A z test with a bootstrap standard error requires at least this many effective rows or clusters in each class.
MIN_EFFECTIVE_UNITS = 200

# With fewer clusters than this, bootstrap limits are too narrow.
_MIN_BOOTSTRAP_CLUSTERS = 5

# With more than `MANY_ROWS` rows, a permutation test draws fewer swaps. The test is omitted if even the minimum number of swaps
# would take too long.
_USUAL_SWAPPED_ROWS, _MAX_SWAPPED_ROWS = 1 << 28, 1 << 31
_MAX_MOVE_CELLS = 1 << 25

STOP_AFTER = 100
"""A permutation test stops when this many permuted differences are at least as extreme as the observed difference."""

register_method("bootstrap_z", "z test with a bootstrap standard error", cite="Efron & Tibshirani 1993", statistic="difference")

CONTRIBUTIONS = "effective contributions"
"""Key in `Outcome.details`: the effective number of rows that contribute to the variance of a bootstrapped difference."""

NO_VARIATION = "no confidence limits, because all resamples give the same value"

MEAN_LOSSES = ("brier", "log_loss")
BINS = 4096

_BATCH_SIZE, _JACKKNIFE_GROUPS = 250, 500

# Number of blocks of rows in the jackknife of a subgroup.
_SUBGROUP_BLOCKS = 100

# If a class has fewer rows than this, jackknife limits are too narrow.
_MIN_JACKKNIFE_CASES = 20

# Largest product of rows and blocks in one batch of the jackknife.
_MAX_CELLS = 1 << 21

_MAX_STORED_COUNTS = 1 << 23
_MAX_ANSWERS = 1 << 20
_MEANS_OF_RECALLS = ("balanced_accuracy", "g_mean")

SplitValue = tuple[str, str, int, int, float]
"""Data set, model, repeat, fold and value of a measure."""


class ModelStatistics(Protocol):
    """Statistics of one model on one data set, computed from rows in memory or streamed from a file."""

    @property
    def dataset(self) -> str:
        """The name of the data set."""

    @property
    def name(self) -> str:
        """The name of the model."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the data set."""

    @property
    def positive(self) -> int | None:
        """The index of the positive class."""

    @property
    def kind(self) -> ScoreKind | None:
        """The kind of the scores, or None if the model has no scores."""

    @property
    def rows(self) -> int:
        """The number of predictions.

        This is also the number of rows, unless rows are predicted several times.
        """

    @property
    def distinct_rows(self) -> int:
        """The number of rows. A row that is predicted several times counts once."""

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""

    def find_missing_input(self, measure: Measure) -> str:
        """Return the name of an input that a measure needs but the model lacks, or an empty string."""

    def compute_intervals(self, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
        """Compute each measure with an interval.

        If this is impossible, the estimate is NaN and the note gives the reason.
        """

    def count_confusion(self) -> Confusion | None:
        """Count rows, or sum their weights, by true and predicted class. Return None if there are no predicted labels."""

    def count_cluster_tables(self) -> FloatArray | None:
        """Count the rows of each cluster by true and predicted class.

        Return None if there are no clusters or no predicted labels.
        """

    def sum_support(self) -> FloatArray:
        """Compute the total weight of the rows of each class."""

    def count_classes(self) -> FloatArray:
        """Count the rows of each class."""

    def count_effective_rows(self) -> FloatArray:
        """For each class, compute the effective numbers of rows inside and outside the class.

        The result has one row per class and two columns.
        """

    def compute_class_aucs(self) -> list[float]:
        """Compute the AUC of each class against the rest. The values are NaN if there are no scores."""

    def tally(self, code: int, max_scores: int) -> ScoreTally:
        """Tally the scores for a class. If rows are streamed, merge the scores into at most `max_scores` bins."""

    def calibrate(self, level: float) -> pd.DataFrame:
        """Compute the calibration curve of the positive class or, if there is none, of the most probable class."""

    def assess_probabilities(self, settings: JudgeSettings) -> ProbabilityAssessment | None:
        """Assess the probabilities of the model. Return None if this is impossible."""

    def count_subgroups(self, column: str) -> dict[str, int]:
        """Count the rows of each subgroup that a column defines."""

    def select_subgroup(self, column: str, subgroup: str) -> ModelStatistics:
        """Restrict the model to the rows of a subgroup. A streamed model loses its scores."""

    def estimate_subgroups(self, measure: Measure, column: str, subgroups: Sequence[str]) -> SubgroupValues | None:
        """Estimate a measure for the rows inside and outside each subgroup.

        Return None if this is impossible because rows are streamed.
        """

    def pair_with(self, other: Self) -> PairStatistics | None:
        """Pair two models on the rows that both predict. Return None if no column identifies the rows of a streamed file."""


class PairStatistics(Protocol):
    """Statistics that a judgement needs about two models on the rows that both predict."""

    @property
    def rows(self) -> int:
        """The number of pairs of predictions on the rows that both models predict."""

    @property
    def distinct_rows(self) -> int:
        """The number of rows that both models predict. A row that is predicted several times counts once."""

    @property
    def units(self) -> int:
        """The number of rows, or of clusters if rows are clustered."""

    @property
    def effective_units(self) -> tuple[float, float]:
        """The effective number of rows or clusters, in total and in the class where it is smallest."""

    @property
    def is_weighted(self) -> bool:
        """Whether the paired predictions have weights."""

    def count_labels(self) -> FloatArray | None:
        """Count rows by true class and both predicted classes. Return None if a model has no predicted labels."""

    def compare_clustered_accuracies(self, level: float) -> Outcome:
        """Compare the accuracies of both models on clustered rows. Both models must have predicted labels."""

    def contrast_ranks(self) -> AucContrast | None:
        """Compute both AUCs and the variance of their difference.

        Return None if a model has no scores or if there is no positive class.
        """

    def resample_difference(self, measure: Measure, settings: JudgeSettings) -> Outcome | None:
        """Bootstrap a confidence interval for the difference in a measure. Return None if this is impossible."""

    def permute_difference(self, measure: Measure, settings: JudgeSettings, resamples: int, fewest: int) -> Outcome | None:
        """Run the permutation test of a measure. Return None if the test is impossible or would take too long.

        The maximum number of permutations is `resamples`. With many rows, it may be reduced, but not below `fewest`.
        """

    def compare_net_benefits(self, level: float) -> pd.DataFrame | None:
        """Compute differences in net benefit at many thresholds.

        Return None if rows are not in memory, if a model has no probabilities or if there is no positive class.
        """

    def count_rank_changes(self) -> int | None:
        """Count the rows whose rank by score differs between the two models.

        Return None if rows are not in memory, if a model has no scores or if there is no positive class.
        """

    def list_limitations(self, measure: Measure) -> list[Finding]:
        """List the tests that are omitted or approximate because of the number of rows."""


class FileStatistics(Protocol):
    """Statistics that a judgement needs about a whole file of predictions."""

    @property
    def source(self) -> str:
        """The name of the file."""

    @property
    def roles(self) -> Roles:
        """The roles of the columns."""

    @property
    def models(self) -> Sequence[ModelStatistics]:
        """The models. A model that predicts several data sets has one entry for each data set."""

    @property
    def predictions(self) -> PredictionFile | None:
        """The predictions, or None if they are not in memory."""

    def has_several_folds(self) -> bool:
        """Return whether any model has predictions from several folds."""

    def list_limitations(self, settings: JudgeSettings) -> list[Finding]:
        """List notes on the effects of weights, repeated predictions and the size of the file."""

    def count_classes(self, unequal_datasets: Collection[str]) -> dict[str, dict[str, int]]:
        """Count the rows of each class in each data set.

        `unequal_datasets` names the data sets whose models predict different rows.
        """

    def count_predictions_per_row(self) -> dict[str, tuple[int, int]]:
        """For each data set, return the smallest and the largest number of predictions per row."""

    def compute_split_values(self, measure: Measure) -> list[SplitValue]:
        """Compute a measure on each split of each data set. Return an empty list if rows are not in memory."""


@dataclass(frozen=True)
class JudgeSettings:
    """Options of a judgement.

    Attributes
    ----------
    level : float, default 0.95
        Confidence level of intervals.
    resamples : int, default 2000
        Number of bootstrap resamples.
    seed : int, default 0
        Seed of the resamples.
    alpha : float, default 0.05
        Significance level.
    binary_only : tuple of str
        Measures that are omitted for models without a positive class.
    """

    level: float = 0.95
    resamples: int = 2000
    seed: int = 0
    alpha: float = 0.05
    binary_only: tuple[str, ...] = ()

    def limit_resamples(self, rows: int) -> int:
        """Return the number of resamples, which is reduced if there are very many rows."""
        return self.resamples if rows <= MANY_ROWS else min(self.resamples, REDUCED_RESAMPLES)

    def explain_unavailable(self, model: ModelStatistics, measure: Measure) -> str:
        """Explain why a measure cannot be computed for a model.

        Return an empty string if no input is missing.
        """
        missing = model.find_missing_input(measure)
        if not missing and model.positive is None and measure.name in self.binary_only:
            missing = "a positive class"
        return f"needs {missing}" if missing else ""

    def make_undefined_interval(self, model: ModelStatistics, measure: Measure) -> Interval:
        """Create an interval without a value, and explain in its note why there is none."""
        nan = float("nan")
        return Interval(measure.name, nan, nan, nan, self.level, "", self.explain_unavailable(model, measure))


def find_missing_input(measure: Measure, has_labels: bool, kind: ScoreKind | None) -> str:
    """Return the name of the input that a measure lacks, or an empty string."""
    needs = measure.facts.needs
    available = {"labels": has_labels, "scores": kind is not None, "probabilities": kind == "probability"}
    return "" if available.get(needs, False) else needs


@dataclass(frozen=True)
class PositiveClasses:
    """The positive class of each data set in a file.

    Attributes
    ----------
    classes : mapping of str to (str, str)
        Positive and negative class of each data set that has a positive class.
    specified : bool
        Whether the user chose the positive class.
    can_flip : bool
        Whether another positive class would reverse the meaning of the scores. False if score columns name their classes.
    reasons : mapping of str to str
        Reason for the choice of the positive class of each data set. Empty if the user chose the class.
    """

    classes: Mapping[str, tuple[str, str]]
    specified: bool = False
    can_flip: bool = True
    reasons: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_models(cls, models: Iterable[ModelStatistics], roles: Roles, specified: bool) -> PositiveClasses:
        """Collect the positive class of each data set from the models."""
        classes, reasons = {}, {}
        for model in models:
            if model.positive is not None:
                names = [format_label(label) for label in model.classes]
                classes[model.dataset] = names[model.positive], names[1 - model.positive] if len(names) == 2 else "LABEL"
                reasons[model.dataset] = choose_positive(names, roles.scored_class)[1]
        can_flip = any(name is None for model_columns in roles.models for name, _ in model_columns.scores)
        return cls(classes, specified, can_flip, {} if specified else reasons)

    @property
    def reason(self) -> str:
        """How the positive class was chosen."""
        if self.specified:
            return "as requested"
        return join_names(dict.fromkeys(self.reasons.values())) or "second in sort order"

    @property
    def summary(self) -> str:
        """The positive class of each data set as text, or an empty string if there is no positive class.

        >>> PositiveClasses({"a": ("yes", "no"), "b": ("yes", "no")}).summary
        'positive class yes'
        >>> PositiveClasses({"a": ("yes", "no"), "b": ("1", "0")}).summary
        'positive class yes on a, 1 on b'
        >>> PositiveClasses({"a": ("fraud", "legit")}, reasons={"a": "inferred from its name"}).summary
        'positive class fraud (inferred from its name)'
        """
        labels = list(dict.fromkeys(label for label, _ in self.classes.values()))
        if len(labels) < 2:
            # The second class in sort order needs no explanation.
            is_first = any(positive < negative for positive, negative in self.classes.values())
            reason = f" ({self.reason})" if self.reasons and is_first else ""
            return "".join(f"positive class {label}{reason}" for label in labels)
        by_label = {label: [name for name, (positive, _) in self.classes.items() if positive == label] for label in labels}
        return "positive class " + ", ".join(f"{label} on {join_names(names)}" for label, names in by_label.items())

    def select_below_chance(self, scores: pd.DataFrame) -> pd.DataFrame:
        """Select AUCs with confidence intervals below 0.5, on data sets with a positive class."""
        is_below = (scores["measure"] == "auc") & (scores["high"].to_numpy(dtype=np.float64) < 0.5)
        return scores[is_below & scores["dataset"].isin(list(self.classes))]

    @property
    def remedy(self) -> str:
        """Advice to the user if the scores seem to refer to the other class."""
        if not self.can_flip:
            return "check which class each score column belongs to"
        negatives = {negative for _, negative in self.classes.values()}
        return f"pass --positive {shlex.quote(negatives.pop()) if len(negatives) == 1 else 'LABEL'}"


@dataclass(frozen=True, eq=False)
class InMemoryModel:
    """Predictions of one model on one data set, in memory.

    Classes are stored as indices. If a predicted label is missing or is not a class, its index is ABSTAINED. The arrays in
    `subgroups` contain the subgroup of each row of the data set, even if the model does not predict the row.
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
    subgroups: Mapping[str, npt.NDArray[Any]]
    clusters: IntArray | None = None
    answers: IntArray | None = None
    """Position of each prediction among the predictions of the same row, or None if each row is predicted once."""
    dataset_weights: FloatArray | None = None
    """Weight of each row of the data set."""

    @classmethod
    def from_dataset(cls, dataset: DatasetPredictions, name: str, positive: int | None) -> InMemoryModel:
        """Select all predictions of a model.

        Repeated predictions of a row share its weight and, if no clusters are given, form a cluster.
        """
        model = dataset.models[name]
        lines = np.lexsort((model.fold, model.repeat, model.row_indices)) if model.has_repeats else model.first_lines
        lines = _drop_unweighted_lines(lines, model.row_indices, dataset.weights)
        row_indices, weights = model.row_indices[lines], simplify_weights(dataset.weights)
        answers, clusters = None, dataset.clusters
        if model.has_repeats:
            starts = np.flatnonzero(np.diff(row_indices, prepend=-1))
            answers = np.arange(len(lines)) - np.repeat(starts, np.diff(starts, append=len(lines)))
            clusters = np.arange(len(dataset.row_ids)) if clusters is None else clusters
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
            _share_weights(row_indices, weights),
            dataset.subgroups,
            None if clusters is None else clusters[row_indices],
            answers,
            weights,
        )

    def select_rows(self, selection: npt.NDArray[Any]) -> InMemoryModel:
        """Select rows by a mask or by their positions."""
        return replace(
            self,
            row_indices=self.row_indices[selection],
            y_true=self.y_true[selection],
            y_pred=None if self.y_pred is None else self.y_pred[selection],
            scores=None if self.scores is None else self.scores[selection],
            weights=None if self.weights is None else self.weights[selection],
            clusters=None if self.clusters is None else self.clusters[selection],
            answers=None if self.answers is None else self.answers[selection],
        )

    @property
    def keys(self) -> IntArray:
        """A unique number for each prediction, computed from `row_indices` and `answers`."""
        return self.row_indices if self.answers is None else self.row_indices * _MAX_ANSWERS + self.answers

    @property
    def rows(self) -> int:
        """The number of predictions.

        This is also the number of rows, unless rows are predicted several times.
        """
        return len(self.y_true)

    @property
    def distinct_rows(self) -> int:
        """The number of rows. A row that is predicted several times counts once."""
        return self.rows if self.answers is None else len(np.unique(self.row_indices))

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weights is not None

    @property
    def y_score(self) -> FloatArray | None:
        """The scores in the form that measures expect.

        With two classes, these are the scores of the positive class, or of the second class if neither is positive. With more
        classes, they are all scores.
        """
        if self.scores is None or len(self.classes) > 2:
            return self.scores
        return np.ascontiguousarray(self.scores[:, 1 if self.positive is None else self.positive])

    @cached_property
    def has_unknown_labels(self) -> bool:
        """Whether any predicted labels are not classes."""
        return self.y_pred is not None and bool((self.y_pred == ABSTAINED).any())

    def get_measure_options(self, with_unknown: bool = False) -> dict[str, Any]:
        """Return the class codes and the positive class as arguments for measures. Optionally add a code for unknown labels."""
        return {"labels": list_codes(len(self.classes), with_unknown), "positive": self.positive}

    def find_missing_input(self, measure: Measure) -> str:
        """Return the name of an input that a measure needs but the model lacks, or an empty string."""
        return find_missing_input(measure, self.y_pred is not None, self.kind)

    def select_input(self, measure: Measure) -> Any:
        """Select the labels or scores that the measure uses."""
        return self.y_pred if measure.facts.needs == "labels" else self.y_score

    def compute_value(self, measure: Measure) -> float:
        """Compute the value of a measure. The result is NaN if the measure is undefined."""
        has_unknown = measure.facts.needs == "labels" and self.has_unknown_labels
        adapted_measure = allow_unknown_labels(measure) if has_unknown else measure
        with ignore_warnings():
            return float(
                adapted_measure(
                    self.y_true, self.select_input(measure), sample_weight=self.weights, **self.get_measure_options(has_unknown)
                )
            )

    def count_confusion(self) -> Confusion | None:
        """Count rows, or sum their weights, by true and predicted class. Return None if there are no predicted labels."""
        if self.y_pred is None:
            return None
        options = self.get_measure_options(self.has_unknown_labels)
        return Confusion.from_labels(self.y_true, self.y_pred, sample_weight=self.weights, **options)

    def count_cluster_tables(self) -> FloatArray | None:
        """Count the rows of each cluster by true and predicted class.

        Return None if there are no clusters or no predicted labels.
        """
        if self.clusters is None or self.y_pred is None:
            return None
        k = len(self.classes) + 1
        codes = np.unique(self.clusters, return_inverse=True)[1]
        predicted = np.where(self.y_pred == ABSTAINED, k - 1, self.y_pred)
        cells = (codes * k + self.y_true) * k + predicted
        return np.bincount(cells, minlength=(codes.max() + 1) * k * k).reshape(-1, k, k).astype(np.float64)

    def sum_support(self) -> FloatArray:
        """Compute the total weight of the rows of each class."""
        return np.bincount(self.y_true, self.weights, minlength=len(self.classes)).astype(np.float64)

    def count_classes(self) -> FloatArray:
        """Count the rows of each class."""
        return np.bincount(self.y_true, minlength=len(self.classes)).astype(np.float64)

    def count_effective_rows(self) -> FloatArray:
        """For each class, compute the effective numbers of rows inside and outside the class.

        The result has one row per class and two columns.
        """
        clusters = None if self.clusters is None else np.unique(self.clusters, return_inverse=True)[1]
        if clusters is None and self.weights is None:
            counts = self.count_classes()
            return np.column_stack([counts, len(self.y_true) - counts])
        weights = np.ones(len(self.y_true)) if self.weights is None else self.weights
        return np.array(
            [
                [count_effective_rows(weights * (chosen == (self.y_true == code)), clusters) for chosen in (True, False)]
                for code in range(len(self.classes))
            ]
        )

    def compute_class_aucs(self) -> list[float]:
        """Compute the AUC of each class against the rest. The values are NaN if there are no scores."""
        if self.scores is None:
            return [float("nan")] * len(self.classes)
        with ignore_warnings():
            return [float(auc.of(self.tally(code, MANY_ROWS))) for code in range(len(self.classes))]  # type: ignore[attr-defined]

    def tally(self, code: int, max_scores: int) -> ScoreTally:
        """Tally all scores for a class, regardless of `max_scores`."""
        del max_scores
        return self._positive_tally if code == self.positive else self._tally_class(code)

    @cached_property
    def _positive_tally(self) -> ScoreTally:
        return self._tally_class(self.positive or 0)

    def _tally_class(self, code: int) -> ScoreTally:
        scores = np.empty((0, len(self.classes))) if self.scores is None else self.scores
        return tally_scores(self.y_true == code, np.ascontiguousarray(scores[:, code]), self.weights)

    def calibrate(self, level: float) -> pd.DataFrame:
        """Compute the calibration curve of the positive class or, if there is none, of the most probable class."""
        scores = np.empty((0, len(self.classes))) if self.scores is None else self.scores
        if self.positive is not None:
            outcome, probability = self.y_true == self.positive, scores[:, self.positive]
        else:
            outcome, probability = self.y_true == scores.argmax(axis=1), scores.max(axis=1)
        if self.weights is not None:
            return calibration_curve(outcome, probability, sample_weight=self.weights, level=level)
        return calibration_curve(outcome, probability, level=level, cluster=self.clusters)

    def assess_probabilities(self, settings: JudgeSettings) -> ProbabilityAssessment | None:
        """Assess the probabilities of the model. Return None if the model has no probabilities."""
        if self.kind != "probability" or self.y_score is None:
            return None
        rows = ProbabilityRows.read(self.y_true, self.y_score, sample_weight=self.weights, **self.get_measure_options())
        sample = OutcomeSample.from_rows(rows.outcomes, read_clusters(self.clusters, self.weights))
        return ProbabilityAssessment.from_sample(sample, settings.level, settings.seed)

    def count_subgroups(self, column: str) -> dict[str, int]:
        """Count the rows of each subgroup that a column defines."""
        codes, names = self._factorize_subgroups(column)
        return dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))

    def select_subgroup(self, column: str, subgroup: str) -> InMemoryModel:
        """Restrict the model to the rows of a subgroup."""
        codes, names = self._factorize_subgroups(column)
        return self.select_rows(codes == (names.index(subgroup) if subgroup in names else -1))

    def _factorize_subgroups(self, column: str) -> tuple[IntArray, list[str]]:
        """Return the subgroup code of each prediction, and the subgroup names in code order."""
        import pandas as pd

        if column not in self._subgroup_codes:
            codes, names = pd.factorize(self.subgroups[column][self.row_indices])
            self._subgroup_codes[column] = codes.astype(np.intp), [str(name) for name in names]
        return self._subgroup_codes[column]

    @cached_property
    def _subgroup_codes(self) -> dict[str, tuple[IntArray, list[str]]]:
        return {}

    def estimate_subgroups(self, measure: Measure, column: str, subgroups: Sequence[str]) -> SubgroupValues:
        """Estimate a measure for the rows inside and outside each subgroup."""
        own_codes, names = self._factorize_subgroups(column)
        codes, count = np.array([subgroups.index(name) for name in names], dtype=np.intp)[own_codes], len(subgroups)
        clusters = None if self.clusters is None else np.unique(self.clusters, return_inverse=True)[1]
        limits, scores = measure.facts.range, self.scores
        with ignore_warnings():
            if isinstance(measure, LabelMeasure) and self.y_pred is not None:
                return self._estimate_label_subgroups(measure, codes, count, clusters)
            if measure.name == "auc" and scores is not None and self.positive is not None and self.weights is None:
                positive_scores = np.ascontiguousarray(scores[:, self.positive])
                return estimate_aucs(positive_scores, self.y_true == self.positive, codes, count, clusters)
            if measure.name in MEAN_LOSSES and scores is not None:
                losses = compute_losses(scores, self.y_true, self.positive, measure.name)
                return estimate_by_influence(partial(self._average_losses, losses), codes, count, clusters, limits)
            jackknife = partial(self._jackknife, measure)
            values = estimate_by_influence(jackknife, codes, count, clusters, limits, _MIN_JACKKNIFE_CASES)
            return replace(values, obstacle="gap_many_rows") if len(self.y_true) > MANY_ROWS else values

    def _estimate_label_subgroups(
        self, measure: LabelMeasure, codes: IntArray, count: int, clusters: IntArray | None
    ) -> SubgroupValues:
        assert self.y_pred is not None
        labels = tuple(list_codes(len(self.classes), self.has_unknown_labels))
        k, n_cells = len(labels), len(labels) ** 2
        cells = self.y_true * k + np.where(self.y_pred == ABSTAINED, k - 1, self.y_pred)
        if clusters is None and self.weights is None:
            tables = np.bincount(codes * n_cells + cells, minlength=count * n_cells).reshape(count, k, k).astype(np.float64)
            return estimate_table_subgroups(measure, tables, labels, self.positive)
        cell_tables = Confusion(np.eye(n_cells).reshape(n_cells, k, k), labels, self.positive)
        proportions = count_table_successes(measure, cell_tables)
        if proportions is None or (clusters is not None and self.weights is not None):
            totals = np.ones(n_cells) if proportions is None else proportions[1]
            compute = partial(self._linearize_table, measure, labels, cells, totals)
            return estimate_by_influence(compute, codes, count, clusters, measure.facts.range)
        hits, trials = (counts[cells] for counts in proportions)
        if clusters is None:
            assert self.weights is not None
            weights = self.weights
            amounts = (hits * weights, trials * weights, trials * weights**2)
            sums, totals, squares = (sum_by_code(codes, values, count) for values in amounts)
            return estimate_proportions(sums, totals, squares)
        n_clusters = int(clusters.max()) + 1
        cluster_codes = clusters * count + codes
        by_cluster = (sum_by_code(cluster_codes, values, n_clusters * count).reshape(-1, count) for values in (hits, trials))
        return estimate_clustered_proportions(*by_cluster)

    def _linearize_table(
        self,
        measure: LabelMeasure,
        labels: tuple[int, ...],
        cells: IntArray,
        totals: FloatArray,
        mask: npt.NDArray[np.bool_],
    ) -> tuple[float, FloatArray, FloatArray]:
        """Compute a measure of labels on the selected rows, and the influence and weight of each row."""
        k, weights = len(labels), np.ones(int(mask.sum())) if self.weights is None else self.weights[mask]
        table = sum_by_code(cells[mask], weights, k * k).reshape(k, k)
        value, influences = compute_cell_influences(table, make_table_function(measure, labels, self.positive))
        influence_by_row = influences.ravel()[cells[mask]] * weights / weights.sum()
        return value, influence_by_row, weights * totals[cells[mask]]

    def _average_losses(self, losses: FloatArray, mask: npt.NDArray[np.bool_]) -> tuple[float, FloatArray, FloatArray]:
        """Compute the mean loss on the selected rows, and the influence and weight of each row."""
        chosen, weights = losses[mask], np.ones(int(mask.sum())) if self.weights is None else self.weights[mask]
        mean = float(np.average(chosen, weights=weights))
        return mean, (chosen - mean) * weights / weights.sum(), weights

    def _jackknife(self, measure: Measure, mask: npt.NDArray[np.bool_]) -> tuple[float, FloatArray, FloatArray]:
        """Compute a measure on the selected rows, the influence of each block, and the weight of each row.

        A block consists of several rows. The influence of a block is stored at its first row. Rows outside the rarest class
        have a weight of 0. If there are too many rows, no influences are computed, so there are no confidence limits.
        """
        rows = np.flatnonzero(mask)
        value, influences = self.select_rows(rows).compute_value(measure), np.zeros(len(rows))
        y_true = self.y_true[rows]
        # The rows of the rarest class determine the degrees of freedom.
        rarest = y_true == np.bincount(y_true, minlength=len(self.classes)).argmin()
        weights = rarest * (1.0 if self.weights is None else self.weights[rows])
        if weights.sum() == 0:
            return value, influences, np.zeros(len(rows))
        units = np.arange(len(rows)) if self.clusters is None else np.unique(self.clusters[rows], return_inverse=True)[1]
        blocks = min(int(units.max()) + 1, _SUBGROUP_BLOCKS)
        if len(self.y_true) > MANY_ROWS or blocks < 2:
            return value, influences, weights
        order = np.random.default_rng(0).permutation(int(units.max()) + 1) % blocks
        block_index = order[units]
        values = self.select_rows(rows)._compute_without(measure, block_index, blocks)
        deviations = np.sqrt((blocks - 1) / blocks) * (values.mean() - values)
        influences[np.unique(block_index, return_index=True)[1]] = np.nan_to_num(deviations)
        return value, influences, weights

    def _compute_without(self, measure: Measure, block_index: IntArray, blocks: int) -> FloatArray:
        """Compute a measure repeatedly, each time without the rows of one block."""
        has_unknown = measure.facts.needs == "labels" and self.has_unknown_labels
        adapted_measure = allow_unknown_labels(measure) if has_unknown else measure
        step = max(1, _MAX_CELLS // len(block_index))
        with ignore_warnings():
            sample = adapted_measure.read_rows(
                self.y_true, self.select_input(measure), sample_weight=self.weights, **self.get_measure_options(has_unknown)
            )
            return np.concatenate(
                [
                    adapted_measure.compute_values(sample, (block_index != omitted[:, None]).astype(np.uint8))
                    for omitted in np.split(np.arange(blocks), range(step, blocks, step))
                ]
            )

    def pair_with(self, other: InMemoryModel) -> InMemoryPair:
        """Pair two models on the rows that both predict.

        If a row is predicted several times, each prediction by one model is paired with each prediction by the other model. If
        both models predict each row equally often, the i-th predictions are paired instead, with the same results.
        """
        if self._has_same_keys(other):
            return InMemoryPair(self, other)
        common = np.intersect1d(self.row_indices, other.row_indices)
        first, second = (model.select_rows(np.isin(model.row_indices, common)) for model in (self, other))
        if not first._has_same_keys(second):
            left, right = _cross_join(first.row_indices, second.row_indices)
            first, second = first.select_rows(left), second.select_rows(right)
        weights = _share_weights(first.row_indices, self.dataset_weights)
        clusters = second.clusters if first.clusters is None else first.clusters
        return InMemoryPair(*(replace(model, weights=weights, clusters=clusters) for model in (first, second)))

    def _has_same_keys(self, other: InMemoryModel) -> bool:
        return (self.answers is None) == (other.answers is None) and np.array_equal(self.keys, other.keys)

    def compute_intervals(self, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
        """Compute each measure with an interval.

        If this is impossible, the estimate is NaN and the note gives the reason.
        """
        available = [measure for measure in measures if not settings.explain_unavailable(self, measure)]
        by_measure: dict[str, Interval] = {}
        if len(self.y_true) > MANY_ROWS and self.weights is None and self.clusters is None:
            by_measure = {interval.measure: interval for interval in self._compute_count_intervals(available, settings)}
        remaining = [measure for measure in available if measure.name not in by_measure]
        closed_form = [measure for measure in remaining if self._has_closed_form(measure)]
        others = [measure for measure in remaining if measure not in closed_form]
        many_rows = len(self.y_true) > MANY_ROWS
        groups = ((closed_form, "auto"), (others, "percentile")) if many_rows else ((remaining, "auto"),)
        for group, method in groups:
            evaluated = self._evaluate_intervals(group, method, settings) if group else ()
            by_measure.update((interval.measure, self._omit_invalid_limits(interval)) for interval in evaluated)
        return [
            by_measure[measure.name] if measure.name in by_measure else settings.make_undefined_interval(self, measure)
            for measure in measures
        ]

    def _has_closed_form(self, measure: Measure) -> bool:
        """Return whether the confidence limits of a measure are computed without resampling.

        This is the case for measures of calibration and for net benefit. For unweighted rows, it is also the case for
        proportions and for the AUC of two classes.
        """
        if isinstance(measure, OutcomeMeasure):
            return True
        if self.weights is not None:
            return False
        is_binary = self.positive is not None and len(self.classes) == 2
        if measure.facts.proportion:
            return self.positive is not None or not measure.facts.per_class
        return measure.name in ("auc", "gini") and is_binary

    def _omit_invalid_limits(self, interval: Interval) -> Interval:
        """Omit bootstrap limits if there are very few clusters, or if all resamples give the same value."""
        if interval.method not in ("bca", "percentile"):
            return interval
        clusters = 0 if self.clusters is None else len(np.unique(self.clusters))
        if 0 < clusters < _MIN_BOOTSTRAP_CLUSTERS:
            return omit_limits(interval, _describe_few_clusters(clusters))
        return omit_limits(interval, NO_VARIATION) if interval.low == interval.high == interval.estimate else interval

    def _compute_count_intervals(self, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
        """Compute the intervals that do not require resampling of rows, such as those based on counts."""
        intervals = CountIntervals(settings)
        results = []
        label_measures = [measure for measure in measures if measure.facts.needs == "labels"]
        table = self.count_confusion() if label_measures else None
        if table is not None:
            results += [intervals.from_table(measure, table) for measure in label_measures]
        score_measures = [measure for measure in measures if type(measure) is ScoreMeasure]
        if score_measures and self.positive is not None and self.scores is not None:
            results += [intervals.from_tally(measure, self._positive_tally) for measure in score_measures]
        for measure in measures:
            if measure.name in MEAN_LOSSES and self.scores is not None:
                losses = compute_losses(self.scores, self.y_true, self.positive, measure.name)
                deviation = float(losses.std(ddof=1))
                results.append(intervals.from_mean(measure.name, self.compute_value(measure), deviation, len(losses)))
            elif measure.name == "calibration_error":
                nan, reason = float("nan"), WITHOUT_LIMITS[measure.name]
                results.append(Interval(measure.name, self.compute_value(measure), nan, nan, settings.level, "none", reason))
        return results

    def _evaluate_intervals(self, measures: list[Measure], method: str, settings: JudgeSettings) -> tuple[Interval, ...]:
        """Evaluate all measures on the same resamples. Only measures of predicted labels receive unknown labels."""
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
                cluster=self.clusters,
                **self.get_measure_options(has_unknown),
            ).intervals


def _drop_unweighted_lines(lines: IntArray, row_indices: IntArray, weights: FloatArray | None) -> IntArray:
    """Drop predictions of rows with a weight of zero, because such rows do not count."""
    return lines if weights is None or weights.all() else lines[weights[row_indices[lines]] > 0]


def simplify_weights(weights: FloatArray | None) -> FloatArray | None:
    """Return the weights of rows, or None if all positive weights are equal.

    Equal weights have no effect.

    >>> simplify_weights(np.array([2.0, 2.0, 0.0])) is None
    True
    """
    if weights is None:
        return None
    used = weights[weights > 0]
    return None if (used == used[0]).all() else weights


def _cross_join(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Join each prediction by the first model with each prediction by the second model for the same row.

    `first` and `second` contain the rows that the models predict, in sort order. The results are positions in these arrays.

    >>> [part.tolist() for part in _cross_join(np.array([0, 0, 4]), np.array([0, 4, 4]))]
    [[0, 1, 2, 2], [0, 0, 1, 2]]
    """
    starts, stops = (np.searchsorted(second, first, side=side) for side in ("left", "right"))
    counts = stops - starts
    left = np.repeat(np.arange(len(first)), counts)
    return left, np.arange(len(left)) + np.repeat(starts - np.cumsum(counts) + counts, counts)


def _share_weights(row_indices: IntArray, weights: FloatArray | None) -> FloatArray | None:
    """Divide the weight of each row among its predictions.

    Return None if there are no weights and all rows have equally many predictions.
    """
    if not len(row_indices):
        return None if weights is None else weights[row_indices]
    counts = np.bincount(row_indices)[row_indices]
    if (counts == counts[0]).all():
        return None if weights is None else weights[row_indices]
    return np.asarray((1.0 if weights is None else weights[row_indices]) / counts)


@dataclass(frozen=True, eq=False)
class InMemoryPair:
    """Predictions of two models on the same rows, in memory."""

    first: InMemoryModel
    second: InMemoryModel

    @property
    def rows(self) -> int:
        """The number of pairs of predictions on the rows that both models predict."""
        return self.first.rows

    @property
    def distinct_rows(self) -> int:
        """The number of rows that both models predict. A row that is predicted several times counts once."""
        has_answers = self.first.answers is not None or self.second.answers is not None
        return len(np.unique(self.first.row_indices)) if has_answers else self.rows

    @property
    def is_weighted(self) -> bool:
        """Whether the paired predictions have weights."""
        return self.first.weights is not None

    @cached_property
    def effective_units(self) -> tuple[float, float]:
        """The effective number of rows or clusters, in total and in the class where it is smallest."""
        y_true = self.first.y_true
        if self.first.weights is None and self.first.clusters is None:
            counts = np.bincount(y_true)
            return float(len(y_true)), float(counts[counts > 0].min(initial=len(y_true)))
        clusters = None if self.first.clusters is None else np.unique(self.first.clusters, return_inverse=True)[1]
        weights = np.ones(len(y_true)) if self.first.weights is None else self.first.weights
        by_class = [count_effective_rows(weights * (y_true == code), clusters) for code in np.unique(y_true)]
        return count_effective_rows(weights, clusters), min(by_class, default=0.0)

    def count_labels(self) -> FloatArray | None:
        """Count rows by true class and both predicted classes. Return None if a model has no predicted labels.

        Unknown labels have the last code.
        """
        labels = self.first.y_pred, self.second.y_pred
        if labels[0] is None or labels[1] is None:
            return None
        k = len(self.first.classes) + 1
        first, second = (np.where(y_pred == ABSTAINED, k - 1, y_pred) for y_pred in (labels[0], labels[1]))
        cells = (self.first.y_true * k + first) * k + second
        return np.bincount(cells, minlength=k**3).reshape(k, k, k).astype(np.float64)

    @property
    def units(self) -> int:
        """The number of rows, or of clusters if rows are clustered."""
        return self.rows if self.first.clusters is None else len(np.unique(self.first.clusters))

    def compare_clustered_accuracies(self, level: float) -> Outcome:
        """Compare the accuracies of both models on clustered rows. Both models must have predicted labels."""
        assert self.first.y_pred is not None
        assert self.second.y_pred is not None
        return mcnemar(self.first.y_true, self.first.y_pred, self.second.y_pred, level=level, cluster=self.first.clusters)

    def contrast_ranks(self) -> AucContrast | None:
        """Compute both AUCs and the variance of their difference.

        Return None if a model has no scores or if there is no positive class.
        """
        positive = self.first.positive
        if self.first.scores is None or self.second.scores is None or positive is None:
            return None
        first, second = (np.ascontiguousarray(scores[:, positive]) for scores in (self.first.scores, self.second.scores))
        return contrast_aucs(first, second, self.first.y_true == positive, self.first.clusters)

    def resample_difference(self, measure: Measure, settings: JudgeSettings) -> Outcome | None:
        """Bootstrap a confidence interval for the difference in a measure."""
        adapted_measure, measure_options = self._adapt_measure(measure)
        options = {**measure_options, "sample_weight": self.first.weights}
        bound = [
            BoundMeasure(
                adapted_measure,
                adapted_measure.read_rows(model.y_true, model.select_input(measure), **options),
                {"average": "auto"},
            )
            for model in (self.first, self.second)
        ]
        clusters = self._read_clusters()
        resamples = settings.limit_resamples(self.rows)
        plan = IntervalPlan(
            "auto" if self.rows <= MANY_ROWS else "percentile", settings.level, resamples, settings.seed, False, clusters
        )

        def compute(drawn: DrawCounts) -> FloatArray:
            with np.errstate(invalid="ignore"):
                return np.asarray(bound[0].compute_resampled(drawn) - bound[1].compute_resampled(drawn))[:, None]

        draws = plan.build_resamples(bound[0].rows)
        values = draws.compute_values(compute)[:, 0]
        jackknife = None if plan.method == "percentile" else draws.compute_jackknife(compute)[:, 0]
        estimate = bound[0].estimate() - bound[1].estimate()
        outcome = summarize_resamples(measure, estimate, values, self.distinct_rows, settings.level, jackknife)
        if clusters is not None and clusters.max() + 1 < _MIN_BOOTSTRAP_CLUSTERS and outcome.effect is not None:
            nan, note = float("nan"), _describe_few_clusters(int(clusters.max()) + 1)
            outcome = replace(outcome, effect=replace(outcome.effect, low=nan, high=nan, note=note))
        return outcome

    def compare_net_benefits(self, level: float) -> pd.DataFrame | None:
        """Compute differences in net benefit at many thresholds.

        Return None if a model has no probabilities or if there is no positive class.
        """
        positive = self.first.positive
        if positive is None or any(model.kind != "probability" for model in (self.first, self.second)):
            return None
        scores = {
            name: np.ascontiguousarray(model.scores[:, positive])
            for name, model in (("first", self.first), ("second", self.second))
            if model.scores is not None
        }
        lines = decision_differences(
            self.first.y_true == positive,
            scores,
            level=level,
            labels=[False, True],
            sample_weight=self.first.weights,
            cluster=self.first.clusters,
        )
        return lines[lines["second"] == "second"].reset_index(drop=True)

    def _read_clusters(self) -> IntArray | None:
        return read_clusters(self.first.clusters, self.first.weights)

    @property
    def _has_many_effective_rows(self) -> bool:
        return self.rows > MANY_ROWS and min(self.effective_units) >= MIN_EFFECTIVE_UNITS

    def permute_difference(self, measure: Measure, settings: JudgeSettings, resamples: int, fewest: int) -> Outcome | None:
        """Run the permutation test of a measure.

        With many rows, the test is omitted if a bootstrap z test is valid or if the permutations would take too long. The test
        is never omitted for measures that need only predicted labels, such as accuracy, if the rows are neither weighted nor
        clustered.
        """
        adapted_measure, options = self._adapt_measure(measure)
        clusters = self._read_clusters()
        can_count = measure.facts.needs == "labels" and self.first.weights is None and clusters is None
        if self.rows > MANY_ROWS and not can_count:
            n_moves = (self.rows if clusters is None else int(clusters.max()) + 1) * (len(self.first.classes) + 1) ** 2
            is_too_long = self.rows * fewest > _MAX_SWAPPED_ROWS or (
                measure.facts.needs == "labels" and n_moves > _MAX_MOVE_CELLS
            )
            if self._has_many_effective_rows or is_too_long:
                return None
            resamples = max(fewest, min(resamples, _USUAL_SWAPPED_ROWS // self.rows))
        swaps = prepare_swaps(
            adapted_measure,
            self.first.y_true,
            self.first.select_input(measure),
            self.second.select_input(measure),
            {**options, "sample_weight": self.first.weights},
            {"average": "auto"},
            clusters,
        )
        return run_swaps(adapted_measure, swaps, settings, resamples, self.distinct_rows)

    def count_rank_changes(self) -> int | None:
        """Count the rows whose rank by score differs between the two models.

        Return None if a model has no scores or if there is no positive class.
        """
        from scipy.stats import rankdata

        positive = self.first.positive
        if self.first.scores is None or self.second.scores is None or positive is None:
            return None
        ranks = (rankdata(scores[:, positive]) for scores in (self.first.scores, self.second.scores))
        return int(np.count_nonzero(np.not_equal(*ranks)))

    def list_limitations(self, measure: Measure) -> list[Finding]:
        """List the tests that are omitted because there are too many rows."""
        is_omitted = self._has_many_effective_rows and not any(
            model.find_missing_input(measure) for model in (self.first, self.second)
        )
        return [Finding.of("permutation_omitted", limit=MANY_ROWS)] if is_omitted else []

    def _adapt_measure(self, measure: Measure) -> tuple[Measure, dict[str, Any]]:
        """Return the measure and its options, adapted to unknown labels if either model has unknown labels."""
        has_unknown = measure.facts.needs == "labels" and (self.first.has_unknown_labels or self.second.has_unknown_labels)
        return (allow_unknown_labels(measure) if has_unknown else measure), self.first.get_measure_options(has_unknown)


def _describe_few_clusters(clusters: int) -> str:
    needed = format_count(_MIN_BOOTSTRAP_CLUSTERS, "cluster")
    return f"no confidence limits, because the bootstrap needs at least {needed}, got {clusters}"


def run_swaps(measure: Measure, swaps: LabelSwaps | RowSwaps, settings: JudgeSettings, resamples: int, rows: int) -> Outcome:
    """Run a permutation test that stops early if the difference is far from significant."""
    observed = swaps.compute_observed()
    result = compute_permutation_p(swaps, observed, resamples, settings.seed, STOP_AFTER)
    return Outcome(
        "permutation_test",
        observed[0] - observed[1],
        result.p_value,
        n=rows,
        variant="exact" if result.is_exact else f"{result.n_swaps:,} resamples",
        caveats=list_permutation_caveats(measure, result.undefined),
        resamples=None if result.is_exact else result.n_swaps,
        undefined_resamples=result.undefined,
    )


def summarize_resamples(
    measure: Measure, estimate: float, values: FloatArray, rows: int, level: float, jackknife: FloatArray | None = None
) -> Outcome:
    """Summarize resampled differences by confidence limits and a standard error.

    Limits are BCa limits if jackknife values are given, otherwise percentile limits. The p-value comes from a z test with this
    standard error. This test is valid only for very many rows.
    """
    defined = values[~np.isnan(values)]
    limits, error = (float("nan"), float("nan")), float("nan")
    varies = bool(compute_distances(defined, estimate).any())
    if len(defined) > 1 and np.isfinite(estimate) and varies:
        bca = None if jackknife is None else compute_bca_limits(defined, estimate, jackknife, level)
        limits = compute_percentile_limits(defined, level) if bca is None else bca
        error = float(defined.std(ddof=1)) if np.isfinite(defined).all() else float("nan")
    return Outcome(
        "bootstrap_z",
        estimate,
        compute_normal_p(estimate, error),
        n=rows,
        variant=f"{len(values):,} resamples",
        effect=Effect(f"difference in {measure.name}", estimate, *limits, level, "" if varies else NO_VARIATION),
        details={"standard error": error, **({} if jackknife is None else {CONTRIBUTIONS: _count_contributions(jackknife)})},
        resamples=len(values),
        undefined_resamples=len(values) - len(defined),
    )


def _count_contributions(jackknife: FloatArray) -> float:
    """Compute the effective number of rows (or groups of rows) that contribute to the variance of a difference.

    With influences u, this number is (sum u^2)^2 / sum u^4. The number is small if few rows determine the result.
    """
    influences = jackknife[np.isfinite(jackknife)]
    squares = (influences - influences.mean()) ** 2 if len(influences) else np.zeros(1)
    fourth = float((squares**2).sum())
    return float(squares.sum()) ** 2 / fourth if fourth > 0 else 0.0


def compute_normal_p(estimate: float, error: float) -> float:
    """Compute the two-sided p-value of a z test, given an estimate and its standard error."""
    from scipy.special import ndtr

    if estimate == 0:
        return 1.0
    return float(2 * ndtr(-abs(estimate) / error)) if error > 0 else float("nan")


class InMemoryModels:
    """All models of a file whose rows are in memory."""

    def __init__(self, predictions: PredictionFile, positive: object) -> None:
        self.predictions, self.source, self.roles = predictions, predictions.source, predictions.roles
        self.models = tuple(
            InMemoryModel.from_dataset(dataset, name, dataset.get_positive_index(positive))
            for dataset in predictions.datasets
            for name in dataset.models
        )

    def has_several_folds(self) -> bool:
        """Return whether any model has predictions from several folds."""
        return any(len(np.unique(model.fold)) > 1 for dataset in self.predictions.datasets for model in dataset.models.values())

    def list_limitations(self, settings: JudgeSettings) -> list[Finding]:
        """List notes on the effects of repeated predictions, weights and very many rows."""
        findings = []
        if any(model.has_repeats for dataset in self.predictions.datasets for model in dataset.models.values()):
            findings.append(Finding.of("repeated_predictions"))
        if any(model.weights is not None for model in self.models):
            findings.append(Finding.of("weights_used"))
        if any(model.rows > MANY_ROWS for model in self.models):
            resamples = settings.limit_resamples(MANY_ROWS + 1)
            findings.append(Finding.of("count_intervals", limit=MANY_ROWS, resamples=resamples))
        return findings

    def count_classes(self, unequal_datasets: Collection[str]) -> dict[str, dict[str, int]]:
        """Count the rows of each class in each data set."""
        del unequal_datasets
        return {dataset.name: _count_classes(dataset) for dataset in self.predictions.datasets}

    def count_predictions_per_row(self) -> dict[str, tuple[int, int]]:
        """For each data set, return the smallest and the largest number of predictions per row."""
        counts = {}
        for dataset in self.predictions.datasets:
            repeated = [model for model in dataset.models.values() if model.has_repeats]
            numbers = [np.bincount(model.row_indices) for model in repeated]
            counts_by_row = [number[number > 0] for number in numbers] + [np.ones(1, int)] * (
                len(repeated) < len(dataset.models)
            )
            counts[dataset.name] = (
                int(min(part.min() for part in counts_by_row)),
                int(max(part.max() for part in counts_by_row)),
            )
        return counts

    def compute_split_values(self, measure: Measure) -> list[SplitValue]:
        """Compute a measure on each split of each data set. The list is empty if there is only one split.

        Each value is computed only from the predictions of its split.
        """
        datasets = {dataset.name: dataset for dataset in self.predictions.datasets}
        if len({(model.dataset, *split) for model in self.models for split in _list_splits(datasets, model)}) < 2:
            return []
        return [value for model in self.models for value in _compute_split_values(datasets[model.dataset], model, measure)]


def _count_classes(dataset: DatasetPredictions) -> dict[str, int]:
    """Count the rows of each class. Rows with a weight of zero do not count."""
    if dataset.weights is None:
        return dataset.count_classes()
    return replace(dataset, y_true=dataset.y_true[dataset.weights > 0]).count_classes()


def _list_splits(datasets: Mapping[str, DatasetPredictions], model: InMemoryModel) -> list[tuple[int, int]]:
    """List the repeat and the fold of each split of a model, in sort order."""
    predictions = datasets[model.dataset].models[model.name]
    repeat, fold = predictions.repeat, predictions.fold
    if len(repeat) and (repeat == repeat[0]).all() and (fold == fold[0]).all():
        return [(int(repeat[0]), int(fold[0]))]
    return sorted(set(zip(repeat.tolist(), fold.tolist(), strict=True)))


def _compute_split_values(dataset: DatasetPredictions, model: InMemoryModel, measure: Measure) -> list[SplitValue]:
    predictions, values = dataset.models[model.name], []
    for repeat, fold in _list_splits({dataset.name: dataset}, model):
        lines = np.flatnonzero((predictions.repeat == repeat) & (predictions.fold == fold))
        lines = _drop_unweighted_lines(lines, predictions.row_indices, dataset.weights)
        row_indices = predictions.row_indices[lines]
        if not len(lines):
            continue
        split_model = replace(
            model,
            row_indices=row_indices,
            y_true=dataset.y_true[row_indices],
            y_pred=predictions.prediction[lines],
            scores=None if predictions.scores is None else predictions.scores[lines],
            weights=_share_weights(row_indices, model.dataset_weights),
            clusters=None,
            answers=None,
        )
        values.append((dataset.name, model.name, repeat, fold, split_model.compute_value(measure)))
    return values


@dataclass(frozen=True)
class CountIntervals:
    """Measures and intervals that are computed from counts alone.

    If rows are weighted or clustered (`unweighted=False`), there are no intervals.
    """

    settings: JudgeSettings
    unweighted: bool = True

    def from_table(self, measure: Measure, table: Confusion) -> Interval:
        """Compute a measure of predicted labels with an interval.

        Proportions have Wilson intervals. Other intervals come from resampled tables.
        """
        table, measure = prepare_table(measure, table), allow_unknown_labels(measure)
        with ignore_warnings():
            estimate = float(measure.of(table))  # type: ignore[attr-defined]
            if not self.unweighted:
                return self._make_empty(measure.name, estimate)
            proportion = get_proportion_counts(measure, table)
            if proportion is not None and proportion[1] > 0:
                limits = closed.compute_wilson_limits(*proportion, self.settings.level)
                return self._make(measure.name, estimate, limits, "wilson")

            def compute(cells: FloatArray) -> FloatArray:
                return np.asarray(measure.of(Confusion(cells, table.labels, table.positive)))  # type: ignore[attr-defined]

            return self._resample(measure.name, estimate, table.table, compute)

    def from_tally(self, measure: Measure, tally: ScoreTally, coarse_tally: ScoreTally | None = None) -> Interval:
        """Compute a measure of scores with an interval.

        The AUC has a score interval with DeLong's variance. Most other intervals come from resampled bin counts.
        `coarse_tally` is an optional copy of the tally that has already been merged into bins.
        """
        with ignore_warnings():
            estimate = float(measure.of(tally))  # type: ignore[attr-defined]
            if not self.unweighted:
                return self._make_empty(measure.name, estimate)
            if measure.name == "auc":
                return self._compute_auc_interval(estimate, tally)
            if isinstance(measure, OutcomeMeasure) and measure.limits is not None:
                low, high, method, note = measure.limits(OutcomeSample.from_tally(tally), self.settings.level)
                return self._make(measure.name, estimate, (low, high), "" if method == "none" else method, note)
            coarse = merge_into_bins(tally if coarse_tally is None else coarse_tally, BINS)
            offset = estimate - float(measure.of(coarse))  # type: ignore[attr-defined]

            def compute(cells: FloatArray) -> FloatArray:
                drawn = ScoreTally(coarse.values, cells[:, 0], cells[:, 1])
                return offset + np.asarray(measure.of(drawn))  # type: ignore[attr-defined]

            interval = self._resample(measure.name, estimate, np.stack([coarse.pos, coarse.neg]), compute)
        lowest, highest = np.clip([interval.low, interval.high], *measure.facts.range).tolist()
        return replace(interval, low=lowest, high=highest)

    def from_mean(self, name: str, mean: float, deviation: float, rows: int) -> Interval:
        """Compute confidence limits for the mean of very many rows by the normal approximation."""
        if not self.unweighted or not np.isfinite(mean):
            return self._make_empty(name, mean)
        if deviation == 0:
            return omit_limits(self._make_empty(name, mean), NO_VARIATION)
        half = closed.compute_normal_quantile(self.settings.level) * deviation / np.sqrt(rows)
        return self._make(name, mean, (mean - half, mean + half), "normal")

    def _compute_auc_interval(self, estimate: float, tally: ScoreTally) -> Interval:
        if np.isnan(estimate):
            return self._make_empty("auc", estimate)
        return self._make("auc", estimate, closed.build_auc_estimate(tally).compute_limits(self.settings.level), "score")

    def _resample(self, name: str, estimate: float, cells: FloatArray, compute: Callable[[FloatArray], FloatArray]) -> Interval:
        """Compute limits from resampled counts. Use BCa limits or, if there are very many rows, percentile limits."""
        is_small = bool(cells.sum() <= MANY_ROWS)
        resamples = self.settings.resamples if is_small else min(self.settings.resamples, MAX_COUNT_RESAMPLES)
        values = np.concatenate([compute(drawn) for drawn in self._draw_counts(cells, resamples)])
        defined = values[~np.isnan(values)]
        if np.isnan(estimate) or not len(defined):
            return self._make_empty(name, estimate)
        if not compute_distances(defined, estimate).any():
            return omit_limits(self._make_empty(name, estimate), NO_VARIATION)
        note = "" if len(defined) == len(values) else f"undefined in {len(values) - len(defined)} of {len(values)} resamples"
        if is_small:
            jackknife = compute(_compute_jackknife_counts(cells, self.settings.seed))
            limits = compute_bca_limits(defined, estimate, jackknife, self.settings.level)
            if limits is not None:
                return self._make(name, estimate, limits, "bca", note)
        return self._make(name, estimate, compute_percentile_limits(defined, self.settings.level), "percentile", note)

    @cached_property
    def _latest_draws(self) -> dict[str, tuple[FloatArray, list[FloatArray]]]:
        return {}

    def _draw_counts(self, cells: FloatArray, resamples: int) -> Iterable[FloatArray]:
        """Resample counts. Resamples that are not too large are stored, because several measures use the same counts."""
        if cells.size * resamples > _MAX_STORED_COUNTS:
            return draw_counts(cells, resamples, self.settings.seed)
        latest = self._latest_draws.get("counts")
        if latest is None or not np.array_equal(latest[0], cells):
            latest = cells, list(draw_counts(cells, resamples, self.settings.seed))
            self._latest_draws["counts"] = latest
        return latest[1]

    def _make(self, name: str, estimate: float, limits: tuple[float, float], method: str, note: str = "") -> Interval:
        return Interval(name, estimate, *limits, self.settings.level, method, note)

    def _make_empty(self, name: str, estimate: float) -> Interval:
        return self._make(name, estimate, (float("nan"), float("nan")), "")


def omit_limits(interval: Interval, note: str) -> Interval:
    """Remove the limits from an interval, and add a note with the reason."""
    nan = float("nan")
    return replace(interval, low=nan, high=nan, method="", note=note)


def draw_counts(cells: FloatArray, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Resample counts with replacement, batch by batch.

    This is equivalent to resampling rows, because the rows in a cell are interchangeable.
    """
    rng = np.random.default_rng(seed)
    flat = np.asarray(cells, dtype=np.float64).ravel()
    while resamples > 0:
        drawn = rng.multinomial(round(flat.sum()), flat / flat.sum(), min(resamples, _BATCH_SIZE))
        resamples -= len(drawn)
        yield drawn.astype(np.float64).reshape(-1, *cells.shape)


def _compute_jackknife_counts(cells: FloatArray, seed: int) -> FloatArray:
    """Compute the counts without each row in turn.

    If there are many rows, leave out each of 500 random groups of rows instead.
    """
    flat = np.asarray(cells, dtype=np.float64).ravel()
    rows = np.repeat(np.arange(len(flat)), np.round(flat).astype(np.intp))
    groups = min(len(rows), _JACKKNIFE_GROUPS)
    group_index = np.random.default_rng(seed).permutation(len(rows)) % groups
    out = np.zeros((groups, len(flat)))
    np.add.at(out, (group_index, rows), 1.0)
    return (flat - out).reshape(-1, *cells.shape)


def make_table_function(
    measure: LabelMeasure, labels: tuple[int, ...], positive: int | None
) -> Callable[[FloatArray], FloatArray]:
    """Return a function that computes a measure from confusion tables. The last label of these tables may be ABSTAINED."""
    adapted = allow_unknown_labels(measure)

    def compute(tables: FloatArray) -> FloatArray:
        return np.asarray(adapted.of(prepare_table(measure, Confusion(tables, labels, positive))))  # type: ignore[attr-defined]

    return compute


def count_table_successes(measure: LabelMeasure, tables: Confusion) -> tuple[FloatArray, FloatArray] | None:
    """Return the numerators and denominators of a proportion of rows, for several tables.

    Return None if the measure is not a proportion of rows.
    """
    if not measure.facts.proportion or (measure.facts.per_class and tables.positive is None):
        return None
    adapted: Any = allow_unknown_labels(measure)
    counts: tuple[FloatArray, FloatArray] = adapted.count_table_successes(prepare_table(measure, tables))
    return counts


def estimate_table_subgroups(
    measure: LabelMeasure, tables: FloatArray, labels: tuple[int, ...], positive: int | None
) -> SubgroupValues:
    """Estimate a measure of predicted labels from the confusion table of each subgroup."""
    with ignore_warnings():
        proportions = count_table_successes(measure, Confusion(tables, labels, positive))
        if proportions is not None:
            return estimate_proportions(*proportions)
        return estimate_from_tables(tables, make_table_function(measure, labels, positive), measure.facts.range)


def get_proportion_counts(measure: Measure, table: Confusion) -> tuple[float, float] | None:
    """Return the numerator and the denominator of a proportion of rows.

    Return None if the measure is not a proportion of rows.
    """
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
    """Merge neighbouring scores into bins with about the same number of rows. The value of a bin is its highest score."""
    if len(tally.values) <= bins:
        return ScoreTally(tally.values, tally.pos.astype(np.float64), tally.neg.astype(np.float64))
    starts = find_bin_starts(tally, bins)
    pos, neg = (np.add.reduceat(counts, starts, dtype=np.float64) for counts in (tally.pos, tally.neg))
    return ScoreTally(tally.values[starts], pos, neg)


def find_bin_starts(tally: ScoreTally, bins: int) -> IntArray:
    """Find the start of each bin. The tally is processed in blocks to save memory."""
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
    """Compute the contribution of each row to the Brier score or log loss.

    If a positive class is given, all other classes are merged into one.

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
    """Measure of predicted labels for confusion tables whose last label may be ABSTAINED."""

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
    """Prepare a table with unknown labels for a measure.

    For balanced accuracy, the G-mean and class-wise measures of two classes, an unknown label counts as the wrong class. For
    other measures, unknown labels form an additional class.
    """
    is_mean_recall = measure.name in _MEANS_OF_RECALLS and registry[measure.name] is measure
    return (
        count_unknown_as_errors(table)
        if has_unknown_labels(table) and (is_mean_recall or (measure.facts.per_class and _is_binary_table(table)))
        else table
    )


def prepare_class_table(table: Confusion) -> Confusion:
    """Prepare a table for class-wise rates. With two classes, an unknown label counts as the wrong class."""
    return count_unknown_as_errors(table) if has_unknown_labels(table) and _is_binary_table(table) else table


def has_unknown_labels(table: Confusion) -> bool:
    """Return whether the last label of a table is ABSTAINED, the code of predicted labels that are not classes."""
    return bool(table.labels[-1] == ABSTAINED)


def count_unknown_as_errors(table: Confusion) -> Confusion:
    """Count each unknown label as an error, by changing it to the class that follows the true class.

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
    """Ignore warnings about undefined values and fallback methods, because the tables report both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        warnings.simplefilter("ignore", FallbackWarning)
        yield
