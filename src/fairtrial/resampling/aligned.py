"""Rows of all classes side by side: what is the same within each class is no difference between them."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray


def aligned(values: FloatArray, nominal: BoolArray, labels: IntArray) -> FloatArray:
    """Each number as the share of its class that lies below it (ties count half); nominal and missing values as they are.

    >>> aligned(np.array([[1.0], [3.0], [700.0], [900.0]]), np.array([False]), np.array([0, 0, 1, 1])).ravel().tolist()
    [0.25, 0.75, 0.25, 0.75]
    """
    from scipy.stats import rankdata

    found = values.copy()
    numbers = np.flatnonzero(~nominal)
    for code in np.unique(labels):
        own = np.ix_(labels == code, numbers)
        known = np.maximum(1, (~np.isnan(values[own])).sum(axis=0))
        found[own] = (rankdata(values[own], axis=0, nan_policy="omit") - 0.5) / known
    return found
