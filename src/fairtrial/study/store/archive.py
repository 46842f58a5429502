"""Archive of one study in an SQLite results file: facts, trials, predictions and splits."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, StoreError
from fairtrial.study.archive import TRIAL_COLUMNS, ConditionFacts, DataFacts, LearnerFacts, get_scheme_name
from fairtrial.study.records import ABSTAINED, CODES, FAILURES, NUMBERS, Predictions, unpack
from fairtrial.study.store import codec, schema
from fairtrial.study.store.file import CorruptedStoreError, SQLiteFile
from fairtrial.study.store.integrity import check_plan, iter_trials, refuse_corrupted_predictions

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


_TEXT_COLUMNS = ("tuning", "notes", "error", "message", "traceback", "log")


_LINK_COLUMNS = ("dataset", "condition", "split", "learner")


@dataclass(frozen=True, eq=False)
class PlannedTrials:
    """The planned trials of a study, with lookup tables for ids.

    The lookup tables map ids in the file to indices in the header of the study. Ids that the study does not use map to -1.
    """

    header: Mapping[str, Any]
    n_splits: IntArray
    data: IntArray
    conditions: IntArray
    learners: IntArray
    splits: IntArray

    @classmethod
    def from_header(cls, connection: sqlite3.Connection, header: Mapping[str, Any]) -> PlannedTrials:
        """Build the lookup tables for a header.

        All items that the header lists must be stored in the file.
        """
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
        """First row of each data set in the table of trials, followed by the number of rows."""
        settings = len(self.header["conditions"]) * len(self.header["learners"])
        return np.concatenate([[0], np.cumsum(self.n_splits * settings)]).astype(np.intp)

    def locate_lines(self, data: IntArray, conditions: IntArray, splits: IntArray, learners: IntArray) -> IntArray:
        """Find the row of each trial in the table of trials, or -1 for trials of other studies."""
        tables = (self.data, data), (self.conditions, conditions), (self.splits, splits), (self.learners, learners)
        d, c, s, a = (
            np.where(numbers < len(table), table[np.minimum(numbers, len(table) - 1)], -1) for table, numbers in tables
        )
        line = self.starts[d] + (c * len(self.header["learners"]) + a) * self.n_splits[d] + s
        return np.where((d >= 0) & (c >= 0) & (s >= 0) & (a >= 0), line, -1)


def build_trials_frame(
    connection: sqlite3.Connection, path: Path, planned: PlannedTrials, seed: int, protocol: int
) -> pd.DataFrame:
    """Build the table of trials, with one row per planned trial in the order of the header."""
    import pandas as pd

    n_lines = int(planned.starts[-1])
    columns = _build_name_columns(planned)
    filled = np.full((n_lines, len(_NUMBER_COLUMNS)), np.nan)
    trial, status = np.full(n_lines, -1, dtype=np.int64), np.full(n_lines, len(_STATUSES) - 1, dtype=np.int8)
    texts = {name: np.full(n_lines, None, dtype=object) for name in _TEXT_COLUMNS}
    statuses = {name: code for code, name in enumerate(_STATUSES[:-1])}
    stored_seed = codec.to_storable_seed(seed)
    for batch in iter_trials(connection, path):
        numbers = {name: batch.get_number(name) for name in (*_LINK_COLUMNS, "id", *_NUMBER_COLUMNS)}
        lines = planned.locate_lines(*(numbers[name].astype(np.intp) for name in _LINK_COLUMNS))
        in_study = (lines >= 0) & (batch.get_number("protocol") == protocol)
        if set(batch.texts["seed"]) != {stored_seed}:
            in_study &= np.array([trial_seed == stored_seed for trial_seed in batch.texts["seed"]])
        lines = lines[in_study]
        trial[lines] = numbers["id"][in_study]
        status[lines] = np.array([statuses[name] for name in batch.texts["status"]], dtype=np.int8)[in_study]
        for index, name in enumerate(_NUMBER_COLUMNS):
            filled[lines, index] = numbers[name][in_study]
        for name, column in texts.items():
            if any(text is not None for text in batch.texts[name]):
                column[lines] = np.array(batch.texts[name], dtype=object)[in_study]
    columns |= {"trial": trial, "status": pd.Categorical.from_codes(status, pd.Index(_STATUSES))}
    columns |= {"realised_level" if name == "level" else name: filled[:, index] for index, name in enumerate(_NUMBER_COLUMNS)}
    columns["level"] = _build_levels(planned)
    columns |= {name: pd.Series(column, dtype=object) for name, column in texts.items()}
    return pd.DataFrame({name: columns[name] for name in TRIAL_COLUMNS})


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
        "resampling": _make_categorical([get_scheme_name(header["declaration"].get("resampling"))], np.zeros_like(learners)),
        "learner": _make_categorical([name for name, _ in header["learners"]], learners),
        "repeat": numbers[:, 0],
        "fold": numbers[:, 1],
    }


def _build_levels(planned: PlannedTrials) -> FloatArray:
    per_data = len(planned.header["learners"]) * planned.n_splits
    levels = np.array([float(level) for _, level, _ in planned.header["conditions"]])
    return np.concatenate([np.repeat(levels, count) for count in per_data])


def _check_range(values: IntArray, start: int, end: int, trial: int) -> None:
    if values.size and (np.minimum.reduce(values) < start or np.maximum.reduce(values) >= end):
        raise CorruptedStoreError(
            f"the predictions of trial {trial} are corrupted because a row or class is out of range: {codec.REMEDY}"
        )


def _make_categorical(names: Sequence[str], positions: IntArray) -> Any:
    """Build a categorical column from names and their indices.

    Equal names share a category, for example the names of conditions that differ only in level.
    """
    import pandas as pd

    different = list(dict.fromkeys(names))
    codes = np.array([different.index(name) for name in names], dtype=np.intp)
    return pd.Categorical.from_codes(codes[positions], pd.Index(different))


def _build_lookup(indices: Mapping[int, int]) -> IntArray:
    """Build an array that maps ids to indices, and unused ids to -1."""
    table = np.full(max(indices, default=0) + 2, -1, dtype=np.intp)
    for number, index in indices.items():
        table[number] = index
    return table


_PREDICTION_BATCH_SIZE = 500


_MAX_CACHED_BYTES = 256 * 2**20


_COUNT_QUERY = """
SELECT learner, status, count(*) FROM trial WHERE seed = ? AND protocol = ?
AND learner IN (SELECT value FROM json_each(?)) AND condition IN (SELECT value FROM json_each(?))
AND split IN (SELECT value FROM json_each(?)) GROUP BY learner, status
"""


_PREDICTIONS_QUERY = """
SELECT trial, dataset, split, prediction, scores, test_rows, truth, abstentions, key, score_kind, evidence.checksum
FROM evidence JOIN trial ON trial.id = evidence.trial WHERE evidence.trial IN ({})
"""


@dataclass(frozen=True, eq=False, repr=False)
class StoreArchive:
    """An `Archive` of one study in an SQLite file.

    The file must stay open while the archive is used.
    """

    file: SQLiteFile
    number: int
    header: Mapping[str, Any]
    protocol: int
    hash: str
    """Hash of the plan. If the archive contains one of several resampling schemes, the name of the scheme is appended."""
    whole: StoreArchive | None = None
    """Archive of all schemes if `select_scheme` built this archive, otherwise None. This reference keeps the file open."""
    _test_rows: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)
    _data: dict[int, DataFacts] = field(default_factory=dict)

    @classmethod
    def from_file(cls, file: SQLiteFile, study: str | None = None) -> StoreArchive:
        """Open a study by name. Default: the latest study."""
        with file.read_connection() as connection:
            check_plan(connection, file.path)
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
        return cls(file, number, parsed_header, protocol, hashlib.sha256(header.encode()).hexdigest())

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

    @cached_property
    def schemes(self) -> tuple[str, ...]:
        """Names of the resampling schemes."""
        several = tuple(str(name) for name, _ in self.header.get("resampling", ()))
        return several or (get_scheme_name(self.declaration.get("resampling")),)

    def select_scheme(self, name: str) -> StoreArchive:
        """Return an archive with the trials of one resampling scheme."""
        if name not in self.schemes:
            raise InputError(f"resampling must be a scheme of the study, got {name!r}: {suggest_name(name, self.schemes)}")
        if len(self.schemes) == 1:
            return self
        number = self.schemes.index(name)
        indices = self.header["resampling"][number][1]
        declaration = self.declaration
        header = {key: value for key, value in self.header.items() if key != "resampling"} | {
            "splits": {data: [splits[i] for i in indices[data]] for data, splits in self.header["splits"].items()},
            "declaration": {**declaration, "resampling": {**declaration["resampling"][number], "name": name}},
        }
        return replace(self, header=header, hash=f"{self.hash}/{name}", whole=self)

    @property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """Facts about each run. `finished` is None if the run is still in progress or was killed."""
        with self.file.read_connection() as connection:
            query = "SELECT facts, started, finished FROM run WHERE study = ? ORDER BY started, id"
            rows = connection.execute(query, (self.number,)).fetchall()
        return tuple({**codec.from_json(facts), "started": start, "finished": end} for facts, start, end in rows)

    def trials(self) -> pd.DataFrame:
        """Return a table with one row per planned trial, in the order of the study."""
        if len(self.schemes) > 1:
            return self._join_schemes()
        with self.file.read_connection() as connection:
            planned = PlannedTrials.from_header(connection, self.header)
            return build_trials_frame(connection, self.file.path, planned, self.seed, self.protocol)

    def count_trials(self) -> dict[tuple[str, str], int]:
        """Count the trials by learner and status.

        Unlike `trials`, this method does not read and check each trial.
        """
        if len(self.schemes) > 1:
            parts = [Counter(self.select_scheme(name).count_trials()) for name in self.schemes]
            return dict(sum(parts, Counter()))
        header = self.header
        with self.file.read_connection() as connection:
            ids = codec.StoreIds.from_connection(connection)
            learners = {ids.learner[learner_hash]: str(name) for name, learner_hash in header["learners"]}
            numbers = [
                list(learners),
                [ids.condition[condition_hash] for *_, condition_hash in header["conditions"]],
                [
                    ids.split[ids.data[data], bytes.fromhex(entry[2])]
                    for data, rows in header["splits"].items()
                    for entry in rows
                ],
            ]
            values = (codec.to_storable_seed(self.seed), self.protocol, *map(json.dumps, numbers))
            rows = connection.execute(_COUNT_QUERY, values).fetchall()
        counts = {(learners[learner], str(status)): int(n_trials) for learner, status, n_trials in rows}
        n_planned = len(numbers[1]) * len(numbers[2])
        for name in learners.values():
            stored = sum(n_trials for (learner, _), n_trials in counts.items() if learner == name)
            counts[name, "missing"] = n_planned - stored
        return {key: n_trials for key, n_trials in counts.items() if n_trials}

    def has_abstentions(self) -> bool:
        """Return whether any trial in the file has abstentions, including trials of other studies."""
        with self.file.read_connection() as connection:
            return connection.execute("SELECT 1 FROM trial WHERE abstentions > 0 LIMIT 1").fetchone() is not None

    def read_derived(self, name: str) -> bytes | None:
        """Return the value that `write_derived` stored under this name, or None if there is none."""
        with self.file.read_connection() as connection:
            return schema.read_derived(connection, name)

    def _join_schemes(self) -> pd.DataFrame:
        import pandas as pd

        parts = [self.select_scheme(name).trials() for name in self.schemes]
        codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        frame = pd.concat(parts, ignore_index=True)
        return frame.assign(resampling=pd.Categorical.from_codes(codes, pd.Index(self.schemes)))

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
        if len(self.schemes) > 1:
            raise InputError(
                "the study has several resampling schemes, and each numbers its own splits: choose one with select_scheme"
            )
        if dataset not in self._split_hashes:
            raise InputError(f"the study has no data set called {dataset!r}: {suggest_name(dataset, self._split_hashes)}")
        data_hash, hashes = self._split_hashes[dataset]
        if (repeat, fold) not in hashes:
            raise InputError(f"{dataset} has no split with repeat {repeat} and fold {fold}: it has {len(hashes)} splits")
        query = (
            "SELECT test, train, n_rows FROM split JOIN dataset ON dataset.id = split.dataset "
            "WHERE dataset.hash = ? AND split.hash = ?"
        )
        with self.file.read_connection() as connection:
            row = connection.execute(query, (data_hash, bytes.fromhex(hashes[repeat, fold]))).fetchone()
        return codec.unpack_split(*row)

    @cached_property
    def _split_hashes(self) -> dict[str, tuple[str, dict[tuple[int, int], str]]]:
        """Hash of each data set, and the hashes of its splits, keyed by repeat and fold."""
        return {
            name: (data_hash, {(repeat, fold): split_hash for repeat, fold, split_hash in self.header["splits"][data_hash]})
            for name, data_hash in self.header["data"]
        }

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
        key: bytes,
        kind: Any,
        checksum: int,
    ) -> Predictions:
        refuse_corrupted_predictions(trial, (prediction, scores, rows, y_true), abstentions, key, kind, checksum)
        data = self._read_data_facts(dataset)
        if rows is None:
            positions, classes = self._get_test_rows(split, data, trial)
        else:
            positions = codec.unpack_rows(rows)
            _check_range(positions, 0, len(data.codes), trial)
            classes = data.codes[positions]
        if y_true is not None:
            classes = unpack(y_true, CODES).astype(np.intp)
        codes = unpack(prediction, CODES)
        table = None if scores is None else unpack(scores, NUMBERS)
        n, k = len(codes), len(data.classes)
        if not n == len(positions) == len(classes) or (table is not None and table.size != n * k):
            raise StoreError(
                f"the predictions of trial {trial} do not match its {len(positions)} test rows: rerun the study into a new file"
            )
        _check_range(codes, ABSTAINED, k, trial)
        return Predictions(positions, classes, codes.astype(np.intp), None if table is None else table.reshape(n, k), kind)

    def _get_test_rows(self, split: int, data: DataFacts, trial: int) -> tuple[IntArray, IntArray]:
        """Return the test rows of a split and their classes.

        All learners share the test rows of a split, so they are cached.
        """
        if split not in self._test_rows:
            with self.file.read_connection() as connection:
                row = connection.execute("SELECT test FROM split WHERE id = ?", (split,)).fetchone()
            if row is None:
                raise StoreError(f"{self.file.path} is corrupted because a split is missing: restore a backup")
            rows = codec.unpack_rows(row[0])
            _check_range(rows, 0, len(data.codes), trial)
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
