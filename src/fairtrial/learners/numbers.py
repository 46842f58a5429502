"""Typed columns as numbers only, as WEKA's machines see them: gaps filled, nominal to binary, scaled; all by training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._columns import Columns
from fairtrial.learners.learner import Training

Scale = Literal["min-max", "standard"] | None


@dataclass(frozen=True, eq=False)
class NumberEncoder:
    """What training showed: what fills a gap (mean or most frequent value), and shift and span of each number.

    A nominal column of two values becomes one column (1 for the second value), one of more values a column for each of them.
    A column that is constant in training becomes zero when scaled. Without `fill` a missing number stays missing, and a missing
    nominal value is none of the values.
    """

    fills: FloatArray
    widths: tuple[int, ...]
    shift: FloatArray
    span: FloatArray
    fill: bool = True

    @classmethod
    def fit(cls, training: Training, scale: Scale, *, fill: bool = True) -> NumberEncoder:
        """Learn from the training rows and their weights."""
        columns, weight = training.columns, training.weight
        fills = gap_fills(columns, weight)
        widths = tuple(_width(each) for each in columns.categories)
        shift, span = _scaling(_expanded(columns, fills, widths, fill=True), weight, scale)
        return cls(fills, widths, shift, span, fill)

    def __call__(self, columns: Columns) -> FloatArray:
        """The rows as numbers."""
        return np.ascontiguousarray((_expanded(columns, self.fills, self.widths, self.fill) - self.shift) / self.span)


def gap_fills(columns: Columns, weight: FloatArray) -> FloatArray:
    """What stands for a missing value of each column: the mean, or the code of the most frequent value."""
    nominal = columns.nominal
    return np.array([_fill(columns.values[:, j], weight, bool(nominal[j])) for j in range(len(nominal))])


def _fill(values: FloatArray, weight: FloatArray, nominal: bool) -> float:
    known = ~np.isnan(values)
    if not known.any():
        return 0.0
    if nominal:
        return float(np.argmax(np.bincount(values[known].astype(np.intp), weight[known])))
    return float(np.average(values[known], weights=weight[known]))


def _width(categories: tuple[object, ...] | None) -> int:
    """How many numbers stand for one column."""
    return 1 if categories is None or len(categories) <= 2 else len(categories)


def _expanded(columns: Columns, fills: FloatArray, widths: tuple[int, ...], fill: bool) -> FloatArray:
    filled = np.where(np.isnan(columns.values), fills, columns.values) if fill else columns.values
    parts = [
        filled[:, [j]] if width == 1 else (filled[:, [j]] == np.arange(width)).astype(np.float64)
        for j, width in enumerate(widths)
    ]
    return np.hstack(parts)


def _scaling(raw: FloatArray, weight: FloatArray, scale: Scale) -> tuple[FloatArray, FloatArray]:
    if scale is None:
        return np.zeros(raw.shape[1]), np.ones(raw.shape[1])
    if scale == "min-max":
        shift, span = raw.min(axis=0), np.ptp(raw, axis=0)
    else:
        shift = np.average(raw, axis=0, weights=weight)
        total = weight.sum()
        span = np.sqrt(np.average((raw - shift) ** 2, axis=0, weights=weight) * (total / max(total - 1, 1)))
    return shift, np.where(span > 1e-12 * np.abs(raw).max(axis=0), span, np.inf)
