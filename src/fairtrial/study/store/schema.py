"""The tables of a results file, and the migration of files of older schema versions."""

from __future__ import annotations

import re
import sqlite3
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fairtrial.errors import StoreError
from fairtrial.study.store.checksums import (
    TRIAL_NUMBERS,
    TRIAL_TEXTS,
    compute_checksum,
    compute_trial_checksum,
    extend_from_1,
    extend_from_2,
)

APPLICATION = int.from_bytes(b"ftri", "big")
"""Application id in the header of the file. It distinguishes results files from other SQLite files."""

VERSION = 3

_TABLES = """
CREATE TABLE study (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    turn INTEGER NOT NULL,
    protocol INTEGER NOT NULL,
    header TEXT NOT NULL,
    checksum INTEGER
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
    facts TEXT NOT NULL,
    checksum INTEGER
);
CREATE TABLE condition (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    level REAL NOT NULL,
    words TEXT NOT NULL,
    description TEXT NOT NULL,
    checksum INTEGER
);
CREATE TABLE learner (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    class_name TEXT NOT NULL,
    parameters TEXT NOT NULL,
    versions TEXT NOT NULL,
    checksum INTEGER
);
CREATE TABLE split (
    id INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES dataset (id),
    hash BLOB NOT NULL,
    repeat INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    test BLOB NOT NULL,
    train BLOB,
    checksum INTEGER,
    UNIQUE (dataset, hash)
);
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    study INTEGER REFERENCES study (id),
    started TEXT NOT NULL,
    finished TEXT,
    facts TEXT NOT NULL,
    checksum INTEGER
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
    abstentions INTEGER NOT NULL DEFAULT 0,
    fit_time REAL,
    predict_time REAL,
    fit_cpu REAL,
    predict_cpu REAL,
    memory INTEGER,
    tuning TEXT,
    notes TEXT,
    error TEXT,
    message TEXT,
    traceback TEXT,
    log TEXT,
    checksum INTEGER
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

_DERIVED_TABLE = """
CREATE TABLE IF NOT EXISTS derived (name TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL)
"""
"""Table of derived values, which are computed from the other tables and stored to save time."""

TRIAL_FIELDS = (
    *("id", "key", "dataset", "condition", "split", "learner", "seed", "protocol", "run", "status", "attempts"),
    *("level", "changed", "test_level", "test_changed", "abstentions"),
    *("fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory", "tuning"),
    *("notes", "error", "message", "traceback", "log", "checksum"),
)
PLAN_FIELDS = {
    "study": ("id", "name", "turn", "protocol", "header"),
    "dataset": ("id", "hash", "name", "n_rows", "classes", "codes", "row_id_type", "row_ids", "facts"),
    "condition": ("id", "hash", "name", "level", "words", "description"),
    "learner": ("id", "hash", "name", "class_name", "parameters", "versions"),
    "split": ("id", "dataset", "hash", "repeat", "fold", "test", "train"),
    "run": ("id", "token", "study", "started", "finished", "facts"),
}
"""Columns of the tables that store plans and runs, without the checksum."""

PREDICTION_FIELDS = ("trial", "prediction", "scores", "score_kind", "test_rows", "truth", "checksum")

Migration = Callable[[sqlite3.Connection], None]
MIGRATIONS: dict[int, Migration] = {}
"""For each older version, the function that migrates a file to the next version inside an open transaction."""

VIEWS: dict[int, Migration] = {}
"""For each older version, the function that creates temporary views of its tables in the current layout."""


def prepare_derived(connection: sqlite3.Connection) -> None:
    """Create the table of derived values if the file has none."""
    connection.execute(_DERIVED_TABLE)


def write_derived(connection: sqlite3.Connection, values: Mapping[str, bytes]) -> None:
    """Store derived values."""
    rows = [(name, value, compute_checksum((name, value))) for name, value in values.items()]
    connection.executemany(build_insert("derived", ("name", "value", "checksum")), rows)


def read_derived(connection: sqlite3.Connection, name: str) -> bytes | None:
    """Return a derived value, or None if it is absent or corrupted."""
    try:
        row = connection.execute("SELECT value, checksum FROM main.derived WHERE name = ?", (name,)).fetchone()
    except sqlite3.OperationalError:  # the file has no such table yet
        return None
    return bytes(row[0]) if row is not None and compute_checksum((name, row[0])) == row[1] else None


def clear_derived(connection: sqlite3.Connection) -> None:
    """Delete all derived values, as every transaction that changes trials must do."""
    connection.execute("DELETE FROM derived")


def build_insert(table: str, columns: tuple[str, ...], on_conflict: str = "REPLACE") -> str:
    """Build the statement that inserts a row. `on_conflict` is REPLACE or IGNORE.

    >>> build_insert("split", ("id", "fold"))
    'INSERT OR REPLACE INTO split (id, fold) VALUES (?, ?)'
    """
    return f"INSERT OR {on_conflict} INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def create_tables(connection: sqlite3.Connection) -> None:
    """Create all tables in an empty file, in one transaction."""
    script = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {_TABLES}"
    _run_in_transaction(
        connection, lambda: [connection.execute(statement) for statement in script.split(";") if statement.strip()]
    )


def read_version(connection: sqlite3.Connection, path: Path) -> int | None:
    """Return the schema version of a file, or None if the file is empty.

    Files of other programs and files of newer versions are refused.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = get_user_version(connection)
    if application != APPLICATION:
        if (application, version) == (0, 0) and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return None
        raise StoreError(f"{path} is an SQLite file from another program, not a results file: choose another file")
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer fairtrial (schema {version}, this one reads up to {VERSION}): upgrade fairtrial"
        )
    return version


