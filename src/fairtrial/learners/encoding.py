"""Encode typed columns as numbers, and format numbers as WEKA does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._frames import EncodedTable
from fairtrial.learners.learner import TrainingSet

Scale = Literal["min-max", "standard"] | None


@dataclass(frozen=True, eq=False)
class NumberEncoder:
    """An encoder that converts typed columns to numbers and is fitted to the training rows.

    Missing values are replaced with the mean of a numeric column or the most frequent value of a nominal column. A nominal
    column with two values becomes one binary column (1 for the second value). A nominal column with more than two values
    becomes one binary column per value. Scaling sets columns that are constant in the training rows to zero. With `fill=False`,
    missing values stay missing, except in nominal columns with more than two values. There, a missing value becomes 0 in all
    binary columns (before scaling).
    """

    fill_values: FloatArray
    widths: tuple[int, ...]
    shift: FloatArray
    span: FloatArray
    fill: bool = True

    @classmethod
    def fit(cls, training: TrainingSet, scale: Scale, *, fill: bool = True) -> NumberEncoder:
        """Learn the fill values and the scaling from the weighted training rows."""
        columns, weight = training.columns, training.weight
        fill_values = compute_fill_values(columns, weight)
        widths = tuple(_count_columns(categories) for categories in columns.categories)
        shift, span = _compute_scaling(_expand_columns(columns, fill_values, widths, fill=True), weight, scale)
        return cls(fill_values, widths, shift, span, fill)

    def __call__(self, columns: EncodedTable) -> FloatArray:
        """Encode rows as numbers."""
        return np.ascontiguousarray(
            (_expand_columns(columns, self.fill_values, self.widths, self.fill) - self.shift) / self.span
        )

    def list_names(self, columns: EncodedTable) -> list[str]:
        """List the names of the encoded columns, e.g. `hue=red` for the value "red" of the column "hue"."""
        names = []
        for name, categories, width in zip(columns.names, columns.categories, self.widths, strict=True):
            values = () if categories is None else categories[-width:]
            names += [f"{name}={value}" for value in values] or [str(name)]
        return names


def compute_fill_values(columns: EncodedTable, weight: FloatArray) -> FloatArray:
    """Compute the fill value of each column: the mean, or the code of the most frequent value."""
    nominal = columns.nominal
    return np.array([_compute_fill_value(columns.values[:, j], weight, bool(nominal[j])) for j in range(len(nominal))])


def _compute_fill_value(values: FloatArray, weight: FloatArray, nominal: bool) -> float:
    present = ~np.isnan(values)
    if not present.any():
        return 0.0
    if nominal:
        return float(np.argmax(np.bincount(values[present].astype(np.intp), weight[present])))
    return float(np.average(values[present], weights=weight[present]))


def _count_columns(categories: tuple[object, ...] | None) -> int:
    """Return the number of numeric columns that encode a column."""
    return 1 if categories is None or len(categories) <= 2 else len(categories)


def _expand_columns(columns: EncodedTable, fill_values: FloatArray, widths: tuple[int, ...], fill: bool) -> FloatArray:
    filled = np.where(np.isnan(columns.values), fill_values, columns.values) if fill else columns.values
    blocks = [
        filled[:, [j]] if width == 1 else (filled[:, [j]] == np.arange(width)).astype(np.float64)
        for j, width in enumerate(widths)
    ]
    return np.hstack(blocks)


def _compute_scaling(raw: FloatArray, weight: FloatArray, scale: Scale) -> tuple[FloatArray, FloatArray]:
    if scale is None:
        return np.zeros(raw.shape[1]), np.ones(raw.shape[1])
    if scale == "min-max":
        shift, span = raw.min(axis=0), np.ptp(raw, axis=0)
    else:
        shift = np.average(raw, axis=0, weights=weight)
        total = weight.sum()
        span = np.sqrt(np.average((raw - shift) ** 2, axis=0, weights=weight) * (total / max(total - 1, 1)))
    return shift, np.where(span > 1e-12 * np.abs(raw).max(axis=0), span, np.inf)


def format_decimal(value: float) -> str:
    """Format a number with at most six decimal places and without trailing zeros.

    >>> format_decimal(0.1234567), format_decimal(2.50), format_decimal(-3)
    ('0.123457', '2.5', '-3')
    """
    scaled = value * 1e6
    if abs(scaled) >= 2**63:
        return format_double(value)
    whole = int(math.copysign(math.floor(abs(scaled) + 0.5), scaled))
    sign, digits = "-" if whole < 0 else "", f"{abs(whole):07d}"
    return f"{sign}{digits[:-6]}.{digits[-6:]}".rstrip("0").rstrip(".")


def format_double(value: float) -> str:
    """Format a number as Java does, with the fewest digits that identify it.

    Absolute values below 0.001, or of at least 10**7, are formatted in scientific notation.

    >>> format_double(3), format_double(0.0001), format_double(12345678.5)
    ('3.0', '1.0E-4', '1.23456785E7')
    """
    value = float(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7 or not math.isfinite(value):
        return repr(value)
    mantissa, power = f"{Decimal(repr(value)).normalize():E}".split("E")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}E{int(power)}"
