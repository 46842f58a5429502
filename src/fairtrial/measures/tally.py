"""The tally of scores: the sufficient statistic for measures of scores.

A tally is built from arrays, or from a file that may be larger than memory. DuckDB groups and sorts the scores of a file, and
writes temporary files if the data exceed `memory_limit`. The sorted groups are collected in one array of values and two arrays
of counts. The counts have the smallest data type that is sufficient, so 100 million distinct scores need 1 GB.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._registry import suggest_name
from fairtrial._text import format_html_table
from fairtrial.errors import InputError
from fairtrial.kernels import sorting, tally as kernels
from fairtrial.measures.confusion import Cells

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTally:
    """Weights of positives and negatives for each distinct score, highest score first.

    Tallies can be added, so different workers can count different rows. The constructor does not check its input. Use
    `from_scores`, `from_counts` or `from_parquet` instead.

    Parameters
    ----------
    values : ndarray of shape (m,) or (batch, m)
        Distinct scores, highest first.
    pos, neg : ndarray of shape (m,) or (batch, m)
        Total weight of positives and of negatives with each score. Arrays with a leading axis are batches of tallies. A score
        with zero weight is treated as absent.

    Examples
    --------
    >>> tally = ScoreTally.from_scores([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.4])
    >>> tally.frame()
       score  positives  negatives
    0    0.8        1.0        0.0
    1    0.4        1.0        1.0
    2    0.1        0.0        1.0
    """

    values: FloatArray
    pos: FloatArray
    neg: FloatArray

    @classmethod
    def from_scores(
        cls,
        y_true: npt.ArrayLike,
        y_score: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Any = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> ScoreTally:
        """Tally true labels and scores of a two-class problem.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_score : array-like of shape (n,)
            Scores of the positive class.
        positive : label, optional
            Positive class. Default: the second class in sort order, if there are two classes.
        labels : list, optional
            All classes. Default: the classes in the data, sorted.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        ScoreTally
        """
        from fairtrial.measures.rows import ScoreRows

        rows = ScoreRows.read(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
        return rows.select_class(rows.classes.require_positive()).tally

    @classmethod
    def from_counts(cls, values: npt.ArrayLike, pos: npt.ArrayLike, neg: npt.ArrayLike) -> ScoreTally:
        """Build a tally from scores and their counts.

        Parameters
        ----------
        values : array-like of shape (m,)
            Scores in any order.
        pos, neg : array-like of shape (m,)
            Total weight of positives and of negatives with each score.

        Returns
        -------
        ScoreTally

        Examples
        --------
        >>> print(ScoreTally.from_counts([0.1, 0.9], [0, 3], [5, 1]))
        ScoreTally: 2 distinct scores, 3 positives, 6 negatives
        """
        scores, *counts = (
            _check.check_finite(name, _check.check_numbers(name, _check.check_column(name, column)))
            for name, column in (("values", values), ("pos", pos), ("neg", neg))
        )
        _check.check_same_length(values=scores, pos=counts[0], neg=counts[1])
        for name, class_counts in zip(("pos", "neg"), counts, strict=True):
            if (class_counts < 0).any():
                raise InputError(f"{name} must be at least 0, got {class_counts.min()}")
        distinct, indices = np.unique(scores, return_inverse=True)
        pos_sums, neg_sums = (np.bincount(indices, class_counts).astype(np.float64)[::-1].copy() for class_counts in counts)
        return cls(distinct[::-1].copy(), pos_sums, neg_sums)

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        *,
        score: str = "score",
        y_true: str = "y_true",
        positive: object = None,
        weight: str | None = None,
        memory_limit: str = "512MB",
    ) -> ScoreTally:
        """Tally a Parquet or CSV file that may be larger than memory.

        Parameters
        ----------
        path : str or Path
            File, or a pattern that matches files.
        score, y_true : str
            Columns of scores and of true labels.
        positive : label, optional
            Positive class. Default: the second class in sort order, if there are two classes.
        weight : str, optional
            Column of row weights.
        memory_limit : str, default "512MB"
            Memory limit of DuckDB. Larger data are written to temporary files.

        Returns
        -------
        ScoreTally
        """
        return tally_file(path, score=score, y_true=y_true, positive=positive, weight=weight, memory_limit=memory_limit)

    def __add__(self, addend: ScoreTally) -> ScoreTally:
        if self.values.ndim > 1 or self.pos.ndim > 1 or addend.values.ndim > 1 or addend.pos.ndim > 1:
            raise InputError("tallies must be single to be added, got a batch")
        values = np.union1d(self.values, addend.values)[::-1].copy()
        pos, neg = np.zeros(len(values)), np.zeros(len(values))
        for part in (self, addend):
            indices = len(values) - 1 - np.searchsorted(values[::-1], part.values)
            pos[indices] += part.pos
            neg[indices] += part.neg
        return ScoreTally(values, pos, neg)

    def count_cells(self, thresholds: npt.ArrayLike) -> Cells:
        """Count true and false positives and negatives at thresholds, in one pass over the tally.

        A case is predicted positive if its score is at least the threshold.

        Parameters
        ----------
        thresholds : array-like of shape (t,)
            Thresholds in any order.

        Returns
        -------
        Cells
            Arrays of shape (t,).

        Examples
        --------
        >>> ScoreTally.from_scores([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.4]).count_cells([0.4, 0.5]).tp.tolist()
        [2.0, 1.0]
        """
        if self.values.ndim > 1 or self.pos.ndim > 1:
            raise InputError("a tally must be single to count cells, got a batch")
        cuts = len(self.values) - np.searchsorted(self.values[::-1], np.asarray(thresholds, dtype=np.float64), side="left")
        tp, fp = (np.append(0.0, np.cumsum(counts, dtype=np.float64))[cuts] for counts in (self.pos, self.neg))
        return Cells(tp, fp, self.positives - tp, self.negatives - fp)

    @property
    def positives(self) -> Any:
        """The total weight of the positives."""
        return self.pos.sum(axis=-1, dtype=np.float64)

    @property
    def negatives(self) -> Any:
        """The total weight of the negatives."""
        return self.neg.sum(axis=-1, dtype=np.float64)

    def stack_axes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return `values`, `pos` and `neg` with a leading axis, as the kernels require."""
        return np.atleast_2d(self.values), np.atleast_2d(self.pos), np.atleast_2d(self.neg)

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per distinct score; batches are not supported."""
        import pandas as pd

        if self.pos.ndim > 1:
            raise InputError("frame needs a single tally, got a batch: select one tally")
        return pd.DataFrame({"score": self.values, "positives": self.pos, "negatives": self.neg})

    def __str__(self) -> str:
        if self.pos.ndim > 1:
            return f"ScoreTally: batch of {self.pos.shape[0]} tallies"
        return f"ScoreTally: {len(self.values)} distinct scores, {self.positives:g} positives, {self.negatives:g} negatives"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return format_html_table(self.frame(), index=True, max_rows=20) if self.pos.ndim == 1 else escape(str(self))


def tally_scores(is_positive: npt.NDArray[np.bool_], scores: FloatArray, weights: FloatArray | None) -> ScoreTally:
    """Tally one column of scores."""
    n = len(scores)
    values, pos, neg = np.empty((1, n)), np.empty((1, n)), np.empty((1, n))
    if weights is None:
        size = kernels.TOO_WIDE
        if sorting.LONG <= n < 2**32:
            # Memory that NumPy allocates is faster to fill than that of a kernel, because it has large pages.
            keys, spare = np.empty(n, np.uint64), np.empty(n, np.uint64)
            size = kernels.tally_by_radix(is_positive, scores, keys, spare, values[0], pos[0], neg[0])
        if size < 0:
            _check.check_finite("y_score", scores)
            positives, negatives = kernels.split_scores(is_positive, scores)
            positives.sort()
            negatives.sort()
            size = kernels.merge_tallies(
                positives[None], negatives[None], _wrap_length(positives), _wrap_length(negatives), values, pos, neg
            )
    else:
        _check.check_finite("y_score", scores)
        descending = sorting.order_scores(scores)[::-1]
        descending = descending[weights[descending] > 0]
        size = kernels.sum_equal_scores(
            scores[descending], is_positive[descending], weights[descending], values[0], pos[0], neg[0]
        )
    return ScoreTally(values[0, :size], pos[0, :size], neg[0, :size])


def tally_models(is_positive: npt.NDArray[np.bool_], scores: FloatArray) -> ScoreTally:
    """Tally the scores of many models.

    `scores` has shape (B, n), and `is_positive` has shape (n,) or (B, n).
    """
    B, n = scores.shape
    if is_positive.ndim == 1:
        positives, negatives = scores[:, is_positive], scores[:, ~is_positive]
        n_positives = np.full(B, positives.shape[1], dtype=np.intp)
        n_negatives = n - n_positives
    else:
        positives, negatives = np.where(is_positive, scores, np.inf), np.where(is_positive, np.inf, scores)
        n_positives = is_positive.sum(axis=1, dtype=np.intp)
        n_negatives = n - n_positives
    positives.sort(axis=1)
    negatives.sort(axis=1)
    values, pos, neg = np.empty((B, n)), np.empty((B, n)), np.empty((B, n))
    kernels.merge_tallies(positives, negatives, n_positives, n_negatives, values, pos, neg)
    return ScoreTally(values, pos, neg)


def _wrap_length(array: FloatArray) -> npt.NDArray[np.intp]:
    return np.array([len(array)], dtype=np.intp)


_BATCH = 1 << 18
_MANY_CLASSES = 1000


def tally_file(
    path: str | Path,
    *,
    score: str,
    y_true: str,
    positive: object = None,
    weight: str | None = None,
    memory_limit: str = "512MB",
) -> ScoreTally:
    """Tally two columns of a Parquet or CSV file; see `ScoreTally.from_parquet`.

    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "predictions.parquet"
    >>> pd.DataFrame({"y_true": [0, 1, 1, 0], "score": [0.1, 0.8, 0.4, 0.4]}).to_parquet(file)
    >>> print(tally_file(file, score="score", y_true="y_true"))
    ScoreTally: 3 distinct scores, 2 positives, 2 negatives
    >>> folder.cleanup()
    """
    import duckdb

    if not Path(path).is_file() and not any(glob(str(path))):
        raise InputError(f"path must be a file or a pattern that matches files, got {str(path)!r}")
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as spill, duckdb.connect() as connection:
        try:
            connection.execute(f"SET memory_limit = {_quote_text(memory_limit)}")
        except _get_duckdb_error():
            raise InputError(f"memory_limit must be a size such as '512MB', got {memory_limit!r}") from None
        connection.execute(f"SET temp_directory = {_quote_text(spill)}")
        return _TallyQuery(connection, Path(path), score, y_true, weight, isinstance(positive, str)).tally(positive)


class _TallyQuery:
    """SQL queries that check and tally the scores of one file."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        score: str,
        y_true: str,
        weight: str | None,
        labels_are_text: bool,
    ) -> None:
        self._connection = connection
        reader = "read_parquet" if path.suffix.lower() in (".parquet", ".pq") else "read_csv"
        # Otherwise, DuckDB would read the labels no and yes as Boolean values.
        typed = f", types = {{{_quote_text(y_true)}: 'VARCHAR'}}" if labels_are_text and reader == "read_csv" else ""
        self._file = f"{reader}({_quote_text(str(path))}{typed})"
        try:
            columns = [name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {self._file}").fetchall()]
        except _get_duckdb_error() as error:
            raise InputError(f"path must be a Parquet or CSV file, got {path}: {_get_first_line(error)}") from None
        for name in (score, y_true, weight):
            if name is not None and name not in columns:
                raise InputError(f"{path} must have the column {name!r}: {suggest_name(name, columns)}")
        self._score, self._y_true = f"CAST({quote_identifier(score)} AS DOUBLE)", quote_identifier(y_true)
        self._weight = None if weight is None else f"CAST({quote_identifier(weight)} AS DOUBLE)"

    def tally(self, positive: object) -> ScoreTally:
        """Check the columns, then count positives and negatives for each score."""
        classes = self._read_classes()
        positive_class = self._choose_positive(classes, positive)
        rows = self._count_checked_rows()
        amount = "count(*)" if self._weight is None else f"sum({self._weight})"
        pos, neg = (f"coalesce({amount} FILTER (WHERE {self._y_true} {sign} $positive), 0)" for sign in ("=", "<>"))
        query = f"SELECT {self._score} AS s, {pos} AS p, {neg} AS q FROM {self._file} GROUP BY s ORDER BY s DESC"
        return _collect_batches(self._iterate_batches(query, positive_class), rows, counts=self._weight is None)

    def _read_classes(self) -> list[Any]:
        rows = self._connection.execute(f"SELECT DISTINCT {self._y_true} FROM {self._file} LIMIT {_MANY_CLASSES}").fetchall()
        classes = [value for (value,) in rows]
        if not classes:
            raise InputError("the file must have at least 1 row, got 0")
        if any(value is None for value in classes):
            raise InputError(f"{self._y_true} must not contain missing labels: drop these rows")
        return sorted(classes)

    def _choose_positive(self, classes: list[Any], positive: object) -> object:
        positive = positive.item() if isinstance(positive, np.generic) else positive
        if positive is not None:
            if positive not in classes and len(classes) < _MANY_CLASSES:
                raise InputError(f"positive must be one of the classes, got {positive!r}: {suggest_name(positive, classes)}")
            return positive
        if len(classes) > 2:
            raise InputError(f"positive must be given if there are {len(classes)} classes: pass positive=")
        return 1 if classes in ([0], [1]) else classes[-1]

    def _count_checked_rows(self) -> int:
        bad = f"{self._score} IS NULL OR NOT isfinite({self._score})"
        query = f"SELECT count(*), count(*) FILTER (WHERE {bad})"
        if self._weight is not None:
            query += f", count(*) FILTER (WHERE {self._weight} IS NULL OR NOT isfinite({self._weight}) OR {self._weight} < 0)"
        try:
            rows, not_finite, *bad_weights = self._connection.execute(f"{query} FROM {self._file}").fetchall()[0]
        except _get_duckdb_error() as error:
            raise InputError(f"scores and weights must be numbers: {_get_first_line(error)}") from None
        if not_finite:
            raise InputError(f"scores must be finite, got {not_finite} that are not: drop these rows")
        if any(bad_weights):
            raise InputError(f"weights must be finite and at least 0, got {bad_weights[0]} that are not")
        return int(rows)

    def _iterate_batches(self, query: str, positive_class: object) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        reader = self._connection.sql(query, params={"positive": positive_class}).to_arrow_reader(_BATCH)
        for batch in reader:
            yield tuple(batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))


