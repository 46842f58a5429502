"""Base classes of splitters.

A subclass implements one method. The base class checks the input, sets the seed and freezes the splits.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fairtrial._check import (
    FloatArray,
    IntArray,
    check_column,
    check_generator,
    check_same_length,
    check_whole_number,
    encode_labels,
)
from fairtrial._registry import Registry
from fairtrial._text import format_count
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.splits import Split, Splits, count_rows

Seed = int | np.random.Generator | np.random.SeedSequence | np.random.RandomState | None


@dataclass(frozen=True, eq=False)
class SplitterInput:
    """Input of a splitter: number of rows, table, class codes, group codes and times.

    Class codes, group codes and times are None if they are not given. Class codes are also None if the scheme does not use
    classes.
    """

    n: int
    X: Any
    y: IntArray | None
    groups: IntArray | None
    class_names: tuple[Any, ...] = ()
    time: FloatArray | None = None

    def require_classes(self, scheme: str) -> IntArray:
        """Return the class of each row, or raise an InputError."""
        if self.y is None:
            raise InputError(f"y must be given for {scheme}: pass the class of each row")
        return self.y

    def require_groups(self, scheme: str) -> IntArray:
        """Return the group of each row, or raise an InputError."""
        if self.groups is None:
            raise InputError(f"groups must be given for {scheme}: pass the group of each row")
        return self.groups

    def require_time(self, scheme: str) -> FloatArray:
        """Return the time of each row, or raise an InputError."""
        if self.time is None:
            raise InputError(f"time must be given for {scheme}: pass the time of each row")
        return self.time


_MAX_FROZEN = 1_000_000


class Splitter:
    """Base class of splitters, usable as `cv=` in scikit-learn.

    A subclass implements `_iter_splits` and stores its parameters as attributes of the same names. If `random_state` is an
    integer, every call gives the same splits. If it is a generator, the splits differ from call to call.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fairtrial.resampling import StratifiedKFold
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = StratifiedKFold(3, random_state=1)
    >>> len(cross_val_score(DecisionTreeClassifier(), X, y, cv=cv)), len(cv.freeze(X, y))
    (3, 3)
    """

    random_state: Seed = None
    _uses_classes = False
    """Whether the scheme uses y. If so, y must contain classes."""
    _uses_groups = False
    """Whether the scheme uses groups. If so, groups must be given."""
    _uses_time = False
    """Whether the scheme uses the times of rows. If so, times must be given."""
    _is_random = True
    """Whether the scheme is random."""
    _keeps_seed = False
    """Whether `random_state` is a parameter of the scheme itself, as in WEKA. If so, a study file can set it."""
    _primary_folds: int | None = None
    """Number of folds per repeat that are scored. Other folds are used only for intervals. None means all folds."""
    _sets_repeats = False
    """Whether parameters of the scheme set the number of repeats. If so, the scheme must not be repeated as a whole."""
    cite = ""
    """Reference, as in the bibliography."""

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterable[Split]:
        raise NotImplementedError

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object, optional
            Data, as in `split`. Most splitters do not need them.

        Returns
        -------
        int
        """
        raise NotImplementedError

    def freeze(self, X: Any, y: Any = None, groups: Any = None, *, time: Any = None, random_state: Seed = None) -> Splits:
        """Draw the splits once and return them.

        Parameters
        ----------
        X : table or list
            Data. Most splitters use only the number of rows.
        y : array-like of shape (n,), optional
            Class of each row.
        groups : array-like of shape (n,), optional
            Group of each row.
        time : array-like of shape (n,), optional
            Time of each row: numbers or dates.
        random_state : int, Generator, SeedSequence or RandomState, optional
            Seed. Default: the seed of the splitter.

        Returns
        -------
        Splits
        """
        rows = self._read_input(X, y, groups, time)
        n_splits = self.get_n_splits(X, y, groups)
        if n_splits > _MAX_FROZEN:
            raise InputError(
                f"{self!r} must have at most {_MAX_FROZEN:,} splits to freeze them, got {n_splits:,}: iterate over split(X, y)"
            )
        return Splits.from_pairs(self._iter_splits(rows, self._make_generator(random_state)), rows.n, repr(self))

    def split(self, X: Any, y: Any = None, groups: Any = None, *, time: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate the splits one by one, as scikit-learn does.

        Parameters
        ----------
        X : table or list
            Data. Most splitters use only the number of rows.
        y : array-like of shape (n,), optional
            Class of each row.
        groups : array-like of shape (n,), optional
            Group of each row.
        time : array-like of shape (n,), optional
            Time of each row: numbers or dates.

        Yields
        ------
        train, test : ndarray of int
            Indices of training and test rows.
        """
        for split in self._iter_splits(self._read_input(X, y, groups, time), self._make_generator()):
            yield split.train, split.test

    def _for_repeat(self, repeat: int) -> Splitter:
        """Return the splitter for a repeat of a study; repeats are counted from 0."""
        return self

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing for scikit-learn. Schemes that use groups request them."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        if self._uses_groups:
            request.split.add_request(param="groups", alias=True)
        return request

    @property
    def _has_seed(self) -> bool:
        """Whether the splitter has its own seed."""
        return self.random_state is not None

    def _read_input(self, X: Any, y: Any, groups: Any, time: Any = None) -> SplitterInput:
        return _read_splitter_input(X, y, groups, time, self._uses_classes, type(self).__name__)

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
"""Splitters, keyed by the names of their schemes in study files."""

S = TypeVar("S", bound=type[Splitter])


def scheme(name: str, *, cite: str = "") -> Callable[[S], S]:
    """Register a splitter as a resampling scheme for study files.

    Study files then accept `resampling = { scheme = "name" }`. The parameters of the splitter are the options of the scheme,
    and the study passes the seed. A package that registers splitters lists their module in an entry point of the group
    `fairtrial.schemes`.

    Parameters
    ----------
    name : str
        Name of the scheme in study files.
    cite : str, optional
        Reference, as in the bibliography.

    Returns
    -------
    callable
        Decorator of a `Splitter` class.

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
    """Base class of splitters that divide rows into folds. Each fold is the test set once.

    A subclass implements `_assign_folds`, which returns the fold of each row.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> import numpy as np
    >>> class Blocks(FoldSplitter):
    ...     def _assign_folds(self, rows, rng):
    ...         return np.arange(rows.n) * self.n_splits // rows.n
    >>> [test.tolist() for _, test in Blocks(2).split("abcd".split() * 4)]
    [[0, 1], [2, 3]]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Seed = None) -> None:
        self.n_splits = check_whole_number("n_splits", n_splits, 2)
        self.random_state = random_state

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        raise NotImplementedError

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        if rows.n < self.n_splits:
            raise InputError(f"n_splits must be at most {rows.n}, the number of rows, got {self.n_splits}")
        folds = self._assign_folds(rows, rng)
        for fold in range(self.n_splits):
            yield Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), 0, fold)


def check_class_sizes(rows: SplitterInput, n_splits: int, scheme: str) -> None:
    """Check that every stratified fold can contain every class.

    Raise InputError if all classes have fewer rows than there are folds. Issue a warning if only some classes have too few
    rows.
    """
    counts = np.bincount(rows.require_classes(scheme))
    if counts.max() < n_splits:
        raise InputError(
            f"n_splits must be at most {counts.max()}, the number of rows of the largest class, got {n_splits}: "
            "use fewer folds or KFold"
        )
    rare = int(np.argmin(counts))
    if counts[rare] < n_splits:
        warnings.warn(
            f"class {rows.class_names[rare]!r} has {format_count(int(counts[rare]), 'row')} for {n_splits} folds, "
            "so it is missing from some test sets",
            SuspectInputWarning,
            stacklevel=3,
        )


def _read_splitter_input(X: Any, y: Any, groups: Any, time: Any, classes: bool, scheme: str) -> SplitterInput:
    n = count_rows(X)
    if n == 0:
        raise InputError("X must have at least 1 row, got 0")
    names: tuple[Any, ...] = ()
    codes = group_codes = None
    if y is not None:
        check_same_length(X=np.empty(n), y=np.empty(count_rows(y)))
        if classes:
            codes, names = _encode_class_labels(check_column("y", y), scheme)
    if groups is not None:
        check_same_length(X=np.empty(n), groups=np.empty(count_rows(groups)))
        group_codes = encode_groups(check_column("groups", groups))
    times = None
    if time is not None:
        check_same_length(X=np.empty(n), time=np.empty(count_rows(time)))
        times = _read_times(check_column("time", time))
    return SplitterInput(n, X, codes, group_codes, names, times)


def _encode_class_labels(labels: npt.NDArray[Any], scheme: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Return the class code of each row, and the names of the classes that occur."""
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels != np.floor(labels)).any():
        raise InputError(
            f"y must contain classes for {scheme}, got {labels[labels != np.floor(labels)][0]:g}: "
            "use a scheme without y, such as KFold, or stratify=False"
        )
    encoding, (codes,) = encode_labels(None, None, y=labels)
    present = np.unique(codes)
    return np.searchsorted(present, codes), tuple(encoding.names[present].tolist())


def _read_times(values: npt.NDArray[Any]) -> FloatArray:
    """Return finite times as numbers, with dates as seconds since 1970."""
    if values.dtype.kind == "M":
        times = np.where(np.isnat(values), np.nan, values.astype("datetime64[us]").astype(np.int64) / 1e6)
    elif values.dtype.kind in "iuf":
        times = values.astype(np.float64)
    else:
        raise InputError(
            f"time must contain numbers or dates, got {values.tolist()[0]!r}: convert it, e.g. with pandas.to_datetime"
        )
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times)))
        raise InputError(f"time must not contain missing or infinite values, got one at row {row}: drop these rows")
    return times


def encode_groups(members: npt.NDArray[Any]) -> IntArray:
    """Return the codes of the groups. Raise InputError if the group of a row is missing.

    If missing groups were allowed, all rows with a missing group would form one group.

    >>> encode_groups(np.array(["bob", "ann", "bob"])).tolist()
    [1, 0, 1]
    """
    if members.dtype.kind == "f" and not np.isnan(members).any():
        return np.unique(members, return_inverse=True)[1].astype(np.intp)
    _, (codes,) = encode_labels(None, None, groups=members)
    return np.searchsorted(np.unique(codes), codes)
