"""What all conditions share: a controlled change of the data, with proof of what it changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, generator, one_of
from fairtrial._registry import Registry
from fairtrial.errors import InputError

BoolArray = npt.NDArray[np.bool_]
Part = Literal["train", "test", "all"]

registry: Registry[type[Condition]] = Registry("condition", group="fairtrial.conditions")


@dataclass(frozen=True, eq=False)
class Changed:
    """What a condition leaves: the changed table and classes, where it changed them, and how much it did.

    `mask` marks what changed: cells (n, d) for a change of attributes, rows (n,) for one of classes or of who is there.
    `rows` are the positions, in the data that came in, of the rows that went out: those removed are not among them, those
    drawn twice are there twice. `level` is the realised level. It unpacks to X, y, mask, level.
    """

    X: Any
    y: Any
    mask: BoolArray
    level: float
    rows: IntArray

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y, self.mask, self.level))


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A change of the data that is declared for the training part, the test part, or both.

    A subclass is a frozen dataclass with `_change(X, y, rng)`, which must leave its input as it is. It is found by its
    name in a study: `@condition("class-noise")`.
    """

    name: ClassVar[str] = ""
    part: Part = "train"

    def __post_init__(self) -> None:
        one_of("part", self.part, ["train", "test", "all"])
        self._check()

    def _check(self) -> None:
        """Whether the parameters make sense; a subclass with parameters says so here."""

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        raise NotImplementedError

    def apply(self, X: Any, y: Any, rng: Any = None) -> Changed:
        """The changed data. `rng` is a seed or a generator; X and y keep their types and are not written to."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if y is not None and len(y) != n:
            raise InputError(f"X and y must have the same number of rows: X has {n}, y has {len(y)}")
        return self._change(X, y, generator("rng", rng))


def exact_count(level: float, n: int) -> int:
    """How many of n cases a level changes: rounded to the nearest, halves to the even one.

    >>> exact_count(0.1, 25), exact_count(0.1, 35), exact_count(0.3, 10)
    (2, 4, 3)
    """
    return round(round(level * n, 9))


def condition(name: str) -> Any:
    """Register a condition under its name."""

    def register(cls: type[Condition]) -> type[Condition]:
        cls.name = name
        registry.add(name, cls)
        return cls

    return register


@condition("clean")
@dataclass(frozen=True, kw_only=True)
class Clean(Condition):
    """Nothing changes.

    >>> changed = Clean().apply([[1.0], [2.0]], ["a", "b"])
    >>> changed.level, changed.mask.tolist()
    (0.0, [False, False])
    """

    part: Part = "all"

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return Changed(X, y, np.zeros(n, dtype=bool), 0.0, np.arange(n))
