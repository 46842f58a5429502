"""What sections and checks ask of the results of a study: the verdict, the declaration, the learners; computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from fairtrial.errors import FairtrialError, UndefinedMeasureWarning
from fairtrial.measures import Measure, get_measure
from fairtrial.report.means import compute_scores
from fairtrial.report.names import format_measure_name, get_verdict_measure_name, join_names
from fairtrial.report.selection import get_main_condition
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import mask_condition, mask_failed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results
    from fairtrial.study.archive import LearnerFacts


T = TypeVar("T")
_cache: WeakKeyDictionary[Results, dict[Any, Any]] = WeakKeyDictionary()


def get_cached(results: Results, key: object, compute: Callable[[], T]) -> T:
    """What was computed for these results under this key, or is now."""
    entries = _cache.setdefault(results, {})
    if key not in entries:
        entries[key] = compute()
    value: T = entries[key]
    return value


def compute_verdict(
    results: Results, measure: str | None = None, condition: ConditionFacts | None = None
) -> tuple[Verdict | None, str]:
    """The verdict, by default the study's own on the main condition; or None and why there is none."""
    condition_facts = condition or get_main_condition(results)

    def compute() -> tuple[Verdict | None, str]:
        try:
            with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
                return results.verdict(measure, condition=condition_facts.name, level=condition_facts.level), ""
        except FairtrialError as error:
            return None, _explain_missing_verdict(results, name, condition_facts, error)

    name = get_verdict_measure(results).name if measure is None else get_measure(measure).name
    return get_cached(results, ("verdict", name, condition_facts.name, condition_facts.level), compute)


def _explain_missing_verdict(results: Results, measure: str, condition: ConditionFacts, error: FairtrialError) -> str:
    """Say in a sentence why there is no verdict; that of the error if nothing plainer is known."""
    trials = results.trials()
    condition_trials = trials[mask_condition(trials, condition)].astype({"learner": str, "dataset": str})
    good = condition_trials["status"] == "ok"
    succeeded = condition_trials.loc[good, "learner"].unique().tolist()
    if not succeeded:
        waiting = bool((condition_trials["status"] == "missing").all())
        return f"No trial {'has run' if waiting else 'succeeded'}, so there is nothing to judge."
    if len(results.archive.learners) == 1:
        return "There is one learner, so nothing is compared."
    return _explain_by_values(results, measure, condition) or _explain_by_failures(condition_trials, succeeded) or str(error)


def _explain_by_values(results: Results, measure: str, condition: ConditionFacts) -> str:
    """What stands against the values of the measure; empty where nothing does."""
    scores, _ = compute_scores(results, [measure])
    condition_scores = scores[mask_condition(scores, condition)] if len(scores) else scores
    values, measure_text = condition_scores["value"].to_numpy(dtype=np.float64), format_measure_name(measure)
    if np.isnan(values).all():
        return f"No trial has a value of {measure_text}, so there is nothing to judge."
    infinite = condition_scores.loc[np.isinf(values), "learner"].astype(str).unique().tolist()
    if infinite:
        return (
            f"{measure_text} is infinite in some trials of {join_names(infinite)}, so that no mean can be compared: "
            "choose another measure for the verdict ([verdict] measure)."
        )
    return ""


def _explain_by_failures(condition_trials: pd.DataFrame, succeeded: list[str]) -> str:
    """Whether failures leave nothing to compare; empty where they do not."""
    if len(succeeded) == 1:
        return f"Of the learners only {succeeded[0]} succeeded, so nothing is compared."
    bad = condition_trials[mask_failed(condition_trials) & condition_trials["learner"].isin(succeeded).to_numpy()]
    if set(bad["dataset"]) == set(condition_trials["dataset"]):
        names = join_names(bad["learner"].unique().tolist())
        return (
            f"On every data set a learner failed ({names}), so that none is left to judge on: "
            "run these trials again, or declare what a failure counts as ([verdict] failures)."
        )
    return ""


def get_declared_section(results: Results, section: str) -> Mapping[str, Any]:
    """A section of what the study declares; empty where there is none."""
    declared = results.archive.declaration.get(section)
    return declared if isinstance(declared, Mapping) else {}


def get_verdict_measure(results: Results) -> Measure:
    """The measure that the study is judged by."""
    return get_measure(get_verdict_measure_name(results))


def select_condition(frame: pd.DataFrame, condition: ConditionFacts) -> pd.DataFrame:
    """The lines of a frame that are of this condition."""
    return frame[mask_condition(frame, condition)]


def unwrap_estimator(learner: LearnerFacts) -> tuple[str, Mapping[str, Any]]:
    """The class that learns, and its parameters, without the preparation around it."""
    inner = learner.parameters.get("learner")
    if isinstance(inner, Mapping) and "class" in inner:
        return str(inner["class"]), dict(inner.get("parameters") or {})
    return learner.class_name, learner.parameters


def has_only_predictions(results: Results) -> bool:
    """Whether nothing is known but predictions: models of a file have no class."""
    return all(not learner.class_name for learner in results.archive.learners)


def get_resampling_scheme(results: Results) -> str:
    """The scheme of resampling that is declared; empty where none is."""
    return str(get_declared_section(results, "resampling").get("scheme", ""))
