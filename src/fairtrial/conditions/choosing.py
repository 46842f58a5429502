"""Which rows stay: exact counts, exact shares, exact chances; and how to take them out of any table."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray, IntArray, number, share
from fairtrial.conditions.condition import Changed, exact_count, row_count
from fairtrial.errors import InputError

Size = int | float | None


class NobodyLeftError(InputError):
    """A condition removed every row."""


def checked_size(size: object) -> None:
    """A number of rows, a share of the rows as a float in (0, 1], or None."""
    if size is None:
        return
    number("size", size)
    if isinstance(size, (float, np.floating)):
        share("size", float(size))
    elif not int(size) >= 1:  # type: ignore[call-overload]
        raise InputError(f"size must be at least 1 row, or a share of the rows as a float, got {size!r}")


def rows_asked(size: Size, n: int, default: int) -> int:
    """How many rows a size means out of n."""
    if size is None:
        return default
    return exact_count(float(size), n) if isinstance(size, (float, np.floating)) else int(size)


def apportioned(shares: FloatArray, n: int) -> IntArray:
    """n rows in these shares, by the largest remainders: each count is its share of n, rounded up or down.

    >>> apportioned(np.array([0.5, 0.3, 0.2]), 7).tolist()
    [4, 2, 1]
    """
    quota = np.round(shares * n, 9)
    counts = np.floor(quota).astype(np.intp)
    left = n - int(counts.sum())
    counts[np.argsort(-(quota - counts), kind="stable")[:left]] += 1
    return counts


def largest_total(shares: FloatArray, available: IntArray) -> int:
    """The most rows that can be had in these shares when nothing is drawn twice.

    >>> largest_total(np.array([0.5, 0.5]), np.array([10, 3]))
    6
    """
    wanted = shares > 0
    return int(np.floor(np.round((available[wanted] / shares[wanted]).min(), 9)))


def inclusion(weights: FloatArray, size: int) -> FloatArray:
    """Chances of being kept that are proportional to the weights, at most 1, and sum to `size`.

    >>> inclusion(np.array([1.0, 1.0, 2.0, 12.0]), 2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    possible = int((weights > 0).sum())
    if size > possible:
        raise InputError(f"size must be at most the {possible} rows that have a weight above 0, got {size}")
    chances, open_ = np.zeros(len(weights)), weights > 0
    while size - int((chances == 1).sum()) > 0:
        rest = size - int((chances == 1).sum())
        chances[open_] = rest * weights[open_] / weights[open_].sum()
        full = open_ & (chances >= 1)
        if not full.any():
            break
        chances[full], open_ = 1.0, open_ & ~full
    return chances


def systematic(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions of the rows kept, each with exactly its chance; their number is the sum of the chances, rounded up or down.

    Madow's systematic sampling, in a random order of the rows.
    """
    order = rng.permutation(len(chances))
    edges = np.round(np.concatenate([[0.0], np.cumsum(chances[order])]), 9) + rng.random()
    kept = np.floor(edges[1:]) > np.floor(edges[:-1])
    return np.sort(order[kept])


def reduced(X: Any, y: Any, rows: IntArray) -> Changed:
    """The data of these rows; the mask marks the rows that came in and are not there exactly once."""
    n = row_count(X)
    if len(rows) == 0:
        raise NobodyLeftError(f"the condition must leave at least 1 of the {n} rows, got 0")
    mask = np.bincount(rows, minlength=n) != 1
    return Changed(taken(X, rows), None if y is None else taken(y, rows), mask, float(mask.mean()), rows)


def taken(values: Any, rows: IntArray) -> Any:
    """These rows of a table or a column of any type."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "tocsr"):
        return values.tocsr()[rows].asformat(values.format)
    if isinstance(values, (list, tuple)):
        return type(values)([values[row] for row in rows])
    return values[rows]
