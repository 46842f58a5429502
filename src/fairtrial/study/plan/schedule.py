"""Trials to chunks: as many of one data set as take about a second, fewer where nothing is known and towards the end."""

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
from fairtrial.study.identity import KEY, Encoder
from fairtrial.study.plan.plan import StudyPlan, TrialBlock
from fairtrial.study.randomness import derive_seed
from fairtrial.study.records import Chunk, ResourceLimits, SplitRows, TrialTask
from fairtrial.study.run.estimator import clone_unfitted


class TimeModel:
    """Predicted seconds of a trial, data sets x learners. NaN: nothing is known of the learner.

    Where a learner has been seen on other data sets only, its time is taken to grow in proportion to the rows.

    >>> pace = TimeModel(rows=[100, 200], learners=2)
    >>> pace.learn(learner=0, data=0, seconds=0.5)
    >>> pace.seconds.tolist()
    [[0.5, nan], [1.0, nan]]
    """

    def __init__(self, rows: Sequence[int], learners: int) -> None:
        self._rows = np.asarray(rows, dtype=np.float64)
        self._total = np.zeros((len(rows), learners))
        self._count = np.zeros((len(rows), learners))
        self._seconds = np.full((len(rows), learners), np.nan)
        self._stale: set[int] = set()

    def learn(self, learner: int, data: int, seconds: float, trials: int = 1) -> None:
        """A trial, or the mean of several, took so long."""
        self._total[data, learner] += seconds * trials
        self._count[data, learner] += trials
        self._stale.add(learner)

    @property
    def seconds(self) -> FloatArray:
        """Predicted seconds of a trial; do not write to it."""
        for learner in self._stale:
            self._seconds[:, learner] = self._predict(learner)
        self._stale.clear()
        return self._seconds

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """Which learners have been seen on which data sets."""
        return self._count > 0

    def _predict(self, learner: int) -> FloatArray:
        total, count = self._total[:, learner], self._count[:, learner]
        seconds_per_row = total.sum() / (count * self._rows).sum()
        return np.where(count > 0, total / np.maximum(count, 1), seconds_per_row * self._rows)


def dump_estimator(estimator: Any, name: str = "learner") -> bytes:
    """An unfitted copy of the estimator, as bytes. Classes and functions of no installed package travel with their code.

    >>> import pickle
    >>> from sklearn.naive_bayes import GaussianNB
    >>> pickle.loads(dump_estimator(GaussianNB().fit([[0.0], [1.0]], [0, 1])))
    GaussianNB()
    """
    fresh = clone_unfitted(estimator, name)
    try:
        return _dump_with_code(fresh)
    except Exception:  # its module holds something that cannot travel; perhaps the other process can import it
        try:
            return bytes(cloudpickle.dumps(fresh))
        except Exception as error:
            raise InputError(
                f"{name} cannot be sent to another process ({error}): all its parameters must be picklable"
            ) from None


def _dump_with_code(estimator: Any) -> bytes:
    encoder = Encoder()
    encoder.encode(estimator)
    with ExitStack() as cleanup:
        for module in sorted(encoder.local_modules - cloudpickle.list_registry_pickle_by_value() - {"__main__"}):
            cloudpickle.register_pickle_by_value(sys.modules[module])
            cleanup.callback(cloudpickle.unregister_pickle_by_value, sys.modules[module])
        return bytes(cloudpickle.dumps(estimator))


_SEED_SPAN = 2**32 - 1


_MIN_TRIAL_SECONDS = 0.0005  # what a trial costs on its way, however fast the learner


_GUESSED_FRACTION = 0.25  # the share of a chunk's time where times come from other data sets


_TO_SHARE = 2  # towards the end a chunk leaves as much for each slot, so many times


_MIN_CHUNK_SECONDS = 0.02  # seconds: smaller chunks for the sake of the others at the end would cost more than they bring


_MAX_POSITIONS = 4_000_000  # of training and test rows in one chunk: 32 MB on the way


