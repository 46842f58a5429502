"""What several checks ask of results, computed once for each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from fairtrial.errors import FairtrialError, UndefinedMeasureWarning
from fairtrial.measures import Measure, get_measure
from fairtrial.report.means import compute_scores
from fairtrial.report.names import find_main_condition, format_measure_name, get_verdict_measure_name, join_names
from fairtrial.report.selection import match_condition
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import mask_failed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results
    from fairtrial.study.archive import LearnerFacts


def explain_missing_verdict(results: Results, measure: str, condition: ConditionFacts, error: FairtrialError) -> str:
    """A sentence; that of the error where nothing plainer is known."""
    trials = results.trials()
    condition_trials = trials[match_condition(trials, condition)].astype({"learner": str, "dataset": str})
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
    condition_scores = scores[match_condition(scores, condition)] if len(scores) else scores
    values, measure_text = condition_scores["value"].to_numpy(dtype=np.float64), format_measure_name(measure)
    if np.isnan(values).all():
        return f"No trial has a value of {measure_text}, so there is nothing to judge."
    infinite = condition_scores.loc[np.isinf(values), "learner"].astype(str).unique().tolist()
    if infinite:
        return (
            f"{measure_text} is infinite in some trials of {join_names(infinite)}, so that no mean can be compared: choose another measure "
            "for the verdict ([verdict] measure)."
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


T = TypeVar("T")


RANDOM_SCHEMES = ("holdout", "subsampling", "bootstrap")


"""Schemes that draw each test part afresh: they do not promise to test every row."""


_cache: WeakKeyDictionary[Results, dict[Any, Any]] = WeakKeyDictionary()


def get_cached(results: Results, key: object, compute: Callable[[], T]) -> T:
    """What was computed for these results under this key, or is now."""
    entries = _cache.setdefault(results, {})
    if key not in entries:
        entries[key] = compute()
    value: T = entries[key]
    return value


def ignore_undefined() -> warnings.catch_warnings[None]:
    """Without warnings of undefined measures: checks say so themselves."""
    return warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning)


def get_declared_section(results: Results, section: str) -> Mapping[str, Any]:
    """A section of what the study declares; empty where there is none."""
    declared = results.archive.declaration.get(section)
    return declared if isinstance(declared, Mapping) else {}


def get_verdict_measure(results: Results) -> Measure:
    """The measure that the study is judged by."""
    return get_measure(get_verdict_measure_name(results))


def get_first_condition(results: Results) -> ConditionFacts:
    """The condition without a change; the first one where the study has none."""
    return find_main_condition(results.archive.conditions)


def select_condition(frame: pd.DataFrame, condition: ConditionFacts) -> pd.DataFrame:
    """The lines of a frame that are of this condition."""
    return frame[match_condition(frame, condition)]


def compute_verdict(
    results: Results, measure: str | None = None, condition: ConditionFacts | None = None
) -> tuple[Verdict | None, str]:
    """The verdict, by default the study's own on the main condition; or None and why there is none."""
    condition_facts = condition or get_first_condition(results)

    def compute() -> tuple[Verdict | None, str]:
        try:
            with ignore_undefined():
                return results.verdict(measure, condition=condition_facts.name, level=condition_facts.level), ""
        except FairtrialError as error:
            return None, explain_missing_verdict(results, name, condition_facts, error)

    name = get_verdict_measure(results).name if measure is None else get_measure(measure).name
    return get_cached(results, ("verdict", name, condition_facts.name, condition_facts.level), compute)


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


def build_split_lines(results: Results) -> pd.DataFrame:
    """A line for each split: its rows, and how many stand in both parts."""
    return get_cached(results, "splits", lambda: _tabulate_splits(results))[0]


def build_test_count_lines(results: Results) -> pd.DataFrame:
    """A line for each data set: rows, rows never tested, and the least and most times that a row is tested."""
    return get_cached(results, "splits", lambda: _tabulate_splits(results))[1]


def _tabulate_splits(results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One reading of all splits for both tables."""
    import pandas as pd

    trials, archive = results.trials(), results.archive
    splits, tested = [], []
    for facts in archive.datasets:
        fold_keys = trials.loc[trials["dataset"] == facts.name, ["repeat", "fold"]].drop_duplicates()
        test_counts = np.zeros(len(facts.codes), dtype=np.intp)
        for repeat, fold in fold_keys.itertuples(index=False, name=None):
            train, test = archive.split(facts.name, repeat, fold)
            test_counts += np.bincount(test, minlength=len(test_counts))
            in_training = np.zeros(len(test_counts), dtype=bool)
            in_training[train] = True
            splits.append((facts.name, repeat, fold, int(in_training.sum()), len(test), int(in_training[test].sum())))
        if len(fold_keys):
            tested.append(
                (facts.name, len(test_counts), int((test_counts == 0).sum()), int(test_counts.min()), int(test_counts.max()))
            )
    first = pd.DataFrame(splits, columns=["data set", "repeat", "fold", "training rows", "test rows", "in both"])
    second = pd.DataFrame(tested, columns=["data set", "rows", "never tested", "least", "most"])
    return first, second


def find_score_kinds(results: Results) -> pd.DataFrame:
    """What each learner gives beside labels (probability, decision or none), read off one trial; none ran: no line."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        trials = results.trials()
        good = trials[trials["status"] == "ok"].drop_duplicates("learner")
        kinds = [
            trial_predictions.score_kind or "none" for trial_predictions in results.archive.predictions(good["trial"].tolist())
        ]
        return pd.DataFrame({"learner": good["learner"].astype(str).to_numpy(), "gives": kinds})

    return get_cached(results, "kinds", compute)


def find_unsupported_measures(results: Results) -> pd.DataFrame:
    """Learners and declared measures that need scores or probabilities which the learner does not give."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        enough = {"scores": ("probability", "decision"), "probabilities": ("probability",)}
        declared = [get_measure(name) for name in dict.fromkeys([*results.measures, get_verdict_measure(results).name])]
        lines = [
            (learner, gives, measure.name, measure.facts.needs)
            for learner, gives in find_score_kinds(results).itertuples(index=False, name=None)
            for measure in declared
            if measure.facts.needs in enough and gives not in enough[measure.facts.needs]
        ]
        return pd.DataFrame(lines, columns=["learner", "gives", "measure", "needs"])

    return get_cached(results, "lacking", compute)
