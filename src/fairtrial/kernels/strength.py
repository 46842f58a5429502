"""Bradley-Terry strengths of many tables of wins."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel

_MOST_STEPS = 20_000


@kernel
def maximise(tables: FloatArray) -> FloatArray:
    """Hunter's MM steps for each table of wins, until no log strength moves by more than 1e-10."""
    count, k, _ = tables.shape
    out = np.empty((count, k))
    for t in range(count):
        wins = tables[t]
        strength, moved = np.ones(k), np.empty(k)
        for _ in range(_MOST_STEPS):
            for i in range(k):
                won, met = 0.0, 0.0
                for j in range(k):
                    if j != i:
                        won += wins[i, j]
                        met += (wins[i, j] + wins[j, i]) / (strength[i] + strength[j])
                moved[i] = max(won / met, 1e-300) if met > 0 else 1.0
            moved /= np.exp(np.log(moved).mean())
            change = np.abs(np.log(moved / strength)).max()
            strength[:] = moved
            if change < 1e-10:
                break
        out[t] = np.log(strength)
    return out
