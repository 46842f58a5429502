"""Where in a study a figure or a section looks: its conditions, lines of one condition, and keys made of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import CLEAN as CLEAN, format_condition, get_level as get_level

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

name_condition = format_condition


SHIFTS = ("class-proportion", "concept-change", "covariate-shift", "prior-shift", "selection-bias")


"""Conditions that are no noise: the cases come from elsewhere."""


# A file's name has 255 bytes at most: a section's words, the key or two of them, and a suffix.
_LONGEST_KEY = 80


def choose_main_condition(conditions: Sequence[ConditionFacts]) -> ConditionFacts:
    """The condition that changes nothing; the first one where there is none."""
    return next((condition for condition in conditions if condition.name == CLEAN), conditions[0])


def get_main_condition(results: Results) -> ConditionFacts:
    """The condition that changes nothing; a study without it is looked at under its first one."""
    return choose_main_condition(results.archive.conditions)


def list_changed_conditions(results: Results, *, test_only: bool) -> dict[str, list[ConditionFacts]]:
    """Conditions that change something by name, each with its levels in order: those of the test part alone, or the others."""
    conditions_by_name: dict[str, list[ConditionFacts]] = {}
    for condition in results.archive.conditions:
        if condition.name != CLEAN and (condition.description.get("part") == "test") == test_only:
            conditions_by_name.setdefault(condition.name, []).append(condition)
    return {name: sorted(conditions, key=lambda condition: condition.level) for name, conditions in conditions_by_name.items()}


def with_levels(frame: pd.DataFrame, conditions: Iterable[ConditionFacts]) -> pd.DataFrame:
    """The frame with NaN as the level of conditions without one."""
    names_without_level = [condition.name for condition in conditions if isnan(get_level(condition))]
    return frame.assign(level=frame["level"].where(~frame["condition"].astype(object).isin(names_without_level)))


def is_shift(condition: ConditionFacts, conditions: Iterable[ConditionFacts]) -> bool:
    """Whether a condition belongs to drift: it changes the test part alone, or both as a shift or beside one that does."""
    declared = dict(condition.description)
    if declared.get("part") != "all":
        return declared.get("part") == "test"
    test_description = {**declared, "part": "test"}
    return declared.get("condition") in SHIFTS or any(
        dict(candidate.description) == test_description for candidate in conditions
    )


def match_condition(frame: pd.DataFrame, condition: ConditionFacts) -> npt.NDArray[np.bool_]:
    """Which lines of a frame with the columns condition and level are of this condition."""
    levels = frame["level"].to_numpy(dtype=np.float64)
    same = np.isnan(levels) if isnan(condition.level) else np.abs(levels - condition.level) < 1e-12
    return np.asarray((frame["condition"].astype(object) == condition.name).to_numpy() & same)


def make_unique_keys(names: Iterable[str]) -> list[str]:
    """A key for each name: lower case with hyphens, short enough for the name of a file, numbered where two are the same.

    >>> make_unique_keys(["f_score", "class-noise 0.2", "F score", "<b>"])
    ['f-score', 'class-noise-0-2', 'f-score-2', 'b']
    """
    keys: list[str] = []
    for name in names:
        slug = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")[:_LONGEST_KEY].rstrip("-") or "name"
        key, number = slug, 1
        while key in keys:
            number += 1
            key = f"{slug}-{number}"
        keys.append(key)
    return keys


def map_unique_keys(names: Iterable[str]) -> dict[str, str]:
    """The key of each name.

    >>> map_unique_keys(["Iris (3 classes)", "iris 3 classes", "?"])
    {'Iris (3 classes)': 'iris-3-classes', 'iris 3 classes': 'iris-3-classes-2', '?': 'name'}
    """
    unique_names = list(dict.fromkeys(map(str, names)))
    return dict(zip(unique_names, make_unique_keys(unique_names), strict=True))
