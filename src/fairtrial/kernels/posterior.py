"""Probabilities of the three regions (first better, practically equal, second better) under weighted Walsh averages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.compiling import kernel


@kernel
def regions(weights: npt.NDArray[np.float32], above: IntArray, below: IntArray, to_sides: float, out: FloatArray) -> None:
    """Probability of each region for each row of weights; `to_sides` of the weight on the middle goes to either side."""
    rows, n = weights.shape
    sums = np.zeros(n + 1)
    for r in range(rows):
        total = 0.0
        for i in range(n):
            total += weights[r, i]
            sums[i + 1] = total
        not_high, low = 0.0, 0.0
        for i in range(n):
            not_high += weights[r, i] * sums[above[i]]
            low += weights[r, i] * sums[below[i]]
        low /= total**2
        middle = max(0.0, not_high / total**2 - low)
        out[r, 0] = max(0.0, 1.0 - low - middle) + to_sides * middle
        out[r, 1] = (1.0 - 2.0 * to_sides) * middle
        out[r, 2] = low + to_sides * middle


@kernel
def leads(draws: FloatArray) -> FloatArray:
    """How many draws each region leads; regions within rounding of each other share a draw."""
    out = np.zeros(3)
    for r in range(draws.shape[0]):
        top = max(draws[r, 0], draws[r, 1], draws[r, 2]) - 1e-12
        leaders = (draws[r, 0] >= top) + (draws[r, 1] >= top) + (draws[r, 2] >= top)
        for i in range(3):
            if draws[r, i] >= top:
                out[i] += 1.0 / leaders
    return out