def get_user_version(connection: sqlite3.Connection) -> int:
    """Return the schema version from the header of the file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def create_views(connection: sqlite3.Connection, path: Path, version: int) -> bool:
    """Create temporary views that present an older file in the current layout.

    Return whether the file is of an older version.
    """
    if version == VERSION:
        return False
    if version not in VIEWS:
        raise StoreError(
            f"{path} was written by an older fairtrial (schema {version}, this one reads {VERSION}): upgrade the file with "
            f"open_store(path, write=True), which keeps a copy of it"
        )
    connection.execute("PRAGMA temp_store = MEMORY")
    VIEWS[version](connection)
    return True


def drop_outdated_views(connection: sqlite3.Connection) -> bool:
    """Drop the temporary views if a writer has upgraded the file since they were created.

    Return whether the views are still needed.
    """
    if get_user_version(connection) != VERSION:
        return True
    connection.execute("PRAGMA query_only = 0")
    for (name,) in connection.execute("SELECT name FROM sqlite_temp_master WHERE type = 'view'").fetchall():
        connection.execute(f"DROP VIEW temp.{name}")
    connection.execute("PRAGMA query_only = 1")
    return False


def upgrade(connection: sqlite3.Connection, path: Path, version: int) -> Path | None:
    """Copy the file, then upgrade its tables to the current version in one transaction.

    Return the path of the copy, or None if the file is up to date.
    """
    if version == VERSION:
        return None
    if any(step not in MIGRATIONS for step in range(version, VERSION)):  # a corrupted version may be a large negative number
        raise StoreError(f"{path} has schema {version}, which this version of fairtrial cannot upgrade: rerun the study")
    backup = _write_backup(connection, path, version)
    try:
        _run_in_transaction(connection, lambda: _migrate(connection, version))
    except sqlite3.Error as error:
        raise StoreError(
            f"{path} could not be upgraded from schema {version} to {VERSION} ({error}): it is unchanged (copy: {backup})"
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


def create_functions(connection: sqlite3.Connection) -> None:
    """Define the SQL functions that compute checksums and convert rows of older versions."""
    functions: dict[str, tuple[int, Callable[..., Any]]] = {
        "row_checksum": (-1, lambda *values: compute_checksum(values)),
        "trial_checksum": (-1, _compute_trial_checksum),
        "parse_abstentions": (1, _parse_abstentions),
        "strip_abstentions": (1, _strip_abstentions),
        "extend_from_1": (2, lambda checksum, abstentions: _extend(extend_from_1, checksum, abstentions or 0)),
        "extend_from_2": (-1, lambda checksum, *values: _extend(extend_from_2, checksum, *values)),
    }
    for name, (n_arguments, function) in functions.items():
        connection.create_function(name, n_arguments, function, deterministic=True)


def seal_rows(connection: sqlite3.Connection, tables: Iterable[str] = PLAN_FIELDS) -> None:
    """Compute and store the checksum of each row that has none."""
    for table in tables:
        connection.execute(f"UPDATE {table} SET checksum = {_ROW_CHECKSUMS[table]} WHERE checksum IS NULL")


_ROW_CHECKSUMS = {table: f"row_checksum({', '.join(columns)})" for table, columns in PLAN_FIELDS.items()}
_TRIAL_COLUMNS = (*TRIAL_NUMBERS, "key", *TRIAL_TEXTS)


def _compute_trial_checksum(*values: Any) -> int | None:
    n = len(TRIAL_NUMBERS)
    try:
        return compute_trial_checksum(values[:n], values[n], values[n + 1 :])
    except (TypeError, ValueError, OverflowError, struct.error):  # the row is corrupted
        return None


def _extend(function: Callable[..., int], checksum: Any, *values: Any) -> Any:
    return function(checksum, *values) if isinstance(checksum, int) else checksum


# In versions 1 and 2, plans and trials had no checksums, and the parameters of tuned learners were not stored.

# Version 1 stored the number of abstentions in the first line of the notes. Its checksum covered only the predictions.

_ABSTENTION_NOTE = re.compile(r"abstained on (\d+) of \d+ test rows?: counted as errors(?:\n|$)")


def _parse_abstentions(notes: object) -> int:
    matched = _ABSTENTION_NOTE.match(notes) if isinstance(notes, str) else None
    return int(matched[1]) if matched else 0


def _strip_abstentions(notes: Any) -> Any:
    return _ABSTENTION_NOTE.sub("", notes, count=1) or None if _parse_abstentions(notes) else notes


def _migrate_from_1(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE trial ADD COLUMN abstentions INTEGER NOT NULL DEFAULT 0")
    connection.execute(
        "UPDATE trial SET abstentions = parse_abstentions(notes), notes = strip_abstentions(notes) "
        "WHERE parse_abstentions(notes) > 0"
    )
    connection.execute(
        "UPDATE evidence SET checksum = extend_from_1(checksum, (SELECT abstentions FROM trial WHERE id = evidence.trial))"
    )


_LENGTHS = "length(prediction), length(scores), length(test_rows), length(truth)"


def _migrate_from_2(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE trial ADD COLUMN tuning TEXT")
    for table in (*PLAN_FIELDS, "trial"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
    seal_rows(connection)
    connection.execute(f"UPDATE trial SET checksum = trial_checksum({', '.join(_TRIAL_COLUMNS)})")
    key = "(SELECT key FROM trial WHERE id = evidence.trial)"
    connection.execute(f"UPDATE evidence SET checksum = extend_from_2(checksum, {key}, score_kind, {_LENGTHS})")


def _create_views_from_1(connection: sqlite3.Connection) -> None:
    abstentions = "(SELECT parse_abstentions(notes) FROM main.trial WHERE id = trial)"
    _create_views(
        connection,
        {"abstentions": "parse_abstentions(notes)", "notes": "strip_abstentions(notes)"},
        f"extend_from_1(checksum, {abstentions})",
    )


def _create_views(connection: sqlite3.Connection, expressions: dict[str, str], checksum: str = "checksum") -> None:
    """Create views of all tables in the current layout.

    `expressions` maps columns of trials to SQL expressions. `checksum` is the SQL expression for the checksum of predictions
    in schema 2.
    """
    columns = expressions | {"tuning": "NULL"}
    trial = {name: columns.get(name, name) for name in TRIAL_FIELDS}
    trial["checksum"] = f"trial_checksum({', '.join(trial[name] for name in _TRIAL_COLUMNS)})"
    predictions = {name: name for name in PREDICTION_FIELDS}
    key = "(SELECT key FROM main.trial WHERE id = trial)"
    predictions["checksum"] = f"extend_from_2({checksum}, {key}, score_kind, {_LENGTHS})"
    views = {"trial": trial, "evidence": predictions}
    for table, names in PLAN_FIELDS.items():
        views[table] = {name: name for name in names} | {"checksum": _ROW_CHECKSUMS[table]}
    for table, view in views.items():
        selected = ", ".join(f"{expression} AS {name}" for name, expression in view.items())
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {selected} FROM main.{table}")


MIGRATIONS |= {1: _migrate_from_1, 2: _migrate_from_2}
VIEWS |= {1: _create_views_from_1, 2: lambda connection: _create_views(connection, {})}
