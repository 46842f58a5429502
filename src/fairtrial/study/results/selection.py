"""Select data sets, conditions and learners from a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import format_options
from fairtrial._narrative import name_argument
from fairtrial._registry import suggest_name
from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.measures import registry
from fairtrial.resampling import Splitter
from fairtrial.resampling.splitter import schemes
from fairtrial.study.archive import Archive, ConditionFacts, get_scheme_name
from fairtrial.study.records import FAILURES
from fairtrial.study.spec.schemes import build_scheme

if TYPE_CHECKING:
    import pandas as pd

CLEAN = "clean"
TRAIN_SIZE = "train-size"


def is_train_size(condition: ConditionFacts) -> bool:
    """Return whether a condition sets the training size for a learning curve."""
    return condition.description.get("condition") == TRAIN_SIZE


def choose_condition(
    conditions: Sequence[ConditionFacts], condition: str | None = None, level: float | None = None
) -> ConditionFacts:
    """Choose a condition by name and level.

    The default is clean data. If the study has no clean trials, the default is its only condition.

    >>> noise = [ConditionFacts("class-noise", level, "", {}) for level in (0.1, 0.2)]
    >>> choose_condition(noise, "class-noise", 0.2).level
    0.2
    """
    if condition is None:
        return _choose_default_condition(conditions, level)
    matches = [candidate for candidate in conditions if candidate.name == condition]
    if not matches:
        names = list(dict.fromkeys(candidate.name for candidate in conditions))
        raise InputError(f"condition must be a condition of the study, got {condition!r}: {suggest_name(condition, names)}")
    levels = [candidate.level for candidate in matches]
    if level is not None:
        matches = [candidate for candidate in matches if is_same_level(candidate.level, level)]
        if not matches:
            known = format_options(levels)
            raise InputError(f"level must be {known} for the condition {condition!r}, got {level!r}: choose another")
    if len(matches) > 1:
        known, example = join_names([f"{other:g}" for other in levels]), name_argument("level", f"{levels[0]:g}")
        raise InputError(f"the condition {condition!r} has the levels {known}: pass e.g. {example}")
    return matches[0]


def _choose_default_condition(conditions: Sequence[ConditionFacts], level: float | None) -> ConditionFacts:
    if level is not None and level != 0:
        raise InputError(f"condition must be given together with a level, got only level {level!r}: name the condition")
    matches = [candidate for candidate in conditions if candidate.name == CLEAN] or list(conditions)
    if len(matches) > 1:
        names = list(dict.fromkeys(candidate.name for candidate in conditions))
        raise InputError(f"condition must be given because the study has no clean trials: choose one of {', '.join(names)}")
    return matches[0]


def is_same_level(first: float, second: float) -> bool:
    """Return whether two levels are equal up to rounding errors.

    NaN marks a condition without levels, and two NaN levels are equal.
    """
    return first == second or (isnan(first) and isnan(second)) or abs(first - second) < 1e-12


def mask_condition(frame: pd.DataFrame, condition: ConditionFacts) -> npt.NDArray[np.bool_]:
    """Make a mask of the rows that belong to a condition."""
    levels = frame["level"].to_numpy(dtype=np.float64)
    same = np.isnan(levels) if isnan(condition.level) else np.abs(levels - condition.level) < 1e-12
    return np.asarray((frame["condition"] == condition.name).to_numpy() & same)


def get_level(condition: ConditionFacts) -> float:
    """Return the level of a condition, or NaN if the condition has no levels.

    For conditions without levels, `condition.level` is 1 in studies.

    >>> get_level(ConditionFacts("moved", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]}))
    nan
    """
    declared = condition.description
    lacks_level = condition.level == 1 and bool(declared) and declared.get("level") is None
    return float("nan") if lacks_level else float(condition.level)


def format_condition(condition: ConditionFacts) -> str:
    """Format the name of a condition, with its level if it has one.

    >>> format_condition(ConditionFacts("class-noise", 0.1, "", {})), format_condition(ConditionFacts("clean", 0.0, "", {}))
    ('class-noise 0.1', 'clean')
    """
    level = get_level(condition)
    return condition.name if condition.name == CLEAN or isnan(level) else f"{condition.name} {level:g}"


def format_measure_name(measure: str) -> str:
    """Return the display name of a measure.

    >>> format_measure_name("balanced_accuracy"), format_measure_name("auc"), format_measure_name("my_measure")
    ('balanced accuracy', 'AUC', 'my measure')
    """
    return registry[measure].display_name if measure in registry else measure.replace("_", " ")


def choose_names(kind: str, names: Iterable[str], selection: Any) -> list[str]:
    """Return the selected names as a list, and refuse unknown names. None selects all names."""
    available = list(names)
    if selection is None:
        return available
    chosen = [selection] if isinstance(selection, str) else list(selection)
    for name in chosen:
        if name not in available:
            raise InputError(f"{kind} must be a {kind} of the study, got {name!r}: {suggest_name(name, available)}")
    return chosen


def choose_dataset(names: Sequence[str], selection: str | None) -> str:
    """Choose a data set by name. The name can be omitted if there is only one data set."""
    if selection is None and len(names) > 1:
        raise InputError(f"dataset must be given because the study has several: choose one of {', '.join(names)}")
    return choose_names("dataset", names, selection)[0]


def get_declared_splitters(archive: Archive) -> dict[str, Splitter]:
    """Return a dictionary of the declared schemes that draw extra splits, with their splitters.

    The extra splits serve only to estimate a standard error.
    """
    declared = archive.declaration.get("resampling")
    splitters = {}
    for table in declared if isinstance(declared, (list, tuple)) else [declared]:
        if not isinstance(table, Mapping):
            continue
        name = str(table.get("scheme"))
        if name in schemes and schemes[name]._primary_folds is not None:
            splitter = build_scheme({key: value for key, value in table.items() if key != "name"}).splitter
            assert splitter is not None
            splitters[get_scheme_name(table)] = splitter
    return splitters


def mask_failed(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Make a mask of the rows of failed trials."""
    return np.asarray(frame["status"].isin(FAILURES), dtype=bool)
