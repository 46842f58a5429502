"""Divide trials into chunks of about one second of work.

Chunks are smaller if times are unknown or the run is near its end. Learners are sent to workers as unfitted copies, together
with any code that is not part of an installed package.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from math import isnan
from typing import Any

import cloudpickle
import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, check_positive, check_whole_number
from fairtrial.errors import InputError
from fairtrial.study.identity import Encoder
from fairtrial.study.plan.plan import StudyPlan, TrialBlock
from fairtrial.study.records import Chunk

_MIN_TRIAL_SECONDS = 0.0005  # overhead of a trial, even with a very fast learner
_GUESSED_FRACTION = 0.25  # fraction of the target time that a chunk may take if times are extrapolated from other data sets
_TO_SHARE = 2  # near the end, a chunk contains the remaining work per slot, divided by this number
_MIN_CHUNK_SECONDS = 0.02  # smaller chunks near the end would cost more time than they save
_MAX_POSITIONS = 4_000_000  # training and test rows in one chunk: 32 MB to send
_REMEDY = "pass an unfitted estimator, or implement get_params of scikit-learn"


class TimeModel:
    """A model that predicts the seconds per trial for each data set and learner.

    If a learner has not run on a data set, its time is assumed to be proportional to the number of rows. The prediction is NaN
    if no times of the learner are known.

    >>> model = TimeModel(rows=[100, 200], learners=2)
    >>> model.learn(learner=0, data=0, seconds=0.5)
    >>> model.seconds.tolist()
    [[0.5, nan], [1.0, nan]]
    """

    def __init__(self, rows: Sequence[int], learners: int) -> None:
        self._rows = np.asarray(rows, dtype=np.float64)
        self._total = np.zeros((len(rows), learners))
        self._count = np.zeros((len(rows), learners))
        self._seconds = np.full((len(rows), learners), np.nan)
        self._stale: set[int] = set()

    def learn(self, learner: int, data: int, seconds: float, trials: int = 1) -> None:
        """Add the time of a trial, or the mean time of several trials."""
        self._total[data, learner] += seconds * trials
        self._count[data, learner] += trials
        self._stale.add(learner)

    @property
    def seconds(self) -> FloatArray:
        """Predicted seconds per trial. Callers must not modify this array."""
        for learner in self._stale:
            self._seconds[:, learner] = self._predict(learner)
        self._stale.clear()
        return self._seconds

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """Boolean array that marks the pairs of data set and learner with known times."""
        return self._count > 0

    def _predict(self, learner: int) -> FloatArray:
        total, count = self._total[:, learner], self._count[:, learner]
        seconds_per_row = total.sum() / (count * self._rows).sum()
        return np.where(count > 0, total / np.maximum(count, 1), seconds_per_row * self._rows)


class Chunker:
    """A queue that divides the missing trials of a plan into chunks.

    A chunk takes about `seconds`, as predicted from the times passed to `learn`. As long as no times of a learner are known,
    each of its trials gets its own chunk. Otherwise, trials on the same split and condition stay together if they fit into a
    chunk. Two kinds of learners get separate chunks: learners whose code is not installed, and learners that failed
    (`isolate`). Chunks become smaller near the end, so the workers finish at about the same time. `slots` is the number of
    workers.
    """

    def __init__(
        self,
        plan: StudyPlan,
        seconds: float = 1.0,
        *,
        blocks: Iterable[TrialBlock] | None = None,
        slots: int = 1,
    ) -> None:
        check_positive("seconds", seconds)
        self._plan = plan
        self._target = float(seconds)
        self._slots = check_whole_number("slots", slots, 1)
        self._learners = tuple(dump_estimator(learner.estimator, learner.name) for learner in plan.learners)
        self._isolated = {index for index, learner in enumerate(plan.learners) if learner.local}
        self._queue = self._group(plan.iter_missing() if blocks is None else blocks)
        self._left = plan.count(self._queue)
        self._time_model = TimeModel([len(planned.dataset) for planned in plan.data], len(plan.learners))

    @property
    def remaining_seconds(self) -> float:
        """Predicted total seconds of the remaining trials, or NaN if no times are known."""
        times = self._time_model.seconds
        is_known = ~np.isnan(times)
        if not is_known.any():
            return float("nan") if self._queue else 0.0
        return float(np.sum(self._left * np.where(is_known, times, times[is_known].mean())))

    def learn(self, learner: int, data: int, seconds: float, trials: int = 1) -> None:
        """Add the time of a trial, given the indices of its learner and data set in the plan."""
        self._time_model.learn(learner, data, seconds, trials)

    def isolate(self, learner: int) -> None:
        """Send the remaining trials of a failed learner in separate chunks.

        After a failure, the worker is not reused.
        """
        if learner not in self._isolated:
            self._isolated.add(learner)
            self._queue = self._group(self._queue)

    def _group(self, blocks: Iterable[TrialBlock]) -> deque[TrialBlock]:
        """Order the trials of each data set, keeping the trials of each isolated learner together.

        Trials that can share a worker come first.
        """
        if not self._isolated:
            return deque(blocks)
        groups: dict[tuple[int, int], list[TrialBlock]] = {}
        for block in blocks:
            shared = tuple(learner for learner in block.learners if learner not in self._isolated)
            if shared:
                groups.setdefault((block.data, -1), []).append(block._replace(learners=shared))
            for learner in self._isolated.intersection(block.learners):
                groups.setdefault((block.data, learner), []).append(block._replace(learners=(learner,)))
        data_order = list(dict.fromkeys(data for data, _ in groups))
        ordered = sorted(groups, key=lambda group: (data_order.index(group[0]), group[1]))
        return deque(block for group in ordered for block in groups[group])

    def _get_isolated(self, block: TrialBlock) -> int | None:
        """Return the isolated learner of a block, or None if its learners can share a worker."""
        return block.learners[0] if block.learners[0] in self._isolated else None

    def predict_seconds(self, data: int) -> FloatArray:
        """Predict the seconds per trial of each learner on this data set. Unknown times are NaN."""
        return np.asarray(np.maximum(self._time_model.seconds[data], _MIN_TRIAL_SECONDS))

    def take_chunk(self) -> Chunk | None:
        """Remove and return the next chunk, or return None if no trial is left."""
        if not self._queue:
            return None
        data = self._queue[0].data
        blocks = self._take_blocks(data)
        for block in blocks:
            self._left[data, list(block.learners)] -= 1
        return self._plan.build_chunk(blocks, self._learners)

    def _take_blocks(self, data: int) -> list[TrialBlock]:
        times = self.predict_seconds(data).tolist()
        room, max_splits = self._compute_room(data), _MAX_POSITIONS // len(self._plan.data[data].dataset)
        blocks: list[TrialBlock] = []
        splits: set[int] = set()
        isolated = self._get_isolated(self._queue[0])
        while self._queue and self._queue[0].data == data and self._get_isolated(self._queue[0]) == isolated:
            block = self._queue[0]
            chosen = _select_together(block.learners, times, room) if blocks else _select_first(block.learners, times, room)
            splits.add(block.split)
            if blocks and (not chosen or len(splits) > max_splits):
                break
            self._queue.popleft()
            blocks.append(block._replace(learners=chosen))
            if len(chosen) < len(block.learners):
                rest = tuple(learner for learner in block.learners if learner not in chosen)
                self._queue.appendleft(block._replace(learners=rest))
                break
            room -= sum(times[learner] for learner in chosen)
        return blocks

    def _compute_room(self, data: int) -> float:
        """Compute how many seconds the next chunk may take."""
        learners = list(self._queue[0].learners)
        guessed = not self._time_model.seen[data, learners].all()
        room = self._target * (_GUESSED_FRACTION if guessed else 1.0)
        seconds_per_slot = self.remaining_seconds / (_TO_SHARE * self._slots)
        return room if self._slots == 1 or isnan(seconds_per_slot) else min(room, max(seconds_per_slot, _MIN_CHUNK_SECONDS))


def _select_first(learners: tuple[int, ...], times: list[float], room: float) -> tuple[int, ...]:
    """Select at least one learner for the first block of a chunk.

    A learner without known times is selected only if no other learner is left, and then alone.
    """
    timed = [learner for learner in learners if not isnan(times[learner])]
    if not timed:
        return learners[:1]
    chosen, room = timed[:1], room - times[timed[0]]
    for learner in timed[1:]:
        if times[learner] <= room:
            chosen.append(learner)
            room -= times[learner]
    return tuple(chosen)


def _select_together(learners: tuple[int, ...], times: list[float], room: float) -> tuple[int, ...]:
    """Select all learners if their times are known and fit into the chunk, otherwise none."""
    return learners if sum(times[learner] for learner in learners) <= room else ()


def dump_estimator(estimator: Any, name: str = "learner") -> bytes:
    """Pickle an unfitted copy of the estimator.

    Code that is not part of an installed package is included.

    >>> import pickle
    >>> from sklearn.naive_bayes import GaussianNB
    >>> pickle.loads(dump_estimator(GaussianNB().fit([[0.0], [1.0]], [0, 1])))
    GaussianNB()
    """
    fresh = clone_unfitted(estimator, name)
    try:
        return _dump_with_code(fresh)
    except Exception:  # the module cannot be pickled, but the other process may be able to import it
        try:
            return bytes(cloudpickle.dumps(fresh))
        except Exception as error:
            raise InputError(f"{name} cannot be sent to another process ({error}): make all its parameters picklable") from None


def _dump_with_code(estimator: Any) -> bytes:
    encoder = Encoder()
    encoder.encode(estimator)
    with ExitStack() as cleanup:
        for module in sorted(encoder.local_modules - cloudpickle.list_registry_pickle_by_value() - {"__main__"}):
            cloudpickle.register_pickle_by_value(sys.modules[module])
            cleanup.callback(cloudpickle.unregister_pickle_by_value, sys.modules[module])
        return bytes(cloudpickle.dumps(estimator))


def clone_unfitted(estimator: Any, name: str = "learner") -> Any:
    """Make an unfitted copy of an estimator, or raise InputError if this is impossible.

    Unlike scikit-learn's `clone`, this function also copies estimators that change their parameters in `__init__`. An estimator
    without `get_params` is copied with its state. It is refused if it has attributes with a trailing underscore, because these
    show that it is fitted.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> hasattr(clone_unfitted(GaussianNB().fit([[0.0], [1.0]], [0, 1])), "theta_")
    False
    """
    copied = _clone_value(estimator, name)
    _refuse_fitted(copied, name)
    return copied


def _clone_value(value: Any, name: str) -> Any:
    """Clone a value with scikit-learn, or copy it by other means if `clone` fails."""
    from sklearn.base import clone

    try:
        return clone(value, safe=False)
    except Exception as error:
        if isinstance(value, (list, tuple, set, frozenset)):
            return type(value)([_clone_value(item, name) for item in value])
        if hasattr(value, "get_params"):
            return _build_copy(value, name)
        if hasattr(value, "fit"):
            raise InputError(f"{name} must be copyable, got {type(value).__name__} ({error}): {_REMEDY}") from None
        return value  # e.g. a lock; pickling will refuse it if necessary


def _build_copy(estimator: Any, name: str) -> Any:
    parameters = {key: _clone_value(value, name) for key, value in estimator.get_params(deep=False).items()}
    try:
        copied = type(estimator)(**parameters)
    except Exception as error:
        problem = f"{type(estimator).__name__}(**get_params()) raises {type(error).__name__}: {error}"
        raise InputError(f"{name} must be copyable as an unfitted estimator ({problem}): {_REMEDY}") from None
    for key in parameters.keys() & getattr(copied, "__dict__", {}).keys():  # `__init__` may have changed the parameters
        setattr(copied, key, parameters[key])
    return copied


def _refuse_fitted(estimator: Any, name: str) -> None:
    """Refuse fitted components without `get_params`, because their fitted state would be copied."""
    components = [estimator, *(estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ())]
    for component in components:
        if not hasattr(component, "fit") or hasattr(component, "get_params") or isinstance(component, type):
            continue
        fitted_attributes = [
            attribute
            for attribute in getattr(component, "__dict__", {})
            if attribute.endswith("_") and not attribute.startswith("_")
        ]
        if fitted_attributes:
            problem = f"{type(component).__name__} with {fitted_attributes[0]}"
            raise InputError(f"{name} must not be fitted, got {problem}: {_REMEDY}")
