"""Convert values, trial records, plans and headers to SQLite rows and back."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.errors import InputError, StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.identity import PROTOCOL
from fairtrial.study.records import CODES, INDICES, SplitRows, TrialRecord, find_other_rows, pack, unpack
from fairtrial.study.store import schema
from fairtrial.study.store.checksums import (
    TRIAL_NUMBERS,
    TRIAL_TEXTS,
    compute_predictions_checksum,
    compute_trial_checksum,
)

_BYTES = np.dtype("u1")
REMEDY = "restore a backup, or run `fairtrial check --repair` and rerun the study"


_PLAIN_KINDS = "biufmM"


def to_json(value: object) -> str:
    """Convert plain values to JSON. Other objects are written as their repr.

    >>> to_json({"k": np.int64(3), "names": ("a", "b")})
    '{"k": 3, "names": ["a", "b"]}'
    """
    return json.dumps(value, default=_to_json_value)


def from_json(text: str) -> Any:
    """Read JSON. Tuples are stored as lists and returned as lists."""
    try:
        return json.loads(text)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the results file is corrupted because it has text that is not JSON ({error}): {REMEDY}") from None


def _to_json_value(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value) if isinstance(value, (set, frozenset)) else repr(value)


def encode_labels(labels: Sequence[Any]) -> str:
    """Encode class labels (text, integers, floats or booleans) as JSON that keeps their types.

    >>> encode_labels([np.int64(0), 1]), encode_labels(["0", "1"]), encode_labels([False, True])
    ('[0, 1]', '["0", "1"]', '[false, true]')
    """
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    for label in plain:
        if not isinstance(label, (str, int, float)):
            raise InputError(
                f"class labels must be text, numbers or booleans to be stored, got {label!r}: convert them to text"
            )
    return json.dumps(plain)


def pack_ids(row_ids: npt.NDArray[Any]) -> tuple[str, bytes | None]:
    """Return the data type of row ids as text, and the packed row ids.

    If the row ids are 0 to n - 1, they are packed as None.
    """
    kind = row_ids.dtype.kind
    if kind == "i" and np.array_equal(row_ids, np.arange(len(row_ids))):
        return f"range {row_ids.dtype.str}", None
    if kind in _PLAIN_KINDS:
        return row_ids.dtype.str, pack(row_ids, row_ids.dtype)
    text = to_json(row_ids.tolist()).encode()
    return row_ids.dtype.str, pack(np.frombuffer(text, _BYTES), _BYTES)


def unpack_ids(kind: str, packed: bytes | None, n_rows: int) -> npt.NDArray[Any]:
    """Unpack row ids of the data type `kind`."""
    counted, _, name = kind.rpartition(" ")
    try:
        dtype = np.dtype(name)
    except TypeError:
        raise StoreError(f"the results file is corrupted because it has row ids of the type {kind!r}: {REMEDY}") from None
    if counted or packed is None:
        return np.arange(n_rows).astype(dtype)
    if dtype.kind in _PLAIN_KINDS:
        return unpack(packed, dtype)
    decoded = from_json(unpack(packed, _BYTES).tobytes().decode("utf-8", "replace"))
    ids = np.empty(len(decoded), dtype=dtype)
    ids[:] = decoded
    return ids


def pack_rows(train: IntArray, test: IntArray, n_rows: int) -> tuple[bytes, bytes | None]:
    """Pack test and training rows.

    If the training rows are exactly the rows outside the test set, in ascending order, they are packed as None.
    """
    complement = np.array_equal(train, find_other_rows(test, n_rows))
    return pack(test, INDICES), None if complement else pack(train, INDICES)


def unpack_rows(packed: bytes) -> IntArray:
    """Unpack row positions."""
    return unpack(packed, INDICES).astype(np.intp)


def unpack_split(test: bytes, train: bytes | None, n_rows: int) -> tuple[IntArray, IntArray]:
    """Unpack training and test rows."""
    rows = unpack_rows(test)
    return (find_other_rows(rows, n_rows) if train is None else unpack_rows(train)), rows


def to_storable(text: str | None) -> str | None:
    """Escape characters that UTF-8 cannot encode, such as lone surrogates."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def check_name(kind: str, name: str) -> str:
    """Check that UTF-8 can encode a name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"the name of a {kind} must not contain a lone surrogate, got {name!a}: rename it") from None
    return name


def to_storable_seed(seed: int) -> int | str:
    """Convert a seed to a value that SQLite can store: text if it needs more than 64 bits."""
    return int(seed) if -(2**63) <= seed < 2**63 else str(seed)


def hash_record(key: bytes, facts: Sequence[Any], blobs: Sequence[bytes | None]) -> bytes:
    """Compute the SHA-256 hash of a trial record, excluding times and messages.

    The hash covers the decompressed content of `blobs`.
    """
    parts: list[bytes | memoryview] = [key, f"[{', '.join(map(_encode_fact, facts))}]".encode()]
    for blob in blobs:
        content = b"" if blob is None else unpack(blob, _BYTES).data
        parts += ((-1 if blob is None else len(content)).to_bytes(8, "little", signed=True), content)
    return hashlib.sha256(b"".join(parts)).digest()


def _encode_fact(fact: Any) -> str:
    """Encode a value as JSON.

    Floats are not cached, because the cache would confuse 0.0 with -0.0.
    """
    return json.dumps(fact) if isinstance(fact, float) else _encode_once(fact)


@lru_cache(maxsize=10_000)
def _encode_once(fact: Any) -> str:
    return json.dumps(fact)


_INSERT_TRIAL = schema.build_insert("trial", schema.TRIAL_FIELDS)


INSERT_PREDICTIONS = schema.build_insert("evidence", schema.PREDICTION_FIELDS)


_RECORDS_QUERY = """
SELECT key, dataset.hash, condition.hash, hex(split.hash), learner.hash, seed, trial.protocol, status, score_kind, trial.level,
    changed, test_level, test_changed, error, prediction, scores, test_rows, truth
