"""One trial: the condition applied, the learner made, fitted and asked; whatever happens becomes evidence."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairtrial._check import IntArray
from fairtrial.conditions import ClassNoise, ClassProportion, Clean, Condition, PriorShift, ScoreNoise, Sequence
from fairtrial.conditions.condition import Changed
from fairtrial.errors import InputError, LearnerError
from fairtrial.study.randomness import derive_generator
from fairtrial.study.records import (
    CODES,
    INDICES,
    NUMBERS,
    Chunk,
    SplitRows,
    TrialRecord,
    TrialTask,
    format_abstention_note,
    pack,
)
from fairtrial.study.run.estimator import PreparedEstimator, TrialData, TrialLearner, to_matrix
from fairtrial.study.run.meter import Meter, ProcessSettings, format_notes, record_warnings
from fairtrial.study.run.outputs import EstimatorScores, add_score_noise, align_scores, encode_predictions, predict_outputs
from fairtrial.study.run.protocol import TrialFailure

# They look at the classes only, so that the table needs no names of columns.
_CLASS_CONDITIONS = (ClassNoise, ClassProportion, PriorShift)


@dataclass(frozen=True, eq=False)
class TrialRows:
    """Rows of one part: their positions in the data set, their classes, and their table where it is another than there.

    `level` is the realised level of the condition and `changed` counts what it changed; None where it left the part alone.
    """

    rows: IntArray
    codes: IntArray
    changed_table: Any = None
    level: float | None = None
    changed: int | None = None

    def take_table(self, data: TrialData, positions: IntArray | None = None) -> Any:
        """The table, or some rows of it, in a copy that whoever gets it may write to."""
        if self.changed_table is None:
            return data.take_rows(self.rows if positions is None else self.rows[positions])
        if positions is None:
            return self.changed_table.copy()
        return getattr(self.changed_table, "iloc", self.changed_table)[positions].copy()

    def is_finite(self, data: TrialData) -> bool:
        """Whether the table is of numbers only, without gaps and infinity."""
        if self.changed_table is None and data.finite:
            return True
        table = data.take_rows(self.rows) if self.changed_table is None else self.changed_table
        return isinstance(table, np.ndarray) and bool(np.isfinite(table).all())


@dataclass(frozen=True, eq=False)
class TrialSplit:
    """Both parts of a split under a condition, the noise that scores are to get, and what was warned of."""

    train: TrialRows
    test: TrialRows
    score_noise: ScoreNoise | None
    notes: str | None


def apply_condition(data: TrialData, rows: SplitRows, condition: Condition, seed: int) -> TrialSplit:
    """The parts of a split as the condition leaves them; each part draws from a source of its own.

    >>> import fairtrial
    >>> rows = SplitRows(np.arange(0, 150, 2), np.arange(1, 150, 2), 0, 0)
    >>> parts = apply_condition(TrialData.of(fairtrial.data.load("iris")), rows, ClassNoise(0.2), seed=1)
    >>> parts.train.changed, parts.train.level, parts.run_test.changed
    (15, 0.2, None)
    """
    _check_score_noise(condition)
    with record_warnings() as caught:
        train = _apply_to_rows(data, rows.train, condition, "train", seed)
        test = _apply_to_rows(data, rows.test, condition, "test", seed)
    return TrialSplit(train, test, condition if isinstance(condition, ScoreNoise) else None, format_notes(caught))


def _apply_to_rows(
    data: TrialData, rows: IntArray, condition: Condition, part: Literal["train", "test"], seed: int
) -> TrialRows:
    change, codes = condition.limit_to(part), data.codes[rows]
    if not len(rows):
        raise InputError(f"the {part} part of a split must have at least 1 row, got none: take another resampling")
    if isinstance(change, (Clean, ScoreNoise)):
        return TrialRows(rows, codes)
    X, y = data.take_rows(rows), data.to_categorical(codes)
    if type(change) not in _CLASS_CONDITIONS:
        X, y = data.to_frame(X), _to_class_series(y)
    changed = change.apply(X, y, derive_generator(seed, part))
    if not len(changed.rows):
        requirement = f"at least 1 of the {len(rows)} rows of the {part} part"
        raise InputError(f"the condition {change!r} must leave {requirement}, got none: take a lower level, or fewer folds")
    table = None if changed.X is X and len(changed.rows) == len(rows) else _to_table(changed.X)
    return TrialRows(
        rows[changed.rows], _encode_classes(changed, data), table, changed.level, int(np.count_nonzero(changed.mask))
    )


def _to_class_series(y: Any) -> Any:
    import pandas as pd

    return pd.Series(y, name="class")


def _to_table(X: Any) -> Any:
    matrix = to_matrix(X)
    return X.set_axis(range(len(X)), axis=0) if matrix is None else matrix


def _encode_classes(changed: Changed, data: TrialData) -> IntArray:
    """The classes as places among the declared ones."""
    import pandas as pd

    y: Any = changed.y.array if isinstance(changed.y, pd.Series) else changed.y
    same = isinstance(y, pd.Categorical) and y.categories is data.kind.categories
    column = y if same else pd.Categorical(np.asarray(y, dtype=object), categories=data.kind.categories)
    codes = np.asarray(column.codes, dtype=np.intp)
    if codes.min() < 0:
        new = np.asarray(y, dtype=object)[int(np.argmin(codes))]
        raise InputError(f"a condition must leave classes that the data set declares, got {new!r}: declare it by classes=")
    return codes


def _check_score_noise(condition: Condition) -> None:
    if isinstance(condition, ScoreNoise) and condition.part == "train":
        raise InputError("score noise must have part 'test', got 'train': there are no scores of training rows")
    if isinstance(condition, Sequence) and any(isinstance(step, ScoreNoise) for step in condition.steps):
        raise InputError("score noise must be a condition of its own in a study, got it within a sequence: declare it alone")


_WARM_UP_ROWS = 40


_warm: set[bytes] = set()  # learners that have run in this process


class TrialRunner:
    """Runs the trials of a chunk one after the other; it holds what they share.

    >>> import pickle, fairtrial
    >>> from fairtrial.conditions import Clean
    >>> from fairtrial.learners import C45
    >>> from fairtrial.study.records import Limits, Rows
    >>> data = TrialData.of(fairtrial.data.load("iris"))
    >>> rows = Rows(np.arange(0, 150, 2), np.arange(1, 150, 2), repeat=0, fold=0)
    >>> task = TrialTask(b"0123456789abcdef", split=0, condition=0, learner=0, condition_seed=1, learner_seed=1)
    >>> chunk = Chunk("iris", (rows,), (Clean(),), (pickle.dumps(C45()),), (task,), Limits())
    >>> evidence = TrialRunner(data, chunk).run(task)
    >>> evidence.status, evidence.score_kind
    ('ok', 'probability')
    """

    def __init__(self, data: TrialData, chunk: Chunk) -> None:
        self._data, self._chunk = data, chunk
        self._learners: dict[int, TrialLearner] = {}
        self._context: tuple[int, int, int] | None = None
        self._split: TrialSplit | TrialFailure

    def run(self, task: TrialTask) -> TrialRecord:
        """The evidence of a trial, whatever its learner raises, even a wish to stop the process."""
        split = self._apply_condition(task)
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
        """The parts of the split under the condition: those of the trial before, where it had the same."""
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
        """The learner and its form. What it sets while it is read and warms up, which not every trial does, is put back."""
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
        """Fit and ask once, untimed, on a few rows: imports and compiling are no part of any trial's time."""
        if learner.identity in _warm:
            return
        _warm.add(learner.identity)
        few_rows = _select_few_rows(train_rows.codes)
        X = prepared.convert_table(train_rows.take_table(self._data, few_rows), self._data)
        try:
            estimator = _make_seeded_estimator(prepared, 0)
            estimator.fit(X, prepared.convert_classes(train_rows.codes[few_rows], self._data))
            predict_outputs(estimator, X)
        except BaseException:  # what is wrong with it, the trial itself will tell
            return

    def _run_trial(
        self, name: str, prepared: PreparedEstimator, split: TrialSplit, task: TrialTask, meter: Meter
    ) -> dict[str, Any]:
        data, train, test = self._data, split.train, split.test
        X_train, X_test = (prepared.convert_table(rows.take_table(data), data) for rows in (train, test))
        y_train = prepared.convert_classes(train.codes, data)
        estimator = _make_seeded_estimator(prepared, task.learner_seed)
        with meter.time_stage("fit"):
            estimator.fit(X_train, y_train)
        with meter.time_stage("predict"):
            output = predict_outputs(estimator, X_test)
        n = len(test.rows)
        values = _describe_condition(split)
        codes = encode_predictions(output, n, data.labels, name)
        values |= {"prediction": pack(codes, CODES), "notes": format_abstention_note(codes)}
        scores = align_scores(output, estimator, n, train.codes, data.labels, name, pairs=prepared.scores_pairs)
        if split.score_noise is not None:
            scores, values["test_level"], values["test_changed"] = _apply_score_noise(scores, split.score_noise, task, name)
        if scores is not None:
            notes = "\n".join(note for note in (values["notes"], scores.note) if note)
            values |= {"scores": pack(scores.values, NUMBERS), "score_kind": scores.kind, "notes": notes}
        return values | self._pack_changed_rows(test, self._chunk.splits[task.split].test)

    def _pack_changed_rows(self, test: TrialRows, rows: IntArray) -> dict[str, Any]:
        """The test rows and their classes, where they are not those of the split."""
        values = {}
        if test.rows is not rows and not np.array_equal(test.rows, rows):
            values["rows"] = pack(test.rows, INDICES)
        if test.changed is not None and not np.array_equal(test.codes, self._data.codes[test.rows]):
            values["y_true"] = pack(test.codes, CODES)
        return values


