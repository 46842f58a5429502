"""Where in the plan a trial stands, by its key: for the trials that are out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import check_whole_number
from fairtrial.errors import InputError
from fairtrial.study.archive import LearnerFacts
from fairtrial.study.identity import (
    compute_learner_identity,
    compute_trial_keys,
    hash_condition,
    hash_context,
    hash_draws,
    hash_split,
)
from fairtrial.study.randomness import derive_generator
from fairtrial.study.records import PlannedSplits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.conditions import Condition
    from fairtrial.data import Dataset
    from fairtrial.study.records import Chunk
    from fairtrial.study.spec.resolve import ResolvedStudy

_KEY_SIZE = 16


class TrialBlock(NamedTuple):
    """Trials that share a data set, a split and a condition, by their places in the plan: one for each of the learners."""

    data: int
    split: int
    condition: int
    learners: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PlannedData:
    """A data set with its frozen splits; `hash` is that of its contents, `split_hashes` those of the splits."""

    name: str
    hash: str
    dataset: Dataset
    splits: PlannedSplits
    split_hashes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PlannedCondition:
    """A condition with its hash; `name` and `level` are what tables show, `draws` is what its random draws depend on."""

    name: str
    level: float
    condition: Condition
    hash: str
    draws_hash: str


@dataclass(frozen=True, eq=False)
class PlannedLearner:
    """A learner with its hash, and what is to be kept about it."""

    name: str
    estimator: Any
    hash: str
    facts: LearnerFacts


@dataclass(frozen=True, eq=False, repr=False)
class StudyPlan:
    """All trials of a study: data sets x their splits x conditions x learners. It never changes.

    `keys(i)` gives the keys of data set i, `missing(done)` what is left of it all when these keys are done, in blocks.
    """

    study: ResolvedStudy
    data: tuple[PlannedData, ...]
    conditions: tuple[PlannedCondition, ...]
    learners: tuple[PlannedLearner, ...]
    _keys: dict[int, npt.NDArray[np.void]] = field(default_factory=dict)

    @property
    def n_trials(self) -> int:
        """How many trials there are, run or not."""
        return sum(len(planned.splits) for planned in self.data) * len(self.conditions) * len(self.learners)

    def get_keys(self, data: int) -> npt.NDArray[np.void]:
        """The keys of all trials of a data set: an array of 16 bytes each, splits x conditions x learners."""
        if data not in self._keys:
            planned = self.data[data]
            conditions, learners = ([item.hash for item in kind] for kind in (self.conditions, self.learners))
            self._keys[data] = compute_trial_keys(self.study.seed, planned.hash, planned.split_hashes, conditions, learners)
        return self._keys[data]

    def iter_missing(self, done: Container[bytes] = (), shard: tuple[int, int] | None = None) -> Iterator[TrialBlock]:
        """The trials whose key is not among `done`, in the order of the study.

        With `shard=(i, n)` only those of the i-th of n parts. Which part a trial is in depends on its data set, split and
        condition only: the parts are of about the same size, and what else the study holds moves nothing between them.
        """
        part, parts = (1, 1) if shard is None else _check_shard(shard)
        return self._iter_missing(done, part, parts)

    def _iter_missing(self, done: Container[bytes], part: int, parts: int) -> Iterator[TrialBlock]:
        everyone = tuple(range(len(self.learners)))
        key_slices = [(learner, slice(_KEY_SIZE * learner, _KEY_SIZE * (learner + 1))) for learner in everyone]
        for data in range(len(self.data)):
            keys = self.get_keys(data)
            for split, condition in np.ndindex(keys.shape[:2]):
                if parts > 1 and self._compute_shard(data, split, condition, parts) != part:
                    continue
                packed_keys = keys[split, condition].tobytes()
                left = tuple([learner for learner, key_slice in key_slices if packed_keys[key_slice] not in done])
                if left:
                    yield TrialBlock(data, split, condition, everyone if len(left) == len(everyone) else left)

    def _compute_shard(self, data: int, split: int, condition: int, parts: int) -> int:
        planned = self.data[data]
        context = hash_context(planned.hash, planned.split_hashes[split], self.conditions[condition].hash)
        return int.from_bytes(context, "little") % parts + 1

    def count(self, blocks: Iterable[TrialBlock]) -> npt.NDArray[np.int64]:
        """How many trials the blocks hold, data sets x learners."""
        counts = np.zeros((len(self.data), len(self.learners)), dtype=np.int64)
        for (data, learners), times in Counter((block.data, block.learners) for block in blocks).items():
            counts[data, list(learners)] += times
        return counts

    def to_header(self) -> dict[str, Any]:
        """What a store needs to give names back to keys, as plain values."""
        return {
            "name": self.study.name,
            "declaration": _to_plain_declaration(self.study.declaration),
            "seed": self.study.seed,
            "data": [[planned.name, planned.hash] for planned in self.data],
            "conditions": [[condition.name, condition.level, condition.hash] for condition in self.conditions],
            "learners": [[learner.name, learner.hash] for learner in self.learners],
            "splits": {
                planned.hash: [
                    [*number, split_hash]
                    for number, split_hash in zip(planned.splits.numbers, planned.split_hashes, strict=True)
                ]
                for planned in self.data
            },
        }

    def frame(self) -> pd.DataFrame:
        """A line for each data set: its rows, and how many trials it has."""
        import pandas as pd

        shared = {"conditions": len(self.conditions), "learners": len(self.learners)}
        counts = [
            {
                "dataset": planned.name,
                "rows": len(planned.dataset),
                "repeats": planned.splits.repeats,
                "splits": len(planned.splits),
            }
            | shared
            for planned in self.data
        ]
        frame = pd.DataFrame(counts, columns=["dataset", "rows", "repeats", "splits", "conditions", "learners"])
        return frame.assign(trials=frame["splits"] * frame["conditions"] * frame["learners"])

    def __str__(self) -> str:
        sizes = sorted({len(planned.splits) for planned in self.data})
        splits = _format_count(sizes[0], "split") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} splits"
        kinds = {"data set": self.data, "condition": self.conditions, "learner": self.learners}
        counts = [_format_count(len(items), kind) for kind, items in kinds.items()]
        return f"{self.study.name}: {' x '.join([*counts, splits])}: {_format_count(self.n_trials, 'trial')}"

    def __repr__(self) -> str:
        return f"<StudyPlan {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{self.frame().to_html(index=False, escape=True)}"


def plan_study(study: ResolvedStudy) -> StudyPlan:
    """The plan of a study whose names are resolved: its splits are drawn here, once for all learners and conditions."""
    conditions = tuple(map(_plan_condition, study.conditions))
    study_plan = StudyPlan(
        study,
        tuple(_plan_data(study, entry) for entry in study.data),
        conditions,
        tuple(map(_plan_learner, study.learners)),
    )
    for kind, items in {"data set": study_plan.data, "condition": conditions, "learner": study_plan.learners}.items():
        _check_unique_hashes(kind, items)
    return study_plan


def _plan_data(study: ResolvedStudy, entry: Any) -> PlannedData:
    content = entry.dataset.content_hash
    drawn = (
        study.draw_splits(entry, repeat, derive_generator(study.seed, "split", content, study.scheme, repeat))
        for repeat in range(study.repeats)
    )
    splits = PlannedSplits(len(entry.dataset), drawn)
    return PlannedData(entry.name, content, entry.dataset, splits, tuple(map(hash_split, splits)))


def _plan_condition(entry: Any) -> PlannedCondition:
    condition = entry.condition
    return PlannedCondition(entry.name, entry.level, condition, hash_condition(condition, entry.name), hash_draws(condition))


def _plan_learner(entry: Any) -> PlannedLearner:
    identity = compute_learner_identity(entry.estimator, entry.name)
    facts = LearnerFacts(entry.name, identity.class_name, identity.parameters, identity.versions)
    return PlannedLearner(entry.name, entry.estimator, identity.hash, facts)


def _check_unique_hashes(kind: str, items: Sequence[Any]) -> None:
    if not items:
        raise InputError(f"a study must have at least 1 {kind}, got 0")
    names: dict[str, str] = {}
    for item in items:
        if item.hash in names:
            raise InputError(f"{kind}s must differ, got {names[item.hash]!r} and {item.name!r}, which are the same: drop one")
        names[item.hash] = item.name


def _check_shard(shard: tuple[int, int]) -> tuple[int, int]:
    part, parts = shard
    check_whole_number("the number of shards", parts, 1)
    if not 1 <= check_whole_number("shard", part, 1) <= parts:
        raise InputError(f"shard must be one of 1 to {parts}, got {part}: the first is 1/{parts}")
    return part, parts


def _to_plain_declaration(declaration: Any) -> Any:
    return declaration.plain() if hasattr(declaration, "to_dict") else dict(declaration)


def _format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class TrialIndex(NamedTuple):
    """Places of a trial's data set, split, condition and learner in the plan."""

    data: int
    split: int
    condition: int
    learner: int


class PendingTrials:
    """The places of trials that are out; only the table of the data set that was last sent out is kept."""

    def __init__(self, plan: StudyPlan) -> None:
        self._plan = plan
        self._data_indices = {planned.hash: index for index, planned in enumerate(plan.data)}
        self._table: tuple[int, dict[bytes, int]] = (-1, {})
        self._indices: dict[bytes, TrialIndex] = {}

    def mark_sent(self, chunk: Chunk) -> None:
        """These trials are out."""
        data = self._data_indices[chunk.data]
        numbers = self._number_keys(data)
        _, conditions, learners = self._plan.get_keys(data).shape
        for task in chunk.tasks:
            split, rest = divmod(numbers[task.key], conditions * learners)
            self._indices[task.key] = TrialIndex(data, split, *divmod(rest, learners))

    def mark_done(self, key: bytes) -> TrialIndex:
        """Where this trial stands; it is no longer out."""
        return self._indices.pop(key)

    def _number_keys(self, data: int) -> dict[bytes, int]:
        if self._table[0] != data:
            keys = self._plan.get_keys(data)
            packed, size = keys.tobytes(), keys.dtype.itemsize
            self._table = (data, {packed[size * i : size * (i + 1)]: i for i in range(keys.size)})
        return self._table[1]