FROM trial LEFT JOIN evidence ON evidence.trial = trial.id LEFT JOIN dataset ON dataset.id = trial.dataset
LEFT JOIN condition ON condition.id = trial.condition LEFT JOIN split ON split.id = trial.split
LEFT JOIN learner ON learner.id = trial.learner
"""


_MEAN_TIMES_QUERY = """
SELECT dataset.hash, learner.hash, means.seconds, means.trials FROM (
    SELECT dataset, learner, avg(fit_time + predict_time) AS seconds, count(fit_time + predict_time) AS trials
    FROM trial WHERE status = 'ok' GROUP BY dataset, learner
) AS means
JOIN dataset ON dataset.id = means.dataset JOIN learner ON learner.id = means.learner WHERE means.trials > 0
"""


def insert_records(
    connection: sqlite3.Connection,
    batch: Iterable[tuple[TrialRecord, tuple[int, int, int, int]]],
    seed: int | str,
    run: int | None,
) -> None:
    """Insert trial records with the ids of their data set, condition, split and learner.

    A success replaces a failure, a failure replaces an earlier failure, and a success is never replaced. The attempts at each
    trial are counted.
    """
    max_id = connection.execute("SELECT ifnull(max(id), 0) FROM trial").fetchone()[0]
    for record, link in batch:
        stored = connection.execute("SELECT id, status, attempts FROM trial WHERE key = ?", (record.key,)).fetchone()
        trial, status, attempts = stored or (max_id + 1, None, 0)
        if status == "ok":
            continue
        max_id = max(max_id, trial)
        about = (*link, seed, PROTOCOL, run, record.status, attempts + 1)
        values = (trial, record.key, *about, *_list_trial_values(record))
        insert_trial(connection, dict(zip(schema.TRIAL_FIELDS[:-1], values, strict=True)))
        blobs = (record.prediction, record.scores, record.rows, record.y_true)
        if any(blobs):
            checksum = compute_predictions_checksum(blobs, int(record.abstentions), record.key, record.score_kind)
            connection.execute(INSERT_PREDICTIONS, (trial, *blobs[:2], record.score_kind, *blobs[2:], checksum))


def insert_trial(connection: sqlite3.Connection, line: Mapping[str, Any]) -> None:
    """Insert or replace the row of a trial and compute its checksum.

    Stored predictions are not changed.
    """
    numbers, texts = ([line[name] for name in names] for names in (TRIAL_NUMBERS, TRIAL_TEXTS))
    checksum = compute_trial_checksum(numbers, line["key"], texts)
    connection.execute(_INSERT_TRIAL, [*(line[name] for name in schema.TRIAL_FIELDS[:-1]), checksum])


def _list_trial_values(record: TrialRecord) -> tuple[Any, ...]:
    texts = (record.notes, record.error, record.message, record.traceback, record.log)
    return (
        record.level,
        _to_int(record.changed),
        record.test_level,
        _to_int(record.test_changed),
        int(record.abstentions),
        record.fit_time,
        record.predict_time,
        record.fit_cpu,
        record.predict_cpu,
        _to_int(record.memory),
        to_storable(record.tuning),
        *map(to_storable, texts),
    )


def _to_int(value: int | None) -> int | None:
    return None if value is None else int(value)


def iter_record_hashes(connection: sqlite3.Connection, keys: Sequence[bytes] | None = None) -> Iterator[tuple[bytes, bytes]]:
    """Iterate over the keys and record hashes of trials, in the order of the file.

    `keys` selects trials. Default: all trials.
    """
    chosen = "" if keys is None else f" WHERE key IN ({', '.join('?' * len(keys))})"
    for line in connection.execute(f"{_RECORDS_QUERY}{chosen}", keys or ()):
        yield line[0], hash_record(line[0], line[1:-4], line[-4:])


def query_mean_times(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[float, int]]:
    """Compute the mean time in seconds and the number of successful trials.

    Both values are keyed by the hashes of the data set and the learner.
    """
    return {(data, learner): (seconds, trials) for data, learner, seconds, trials in connection.execute(_MEAN_TIMES_QUERY)}


@dataclass(frozen=True)
class StoreIds:
    """Dictionaries that map hashes to ids in a results file."""

    data: dict[str, int]
    condition: dict[str, int]
    learner: dict[str, int]
    split: dict[tuple[int, bytes], int]

    @classmethod
    def from_connection(cls, connection: sqlite3.Connection) -> StoreIds:
        """Read the ids of a results file."""
        data, condition, learner = (
            dict(connection.execute(f"SELECT hash, id FROM {table}")) for table in ("dataset", "condition", "learner")
        )
        split_rows = connection.execute("SELECT dataset, hash, id FROM split")
        return cls(data, condition, learner, {(dataset, split_hash): split for dataset, split_hash, split in split_rows})

    def resolve_link(self, link: tuple[str, str, bytes, str], path: Path) -> tuple[int, int, int, int]:
        """Return the ids of a trial's data set, condition, split and learner.

        The plan that contains the trial must already be stored.
        """
        data, condition, split, learner = link
        try:
            dataset = self.data[data]
            return dataset, self.condition[condition], self.split[dataset, split], self.learner[learner]
        except KeyError as error:
            raise StoreError(
                f"{path} has no {error.args[0]!r}, which a trial refers to: add the plan of the study before its trial records"
            ) from None

    def refuse_unknown(self, header: Mapping[str, Any], path: Path) -> None:
        """Raise StoreError if an item of the header is not stored.

        Otherwise, the trials of this item would appear to be missing.
        """
        for kind, stored_hashes in {"data": self.data, "conditions": self.condition, "learners": self.learner}.items():
            for name, *_, item_hash in header[kind]:
                if item_hash not in stored_hashes:
                    raise _make_corrupted_error(
                        path, f"the study {header['name']!r} has {name!r} among its {kind}, which is not stored"
                    )
        for name, item_hash in header["data"]:
            for repeat, fold, split in header["splits"][item_hash]:
                if (self.data[item_hash], bytes.fromhex(split)) not in self.split:
                    raise _make_corrupted_error(path, f"a split of {name!r}, repeat {repeat} and fold {fold}, is missing")


def put_datasets(connection: sqlite3.Connection, datasets: Sequence[DataFacts]) -> None:
    """Store data sets, identified by their hashes.

    If a data set is already stored, its row is updated.
    """
    for data_facts in datasets:
        ids = pack_ids(data_facts.row_ids)
        latest_values = (check_name("data set", data_facts.name), *ids, to_json(dict(data_facts.facts)))
        line = (
            data_facts.content_hash,
            len(data_facts.codes),
            encode_labels(data_facts.classes),
            pack(data_facts.codes, CODES),
            *latest_values,
        )
        _put_row(connection, "dataset", ("n_rows", "classes", "codes", "name", "row_id_type", "row_ids", "facts"), line)


def put_conditions(connection: sqlite3.Connection, conditions: Sequence[tuple[str, ConditionFacts]]) -> None:
    """Store conditions, identified by their hashes.

    If a condition is already stored, its row is updated.
    """
    for condition_hash, condition in conditions:
        line = (
            condition_hash,
            check_name("condition", condition.name),
            float(condition.level),
            to_storable(condition.summary),
            to_json(dict(condition.description)),
        )
        _put_row(connection, "condition", ("name", "level", "words", "description"), line)


def put_learners(connection: sqlite3.Connection, learners: Sequence[tuple[str, LearnerFacts]]) -> None:
    """Store learners, identified by their hashes.

    If a learner is already stored, its row is updated.
    """
    for learner_hash, learner in learners:
        line = (
            learner_hash,
            check_name("learner", learner.name),
            to_storable(learner.class_name),
            to_json(dict(learner.parameters)),
            to_json(dict(learner.versions)),
        )
        _put_row(connection, "learner", ("name", "class_name", "parameters", "versions"), line)


def _put_row(connection: sqlite3.Connection, table: str, columns: tuple[str, ...], line: tuple[Any, ...]) -> None:
    """Insert a row, or update the row with the same hash.

    The hash is the first value of `line`. An updated row keeps its id. Call `seal_rows` afterwards to store the checksum.
    """
    latest = ", ".join([*(f"{name} = excluded.{name}" for name in columns), "checksum = NULL"])
    connection.execute(
        f"INSERT INTO {table} (hash, {', '.join(columns)}) VALUES ({', '.join('?' * len(line))}) "
        f"ON CONFLICT (hash) DO UPDATE SET {latest}",
        line,
    )


def put_splits(connection: sqlite3.Connection, splits: Iterable[tuple[str, bytes, SplitRows]]) -> None:
    """Store the splits that are not yet in the file."""
    data = {
        content_hash: (dataset, rows)
        for content_hash, dataset, rows in connection.execute("SELECT hash, id, n_rows FROM dataset")
    }
    stored_splits = set(connection.execute("SELECT dataset, hash FROM split"))
    for data_hash, split_hash, rows in splits:
        if data_hash not in data:
            raise StoreError(f"the plan has a split of the data set {data_hash}, but not the data set: add its facts")
        dataset, n_rows = data[data_hash]
        if (dataset, split_hash) not in stored_splits:
            stored_splits.add((dataset, split_hash))
            line = (dataset, split_hash, int(rows.repeat), int(rows.fold), *pack_rows(rows.train, rows.test, n_rows))
            connection.execute("INSERT INTO split (dataset, hash, repeat, fold, test, train) VALUES (?, ?, ?, ?, ?, ?)", line)


def put_study(connection: sqlite3.Connection, name: str, header: str, protocol: int) -> bool:
    """Store the header of a study and make it the latest study.

    Return whether a different header was replaced.
    """
    name = check_name("study", name)
    before = connection.execute("SELECT header FROM study WHERE name = ?", (name,)).fetchone()
    last = connection.execute("SELECT name, turn, header, protocol FROM study ORDER BY turn DESC LIMIT 1").fetchone()
    if last is None or (last[0], *last[2:]) != (name, header, protocol):
        connection.execute(
            "INSERT INTO study (name, header, protocol, turn) VALUES (?, ?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET header = excluded.header, protocol = excluded.protocol, turn = excluded.turn, checksum = NULL",
            (name, header, protocol, 1 + (last[1] if last else 0)),
        )
    return before is not None and before[0] != header


def read_header(text: str, path: Path) -> Mapping[str, Any]:
    """Read the header of a study. `path` is used only in error messages.

    >>> found = {"name": "mine", "declaration": {}, "seed": 1, "data": [], "conditions": [], "learners": [], "splits": {}}
    >>> read_header(to_json(found), Path("a.fairtrial")) == found
    True
    """
    header = from_json(text)
    try:
        _check_header(header)
    except KeyError as error:
        raise _make_corrupted_error(path, f"the header of a study lacks {error.args[0]!r}") from None
    except (TypeError, ValueError) as error:
        raise _make_corrupted_error(path, f"the header of a study cannot be read: {error}") from None
    return dict(header)


def _check_header(header: Any) -> None:
    """Raise KeyError, TypeError or ValueError if the header is malformed."""
    str(header["name"]), dict(header["declaration"]), int(header["seed"])
    for _, data_hash in header["data"]:
        for repeat, fold, split in header["splits"][data_hash]:
            int(repeat), int(fold), bytes.fromhex(split)
    for _, level, _ in header["conditions"]:
        float(level)
    for _, _ in header["learners"]:
        pass
    for name, indices in header.get("resampling", ()):
        if any(not 0 <= int(i) < len(header["splits"][data]) for data in header["splits"] for i in indices[data]):
            raise ValueError(f"the scheme {name!r} has a split that is not listed")


def _make_corrupted_error(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path} is corrupted ({problem}): {REMEDY}")