def _make_seeded_estimator(prepared: PreparedEstimator, seed: int) -> Any:
    """A fresh learner, and the global sources of random numbers set for it."""
    estimator = prepared.make_estimator(seed)
    np.random.seed(seed)  # noqa: NPY002  # learners that know no other source repeat as well
    random.seed(seed)
    return estimator


def _select_few_rows(codes: IntArray) -> IntArray:
    """Places of a few rows: each class twice, if it has as many rows, and more of each by its share up to 40 in all."""
    if len(codes) <= _WARM_UP_ROWS:
        return np.arange(len(codes))
    groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    spare = max(0, _WARM_UP_ROWS - 2 * len(groups))
    return np.sort(np.concatenate([group[: 2 + spare * len(group) // len(codes)] for group in groups]))


def _apply_score_noise(
    scores: EstimatorScores | None, noise: ScoreNoise, task: TrialTask, name: str
) -> tuple[EstimatorScores, float, int]:
    if scores is None:
        raise LearnerError(f"{name} must have predict_proba or decision_function under score noise, got neither")
    return add_score_noise(scores, noise, derive_generator(task.condition_seed, "test"))


def _describe_condition(split: TrialSplit) -> dict[str, Any]:
    """What the condition did to both parts."""
    train, test = split.train, split.test
    return {"level": train.level, "changed": train.changed, "test_level": test.level, "test_changed": test.changed}


def _collect_costs(meter: Meter | None) -> dict[str, Any]:
    return {} if meter is None else {**meter.figures, "memory": meter.measure_memory()}
