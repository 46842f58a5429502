"""Which row of a data set each row of its parts is, when the parts only repeat the values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import IntArray

if TYPE_CHECKING:
    import pandas as pd


def row_keys(frame: pd.DataFrame) -> IntArray:
    """A number for each row, which equal rows share; missing values are equal.

    >>> import pandas as pd
    >>> row_keys(pd.DataFrame({"a": [1.0, float("nan"), 1.0, float("nan")]})).tolist()
    [0, 1, 0, 1]
    """
    columns = [column.cat.codes if column.dtype == "category" else column for _, column in frame.items()]
    table = np.column_stack([column.to_numpy(dtype=np.float64) for column in columns]) + 0.0
    table[np.isnan(table)] = np.nan
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(row.tobytes(), len(known)) for row in table], dtype=np.intp)


def copies(test_keys: Sequence[IntArray], train_keys: Sequence[IntArray]) -> IntArray:
    """How many rows of each key there are: as many as most folds show, train and test together, and as each part needs.

    In folds that are right each fold shows every row once; a row that leaks, or that a fold lost, is outvoted.

    >>> tests, leaking = [[0, 1], [2], [3]], [[2, 3, 0], [0, 1, 3], [0, 1, 2]]
    >>> copies([np.array(each) for each in tests], [np.array(each) for each in leaking])
    array([1, 1, 1, 1])
    """
    width = 1 + max(int(keys.max()) for keys in [*test_keys, *train_keys])
    tests, trains = (np.array([np.bincount(keys, minlength=width) for keys in side]) for side in (test_keys, train_keys))
    shown = np.sort(tests + trains, axis=0)[(len(tests) - 1) // 2]
    needed = np.maximum(tests.max(axis=0), trains.max(axis=0))
    return np.asarray(np.maximum(shown, needed), dtype=np.intp)


def match(test_keys: Sequence[IntArray], train_keys: Sequence[IntArray]) -> tuple[list[list[int]], list[int]]:
    """The positions of the rows of each part, all test parts first, and for each position the row of the joined parts it is.

    No part holds a position twice. A test part takes rows that are untested so far, a training part rows that its own fold does
    not test; only where these are used up, others.

    >>> match([np.array([0, 1]), np.array([2])], [np.array([2]), np.array([1, 0])])
    ([[0, 1], [2], [2], [1, 0]], [0, 1, 2])
    """
    left = copies(test_keys, train_keys).tolist()
    known: dict[int, list[int]] = defaultdict(list)
    kept: list[int] = []
    places: list[list[int]] = []
    seen = 0
    for part, keys in enumerate([*test_keys, *train_keys]):
        avoided = set(places[part - len(test_keys)]) if part >= len(test_keys) else set(range(len(kept)))
        free: dict[int, list[int]] = {}
        place: list[int] = []
        for row, key in enumerate(keys.tolist()):
            if key not in free:
                free[key] = sorted(known[key], key=lambda each: (each in avoided, each), reverse=True)
            if left[key] and (not free[key] or free[key][-1] in avoided):
                free[key].append(len(kept))
                known[key].append(len(kept))
                kept.append(seen + row)
                left[key] -= 1
            place.append(free[key].pop())
        places.append(place)
        seen += len(keys)
    return places, kept
