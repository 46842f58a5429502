"""A kd-tree that finds exact nearest neighbours and from which points can be removed.

All leaves have the same capacity. A leaf stores its points by column, so a vectorized loop can compute the distances to all of
them. The number of a point is its row index. A node stores the bounding box of its points, the count of its remaining points,
and the lowest number of these points.

A distance is the sum of the contributions of all columns, added in the order of the columns. A column of the kind SQUARE
contributes the squared difference. SQUARE_WITH_MISSING does the same but contributes 1 for a missing value. The range of such a
column must be at most 1. OVERLAP contributes 1 if values differ or are missing.

The lower bound on the distance from a point to a box is also a sum over the columns, in the same order. Therefore, rounding
cannot make the bound larger than the distance to any point in the box. The results are exactly those of an exhaustive search.
If points are equally distant, the point with the lowest number comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel

Numbers = npt.NDArray[np.int64]


SQUARE, SQUARE_WITH_MISSING, OVERLAP = 0, 1, 2


_LEAF = 64


_DEEPEST = 64


# Missing values are sorted above all other values, which are codes or are scaled to 0..1.
_MISSING = 1e300


class LiveTree(NamedTuple):
    """The arrays of a tree.

    Node 0 is the root, node i has the children 2i + 1 and 2i + 2, and the last nodes are the leaves.
    """

    kinds: npt.NDArray[np.int8]
    blocks: FloatArray
    """Coordinates of the points, of shape (leaves, columns, slots)."""
    ids: Numbers
    """Number of each point, of shape (leaves, slots)."""
    where: Numbers
    """Position of each remaining point, computed as leaf * slots + slot. For removed points, the position is -1."""
    live: Numbers
    """Number of remaining points of each node."""
    first: Numbers
    """Lowest number of the remaining points of each node."""
    low: FloatArray
    high: FloatArray
    """`low` and `high`: bounding boxes of the known values, of shape (nodes, columns)."""


@kernel
def build_live_tree(points: FloatArray, kinds: npt.NDArray[np.int8], selected: Numbers) -> LiveTree:
    """Build a tree from some rows of `points`.

    `selected` must contain at least one row, in ascending order.
    """
    count, columns = selected.size, points.shape[1]
    leaves = 1
    while leaves * _LEAF < count:
        leaves *= 2
    nodes = 2 * leaves - 1
    start, stop = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    low, high = np.full((nodes, columns), np.inf), np.full((nodes, columns), -np.inf)
    live, first = np.zeros(nodes, np.int64), np.full(nodes, points.shape[0])
    order, keys = selected.copy(), np.empty(count)
    stop[0] = count
    for node in range(nodes):
        s, e = start[node], stop[node]
        live[node] = e - s
        missing = _measure(points, order[s:e], low[node], high[node])
        for i in range(s, e):
            first[node] = min(first[node], order[i])
        if node >= leaves - 1:
            continue
        column = _find_widest_column(kinds, low[node], high[node], missing)
        for i in range(s, e):
            value = points[order[i], column]
            keys[i] = _MISSING if np.isnan(value) else value
        middle = s + (e - s + 1) // 2
        _select(keys[s:e], order[s:e], middle - s)
        start[2 * node + 1], stop[2 * node + 1] = s, middle
        start[2 * node + 2], stop[2 * node + 2] = middle, e
    capacity = max(1, -(-count // leaves))
    blocks, ids = np.zeros((leaves, columns, capacity)), np.full((leaves, capacity), -1)
    where = np.full(points.shape[0], -1)
    for leaf in range(leaves):
        s = start[leaves - 1 + leaf]
        for slot in range(live[leaves - 1 + leaf]):
            point = order[s + slot]
            ids[leaf, slot] = point
            where[point] = leaf * capacity + slot
            for column in range(columns):
                blocks[leaf, column, slot] = points[point, column]
    return LiveTree(kinds, blocks, ids, where, live, first, low, high)


@kernel
def _measure(points: FloatArray, members: Numbers, low: FloatArray, high: FloatArray) -> npt.NDArray[np.bool_]:
    """Fill in the bounding box of the known values, and mark the columns with missing values."""
    missing = np.zeros(low.size, np.bool_)
    for i in range(members.size):
        for column in range(low.size):
            value = points[members[i], column]
            if np.isnan(value):
                missing[column] = True
            else:
                low[column] = min(low[column], value)
                high[column] = max(high[column], value)
    return missing


@kernel
def _find_widest_column(kinds: npt.NDArray[np.int8], low: FloatArray, high: FloatArray, missing: npt.NDArray[np.bool_]) -> int:
    """Find the column with the largest spread.

    The spread is 1 for a nominal column that varies and for a column with both known and missing values.
    """
    best, widest = 0, -1.0
    for column in range(low.size):
        apart = high[column] - low[column]
        if kinds[column] == OVERLAP:
            apart = 1.0 if apart > 0 else 0.0
        if missing[column]:
            apart = 1.0 if apart >= 0 else 0.0
        if apart > widest:
            best, widest = column, apart
    return best


@kernel
def _select(keys: FloatArray, order: Numbers, rank: int) -> None:
    """Move the `rank` smallest entries to the front of `keys` and `order`.

    Entries are compared by key, then by number.
    """
    low, high = 0, keys.size - 1
    while low < high:
        middle = (low + high) // 2
        key, number = keys[middle], order[middle]
        i, j = low, high
        while i <= j:
            while keys[i] < key or (keys[i] == key and order[i] < number):
                i += 1
            while keys[j] > key or (keys[j] == key and order[j] > number):
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            return


@kernel
def remove_point(tree: LiveTree, point: int) -> None:
    """Remove a point from the tree."""
    capacity = tree.ids.shape[1]
    leaf, slot = tree.where[point] // capacity, tree.where[point] % capacity
    node = tree.ids.shape[0] - 1 + leaf
    last = tree.live[node] - 1
    moved = tree.ids[leaf, last]
    for column in range(tree.low.shape[1]):
        tree.blocks[leaf, column, slot] = tree.blocks[leaf, column, last]
    tree.ids[leaf, slot] = moved
    tree.where[moved] = leaf * capacity + slot
    tree.where[point] = -1
    tree.live[node] = last
    if tree.first[node] == point:
        tree.first[node] = tree.where.size
        for i in range(last):
            tree.first[node] = min(tree.first[node], tree.ids[leaf, i])
    while node > 0:
        node = (node - 1) // 2
        tree.live[node] -= 1
        if tree.first[node] == point:
            tree.first[node] = min(tree.first[2 * node + 1], tree.first[2 * node + 2])


@kernel
def compute_box_bound(kinds: npt.NDArray[np.int8], low: FloatArray, high: FloatArray, node: int, point: FloatArray) -> float:
    """Compute a lower bound on the distances from a point to all points in the box of a node."""
    total = 0.0
    for column in range(point.size):
        value = point[column]
        below, above = low[node, column] - value, value - high[node, column]
        apart = below if below > above else above
        apart = apart if apart > 0.0 else 0.0
        if kinds[column] != SQUARE:
            missing = np.isnan(value) or low[node, column] > high[node, column]
            if missing or (kinds[column] == OVERLAP and apart > 0.0):
                apart = 1.0
        total += apart * apart
    return total


@kernel
def compute_leaf_distances(
    kinds: npt.NDArray[np.int8], blocks: FloatArray, leaf: int, count: int, point: FloatArray, out: FloatArray
) -> None:
    """Compute the distances from the first `count` points of a leaf to a point."""
    for i in range(count):
        out[i] = 0.0
    for column in range(point.size):
        value = point[column]
        if kinds[column] == SQUARE:
            for i in range(count):
                apart = blocks[leaf, column, i] - value
                out[i] += apart * apart
        elif kinds[column] == SQUARE_WITH_MISSING:
            for i in range(count):
                apart = blocks[leaf, column, i] - value
                out[i] += 1.0 if np.isnan(apart) else apart * apart
        else:
            for i in range(count):
                out[i] += 0.0 if blocks[leaf, column, i] == value else 1.0


@kernel
def insert_neighbour(distances: FloatArray, numbers: Numbers, count: int, distance: float, number: int) -> int:
    """Insert a point into sorted lists of neighbours, and return the new length of the lists.

    The lists are sorted by distance, then by number. If the lists are full, the farthest point is dropped.
    """
    most = numbers.size
    i = count if count < most else most - 1
    if count == most and (distance > distances[i] or (distance == distances[i] and number > numbers[i])):
        return count
    while i > 0 and (distance < distances[i - 1] or (distance == distances[i - 1] and number < numbers[i - 1])):
        distances[i], numbers[i] = distances[i - 1], numbers[i - 1]
        i -= 1
    distances[i], numbers[i] = distance, number
    return min(count + 1, most)


@kernel
def find_nearest_live(
    tree: LiveTree, point: FloatArray, itself: int, distances: FloatArray, numbers: Numbers, scratch: FloatArray
) -> int:
    """Find the nearest remaining points other than `itself`, and return how many were found.

    The results are stored in `distances` and `numbers`. The length of these arrays is the maximum number of points.
    """
    # Use local arrays, because access to tuples and slices costs more than computing a bound.
    kinds, blocks, ids, live, first, low, high = tree.kinds, tree.blocks, tree.ids, tree.live, tree.first, tree.low, tree.high
    leaves, most, count = ids.shape[0], numbers.size, 0
    worst, last = np.inf, tree.where.size
    stack, bounds = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST)
    stack[0], bounds[0], depth = 0, 0.0, 1
    while depth > 0:
        depth -= 1
        node, least = stack[depth], bounds[depth]
        if live[node] == 0 or least > worst or (least == worst and first[node] > last):
            continue
        if node >= leaves - 1:
            leaf, left = node - (leaves - 1), live[node]
            compute_leaf_distances(kinds, blocks, leaf, left, point, scratch)
            for i in range(left):
                if scratch[i] <= worst and ids[leaf, i] != itself:
                    count = insert_neighbour(distances, numbers, count, scratch[i], ids[leaf, i])
                    if count == most:
                        worst, last = distances[most - 1], numbers[most - 1]
            continue
        near, far = 2 * node + 1, 2 * node + 2
        near_bound, far_bound = (
            compute_box_bound(kinds, low, high, near, point),
            compute_box_bound(kinds, low, high, far, point),
        )
        if far_bound < near_bound or (far_bound == near_bound and first[far] < first[near]):
            near, far, near_bound, far_bound = far, near, far_bound, near_bound
        stack[depth], bounds[depth] = far, far_bound
        stack[depth + 1], bounds[depth + 1] = near, near_bound
        depth += 2
    return count
