"""Conditions that rows must meet, over the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray, Columns
from fairtrial.kernels.rule_grow import covered, grow, kept_length


@dataclass(frozen=True, eq=False)
class Table:
    """The columns as rows of a matrix, each with the order of its values, and the class of each row.

    `known` counts the rows with a value, which stand first in `orders`; `sizes` counts the values of nominal columns.
    """

    values: FloatArray
    orders: IntArray
    known: IntArray
    sizes: IntArray
    codes: IntArray

    @classmethod
    def of(cls, columns: Columns, codes: IntArray) -> Table:
        """Sort each column, missing values last."""
        values = np.ascontiguousarray(columns.values.T)
        sizes = np.array([len(each) if each is not None else 0 for each in columns.categories], dtype=np.intp)
        orders = np.argsort(values, axis=1, kind="stable").astype(np.intp)
        return cls(values, orders, (~np.isnan(values)).sum(axis=1).astype(np.intp), sizes, codes)

    @property
    def possible_conditions(self) -> int:
        """Each value of a nominal column; each value of a numeric one as a least and as a largest."""
        sorted_values = np.take_along_axis(self.values, self.orders, axis=1)
        distinct = (sorted_values[:, 1:] > sorted_values[:, :-1]).sum(axis=1) + (self.known > 0)
        return int(np.where(self.sizes > 0, self.sizes, 2 * distinct).sum())


@dataclass(frozen=True, eq=False)
class Conditions:
    """Columns, kinds (at most, at least, equal) and values of conditions that must all be met."""

    columns: IntArray
    kinds: IntArray
    cuts: FloatArray

    @classmethod
    def none(cls) -> Conditions:
        """Met by every row."""
        return cls(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))

    def __len__(self) -> int:
        return len(self.columns)

    def covers(self, values: FloatArray, rows: IntArray) -> BoolArray:
        """Which of the rows meet them; `values` holds a column in each row."""
        return np.asarray(covered(values, rows, self.columns, self.kinds, self.cuts))

    def grown(self, table: Table, rows: IntArray, positive: BoolArray, least: float) -> Conditions:
        """With more conditions behind, while these gain on the rows that meet all so far."""
        used = np.zeros(len(table.sizes), dtype=bool)
        used[self.columns] = table.sizes[self.columns] > 0
        rows = rows[self.covers(table.values, rows)]
        more = grow(table.values, table.orders, table.known, table.sizes, rows, positive, used, least)
        joined = [np.concatenate(pair) for pair in zip((self.columns, self.kinds, self.cuts), more, strict=True)]
        return Conditions(*joined)

    def pruned(self, table: Table, rows: IntArray, positive: BoolArray, *, whole: bool) -> Conditions:
        """Without the last conditions that do no good on other rows."""
        length = kept_length(table.values, rows, positive, self.columns, self.kinds, self.cuts, whole)
        return Conditions(self.columns[:length], self.kinds[:length], self.cuts[:length])
