"""Nearest points in many dimensions: matrix products find the candidates, the exact distance decides among them.

A product rounds otherwise than the sum of squared differences does. So each seed keeps some more candidates than it needs, the
exact distances put them in order, and only those are given that no point outside the list can precede, whatever the rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.live_tree import Numbers, insert
from fairtrial.kernels.threads import in_chunks, thread_count

_SPARE = 8
"""Candidates kept beyond those wanted."""
_TILE = 2048
_taking_turns = Lock()


def look_up_batched(where: Numbers, points: FloatArray, window: Numbers, most: int) -> Numbers:
    """Up to `most` nearest living points (where >= 0) of each living seed, -1 behind the last that is sure."""
    left = np.flatnonzero(where >= 0)
    living = np.flatnonzero(where[window] >= 0)
    others, lengths = points[left], np.einsum("ij,ij->i", points[left], points[left])
    found = np.full((len(window), most), -1)

    def look(start: int, stop: int) -> None:
        seeds = window[living[start:stop]]
        rough, numbers = np.full((len(seeds), most + _SPARE), np.inf), np.full((len(seeds), most + _SPARE), -1)
        for at in range(0, len(left), _TILE):
            tile = slice(at, at + _TILE)
            keep_nearest(points[seeds] @ others[tile].T, lengths[tile], left[tile], seeds, rough, numbers)
        found[living[start:stop]] = sure(points, seeds, rough, numbers, float(lengths.max()), most)

    with _one_thread_each():
        in_chunks(look, len(living), -(-len(living) // thread_count()))
    return found


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """The products are spread over threads here; were each spread again, the threads would wait for each other."""
    with _taking_turns, _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@kernel
def keep_nearest(
    products: FloatArray,
    lengths: FloatArray,
    tile: Numbers,
    seeds: Numbers,
    rough: FloatArray,
    numbers: Numbers,
) -> None:
    """Let the points of a tile into each seed's list by squared length less twice the product."""
    most = rough.shape[1]
    for i in range(seeds.size):
        worst, count = rough[i, most - 1], 0
        while count < most and numbers[i, count] >= 0:
            count += 1
        for j in range(tile.size):
            value = lengths[j] - 2.0 * products[i, j]
            if value <= worst and tile[j] != seeds[i]:
                count = insert(rough[i], numbers[i], count, value, tile[j])
                worst = rough[i, most - 1]


@kernel
def sure(
    points: FloatArray, seeds: Numbers, rough: FloatArray, numbers: Numbers, longest: float, most: int
) -> npt.NDArray[np.int64]:
    """Each seed's candidates by exact distance, then number, up to the first that one left out might precede."""
    columns, kept = points.shape[1], rough.shape[1]
    found = np.full((seeds.size, most), -1)
    distances, order = np.empty(kept), np.empty(kept, np.int64)
    for i in range(seeds.size):
        own, count = 0.0, 0
        for column in range(columns):
            own += points[seeds[i], column] ** 2
        while count < kept and numbers[i, count] >= 0:
            total = 0.0
            for column in range(columns):
                apart = points[numbers[i, count], column] - points[seeds[i], column]
                total += apart * apart
            count = insert(distances, order, count, total, numbers[i, count])
        # What rounding may do to the two ways of computing, several times over.
        doubt = 8.0 * (columns + 8) * 2.2e-16 * (own + longest)
        limit = np.inf if count < kept else rough[i, kept - 1] + own - doubt
        for j in range(min(count, most)):
            if distances[j] >= limit:
                break
            found[i, j] = order[j]
    return found
