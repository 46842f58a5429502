"""Distribution optimally balanced stratified cross-validation (Moreno-Torres et al. 2012; Lopez et al. 2014).

Distances are standardised Euclidean, or HEOM if any value is nominal or missing. HEOM, the heterogeneous Euclidean-overlap
metric (Wilson & Martinez 1997), sums squares: the difference of numbers relative to their range, 1 if nominal values differ,
and 1 if a value is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_one_of
from fairtrial._frames import BoolArray, EncodedTable, read_columns
from fairtrial.errors import InputError
from fairtrial.kernels import neighbours
from fairtrial.kernels.kd_tree import OVERLAP, SQUARE, SQUARE_WITH_MISSING
from fairtrial.resampling.splitter import FoldSplitter, Seed, SplitterInput, check_class_sizes, scheme
from fairtrial.resampling.splitters import number_by_appearance

_ROUGH_BITS = 24


@dataclass(frozen=True, eq=False)
class EncodedCases:
    """Cases as points whose squared distances add up over the columns, each by its kind."""

    points: FloatArray
    kinds: npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class KeelCases:
    """Cases as KEEL's partitioner compares them."""

    points: FloatArray
    weights: FloatArray
    """The standard deviation of a numeric column; -1 for a nominal one."""
    proportions: FloatArray
    """(columns, codes, classes): the classes' shares among the cases with a nominal value."""


def split_rows_by_class(codes: IntArray) -> list[IntArray]:
    """The rows of each class, ascending; classes in order of appearance, so that other names for them change nothing.

    >>> [rows.tolist() for rows in split_rows_by_class(np.array([1, 1, 0, 1]))]
    [[0, 1, 3], [2]]
    """
    ordered_codes = number_by_appearance(codes)
    order = np.argsort(ordered_codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(ordered_codes))[:-1])


def as_cases(X: Any) -> EncodedCases:
    """Standardised numbers where all are present; else what HEOM compares.

    >>> as_cases([[1.0, 7.0], [3.0, 7.0]]).points.tolist()
    [[0.0], [2.0]]
    """
    table = _check_finite(read_columns(X))
    values, nominal = table.values, table.nominal
    missing: BoolArray = np.asarray(np.isnan(values).any(axis=0))
    if nominal.any() or missing.any():
        return _encode_heom(values, nominal, missing)
    scaled = [_scale_column(column, _compute_deviation) for column in values.T if column.min() < column.max()]
    return _make_cases(scaled, [SQUARE] * len(scaled), len(values))


def as_keel_cases(X: Any, classes: IntArray) -> KeelCases:
    """What KEEL compares: numbers by their difference *times* the standard deviation, nominal values by their classes."""
    table = _check_finite(read_columns(X))
    values, nominal = table.values, table.nominal
    weights = np.array([-1.0 if nominal[j] else _compute_present_deviation(values[:, j]) for j in range(values.shape[1])])
    codes = max([len(categories) for categories in table.categories if categories is not None], default=1)
    counts = np.zeros((values.shape[1], codes, int(classes.max()) + 1))
    for j in np.flatnonzero(nominal):
        present = ~np.isnan(values[:, j])
        np.add.at(counts[j], (values[present, j].astype(np.intp), classes[present]), 1.0)
    return KeelCases(values, weights, counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0))


def _check_finite(table: EncodedTable) -> EncodedTable:
    infinite = np.isinf(table.values)
    if infinite.any():
        row, column = (int(index) for index in np.argwhere(infinite)[0])
        raise InputError(
            f"X must not hold infinite numbers, got {table.values[row, column]} at row {row} of {table.names[column]!r}: "
            "make it finite or missing"
        )
    return table


def _encode_heom(values: FloatArray, nominal: BoolArray, missing: BoolArray) -> EncodedCases:
    columns, kinds = [], []
    for j, column in enumerate(values.T):
        present = column[~np.isnan(column)]
        if nominal[j]:
            columns.append(column)
            kinds.append(OVERLAP)
        elif missing[j] or present.min() < present.max():
            columns.append(
                _scale_column(column, _compute_range) if len(present) and present.min() < present.max() else column * 0.0
            )
            kinds.append(SQUARE_WITH_MISSING if missing[j] else SQUARE)
    return _make_cases(columns, kinds, len(values))


def _make_cases(columns: list[FloatArray], kinds: list[int], n: int) -> EncodedCases:
    """Where no column tells cases apart they are all one point."""
    if not columns:
        columns, kinds = [np.zeros(n)], [SQUARE]
    return EncodedCases(np.ascontiguousarray(np.column_stack(columns)), np.array(kinds, np.int8))


def _scale_column(column: FloatArray, spread: Callable[[FloatArray], float]) -> FloatArray:
    """The numbers from their least (missing ones stay missing), in parts of their spread.

    The factor is rounded down to 24 bits. So equal steps between whole numbers stay equal to the last bit, and ties are ties.
    """
    largest = np.nanmax(np.abs(column))
    if not 1e-100 < largest < 1e100:  # squares must neither vanish nor overflow
        column = column / largest
    column = column - np.nanmin(column)
    fraction, exponent = math.frexp(1.0 / spread(column))
    return column * math.ldexp(math.floor(math.ldexp(fraction, _ROUGH_BITS)), exponent - _ROUGH_BITS)


def _compute_deviation(column: FloatArray) -> float:
    return float(np.std(column))


def _compute_range(column: FloatArray) -> float:
    return float(np.nanmax(column))


def _compute_present_deviation(column: FloatArray) -> float:
    present = column[~np.isnan(column)]
    return float(np.std(present)) if len(present) else 0.0


