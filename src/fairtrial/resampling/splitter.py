"""What all splitters share: a subclass supplies one method, this class checks, seeds, freezes and speaks scikit-learn."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, check_column, check_generator, check_same_length, check_whole_number, encode_labels
from fairtrial._registry import Registry
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.splits import Split, Splits, count_rows

Seed = int | np.random.Generator | np.random.SeedSequence | np.random.RandomState | None


@dataclass(frozen=True, eq=False)
class SplitterInput:
    """What a splitter may look at: how many rows, their table, the code of their class and of their group (None: not given)."""

    n: int
    X: Any
    y: IntArray | None
    groups: IntArray | None
    class_names: tuple[Any, ...] = ()

    def require_classes(self, scheme: str) -> IntArray:
        """The class of each row, which the scheme needs."""
        if self.y is None:
            raise InputError(f"{scheme} needs y, the class of each row: call split(X, y)")
        return self.y

    def require_groups(self, scheme: str) -> IntArray:
        """The group of each row, which the scheme needs."""
        if self.groups is None:
            raise InputError(f"{scheme} needs groups, the group of each row: call split(X, y, groups)")
        return self.groups


_MAX_FROZEN = 1_000_000


class Splitter:
    """A way of splitting rows. It works wherever scikit-learn takes `cv=`; `freeze` decides the splits once.

    A subclass is called with its parameters by name (plus `random_state` if it draws), and supplies `_iter_splits`.
    With a whole number as `random_state` every call gives the same splits; a generator moves on from call to call.
    """

    random_state: Seed = None
    _uses_classes = False
    """Whether the scheme looks at the class; only then must y be a class."""
    _uses_groups = False
    """Whether the scheme looks at the groups; only then must they be given."""
    _is_random = True
    """Whether the scheme depends on chance."""
    _keeps_seed = False
    """Whether `random_state` is a parameter of the scheme, as WEKA's seed is: a study then passes it on."""
    cite = ""
    """The work that proposes the scheme, as the bibliography names it."""

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterable[Split]:
        raise NotImplementedError

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there will be."""
        raise NotImplementedError

    def freeze(self, X: Any, y: Any = None, groups: Any = None, *, random_state: Seed = None) -> Splits:
        """The splits of these rows, decided. A `random_state` given here takes the place of the splitter's own."""
        rows = self._read_input(X, y, groups)
        n_splits = self.get_n_splits(X, y, groups)
        if n_splits > _MAX_FROZEN:
            raise InputError(f"{self!r} makes {n_splits} splits, too many to keep: take them one by one from split(X, y)")
        return Splits.from_pairs(self._iter_splits(rows, self._make_generator(random_state)), rows.n, repr(self))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Pairs of positions (train, test), as scikit-learn asks for them; made one after the other."""
        for split in self._iter_splits(self._read_input(X, y, groups), self._make_generator()):
            yield split.train, split.test

    def _for_repeat(self, repeat: int) -> Splitter:
        """The splitter for this repeat of a study, counted from 0. Most draw anew with the generator of the repeat."""
        return self

    def get_metadata_routing(self) -> Any:
        """What scikit-learn may pass on: groups, to the schemes that look at them."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        if self._uses_groups:
            request.split.add_request(param="groups", alias=True)
        return request

    @property
    def _has_seed(self) -> bool:
        """Whether the splitter has a seed of its own."""
        return self.random_state is not None

    def _read_input(self, X: Any, y: Any, groups: Any) -> SplitterInput:
        return _read_splitter_input(X, y, groups, self._uses_classes, type(self).__name__)

    def _make_generator(self, override: Seed = None) -> np.random.Generator:
        return check_generator("random_state", self.random_state if override is None else override)

    def __repr__(self) -> str:
        parameters = {
            name: getattr(self, name)
            for name, parameter in inspect.signature(type(self)).parameters.items()
            if getattr(self, name, parameter.default) is not parameter.default
        }
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"


schemes = Registry[type[Splitter]]("scheme", group="fairtrial.schemes", package="fairtrial.resampling")
"""Splitters by the name that a study file gives to their scheme."""

S = TypeVar("S", bound=type[Splitter])


def scheme(name: str, *, cite: str = "") -> Callable[[S], S]:
    """Register a splitter as a resampling scheme of study files.

    A study file then takes `resampling = { scheme = "name" }`. The parameters of the splitter are the options of the scheme; a
    study passes the seed. A package registers its own splitters in a module that it names in the entry-point group
    `fairtrial.schemes`.

    Parameters
    ----------
    name : str
        The name of the scheme in study files.
    cite : str, optional
        The work that proposes the scheme, as the bibliography names it.

    Examples
    --------
    >>> schemes["kfold"].__name__, schemes["dob-scv"].cite
    ('KFold', 'Moreno-Torres, Sáez & Herrera 2012')
    """

    def register(splitter: S) -> S:
        schemes.add(name, splitter)
        splitter.cite = cite
        return splitter

    return register


class FoldSplitter(Splitter):
    """A splitter into `n_splits` folds, each of which tests once. A subclass supplies `_assign_folds`: the fold of each row."""

    def __init__(self, n_splits: int = 5, *, random_state: Seed = None) -> None:
        self.n_splits = check_whole_number("n_splits", n_splits, 2)
        self.random_state = random_state

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        raise NotImplementedError

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are."""
        return self.n_splits

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        if rows.n < self.n_splits:
            raise InputError(f"n_splits must be at most the number of rows, {rows.n}, got {self.n_splits}")
        folds = self._assign_folds(rows, rng)
        for fold in range(self.n_splits):
            yield Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), 0, fold)


def check_class_sizes(rows: SplitterInput, n_splits: int, scheme: str) -> None:
    """Whether each fold can test each class: none can is an error, a class that is too small is suspect.

    Folds stratified by class are meant to hold some of each.
    """
    counts = np.bincount(rows.require_classes(scheme))
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


def _read_splitter_input(X: Any, y: Any, groups: Any, classes: bool, scheme: str) -> SplitterInput:
    n = count_rows(X)
    if n == 0:
        raise InputError("X must hold at least 1 row, got 0")
    names: tuple[Any, ...] = ()
    codes = group_codes = None
    if y is not None:
        check_same_length(X=np.empty(n), y=np.empty(count_rows(y)))
        if classes:
            codes, names = _encode_class_labels(check_column("y", y), scheme)
    if groups is not None:
        check_same_length(X=np.empty(n), groups=np.empty(count_rows(groups)))
        group_codes = _encode_groups(check_column("groups", groups))
    return SplitterInput(n, X, codes, group_codes, names)


def _encode_class_labels(labels: npt.NDArray[Any], scheme: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Codes of the classes that are present, and their names."""
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels != np.floor(labels)).any():
        raise InputError(
            f"y must hold classes for {scheme}, got the number {labels[labels != np.floor(labels)][0]:g}: "
            "take a scheme that does not look at y, such as KFold, or stratify=False"
        )
    encoding, (codes,) = encode_labels(None, None, y=labels)
    present = np.unique(codes)
    return np.searchsorted(present, codes), tuple(encoding.names[present].tolist())


def _encode_groups(members: npt.NDArray[Any]) -> IntArray:
    """A row without a group would silently share one with others, so that is refused."""
    if members.dtype.kind == "f" and not np.isnan(members).any():
        return np.unique(members, return_inverse=True)[1].astype(np.intp)
    _, (codes,) = encode_labels(None, None, groups=members)
    return np.searchsorted(np.unique(codes), codes)
