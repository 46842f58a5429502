"""The plan of a study: every split frozen, every trial with its key, and which trials are still to be run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import whole_number
from fairtrial.errors import InputError
from fairtrial.study.archive import LearnerFacts
from fairtrial.study.plan.identity import condition_hash, context_hash, draws_hash, learner_identity, split_hash, trial_keys
from fairtrial.study.plan.planned_splits import PlannedSplits
from fairtrial.study.randomness import named_generator

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.conditions import Condition
    from fairtrial.data import Dataset
    from fairtrial.study.declare.resolved import Resolved

_SIZE = 16


class Block(NamedTuple):
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
    draws: str


@dataclass(frozen=True, eq=False)
class PlannedLearner:
    """A learner with its hash, and what is to be kept about it."""

    name: str
    estimator: Any
    hash: str
    facts: LearnerFacts


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """All trials of a study: data sets x their splits x conditions x learners. It never changes.

    `keys(i)` gives the keys of data set i, `missing(done)` what is left of it all when these keys are done, in blocks.
    """

    study: Resolved
    data: tuple[PlannedData, ...]
    conditions: tuple[PlannedCondition, ...]
    learners: tuple[PlannedLearner, ...]
    _keys: dict[int, npt.NDArray[np.void]] = field(default_factory=dict)

    @property
    def n_trials(self) -> int:
        """How many trials there are, run or not."""
        return sum(len(each.splits) for each in self.data) * len(self.conditions) * len(self.learners)

    def keys(self, data: int) -> npt.NDArray[np.void]:
        """The keys of all trials of a data set: an array of 16 bytes each, splits x conditions x learners."""
        if data not in self._keys:
            of = self.data[data]
            conditions, learners = ([each.hash for each in kind] for kind in (self.conditions, self.learners))
            self._keys[data] = trial_keys(self.study.seed, of.hash, of.split_hashes, conditions, learners)
        return self._keys[data]

    def missing(self, done: Container[bytes] = (), shard: tuple[int, int] | None = None) -> Iterator[Block]:
        """The trials whose key is not among `done`, in the order of the study.

        With `shard=(i, n)` only those of the i-th of n parts. Which part a trial is in depends on its data set, split and
        condition only: the parts are of about the same size, and what else the study holds moves nothing between them.
        """
        part, parts = (1, 1) if shard is None else _checked_shard(shard)
        return self._missing(done, part, parts)

    def _missing(self, done: Container[bytes], part: int, parts: int) -> Iterator[Block]:
        everyone = tuple(range(len(self.learners)))
        places = [(each, slice(_SIZE * each, _SIZE * (each + 1))) for each in everyone]
        for data in range(len(self.data)):
            keys = self.keys(data)
            for split, condition in np.ndindex(keys.shape[:2]):
                if parts > 1 and self._shard_of(data, split, condition, parts) != part:
                    continue
                own = keys[split, condition].tobytes()
                left = tuple([learner for learner, place in places if own[place] not in done])
                if left:
                    yield Block(data, split, condition, everyone if len(left) == len(everyone) else left)

    def _shard_of(self, data: int, split: int, condition: int, parts: int) -> int:
        of = self.data[data]
        context = context_hash(of.hash, of.split_hashes[split], self.conditions[condition].hash)
        return int.from_bytes(context, "little") % parts + 1

    def count(self, blocks: Iterable[Block]) -> npt.NDArray[np.int64]:
        """How many trials the blocks hold, data sets x learners."""
        found = np.zeros((len(self.data), len(self.learners)), dtype=np.int64)
        for (data, learners), times in Counter((block.data, block.learners) for block in blocks).items():
            found[data, list(learners)] += times
        return found

    def header(self) -> dict[str, Any]:
        """What a store needs to give names back to keys, as plain values."""
        return {
            "name": self.study.name,
            "declaration": _plain_declaration(self.study.declaration),
            "seed": self.study.seed,
            "data": [[each.name, each.hash] for each in self.data],
            "conditions": [[each.name, each.level, each.hash] for each in self.conditions],
            "learners": [[each.name, each.hash] for each in self.learners],
            "splits": {
                each.hash: [[*number, found] for number, found in zip(each.splits.numbers, each.split_hashes, strict=True)]
                for each in self.data
            },
        }

    def frame(self) -> pd.DataFrame:
        """A line for each data set: its rows, and how many trials it has."""
        import pandas as pd

        shared = {"conditions": len(self.conditions), "learners": len(self.learners)}
        counts = [
            {"dataset": each.name, "rows": len(each.dataset), "repeats": each.splits.repeats, "splits": len(each.splits)}
            | shared
            for each in self.data
        ]
        frame = pd.DataFrame(counts, columns=["dataset", "rows", "repeats", "splits", "conditions", "learners"])
        return frame.assign(trials=frame["splits"] * frame["conditions"] * frame["learners"])

    def __str__(self) -> str:
        sizes = sorted({len(each.splits) for each in self.data})
        splits = _counted(sizes[0], "split") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} splits"
        kinds = {"data set": self.data, "condition": self.conditions, "learner": self.learners}
        told = [_counted(len(those), kind) for kind, those in kinds.items()]
        return f"{self.study.name}: {' x '.join([*told, splits])}: {_counted(self.n_trials, 'trial')}"

    def __repr__(self) -> str:
        return f"<Plan {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{self.frame().to_html(index=False, escape=True)}"


def plan(study: Resolved) -> Plan:
    """The plan of a study whose names are resolved: its splits are drawn here, once for all learners and conditions."""
    conditions = tuple(map(_planned_condition, study.conditions))
    found = Plan(
        study,
        tuple(_planned_data(study, each) for each in study.data),
        conditions,
        tuple(map(_planned_learner, study.learners)),
    )
    for kind, those in {"data set": found.data, "condition": conditions, "learner": found.learners}.items():
        _all_different(kind, those)
    return found


def _planned_data(study: Resolved, entry: Any) -> PlannedData:
    content = entry.dataset.content_hash
    drawn = (
        study.splits_of(entry, repeat, named_generator(study.seed, "split", content, study.scheme, repeat))
        for repeat in range(study.repeats)
    )
    splits = PlannedSplits(len(entry.dataset), drawn)
    return PlannedData(entry.name, content, entry.dataset, splits, tuple(map(split_hash, splits)))


def _planned_condition(entry: Any) -> PlannedCondition:
    own = entry.condition
    return PlannedCondition(entry.name, entry.level, own, condition_hash(own, entry.name), draws_hash(own))


def _planned_learner(entry: Any) -> PlannedLearner:
    found = learner_identity(entry.estimator, entry.name)
    facts = LearnerFacts(entry.name, found.class_name, found.parameters, found.versions)
    return PlannedLearner(entry.name, entry.estimator, found.hash, facts)


def _all_different(kind: str, those: Sequence[Any]) -> None:
    if not those:
        raise InputError(f"a study must have at least 1 {kind}, got 0")
    names: dict[str, str] = {}
    for each in those:
        if each.hash in names:
            raise InputError(f"{kind}s must differ, got {names[each.hash]!r} and {each.name!r}, which are the same: drop one")
        names[each.hash] = each.name


def _checked_shard(shard: tuple[int, int]) -> tuple[int, int]:
    part, parts = shard
    whole_number("the number of shards", parts, 1)
    if not 1 <= whole_number("shard", part, 1) <= parts:
        raise InputError(f"shard must be one of 1 to {parts}, got {part}: the first is 1/{parts}")
    return part, parts


def _plain_declaration(declaration: Any) -> Any:
    return declaration.plain() if hasattr(declaration, "plain") else dict(declaration)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
