"""The plan of a study: all trials with their keys and splits, and the trials still to run."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import check_whole_number
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, format_html_table
from fairtrial.errors import InputError
from fairtrial.study.archive import LearnerFacts
from fairtrial.study.identity import (
    KEY,
    compute_condition_identity,
    compute_learner_identity,
    compute_trial_keys,
    hash_split,
)
from fairtrial.study.randomness import derive_generator, derive_seed
from fairtrial.study.records import Chunk, PlannedSplits, ResourceLimits, SplitRows, TrialTask

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.conditions import Condition
    from fairtrial.data import Dataset
    from fairtrial.study.spec.learners import NamedLearner
    from fairtrial.study.spec.resolve import NamedCondition, NamedData, ResolvedStudy
    from fairtrial.study.spec.schemes import Scheme

_KEY_SIZE = KEY.itemsize

_SEED_SPAN = 2**32 - 1


class TrialBlock(NamedTuple):
    """Trials of one or more learners that share a data set, a split and a condition.

    All fields are indices into the plan.
    """

    data: int
    split: int
    condition: int
    learners: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PlannedData:
    """A data set with its content hash, its splits, and the hashes of the splits.

    `schemes` contains a tuple of split indices for each resampling scheme. A split that belongs to several schemes is planned
    only once. For example, if a study runs the same splitter with 1 and with 5 repeats, both schemes share the first
    repeat. `guessed_target` is True if the last column is used as the class because neither the study nor the file names the
    class column.
    """

    name: str
    hash: str
    dataset: Dataset
    splits: PlannedSplits
    split_hashes: tuple[str, ...]
    schemes: tuple[tuple[int, ...], ...] = ()
    guessed_target: bool = False


@dataclass(frozen=True, eq=False)
class PlannedCondition:
    """A condition with its name, level and hash.

    The random draws of the condition depend on `draws_hash`.
    """

    name: str
    level: float
    condition: Condition
    hash: str
    draws_hash: str


@dataclass(frozen=True, eq=False)
class PlannedLearner:
    """A learner with its hash and the facts that are stored about it.

    `local` is True if the learner contains code that is not part of an installed package. Unlike `hash`, `draws_hash` does not
    depend on package versions. The seeds of the learner depend on `draws_hash`.
    """

    name: str
    estimator: Any
    hash: str
    draws_hash: str
    facts: LearnerFacts
    local: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class StudyPlan:
    """All trials of a study: data sets x splits x conditions x learners.

    `get_keys(i)` returns the keys of the trials on data set i. `iter_missing(done)` yields, in blocks, the trials whose keys
    are not in `done`.
    """

    study: ResolvedStudy
    data: tuple[PlannedData, ...]
    conditions: tuple[PlannedCondition, ...]
    learners: tuple[PlannedLearner, ...]
    _keys: dict[int, npt.NDArray[np.void]] = field(default_factory=dict)

    @property
    def n_trials(self) -> int:
        """Number of planned trials."""
        return sum(len(planned.splits) for planned in self.data) * len(self.conditions) * len(self.learners)

    def get_keys(self, data: int) -> npt.NDArray[np.void]:
        """Return the 16-byte keys of all trials on a data set.

        The array has the shape (splits, conditions, learners).
        """
        if data not in self._keys:
            planned = self.data[data]
            conditions, learners = ([item.hash for item in kind] for kind in (self.conditions, self.learners))
            self._keys[data] = compute_trial_keys(self.study.seed, planned.hash, planned.split_hashes, conditions, learners)
        return self._keys[data]

    def find_learner_keys(self, learners: Iterable[str]) -> set[bytes]:
        """Find the keys of all planned trials of the learners with these names."""
        names = [learner.name for learner in self.learners]
        indices = []
        for name in learners:
            if name not in names:
                raise InputError(f"the study has no learner called {name!r}: {suggest_name(name, names)}")
            indices.append(names.index(name))
        if not indices:
            return set()
        return {key.tobytes() for data in range(len(self.data)) for key in self.get_keys(data)[..., indices].ravel()}

    def iter_missing(self, done: Container[bytes] = (), shard: tuple[int, int] | None = None) -> Iterator[TrialBlock]:
        """Yield blocks of the trials whose keys are not in `done`, in the order of the study.

        `shard=(i, n)` divides the trials into n parts with about equal work, and selects part i. The division depends only on
        the plan, so each trial is in exactly one part. If the study changes, trials can move to other parts.
        """
        part, parts = (1, 1) if shard is None else _check_shard(shard)
        return self._iter_missing(done, part, parts)

    def _iter_missing(self, done: Container[bytes], part: int, parts: int) -> Iterator[TrialBlock]:
        everyone = tuple(range(len(self.learners)))
        key_slices = [(learner, slice(_KEY_SIZE * learner, _KEY_SIZE * (learner + 1))) for learner in everyone]
        shards = self._assign_shards(parts) if parts > 1 else []
        for data in range(len(self.data)):
            keys = self.get_keys(data)
            for split, condition in np.ndindex(keys.shape[:2]):
                packed_keys = keys[split, condition].tobytes()
                left = tuple([learner for learner, key_slice in key_slices if packed_keys[key_slice] not in done])
                if parts > 1:
                    left = tuple([learner for learner in left if shards[data][learner, condition, split] == part])
                if left:
                    yield TrialBlock(data, split, condition, everyone if len(left) == len(everyone) else left)

    def _assign_shards(self, parts: int) -> list[npt.NDArray[np.int64]]:
        """Return the part of each trial, as one array (learners, conditions, splits) per data set.

        The work of a trial is estimated from the size of its data set. For each learner and condition, the splits are assigned
        to the parts in turn, so the parts differ by at most one split. Large data sets are assigned first. For each data set,
        the assignment starts with the part that has the least work so far.
        """
        work = [max(1, planned.dataset.X.size) for planned in self.data]
        totals, shards = np.zeros(parts), [np.zeros(0, dtype=np.int64)] * len(self.data)
        for data in sorted(range(len(self.data)), key=lambda index: (-work[index], self.data[index].hash)):
            splits, conditions, learners = self.get_keys(data).shape
            order = np.argsort(totals, kind="stable")
            turns = np.arange(learners * conditions * splits)
            if splits % parts == 0:  # without this shift, one part would always get the first split, which may be the smallest
                turns += turns // splits
            dealt = order[turns % parts]
            totals += work[data] * np.bincount(dealt, minlength=parts)
            shards[data] = (dealt + 1).reshape(learners, conditions, splits)
        return shards

    def count(self, blocks: Iterable[TrialBlock]) -> npt.NDArray[np.int64]:
        """Count the trials in blocks, as an array of shape (data sets, learners)."""
        counts = np.zeros((len(self.data), len(self.learners)), dtype=np.int64)
        for (data, learners), times in Counter((block.data, block.learners) for block in blocks).items():
            counts[data, list(learners)] += times
        return counts

    def build_chunk(
        self, blocks: Sequence[TrialBlock], learners: Sequence[bytes], limits: ResourceLimits | None = None
    ) -> Chunk:
        """Build a chunk from blocks of one data set.

        `learners` contains all learners of the plan in pickled form. By default, the resource limits of the study apply.
        """
        data = blocks[0].data
        planned, keys = self.data[data], self.get_keys(data)
        used_indices = [sorted(indices) for indices in zip(*((block.split, block.condition) for block in blocks), strict=True)]
        splits, conditions = ({index: i for i, index in enumerate(dict.fromkeys(indices))} for indices in used_indices)
        used = {index: i for i, index in enumerate(sorted({learner for block in blocks for learner in block.learners}))}
        rows = {index: planned.splits[index] for index in splits}
        tasks = []
        for block in blocks:
            block_keys = keys[block.split, block.condition].tobytes()
            seeds = self._derive_seeds(block, rows[block.split])
            for learner, seed in zip(block.learners, seeds[1:], strict=True):
                key = block_keys[_KEY_SIZE * learner : _KEY_SIZE * (learner + 1)]
                tasks.append(TrialTask(key, splits[block.split], conditions[block.condition], used[learner], seeds[0], seed))
        return Chunk(
            data=planned.hash,
            splits=tuple(rows.values()),
            conditions=tuple(self.conditions[index].condition for index in conditions),
            learners=tuple(learners[index] for index in used),
            tasks=tuple(tasks),
            limits=self.study.limits if limits is None else limits,
            local=frozenset(position for index, position in used.items() if self.learners[index].local),
        )

    def _derive_seeds(self, block: TrialBlock, rows: SplitRows) -> list[int]:
        """Derive the seed of the condition and the seed of each learner in a block.

        Names and package versions do not affect the seeds.
        """
        data, condition, seed = self.data[block.data].hash, self.conditions[block.condition].draws_hash, self.study.seed
        seeds = [derive_seed(seed, "condition", data, condition, rows.repeat, rows.fold)]
        for index in block.learners:
            learner = self.learners[index].draws_hash
            seeds.append(derive_seed(seed, "learner", data, condition, learner, rows.repeat, rows.fold) % _SEED_SPAN)
        return seeds

    def to_header(self) -> dict[str, Any]:
        """Return what the results file stores about the study: declaration, seed, names and hashes."""
        return {
            "name": self.study.name,
            "declaration": dict(self.study.declaration),
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
        } | self._describe_schemes()

    def _describe_schemes(self) -> dict[str, Any]:
        """Return the names of the schemes and the indices of their splits.

        The dictionary is empty if the study has a single scheme.
        """
        if len(self.study.schemes) == 1:
            return {}
        indices = [{planned.hash: list(planned.schemes[i]) for planned in self.data} for i in range(len(self.study.schemes))]
        return {"resampling": [[named.name, splits] for named, splits in zip(self.study.schemes, indices, strict=True)]}

    def frame(self) -> pd.DataFrame:
        """Return a table with the numbers of rows, splits and trials of each data set."""
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
        splits = format_count(sizes[0], "split") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} splits"
        kinds = {"data set": self.data, "condition": self.conditions, "learner": self.learners}
        counts = [format_count(len(items), kind) for kind, items in kinds.items()]
        return f"{self.study.name}: {' x '.join([*counts, splits])}: {format_count(self.n_trials, 'trial')}"

    def __repr__(self) -> str:
        return f"<StudyPlan {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{format_html_table(self.frame())}"


def plan_study(study: ResolvedStudy) -> StudyPlan:
    """Plan a resolved study and draw its splits, which all learners and conditions share."""
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


def _plan_data(study: ResolvedStudy, entry: NamedData) -> PlannedData:
    content = entry.dataset.content_hash
    first, *others = (_draw_scheme(study.seed, named.scheme, entry, content) for named in study.schemes)
    joined = first.join(others) if others else first
    hashes = [hash_split(rows.train, rows.test, rows.repeat, rows.fold) for rows in joined]
    unique = list(dict.fromkeys(hashes))
    splits = joined if len(unique) == len(hashes) else joined.take(hashes.index(split_hash) for split_hash in unique)
    indices = {split_hash: index for index, split_hash in enumerate(unique)}
    ends = np.cumsum([len(part) for part in (first, *others)]).tolist()
    schemes = tuple(tuple(indices[h] for h in hashes[start:end]) for start, end in zip([0, *ends], ends, strict=False))
    return PlannedData(entry.name, content, entry.dataset, splits, tuple(unique), schemes, entry.guessed_target)


def _draw_scheme(seed: int, scheme: Scheme, entry: NamedData, content: str) -> PlannedSplits:
    """Draw the splits of a scheme on one data set, independently of the other schemes.

    Each warning names the data set, and is issued only once for all repeats.
    """
    drawn = (
        scheme.draw_splits(
            entry.dataset, entry.given_splits, repeat, derive_generator(seed, "split", content, scheme.text, repeat)
        )
        for repeat in range(scheme.repeats)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        splits = PlannedSplits(len(entry.dataset), drawn)
    for message, category in dict.fromkeys((str(warning.message), warning.category) for warning in caught):
        warnings.warn(f"data set {entry.name}: {message}", category, stacklevel=2)
    return splits


def _plan_condition(entry: NamedCondition) -> PlannedCondition:
    identity = compute_condition_identity(entry.condition, entry.name)
    return PlannedCondition(entry.name, entry.level, entry.condition, identity.hash, identity.draws_hash)


def _plan_learner(entry: NamedLearner) -> PlannedLearner:
    identity = compute_learner_identity(entry.estimator, entry.name)
    facts = LearnerFacts(entry.name, identity.class_name, identity.parameters, identity.versions)
    return PlannedLearner(entry.name, entry.estimator, identity.hash, identity.draws_hash, facts, identity.local)


def _check_unique_hashes(kind: str, items: Sequence[Any]) -> None:
    if not items:
        raise InputError(f"a study must have at least 1 {kind}, got 0")
    names: dict[str, str] = {}
    for item in items:
        if item.hash in names:
            raise InputError(f"{kind}s must differ, but {names[item.hash]!r} and {item.name!r} are the same: remove one")
        names[item.hash] = item.name


def _check_shard(shard: tuple[int, int]) -> tuple[int, int]:
    part, parts = shard
    check_whole_number("the number of shards", parts, 1)
    if not 1 <= check_whole_number("shard", part, 1) <= parts:
        raise InputError(f"shard must be from 1 to {parts}, got {part}: the first is 1/{parts}")
    return part, parts


class TrialIndex(NamedTuple):
    """Indices of a trial's data set, split, condition and learner in the plan."""

    data: int
    split: int
    condition: int
    learner: int


