"""Select the data set, condition, learners, repeat and positive class for figures and sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.measures.intervals import count_effective_rows
from fairtrial.study.archive import ConditionFacts, DataFacts
from fairtrial.study.results.selection import CLEAN, choose_condition, get_level, is_train_size, mask_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

# A file name has at most 255 bytes and consists of the name of a section, one or two keys, and a suffix.
_LONGEST_KEY = 80


@dataclass(frozen=True)
class Selection:
    """The selected part of a study.

    A field that is None stands for the figure's default, such as all data sets or the main condition. `positive` is a class, or
    a mapping from data sets to classes.

    >>> Selection(dataset="iris", level=0.2)
    Selection(dataset='iris', condition=None, level=0.2, learner=None, repeat=None, positive=None)
    """

    dataset: str | None = None
    condition: str | None = None
    level: float | None = None
    learner: str | Sequence[str] | None = None
    repeat: int | None = None
    positive: object = None

    def check_dataset(self, results: Results) -> None:
        """Raise an error if the data set is not in the study."""
        names = [facts.name for facts in results.archive.datasets]
        if self.dataset is not None and self.dataset not in names:
            raise InputError(f"dataset must be in the study, got {self.dataset!r}: {suggest_name(self.dataset, names)}")

    def find_dataset(self, results: Results) -> DataFacts:
        """Find the selected data set. If the study has several data sets, a name is required."""
        self.check_dataset(results)
        datasets = {facts.name: facts for facts in results.archive.datasets}
        if self.dataset is None and len(datasets) > 1:
            raise InputError(f"dataset must be given if the study has several, got None: choose one of {', '.join(datasets)}")
        return next(iter(datasets.values())) if self.dataset is None else datasets[self.dataset]

    def find_condition(self, results: Results) -> ConditionFacts:
        """Find the selected condition. Default: the main condition."""
        if self.condition is None:
            return get_main_condition(results)
        return choose_condition(results.archive.conditions, self.condition, self.level)

    def find_positive(self, results: Results, facts: DataFacts) -> Any:
        """Find the positive class of a data set."""
        if self.positive is None:
            return choose_positive_class(results, facts)
        return self.positive.get(facts.name) if isinstance(self.positive, Mapping) else self.positive


def get_main_condition(results: Results) -> ConditionFacts:
    """Get the main condition: `clean`, or the first condition if the study has no condition `clean`."""
    conditions = results.archive.conditions
    return next((condition for condition in conditions if condition.name == CLEAN), conditions[0])


def choose_positive_class(results: Results, facts: DataFacts) -> Any:
    """Choose the positive class of a data set.

    If the study declares no positive class, choose the second of two classes in sort order, or the rarest of three or more
    classes.
    """
    declared = results.archive.declaration.get("data")
    dataset_declaration = declared.get(facts.name) if isinstance(declared, Mapping) else None
    declared_positive = dataset_declaration.get("positive") if isinstance(dataset_declaration, Mapping) else None
    if declared_positive is not None and declared_positive in facts.classes:
        return declared_positive
    counts = facts.counts
    occurring = [index for index in range(len(facts.classes)) if counts[index]]
    if len(occurring) > 2:
        return facts.classes[min(occurring, key=lambda index: counts[index])]
    names = [facts.classes[index] for index in (occurring if len(occurring) > 1 else range(len(facts.classes)))]
    return _sort_if_comparable(names)[min(1, len(names) - 1)]


def _sort_if_comparable(names: list[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return names


ROUNDING = 1e-6  # so 30 clusters of equal size are not rounded down to 29


def count_tested_classes(results: Results, facts: DataFacts, condition: ConditionFacts, positive: object) -> tuple[int, int]:
    """Count the test rows of the positive class and of the other classes.

    Only the test rows of the first repeat under the condition are counted. If rows are clustered or repeated, the effective
    numbers of rows are returned, rounded down.
    """
    trials = results.scored_trials()
    selected_trials = trials[(trials["dataset"] == facts.name) & (trials["status"] == "ok") & mask_condition(trials, condition)]
    first = selected_trials[selected_trials["repeat"] == selected_trials["repeat"].min()].drop_duplicates("fold")
    label = list(facts.classes).index(positive)
    trial_predictions = list(results.archive.predictions(first["trial"].tolist()))
    is_positive = np.concatenate([predictions.y_true == label for predictions in trial_predictions])
    rows = np.concatenate([predictions.rows for predictions in trial_predictions])
    groups = rows if facts.groups is None else facts.groups[rows]
    n_positive, n_other = (count_effective_rows(chosen.astype(np.float64), groups) for chosen in (is_positive, ~is_positive))
    return int(n_positive + ROUNDING), int(n_other + ROUNDING)


def list_changed_conditions(results: Results, *, test_only: bool) -> dict[str, list[ConditionFacts]]:
    """List the conditions that change the data, grouped by name and sorted by level.

    If `test_only` is true, list the conditions that change only the test set. Otherwise, list all other conditions. The clean
    condition and training sizes are never listed.
    """
    conditions_by_name: dict[str, list[ConditionFacts]] = {}
    for condition in results.archive.conditions:
        if condition.name == CLEAN or is_train_size(condition):
            continue
        if (condition.description.get("part") == "test") == test_only:
            conditions_by_name.setdefault(condition.name, []).append(condition)
    return {name: sorted(conditions, key=lambda condition: condition.level) for name, conditions in conditions_by_name.items()}


def with_levels(frame: pd.DataFrame, conditions: Iterable[ConditionFacts]) -> pd.DataFrame:
    """Set the level to NaN for conditions that have no level."""
    names_without_level = [condition.name for condition in conditions if isnan(get_level(condition))]
    return frame.assign(level=frame["level"].where(~frame["condition"].astype(object).isin(names_without_level)))


def make_unique_keys(names: Iterable[str]) -> list[str]:
    """Make a unique key for each name. Keys consist of lower-case letters, digits and hyphens, and fit in a file name.

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
    """Map each name to a unique key.

    >>> map_unique_keys(["Iris (3 classes)", "iris 3 classes", "?"])
    {'Iris (3 classes)': 'iris-3-classes', 'iris 3 classes': 'iris-3-classes-2', '?': 'name'}
    """
    unique_names = list(dict.fromkeys(map(str, names)))
    return dict(zip(unique_names, make_unique_keys(unique_names), strict=True))
