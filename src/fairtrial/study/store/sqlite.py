"""SQLite results store: one file with the plans of studies and their trial records."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairtrial._text import format_count
from fairtrial.errors import StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.identity import PROTOCOL
from fairtrial.study.records import SplitRows, Status, TrialRecord
from fairtrial.study.store import codec, schema
from fairtrial.study.store.archive import StoreArchive
from fairtrial.study.store.file import SQLiteFile
from fairtrial.study.store.store import DEFAULT_STORE, MergedFile, ResultsStore, TrialLink, stores

_MERGE_BATCH_SIZE = 500
_MERGED_TABLES = {
    "dataset": ("hash", "name", "n_rows", "classes", "codes", "row_id_type", "row_ids", "facts"),
    "condition": ("hash", "name", "level", "words", "description"),
    "learner": ("hash", "name", "class_name", "parameters", "versions"),
}


class SQLiteStore:
    """A `ResultsStore` in one SQLite file, opened by `open_store`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SQLiteStore.open(f"{folder}/mine.fairtrial", write=True, create=True) as store:
    ...         run = store.start_run({"engine": "local"})
    ...         store.finish_run(run, {"trials": 0})
    ...     os.listdir(folder)
    ['mine.fairtrial']
    """

    def __init__(self, file: SQLiteFile) -> None:
        self.file = file
        self._ids: codec.StoreIds | None = None
        self._run: int | None = None
        self._seed: int | str | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> SQLiteStore:
        """Open a file for reading or, with `write`, for writing. With `create`, create the file if it is missing."""
        return cls(SQLiteFile.open(path, write=write, create=create))

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.file.path

    def close(self) -> None:
        """Close the file. After writing, the results are in a single file that can be copied."""
        self.file.close()

    def __enter__(self) -> SQLiteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<SQLiteStore {self.path}, open for {'writing' if self.file.writable else 'reading'}>"

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """Run the block in a transaction. If it fails, drop the cached ids."""
        try:
            with self.file.write_transaction() as connection:
                yield connection
        except BaseException:
            self._ids = None
            raise

    def add_plan(
        self,
        header: Mapping[str, Any],
        datasets: Sequence[DataFacts],
        conditions: Sequence[tuple[str, ConditionFacts]],
        learners: Sequence[tuple[str, LearnerFacts]],
        splits: Iterable[tuple[str, bytes, SplitRows]],
    ) -> None:
        """Store the plan of a study, which must precede its records. The study becomes the latest one.

        Data sets with the same content are stored once. The name and row ids given here also apply to earlier studies.
        """
        with self._write() as connection:
            codec.put_datasets(connection, datasets)
            codec.put_conditions(connection, conditions)
            codec.put_learners(connection, learners)
            codec.put_splits(connection, splits)
            codec.put_study(connection, header["name"], codec.to_json(header), PROTOCOL)
        self._ids, self._seed = None, codec.to_storable_seed(header["seed"])

    def find_done(self, retry: Collection[Status] = ()) -> set[bytes]:
        """Find the keys of all stored trials, except failures with a status in `retry`."""
        statuses = sorted({status for status in retry if status != "ok"})
        marks = ", ".join("?" * len(statuses))
        with self.file.read_connection() as connection:
            cursor = connection.execute(f"SELECT key FROM trial WHERE status NOT IN ({marks})", statuses)
            return {key for (key,) in cursor}

    def add_records(self, batch: Iterable[tuple[TrialRecord, TrialLink]]) -> None:
        """Store trial records in one transaction.

        A success replaces a failure, a failure replaces an earlier failure, and a success is never replaced. Attempts are
        counted.
        """
        with self._write() as connection:
            if self._ids is None:
                self._ids = codec.StoreIds.from_connection(connection)
            ids, path = self._ids, self.path
            numbered = ((record, ids.resolve_link(link, path)) for record, link in batch)
            codec.insert_records(connection, numbered, self._get_seed(connection), self._run)

    def _get_seed(self, connection: sqlite3.Connection) -> int | str:
        if self._seed is None:
            header = connection.execute("SELECT header FROM study ORDER BY turn DESC LIMIT 1").fetchone()
            if header is None:
                raise StoreError(f"{self.path} has no study yet: add a plan before trial records")
            self._seed = codec.to_storable_seed(codec.read_header(header[0], self.path)["seed"])
        return self._seed

    def start_run(self, facts: Mapping[str, Any]) -> int:
        """Record the start of a run of the latest study, and return its number. `facts` are plain values."""
        with self._write() as connection:
            study = connection.execute("SELECT id FROM study ORDER BY turn DESC LIMIT 1").fetchone()
            line = (
                secrets.token_hex(8),
                study and study[0],
                str(facts.get("started", _get_timestamp())),
                codec.to_json(dict(facts)),
            )
            added = connection.execute("INSERT INTO run (token, study, started, facts) VALUES (?, ?, ?, ?)", line)
            self._run = added.lastrowid
        return int(self._run or 0)

    def finish_run(self, run: int, facts: Mapping[str, Any]) -> None:
        """Record the end of a run, with further facts."""
        with self._write() as connection:
            before = connection.execute("SELECT facts FROM run WHERE id = ?", (run,)).fetchone()
            if before is None:
                raise StoreError(f"{self.path} has no run {run}: pass the number that start_run returned")
            together = codec.to_json({**codec.from_json(before[0]), **facts})
            finished = str(facts.get("finished", _get_timestamp()))
            connection.execute("UPDATE run SET finished = ?, facts = ? WHERE id = ?", (finished, together, run))

    def compute_mean_times(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Compute the mean seconds and the number of successful trials for each pair of data set hash and learner hash."""
        with self.file.read_connection() as connection:
            return codec.query_mean_times(connection)

    def open_archive(self, study: str | None = None) -> StoreArchive:
        """Open the records of a study. Default: the latest study."""
        return StoreArchive.from_file(self.file, study)

    def compute_digest(self) -> str:
        """Compute a SHA-256 hash of all records, excluding times and messages."""
        with self.file.read_connection() as connection:
            return hashlib.sha256(b"".join(record_hash for _, record_hash in codec.iter_record_hashes(connection))).hexdigest()

    def count_by_status(self) -> dict[str, int]:
        """Count the stored trials by status."""
        with self.file.read_connection() as connection:
            return dict(connection.execute("SELECT status, count(*) FROM trial GROUP BY status ORDER BY count(*) DESC, status"))

    def check(self) -> None:
        """Read the whole file, and raise StoreError if anything is corrupted or a trial does not match its key."""
        with self.file.read_connection() as connection:
            result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if result != "ok":
                raise StoreError(f"{self.path} is corrupted ({result}): restore a backup, or rerun the study into a new file")
            codec.refuse_corrupted_records(connection)
            codec.refuse_wrong_links(connection)
            studies = [name for (name,) in connection.execute("SELECT name FROM study")]
        for name in studies:
            archive = self.open_archive(name)
            _ = archive.datasets, archive.conditions, archive.learners, archive.runs, archive.trials()

    def merge_from(self, source: ResultsStore) -> tuple[MergedFile, list[str]]:
        """Add the plans and trial records of another SQLite file. Return counts and notes on differences."""
        if not isinstance(source, SQLiteStore):
            raise StoreError(f"{source.path} cannot be merged into {self.path}: both must be SQLite files")
        counts = dict.fromkeys(("trials", "added", "replaced", "unchanged", "different"), 0)
        notes: list[str] = []
        with source.file.read_connection() as theirs:
            theirs.execute("BEGIN")  # read one snapshot, even if another process writes to the source
            with self._write() as ours:
                id_map = _merge_plans(ours, theirs, source.path, notes)
            for lines in _iter_batches(theirs):
                with self._write() as ours:
                    _merge_lines(ours, theirs, lines, id_map, counts)
            theirs.execute("ROLLBACK")
        if counts["different"]:
            notes.append(
                f"{format_count(counts['different'], 'trial')} of {source.path.name} and of an earlier file have different "
                "predictions: a learner is not reproducible"
            )
        return MergedFile(os.fspath(source.path), **counts), notes


