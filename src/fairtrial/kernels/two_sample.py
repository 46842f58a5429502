"""Distances and duplicates between the test rows and the training rows of many splits.

The first bit of `sides[b, i, s]` is set if row i is a test row of split s in arrangement b. The second bit is set if it is a
training row. A row may be in both sets, or in neither. A distance is NaN if a split has no test or no training rows.

The energy distance (Szekely & Rizzo) is 2 mean d(test, train) - mean d(test, test) - mean d(train, train), which is zero
for equal samples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import BoolArray
from fairtrial.kernels.compiling import kernel

Sides = npt.NDArray[np.uint8]


@kernel
def count_sizes(sides: Sides, b: int, test: FloatArray, train: FloatArray) -> None:
    """Count the test and training rows of each split in one arrangement."""
    test[:] = 0.0
    train[:] = 0.0
    for i in range(sides.shape[1]):
        for s in range(sides.shape[2]):
            test[s] += sides[b, i, s] & 1
            train[s] += sides[b, i, s] >> 1


@kernel
def compute_kolmogorov_smirnov(order: IntArray, last: BoolArray, sides: Sides, out: FloatArray) -> None:
    """Compute the Kolmogorov-Smirnov distance between test and training rows.

    The distance is stored in out[b, s]. `order` lists the rows by ascending value. `last` marks the last row of each run of
    equal values in this order.
    """
    splits = sides.shape[2]
    m, n = np.empty(splits), np.empty(splits)
    for b in range(sides.shape[0]):
        count_sizes(sides, b, m, n)
        below_test, below_train, best = np.zeros(splits), np.zeros(splits), np.zeros(splits)
        for position in range(order.size):
            i = order[position]
            for s in range(splits):
                below_test[s] += sides[b, i, s] & 1
                below_train[s] += sides[b, i, s] >> 1
            if last[position]:
                for s in range(splits):
                    best[s] = max(best[s], abs(below_test[s] / m[s] - below_train[s] / n[s]))
        for s in range(splits):
            out[b, s] = best[s] if m[s] > 0 and n[s] > 0 else np.nan


@kernel
def compute_hellinger(codes: IntArray, k: int, sides: Sides, out: FloatArray) -> None:
    """Compute the Hellinger distance sqrt(1 - sum sqrt(p q)) between test and training rows.

    The distance is stored in out[b, s]. p and q are the proportions of each of the k values among the test rows and among the
    training rows.
    """
    splits = sides.shape[2]
    m, n = np.empty(splits), np.empty(splits)
    test, train = np.empty((k, splits)), np.empty((k, splits))
    for b in range(sides.shape[0]):
        count_sizes(sides, b, m, n)
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
def tally_neighbours(queries: IntArray, neighbours: IntArray, sides: Sides, pos: IntArray, neg: IntArray) -> None:
    """Tally the scores of a nearest-neighbour classifier of test rows and training rows.

    The score of a row is the number of test rows minus the number of training rows among its neighbours. `pos[b, s]` contains
    the number of test rows with each of the 2 k + 1 possible scores, highest score first. `neg[b, s]` contains the same numbers
    for training rows. No row is its own neighbour.
    """
    splits, k = sides.shape[2], neighbours.shape[1]
    score = np.empty(splits, np.int64)
    pos[:] = 0
    neg[:] = 0
    for b in range(sides.shape[0]):
        for q in range(queries.size):
            score[:] = 0
            for rank in range(k):
                for s in range(splits):
                    side = sides[b, neighbours[q, rank], s]
                    score[s] += (side & 1) - (side >> 1)
            for s in range(splits):
                side = sides[b, queries[q], s]
                pos[b, s, k - score[s]] += side & 1
                neg[b, s, k - score[s]] += side >> 1


@kernel
def sum_by_side(values: FloatArray, sides: Sides, test: FloatArray, train: FloatArray) -> None:
    """Add the values of test rows to test[b, s], and the values of training rows to train[b, s]."""
    for b in range(sides.shape[0]):
        for i in range(values.size):
            for s in range(sides.shape[2]):
                test[b, s] += values[i] * (sides[b, i, s] & 1)
                train[b, s] += values[i] * (sides[b, i, s] >> 1)


@kernel
def count_duplicates(
    groups: IntArray, labels: IntArray, k: int, sides: Sides, duplicates: IntArray, conflicts: IntArray
) -> None:
    """Count the test rows that equal a training row in all attributes.

    `duplicates` counts the test rows that equal a training row of the same class. `conflicts` counts those that equal a
    training row of another class. Rows that are equal in all attributes have the same number in `groups`, counted from 0.
    `labels` contains the class of each row as a code below k. A row that is in both sets does not count as a test row.
    """
    g = groups.max() + 1
    class_counts = np.empty((g, k), np.int64)
    total = np.empty(g, np.int64)
    for b in range(sides.shape[0]):
        for s in range(sides.shape[2]):
            class_counts[:] = 0
            total[:] = 0
            duplicates[b, s] = 0
            conflicts[b, s] = 0
            for i in range(groups.size):
                if sides[b, i, s] & 2:
                    class_counts[groups[i], labels[i]] += 1
                    total[groups[i]] += 1
            for i in range(groups.size):
                if sides[b, i, s] == 1:
                    same_class = class_counts[groups[i], labels[i]]
                    duplicates[b, s] += same_class > 0
                    conflicts[b, s] += total[groups[i]] > same_class


def compute_energy_distances(distances: FloatArray, test: FloatArray, train: FloatArray) -> FloatArray:
    """Compute the energy distance between the test and training rows of each split.

    `test` and `train` have one column per split, which contains 1 for the rows of the set and 0 for all other rows. The
    distance is NaN if a split has no test or no training rows.

    >>> d = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    >>> compute_energy_distances(d, np.array([[1.0], [1.0], [0.0]]), np.array([[0.0], [0.0], [1.0]])).tolist()
    [4.5]
    """
    sums = distances.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        m, n = test.sum(axis=0), train.sum(axis=0)
        within, reach = _sum_column_products(distances @ test, test), sums @ test
        if np.array_equal(train, 1 - test):
            # All other rows are training rows, so their sums follow from the totals.
            across, rest = reach - within, sums.sum() - 2 * reach + within
        else:
            weighed = distances @ train
            across, rest = _sum_column_products(weighed, test), _sum_column_products(weighed, train)
        energy = 2 * across / (m * n) - within / m**2 - rest / n**2
    return np.where((m > 0) & (n > 0), energy, np.nan)


def _sum_column_products(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->j", first, second))
