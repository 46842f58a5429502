"""Cross-validation in k folds."""

from __future__ import annotations

import numpy as np

from fairtrial._check import IntArray
from fairtrial.resampling.splitter import FoldSplitter, Rows


class KFold(FoldSplitter):
    """Rows are shuffled and dealt into `n_splits` folds, whose sizes differ by at most one. Each fold tests once.

    It does not look at y, so that it serves regression; for classes `StratifiedKFold` is the better choice.

    >>> splits = KFold(3, random_state=1).freeze(range(7))
    >>> [(len(train), len(test)) for train, test in splits]
    [(4, 3), (5, 2), (5, 2)]
    """

    def _folds(self, rows: Rows, rng: np.random.Generator) -> IntArray:
        return rng.permutation(np.arange(rows.n) % self.n_splits)
