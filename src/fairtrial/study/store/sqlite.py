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

from fairtrial._registry import suggest_name
from fairtrial._text import format_count
from fairtrial.errors import InputError, StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.identity import PROTOCOL
from fairtrial.study.records import SplitRows, Status, TrialRecord
from fairtrial.study.store import codec, integrity, schema
from fairtrial.study.store.archive import StoreArchive
from fairtrial.study.store.file import SQLiteFile
from fairtrial.study.store.store import DEFAULT_STORE, MergedFile, ResultsStore, TrialLink, stores

_MERGE_BATCH_SIZE = 500
_MAX_QUICK_BYTES = 64 * 2**20
_MERGED_TABLES = {table: schema.PLAN_FIELDS[table][1:] for table in ("dataset", "condition", "learner")}


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
        """Open a file for reading or, if `write` is true, for writing.

        If `create` is also true, create a missing file.
        """
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
        """Run the `with` block in a transaction. If the transaction fails, drop the cached ids."""
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
        """Store the plan of a study, and make it the latest study.

        The plan must be stored before the records of the study. Data sets with the same content are stored once. If a data set
        is already stored, its row ids and facts are updated, also for earlier studies.
        """
        with self._write() as connection:
            codec.put_datasets(connection, datasets)
            codec.put_conditions(connection, conditions)
            codec.put_learners(connection, learners)
            codec.put_splits(connection, splits)
            codec.put_study(connection, header["name"], codec.to_json(header), PROTOCOL)
            schema.seal_rows(connection)
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

        A success replaces a failure, a failure replaces an earlier failure, and a success is never replaced. The attempts at
        each trial are counted.
        """
        with self._write() as connection:
            if self._ids is None:
                self._ids = codec.StoreIds.from_connection(connection)
            ids, path = self._ids, self.path
            numbered = ((record, ids.resolve_link(link, path)) for record, link in batch)
            schema.clear_derived(connection)
            codec.insert_records(connection, numbered, self._get_seed(connection), self._run)

    def _get_seed(self, connection: sqlite3.Connection) -> int | str:
        if self._seed is None:
            header = connection.execute("SELECT header FROM study ORDER BY turn DESC LIMIT 1").fetchone()
            if header is None:
                raise StoreError(f"{self.path} has no study yet: add a plan before trial records")
            self._seed = codec.to_storable_seed(codec.read_header(header[0], self.path)["seed"])
        return self._seed

    def start_run(self, facts: Mapping[str, Any]) -> int:
        """Record the start of a run of the latest study, and return the number of the run.

        `facts` contains plain values.
        """
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
            schema.seal_rows(connection, ["run"])
        return int(self._run or 0)

    def finish_run(self, run: int, facts: Mapping[str, Any]) -> None:
        """Record the end of a run, with further facts."""
        with self._write() as connection:
            before = connection.execute("SELECT facts FROM run WHERE id = ?", (run,)).fetchone()
            if before is None:
                raise StoreError(f"{self.path} has no run {run}: pass the number that start_run returned")
            together = codec.to_json({**codec.from_json(before[0]), **facts})
            finished = str(facts.get("finished", _get_timestamp()))
            connection.execute(
                "UPDATE run SET finished = ?, facts = ?, checksum = NULL WHERE id = ?", (finished, together, run)
            )
            schema.seal_rows(connection, ["run"])

    def compute_mean_times(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Compute the mean time in seconds and the number of successful trials.

        Both values are keyed by the hashes of the data set and the learner.
        """
        with self.file.read_connection() as connection:
            return codec.query_mean_times(connection)

    def list_studies(self) -> list[str]:
        """List the names of the stored studies, starting with the latest."""
        with self.file.read_connection() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM study ORDER BY turn DESC")]

    def open_archive(self, study: str | None = None) -> StoreArchive:
        """Open the records of a study. Default: the latest study."""
        return StoreArchive.from_file(self.file, study)

    def write_derived(self, values: Mapping[str, bytes]) -> None:
        """Store values that were computed from the trials, keyed by name.

        The values are deleted when a trial changes.
        """
        with self._write() as connection:
            schema.write_derived(connection, values)

    def read_derived(self, name: str) -> bytes | None:
        """Return a derived value, or None if there is none."""
        with self.file.read_connection() as connection:
            return schema.read_derived(connection, name)

    def compute_digest(self) -> str:
        """Compute a SHA-256 hash of all records, excluding times and messages."""
        with self.file.read_connection() as connection:
            # Sorting the records here takes less time than reading them in the order of their keys.
            records = sorted(key + record_hash for key, record_hash in codec.iter_record_hashes(connection))
        return hashlib.sha256(b"".join(record[-hashlib.sha256().digest_size :] for record in records)).hexdigest()

    def count_by_status(self) -> dict[str, int]:
        """Count the stored trials by status."""
        with self.file.read_connection() as connection:
            return dict(connection.execute("SELECT status, count(*) FROM trial GROUP BY status ORDER BY count(*) DESC, status"))

    def check(self, *, quick: bool = False) -> None:
        """Read the whole file, and raise StoreError if anything is corrupted.

        If `quick` is true and the file is larger than 64 MiB, only its pages and plans are checked.
        """
        with self.file.read_connection() as connection, integrity.read_snapshot(connection):
            integrity.check_pages(connection, self.path)
            integrity.check_plan(connection, self.path)
            if quick and self.path.stat().st_size > _MAX_QUICK_BYTES:
                return
            for _ in integrity.iter_trials(connection, self.path):
                pass
            integrity.check_predictions(connection)
            integrity.check_links(connection)
            for name in self.list_studies():
                archive = self.open_archive(name)
                _ = archive.datasets, archive.conditions, archive.learners, archive.runs, archive.trials()

    def forget(self, learner: str, dataset: str | None = None, study: str | None = None) -> int:
        """Delete the trials of a learner, and return the number of deleted trials.

        By default, trials on all data sets of the latest study are deleted.
        """
        archive = self.open_archive(study)
        hashes = {"learner": _find_hash(archive.header["learners"], learner, "learner")}
        if dataset is not None:
            hashes["dataset"] = _find_hash(archive.header["data"], dataset, "data set")
        chosen = " AND ".join(
            ["seed = ?", "protocol = ?"] + [f"{name} = (SELECT id FROM {name} WHERE hash = ?)" for name in hashes]
        )
        values = (codec.to_storable_seed(archive.seed), archive.protocol, *hashes.values())
        with self._write() as connection:
            schema.clear_derived(connection)
            connection.execute(f"DELETE FROM evidence WHERE trial IN (SELECT id FROM trial WHERE {chosen})", values)
            return connection.execute(f"DELETE FROM trial WHERE {chosen}", values).rowcount

    def merge_from(self, source: ResultsStore) -> tuple[MergedFile, list[str]]:
        """Add the plans and trial records of another SQLite file, and return counts and notes."""
        if not isinstance(source, SQLiteStore):
            raise StoreError(f"{source.path} cannot be merged into {self.path}: both must be SQLite files")
        counts = dict.fromkeys(("trials", "added", "replaced", "unchanged", "different"), 0)
        notes: list[str] = []
        with source.file.read_connection() as theirs:
            theirs.execute("BEGIN")  # read one snapshot, even if another process writes to the source
            with self._write() as ours:
                schema.clear_derived(ours)
                id_map = _merge_plans(ours, theirs, source.path, notes)
            for lines in _iter_batches(theirs):
                with self._write() as ours:
                    _merge_lines(ours, theirs, lines, id_map, counts)
            theirs.execute("ROLLBACK")
        if counts["different"]:
            notes.append(
                f"{source.path.name} and an earlier file have different predictions of "
                f"{format_count(counts['different'], 'trial')}: a learner is not reproducible"
            )
        return MergedFile(os.fspath(source.path), **counts), notes


