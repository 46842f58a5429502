"""What crosses the seams of a study: a chunk of trials goes out to a worker, evidence comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fairtrial._check import IntArray

if TYPE_CHECKING:
    from fairtrial.conditions import Condition

Status = Literal["ok", "error", "timeout", "memory", "crash"]
FAILURES: tuple[Status, ...] = ("error", "timeout", "memory", "crash")

PROTOCOL = 1
"""Counts up when a trial would leave other evidence than before: part of the key of every trial."""


@dataclass(frozen=True)
class Limits:
    """What one trial may take: seconds of wall-clock time, bytes of memory beyond the start. None: as much as it likes."""

    time: float | None = 3600.0
    memory: int | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """Positions of the training and of the test rows of one split, and its number."""

    train: IntArray
    test: IntArray
    repeat: int
    fold: int


@dataclass(frozen=True)
class Task:
    """One trial of a chunk: its key, and the places of its split, condition and learner in the chunk; then its seeds."""

    key: bytes
    split: int
    condition: int
    learner: int
    condition_seed: int
    learner_seed: int


@dataclass(frozen=True, eq=False)
class Chunk:
    """Trials of one data set that travel together, in the order in which they are to run.

    `data` is the content hash of the data set, which travels apart; `learners` are estimators as cloudpickle writes them.
    """

    data: str
    splits: tuple[Rows, ...]
    conditions: tuple[Condition, ...]
    learners: tuple[bytes, ...]
    tasks: tuple[Task, ...]
    limits: Limits


@dataclass(frozen=True)
class Needs:
    """The answer of a worker that has not met the data set of a chunk yet: send the chunk again, with it."""

    data: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a trial leaves, as it is kept. Columns are compressed (`fairtrial.study.evidence`); a failure has none.

    `rows` is None where the test rows are those of the split, `truth` is None where their classes are those of the data set.
    `level` and `test_level` are the realised levels of the condition in the two parts, None where it left the part alone;
    `changed` counts the cases or values that it changed in training, `test_changed` in the test part.
    """

    key: bytes
    status: Status
    prediction: bytes | None = None
    scores: bytes | None = None
    score_kind: Literal["probability", "decision"] | None = None
    rows: bytes | None = None
    truth: bytes | None = None
    level: float | None = None
    changed: int | None = None
    test_level: float | None = None
    test_changed: int | None = None
    fit_time: float | None = None
    predict_time: float | None = None
    fit_cpu: float | None = None
    predict_cpu: float | None = None
    memory: int | None = None
    notes: str | None = None
    error: str | None = None
    message: str | None = None
    traceback: str | None = None
    log: str | None = None
