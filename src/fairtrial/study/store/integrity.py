"""Check a results file for corruption, and recover the intact trials of a corrupted file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial._text import format_count
from fairtrial.errors import StoreError
from fairtrial.study.identity import compute_trial_keys, hash_split
from fairtrial.study.records import FAILURES
from fairtrial.study.store import codec, schema
from fairtrial.study.store.checksums import (
    TRIAL_NUMBERS,
    TRIAL_TEXTS,
    compute_checksum,
    compute_predictions_checksum,
    compute_trial_checksums,
)
from fairtrial.study.store.file import CorruptedStoreError, WriteLock, find_free_path
from fairtrial.study.store.store import ResultsStore, TrialLink, open_store

_BATCH_SIZE = 20_000
_IDS = TRIAL_NUMBERS[:5]
_MIN_ROW_BYTES = 64
_TRIALS_QUERY = f"SELECT {', '.join((*TRIAL_NUMBERS, 'key', *TRIAL_TEXTS, 'checksum'))} FROM trial"
_LINKS_QUERY = """
SELECT trial.id, key, status, seed, trial.protocol, trial.dataset, split.dataset, dataset.hash, split.hash, condition.hash,
    learner.hash
FROM trial LEFT JOIN dataset ON dataset.id = trial.dataset LEFT JOIN condition ON condition.id = trial.condition
LEFT JOIN split ON split.id = trial.split LEFT JOIN learner ON learner.id = trial.learner
"""


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Check all pages of the file, and check that its indexes match its tables."""
    _refuse_bad_pages(connection, path, "PRAGMA main.integrity_check(1)")


def check_plan(connection: sqlite3.Connection, path: Path) -> None:
    """Check the pages of plans and trials, the number of trials, and the checksums of plans.

    Predictions are not read.
    """
    with read_snapshot(connection):
        _check_plan(connection, path)


@contextmanager
def read_snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read a single snapshot of the file in the `with` block, even while another process writes."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):  # an error may have ended the transaction
            connection.execute("ROLLBACK")


def _check_plan(connection: sqlite3.Connection, path: Path) -> None:
    for table in (*schema.PLAN_FIELDS, "trial"):
        _refuse_bad_pages(connection, path, f"PRAGMA main.quick_check({table})")
    indexed, stored = (
        connection.execute(f"SELECT count(*) FROM main.trial {how}").fetchone()[0] for how in ("", "NOT INDEXED")
    )
    if indexed != stored:
        raise _make_error(path, f"its index has {indexed:,} trials, but its table has {stored:,}")
    for table, columns in schema.PLAN_FIELDS.items():
        for *values, checksum in connection.execute(f"SELECT {', '.join(columns)}, checksum FROM {table}"):
            if compute_checksum(values) != checksum:
                raise _make_error(path, f"row {values[0]} of the table {table} has a wrong checksum")


def _refuse_bad_pages(connection: sqlite3.Connection, path: Path, pragma: str) -> None:
    result = connection.execute(pragma).fetchone()
    if result is not None and result[0] != "ok":
        raise _make_error(path, " ".join(str(result[0]).replace("***", "").split()))


def _make_error(path: Path, problem: str) -> CorruptedStoreError:
    return CorruptedStoreError(f"{path} is corrupted ({problem}): {codec.REMEDY}")


@dataclass(frozen=True, eq=False)
class TrialBatch:
    """A batch of trials with correct checksums.

    `numbers` has one row per trial and one column for each of TRIAL_NUMBERS. `texts` contains the text columns, keyed by name.
    """

    numbers: FloatArray
    keys: tuple[bytes, ...]
    texts: dict[str, tuple[Any, ...]]

    def get_number(self, name: str) -> FloatArray:
        """Return the numeric column with this name."""
        return self.numbers[:, TRIAL_NUMBERS.index(name)]


def iter_trials(connection: sqlite3.Connection, path: Path) -> Iterator[TrialBatch]:
    """Iterate over all trials in batches. Raise CorruptedStoreError if a checksum is wrong."""
    cursor = connection.execute(_TRIALS_QUERY)
    n = len(TRIAL_NUMBERS)
    while rows := cursor.fetchmany(_BATCH_SIZE):
        columns = list(zip(*rows, strict=True))
        numbers, keys, texts, expected = _to_numbers(columns[:n]), columns[n], columns[n + 1 : -1], columns[-1]
        checksums = compute_trial_checksums(numbers, keys, zip(*texts, strict=True))
        for trial, checksum, stored in zip(columns[0], checksums, expected, strict=True):
            if checksum != stored:
                raise _make_error(path, f"trial {trial} has a wrong checksum")
        batch = TrialBatch(numbers, keys, dict(zip(TRIAL_TEXTS, texts, strict=True)))
        if not (numbers[:, : len(_IDS)] > 0).all() or not set(batch.texts["status"]) <= {"ok", *FAILURES}:
            raise _make_error(path, "a trial has an invalid status or reference")
        yield batch


