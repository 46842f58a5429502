"""What must be said beside the numbers of a study: trials that failed or have not run, warnings, times not to be trusted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairtrial.significance.scores import counted
from fairtrial.study.results.failure_policy import failed
from fairtrial.study.results.trial_times import time_note

if TYPE_CHECKING:
    import pandas as pd

_LONG = 120


def notes_of(trials: pd.DataFrame) -> tuple[str, ...]:
    """Sentences; none where everything ran and nothing was said."""
    found = [_incomplete(trials), *_failures(trials), *_warnings(trials), time_note(trials)]
    return tuple(each for each in found if each)


def _incomplete(trials: pd.DataFrame) -> str:
    waiting = int((trials["status"] == "missing").sum())
    verb = "has" if waiting == 1 else "have"
    return f"Incomplete: {waiting} of {counted(len(trials), 'trial')} {verb} not run." if waiting else ""


def _failures(trials: pd.DataFrame) -> list[str]:
    told = []
    for learner, own in trials[failed(trials)].groupby("learner", sort=False, observed=True):
        kinds = ", ".join(f"{count} {status}" for status, count in Counter(own["status"]).items())
        first = own.iloc[0]
        words = " ".join(f"{first['error'] or first['status']}: {first['message'] or ''}".split())[:_LONG]
        sets = counted(own["dataset"].nunique(), "data set")
        told.append(f"{learner} failed in {counted(len(own), 'trial')} ({kinds}) on {sets}; the first: {words}")
    return told


def _warnings(trials: pd.DataFrame) -> list[str]:
    said = trials[(trials["status"] == "ok") & trials["notes"].notna() & (trials["notes"] != "")]
    told = []
    for learner, own in said.groupby("learner", sort=False, observed=True):
        first = " ".join(str(own["notes"].iloc[0]).split())[:_LONG]
        told.append(f"{learner} gave warnings in {counted(len(own), 'trial')}; the first: {first}")
    return told
