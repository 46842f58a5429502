"""What values an attribute may take, and how noise draws from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, finite, numbers
from fairtrial._columns import Columns
from fairtrial.errors import InputError

# Beyond this, floats hold whole numbers only, whatever was measured.
_WHOLE_LIMIT = 2.0**53


@dataclass(frozen=True, eq=False)
class Range:
    """Numbers from `low` to `high`; `whole` ones only where the attribute holds no others."""

    low: float
    high: float
    whole: bool

    def another(self, old: FloatArray, rng: np.random.Generator, kind: Any = np.float64) -> FloatArray:
        """For each old value a different one, all alike; different also as the floats of this kind."""
        if self.whole:
            inside = (old >= self.low) & (old <= self.high)
            new = self.low + rng.integers(0, np.where(inside, self.high - self.low, self.high - self.low + 1).astype(np.int64))
            return np.asarray(new + (inside & (new >= old)))
        share = rng.random(len(old))
        new = np.clip(self.low * (1 - share) + self.high * share, self.low, self.high).astype(kind).astype(np.float64)
        return np.where(new == old, np.where(old == self.low, self.high, self.low), new)

    def within(self, values: FloatArray) -> FloatArray:
        """The nearest values that are allowed."""
        return np.clip(np.round(values) if self.whole else values, self.low, self.high)


@dataclass(frozen=True, eq=False)
class Choice:
    """A list of values."""

    values: tuple[Any, ...]

    def another(self, old: Sequence[Any], rng: np.random.Generator) -> list[Any]:
        """For each old value a different one, all alike."""
        k = len(self.values)
        place = {value: code for code, value in enumerate(self.values)}
        codes = np.array([place.get(value, -1) for value in old], dtype=np.intp)
        known = codes >= 0
        draws = rng.integers(0, np.where(known, k - 1, k)) if len(codes) else np.zeros(0, dtype=np.intp)
        return [self.values[code] for code in draws + (known & (draws >= codes))]


def domain_of(table: Columns, place: int, given: Any = None) -> Range | Choice | None:
    """The domain of an attribute: as `given`, else as its values say. None: it is constant.

    Given is the lowest and the highest number of a numeric attribute, or the values of a nominal one. Declared categories that
    no case has do not count unless they are given.
    """
    values = table.values[:, place]
    seen = values[~np.isnan(values)]
    categories = table.categories[place]
    if categories is not None:
        return _choice(table.names[place], tuple(categories[int(code)] for code in np.unique(seen)), given)
    whole = len(seen) > 0 and bool((seen == np.floor(seen)).all() and (np.abs(seen) < _WHOLE_LIMIT).all())
    if given is not None:
        return _range(table.names[place], given, whole)
    return Range(float(seen.min()), float(seen.max()), whole) if len(seen) and seen.min() < seen.max() else None


def _choice(name: str, present: tuple[Any, ...], given: Any) -> Choice | None:
    if given is None:
        return Choice(present) if len(present) > 1 else None
    values = tuple(given) if not isinstance(given, str) else ()
    if len(values) < 2 or len(set(values)) < len(values):
        raise InputError(f"ranges of {name!r} must list at least 2 different values, got {given!r}")
    return Choice(values)


def _range(name: str, given: Any, whole: bool) -> Range:
    limits = finite(f"ranges of {name!r}", numbers(f"ranges of {name!r}", given))
    if limits.shape != (2,):
        raise InputError(f"ranges of {name!r} must be the lowest and the highest number, got {given!r}")
    low, high = (np.ceil(limits[0]), np.floor(limits[1])) if whole else limits
    if not low < high:
        words = " two whole numbers apart" if whole else ""
        raise InputError(f"ranges of {name!r} must go from low to high{words}, got {given!r}")
    return Range(float(low), float(high), whole)
