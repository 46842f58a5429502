"""A study whose names have become things: data sets, conditions, learners, splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtrial.study.records import Limits

if TYPE_CHECKING:
    import numpy as np

    from fairtrial.conditions import Condition
    from fairtrial.data import Dataset
    from fairtrial.resampling import Splits
    from fairtrial.study.declare.declaration import Declaration
    from fairtrial.study.declare.schemes import Scheme


@dataclass(frozen=True, eq=False)
class NamedData:
    """A data set as the study calls it, with the splits that it brings along, if any."""

    name: str
    dataset: Dataset
    given: Splits | None = None


@dataclass(frozen=True)
class NamedCondition:
    """A condition as the study calls it; that of level 0 is clean. A condition without a level has level 1."""

    name: str
    level: float
    condition: Condition


@dataclass(frozen=True, eq=False)
class NamedLearner:
    """A learner as the study calls it, with all that it needs before it."""

    name: str
    estimator: Any


@dataclass(frozen=True)
class VerdictPlan:
    """How the study is to be judged."""

    measure: str
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    failures: str = "exclude"


@dataclass(frozen=True, eq=False)
class Resolved:
    """All that a study needs to be planned and run."""

    name: str
    seed: int
    declaration: Declaration
    data: tuple[NamedData, ...]
    conditions: tuple[NamedCondition, ...]
    learners: tuple[NamedLearner, ...]
    resampling: Scheme
    measures: tuple[str, ...]
    verdict: VerdictPlan
    limits: Limits

    @property
    def repeats(self) -> int:
        """How often the data are split."""
        return self.resampling.repeats

    @property
    def scheme(self) -> str:
        """One text for all that decides the splits but the seed, the data and the number of repeats."""
        return self.resampling.text

    def splits_of(self, entry: NamedData, repeat: int, rng: np.random.Generator) -> Splits:
        """The splits of a data set in one repeat."""
        return self.resampling.splits(entry.dataset, entry.given, repeat, rng)
