"""Times and memory of a study's trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.significance.scores import counted

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory"]
_FAR = 1.5
_NOTICED = 0.01
"""Seconds below which a wait says nothing."""


def times_of(trials: pd.DataFrame) -> pd.DataFrame:
    """Medians over the trials that did not fail, by data set and learner: seconds of wall-clock and CPU time, bytes of memory.

    NaN where none succeeded; `note` says where fitting took much longer than its CPU time.
    """
    numbers = trials[_COLUMNS].astype(np.float64).where(trials["status"] == "ok")
    frame = numbers.groupby([trials["dataset"], trials["learner"]], sort=False, observed=True).median().reset_index()
    slow = (frame["fit_time"] > _FAR * frame["fit_cpu"]) & (frame["fit_time"] - frame["fit_cpu"] > _NOTICED)
    ratio = frame["fit_time"] / frame["fit_cpu"].clip(lower=1e-9)
    frame["note"] = [
        f"fitting took {each:.1f} times its CPU time" if long else "" for long, each in zip(slow, ratio, strict=True)
    ]
    return frame


def time_note(trials: pd.DataFrame) -> str:
    """A sentence where times are not to be trusted; empty otherwise."""
    frame = times_of(trials)
    slow = frame[frame["note"] != ""]
    if slow.empty:
        return ""
    who = ", ".join(dict.fromkeys(slow["learner"].astype(str)))
    sets = counted(slow["dataset"].nunique(), "data set")
    return (
        f"Fitting took more than {_FAR:g} times its CPU time on {sets} ({who}): the machine was oversubscribed or the learner "
        "waited, so compare CPU times."
    )
