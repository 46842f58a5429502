"""Each row tests alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split, row_count
from fairtrial.resampling.splitter import Rows, Splitter


class LeaveOneOut(Splitter):
    """As many splits as rows: each row tests once, all others train. Nothing is drawn.

    The estimate has little bias and much variance, and costs as many trainings as there are rows.

    >>> [(train.tolist(), test.tolist()) for train, test in LeaveOneOut().split("abc".split() * 3)]
    [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    """

    _draws = False

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterator[Split]:
        if rows.n < 2:
            raise InputError(f"X must hold at least 2 rows to leave one out, got {rows.n}")
        everyone = np.arange(rows.n)
        for row in range(rows.n):
            yield Split(np.delete(everyone, row), everyone[row : row + 1].copy(), 0, row)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """As many as X has rows."""
        if X is None:
            raise InputError("X must be given: leaving one out has as many splits as there are rows")
        return row_count(X)
