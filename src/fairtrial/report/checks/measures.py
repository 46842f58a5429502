"""Checks of the measures: crossing ROC curves, missing scores, poor calibration, and undefined values."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import get_measure
from fairtrial.report.cache import get_cached, get_verdict_measure, select_best_learners, select_condition
from fairtrial.report.check import CheckAnswer, check, list_unique, report_not_applicable, report_passed, report_raised
from fairtrial.report.names import format_measure_name
from fairtrial.report.selection import get_main_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

CROSSED = 0.01
"""Minimum area by which each of two ROC curves must lie above the other. Papers report AUC differences of this size."""
AREAS = ("auc", "gini", "hand_till")
"""Measures that are computed from the area under the whole ROC curve."""
MISCALIBRATED = 0.1
"""Threshold for the expected calibration error: an average deviation of ten percentage points."""
PROBABILITY_MEASURES = (
    "brier",
    "rmse",
    "mae",
    "log_loss",
    "information_score",
    "spherical_score",
    "calibration_error",
    "probabilistic_auc",
)
MOST_CURVES = 20
"""Maximum number of learners whose curves are compared with each other."""
UNDEFINED = 0.1
"""Threshold for the proportion of a learner's successful trials in which a measure is undefined."""


@check(
    "FT010",
    title="ROC curves that cross",
    looks_for="ROC curves that cross on two-class data sets, if AUC is a declared measure. The check compares all pairs of "
    f"the {MOST_CURVES} best learners. Each curve of a pair must lie above the other by an area of at least {CROSSED:g}, and "
    "the area must not be smaller than the standard error of either AUC",
    why="AUC averages over all thresholds. If two curves cross, the costs and the class proportions determine which learner is "
    "better, and AUC hides this.",
    remedy="inspect the ROC curves and cost curves; use the H-measure, the partial AUC or the costs of the application",
    cite="Hand 2009; Provost & Fawcett 2001; Drummond & Holte 2006; Hanley & McNeil 1982",
    texts={
        "no area": "no declared measure is based on the area under the ROC curve.",
        "no curves": "the study has no two-class data set, or only one learner.",
        "passed": "ROC curves do not cross by a relevant area on any two-class data set.",
        "raised": (
            "ROC curves cross on {datasets}. On {worst}, the curve of {first} lies above that of {second} by an area of "
            "{above:.3f}, and below it by {below:.3f}."
        ),
    },
)
def check_crossing_curves(source: ReportSource) -> CheckAnswer:
    """Check for pairs of ROC curves in which neither curve dominates the other."""
    results = source.get_results()
    if not any(get_measure(name).name in AREAS for name in results.measures):
        return report_not_applicable("no area")
    binary_datasets = [dataset.name for dataset in results.archive.datasets if int((dataset.counts > 0).sum()) == 2]
    if not binary_datasets or len(results.archive.learners) < 2:
        return report_not_applicable("no curves")
    import pandas as pd

    lines = [line for name in binary_datasets for line in _find_crossings(results, name)]
    if not lines:
        return report_passed()
    above, below = "area of the first above", "area of the second above"
    frame = pd.DataFrame(lines, columns=["data set", "first", "second", above, below])
    worst = frame.iloc[int(frame[[above, below]].min(axis=1).argmax())]
    return report_raised(
        details=frame,
        formats={above: "{:.3f}", below: "{:.3f}"},
        datasets=list_unique(frame["data set"]),
        worst=worst["data set"],
        first=worst["first"],
        second=worst["second"],
        above=float(worst[above]),
        below=float(worst[below]),
    )


def _find_crossings(results: Results, dataset: str) -> list[tuple[str, str, str, float, float]]:
    condition, learners = get_main_condition(results), select_best_learners(results, MOST_CURVES)
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            curves = results.curves("roc", dataset=dataset, condition=condition.name, level=condition.level, learner=learners)
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
    """Compute the standard error of an AUC with the formula of Hanley and McNeil.

    >>> round(compute_standard_error(0.5, 10, 10), 4)
    0.1323
    """
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (first - auc**2) + (negatives - 1) * (second - auc**2)
    return float(np.sqrt(max(spread, 0.0) / (positives * negatives)))


