"""Scores of a study, computed from the stored predictions and cached."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_one_of
from fairtrial._findings import Finding
from fairtrial._text import join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures.measure import (
    LabelMeasure,
    Measure,
    MultiScoreMeasure,
    ProbabilityMeasure,
    ScoreMeasure,
    average_over_classes,
    get_measure,
    registry,
)
from fairtrial.study.archive import Archive
from fairtrial.study.records import ABSTAINED, Predictions
from fairtrial.study.results.selection import get_declared_splitters
from fairtrial.study.results.stacking import ClassOrder, SplitGrid, Stack
from fairtrial.study.store.archive import StoreArchive

if TYPE_CHECKING:
    import pandas as pd

KEY_COLUMNS = ["dataset", "condition", "level", "resampling", "learner", "repeat", "fold"]

_DEFAULT_MEASURES = ("accuracy", "auc")
_MAX_SCORES = 1 << 20
"""Maximum number of scores in memory at the same time."""
_MEANS = ("brier", "rmse", "mae", "log_loss", "spherical_score")
"""Measures of probabilities that are based on means over rows, so they can be computed for many trials at once."""
_RECALL_MEASURES = ("balanced_accuracy", "g_mean")
"""Measures that depend only on the recall of each class, not on which wrong class is predicted."""
DEFINED, UNDEFINED, NO_SCORES, NO_PROBABILITIES, NOT_FINITE, INVALID_PROBABILITIES = range(6)
REASONS = {
    NO_SCORES: "the learner has no scores",
    NO_PROBABILITIES: "the learner has decision values, but no probabilities",
    NOT_FINITE: "the learner returned scores that are not finite",
    INVALID_PROBABILITIES: "the learner returned scores that are not probabilities",
}


@dataclass(frozen=True)
class ScoreRequest:
    """A measure with its parameters and its method of averaging over classes."""

    measure: Measure
    average: Any = "auto"
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_measures(cls, measures: Any, average: Any = "auto", params: Mapping[str, Any] | None = None) -> list[ScoreRequest]:
        """Build one request for each measure or name of a measure.

        A measure that cannot be computed from predictions is refused.
        """
        measure_list = [measures] if isinstance(measures, (str, Measure)) else list(measures)
        if not measure_list:
            raise InputError("measure must name at least 1 measure, got none")
        if average is None:
            raise InputError("average must give one number for each trial, got None: pass 'macro', 'weighted' or positive")
        requests = []
        for measure_or_name in measure_list:
            measure = get_measure(measure_or_name)
            _check_computable(measure)
            is_supported = average in measure.averages or len(measure_list) == 1
            request = cls(measure, average if is_supported else "auto", dict(params or {}))
            measure.check(request.average, request.params)
            requests.append(request)
        return requests

    @property
    def key(self) -> Any:
        """Cache key, or None if a parameter is not hashable."""
        key = (self.measure.name, self.average, tuple(sorted(self.params.items())))
        try:
            hash(key)
        except TypeError:
            return None
        return key


def _is_builtin(measure: Measure) -> bool:
    """Return whether the formula of a measure is part of fairtrial."""
    return measure.formula.__module__.startswith("fairtrial.")


def _check_computable(measure: Measure) -> None:
    if measure.facts.needs == "results":
        raise InputError(
            f"{measure.name} is computed from results, not from predictions: use robustness() for losses of accuracy and "
            "deterioration() for pD"
        )
    if measure.facts.needs == "values":
        raise InputError(f"{measure.name} needs predicted numbers, but the study predicts classes: choose another measure")


@dataclass(frozen=True, eq=False)
class ScoreCache:
    """An archive with a cache for tables and scores.

    Callers must copy cached values before returning them to users.
    """

    archive: Archive
    entries: dict[Any, Any] = field(default_factory=dict)

    def get_or_compute(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return the cached value of a key. On first use, compute and cache the value."""
        if key not in self.entries:
            self.entries[key] = compute()
        return self.entries[key]

    def load_trials(self) -> pd.DataFrame:
        """Load the table of trials."""
        trials: pd.DataFrame = self.get_or_compute("trials", lambda: self.archive.trials().reset_index(drop=True))
        return trials

    def load_scored_trials(self) -> pd.DataFrame:
        """Load the trials from which scores are computed.

        Trials on splits that serve only to estimate a standard error are left out.
        """
        trials: pd.DataFrame = self.get_or_compute("scored trials", self._select_scored_trials)
        return trials

    def _select_scored_trials(self) -> pd.DataFrame:
        trials = self.load_trials()
        counts = {name: splitter._primary_folds for name, splitter in get_declared_splitters(self.archive).items()}
        if not counts:
            return trials
        limits = trials["resampling"].astype(object).map(counts).astype(np.float64)
        return trials[~(trials["fold"] >= limits)].reset_index(drop=True)

    def get_declared(self, section: str) -> dict[str, Any]:
        """Return a section of the study declaration, without unset values."""
        values = self.archive.declaration.get(section)
        return {name: value for name, value in values.items() if value is not None} if isinstance(values, Mapping) else {}

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures that the study declares."""
        return tuple(self.archive.declaration.get("measures") or _DEFAULT_MEASURES)

    @property
    def verdict_measure(self) -> str:
        """Name of the measure of the study's verdict."""
        return str(self.get_declared("verdict").get("measure") or self.measures[0])

    def get_class_orders(self, positive: object) -> tuple[ClassOrder, ...]:
        """Return the class order of each data set.

        The argument `positive` overrides the positive classes that the study declares.
        """
        data = self.get_declared("data")
        declared = {name: section.get("positive") for name, section in data.items() if isinstance(section, Mapping)}
        positives = {
            facts.name: declared[facts.name] for facts in self.archive.datasets if declared.get(facts.name) in facts.classes
        }
        return ClassOrder.from_datasets(self.archive.datasets, positive, positives)

    def build_table(
        self, requests: Sequence[ScoreRequest], positive: object, pooled: bool
    ) -> tuple[pd.DataFrame, list[Finding]]:
        """Return a table of scores and the findings that report undefined scores.

        The table has one row per trial and measure or, if `pooled` is true, one row per repeat and measure.
        """
        import pandas as pd

        frame = self._get_lines(pooled).frame
        results = self._get_values(requests, self.get_class_orders(positive), pooled)
        parts = [
            frame[KEY_COLUMNS].assign(measure=request.measure.name, value=values, status=frame["status"])
            for request, (values, _) in zip(requests, results, strict=True)
        ]
        learners = frame["learner"].to_numpy()
        findings = [find_undefined(request, reasons, learners) for request, (_, reasons) in zip(requests, results, strict=True)]
        return pd.concat(parts, ignore_index=True), [finding for finding in findings if finding is not None]

    def _get_lines(self, pooled: bool) -> ScoreLines:
        lines: ScoreLines = self.get_or_compute(
            ("lines", pooled),
            lambda: (ScoreLines.from_repeats if pooled else ScoreLines.from_trials)(self.load_scored_trials()),
        )
        return lines

    def _get_values(
        self, requests: Sequence[ScoreRequest], orders: tuple[ClassOrder, ...], pooled: bool
    ) -> list[tuple[FloatArray, FloatArray]]:
        keys = [(request.key, orders, pooled) for request in requests]
        for request, key in zip(requests, keys, strict=True):
            if key not in self.entries and (stored := self._read_stored(request, orders, pooled)) is not None:
                self.entries[key] = stored
        new = [index for index, key in enumerate(keys) if key[0] is None or key not in self.entries]
        new_values: dict[int, Any] = {}
        if new:
            computed = self._get_lines(pooled).compute_values(self.archive, orders, [requests[index] for index in new])
            new_values = {index: pair for index, *pair in zip(new, *computed, strict=True)}
            self.entries.update({keys[index]: pair for index, pair in new_values.items() if keys[index][0] is not None})
        return [new_values[index] if index in new_values else self.entries[key] for index, key in enumerate(keys)]

    def pack_scores(self) -> dict[str, bytes]:
        """Pack the scores of each declared measure, keyed by the name for storing them."""
        orders = self.get_class_orders(None)
        requests = [request for request in ScoreRequest.from_measures(self.measures) if _is_builtin(request.measure)]
        results = self._get_values(requests, orders, pooled=False)
        names = [self._name_stored(request, orders, pooled=False) for request in requests]
        return {
            name: values.astype("<f8").tobytes() + reasons.astype(np.uint8).tobytes()
            for name, (values, reasons) in zip(names, results, strict=True)
        }

    def _read_stored(
        self, request: ScoreRequest, orders: tuple[ClassOrder, ...], pooled: bool
    ) -> tuple[FloatArray, npt.NDArray[Any]] | None:
        """Return the scores that a run stored with the trials, or None if it stored none."""
        if not isinstance(self.archive, StoreArchive) or request.key is None or not _is_builtin(request.measure):
            return None
        packed = self.archive.read_derived(self._name_stored(request, orders, pooled))
        n_lines = len(self._get_lines(pooled).frame)
        if packed is None or len(packed) != 9 * n_lines:
            return None
        values = np.frombuffer(packed, dtype="<f8", count=n_lines).astype(np.float64)
        return values, np.frombuffer(packed, dtype=np.uint8, offset=8 * n_lines)

    def _name_stored(self, request: ScoreRequest, orders: tuple[ClassOrder, ...], pooled: bool) -> str:
        """Return the name under which scores are stored.

        The name contains a hash of the version, the plan, the measure, the class orders and `pooled`.
        """
        plan = self.archive.hash if isinstance(self.archive, StoreArchive) else ""
        facts = (version("fairtrial"), plan, request.key, orders, pooled)
        return f"scores/{hashlib.sha256(repr(facts).encode()).hexdigest()}"

    def build_wide_table(self, scores: pd.DataFrame) -> pd.DataFrame:
        """Build the table of mean scores under one condition.

        Rows are data sets, and columns are learners. Means are taken over the splits that all learners share. A mean is NaN if
        a trial of the learner on the data set failed, or if the data set has no shared split.
        """
        import pandas as pd

        names = scores["measure"].unique()
        if len(names) > 1:
            raise InputError(f"measure must be a single measure for a wide table, got {', '.join(names)}: choose one of them")
        datasets, learners = ([facts.name for facts in items] for items in (self.archive.datasets, self.archive.learners))
        means = SplitGrid.from_scores(scores).compute_means().reindex(index=datasets, columns=learners)
        return means.set_axis(pd.Index(datasets, name="dataset"), axis=0).set_axis(pd.Index(learners), axis=1)

    def pool_repeat(self, trials: pd.DataFrame, repeat: int | None) -> dict[str, Predictions]:
        """Pool the predictions of each learner over the folds of one repeat (default: the first).

        `trials` contains the trials of one data set and condition. Learners with failed or missing trials are left out.
        """
        repeats = sorted(set(trials["repeat"].tolist()))
        if repeat is None:
            repeat = repeats[0]
        check_one_of("repeat", repeat, repeats)
        predictions = {}
        for learner, learner_trials in trials[trials["repeat"] == repeat].groupby("learner", sort=False, observed=True):
            succeeded = learner_trials[learner_trials["status"] == "ok"]
            if len(succeeded) == len(learner_trials):
                predictions[str(learner)] = join_predictions(list(self.archive.predictions(succeeded["trial"].tolist())))
        return predictions


