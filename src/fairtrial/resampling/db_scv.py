"""Distribution-balanced stratified cross-validation (Zeng & Martinez 2000)."""

from __future__ import annotations

import numpy as np

from fairtrial._check import IntArray
from fairtrial.kernels.neighbours import chains_by_class
from fairtrial.resampling.distance import as_cases, rows_by_class
from fairtrial.resampling.splitter import FoldSplitter, Rows, enough_of_each_class


class DBSCV(FoldSplitter):
    """Folds dealt out along a walk through each class, always on to the nearest case not yet visited.

    The walk starts at a random case of the class. Its cases go to the folds in turn, and the turn is carried on to the next
    class, so that sizes differ by at most one, in total and within each class. Distances are those of `DOBSCV`.

    >>> X = [[1.0], [1.1], [5.0], [5.1], [9.0], [9.1]]
    >>> [test.tolist() for train, test in DBSCV(3, random_state=0).split(X, [0] * 6)]
    [[2, 5], [1, 4], [0, 3]]
    """

    _labels_classes = True

    def _folds(self, rows: Rows, rng: np.random.Generator) -> IntArray:
        classes = rows_by_class(rows.classes("DBSCV"))
        enough_of_each_class(rows, self.n_splits, "DBSCV")
        starts = [int(rng.integers(len(members))) for members in classes]
        cases = as_cases(rows.X)
        walk = np.concatenate(chains_by_class(cases.points, cases.kinds, classes, starts))
        folds = np.empty(rows.n, np.intp)
        folds[walk] = np.arange(rows.n) % self.n_splits
        return folds
