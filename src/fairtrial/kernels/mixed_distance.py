"""Distances between rows of mixed types, searches for nearest rows, and their votes.

The distance is HEOM (Wilson & Martinez 1997). The caller must scale the numbers. Nominal values contribute 0 if they are
equal and 1 if they are not. A missing value (NaN) contributes 1. If there are no nominal and no missing values, the distance is
the Euclidean distance between the scaled numbers.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import BoolArray
from fairtrial.kernels.compiling import kernel


@kernel
def compute_squared_distance(a: FloatArray, b: FloatArray, nominal: BoolArray) -> float:
    """Compute the squared distance between two rows."""
    total = 0.0
    for j in range(a.size):
        gap = a[j] - b[j]
        if np.isnan(gap):
            total += 1.0
        elif nominal[j]:
            total += 1.0 if gap != 0 else 0.0
        else:
            total += gap * gap
    return total


@kernel
def compute_distances(first: FloatArray, second: FloatArray, nominal: BoolArray, out: FloatArray) -> None:
    """Compute the distance from each row of `first` to each row of `second`."""
    for i in range(first.shape[0]):
        for j in range(second.shape[0]):
            out[i, j] = np.sqrt(compute_squared_distance(first[i], second[j], nominal))


@kernel
def find_nearest_rows(queries: IntArray, rows: FloatArray, nominal: BoolArray, out: IntArray) -> None:
    """Find the other rows that are nearest to each query row, sorted by distance and index.

    `out` has one column per neighbour.
    """
    k = out.shape[1]
    best = np.empty(k)
    for q in range(queries.size):
        best[:] = np.inf
        for i in range(rows.shape[0]):
            if i == queries[q]:
                continue
            distance = compute_squared_distance(rows[queries[q]], rows[i], nominal)
            if distance >= best[k - 1]:
                continue
            position = k - 1
            while position > 0 and best[position - 1] > distance:
                best[position] = best[position - 1]
                out[q, position] = out[q, position - 1]
                position -= 1
            best[position] = distance
            out[q, position] = i


@kernel
def count_neighbour_votes(
    queries: FloatArray,
    rows: FloatArray,
    nominal: BoolArray,
    codes: IntArray,
    weight: FloatArray,
    reach: float,
    power: float,
    classes: int,
) -> FloatArray:
    """Sum the votes of the nearest rows of each query by class.

    The nearest rows are all rows within the smallest distance at which their total weight is at least `reach`.

    A vote is the weight of a row times distance ** -power, so the distance does not matter if the power is 0. If the power is
    positive and there are rows at distance 0, only these rows vote.
    """
    votes = np.zeros((len(queries), classes))
    distances = np.empty(len(rows))
    for q in range(len(queries)):
        for i in range(len(rows)):
            distances[i] = compute_squared_distance(queries[q], rows[i], nominal)
        limit = _find_distance_limit(distances, weight, reach)
        exact = power > 0 and distances.min() == 0.0
        for i in range(len(rows)):
            if distances[i] <= limit and (not exact or distances[i] == 0.0):
                votes[q, codes[i]] += weight[i] if power == 0 or exact else weight[i] * distances[i] ** (-power / 2)
    return votes


@kernel
def _find_distance_limit(distances: FloatArray, weight: FloatArray, reach: float) -> float:
    """Return the squared distance within which the rows reach a total weight of `reach`."""
    limit, within = -1.0, 0.0
    while within < reach:
        following = np.inf
        for i in range(len(distances)):
            if limit < distances[i] < following:
                following = distances[i]
        if following == np.inf:
            return limit
        limit = following
        for i in range(len(distances)):
            if distances[i] == limit:
                within += weight[i]
    return limit
