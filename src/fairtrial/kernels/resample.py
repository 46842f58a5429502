"""Bootstrap draws as counts per row. Each resample has a stream of its own, so threads cannot change the numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.kernels.compiling import kernel

# Up to here each half of a random number picks a row, its bias being below 1 in 2^16.
_MANY = 1 << 16


@kernel
def next_state(state: np.uint64) -> np.uint64:
    """The step of Steele, Lea and Flood's SplitMix64."""
    return state + np.uint64(0x9E3779B97F4A7C15)


@kernel
def scrambled(state: np.uint64) -> np.uint64:
    """The output function of SplitMix64."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def draw(
    seed: np.uint64, first: int, order: npt.NDArray[np.intp], ends: npt.NDArray[np.intp], out: npt.NDArray[np.uint8]
) -> None:
    """out[r, i]: how often row i is drawn in resample first + r.

    `order` lists the rows stratum by stratum and `ends` tells where each stratum ends; from each stratum as many rows are drawn
    as it holds. One stratum is the plain bootstrap.
    """
    for r in range(out.shape[0]):
        state = scrambled(seed + scrambled(next_state(np.uint64(first + r))))
        start = 0
        for end in ends:
            state = draw_from(state, order[start:end], out[r])
            start = end


@kernel
def draw_from(state: np.uint64, rows: npt.NDArray[np.intp], counts: npt.NDArray[np.uint8]) -> np.uint64:
    """Draw as many of `rows` as there are, with replacement. Gives the state to go on with."""
    n, half = np.uint64(rows.size), np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    if rows.size >= _MANY:
        for _ in range(rows.size):
            state = next_state(state)
            counts[rows[int((scrambled(state) >> np.uint64(11)) * (rows.size / 9007199254740992.0))]] += 1
        return state
    for _ in range(rows.size // 2):
        state = next_state(state)
        number = scrambled(state)
        counts[rows[((number >> half) * n) >> half]] += 1
        counts[rows[((number & low) * n) >> half]] += 1
    if rows.size % 2:
        state = next_state(state)
        counts[rows[((scrambled(state) >> half) * n) >> half]] += 1
    return state
