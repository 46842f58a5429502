"""Groups and chains of nearest neighbours within classes, for DOB-SCV and DB-SCV.

Each seed in turn forms a group with its nearest remaining points. The neighbours of the next seeds are found in advance on all
threads, with some spare neighbours for each seed. If enough of these neighbours remain when the group is formed, they are the
nearest remaining points. Otherwise, the kd-tree is searched. The tree is rebuilt whenever half of its points have been removed.

If there are many columns, matrix products find candidates, and exact distances are used to choose among them. Matrix products
and sums of squared differences have different rounding errors. Therefore, more candidates are found for each seed than are
needed. A candidate is returned only if no other point can precede it, whatever the rounding errors are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels import compiling, kd_tree
from fairtrial.kernels.kd_tree import LiveTree, Numbers

_EXTRA_CANDIDATES = 8
"""Number of candidates to find for each seed in addition to the neighbours."""


_TILE = 2048


_blas_lock = Lock()


def look_up_batched(where: Numbers, points: FloatArray, window: Numbers, max_neighbours: int) -> Numbers:
    """Find the remaining points that are nearest to each remaining seed, by matrix products.

    Each list contains at most `max_neighbours` points. It ends before the first point whose rank is uncertain because of
    rounding errors. All further entries are -1.
    """
    remaining = np.flatnonzero(where >= 0)
    living = np.flatnonzero(where[window] >= 0)
    others, lengths = points[remaining], np.einsum("ij,ij->i", points[remaining], points[remaining])
    neighbours = np.full((len(window), max_neighbours), -1)

    def look_up_chunk(start: int, stop: int) -> None:
        seeds = window[living[start:stop]]
        rough, numbers = (
            np.full((len(seeds), max_neighbours + _EXTRA_CANDIDATES), np.inf),
            np.full((len(seeds), max_neighbours + _EXTRA_CANDIDATES), -1),
        )
        for offset in range(0, len(remaining), _TILE):
            tile = slice(offset, offset + _TILE)
            keep_nearest(points[seeds] @ others[tile].T, lengths[tile], remaining[tile], seeds, rough, numbers)
        neighbours[living[start:stop]] = select_certain(points, seeds, rough, numbers, float(lengths.max()), max_neighbours)

    with _limit_blas_threads():
        compiling.run_in_chunks(look_up_chunk, len(living), -(-len(living) // compiling.count_threads()))
    return neighbours


@contextmanager
def _limit_blas_threads() -> Iterator[None]:
    """Limit BLAS to one thread, because the products are already distributed over threads."""
    with _blas_lock, _get_threadpool_controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _get_threadpool_controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@compiling.kernel
def keep_nearest(
    products: FloatArray,
    lengths: FloatArray,
    tile: Numbers,
    seeds: Numbers,
    rough: FloatArray,
    numbers: Numbers,
) -> None:
    """Insert the points of a tile into the candidate list of each seed.

    The lists are sorted by squared length minus twice the product with the seed. For each seed, this number differs from the
    squared distance by a constant.
    """
    most = rough.shape[1]
    for i in range(seeds.size):
        worst, count = rough[i, most - 1], 0
        while count < most and numbers[i, count] >= 0:
            count += 1
        for j in range(tile.size):
            value = lengths[j] - 2.0 * products[i, j]
            if value <= worst and tile[j] != seeds[i]:
                count = kd_tree.insert_neighbour(rough[i], numbers[i], count, value, tile[j])
                worst = rough[i, most - 1]


@compiling.kernel
def select_certain(
    points: FloatArray, seeds: Numbers, rough: FloatArray, numbers: Numbers, longest: float, max_neighbours: int
) -> npt.NDArray[np.int64]:
    """Sort the candidates of each seed by exact distance, then by number.

    Each list ends before the first candidate that another point might precede because of rounding errors.
    """
    columns, n_candidates = points.shape[1], rough.shape[1]
    neighbours = np.full((seeds.size, max_neighbours), -1)
    distances, order = np.empty(n_candidates), np.empty(n_candidates, np.int64)
    for i in range(seeds.size):
        squared_norm, count = 0.0, 0
        for column in range(columns):
            squared_norm += points[seeds[i], column] ** 2
        while count < n_candidates and numbers[i, count] >= 0:
            total = 0.0
            for column in range(columns):
                difference = points[numbers[i, count], column] - points[seeds[i], column]
                total += difference * difference
            count = kd_tree.insert_neighbour(distances, order, count, total, numbers[i, count])
        # Several times the largest rounding error of either method of computing distances.
        rounding_bound = 8.0 * (columns + 8) * 2.2e-16 * (squared_norm + longest)
        limit = np.inf if count < n_candidates else rough[i, n_candidates - 1] + squared_norm - rounding_bound
        for j in range(min(count, max_neighbours)):
            if distances[j] >= limit:
                break
            neighbours[i, j] = order[j]
    return neighbours


Engine = Literal["tree", "batched"]


Kinds = npt.NDArray[np.int8]


_MORE = 4
"""Number of spare neighbours to look up for each seed."""


_WINDOW = 10
"""The groups that are formed from one lookup contain about 1 / _WINDOW of the remaining points."""


_FEW_COLUMNS = 12
"""Above this number of columns, matrix products are faster than the tree."""


_WORTH_THREADS = 20_000


_WORTH_PRODUCTS = 500


_WORTH_BUILDING = 128


def find_groups_by_class(
    points: FloatArray, kinds: Kinds, classes: Sequence[Numbers], seeds: Sequence[Numbers], size: int
) -> list[Numbers]:
    """Apply `find_nearest_groups` to each class.

    `classes` contains the sorted rows of each class. For each class, `seeds` contains the indices of these rows within the
    class, in the order in which the rows become seeds.
    """
    engine: Engine = "batched" if points.shape[1] > _FEW_COLUMNS and not kinds.any() else "tree"

    def find_class_groups(class_index: int) -> Numbers:
        rows = classes[class_index]
        return rows[find_nearest_groups(points[rows], kinds, seeds[class_index], size, engine)]

    def find_small_class_groups(start: int, _: int) -> Numbers:
        return find_class_groups(small[start])

    # A large class uses all threads. Each small class uses one thread.
    alone = [len(rows) >= (_WORTH_PRODUCTS if engine == "batched" else _WORTH_THREADS) for rows in classes]
    small = [class_index for class_index, large in enumerate(alone) if not large]
    groups = {class_index: find_class_groups(class_index) for class_index, large in enumerate(alone) if large}
    groups.update(zip(small, compiling.run_in_chunks(find_small_class_groups, len(small), 1), strict=True))
    return [groups[class_index] for class_index in range(len(classes))]


def find_chains_by_class(points: FloatArray, kinds: Kinds, classes: Sequence[Numbers], starts: Sequence[int]) -> list[Numbers]:
    """Apply `find_nearest_chain` to each class, with one thread per class."""

    def find_class_chain(class_index: int, _: int) -> Numbers:
        rows = classes[class_index]
        return rows[find_nearest_chain(points[rows], kinds, starts[class_index])]

    return compiling.run_in_chunks(find_class_chain, len(classes), 1)


def find_nearest_groups(points: FloatArray, kinds: Kinds, seeds: Numbers, size: int, engine: Engine = "tree") -> Numbers:
    """List all points, group by group.

    A group consists of the first remaining seed and its `size - 1` nearest remaining points. Only the last group may be
    smaller. `seeds` contains every point once. The engine "batched", which uses matrix products, requires points without
    nominal or missing values.

    >>> points = np.array([[0.0], [5.0], [1.0], [5.5], [0.5]])
    >>> find_nearest_groups(points, np.zeros(1, np.int8), np.array([1, 0, 2, 3, 4]), 2).tolist()
    [1, 3, 0, 4, 2]
    """
    n = len(points)
    members, remaining = np.empty(n, np.int64), np.arange(n)
    filled = next_seed = 0
    while len(remaining):
        tree = kd_tree.build_live_tree(points, kinds, remaining)
        floor = len(remaining) // 2 if len(remaining) > _WORTH_BUILDING else 0
        while tree.live[0] > floor:
            window = _select_window(seeds[next_seed:], int(tree.live[0]), size)
            near = _look_up_window(tree, points, window, size, engine)
            used, filled = take_groups(tree, points, window, near, size, floor, members, filled)
            next_seed += used
        remaining = np.flatnonzero(tree.where >= 0)
    return members


def find_nearest_chain(points: FloatArray, kinds: Kinds, start: int) -> Numbers:
    """List all points in the order of a walk that always moves to the nearest unvisited point.

    >>> find_nearest_chain(np.array([[0.0], [5.0], [1.0], [2.5]]), np.zeros(1, np.int8), 2).tolist()
    [2, 0, 3, 1]
    """
    n = len(points)
    members, remaining = np.empty(n, np.int64), np.delete(np.arange(n), start)
    members[0], filled = start, 1
    while len(remaining):
        tree = kd_tree.build_live_tree(points, kinds, remaining)
        filled = follow_nearest(tree, points, len(remaining) // 2 if len(remaining) > _WORTH_BUILDING else 0, members, filled)
        remaining = np.flatnonzero(tree.where >= 0)
    return members


def _select_window(seeds: Numbers, left: int, size: int) -> Numbers:
    """Return the next seeds, whose groups contain a small fraction of the remaining points."""
    living = max(_WORTH_BUILDING, left // (size * _WINDOW))
    return seeds[: -(-living * len(seeds) // left)]


def _look_up_window(tree: LiveTree, points: FloatArray, window: Numbers, size: int, engine: Engine) -> Numbers:
    """Find the nearest neighbours of each remaining seed in the window, padded with -1."""
    left = tree.live[0]
    if engine == "batched" and left >= _WORTH_PRODUCTS:
        return look_up_batched(tree.where, points, window, size - 1 + _MORE)
    if compiling.count_threads() == 1 or left < _WORTH_THREADS:
        return np.empty((len(window), 0), np.int64)
    near = np.full((len(window), size - 1 + _MORE), -1)
    compiling.run_in_chunks(
        lambda start, stop: look_up(tree, points, window[start:stop], near[start:stop]), len(window), len(window) // 8
    )
    return near


@compiling.kernel
def look_up(tree: LiveTree, points: FloatArray, window: Numbers, near: Numbers) -> None:
    """Find the nearest points of each remaining seed."""
    distances, scratch = np.empty(near.shape[1]), np.empty(tree.ids.shape[1])
    for i in range(window.size):
        if tree.where[window[i]] >= 0:
            kd_tree.find_nearest_live(tree, points[window[i]], window[i], distances, near[i], scratch)


@compiling.kernel
def take_groups(
    tree: LiveTree, points: FloatArray, window: Numbers, near: Numbers, size: int, floor: int, members: Numbers, filled: int
) -> tuple[int, int]:
    """Form the groups of the seeds until at most `floor` points remain.

    Return how many entries of `window` were processed, and how many points are listed in `members`.
    """
    group, distances, scratch = np.empty(size - 1, np.int64), np.empty(size - 1), np.empty(tree.ids.shape[1])
    for i in range(window.size):
        seed = window[i]
        if tree.where[seed] < 0:
            continue
        if tree.live[0] <= floor:
            return i, filled
        kd_tree.remove_point(tree, seed)
        members[filled] = seed
        filled += 1
        count = 0
        for j in range(near.shape[1]):
            if count < size - 1 and near[i, j] >= 0 and tree.where[near[i, j]] >= 0:
                group[count] = near[i, j]
                count += 1
        if count < size - 1:
            count = kd_tree.find_nearest_live(tree, points[seed], seed, distances, group, scratch)
        for j in range(count):
            kd_tree.remove_point(tree, group[j])
            members[filled] = group[j]
            filled += 1
    return window.size, filled


@compiling.kernel
def follow_nearest(tree: LiveTree, points: FloatArray, floor: int, members: Numbers, filled: int) -> int:
    """Continue the walk until at most `floor` points remain, and count the listed points."""
    step, distances, scratch = np.empty(1, np.int64), np.empty(1), np.empty(tree.ids.shape[1])
    while tree.live[0] > floor:
        here = members[filled - 1]
        kd_tree.find_nearest_live(tree, points[here], here, distances, step, scratch)
        kd_tree.remove_point(tree, step[0])
        members[filled] = step[0]
        filled += 1
    return filled


@compiling.kernel
def find_keel_groups(
    points: FloatArray, weights: FloatArray, proportions: FloatArray, seeds: Numbers, size: int
) -> tuple[Numbers, Numbers]:
    """List all points, group by group, with their positions in the groups (0 for the seed).

    In a numeric column (weight >= 0), the difference between two points is a quarter of the weight times the difference between
    their values. In a nominal column (weight < 0), the difference is the Euclidean distance between the class proportions of
    the two values. `proportions` has the shape (columns, codes, classes). If a value is missing, the difference is 1.

    A point at distance 0 from the seed is not added to the group of the seed, and becomes a seed later. KEEL assigns cases with
    missing values twice, because they differ from themselves. This function assigns them once.
    """
    n = points.shape[0]
    members, positions = np.empty(n, np.int64), np.empty(n, np.int64)
    group, distances = np.empty(size - 1, np.int64), np.empty(size - 1)
    left = np.arange(n)
    gone = np.zeros(n, np.bool_)
    filled = 0
    for seed in seeds:
        if gone[seed]:
            continue
        count, n_left = 0, 0
        for i in range(left.size):
            if gone[left[i]]:
                continue
            left[n_left] = left[i]
            n_left += 1
            distance = compute_keel_distance(points, weights, proportions, left[i], seed)
            if distance > 0 and left[i] != seed:
                count = kd_tree.insert_neighbour(distances, group, count, distance, left[i])
        left = left[:n_left]
        members[filled], positions[filled] = seed, 0
        gone[seed] = True
        for rank in range(count):
            members[filled + 1 + rank], positions[filled + 1 + rank] = group[rank], rank + 1
            gone[group[rank]] = True
        filled += 1 + count
    return members, positions


@compiling.kernel
def compute_keel_distance(points: FloatArray, weights: FloatArray, proportions: FloatArray, a: int, b: int) -> float:
    """Compute the square root of the sum of the differences in all columns.

    Rounding creates the same ties as in KEEL.
    """
    total = 0.0
    for column in range(points.shape[1]):
        first, second = points[a, column], points[b, column]
        if np.isnan(first) or np.isnan(second):
            total += 1.0
        elif weights[column] < 0:
            squares = 0.0
            for class_code in range(proportions.shape[2]):
                squares += (proportions[column, int(first), class_code] - proportions[column, int(second), class_code]) ** 2
            total += np.sqrt(squares)
        else:
            total += abs(first - second) / 4 * weights[column]
    return float(np.sqrt(total))
