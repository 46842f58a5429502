"""The tables of a store, their version, and how a file of an older version is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from fairtrial.errors import StoreError

APPLICATION = int.from_bytes(b"ftri", "big")
"""Stands in the file's header, which distinguishes it from other SQLite files."""

VERSION = 1

_TABLES = """
CREATE TABLE study (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    turn INTEGER NOT NULL,
    protocol INTEGER NOT NULL,
    header TEXT NOT NULL
);
CREATE TABLE dataset (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    n_rows INTEGER NOT NULL,
    classes TEXT NOT NULL,
    codes BLOB NOT NULL,
    row_id_type TEXT NOT NULL,
    row_ids BLOB,
    facts TEXT NOT NULL
);
CREATE TABLE condition (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    level REAL NOT NULL,
    words TEXT NOT NULL,
    description TEXT NOT NULL
);
CREATE TABLE learner (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    class_name TEXT NOT NULL,
    parameters TEXT NOT NULL,
    versions TEXT NOT NULL
);
CREATE TABLE split (
    id INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES dataset (id),
    hash BLOB NOT NULL,
    repeat INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    test BLOB NOT NULL,
    train BLOB,
    UNIQUE (dataset, hash)
);
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    study INTEGER REFERENCES study (id),
    started TEXT NOT NULL,
    finished TEXT,
    facts TEXT NOT NULL
);
CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    dataset INTEGER NOT NULL REFERENCES dataset (id),
    condition INTEGER NOT NULL REFERENCES condition (id),
    split INTEGER NOT NULL REFERENCES split (id),
    learner INTEGER NOT NULL REFERENCES learner (id),
    seed BLOB NOT NULL,
    protocol INTEGER NOT NULL,
    run INTEGER REFERENCES run (id),
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    level REAL,
    changed INTEGER,
    test_level REAL,
    test_changed INTEGER,
    fit_time REAL,
    predict_time REAL,
    fit_cpu REAL,
    predict_cpu REAL,
    memory INTEGER,
    notes TEXT,
    error TEXT,
    message TEXT,
    traceback TEXT,
    log TEXT
);
CREATE TABLE evidence (
    trial INTEGER PRIMARY KEY REFERENCES trial (id),
    prediction BLOB,
    scores BLOB,
    score_kind TEXT,
    test_rows BLOB,
    truth BLOB,
    checksum INTEGER NOT NULL
);
"""

TRIAL_FIELDS = (
    *("id", "key", "dataset", "condition", "split", "learner", "seed", "protocol", "run", "status", "attempts"),
    *("level", "changed", "test_level", "test_changed", "fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory"),
    *("notes", "error", "message", "traceback", "log"),
)
PREDICTION_FIELDS = ("trial", "prediction", "scores", "score_kind", "test_rows", "truth", "checksum")

Migration = Callable[[sqlite3.Connection], None]
MIGRATIONS: dict[int, Migration] = {}
"""From a version to the next: what has to be done to the tables, inside a transaction that is already open."""


def build_insert(table: str, columns: tuple[str, ...], on_conflict: str = "REPLACE") -> str:
    """The statement that writes a line; `on_conflict` says what happens to one that is there: REPLACE, IGNORE.

    >>> build_insert("split", ("id", "fold"))
    'INSERT OR REPLACE INTO split (id, fold) VALUES (?, ?)'
    """
    return f"INSERT OR {on_conflict} INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def create_tables(connection: sqlite3.Connection) -> None:
    """All tables, in one transaction, in a file that has none."""
    script = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {_TABLES}"
    _run_in_transaction(
        connection, lambda: [connection.execute(statement) for statement in script.split(";") if statement.strip()]
    )


def read_version(connection: sqlite3.Connection, path: Path) -> int | None:
    """The version of the tables; None where the file is empty. A file of another program, or of a newer version, is refused."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application != APPLICATION:
        if (application, version) == (0, 0) and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return None
        raise StoreError(f"{path} is an SQLite file of another program, not a fairtrial store: choose another file")
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer fairtrial (schema {version}, this one knows {VERSION}): upgrade fairtrial"
        )
    return version


def refuse_older(path: Path, version: int) -> None:
    """A file of an older version is brought up to date only by who may write to it."""
    if version < VERSION:
        raise StoreError(
            f"{path} was written by an older fairtrial (schema {version}, this one reads {VERSION}): bring it up to date by "
            f"open_store(path, write=True), which keeps a copy of it"
        )


def upgrade(connection: sqlite3.Connection, path: Path, version: int) -> Path | None:
    """Bring the tables up to date, all steps in one transaction, after a copy of the file has been put beside it.

    Returns the place of the copy; None where nothing was to be done.
    """
    if version == VERSION:
        return None
    missing = [step for step in range(version, VERSION) if step not in MIGRATIONS]
    if missing:
        raise StoreError(
            f"{path} has the tables of schema {version}, which this fairtrial cannot bring up to date: run it anew"
        )
    backup = _write_backup(connection, path, version)
    try:
        _run_in_transaction(connection, lambda: _migrate(connection, version))
    except sqlite3.Error as error:
        raise StoreError(
            f"{path} could not be brought from schema {version} to {VERSION} ({error}): it is as before, its copy is {backup}"
        ) from error
    return backup


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    for step in range(version, VERSION):
        MIGRATIONS[step](connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _write_backup(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    backup = path.with_name(f"{path.name}.schema-{version}")
    copy = sqlite3.connect(backup)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    return backup


def _run_in_transaction(connection: sqlite3.Connection, work: Callable[[], object]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        work()
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
