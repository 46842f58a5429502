"""A file of predictions that is counted and never held: DuckDB groups and sorts, spilling to disk beyond its memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial.errors import InputError
from fairtrial.measures.tally import ScoreTally
from fairtrial.study.predictions.prediction_files import MISSING, PARQUET, decimal_comma, separator_of
from fairtrial.study.predictions.prediction_roles import Roles, guess_roles

MEMORY = "512MB"
_SAMPLE = 10_000
_BATCH = 1 << 18
_MANY_CLASSES = 1000
# With fewer distinct scores than this share of the rows, adding up equal ones first is faster than sorting all.
_REPEATED = 0.1


class LargeFile:
    """The lines of one or several files, through SQL. Use as a context manager.

    `lines` is the view of all lines, `judged` that of those to be judged: queries name these two, and every name or value from
    the file goes through `name` or `quoted`, so that no text of a user is taken for SQL.

    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "p.parquet"
    >>> pd.DataFrame({"truth": [0, 1, 1, 0], "tree_score": [0.1, 0.8, 0.4, 0.4]}).to_parquet(path)
    >>> with LargeFile([path]) as file:
    ...     print(file.roles.models[0].name, file.tally('"tree_score"', '"truth" = 1', "TRUE", None))
    tree ScoreTally: 3 distinct scores, 2 positives, 2 negatives
    >>> folder.cleanup()
    """

    def __init__(self, paths: list[Path], **given: Any) -> None:
        import duckdb

        self._open = ExitStack()
        spill = self._open.enter_context(tempfile.TemporaryDirectory(prefix="fairtrial-"))
        self._connection = self._open.enter_context(duckdb.connect())
        for setting in (f"memory_limit = '{MEMORY}'", f"temp_directory = {quoted(spill)}", "preserve_insertion_order = false"):
            self._connection.execute(f"SET {setting}")
        self.source = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
        try:
            self._connection.execute(f"CREATE VIEW lines AS SELECT * FROM {self._reader(paths)}")
            self.kinds = {column: kind for column, kind, *_ in self.rows("DESCRIBE lines")}
            self.roles = self._roles(given)
            self.kept = "TRUE"
            self.keep("TRUE")
        except duckdb.Error as error:
            self._open.close()
            raise self._refused(error) from None
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> LargeFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _refused(self, error: Exception) -> InputError:
        return InputError(f"{self.source} cannot be counted: {str(error).splitlines()[0]}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query over `lines` or `judged` gives."""
        import duckdb

        try:
            return self._connection.execute(query).fetchall()
        except duckdb.Error as error:
            raise self._refused(error) from None

    def batches(self, query: str) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        """The columns of a query, batch by batch."""
        import duckdb

        try:
            for batch in self._connection.sql(query).to_arrow_reader(_BATCH):
                yield tuple(batch.column(i).to_numpy(zero_copy_only=False) for i in range(batch.num_columns))
        except duckdb.Error as error:
            raise self._refused(error) from None

    def keep(self, condition: str) -> None:
        """Judge, of the lines judged so far, those of a condition, which may not name `judged` itself."""
        self.kept = f"{self.kept} AND {condition}"
        self.rows(f"CREATE OR REPLACE VIEW judged AS SELECT * FROM lines WHERE {self.kept}")

    def keep_first(self, keys: str, order: str) -> None:
        """Judge the first line of each key in an order; they are written to a table, which spills to disk."""
        roles = self.roles
        used = [*roles.columns.values(), *roles.groups, *(each for one in roles.models for each in one.columns)]
        columns = ", ".join(map(name, dict.fromkeys(used)))
        first = f"QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {order}) = 1"
        self.rows(f"CREATE TEMP TABLE firsts AS SELECT {columns} FROM judged {first}")
        self.rows("CREATE OR REPLACE VIEW judged AS SELECT * FROM firsts")

    def missing(self, column: str) -> str:
        """SQL for whether a cell is empty."""
        nan = f" OR isnan({name(column)})" if self.kinds[column] in ("DOUBLE", "FLOAT") else ""
        return f"({name(column)} IS NULL{nan})"

    def tally(self, score: str, is_positive: str, where: str, weight: str | None) -> ScoreTally:
        """The tally of an expression's values among some lines."""
        lines = f"FROM judged WHERE {where}"
        rows, distinct = self.rows(f"SELECT count(*), approx_count_distinct({score}) {lines}")[0]
        if weight is not None or distinct < _REPEATED * rows:
            amount = "count(*)" if weight is None else f"sum({weight})"
            pos, neg = (f"coalesce({amount} FILTER (WHERE {sign} {is_positive}), 0)" for sign in ("", "NOT"))
            query = f"SELECT {score} AS s, {pos}, {neg} {lines} GROUP BY s ORDER BY s DESC"
            return _gathered(self.batches(query), min(rows, 2 * distinct + 1000), weight is None)
        query = f"SELECT {score} AS s, {is_positive} AS t {lines} ORDER BY s DESC"
        return _gathered((_runs(*batch) for batch in self.batches(query)), rows, counts=True)

    def _reader(self, paths: list[Path]) -> str:
        """The files as a table of SQL."""
        listed = ", ".join(quoted(str(path)) for path in paths)
        if all(path.suffix.lower() in PARQUET for path in paths):
            return f"read_parquet([{listed}])"
        if any(path.suffix.lower() in PARQUET for path in paths):
            raise InputError("files must be all Parquet or all text to be counted, got both: convert some")
        empty = ", ".join(map(quoted, MISSING))
        how = f"delim = {quoted(separator_of(paths[0]))}, header = true, sample_size = 100000, nullstr = [{empty}]"
        how += ", decimal_separator = ','" if decimal_comma(paths[0]) else ""
        found = self.rows(f"DESCRIBE SELECT * FROM read_csv([{listed}], {how})")
        # DuckDB would read no and yes as truth values where they are classes.
        text = ", ".join(f"{quoted(column)}: 'VARCHAR'" for column, kind, *_ in found if kind == "BOOLEAN")
        return f"read_csv([{listed}], {how}{f', types = {{{text}}}' if text else ''})"

    def _roles(self, given: dict[str, Any]) -> Roles:
        """Guessed from the first lines, with a line more for each class."""
        import pandas as pd

        sample = self._connection.execute(f"SELECT * FROM lines LIMIT {_SAMPLE}").df()
        if not len(sample):
            raise InputError(f"{self.source} must hold at least 1 line of predictions, got none")
        column = guess_roles(sample, **given).columns["truth"]
        found = self.rows(f"SELECT DISTINCT {name(column)} FROM lines LIMIT {_MANY_CLASSES}")
        if len(found) >= _MANY_CLASSES:
            raise InputError(f"the truth must hold classes, got {_MANY_CLASSES} different values or more: is it a number?")
        return guess_roles(
            pd.concat([sample, pd.DataFrame({column: [value for (value,) in found]})], ignore_index=True), **given
        )


