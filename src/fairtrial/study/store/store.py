"""The file that keeps the evidence of studies: one writer, any number of readers, nothing lost that was acknowledged."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import struct
import threading
import time
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairtrial.errors import StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.records import PROTOCOL, SplitRows, Status, TrialRecord
from fairtrial.study.store import codec, codec as values, schema
from fairtrial.study.store.codec import read_header

if TYPE_CHECKING:
    from fairtrial.study.store.archive import StoreArchive

_BUSY_SECONDS = 30.0


_UNWRITABLE_CODES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


_MIN_BYTES = 512


_CORRUPTED_REMEDY = "take a copy from before, or run the study into a new store"


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """A connection to the file, which is made where it is to be written and is not there.

    A reader connects like a writer and promises not to write: so the last one to leave tidies up what a killed writer left.
    Tidying would hide that a file was cut short, so one that a killed writer left is looked at first.
    """
    if _get_size(_add_suffix(path, "-wal")):
        with closing(_connect_with_options(path, "mode=ro")) as reader:
            refuse_truncated(reader, path)
    connection = _connect_with_options(path, f"mode={'rwc' if write else 'rw'}")
    try:
        try:
            connection.execute("PRAGMA schema_version")
        except sqlite3.OperationalError as error:
            if write or error.sqlite_errorcode & 0xFF not in _UNWRITABLE_CODES or _get_size(_add_suffix(path, "-wal")):
                raise
            connection.close()  # a folder that cannot be written to: the file can be read as it stands
            connection = _connect_with_options(path, "mode=ro&immutable=1")
            connection.execute("PRAGMA schema_version")
        connection.execute("PRAGMA cell_size_check = 1")
        if not write:
            connection.execute("PRAGMA query_only = 1")
    except BaseException:
        connection.close()
        raise
    return connection


def prepare_to_write(connection: sqlite3.Connection) -> None:
    """Readers go on while we write: write ahead of the file."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:  # a reader is in the middle of the file, and SQLite does not wait for it here
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")


def disconnect(connection: sqlite3.Connection, *, write: bool) -> None:
    """Close; a writer leaves a single file, unless a reader is still there: then the last reader does."""
    if write:
        try:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:
            pass  # all that was stored is in the file or in its -wal, which whoever opens it next reads
    connection.close()


def refuse_truncated(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that was cut short, also where SQLite would not notice before it reads the missing part."""
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on, no page can go away
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        n_whole_pages = _get_size(path) // size
        if n_whole_pages < pages and not set(range(n_whole_pages + 1, pages + 1)) <= _list_wal_pages(_add_suffix(path, "-wal")):
            raise StoreError(
                f"{path} was cut short: it should have {pages * size} bytes and has {_get_size(path)}; {_CORRUPTED_REMEDY}"
            )
    finally:
        connection.execute("ROLLBACK")


def _list_wal_pages(wal: Path) -> set[int]:
    """The numbers of the pages that the write-ahead file holds."""
    try:
        content = wal.read_bytes()
    except FileNotFoundError:
        return set()
    if len(content) < 32:
        return set()
    step = 24 + struct.unpack_from(">I", content, 8)[0]
    salt = content[16:24]
    starts = range(32, len(content) - step + 1, step)
    return {struct.unpack_from(">I", content, offset)[0] for offset in starts if content[offset + 8 : offset + 16] == salt}


def check_path(path: Path, *, create: bool) -> None:
    """Refuse what cannot be a store before SQLite sees it."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be opened: the folder {path.parent} does not exist; make it first") from None
        if not create:
            raise StoreError(f"{path} does not exist: check the path, or run a study first") from None
        return
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}; check the path and its permissions") from None
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a store: name a file in it")
    if facts.st_size == 0 and not _get_size(_add_suffix(path, "-wal")) and not create:
        raise StoreError(f"{path} is empty: check the path, or run a study first")
    if 0 < facts.st_size < _MIN_BYTES:  # SQLite takes a file of 1 byte for an empty one and would write over it
        raise StoreError(f"{path} is not a fairtrial store, or was cut short to {facts.st_size} bytes: choose another file")


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Whatever SQLite raises becomes one sentence with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_describe_error(path, error)) from error


