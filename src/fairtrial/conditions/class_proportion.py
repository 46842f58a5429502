"""Class-proportion noise: some cases of the positive class are gone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairtrial.conditions.choosing import taken
from fairtrial.conditions.condition import Changed, Condition, check_level, condition, exact_count, percent, row_count
from fairtrial.conditions.labels import read_labels
from fairtrial.errors import InputError, SuspectInputWarning


@condition("class-proportion")
@dataclass(frozen=True)
class ClassProportion(Condition):
    """Exactly round(level * P) of the P positives are deleted (halves to the even number): Berrar's class-proportion noise.

    `positive` names the class; of two classes it is the second in order. X may be a table or a column of scores. `mask` marks
    the deleted rows among those that came in, `rows` are the places of those that stayed.

    >>> changed = ClassProportion(0.5).apply([0.1, 0.4, 0.8, 0.9], [0, 0, 1, 1], rng=1)
    >>> changed.y, changed.rows.tolist(), changed.level
    ([0, 0, 1], [0, 1, 3], 0.5)
    """

    level: float
    positive: Any = None

    def _check(self) -> None:
        check_level(self.level)

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        labels = read_labels(y)
        if self.positive is None and len(labels.names) != 2:
            raise InputError(f"positive must be named when the classes are {list(labels.names)}: pass positive=")
        place = 1 if self.positive is None else labels.place(self.positive, "positive")
        positives = np.flatnonzero(labels.codes == place)
        m = exact_count(self.level, len(positives))
        mask = np.zeros(row_count(X), dtype=bool)
        mask[rng.permutation(positives)[:m]] = True
        rows = np.flatnonzero(~mask)
        if m == 0:
            return Changed(X, y, mask, 0.0, rows)
        if m == len(positives):
            told = f"class-proportion noise leaves no case of class {labels.names[place]!r}"
            warnings.warn(told, SuspectInputWarning, stacklevel=3)
        if len(rows) == 0:
            raise InputError("level must leave at least 1 case, got all deleted: lower the level")
        return Changed(taken(X, rows), taken(y, rows), mask, m / len(positives), rows)

    def _told(self) -> str:
        whom = "positives" if self.positive is None else f"cases of class {self.positive}"
        return f"{percent(self.level)} of the {whom} deleted"
