"""What all conditions share: a controlled change of the data, with proof of what it changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, generator, number, one_of
from fairtrial._registry import Registry
from fairtrial.conditions.describing import canonical, plain
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

BoolArray = npt.NDArray[np.bool_]
Part = Literal["train", "test", "all"]

registry: Registry[type[Condition]] = Registry("condition", group="fairtrial.conditions")

_PARTS = {"train": "in the training part", "test": "in the test part", "all": "in all parts"}


@dataclass(frozen=True, eq=False)
class Changed:
    """What a condition leaves: the changed table and classes, where it changed them, and how much it did.

    `mask` marks what changed: cells (n, d) for a change of attributes, rows (n,) for one of classes or of who is there.
    `rows` are the positions, in the data that came in, of the rows that went out: those removed are not among them, those
    drawn twice are there twice. `level` is the realised level, in the units of the declared one. `chosen` tells how many cases
    (cells) were drawn for a change; it exceeds what `mask` marks where a drawn value met the old one. `steps` are the changes
    that a sequence is made of. It unpacks to X, y, mask, level.
    """

    X: Any
    y: Any
    mask: BoolArray
    level: float
    rows: IntArray
    chosen: int = -1
    steps: tuple[Changed, ...] = ()

    def __post_init__(self) -> None:
        if self.chosen < 0:
            object.__setattr__(self, "chosen", int(np.count_nonzero(self.mask)))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y, self.mask, self.level))

    def __repr__(self) -> str:
        return f"<Changed: {self}>"

    def frame(self) -> pd.DataFrame:
        """A line for each thing that changed: its row and, for a cell, its column."""
        import pandas as pd

        return pd.DataFrame(np.argwhere(self.mask), columns=["row", "column"][: self.mask.ndim])

    def __str__(self) -> str:
        what = "rows" if self.mask.ndim == 1 else "values"
        told = f"{np.count_nonzero(self.mask)} of {self.mask.size} {what} changed, realised level {self.level:.4g}"
        return told if self.chosen == np.count_nonzero(self.mask) else f"{told}; {self.chosen} were chosen"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A change of the data that is declared for the training part, the test part, or both.

    A subclass is a frozen dataclass with `_change(X, y, rng)`, which must leave its input as it is, and `_told()`, which says
    in words what it does. It is found by its name in a study: `@condition("class-noise")`.
    """

    name: ClassVar[str] = ""
    part: Part = "train"

    def __post_init__(self) -> None:
        one_of("part", self.part, ["train", "test", "all"])
        self._check()
        level = getattr(self, "level", None)
        if level is not None:  # 1 and 1.0 are the same level, and must have the same hash
            object.__setattr__(self, "level", float(level))

    def _check(self) -> None:
        """Whether the parameters make sense; a subclass with parameters says so here."""

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        raise NotImplementedError

    def _told(self) -> str:
        return self.name or type(self).__name__

    def _size(self, X: Any) -> int:
        return row_count(X)

    def apply(self, X: Any, y: Any = None, rng: Any = None) -> Changed:
        """The changed data. `rng` is a seed or a generator; X and y keep their types and are not written to."""
        n = self._size(X)
        if n == 0:
            raise InputError("X must hold at least 1 row, got 0")
        if y is not None and len(y) != n:
            raise InputError(f"X and y must have the same number of rows: X has {n}, y has {len(y)}")
        return self._change(X, y, generator("rng", rng))

    def on(self, part: Part) -> Condition:
        """What to apply to this part, `"train"` or `"test"`: the condition where it is declared for it, else nothing."""
        one_of("part", part, ["train", "test"])
        return self if self.part in (part, "all") else Clean()

    def describe(self) -> dict[str, Any]:
        """The name and every parameter as plain values. Equal descriptions make equal changes; see `from_declaration`."""
        return {"condition": self.name} | {each.name: plain(getattr(self, each.name)) for each in fields(self)}

    @property
    def content_hash(self) -> str:
        """SHA-256 of the description."""
        return hashlib.sha256(canonical(self.describe()).encode()).hexdigest()

    def words(self) -> str:
        """What it does, in words."""
        return f"{self._told()} {_PARTS[self.part]}"

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def row_count(X: Any) -> int:
    """How many rows a table has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_level(level: object, name: str = "level") -> None:
    """A level is a share: a number from 0 to 1."""
    number(name, level)
    if not 0 <= level <= 1:  # type: ignore[operator]
        remedy = f": {level!r} per cent is {level / 100:g}" if 1 < level <= 100 else ""  # type: ignore[operator]
        raise InputError(f"{name} must lie between 0 and 1, got {level!r}{remedy}")


def exact_count(level: float, n: int) -> int:
    """How many of n cases a level changes: rounded to the nearest, halves to the even one.

    >>> exact_count(0.1, 25), exact_count(0.1, 35), exact_count(0.3, 10)
    (2, 4, 3)
    """
    return round(round(level * n, 9))


def percent(level: float) -> str:
    """A share in words.

    >>> percent(0.1), percent(0.125)
    ('10 %', '12.5 %')
    """
    return f"{round(100 * level, 9):g} %"


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
        n = row_count(X)
        return Changed(X, y, np.zeros(n, dtype=bool), 0.0, np.arange(n))

    def words(self) -> str:
        """What it does, in words."""
        return "clean"
