"""One split: some rows train, the others test."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from fairtrial._check import IntArray, between, whole_number
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import Rows, Seed, Splitter
from fairtrial.resampling.stratified import by_appearance, shuffled_by_class

TestSize = float | int


class Holdout(Splitter):
    """A share `test_size` of the rows tests (a whole number: so many rows), the others train; a third is customary.

    Stratified unless told otherwise: each class has its share of the test part, to within one row. Without classes pass
    `stratify=False`.

    >>> y = ["a"] * 6 + ["b"] * 3
    >>> [(train, test)] = Holdout(random_state=1).split(y, y)
    >>> len(train), [y[row] for row in test]
    (6, ['a', 'a', 'b'])
    """

    def __init__(self, test_size: TestSize = 1 / 3, *, stratify: bool = True, random_state: Seed = None) -> None:
        self.test_size = checked_test_size(test_size)
        self.stratify = stratify
        self.random_state = random_state
        self._labels_classes = stratify

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterator[Split]:
        yield held_out(self, self.test_size, self.stratify, rows, rng)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1


def checked_test_size(test_size: TestSize) -> TestSize:
    """A share strictly between 0 and 1, or at least one row."""
    if isinstance(test_size, (float, np.floating)):
        between("test_size", test_size, 0, 1)
        return float(test_size)
    return whole_number("test_size", test_size, 1)


def held_out(splitter: Splitter, test_size: TestSize, stratify: bool, rows: Rows, rng: np.random.Generator) -> Split:
    """One random split into training and test part, both in order."""
    n_test = _test_rows(test_size, rows.n)
    tested = np.zeros(rows.n, dtype=bool)
    if stratify:
        y = by_appearance(rows.classes(f"{type(splitter).__name__}(stratify=True)"))
        quotas = _quotas(np.bincount(y), n_test, rng)
        _warn_of_lost_classes(rows, y, quotas)
        order = shuffled_by_class(y, rng)
        starts = np.concatenate(([0], np.cumsum(np.bincount(y))[:-1]))
        tested[order] = np.arange(rows.n) - starts[y[order]] < quotas[y[order]]
    else:
        tested[rng.permutation(rows.n)[:n_test]] = True
    return Split(np.flatnonzero(~tested), np.flatnonzero(tested))


def _test_rows(test_size: TestSize, n: int) -> int:
    """How many rows test: a share is rounded up, as scikit-learn does, but not for a hair's breadth of arithmetic."""
    n_test = math.ceil(round(test_size * n, 9)) if isinstance(test_size, float) else test_size
    if not 0 < n_test < n:
        raise InputError(f"test_size must leave rows to train on, got {test_size!r} of {n} rows")
    return n_test


def _quotas(counts: IntArray, n_test: int, rng: np.random.Generator) -> IntArray:
    """How many rows of each class test: its share, rounded so that the sum is right (largest remainders, ties at random)."""
    quotas, remainders = np.divmod(counts * n_test, counts.sum())
    left = n_test - quotas.sum()
    quotas[np.lexsort((rng.random(len(counts)), -remainders))[:left]] += 1
    return np.asarray(quotas, dtype=np.intp)


def _warn_of_lost_classes(rows: Rows, y: IntArray, quotas: IntArray) -> None:
    for part, counts in (("training", np.bincount(y) - quotas), ("test", quotas)):
        if not counts.all():
            name = rows.class_names[rows.classes("Holdout")[np.argmax(y == np.argmin(counts))]]
            warnings.warn(f"class {name!r} has no row in the {part} part: it is too rare", SuspectInputWarning, stacklevel=4)
