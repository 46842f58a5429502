"""What all splitters share: a subclass supplies one method, this class checks, seeds, freezes and speaks scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairtrial._check import IntArray, column, encode, generator, same_length, whole_number
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split, Splits

Seed = int | np.random.Generator | np.random.SeedSequence | np.random.RandomState | None


@dataclass(frozen=True, eq=False)
class Rows:
    """What a splitter may look at: how many rows, their table, the code of their class and of their group (None: not given)."""

    n: int
    X: Any
    y: IntArray | None
    groups: IntArray | None
    class_names: tuple[Any, ...] = ()

    def classes(self, scheme: str) -> IntArray:
        """The class of each row, which the scheme needs."""
        if self.y is None:
            raise InputError(f"{scheme} needs y, the class of each row: call split(X, y)")
        return self.y

    def group_codes(self, scheme: str) -> IntArray:
        """The group of each row, which the scheme needs."""
        if self.groups is None:
            raise InputError(f"{scheme} needs groups, the group of each row: call split(X, y, groups)")
        return self.groups


class Splitter:
    """A way of splitting rows. It works wherever scikit-learn takes `cv=`; `freeze` decides the splits once.

    A subclass is called with its parameters by name (plus `random_state` if it draws), and supplies `_splits`.
    """

    random_state: Seed = None
    _labels_classes = False
    """Whether the scheme looks at the class; only then must y be a class."""

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterable[Split]:
        raise NotImplementedError

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there will be."""
        raise NotImplementedError

    def freeze(self, X: Any, y: Any = None, groups: Any = None) -> Splits:
        """The splits of these rows, decided."""
        rows = _read_rows(X, y, groups, self._labels_classes)
        return Splits.of(self._splits(rows, generator("random_state", self.random_state)), rows.n, repr(self))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Pairs of positions (train, test), as scikit-learn asks for them."""
        for part in self.freeze(X, y, groups):
            yield part.train, part.test

    def __repr__(self) -> str:
        given = {
            name: getattr(self, name)
            for name, parameter in inspect.signature(type(self)).parameters.items()
            if getattr(self, name, parameter.default) is not parameter.default
        }
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


class FoldSplitter(Splitter):
    """A splitter into `n_splits` folds, each of which tests once. A subclass supplies `_folds`: the fold of each row."""

    def __init__(self, n_splits: int = 5, *, random_state: Seed = None) -> None:
        self.n_splits = whole_number("n_splits", n_splits, 2)
        self.random_state = random_state

    def _folds(self, rows: Rows, rng: np.random.Generator) -> IntArray:
        raise NotImplementedError

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are."""
        return self.n_splits

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterator[Split]:
        if rows.n < self.n_splits:
            raise InputError(f"n_splits must be at most the number of rows, {rows.n}, got {self.n_splits}")
        folds = self._folds(rows, rng)
        for fold in range(self.n_splits):
            yield Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), 0, fold)


def _read_rows(X: Any, y: Any, groups: Any, classes: bool) -> Rows:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n == 0:
        raise InputError("X must hold at least 1 row, got 0")
    names: tuple[Any, ...] = ()
    codes = group_codes = None
    if y is not None:
        labels = column("y", y)
        same_length(X=np.empty(n), y=labels)
        if classes:
            found, (codes,) = encode(None, None, y=labels)
            present = np.unique(codes)
            names, codes = tuple(found.names[present].tolist()), np.searchsorted(present, codes)
    if groups is not None:
        members = column("groups", groups)
        same_length(X=np.empty(n), groups=members)
        group_codes = np.unique(members, return_inverse=True)[1].astype(np.intp)
    return Rows(n, X, codes, group_codes, names)
