"""Splitters for cross-validation, holdout, and repeated and given splits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, check_between, check_column, check_whole_number
from fairtrial._text import format_count
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.splits import Split, Splits, count_rows
from fairtrial.resampling.splitter import FoldSplitter, Seed, Splitter, SplitterInput, check_class_sizes, scheme


@scheme("kfold", cite="Stone 1974")
class KFold(FoldSplitter):
    """Random folds whose sizes differ by at most one row.

    The scheme does not use y. Prefer `StratifiedKFold` for classification.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> splits = KFold(3, random_state=1).freeze(range(7))
    >>> [(len(train), len(test)) for train, test in splits]
    [(4, 3), (5, 2), (5, 2)]
    """

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        return rng.permutation(np.arange(rows.n) % self.n_splits)


@scheme("stratified", cite="Kohavi 1995")
class StratifiedKFold(FoldSplitter):
    """Random folds with the class proportions of the data set.

    Fold sizes differ by at most one row, and so do the counts of each class. The splits do not depend on the names of the
    classes. A `SuspectInputWarning` is issued if a class has fewer rows than there are folds.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> y = ["a"] * 6 + ["b"] * 3
    >>> splits = StratifiedKFold(3, random_state=1).freeze(y, y)
    >>> [[y[row] for row in test] for _, test in splits]
    [['a', 'a', 'b'], ['a', 'a', 'b'], ['a', 'a', 'b']]
    """

    _uses_classes = True

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        y = number_by_appearance(rows.require_classes("StratifiedKFold"))
        check_class_sizes(rows, self.n_splits, "StratifiedKFold")
        folds = np.empty(rows.n, dtype=np.intp)
        # The folds that are larger by one row are also chosen at random.
        folds[shuffle_by_class(y, rng)] = rng.permutation(self.n_splits)[np.arange(rows.n) % self.n_splits]
        return folds


def number_by_appearance(codes: IntArray) -> IntArray:
    """Number the codes by first appearance, so the result does not depend on class names.

    >>> number_by_appearance(np.array([2, 2, 0, 1])).tolist()
    [0, 0, 1, 2]
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def shuffle_by_class(y: IntArray, rng: np.random.Generator) -> IntArray:
    """Return all indices sorted by class, in random order within each class."""
    order = rng.permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]


@scheme("leave-one-out", cite="Stone 1974")
class LeaveOneOut(Splitter):
    """Leave-one-out cross-validation: each row is the test set once.

    Estimates have low bias and high variance, and require one training run per row. The scheme is not random.

    Examples
    --------
    >>> [(train.tolist(), test.tolist()) for train, test in LeaveOneOut().split("abc".split() * 3)]
    [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    """

    _is_random = False

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        if rows.n < 2:
            raise InputError(f"X must have at least 2 rows to leave one out, got {rows.n}")
        all_rows = np.arange(rows.n)
        for row in range(rows.n):
            yield Split(np.delete(all_rows, row), all_rows[row : row + 1].copy(), 0, row)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of rows of X.

        Parameters
        ----------
        X : table or list
            Data.
        y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        if X is None:
            raise InputError("X must be given: leave-one-out has one split per row")
        return count_rows(X)


TestSize = float | int


