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
        if numbers.dtype.kind not in "iu" or (numbers < -1).any():
            raise InputError(f"fold must hold whole numbers from -1 on, got {numbers.min()!r}")
        names = np.unique(numbers[numbers >= 0])
        return cls([(np.flatnonzero(numbers != name), np.flatnonzero(numbers == name)) for name in names])

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterable[Split]:
        return Splits.of(self.splits, rows.n)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits were given."""
        return len(self.splits)

    def __repr__(self) -> str:
        return f"Given({len(self.splits)} splits)"
