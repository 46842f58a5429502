"""How far out rows lie: the distance to the centre of their class, relative to the mean of that class."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._columns import BoolArray
from fairtrial.kernels.mixed_distance import distances


def centre(values: FloatArray, nominal: BoolArray) -> FloatArray:
    """The mean of each numeric and the most frequent value of each nominal column; NaN where nothing is known.

    >>> centre(np.array([[1.0, 2.0], [3.0, 2.0], [np.nan, 0.0]]), np.array([False, True])).tolist()
    [2.0, 2.0]
    """
    found = np.full(values.shape[1], np.nan)
    for j, known in enumerate(values[~np.isnan(values[:, j]), j] for j in range(values.shape[1])):
        if len(known):
            distinct, counts = np.unique(known, return_counts=True) if nominal[j] else (known, known)
            found[j] = distinct[np.argmax(counts)] if nominal[j] else known.mean()
    return found


def outlyingness(values: FloatArray, nominal: BoolArray) -> FloatArray:
    """The distance of each row of a class to its centre, divided by the mean distance; ones where all rows are equal.

    >>> outlyingness(np.array([[0.0], [2.0], [3.0], [7.0]]), np.array([False])).tolist()
    [1.5, 0.5, 0.0, 2.0]
    """
    found = np.empty((len(values), 1))
    distances(values, centre(values, nominal)[None], nominal, found)
    mean = found.mean()
    return found[:, 0] / mean if mean > 0 else np.ones(len(values))
