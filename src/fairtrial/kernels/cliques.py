"""Partitions of a graph into cliques, by a dynamic programme over subsets of its nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.kernels.compiling import kernel

Counts = npt.NDArray[np.int16]
Masks = npt.NDArray[np.int64]


def neighbours(joined: npt.NDArray[np.bool_]) -> Masks:
    """Row by row, the learners joined to a learner as bits, itself left out."""
    bits = np.int64(1) << np.arange(len(joined), dtype=np.int64)
    return np.asarray((joined & ~np.eye(len(joined), dtype=bool)) @ bits)


@kernel
def most_true(adjacent: Masks, k: int) -> Counts:
    """For each pair, the most pairs within the blocks of a partition into cliques that has it in a block; 0 if none has."""
    full = (1 << k) - 1
    joining = np.empty(full + 1, dtype=np.int16)
    size = np.zeros(full + 1, dtype=np.int16)
    most = np.zeros(full + 1, dtype=np.int16)
    lowest = np.zeros(full + 1, dtype=np.int16)
    # joining: pairs within a clique when one learner joins it; -1 marks what is no clique.
    joining[0] = 0
    for s in range(1, full + 1):
        low = 0
        while not (s >> low) & 1:
            low += 1
        rest = s & (s - 1)
        lowest[s] = low
        size[s] = size[rest] + 1
        is_clique = joining[rest] >= 0 and (rest & ~adjacent[low]) == 0
        joining[s] = size[s] * (size[s] + 1) // 2 if is_clique else -1
    for s in range(1, full + 1):
        rest = s & (s - 1)
        near = rest & adjacent[lowest[s]]
        best = most[rest]
        block = near
        while block > 0:
            pairs = joining[block]
            if pairs >= 0 and pairs + most[rest ^ block] > best:
                best = pairs + most[rest ^ block]
            block = (block - 1) & near
        most[s] = best
    out = np.zeros((k, k), dtype=np.int16)
    for s in range(1, full + 1):
        if joining[s] < 0 or size[s] < 2:
            continue
        total = joining[s] - size[s] + most[full ^ s]
        for i in range(k):
            if (s >> i) & 1:
                for j in range(i + 1, k):
                    if (s >> j) & 1 and total > out[i, j]:
                        out[i, j] = total
    return out
