"""The file of a store: connecting to it, telling whether it is whole, and saying in words what SQLite refuses.

While SQLite has the file open, nothing here opens it by other means: closing it would drop SQLite's locks on it.
"""

from __future__ import annotations

import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fairtrial.errors import StoreError

_PATIENCE = 30.0
_NO_FOLDER = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_SMALLEST = 512
_DAMAGED = "take a copy from before, or run the study into a new store"


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """A connection to the file, which is made where it is to be written and is not there.

    A reader connects like a writer and promises not to write: so the last one to leave tidies up what a killed writer left.
    Tidying would hide that a file was cut short, so one that a killed writer left is looked at first.
    """
    if _size(_beside(path, "-wal")):
        with closing(_connection(path, "mode=ro")) as looking:
            refuse_cut(looking, path)
    connection = _connection(path, f"mode={'rwc' if write else 'rw'}")
    try:
        try:
            connection.execute("PRAGMA schema_version")
        except sqlite3.OperationalError as error:
            if write or error.sqlite_errorcode & 0xFF not in _NO_FOLDER or _size(_beside(path, "-wal")):
                raise
            connection.close()  # a folder that cannot be written to: the file can be read as it stands
            connection = _connection(path, "mode=ro&immutable=1")
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
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:  # a reader is in the middle of the file, and SQLite does not wait for it here
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
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


def refuse_cut(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that was cut short, also where SQLite would not notice before it reads the missing part."""
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on, no page can go away
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        whole = _size(path) // size
        if whole < pages and not set(range(whole + 1, pages + 1)) <= _pages_ahead(_beside(path, "-wal")):
            raise StoreError(f"{path} was cut short: it should have {pages * size} bytes and has {_size(path)}; {_DAMAGED}")
    finally:
        connection.execute("ROLLBACK")


def _pages_ahead(wal: Path) -> set[int]:
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
    return {struct.unpack_from(">I", content, at)[0] for at in starts if content[at + 8 : at + 16] == salt}


def look_at(path: Path, *, create: bool) -> None:
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
    if facts.st_size == 0 and not _size(_beside(path, "-wal")) and not create:
        raise StoreError(f"{path} is empty: check the path, or run a study first")
    if 0 < facts.st_size < _SMALLEST:  # SQLite takes a file of 1 byte for an empty one and would write over it
        raise StoreError(f"{path} is not a fairtrial store, or was cut short to {facts.st_size} bytes: choose another file")


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Whatever SQLite raises becomes one sentence with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_told(path, error)) from error


def _told(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        closed = isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
        return f"{path} has been closed: open it again" if closed else f"{path} is damaged ({error}): {_DAMAGED}"
    if code & 0xFF == sqlite3.SQLITE_NOTADB and not _begins_like_sqlite(path):
        return f"{path} is not a fairtrial store, nor any SQLite file: choose another file"
    kept = "all that was stored before is kept"
    words = {
        sqlite3.SQLITE_NOTADB: f"is damaged at its beginning: {_DAMAGED}",
        sqlite3.SQLITE_CORRUPT: f"is damaged or was cut short ({error}): {_DAMAGED}",
        sqlite3.SQLITE_ERROR: f"lacks a part of its tables ({error}): {_DAMAGED}",
        sqlite3.SQLITE_FULL: f"cannot be written, the disk is full: {kept}; free some space and run the same command again",
        sqlite3.SQLITE_IOERR: f"cannot be read or written ({error}): {kept}; check the disk, its space and quota",
        sqlite3.SQLITE_BUSY: f"is locked by another program: {kept}; close that program and run again",
        sqlite3.SQLITE_READONLY: "may not be written: check the permissions of it and of its folder",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: check the permissions of it and of its folder",
    }
    return f"{path} " + words.get(code & 0xFF, f"cannot be used ({error}): {_DAMAGED}")


def _begins_like_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return False


def _connection(path: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?{options}", uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