@scheme("db-scv", cite="Zeng & Martinez 2000")
class DBSCV(FoldSplitter):
    """Folds dealt out along a walk through each class, always on to the nearest case not yet visited.

    The walk starts at a random case of the class. Its cases go to the folds in turn, and the turn is carried on to the next
    class, so that sizes differ by at most one, in total and within each class. Distances are those of `DOBSCV`.

    >>> X = [[1.0], [1.1], [5.0], [5.1], [9.0], [9.1]]
    >>> [test.tolist() for train, test in DBSCV(3, random_state=0).split(X, [0] * 6)]
    [[2, 5], [1, 4], [0, 3]]
    """

    _uses_classes = True

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        classes = split_rows_by_class(rows.require_classes("DBSCV"))
        check_class_sizes(rows, self.n_splits, "DBSCV")
        starts = [int(rng.integers(len(members))) for members in classes]
        cases = as_cases(rows.X)
        walk = np.concatenate(neighbours.find_chains_by_class(cases.points, cases.kinds, classes, starts))
        folds = np.empty(rows.n, np.intp)
        folds[walk] = np.arange(rows.n) % self.n_splits
        return folds


Assign = Literal["shuffled", "literal", "keel"]


@scheme("dob-scv", cite="Moreno-Torres, Sáez & Herrera 2012")
class DOBSCV(FoldSplitter):
    """Folds in which near neighbours of a class are kept apart, so that every fold has cases of every region.

    A random case of a class that has no fold yet and its `n_splits - 1` nearest ones of the class form a group, and each member
    goes to another fold, until none is left. Distances are standardised Euclidean, or HEOM where a value is nominal or missing;
    equal distances go by row. On independent cases the estimates come out somewhat too good: see the page on DOB-SCV.

    `assign` says how a group is spread. "shuffled" draws the order of the folds anew for each group; sizes differ by at most
    one, in total and within each class. "literal" puts the first case into fold 1 and its neighbours into 2, 3, ... by
    distance, as printed; this gathers outliers in fold 1. "keel" does what the software KEEL does: as "literal", but by KEEL's
    own distance, and never with a neighbour at distance nought, so that copies of a case gather in fold 1.

    >>> X = [[1.0], [1.1], [5.0], [5.1], [9.0], [9.1]]
    >>> for train, test in DOBSCV(2, random_state=0).split(X, [0] * 6):
    ...     print([X[row][0] // 1 for row in test])
    [1.0, 5.0, 9.0]
    [1.0, 5.0, 9.0]
    """

    _uses_classes = True

    def __init__(self, n_splits: int = 5, *, assign: Assign = "shuffled", random_state: Seed = None) -> None:
        super().__init__(n_splits, random_state=random_state)
        check_one_of("assign", assign, get_args(Assign))
        self.assign = assign

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        classes = split_rows_by_class(rows.require_classes("DOBSCV"))
        check_class_sizes(rows, self.n_splits, "DOBSCV")
        # The next case without a fold in a random order is a random one of those without a fold.
        seeds = [rng.permutation(len(members)) for members in classes]
        if self.assign == "keel":
            return assign_keel_folds(rows, classes, seeds, self.n_splits)
        cases = as_cases(rows.X)
        groups = neighbours.find_groups_by_class(cases.points, cases.kinds, classes, seeds, self.n_splits)
        counts = [len(members) for members in groups]
        folds = np.empty(rows.n, np.intp)
        folds[np.concatenate(groups)] = (assign_literal_folds if self.assign == "literal" else assign_shuffled_folds)(
            counts, self.n_splits, rng
        )
        return folds


def assign_keel_folds(rows: SplitterInput, classes: list[IntArray], seeds: list[IntArray], n_splits: int) -> IntArray:
    """The place of each row in its group, as KEEL forms groups."""
    cases = as_keel_cases(rows.X, rows.require_classes("DOBSCV"))
    folds = np.empty(rows.n, np.intp)
    for members, order in zip(classes, seeds, strict=True):
        grouped_rows, positions = neighbours.find_keel_groups(
            cases.points[members], cases.weights, cases.proportions, order, n_splits
        )
        folds[members[grouped_rows]] = positions
    empty = np.flatnonzero(np.bincount(folds, minlength=n_splits) == 0)
    if len(empty):
        raise InputError(
            f"assign='keel' leaves fold {empty[0] + 1} without a case, for it never takes a copy of a case for its neighbour: "
            "take assign='shuffled'"
        )
    return folds


def assign_literal_folds(counts: list[int], n_splits: int, rng: np.random.Generator) -> IntArray:
    """A fold for each member, class after class: its place in its group."""
    del rng  # nothing is drawn
    return np.concatenate([np.arange(count) % n_splits for count in counts])


def assign_shuffled_folds(counts: list[int], n_splits: int, rng: np.random.Generator) -> IntArray:
    """A fold for each member, class after class: all folds in random order for each whole group.

    The rest of a class goes to the folds whose turn it is, in random order; the turn is carried on to the next class. In the
    end the folds change their numbers at random, so that none is the first.
    """
    blocks, turn = [], 0
    for count in counts:
        full_groups = np.tile(np.arange(n_splits), (count // n_splits, 1))
        rest = (turn + np.arange(count % n_splits)) % n_splits
        blocks += [rng.permuted(full_groups, axis=1).ravel(), rng.permutation(rest)]
        turn = (turn + len(rest)) % n_splits
    return np.asarray(rng.permutation(n_splits)[np.concatenate(blocks)])
