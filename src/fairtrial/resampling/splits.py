"""Frozen splits: training and test indices of every repeat and fold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial._text import format_count
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test indices of one split. Unpack them with `train, test = split`.

    Attributes
    ----------
    train, test : ndarray of int
        Indices of training and test rows.
    repeat, fold : int
        Repeat and fold, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = Split(np.array([0, 1]), np.array([2]))
    >>> test.tolist()
    [2]
    """

    train: IntArray
    test: IntArray
    repeat: int = 0
    fold: int = 0

    def __iter__(self) -> Iterator[IntArray]:
        return iter((self.train, self.test))


@dataclass(frozen=True, eq=False)
class Splits:
    """Frozen splits of a data set, usable as `cv=` in scikit-learn.

    Attributes
    ----------
    n_rows : int
        Number of rows of the data set.
    splits : tuple of Split
        The splits.
    scheme : str
        Splitter that drew the splits, or "given".

    Examples
    --------
    >>> splits = Splits.from_pairs([([0, 1], [2]), ([2], [0, 1])], n_rows=3)
    >>> [(train.tolist(), test.tolist()) for train, test in splits]
    [([0, 1], [2]), ([2], [0, 1])]
    >>> print(splits)
    given: 2 splits of 3 rows, test sets of 1 to 2 rows
    """

    n_rows: int
    splits: tuple[Split, ...]
    scheme: str = "given"

    @classmethod
    def from_pairs(cls, splits: Iterable[Any], n_rows: int, scheme: str = "given") -> Splits:
        """Build splits from pairs (train, test).

        Parameters
        ----------
        splits : iterable of (train, test) or of Split
            Pairs of row indices or masks. Repeats and folds of `Split` objects are kept.
        n_rows : int
            Number of rows of the data set.
        scheme : str, default "given"
            Origin of the splits.

        Returns
        -------
        Splits
        """
        if isinstance(splits, Splits):
            if splits.n_rows != n_rows:
                raise InputError(f"splits must be for a data set with {n_rows} rows, got splits for {splits.n_rows} rows")
            return splits
        items = [_read_split(pair, fold, n_rows) for fold, pair in enumerate(splits)]
        if not items:
            raise InputError("splits must contain at least 1 split, got 0")
        return cls(n_rows, tuple(items), scheme)

    def __iter__(self) -> Iterator[Split]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate the splits, as scikit-learn does.

        Parameters
        ----------
        X : table or list, optional
            Data with the same number of rows as the splits.
        y, groups : object, optional
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Indices of training and test rows.
        """
        rows = self.n_rows if X is None else count_rows(X)
        if rows != self.n_rows:
            raise InputError(f"X must have {self.n_rows} rows, like the data of the splits, got {rows}")
        for split in self.splits:
            yield split.train, split.test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        return len(self.splits)

    @cached_property
    def content_hash(self) -> str:
        """Return the SHA-256 hash of the number of rows and all indices."""
        digest = hashlib.sha256(str(self.n_rows).encode())
        for split in self.splits:
            for side in split:
                digest.update(len(side).to_bytes(8, "little") + side.astype("<i8").tobytes())
        return digest.hexdigest()

    def frame(self) -> pd.DataFrame:
        """Return a data frame with the repeat, fold and row index of each test row."""
        import pandas as pd

        lines = [pd.DataFrame({"repeat": split.repeat, "fold": split.fold, "row": split.test}) for split in self.splits]
        return pd.concat(lines, ignore_index=True)

    def __repr__(self) -> str:
        return f"<Splits {self}>"

    def __str__(self) -> str:
        sizes = [len(split.test) for split in self.splits]
        repeats = 1 + max(split.repeat for split in self.splits)
        repeats_text = f" in {repeats} repeats" if repeats > 1 else ""
        least, most = f"{min(sizes):,}", format_count(max(sizes), "row")
        sizes_text = f"test sets of {most}" if max(sizes) == min(sizes) else f"test sets of {least} to {most}"
        splits, rows = format_count(len(sizes), "split"), format_count(self.n_rows, "row")
        return f"{self.scheme}: {splits}{repeats_text} of {rows}, {sizes_text}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def count_rows(X: Any) -> int:
    """Return the number of rows of a table, sparse matrix or list.

    >>> count_rows([["a"], ["b"]]), count_rows(np.zeros((3, 2)))
    (2, 3)
    """
    shape = getattr(X, "shape", None)
    if shape is None and hasattr(X, "__len__") and not isinstance(X, str):
        return len(X)
    if not shape:
        raise InputError(f"X must be a table or a list with one entry per row, got {X!r}")
    return int(shape[0])


def _read_split(pair: Any, fold: int, n_rows: int) -> Split:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise InputError(f"split {fold} must be a pair (train, test), got {type(pair).__name__}") from None
    repeat, fold_in_repeat = (pair.repeat, pair.fold) if isinstance(pair, Split) else (0, fold)
    return Split(
        _read_positions(f"train of split {fold}", train, n_rows),
        _read_positions(f"test of split {fold}", test, n_rows),
        repeat,
        fold_in_repeat,
    )


def _read_positions(name: str, positions: npt.ArrayLike, n_rows: int) -> IntArray:
    rows = np.asarray(positions)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.shape == (0,):
        raise InputError(f"{name} must contain at least 1 row, got 0")
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(
            f"{name} must contain row indices, got {positions!r}: pass integers or a Boolean mask for {n_rows} rows"
        )
    if not (rows.min() >= 0 and rows.max() < n_rows):
        raise InputError(f"{name} must contain indices from 0 to {n_rows - 1}, got {rows.min()} to {rows.max()}")
    if rows.flags.writeable or rows.dtype != np.intp:
        rows = rows.astype(np.intp)
        rows.flags.writeable = False
    return rows


def read_splits(table: Any, n_rows: int) -> Splits:
    """Read splits from a CSV file or a data frame.

    The table lists the test rows of each fold in the columns `row`, `fold` and, optionally, `repeat`. All other rows are
    training rows.

    Parameters
    ----------
    table : path or DataFrame
        Table of test rows. Row indices start at 0.
    n_rows : int
        Number of rows of the data set.

    Returns
    -------
    Splits

    Examples
    --------
    >>> import pandas as pd
    >>> print(read_splits(pd.DataFrame({"fold": [0, 0, 1], "row": [0, 1, 2]}), 3))
    given: 2 splits of 3 rows, test sets of 1 to 2 rows
    """
    frame, source = _read_split_frame(table)
    for name in ("row", "fold"):
        if name not in frame:
            raise InputError(f"{source} must have the column {name!r}, got {list(map(str, frame.columns))}")
    columns = {name: _check_whole_numbers(source, name, frame[name]) for name in ("repeat", "fold", "row") if name in frame}
    rows, fold = columns["row"], columns["fold"]
    if rows.min() < 0 or rows.max() >= n_rows:
        raise InputError(f"{source} must contain rows from 0 to {n_rows - 1}, got {rows.min()} to {rows.max()}")
    repeat = columns.get("repeat", np.zeros_like(rows))
    split_keys = np.unique(np.column_stack([repeat, fold]), axis=0)
    splits = []
    for repeat_number, fold_number in split_keys:
        test = np.sort(rows[(repeat == repeat_number) & (fold == fold_number)])
        is_train = np.ones(n_rows, dtype=bool)
        is_train[test] = False
        splits.append(Split(np.flatnonzero(is_train), test, int(repeat_number), int(fold_number)))
    return Splits.from_pairs(splits, n_rows)


def _read_split_frame(table: Any) -> tuple[Any, str]:
    import pandas as pd

    if not isinstance(table, (str, Path)):
        return table, "splits"
    if Path(table).is_dir():
        raise InputError(f"{table} is a folder: pass a file")
    if not Path(table).is_file():
        raise InputError(f"splits must be an existing file, got {str(table)!r}: check the path")
    try:
        return pd.read_csv(table), f"splits file {str(table)!r}"
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"splits file {str(table)!r} must be a CSV table: {error}") from None


def _check_whole_numbers(source: str, name: str, values: Any) -> Any:
    array = np.asarray(values)
    if len(array) == 0:
        raise InputError(f"{source} must have at least 1 row, got 0")
    if array.dtype.kind not in "iu":
        line = next((index for index, value in enumerate(array.tolist()) if not _is_whole(value)), 0)
        raise InputError(f"{source} must contain integers in the column {name!r}, got {array[line]!r} in row {line + 1}")
    return array.astype(np.intp)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer()) or str(value).lstrip("-").isdigit()
