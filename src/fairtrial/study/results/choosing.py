"""Which data set, condition and learner of a study is meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    import pandas as pd

CLEAN = "clean"


def chosen_condition(
    conditions: Sequence[ConditionFacts], condition: str | None = None, level: float | None = None
) -> ConditionFacts:
    """The condition of this name and level; clean where none is named.

    >>> noise = [ConditionFacts("class-noise", level, "", {}) for level in (0.1, 0.2)]
    >>> chosen_condition(noise, "class-noise", 0.2).level
    0.2
    """
    if condition is None:
        return _unnamed(conditions, level)
    found = [each for each in conditions if each.name == condition]
    if not found:
        names = list(dict.fromkeys(each.name for each in conditions))
        raise InputError(f"condition must be one of the study's, got {condition!r}: {did_you_mean(condition, names)}")
    levels = [each.level for each in found]
    if level is not None:
        found = [each for each in found if same_level(each.level, level)]
        if not found:
            raise InputError(f"level must be one of {levels} for the condition {condition!r}, got {level!r}")
    if len(found) > 1:
        raise InputError(f"level must be given for the condition {condition!r}, which has {levels}, got None")
    return found[0]


def _unnamed(conditions: Sequence[ConditionFacts], level: float | None) -> ConditionFacts:
    if level is not None and level != 0:
        raise InputError(f"condition must be given together with a level, got level {level!r} alone: name the condition")
    found = [each for each in conditions if each.name == CLEAN] or list(conditions)
    if len(found) > 1:
        names = list(dict.fromkeys(each.name for each in conditions))
        raise InputError(f"condition must be given for a study without the condition clean: it has {', '.join(names)}")
    return found[0]


def same_level(first: float, second: float) -> bool:
    """Whether two levels are one; conditions without a level may have NaN."""
    return first == second or (isnan(first) and isnan(second)) or abs(first - second) < 1e-12


def under(frame: pd.DataFrame, condition: ConditionFacts) -> npt.NDArray[np.bool_]:
    """Which lines of a frame are of this condition."""
    levels = frame["level"].to_numpy(dtype=np.float64)
    same = np.isnan(levels) if isnan(condition.level) else np.abs(levels - condition.level) < 1e-12
    return np.asarray((frame["condition"] == condition.name).to_numpy() & same)


def level_of(condition: ConditionFacts) -> float:
    """Its level; NaN for a condition without one, which a study holds as 1: its description has no level.

    >>> level_of(ConditionFacts("moved", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]}))
    nan
    """
    declared = condition.description
    without = condition.level == 1 and bool(declared) and declared.get("level") is None
    return float("nan") if without else float(condition.level)


def told_condition(condition: ConditionFacts) -> str:
    """Its name, and its level where it has one.

    >>> told_condition(ConditionFacts("class-noise", 0.1, "", {})), told_condition(ConditionFacts("clean", 0.0, "", {}))
    ('class-noise 0.1', 'clean')
    """
    level = level_of(condition)
    return condition.name if condition.name == CLEAN or isnan(level) else f"{condition.name} {level:g}"


def chosen_names(what: str, names: Iterable[str], wanted: Any) -> list[str]:
    """The names that are meant: all of them for None, else one or several that exist."""
    known = list(names)
    if wanted is None:
        return known
    listed = [wanted] if isinstance(wanted, str) else list(wanted)
    for each in listed:
        if each not in known:
            raise InputError(f"{what} must be of the study, got {each!r}: {did_you_mean(each, known)}")
    return listed


def chosen_data_set(names: Sequence[str], wanted: str | None) -> str:
    """The data set that is meant; it need not be named where there is only one."""
    if wanted is None and len(names) > 1:
        raise InputError(f"dataset must be given for a study of several, got None: choose one of {', '.join(names)}")
    return chosen_names("dataset", names, wanted)[0]