def _to_numbers(columns: Sequence[tuple[Any, ...]]) -> FloatArray:
    """Convert columns to float64. Missing values and other non-numbers become NaN."""
    numbers = np.empty((len(columns[0]), len(columns)))
    for index, column in enumerate(columns):
        try:
            numbers[:, index] = column
        except (TypeError, ValueError, OverflowError):
            numbers[:, index] = [value if isinstance(value, (int, float)) else np.nan for value in column]
    return numbers


def refuse_corrupted_predictions(
    trial: int, blobs: Sequence[bytes | None], abstentions: object, key: bytes | None, score_kind: str | None, expected: int
) -> None:
    """Raise CorruptedStoreError if the predictions of a trial do not match their checksum."""
    if not _has_checksum(blobs, abstentions, key, score_kind, expected):
        raise CorruptedStoreError(f"the predictions of trial {trial} are corrupted: {codec.REMEDY}")


def _has_checksum(
    blobs: Sequence[bytes | None], abstentions: object, key: bytes | None, score_kind: str | None, expected: int
) -> bool:
    try:
        return compute_predictions_checksum(blobs, abstentions, key, score_kind) == expected
    except TypeError:  # a corrupted column has another type
        return False


def check_predictions(connection: sqlite3.Connection) -> None:
    """Check the checksums of all predictions."""
    query = (
        "SELECT trial, prediction, scores, test_rows, truth, abstentions, key, score_kind, evidence.checksum "
        "FROM evidence LEFT JOIN trial ON trial.id = evidence.trial"
    )
    for trial, *blobs, abstentions, key, score_kind, checksum in connection.execute(query):
        refuse_corrupted_predictions(trial, blobs, abstentions, key, score_kind, checksum)


def check_links(connection: sqlite3.Connection) -> None:
    """Check that each trial matches its key and that each split matches its hash."""
    for trial, key, status, seed, protocol, expected, split_dataset, *hashes in connection.execute(_LINKS_QUERY):
        data, split, condition, learner = hashes
        if (
            None in hashes
            or expected != split_dataset
            or status not in ("ok", *FAILURES)
            or not str(seed).lstrip("-").isdigit()
        ):
            raise CorruptedStoreError(
                f"trial {trial} is corrupted because it refers to missing or invalid rows: {codec.REMEDY}"
            )
        if compute_trial_keys(int(seed), data, [split.hex()], [condition], [learner], protocol).tobytes() != key:
            raise CorruptedStoreError(f"trial {trial} is corrupted because it does not match its key: {codec.REMEDY}")
    query = (
        "SELECT split.id, split.hash, repeat, fold, test, train, n_rows FROM split JOIN dataset ON dataset.id = split.dataset"
    )
    for number, expected, repeat, fold, *packed in connection.execute(query):
        train, test = codec.unpack_split(*packed)
        if bytes.fromhex(hash_split(train, test, repeat, fold)) != expected:
            raise CorruptedStoreError(f"split {number} is corrupted because its rows do not match its hash: {codec.REMEDY}")


@dataclass(frozen=True)
class Repair:
    """The outcome of repairing a results file.

    `recovered` is the number of recovered trials, and `copy` is the new path of the corrupted file.
    """

    path: Path
    copy: Path
    recovered: int

    def __str__(self) -> str:
        recovered = f"{format_count(self.recovered, 'intact trial')} recovered, all others must run again"
        return f"{self.path} was corrupted: {recovered}; the corrupted file is now {self.copy.name}"