@scheme("complete", cite="Kohavi 1995")
class CompleteCV(Splitter):
    """Complete cross-validation: each possible test set of a given size is used once.

    Unlike k-fold cross-validation, the scheme is not random. However, there are C(n, m) possible test sets of m out of n rows,
    so the scheme is suitable only for small data sets. With one test row, it is the same as leave-one-out. Each split counts as
    a repeat, because test sets overlap.

    Parameters
    ----------
    n_folds : int, default 2
        Number of folds k. Test sets have n / k rows, rounded down.
    test_size : int, optional
        Number of test rows. If it is given, `n_folds` is ignored.
    max_splits : int, default 10000
        Maximum number of splits. Data sets with more possible splits raise an error.

    Examples
    --------
    >>> [test.tolist() for _, test in CompleteCV(2).split("abcd".split() * 4)]
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    >>> CompleteCV(test_size=3).get_n_splits(range(20))
    1140
    """

    _is_random = False

    def __init__(self, n_folds: int = 2, *, test_size: int | None = None, max_splits: int = 10_000) -> None:
        self.n_folds = check_whole_number("n_folds", n_folds, 2)
        self.test_size = None if test_size is None else check_whole_number("test_size", test_size, 1)
        self.max_splits = check_whole_number("max_splits", max_splits, 1)

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        self._count_splits(rows.n)
        for repeat, test in enumerate(combinations(range(rows.n), self._count_test_rows(rows.n))):
            is_tested = np.zeros(rows.n, dtype=bool)
            is_tested[list(test)] = True
            yield Split(np.flatnonzero(~is_tested), np.flatnonzero(is_tested), repeat)

    def _count_test_rows(self, n: int) -> int:
        n_test = n // self.n_folds if self.test_size is None else self.test_size
        if n_test < 1:
            raise InputError(f"n_folds must be at most {n}, the number of rows, got {self.n_folds}: use fewer folds")
        if n_test >= n:
            raise InputError(f"test_size must leave at least 1 training row, got {n_test} of {n} rows")
        return n_test

    def _count_splits(self, n: int) -> int:
        n_test = self._count_test_rows(n)
        n_splits = math.comb(n, n_test)
        if n_splits > self.max_splits:
            raise InputError(
                f"max_splits must be at least {_format_large_number(n_splits)}, the number of test sets of {n_test} of {n} "
                f"rows, got {self.max_splits:,}: use fewer test rows, or repeated cross-validation"
            )
        return n_splits

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of test sets, C(n, m).

        Parameters
        ----------
        X : table or list
            Data.
        y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        if X is None:
            raise InputError("X must be given: the number of splits of complete cross-validation depends on the number of rows")
        return self._count_splits(count_rows(X))


_LONG_NUMBER = 12


def _format_large_number(number: int) -> str:
    """Format a number with thousands separators, or as a power of ten if it is very long."""
    digits = len(str(number)) - 1
    return f"{number:,}" if digits < _LONG_NUMBER else f"{number / 10**digits:.1f}e{digits}"


@scheme("holdout")
class Holdout(Splitter):
    """One random split into a training and a test set.

    Parameters
    ----------
    test_size : float or int, default 1/3
        Proportion or number of test rows.
    stratify : bool, default True
        Whether to keep the class proportions in the training and test sets. Pass False if there are no classes.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> y = ["a"] * 6 + ["b"] * 3
    >>> [(train, test)] = Holdout(random_state=1).split(y, y)
    >>> len(train), [y[row] for row in test]
    (6, ['a', 'a', 'b'])
    """

    def __init__(self, test_size: TestSize = 1 / 3, *, stratify: bool = True, random_state: Seed = None) -> None:
        self.test_size = check_test_size(test_size)
        self.stratify = stratify
        self.random_state = random_state
        self._uses_classes = stratify

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        yield draw_holdout(self, self.test_size, self.stratify, rows, rng)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        return 1


def check_test_size(test_size: TestSize) -> TestSize:
    """Check that the test size is a proportion between 0 and 1 or at least one row."""
    if isinstance(test_size, (float, np.floating)):
        check_between("test_size", test_size, 0, 1)
        return float(test_size)
    return check_whole_number("test_size", test_size, 1)


def draw_holdout(
    splitter: Splitter, test_size: TestSize, stratify: bool, rows: SplitterInput, rng: np.random.Generator
) -> Split:
    """Draw one split. Both index arrays are sorted."""
    n_test = _count_test_rows(test_size, rows.n)
    tested = np.zeros(rows.n, dtype=bool)
    if stratify:
        y = number_by_appearance(rows.require_classes(f"{type(splitter).__name__}(stratify=True)"))
        quotas = _compute_quotas(np.bincount(y), n_test, rng)
        _warn_of_lost_classes(rows, y, quotas)
        order = shuffle_by_class(y, rng)
        starts = np.concatenate(([0], np.cumsum(np.bincount(y))[:-1]))
        tested[order] = np.arange(rows.n) - starts[y[order]] < quotas[y[order]]
    else:
        tested[rng.permutation(rows.n)[:n_test]] = True
    return Split(np.flatnonzero(~tested), np.flatnonzero(tested))