class Chunker:
    """Hands out the missing trials of a plan in chunks, each trial once. What becomes of a chunk is not its business.

    A chunk takes about `seconds`, by the times that `learn` was told. A learner of which nothing is known travels alone, one
    trial at a time. All learners of a split and condition stay together where they fit. Towards the end chunks become smaller,
    so that the `slots` workers finish together.
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
        self._queue = deque(plan.iter_missing() if blocks is None else blocks)
        self._left = plan.count(self._queue)
        self._time_model = TimeModel([len(planned.dataset) for planned in plan.data], len(plan.learners))

    @property
    def remaining_seconds(self) -> float:
        """How long these take one after the other, as far as is known; NaN before anything is."""
        times = self._time_model.seconds
        is_known = ~np.isnan(times)
        if not is_known.any():
            return float("nan") if self._queue else 0.0
        return float(np.sum(self._left * np.where(is_known, times, times[is_known].mean())))

    def learn(self, learner: int, data: int, seconds: float, trials: int = 1) -> None:
        """A trial of this learner on this data set (their places in the plan) took so long."""
        self._time_model.learn(learner, data, seconds, trials)

    def predict_seconds(self, data: int) -> FloatArray:
        """The seconds that a trial of each learner is taken to last on this data set; NaN where nothing is known."""
        return np.asarray(np.maximum(self._time_model.seconds[data], _MIN_TRIAL_SECONDS))

    def take_chunk(self) -> Chunk | None:
        """The next chunk; None when all trials have been handed out."""
        if not self._queue:
            return None
        data = self._queue[0].data
        blocks = self._take_blocks(data)
        for block in blocks:
            self._left[data, list(block.learners)] -= 1
        return build_chunk(self._plan, blocks, self._learners, self._plan.study.limits)

    def _take_blocks(self, data: int) -> list[TrialBlock]:
        times = self.predict_seconds(data).tolist()
        room, max_splits = self._compute_room(data), _MAX_POSITIONS // len(self._plan.data[data].dataset)
        blocks: list[TrialBlock] = []
        splits: set[int] = set()
        while self._queue and self._queue[0].data == data:
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
        """Seconds for the next chunk."""
        learners = list(self._queue[0].learners)
        guessed = not self._time_model.seen[data, learners].all()
        room = self._target * (_GUESSED_FRACTION if guessed else 1.0)
        seconds_per_slot = self.remaining_seconds / (_TO_SHARE * self._slots)
        return room if self._slots == 1 or isnan(seconds_per_slot) else min(room, max(seconds_per_slot, _MIN_CHUNK_SECONDS))


def build_chunk(plan: StudyPlan, blocks: Sequence[TrialBlock], learners: Sequence[bytes], limits: ResourceLimits) -> Chunk:
    """The chunk of these blocks of one data set; `learners` are all those of the plan, pickled."""
    data = blocks[0].data
    planned, keys = plan.data[data], plan.get_keys(data)
    used_indices = [sorted(indices) for indices in zip(*((block.split, block.condition) for block in blocks), strict=True)]
    splits, conditions = ({index: i for i, index in enumerate(dict.fromkeys(indices))} for indices in used_indices)
    used = {index: i for i, index in enumerate(sorted({learner for block in blocks for learner in block.learners}))}
    rows = {index: planned.splits[index] for index in splits}
    tasks = []
    for block in blocks:
        block_keys = keys[block.split, block.condition].tobytes()
        seeds = _derive_seeds(plan, block, rows[block.split])
        for learner, seed in zip(block.learners, seeds[1:], strict=True):
            key = block_keys[KEY.itemsize * learner : KEY.itemsize * (learner + 1)]
            tasks.append(TrialTask(key, splits[block.split], conditions[block.condition], used[learner], seeds[0], seed))
    return Chunk(
        data=planned.hash,
        splits=tuple(rows.values()),
        conditions=tuple(plan.conditions[index].condition for index in conditions),
        learners=tuple(learners[index] for index in used),
        tasks=tuple(tasks),
        limits=limits,
    )


def _derive_seeds(plan: StudyPlan, block: TrialBlock, rows: SplitRows) -> list[int]:
    """The seed of the condition, then that of each learner; both depend on contents, never on names or places."""
    data, condition, seed = plan.data[block.data].hash, plan.conditions[block.condition].draws_hash, plan.study.seed
    seeds = [derive_seed(seed, "condition", data, condition, rows.repeat, rows.fold)]
    for index in block.learners:
        learner = plan.learners[index].hash
        seeds.append(derive_seed(seed, "learner", data, condition, learner, rows.repeat, rows.fold) % _SEED_SPAN)
    return seeds


def _select_first(learners: tuple[int, ...], times: list[float], room: float) -> tuple[int, ...]:
    """Those that open a chunk: one at least; of those that nothing is known of one alone, after the others."""
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
    """All, where they are known and fit into a chunk that has been opened, else none."""
    return learners if sum(times[learner] for learner in learners) <= room else ()