def repair_file(
    path: str | os.PathLike[str],
    add_plan: Callable[[ResultsStore], None] | None = None,
    links: Mapping[bytes, TrialLink] | None = None,
) -> Repair:
    """Replace a corrupted results file with a new file that contains its intact trials.

    The corrupted file is kept under a new name. A trial is intact if its checksums are correct, and if its data set, condition,
    split and learner are known. They are known if `links` contains the key of the trial, or if their rows in the corrupted file
    are intact. `links` maps the key of each planned trial to the hashes of its data set, condition, split and learner.
    `add_plan` adds the plan of the study to the new file.
    """
    source = Path(os.path.realpath(path))
    new_path = source.with_name(f".{source.name}.repaired")
    lock = WriteLock(source)
    try:
        for leftover in source.parent.glob(f"{new_path.name}*"):
            leftover.unlink()
        with closing(_Salvage.open(source)) as salvage:
            n_recovered = _copy_intact(salvage, new_path, add_plan, links or {})
        copy = find_free_path(source.with_name(f"{source.stem}.corrupted{source.suffix}"))
        os.replace(source, copy)
        for ending in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(f"{source}{ending}", f"{copy}{ending}")
        os.replace(new_path, source)
    except OSError as error:
        raise StoreError(
            f"{path} is corrupted and cannot be repaired ({error.strerror or error}): check the folder and the free disk space"
        ) from None
    finally:
        lock.release()
        new_path.unlink(missing_ok=True)
    return Repair(source, copy, n_recovered)


def _copy_intact(
    salvage: _Salvage,
    path: Path,
    add_plan: Callable[[ResultsStore], None] | None,
    links: Mapping[bytes, TrialLink],
) -> int:
    """Copy the intact rows to a new file, and return the number of copied trials."""
    n_trials = 0
    store: Any = open_store(path, write=True, create=True)
    with store:
        if add_plan is not None:
            add_plan(store)
        with store.file.write_transaction() as connection:
            known = _restore_plan(connection, salvage.read_plan())
            ids = codec.StoreIds.from_connection(connection)
            for line, predictions in salvage.iter_trials():
                link = links.get(line["key"]) or known.get_link(line)
                numbers = None if link is None else _resolve_ids(ids, link, path)
                if numbers is None:
                    continue
                run = line["run"] if line["run"] in known.runs else None
                codec.insert_trial(connection, {**line, **numbers, "run": run})
                if predictions is not None:
                    connection.execute(codec.INSERT_PREDICTIONS, predictions)
                n_trials += 1
    return n_trials


