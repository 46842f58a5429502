"""Sorting floats by their bits.

NumPy's SIMD sort is quickest for short columns. For long ones a radix sort is at least as quick on every machine tried, and six
times quicker on AMD's Zen 4, where the AVX-512 compress instructions behind NumPy's sort are microcoded.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.kernels.compiling import kernel

FloatArray = npt.NDArray[np.float64]

_LONG = 20_000
_DIGITS = 6
_BITS = 11
_SIZE = 1 << _BITS


def sort(scores: FloatArray) -> None:
    """Sort a contiguous column in place, ascending; NaN goes to the ends."""
    if len(scores) < _LONG:
        scores.sort()
    else:
        radix_sort(scores)


@kernel
def radix_sort(scores: FloatArray) -> None:
    """Least significant digit first; a digit that all keys share is passed over."""
    n = scores.size
    sign = np.uint64(0x8000000000000000)
    mask = np.uint64(_SIZE - 1)
    bits = scores.view(np.uint64)
    keys, moved = np.empty(n, np.uint64), np.empty(n, np.uint64)
    starts = np.zeros((_DIGITS, _SIZE), np.int64)
    for i in range(n):
        # Flipping all bits of a negative number, and the sign of a positive one, makes integers sort as the floats do.
        key = ~bits[i] if bits[i] & sign else bits[i] | sign
        keys[i] = key
        for digit in range(_DIGITS):
            starts[digit, (key >> np.uint64(_BITS * digit)) & mask] += 1
    for digit in range(_DIGITS):
        shared, total = False, 0
        for value in range(_SIZE):
            count = starts[digit, value]
            shared = shared or count == n
            starts[digit, value] = total
            total += count
        if shared:
            continue
        for i in range(n):
            value = (keys[i] >> np.uint64(_BITS * digit)) & mask
            moved[starts[digit, value]] = keys[i]
            starts[digit, value] += 1
        keys, moved = moved, keys
    for i in range(n):
        bits[i] = keys[i] ^ sign if keys[i] & sign else ~keys[i]
