"""Java's random numbers, and bootstrap samples that do not depend on the number of threads."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from fairtrial.kernels.compiling import kernel

T = TypeVar("T")


_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class JavaRandom:
    """The 48-bit linear congruential generator of the Java platform.

    >>> source = JavaRandom(1)
    >>> [source.draw_below(10) for _ in range(5)]
    [5, 8, 7, 3, 4]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _draw_bits(self, count: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - count)

    def draw_int32(self) -> int:
        """Draw a signed 32-bit integer."""
        bits = self._draw_bits(32)
        return bits - (1 << 32) if bits >= 1 << 31 else bits

    def draw_below(self, bound: int) -> int:
        """Draw an integer from 0 to bound - 1."""
        if bound & (bound - 1) == 0:
            return (bound * self._draw_bits(31)) >> 31
        while True:
            bits = self._draw_bits(31)
            value = bits % bound
            if bits - value + bound - 1 < 1 << 31:
                return value

    def shuffle(self, rows: list[T]) -> None:
        """Shuffle the list in place by the Fisher-Yates algorithm, starting with the last item."""
        for index in range(len(rows) - 1, 0, -1):
            swap_index = self.draw_below(index + 1)
            rows[index], rows[swap_index] = rows[swap_index], rows[index]


# With fewer rows than this, each half of a 64-bit random number selects a row, with a bias below 2^-16.
_MANY = 1 << 16


@kernel
def update_state(state: np.uint64) -> np.uint64:
    """Advance the state of SplitMix64 (Steele, Lea & Flood 2014)."""
    return state + np.uint64(0x9E3779B97F4A7C15)


@kernel
def hash_state(state: np.uint64) -> np.uint64:
    """Compute the output of SplitMix64."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def draw_resamples(
    seed: np.uint64, first: int, order: npt.NDArray[np.intp], ends: npt.NDArray[np.intp], out: npt.NDArray[np.uint8]
) -> None:
    """Add to out[r, i] the number of times that row i is drawn in resample first + r.

    `order` lists the rows by stratum, and `ends` contains the end of each stratum in this list. The number of rows drawn from a
    stratum is the number of rows that it contains. With a single stratum, this is the ordinary bootstrap.
    """
    for r in range(out.shape[0]):
        state = hash_state(seed + hash_state(update_state(np.uint64(first + r))))
        start = 0
        for end in ends:
            state = draw_from(state, order[start:end], out[r])
            start = end


@kernel
def draw_from(state: np.uint64, rows: npt.NDArray[np.intp], counts: npt.NDArray[np.uint8]) -> np.uint64:
    """Draw a bootstrap sample of `rows`, add it to `counts`, and return the next state."""
    n, half = np.uint64(rows.size), np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    if rows.size >= _MANY:
        for _ in range(rows.size):
            state = update_state(state)
            counts[rows[int((hash_state(state) >> np.uint64(11)) * (rows.size / 9007199254740992.0))]] += 1
        return state
    for _ in range(rows.size // 2):
        state = update_state(state)
        number = hash_state(state)
        counts[rows[((number >> half) * n) >> half]] += 1
        counts[rows[((number & low) * n) >> half]] += 1
    if rows.size % 2:
        state = update_state(state)
        counts[rows[((hash_state(state) >> half) * n) >> half]] += 1
    return state
