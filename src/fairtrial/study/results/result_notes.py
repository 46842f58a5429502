"""What must be said beside the numbers of a study: what failed or has not run, abstentions, warnings, doubtful times."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial.significance.scores import counted
from fairtrial.significance.telling import listed
from fairtrial.study.abstaining import abstention_sentences, without_abstentions
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.one_line import one_line, reason
from fairtrial.study.results.choosing import CLEAN, told_condition
from fairtrial.study.results.failure_policy import failed
from fairtrial.study.results.trial_times import time_note

if TYPE_CHECKING:
    import pandas as pd

_LONG = 120
_CELL = ["dataset", "condition", "level", "repeat", "fold"]


def notes_of(trials: pd.DataFrame) -> tuple[str, ...]:
    """Sentences; none where everything ran and nothing was said."""
    of_condition = _not_applied(trials)
    found = [_incomplete(trials), *_conditions(trials, of_condition), *_failures(trials[~of_condition])]
    found += [*abstention_sentences(trials), *_warnings(trials), time_note(trials)]
    return tuple(each for each in found if each)


def _incomplete(trials: pd.DataFrame) -> str:
    waiting = int((trials["status"] == "missing").sum())
    verb = "has" if waiting == 1 else "have"
    return f"Incomplete: {waiting:,} of {counted(len(trials), 'trial')} {verb} not run." if waiting else ""


def _not_applied(trials: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Failures that no learner is to blame for: on a split all of them failed with the same complaint about the input."""
    refused = failed(trials) & trials["error"].astype(str).str.endswith("InputError") & (trials["condition"] != CLEAN)
    by_cell = trials.assign(refused=refused).groupby(_CELL, sort=False, observed=True, dropna=False)
    alike = by_cell["refused"].transform("all") & (by_cell["message"].transform("nunique") == 1)
    return np.asarray(alike & (by_cell["learner"].transform("nunique") > 1), dtype=bool)


def _conditions(trials: pd.DataFrame, of_condition: npt.NDArray[np.bool_]) -> list[str]:
    """A sentence for each condition that could not be applied to some data sets."""
    told = []
    for name, own in trials[of_condition].groupby("condition", sort=False, observed=True):
        levels = [told_condition(ConditionFacts(str(name), float(each), "", {})) for each in own["level"].unique()]
        planned = trials[(trials["condition"] == name) & trials["level"].isin(own["level"])]
        sets = [_where(dataset, lost, planned) for dataset, lost in own.groupby("dataset", sort=False, observed=True)]
        told.append(f"{', '.join(levels)} could not be applied to {listed(sets)}: {one_line(own['message'].iloc[0], _LONG)}")
    return told


def _where(dataset: Any, lost: pd.DataFrame, planned: pd.DataFrame) -> str:
    """The data set, and how many of its splits where it is not all of them."""
    splits, every = (len(each.drop_duplicates(_CELL)) for each in (lost, planned[planned["dataset"] == dataset]))
    return str(dataset) if splits == every else f"{dataset} ({splits:,} of {counted(every, 'split')})"


def _failures(trials: pd.DataFrame) -> list[str]:
    told = []
    for learner, own in trials[failed(trials)].groupby("learner", sort=False, observed=True):
        kinds = ", ".join(f"{count:,} {status}" for status, count in Counter(own["status"]).items())
        first = own.iloc[0]
        words = reason(first["error"] or first["status"], first["message"], _LONG)
        sets = counted(own["dataset"].nunique(), "data set")
        told.append(f"{learner} failed in {counted(len(own), 'trial')} ({kinds}) on {sets}; the first: {words}")
    return told


def _warnings(trials: pd.DataFrame) -> list[str]:
    said = trials[trials["status"] == "ok"].assign(notes=lambda those: [without_abstentions(each) for each in those["notes"]])
    said = said[said["notes"] != ""]
    told = []
    for learner, own in said.groupby("learner", sort=False, observed=True):
        first = one_line(own["notes"].iloc[0], _LONG)
        told.append(f"{learner} gave warnings in {counted(len(own), 'trial')}; the first: {first}")
    return told
