"""Checks of the learners: tuning on the test set, and data sets on which no learner beats a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtrial.report.cache import get_declared_section, get_verdict_measure, has_only_predictions, unwrap_estimator
from fairtrial.report.check import CheckAnswer, check, list_unique, report_not_applicable, report_passed, report_raised
from fairtrial.report.names import format_measure_name
from fairtrial.report.selection import get_main_condition
from fairtrial.significance.methodology import MAJORITY_SENSITIVE

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.measures import Measure
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

TRIVIAL = ("DummyClassifier",)
"""Estimator classes that learn only the class proportions."""


@check(
    "FT007",
    title="Tuning on the test set",
    looks_for="learners of the same Python class that differ only in their parameters and are not tuned inside the folds",
    why="Choosing the best of several settings by test score amounts to tuning on the test set, so the score of the chosen "
    "setting is optimistic. The check cannot detect parameters that were chosen on the same data before the study.",
    remedy="declare one learner with tune = {grid = ...}, which is tuned inside each training set; ignore this check if you "
    "want to compare the settings themselves",
    cite="Varma & Simon 2006; Cawley & Talbot 2010",
    texts={
        "not applicable": "a prediction file does not record how the models were tuned.",
        "passed": "no learner class is used with more than one parameter setting.",
        "tuned": "{learners} {learners:is} tuned inside each training set.",
        "raised": (
            "{learners} differ only in their parameters: choosing the best one by test score amounts to tuning on the test set."
        ),
    },
    affects_answer=True,
)
def check_tuning(source: ReportSource) -> CheckAnswer:
    """Check for several parameter settings of one estimator class."""
    import pandas as pd

    results = source.get_results()
    if has_only_predictions(results):
        return report_not_applicable()
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
        return report_raised(details=frame, learners=list_unique(frame["learner"]))
    return report_passed("tuned", learners=tuple(tuned)) if tuned else report_passed()


def _list_tuned_learners(results: Results) -> list[str]:
    declared = get_declared_section(results, "learners")
    return [str(name) for name, declaration in declared.items() if isinstance(declaration, Mapping) and declaration.get("tune")]


def _format_differing_parameters(settings: list[tuple[str, Mapping[str, Any]]], index: int) -> str:
    """Format the parameters in which a learner differs from others of its class.

    Return an empty string if there are no such parameters.
    """
    parameters = settings[index][1]
    names = dict.fromkeys(name for _, setting in settings for name in setting)
    different = [name for name in names if any(setting.get(name) != parameters.get(name) for _, setting in settings)]
    return ", ".join(f"{name}={parameters.get(name)!r}" for name in different)


@check(
    "FT020",
    title="Baseline missing or not beaten",
    looks_for="data sets on which no learner beats the trivial classifier; studies that have neither a trivial classifier nor "
    "a measure with a known chance level",
    why="A difference between two learners means little if neither beats a trivial classifier.",
    remedy='add the learner "sklearn.dummy.DummyClassifier"; inspect or leave out data sets on which no learner beats it',
    cite="Holte 1993; Japkowicz & Shah 2011",
    texts={
        "not applicable": "there are no scores to compare with a baseline.",
        "no baseline": (
            "the study has no trivial classifier, and {measure} has no known chance level, so it is unknown whether the "
            "learners beat chance."
        ),
        "passed": "on every data set, at least one learner beats {baseline} in {measure}.",
        "raised": (
            "no learner beats {baseline} on {datasets}. On {worst}, the best {measure} is {best:.3f}, compared with "
            "{trivial:.3f} for {baseline}."
        ),
    },
)
def check_baseline(source: ReportSource) -> CheckAnswer:
    """Check that learners beat a trivial classifier."""
    results = source.get_results()
    condition, measure = get_main_condition(results), get_verdict_measure(results)
    wide = results.wide(measure, condition.name, condition.level)
    trivial = [
        learner.name for learner in results.archive.learners if unwrap_estimator(learner)[0].rpartition(".")[2] in TRIVIAL
    ]
    frame = _compare_with_baseline(wide, trivial, measure, {dataset.name: dataset for dataset in results.archive.datasets})
    if frame.empty:
        return report_not_applicable()
    name = format_measure_name(measure.name)
    if frame["trivial"].isna().all():
        return report_raised("no baseline", measure=name)
    sign = 1 if measure.facts.direction == "max" else -1
    is_beaten = sign * frame["best"] > sign * frame["trivial"]
    lost = frame[~is_beaten].reset_index(drop=True)
    baseline = "the trivial classifier" if trivial else "chance"
    if lost.empty:
        return report_passed(baseline=baseline, measure=name)
    return report_raised(
        details=lost,
        formats={"best": "{:.3f}", "trivial": "{:.3f}"},
        baseline=baseline,
        datasets=list_unique(lost["data set"]),
        worst=lost["data set"].iloc[0],
        measure=name,
        best=float(lost["best"].iloc[0]),
        trivial=float(lost["trivial"].iloc[0]),
    )


def _compare_with_baseline(
    wide: pd.DataFrame, trivial: list[str], measure: Measure, datasets: Mapping[str, DataFacts]
) -> pd.DataFrame:
    """Find the best learner on each data set, and compare its score with that of a baseline.

    The baseline is the trivial classifier or, if the study has none, guessing. Unknown scores of the baseline are NaN.
    """
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
    """Compute the chance level of a measure on a data set. Return NaN if the chance level is unknown.

    For accuracy and error rate, the chance level is the score of always predicting the largest class.
    """
    counts = facts.counts[facts.counts > 0]
    if measure.name in MAJORITY_SENSITIVE:
        proportion = float(counts.max() / counts.sum())
        return proportion if measure.name == "accuracy" else 1 - proportion
    return measure.facts.get_chance(len(counts))
