"""What a study is about, as lines of a store: its data sets, conditions, learners, splits, and its own header."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairtrial.errors import StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.evidence import CODES, pack
from fairtrial.study.records import Rows
from fairtrial.study.store import store_values as values


@dataclass(frozen=True)
class Ids:
    """The numbers under which a store knows hashes."""

    data: dict[str, int]
    condition: dict[str, int]
    learner: dict[str, int]
    split: dict[tuple[int, bytes], int]

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> Ids:
        """Those of the store behind the connection."""
        data, condition, learner = (
            dict(connection.execute(f"SELECT hash, id FROM {table}")) for table in ("dataset", "condition", "learner")
        )
        found = connection.execute("SELECT dataset, hash, id FROM split")
        return cls(data, condition, learner, {(dataset, own): split for dataset, own, split in found})

    def of_link(self, link: tuple[str, str, bytes, str], path: Path) -> tuple[int, int, int, int]:
        """Data set, condition, split and learner of a trial, which must have been planned."""
        data, condition, split, learner = link
        try:
            dataset = self.data[data]
            return dataset, self.condition[condition], self.split[dataset, split], self.learner[learner]
        except KeyError as error:
            raise StoreError(
                f"{path} does not know {error.args[0]!r}, which a trial is about: add the plan of the study before its evidence"
            ) from None


def put_datasets(connection: sqlite3.Connection, datasets: Sequence[DataFacts]) -> None:
    """A data set that is there already takes the latest name, ids of rows and facts, which are no part of its hash.

    So a store holds one id for each row of the same data, whichever study they came with: the latest counts for all of them.
    """
    for each in datasets:
        ids = values.pack_ids(each.row_ids)
        known = (values.storable_name("data set", each.name), *ids, values.to_json(dict(each.facts)))
        line = (each.content_hash, len(each.codes), values.labels_to_json(each.classes), pack(each.codes, CODES), *known)
        _put(connection, "dataset", ("n_rows", "classes", "codes", "name", "row_id_type", "row_ids", "facts"), line)


def put_conditions(connection: sqlite3.Connection, conditions: Sequence[tuple[str, ConditionFacts]]) -> None:
    """Conditions by hash; the latest name stays."""
    for own, each in conditions:
        line = (
            own,
            values.storable_name("condition", each.name),
            float(each.level),
            values.storable(each.words),
            values.to_json(dict(each.description)),
        )
        _put(connection, "condition", ("name", "level", "words", "description"), line)


def put_learners(connection: sqlite3.Connection, learners: Sequence[tuple[str, LearnerFacts]]) -> None:
    """Learners by hash; the latest name stays."""
    for own, each in learners:
        line = (
            own,
            values.storable_name("learner", each.name),
            values.storable(each.class_name),
            values.to_json(dict(each.parameters)),
            values.to_json(dict(each.versions)),
        )
        _put(connection, "learner", ("name", "class_name", "parameters", "versions"), line)


def _put(connection: sqlite3.Connection, table: str, columns: tuple[str, ...], line: tuple[Any, ...]) -> None:
    """A line by its hash, which comes first; one that is there keeps its number."""
    latest = ", ".join(f"{name} = excluded.{name}" for name in columns)
    connection.execute(
        f"INSERT INTO {table} (hash, {', '.join(columns)}) VALUES ({', '.join('?' * len(line))}) "
        f"ON CONFLICT (hash) DO UPDATE SET {latest}",
        line,
    )


def put_splits(connection: sqlite3.Connection, splits: Iterable[tuple[str, bytes, Rows]]) -> None:
    """Splits that are not there yet."""
    data = {own: (dataset, rows) for own, dataset, rows in connection.execute("SELECT hash, id, n_rows FROM dataset")}
    known = set(connection.execute("SELECT dataset, hash FROM split"))
    for data_hash, own, rows in splits:
        if data_hash not in data:
            raise StoreError(f"a split is of the data set {data_hash}, which the plan does not hold: add its facts, too")
        dataset, n_rows = data[data_hash]
        if (dataset, own) not in known:
            known.add((dataset, own))
            line = (dataset, own, int(rows.repeat), int(rows.fold), *values.pack_rows(rows.train, rows.test, n_rows))
            connection.execute("INSERT INTO split (dataset, hash, repeat, fold, test, train) VALUES (?, ?, ?, ?, ?, ?)", line)


def put_study(connection: sqlite3.Connection, name: str, header: str, protocol: int) -> bool:
    """The study is the latest from now on, and has this header; whether it had another one before."""
    name = values.storable_name("study", name)
    before = connection.execute("SELECT header FROM study WHERE name = ?", (name,)).fetchone()
    last = connection.execute("SELECT name, turn, header, protocol FROM study ORDER BY turn DESC LIMIT 1").fetchone()
    if last is None or (last[0], *last[2:]) != (name, header, protocol):
        connection.execute(
            "INSERT INTO study (name, header, protocol, turn) VALUES (?, ?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET header = excluded.header, protocol = excluded.protocol, turn = excluded.turn",
            (name, header, protocol, 1 + (last[1] if last else 0)),
        )
    return before is not None and before[0] != header
