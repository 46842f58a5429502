"""Results store: the interface of storage backends, and the function that opens a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from fairtrial._registry import Registry

if TYPE_CHECKING:
    from fairtrial.study.archive import Archive, ConditionFacts, DataFacts, LearnerFacts
    from fairtrial.study.records import SplitRows, Status, TrialRecord

DEFAULT_STORE = ".fairtrial"

stores: Registry[Callable[..., ResultsStore]] = Registry(
    "results store", group="fairtrial.stores", package="fairtrial.study.store"
)
"""Functions that open a store, keyed by the suffix of the file, e.g. `.fairtrial`."""


def open_store(path: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> ResultsStore:
    """Open a results file for reading or writing.

    Parameters
    ----------
    path : path
        Results file. Its suffix selects the backend, SQLite by default.
    write : bool, default False
        Open for writing. Only one process at a time can write. A file from an older version is first copied, then upgraded.
    create : bool, default False
        Create the file if it does not exist. Used only if `write` is true.

    Returns
    -------
    ResultsStore

    Raises
    ------
    StoreError
        If the file is not a results file, is corrupted or truncated, or was written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(f"{folder}/mine.fairtrial", write=True, create=True) as store:
    ...         store.find_done()
    set()
    """
    suffix = Path(path).suffix.lower()
    return stores[suffix if suffix in stores else DEFAULT_STORE](path, write=write, create=create)


class TrialLink(NamedTuple):
    """The hashes of the data set, condition, split and learner of a trial."""

    data: str
    condition: str
    split: bytes
    learner: str


@dataclass(frozen=True)
class MergedFile:
    """The outcome of merging one file: the numbers of added, replaced and unchanged trials.

    `different` counts the trials that succeeded both in this file and in the target, but with different predictions.
    """

    file: str
    trials: int
    added: int
    replaced: int
    unchanged: int
    different: int


class ResultsStore(Protocol):
    """Interface of a store for study plans and trial records. A store is a context manager.

    `open_store` opens a store. To add a backend, implement the methods of this protocol. Then register the function that opens
    the store with `stores.add(".suffix", open_function)`. A package that provides a backend names its module in an entry point
    of the group `fairtrial.stores`.

    Parameters
    ----------
    *args, **kwargs
        Not used, because a protocol cannot be instantiated.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(f"{folder}/mine.fairtrial", write=True, create=True) as store:
    ...         store.count_by_status()
    {}
    """

    @property
    def path(self) -> Path:
        """Path of the store."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """Close the store."""

    def add_plan(
        self,
        header: Mapping[str, Any],
        datasets: Sequence[DataFacts],
        conditions: Sequence[tuple[str, ConditionFacts]],
        learners: Sequence[tuple[str, LearnerFacts]],
        splits: Iterable[tuple[str, bytes, SplitRows]],
    ) -> None:
        """Store the plan of a study, and make it the latest study.

        The plan must be stored before the records of the study.

        Parameters
        ----------
        header : mapping
            Declaration, seed, names and hashes of the study, as returned by `StudyPlan.to_header`.
        datasets : list of DataFacts
            The data sets without their features.
        conditions, learners : list of (hash, facts)
            Hashes and facts of the conditions and the learners.
        splits : iterable of (data hash, split hash, SplitRows)
            All splits.
        """

    def find_done(self, retry: Collection[Status] = ()) -> set[bytes]:
        """Find the keys of all stored trials, except failures with a status in `retry`."""

    def add_records(self, batch: Iterable[tuple[TrialRecord, TrialLink]]) -> None:
        """Store trial records in one transaction.

        A success replaces a failure, a failure replaces an earlier failure, and a success is never replaced. The attempts at
        each trial are counted. When the method returns, the records are safe, even if the process or the machine crashes.
        """

    def start_run(self, facts: Mapping[str, Any]) -> int:
        """Record the start of a run of the latest study, and return the number of the run."""

    def finish_run(self, run: int, facts: Mapping[str, Any]) -> None:
        """Record the end of a run.

        Parameters
        ----------
        run : int
            Number that `start_run` returned.
        facts : mapping
            Further facts about the run.
        """

    def compute_mean_times(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Compute the mean time in seconds and the number of successful trials.

        Both values are keyed by the hashes of the data set and the learner.
        """

    def count_by_status(self) -> dict[str, int]:
        """Count the stored trials by status."""

    def list_studies(self) -> list[str]:
        """List the names of the stored studies, starting with the latest."""

    def open_archive(self, study: str | None = None) -> Archive:
        """Open the records of a study. Default: the latest study."""

    def write_derived(self, values: Mapping[str, bytes]) -> None:
        """Store values that were computed from the trials, keyed by name.

        The values are deleted when a trial changes.
        """

    def read_derived(self, name: str) -> bytes | None:
        """Return a derived value, or None if there is none."""

    def compute_digest(self) -> str:
        """Compute a SHA-256 hash of all records, excluding times and messages."""

    def check(self, *, quick: bool = False) -> None:
        """Read the whole store, and raise StoreError if anything is corrupted.

        Parameters
        ----------
        quick : bool, default False
            If the store is large, do not check the trials and predictions. A run that resumes uses this quick check.
        """

    def forget(self, learner: str, dataset: str | None = None, study: str | None = None) -> int:
        """Delete the trials of a learner, and return the number of deleted trials.

        Parameters
        ----------
        learner : str
            Name of the learner.
        dataset : str, optional
            Name of the data set. Default: all data sets.
        study : str, optional
            Name of the study. Default: the latest study.
        """

    def merge_from(self, source: ResultsStore) -> tuple[MergedFile, list[str]]:
        """Add the plans and records of another store, and return counts and notes."""
