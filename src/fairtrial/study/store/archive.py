"""Archive of one study in an SQLite results file: facts, trials, predictions and splits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, StoreError
from fairtrial.study.archive import TRIAL_COLUMNS, ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.records import CODES, FAILURES, NUMBERS, Predictions, unpack
from fairtrial.study.store import codec
from fairtrial.study.store.file import SQLiteFile

if TYPE_CHECKING:
    import pandas as pd

_STATUSES = ("ok", *FAILURES, "missing")


_NUMBER_COLUMNS = (
    "fit_time",
    "predict_time",
    "fit_cpu",
    "predict_cpu",
    "memory",
    "level",
    "changed",
    "test_level",
    "test_changed",
    "abstentions",
)


_TEXT_COLUMNS = ("notes", "error", "message", "traceback", "log")


_TRIAL_BATCH_SIZE = 20_000


@dataclass(frozen=True, eq=False)
class PlannedTrials:
    """The trials planned in a header. Lookup tables map ids in the file to indices in the header, or to -1 if there is none."""

    header: Mapping[str, Any]
    n_splits: IntArray
    data: IntArray
    conditions: IntArray
    learners: IntArray
    splits: IntArray

    @classmethod
    def from_header(cls, connection: sqlite3.Connection, header: Mapping[str, Any]) -> PlannedTrials:
        """Build the lookup tables for a header. Everything that the header names must be stored."""
        ids = codec.StoreIds.from_connection(connection)
        data = [data_hash for _, data_hash in header["data"]]
        splits: dict[int, int] = {}
        for data_hash in data:
            hashes = [(ids.data[data_hash], bytes.fromhex(entry[2])) for entry in header["splits"][data_hash]]
            splits |= {ids.split[split_key]: index for index, split_key in enumerate(hashes)}
        return cls(
            header,
            np.array([len(header["splits"][data_hash]) for data_hash in data], dtype=np.intp),
            _build_lookup({ids.data[data_hash]: index for index, data_hash in enumerate(data)}),
            _build_lookup(
                {ids.condition[condition_hash]: index for index, (*_, condition_hash) in enumerate(header["conditions"])}
            ),
            _build_lookup({ids.learner[learner_hash]: index for index, (_, learner_hash) in enumerate(header["learners"])}),
            _build_lookup(splits),
        )

    @property
    def starts(self) -> IntArray:
        """Index of the first row of each data set, followed by the total number of rows."""
        settings = len(self.header["conditions"]) * len(self.header["learners"])
        return np.concatenate([[0], np.cumsum(self.n_splits * settings)]).astype(np.intp)

    def locate_lines(self, data: IntArray, conditions: IntArray, splits: IntArray, learners: IntArray) -> IntArray:
        """Locate the row of each trial by its ids. The result is -1 for trials of other studies."""
        tables = (self.data, data), (self.conditions, conditions), (self.splits, splits), (self.learners, learners)
        d, c, s, a = (
            np.where(numbers < len(table), table[np.minimum(numbers, len(table) - 1)], -1) for table, numbers in tables
        )
        line = self.starts[d] + (c * len(self.header["learners"]) + a) * self.n_splits[d] + s
        return np.where((d >= 0) & (c >= 0) & (s >= 0) & (a >= 0), line, -1)


def build_trials_frame(connection: sqlite3.Connection, planned: PlannedTrials, seed: int, protocol: int) -> pd.DataFrame:
    """Build the table with TRIAL_COLUMNS, in the order of the header."""
    import pandas as pd

    n_lines = int(planned.starts[-1])
    columns = _build_name_columns(planned)
    filled = np.full((n_lines, len(_NUMBER_COLUMNS)), np.nan)
    trial, status = np.full(n_lines, -1, dtype=np.int64), np.full(n_lines, len(_STATUSES) - 1, dtype=np.int8)
    texts = {name: np.full(n_lines, None, dtype=object) for name in _TEXT_COLUMNS}
    for batch in _iter_stored(connection, seed, protocol):
        whole = batch[:, :6].astype(np.intp)
        lines = planned.locate_lines(*whole[:, 2:6].T)
        in_study = lines >= 0
        lines = lines[in_study]
        trial[lines], status[lines], filled[lines] = whole[in_study, 0], whole[in_study, 1], batch[in_study, 6:]
    _fill_texts(connection, trial, texts)
    columns |= {"trial": trial, "status": pd.Categorical.from_codes(status, pd.Index(_STATUSES))}
    columns |= {"realised_level" if name == "level" else name: filled[:, index] for index, name in enumerate(_NUMBER_COLUMNS)}
    columns["level"] = _build_levels(planned)
    columns |= {name: pd.Series(column, dtype=object) for name, column in texts.items()}
    return pd.DataFrame({name: columns[name] for name in TRIAL_COLUMNS})


def _iter_stored(connection: sqlite3.Connection, seed: int, protocol: int) -> Any:
    """Iterate over batches of stored trials. Columns: ids of trial, data set, condition, split and learner; status; numbers."""
    cases = " ".join(f"WHEN '{status}' THEN {index}" for index, status in enumerate(_STATUSES))
    query = (
        f"SELECT id, CASE status {cases} END, dataset, condition, split, learner, {', '.join(_NUMBER_COLUMNS)} "
        "FROM trial WHERE seed = ? AND protocol = ?"
    )
    cursor = connection.execute(query, (codec.to_storable_seed(seed), protocol))
    while batch := cursor.fetchmany(_TRIAL_BATCH_SIZE):
        yield _to_numbers(batch)


def _to_numbers(batch: list[tuple[Any, ...]]) -> FloatArray:
    remedy = "restore a backup, or rerun the study into a new file"
    try:
        numbers = np.array(batch, dtype=np.float64)
    except ValueError as error:
        raise StoreError(f"a trial is corrupted because it has text instead of a number ({error}): {remedy}") from None
    odd = ~(numbers[:, :6] >= 0).all(axis=1)
    if odd.any():
        raise StoreError(f"trial {numbers[odd, 0][0]:.0f} is corrupted because its status or a reference is invalid: {remedy}")
    return numbers


def _fill_texts(connection: sqlite3.Connection, trial: npt.NDArray[np.int64], texts: dict[str, npt.NDArray[Any]]) -> None:
    names = ", ".join(_TEXT_COLUMNS)
    order = np.argsort(trial, kind="stable")
    for trial_id, *stored_texts in connection.execute(f"SELECT id, {names} FROM trial WHERE coalesce({names}) IS NOT NULL"):
        index = int(np.searchsorted(trial, trial_id, sorter=order))
        if index < len(order) and trial[order[index]] == trial_id:
            for name, text in zip(_TEXT_COLUMNS, stored_texts, strict=True):
                texts[name][order[index]] = text


def _build_name_columns(planned: PlannedTrials) -> dict[str, Any]:
    header = planned.header
    n_conditions, n_learners = len(header["conditions"]), len(header["learners"])
    per_data = planned.n_splits * n_conditions * n_learners
    conditions = np.concatenate([np.repeat(np.arange(n_conditions), n * n_learners) for n in planned.n_splits])
    learners = np.concatenate([np.tile(np.repeat(np.arange(n_learners), n), n_conditions) for n in planned.n_splits])
    parts = [
        np.tile(
            np.array([entry[:2] for entry in header["splits"][data_hash]], dtype=np.int64).reshape(-1, 2),
            (n_conditions * n_learners, 1),
        )
        for _, data_hash in header["data"]
    ]
    numbers = np.concatenate(parts)
    return {
        "dataset": _make_categorical([name for name, _ in header["data"]], np.repeat(np.arange(len(per_data)), per_data)),
        "condition": _make_categorical([name for name, *_ in header["conditions"]], conditions),
        "learner": _make_categorical([name for name, _ in header["learners"]], learners),
        "repeat": numbers[:, 0],
        "fold": numbers[:, 1],
    }


def _build_levels(planned: PlannedTrials) -> FloatArray:
    per_data = len(planned.header["learners"]) * planned.n_splits
    levels = np.array([float(level) for _, level, _ in planned.header["conditions"]])
    return np.concatenate([np.repeat(levels, count) for count in per_data])


def _make_categorical(names: Sequence[str], positions: IntArray) -> Any:
    """Build a categorical column of names from their indices. Conditions with the same name share a category."""
    import pandas as pd

    different = list(dict.fromkeys(names))
    codes = np.array([different.index(name) for name in names], dtype=np.intp)
    return pd.Categorical.from_codes(codes[positions], pd.Index(different))


def _build_lookup(indices: Mapping[int, int]) -> IntArray:
    """Build a table that maps ids to indices. It has one entry more than needed, so it is never empty."""
    table = np.full(max(indices, default=0) + 2, -1, dtype=np.intp)
    for number, index in indices.items():
        table[number] = index
    return table


_PREDICTION_BATCH_SIZE = 500


_MAX_CACHED_BYTES = 256 * 2**20


_PREDICTIONS_QUERY = """
SELECT trial, dataset, split, prediction, scores, test_rows, truth, abstentions, checksum, score_kind
FROM evidence JOIN trial ON trial.id = evidence.trial WHERE evidence.trial IN ({})
"""


@dataclass(frozen=True, eq=False, repr=False)
class StoreArchive:
    """An `Archive` of one study in an SQLite file, which must stay open while the archive is used."""

    file: SQLiteFile
    number: int
    header: Mapping[str, Any]
    protocol: int
    _test_rows: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)
    _data: dict[int, DataFacts] = field(default_factory=dict)

    @classmethod
    def from_file(cls, file: SQLiteFile, study: str | None = None) -> StoreArchive:
        """Open a study by name. Default: the latest study."""
        with file.read_connection() as connection:
            rows = connection.execute("SELECT name, id, header, protocol FROM study ORDER BY turn DESC").fetchall()
            ids = codec.StoreIds.from_connection(connection)
        if not rows:
            raise StoreError(f"{file.path} has no study yet: run one first")
        studies = {name: line for name, *line in rows}
        if study is not None and study not in studies:
            raise InputError(f"{file.path} has no study called {study!r}: {suggest_name(study, studies)}")
        number, header, protocol = studies[rows[0][0] if study is None else study]
        parsed_header = codec.read_header(header, file.path)
        ids.refuse_unknown(parsed_header, file.path)
        return cls(file, number, parsed_header, protocol)

    def __repr__(self) -> str:
        return f"<StoreArchive of {self.name} in {self.file.path}>"

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self.header["name"])

    @property
    def declaration(self) -> Mapping[str, Any]:
        """Declaration of the study as plain values."""
        return dict(self.header["declaration"])

    @property
    def seed(self) -> int:
        """Seed of the study."""
        return int(self.header["seed"])

    @cached_property
    def datasets(self) -> tuple[DataFacts, ...]:
        """Data sets in the order of the study."""
        return tuple(self._read_named_data(name, content_hash) for name, content_hash in self.header["data"])

    @cached_property
    def conditions(self) -> tuple[ConditionFacts, ...]:
        """Conditions in the order of the study."""
        rows_by_hash = self._read_rows_by_hash("SELECT hash, words, description FROM condition")
        return tuple(
            ConditionFacts(
                name, float(level), rows_by_hash[condition_hash][0], codec.from_json(rows_by_hash[condition_hash][1])
            )
            for name, level, condition_hash in self.header["conditions"]
        )

    @cached_property
    def learners(self) -> tuple[LearnerFacts, ...]:
        """Learners in the order of the study."""
        rows_by_hash = self._read_rows_by_hash("SELECT hash, class_name, parameters, versions FROM learner")
        return tuple(
            LearnerFacts(
                name,
                rows_by_hash[learner_hash][0],
                codec.from_json(rows_by_hash[learner_hash][1]),
                codec.from_json(rows_by_hash[learner_hash][2]),
            )
            for name, learner_hash in self.header["learners"]
        )

    @property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """Facts about each run. `finished` is None if the run is not finished or was killed."""
        with self.file.read_connection() as connection:
            query = "SELECT facts, started, finished FROM run WHERE study = ? ORDER BY started, id"
            rows = connection.execute(query, (self.number,)).fetchall()
        return tuple({**codec.from_json(facts), "started": start, "finished": end} for facts, start, end in rows)

    def trials(self) -> pd.DataFrame:
        """Return a table with one row per planned trial, in the order of the study."""
        with self.file.read_connection() as connection:
            return build_trials_frame(connection, PlannedTrials.from_header(connection, self.header), self.seed, self.protocol)

    def predictions(self, trials: Sequence[int]) -> Iterator[Predictions]:
        """Iterate over the predictions of successful trials, in the given order."""
        trial_ids = [int(trial) for trial in trials]
        for start in range(0, len(trial_ids), _PREDICTION_BATCH_SIZE):
            batch = trial_ids[start : start + _PREDICTION_BATCH_SIZE]
            with self.file.read_connection() as connection:
                query = _PREDICTIONS_QUERY.format(", ".join("?" * len(batch)))
                rows = {trial: line for trial, *line in connection.execute(query, batch)}
            for trial in batch:
                if trial not in rows:
                    raise InputError(f"trial {trial} has no predictions: select trials with status ok")
                yield self._decode_predictions(trial, *rows[trial])

    def split(self, dataset: str, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Return the positions of the training and test rows of a split."""
        names = dict(self.header["data"])
        if dataset not in names:
            raise InputError(f"the study has no data set called {dataset!r}: {suggest_name(dataset, names)}")
        hashes = {(entry[0], entry[1]): entry[2] for entry in self.header["splits"][names[dataset]]}
        if (repeat, fold) not in hashes:
            raise InputError(f"{dataset} has no split with repeat {repeat} and fold {fold}: it has {len(hashes)} splits")
        query = (
            "SELECT test, train, n_rows FROM split JOIN dataset ON dataset.id = split.dataset "
            "WHERE dataset.hash = ? AND split.hash = ?"
        )
        with self.file.read_connection() as connection:
            row = connection.execute(query, (names[dataset], bytes.fromhex(hashes[repeat, fold]))).fetchone()
        return codec.unpack_split(*row)

    def _decode_predictions(
        self,
        trial: int,
        dataset: int,
        split: int,
        prediction: bytes,
        scores: bytes | None,
        rows: bytes | None,
        y_true: bytes | None,
        abstentions: int,
        checksum: int,
        kind: Any,
    ) -> Predictions:
        codec.refuse_corrupted_trial(trial, (prediction, scores, rows, y_true), abstentions, checksum)
        data = self._read_data_facts(dataset)
        positions, classes = self._get_test_rows(split, data) if rows is None else (codec.unpack_rows(rows), None)
        if y_true is not None:
            classes = unpack(y_true, CODES).astype(np.intp)
        elif classes is None:
            classes = data.codes[positions]
        codes = unpack(prediction, CODES).astype(np.intp)
        table = None if scores is None else unpack(scores, NUMBERS)
        if len({len(positions), len(classes), len(codes)}) > 1 or (
            table is not None and table.size != len(codes) * len(data.classes)
        ):
            raise StoreError(
                f"the predictions of trial {trial} do not match its {len(positions)} test rows: rerun the study into a new file"
            )
        return Predictions(
            positions, classes, codes, None if table is None else table.reshape(len(codes), len(data.classes)), kind
        )

    def _get_test_rows(self, split: int, data: DataFacts) -> tuple[IntArray, IntArray]:
        """Return the test rows of a split and their classes. The result is cached, because all learners share it."""
        if split not in self._test_rows:
            with self.file.read_connection() as connection:
                row = connection.execute("SELECT test FROM split WHERE id = ?", (split,)).fetchone()
            if row is None:
                raise StoreError(f"{self.file.path} is corrupted because a split is missing: restore a backup")
            rows = codec.unpack_rows(row[0])
            if len(self._test_rows) * rows.nbytes * 2 > _MAX_CACHED_BYTES:
                self._test_rows.clear()
            self._test_rows[split] = rows, data.codes[rows]
            for array in self._test_rows[split]:
                array.flags.writeable = False
        return self._test_rows[split]

    def _read_data_facts(self, dataset: int) -> DataFacts:
        if dataset not in self._data:
            query = "SELECT name, hash, classes, codes, row_id_type, row_ids, facts FROM dataset WHERE id = ?"
            with self.file.read_connection() as connection:
                row = connection.execute(query, (dataset,)).fetchone()
            name, content_hash, classes, codes, kind, ids, facts = row
            class_codes = unpack(codes, CODES).astype(np.intp)
            row_ids = codec.unpack_ids(kind, ids, len(class_codes))
            labels = tuple(codec.from_json(classes))
            self._data[dataset] = DataFacts(name, content_hash, labels, class_codes, row_ids, codec.from_json(facts))
        return self._data[dataset]

    def _read_named_data(self, name: str, content_hash: str) -> DataFacts:
        with self.file.read_connection() as connection:
            row = connection.execute("SELECT id FROM dataset WHERE hash = ?", (content_hash,)).fetchone()
        facts = self._read_data_facts(row[0])
        return DataFacts(name, content_hash, facts.classes, facts.codes, facts.row_ids, facts.facts)

    def _read_rows_by_hash(self, query: str) -> dict[str, tuple[Any, ...]]:
        with self.file.read_connection() as connection:
            return {row_hash: tuple(line) for row_hash, *line in connection.execute(query)}
