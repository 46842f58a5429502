"""Numbers of decision trees: x log x, the majority class, and C4.5's bound on the errors of a leaf."""

from __future__ import annotations

import math

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel

# WEKA takes numbers that differ by less for equal. Trees differ where this is left out.
SMALL = 1e-6


@kernel
def x_log_x(x: float, table: FloatArray) -> float:
    """x log2 x, from the table of whole numbers if there is one."""
    if table.size > 0:
        return float(table[int(x)])
    return 0.0 if x < SMALL else x * math.log(x) / math.log(2.0)


@kernel
def x_log_x_table(n: int) -> FloatArray:
    """x log2 x of 0, 1, ..., n."""
    table = np.zeros(n + 1)
    for x in range(1, n + 1):
        table[x] = x * math.log(float(x)) / math.log(2.0)
    return table


@kernel
def majority(counts: FloatArray) -> int:
    """The class of most weight, of equal ones the first."""
    best, most = 0, 0.0
    for c in range(counts.size):
        if counts[c] - most > SMALL:
            best, most = c, counts[c]
    return best


@kernel
def total_of(counts: FloatArray) -> float:
    """The sum, from left to right."""
    total = 0.0
    for c in range(counts.size):
        total += counts[c]
    return total


@kernel
def wrong(counts: FloatArray) -> float:
    """The weight that is not of the majority."""
    return float(total_of(counts) - counts[majority(counts)])


@kernel
def extra_errors(n: float, errors: float, confidence: float, z: float) -> float:
    """How many errors beyond those seen in `n` cases C4.5 expects: the upper limit of the binomial rate less the rate, times n.

    `z` is the normal deviate of `confidence`. Below one error the limit is interpolated from that of no error.
    """
    if errors < 1:
        base = n * (1 - math.pow(confidence, 1 / n))
        return base if errors == 0 else base + errors * (_normal_extra(n, 1.0, z) - base)
    return _normal_extra(n, errors, z)


@kernel
def _normal_extra(n: float, errors: float, z: float) -> float:
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    rate = (errors + 0.5) / n
    root = math.sqrt(rate / n - rate * rate / n + z * z / (4 * n * n))
    return (rate + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - errors


@kernel
def expected_errors(counts: FloatArray, confidence: float, z: float) -> float:
    """Errors that a leaf with these class counts is expected to make on as many new cases."""
    total = total_of(counts)
    if abs(total) < SMALL:
        return 0.0
    errors = wrong(counts)
    return errors + extra_errors(total, errors, confidence, z)
