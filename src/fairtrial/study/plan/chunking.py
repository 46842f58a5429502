"""Trials to chunks: as many of one data set as take about a second, fewer where nothing is known and towards the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from math import isnan

import numpy as np

from fairtrial._check import FloatArray, positive, whole_number
from fairtrial.study.plan.identity import KEY
from fairtrial.study.plan.pace import Pace
from fairtrial.study.plan.pickling import pickled
from fairtrial.study.plan.plan import Block, Plan
from fairtrial.study.randomness import named_seed
from fairtrial.study.records import Chunk, Limits, Rows, Task

_SEED_SPAN = 2**32 - 1
_LEAST = 0.0005  # what a trial costs on its way, however fast the learner
_GUESSED = 0.25  # the share of a chunk's time where times come from other data sets
_TO_SHARE = 2  # towards the end a chunk leaves as much for each slot, so many times
_SMALLEST = 0.02  # seconds: smaller chunks for the sake of the others at the end would cost more than they bring
_MOST_POSITIONS = 4_000_000  # of training and test rows in one chunk: 32 MB on the way


class Chunker:
    """Hands out the missing trials of a plan in chunks, each trial once. What becomes of a chunk is not its business.

    A chunk takes about `seconds`, by the times that `learn` was told. A learner of which nothing is known travels alone, one
    trial at a time. All learners of a split and condition stay together where they fit. Towards the end chunks become smaller,
    so that the `slots` workers finish together.
    """

    def __init__(
        self,
        plan: Plan,
        seconds: float = 1.0,
        *,
        blocks: Iterable[Block] | None = None,
        slots: int = 1,
    ) -> None:
        positive("seconds", seconds)
        self._plan = plan
        self._target = float(seconds)
        self._slots = whole_number("slots", slots, 1)
        self._learners = tuple(pickled(each.estimator, each.name) for each in plan.learners)
        self._queue = deque(plan.missing() if blocks is None else blocks)
        self._left = plan.count(self._queue)
        self._pace = Pace([len(each.dataset) for each in plan.data], len(plan.learners))

    @property
    def remaining_seconds(self) -> float:
        """How long these take one after the other, as far as is known; NaN before anything is."""
        times = self._pace.seconds
        known = ~np.isnan(times)
        if not known.any():
            return float("nan") if self._queue else 0.0
        return float(np.sum(self._left * np.where(known, times, times[known].mean())))

    def learn(self, learner: int, data: int, seconds: float, trials: int = 1) -> None:
        """A trial of this learner on this data set (their places in the plan) took so long."""
        self._pace.learn(learner, data, seconds, trials)

    def predicted(self, data: int) -> FloatArray:
        """The seconds that a trial of each learner is taken to last on this data set; NaN where nothing is known."""
        return np.asarray(np.maximum(self._pace.seconds[data], _LEAST))

    def next_chunk(self) -> Chunk | None:
        """The next chunk; None when all trials have been handed out."""
        if not self._queue:
            return None
        data = self._queue[0].data
        taken = self._taken(data)
        for block in taken:
            self._left[data, list(block.learners)] -= 1
        return chunk_of(self._plan, taken, self._learners, self._plan.study.limits)

    def _taken(self, data: int) -> list[Block]:
        times = self.predicted(data).tolist()
        room, most = self._room(data), _MOST_POSITIONS // len(self._plan.data[data].dataset)
        taken: list[Block] = []
        splits: set[int] = set()
        while self._queue and self._queue[0].data == data:
            block = self._queue[0]
            chosen = _together(block.learners, times, room) if taken else _first(block.learners, times, room)
            splits.add(block.split)
            if taken and (not chosen or len(splits) > most):
                break
            self._queue.popleft()
            taken.append(block._replace(learners=chosen))
            if len(chosen) < len(block.learners):
                rest = tuple(each for each in block.learners if each not in chosen)
                self._queue.appendleft(block._replace(learners=rest))
                break
            room -= sum(times[each] for each in chosen)
        return taken

    def _room(self, data: int) -> float:
        """Seconds for the next chunk."""
        learners = list(self._queue[0].learners)
        guessed = not self._pace.seen[data, learners].all()
        room = self._target * (_GUESSED if guessed else 1.0)
        share = self.remaining_seconds / (_TO_SHARE * self._slots)
        return room if self._slots == 1 or isnan(share) else min(room, max(share, _SMALLEST))


def chunk_of(plan: Plan, blocks: Sequence[Block], learners: Sequence[bytes], limits: Limits) -> Chunk:
    """The chunk of these blocks of one data set; `learners` are all those of the plan, pickled."""
    data = blocks[0].data
    of, keys = plan.data[data], plan.keys(data)
    places = [sorted(each) for each in zip(*((block.split, block.condition) for block in blocks), strict=True)]
    splits, conditions = ({place: i for i, place in enumerate(dict.fromkeys(each))} for each in places)
    used = {place: i for i, place in enumerate(sorted({each for block in blocks for each in block.learners}))}
    rows = {place: of.splits[place] for place in splits}
    tasks = []
    for block in blocks:
        own = keys[block.split, block.condition].tobytes()
        seeds = _seeds(plan, block, rows[block.split])
        for learner, seed in zip(block.learners, seeds[1:], strict=True):
            key = own[KEY.itemsize * learner : KEY.itemsize * (learner + 1)]
            tasks.append(Task(key, splits[block.split], conditions[block.condition], used[learner], seeds[0], seed))
    return Chunk(
        data=of.hash,
        splits=tuple(rows.values()),
        conditions=tuple(plan.conditions[place].condition for place in conditions),
        learners=tuple(learners[place] for place in used),
        tasks=tuple(tasks),
        limits=limits,
    )


def _seeds(plan: Plan, block: Block, rows: Rows) -> list[int]:
    """The seed of the condition, then that of each learner; both depend on contents, never on names or places."""
    data, condition, seed = plan.data[block.data].hash, plan.conditions[block.condition].draws, plan.study.seed
    found = [named_seed(seed, "condition", data, condition, rows.repeat, rows.fold)]
    for each in block.learners:
        learner = plan.learners[each].hash
        found.append(named_seed(seed, "learner", data, condition, learner, rows.repeat, rows.fold) % _SEED_SPAN)
    return found


def _first(learners: tuple[int, ...], times: list[float], room: float) -> tuple[int, ...]:
    """Those that open a chunk: one at least; of those that nothing is known of one alone, after the others."""
    known = [each for each in learners if not isnan(times[each])]
    if not known:
        return learners[:1]
    chosen, room = known[:1], room - times[known[0]]
    for each in known[1:]:
        if times[each] <= room:
            chosen.append(each)
            room -= times[each]
    return tuple(chosen)


def _together(learners: tuple[int, ...], times: list[float], room: float) -> tuple[int, ...]:
    """All, where they are known and fit into a chunk that has been opened, else none."""
    return learners if sum(times[each] for each in learners) <= room else ()