def _count_test_rows(test_size: TestSize, n: int) -> int:
    """Return the number of test rows; proportions are rounded up as in scikit-learn."""
    n_test = math.ceil(round(test_size * n, 9)) if isinstance(test_size, float) else test_size
    if not 0 < n_test < n:
        raise InputError(f"test_size must leave at least 1 training row, got {test_size!r} of {n} rows")
    return n_test


def _compute_quotas(counts: IntArray, n_test: int, rng: np.random.Generator) -> IntArray:
    """Compute the number of test rows of each class by the largest remainder method."""
    quotas, remainders = np.divmod(counts * n_test, counts.sum())
    n_left = n_test - quotas.sum()
    quotas[np.lexsort((rng.random(len(counts)), -remainders))[:n_left]] += 1
    return np.asarray(quotas, dtype=np.intp)


def _warn_of_lost_classes(rows: SplitterInput, y: IntArray, quotas: IntArray) -> None:
    for side, counts in (("training", np.bincount(y) - quotas), ("test", quotas)):
        if not counts.all():
            name = rows.class_names[rows.require_classes("Holdout")[np.argmax(y == np.argmin(counts))]]
            warnings.warn(f"class {name!r} is too rare: the {side} set does not contain it", SuspectInputWarning, stacklevel=4)


@scheme("subsampling")
class RandomSubsampling(Splitter):
    """Repeated random splits into a training and a test set.

    A row can be tested several times or never. Each split counts as a repeat. Use this scheme if the sizes of training and test
    sets matter, as in learning curves and the corrected resampled t test.

    Parameters
    ----------
    n_splits : int, default 10
        Number of splits.
    test_size : float or int, default 1/3
        Proportion or number of test rows.
    stratify : bool, default True
        Whether to keep the class proportions in the training and test sets. Pass False if there are no classes.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> splits = RandomSubsampling(3, test_size=2, stratify=False, random_state=1).freeze(range(6))
    >>> [(len(train), len(test)) for train, test in splits]
    [(4, 2), (4, 2), (4, 2)]
    """

    def __init__(
        self, n_splits: int = 10, *, test_size: TestSize = 1 / 3, stratify: bool = True, random_state: Seed = None
    ) -> None:
        self.n_splits = check_whole_number("n_splits", n_splits, 1)
        self.test_size = check_test_size(test_size)
        self.stratify = stratify
        self.random_state = random_state
        self._uses_classes = stratify

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        for repeat in range(self.n_splits):
            yield replace(draw_holdout(self, self.test_size, self.stratify, rows, rng), repeat=repeat)

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
        return self.n_splits


