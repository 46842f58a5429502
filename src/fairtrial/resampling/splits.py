"""Splits that are decided: which rows train and which test, once, for every learner."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
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

    >>> splits = Splits.of([([0, 1], [2]), ([2], [0, 1])], n_rows=3)
    >>> [(train.tolist(), test.tolist()) for train, test in splits]
    [([0, 1], [2]), ([2], [0, 1])]
    >>> print(splits)
    given: 2 splits of 3 rows, test parts of 1 to 2
    """

    n_rows: int
    parts: tuple[Split, ...]
    scheme: str = "given"

    @classmethod
    def of(cls, splits: Iterable[Any], n_rows: int, scheme: str = "given") -> Splits:
        """Of pairs (train, test), each positions or a mask; repeats are counted where the splits carry them."""
        if isinstance(splits, Splits):
            if splits.n_rows != n_rows:
                raise InputError(f"splits must be of the {n_rows} rows at hand, got splits of {splits.n_rows} rows")
            return splits
        parts = [_split(each, fold, n_rows) for fold, each in enumerate(splits)]
        if not parts:
            raise InputError("splits must hold at least 1 split, got 0")
        return cls(n_rows, tuple(parts), scheme)

    def __iter__(self) -> Iterator[Split]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """The splits as scikit-learn asks for them; `X` must have as many rows as they were made for."""
        rows = self.n_rows if X is None else row_count(X)
        if rows != self.n_rows:
            raise InputError(f"X must have the {self.n_rows} rows that the splits were made for, got {rows}")
        for part in self.parts:
            yield part.train, part.test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return len(self.parts)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all positions in order."""
        digest = hashlib.sha256(str(self.n_rows).encode())
        for part in self.parts:
            for side in part:
                digest.update(len(side).to_bytes(8, "little") + side.astype("<i8").tobytes())
        return digest.hexdigest()

    def frame(self) -> pd.DataFrame:
        """A line for each row of each test part: repeat, fold, row."""
        import pandas as pd

        lines = [pd.DataFrame({"repeat": part.repeat, "fold": part.fold, "row": part.test}) for part in self.parts]
        return pd.concat(lines, ignore_index=True)

    def __repr__(self) -> str:
        return f"<Splits {self}>"

    def __str__(self) -> str:
        sizes = [len(part.test) for part in self.parts]
        repeats = 1 + max(part.repeat for part in self.parts)
        told = f" in {repeats} repeats" if repeats > 1 else ""
        parts = f"test parts of {min(sizes)}" + (f" to {max(sizes)}" if max(sizes) > min(sizes) else "")
        return f"{self.scheme}: {len(sizes)} splits{told} of {self.n_rows} rows, {parts}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def row_count(X: Any) -> int:
    """How many rows a table, a sparse matrix or a list has.

    >>> row_count([["a"], ["b"]]), row_count(np.zeros((3, 2)))
    (2, 3)
    """
    shape = getattr(X, "shape", None)
    if shape is None and hasattr(X, "__len__") and not isinstance(X, str):
        return len(X)
    if not shape:
        raise InputError(f"X must be a table or a list with an entry for each row, got {X!r}")
    return int(shape[0])


def _split(given: Any, fold: int, n_rows: int) -> Split:
    try:
        train, test = given
    except (TypeError, ValueError):
        raise InputError(f"split {fold} must be a pair (train, test), got {type(given).__name__}") from None
    repeat, fold_in_repeat = (given.repeat, given.fold) if isinstance(given, Split) else (0, fold)
    return Split(
        _positions(f"train of split {fold}", train, n_rows),
        _positions(f"test of split {fold}", test, n_rows),
        repeat,
        fold_in_repeat,
    )


def _positions(name: str, given: npt.ArrayLike, n_rows: int) -> IntArray:
    rows = np.asarray(given)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.shape == (0,):
        raise InputError(f"{name} must hold at least 1 row, got none: a learner needs rows to learn from and to be tested on")
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(f"{name} must hold positions of rows, got {given!r}: pass whole numbers, or a mask of {n_rows} rows")
    if not (rows.min() >= 0 and rows.max() < n_rows):
        raise InputError(f"{name} must hold positions from 0 to {n_rows - 1}, got {rows.min()} to {rows.max()}")
    if rows.flags.writeable or rows.dtype != np.intp:
        rows = rows.astype(np.intp)
        rows.flags.writeable = False
    return rows
