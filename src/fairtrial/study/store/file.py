"""An SQLite file with at most one writer and any number of readers."""

from __future__ import annotations

import os
import sqlite3
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from fairtrial._text import collapse_whitespace, format_count
from fairtrial.errors import StoreError
from fairtrial.study.store import schema

_BUSY_SECONDS = 30.0
_UNWRITABLE_CODES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_MIN_BYTES = 512
_CORRUPTED_REMEDY = "restore a backup, or run `fairtrial check --repair` and rerun the study"


class CorruptedStoreError(StoreError):
    """The results file is corrupted.

    The commands `run` and `check --repair` repair such a file. All other commands refuse it.
    """


class MovedStoreError(StoreError):
    """The results file was deleted, renamed or replaced while it was open for writing."""


class SQLiteFile:
    """An open results file: its connection, and its write lock if it is open for writing.

    After every write transaction, the path is checked. If it no longer refers to the open file, all records are written to a
    new file, and MovedStoreError is raised. The new file is in the same folder or, if writing there fails, in the temporary
    folder.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriteLock | None, *, has_views: bool = False) -> None:
        self.path = path
        self._connection = connection
        self._has_views = has_views
        self._lock = lock
        self._transaction_lock = threading.RLock()
        self._identity = _get_identity(path)
        self.close = weakref.finalize(self, _close, connection, lock, os.getpid())
        """Close the file. Afterwards, the results are in a single file that can be copied."""

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> SQLiteFile:
        """Open a file for reading or, if `write` is true, for writing.

        If `create` is also true, create a missing file.
        """
        resolved_path = Path(os.path.realpath(path))
        _check_path(resolved_path, create=write and create)
        lock = WriteLock(resolved_path) if write else None
        new = not resolved_path.exists()
        try:
            with translate_errors(resolved_path):
                connection, has_views = _open_connection(resolved_path, write=write, create=create)
                return cls(resolved_path, connection, lock, has_views=has_views)
        except BaseException:
            if lock is not None:
                if new:  # e.g. the disk is full
                    resolved_path.unlink(missing_ok=True)
                lock.release()
            raise

    @property
    def writable(self) -> bool:
        """Whether the file is open for writing."""
        return self._lock is not None

    @contextmanager
    def read_connection(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, and convert SQLite errors to a StoreError."""
        with translate_errors(self.path):
            if self._has_views:
                self._has_views = schema.drop_outdated_views(self._connection)
            yield self._connection

    @contextmanager
    def write_transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection inside a write transaction."""
        if self._lock is None:
            raise StoreError(f"{self.path} is open for reading only: open it with write=True")
        with self._transaction_lock, translate_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            if _get_identity(self.path) != self._identity:
                self._refuse_moved()

    def _refuse_moved(self) -> None:
        """Write all records to a new file, because the path no longer refers to the open file."""
        problem = f"{self.path} was deleted, renamed or replaced while it was being written"
        for folder in (self.path.parent, Path(tempfile.gettempdir())):
            copy = find_free_path(folder / f"{self.path.stem}.recovered{self.path.suffix}")
            try:
                _copy_database(self._connection, copy)
            except sqlite3.Error:
                copy.unlink(missing_ok=True)
                continue
            n_trials = self._connection.execute("SELECT count(*) FROM trial").fetchone()[0]
            raise MovedStoreError(
                f"{problem}, so the run stops; {copy} contains its {format_count(n_trials, 'trial')}: rename this copy to "
                f"{self.path.name} and rerun the command to resume"
            )
        raise MovedStoreError(f"{problem}, so the run stops, and no copy of its trials could be written: check the folder")


def find_free_path(path: Path) -> Path:
    """Return `path`, or a numbered path such as `a-2.fairtrial` if `path` already exists."""
    numbered, number = path, 1
    while numbered.exists():
        number += 1
        numbered = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return numbered


def _copy_database(connection: sqlite3.Connection, path: Path) -> None:
    copy = sqlite3.connect(path)
    try:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # the copy is a single file
    finally:
        copy.close()


def _get_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a path, or None if the path does not exist."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _open_connection(path: Path, *, write: bool, create: bool) -> tuple[sqlite3.Connection, bool]:
    """Open and check a file.

    Return the connection, and whether temporary views present an older file in the current layout.
    """
    connection, has_views = _connect(path, write=write), False
    try:
        schema.create_functions(connection)
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
            schema.prepare_derived(connection)
        else:
            connection.execute("PRAGMA query_only = 1")
    except BaseException:
        connection.close()
        raise
    return connection, has_views


def _close(connection: sqlite3.Connection, lock: WriteLock | None, owner: int) -> None:
    if os.getpid() != owner:  # the file belongs to the parent process
        return
    _disconnect(connection, write=lock is not None)
    if lock is not None:
        lock.release()


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Connect to the file. A writer creates the file if it is missing.

    A reader connects in read-write mode, so it can clean up after a killed writer. The cleanup could hide a truncation.
    Therefore, a file with a write-ahead log is first checked for truncation.
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
            connection.close()  # the folder is not writable, so the file is read as immutable
            connection = _connect_with_options(path, "mode=ro&immutable=1")
            connection.execute("PRAGMA schema_version")
        connection.execute("PRAGMA cell_size_check = 1")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare_to_write(connection: sqlite3.Connection) -> None:
    """Turn on write-ahead logging, and flush every transaction to the disk.

    With write-ahead logging, a writer does not block readers.
    """
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:  # SQLite does not wait for readers when it changes this setting
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous = FULL")


def _disconnect(connection: sqlite3.Connection, *, write: bool) -> None:
    """Close the connection, and merge the write-ahead log into the file if possible."""
    if write:
        try:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:
            pass  # all data are already in the file or its write-ahead log
    connection.close()


def _refuse_truncated(connection: sqlite3.Connection, path: Path) -> None:
    """Raise CorruptedStoreError if the file is truncated.

    SQLite itself would detect the truncation only when it reads a missing page.
    """
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from now on, no page can disappear
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        n_whole_pages = _get_size(path) // size
        if n_whole_pages < pages and not set(range(n_whole_pages + 1, pages + 1)) <= _list_wal_pages(_add_suffix(path, "-wal")):
            raise CorruptedStoreError(f"{path} is truncated to {_get_size(path)} of {pages * size} bytes: {_CORRUPTED_REMEDY}")
    finally:
        connection.execute("ROLLBACK")


def _list_wal_pages(wal: Path) -> set[int]:
    """List the numbers of the pages in the write-ahead log."""
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
    """Refuse a path that cannot be a results file, before SQLite opens it."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be opened because the folder {path.parent} does not exist: create it") from None
        if not create:
            raise StoreError(f"{path} does not exist: check the path, or run a study first") from None
        return
    except OSError as error:
        raise StoreError(f"{path} cannot be opened ({error.strerror}): check the path and its permissions") from None
    if path.is_dir():
        raise StoreError(f"{path} is a folder: pass a file")
    if facts.st_size == 0 and not _get_size(_add_suffix(path, "-wal")) and not create:
        raise StoreError(f"{path} is empty: check the path, or run a study first")
    if path.suffix.lower() == ".toml" and facts.st_size and not _has_sqlite_magic(path):
        raise StoreError(f"{path} is a study file, not a results file: pass the results file (*.fairtrial) that its run wrote")
    if 0 < facts.st_size < _MIN_BYTES:  # SQLite would overwrite a 1-byte file
        raise StoreError(f"{path} is not a results file, or is truncated to {facts.st_size} bytes: choose another file")


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Convert SQLite errors to a StoreError with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        kind = CorruptedStoreError if _is_corruption(path, error) else StoreError
        raise kind(_describe_error(path, error)) from error
    except UnicodeDecodeError as error:  # Python cannot decode the message of SQLite, which quotes a corrupted name
        raise CorruptedStoreError(f"{path} is corrupted ({error.reason}): {_CORRUPTED_REMEDY}") from error