def compute_areas_between(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Compute the area by which the first curve lies above the second, and the area by which it lies below.

    Curves are ordered points (x, y) joined by straight lines. Vertical steps are allowed.

    >>> diagonal, step = np.array([[0.0, 0], [1, 1]]), np.array([[0.0, 0], [0, 0.5], [1, 0.5], [1, 1]])
    >>> compute_areas_between(diagonal, step)
    (0.125, 0.125)
    """
    x = np.unique(np.concatenate([first[:, 0], second[:, 0]]))
    # Between neighbouring values of x, both curves are straight lines. Use their heights just inside the ends of each line.
    begin = _interpolate_height(first, x[:-1], "right") - _interpolate_height(second, x[:-1], "right")
    end = _interpolate_height(first, x[1:], "left") - _interpolate_height(second, x[1:], "left")
    width, mean = np.diff(x), (begin + end) / 2
    size = np.abs(begin) + np.abs(end)
    apart = np.divide(begin**2 + end**2, 2 * size, out=np.zeros_like(size), where=size > 0)  # both triangles if curves cross
    whole = np.where(begin * end < 0, apart, np.abs(mean))
    above = float((width * (whole + mean)).sum() / 2)
    below = float((width * (whole - mean)).sum() / 2)
    return above, below


def _interpolate_height(curve: FloatArray, x: FloatArray, side: str) -> FloatArray:
    """Interpolate the height of a curve just to the right or left of x. The two heights differ at a vertical step."""
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
    looks_for="learners that provide no scores (or no probabilities) although a declared measure needs them",
    why="Such a measure is undefined for the learner, so rankings and verdicts on this measure exclude the learner.",
    remedy="let the learner predict probabilities (probability=True, CalibratedClassifierCV), or use a measure of predicted "
    "labels",
    cite="Fawcett 2006",
    texts={
        "not applicable": "no trial has predictions.",
        "passed": "every learner provides the predictions that the declared measures need.",
        "raised one": "{learners} {learners:does} not provide the scores or probabilities that {measures} needs.",
        "raised many": "{learners} {learners:does} not provide the scores or probabilities that {measures} need.",
    },
)
def check_scores(source: ReportSource) -> CheckAnswer:
    """Check for measures that cannot be computed for a learner."""
    results = source.get_results()
    frame = find_unsupported_measures(results)
    if find_score_kinds(results).empty:
        return report_not_applicable()
    if frame.empty:
        return report_passed()
    measures = list_unique(map(format_measure_name, frame["measure"]))
    text = "raised one" if len(measures) == 1 else "raised many"
    return report_raised(text, details=frame, learners=list_unique(frame["learner"]), measures=measures)


@check(
    "FT014",
    title="Badly calibrated probabilities that no measure evaluates",
    looks_for=f"learners with a mean expected calibration error of at least {MISCALIBRATED:g}, if no declared measure "
    "evaluates probabilities",
    why="Predicted labels and rankings can be good even if the probabilities are far from the observed frequencies. Decisions "
    "based on the probabilities, e.g. with costs or a different threshold, can then be wrong.",
    remedy="declare the Brier score or log loss as a measure, and calibrate the learner (CalibratedClassifierCV)",
    cite="Niculescu-Mizil & Caruana 2005; Guo et al. 2017",
    texts={
        "judged": "the declared measure {measure} evaluates the probabilities.",
        "not applicable": "no learner predicts probabilities.",
        "passed": "no declared measure evaluates probabilities, but the probabilities are well calibrated.",
        "raised": (
            "the probabilities of {learners} are badly calibrated, but no declared measure shows this. Those of {worst} are "
            "off by {error:.3f} on average."
        ),
    },
)
def check_calibration(source: ReportSource) -> CheckAnswer:
    """Check for badly calibrated probabilities if no measure of probabilities is declared."""
    results = source.get_results()
    judging = [name for name in results.measures if get_measure(name).name in PROBABILITY_MEASURES]
    if judging:
        return report_passed("judged", measure=format_measure_name(judging[0]))
    if "probability" not in set(find_score_kinds(results)["gives"]):
        return report_not_applicable()
    frame = _compute_calibration_errors(results)
    bad = frame[frame["calibration error"] >= MISCALIBRATED].reset_index(drop=True)
    if bad.empty:
        return report_passed()
    worst = bad.iloc[int(bad["calibration error"].argmax())]
    return report_raised(
        details=bad,
        formats={"calibration error": "{:.3f}"},
        learners=list_unique(bad["learner"]),
        worst=worst["learner"],
        error=float(worst["calibration error"]),
    )


def _compute_calibration_errors(results: Results) -> pd.DataFrame:
    """Compute the mean calibration error of each learner over repeats and data sets. Test rows are pooled in each repeat."""
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        scores = select_condition(results.scores("calibration_error", pooled=True), get_main_condition(results))
    sets = scores.groupby(["learner", "dataset"], sort=False, observed=True)["value"].mean()
    errors = sets.groupby("learner", sort=False, observed=True).agg(["mean", "count"]).reset_index().astype({"learner": str})
    return errors.rename(columns={"mean": "calibration error", "count": "data sets"})


@check(
    "FT021",
    title="Measures undefined in many folds",
    looks_for=f"declared measures that are undefined for a learner in {100 * UNDEFINED:.0f} % or more of its successful trials",
    why="The mean then excludes some folds. The remaining folds may be easier, or may differ between learners.",
    remedy="use fewer folds, pool the test rows of a repeat (scores(..., pooled=True)), or choose a measure that is always "
    "defined",
    cite="Forman & Scholz 2010",
    texts={
        "not applicable": "no trial has predictions.",
        "passed": "the declared measures are defined in all or nearly all successful trials.",
        "raised": (
            "{measures} {measures:is} undefined in many trials: for {learner}, {measure} is undefined in {undefined} of "
            "{trials:count trial}."
        ),
    },
)
def check_undefined(source: ReportSource) -> CheckAnswer:
    """Check for measures that are undefined in successful trials."""
    results = source.get_results()
    unsupported = find_unsupported_measures(results)
    unsupported_pairs = set(zip(unsupported["learner"], unsupported["measure"], strict=True))  # FT013 reports these pairs
    scores = results.frame()[["measure", "learner", "status", "value"]]
    good = scores[scores["status"] == "ok"]
    if good.empty:
        return report_not_applicable()
    undefined = good["value"].isna().groupby([good["measure"], good["learner"]], sort=False, observed=True)
    frame = undefined.agg(["sum", "size"]).reset_index().astype({"measure": str, "learner": str})
    frame = frame.rename(columns={"sum": "undefined", "size": "trials"})
    frame["proportion"] = frame["undefined"] / frame["trials"]
    supported = [pair not in unsupported_pairs for pair in zip(frame["learner"], frame["measure"], strict=True)]
    frame = frame[np.array(supported) & (frame["proportion"] >= UNDEFINED).to_numpy()].reset_index(drop=True)
    if frame.empty:
        return report_passed()
    worst = frame.iloc[int(frame["proportion"].argmax())]
    return report_raised(
        details=frame,
        formats={"proportion": "{:.2f}"},
        measures=list_unique(map(format_measure_name, frame["measure"])),
        measure=format_measure_name(worst["measure"]),
        learner=worst["learner"],
        undefined=int(worst["undefined"]),
        trials=int(worst["trials"]),
    )


def find_score_kinds(results: Results) -> pd.DataFrame:
    """Find the kind of scores that each learner provides: probability, decision or none.

    Only one successful trial of each learner is read.
    """

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
    """Find the learners that do not provide the scores or probabilities that a declared measure needs."""

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