stores.add(DEFAULT_STORE, SQLiteStore.open)


def _get_timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class _IdMap:
    """Maps ids in the source file to ids in the target file."""

    dataset: dict[int, int]
    condition: dict[int, int]
    split: dict[int, int]
    learner: dict[int, int]
    run: dict[int | None, int | None]

    def map_line(self, line: dict[str, Any], number: int, attempts: int) -> dict[str, Any]:
        """Replace the ids in the row of a trial with those in the target file."""
        mapped = {name: getattr(self, name)[line[name]] for name in ("dataset", "condition", "split", "learner", "run")}
        return {**line, **mapped, "id": number, "trial": number, "attempts": attempts}


def _merge_plans(ours: sqlite3.Connection, theirs: sqlite3.Connection, path: Path, notes: list[str]) -> _IdMap:
    maps = {table: _merge_table(ours, theirs, table, columns) for table, columns in _MERGED_TABLES.items()}
    splits = theirs.execute("SELECT dataset, hash, repeat, fold, test, train FROM split")
    mapped = ((maps["dataset"][dataset], *line) for dataset, *line in splits)
    ours.executemany("INSERT OR IGNORE INTO split (dataset, hash, repeat, fold, test, train) VALUES (?, ?, ?, ?, ?, ?)", mapped)
    split_ids = codec.StoreIds.from_connection(ours).split
    source_splits = theirs.execute("SELECT id, dataset, hash FROM split")
    split = {number: split_ids[maps["dataset"][dataset], split_hash] for number, dataset, split_hash in source_splits}
    for name, header, protocol in theirs.execute("SELECT name, header, protocol FROM study ORDER BY turn").fetchall():
        if codec.put_study(ours, name, header, protocol):
            notes.append(f"the study {name!r} is declared differently in {path.name}: the declaration of the last file is used")
    return _IdMap(maps["dataset"], maps["condition"], split, maps["learner"], _merge_runs(ours, theirs))