@dataclass(frozen=True, eq=False)
class ScoreLines:
    """The rows of a score table, with the numbers of the trials from which each row is computed.

    Row i of `frame` is computed from `trials[starts[i]:starts[i + 1]]`. This slice is empty if a trial failed or has not run.
    """

    frame: pd.DataFrame
    trials: IntArray
    starts: IntArray

    @classmethod
    def from_trials(cls, trials: pd.DataFrame) -> ScoreLines:
        """Build one row per trial."""
        ran = (trials["status"] == "ok").to_numpy()
        numbers = trials["trial"].to_numpy()[ran]
        return cls(trials[[*KEY_COLUMNS, "status"]], numbers, np.concatenate(([0], np.cumsum(ran))))

    @classmethod
    def from_repeats(cls, trials: pd.DataFrame) -> ScoreLines:
        """Build one row per repeat, with fold -1.

        The status is `ok` if all folds succeeded. Otherwise, it is the status of the first fold that did not succeed.
        """
        import pandas as pd

        groups = trials.groupby(KEY_COLUMNS[:-1], sort=False, observed=True, dropna=False).ngroup().to_numpy()
        order = np.argsort(groups, kind="stable")
        statuses = trials["status"].to_numpy()[order]
        edges = np.flatnonzero(np.diff(groups[order], prepend=-1))
        bad = pd.Series(np.where(statuses == "ok", len(order), np.arange(len(order))))
        worst = bad.groupby(groups[order]).min().to_numpy()
        whole = worst == len(order)
        frame = trials.iloc[order[edges]][[*KEY_COLUMNS, "status"]].reset_index(drop=True)
        frame["fold"] = -1
        frame["status"] = np.where(whole, "ok", statuses[np.minimum(worst, len(order) - 1)])
        used = whole[groups[order]]
        sizes = np.where(whole, np.diff(edges, append=len(order)), 0)
        return cls(frame, trials["trial"].to_numpy()[order[used]], np.concatenate(([0], np.cumsum(sizes))))

    def compute_values(
        self, archive: Archive, orders: Sequence[ClassOrder], requests: Sequence[ScoreRequest]
    ) -> tuple[FloatArray, npt.NDArray[Any]]:
        """Compute the scores of all rows, and the reasons for undefined scores.

        Both arrays have the shape (measures, rows).
        """
        values = np.full((len(requests), len(self.frame)), np.nan)
        reasons = np.zeros((len(requests), len(self.frame)), dtype=np.uint8)
        datasets = self.frame["dataset"].to_numpy()
        for facts, order in zip(archive.datasets, orders, strict=True):
            indices = np.flatnonzero((datasets == facts.name) & (np.diff(self.starts) > 0))
            if len(indices):
                # Reading trials in the order of the file is fastest.
                indices = indices[np.argsort(self.trials[self.starts[indices]], kind="stable")]
                values[:, indices], reasons[:, indices] = score_predictions(
                    self._iter_predictions(archive, indices), order, requests
                )
        return values, reasons

    def _iter_predictions(self, archive: Archive, lines: IntArray) -> Iterator[Predictions]:
        numbers = [self.trials[self.starts[line] : self.starts[line + 1]] for line in lines]
        predictions = iter(archive.predictions(np.concatenate(numbers).tolist()))
        for line_numbers in numbers:
            yield next(predictions) if len(line_numbers) == 1 else join_predictions([next(predictions) for _ in line_numbers])


