"""Confusion tables of a study: a table for each learner and data set, of all test rows under one condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import IntArray
from fairtrial.measures.projection import IDEAL
from fairtrial.report.places import lines_of
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.evidence import ABSTAINED

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


def confusion_tables(results: Results, condition: ConditionFacts, datasets: Iterable[str] | None = None) -> ConfusionTables:
    """Tables over all repeats and folds. Learners without any whole data set go first, then data sets that a learner lacks."""
    known = [each for each in results.archive.datasets if datasets is None or each.name in set(datasets)]
    learners = [each.name for each in results.archive.learners]
    found = {(learner, facts.name): _table(results, facts, condition, learner) for facts in known for learner in learners}
    kept = [name for name in learners if any(found[name, facts.name] is not None for facts in known)]
    whole = [facts.name for facts in known if all(found[name, facts.name] is not None for name in kept)]
    tables: dict[str, list[IntArray]] = {}
    for name in kept:
        own = [table for dataset in whole if (table := found[name, dataset]) is not None]
        tables[name if name != IDEAL else f"{name} (learner)"] = own
    _leave_out_unused(list(tables.values()))
    return ConfusionTables(
        tables if whole else {},
        tuple(whole),
        tuple(name for name in learners if name not in kept),
        tuple(facts.name for facts in known if facts.name not in whole),
    )


def _table(results: Results, facts: DataFacts, condition: ConditionFacts, learner: str) -> IntArray | None:
    """The table of one learner on one data set; None where a trial failed or has not run, or nothing was tested."""
    trials = results.trials()
    own = trials[(trials["dataset"] == facts.name) & (trials["learner"] == learner) & lines_of(trials, condition)]
    if not len(own) or (own["status"] != "ok").any():
        return None
    k = len(facts.classes) + 1  # the last for abstentions
    counts = np.zeros(k * k, dtype=np.intp)
    for one in results.archive.predictions(own["trial"].tolist()):
        predicted = np.where(one.prediction == ABSTAINED, k - 1, one.prediction)
        counts += np.bincount(one.truth * k + predicted, minlength=k * k)
    return counts.reshape(k, k) if counts.any() else None


def _leave_out_unused(tables: list[list[IntArray]]) -> None:
    """The further label goes from each data set on which nobody abstained."""
    for place in range(len(tables[0]) if tables else 0):
        if not any(own[place][:, -1].any() for own in tables):
            for own in tables:
                own[place] = own[place][:-1, :-1]
