"""Do test and training rows look alike? Statistics of the given splits and of random stratified ones like them.

They are computed within each class, where a shift of one class shows most clearly, and over all classes together, where a
shift that they share does. A permutation hands the places of a class (which parts of which splits a row is in) out to its rows
anew. That keeps the sizes, the class counts and whatever parts share, so that the given splits are one more draw if they
ignore the attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray
from fairtrial.kernels import ranking, two_sample
from fairtrial.kernels.energy import energy_distances
from fairtrial.kernels.mixed_distance import distances, nearest
from fairtrial.kernels.threads import in_chunks
from fairtrial.resampling.aligned import aligned
from fairtrial.resampling.layout import Layout
from fairtrial.resampling.outlying import outlyingness

NEIGHBOURS = 10
ENERGY, AUC, KS, HELLINGER = "energy distance", "two-sample AUC", "KS", "Hellinger"
OUTLYING, OUTLYING_FOLD = "outlying", "outlying in all repeats"
_CHUNK = 32
_WORK = 6_000_000_000
_MOST_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """One statistic for some splits, classes and attributes (-1: all): `values[0]` as given, the others under permutation."""

    check: str
    values: npt.NDArray[np.float32] | FloatArray
    split: IntArray
    label: IntArray
    attribute: IntArray


@dataclass(frozen=True, eq=False)
class _Class:
    """What is needed of one class, or of all (-1): the rows that are looked at, their neighbours, and what is computed once.

    `used` are positions in the data set; `queries` and `neighbours` are places in `used`, of which the queries are the first.
    """

    code: int
    used: IntArray
    neighbours: IntArray
    distances: FloatArray
    orders: list[tuple[IntArray, BoolArray] | tuple[IntArray, int]]
    outlying: FloatArray

    @property
    def sampled(self) -> int:
        return len(self.distances)


@dataclass(frozen=True, eq=False)
class Shift:
    """All statistics; for each class its rows and how many of them were looked at; whether each attribute was, too.

    `together` is how many rows of all classes were looked at together: none where there is only one class.
    """

    cells: tuple[Cells, ...]
    rows: IntArray
    sampled: IntArray
    together: int
    attributes: bool


def shift(layout: Layout, n_permutations: int, most_rows: int, seed: np.random.SeedSequence) -> Shift:
    """Compute the statistics of the examined splits, as they are and under permutation. Single test rows show no shift.

    >>> from fairtrial.resampling.layout import read_layout
    >>> x, fold = np.arange(20.0)[:, None], np.arange(20) // 10
    >>> layout = read_layout([(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in (0, 1)], (x, None))
    >>> found = {each.check: each.values[0] for each in shift(layout, 9, 1000, np.random.SeedSequence(0)).cells}
    >>> found["KS"].tolist()
    [1.0, 1.0]
    """
    sides = layout.sides()
    sizes, d = np.bincount(layout.labels, minlength=len(layout.classes)), len(layout.columns.names)
    if max(len(layout.splits.parts[s].test) for s in layout.examined) < 2:
        return Shift((), sizes, np.zeros_like(sizes), 0, False)
    wanted = np.append(sizes, layout.n_rows) if len(sizes) > 1 else sizes
    chosen = sample_sizes(wanted, sides.shape[1], d, n_permutations, most_rows)
    fits = sides.shape[1] * d * len(wanted) * (n_permutations + 1) <= _MOST_CELLS
    sampling, dealing = seed.spawn(2)
    parts = list(_classes(layout, chosen, sampling, fits))
    apart = [np.zeros((n_permutations + 1, sides.shape[1])) for _ in range(4)]
    cells: list[Cells] = []
    for rows, found in zip(parts, _statistics(layout, parts, sides, n_permutations, dealing), strict=True):
        cells += _cells(layout, rows.code, found, fits)
        if rows.code >= 0:
            share = sizes[rows.code] / rows.sampled
            apart = [total + each * share for total, each in zip(apart, found.sums, strict=True)]
    looked_at = np.where(sizes < 2, 0, chosen[: len(sizes)])
    together = int(chosen[-1]) if len(sizes) > 1 else 0
    return Shift((*cells, *_outlying_cells(layout, apart)), sizes, looked_at, together, fits)


def sample_sizes(sizes: IntArray, splits: int, attributes: int, n_permutations: int, most_rows: int) -> IntArray:
    """How many rows of each class are looked at: all, at most `most_rows`, and no more than can be done in some seconds.

    >>> sample_sizes(np.array([50_000, 300]), 5, 10, 499, 1000).tolist()
    [1000, 300]
    """
    chosen = np.minimum(sizes, most_rows)
    per_class = _WORK / max(1, len(sizes))
    for code, size in enumerate(sizes):
        while chosen[code] > 50 and _work(chosen[code], size, splits * (n_permutations + 1), attributes) > per_class:
            chosen[code] = int(0.8 * chosen[code])
    return chosen


def _work(sampled: float, size: float, columns: float, attributes: float) -> float:
    """Basic steps: attributes and neighbours one by one, energy distances by matrix products, the search for neighbours."""
    return float(sampled * columns * (attributes + NEIGHBOURS + sampled / 16) + sampled * size * attributes)


def _classes(layout: Layout, chosen: IntArray, seed: np.random.SeedSequence, attributes: bool) -> Iterator[_Class]:
    """Each class with at least two rows, and all together if there are several."""
    streams = seed.spawn(len(chosen))
    for code in range(len(layout.classes)):
        members = np.flatnonzero(layout.labels == code)
        if len(members) > 1:
            yield _prepared(layout, code, members, layout.scaled[members], int(chosen[code]), streams[code], attributes)
    if len(layout.classes) > 1:
        ranks = aligned(layout.columns.values, layout.columns.nominal, layout.labels)
        rows = replace(layout, columns=replace(layout.columns, values=ranks)).scaled
        yield _prepared(layout, -1, np.arange(layout.n_rows), rows, int(chosen[-1]), streams[-1], attributes)


def _prepared(
    layout: Layout, code: int, members: IntArray, own: FloatArray, sampled: int, seed: np.random.SeedSequence, attributes: bool
) -> _Class:
    nominal, own = layout.columns.nominal, np.ascontiguousarray(own)
    queries = np.sort(np.random.default_rng(seed).permutation(len(members))[:sampled])
    k = max(1, min(NEIGHBOURS, (len(members) - 1) // 4))
    near = np.concatenate(in_chunks(lambda start, stop: _nearest(queries[start:stop], own, nominal, k), sampled, 64))
    used = np.concatenate([queries, np.setdiff1d(near, queries)])
    place = np.empty(len(members), dtype=np.intp)
    place[used] = np.arange(len(used))
    matrix = np.empty((sampled, sampled))
    distances(own[queries], own[queries], nominal, matrix)
    orders = [_ordered(own[queries, j], bool(nominal[j])) for j in range(len(nominal))] if attributes else []
    return _Class(code, members[used], place[near], matrix, orders, outlyingness(own, nominal)[queries])


def _nearest(queries: IntArray, rows: FloatArray, nominal: BoolArray, k: int) -> IntArray:
    out = np.empty((len(queries), k), dtype=np.intp)
    nearest(queries, rows, nominal, out)
    return out


def _ordered(values: FloatArray, nominal: bool) -> tuple[IntArray, BoolArray] | tuple[IntArray, int]:
    """Of a nominal column codes and their number; of numbers the order and the ends of ties. Missing is a value, the last."""
    present, codes = np.unique(values, return_inverse=True)
    if nominal:
        return codes.astype(np.intp), len(present)
    order = np.argsort(codes, kind="stable").astype(np.intp)
    return order, np.append(np.diff(codes[order]) > 0, True)


@dataclass(frozen=True, eq=False)
class _Found:
    """Of a class, or all, and permutations: energy distances and AUCs (b, split), attributes (b, split, attribute), sums."""

    energy: FloatArray
    auc: FloatArray
    attributes: npt.NDArray[np.float32]
    sums: tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _statistics(
    layout: Layout, classes: list[_Class], sides: npt.NDArray[np.uint8], n_permutations: int, seed: np.random.SeedSequence
) -> list[_Found]:
    """Of each of these classes, all under the same permutations."""
    streams = seed.spawn(-(-n_permutations // _CHUNK))
    used = np.unique(np.concatenate([rows.used for rows in classes]))
    places = [np.searchsorted(used, rows.used) for rows in classes]

    def some(start: int, stop: int) -> list[_Found]:
        dealt = layout.dealt(used, sides, stop - start, np.random.default_rng(streams[start // _CHUNK]))
        if start == 0:
            dealt = np.concatenate([sides[used][None], dealt])
        return [_evaluated(rows, dealt[:, place]) for rows, place in zip(classes, places, strict=True)]

    return [_joined(parts) for parts in zip(*in_chunks(some, n_permutations, _CHUNK), strict=True)]


def _joined(parts: Sequence[_Found]) -> _Found:
    return _Found(
        np.concatenate([each.energy for each in parts]),
        np.concatenate([each.auc for each in parts]),
        np.concatenate([each.attributes for each in parts]),
        (*(np.concatenate([each.sums[i] for each in parts]) for i in range(4)),),  # type: ignore[arg-type]
    )


def _evaluated(rows: _Class, sides: npt.NDArray[np.uint8]) -> _Found:
    b, _, splits = sides.shape
    own = np.ascontiguousarray(sides[:, : rows.sampled])
    marks = np.moveaxis(own, 1, 0).reshape(rows.sampled, b * splits)
    energy = energy_distances(rows.distances, (marks & 1).astype(np.float64), (marks >> 1).astype(np.float64))
    attributes = np.empty((b, splits, len(rows.orders)), dtype=np.float32)
    out = np.empty((b, splits))
    for j, (first, second) in enumerate(rows.orders):
        if isinstance(second, int):
            two_sample.hellinger(first, second, own, out)
        else:
            two_sample.kolmogorov_smirnov(first, second, own, out)
        attributes[:, :, j] = out
    sums = [np.zeros((b, splits)) for _ in range(4)]
    two_sample.sums(rows.outlying, own, sums[0], sums[1])
    two_sample.sums(np.ones(rows.sampled), own, sums[2], sums[3])
    return _Found(energy.reshape(b, splits), _auc(rows, sides), attributes, (sums[0], sums[1], sums[2], sums[3]))


def _auc(rows: _Class, sides: npt.NDArray[np.uint8]) -> FloatArray:
    (b, _, splits), k = sides.shape, rows.neighbours.shape[1]
    pos, neg = np.empty((b, splits, 2 * k + 1), dtype=np.intp), np.empty((b, splits, 2 * k + 1), dtype=np.intp)
    two_sample.neighbour_tallies(np.arange(rows.sampled), rows.neighbours, sides, pos, neg)
    out = np.empty(b * splits)
    ranking.auc(pos.reshape(b * splits, -1), neg.reshape(b * splits, -1), out)
    return out.reshape(b, splits)


def _cells(layout: Layout, code: int, found: _Found, attributes: bool) -> Iterator[Cells]:
    splits = found.attributes.shape[1]
    split, label, none = layout.examined, np.full(splits, code), np.full(splits, -1)
    yield Cells(ENERGY, found.energy, split, label, none)
    yield Cells(AUC, found.auc, split, label, none)
    for check, columns in ((KS, layout.columns.numeric), (HELLINGER, layout.columns.nominal)):
        chosen = np.flatnonzero(columns) if attributes else np.empty(0, dtype=np.intp)
        values = found.attributes[:, :, chosen].reshape(len(found.energy), -1)
        if len(chosen):
            places = np.repeat(split, len(chosen)), np.full(splits * len(chosen), code), np.tile(chosen, splits)
            yield Cells(check, values, *places)


def _outlying_cells(layout: Layout, apart: list[FloatArray]) -> Iterator[Cells]:
    """How much farther out the test rows of a split lie than its training rows, all classes together.

    And those of the first, second ... fold of all repeats: what is done to one fold each time shows there most clearly.
    """
    test, train, m, n = apart
    with np.errstate(invalid="ignore", divide="ignore"):
        values = (test / m) / (train / n) - 1
    yield Cells(OUTLYING, values, layout.examined, *_nowhere(values.shape[1]))
    folds = {len(members) for members in layout.repeats}
    if len(layout.repeats) > 1 and len(folds) == 1 and folds != {1} and len(layout.examined) == len(layout.splits):
        places = np.array(layout.repeats)
        yield Cells(OUTLYING_FOLD, values[:, places].mean(axis=1), places[0], *_nowhere(places.shape[1]))


def _nowhere(n: int) -> tuple[IntArray, IntArray]:
    """All classes, all attributes."""
    return np.full(n, -1), np.full(n, -1)
