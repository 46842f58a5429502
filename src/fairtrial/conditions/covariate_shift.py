"""Covariate shift: other rows, the same rule from attributes to classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fairtrial._check import one_of
from fairtrial.conditions.choosing import Size, checked_size, inclusion, largest_total, reduced, rows_asked, systematic
from fairtrial.conditions.condition import Changed, Condition, Part, condition, row_count
from fairtrial.conditions.rules import Rule, Weights, checked_rule, checked_weights, in_words, matching, weighing
from fairtrial.errors import InputError


@condition("covariate-shift")
@dataclass(frozen=True, kw_only=True)
class CovariateShift(Condition):
    """Some groups vanish, or rows become rarer or more frequent by what their attributes say.

    - `keep`: the rows that stay, as an expression over the columns ("age < 65": no elderly) or a function of X.
    - `weights`: how much a row counts: an expression ("exp(-age / 20)"), a function of X, or a mapping from expressions to
      factors ({"age >= 65": 3, "sex == 'f'": 0.5}, multiplied where several apply).
    - `method`, with weights: "draw" draws with replacement in proportion to them; "remove" keeps each row at most once, with
      a chance in proportion to them (one that would exceed 1 is 1).
    - `size`: rows afterwards, or their share of the rows before as a float; by default as many as before, for "remove" as many
      as can be had in proportion to the weights. Without weights, so many of the rows to keep, at random; by default all.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [70, 20, 66, 64]})
    >>> CovariateShift(keep="age < 65").apply(X, ["a", "b", "c", "d"]).y
    ['b', 'd']
    """

    part: Part = "test"
    keep: Rule | None = None
    weights: Weights | None = field(default=None, hash=False)
    method: Literal["draw", "remove"] = "draw"
    size: Size = None

    def _check(self) -> None:
        one_of("method", self.method, ["draw", "remove"])
        checked_size(self.size)
        if self.keep is None and self.weights is None:
            raise InputError("give keep or weights: which rows stay, or how much each row counts")
        if self.keep is not None:
            checked_rule("keep", self.keep)
        if self.weights is not None:
            checked_weights("weights", self.weights)

    def _told(self) -> str:
        parts = [] if self.keep is None else [f"only {in_words(self.keep)}"]
        parts += [] if self.weights is None else [f"weights {in_words(self.weights)}"]
        return f"covariate shift ({', '.join(parts)})"

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = row_count(X)
        kept = np.ones(n, dtype=bool) if self.keep is None else matching("keep", self.keep, X)
        if self.weights is None:
            return reduced(X, y, self._some(np.flatnonzero(kept), n, rng))
        weights = np.where(kept, weighing("weights", self.weights, X), 0.0)
        if not weights.any():
            raise InputError(f"weights must be above 0 for at least 1 of the {n} rows")
        if self.method == "draw":
            return reduced(X, y, np.sort(rng.choice(n, rows_asked(self.size, n, n), p=weights / weights.sum())))
        size = rows_asked(self.size, n, largest_total(weights / weights.sum(), np.ones(n, dtype=np.intp)))
        return reduced(X, y, systematic(inclusion(weights, size), rng))

    def _some(self, rows: Any, n: int, rng: np.random.Generator) -> Any:
        size = rows_asked(self.size, n, len(rows))
        if size > len(rows):
            raise InputError(f"size must be at most the {len(rows)} rows to keep, got {size}")
        return rows if size == len(rows) else np.sort(rng.choice(rows, size, replace=False))