def _is_corruption(path: Path, error: sqlite3.Error) -> bool:
    """Return whether an error means that a results file is corrupted."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # e.g. the file contains text that is not valid UTF-8
        return not isinstance(error, sqlite3.ProgrammingError)
    if code & 0xFF == sqlite3.SQLITE_NOTADB:
        return _has_sqlite_magic(path)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR)


def _describe_error(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    reason = collapse_whitespace(error, 200)  # it may quote a corrupted name
    if code is None:
        closed = isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
        return f"{path} is closed: open it again" if closed else f"{path} is corrupted ({reason}): {_CORRUPTED_REMEDY}"
    if code & 0xFF == sqlite3.SQLITE_NOTADB and not _has_sqlite_magic(path):
        return f"{path} is not a results file: choose another file"
    stored = "stored trials are kept"
    messages = {
        sqlite3.SQLITE_NOTADB: f"is corrupted at its beginning: {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_CORRUPT: f"is corrupted or truncated ({reason}): {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_ERROR: f"lacks tables or columns ({reason}): {_CORRUPTED_REMEDY}",
        sqlite3.SQLITE_FULL: f"cannot be written because the disk is full ({stored}): free some space and rerun the command",
        sqlite3.SQLITE_IOERR: f"cannot be read or written ({reason}; {stored}): check the disk, its space and quota",
        sqlite3.SQLITE_BUSY: f"is locked by another program ({stored}): close that program and rerun the command",
        sqlite3.SQLITE_READONLY: "is not writable: check the permissions of the file and its folder",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: check the permissions of the file and its folder",
    }
    return f"{path} " + messages.get(code & 0xFF, f"cannot be used ({reason}): {_CORRUPTED_REMEDY}")


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
    """A lock that allows only one process at a time to write to a results file.

    The process locks a separate file. If the process is killed, the lock is released, and the remaining lock file does no harm.
    To lock the results file itself, the process would have to open it a second time. Closing this second handle would release
    the locks of SQLite.

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
        with suppress(OSError):  # on a full disk, the lock works without the process id
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, str(self._pid).encode(), 0)

    def release(self) -> None:
        """Release the lock. A second call, or a call from a forked process, does nothing."""
        if self._descriptor not in _locked_descriptors or os.getpid() != self._pid:
            return
        _locked_descriptors.discard(self._descriptor)
        with suppress(OSError):  # in a folder that has become read-only, the lock file stays and does no harm
            self.path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1


def _lock_file(store: Path, path: Path) -> int:
    """Open and lock the lock file. Retry if the previous owner has just removed it."""
    import fcntl

    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreError(
                f"{store} cannot be written because {path.name} cannot be created ({error.strerror}): "
                "check the permissions of the folder, or choose another results file"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same_file(descriptor, path):
                return descriptor
        except BlockingIOError:
            holder = _describe_holder(descriptor)
            os.close(descriptor)
            raise StoreError(f"{store} is being written by {holder}: wait for it, or choose another results file") from None
        except OSError as error:
            os.close(descriptor)
            raise StoreError(
                f"{store} cannot be written because its file system cannot lock files ({error.strerror}): use a local disk"
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
    """Close the lock files that a forked process inherits.

    Otherwise, a forked process that outlives its parent would keep the parent's locks.
    """
    for descriptor in _locked_descriptors:
        os.close(descriptor)
    _locked_descriptors.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_after_fork)
