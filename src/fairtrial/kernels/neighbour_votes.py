"""The votes of the nearest rows for their classes, over numeric, nominal and missing values."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.mixed_distance import squared


@kernel
def neighbour_votes(
    queries: FloatArray,
    rows: FloatArray,
    nominal: BoolArray,
    codes: IntArray,
    weight: FloatArray,
    reach: float,
    power: float,
    classes: int,
) -> FloatArray:
    """For each query the summed weight of its nearest rows by class, as many rows as weigh `reach` and all as near as the last.

    A vote counts its weight times the distance to the power of minus `power` (0: all alike); rows at distance 0 outvote others.
    """
    votes = np.zeros((len(queries), classes))
    far = np.empty(len(rows))
    for q in range(len(queries)):
        for i in range(len(rows)):
            far[i] = squared(queries[q], rows[i], nominal)
        limit = _limit(far, weight, reach)
        exact = power > 0 and far.min() == 0.0
        for i in range(len(rows)):
            if far[i] <= limit and (not exact or far[i] == 0.0):
                votes[q, codes[i]] += weight[i] if power == 0 or exact else weight[i] * far[i] ** (-power / 2)
    return votes


@kernel
def _limit(far: FloatArray, weight: FloatArray, reach: float) -> float:
    """The least distance within which the rows weigh `reach`: taken smallest first, one distance after the other."""
    limit, within = -1.0, 0.0
    while within < reach:
        following = np.inf
        for i in range(len(far)):
            if limit < far[i] < following:
                following = far[i]
        if following == np.inf:
            return limit
        limit = following
        for i in range(len(far)):
            if far[i] == limit:
                within += weight[i]
    return limit