class Repeated(Splitter):
    """Splitter that repeats another splitter with new random splits.

    Increasing `n_repeats` does not change the earlier repeats. Pass the seed here or to the splitter, but not to both.

    Parameters
    ----------
    splitter : Splitter
        Splitter to repeat.
    n_repeats : int, default 10
        Number of repeats.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> splits = Repeated(KFold(2), 3, random_state=1).freeze(range(10))
    >>> print(splits)
    Repeated(splitter=KFold(n_splits=2), n_repeats=3, random_state=1): 6 splits in 3 repeats of 10 rows, test sets of 5 rows
    >>> [(split.repeat, split.fold) for split in splits]
    [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    """

    def __init__(self, splitter: Splitter, n_repeats: int = 10, *, random_state: Seed = None) -> None:
        if not isinstance(splitter, Splitter):
            raise InputError(f"splitter must be a splitter of fairtrial, got {type(splitter).__name__}: pass e.g. KFold(5)")
        if not splitter._is_random:
            raise InputError(f"splitter must be random, got {splitter!r}: all repeats would be equal")
        if splitter._sets_repeats:
            raise InputError(f"splitter must not set the number of repeats itself, got {splitter!r}: change its parameters")
        if random_state is not None and splitter._has_seed:
            raise InputError(f"random_state must be given once, got {random_state!r} and {splitter!r}: drop one")
        self.splitter = splitter
        self.n_repeats = check_whole_number("n_repeats", n_repeats, 1)
        self.random_state = random_state
        self._uses_classes = splitter._uses_classes
        self._uses_groups = splitter._uses_groups

    @property
    def _uses_time(self) -> bool:  # type: ignore[override]  # an attribute would change the content keys of tuned learners
        return self.splitter._uses_time

    @property
    def _has_seed(self) -> bool:
        return super()._has_seed or self.splitter._has_seed

    def _make_generator(self, override: Seed = None) -> np.random.Generator:
        if override is None and self.random_state is None:
            return self.splitter._make_generator()
        return super()._make_generator(override)

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        first = 0
        for _ in range(self.n_repeats):
            last = first
            for split in self.splitter._iter_splits(rows, rng):
                last = first + split.repeat
                yield replace(split, repeat=last)
            first = last + 1

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the total number of splits in all repeats.

        Parameters
        ----------
        X, y, groups : object, optional
            Data, passed to the repeated splitter.

        Returns
        -------
        int
        """
        return self.n_repeats * self.splitter.get_n_splits(X, y, groups)


class FiveByTwo(Repeated):
    """Five repeats of two-fold cross-validation, for the 5x2 cv tests (Dietterich 1998).

    Parameters
    ----------
    stratify : bool, default True
        Whether to keep the class proportions in all folds.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> FiveByTwo(random_state=1).get_n_splits()
    10
    """

    def __init__(self, *, stratify: bool = True, random_state: Seed = None) -> None:
        self.stratify = stratify
        super().__init__((StratifiedKFold if stratify else KFold)(2), 5, random_state=random_state)


class TenByTen(Repeated):
    """Ten repeats of ten-fold cross-validation, as in WEKA.

    Compare the scores of two learners with `corrected_resampled_t`. Use `ten_by_ten` only to reproduce a study that used it.

    Parameters
    ----------
    stratify : bool, default True
        Whether to keep the class proportions in all folds.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> TenByTen(stratify=False).get_n_splits()
    100
    """

    def __init__(self, *, stratify: bool = True, random_state: Seed = None) -> None:
        self.stratify = stratify
        super().__init__((StratifiedKFold if stratify else KFold)(10), 10, random_state=random_state)


class Given(Splitter):
    """Splits that are given as pairs (train, test).

    Use `audit` to check the splits for problems.

    Parameters
    ----------
    splits : Splits or iterable of (train, test)
        Row indices or masks.

    Examples
    --------
    >>> cv = Given([([0, 1], [2, 3]), ([2, 3], [0, 1])])
    >>> cv
    Given(2 splits)
    >>> [test.tolist() for _, test in cv.split("abcd".split() * 4)]
    [[2, 3], [0, 1]]
    """

    _is_random = False

    def __init__(self, splits: Iterable[Any]) -> None:
        self.splits = splits if isinstance(splits, Splits) else tuple(splits)
        if not len(self.splits):
            raise InputError("splits must contain at least 1 split, got 0")

    @classmethod
    def from_folds(cls, fold: npt.ArrayLike) -> Given:
        """Build splits from the test fold of each row.

        Parameters
        ----------
        fold : array-like of int
            Fold in which each row is tested, or -1 for rows that are never tested.

        Returns
        -------
        Given

        Examples
        --------
        >>> [test.tolist() for _, test in Given.from_folds([1, 2, 1, -1]).split([0, 0, 0, 0])]
        [[0, 2], [1]]
        """
        numbers = check_column("fold", fold)
        if numbers.dtype.kind not in "iu":
            raise InputError(f"fold must contain integers of at least -1, got {numbers[0]!r}: number the folds")
        if (numbers < -1).any():
            raise InputError(f"fold must contain integers of at least -1, got {numbers.min()}")
        names = np.unique(numbers[numbers >= 0])
        pairs = [(np.flatnonzero(numbers != name), np.flatnonzero(numbers == name)) for name in names]
        return cls(Splits.from_pairs(pairs, len(numbers)))

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterable[Split]:
        if isinstance(self.splits, Splits) and self.splits.n_rows != rows.n:
            raise InputError(f"X must have {self.splits.n_rows} rows, like the data of the folds, got {rows.n}")
        return Splits.from_pairs(self.splits, rows.n)

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

    def __repr__(self) -> str:
        return f"Given({format_count(len(self.splits), 'split')})"
