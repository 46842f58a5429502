"""Splits and the rows that they split, side by side: what every check of a fold audit looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, column, encode, same_length
from fairtrial._columns import Columns, read_columns
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Splits

TEST, TRAIN = 1, 2
# More splits than this are counted, but not compared with random ones.
MOST_SPLITS = 100


@dataclass(frozen=True, eq=False)
class Layout:
    """The splits, the columns, the class of each row as a code, and the names of the classes."""

    splits: Splits
    columns: Columns
    labels: IntArray
    classes: tuple[Any, ...]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @cached_property
    def repeats(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the splits of each repeat. Splits of one repeat that test all rows again and again are several."""
        members: dict[int, list[int]] = {}
        for s, split in enumerate(self.splits):
            members.setdefault(split.repeat, []).append(s)
        rounds = _rounds(self.splits) if len(members) == 1 else None
        return rounds or tuple(tuple(each) for each in members.values())

    @cached_property
    def named(self) -> list[str]:
        """What each split is called in words, counted from 1."""
        several = len(self.repeats) > 1
        names = {
            s: f"fold {fold + 1}" + (f" of repeat {repeat + 1}" if several else "")
            for repeat, members in enumerate(self.repeats)
            for fold, s in enumerate(members)
        }
        return [names[s] for s in range(len(self.splits))]

    @cached_property
    def examined(self) -> IntArray:
        """The splits that are compared with random ones: all, or 100 of them at even distances."""
        n = len(self.splits)
        return np.unique(np.linspace(0, n - 1, min(n, MOST_SPLITS)).round().astype(np.intp))

    def sides(self, chosen: IntArray | None = None) -> npt.NDArray[np.uint8]:
        """Where each row is in each of these splits (those examined): bit 1 in the test part, bit 2 in the training part."""
        chosen = self.examined if chosen is None else chosen
        found = np.zeros((self.n_rows, len(chosen)), dtype=np.uint8)
        for place, s in enumerate(chosen):
            found[self.splits.parts[s].test, place] |= TEST
            found[self.splits.parts[s].train, place] |= TRAIN
        return found

    def dealt(self, rows: IntArray, sides: npt.NDArray[np.uint8], size: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        """Where these rows are in `size` arrangements (b, row, split): the sides of each class are dealt to its rows anew."""
        found = np.empty((size, len(rows), sides.shape[1]), dtype=np.uint8)
        own = self.labels[rows]
        classes = [(np.flatnonzero(self.labels == code), np.flatnonzero(own == code)) for code in np.unique(own)]
        for arrangement in found:
            for members, places in classes:
                arrangement[places] = sides[rng.permutation(members)[: len(places)]]
        return found

    @cached_property
    def scaled(self) -> FloatArray:
        """The attributes as distances want them: standardised, or by range where values are nominal or missing (HEOM)."""
        values, numeric = self.columns.values.copy(), self.columns.numeric
        numbers = values[:, numeric]
        heom = bool(np.isnan(values).any()) or not numeric.all()
        with np.errstate(invalid="ignore"):
            size = _range(numbers) if heom else numbers.std(axis=0)
        values[:, numeric] = numbers / np.where(size > 0, size, 1.0)
        return values


def _range(numbers: FloatArray) -> FloatArray:
    filled = np.where(np.isnan(numbers), -np.inf, numbers)
    lowest = np.where(np.isnan(numbers), np.inf, numbers).min(axis=0)
    return np.asarray(filled.max(axis=0) - lowest)


def _rounds(splits: Splits) -> tuple[tuple[int, ...], ...] | None:
    """Consecutive splits that test each row once, again and again to the end; None if they do not."""
    rounds: list[tuple[int, ...]] = []
    current: list[int] = []
    tested = np.zeros(splits.n_rows, dtype=bool)
    for s, split in enumerate(splits):
        if tested[split.test].any():
            return None
        tested[split.test] = True
        current.append(s)
        if tested.all():
            rounds.append(tuple(current))
            current, tested = [], np.zeros(splits.n_rows, dtype=bool)
    return None if current else tuple(rounds)


def read_layout(splits: Any, dataset: Any) -> Layout:
    """Splits (or a splitter, or pairs of positions) of a data set, or of a pair (X, y); y may be None.

    >>> layout = read_layout([([0, 1], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> layout.classes, layout.named, layout.sides().tolist()
    (('a', 'b'), ['fold 1', 'fold 2'], [[2, 1], [2, 1], [1, 2], [1, 2]])
    """
    X, y = _pair(dataset)
    columns = read_columns(X)
    if len(columns) == 0 or not columns.names:
        raise InputError(f"dataset must hold at least 1 row and 1 attribute, got shape {columns.values.shape}")
    if np.isinf(columns.values).any():
        name = columns.names[int(np.argmax(np.isinf(columns.values).any(axis=0)))]
        raise InputError(f"dataset must hold finite or missing values, got infinity in {name!r}: give these cells a number")
    labels, classes = _classes(y, len(columns))
    return Layout(_decided(splits, X, y, len(columns)), columns, labels, classes)


def _pair(dataset: Any) -> tuple[Any, Any]:
    if hasattr(dataset, "X") and hasattr(dataset, "y"):
        return dataset.X, dataset.y
    if isinstance(dataset, tuple) and len(dataset) == 2:
        return dataset[0], dataset[1]
    raise InputError(f"dataset must have X and y, or be a pair (X, y), got {type(dataset).__name__}")


def _classes(y: Any, n: int) -> tuple[IntArray, tuple[Any, ...]]:
    if y is None:
        return np.zeros(n, dtype=np.intp), ("all",)
    values = column("y", y)
    same_length(X=np.empty(n), y=values)
    if values.dtype.kind == "f" and (values != np.floor(values)).any():
        told = values[values != np.floor(values)][0]
        raise InputError(f"y must hold classes, got {told:g}: pass (X, None) to look at all rows together")
    found, (codes,) = encode(None, None, y=values)
    present = np.unique(codes)
    return np.searchsorted(present, codes).astype(np.intp), tuple(found.names[present].tolist())


def _decided(splits: Any, X: Any, y: Any, n: int) -> Splits:
    if isinstance(splits, Splits):
        if splits.n_rows != n:
            raise InputError(f"splits must be of the {n} rows of the data set, got splits of {splits.n_rows} rows")
        return splits
    if hasattr(splits, "freeze"):
        return splits.freeze(X, y)  # type: ignore[no-any-return]
    if hasattr(splits, "split"):
        return Splits.of(splits.split(X, y), n, repr(splits))
    return Splits.of(splits, n)
