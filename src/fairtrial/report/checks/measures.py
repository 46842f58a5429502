"""Checks of the measures: what learners do not give, what folds do not define, what a single number hides."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import get_measure
from fairtrial.report.cache import get_cached, get_verdict_measure, select_condition
from fairtrial.report.check import CheckFinding, check, join_unique_names, report_not_applicable, report_passed, report_raised
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import build_sentence, format_number
from fairtrial.report.selection import get_main_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

CROSSED = 0.01
"""Area by which each of two ROC curves must lie above the other: the size of differences that papers report in AUC."""
AREAS = ("auc", "gini", "hand_till")
"""Measures that are the area under the whole curve."""
MISCALIBRATED = 0.1
"""Expected calibration error: forecasts are off by ten points on average."""
PROBABILITY_MEASURES = ("brier", "rmse", "mae", "log_loss", "information_score", "spherical_score", "calibration_error")
UNDEFINED = 0.1
"""Share of the trials of a learner without a value: from here on the mean is over other folds than the study's."""


@check(
    "FT010",
    title="ROC curves that cross",
    looks_for=f"pairs of learners on two-class data sets whose ROC curves each lie above the other by an area of {CROSSED:g} "
    "or more, and by more than the standard error of AUC, where AUC is declared",
    why="AUC averages over all thresholds. Where curves cross, which learner is better depends on costs and class shares, "
    "and AUC hides it.",
    remedy="look at the curves and the cost curves; choose h_measure, partial_auc or the costs of the application",
    cite="Hand 2009; Provost & Fawcett 2001; Drummond & Holte 2006; Hanley & McNeil 1982",
)
def crossing_curves(results: Results) -> CheckFinding:
    """Curves of which neither dominates."""
    if not any(get_measure(name).name in AREAS for name in results.measures):
        return report_not_applicable(build_sentence("No area under the ROC curve is declared."))
    binary_datasets = [dataset.name for dataset in results.archive.datasets if int((dataset.counts > 0).sum()) == 2]
    if not binary_datasets or len(results.archive.learners) < 2:
        return report_not_applicable(
            build_sentence("There are no two learners with a ROC curve on one data set of two classes.")
        )
    import pandas as pd

    lines = [line for name in binary_datasets for line in _find_crossings(results, name)]
    if not lines:
        return report_passed(build_sentence("On no data set of two classes do ROC curves cross by more than a trifle."))
    frame = pd.DataFrame(lines, columns=["data set", "first", "second", "area of the first above", "area of the second above"])
    worst = int(frame[["area of the first above", "area of the second above"]].min(axis=1).argmax())
    sentence = build_sentence(
        "ROC curves cross on {sets}: on {worst} that of {first} lies above that of {second} by an area of {above}, and "
        "below it by {below}.",
        sets=join_unique_names(frame["data set"]),
        worst=frame["data set"].iloc[worst],
        first=frame["first"].iloc[worst],
        second=frame["second"].iloc[worst],
        above=format_number(frame, "checks-ft010", worst, "area of the first above"),
        below=format_number(frame, "checks-ft010", worst, "area of the second above"),
    )
    return report_raised(sentence, frame, **{"area of the first above": "{:.3f}", "area of the second above": "{:.3f}"})


def _find_crossings(results: Results, dataset: str) -> list[tuple[str, str, str, float, float]]:
    condition = get_main_condition(results)
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            curves = results.curves("roc", dataset=dataset, condition=condition.name, level=condition.level)
    except InputError:  # no learner has a curve here
        return []
    points = {
        str(name): learner_curve[["fpr", "tpr"]].to_numpy(dtype=np.float64)
        for name, learner_curve in curves.groupby("learner", sort=False)
        if np.isfinite(learner_curve[["fpr", "tpr"]].to_numpy(dtype=np.float64)).all()
    }
    counts = next(dataset_facts.counts for dataset_facts in results.archive.datasets if dataset_facts.name == dataset)
    few, many = sorted(int(count) for count in counts if count > 0)
    standard_errors = {
        name: compute_standard_error(float(np.trapezoid(curve[:, 1], curve[:, 0])), few, many) for name, curve in points.items()
    }
    crossings = [(dataset, a, b, *compute_areas_between(points[a], points[b])) for a, b in combinations(points, 2)]
    return [line for line in crossings if min(line[3:]) >= max(CROSSED, standard_errors[line[1]], standard_errors[line[2]])]


