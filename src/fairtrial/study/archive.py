"""The interface to stored trials and predictions, from which results are computed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.study.records import INDICES, Predictions, pack, unpack

if TYPE_CHECKING:
    import pandas as pd

TRIAL_COLUMNS = (
    "trial",  # number to pass to `predictions`; -1 if the trial has no predictions
    "dataset",
    "condition",
    "level",
    "resampling",  # name of the resampling scheme
    "learner",
    "repeat",
    "fold",
    "status",  # ok, error, timeout, memory, crash or missing
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
    "tuning",  # parameters that a tuned learner chose, as JSON
    "notes",
    "error",
    "message",
    "traceback",
    "log",
)


@dataclass(frozen=True, eq=False)
class DataFacts:
    """A data set without its features: the declared classes, and the id and class of each row."""

    name: str
    content_hash: str
    classes: tuple[Any, ...]
    codes: IntArray
    row_ids: npt.NDArray[Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the data set as plain values, for example `rows`, `imbalance_ratio`, `source` and `notes`.

    If neither the study nor the file declares a class column, the last column is the class, and `guessed_target` is its name.
    If the data set has groups, `groups` contains the name of the group column, and the group codes packed as text.
    """

    @property
    def group_column(self) -> str | None:
        """Name of the group column, or None if the data set has no groups."""
        declared = self.facts.get("groups")
        return None if declared is None else str(declared["column"])

    @cached_property
    def groups(self) -> IntArray | None:
        """Group code of each row, or None if the data set has no groups."""
        declared = self.facts.get("groups")
        return None if declared is None else unpack(b64decode(declared["codes"]), INDICES).astype(np.intp)

    @property
    def counts(self) -> IntArray:
        """Number of rows of each declared class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.classes))


def describe_groups(column: str, codes: IntArray) -> dict[str, str]:
    """Return the group column and codes as plain values that `DataFacts.facts` can store.

    >>> groups = describe_groups("patient", np.array([1, 0, 1]))
    >>> DataFacts("visits", "", (), np.zeros(3, dtype=int), np.arange(3), {"groups": groups}).groups.tolist()
    [1, 0, 1]
    """
    return {"column": column, "codes": b64encode(pack(codes, INDICES)).decode()}


@dataclass(frozen=True)
class ConditionFacts:
    """A condition of a study: name, level, summary as text, and parameters (`description`)."""

    name: str
    level: float
    summary: str
    description: Mapping[str, Any]


@dataclass(frozen=True)
class LearnerFacts:
    """A learner of a study: its name, class, parameters, and the versions of its packages."""

    name: str
    class_name: str
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]


def get_scheme_name(declared: object) -> str:
    """Return the name of a declared resampling scheme.

    >>> get_scheme_name({"scheme": "dob-scv", "folds": 5}), get_scheme_name({"scheme": "stratified", "name": "10 folds"})
    ('dob-scv', '10 folds')
    """
    table = declared if isinstance(declared, Mapping) else {}
    return str(table.get("name") or str(table.get("splitter") or "").rpartition(".")[2] or table.get("scheme", "resampling"))


class Archive(Protocol):
    """The interface to the trials and predictions in a results file or predictions file."""

    @property
    def name(self) -> str:
        """Name of the study."""

    @property
    def declaration(self) -> Mapping[str, Any]:
        """Declaration of the study as plain values, with sections such as `data` and `learners`."""

    @property
    def seed(self) -> int:
        """Seed of the study."""

    @property
    def datasets(self) -> tuple[DataFacts, ...]:
        """Data sets in the order of the study."""

    @property
    def conditions(self) -> tuple[ConditionFacts, ...]:
        """Conditions in the order of the study.

        The condition `clean` with level 0 stands for unchanged data.
        """

    @property
    def learners(self) -> tuple[LearnerFacts, ...]:
        """Learners in the order of the study."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """Names of the resampling schemes. Each scheme numbers its own repeats and folds."""

    def select_scheme(self, name: str) -> Archive:
        """Return an archive with the trials of one resampling scheme."""

    @property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """Facts about each run, with keys such as `started`, `finished`, `engine` and `jobs`."""

    def trials(self) -> pd.DataFrame:
        """Return a table with one row per planned trial, in the order of the study.

        TRIAL_COLUMNS lists the columns.
        """

    def predictions(self, trials: Sequence[int]) -> Iterator[Predictions]:
        """Iterate over the predictions of the given trials, in the given order.

        All of these trials must have succeeded.
        """

    def split(self, dataset: str, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Return the positions of the training and test rows of a split."""


def describe_process() -> dict[str, Any]:
    """Describe the current process by its host, id and start time.

    `find_run_state` uses this description to detect whether the process is still running.
    """
    return {"host": socket.gethostname(), "id": os.getpid(), "start": _read_process_start(os.getpid())}


def find_run_state(run: Mapping[str, Any]) -> str:
    """Determine whether a run is finished, interrupted or running.

    The state is "unknown" if the run has not ended and its process cannot be checked, for example on another computer.

    >>> find_run_state({"finished": "2026-11-16", "left": 0}), find_run_state({"finished": "2026-11-16", "left": 3})
    ('finished', 'interrupted')
    >>> find_run_state({"finished": None, "process": describe_process()})
    'running'
    """
    if run.get("finished"):
        return "interrupted" if run.get("left") else "finished"
    process = run.get("process") or {}
    is_here = process.get("host") == socket.gethostname() and sys.platform != "win32"
    if not is_here or not isinstance(process.get("id"), int):
        return "unknown"
    try:
        os.kill(process["id"], 0)  # sends no signal
    except ProcessLookupError:
        return "interrupted"
    except PermissionError:  # a process of another user
        pass
    start = _read_process_start(process["id"])
    return "unknown" if start is None else "running" if start == process.get("start") else "interrupted"


def _read_process_start(process: int) -> str | None:
    """Read the start time of a process, or return None if it is unknown.

    The start time distinguishes the process from later processes with the same id.
    """
    if sys.platform != "linux":
        ended = subprocess.run(["ps", "-o", "lstart=", "-p", str(process)], capture_output=True, text=True, check=False)
        return ended.stdout.strip() or None
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return f"{boot} {fields[19]}" if fields[0] != "Z" else "ended"
