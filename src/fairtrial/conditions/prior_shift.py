"""Prior shift: other shares of the classes, the same rows within each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, column, encode, one_of
from fairtrial._registry import did_you_mean
from fairtrial.conditions.choosing import Size, apportioned, checked_size, largest_total, reduced, rows_asked
from fairtrial.conditions.condition import Changed, Condition, Part, condition
from fairtrial.conditions.labels import place_among
from fairtrial.errors import InputError


@condition("prior-shift")
@dataclass(frozen=True, kw_only=True)
class PriorShift(Condition):
    """The classes get other shares; within a class, rows are taken at random.

    - `priors`: the share of each class afterwards, {"sick": 0.1}; classes not named divide the rest as they did before.
    - `weights`: how many times more frequent a class becomes relative to the others, {"sick": 0.5}; others count 1.
    - `method`: "remove" takes rows away, as few as possible; "draw" draws with replacement.
    - `size`: rows afterwards, or their share of the rows before as a float; by default as many as can be had ("remove") or
      as many as before ("draw").

    Counts are exact: each class has its share of the rows, rounded up or down by the largest remainders.

    >>> changed = PriorShift(priors={"sick": 0.1}).apply([[0.0]] * 60, ["sick"] * 30 + ["well"] * 30, rng=1)
    >>> len(changed.y), changed.y.count("sick"), round(changed.level, 3)
    (33, 3, 0.45)
    """

    part: Part = "test"
    priors: Mapping[Any, float] | None = field(default=None, hash=False)
    weights: Mapping[Any, float] | None = field(default=None, hash=False)
    method: Literal["remove", "draw"] = "remove"
    size: Size = None

    def _check(self) -> None:
        one_of("method", self.method, ["remove", "draw"])
        checked_size(self.size)
        if (self.priors is None) == (self.weights is None):
            raise InputError("give either priors or weights: the share of each class, or a factor for it")
        for name, given in (("priors", self.priors), ("weights", self.weights)):
            if given is not None:
                _checked_mapping(name, given)

    def _told(self) -> str:
        given = self.priors if self.priors is not None else self.weights or {}
        told = ", ".join(
            f"{label} {value:.0%}" if self.priors is not None else f"{label} x {value:g}" for label, value in given.items()
        )
        return f"prior shift ({told}, {'rows removed' if self.method == 'remove' else 'drawn with replacement'})"

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        classes, (codes,) = encode(None, None, y=column("y", y))
        counts = np.bincount(codes, minlength=len(classes))
        shares = self._shares(classes.names.tolist(), counts)
        rows = self._rows(codes, counts, shares, rng)
        return reduced(X, y, rows)

    def _shares(self, names: list[Any], counts: IntArray) -> FloatArray:
        given = self.priors if self.priors is not None else self.weights or {}
        unknown = [each for each in given if place_among(names, each) is None]
        if unknown:
            told = did_you_mean(unknown[0], names)
            raise InputError(f"{'priors' if self.priors else 'weights'} must name classes of y, got {unknown[0]!r}: {told}")
        named = {place_among(names, each): float(value) for each, value in given.items()}
        if self.weights is not None:
            shares = counts * np.array([named.get(code, 1.0) for code in range(len(names))])
        else:
            shares = _completed(named, counts)
        absent = [names[code] for code in np.flatnonzero((shares > 0) & (counts == 0))]
        if absent or shares.sum() == 0:
            what = f"class {absent[0]!r} of which y has no row" if absent else "no class at all"
            raise InputError(f"the shares must go to classes that y holds, got a share for {what}")
        return np.asarray(shares / shares.sum(), dtype=np.float64)

    def _rows(self, codes: IntArray, counts: IntArray, shares: FloatArray, rng: np.random.Generator) -> IntArray:
        again = self.method == "draw"
        most = len(codes) if again else largest_total(shares, counts)
        size = rows_asked(self.size, len(codes), most)
        if size > most and not again:
            raise InputError(
                f"size must be at most {most}, the rows that can be had in these shares, got {size}: method='draw'"
            )
        chosen = [
            rng.choice(np.flatnonzero(codes == code), count, replace=again)
            for code, count in enumerate(apportioned(shares, size))
            if count
        ]
        return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.intp)


def _checked_mapping(name: str, given: Any) -> None:
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"{name} must map classes to numbers, got {given!r}")
    for label, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
            raise InputError(f"{name} must map classes to numbers from 0 on, got {label!r}: {value!r}")
    if name == "priors" and sum(given.values()) > 1 + 1e-9:
        raise InputError(f"priors must sum to at most 1, got {sum(given.values()):g}")


def _completed(named: Mapping[int | None, float], counts: IntArray) -> FloatArray:
    """Shares of the named classes; the others divide the rest as they did before."""
    shares = np.zeros(len(counts))
    others = np.ones(len(counts), dtype=bool)
    for code, value in named.items():
        shares[code], others[code] = value, False
    rest = 1 - shares.sum()
    if rest > 1e-9 and counts[others].sum() == 0:
        raise InputError(f"priors must sum to 1 when all classes are named, got {shares.sum():g}")
    if counts[others].sum():
        shares[others] = max(rest, 0.0) * counts[others] / counts[others].sum()
    return shares
