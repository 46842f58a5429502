"""What all splitters share: a subclass supplies one method, this class checks, seeds, freezes and speaks scikit-learn."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, column, encode, generator, same_length, whole_number
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.splits import Split, Splits, row_count

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


_MOST_FROZEN = 1_000_000


class Splitter:
    """A way of splitting rows. It works wherever scikit-learn takes `cv=`; `freeze` decides the splits once.

    A subclass is called with its parameters by name (plus `random_state` if it draws), and supplies `_splits`.
    With a whole number as `random_state` every call gives the same splits; a generator moves on from call to call.
    """

    random_state: Seed = None
    _labels_classes = False
    """Whether the scheme looks at the class; only then must y be a class."""
    _labels_groups = False
    """Whether the scheme looks at the groups; only then must they be given."""
    _draws = True
    """Whether the scheme depends on chance."""

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterable[Split]:
        raise NotImplementedError

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there will be."""
        raise NotImplementedError

    def freeze(self, X: Any, y: Any = None, groups: Any = None, *, random_state: Seed = None) -> Splits:
        """The splits of these rows, decided. A `random_state` given here takes the place of the splitter's own."""
        rows = self._rows(X, y, groups)
        asked = self.get_n_splits(X, y, groups)
        if asked > _MOST_FROZEN:
            raise InputError(f"{self!r} makes {asked} splits, too many to keep: take them one by one from split(X, y)")
        return Splits.of(self._splits(rows, self._generator(random_state)), rows.n, repr(self))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Pairs of positions (train, test), as scikit-learn asks for them; made one after the other."""
        for part in self._splits(self._rows(X, y, groups), self._generator()):
            yield part.train, part.test

    def get_metadata_routing(self) -> Any:
        """What scikit-learn may pass on: groups, to the schemes that look at them."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        if self._labels_groups:
            request.split.add_request(param="groups", alias=True)
        return request

    @property
    def _seeded(self) -> bool:
        """Whether the splitter has a seed of its own."""
        return self.random_state is not None

    def _rows(self, X: Any, y: Any, groups: Any) -> Rows:
        return _read_rows(X, y, groups, self._labels_classes, type(self).__name__)

    def _generator(self, instead: Seed = None) -> np.random.Generator:
        return generator("random_state", self.random_state if instead is None else instead)

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


def enough_of_each_class(rows: Rows, n_splits: int, scheme: str) -> None:
    """Whether each fold can test each class: none can is an error, a class that is too small is suspect.

    Folds stratified by class are meant to hold some of each.
    """
    counts = np.bincount(rows.classes(scheme))
    if counts.max() < n_splits:
        raise InputError(
            f"n_splits must be at most the number of rows of the largest class, {counts.max()}, got {n_splits}: "
            "take fewer folds, or KFold"
        )
    rare = int(np.argmin(counts))
    if counts[rare] < n_splits:
        warnings.warn(
            f"class {rows.class_names[rare]!r} has {counts[rare]} rows, fewer than the {n_splits} folds: "
            "some folds test none of it",
            SuspectInputWarning,
            stacklevel=3,
        )


def _read_rows(X: Any, y: Any, groups: Any, classes: bool, scheme: str) -> Rows:
    n = row_count(X)
    if n == 0:
        raise InputError("X must hold at least 1 row, got 0")
    names: tuple[Any, ...] = ()
    codes = group_codes = None
    if y is not None:
        same_length(X=np.empty(n), y=np.empty(row_count(y)))
        if classes:
            codes, names = _class_codes(column("y", y), scheme)
    if groups is not None:
        same_length(X=np.empty(n), groups=np.empty(row_count(groups)))
        group_codes = _group_codes(column("groups", groups))
    return Rows(n, X, codes, group_codes, names)


def _class_codes(labels: npt.NDArray[Any], scheme: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Codes of the classes that are present, and their names."""
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels != np.floor(labels)).any():
        raise InputError(
            f"y must hold classes for {scheme}, got the number {labels[labels != np.floor(labels)][0]:g}: "
            "take a scheme that does not look at y, such as KFold, or stratify=False"
        )
    found, (codes,) = encode(None, None, y=labels)
    present = np.unique(codes)
    return np.searchsorted(present, codes), tuple(found.names[present].tolist())


def _group_codes(members: npt.NDArray[Any]) -> IntArray:
    """A row without a group would silently share one with others, so that is refused."""
    if members.dtype.kind == "f" and not np.isnan(members).any():
        return np.unique(members, return_inverse=True)[1].astype(np.intp)
    _, (codes,) = encode(None, None, groups=members)
    return np.searchsorted(np.unique(codes), codes)
