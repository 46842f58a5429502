"""Selection bias: whether a row is seen depends on its attributes and on its class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairtrial.conditions.choosing import Size, checked_size, inclusion, reduced, rows_asked, systematic
from fairtrial.conditions.condition import Changed, Condition, condition
from fairtrial.conditions.rules import Weights, checked_weights, in_words, weighing
from fairtrial.errors import InputError


@condition("selection-bias")
@dataclass(frozen=True, kw_only=True)
class SelectionBias(Condition):
    """Each row stays with a chance of its own.

    - `chance`: an expression over the columns and the class `y`, a function of X and y, or a mapping from expressions to
      chances ({"y == 'sick' and age > 65": 0.2}: multiplied where several apply, 1 where none does).
    - `size`: None: the number kept is the sum of the chances, rounded up or down at random, and each row has exactly its
      chance (systematic sampling). A number of rows, or their share as a float: exactly so many, with chances in proportion.

    >>> sick = ["sick"] * 50 + ["well"] * 50
    >>> changed = SelectionBias(chance={"y == 'sick'": 0.2}).apply([[0.0]] * 100, sick, rng=1)
    >>> changed.y.count("sick"), changed.y.count("well"), changed.level
    (10, 50, 0.4)
    """

    chance: Weights = field(hash=False)
    size: Size = None

    def _check(self) -> None:
        checked_weights("chance", self.chance)
        checked_size(self.size)

    def _told(self) -> str:
        return f"selection bias (kept with chance {in_words(self.chance)})"

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        chances = weighing("chance", self.chance, X, y, with_class=True)
        if (chances > 1).any():
            row = int(np.argmax(chances > 1))
            raise InputError(f"chance must be at most 1, got {chances[row]:g} at row {row}")
        if self.size is not None:
            chances = inclusion(chances, rows_asked(self.size, len(chances), len(chances)))
        return reduced(X, y, systematic(chances, rng))