def compute_standard_error(auc: float, positives: int, negatives: int) -> float:
    """Of an AUC of so many cases, by Hanley and McNeil's formula.

    >>> round(compute_standard_error(0.5, 10, 10), 4)
    0.1323
    """
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (first - auc**2) + (negatives - 1) * (second - auc**2)
    return float(np.sqrt(max(spread, 0.0) / (positives * negatives)))


def compute_areas_between(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """The areas by which the first curve lies above the second, and the second above the first.

    Curves are points (x, y) in order, joined by straight lines; steps straight up are allowed.

    >>> diagonal, step = np.array([[0.0, 0], [1, 1]]), np.array([[0.0, 0], [0, 0.5], [1, 0.5], [1, 1]])
    >>> compute_areas_between(diagonal, step)
    (0.125, 0.125)
    """
    x = np.unique(np.concatenate([first[:, 0], second[:, 0]]))
    # Between two neighbouring places both curves are straight: their heights just right of one and just left of the next.
    begin = _interpolate_height(first, x[:-1], "right") - _interpolate_height(second, x[:-1], "right")
    end = _interpolate_height(first, x[1:], "left") - _interpolate_height(second, x[1:], "left")
    width, mean = np.diff(x), (begin + end) / 2
    size = np.abs(begin) + np.abs(end)
    apart = np.divide(begin**2 + end**2, 2 * size, out=np.zeros_like(size), where=size > 0)  # both triangles of a crossing
    whole = np.where(begin * end < 0, apart, np.abs(mean))
    above = float((width * (whole + mean)).sum() / 2)
    below = float((width * (whole - mean)).sum() / 2)
    return above, below


def _interpolate_height(curve: FloatArray, x: FloatArray, side: str) -> FloatArray:
    """The height just right or just left of places; at a step straight up these differ."""
    xs, ys = curve[:, 0], curve[:, 1]
    if side == "right":
        near = np.searchsorted(xs, x, side="right") - 1
        far = np.minimum(near + 1, len(xs) - 1)
    else:
        near = np.searchsorted(xs, x, side="left")
        far = np.maximum(near - 1, 0)
    gap = xs[far] - xs[near]
    slope = np.divide(ys[far] - ys[near], gap, out=np.zeros_like(gap), where=gap != 0)
    return np.asarray(ys[near] + slope * (x - xs[near]))


@check(
    "FT013",
    title="Learners without the scores that a measure needs",
    looks_for="learners that give no scores (or no probabilities) while a measure that needs them is declared",
    why="The learner has no value in that measure: it is left out of rankings and verdicts on it, or the verdict is on "
    "fewer learners than the reader thinks.",
    remedy="give the learner probabilities (probability=True, CalibratedClassifierCV), or judge by a measure of labels",
    cite="Fawcett 2006",
)
def without_scores(results: Results) -> CheckFinding:
    """Measures that a learner cannot have."""
    frame = find_unsupported_measures(results)
    if find_score_kinds(results).empty:
        return report_not_applicable(build_sentence("No trial has predictions."))
    if frame.empty:
        return report_passed(build_sentence("Every learner gives what the declared measures need."))
    sentence = build_sentence(
        "{learners} {do} not give what {measures} {need}.",
        learners=join_unique_names(frame["learner"]),
        do="does" if frame["learner"].nunique() == 1 else "do",
        measures=join_unique_names(format_measure_name(name) for name in frame["measure"]),
        need="needs" if frame["measure"].nunique() == 1 else "need",
    )
    return report_raised(sentence, frame)


@check(
    "FT014",
    title="Badly calibrated probabilities that no measure judges",
    looks_for=f"learners with an expected calibration error of {MISCALIBRATED:g} or more on average over data sets, while "
    "no measure of probabilities is declared",
    why="Labels and ranks can be good while the probabilities are far off: whoever takes them as chances, for costs or "
    "for other thresholds, decides wrongly.",
    remedy="declare brier or log_loss, and calibrate the learner (CalibratedClassifierCV)",
    cite="Niculescu-Mizil & Caruana 2005; Guo et al. 2017",
)
def uncalibrated(results: Results) -> CheckFinding:
    """Probabilities that are off without anybody looking."""
    judging = [name for name in results.measures if get_measure(name).name in PROBABILITY_MEASURES]
    if judging:
        return report_passed(
            build_sentence("The declared measure {measure} judges the probabilities.", measure=format_measure_name(judging[0]))
        )
    if "probability" not in set(find_score_kinds(results)["gives"]):
        return report_not_applicable(build_sentence("No learner gives probabilities."))
    frame = _compute_calibration_errors(results)
    bad = frame[frame["calibration error"] >= MISCALIBRATED].reset_index(drop=True)
    if bad.empty:
        return report_passed(build_sentence("No measure of probabilities is declared, but none of them are far off."))
    worst = int(bad["calibration error"].argmax())
    sentence = build_sentence(
        "Probabilities of {learners} are badly calibrated and no declared measure shows it: those of {worst} are off by "
        "{error} on average.",
        learners=join_unique_names(bad["learner"]),
        worst=bad["learner"].iloc[worst],
        error=format_number(bad, "checks-ft014", worst, "calibration error"),
    )
    return report_raised(sentence, bad, **{"calibration error": "{:.3f}"})


def _compute_calibration_errors(results: Results) -> pd.DataFrame:
    """Of the pooled test rows of a repeat, which are many enough for bins; the mean over repeats and data sets."""
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        scores = select_condition(results.scores("calibration_error", pooled=True), get_main_condition(results))
    sets = scores.groupby(["learner", "dataset"], sort=False, observed=True)["value"].mean()
    errors = sets.groupby("learner", sort=False, observed=True).agg(["mean", "count"]).reset_index().astype({"learner": str})
    return errors.rename(columns={"mean": "calibration error", "count": "data sets"})


@check(
    "FT021",
    title="Measures undefined in many folds",
    looks_for=f"learners and declared measures without a value in {UNDEFINED:.0%} or more of the trials that went well",
    why="A mean over the folds that have a value is a mean over easier folds, or over other ones for each learner.",
    remedy="take fewer folds, pool the test rows of a repeat (scores(..., pooled=True)), or choose a measure that is "
    "defined there",
    cite="Forman & Scholz 2010",
)
def undefined_often(results: Results) -> CheckFinding:
    """Scores that do not exist though the trial went well."""
    unsupported = find_unsupported_measures(results)
    unsupported_pairs = set(zip(unsupported["learner"], unsupported["measure"], strict=True))  # FT013 tells of these
    scores = results.frame()
    good = scores[scores["status"] == "ok"].astype({"learner": str})
    if good.empty:
        return report_not_applicable(build_sentence("No trial has predictions."))
    undefined_counts = (
        good.assign(hole=good["value"].isna()).groupby(["measure", "learner"], sort=False)["hole"].agg(["sum", "size"])
    )
    frame = undefined_counts.reset_index().rename(columns={"sum": "undefined", "size": "trials"})
    frame["proportion"] = frame["undefined"] / frame["trials"]
    supported = [pair not in unsupported_pairs for pair in zip(frame["learner"], frame["measure"], strict=True)]
    frame = frame[np.array(supported) & (frame["proportion"] >= UNDEFINED).to_numpy()].reset_index(drop=True)
    if frame.empty:
        return report_passed(
            build_sentence("The declared measures are defined in all trials that went well, or in nearly all.")
        )
    worst = int(frame["proportion"].argmax())
    sentence = build_sentence(
        "{measures} {be} undefined in many trials: {measure} of {learner} in {holes} of {trials}.",
        measures=join_unique_names(format_measure_name(name) for name in frame["measure"]),
        be="is" if frame["measure"].nunique() == 1 else "are",
        measure=format_measure_name(frame["measure"].iloc[worst]),
        learner=frame["learner"].iloc[worst],
        holes=format_number(frame, "checks-ft021", worst, "undefined", "{:d}"),
        trials=format_number(frame, "checks-ft021", worst, "trials", "{:d}"),
    )
    return report_raised(sentence, frame, proportion="{:.2f}")


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
