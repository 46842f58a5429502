"""Groups of near neighbours as KEEL's partitioner forms them: another distance, and no neighbour at distance nought."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.live_tree import Numbers, insert


@kernel
def keel_groups(
    points: FloatArray, weights: FloatArray, shares: FloatArray, seeds: Numbers, size: int
) -> tuple[Numbers, Numbers]:
    """All points, group after group, and the place of each within its group (0: the seed).

    In a numeric column (weight >= 0) points differ by a quarter of the weight times the difference; in a nominal one
    (weight < 0) as the classes' `shares` (columns, codes, classes) of the two values do; by 1 where a value is missing. A point
    at distance nought is not taken: it stays to become a seed. (Where a value is missing, KEEL finds a case at some distance
    from itself and deals it out twice; that is not followed.)
    """
    n = points.shape[0]
    members, places = np.empty(n, np.int64), np.empty(n, np.int64)
    group, distances = np.empty(size - 1, np.int64), np.empty(size - 1)
    left = np.arange(n)
    gone = np.zeros(n, np.bool_)
    filled = 0
    for seed in seeds:
        if gone[seed]:
            continue
        count, kept = 0, 0
        for i in range(left.size):
            if gone[left[i]]:
                continue
            left[kept] = left[i]
            kept += 1
            apart = keel_distance(points, weights, shares, left[i], seed)
            if apart > 0 and left[i] != seed:
                count = insert(distances, group, count, apart, left[i])
        left = left[:kept]
        members[filled], places[filled] = seed, 0
        gone[seed] = True
        for place in range(count):
            members[filled + 1 + place], places[filled + 1 + place] = group[place], place + 1
            gone[group[place]] = True
        filled += 1 + count
    return members, places


@kernel
def keel_distance(points: FloatArray, weights: FloatArray, shares: FloatArray, a: int, b: int) -> float:
    """The root of the sum over the columns: that rounds unequal sums to equal distances now and then, as KEEL's does."""
    total = 0.0
    for column in range(points.shape[1]):
        first, second = points[a, column], points[b, column]
        if np.isnan(first) or np.isnan(second):
            total += 1.0
        elif weights[column] < 0:
            squares = 0.0
            for each in range(shares.shape[2]):
                squares += (shares[column, int(first), each] - shares[column, int(second), each]) ** 2
            total += np.sqrt(squares)
        else:
            total += abs(first - second) / 4 * weights[column]
    return float(np.sqrt(total))
