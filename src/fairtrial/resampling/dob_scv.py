"""Distribution optimally balanced stratified cross-validation.

References: Moreno-Torres et al. (2012), Lopez et al. (2014).

Distances are Euclidean distances between standardized numbers. If any value is nominal or missing, the heterogeneous
Euclidean-overlap metric (HEOM; Wilson & Martinez 1997) is used instead. A squared HEOM distance is the sum of squared
differences over all columns. A difference between two numbers is divided by the range of the column. A difference is 1 if
nominal values differ or a value is missing.
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
    """Cases as points.

    A squared distance is a sum of one term per column. The kind of the column determines the formula of the term.
    """

    points: FloatArray
    kinds: npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class KeelCases:
    """Cases encoded for the distance function of the software KEEL."""

    points: FloatArray
    weights: FloatArray
    """Standard deviations of numeric columns, and -1 for nominal columns."""
    proportions: FloatArray
    """Class proportions of the cases with each nominal value. The shape is (columns, codes, classes)."""


def split_rows_by_class(codes: IntArray) -> list[IntArray]:
    """Return the sorted rows of each class, with the classes in order of appearance.

    >>> [rows.tolist() for rows in split_rows_by_class(np.array([1, 1, 0, 1]))]
    [[0, 1, 3], [2]]
    """
    ordered_codes = number_by_appearance(codes)
    order = np.argsort(ordered_codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(ordered_codes))[:-1])


def as_cases(X: Any) -> EncodedCases:
    """Convert a table to standardized points, or to points for HEOM if necessary.

    HEOM is necessary if any value is nominal or missing.

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
    """Convert a table to the input of KEEL's distance function.

    KEEL *multiplies* numeric differences by the standard deviation. It compares nominal values by their class proportions.
    """
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
            f"X must not contain infinite numbers, got {table.values[row, column]} at row {row} of {table.names[column]!r}: "
            "replace it by a finite or missing value"
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
    """Combine the columns. If there are no columns, all cases are the same point."""
    if not columns:
        columns, kinds = [np.zeros(n)], [SQUARE]
    return EncodedCases(np.ascontiguousarray(np.column_stack(columns)), np.array(kinds, np.int8))


def _scale_column(column: FloatArray, spread: Callable[[FloatArray], float]) -> FloatArray:
    """Subtract the minimum and divide by the spread. Missing values stay missing.

    The factor is rounded down to 24 bits, so equal steps between integers stay exactly equal and ties are preserved.
    """
    largest = np.nanmax(np.abs(column))
    if not 1e-100 < largest < 1e100:  # squares must not underflow or overflow
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
    """Distribution-balanced stratified folds, assigned along a walk through each class.

    The walk starts at a random case of the class and continues with the nearest case not yet visited. Consecutive cases are
    assigned to consecutive folds, including at the transition from one class to the next. Fold sizes therefore differ by at
    most one, in total and within each class. Distances are Euclidean distances between standardized numbers, or HEOM distances
    if any value is nominal or missing.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
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
    """Distribution optimally balanced stratified folds: near neighbours are in different folds.

    A random unassigned case of a class and its `n_splits - 1` nearest unassigned neighbours of the same class form a group. The
    members of a group are assigned to different folds. This is repeated until all cases are assigned. Distances are Euclidean
    distances between standardized numbers, or HEOM distances if any value is nominal or missing. Ties are broken by row number.
    If the cases are independent, estimates are slightly optimistic.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    assign : {"shuffled", "literal", "keel"}, default "shuffled"
        "shuffled" assigns the members of each group to the folds in random order, and fold sizes differ by at most one.
        "literal" follows the publication: the first case is assigned to fold 1, and its neighbours to folds 2, 3, ... in order
        of distance. Outliers then accumulate in fold 1. "keel" is the implementation of "literal" in the software KEEL. It uses
        a different distance and ignores neighbours at distance zero.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
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
        # Because the order is random, the next unassigned case is a random case.
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
    """Assign folds as KEEL does: the position of a row in its group determines its fold."""
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
            f"assign must not be 'keel' for this data set: fold {empty[0] + 1} is empty because copies of a case are not "
            "neighbours; use assign='shuffled'"
        )
    return folds


def assign_literal_folds(counts: list[int], n_splits: int, rng: np.random.Generator) -> IntArray:
    """Assign the members of all groups to folds by their positions in the groups."""
    del rng  # this assignment is not random
    return np.concatenate([np.arange(count) % n_splits for count in counts])


def assign_shuffled_folds(counts: list[int], n_splits: int, rng: np.random.Generator) -> IntArray:
    """Assign the members of each full group to different folds in random order.

    The remaining cases of a class, in random order, are assigned to the next folds in turn. Finally, the folds are renumbered
    at random.
    """
    blocks, turn = [], 0
    for count in counts:
        full_groups = np.tile(np.arange(n_splits), (count // n_splits, 1))
        rest = (turn + np.arange(count % n_splits)) % n_splits
        blocks += [rng.permuted(full_groups, axis=1).ravel(), rng.permutation(rest)]
        turn = (turn + len(rest)) % n_splits
    return np.asarray(rng.permutation(n_splits)[np.concatenate(blocks)])