def _merge_table(ours: sqlite3.Connection, theirs: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> dict[int, int]:
    ours.executemany(schema.build_insert(table, columns, "IGNORE"), theirs.execute(f"SELECT {', '.join(columns)} FROM {table}"))
    ids = dict(ours.execute(f"SELECT hash, id FROM {table}"))
    return {number: ids[row_hash] for number, row_hash in theirs.execute(f"SELECT id, hash FROM {table}")}


def _merge_runs(ours: sqlite3.Connection, theirs: sqlite3.Connection) -> dict[int | None, int | None]:
    studies: dict[str | None, int | None] = dict(ours.execute("SELECT name, id FROM study"))
    runs = theirs.execute(
        "SELECT run.id, token, study.name, started, finished, facts FROM run LEFT JOIN study ON study.id = run.study"
    ).fetchall()
    for _, token, study, *line in runs:
        ours.execute(
            "INSERT INTO run (token, study, started, finished, facts) VALUES (?, ?, ?, ?, ?) ON CONFLICT (token) "
            "DO UPDATE SET finished = excluded.finished, facts = excluded.facts WHERE excluded.finished IS NOT NULL",
            (token, studies.get(study), *line),
        )
    run_ids = dict(ours.execute("SELECT token, id FROM run"))
    return {None: None} | {number: run_ids[token] for number, token, *_ in runs}


def _iter_batches(theirs: sqlite3.Connection) -> Iterator[list[dict[str, Any]]]:
    """Iterate over batches of trials with their predictions."""
    columns = [*(f"trial.{name}" for name in schema.TRIAL_FIELDS), *(f"evidence.{name}" for name in schema.PREDICTION_FIELDS)]
    cursor = theirs.execute(f"SELECT {', '.join(columns)} FROM trial LEFT JOIN evidence ON evidence.trial = trial.id")
    names = (*schema.TRIAL_FIELDS, *schema.PREDICTION_FIELDS)
    while lines := cursor.fetchmany(_MERGE_BATCH_SIZE):
        yield [dict(zip(names, line, strict=True)) for line in lines]


def _merge_lines(
    ours: sqlite3.Connection, theirs: sqlite3.Connection, lines: list[dict[str, Any]], id_map: _IdMap, counts: dict[str, int]
) -> None:
    keys = [line["key"] for line in lines]
    query = f"SELECT key, id, status, attempts FROM trial WHERE key IN ({', '.join('?' * len(keys))})"
    stored = {key: line for key, *line in ours.execute(query, keys)}
    target_hashes, source_hashes = (dict(codec.iter_record_hashes(connection, list(stored))) for connection in (ours, theirs))
    max_id = ours.execute("SELECT ifnull(max(id), 0) FROM trial").fetchone()[0]
    for line in lines:
        key = line["key"]
        number, status, attempts = stored.get(key, (max_id + 1, None, 0))
        max_id = max(max_id, number)
        outcome = _resolve_outcome(status, line["status"], target_hashes.get(key), source_hashes.get(key))
        counts["trials"] += 1
        counts[outcome] += 1
        counts["different"] += status == line["status"] == "ok" and target_hashes[key] != source_hashes[key]
        _write_line(ours, outcome, id_map.map_line(line, number, max(attempts, line["attempts"])))


def _resolve_outcome(status: str | None, offered: str, target_hash: bytes | None, source_hash: bytes | None) -> str:
    """Choose between two records of a trial by status, then by hash, so the order of merged files does not matter."""
    if target_hash is None or source_hash is None:
        return "added"
    return "replaced" if (offered != "ok", source_hash) < (status != "ok", target_hash) else "unchanged"


def _write_line(ours: sqlite3.Connection, outcome: str, line: dict[str, Any]) -> None:
    if outcome == "unchanged":
        ours.execute("UPDATE trial SET attempts = :attempts WHERE id = :id AND attempts < :attempts", line)
        return
    ours.execute(codec.INSERT_TRIAL, [line[name] for name in schema.TRIAL_FIELDS])
    if line["checksum"] is not None:
        ours.execute(codec.INSERT_PREDICTIONS, [line[name] for name in schema.PREDICTION_FIELDS])
