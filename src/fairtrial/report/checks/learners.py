"""Checks of the learners: tuning on the test part, a baseline to beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.cache import get_declared_section, get_verdict_measure, has_only_predictions, unwrap_estimator
from fairtrial.report.check import CheckFinding, check, join_unique_names, report_not_applicable, report_passed, report_raised
from fairtrial.report.checks.data import FOLLOWS_THE_LARGEST
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import build_sentence, format_number
from fairtrial.report.selection import get_main_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.measures import Measure
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
def tuned_on_test(results: Results) -> CheckFinding:
    """Several settings of one class side by side."""
    import pandas as pd

    if has_only_predictions(results):
        return report_not_applicable(build_sentence("A file of predictions does not tell how the models were tuned."))
    tuned = _list_tuned_learners(results)
    lines = [(*unwrap_estimator(learner), learner.name) for learner in results.archive.learners if learner.name not in tuned]
    settings_by_class: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for kind, parameters, name in lines:
        settings_by_class.setdefault(kind, []).append((name, parameters))
    candidates = [
        (kind, name, _format_differing_parameters(settings, index))
        for kind, settings in settings_by_class.items()
        for index, (name, _) in enumerate(settings)
    ]
    frame = pd.DataFrame([line for line in candidates if line[2]], columns=["class", "learner", "parameters"])
    if not frame.empty:
        template = (
            "{learners} are settings of one class side by side: to pick the best by this report is to tune on the test part."
        )
        return report_raised(build_sentence(template, learners=join_unique_names(frame["learner"])), frame)
    if tuned:
        template = "{learners} {be} tuned inside each training part. Where parameters set by hand come from cannot be seen."
        return report_passed(build_sentence(template, learners=join_unique_names(tuned), be="is" if len(tuned) == 1 else "are"))
    return report_passed(
        build_sentence("No class is there in several settings. Where its parameters come from cannot be seen.")
    )


def _list_tuned_learners(results: Results) -> list[str]:
    declared = get_declared_section(results, "learners")
    return [str(name) for name, declaration in declared.items() if isinstance(declaration, Mapping) and declaration.get("tune")]


def _format_differing_parameters(settings: list[tuple[str, Mapping[str, Any]]], index: int) -> str:
    """The parameters in which the one at this place differs from others of its class; empty where there are none."""
    parameters = settings[index][1]
    names = dict.fromkeys(name for _, setting in settings for name in setting)
    different = [name for name in names if any(setting.get(name) != parameters.get(name) for _, setting in settings)]
    return ", ".join(f"{name}={parameters.get(name)!r}" for name in different)


@check(
    "FT020",
    title="Baseline missing or not beaten",
    looks_for="data sets on which no learner beats the trivial classifier, and studies in which that cannot be told: none "
    "is among the learners, and the measure has no known value of guessing",
    why="A difference between two learners means little where neither has learnt anything.",
    remedy='add the learner "sklearn.dummy.DummyClassifier"; look at data sets where nothing is learnt, or leave them out',
    cite="Holte 1993; Japkowicz & Shah 2011",
)
def no_baseline(results: Results) -> CheckFinding:
    """Learners against the one that learns nothing."""
    condition, measure = get_main_condition(results), get_verdict_measure(results)
    wide = results.wide(measure, condition.name, condition.level)
    trivial = [
        learner.name for learner in results.archive.learners if unwrap_estimator(learner)[0].rpartition(".")[2] in TRIVIAL
    ]
    frame = _compare_with_baseline(wide, trivial, measure, {dataset.name: dataset for dataset in results.archive.datasets})
    if frame.empty:
        return report_not_applicable(build_sentence("No scores are there to hold against a baseline."))
    if frame["trivial"].isna().all():
        template = "No learner is trivial, and guessing has no fixed value in {measure}: what was learnt at all cannot be told."
        return report_raised(build_sentence(template, measure=format_measure_name(measure.name)))
    sign = 1 if measure.facts.direction == "max" else -1
    beaten = sign * frame["best"] > sign * frame["trivial"]
    lost = frame[~beaten].reset_index(drop=True)
    source = "the trivial classifier" if trivial else "guessing"
    if lost.empty:
        template = "On every data set some learner beats {source} in {measure}."
        return report_passed(build_sentence(template, source=source, measure=format_measure_name(measure.name)))
    template = "No learner beats {source} on {sets}: on {first} the best has {best} in {measure}, {source} {trivial}."
    parts = {column: format_number(lost, "checks-ft020", 0, column) for column in ("best", "trivial")}
    sentence = build_sentence(
        template,
        source=source,
        sets=join_unique_names(lost["data set"]),
        first=lost["data set"].iloc[0],
        measure=format_measure_name(measure.name),
        **parts,
    )
    return report_raised(sentence, lost, best="{:.3f}", trivial="{:.3f}")


def _compare_with_baseline(
    wide: pd.DataFrame, trivial: list[str], measure: Measure, datasets: Mapping[str, DataFacts]
) -> pd.DataFrame:
    """A line for each data set with scores: the best learner, and what the trivial one or guessing has; NaN if not known."""
    import pandas as pd

    best = "max" if measure.facts.direction == "max" else "min"
    others = wide[[name for name in wide.columns if name not in trivial]].dropna(how="all")
    if not others.shape[1]:
        others = others.iloc[:0]
    trivial_scores = wide.loc[others.index, trivial].agg(best, axis=1) if trivial else None
    lines = []
    for name, scores in others.iterrows():
        value = (
            _compute_guessing_score(measure, datasets[str(name)])
            if trivial_scores is None
            else float(trivial_scores.loc[str(name)])
        )
        best_index = int(scores.argmax() if best == "max" else scores.argmin())
        lines.append((str(name), str(others.columns[best_index]), float(scores.iloc[best_index]), value))
    return pd.DataFrame(lines, columns=["data set", "best learner", "best", "trivial"])


def _compute_guessing_score(measure: Measure, facts: DataFacts) -> float:
    """What naming always the largest class has in a measure, where that is known without asking anybody."""
    counts = facts.counts[facts.counts > 0]
    if measure.name in FOLLOWS_THE_LARGEST:
        proportion = float(counts.max() / counts.sum())
        return proportion if measure.name == "accuracy" else 1 - proportion
    if measure.name == "balanced_accuracy":
        return 1 / len(counts)
    return np.nan if measure.facts.chance is None else float(measure.facts.chance)
