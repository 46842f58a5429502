"""Missing values: remove some values of each attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_at_least, check_number, check_one_of
from fairtrial._frames import BoolArray
from fairtrial._text import format_percentage, join_names
from fairtrial.conditions import cells
from fairtrial.conditions.condition import Changed, Condition, check_level, condition, count_rows, round_count
from fairtrial.errors import InputError

# Maximum of the log odds. With these odds, removal is random only among equal values.
_SURE = 1e9


@condition("missing-values")
@dataclass(frozen=True)
class MissingValues(Condition):
    """Missing values: remove an exact proportion of the values of each attribute.

    By default, round(level * n) of the n non-missing values of each attribute are removed, with halves rounded to even. The
    mechanisms are:

    - `"mcar"` (missing completely at random): all values are equally likely to be removed.
    - `"mar"` (missing at random): values are more likely to be removed in rows with a large value in the column `by`.
    - `"mnar"` (missing not at random): large values are more likely to be removed.

    Removed numbers become NaN, and removed nominal values become None or NaN. NumPy integers are converted to float64.

    Parameters
    ----------
    level : float
        Proportion of the non-missing values to remove, from 0 to 1.
    mechanism : {"mcar", "mar", "mnar"}, default "mcar"
        One of the mechanisms above.
    by : str or int, optional
        Column that determines the odds for "mar". No values are removed from this column. Rows with a missing value in this
        column are treated as if they had the median rank.
    odds : float, default 10
        Largest odds of removal divided by the smallest odds. The odds of each row depend on the rank of its value in the
        column that determines the odds. Nominal values are ranked by their category.
    tail : {"high", "low"}, default "high"
        Whether large or small values make removal more likely.
    spread : {"attribute", "table"}, default "attribute"
        Whether the level is a proportion of the values of each attribute or of the whole table.
    columns : list, optional
        Names or indices of the columns from which values are removed. Default: all columns.
    part : {"train", "test", "all"}, default "train"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
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
            rule = "be a column if mechanism is 'mar'" if self.by is None else "be None unless mechanism is 'mar'"
            raise InputError(f"by must {rule}, got {self.by!r} with mechanism {self.mechanism!r}")
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
            raise InputError(f"columns must not contain the column of by=, got {self.by!r} in both")
        indices = [index for index in indices if index != deciding_index]
        if not indices:
            raise InputError(f"X must have a column besides {self.by!r}, the column of by=, got none")
        return indices

    def _compute_log_weights(self, X: Any, values: FloatArray, index: int) -> FloatArray:
        """Compute the logarithm of the weight of each row, from 0 to log(odds)."""
        if self.mechanism == "mcar":
            return np.zeros(len(values))
        column = values[:, index if self.mechanism == "mnar" else cells.find_column_index(X, self.by, "by")]
        rank = compute_rank_fractions(column if self.tail == "high" else -column)
        return np.asarray(rank * min(float(np.log(self.odds)), _SURE))

    def _choose_cells(self, present: BoolArray, weights: FloatArray, rng: np.random.Generator) -> BoolArray:
        # The cells with the largest sums of log weight and Gumbel noise are a weighted sample without replacement.
        keys = weights + rng.gumbel(size=present.shape)
        if self.spread == "table":
            return _select_largest(keys.reshape(-1), present.reshape(-1), self.level).reshape(present.shape)
        return np.column_stack([_select_largest(keys[:, j], present[:, j], self.level) for j in range(present.shape[1])])

    def _describe_change(self) -> str:
        by = f" by {self.by}" if self.by is not None else ""
        where = "" if self.columns is None else f" in {join_names(self.columns, None)}"
        return f"{format_percentage(self.level)} missing values ({self.mechanism}{by}){where}"


def compute_rank_fractions(column: FloatArray) -> FloatArray:
    """Compute the rank of each value, scaled from 0 (smallest) to 1 (largest).

    Missing values have rank 0.5.

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
    """Select a proportion `level` of the present cells, with the largest keys."""
    positions: IntArray = np.flatnonzero(present)
    m = round_count(level, len(positions))
    selected = np.zeros(len(present), dtype=bool)
    selected[positions[np.argsort(-keys[positions], kind="stable")[:m]]] = True
    return selected
