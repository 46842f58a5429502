"""Where in a study a figure or a section looks: its conditions, lines of one condition, and keys made of names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

CLEAN = "clean"


def main_condition(results: Results) -> ConditionFacts:
    """The condition that changes nothing; a study without it is looked at under its first one."""
    conditions = results.archive.conditions
    return next((each for each in conditions if each.name == CLEAN), conditions[0])


def changed_conditions(results: Results, *, test_alone: bool) -> dict[str, list[ConditionFacts]]:
    """Conditions that change something by name, each with its levels in order: those of the test part alone, or the others."""
    found: dict[str, list[ConditionFacts]] = {}
    for each in results.archive.conditions:
        if each.name != CLEAN and (each.description.get("part") == "test") == test_alone:
            found.setdefault(each.name, []).append(each)
    return {name: sorted(own, key=lambda each: each.level) for name, own in found.items()}


def told(condition: ConditionFacts) -> str:
    """Its name, and its level where it has one.

    >>> told(ConditionFacts("class-noise", 0.1, "", {}))
    'class-noise 0.1'
    """
    return condition.name if condition.name == CLEAN or isnan(condition.level) else f"{condition.name} {condition.level:g}"


def lines_of(frame: pd.DataFrame, condition: ConditionFacts) -> npt.NDArray[np.bool_]:
    """Which lines of a frame with the columns condition and level are of this condition."""
    levels = frame["level"].to_numpy(dtype=np.float64)
    same = np.isnan(levels) if isnan(condition.level) else np.abs(levels - condition.level) < 1e-12
    return np.asarray((frame["condition"].astype(object) == condition.name).to_numpy() & same)


def keys_of(names: Iterable[str]) -> dict[str, str]:
    """A key for each name: lower case letters, digits and hyphens, no two alike.

    >>> keys_of(["Iris (3 classes)", "iris 3 classes", "?"])
    {'Iris (3 classes)': 'iris-3-classes', 'iris 3 classes': 'iris-3-classes-2', '?': 'name'}
    """
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-") or "name"
        key, number = plain, 1
        while key in found.values():
            number += 1
            key = f"{plain}-{number}"
        found[str(name)] = key
    return found