def join_predictions(parts: Sequence[Predictions]) -> Predictions:
    """Join the predictions of several trials.

    Scores are kept only if all trials have scores of the same kind. There is one exception: if only trials with abstentions
    lack probabilities, all scores are kept as decision values.

    >>> one = Predictions(np.array([0]), np.array([1]), np.array([1]), None, None)
    >>> join_predictions([one, one]).y_true.tolist()
    [1, 1]
    """
    scores, kinds = [part.scores for part in parts if part.scores is not None], {part.score_kind for part in parts}
    are_probabilities = all(part.score_kind == "probability" or (part.prediction == ABSTAINED).any() for part in parts)
    scored = len(scores) == len(parts) and (len(kinds) == 1 or are_probabilities)
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "y_true", "prediction")]
    kind = None if not scored else parts[0].score_kind if len(kinds) == 1 else "decision"
    return Predictions(columns[0], columns[1], columns[2], np.concatenate(scores) if scored else None, kind)


def score_predictions(
    trials: Iterable[Predictions], order: ClassOrder, requests: Sequence[ScoreRequest]
) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Compute the scores of trials on one data set, and the reasons for undefined scores.

    Both arrays have the shape (measures, trials).
    """
    values, reasons = [], []
    for batch in iter_prediction_batches(trials):
        value = np.full((len(requests), len(batch)), np.nan)
        reason = np.zeros((len(requests), len(batch)), dtype=np.uint8)
        for indices, stack in Stack.iter_groups(batch, order):
            for line, request in enumerate(requests):
                value[line, indices], reason[line, indices] = compute_stack_values(stack, request)
        values.append(value)
        reasons.append(reason)
    if not values:
        return np.empty((len(requests), 0)), np.empty((len(requests), 0), dtype=np.uint8)
    return np.concatenate(values, axis=1), np.concatenate(reasons, axis=1)


def iter_prediction_batches(trials: Iterable[Predictions]) -> Iterator[list[Predictions]]:
    """Divide trials into batches that fit into memory."""
    batch, size = [], 0
    for predictions in trials:
        batch.append(predictions)
        size += predictions.y_true.size if predictions.scores is None else predictions.scores.size
        if size > _MAX_SCORES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def compute_stack_values(stack: Stack, request: ScoreRequest) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Compute the value of each trial of a stack, and the reason for each undefined value."""
    measure = request.measure
    stack_reasons = _find_reasons(stack, measure)
    values = np.full(len(stack.true), np.nan)
    computable = stack_reasons == DEFINED
    if computable.any():
        with warnings.catch_warnings():
            # A single warning is issued later for all trials.
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            values[computable] = _compute_measure(stack, request, np.flatnonzero(computable))
    return values, np.where(computable & np.isnan(values), UNDEFINED, stack_reasons)


