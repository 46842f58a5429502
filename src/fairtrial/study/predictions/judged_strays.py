"""Predictions that are none of the classes (abstentions, labels that are never true): errors, for every measure of labels.

The rule is that of studies (docs/results.md): a further label that is never true and no class, so that means over classes are
those over the others. Of two classes, one against the other, it is the wrong one: else it would be a true negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.measures.confusion import Cells, Confusion
from fairtrial.measures.measure import LabelMeasure, Measure, over_classes, registry
from fairtrial.study.evidence import ABSTAINED

_OF_RECALLS = ("balanced_accuracy", "g_mean")


class StrayMeasure(LabelMeasure):
    """A measure of labels on tables of codes, the last of which may be ABSTAINED; on others it is the measure itself."""

    def __init__(self, plain: LabelMeasure) -> None:
        super().__init__(plain.formula, plain.facts)
        self.plain = plain

    def _operand(self, table: Confusion, average: Any) -> Confusion | Cells:
        return super()._operand(seen(self.plain, table), average)

    def _of(self, table: Confusion, average: Any, params: dict[str, Any]) -> FloatArray:
        if has_strays(table) and self.facts.per_class and self._averaged(table, average):
            return over_classes(super()._of(table, None, params)[..., :-1], table.true[..., :-1], average)
        return super()._of(table, average, params)


def for_strays(measure: Measure) -> Measure:
    """The measure that knows what a prediction outside the classes counts as.

    >>> from fairtrial.measures import get_measure
    >>> for_strays(get_measure("recall"))([0, 1, 1, 1], [0, 1, 1, ABSTAINED], labels=[0, 1, ABSTAINED], positive=1)
    0.6666666666666666
    """
    return StrayMeasure(measure) if isinstance(measure, LabelMeasure) else measure


def seen(measure: Measure, table: Confusion) -> Confusion:
    """The table as a measure sees it: with strays as the wrong class where that is the rule, else as a further label."""
    of_recalls = measure.name in _OF_RECALLS and registry[measure.name] is measure
    return mistaken(table) if has_strays(table) and (of_recalls or (measure.facts.per_class and _pair(table))) else table


def by_class(table: Confusion) -> Confusion:
    """The table as a table of classes sees it: of two classes a stray is the other one."""
    return mistaken(table) if has_strays(table) and _pair(table) else table


def has_strays(table: Confusion) -> bool:
    """Whether the last label of a table of codes is that of predictions outside the classes."""
    return bool(table.labels[-1] == ABSTAINED)


def mistaken(table: Confusion) -> Confusion:
    """The same with each stray as the next class, which is a wrong one.

    >>> mistaken(Confusion([[3, 1, 2], [0, 4, 5], [0, 0, 0]], (0, 1, ABSTAINED))).table.tolist()
    [[3.0, 3.0], [5.0, 4.0]]
    """
    k = len(table.labels) - 1
    found = table.table[..., :k, :k].copy()
    places = np.arange(k)
    found[..., places, (places + 1) % k] += table.table[..., :k, k]
    return Confusion(found, table.labels[:k], table.positive)


def codes_of(classes: int, strays: bool) -> list[int]:
    """The labels of a table of codes."""
    return [*range(classes), *([ABSTAINED] if strays else [])]


def _pair(table: Confusion) -> bool:
    return len(table.labels) == 3
