"""Why there is no verdict, in the words of a report: what a reader can see in the study, not what a function refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.errors import FairtrialError
from fairtrial.report.places import lines_of
from fairtrial.report.sections.naming import listed, measure_words
from fairtrial.report.sections.score_means import scored
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.failure_policy import failed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results


def why_none(results: Results, measure: str, condition: ConditionFacts, error: FairtrialError) -> str:
    """A sentence; that of the error where nothing plainer is known."""
    trials = results.trials()
    own = trials[lines_of(trials, condition)].astype({"learner": str, "dataset": str})
    good = own["status"] == "ok"
    able = own.loc[good, "learner"].unique().tolist()
    if not able:
        waiting = bool((own["status"] == "missing").all())
        return f"No trial {'has run' if waiting else 'succeeded'}, so there is nothing to judge."
    if len(results.archive.learners) == 1:
        return "There is one learner, so nothing is compared."
    return _of_values(results, measure, condition) or _of_failures(own, able) or str(error)


def _of_values(results: Results, measure: str, condition: ConditionFacts) -> str:
    """What stands against the values of the measure; empty where nothing does."""
    scores, _ = scored(results, [measure])
    own = scores[lines_of(scores, condition)] if len(scores) else scores
    values, words = own["value"].to_numpy(dtype=np.float64), measure_words(measure)
    if np.isnan(values).all():
        return f"No trial has a value of {words}, so there is nothing to judge."
    endless = own.loc[np.isinf(values), "learner"].astype(str).unique().tolist()
    if endless:
        return (
            f"{words} is infinite in some trials of {listed(endless)}, so that no mean can be compared: choose another measure "
            "for the verdict ([verdict] measure)."
        )
    return ""


def _of_failures(own: pd.DataFrame, able: list[str]) -> str:
    """Whether failures leave nothing to compare; empty where they do not."""
    if len(able) == 1:
        return f"Of the learners only {able[0]} succeeded, so nothing is compared."
    bad = own[failed(own) & own["learner"].isin(able).to_numpy()]
    if set(bad["dataset"]) == set(own["dataset"]):
        names = listed(bad["learner"].unique().tolist())
        return (
            f"On every data set a learner failed ({names}), so that none is left to judge on: "
            "run these trials again, or declare what a failure counts as ([verdict] failures)."
        )
    return ""
