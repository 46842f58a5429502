"""The energy distance (Szekely & Rizzo) between the test and the training rows of many splits, from one matrix of distances.

2 mean d(test, train) - mean d(test, test) - mean d(train, train): zero for equal samples, larger the farther they lie apart.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray


def energy_distances(distances: FloatArray, test: FloatArray, train: FloatArray) -> FloatArray:
    """One distance for each column of `test` and `train`, which mark the rows of a split by 1 and all others by 0.

    NaN where a split has no test or no training row.

    >>> d = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    >>> energy_distances(d, np.array([[1.0], [1.0], [0.0]]), np.array([[0.0], [0.0], [1.0]])).tolist()
    [4.5]
    """
    sums = distances.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        m, n = test.sum(axis=0), train.sum(axis=0)
        within, reach = _inner(distances @ test, test), sums @ test
        if np.array_equal(train, 1 - test):
            # The training rows are all others: what they have among themselves is what is left of the whole.
            across, rest = reach - within, sums.sum() - 2 * reach + within
        else:
            weighed = distances @ train
            across, rest = _inner(weighed, test), _inner(weighed, train)
        found = 2 * across / (m * n) - within / m**2 - rest / n**2
    return np.where((m > 0) & (n > 0), found, np.nan)


def _inner(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->j", first, second))
