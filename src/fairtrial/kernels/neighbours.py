"""Points taken in groups of near neighbours, or in a walk from each to its nearest: as a search through all finds them.

Each seed in turn takes its nearest points that are left. The neighbours of the next seeds are looked up ahead, on all threads
(by the tree or, in many dimensions, by matrix products), a few more than needed: in their turn those that are still left are
the nearest ones, and where too few are left the tree is asked. The tree is built anew whenever half of its points are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.batched import look_up_batched
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.live_tree import LiveTree, Numbers, build, nearest, remove
from fairtrial.kernels.threads import in_chunks, thread_count

Engine = Literal["tree", "batched"]
Kinds = npt.NDArray[np.int8]

_MORE = 4
"""Neighbours looked up beyond those needed."""
_WINDOW = 10
"""Seeds looked up at once take this part of the points that are left."""
_FEW_COLUMNS = 12
"""Beyond, products win over the tree."""
_WORTH_THREADS = 20_000
_WORTH_PRODUCTS = 500
_WORTH_BUILDING = 128


def groups_by_class(
    points: FloatArray, kinds: Kinds, classes: Sequence[Numbers], seeds: Sequence[Numbers], size: int
) -> list[Numbers]:
    """`nearest_groups` within each class: `classes` holds its rows, ascending, `seeds` the order of places among them."""
    engine: Engine = "batched" if points.shape[1] > _FEW_COLUMNS and not kinds.any() else "tree"

    def work(each: int) -> Numbers:
        rows = classes[each]
        return rows[nearest_groups(points[rows], kinds, seeds[each], size, engine)]

    def small_work(start: int, _: int) -> Numbers:
        return work(small[start])

    # A large class uses all threads by itself, small ones have a thread each.
    alone = [len(rows) >= (_WORTH_PRODUCTS if engine == "batched" else _WORTH_THREADS) for rows in classes]
    small = [each for each, large in enumerate(alone) if not large]
    found = {each: work(each) for each, large in enumerate(alone) if large}
    found.update(zip(small, in_chunks(small_work, len(small), 1), strict=True))
    return [found[each] for each in range(len(classes))]


def chains_by_class(points: FloatArray, kinds: Kinds, classes: Sequence[Numbers], starts: Sequence[int]) -> list[Numbers]:
    """`nearest_chain` within each class, each on a thread."""

    def work(each: int, _: int) -> Numbers:
        rows = classes[each]
        return rows[nearest_chain(points[rows], kinds, starts[each])]

    return in_chunks(work, len(classes), 1)


def nearest_groups(points: FloatArray, kinds: Kinds, seeds: Numbers, size: int, engine: Engine = "tree") -> Numbers:
    """All points, group after group: the first seed that is left, then its `size - 1` nearest that are left, by distance.

    `seeds` holds every point once. Only the last group may be smaller. The batched engine is for columns without gaps.

    >>> points = np.array([[0.0], [5.0], [1.0], [5.5], [0.5]])
    >>> nearest_groups(points, np.zeros(1, np.int8), np.array([1, 0, 2, 3, 4]), 2).tolist()
    [1, 3, 0, 4, 2]
    """
    n = len(points)
    members, left = np.empty(n, np.int64), np.arange(n)
    filled = at = 0
    while len(left):
        tree = build(points, kinds, left)
        floor = len(left) // 2 if len(left) > _WORTH_BUILDING else 0
        while tree.live[0] > floor:
            window = _window(seeds[at:], int(tree.live[0]), size)
            near = _looked_up(tree, points, window, size, engine)
            used, filled = take(tree, points, window, near, size, floor, members, filled)
            at += used
        left = np.flatnonzero(tree.where >= 0)
    return members


def nearest_chain(points: FloatArray, kinds: Kinds, start: int) -> Numbers:
    """All points in the order of a walk that always goes on to the nearest point not yet visited.

    >>> nearest_chain(np.array([[0.0], [5.0], [1.0], [2.5]]), np.zeros(1, np.int8), 2).tolist()
    [2, 0, 3, 1]
    """
    n = len(points)
    members, left = np.empty(n, np.int64), np.delete(np.arange(n), start)
    members[0], filled = start, 1
    while len(left):
        tree = build(points, kinds, left)
        filled = follow(tree, points, len(left) // 2 if len(left) > _WORTH_BUILDING else 0, members, filled)
        left = np.flatnonzero(tree.where >= 0)
    return members


def _window(seeds: Numbers, left: int, size: int) -> Numbers:
    """The next seeds, dead ones among them: so many that the living ones take a small part of what is left."""
    living = max(_WORTH_BUILDING, left // (size * _WINDOW))
    return seeds[: -(-living * len(seeds) // left)]


def _looked_up(tree: LiveTree, points: FloatArray, window: Numbers, size: int, engine: Engine) -> Numbers:
    """Neighbours of each living seed of the window as far as they are surely the nearest, -1 behind them; maybe none at all."""
    left = tree.live[0]
    if engine == "batched" and left >= _WORTH_PRODUCTS:
        return look_up_batched(tree.where, points, window, size - 1 + _MORE)
    if thread_count() == 1 or left < _WORTH_THREADS:
        return np.empty((len(window), 0), np.int64)
    near = np.full((len(window), size - 1 + _MORE), -1)
    in_chunks(lambda start, stop: look_up(tree, points, window[start:stop], near[start:stop]), len(window), len(window) // 8)
    return near


@kernel
def look_up(tree: LiveTree, points: FloatArray, window: Numbers, near: Numbers) -> None:
    """Nearest points of each living seed."""
    distances, scratch = np.empty(near.shape[1]), np.empty(tree.ids.shape[1])
    for i in range(window.size):
        if tree.where[window[i]] >= 0:
            nearest(tree, points[window[i]], window[i], distances, near[i], scratch)


@kernel
def take(
    tree: LiveTree, points: FloatArray, window: Numbers, near: Numbers, size: int, floor: int, members: Numbers, filled: int
) -> tuple[int, int]:
    """Let the living seeds take their groups until no more than `floor` points are left: how many seeds, how many points."""
    group, distances, scratch = np.empty(size - 1, np.int64), np.empty(size - 1), np.empty(tree.ids.shape[1])
    for i in range(window.size):
        seed = window[i]
        if tree.where[seed] < 0:
            continue
        if tree.live[0] <= floor:
            return i, filled
        remove(tree, seed)
        members[filled] = seed
        filled += 1
        found = 0
        for j in range(near.shape[1]):
            if found < size - 1 and near[i, j] >= 0 and tree.where[near[i, j]] >= 0:
                group[found] = near[i, j]
                found += 1
        if found < size - 1:
            found = nearest(tree, points[seed], seed, distances, group, scratch)
        for j in range(found):
            remove(tree, group[j])
            members[filled] = group[j]
            filled += 1
    return window.size, filled


@kernel
def follow(tree: LiveTree, points: FloatArray, floor: int, members: Numbers, filled: int) -> int:
    """Go on from the last member to its nearest until no more than `floor` points are left: points taken."""
    step, distances, scratch = np.empty(1, np.int64), np.empty(1), np.empty(tree.ids.shape[1])
    while tree.live[0] > floor:
        here = members[filled - 1]
        nearest(tree, points[here], here, distances, step, scratch)
        remove(tree, step[0])
        members[filled] = step[0]
        filled += 1
    return filled
