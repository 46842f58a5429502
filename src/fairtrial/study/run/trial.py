"""Run one trial: apply the condition, fit the learner, predict, and build the trial record."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial.conditions import ScoreNoise
from fairtrial.errors import LearnerError
from fairtrial.study.randomness import derive_generator
from fairtrial.study.records import ABSTAINED, CODES, INDICES, NUMBERS, Chunk, TrialRecord, TrialTask, describe_tuning, pack
from fairtrial.study.run.diagnostics import TrialFailure, format_notes, record_warnings
from fairtrial.study.run.estimator import PreparedEstimator, TrialLearner, hold_torch_to_one_thread
from fairtrial.study.run.meter import Meter, ProcessSettings
from fairtrial.study.run.outputs import EstimatorScores, PredictionOutput
from fairtrial.study.run.trial_data import TrialData, TrialRows, TrialSplit, apply_condition

_WARM_UP_ROWS = 40
_warm: set[bytes] = set()  # learners that have run in this process


class TrialRunner:
    """Runs the trials of a chunk one after another, and caches their common data and learners.

    >>> import pickle, fairtrial
    >>> from fairtrial.conditions import Clean
    >>> from fairtrial.learners import C45
    >>> from fairtrial.study.records import ResourceLimits, SplitRows
    >>> data = TrialData.from_dataset(fairtrial.data.load("iris"))
    >>> rows = SplitRows(np.arange(0, 150, 2), np.arange(1, 150, 2), repeat=0, fold=0)
    >>> task = TrialTask(b"0123456789abcdef", split=0, condition=0, learner=0, condition_seed=1, learner_seed=1)
    >>> chunk = Chunk("iris", (rows,), (Clean(),), (pickle.dumps(C45()),), (task,), ResourceLimits())
    >>> record = TrialRunner(data, chunk).run(task)
    >>> record.status, record.score_kind
    ('ok', 'probability')
    """

    def __init__(self, data: TrialData, chunk: Chunk) -> None:
        self._data, self._chunk = data, chunk
        self.used_learner = False
        """Whether the last trial ran code of its learner. False if the condition could not be applied."""
        self._learners: dict[int, TrialLearner] = {}
        self._context: tuple[int, int, int] | None = None
        self._split: TrialSplit | TrialFailure

    def run(self, task: TrialTask) -> TrialRecord:
        """Run a trial and return its record, even if the learner raises SystemExit."""
        split = self._apply_condition(task)
        self.used_learner = not isinstance(split, TrialFailure)
        if isinstance(split, TrialFailure):
            return split.to_record(task.key)
        meter: Meter | None = None
        failure: TrialFailure | None = None
        with record_warnings() as caught:
            try:
                learner, prepared = self._prepare_learner(task.learner, split)
                caught.clear()
                meter = Meter()
                values = self._run_trial(learner.name, prepared, split, task, meter)
            except BaseException as error:
                failure, values = TrialFailure.from_error(error), _describe_condition(split)
            cost = _collect_costs(meter)
        values["notes"] = format_notes(caught, values.get("notes"), split.notes)
        return failure.to_record(task.key, **values, **cost) if failure else TrialRecord(task.key, "ok", **values, **cost)

    def _apply_condition(self, task: TrialTask) -> TrialSplit | TrialFailure:
        """Apply the condition of a trial to its split, or reuse the result of the previous trial."""
        context = (task.split, task.condition, task.condition_seed)
        if context != self._context:
            self._context = None
            rows, condition = self._chunk.splits[task.split], self._chunk.conditions[task.condition]
            try:
                self._split = apply_condition(self._data, rows, condition, task.condition_seed)
            except Exception as error:
                self._split = TrialFailure.from_error(error)
            self._context = context
        return self._split

    def _prepare_learner(self, index: int, split: TrialSplit) -> tuple[TrialLearner, PreparedEstimator]:
        """Load the learner, warm it up on first use, and restore any process settings that have changed."""
        cached_learner = self._learners.get(index)
        if cached_learner is not None:
            return cached_learner, self._select_estimator(cached_learner, split)
        settings = ProcessSettings()
        try:
            learner = TrialLearner(self._chunk.learners[index])
            prepared = self._select_estimator(learner, split)
            self._warm_up(learner, prepared, split.train)
        finally:
            settings.restore()
        self._learners[index] = learner
        return learner, prepared

    def _select_estimator(self, learner: TrialLearner, split: TrialSplit) -> PreparedEstimator:
        finite = learner.has_shortcut and all(rows.is_finite(self._data) for rows in (split.train, split.test))
        return learner.select_estimator(finite=finite)

    def _warm_up(self, learner: TrialLearner, prepared: PreparedEstimator, train_rows: TrialRows) -> None:
        """Fit and predict once on a few rows, so imports and compilation are not part of the measured time."""
        if learner.identity in _warm:
            return
        _warm.add(learner.identity)
        hold_torch_to_one_thread()
        few_rows = _select_few_rows(train_rows.codes)
        X = prepared.convert_table(train_rows.take_table(self._data, few_rows), self._data)
        try:
            estimator = _make_seeded_estimator(prepared, 0)
            classes = prepared.convert_classes(train_rows.codes[few_rows], self._data)
            estimator.fit(X, classes, **_select_roles(estimator, self._data, train_rows.rows[few_rows]))
            PredictionOutput.from_estimator(estimator, X)
        except BaseException:  # the trial itself records the error
            return

    def _run_trial(
        self, name: str, prepared: PreparedEstimator, split: TrialSplit, task: TrialTask, meter: Meter
    ) -> dict[str, Any]:
        data, train, test = self._data, split.train, split.test
        X_train, X_test = (prepared.convert_table(rows.take_table(data), data) for rows in (train, test))
        y_train = prepared.convert_classes(train.codes, data)
        estimator = _make_seeded_estimator(prepared, task.learner_seed)
        roles = _select_roles(estimator, data, train.rows)
        with meter.time_stage("fit"):
            estimator.fit(X_train, y_train, **roles)
        with meter.time_stage("predict"):
            output = PredictionOutput.from_estimator(estimator, X_test)
        n = len(test.rows)
        values = _describe_condition(split)
        codes = output.encode_predictions(n, data.labels, name)
        values |= {"prediction": pack(codes, CODES), "abstentions": int((codes == ABSTAINED).sum())}
        values["tuning"] = describe_tuning(estimator)
        scores = output.align_scores(estimator, n, train.codes, data.labels, name, pairs=prepared.scores_pairs)
        if split.score_noise is not None:
            scores, values["test_level"], values["test_changed"] = _apply_score_noise(scores, split.score_noise, task, name)
        if scores is not None:
            values |= {"scores": pack(scores.values, NUMBERS), "score_kind": scores.kind, "notes": scores.note}
        return values | self._pack_changed_rows(test, self._chunk.splits[task.split].test)

    def _pack_changed_rows(self, test: TrialRows, rows: IntArray) -> dict[str, Any]:
        """Pack the test rows, and their classes, if the condition changed them."""
        values = {}
        if test.rows is not rows and not np.array_equal(test.rows, rows):
            values["rows"] = pack(test.rows, INDICES)
        if test.changed is not None and not np.array_equal(test.codes, self._data.codes[test.rows]):
            values["y_true"] = pack(test.codes, CODES)
        return values


def _make_seeded_estimator(prepared: PreparedEstimator, seed: int) -> Any:
    """Make an unfitted estimator, and seed the global random number generators."""
    estimator = prepared.make_estimator(seed)
    np.random.seed(seed)  # noqa: NPY002  # some learners use the global generator
    random.seed(seed)
    return estimator


def _select_roles(estimator: Any, data: TrialData, rows: IntArray) -> dict[str, Any]:
    """Select the groups and times of the training rows. Only tuned learners need these values, for their inner splits."""
    roles = {name: values[rows] for name, values in (("groups", data.groups), ("time", data.time)) if values is not None}
    if not roles:
        return {}
    from fairtrial.study.spec.tuning import Tuned  # it imports scikit-learn

    return roles if isinstance(estimator, Tuned) else {}


def _select_few_rows(codes: IntArray) -> IntArray:
    """Select about 40 rows in proportion to the class sizes, with at least two rows of each class if possible."""
    if len(codes) <= _WARM_UP_ROWS:
        return np.arange(len(codes))
    groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    spare = max(0, _WARM_UP_ROWS - 2 * len(groups))
    return np.sort(np.concatenate([group[: 2 + spare * len(group) // len(codes)] for group in groups]))


def _apply_score_noise(
    scores: EstimatorScores | None, noise: ScoreNoise, task: TrialTask, name: str
) -> tuple[EstimatorScores, float, int]:
    if scores is None:
        raise LearnerError(f"{name} must have predict_proba or decision_function for score noise, got neither")
    return scores.add_noise(noise, derive_generator(task.condition_seed, "test"))


def _describe_condition(split: TrialSplit) -> dict[str, Any]:
    """Return the realized levels of the condition and the numbers of changes in the training and test sets."""
    train, test = split.train, split.test
    return {"level": train.level, "changed": train.changed, "test_level": test.level, "test_changed": test.changed}


def _collect_costs(meter: Meter | None) -> dict[str, Any]:
    return {} if meter is None else {**meter.figures, "memory": meter.measure_memory()}