def _find_reasons(stack: Stack, measure: Measure) -> npt.NDArray[Any]:
    none = np.zeros(len(stack.true), dtype=np.uint8)
    if measure.facts.needs == "labels":
        return none
    if stack.scores is None:
        return none + NO_SCORES
    if measure.facts.needs == "probabilities" and stack.kind != "probability":
        return none + NO_PROBABILITIES
    missing = np.where(stack.finite, none, NOT_FINITE)
    if measure.facts.needs == "probabilities":
        missing = np.where(stack.finite & ~stack.has_probabilities, INVALID_PROBABILITIES, missing)
    return missing.astype(np.uint8)


def _compute_measure(stack: Stack, request: ScoreRequest, computable: IntArray) -> FloatArray:
    measure, params = request.measure, dict(request.params)
    if isinstance(measure, LabelMeasure):
        return _score_labels(stack, measure, request.average, params)[computable]
    if isinstance(measure, ScoreMeasure) and not isinstance(measure, MultiScoreMeasure):
        return _score_class_scores(stack, measure, request.average, params)[computable]
    if measure.name in _MEANS and registry[measure.name] is measure:
        with np.errstate(invalid="ignore"):  # values of trials without probabilities are not used
            return np.asarray(measure.formula(stack.make_mean_rows(), **params))[computable]
    rows = stack.make_probability_rows if isinstance(measure, ProbabilityMeasure) else stack.make_score_rows
    values = [measure.compute_values(rows(int(trial)), average=request.average, **params)[0] for trial in computable]
    return np.array(values, dtype=np.float64)


