"""Compute verdicts and read the declared settings of a study for sections and checks.

Verdicts and rankings are cached, because they take a long time to compute.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from fairtrial._text import join_names
from fairtrial.errors import FairtrialError, InputError, UndefinedMeasureWarning
from fairtrial.measures import Measure, get_measure
from fairtrial.report.means import compute_scores
from fairtrial.report.names import format_measure_name, get_verdict_measure_name
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
    """Return the value that is cached for these results under a key.

    If there is no such value, compute and cache it.
    """
    entries = _cache.setdefault(results, {})
    if key not in entries:
        entries[key] = compute()
    value: T = entries[key]
    return value


def compute_verdict(
    results: Results, measure: str | None = None, condition: ConditionFacts | None = None
) -> tuple[Verdict | None, str]:
    """Compute the verdict on a measure under a condition.

    Return the verdict and an empty string, or None and the reason why there is no verdict. By default, use the study's verdict
    measure and the main condition.
    """
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
    """Explain why there is no verdict. If no other explanation applies, return the error message."""
    trials = results.trials()
    condition_trials = trials[mask_condition(trials, condition)].astype({"learner": str, "dataset": str})
    good = condition_trials["status"] == "ok"
    succeeded = condition_trials.loc[good, "learner"].unique().tolist()
    if not succeeded:
        waiting = bool((condition_trials["status"] == "missing").all())
        return f"No trial {'has run' if waiting else 'succeeded'}, so there is no verdict."
    if len(results.archive.learners) == 1:
        return "There is only one learner, so there is no comparison."
    return _explain_by_values(results, measure, condition) or _explain_by_failures(condition_trials, succeeded) or str(error)


def _explain_by_values(results: Results, measure: str, condition: ConditionFacts) -> str:
    """Explain why the values of a measure cannot be compared.

    Return an empty string if the values can be compared.
    """
    scores, _ = compute_scores(results, [measure])
    condition_scores = scores[mask_condition(scores, condition)] if len(scores) else scores
    values, measure_text = condition_scores["value"].to_numpy(dtype=np.float64), format_measure_name(measure)
    if np.isnan(values).all():
        return f"No trial has a value for {measure_text}, so there is no verdict."
    infinite = condition_scores.loc[np.isinf(values), "learner"].astype(str).unique().tolist()
    if infinite:
        return (
            f"There is no verdict because {measure_text} is infinite in some trials of {join_names(infinite)}. Choose another "
            "measure for the verdict ([verdict] measure)."
        )
    return ""


def _explain_by_failures(condition_trials: pd.DataFrame, succeeded: list[str]) -> str:
    """Explain why failed trials make a comparison impossible.

    Return an empty string if a comparison is possible.
    """
    if len(succeeded) == 1:
        return f"Only {succeeded[0]} succeeded, so there is no comparison."
    bad = condition_trials[mask_failed(condition_trials) & condition_trials["learner"].isin(succeeded).to_numpy()]
    if set(bad["dataset"]) == set(condition_trials["dataset"]):
        names = join_names(bad["learner"].unique().tolist())
        return (
            f"There is no verdict because a learner failed on every data set ({names}). Rerun the failed trials, or declare "
            f"how "
            "to score failures ([verdict] failures)."
        )
    return ""


def get_declared_section(results: Results, section: str) -> Mapping[str, Any]:
    """Get a section of the study's declaration. Return an empty mapping if the section is not declared."""
    declared = results.archive.declaration.get(section)
    return declared if isinstance(declared, Mapping) else {}


def get_verdict_measure(results: Results) -> Measure:
    """Get the measure of the study's verdict."""
    return get_measure(get_verdict_measure_name(results))


def select_condition(frame: pd.DataFrame, condition: ConditionFacts) -> pd.DataFrame:
    """Select the rows of a frame for one condition."""
    return frame[mask_condition(frame, condition)]


def unwrap_estimator(learner: LearnerFacts) -> tuple[str, Mapping[str, Any]]:
    """Get the class and the parameters of a learner's estimator, excluding preprocessing."""
    inner = learner.parameters.get("learner")
    if isinstance(inner, Mapping) and "class" in inner:
        return str(inner["class"]), dict(inner.get("parameters") or {})
    return learner.class_name, learner.parameters


def has_only_predictions(results: Results) -> bool:
    """Return whether the results come from a predictions file."""
    return all(not learner.class_name for learner in results.archive.learners)


def get_resampling_scheme(results: Results) -> str:
    """Get the name of the declared resampling scheme, or an empty string if none is declared."""
    return str(get_declared_section(results, "resampling").get("scheme", ""))


def select_best_learners(results: Results, count: int) -> list[str]:
    """Select the `count` learners with the best mean ranks.

    The ranks are computed for the verdict measure under the main condition. The selected learners are listed in the
    order of the study.
    """
    names = [learner.name for learner in results.archive.learners]
    if len(names) <= count:
        return names
    best = get_cached(results, "best learners", lambda: _rank_learners(results, names))[:count]
    return [name for name in names if name in set(best)]


def _rank_learners(results: Results, names: list[str]) -> list[str]:
    condition, measure = get_main_condition(results), get_verdict_measure(results)
    try:
        table = results.wide(measure, condition.name, condition.level)
    except InputError:
        return names
    ranks = table.rank(axis=1, ascending=measure.facts.direction == "min").mean()
    return list(map(str, ranks.sort_values(kind="stable").index))
