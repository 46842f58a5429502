"""The frozen splits of a data set, kept small: where all rows that do not test train, only those that test are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fairtrial.errors import InputError
from fairtrial.study.records import Rows

Positions = npt.NDArray[Any]


class PlannedSplits(Sequence[Rows]):
    """Splits by number, each made when it is asked for. Leaving one out of n rows takes n places, not n times n.

    >>> from fairtrial.resampling import KFold
    >>> splits = PlannedSplits(6, [KFold(3, random_state=1).freeze(range(6))])
    >>> len(splits), splits.numbers
    (3, ((0, 0), (0, 1), (0, 2)))
    >>> sorted([*splits[0].train.tolist(), *splits[0].test.tolist()])
    [0, 1, 2, 3, 4, 5]
    """

    def __init__(self, n_rows: int, repeats: Iterable[Iterable[Any]]) -> None:
        """Of the splits of each repeat, in order; a scheme that repeats itself counts on from the repeat before."""
        self.n_rows = n_rows
        kept = list(_numbered(repeats, n_rows))
        self.numbers = tuple(number for number, _ in kept)
        """The repeat and the fold of each split."""
        self._parts = tuple(part for _, part in kept)
        _all_different(self.numbers)

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, place: int) -> Rows: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Rows, ...]: ...

    def __getitem__(self, place: int | slice) -> Rows | tuple[Rows, ...]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        train, test = self._parts[place]
        if train is None:
            train = others(test, self.n_rows)
        return Rows(train.astype(np.intp, copy=False), test.astype(np.intp), *self.numbers[place])

    @property
    def repeats(self) -> int:
        """How many repeats there are."""
        return len({repeat for repeat, _ in self.numbers})


def _numbered(
    repeats: Iterable[Iterable[Any]], n_rows: int
) -> Iterator[tuple[tuple[int, int], tuple[Positions | None, Positions]]]:
    first = 0
    for splits in repeats:
        own: dict[int, int] = {}
        for part in splits:
            repeat = own.setdefault(part.repeat, first + len(own))
            yield (repeat, part.fold), _small(part, n_rows)
        first += len(own)


def _small(part: Any, n_rows: int) -> tuple[Positions | None, Positions]:
    kind = np.int32 if n_rows < 2**31 else np.int64
    test = np.asarray(part.test).astype(kind)
    rest = np.array_equal(part.train, others(test, n_rows))
    return None if rest else np.asarray(part.train).astype(kind), test


def others(rows: Positions, n_rows: int) -> Positions:
    """All positions but these.

    >>> others(np.array([3, 0]), 5).tolist()
    [1, 2, 4]
    """
    left = np.ones(n_rows, dtype=bool)
    left[rows] = False
    return np.flatnonzero(left)


def _all_different(numbers: Sequence[tuple[int, int]]) -> None:
    seen = set()
    for repeat, fold in numbers:
        if (repeat, fold) in seen:
            raise InputError(f"splits must have different numbers, got repeat {repeat}, fold {fold} twice: number the folds")
        seen.add((repeat, fold))
