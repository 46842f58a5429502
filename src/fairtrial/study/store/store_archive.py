"""What a store keeps of one study, with the names that the study gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError, StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.evidence import CODES, NUMBERS, Predictions, unpack
from fairtrial.study.store import store_values as values
from fairtrial.study.store.store_header import read_header, refuse_unknown
from fairtrial.study.store.store_plan import Ids
from fairtrial.study.store.store_trials import Planned, trials_frame

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.store.store import Store

_BATCH = 500
_KEPT_BYTES = 256 * 2**20
_PREDICTIONS = """
SELECT trial, dataset, split, prediction, scores, test_rows, truth, checksum, score_kind
FROM evidence JOIN trial ON trial.id = evidence.trial WHERE evidence.trial IN ({})
"""


@dataclass(frozen=True, eq=False, repr=False)
class StoreArchive:
    """The evidence of one study in a store, as results read it (`fairtrial.study.archive.Archive`). It is read when asked for.

    The store must stay open as long as the archive is used.
    """

    store: Store
    number: int
    header: Mapping[str, Any]
    protocol: int
    _tests: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)
    _data: dict[int, DataFacts] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store, study: str | None = None) -> StoreArchive:
        """The study of this name, or the latest."""
        with store.reading() as connection:
            found = connection.execute("SELECT name, id, header, protocol FROM study ORDER BY turn DESC").fetchall()
            ids = Ids.of(connection)
        if not found:
            raise StoreError(f"{store.path} holds no study yet: run one first")
        studies = {name: line for name, *line in found}
        if study is not None and study not in studies:
            raise InputError(f"{store.path} holds no study called {study!r}: {did_you_mean(study, studies)}")
        number, header, protocol = studies[found[0][0] if study is None else study]
        told = read_header(header, store.path)
        refuse_unknown(told, ids, store.path)
        return cls(store, number, told, protocol)

    def __repr__(self) -> str:
        return f"<StoreArchive of {self.name} in {self.store.path}>"

    @property
    def name(self) -> str:
        """The name of the study."""
        return str(self.header["name"])

    @property
    def declaration(self) -> Mapping[str, Any]:
        """What the study declares, as plain values."""
        return dict(self.header["declaration"])

    @property
    def seed(self) -> int:
        """The seed of the study."""
        return int(self.header["seed"])

    @cached_property
    def datasets(self) -> tuple[DataFacts, ...]:
        """The data sets, in the order of the study."""
        return tuple(self._named_data(name, own) for name, own in self.header["data"])

    @cached_property
    def conditions(self) -> tuple[ConditionFacts, ...]:
        """The conditions, in the order of the study."""
        found = self._lines("SELECT hash, words, description FROM condition")
        return tuple(
            ConditionFacts(name, float(level), found[own][0], values.from_json(found[own][1]))
            for name, level, own in self.header["conditions"]
        )

    @cached_property
    def learners(self) -> tuple[LearnerFacts, ...]:
        """The learners, in the order of the study."""
        found = self._lines("SELECT hash, class_name, parameters, versions FROM learner")
        return tuple(
            LearnerFacts(name, found[own][0], values.from_json(found[own][1]), values.from_json(found[own][2]))
            for name, own in self.header["learners"]
        )

    @property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """When and how the study ran; `finished` is None while a run goes on, or where it was killed."""
        with self.store.reading() as connection:
            query = "SELECT facts, started, finished FROM run WHERE study = ? ORDER BY started, id"
            found = connection.execute(query, (self.number,)).fetchall()
        return tuple({**values.from_json(facts), "started": start, "finished": end} for facts, start, end in found)

    def trials(self) -> pd.DataFrame:
        """A line for each planned trial, run or not, in the order of the study."""
        with self.store.reading() as connection:
            return trials_frame(connection, Planned.of(connection, self.header), self.seed, self.protocol)

    def predictions(self, trials: Sequence[int]) -> Iterator[Predictions]:
        """The evidence of trials with status ok, in the order asked for."""
        asked = [int(each) for each in trials]
        for start in range(0, len(asked), _BATCH):
            part = asked[start : start + _BATCH]
            with self.store.reading() as connection:
                query = _PREDICTIONS.format(", ".join("?" * len(part)))
                found = {trial: line for trial, *line in connection.execute(query, part)}
            for trial in part:
                if trial not in found:
                    raise InputError(f"trial {trial} has left no predictions: ask for trials with status ok only")
                yield self._predictions(trial, *found[trial])

    def split(self, dataset: str, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Positions of the training and test rows."""
        names = dict(self.header["data"])
        if dataset not in names:
            raise InputError(f"the study has no data set called {dataset!r}: {did_you_mean(dataset, names)}")
        hashes = {(each[0], each[1]): each[2] for each in self.header["splits"][names[dataset]]}
        if (repeat, fold) not in hashes:
            raise InputError(f"{dataset} has no split of repeat {repeat} and fold {fold}: it has {len(hashes)} splits")
        query = (
            "SELECT test, train, n_rows FROM split JOIN dataset ON dataset.id = split.dataset "
            "WHERE dataset.hash = ? AND split.hash = ?"
        )
        with self.store.reading() as connection:
            found = connection.execute(query, (names[dataset], bytes.fromhex(hashes[repeat, fold]))).fetchone()
        return values.unpack_split(*found)

    def _predictions(
        self,
        trial: int,
        dataset: int,
        split: int,
        prediction: bytes,
        scores: bytes | None,
        rows: bytes | None,
        truth: bytes | None,
        checksum: int,
        kind: Any,
    ) -> Predictions:
        values.refuse_damaged(trial, (prediction, scores, rows, truth), checksum)
        data = self._facts(dataset)
        places, classes = self._test(split, data) if rows is None else (values.unpack_rows(rows), None)
        if truth is not None:
            classes = unpack(truth, CODES).astype(np.intp)
        elif classes is None:
            classes = data.codes[places]
        codes = unpack(prediction, CODES).astype(np.intp)
        table = None if scores is None else unpack(scores, NUMBERS)
        if len({len(places), len(classes), len(codes)}) > 1 or (
            table is not None and table.size != len(codes) * len(data.classes)
        ):
            raise StoreError(
                f"the evidence of trial {trial} does not fit its {len(places)} test rows: run it again in a new store"
            )
        return Predictions(
            places, classes, codes, None if table is None else table.reshape(len(codes), len(data.classes)), kind
        )

    def _test(self, split: int, data: DataFacts) -> tuple[IntArray, IntArray]:
        """Test rows of a split and their classes, kept as long as they are not too many: each learner asks for them again."""
        if split not in self._tests:
            with self.store.reading() as connection:
                found = connection.execute("SELECT test FROM split WHERE id = ?", (split,)).fetchone()
            if found is None:
                raise StoreError(f"{self.store.path} lacks a split that its trials need: take a copy of the store from before")
            rows = values.unpack_rows(found[0])
            if len(self._tests) * rows.nbytes * 2 > _KEPT_BYTES:
                self._tests.clear()
            self._tests[split] = rows, data.codes[rows]
            for each in self._tests[split]:
                each.flags.writeable = False
        return self._tests[split]

    def _facts(self, dataset: int) -> DataFacts:
        if dataset not in self._data:
            query = "SELECT name, hash, classes, codes, row_id_type, row_ids, facts FROM dataset WHERE id = ?"
            with self.store.reading() as connection:
                found = connection.execute(query, (dataset,)).fetchone()
            name, own, classes, codes, kind, ids, facts = found
            places = unpack(codes, CODES).astype(np.intp)
            row_ids = values.unpack_ids(kind, ids, len(places))
            labels = tuple(values.from_json(classes))
            self._data[dataset] = DataFacts(name, own, labels, places, row_ids, values.from_json(facts))
        return self._data[dataset]

    def _named_data(self, name: str, own: str) -> DataFacts:
        with self.store.reading() as connection:
            found = connection.execute("SELECT id FROM dataset WHERE hash = ?", (own,)).fetchone()
        facts = self._facts(found[0])
        return DataFacts(name, own, facts.classes, facts.codes, facts.row_ids, facts.facts)

    def _lines(self, query: str) -> dict[str, tuple[Any, ...]]:
        with self.store.reading() as connection:
            return {own: tuple(line) for own, *line in connection.execute(query)}
