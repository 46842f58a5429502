"""Attribute noise: replace some values of each attribute, or add noise to them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_finite, check_number, check_numbers, check_one_of
from fairtrial._frames import EncodedTable
from fairtrial._text import format_percentage, join_names
from fairtrial.conditions import cells
from fairtrial.conditions.condition import (
    BoolArray,
    Changed,
    Condition,
    check_level,
    condition,
    count_rows,
    round_count,
)
from fairtrial.errors import InputError, SuspectInputWarning

# Beyond this limit, all floats are whole numbers.
_WHOLE_LIMIT = 2.0**53


@dataclass(frozen=True, eq=False)
class Range:
    """The range of a numeric attribute.

    If `whole` is true, the attribute contains only whole numbers.
    """

    low: float
    high: float
    whole: bool

    def draw_other(self, old: FloatArray, rng: np.random.Generator, kind: Any = np.float64) -> FloatArray:
        """Draw a new value for each old value. All values except the old one are equally likely.

        The new value still differs from the old one after conversion to `kind`.
        """
        if self.whole:
            inside = (old >= self.low) & (old <= self.high)
            new = self.low + rng.integers(0, np.where(inside, self.high - self.low, self.high - self.low + 1).astype(np.int64))
            return np.asarray(new + (inside & (new >= old)))
        fraction = rng.random(len(old))
        new = np.clip(self.low * (1 - fraction) + self.high * fraction, self.low, self.high).astype(kind).astype(np.float64)
        return np.where(new == old, np.where(old == self.low, self.high, self.low), new)

    def clip(self, values: FloatArray) -> FloatArray:
        """Replace each value with the nearest value in the range."""
        return np.clip(np.round(values) if self.whole else values, self.low, self.high)


@dataclass(frozen=True, eq=False)
class Choice:
    """The possible values of a nominal attribute."""

    values: tuple[Any, ...]

    def draw_other(self, old: Sequence[Any], rng: np.random.Generator) -> list[Any]:
        """Draw a new value for each old value. All values except the old one are equally likely."""
        k = len(self.values)
        codes_by_value = {value: code for code, value in enumerate(self.values)}
        codes = np.array([codes_by_value.get(value, -1) for value in old], dtype=np.intp)
        is_known = codes >= 0
        draws = rng.integers(0, np.where(is_known, k - 1, k)) if len(codes) else np.zeros(0, dtype=np.intp)
        return [self.values[code] for code in draws + (is_known & (draws >= codes))]


def find_domain(table: EncodedTable, index: int, declared: Any = None) -> Range | Choice | None:
    """Return the declared domain of an attribute or, by default, the domain of its values.

    The domain is None if it is not declared and the attribute has fewer than two distinct values.

    `declared` contains the lowest and the highest number of a numeric attribute, or all values of a nominal attribute.
    Categories that do not occur are not part of the domain unless they are declared.
    """
    values = table.values[:, index]
    seen = values[~np.isnan(values)]
    categories = table.categories[index]
    if categories is not None:
        return _make_choice(table.names[index], tuple(categories[int(code)] for code in np.unique(seen)), declared)
    whole = len(seen) > 0 and bool((seen == np.floor(seen)).all() and (np.abs(seen) < _WHOLE_LIMIT).all())
    if declared is not None:
        return _make_range(table.names[index], declared, whole)
    return Range(float(seen.min()), float(seen.max()), whole) if len(seen) and seen.min() < seen.max() else None


def _make_choice(name: str, present: tuple[Any, ...], declared: Any) -> Choice | None:
    if declared is None:
        return Choice(present) if len(present) > 1 else None
    values = tuple(declared) if not isinstance(declared, str) else ()
    if len(values) < 2 or len(set(values)) < len(values):
        raise InputError(f"ranges of {name!r} must list at least 2 distinct values, got {declared!r}")
    return Choice(values)


def _make_range(name: str, declared: Any, whole: bool) -> Range:
    limits = check_finite(f"ranges of {name!r}", check_numbers(f"ranges of {name!r}", declared))
    if limits.shape != (2,):
        raise InputError(f"ranges of {name!r} must be the lowest and the highest number, got {declared!r}")
    low, high = (np.ceil(limits[0]), np.floor(limits[1])) if whole else limits
    if not low < high:
        rule = "contain at least 2 whole numbers" if whole else "have low < high"
        raise InputError(f"ranges of {name!r} must {rule}, got {declared!r}")
    return Range(float(low), float(high), whole)


SCHEMES = ("symmetric-uniform", "permutation", "gaussian", "unconditional-gaussian")


@condition("attribute-noise")
@dataclass(frozen=True)
class AttributeNoise(Condition):
    """Attribute noise: change an exact proportion of the values of each attribute.

    By default, round(level * n) of the n non-missing values of each attribute are drawn, with halves rounded to even. The
    schemes are:

    - `"symmetric-uniform"`: replace each drawn value with another one, drawn uniformly from the range of a numeric attribute or
      from the values of a nominal attribute (Zhu and Wu 2004).
    - `"permutation"`: permute the drawn values. Some values can stay the same (Berrar).
    - `"gaussian"`: add a normal error with a standard deviation of `k` times the range, and clip the result to the range.
      Nominal values are replaced with other values.
    - `"unconditional-gaussian"`: add a normal error to every number, and clip the result to the range. The variance of the
      error is `level` times the variance of the attribute. A proportion `level` of the nominal values is replaced with other
      values.

    Whole numbers stay whole, and missing values stay missing. Constant attributes are skipped with a warning. The realized
    level is the proportion of changed values. For "unconditional-gaussian", the realized level is an average over the
    attributes. Each numeric attribute contributes the variance of the errors relative to the variance of its values. Each
    nominal attribute contributes the proportion of changed values.

    Parameters
    ----------
    level : float
        Proportion of values to change, from 0 to 1.
    scheme : str, default "symmetric-uniform"
        One of the schemes above.
    k : float, default 0.2
        Standard deviation of "gaussian" noise, relative to the range.
    same_rows : bool, default False
        Whether to change the same rows in all attributes.
    columns : list, optional
        Names or indices of the columns to change. Default: all columns.
    ranges : mapping, optional
        Maps each column to its lowest and highest number, or to a list of values if the column is nominal. Default: taken from
        the data.
    part : {"train", "test", "all"}, default "train"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> changed = AttributeNoise(0.5).apply([[1, "a"], [2, "b"], [3, "a"], [4, "b"]], rng=1)
    >>> changed.X
    [[4, 'b'], [1, 'b'], [3, 'a'], [4, 'a']]
    >>> print(changed)
    4 of 8 values changed, realized level 0.5
    """

    level: float
    scheme: str = "symmetric-uniform"
    k: float = 0.2
    same_rows: bool = False
    columns: Any = None
    ranges: Any = field(default=None, hash=False)

    def _check(self) -> None:
        check_level(self.level)
        check_one_of("scheme", self.scheme, SCHEMES)
        check_one_of("same_rows", self.same_rows, [False, True])
        check_number("k", self.k)
        if not 0 < self.k < math.inf:
            raise InputError(f"k must be positive and finite, got {self.k!r}")
        if self.columns is not None and not isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns))
        if self.ranges is not None and not isinstance(self.ranges, Mapping):
            raise InputError(f"ranges must be a mapping of columns to ranges, got {self.ranges!r}")

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n, table = count_rows(X), cells.read_table(X)
        indices = cells.find_column_indices(X, self.columns)
        mask = np.zeros(table.values.shape, dtype=bool)
        if self.level == 0:
            return Changed(X, y, mask, 0.0, np.arange(n))
        domains = self._find_domains(X, table, indices)
        rows = self._choose_rows(table, domains, rng)
        changes = {
            index: (rows[index], self._draw_values(X, table, index, domains[index], rows[index], rng)) for index in domains
        }
        new = cells.replace_cells(X, changes)
        for index in domains:
            mask[rows[index], index] = cells.compare_values(
                cells.get_values(X, index), cells.get_values(new, index), rows[index]
            )
        chosen = sum(len(chosen_rows) for chosen_rows in rows.values())
        return Changed(new, y, mask, self._compute_realised_level(table, new, mask, indices), np.arange(n), chosen)

    def _find_domains(self, X: Any, table: EncodedTable, indices: list[int]) -> dict[int, Range | Choice]:
        given_ranges = {cells.find_column_index(X, column, "ranges"): limits for column, limits in (self.ranges or {}).items()}
        domains = {index: find_domain(table, index, given_ranges.get(index)) for index in indices}
        constant = [table.names[index] for index, domain in domains.items() if domain is None]
        if constant:
            message = f"attribute noise skips constant attributes: {join_names(constant)}"
            warnings.warn(message, SuspectInputWarning, stacklevel=4)
        return {index: domain for index, domain in domains.items() if domain is not None}

    def _choose_rows(self, table: EncodedTable, domains: Mapping[int, Any], rng: np.random.Generator) -> dict[int, IntArray]:
        """Draw the rows to change in each attribute."""
        seen = ~np.isnan(table.values)
        shared_rows = rng.permutation(len(seen))[: round_count(self.level, len(seen))] if self.same_rows else None
        chosen = {}
        for index, domain in domains.items():
            present = np.flatnonzero(seen[:, index])
            if self.scheme == "unconditional-gaussian" and isinstance(domain, Range):
                chosen[index] = present
            elif shared_rows is not None:
                chosen[index] = np.sort(shared_rows[seen[shared_rows, index]])
            else:
                chosen[index] = np.sort(rng.permutation(present)[: round_count(self.level, len(present))])
        return chosen

    def _draw_values(
        self, X: Any, table: EncodedTable, index: int, domain: Any, rows: IntArray, rng: np.random.Generator
    ) -> Any:
        if self.scheme == "permutation":
            return cells.get_values(X, index)[rng.permutation(rows)]
        if isinstance(domain, Choice):
            categories = table.categories[index] or ()
            return domain.draw_other([categories[int(code)] for code in table.values[rows, index]], rng)
        old = table.values[rows, index]
        if self.scheme == "symmetric-uniform":
            return domain.draw_other(old, rng, cells.get_float_type(cells.get_values(X, index)))
        if self.scheme == "gaussian":
            spread = self.k * (domain.high - domain.low)
        else:
            spread = math.sqrt(self.level) * (old.std(ddof=1) if len(old) > 1 else 0.0)
        return domain.clip(old + rng.normal(0.0, spread, len(rows)))

    def _compute_realised_level(self, table: EncodedTable, new: Any, mask: BoolArray, indices: list[int]) -> float:
        seen = (~np.isnan(table.values)).sum(axis=0)
        if self.scheme != "unconditional-gaussian":
            n_cells = int(seen[indices].sum())
            return float(mask.sum() / n_cells) if n_cells else 0.0
        after = cells.read_table(new).values
        ratios = [
            _compute_variance_ratio(table.values[:, index], after[:, index])
            if table.categories[index] is None
            else mask[:, index].sum() / max(seen[index], 1)
            for index in indices
        ]
        return float(np.mean(ratios)) if ratios else 0.0

    def _describe_change(self) -> str:
        among = ", same rows in all attributes" if self.same_rows else ""
        where = "" if self.columns is None else f" in {join_names(self.columns, None)}"
        return f"{format_percentage(self.level)} attribute noise ({self.scheme}{among}){where}"


def _compute_variance_ratio(before: FloatArray, after: FloatArray) -> float:
    seen = ~np.isnan(before)
    whole = before[seen].var() if seen.any() else 0.0
    return float((after - before)[seen].var() / whole) if whole > 0 else 0.0