def _describe_error(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        closed = isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
        return f"{path} has been closed: open it again" if closed else f"{path} is damaged ({error}): {_CORRUPTED_REMEDY}"
    if code & 0xFF == sqlite3.SQLITE_NOTADB and not _has_sqlite_magic(path):
        return f"{path} is not a fairtrial store, nor any SQLite file: choose another file"
    stored_note = "all that was stored before is kept"
    messages = {
        sqlite3.SQLITE_NOTADB: f"is damaged at its beginning: {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_CORRUPT: f"is damaged or was cut short ({error}): {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_ERROR: f"lacks a part of its tables ({error}): {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_FULL: f"cannot be written, the disk is full: {stored_note}; free some space and run the same command again",
        sqlite3.SQLITE_IOERR: f"cannot be read or written ({error}): {stored_note}; check the disk, its space and quota",
        sqlite3.SQLITE_BUSY: f"is locked by another program: {stored_note}; close that program and run again",
        sqlite3.SQLITE_READONLY: "may not be written: check the permissions of it and of its folder",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: check the permissions of it and of its folder",
    }
    return f"{path} " + messages.get(code & 0xFF, f"cannot be used ({error}): {_CORRUPTED_REMEDY}")


def _has_sqlite_magic(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return False


def _connect_with_options(path: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?{options}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def _add_suffix(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _get_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


_locked_descriptors: set[int] = set()


class WriteLock:
    """The right to write to a store. A lock file that a killed process left behind does no harm.

    The lock is never on the store's own file: closing that by other means would drop the locks of SQLite.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock = WriteLock(Path(folder) / "a.fairtrial")
    ...     inside = os.listdir(folder)
    ...     lock.release()
    ...     inside, os.listdir(folder)
    (['a.fairtrial.lock'], [])
    """

    def __init__(self, store: Path) -> None:
        self.path = store.with_name(f"{store.name}.lock")
        self._pid = os.getpid()
        self._descriptor = _lock_file(store, self.path)
        _locked_descriptors.add(self._descriptor)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(self._pid).encode(), 0)

    def release(self) -> None:
        """Give the right back; a second call, or one from a forked process, does nothing."""
        if self._descriptor not in _locked_descriptors or os.getpid() != self._pid:
            return
        _locked_descriptors.discard(self._descriptor)
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1


def _lock_file(store: Path, path: Path) -> int:
    """An open lock file that is ours. Whoever releases a lock removes its file, so the one we locked may be gone: try again."""
    import fcntl

    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreError(
                f"{store} cannot be written: {path.name} cannot be made beside it ({error.strerror}); "
                "check the permissions of the folder, or use another --store"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same_file(descriptor, path):
                return descriptor
        except BlockingIOError:
            holder = _describe_holder(descriptor)
            os.close(descriptor)
            raise StoreError(f"{store} is being written by {holder}: wait for it, or use another --store") from None
        except OSError as error:
            os.close(descriptor)
            raise StoreError(
                f"{store} cannot be written: its file system cannot lock files ({error.strerror}); keep it on a local disk"
            ) from None
        os.close(descriptor)


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _describe_holder(descriptor: int) -> str:
    pid_text = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
    if not pid_text.isdigit():
        return "another process"
    return f"process {pid_text}" + (" (this one)" if int(pid_text) == os.getpid() else "")


def _release_after_fork() -> None:
    """A forked process must not keep the lock of its parent: it may outlive it."""
    for descriptor in _locked_descriptors:
        os.close(descriptor)
    _locked_descriptors.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_after_fork)


class TrialLink(NamedTuple):
    """What a trial is about, by hash."""

    data: str
    condition: str
    split: bytes
    learner: str


class ResultsStore:
    """Evidence of studies in one SQLite file. Open it with `Store.open`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ResultsStore.open(f"{folder}/mine.fairtrial", write=True, create=True) as store:
    ...         run = store.start_run({"engine": "local"})
    ...         store.finish_run(run, {"trials": 0})
    ...     os.listdir(folder)
    ['mine.fairtrial']
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriteLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._finalizer = weakref.finalize(self, _close, connection, lock, os.getpid())
        self._transaction_lock = threading.RLock()
        self._ids: codec.StoreIds | None = None
        self._run: int | None = None
        self._seed: int | str | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> ResultsStore:
        """Open a store to read, or to `write`; `create_tables` makes one where there is none. Only one process writes at a time.

        A file that is no store, is damaged, cut short, or of a newer version is refused; one of an older version is brought up
        to date by whoever opens it to write.
        """
        resolved_path = Path(os.path.realpath(path))
        check_path(resolved_path, create=write and create)
        lock = WriteLock(resolved_path) if write else None
        try:
            with translate_errors(resolved_path):
                return cls(resolved_path, _open_connection(resolved_path, write=write, create=create), lock)
        except BaseException:
            if lock is not None:
                lock.release()
            raise

    def close(self) -> None:
        """Close the file. A writer leaves a single file that can be copied."""
        self._finalizer()

    def __enter__(self) -> ResultsStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ResultsStore {self.path}, open to {'write' if self._lock else 'read'}>"

    @contextmanager
    def read_connection(self) -> Iterator[sqlite3.Connection]:
        """The connection, for the modules of the store; what SQLite refuses is told as a StoreError."""
        with translate_errors(self.path):
            yield self._connection

    @contextmanager
    def write_transaction(self) -> Iterator[sqlite3.Connection]:
        """The same, in one transaction: all of it is kept or nothing."""
        if self._lock is None:
            raise StoreError(f"{self.path} is open to read only: open it with write=True")
        with self._transaction_lock, translate_errors(self.path):
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
        splits: Iterable[tuple[str, bytes, SplitRows]],
    ) -> None:
        """What a study is about, before its evidence comes. Its study is the latest then; again, it changes nothing.

        A data set that another study of this store has brought before is the same one: it takes the ids of rows given here,
        which that other study shows from now on, too.
        """
        with self.write_transaction() as connection:
            codec.put_datasets(connection, datasets)
            codec.put_conditions(connection, conditions)
            codec.put_learners(connection, learners)
            codec.put_splits(connection, splits)
            codec.put_study(connection, header["name"], values.to_json(header), PROTOCOL)
        self._ids, self._seed = None, values.to_storable_seed(header["seed"])

    def find_done(self, retry: Collection[Status] = ()) -> set[bytes]:
        """The keys of the trials that need not run again: all that are stored, but for failures of the kinds in `retry`."""
        statuses = sorted({status for status in retry if status != "ok"})
        marks = ", ".join("?" * len(statuses))
        with self.read_connection() as connection:
            cursor = connection.execute(f"SELECT key FROM trial WHERE status NOT IN ({marks})", statuses)
            return {key for (key,) in cursor}

    def add(self, batch: Iterable[tuple[TrialRecord, TrialLink]]) -> None:
        """Keep the evidence of trials, all or none. It is safe once this returns.

        A success replaces a failure; a failure replaces an earlier one, and attempts are counted; a success stays for good.
        """
        with self.write_transaction() as connection:
            if self._ids is None:
                self._ids = codec.StoreIds.from_connection(connection)
            ids, path = self._ids, self.path
            numbered = ((record, ids.resolve_link(link, path)) for record, link in batch)
            codec.insert_records(connection, numbered, self._get_seed(connection), self._run)

    def _get_seed(self, connection: sqlite3.Connection) -> int | str:
        if self._seed is None:
            header = connection.execute("SELECT header FROM study ORDER BY turn DESC LIMIT 1").fetchone()
            if header is None:
                raise StoreError(f"{self.path} holds no study yet: add its plan before its evidence")
            self._seed = values.to_storable_seed(read_header(header[0], self.path)["seed"])
        return self._seed

    def start_run(self, facts: Mapping[str, Any]) -> int:
        """Note that a run of the latest study starts; its number. `facts` are plain values: engine, jobs, versions ..."""
        with self.write_transaction() as connection:
            study = connection.execute("SELECT id FROM study ORDER BY turn DESC LIMIT 1").fetchone()
            line = (
                secrets.token_hex(8),
                study and study[0],
                str(facts.get("started", _get_timestamp())),
                values.to_json(dict(facts)),
            )
            added = connection.execute("INSERT INTO run (token, study, started, facts) VALUES (?, ?, ?, ?)", line)
            self._run = added.lastrowid
        return int(self._run or 0)

    def finish_run(self, run: int, facts: Mapping[str, Any]) -> None:
        """Note that the run has finished, and what else is known of it by now."""
        with self.write_transaction() as connection:
            before = connection.execute("SELECT facts FROM run WHERE id = ?", (run,)).fetchone()
            if before is None:
                raise StoreError(f"{self.path} has no run {run}: finish the run that start_run gave")
            together = values.to_json({**values.from_json(before[0]), **facts})
            finished = str(facts.get("finished", _get_timestamp()))
            connection.execute("UPDATE run SET finished = ?, facts = ? WHERE id = ?", (finished, together, run))

    def compute_mean_times(self) -> dict[tuple[str, str], tuple[float, int]]:
        """For each data set and learner, by hash: mean seconds of a successful trial, and how many there are."""
        with self.read_connection() as connection:
            return codec.query_mean_times(connection)

    def open_archive(self, study: str | None = None) -> StoreArchive:
        """The evidence with the names of a study: that of this name, or the latest."""
        from fairtrial.study.store.archive import StoreArchive

        return StoreArchive.from_store(self, study)

    def compute_digest(self) -> str:
        """SHA-256 of all evidence, and of what it is about, in the order of keys: equal for two stores whose evidence is,
        whoever ran it, and when."""
        with self.read_connection() as connection:
            return hashlib.sha256(b"".join(record_hash for _, record_hash in codec.iter_record_hashes(connection))).hexdigest()

    def count_by_status(self) -> dict[str, int]:
        """How many trials are stored, by status."""
        with self.read_connection() as connection:
            return dict(connection.execute("SELECT status, count(*) FROM trial GROUP BY status ORDER BY count(*) DESC, status"))

    def check(self) -> None:
        """Read all of it, and refuse a file where anything is damaged, or is about something else than its key was made of."""
        with self.read_connection() as connection:
            result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if result != "ok":
                raise StoreError(
                    f"{self.path} is damaged ({result}): take a copy from before, or run the study into a new store"
                )
            codec.refuse_corrupted_records(connection)
            codec.refuse_wrong_links(connection)
            studies = [name for (name,) in connection.execute("SELECT name FROM study")]
        for name in studies:
            archive = self.open_archive(name)
            _ = archive.datasets, archive.conditions, archive.learners, archive.runs, archive.trials()


def _open_connection(path: Path, *, write: bool, create: bool) -> sqlite3.Connection:
    connection = connect(path, write=write)
    try:
        version = schema.read_version(connection, path)
        if version is None:
            if not (write and create):
                raise StoreError(f"{path} is empty: check the path, or run a study first")
            schema.create_tables(connection)
        else:
            refuse_truncated(connection, path)
            if write:
                schema.upgrade(connection, path, version)
            else:
                schema.refuse_older(path, version)
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


def _get_timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