stores.add(DEFAULT_STORE, SQLiteStore.open)


def _find_hash(items: Iterable[Sequence[Any]], name: str, kind: str) -> str:
    hashes = {item[0]: str(item[-1]) for item in items}
    if name not in hashes:
        raise InputError(f"the study has no {kind} called {name!r}: {suggest_name(name, hashes)}")
    return hashes[name]


def _get_timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class _IdMap:
    """Mappings of ids in the source file to ids in the target file."""

    dataset: dict[int, int]
    condition: dict[int, int]
    split: dict[int, int]
    learner: dict[int, int]
    run: dict[int | None, int | None]

    def map_line(self, line: dict[str, Any], number: int, attempts: int) -> dict[str, Any]:
        """Replace the ids in the row of a trial with the ids in the target file."""
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
    runs = _merge_runs(ours, theirs)
    schema.seal_rows(ours)
    return _IdMap(maps["dataset"], maps["condition"], split, maps["learner"], runs)


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
            "DO UPDATE SET finished = excluded.finished, facts = excluded.facts, checksum = NULL "
            "WHERE excluded.finished IS NOT NULL",
            (token, studies.get(study), *line),
        )
    run_ids = dict(ours.execute("SELECT token, id FROM run"))
    return {None: None} | {number: run_ids[token] for number, token, *_ in runs}


def _iter_batches(theirs: sqlite3.Connection) -> Iterator[list[dict[str, Any]]]:
    """Iterate over batches of trials with their predictions."""
    fields = schema.TRIAL_FIELDS[:-1]  # without the checksum, which depends on the ids in the file
    columns = [*(f"trial.{name}" for name in fields), *(f"evidence.{name}" for name in schema.PREDICTION_FIELDS)]
    cursor = theirs.execute(f"SELECT {', '.join(columns)} FROM trial LEFT JOIN evidence ON evidence.trial = trial.id")
    names = (*fields, *schema.PREDICTION_FIELDS)
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
    """Choose between two records of a trial by status, then by hash.

    The choice does not depend on the order in which files are merged.
    """
    if target_hash is None or source_hash is None:
        return "added"
    return "replaced" if (offered != "ok", source_hash) < (status != "ok", target_hash) else "unchanged"


def _write_line(ours: sqlite3.Connection, outcome: str, line: dict[str, Any]) -> None:
    if outcome == "unchanged":
        _raise_attempts(ours, line["id"], line["attempts"])
        return
    codec.insert_trial(ours, line)
    if line["checksum"] is not None:
        ours.execute(codec.INSERT_PREDICTIONS, [line[name] for name in schema.PREDICTION_FIELDS])


def _raise_attempts(ours: sqlite3.Connection, trial: int, attempts: int) -> None:
    fields = schema.TRIAL_FIELDS[:-1]
    query = f"SELECT {', '.join(fields)} FROM trial WHERE id = ? AND attempts < ?"
    for line in ours.execute(query, (trial, attempts)).fetchall():
        codec.insert_trial(ours, {**dict(zip(fields, line, strict=True)), "attempts": attempts})
