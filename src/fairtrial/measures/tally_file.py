"""Tallies of files that are larger than memory, counted by DuckDB.

DuckDB adds up equal scores and sorts them, spilling to disk beyond `memory_limit`; the sorted groups stream into one array of
values and two of counts, each count in the smallest type that holds it. A hundred million distinct scores take 1 GB that way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.measures.tally import ScoreTally

if TYPE_CHECKING:
    import duckdb

_BATCH = 1 << 18
_MANY_CLASSES = 1000


def tally_file(
    path: str | Path,
    *,
    score: str,
    truth: str,
    positive: object = None,
    weight: str | None = None,
    memory_limit: str = "512MB",
) -> ScoreTally:
    """Tally the columns `score` and `truth` of a Parquet or CSV file; `positive` defaults to the greater of two classes.

    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "predictions.parquet"
    >>> pd.DataFrame({"truth": [0, 1, 1, 0], "score": [0.1, 0.8, 0.4, 0.4]}).to_parquet(file)
    >>> print(tally_file(file, score="score", truth="truth"))
    ScoreTally: 3 distinct scores, 2 positives, 2 negatives
    >>> folder.cleanup()
    """
    import duckdb

    if not Path(path).is_file() and not any(glob(str(path))):
        raise InputError(f"path must name a file, or files by a pattern, got {str(path)!r}")
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as spill, duckdb.connect() as connection:
        try:
            connection.execute(f"SET memory_limit = {_text(memory_limit)}")
        except _duckdb_error():
            raise InputError(f"memory_limit must be an amount such as '512MB', got {memory_limit!r}") from None
        connection.execute(f"SET temp_directory = {_text(spill)}")
        connection.execute("SET preserve_insertion_order = false")
        return _Counting(connection, Path(path), score, truth, weight, isinstance(positive, str)).tally(positive)


class _Counting:
    """One file being counted."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: Path, score: str, truth: str, weight: str | None, text: bool
    ) -> None:
        self._connection = connection
        reader = "read_parquet" if path.suffix.lower() in (".parquet", ".pq") else "read_csv"
        # DuckDB would read no and yes as truth values where the user speaks of text.
        typed = f", types = {{{_text(truth)}: 'VARCHAR'}}" if text and reader == "read_csv" else ""
        self._file = f"{reader}({_text(str(path))}{typed})"
        try:
            columns = [name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {self._file}").fetchall()]
        except _duckdb_error() as error:
            raise InputError(f"path must name a Parquet or CSV file, got {path}: {_first_line(error)}") from None
        for name in (score, truth, weight):
            if name is not None and name not in columns:
                raise InputError(f"{path} must have the column {name!r}: {did_you_mean(name, columns)}")
        self._score, self._truth = f"CAST({_name(score)} AS DOUBLE)", _name(truth)
        self._weight = None if weight is None else f"CAST({_name(weight)} AS DOUBLE)"

    def tally(self, positive: object) -> ScoreTally:
        """Check the columns in one scan, then count."""
        classes = self._classes()
        wanted = self._positive(classes, positive)
        rows = self._checked_rows()
        amount = "count(*)" if self._weight is None else f"sum({self._weight})"
        pos, neg = (f"coalesce({amount} FILTER (WHERE {self._truth} {sign} $wanted), 0)" for sign in ("=", "<>"))
        query = f"SELECT {self._score} AS s, {pos} AS p, {neg} AS q FROM {self._file} GROUP BY s ORDER BY s DESC"
        return _gathered(self._batches(query, wanted), rows, counts=self._weight is None)

    def _classes(self) -> list[Any]:
        found = self._connection.execute(f"SELECT DISTINCT {self._truth} FROM {self._file} LIMIT {_MANY_CLASSES}").fetchall()
        classes = [value for (value,) in found]
        if not classes:
            raise InputError("the file must hold at least 1 row, got 0")
        if any(value is None for value in classes):
            raise InputError(f"{self._truth} must not hold missing labels: drop these rows")
        return sorted(classes)

    def _positive(self, classes: list[Any], positive: object) -> object:
        positive = positive.item() if isinstance(positive, np.generic) else positive
        if positive is not None:
            if positive not in classes and len(classes) < _MANY_CLASSES:
                raise InputError(f"positive must be one of the classes, got {positive!r}: {did_you_mean(positive, classes)}")
            return positive
        if len(classes) > 2:
            raise InputError(f"positive must be named when there are {len(classes)} classes: pass positive=")
        return 1 if classes in ([0], [1]) else classes[-1]

    def _checked_rows(self) -> int:
        bad = f"{self._score} IS NULL OR NOT isfinite({self._score})"
        query = f"SELECT count(*), count(*) FILTER (WHERE {bad})"
        if self._weight is not None:
            query += f", count(*) FILTER (WHERE {self._weight} IS NULL OR NOT isfinite({self._weight}) OR {self._weight} < 0)"
        try:
            rows, not_finite, *bad_weights = self._connection.execute(f"{query} FROM {self._file}").fetchall()[0]
        except _duckdb_error() as error:
            raise InputError(f"scores and weights must be numbers: {_first_line(error)}") from None
        if not_finite:
            raise InputError(f"the scores must be finite, got {not_finite} that are not: drop these rows")
        if any(bad_weights):
            raise InputError(f"the weights must be finite and not negative, got {bad_weights[0]} that are not")
        return int(rows)

    def _batches(self, query: str, wanted: object) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        reader = self._connection.sql(query, params={"wanted": wanted}).to_arrow_reader(_BATCH)
        for batch in reader:
            yield tuple(batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))


def _gathered(batches: Iterator[tuple[npt.NDArray[Any], ...]], rows: int, *, counts: bool) -> ScoreTally:
    values = np.empty(rows)
    pos: Any = np.empty(rows, dtype=np.uint8 if counts else np.float64)
    neg: Any = np.empty(rows, dtype=np.uint8 if counts else np.float64)
    size = 0
    for score, positives, negatives in batches:
        here = slice(size, size + len(score))
        pos, neg = _roomy(pos, positives), _roomy(neg, negatives)
        values[here], pos[here], neg[here] = score, positives, negatives
        size += len(score)
    return ScoreTally(values[:size], pos[:size], neg[:size])


def _roomy(counts: npt.NDArray[Any], coming: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, in a larger type if the coming counts need it."""
    if counts.dtype == np.float64 or coming.max() <= np.iinfo(counts.dtype).max:
        return counts
    return counts.astype(np.min_scalar_type(int(coming.max())))


def _duckdb_error() -> type[Exception]:
    import duckdb

    return duckdb.Error


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0]


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
