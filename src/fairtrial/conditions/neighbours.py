"""How near each case is to the cases of each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import Columns
from fairtrial.conditions.cells import read_table

# Distances are rounded to this many significant digits, so that float noise does not decide between equal ones.
_DIGITS = 12
_BLOCK = 2_000_000


def class_distances(X: Any, codes: IntArray, k: int, neighbours: int) -> FloatArray:
    """Of each case to its nearest other cases in each class, the nearest first: (n, k, neighbours); infinite where none are.

    Numbers are standardised and compared by Euclid. Where some columns are nominal or some values missing, numbers are scaled
    to their range, a nominal value counts 0 where equal and 1 where not, a missing one 1 (HEOM, Wilson & Martinez 1997).
    """
    table = read_table(X)
    found = np.full((len(codes), k, neighbours), np.inf)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        found[:, code] = _to_members(table, members, neighbours)
    return _rounded(found)


def embedded(table: Columns) -> FloatArray:
    """The table as points: numbers standardised, each nominal value an axis of its own, a missing value at the mean."""
    parts: list[FloatArray] = []
    for j, categories in enumerate(table.categories):
        values = table.values[:, j]
        if categories is None:
            parts.append(np.nan_to_num(_standardised(values)))
        else:
            parts += [(values == code).astype(np.float64) for code in range(len(categories))]
    return np.column_stack(parts)


def _standardised(values: FloatArray) -> FloatArray:
    """Mean 0 and standard deviation 1 (of the sample); a constant column is 0."""
    seen = values[~np.isnan(values)]
    spread = seen.std(ddof=1) if len(seen) > 1 else 0.0
    return (values - seen.mean()) / spread if spread > 0 else np.where(np.isnan(values), np.nan, 0.0)


def _ranged(values: FloatArray) -> FloatArray:
    seen = values[~np.isnan(values)]
    span = np.ptp(seen) if len(seen) else 0.0
    return (values - seen.min()) / span if span > 0 else np.where(np.isnan(values), np.nan, 0.0)


def _to_members(table: Columns, members: IntArray, neighbours: int) -> FloatArray:
    if np.isnan(table.values).any():
        return _by_blocks(table, members, neighbours)
    return _by_tree(_points(table), members, neighbours)


def _points(table: Columns) -> FloatArray:
    """Points whose Euclidean distances are the distances of the rows; only without missing values."""
    if not table.nominal.any():
        return np.column_stack([_standardised(table.values[:, j]) for j in range(table.values.shape[1])])
    parts = []
    for j, categories in enumerate(table.categories):
        values = table.values[:, j]
        if categories is None:
            parts.append(_ranged(values))
        else:  # two different values lie at distance 1
            parts += [(values == code) / np.sqrt(2) for code in range(len(categories))]
    return np.column_stack(parts)


def _by_tree(points: FloatArray, members: IntArray, neighbours: int) -> FloatArray:
    from scipy.spatial import cKDTree

    wanted = min(neighbours + 1, len(members))  # one more, because a member finds itself
    far, place = cKDTree(points[members]).query(points, k=wanted)
    far, place = (np.asarray(each).reshape(len(points), wanted) for each in (far, place))
    itself = members[place] == np.arange(len(points))[:, None]
    return _nearest(np.where(itself, np.inf, far), neighbours)


def _nearest(far: FloatArray, neighbours: int) -> FloatArray:
    """The smallest of each row, infinity where there are too few."""
    nearest = np.sort(far, axis=1)[:, :neighbours]
    return np.column_stack([nearest, np.full((len(nearest), neighbours - nearest.shape[1]), np.inf)])


def _by_blocks(table: Columns, members: IntArray, neighbours: int) -> FloatArray:
    scaled = np.column_stack(
        [
            table.values[:, j] if categories is not None else _ranged(table.values[:, j])
            for j, categories in enumerate(table.categories)
        ]
    )
    rows = max(1, _BLOCK // len(members))
    blocks = []
    for start in range(0, len(scaled), rows):
        block = scaled[start : start + rows]
        total = np.zeros((len(block), len(members)))
        for j, nominal in enumerate(table.nominal):
            gap = block[:, j, None] - scaled[members, j]
            square = (gap != 0).astype(np.float64) if nominal else gap * gap
            total += np.where(np.isnan(gap), 1.0, square)
        total[members == np.arange(start, start + len(block))[:, None]] = np.inf
        blocks.append(_nearest(np.sqrt(total), neighbours))
    return np.concatenate(blocks)


def _rounded(values: FloatArray) -> FloatArray:
    finite = np.isfinite(values) & (values > 0)
    places = _DIGITS - 1 - np.floor(np.log10(values, where=finite, out=np.zeros_like(values)))
    scale = 10.0 ** np.clip(places, -300, 300)
    return np.where(finite, np.round(np.where(finite, values, 0.0) * scale) / scale, values)
