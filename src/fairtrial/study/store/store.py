"""The file that keeps the evidence of studies: one writer, any number of readers, nothing lost that was acknowledged."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairtrial.errors import StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.records import PROTOCOL, Evidence, Rows, Status
from fairtrial.study.store import schema, store_evidence, store_plan, store_values as values
from fairtrial.study.store.store_file import connect, disconnect, look_at, prepare_to_write, refuse_cut, refusing
from fairtrial.study.store.store_header import read_header
from fairtrial.study.store.store_lock import WriteLock

if TYPE_CHECKING:
    from fairtrial.study.store.store_archive import StoreArchive


class Link(NamedTuple):
    """What a trial is about, by hash."""

    data: str
    condition: str
    split: bytes
    learner: str


class Store:
    """Evidence of studies in one SQLite file. Open it with `Store.open`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(f"{folder}/mine.fairtrial", write=True, create=True) as store:
    ...         run = store.start_run({"engine": "local"})
    ...         store.finish_run(run, {"trials": 0})
    ...     os.listdir(folder)
    ['mine.fairtrial']
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriteLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._closing = weakref.finalize(self, _close, connection, lock, os.getpid())
        self._turn = threading.RLock()
        self._ids: store_plan.Ids | None = None
        self._run: int | None = None
        self._seed: int | str | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> Store:
        """Open a store to read, or to `write`; `create` makes one where there is none. Only one process writes at a time.

        A file that is no store, is damaged, cut short, or of a newer version is refused; one of an older version is brought up
        to date by whoever opens it to write.
        """
        place = Path(os.path.realpath(path))
        look_at(place, create=write and create)
        lock = WriteLock(place) if write else None
        try:
            with refusing(place):
                return cls(place, _opened(place, write=write, create=create), lock)
        except BaseException:
            if lock is not None:
                lock.release()
            raise

    def close(self) -> None:
        """Close the file. A writer leaves a single file that can be copied."""
        self._closing()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.path}, open to {'write' if self._lock else 'read'}>"

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for the modules of the store; what SQLite refuses is told as a StoreError."""
        with refusing(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The same, in one transaction: all of it is kept or nothing."""
        if self._lock is None:
            raise StoreError(f"{self.path} is open to read only: open it with write=True")
        with self._turn, refusing(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._ids = None
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def add_plan(
        self,
        header: Mapping[str, Any],
        datasets: Sequence[DataFacts],
        conditions: Sequence[tuple[str, ConditionFacts]],
        learners: Sequence[tuple[str, LearnerFacts]],
        splits: Iterable[tuple[str, bytes, Rows]],
    ) -> None:
        """What a study is about, before its evidence comes. Its study is the latest then; again, it changes nothing.

        A data set that another study of this store has brought before is the same one: it takes the ids of rows given here,
        which that other study shows from now on, too.
        """
        with self.writing() as connection:
            store_plan.put_datasets(connection, datasets)
            store_plan.put_conditions(connection, conditions)
            store_plan.put_learners(connection, learners)
            store_plan.put_splits(connection, splits)
            store_plan.put_study(connection, header["name"], values.to_json(header), PROTOCOL)
        self._ids, self._seed = None, values.storable_seed(header["seed"])

    def done(self, retry: Collection[Status] = ()) -> set[bytes]:
        """The keys of the trials that need not run again: all that are stored, but for failures of the kinds in `retry`."""
        again = sorted({each for each in retry if each != "ok"})
        marks = ", ".join("?" * len(again))
        with self.reading() as connection:
            found = connection.execute(f"SELECT key FROM trial WHERE status NOT IN ({marks})", again)
            return {key for (key,) in found}

    def add(self, batch: Iterable[tuple[Evidence, Link]]) -> None:
        """Keep the evidence of trials, all or none. It is safe once this returns.

        A success replaces a failure; a failure replaces an earlier one, and attempts are counted; a success stays for good.
        """
        with self.writing() as connection:
            if self._ids is None:
                self._ids = store_plan.Ids.of(connection)
            ids, path = self._ids, self.path
            numbered = ((evidence, ids.of_link(link, path)) for evidence, link in batch)
            store_evidence.put_evidence(connection, numbered, self._current_seed(connection), self._run)

    def _current_seed(self, connection: sqlite3.Connection) -> int | str:
        if self._seed is None:
            header = connection.execute("SELECT header FROM study ORDER BY turn DESC LIMIT 1").fetchone()
            if header is None:
                raise StoreError(f"{self.path} holds no study yet: add its plan before its evidence")
            self._seed = values.storable_seed(read_header(header[0], self.path)["seed"])
        return self._seed

    def start_run(self, facts: Mapping[str, Any]) -> int:
        """Note that a run of the latest study starts; its number. `facts` are plain values: engine, jobs, versions ..."""
        with self.writing() as connection:
            study = connection.execute("SELECT id FROM study ORDER BY turn DESC LIMIT 1").fetchone()
            line = (secrets.token_hex(8), study and study[0], str(facts.get("started", _now())), values.to_json(dict(facts)))
            added = connection.execute("INSERT INTO run (token, study, started, facts) VALUES (?, ?, ?, ?)", line)
            self._run = added.lastrowid
        return int(self._run or 0)

    def finish_run(self, run: int, facts: Mapping[str, Any]) -> None:
        """Note that the run has finished, and what else is known of it by now."""
        with self.writing() as connection:
            before = connection.execute("SELECT facts FROM run WHERE id = ?", (run,)).fetchone()
            if before is None:
                raise StoreError(f"{self.path} has no run {run}: finish the run that start_run gave")
            together = values.to_json({**values.from_json(before[0]), **facts})
            finished = str(facts.get("finished", _now()))
            connection.execute("UPDATE run SET finished = ?, facts = ? WHERE id = ?", (finished, together, run))

    def mean_times(self) -> dict[tuple[str, str], tuple[float, int]]:
        """For each data set and learner, by hash: mean seconds of a successful trial, and how many there are."""
        with self.reading() as connection:
            return store_evidence.mean_times(connection)

    def archive(self, study: str | None = None) -> StoreArchive:
        """The evidence with the names of a study: that of this name, or the latest."""
        from fairtrial.study.store.store_archive import StoreArchive

        return StoreArchive.of(self, study)

    def evidence_digest(self) -> str:
        """SHA-256 of all evidence, and of what it is about, in the order of keys: equal for two stores whose evidence is,
        whoever ran it, and when."""
        with self.reading() as connection:
            return hashlib.sha256(b"".join(own for _, own in store_evidence.evidence_hashes(connection))).hexdigest()

    def counts(self) -> dict[str, int]:
        """How many trials are stored, by status."""
        with self.reading() as connection:
            return dict(connection.execute("SELECT status, count(*) FROM trial GROUP BY status ORDER BY count(*) DESC, status"))

    def check(self) -> None:
        """Read all of it, and refuse a file where anything is damaged, or is about something else than its key was made of."""
        with self.reading() as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreError(
                    f"{self.path} is damaged ({found}): take a copy from before, or run the study into a new store"
                )
            store_evidence.refuse_damaged(connection)
            store_evidence.refuse_wrong_links(connection)
            studies = [name for (name,) in connection.execute("SELECT name FROM study")]
        for name in studies:
            archive = self.archive(name)
            _ = archive.datasets, archive.conditions, archive.learners, archive.runs, archive.trials()


def _opened(place: Path, *, write: bool, create: bool) -> sqlite3.Connection:
    connection = connect(place, write=write)
    try:
        version = schema.version_of(connection, place)
        if version is None:
            if not (write and create):
                raise StoreError(f"{place} is empty: check the path, or run a study first")
            schema.create(connection)
        else:
            refuse_cut(connection, place)
            if write:
                schema.upgrade(connection, place, version)
            else:
                schema.refuse_older(place, version)
        if write:
            prepare_to_write(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _close(connection: sqlite3.Connection, lock: WriteLock | None, owner: int) -> None:
    if os.getpid() != owner:  # a forked process leaves the file to its parent
        return
    disconnect(connection, write=lock is not None)
    if lock is not None:
        lock.release()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
