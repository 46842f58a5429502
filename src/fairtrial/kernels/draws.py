"""Random numbers inside kernels: a state of one number, moved on in place, so that each stream is its own (SplitMix64)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.resample import next_state, scrambled

State = npt.NDArray[np.uint64]
"""An array of one number."""


@kernel
def start(state: State, seed: np.uint64, stream: int) -> None:
    """Put the state at the beginning of a stream of a seed."""
    state[0] = scrambled(seed + scrambled(next_state(np.uint64(stream))))


@kernel
def uniform(state: State) -> float:
    """A number of [0, 1)."""
    state[0] = next_state(state[0])
    return (scrambled(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(state: State, limit: int) -> int:
    """A whole number of 0 .. limit - 1."""
    return int(uniform(state) * limit)


@kernel
def choose(state: State, items: IntArray, size: int, wanted: int) -> None:
    """Bring `wanted` of the first `size` items, drawn without replacement, to the front in random order."""
    for place in range(wanted):
        other = place + below(state, size - place)
        items[place], items[other] = items[other], items[place]
