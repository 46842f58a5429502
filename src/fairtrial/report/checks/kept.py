"""What several checks ask of results, computed once for each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from fairtrial.errors import FairtrialError, UndefinedMeasureWarning
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.report.places import lines_of
from fairtrial.report.sections.naming import judged_measure, main_condition
from fairtrial.report.sections.no_verdict import why_none

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts, LearnerFacts

T = TypeVar("T")
DRAWN = ("holdout", "subsampling", "bootstrap")
"""Schemes that draw each test part afresh: they do not promise to test every row."""
_kept: WeakKeyDictionary[Results, dict[Any, Any]] = WeakKeyDictionary()


def once(results: Results, key: object, compute: Callable[[], T]) -> T:
    """What was computed for these results under this key, or is now."""
    own = _kept.setdefault(results, {})
    if key not in own:
        own[key] = compute()
    found: T = own[key]
    return found


def quietly() -> warnings.catch_warnings[None]:
    """Without warnings of undefined measures: checks say so themselves."""
    return warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning)


def section_of(results: Results, section: str) -> Mapping[str, Any]:
    """A section of what the study declares; empty where there is none."""
    found = results.archive.declaration.get(section)
    return found if isinstance(found, Mapping) else {}


def judged_by(results: Results) -> Measure:
    """The measure that the study is judged by."""
    return get_measure(judged_measure(results))


def first_condition(results: Results) -> ConditionFacts:
    """The condition without a change; the first one where the study has none."""
    return main_condition(results.archive.conditions)


def under(frame: pd.DataFrame, condition: ConditionFacts) -> pd.DataFrame:
    """The lines of a frame that are of this condition."""
    return frame[lines_of(frame, condition)]


def verdict_of(
    results: Results, measure: str | None = None, condition: ConditionFacts | None = None
) -> tuple[Verdict | None, str]:
    """The verdict, by default the study's own on the main condition; or None and why there is none."""
    where = condition or first_condition(results)

    def compute() -> tuple[Verdict | None, str]:
        try:
            with quietly():
                return results.verdict(measure, condition=where.name, level=where.level), ""
        except FairtrialError as error:
            return None, why_none(results, name, where, error)

    name = judged_by(results).name if measure is None else get_measure(measure).name
    return once(results, ("verdict", name, where.name, where.level), compute)


def estimator_of(learner: LearnerFacts) -> tuple[str, Mapping[str, Any]]:
    """The class that learns, and its parameters, without the preparation around it."""
    inner = learner.parameters.get("learner")
    if isinstance(inner, Mapping) and "class" in inner:
        return str(inner["class"]), dict(inner.get("parameters") or {})
    return learner.class_name, learner.parameters


def of_predictions_alone(results: Results) -> bool:
    """Whether nothing is known but predictions: models of a file have no class."""
    return all(not each.class_name for each in results.archive.learners)


def scheme_of(results: Results) -> str:
    """The scheme of resampling that is declared; empty where none is."""
    return str(section_of(results, "resampling").get("scheme", ""))


def split_lines(results: Results) -> pd.DataFrame:
    """A line for each split: its rows, and how many stand in both parts."""
    return once(results, "splits", lambda: _splits(results))[0]


def tested_lines(results: Results) -> pd.DataFrame:
    """A line for each data set: rows, rows never tested, and the least and most times that a row is tested."""
    return once(results, "splits", lambda: _splits(results))[1]


def _splits(results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One reading of all splits for both tables."""
    import pandas as pd

    trials, archive = results.trials(), results.archive
    splits, tested = [], []
    for facts in archive.datasets:
        own = trials.loc[trials["dataset"] == facts.name, ["repeat", "fold"]].drop_duplicates()
        times = np.zeros(len(facts.codes), dtype=np.intp)
        for repeat, fold in own.itertuples(index=False, name=None):
            train, test = archive.split(facts.name, repeat, fold)
            times += np.bincount(test, minlength=len(times))
            taught = np.zeros(len(times), dtype=bool)
            taught[train] = True
            splits.append((facts.name, repeat, fold, int(taught.sum()), len(test), int(taught[test].sum())))
        if len(own):
            tested.append((facts.name, len(times), int((times == 0).sum()), int(times.min()), int(times.max())))
    first = pd.DataFrame(splits, columns=["data set", "repeat", "fold", "training rows", "test rows", "in both"])
    second = pd.DataFrame(tested, columns=["data set", "rows", "never tested", "least", "most"])
    return first, second


def score_kinds(results: Results) -> pd.DataFrame:
    """What each learner gives beside labels (probability, decision or none), read off one trial; none ran: no line."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        trials = results.trials()
        good = trials[trials["status"] == "ok"].drop_duplicates("learner")
        kinds = [one.score_kind or "none" for one in results.archive.predictions(good["trial"].tolist())]
        return pd.DataFrame({"learner": good["learner"].astype(str).to_numpy(), "gives": kinds})

    return once(results, "kinds", compute)


def without_what_it_needs(results: Results) -> pd.DataFrame:
    """Learners and declared measures that need scores or probabilities which the learner does not give."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        enough = {"scores": ("probability", "decision"), "probabilities": ("probability",)}
        declared = [get_measure(name) for name in dict.fromkeys([*results.measures, judged_by(results).name])]
        lines = [
            (learner, gives, one.name, one.facts.needs)
            for learner, gives in score_kinds(results).itertuples(index=False, name=None)
            for one in declared
            if one.facts.needs in enough and gives not in enough[one.facts.needs]
        ]
        return pd.DataFrame(lines, columns=["learner", "gives", "measure", "needs"])

    return once(results, "lacking", compute)