def _collect_batches(batches: Iterator[tuple[npt.NDArray[Any], ...]], rows: int, *, counts: bool) -> ScoreTally:
    values = np.empty(rows)
    pos: Any = np.empty(rows, dtype=np.uint8 if counts else np.float64)
    neg: Any = np.empty(rows, dtype=np.uint8 if counts else np.float64)
    size = 0
    for score, positives, negatives in batches:
        target = slice(size, size + len(score))
        pos, neg = _extend_dtype(pos, positives), _extend_dtype(neg, negatives)
        values[target], pos[target], neg[target] = score, positives, negatives
        size += len(score)
    return build_sorted_tally(values[:size], pos[:size], neg[:size])


def build_sorted_tally(values: FloatArray, pos: Any, neg: Any) -> ScoreTally:
    """Build a tally from the result of a query that sorts by score.

    The order is checked, because some versions of DuckDB return the batches out of order.
    """
    is_sorted = bool((values[1:] < values[:-1]).all())
    return ScoreTally(values, pos, neg) if is_sorted else ScoreTally.from_counts(values, pos, neg)


def _extend_dtype(counts: npt.NDArray[Any], new_counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `counts`, converted to a larger data type if the new counts do not fit."""
    if counts.dtype == np.float64 or new_counts.max() <= np.iinfo(counts.dtype).max:
        return counts
    return counts.astype(np.min_scalar_type(int(new_counts.max())))


def _get_duckdb_error() -> type[Exception]:
    import duckdb

    return duckdb.Error


def _get_first_line(error: Exception) -> str:
    return str(error).split("\n")[0]


def _quote_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def quote_identifier(column: str) -> str:
    """Quote a column name for SQL."""
    return '"' + column.replace('"', '""') + '"'