def _score_labels(stack: Stack, measure: LabelMeasure, average: Any, params: dict[str, Any]) -> FloatArray:
    """Compute a measure of predicted labels.

    Abstentions count as an extra label, which is never the true class and is left out of means over classes. With two classes,
    an abstention counts as the wrong class, because it could otherwise count as a true negative.
    """
    k, per_class = len(stack.order.order), measure.facts.per_class
    if not stack.abstains:
        return np.asarray(measure.of(stack.confusion, average=average, **params))
    if (per_class and k == 2) or (measure.name in _RECALL_MEASURES and registry[measure.name] is measure):
        return np.asarray(measure.of(stack.confusion_as_errors, average=average, **params))
    if per_class and (average in ("macro", "weighted") or (average == "auto" and stack.order.positive is None)):
        values = np.asarray(measure.of(stack.confusion, average=None, **params))
        return average_over_classes(values[:, :k], stack.support, average)
    return np.asarray(measure.of(stack.confusion, average=average, **params))


def _score_class_scores(stack: Stack, measure: ScoreMeasure, average: Any, params: dict[str, Any]) -> FloatArray:
    positive = stack.order.positive
    if average == "auto":
        average = "macro" if positive is None else "binary"
    if average == "binary":
        if positive is None:
            raise InputError(f"positive must be given for the classes {stack.order.names}: pass positive, or average='macro'")
        return np.asarray(measure.of(stack.tally(positive), **params))
    values = [np.asarray(measure.of(stack.tally(code), **params)) for code in range(len(stack.order.order))]
    return average_over_classes(np.stack(values, axis=-1), stack.support, average)


def find_undefined(request: ScoreRequest, reasons: npt.NDArray[Any], learners: npt.NDArray[Any]) -> Finding | None:
    """Report how many trials have no value, and why. Return None if all trials have a value."""
    missing = int((reasons != DEFINED).sum())
    if not missing:
        return None
    causes = []
    for reason in np.unique(reasons[reasons != DEFINED]):
        has_reason = reasons == reason
        names = tuple(dict.fromkeys(str(name) for name in learners[has_reason]))
        causes.append((int(has_reason.sum()), REASONS.get(int(reason), request.measure.facts.undefined), names))
    descriptions = tuple(f"{count:,} ({cause}: {join_names(names)})" for count, cause, names in causes)
    return Finding.of(
        "undefined_scores", measure=request.measure.name, undefined=missing, trials=len(reasons), causes=descriptions
    )
