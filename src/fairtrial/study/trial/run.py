"""One trial: the condition applied, the learner made, fitted and asked; whatever happens becomes evidence."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial.conditions import ScoreNoise
from fairtrial.errors import LearnerError
from fairtrial.study.abstaining import abstention_note
from fairtrial.study.evidence import CODES, NUMBERS, PLACES, pack
from fairtrial.study.randomness import named_generator
from fairtrial.study.records import Chunk, Evidence, Task
from fairtrial.study.trial.answering import Scores, ask, disturbed, predicted_codes, scores_of
from fairtrial.study.trial.failing import Failure
from fairtrial.study.trial.measuring import Meter, listening, told
from fairtrial.study.trial.settings import Settings
from fairtrial.study.trial.trial_data import TrialData
from fairtrial.study.trial.trial_learner import Form, TrialLearner
from fairtrial.study.trial.trial_parts import Part, Parts, parts_of

_WARM_UP_ROWS = 40
_warm: set[bytes] = set()  # learners that have run in this process


class Bench:
    """Runs the trials of a chunk one after the other; it holds what they share.

    >>> import pickle, fairtrial
    >>> from fairtrial.conditions import Clean
    >>> from fairtrial.learners import C45
    >>> from fairtrial.study.records import Limits, Rows
    >>> data = TrialData.of(fairtrial.data.load("iris"))
    >>> rows = Rows(np.arange(0, 150, 2), np.arange(1, 150, 2), repeat=0, fold=0)
    >>> task = Task(b"0123456789abcdef", split=0, condition=0, learner=0, condition_seed=1, learner_seed=1)
    >>> chunk = Chunk("iris", (rows,), (Clean(),), (pickle.dumps(C45()),), (task,), Limits())
    >>> evidence = Bench(data, chunk).run(task)
    >>> evidence.status, evidence.score_kind
    ('ok', 'probability')
    """

    def __init__(self, data: TrialData, chunk: Chunk) -> None:
        self._data, self._chunk = data, chunk
        self._learners: dict[int, TrialLearner] = {}
        self._context: tuple[int, int, int] | None = None
        self._parts: Parts | Failure

    def run(self, task: Task) -> Evidence:
        """The evidence of a trial, whatever its learner raises, even a wish to stop the process."""
        parts = self._changed(task)
        if isinstance(parts, Failure):
            return parts.evidence(task.key)
        meter: Meter | None = None
        failure: Failure | None = None
        with listening() as caught:
            try:
                learner, form = self._ready(task.learner, parts)
                caught.clear()
                meter = Meter()
                found = self._trial(learner.name, form, parts, task, meter)
            except BaseException as error:
                failure, found = Failure.of(error), _realised(parts)
            cost = _cost(meter)
        found["notes"] = told(caught, found.get("notes"), parts.notes)
        return failure.evidence(task.key, **found, **cost) if failure else Evidence(task.key, "ok", **found, **cost)

    def _changed(self, task: Task) -> Parts | Failure:
        """The parts of the split under the condition: those of the trial before, where it had the same."""
        context = (task.split, task.condition, task.condition_seed)
        if context != self._context:
            self._context = None
            rows, condition = self._chunk.splits[task.split], self._chunk.conditions[task.condition]
            try:
                self._parts = parts_of(self._data, rows, condition, task.condition_seed)
            except Exception as error:
                self._parts = Failure.of(error)
            self._context = context
        return self._parts

    def _ready(self, place: int, parts: Parts) -> tuple[TrialLearner, Form]:
        """The learner and its form. What it sets while it is read and warms up, which not every trial does, is put back."""
        known = self._learners.get(place)
        if known is not None:
            return known, self._form(known, parts)
        settings = Settings()
        try:
            learner = TrialLearner(self._chunk.learners[place])
            form = self._form(learner, parts)
            self._warm_up(learner, form, parts.train)
        finally:
            settings.put_back()
        self._learners[place] = learner
        return learner, form

    def _form(self, learner: TrialLearner, parts: Parts) -> Form:
        finite = learner.has_shortcut and all(part.finite(self._data) for part in (parts.train, parts.test))
        return learner.form(finite=finite)

    def _warm_up(self, learner: TrialLearner, form: Form, part: Part) -> None:
        """Fit and ask once, untimed, on a few rows: imports and compiling are no part of any trial's time."""
        if learner.identity in _warm:
            return
        _warm.add(learner.identity)
        few = _few(part.codes)
        X = form.table(part.table(self._data, few), self._data)
        try:
            estimator = _seeded(form, 0)
            estimator.fit(X, form.classes(part.codes[few], self._data))
            ask(estimator, X)
        except BaseException:  # what is wrong with it, the trial itself will tell
            return

    def _trial(self, name: str, form: Form, parts: Parts, task: Task, meter: Meter) -> dict[str, Any]:
        data, train, test = self._data, parts.train, parts.test
        X_train, X_test = (form.table(part.table(data), data) for part in (train, test))
        y_train = form.classes(train.codes, data)
        estimator = _seeded(form, task.learner_seed)
        with meter.stage("fit"):
            estimator.fit(X_train, y_train)
        with meter.stage("predict"):
            answers = ask(estimator, X_test)
        n = len(test.rows)
        found = _realised(parts)
        codes = predicted_codes(answers, n, data.labels, name)
        found |= {"prediction": pack(codes, CODES), "notes": abstention_note(codes)}
        scores = scores_of(answers, estimator, n, train.codes, data.labels, name, pairs=form.scores_pairs)
        if parts.score_noise is not None:
            scores, found["test_level"], found["test_changed"] = _noisy(scores, parts.score_noise, task, name)
        if scores is not None:
            notes = "\n".join(each for each in (found["notes"], scores.note) if each)
            found |= {"scores": pack(scores.values, NUMBERS), "score_kind": scores.kind, "notes": notes}
        return found | self._other_rows(test, self._chunk.splits[task.split].test)

    def _other_rows(self, test: Part, rows: IntArray) -> dict[str, Any]:
        """The test rows and their classes, where they are not those of the split."""
        found = {}
        if test.rows is not rows and not np.array_equal(test.rows, rows):
            found["rows"] = pack(test.rows, PLACES)
        if test.changed is not None and not np.array_equal(test.codes, self._data.codes[test.rows]):
            found["truth"] = pack(test.codes, CODES)
        return found