def name(column: str) -> str:
    """A column's name in SQL."""
    return '"' + column.replace('"', '""') + '"'


def quoted(value: Any) -> str:
    """A value in SQL."""
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    if value is None:
        return "NULL"
    if isinstance(value, (float, np.floating)) and not np.isfinite(value):
        return f"CAST('{float(value)}' AS DOUBLE)"
    if isinstance(value, (int, float, np.number)):
        return repr(value.item() if isinstance(value, np.number) else value)
    return "'" + str(value).replace("'", "''") + "'"


def too_long(paths: list[Path], lines: int = 5_000_000) -> bool:
    """Whether the files hold more lines than are read into memory; those of text files are guessed from their first ones."""
    return sum(map(_lines, paths)) > lines


def _lines(path: Path) -> float:
    if path.suffix.lower() in PARQUET:
        import pyarrow.parquet

        try:
            return float(pyarrow.parquet.ParquetFile(path).metadata.num_rows)
        except (OSError, ValueError, pyarrow.ArrowException):
            return 0.0  # reading it will tell what is wrong
    size = path.stat().st_size
    with open(path, "rb") as file:
        first = file.read(1 << 16)
    return size / max(1.0, len(first) / max(1, first.count(b"\n")))


def _runs(scores: npt.NDArray[Any], positive: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Equal neighbours of sorted scores, added up."""
    if not len(scores):
        return scores, scores, scores
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sizes = np.diff(np.append(starts, len(scores)))
    pos = np.add.reduceat(positive.astype(np.int64), starts)
    return scores[starts], pos, sizes - pos


def _gathered(batches: Iterator[tuple[npt.NDArray[Any], ...]], room: int, counts: bool) -> ScoreTally:
    """One tally of parts in descending order; a score may go on from one part to the next."""
    kind = np.uint8 if counts else np.float64
    values: Any = np.empty(room)
    pos: Any = np.empty(room, dtype=kind)
    neg: Any = np.empty(room, dtype=kind)
    size = 0
    for score, positives, negatives in batches:
        amounts = [positives, negatives]
        if not len(score):
            continue
        if size and values[size - 1] == score[0]:
            amounts = [each.copy() for each in amounts]
            amounts[0][0] += pos[size - 1]
            amounts[1][0] += neg[size - 1]
            size -= 1
        if size + len(score) > len(values):
            values, pos, neg = (np.resize(each, 2 * (size + len(score))) for each in (values, pos, neg))
        pos, neg = _roomy(pos, amounts[0]), _roomy(neg, amounts[1])
        here = slice(size, size + len(score))
        values[here], pos[here], neg[here] = score, amounts[0], amounts[1]
        size += len(score)
    return ScoreTally(values[:size], pos[:size], neg[:size])


def _roomy(counts: npt.NDArray[Any], coming: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, in a larger type if the coming counts need it."""
    if counts.dtype == np.float64 or coming.max() <= np.iinfo(counts.dtype).max:
        return counts
    return counts.astype(np.min_scalar_type(int(coming.max())))
