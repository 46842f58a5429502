"""The classes of a data set as measures see them: those that occur, sorted, and which of them is the positive one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairtrial._check import Classes, IntArray
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.study.archive import DataFacts
from fairtrial.study.evidence import ABSTAINED


@dataclass(frozen=True)
class ClassOrder:
    """`order` are places in the declared classes; `positive` is a place in `order`, None where several classes count alike."""

    declared: tuple[Any, ...]
    order: tuple[int, ...]
    positive: int | None

    @classmethod
    def of(cls, facts: DataFacts, positive: object = None) -> ClassOrder:
        """The classes that have rows, sorted; of two, the second is the positive one, unless another is named.

        >>> rare = DataFacts("rare", "", ("sick", "healthy"), np.array([0, 1, 1]), np.arange(3))
        >>> found = ClassOrder.of(rare)
        >>> found.order, found.positive, found.names[found.positive]
        ((1, 0), 1, 'sick')
        """
        occurring = np.flatnonzero(facts.counts)
        places = occurring.tolist() if len(occurring) > 1 else list(range(len(facts.classes)))
        return cls(facts.classes, tuple(_sorted(facts.classes, places)), None)._with(positive)

    def whole(self) -> ClassOrder:
        """With every declared class, for evidence that names one that has no rows."""
        named = None if self.positive is None else self.names[self.positive]
        wider = replace(self, order=tuple(_sorted(self.declared, list(range(len(self.declared))))), positive=None)
        return wider._with(named)

    def _with(self, positive: object) -> ClassOrder:
        if positive is not None:
            return replace(self, positive=self.names.index(positive))
        return replace(self, positive=1 if len(self.order) == 2 else None)

    @property
    def names(self) -> list[Any]:
        """The classes in order."""
        return [self.declared[place] for place in self.order]

    @cached_property
    def place(self) -> IntArray:
        """For each declared class its place in the order, -1 where it is not there."""
        places = np.full(len(self.declared), -1, dtype=np.intp)
        places[list(self.order)] = np.arange(len(self.order))
        return places

    def placed(self, prediction: IntArray) -> IntArray:
        """Predictions as places in the order; abstentions stay."""
        return np.where(prediction == ABSTAINED, ABSTAINED, self.place[prediction])

    @cached_property
    def classes(self) -> Classes:
        """For the rows of measures."""
        names = np.empty(len(self.order), dtype=object)
        names[:] = self.names
        return Classes(names, self.positive)


def _sorted(classes: tuple[Any, ...], places: list[int]) -> list[int]:
    try:
        return sorted(places, key=lambda place: classes[place])
    except TypeError:
        return places


def class_orders(
    datasets: Sequence[DataFacts], positive: object = None, declared: Mapping[str, Any] | None = None
) -> tuple[ClassOrder, ...]:
    """An order for each data set. `positive` is a class, or a mapping of data sets to classes; `declared` is the study's own.

    A class that is named for all counts where a data set has it; a data set without it keeps the usual order.
    """
    wishes = {**(declared or {}), **_wishes(datasets, positive)}
    return tuple(ClassOrder.of(facts, wishes.get(facts.name)) for facts in datasets)


def _wishes(datasets: Sequence[DataFacts], positive: object) -> dict[str, Any]:
    if positive is None:
        return {}
    if isinstance(positive, Mapping):
        known = {facts.name: facts for facts in datasets}
        for name, label in positive.items():
            if name not in known:
                raise InputError(f"positive must name data sets of the study, got {name!r}: {did_you_mean(name, known)}")
            if label not in known[name].classes:
                hint = did_you_mean(label, known[name].classes)
                raise InputError(f"positive must be a class of the data set {name!r}, got {label!r}: {hint}")
        return dict(positive)
    wishes = {facts.name: positive for facts in datasets if positive in facts.classes}
    if not wishes:
        hint = did_you_mean(positive, {label for facts in datasets for label in facts.classes})
        raise InputError(f"positive must be a class of one of the data sets, got {positive!r}: {hint}")
    return wishes
