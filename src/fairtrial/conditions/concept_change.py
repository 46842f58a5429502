"""Concept change: the same rows, another rule from attributes to classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._registry import did_you_mean
from fairtrial.conditions.condition import Changed, Condition, Part, check_level, condition, exact_count
from fairtrial.conditions.rules import Rule, checked_rule, in_words, matching
from fairtrial.errors import InputError, SuspectInputWarning

Objects = npt.NDArray[np.object_]


@condition("concept-change")
@dataclass(frozen=True, kw_only=True)
class ConceptChange(Condition):
    """Rows that a rule names change their class.

    - `labels`: a mapping from old to new classes ({"well": "sick"}; classes not named stay), or a function of X and y that
      gives the new classes.
    - `where`: which rows, as an expression over the columns and the class `y`, or a function of X and y; by default all.
    - `level`: the share of the rows meant whose class changes, drawn at random: exactly so many.

    The mask marks the rows whose class is another one afterwards; the realised level is their share of the rows meant, those
    that `where` names and that `labels` give another class.

    >>> change = ConceptChange(labels={"well": "sick"}, where="x0 > 1")
    >>> changed = change.apply([[0], [1], [2], [3]], ["well", "sick", "well", "sick"])
    >>> changed.y, changed.mask.tolist()
    (['well', 'sick', 'sick', 'sick'], [False, False, True, False])
    """

    part: Part = "test"
    labels: Mapping[Any, Any] | Callable[..., Any] = field(hash=False)
    where: Rule | None = None
    level: float = 1.0

    def _check(self) -> None:
        check_level(self.level)
        if self.where is not None:
            checked_rule("where", self.where)
        if not callable(self.labels) and not (isinstance(self.labels, Mapping) and self.labels):
            raise InputError(f"labels must map old classes to new ones, or be a function of X and y, got {self.labels!r}")

    def _told(self) -> str:
        labels = self.labels
        told = in_words(labels) if callable(labels) else ", ".join(f"{old} to {new}" for old, new in labels.items())
        where = "" if self.where is None else f" where {in_words(self.where)}"
        return f"concept change ({told}{where}{'' if self.level == 1 else f', {self.level:.0%} of them'})"

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        old = _objects(y)
        new = self._new(X, y, old)
        meant = np.array([before != after for before, after in zip(old, new, strict=True)], dtype=bool)
        if self.where is not None:
            meant &= matching("where", self.where, X, y, with_class=True)
        rows = np.flatnonzero(meant)
        if len(rows) == 0:
            warnings.warn("no class changes: no row is meant by labels and where", SuspectInputWarning, stacklevel=4)
        chosen = rng.choice(rows, exact_count(self.level, len(rows)), replace=False) if self.level < 1 else rows
        mask = np.zeros(len(old), dtype=bool)
        mask[chosen] = True
        level = len(chosen) / len(rows) if len(rows) else 0.0
        return Changed(X, _like(y, np.where(mask, new, old)), mask, level, np.arange(len(old)))

    def _new(self, X: Any, y: Any, old: Objects) -> Objects:
        if callable(self.labels):
            new = _objects(self.labels(X, y))
            if new.shape != old.shape:
                raise InputError(f"labels must give a class for each of the {len(old)} rows, got {len(new)}")
            return new
        present = list(dict.fromkeys([*_declared(y), *old.tolist()]))
        pairs = {_known(each, present): _known(after, present, new=True) for each, after in self.labels.items()}
        return _column([pairs.get(each, each) for each in old.tolist()])


def _declared(y: Any) -> list[Any]:
    categories = getattr(getattr(y, "cat", y), "categories", None)
    return [] if categories is None else list(categories)


def _known(label: Any, present: list[Any], *, new: bool = False) -> Any:
    """The class that is meant; a study file has text only, so that '1' also means the class 1. New ones may be unheard of."""
    if label in present:
        return label
    texts = [str(each) for each in present]
    if isinstance(label, str) and texts.count(label) == 1:
        return present[texts.index(label)]
    if not new:
        told = f"labels names {label!r}, which no row has: {did_you_mean(label, present)}"
        warnings.warn(told, SuspectInputWarning, stacklevel=6)
    return label


def _objects(y: Any) -> Objects:
    return _column(np.asarray(y).tolist())


def _column(values: list[Any]) -> Objects:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _like(y: Any, values: Objects) -> Any:
    """Values in the type of y; declared classes stay declared."""
    import pandas as pd

    if isinstance(y, pd.Series):
        unknown = set(values) - set(y.cat.categories) if isinstance(y.dtype, pd.CategoricalDtype) else set()
        if unknown:
            known = did_you_mean(sorted(map(str, unknown))[0], list(y.cat.categories))
            raise InputError(f"labels must give declared classes, got {sorted(map(str, unknown))[0]!r}: {known}")
        return pd.Series(values.tolist(), index=y.index, name=y.name).astype(y.dtype)
    if isinstance(y, (list, tuple)):
        return type(y)(values.tolist())
    return np.array(values.tolist(), dtype=y.dtype if y.dtype.kind in "Ob" else None)
