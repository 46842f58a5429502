"""Splits as somebody else made them: those of a paper, of KEEL's fold files, of a colleague."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import column
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split, Splits
from fairtrial.resampling.splitter import Rows, Splitter


class Given(Splitter):
    """Pairs (train, test) of positions or masks, as they are. Whether they are sound is for `audit` to say.

    >>> cv = Given([([0, 1], [2, 3]), ([2, 3], [0, 1])])
    >>> cv
    Given(2 splits)
    >>> [test.tolist() for _, test in cv.split("abcd".split() * 4)]
    [[2, 3], [0, 1]]
    """

    _draws = False

    def __init__(self, splits: Iterable[Any]) -> None:
        self.splits = splits if isinstance(splits, Splits) else tuple(splits)
        if not len(self.splits):
            raise InputError("splits must hold at least 1 split, got 0")

    @classmethod
    def folds(cls, fold: npt.ArrayLike) -> Given:
        """From the fold in which each row tests; -1 for rows that only train.

        >>> [test.tolist() for _, test in Given.folds([1, 2, 1, -1]).split([0, 0, 0, 0])]
        [[0, 2], [1]]
        """
        numbers = column("fold", fold)
        if numbers.dtype.kind not in "iu":
            raise InputError(f"fold must hold whole numbers from -1 on, got {numbers[0]!r}: number the folds")
        if (numbers < -1).any():
            raise InputError(f"fold must hold whole numbers from -1 on, got {numbers.min()}")
        names = np.unique(numbers[numbers >= 0])
        pairs = [(np.flatnonzero(numbers != name), np.flatnonzero(numbers == name)) for name in names]
        return cls(Splits.of(pairs, len(numbers)))

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterable[Split]:
        if isinstance(self.splits, Splits) and self.splits.n_rows != rows.n:
            raise InputError(f"X must have the {self.splits.n_rows} rows that the folds were given for, got {rows.n}")
        return Splits.of(self.splits, rows.n)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits were given."""
        return len(self.splits)

    def __repr__(self) -> str:
        return f"Given({len(self.splits)} splits)"
