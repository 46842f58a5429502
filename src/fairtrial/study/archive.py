"""What results are computed from, wherever it is stored: an archive of trials with the names that the study gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.study.records import Predictions

if TYPE_CHECKING:
    import pandas as pd

TRIAL_COLUMNS = (
    "trial",  # a number by which `predictions` finds it; -1 where there is none
    "dataset",
    "condition",
    "level",
    "learner",
    "repeat",
    "fold",
    "status",  # ok, error, timeout, memory, crash; missing: not run yet
    "fit_time",
    "predict_time",
    "fit_cpu",
    "predict_cpu",
    "memory",
    "realised_level",
    "changed",
    "test_level",
    "test_changed",
    "abstentions",  # test rows for which the learner predicted no class
    "notes",
    "error",
    "message",
    "traceback",
    "log",
)


@dataclass(frozen=True, eq=False)
class DataFacts:
    """A data set without its columns: its declared classes, and the id and class of each row."""

    name: str
    content_hash: str
    classes: tuple[Any, ...]
    codes: IntArray
    row_ids: npt.NDArray[Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Counts (rows, numeric, nominal, missing, imbalance_ratio), source and notes, as plain values."""

    @property
    def counts(self) -> IntArray:
        """Rows of each declared class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.classes))


@dataclass(frozen=True)
class ConditionFacts:
    """A condition as the study names it: `name` and `level` are what tables show; `summary` says what it does."""

    name: str
    level: float
    summary: str
    description: Mapping[str, Any]


@dataclass(frozen=True)
class LearnerFacts:
    """A learner as the study names it, with its class, its parameters and the versions of the packages that it comes from."""

    name: str
    class_name: str
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]


class Archive(Protocol):
    """Trials and predictions of a study: of a results file, or of a file of predictions."""

    @property
    def name(self) -> str:
        """The name of the study."""

    @property
    def declaration(self) -> Mapping[str, Any]:
        """What the study declares, as plain values: sections data, learners, conditions, resampling, measures, verdict ..."""

    @property
    def seed(self) -> int:
        """The seed of the study."""

    @property
    def datasets(self) -> tuple[DataFacts, ...]:
        """The data sets, in the order of the study."""

    @property
    def conditions(self) -> tuple[ConditionFacts, ...]:
        """The conditions, in the order of the study; that without a change is called clean and has level 0."""

    @property
    def learners(self) -> tuple[LearnerFacts, ...]:
        """The learners, in the order of the study."""

    @property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """When and how it ran: started, finished, engine, jobs, cpus, versions."""

    def trials(self) -> pd.DataFrame:
        """A line for each planned trial, run or not, with TRIAL_COLUMNS, in the order of the study."""

    def predictions(self, trials: Sequence[int]) -> Iterator[Predictions]:
        """The predictions of trials with status ok, in this order."""

    def split(self, dataset: str, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Positions of the training and test rows."""
