"""Concept change: the same rows, another rule from attributes to classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial._registry import did_you_mean
from fairtrial.conditions.condition import Changed, Condition, Part, check_level, condition, exact_count
from fairtrial.conditions.labels import Labels, fitting, place_among, read_labels, relabelled
from fairtrial.conditions.rules import Rule, checked_rule, in_words, matching
from fairtrial.errors import InputError, SuspectInputWarning


@condition("concept-change")
@dataclass(frozen=True, kw_only=True)
class ConceptChange(Condition):
    """Rows that a rule names change their class.

    - `labels`: a mapping from old to new classes ({"well": "sick"}; classes not named stay), or a function of X and y that
      gives the new classes. A new class must be of the kind of the old ones; a pandas category declares it after the others.
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
        labels = read_labels(y, "declared" if hasattr(getattr(y, "dtype", None), "categories") else "present")
        n = len(labels.codes)
        where = np.arange(n) if self.where is None else np.flatnonzero(matching("where", self.where, X, y, with_class=True))
        new = dict(zip(where.tolist(), self._new(X, y, labels, where), strict=True))
        differ = [label != labels.names[labels.codes[row]] for row, label in new.items()]
        meant = where[np.array(differ, dtype=bool)]
        if len(meant) == 0:
            warnings.warn("no class changes: no row is meant by labels and where", SuspectInputWarning, stacklevel=3)
        rows = rng.choice(meant, exact_count(self.level, len(meant)), replace=False) if self.level < 1 else meant
        mask = np.zeros(n, dtype=bool)
        mask[rows] = True
        changed = relabelled(y, rows, [new[row] for row in rows.tolist()])
        return Changed(X, changed, mask, len(rows) / max(len(meant), 1), np.arange(n))

    def _new(self, X: Any, y: Any, labels: Labels, rows: IntArray) -> list[Any]:
        """The class that each of these rows is to have."""
        if not callable(self.labels):
            named = self._named(labels)
            return [named.get(code, labels.names[code]) for code in labels.codes[rows].tolist()]
        given = self.labels(X, y)
        given = given.tolist() if hasattr(given, "tolist") else given
        if not isinstance(given, (list, tuple)) or len(given) != len(labels.codes):
            told = len(given) if isinstance(given, (list, tuple)) else repr(given)
            raise InputError(f"labels must give a class for each of the {len(labels.codes)} rows, got {told}")
        return [fitting(given[row], labels.names, "labels") for row in rows]

    def _named(self, labels: Labels) -> dict[int, Any]:
        """The new class of each place that the mapping names."""
        found = {}
        for old, new in self.labels.items():  # type: ignore[union-attr]
            place, after = place_among(labels.names, old), fitting(new, labels.names, "labels")
            if place is None:
                told = f"labels names {old!r}, which no row has: {did_you_mean(old, labels.names)}"
                warnings.warn(told, SuspectInputWarning, stacklevel=5)
            else:
                found[place] = after
        return found
