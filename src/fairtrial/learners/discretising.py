"""Cut points of a number that tell classes apart: Fayyad and Irani's entropy splits, stopped by description length."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray


def cut_points(values: FloatArray, codes: IntArray, weight: FloatArray, k: int) -> list[float]:
    """Where to cut, ascending; a value belongs below a cut up to and including it. Missing values play no part.

    >>> cut_points(np.array([1.0, 2, 3, 4, 5, 6, 7, 8]), np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.ones(8), 2)
    [4.5]
    """
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    ordered = values[known][order]
    counts = np.zeros((len(ordered), k))
    counts[np.arange(len(ordered)), codes[known][order]] = weight[known][order]
    return _cuts(ordered, counts)


def _cuts(values: FloatArray, counts: FloatArray) -> list[float]:
    """Cut at the least entropy and go on in both parts, as long as each cut pays for its description."""
    ends = np.flatnonzero(values[1:] > values[:-1])
    if len(ends) == 0:
        return []
    below = np.cumsum(counts, axis=0)[ends]
    total = counts.sum(axis=0)
    n = float(total.sum())
    within = (below.sum(axis=1) * _entropy(below) + (total - below).sum(axis=1) * _entropy(total - below)) / n
    best = int(np.argmin(within))
    if not _pays(total, below[best], n, float(within[best])):
        return []
    end = ends[best] + 1
    cut = float((values[end - 1] + values[end]) / 2)
    return [*_cuts(values[:end], counts[:end]), cut, *_cuts(values[end:], counts[end:])]


def _pays(total: FloatArray, left: FloatArray, n: float, within: float) -> bool:
    """Whether the gain exceeds the length of the cut and of the class descriptions on both sides."""
    right = total - left
    gain = float(_entropy(total)) - within
    if gain <= 0 or n <= 1:
        return False
    present = [int((side > 0).sum()) for side in (total, left, right)]
    entropies = [float(_entropy(side)) for side in (total, left, right)]
    change = present[0] * entropies[0] - present[1] * entropies[1] - present[2] * entropies[2]
    delta = np.log2(3.0 ** present[0] - 2) - change
    return bool(gain > (np.log2(n - 1) + delta) / n)


def _entropy(counts: FloatArray) -> FloatArray:
    """In bits, of each row of class counts."""
    total = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return np.asarray(-(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)).sum(axis=-1))
