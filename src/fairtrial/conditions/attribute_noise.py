"""Attribute noise: some values of each attribute are replaced or disturbed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, IntArray, number, one_of
from fairtrial._columns import Columns
from fairtrial.conditions.cells import column_places, differs, float_kind, place_of, read_table, values_of, written
from fairtrial.conditions.condition import (
    BoolArray,
    Changed,
    Condition,
    check_level,
    condition,
    exact_count,
    percent,
    row_count,
)
from fairtrial.conditions.domains import Choice, Range, domain_of
from fairtrial.errors import InputError, SuspectInputWarning

SCHEMES = ("symmetric-uniform", "permutation", "gaussian", "unconditional-gaussian")


@condition("attribute-noise")
@dataclass(frozen=True)
class AttributeNoise(Condition):
    """In each attribute, independently, exactly round(level * n) values are chosen (halves to the even number) and changed:

    - `"symmetric-uniform"`: another number, uniform on the attribute's range, or another of its values (Zhu & Wu 2004).
    - `"permutation"`: the chosen values are permuted among themselves; one may meet its own place, or its like (Berrar).
    - `"gaussian"`: a normal error with standard deviation `k` times the range, clipped to the range; nominal: another value.
    - `"unconditional-gaussian"`: every number gets a normal error whose variance is `level` times the attribute's, clipped to
      the range; of nominal values a share `level` becomes another one.

    Attributes that hold whole numbers only keep doing so. n counts the values that are there: what is missing stays missing.
    `same_rows=True` chooses the rows once for all attributes. The range is that of the data, or of `ranges`: {column: (low,
    high)}, for a nominal column the list of its values. A constant attribute is skipped with a warning.

    `mask` marks the values that differ from before, `chosen` counts those drawn: after clipping, rounding or permuting, some
    may be as they were. `level` is the share of values that changed; for `"unconditional-gaussian"` the ratio of the errors'
    variance to that of the values, the mean over all attributes.

    >>> changed = AttributeNoise(0.5).apply([[1, "a"], [2, "b"], [3, "a"], [4, "b"]], rng=1)
    >>> changed.X
    [[4, 'b'], [1, 'b'], [3, 'a'], [4, 'a']]
    >>> print(changed)
    4 of 8 values changed, realised level 0.5
    """

    level: float
    scheme: str = "symmetric-uniform"
    k: float = 0.2
    same_rows: bool = False
    columns: Any = None
    ranges: Any = field(default=None, hash=False)

    def _check(self) -> None:
        check_level(self.level)
        one_of("scheme", self.scheme, SCHEMES)
        one_of("same_rows", self.same_rows, [False, True])
        number("k", self.k)
        if not 0 < self.k < math.inf:
            raise InputError(f"k must be above 0, got {self.k!r}")
        if self.columns is not None and not isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns))
        if self.ranges is not None and not isinstance(self.ranges, Mapping):
            raise InputError(f"ranges must map columns to their ranges, got {self.ranges!r}")

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n, table = row_count(X), read_table(X)
        places = column_places(X, self.columns)
        mask = np.zeros(table.values.shape, dtype=bool)
        if self.level == 0:
            return Changed(X, y, mask, 0.0, np.arange(n))
        domains = self._domains(X, table, places)
        rows = self._rows(table, domains, rng)
        changes = {place: (rows[place], self._new(X, table, place, domains[place], rows[place], rng)) for place in domains}
        new = written(X, changes)
        for place in domains:
            mask[rows[place], place] = differs(values_of(X, place), values_of(new, place), rows[place])
        chosen = sum(len(each) for each in rows.values())
        return Changed(new, y, mask, self._realised(table, new, mask, places), np.arange(n), chosen)

    def _domains(self, X: Any, table: Columns, places: list[int]) -> dict[int, Range | Choice]:
        given = {place_of(X, column, "ranges"): limits for column, limits in (self.ranges or {}).items()}
        domains = {place: domain_of(table, place, given.get(place)) for place in places}
        constant = [table.names[place] for place, domain in domains.items() if domain is None]
        if constant:
            told = f"attribute noise skips constant attributes: {', '.join(constant)}"
            warnings.warn(told, SuspectInputWarning, stacklevel=4)
        return {place: domain for place, domain in domains.items() if domain is not None}

    def _rows(self, table: Columns, domains: Mapping[int, Any], rng: np.random.Generator) -> dict[int, IntArray]:
        """The rows to change in each attribute."""
        seen = ~np.isnan(table.values)
        together = rng.permutation(len(seen))[: exact_count(self.level, len(seen))] if self.same_rows else None
        chosen = {}
        for place, domain in domains.items():
            present = np.flatnonzero(seen[:, place])
            if self.scheme == "unconditional-gaussian" and isinstance(domain, Range):
                chosen[place] = present
            elif together is not None:
                chosen[place] = np.sort(together[seen[together, place]])
            else:
                chosen[place] = np.sort(rng.permutation(present)[: exact_count(self.level, len(present))])
        return chosen

    def _new(self, X: Any, table: Columns, place: int, domain: Any, rows: IntArray, rng: np.random.Generator) -> Any:
        """The values that come into these rows."""
        if self.scheme == "permutation":
            return values_of(X, place)[rng.permutation(rows)]
        if isinstance(domain, Choice):
            categories = table.categories[place] or ()
            return domain.another([categories[int(code)] for code in table.values[rows, place]], rng)
        old = table.values[rows, place]
        if self.scheme == "symmetric-uniform":
            return domain.another(old, rng, float_kind(values_of(X, place)))
        if self.scheme == "gaussian":
            spread = self.k * (domain.high - domain.low)
        else:
            spread = math.sqrt(self.level) * (old.std(ddof=1) if len(old) > 1 else 0.0)
        return domain.within(old + rng.normal(0.0, spread, len(rows)))

    def _realised(self, table: Columns, new: Any, mask: BoolArray, places: list[int]) -> float:
        seen = (~np.isnan(table.values)).sum(axis=0)
        if self.scheme != "unconditional-gaussian":
            cells = int(seen[places].sum())
            return float(mask.sum() / cells) if cells else 0.0
        after = read_table(new).values
        shares = [
            _variance_ratio(table.values[:, place], after[:, place])
            if table.categories[place] is None
            else mask[:, place].sum() / max(seen[place], 1)
            for place in places
        ]
        return float(np.mean(shares)) if shares else 0.0

    def _told(self) -> str:
        among = ", the same rows for all attributes" if self.same_rows else ""
        where = "" if self.columns is None else f" in {', '.join(map(str, self.columns))}"
        return f"{percent(self.level)} attribute noise ({self.scheme}{among}){where}"


def _variance_ratio(before: FloatArray, after: FloatArray) -> float:
    seen = ~np.isnan(before)
    whole = before[seen].var() if seen.any() else 0.0
    return float((after - before)[seen].var() / whole) if whole > 0 else 0.0
