"""Distances of rows with numeric, nominal and missing values (HEOM, Wilson & Martinez 1997).

Numbers come scaled; a nominal attribute counts 0 where equal and 1 where not; where either value is missing (NaN) it counts 1.
Without nominal and missing values this is the Euclidean distance of the scaled numbers.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray
from fairtrial.kernels.compiling import kernel


@kernel
def squared(a: FloatArray, b: FloatArray, nominal: BoolArray) -> float:
    """The squared distance of two rows."""
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
def distances(first: FloatArray, second: FloatArray, nominal: BoolArray, out: FloatArray) -> None:
    """Of each row of `first` to each row of `second`."""
    for i in range(first.shape[0]):
        for j in range(second.shape[0]):
            out[i, j] = np.sqrt(squared(first[i], second[j], nominal))


@kernel
def nearest(queries: IntArray, rows: FloatArray, nominal: BoolArray, out: IntArray) -> None:
    """The places of the nearest other rows of each query, the nearest first, ties by place; as many as `out` has columns."""
    k = out.shape[1]
    best = np.empty(k)
    for q in range(queries.size):
        best[:] = np.inf
        for i in range(rows.shape[0]):
            if i == queries[q]:
                continue
            far = squared(rows[queries[q]], rows[i], nominal)
            if far >= best[k - 1]:
                continue
            place = k - 1
            while place > 0 and best[place - 1] > far:
                best[place] = best[place - 1]
                out[q, place] = out[q, place - 1]
                place -= 1
            best[place] = far
            out[q, place] = i
