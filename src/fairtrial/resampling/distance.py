"""How far apart cases are: standardised Euclidean, or HEOM where anything is nominal or missing.

HEOM, the heterogeneous Euclidean-overlap metric (Wilson & Martinez 1997), adds up squares: of the difference of numbers in
parts of their range, of 1 where nominal values differ, and of 1 wherever a value is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray, Columns, read_columns
from fairtrial.errors import InputError
from fairtrial.kernels.live_tree import GAPPED, OVERLAP, SQUARE
from fairtrial.resampling.stratified import by_appearance

_ROUGH_BITS = 24


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases as points whose squared distances add up over the columns, each by its kind."""

    points: FloatArray
    kinds: npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class KeelCases:
    """Cases as KEEL's partitioner compares them."""

    points: FloatArray
    weights: FloatArray
    """The standard deviation of a numeric column; -1 for a nominal one."""
    shares: FloatArray
    """(columns, codes, classes): the classes' shares among the cases with a nominal value."""


def rows_by_class(codes: IntArray) -> list[IntArray]:
    """The rows of each class, ascending; classes in order of appearance, so that other names for them change nothing.

    >>> [rows.tolist() for rows in rows_by_class(np.array([1, 1, 0, 1]))]
    [[0, 1, 3], [2]]
    """
    numbered = by_appearance(codes)
    order = np.argsort(numbered, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbered))[:-1])


def as_cases(X: Any) -> Cases:
    """Standardised numbers where all are present; else what HEOM compares.

    >>> as_cases([[1.0, 7.0], [3.0, 7.0]]).points.tolist()
    [[0.0], [2.0]]
    """
    table = _finite(read_columns(X))
    values, nominal = table.values, table.nominal
    missing: BoolArray = np.asarray(np.isnan(values).any(axis=0))
    if nominal.any() or missing.any():
        return _heom(values, nominal, missing)
    scaled = [_scaled(each, _deviation) for each in values.T if each.min() < each.max()]
    return _cases(scaled, [SQUARE] * len(scaled), len(values))


def as_keel_cases(X: Any, classes: IntArray) -> KeelCases:
    """What KEEL compares: numbers by their difference *times* the standard deviation, nominal values by their classes."""
    table = _finite(read_columns(X))
    values, nominal = table.values, table.nominal
    weights = np.array([-1.0 if nominal[j] else _present_deviation(values[:, j]) for j in range(values.shape[1])])
    codes = max([len(each) for each in table.categories if each is not None], default=1)
    counts = np.zeros((values.shape[1], codes, int(classes.max()) + 1))
    for j in np.flatnonzero(nominal):
        present = ~np.isnan(values[:, j])
        np.add.at(counts[j], (values[present, j].astype(np.intp), classes[present]), 1.0)
    return KeelCases(values, weights, counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0))


def _finite(table: Columns) -> Columns:
    endless = np.isinf(table.values)
    if endless.any():
        row, column = (int(place) for place in np.argwhere(endless)[0])
        raise InputError(
            f"X must not hold infinite numbers, got {table.values[row, column]} at row {row} of {table.names[column]!r}: "
            "make it finite or missing"
        )
    return table


def _heom(values: FloatArray, nominal: BoolArray, missing: BoolArray) -> Cases:
    columns, kinds = [], []
    for j, column in enumerate(values.T):
        present = column[~np.isnan(column)]
        if nominal[j]:
            columns.append(column)
            kinds.append(OVERLAP)
        elif missing[j] or present.min() < present.max():
            columns.append(_scaled(column, _range) if len(present) and present.min() < present.max() else column * 0.0)
            kinds.append(GAPPED if missing[j] else SQUARE)
    return _cases(columns, kinds, len(values))


def _cases(columns: list[FloatArray], kinds: list[int], n: int) -> Cases:
    """Where no column tells cases apart they are all one point."""
    if not columns:
        columns, kinds = [np.zeros(n)], [SQUARE]
    return Cases(np.ascontiguousarray(np.column_stack(columns)), np.array(kinds, np.int8))


def _scaled(column: FloatArray, spread: Callable[[FloatArray], float]) -> FloatArray:
    """The numbers from their least (missing ones stay missing), in parts of their spread.

    The factor is rounded down to 24 bits. So equal steps between whole numbers stay equal to the last bit, and ties are ties.
    """
    most = np.nanmax(np.abs(column))
    if not 1e-100 < most < 1e100:  # squares must neither vanish nor overflow
        column = column / most
    column = column - np.nanmin(column)
    fraction, exponent = math.frexp(1.0 / spread(column))
    return column * math.ldexp(math.floor(math.ldexp(fraction, _ROUGH_BITS)), exponent - _ROUGH_BITS)


def _deviation(column: FloatArray) -> float:
    return float(np.std(column))


def _range(column: FloatArray) -> float:
    return float(np.nanmax(column))


def _present_deviation(column: FloatArray) -> float:
    present = column[~np.isnan(column)]
    return float(np.std(present)) if len(present) else 0.0
