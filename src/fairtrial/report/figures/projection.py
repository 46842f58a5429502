"""Confusion tables of a study: a table for each learner and data set, of all test rows under one condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import IntArray
from fairtrial.measures.projection import IDEAL
from fairtrial.report.selection import match_condition
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.records import ABSTAINED

if TYPE_CHECKING:
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts


@dataclass(frozen=True, eq=False)
class ConfusionTables:
    """`tables` maps learners to a table for each of `datasets` (rows are the truth); what lacks trials is left out.

    Where a learner abstained on a data set, all tables there have a further label, the last, that is never true.
    """

    tables: dict[str, list[IntArray]]
    datasets: tuple[str, ...]
    learners_left_out: tuple[str, ...]
    datasets_left_out: tuple[str, ...]


def compute_confusion_tables(
    results: Results, condition: ConditionFacts, datasets: Iterable[str] | None = None
) -> ConfusionTables:
    """Tables over all repeats and folds. Learners without any whole data set go first, then data sets that a learner lacks."""
    dataset_facts = [facts for facts in results.archive.datasets if datasets is None or facts.name in set(datasets)]
    learners = [learner.name for learner in results.archive.learners]
    tables_by_key = {
        (learner, facts.name): _count_confusions(results, facts, condition, learner)
        for facts in dataset_facts
        for learner in learners
    }
    kept_learners = [name for name in learners if any(tables_by_key[name, facts.name] is not None for facts in dataset_facts)]
    whole = [
        facts.name for facts in dataset_facts if all(tables_by_key[name, facts.name] is not None for name in kept_learners)
    ]
    tables: dict[str, list[IntArray]] = {}
    for name in kept_learners:
        learner_tables = [table for dataset in whole if (table := tables_by_key[name, dataset]) is not None]
        tables[name if name != IDEAL else f"{name} (learner)"] = learner_tables
    _drop_unused_label(list(tables.values()))
    return ConfusionTables(
        tables if whole else {},
        tuple(whole),
        tuple(name for name in learners if name not in kept_learners),
        tuple(facts.name for facts in dataset_facts if facts.name not in whole),
    )


def _count_confusions(results: Results, facts: DataFacts, condition: ConditionFacts, learner: str) -> IntArray | None:
    """The table of one learner on one data set; None where a trial failed or has not run, or nothing was tested."""
    trials = results.trials()
    selected_trials = trials[
        (trials["dataset"] == facts.name) & (trials["learner"] == learner) & match_condition(trials, condition)
    ]
    if not len(selected_trials) or (selected_trials["status"] != "ok").any():
        return None
    k = len(facts.classes) + 1  # the last for abstentions
    counts = np.zeros(k * k, dtype=np.intp)
    for trial_predictions in results.archive.predictions(selected_trials["trial"].tolist()):
        predicted = np.where(trial_predictions.prediction == ABSTAINED, k - 1, trial_predictions.prediction)
        counts += np.bincount(trial_predictions.y_true * k + predicted, minlength=k * k)
    return counts.reshape(k, k) if counts.any() else None


def _drop_unused_label(tables: list[list[IntArray]]) -> None:
    """The further label goes from each data set on which nobody abstained."""
    for index in range(len(tables[0]) if tables else 0):
        if not any(learner_tables[index][:, -1].any() for learner_tables in tables):
            for learner_tables in tables:
                learner_tables[index] = learner_tables[index][:-1, :-1]