class _Salvage:
    """A reader for the intact rows of a corrupted file. Rows on unreadable pages are skipped."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self._connection, self._max_id = connection, size // _MIN_ROW_BYTES

    @classmethod
    def open(cls, path: Path) -> _Salvage:
        """Open a corrupted file, even if it is truncated. A file of an older version is refused."""
        connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None)
        try:
            connection.execute("PRAGMA writable_schema = 1")  # also allows reading truncated files
            if schema.get_user_version(connection) == schema.VERSION:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                return cls(connection, path.stat().st_size)
        except sqlite3.Error:
            pass
        connection.close()
        raise CorruptedStoreError(
            f"{path} is corrupted and cannot be repaired: restore a backup, or choose another results file"
        )

    def close(self) -> None:
        self._connection.close()

    def read_plan(self) -> dict[str, list[tuple[Any, ...]]]:
        """Read the intact rows of all tables except trials and predictions, with their checksums."""
        plan = {}
        for table, columns in schema.PLAN_FIELDS.items():
            rows = self._iter_rows(table, (*columns, "checksum"), "id", self._find_ids(table, "id"))
            plan[table] = [tuple(row) for row in rows if compute_checksum(row[:-1]) == row[-1]]
        return plan

    def iter_trials(self) -> Iterator[tuple[dict[str, Any], tuple[Any, ...] | None]]:
        """Iterate over the intact trials, each with the row of its predictions or None."""
        n = len(TRIAL_NUMBERS)
        names = (*TRIAL_NUMBERS, "key", *TRIAL_TEXTS, "checksum")
        ids = self._find_ids("trial", "id") | self._find_ids("evidence", "trial")
        for row in self._iter_rows("trial", names, "id", ids):
            numbers = _to_numbers([(value,) for value in row[:n]])
            if compute_trial_checksums(numbers, [row[n]], [tuple(row[n + 1 : -1])])[0] != row[-1]:
                continue
            line = dict(zip(names, row, strict=True))
            predictions = next(self._iter_rows("evidence", schema.PREDICTION_FIELDS, "trial", {line["id"]}), None)
            if line["status"] == "ok" and (predictions is None or not _is_intact(line, predictions)):
                continue
            yield line, predictions if line["status"] == "ok" else None

    def _find_ids(self, table: str, column: str) -> set[int]:
        """List the ids from 1 to the largest id that can be read from the table or its index."""
        ids: set[int] = set()
        for order in ("ASC", "DESC"):
            for hint in ("NOT INDEXED", f"INDEXED BY sqlite_autoindex_{table}_1"):
                with suppress(sqlite3.Error):
                    for (number,) in self._connection.execute(f"SELECT {column} FROM {table} {hint} ORDER BY {column} {order}"):
                        if isinstance(number, int) and 0 < number <= self._max_id:
                            ids.add(number)
        return ids | set(range(1, max(ids, default=0) + 1))

    def _iter_rows(self, table: str, columns: Sequence[str], key: str, ids: set[int]) -> Iterator[tuple[Any, ...]]:
        query = f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED WHERE {key} = ?"
        for number in sorted(ids):
            with suppress(sqlite3.Error):
                row = self._connection.execute(query, (number,)).fetchone()
                if row is not None:
                    yield row


def _is_intact(line: Mapping[str, Any], predictions: Sequence[Any]) -> bool:
    _, prediction, scores, score_kind, rows, y_true, checksum = predictions
    return _has_checksum((prediction, scores, rows, y_true), line["abstentions"], line["key"], score_kind, checksum)


@dataclass(frozen=True)
class _KnownPlan:
    """The hashes of the intact rows of a plan, keyed by id, and the ids of the intact runs."""

    data: dict[int, str]
    condition: dict[int, str]
    split: dict[int, tuple[int, bytes]]
    learner: dict[int, str]
    runs: set[int]

    def get_link(self, line: Mapping[str, Any]) -> TrialLink | None:
        """Return the hashes of a trial's data set, condition, split and learner.

        Return None if a hash is unknown, or if the hashes do not match the key of the trial.
        """
        data, condition, learner = (
            self.data.get(line["dataset"]),
            self.condition.get(line["condition"]),
            self.learner.get(line["learner"]),
        )
        dataset, split = self.split.get(line["split"], (None, b""))
        if data is None or condition is None or learner is None or dataset != line["dataset"]:
            return None
        key: npt.NDArray[np.void] = compute_trial_keys(
            int(line["seed"]), data, [split.hex()], [condition], [learner], line["protocol"]
        )
        return TrialLink(data, condition, split, learner) if key.tobytes() == line["key"] else None


def _restore_plan(connection: sqlite3.Connection, plan: Mapping[str, list[tuple[Any, ...]]]) -> _KnownPlan:
    """Insert the intact rows of a plan into a new file, which may already contain a plan.

    Return the hashes of these rows, keyed by their ids in the corrupted file.
    """
    data = {row[0]: row[1] for row in plan["dataset"]}
    known = _KnownPlan(
        data,
        {row[0]: row[1] for row in plan["condition"]},
        {row[0]: (row[1], row[2]) for row in plan["split"] if row[1] in data},
        {row[0]: row[1] for row in plan["learner"]},
        {row[0] for row in plan["run"]},
    )
    for table in ("dataset", "condition", "learner"):
        _insert_missing(connection, table, plan[table])
    new_ids = dict(connection.execute("SELECT hash, id FROM dataset"))
    splits = [(None, new_ids[data[row[1]]], *row[2:]) for row in plan["split"] if row[1] in data]
    _insert_missing(connection, "split", splits)
    names = {row[0]: row[1] for row in plan["study"]}
    latest = dict(connection.execute("SELECT name, turn FROM study"))
    for _, name, turn, protocol, header, _ in sorted(plan["study"], key=lambda row: row[2]):
        if name not in latest:
            connection.execute(
                "INSERT INTO study (name, turn, protocol, header) VALUES (?, ?, ?, ?)", (name, turn, protocol, header)
            )
        else:
            connection.execute("UPDATE study SET turn = max(turn, ?), checksum = NULL WHERE name = ?", (turn + 1, name))
    studies = dict(connection.execute("SELECT name, id FROM study"))
    for number, token, study, *line, _ in plan["run"]:
        connection.execute(
            "INSERT OR IGNORE INTO run (id, token, study, started, finished, facts) VALUES (?, ?, ?, ?, ?, ?)",
            (number, token, studies.get(names.get(study, "")), *line),
        )
    schema.seal_rows(connection)
    return known


def _insert_missing(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert the rows that the table does not yet contain, with new ids."""
    columns = schema.PLAN_FIELDS[table][1:]
    connection.executemany(schema.build_insert(table, columns, "IGNORE"), [row[1:-1] for row in rows])


def _resolve_ids(ids: codec.StoreIds, link: TrialLink, path: Path) -> dict[str, int] | None:
    try:
        numbers = ids.resolve_link(link, path)
    except StoreError:
        return None
    return dict(zip(("dataset", "condition", "split", "learner"), numbers, strict=True))
