"""Cross-validation in k folds that all have the same share of each class."""

from __future__ import annotations

import numpy as np

from fairtrial._check import IntArray
from fairtrial.resampling.splitter import FoldSplitter, Rows, enough_of_each_class


class StratifiedKFold(FoldSplitter):
    """Each class is shuffled and dealt into `n_splits` folds, one class going on where the last one ended.

    So the sizes of the folds differ by at most one, and so do the counts of each class. The names of the classes do not
    matter, only which rows share one. A class with fewer rows than folds is warned about.

    >>> y = ["a"] * 6 + ["b"] * 3
    >>> splits = StratifiedKFold(3, random_state=1).freeze(y, y)
    >>> [[y[row] for row in test] for _, test in splits]
    [['a', 'a', 'b'], ['a', 'a', 'b'], ['a', 'a', 'b']]
    """

    _labels_classes = True

    def _folds(self, rows: Rows, rng: np.random.Generator) -> IntArray:
        y = by_appearance(rows.classes("StratifiedKFold"))
        enough_of_each_class(rows, self.n_splits, "StratifiedKFold")
        folds = np.empty(rows.n, dtype=np.intp)
        # Which folds are larger by one row must not be known beforehand.
        folds[shuffled_by_class(y, rng)] = rng.permutation(self.n_splits)[np.arange(rows.n) % self.n_splits]
        return folds


def by_appearance(codes: IntArray) -> IntArray:
    """Codes numbered as they first appear, so that other names for the same classes change nothing.

    >>> by_appearance(np.array([2, 2, 0, 1])).tolist()
    [0, 0, 1, 2]
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def shuffled_by_class(y: IntArray, rng: np.random.Generator) -> IntArray:
    """All positions, class after class, in random order within each class."""
    order = rng.permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]
