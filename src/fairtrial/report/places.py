"""Where in a study a figure or a section looks: its conditions, lines of one condition, and keys made of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.choosing import CLEAN as CLEAN, level_of as level_of, told_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

told = told_condition
SHIFTS = ("class-proportion", "concept-change", "covariate-shift", "prior-shift", "selection-bias")
"""Conditions that are no noise: the cases come from elsewhere."""
# A file's name has 255 bytes at most: a section's words, the key or two of them, and a suffix.
_LONGEST_KEY = 80


def main_of(conditions: Sequence[ConditionFacts]) -> ConditionFacts:
    """The condition that changes nothing; the first one where there is none."""
    return next((each for each in conditions if each.name == CLEAN), conditions[0])


def main_condition(results: Results) -> ConditionFacts:
    """The condition that changes nothing; a study without it is looked at under its first one."""
    return main_of(results.archive.conditions)


def changed_conditions(results: Results, *, test_alone: bool) -> dict[str, list[ConditionFacts]]:
    """Conditions that change something by name, each with its levels in order: those of the test part alone, or the others."""
    found: dict[str, list[ConditionFacts]] = {}
    for each in results.archive.conditions:
        if each.name != CLEAN and (each.description.get("part") == "test") == test_alone:
            found.setdefault(each.name, []).append(each)
    return {name: sorted(own, key=lambda each: each.level) for name, own in found.items()}


def with_levels(frame: pd.DataFrame, conditions: Iterable[ConditionFacts]) -> pd.DataFrame:
    """The frame with NaN as the level of conditions without one."""
    without = [each.name for each in conditions if isnan(level_of(each))]
    return frame.assign(level=frame["level"].where(~frame["condition"].astype(object).isin(without)))


def of_drift(condition: ConditionFacts, conditions: Iterable[ConditionFacts]) -> bool:
    """Whether a condition belongs to drift: it changes the test part alone, or both as a shift or beside one that does."""
    declared = dict(condition.description)
    if declared.get("part") != "all":
        return declared.get("part") == "test"
    twin = {**declared, "part": "test"}
    return declared.get("condition") in SHIFTS or any(dict(each.description) == twin for each in conditions)


def lines_of(frame: pd.DataFrame, condition: ConditionFacts) -> npt.NDArray[np.bool_]:
    """Which lines of a frame with the columns condition and level are of this condition."""
    levels = frame["level"].to_numpy(dtype=np.float64)
    same = np.isnan(levels) if isnan(condition.level) else np.abs(levels - condition.level) < 1e-12
    return np.asarray((frame["condition"].astype(object) == condition.name).to_numpy() & same)


def keys_in_order(names: Iterable[str]) -> list[str]:
    """A key for each name: lower case with hyphens, short enough for the name of a file, numbered where two are the same.

    >>> keys_in_order(["f_score", "class-noise 0.2", "F score", "<b>"])
    ['f-score', 'class-noise-0-2', 'f-score-2', 'b']
    """
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")[:_LONGEST_KEY].rstrip("-") or "name"
        key, number = plain, 1
        while key in found:
            number += 1
            key = f"{plain}-{number}"
        found.append(key)
    return found


def keys_of(names: Iterable[str]) -> dict[str, str]:
    """The key of each name.

    >>> keys_of(["Iris (3 classes)", "iris 3 classes", "?"])
    {'Iris (3 classes)': 'iris-3-classes', 'iris 3 classes': 'iris-3-classes-2', '?': 'name'}
    """
    each = list(dict.fromkeys(map(str, names)))
    return dict(zip(each, keys_in_order(each), strict=True))
