"""The table of the trials of a study: a line for each planned one, filled with what is stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import StoreError
from fairtrial.study.archive import TRIAL_COLUMNS
from fairtrial.study.records import FAILURES
from fairtrial.study.store.store_plan import Ids
from fairtrial.study.store.store_values import storable_seed

if TYPE_CHECKING:
    import pandas as pd

_STATUSES = ("ok", *FAILURES, "missing")
_NUMBERS = ("fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory", "level", "changed", "test_level", "test_changed")
_TEXTS = ("notes", "error", "message", "traceback", "log")
_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class Planned:
    """The cross product that a header declares. A table gives the place of a number of the store in the header, -1 for none."""

    header: Mapping[str, Any]
    n_splits: IntArray
    data: IntArray
    conditions: IntArray
    learners: IntArray
    splits: IntArray

    @classmethod
    def of(cls, connection: sqlite3.Connection, header: Mapping[str, Any]) -> Planned:
        """The header with the numbers that the store behind the connection gave; all that it names must be there."""
        ids = Ids.of(connection)
        data = [own for _, own in header["data"]]
        splits: dict[int, int] = {}
        for own in data:
            hashes = [(ids.data[own], bytes.fromhex(each[2])) for each in header["splits"][own]]
            splits |= {ids.split[each]: place for place, each in enumerate(hashes)}
        return cls(
            header,
            np.array([len(header["splits"][own]) for own in data], dtype=np.intp),
            _places({ids.data[own]: place for place, own in enumerate(data)}),
            _places({ids.condition[own]: place for place, (*_, own) in enumerate(header["conditions"])}),
            _places({ids.learner[own]: place for place, (_, own) in enumerate(header["learners"])}),
            _places(splits),
        )

    @property
    def starts(self) -> IntArray:
        """The first line of each data set, and behind the last the number of lines."""
        settings = len(self.header["conditions"]) * len(self.header["learners"])
        return np.concatenate([[0], np.cumsum(self.n_splits * settings)]).astype(np.intp)

    def lines(self, data: IntArray, conditions: IntArray, splits: IntArray, learners: IntArray) -> IntArray:
        """The line of each trial by its numbers in the store; -1 for trials that are none of this study."""
        tables = (self.data, data), (self.conditions, conditions), (self.splits, splits), (self.learners, learners)
        d, c, s, a = (np.where(own < len(table), table[np.minimum(own, len(table) - 1)], -1) for table, own in tables)
        line = self.starts[d] + (c * len(self.header["learners"]) + a) * self.n_splits[d] + s
        return np.where((d >= 0) & (c >= 0) & (s >= 0) & (a >= 0), line, -1)


def trials_frame(connection: sqlite3.Connection, planned: Planned, seed: int, protocol: int) -> pd.DataFrame:
    """The table with TRIAL_COLUMNS, in the order of the header."""
    import pandas as pd

    n_lines = int(planned.starts[-1])
    columns = _names(planned)
    filled = np.full((n_lines, len(_NUMBERS)), np.nan)
    trial, status = np.full(n_lines, -1, dtype=np.int64), np.full(n_lines, len(_STATUSES) - 1, dtype=np.int8)
    texts = {name: np.full(n_lines, None, dtype=object) for name in _TEXTS}
    for part in _stored(connection, seed, protocol):
        whole = part[:, :6].astype(np.intp)
        lines = planned.lines(*whole[:, 2:6].T)
        own = lines >= 0
        lines = lines[own]
        trial[lines], status[lines], filled[lines] = whole[own, 0], whole[own, 1], part[own, 6:]
    _fill_texts(connection, trial, texts)
    columns |= {"trial": trial, "status": pd.Categorical.from_codes(status, pd.Index(_STATUSES))}
    columns |= {"realised_level" if name == "level" else name: filled[:, place] for place, name in enumerate(_NUMBERS)}
    columns["level"] = _levels(planned)
    columns |= {name: pd.Series(column, dtype=object) for name, column in texts.items()}
    return pd.DataFrame({name: columns[name] for name in TRIAL_COLUMNS})


def _stored(connection: sqlite3.Connection, seed: int, protocol: int) -> Any:
    """What is stored, in pieces, all as numbers: trial, status, data set, condition, split, learner, then the numbers."""
    cases = " ".join(f"WHEN '{status}' THEN {place}" for place, status in enumerate(_STATUSES))
    query = (
        f"SELECT id, CASE status {cases} END, dataset, condition, split, learner, {', '.join(_NUMBERS)} "
        "FROM trial WHERE seed = ? AND protocol = ?"
    )
    found = connection.execute(query, (storable_seed(seed), protocol))
    while part := found.fetchmany(_AT_ONCE):
        yield _numbers(part)


def _numbers(part: list[tuple[Any, ...]]) -> FloatArray:
    remedy = "take a copy of the store from before, or run the study into a new one"
    try:
        numbers = np.array(part, dtype=np.float64)
    except ValueError as error:
        raise StoreError(f"a trial is damaged, it holds text in place of a number ({error}): {remedy}") from None
    odd = ~(numbers[:, :6] >= 0).all(axis=1)
    if odd.any():
        raise StoreError(f"trial {numbers[odd, 0][0]:.0f} is damaged, it has no status or is about nothing: {remedy}")
    return numbers


def _fill_texts(connection: sqlite3.Connection, trial: npt.NDArray[np.int64], texts: dict[str, npt.NDArray[Any]]) -> None:
    names = ", ".join(_TEXTS)
    order = np.argsort(trial, kind="stable")
    for own, *told in connection.execute(f"SELECT id, {names} FROM trial WHERE coalesce({names}) IS NOT NULL"):
        place = int(np.searchsorted(trial, own, sorter=order))
        if place < len(order) and trial[order[place]] == own:
            for name, text in zip(_TEXTS, told, strict=True):
                texts[name][order[place]] = text


def _names(planned: Planned) -> dict[str, Any]:
    header = planned.header
    n_conditions, n_learners = len(header["conditions"]), len(header["learners"])
    per_data = planned.n_splits * n_conditions * n_learners
    conditions = np.concatenate([np.repeat(np.arange(n_conditions), n * n_learners) for n in planned.n_splits])
    learners = np.concatenate([np.tile(np.repeat(np.arange(n_learners), n), n_conditions) for n in planned.n_splits])
    parts = [
        np.tile(
            np.array([each[:2] for each in header["splits"][own]], dtype=np.int64).reshape(-1, 2),
            (n_conditions * n_learners, 1),
        )
        for _, own in header["data"]
    ]
    numbers = np.concatenate(parts)
    return {
        "dataset": _named([name for name, _ in header["data"]], np.repeat(np.arange(len(per_data)), per_data)),
        "condition": _named([name for name, *_ in header["conditions"]], conditions),
        "learner": _named([name for name, _ in header["learners"]], learners),
        "repeat": numbers[:, 0],
        "fold": numbers[:, 1],
    }


def _levels(planned: Planned) -> FloatArray:
    per_data = len(planned.header["learners"]) * planned.n_splits
    levels = np.array([float(level) for _, level, _ in planned.header["conditions"]])
    return np.concatenate([np.repeat(levels, each) for each in per_data])


def _named(names: Sequence[str], places: IntArray) -> Any:
    """Names by place, each once among the categories although several conditions may share one."""
    import pandas as pd

    different = list(dict.fromkeys(names))
    codes = np.array([different.index(name) for name in names], dtype=np.intp)
    return pd.Categorical.from_codes(codes[places], pd.Index(different))


def _places(places: Mapping[int, int]) -> IntArray:
    """A table from numbers of the store to places; one more line than needed, so that it is never empty."""
    table = np.full(max(places, default=0) + 2, -1, dtype=np.intp)
    for number, place in places.items():
        table[number] = place
    return table
