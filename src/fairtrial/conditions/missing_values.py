"""Missing values: some values of each attribute are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_at_least, check_number, check_one_of
from fairtrial._frames import BoolArray
from fairtrial.conditions import cells
from fairtrial.conditions.condition import Changed, Condition, check_level, condition, count_rows, format_percent, round_count
from fairtrial.errors import InputError

# The logarithm of odds against which chance counts only between equal values.
_SURE = 1e9


@condition("missing-values")
@dataclass(frozen=True)
class MissingValues(Condition):
    """In each attribute exactly round(level * n) values are lost (halves to the even number); n counts those that are there.

    - `"mcar"` (missing completely at random): any value, all alike.
    - `"mar"` (missing at random): the larger the row's value in the column `by`, the likelier; `by` itself loses nothing.
    - `"mnar"` (missing not at random): the larger the value itself, the likelier.

    `odds` says how much likelier the row with the largest value is drawn than the one with the smallest, others lying between
    by their rank; infinite odds take the largest values. `tail="low"` turns this round. Nominal values are ordered as their
    categories; a row without a value in `by` lies in the middle. `spread="table"` draws the share from all values of the table
    together instead of from each attribute.

    Numbers become NaN, nominal values None or NaN. Integers of a NumPy type cannot be missing and become float64.

    >>> changed = MissingValues(0.5).apply([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]], rng=1)
    >>> changed.mask.sum(axis=0).tolist(), changed.level
    ([2, 2], 0.5)
    """

    level: float
    mechanism: Literal["mcar", "mar", "mnar"] = "mcar"
    by: Any = None
    odds: float = 10.0
    tail: Literal["high", "low"] = "high"
    spread: Literal["attribute", "table"] = "attribute"
    columns: Any = None

    def _check(self) -> None:
        check_level(self.level)
        check_one_of("mechanism", self.mechanism, ["mcar", "mar", "mnar"])
        check_one_of("tail", self.tail, ["high", "low"])
        check_one_of("spread", self.spread, ["attribute", "table"])
        check_number("odds", self.odds)
        check_at_least("odds", self.odds, 1)
        if (self.by is None) == (self.mechanism == "mar"):
            rule = "needs by=, the column that decides" if self.by is None else "takes no by, that is for 'mar'"
            raise InputError(f"mechanism {self.mechanism!r} {rule}")
        if self.columns is not None and not isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns))

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n, table = count_rows(X), cells.read_table(X)
        indices = self._find_columns(X)
        seen = ~np.isnan(table.values)
        present = seen[:, indices]
        weights = np.column_stack([self._compute_log_weights(X, table.values, index) for index in indices])
        mask = np.zeros(seen.shape, dtype=bool)
        if self.level > 0:
            mask[:, indices] = self._choose_cells(present, weights, rng)
        new = cells.replace_cells(X, {index: (np.flatnonzero(mask[:, index]), None) for index in indices}) if mask.any() else X
        level = float(mask.sum() / present.sum()) if present.any() else 0.0
        return Changed(new, y, mask, level, np.arange(n))

    def _find_columns(self, X: Any) -> list[int]:
        indices = cells.find_column_indices(X, self.columns)
        if self.by is None:
            return indices
        deciding_index = cells.find_column_index(X, self.by, "by")
        if self.columns is not None and deciding_index in indices:
            raise InputError(f"columns must not hold {self.by!r}, the column that decides: it loses nothing")
        indices = [index for index in indices if index != deciding_index]
        if not indices:
            raise InputError(f"X must have a column beside {self.by!r}, the column that decides, got none")
        return indices

    def _compute_log_weights(self, X: Any, values: FloatArray, index: int) -> FloatArray:
        """How likely each row is drawn: the logarithm of its weight, from 0 to log(odds)."""
        if self.mechanism == "mcar":
            return np.zeros(len(values))
        column = values[:, index if self.mechanism == "mnar" else cells.find_column_index(X, self.by, "by")]
        rank = compute_rank_fractions(column if self.tail == "high" else -column)
        return np.asarray(rank * min(float(np.log(self.odds)), _SURE))

    def _choose_cells(self, present: BoolArray, weights: FloatArray, rng: np.random.Generator) -> BoolArray:
        # The largest of log weight + Gumbel noise are a sample without replacement by these weights.
        keys = weights + rng.gumbel(size=present.shape)
        if self.spread == "table":
            return _select_largest(keys.reshape(-1), present.reshape(-1), self.level).reshape(present.shape)
        return np.column_stack([_select_largest(keys[:, j], present[:, j], self.level) for j in range(present.shape[1])])

    def _describe_change(self) -> str:
        by = f" by {self.by}" if self.by is not None else ""
        where = "" if self.columns is None else f" in {', '.join(map(str, self.columns))}"
        return f"{format_percent(self.level)} missing values ({self.mechanism}{by}){where}"


def compute_rank_fractions(column: FloatArray) -> FloatArray:
    """Where each value stands among the others: 0 for the smallest, 1 for the largest, the middle for one that is missing.

    >>> compute_rank_fractions(np.array([3.0, 1.0, np.nan, 3.0, 2.0])).tolist()
    [0.8333333333333334, 0.0, 0.5, 0.8333333333333334, 0.3333333333333333]
    """
    from scipy.stats import rankdata

    seen = ~np.isnan(column)
    fractions = np.full(len(column), 0.5)
    if seen.sum() > 1:
        fractions[seen] = (rankdata(column[seen]) - 1) / (seen.sum() - 1)
    return fractions


def _select_largest(keys: FloatArray, present: BoolArray, level: float) -> BoolArray:
    """Select the given proportion of the present cells: those with the largest keys."""
    positions: IntArray = np.flatnonzero(present)
    m = round_count(level, len(positions))
    selected = np.zeros(len(present), dtype=bool)
    selected[positions[np.argsort(-keys[positions], kind="stable")[:m]]] = True
    return selected
