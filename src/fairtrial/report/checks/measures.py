"""Checks of the measures: what learners do not give, what folds do not define, what a single number hides."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.measures.measure import get_measure
from fairtrial.report.checks.check import Finding, check, named, not_applicable, passed, raised
from fairtrial.report.checks.kept import first_condition, quietly, score_kinds, under, without_what_it_needs
from fairtrial.report.sections.naming import measure_words
from fairtrial.report.sentence import say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

CROSSED = 0.01
"""Area by which each of two ROC curves must lie above the other: the size of differences that papers report in AUC."""
AREAS = ("auc", "gini", "hand_till")
"""Measures that are the area under the whole curve."""
MISCALIBRATED = 0.1
"""Expected calibration error: forecasts are off by ten points on average."""
JUDGE_FORECASTS = ("brier", "rmse", "mae", "log_loss", "information_score", "spherical_score", "calibration_error")
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
def crossing_curves(results: Results) -> Finding:
    """Curves of which neither dominates."""
    if not any(get_measure(name).name in AREAS for name in results.measures):
        return not_applicable(say("No area under the ROC curve is declared."))
    two = [each.name for each in results.archive.datasets if int((each.counts > 0).sum()) == 2]
    if not two or len(results.archive.learners) < 2:
        return not_applicable(say("There are no two learners with a ROC curve on one data set of two classes."))
    import pandas as pd

    lines = [line for name in two for line in _crossings(results, name)]
    if not lines:
        return passed(say("On no data set of two classes do ROC curves cross by more than a trifle."))
    frame = pd.DataFrame(lines, columns=["data set", "first", "second", "area of the first above", "area of the second above"])
    worst = int(frame[["area of the first above", "area of the second above"]].min(axis=1).argmax())
    words = say(
        "ROC curves cross on {sets}: on {worst} that of {first} lies above that of {second} by an area of {above}, and "
        "below it by {below}.",
        sets=named(frame["data set"]),
        worst=frame["data set"].iloc[worst],
        first=frame["first"].iloc[worst],
        second=frame["second"].iloc[worst],
        above=shown(frame, "checks-ft010", worst, "area of the first above"),
        below=shown(frame, "checks-ft010", worst, "area of the second above"),
    )
    return raised(words, frame, **{"area of the first above": "{:.3f}", "area of the second above": "{:.3f}"})


def _crossings(results: Results, dataset: str) -> list[tuple[str, str, str, float, float]]:
    condition = first_condition(results)
    try:
        with quietly():
            curves = results.curves("roc", dataset=dataset, condition=condition.name, level=condition.level)
    except InputError:  # no learner has a curve here
        return []
    points = {
        str(name): own[["fpr", "tpr"]].to_numpy(dtype=np.float64)
        for name, own in curves.groupby("learner", sort=False)
        if np.isfinite(own[["fpr", "tpr"]].to_numpy(dtype=np.float64)).all()
    }
    counts = next(each.counts for each in results.archive.datasets if each.name == dataset)
    few, many = sorted(int(each) for each in counts if each > 0)
    chance = {name: standard_error(float(np.trapezoid(own[:, 1], own[:, 0])), few, many) for name, own in points.items()}
    found = [(dataset, a, b, *areas_between(points[a], points[b])) for a, b in combinations(points, 2)]
    return [line for line in found if min(line[3:]) >= max(CROSSED, chance[line[1]], chance[line[2]])]


def standard_error(auc: float, positives: int, negatives: int) -> float:
    """Of an AUC of so many cases, by Hanley and McNeil's formula.

    >>> round(standard_error(0.5, 10, 10), 4)
    0.1323
    """
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (first - auc**2) + (negatives - 1) * (second - auc**2)
    return float(np.sqrt(max(spread, 0.0) / (positives * negatives)))


def areas_between(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """The areas by which the first curve lies above the second, and the second above the first.

    Curves are points (x, y) in order, joined by straight lines; steps straight up are allowed.

    >>> diagonal, step = np.array([[0.0, 0], [1, 1]]), np.array([[0.0, 0], [0, 0.5], [1, 0.5], [1, 1]])
    >>> areas_between(diagonal, step)
    (0.125, 0.125)
    """
    x = np.unique(np.concatenate([first[:, 0], second[:, 0]]))
    # Between two neighbouring places both curves are straight: their heights just right of one and just left of the next.
    begin = _height(first, x[:-1], "right") - _height(second, x[:-1], "right")
    end = _height(first, x[1:], "left") - _height(second, x[1:], "left")
    width, mean = np.diff(x), (begin + end) / 2
    size = np.abs(begin) + np.abs(end)
    apart = np.divide(begin**2 + end**2, 2 * size, out=np.zeros_like(size), where=size > 0)  # both triangles of a crossing
    whole = np.where(begin * end < 0, apart, np.abs(mean))
    above = float((width * (whole + mean)).sum() / 2)
    below = float((width * (whole - mean)).sum() / 2)
    return above, below


def _height(curve: FloatArray, x: FloatArray, side: str) -> FloatArray:
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
def without_scores(results: Results) -> Finding:
    """Measures that a learner cannot have."""
    frame = without_what_it_needs(results)
    if score_kinds(results).empty:
        return not_applicable(say("No trial has predictions."))
    if frame.empty:
        return passed(say("Every learner gives what the declared measures need."))
    words = say(
        "{learners} {do} not give what {measures} {need}.",
        learners=named(frame["learner"]),
        do="does" if frame["learner"].nunique() == 1 else "do",
        measures=named(measure_words(name) for name in frame["measure"]),
        need="needs" if frame["measure"].nunique() == 1 else "need",
    )
    return raised(words, frame)


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
def uncalibrated(results: Results) -> Finding:
    """Probabilities that are off without anybody looking."""
    judging = [name for name in results.measures if get_measure(name).name in JUDGE_FORECASTS]
    if judging:
        return passed(say("The declared measure {measure} judges the probabilities.", measure=measure_words(judging[0])))
    if "probability" not in set(score_kinds(results)["gives"]):
        return not_applicable(say("No learner gives probabilities."))
    frame = _calibration(results)
    bad = frame[frame["calibration error"] >= MISCALIBRATED].reset_index(drop=True)
    if bad.empty:
        return passed(say("No measure of probabilities is declared, but none of them are far off."))
    worst = int(bad["calibration error"].argmax())
    words = say(
        "Probabilities of {learners} are badly calibrated and no declared measure shows it: those of {worst} are off by "
        "{error} on average.",
        learners=named(bad["learner"]),
        worst=bad["learner"].iloc[worst],
        error=shown(bad, "checks-ft014", worst, "calibration error"),
    )
    return raised(words, bad, **{"calibration error": "{:.3f}"})


def _calibration(results: Results) -> pd.DataFrame:
    """Of the pooled test rows of a repeat, which are many enough for bins; the mean over repeats and data sets."""
    with quietly():
        scores = under(results.scores("calibration_error", pooled=True), first_condition(results))
    sets = scores.groupby(["learner", "dataset"], sort=False, observed=True)["value"].mean()
    found = sets.groupby("learner", sort=False, observed=True).agg(["mean", "count"]).reset_index().astype({"learner": str})
    return found.rename(columns={"mean": "calibration error", "count": "data sets"})


@check(
    "FT021",
    title="Measures undefined in many folds",
    looks_for=f"learners and declared measures without a value in {UNDEFINED:.0%} or more of the trials that went well",
    why="A mean over the folds that have a value is a mean over easier folds, or over other ones for each learner.",
    remedy="take fewer folds, pool the test rows of a repeat (scores(..., pooled=True)), or choose a measure that is "
    "defined there",
    cite="Forman & Scholz 2010",
)
def undefined_often(results: Results) -> Finding:
    """Scores that do not exist though the trial went well."""
    lacking = without_what_it_needs(results)
    never = set(zip(lacking["learner"], lacking["measure"], strict=True))  # FT013 tells of these
    scores = results.frame()
    good = scores[scores["status"] == "ok"].astype({"learner": str})
    if good.empty:
        return not_applicable(say("No trial has predictions."))
    holes = good.assign(hole=good["value"].isna()).groupby(["measure", "learner"], sort=False)["hole"].agg(["sum", "size"])
    frame = holes.reset_index().rename(columns={"sum": "undefined", "size": "trials"})
    frame["share"] = frame["undefined"] / frame["trials"]
    own = [pair not in never for pair in zip(frame["learner"], frame["measure"], strict=True)]
    frame = frame[np.array(own) & (frame["share"] >= UNDEFINED).to_numpy()].reset_index(drop=True)
    if frame.empty:
        return passed(say("The declared measures are defined in all trials that went well, or in nearly all."))
    worst = int(frame["share"].argmax())
    words = say(
        "{measures} {be} undefined in many trials: {measure} of {learner} in {holes} of {trials}.",
        measures=named(measure_words(name) for name in frame["measure"]),
        be="is" if frame["measure"].nunique() == 1 else "are",
        measure=measure_words(frame["measure"].iloc[worst]),
        learner=frame["learner"].iloc[worst],
        holes=shown(frame, "checks-ft021", worst, "undefined", "{:d}"),
        trials=shown(frame, "checks-ft021", worst, "trials", "{:d}"),
    )
    return raised(words, frame, share="{:.2f}")
