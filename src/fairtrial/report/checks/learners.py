"""Checks of the learners: tuning on the test part, a baseline to beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.checks.check import Finding, check, named, not_applicable, passed, raised
from fairtrial.report.checks.data import FOLLOWS_THE_LARGEST
from fairtrial.report.checks.kept import (
    estimator_of,
    first_condition,
    judged_by,
    of_predictions_alone,
    section_of,
)
from fairtrial.report.sections.naming import measure_words
from fairtrial.report.sentence import say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.measures.measure import Measure
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

TRIVIAL = ("DummyClassifier",)
"""Classes that learn nothing but the shares of the classes."""


@check(
    "FT007",
    title="Tuning on the test part",
    looks_for="learners of one class that differ only in parameters and are not tuned inside the folds",
    why="Whoever tries several settings on the test parts and goes on with the best has tuned on the test parts: its score is "
    "too good. Parameters that were chosen before the study on the same data cannot be seen at all.",
    remedy="declare one learner with tune = {grid = ...}, which is tuned inside each training part; ignore this where the "
    "settings themselves are what is compared",
    cite="Varma & Simon 2006; Cawley & Talbot 2010",
)
def tuned_on_test(results: Results) -> Finding:
    """Several settings of one class side by side."""
    import pandas as pd

    if of_predictions_alone(results):
        return not_applicable(say("A file of predictions does not tell how the models were tuned."))
    tuned = _tuned(results)
    lines = [(*estimator_of(each), each.name) for each in results.archive.learners if each.name not in tuned]
    groups: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for kind, parameters, name in lines:
        groups.setdefault(kind, []).append((name, parameters))
    found = [(kind, name, _differing(own, place)) for kind, own in groups.items() for place, (name, _) in enumerate(own)]
    frame = pd.DataFrame([line for line in found if line[2]], columns=["class", "learner", "parameters"])
    if not frame.empty:
        words = (
            "{learners} are settings of one class side by side: to pick the best by this report is to tune on the test part."
        )
        return raised(say(words, learners=named(frame["learner"])), frame)
    if tuned:
        words = "{learners} {be} tuned inside each training part. Where parameters set by hand come from cannot be seen."
        return passed(say(words, learners=named(tuned), be="is" if len(tuned) == 1 else "are"))
    return passed(say("No class is there in several settings. Where its parameters come from cannot be seen."))


def _tuned(results: Results) -> list[str]:
    declared = section_of(results, "learners")
    return [str(name) for name, each in declared.items() if isinstance(each, Mapping) and each.get("tune")]


def _differing(group: list[tuple[str, Mapping[str, Any]]], place: int) -> str:
    """The parameters in which the one at this place differs from others of its class; empty where there are none."""
    mine = group[place][1]
    names = dict.fromkeys(name for _, each in group for name in each)
    different = [name for name in names if any(each.get(name) != mine.get(name) for _, each in group)]
    return ", ".join(f"{name}={mine.get(name)!r}" for name in different)


@check(
    "FT020",
    title="Baseline missing or not beaten",
    looks_for="data sets on which no learner beats the trivial classifier, and studies in which that cannot be told: none "
    "is among the learners, and the measure has no known value of guessing",
    why="A difference between two learners means little where neither has learnt anything.",
    remedy='add the learner "sklearn.dummy.DummyClassifier"; look at data sets where nothing is learnt, or leave them out',
    cite="Holte 1993; Japkowicz & Shah 2011",
)
def no_baseline(results: Results) -> Finding:
    """Learners against the one that learns nothing."""
    condition, measure = first_condition(results), judged_by(results)
    wide = results.wide(measure, condition.name, condition.level)
    trivial = [each.name for each in results.archive.learners if estimator_of(each)[0].rpartition(".")[2] in TRIVIAL]
    frame = _beside_baseline(wide, trivial, measure, {each.name: each for each in results.archive.datasets})
    if frame.empty:
        return not_applicable(say("No scores are there to hold against a baseline."))
    if frame["trivial"].isna().all():
        words = "No learner is trivial, and guessing has no fixed value in {measure}: what was learnt at all cannot be told."
        return raised(say(words, measure=measure_words(measure.name)))
    sign = 1 if measure.facts.direction == "max" else -1
    beaten = sign * frame["best"] > sign * frame["trivial"]
    lost = frame[~beaten].reset_index(drop=True)
    source = "the trivial classifier" if trivial else "guessing"
    if lost.empty:
        words = "On every data set some learner beats {source} in {measure}."
        return passed(say(words, source=source, measure=measure_words(measure.name)))
    words = "No learner beats {source} on {sets}: on {first} the best has {best} in {measure}, {source} {trivial}."
    parts = {what: shown(lost, "checks-ft020", 0, what) for what in ("best", "trivial")}
    told = say(
        words,
        source=source,
        sets=named(lost["data set"]),
        first=lost["data set"].iloc[0],
        measure=measure_words(measure.name),
        **parts,
    )
    return raised(told, lost, best="{:.3f}", trivial="{:.3f}")


def _beside_baseline(
    wide: pd.DataFrame, trivial: list[str], measure: Measure, datasets: Mapping[str, DataFacts]
) -> pd.DataFrame:
    """A line for each data set with scores: the best learner, and what the trivial one or guessing has; NaN if not known."""
    import pandas as pd

    best = "max" if measure.facts.direction == "max" else "min"
    others = wide[[name for name in wide.columns if name not in trivial]].dropna(how="all")
    if not others.shape[1]:
        others = others.iloc[:0]
    known = wide.loc[others.index, trivial].agg(best, axis=1) if trivial else None
    lines = []
    for name, scores in others.iterrows():
        value = _guessing(measure, datasets[str(name)]) if known is None else float(known.loc[str(name)])
        place = int(scores.argmax() if best == "max" else scores.argmin())
        lines.append((str(name), str(others.columns[place]), float(scores.iloc[place]), value))
    return pd.DataFrame(lines, columns=["data set", "best learner", "best", "trivial"])


def _guessing(measure: Measure, facts: DataFacts) -> float:
    """What naming always the largest class has in a measure, where that is known without asking anybody."""
    counts = facts.counts[facts.counts > 0]
    if measure.name in FOLLOWS_THE_LARGEST:
        share = float(counts.max() / counts.sum())
        return share if measure.name == "accuracy" else 1 - share
    if measure.name == "balanced_accuracy":
        return 1 / len(counts)
    return np.nan if measure.facts.chance is None else float(measure.facts.chance)
