"""Class noise: some cases get another class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fairtrial._check import finite, numbers, one_of, whole_number
from fairtrial.conditions import borderline, class_schemes
from fairtrial.conditions.class_schemes import Problem, Scheme
from fairtrial.conditions.condition import Changed, Condition, check_level, condition, percent, row_count
from fairtrial.conditions.labels import read_labels, relabelled
from fairtrial.errors import InputError

SCHEMES: dict[str, Scheme] = {
    "symmetric-uniform": class_schemes.symmetric_uniform,
    "symmetric-completely-uniform": class_schemes.symmetric_completely_uniform,
    "transition-matrix": class_schemes.transition_matrix,
    "next-class": class_schemes.next_class,
    "pairwise": class_schemes.pairwise,
    "majority-to-second": class_schemes.majority_to_second,
    "minority-driven": class_schemes.minority_driven,
    "neighbourwise-borderline": borderline.neighbourwise,
    "margin-borderline": borderline.margin,
}
# Parameters that only one scheme knows.
_OWN: dict[str, str] = {"transition": "transition-matrix", "pairs": "pairwise"}
# Schemes that look at two classes which have cases.
_BETWEEN = ("majority-to-second", "minority-driven", "neighbourwise-borderline", "margin-borderline")


@condition("class-noise")
@dataclass(frozen=True)
class ClassNoise(Condition):
    """Exactly round(level * n) cases get another class (halves to the even number), by one of these schemes:

    - `"symmetric-uniform"`: any of the other classes, all alike (the 'random class noise' of Zhu & Wu and of the ELA paper).
    - `"symmetric-completely-uniform"`: any class, the old one too, so that fewer than the chosen cases change (Berrar).
    - `"transition-matrix"`: by the probabilities in `transition`, a matrix or {class: {class: probability}}, whose diagonal is
      left out. With `level=None` 1 - diagonal is the share of each class that changes.
    - `"next-class"`: the next class in order, after the last the first.
    - `"pairwise"`: class p becomes q, for each (p, q) in `pairs`.
    - `"majority-to-second"`: the largest class becomes the second largest.
    - `"minority-driven"`: round(level * 2 * size of the smallest class) cases of the smallest and the largest class change
      sides, a share `minority_share` of them from the smallest.
    - `"neighbourwise-borderline"`: the cases with the largest distance to their own class relative to that to another class;
      they get the most frequent class among their `neighbours` nearest cases of other classes.
    - `"margin-borderline"`: the cases nearest to the decision border of a support vector machine with this `kernel`, those
      first that it classifies rightly; the new class as before.

    `of="class"` makes the level the share of each class that the scheme changes, instead of a share of all cases. `classes` are
    the classes that may be given, in order: those `"present"`, all that are `"declared"` by a pandas category, or a list.

    >>> changed = ClassNoise(0.5).apply([[1], [2], [3], [4]], ["a", "a", "b", "b"], rng=7)
    >>> changed.y, changed.mask.tolist(), changed.level
    (['b', 'a', 'a', 'b'], [True, False, True, False], 0.5)
    """

    level: float | None
    scheme: str = "symmetric-uniform"
    transition: Any = field(default=None, hash=False)
    pairs: Any = None
    of: Literal["all", "class"] = "all"
    classes: Any = "present"
    minority_share: float = 0.1
    neighbours: int = 1
    kernel: Literal["linear", "rbf"] = "linear"

    def _check(self) -> None:
        one_of("scheme", self.scheme, SCHEMES)
        one_of("of", self.of, ["all", "class"])
        if self.level is not None or self.scheme != "transition-matrix":
            check_level(self.level)
        check_level(self.minority_share, "minority_share")
        whole_number("neighbours", self.neighbours, 1)
        one_of("kernel", self.kernel, ["linear", "rbf"])
        for name, scheme in _OWN.items():
            if (getattr(self, name) is None) == (self.scheme == scheme):
                rule = f"needs {name}=" if self.scheme == scheme else f"takes no {name}, that is for {scheme!r}"
                raise InputError(f"scheme {self.scheme!r} {rule}")
        if isinstance(self.classes, str):
            one_of("classes", self.classes, ["present", "declared"])
        else:
            object.__setattr__(self, "classes", tuple(self.classes))
        if self.transition is not None:
            object.__setattr__(self, "transition", checked_transition(self.transition))
        if self.pairs is not None:
            object.__setattr__(self, "pairs", checked_pairs(self.pairs))

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = row_count(X)
        labels = read_labels(y, self.classes)
        if self.level == 0:
            return Changed(X, y, np.zeros(n, dtype=bool), 0.0, np.arange(n))
        there = labels.names if self.scheme not in _BETWEEN else [labels.names[code] for code in np.unique(labels.codes)]
        if len(there) < 2:
            raise InputError(f"y must hold at least 2 classes for class noise, got only {there[0]!r}")
        found = SCHEMES[self.scheme](Problem(self, X, labels), rng)
        mask = np.zeros(n, dtype=bool)
        mask[found.rows] = found.codes != labels.codes[found.rows]
        new = found.codes[mask[found.rows]]
        changed = relabelled(y, np.flatnonzero(mask), [labels.names[code] for code in new])
        level = float(mask.sum() / found.base) if found.base else 0.0
        return Changed(X, changed, mask, level, np.arange(n), len(found.rows))

    def _told(self) -> str:
        share = f"{percent(self.level)} class noise" if self.level is not None else "class noise"
        among = ", of each class" if self.of == "class" else ""
        return f"{share} ({self.scheme}{among})"


def checked_transition(given: Any) -> Any:
    """Rows of probabilities that sum to 1: a mapping of mappings as such, else a tuple of rows."""
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict(orient="index")
    if isinstance(given, Mapping):
        if not all(isinstance(row, Mapping) for row in given.values()):
            raise InputError(f"transition must map each class to a mapping of classes to probabilities, got {given!r}")
        for source, row in given.items():
            _probable(f"transition of {source!r}", list(row.values()))
        return {source: {target: float(each) for target, each in row.items()} for source, row in given.items()}
    matrix = numbers("transition", given)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"transition must be a square matrix or a mapping, got shape {matrix.shape}")
    for number, row in enumerate(matrix.tolist()):
        _probable(f"row {number} of transition", row)
    return tuple(tuple(row) for row in matrix.tolist())


def _probable(name: str, row: list[Any]) -> None:
    values = finite(name, numbers(name, row))
    if (values < 0).any() or abs(values.sum() - 1) > 1e-9:
        raise InputError(f"{name} must hold probabilities that sum to 1, got {row} with sum {values.sum():g}")


def checked_pairs(given: Any) -> tuple[tuple[Any, Any], ...]:
    """Pairs (p, q) of different classes, each p once; a single pair or a mapping p -> q will do."""
    pairs = list(given.items()) if isinstance(given, Mapping) else list(given) if not isinstance(given, str) else []
    if len(pairs) == 2 and not any(isinstance(each, Sequence) and not isinstance(each, str) for each in pairs):
        pairs = [tuple(pairs)]
    if not pairs or not all(isinstance(each, Sequence) and not isinstance(each, str) and len(each) == 2 for each in pairs):
        raise InputError(f"pairs must hold pairs of classes (from, to), got {given!r}")
    sources = [source for source, _ in pairs]
    for source, target in pairs:
        if source == target:
            raise InputError(f"pairs must hold pairs of different classes, got ({source!r}, {target!r})")
        if sources.count(source) > 1:
            raise InputError(f"pairs must change each class into one other, got {source!r} twice: use a transition matrix")
    return tuple((source, target) for source, target in pairs)