def _seeded(form: Form, seed: int) -> Any:
    """A fresh learner, and the global sources of random numbers set for it."""
    estimator = form.fresh(seed)
    np.random.seed(seed)  # noqa: NPY002  # learners that know no other source repeat as well
    random.seed(seed)
    return estimator


def _few(codes: IntArray) -> IntArray:
    """Places of a few rows: each class twice, if it has as many rows, and more of each by its share up to 40 in all."""
    if len(codes) <= _WARM_UP_ROWS:
        return np.arange(len(codes))
    groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    spare = max(0, _WARM_UP_ROWS - 2 * len(groups))
    return np.sort(np.concatenate([group[: 2 + spare * len(group) // len(codes)] for group in groups]))


def _noisy(scores: Scores | None, noise: ScoreNoise, task: Task, name: str) -> tuple[Scores, float, int]:
    if scores is None:
        raise LearnerError(f"{name} must have predict_proba or decision_function under score noise, got neither")
    return disturbed(scores, noise, named_generator(task.condition_seed, "test"))


def _realised(parts: Parts) -> dict[str, Any]:
    """What the condition did to both parts."""
    train, test = parts.train, parts.test
    return {"level": train.level, "changed": train.changed, "test_level": test.level, "test_changed": test.changed}


def _cost(meter: Meter | None) -> dict[str, Any]:
    return {} if meter is None else {**meter.figures, "memory": meter.memory()}
