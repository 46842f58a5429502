"""Frozen splits: train and test indices of every repeat and fold, written to and read from tables."""

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
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Split:
    """One split: positions of training and test rows; `repeat` and `fold` count from 0. It unpacks to train, test."""

    train: IntArray
    test: IntArray
    repeat: int = 0
    fold: int = 0

    def __iter__(self) -> Iterator[IntArray]:
        return iter((self.train, self.test))


@dataclass(frozen=True, eq=False)
class Splits:
    """Frozen splits of `n_rows` rows. They are a `cv=` for scikit-learn, whatever data comes with it.

    >>> splits = Splits.from_pairs([([0, 1], [2]), ([2], [0, 1])], n_rows=3)
    >>> [(train.tolist(), test.tolist()) for train, test in splits]
    [([0, 1], [2]), ([2], [0, 1])]
    >>> print(splits)
    given: 2 splits of 3 rows, test parts of 1 to 2
    """

    n_rows: int
    splits: tuple[Split, ...]
    scheme: str = "given"

    @classmethod
    def from_pairs(cls, splits: Iterable[Any], n_rows: int, scheme: str = "given") -> Splits:
        """Of pairs (train, test), each positions or a mask; repeats are counted where the splits carry them."""
        if isinstance(splits, Splits):
            if splits.n_rows != n_rows:
                raise InputError(f"splits must be of the {n_rows} rows at hand, got splits of {splits.n_rows} rows")
            return splits
        items = [_read_split(pair, fold, n_rows) for fold, pair in enumerate(splits)]
        if not items:
            raise InputError("splits must hold at least 1 split, got 0")
        return cls(n_rows, tuple(items), scheme)

    def __iter__(self) -> Iterator[Split]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """The splits as scikit-learn asks for them; `X` must have as many rows as they were made for."""
        rows = self.n_rows if X is None else count_rows(X)
        if rows != self.n_rows:
            raise InputError(f"X must have the {self.n_rows} rows that the splits were made for, got {rows}")
        for split in self.splits:
            yield split.train, split.test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return len(self.splits)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all positions in order."""
        digest = hashlib.sha256(str(self.n_rows).encode())
        for split in self.splits:
            for side in split:
                digest.update(len(side).to_bytes(8, "little") + side.astype("<i8").tobytes())
        return digest.hexdigest()

    def frame(self) -> pd.DataFrame:
        """A line for each row of each test part: repeat, fold, row."""
        import pandas as pd

        lines = [pd.DataFrame({"repeat": split.repeat, "fold": split.fold, "row": split.test}) for split in self.splits]
        return pd.concat(lines, ignore_index=True)

    def __repr__(self) -> str:
        return f"<Splits {self}>"

    def __str__(self) -> str:
        sizes = [len(split.test) for split in self.splits]
        repeats = 1 + max(split.repeat for split in self.splits)
        repeats_text = f" in {repeats} repeats" if repeats > 1 else ""
        sizes_text = f"test parts of {min(sizes)}" + (f" to {max(sizes)}" if max(sizes) > min(sizes) else "")
        return f"{self.scheme}: {len(sizes)} splits{repeats_text} of {self.n_rows} rows, {sizes_text}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def count_rows(X: Any) -> int:
    """How many rows a table, a sparse matrix or a list has.

    >>> count_rows([["a"], ["b"]]), count_rows(np.zeros((3, 2)))
    (2, 3)
    """
    shape = getattr(X, "shape", None)
    if shape is None and hasattr(X, "__len__") and not isinstance(X, str):
        return len(X)
    if not shape:
        raise InputError(f"X must be a table or a list with an entry for each row, got {X!r}")
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
        raise InputError(f"{name} must hold at least 1 row, got none: a learner needs rows to learn from and to be tested on")
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(
            f"{name} must hold positions of rows, got {positions!r}: pass whole numbers, or a mask of {n_rows} rows"
        )
    if not (rows.min() >= 0 and rows.max() < n_rows):
        raise InputError(f"{name} must hold positions from 0 to {n_rows - 1}, got {rows.min()} to {rows.max()}")
    if rows.flags.writeable or rows.dtype != np.intp:
        rows = rows.astype(np.intp)
        rows.flags.writeable = False
    return rows


def read_splits(table: Any, n_rows: int) -> Splits:
    """Splits from a CSV file or a frame with the columns row and fold, perhaps repeat: the rows that each fold tests.

    Rows count from 0. All other rows train.

    >>> import pandas as pd
    >>> print(read_splits(pd.DataFrame({"fold": [0, 0, 1], "row": [0, 1, 2]}), 3))
    given: 2 splits of 3 rows, test parts of 1 to 2
    """
    frame, source = _read_split_frame(table)
    for name in ("row", "fold"):
        if name not in frame:
            raise InputError(f"{source} must have the column {name!r}, got {list(map(str, frame.columns))}")
    columns = {name: _check_whole_numbers(source, name, frame[name]) for name in ("repeat", "fold", "row") if name in frame}
    rows, fold = columns["row"], columns["fold"]
    if rows.min() < 0 or rows.max() >= n_rows:
        raise InputError(f"{source} must hold rows from 0 to {n_rows - 1}, got {rows.min()} to {rows.max()}: rows count from 0")
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
    if not Path(table).is_file():
        raise InputError(f"splits must be a file that exists, got {str(table)!r}: check the path")
    try:
        return pd.read_csv(table), f"splits file {str(table)!r}"
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"splits file {str(table)!r} must be a CSV table: {error}") from None


def _check_whole_numbers(source: str, name: str, values: Any) -> Any:
    array = np.asarray(values)
    if len(array) == 0:
        raise InputError(f"{source} must hold at least 1 row, got 0")
    if array.dtype.kind not in "iu":
        line = next((index for index, value in enumerate(array.tolist()) if not _is_whole(value)), 0)
        raise InputError(f"{source} must hold whole numbers in the column {name!r}, got {array[line]!r} in row {line + 1}")
    return array.astype(np.intp)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer()) or str(value).lstrip("-").isdigit()