class PendingTrials:
    """A mapping from the keys of running trials to their indices in the plan.

    To save memory, a table of all keys is kept only for the data set of the latest chunk.
    """

    def __init__(self, plan: StudyPlan) -> None:
        self._plan = plan
        self._data_indices = {planned.hash: index for index, planned in enumerate(plan.data)}
        self._table: tuple[int, dict[bytes, int]] = (-1, {})
        self._indices: dict[bytes, TrialIndex] = {}

    def mark_sent(self, chunk: Chunk) -> None:
        """Mark the trials of a chunk as running."""
        data = self._data_indices[chunk.data]
        numbers = self._number_keys(data)
        _, conditions, learners = self._plan.get_keys(data).shape
        for task in chunk.tasks:
            split, rest = divmod(numbers[task.key], conditions * learners)
            self._indices[task.key] = TrialIndex(data, split, *divmod(rest, learners))

    def mark_done(self, key: bytes) -> TrialIndex:
        """Remove a finished trial and return its indices."""
        return self._indices.pop(key)

    def _number_keys(self, data: int) -> dict[bytes, int]:
        if self._table[0] != data:
            keys = self._plan.get_keys(data)
            packed, size = keys.tobytes(), keys.dtype.itemsize
            self._table = (data, {packed[size * i : size * (i + 1)]: i for i in range(keys.size)})
        return self._table[1]
