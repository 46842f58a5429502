"""An SQLite file that one process writes and any number read; one that was cut short or is corrupted is refused."""

from __future__ import annotations

import os
import sqlite3
import struct
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fairtrial.errors import StoreError
from fairtrial.study.store import schema

_BUSY_SECONDS = 30.0
_UNWRITABLE_CODES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_MIN_BYTES = 512
_CORRUPTED_REMEDY = "take a copy from before, or run the study into a new store"


class SQLiteFile:
    """An open results file: its connection, and its write lock if it may be written."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, lock: WriteLock | None, *, has_views: bool = False
    ) -> None:
        self.path = path
        self._connection = connection
        self._has_views = has_views
        self._lock = lock
        self._transaction_lock = threading.RLock()
        self.close = weakref.finalize(self, _close, connection, lock, os.getpid())
        """Close the file. A writer leaves a single file that can be copied."""

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> SQLiteFile:
        """Open a file to read, or to `write`; `create` makes one if there is none."""
        resolved_path = Path(os.path.realpath(path))
        _check_path(resolved_path, create=write and create)
        lock = WriteLock(resolved_path) if write else None
        try:
            with translate_errors(resolved_path):
                connection, has_views = _open_connection(resolved_path, write=write, create=create)
                return cls(resolved_path, connection, lock, has_views=has_views)
        except BaseException:
            if lock is not None:
                lock.release()
            raise

    @property
    def writable(self) -> bool:
        """Whether it was opened to write."""
        return self._lock is not None

    @contextmanager
    def read_connection(self) -> Iterator[sqlite3.Connection]:
        """Give the connection; errors of SQLite become a StoreError."""
        with translate_errors(self.path):
            if self._has_views:
                self._has_views = schema.drop_outdated_views(self._connection)
            yield self._connection

    @contextmanager
    def write_transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the connection in one transaction: all of it is stored or nothing."""
        if self._lock is None:
            raise StoreError(f"{self.path} is open to read only: open it with write=True")
        with self._transaction_lock, translate_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _open_connection(path: Path, *, write: bool, create: bool) -> tuple[sqlite3.Connection, bool]:
    """Open and check a file; return the connection and whether temporary views show it in the current layout."""
    connection, has_views = _connect(path, write=write), False
    try:
        version = schema.read_version(connection, path)
        if version is None:
            if not (write and create):
                raise StoreError(f"{path} is empty: check the path, or run a study first")
            schema.create_tables(connection)
        else:
            _refuse_truncated(connection, path)
            if write:
                schema.upgrade(connection, path, version)
            else:
                has_views = schema.create_views(connection, path, version)
        if write:
            _prepare_to_write(connection)
        else:
            connection.execute("PRAGMA query_only = 1")
    except BaseException:
        connection.close()
        raise
    return connection, has_views


def _close(connection: sqlite3.Connection, lock: WriteLock | None, owner: int) -> None:
    if os.getpid() != owner:  # a forked process leaves the file to its parent
        return
    _disconnect(connection, write=lock is not None)
    if lock is not None:
        lock.release()


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """A connection to the file, which is made where it is to be written and is not there.

    A reader connects like a writer and promises not to write: so the last one to leave tidies up what a killed writer left.
    Tidying would hide that a file was cut short, so one that a killed writer left is looked at first.
    """
    if _get_size(_add_suffix(path, "-wal")):
        with closing(_connect_with_options(path, "mode=ro")) as reader:
            _refuse_truncated(reader, path)
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
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare_to_write(connection: sqlite3.Connection) -> None:
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


def _disconnect(connection: sqlite3.Connection, *, write: bool) -> None:
    """Close; a writer leaves a single file, unless a reader is still there: then the last reader does."""
    if write:
        try:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:
            pass  # all that was stored is in the file or in its -wal, which whoever opens it next reads
    connection.close()


def _refuse_truncated(connection: sqlite3.Connection, path: Path) -> None:
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


def _check_path(path: Path, *, create: bool) -> None:
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
    stored = "all that was stored before is kept"
    messages = {
        sqlite3.SQLITE_NOTADB: f"is damaged at its beginning: {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_CORRUPT: f"is damaged or was cut short ({error}): {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_ERROR: f"lacks a part of its tables ({error}): {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_FULL: f"cannot be written, the disk is full: {stored}; free some space and run the same command again",
        sqlite3.SQLITE_IOERR: f"cannot be read or written ({error}): {stored}; check the disk, its space and quota",
        sqlite3.SQLITE_BUSY: f"is locked by another program: {stored}; close that program and run again",
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
