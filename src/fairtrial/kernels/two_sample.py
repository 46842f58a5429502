"""Statistics of two samples for many splits at once: `sides[b, i, s]` says where row i is in split s of arrangement b.

The first bit is set for a test row, the second for a training row; a row may be both, or neither. Where a split has no test or
no training row the statistic is NaN.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray
from fairtrial.kernels.compiling import kernel

Sides = npt.NDArray[np.uint8]


@kernel
def sizes(sides: Sides, b: int, test: FloatArray, train: FloatArray) -> None:
    """Numbers of test and training rows of each split of one arrangement."""
    test[:] = 0.0
    train[:] = 0.0
    for i in range(sides.shape[1]):
        for s in range(sides.shape[2]):
            test[s] += sides[b, i, s] & 1
            train[s] += sides[b, i, s] >> 1


@kernel
def kolmogorov_smirnov(order: IntArray, last: BoolArray, sides: Sides, out: FloatArray) -> None:
    """Largest distance of the two distribution functions, into out[b, s].

    `order` are the rows by ascending value, `last` marks in this order the last row of each run of equal values.
    """
    splits = sides.shape[2]
    m, n = np.empty(splits), np.empty(splits)
    for b in range(sides.shape[0]):
        sizes(sides, b, m, n)
        below_test, below_train, best = np.zeros(splits), np.zeros(splits), np.zeros(splits)
        for place in range(order.size):
            i = order[place]
            for s in range(splits):
                below_test[s] += sides[b, i, s] & 1
                below_train[s] += sides[b, i, s] >> 1
            if last[place]:
                for s in range(splits):
                    best[s] = max(best[s], abs(below_test[s] / m[s] - below_train[s] / n[s]))
        for s in range(splits):
            out[b, s] = best[s] if m[s] > 0 and n[s] > 0 else np.nan


@kernel
def hellinger(codes: IntArray, k: int, sides: Sides, out: FloatArray) -> None:
    """Hellinger's distance sqrt(1 - sum sqrt(p q)) of the shares of k values, into out[b, s]."""
    splits = sides.shape[2]
    m, n = np.empty(splits), np.empty(splits)
    test, train = np.empty((k, splits)), np.empty((k, splits))
    for b in range(sides.shape[0]):
        sizes(sides, b, m, n)
        test[:] = 0.0
        train[:] = 0.0
        for i in range(codes.size):
            for s in range(splits):
                test[codes[i], s] += sides[b, i, s] & 1
                train[codes[i], s] += sides[b, i, s] >> 1
        for s in range(splits):
            shared = 0.0
            for value in range(k):
                shared += np.sqrt(test[value, s] * train[value, s])
            gap = max(0.0, 1.0 - shared / np.sqrt(m[s] * n[s]))
            out[b, s] = np.sqrt(gap) if m[s] > 0 and n[s] > 0 else np.nan


@kernel
def neighbour_tallies(queries: IntArray, neighbours: IntArray, sides: Sides, pos: IntArray, neg: IntArray) -> None:
    """Tallies of a classifier that tells test from training rows by the nearest other rows.

    A query's score is the number of test rows less that of training rows among its neighbours; `pos[b, s]` counts the test
    rows and `neg[b, s]` the training rows of each score, the highest first (2 k + 1 places). No row is its own neighbour, so
    that each is judged by a classifier that does not know it.
    """
    splits, k = sides.shape[2], neighbours.shape[1]
    score = np.empty(splits, np.int64)
    pos[:] = 0
    neg[:] = 0
    for b in range(sides.shape[0]):
        for q in range(queries.size):
            score[:] = 0
            for place in range(k):
                for s in range(splits):
                    side = sides[b, neighbours[q, place], s]
                    score[s] += (side & 1) - (side >> 1)
            for s in range(splits):
                side = sides[b, queries[q], s]
                pos[b, s, k - score[s]] += side & 1
                neg[b, s, k - score[s]] += side >> 1


@kernel
def sums(values: FloatArray, sides: Sides, test: FloatArray, train: FloatArray) -> None:
    """Sums of the values of the test and of the training rows, added to test[b, s] and train[b, s]."""
    for b in range(sides.shape[0]):
        for i in range(values.size):
            for s in range(sides.shape[2]):
                test[b, s] += values[i] * (sides[b, i, s] & 1)
                train[b, s] += values[i] * (sides[b, i, s] >> 1)


@kernel
def twins(groups: IntArray, labels: IntArray, k: int, sides: Sides, same: IntArray, other: IntArray) -> None:
    """Test rows with an equal row in the training part: of the same class into same[b, s], of another class into other[b, s].

    `groups` numbers rows that are equal in all attributes from 0, `labels` their classes (k of them). A row that is itself in
    both parts is not its own twin, and is not counted.
    """
    g = groups.max() + 1
    seen = np.empty((g, k), np.int64)
    total = np.empty(g, np.int64)
    for b in range(sides.shape[0]):
        for s in range(sides.shape[2]):
            seen[:] = 0
            total[:] = 0
            same[b, s] = 0
            other[b, s] = 0
            for i in range(groups.size):
                if sides[b, i, s] & 2:
                    seen[groups[i], labels[i]] += 1
                    total[groups[i]] += 1
            for i in range(groups.size):
                if sides[b, i, s] == 1:
                    mine = seen[groups[i], labels[i]]
                    same[b, s] += mine > 0
                    other[b, s] += total[groups[i]] > mine
