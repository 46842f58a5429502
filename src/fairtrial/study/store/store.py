"""The results store: what a study keeps, behind a small protocol, and how a store is opened."""

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
"""How to open a store, by the suffix of its file, e.g. `.fairtrial`."""


def open_store(path: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> ResultsStore:
    """Open a results store to read, or to write.

    Parameters
    ----------
    path : path
        The results file. A backend that is registered for its suffix opens it, by default SQLite.
    write : bool
        Only one process writes at a time. A file of an older version is brought up to date.
    create : bool
        With `write`: make a store if there is none.

    Returns
    -------
    ResultsStore

    Raises
    ------
    StoreError
        The file is not a store, is corrupted, was cut short, or was written by a newer version.

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
    """What a trial is about, by hash."""

    data: str
    condition: str
    split: bytes
    learner: str


@dataclass(frozen=True)
class MergedFile:
    """What one file gave: trials that were new, that replaced what was there, or that were there already and were kept.

    `different` counts the trials that succeeded in this file and in an earlier one, with different records.
    """

    file: str
    trials: int
    added: int
    replaced: int
    unchanged: int
    different: int


class ResultsStore(Protocol):
    """The plans of studies and the records of their trials. `open_store` opens one; it is its own context manager.

    A backend implements these methods and registers how it is opened: `stores.add(".suffix", open_it)`. Other packages do so
    in a module that an entry point of the group `fairtrial.stores` names.
    """

    @property
    def path(self) -> Path:
        """Where the store is."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """Close the store; what was added is safe."""

    def add_plan(
        self,
        header: Mapping[str, Any],
        datasets: Sequence[DataFacts],
        conditions: Sequence[tuple[str, ConditionFacts]],
        learners: Sequence[tuple[str, LearnerFacts]],
        splits: Iterable[tuple[str, bytes, SplitRows]],
    ) -> None:
        """Store what a study is about, before its records. It is the latest study then; again, it changes nothing."""

    def find_done(self, retry: Collection[Status] = ()) -> set[bytes]:
        """Find the keys of the trials that need not run again: all that are stored, but failures of the kinds in `retry`."""

    def add_records(self, batch: Iterable[tuple[TrialRecord, TrialLink]]) -> None:
        """Store the records of trials, all or none. They are safe once this returns.

        A success replaces a failure; a failure replaces an earlier one, and attempts are counted; a success is never replaced.
        """

    def start_run(self, facts: Mapping[str, Any]) -> int:
        """Note that a run of the latest study starts, and return its number."""

    def finish_run(self, run: int, facts: Mapping[str, Any]) -> None:
        """Note that the run has finished, and what else is known of it by now."""

    def compute_mean_times(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Compute mean seconds and the number of successful trials by data set and learner, both named by hash."""

    def count_by_status(self) -> dict[str, int]:
        """Count the stored trials by status."""

    def open_archive(self, study: str | None = None) -> Archive:
        """Open the records of a study with its names: the study of this name, or the latest."""

    def compute_digest(self) -> str:
        """Compute a SHA-256 hash of all records and what they are about; times and messages do not count."""

    def check(self) -> None:
        """Read everything, and raise StoreError if anything is corrupted."""

    def merge_from(self, source: ResultsStore) -> tuple[MergedFile, list[str]]:
        """Add the plans and records of another store, which stays as it is; the notes say what differed."""
