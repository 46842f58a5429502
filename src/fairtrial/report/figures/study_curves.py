"""Figures of the curves of a study: one curve per learner, for one data set and condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.report.figures import curves
from fairtrial.report.figures.base import GREY, PALE, Frames, build_axis, build_chart, check_frames, encode_colour
from fairtrial.report.figures.curves import compute_roc_band, with_band
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import Selection, count_tested_classes
from fairtrial.study.results.selection import format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

TRIVIAL, TIE = "no better than a trivial classifier", "several alike"
_SELECT = ("dataset", "condition", "level", "learner", "positive", "repeat")
_COLUMNS = ("probability_cost", "expected_cost")
_SAME = 1e-9
_MOST_BANDS = 3


@register_figure("roc", serves=("study", "judgement"), select=_SELECT)
def draw_study_roc(
    results: Results,
    selection: Selection,
    hull: bool = True,
    band: Literal["curve", "points", "none"] | None = None,
    confidence: float = 0.95,
) -> Any:
    """Draw ROC curves with convex hulls and confidence bands.

    By default, bands are drawn for the first repeat if there are at most three learners.
    """
    frames = collect_curve_frames(results, "roc", selection)
    hulls = collect_curve_frames(results, "roc-hull", selection) if hull else None
    chart = curves.draw_roc(frames, hulls, title=_format_title("ROC curve", results, selection))
    kind = band or ("curve" if len(frames) <= _MOST_BANDS and not selection.repeat else "none")
    if kind == "none":
        return chart
    if selection.repeat:
        raise InputError(f"band must be 'none' for a repeat other than the first, got {band!r} for repeat {selection.repeat}")
    facts = _find_drawn_dataset(results, selection)
    label = selection.find_positive(results, facts)
    counts = count_tested_classes(results, facts, selection.find_condition(results), label)
    bands = {name: compute_roc_band(frame, *counts, level=confidence, kind=kind) for name, frame in frames.items()}
    return with_band(chart, bands, frames, level=confidence, simultaneous=kind == "curve")


@register_figure("precision-recall", "pr", serves=("study", "judgement"), select=_SELECT)
def draw_study_precision_recall(results: Results, selection: Selection) -> Any:
    """Draw precision-recall curves."""
    frames = collect_curve_frames(results, "precision-recall", selection)
    return curves.draw_precision_recall(frames, title=_format_title("Precision-recall curve", results, selection))


@register_figure("cost-curve", "cost", serves=("study", "judgement"), select=_SELECT)
def draw_study_cost_curve(results: Results, selection: Selection, lines: bool = False, winners: bool = True) -> Any:
    """Draw cost curves with a strip that shows the best learner. `lines` adds the cost line of each threshold."""
    frames = collect_curve_frames(results, "cost", selection)
    threshold_lines = collect_curve_frames(results, "cost-lines", selection) if lines else None
    chart = curves.draw_cost(frames, threshold_lines, title=_format_title("Cost curve", results, selection))
    return with_winners(chart, find_cost_winners(frames), frames) if winners else chart


@register_figure("brier-curve", "brier", select=_SELECT)
def draw_study_brier_curve(results: Results, selection: Selection) -> Any:
    """Draw Brier curves of learners that predict probabilities."""
    frames = collect_curve_frames(results, "brier", selection)
    return curves.draw_brier(frames, title=_format_title("Brier curve", results, selection))


@register_figure("ks", "kolmogorov-smirnov", serves=("study", "judgement"), select=_SELECT)
def draw_study_ks(results: Results, selection: Selection) -> Any:
    """Draw true and false positive rates against the threshold, in one panel per learner."""
    frames = collect_curve_frames(results, "tpr-fpr", selection)
    return curves.draw_tpr_fpr(frames, title=_format_title("Kolmogorov-Smirnov chart", results, selection))


@register_figure("gain", "lift", select=_SELECT)
def draw_study_gain(results: Results, selection: Selection) -> Any:
    """Draw gain and lift curves."""
    frames = collect_curve_frames(results, "gain", selection)
    return curves.draw_gain(frames, title=_format_title("Gain and lift", results, selection))


@register_figure("calibration", "reliability", serves=("study", "judgement"), select=_SELECT)
def draw_study_calibration(results: Results, selection: Selection) -> Any:
    """Draw calibration curves of learners that predict probabilities."""
    frames = collect_curve_frames(results, "calibration", selection)
    return curves.draw_calibration(frames, title=_format_title("Calibration", results, selection))


def collect_curve_frames(results: Results, kind: str, selection: Selection) -> dict[str, pd.DataFrame]:
    """Collect the curve of each learner. By default, `choose_positive_class` determines the positive class."""
    options = dict(vars(selection))
    datasets = [facts for facts in results.archive.datasets if selection.dataset in (None, facts.name)]
    if selection.positive is None and len(datasets) == 1:
        options["positive"] = {datasets[0].name: selection.find_positive(results, datasets[0])}
    frame = results.curves(kind, **options)
    return {
        str(name): learner_curve.drop(columns="learner").reset_index(drop=True)
        for name, learner_curve in frame.groupby("learner", sort=False, observed=True)
    }


def _format_title(curve_name: str, results: Results, selection: Selection) -> str:
    facts = _find_drawn_dataset(results, selection)
    where = "" if selection.condition is None else f" under {format_condition(selection.find_condition(results))}"
    return f"{curve_name}: {facts.name}, class {selection.find_positive(results, facts)}{where}"


def _find_drawn_dataset(results: Results, selection: Selection) -> DataFacts:
    """Find the data set whose curves were collected."""
    return next(facts for facts in results.archive.datasets if selection.dataset in (None, facts.name))


def find_cost_winners(curves: Frames) -> pd.DataFrame:
    """Find the learner with the lowest expected cost in each range of probability costs.

    Costs are linear between the rows of the curves, so the borders of the ranges are exact.

    Parameters
    ----------
    curves : mapping of str to dataframe
        Curve of each learner, as returned by `cost_curve`.

    Returns
    -------
    pandas.DataFrame
        Columns start, end, winner and learner. `winner` is "learner", "several alike", or "no better than a trivial
        classifier". `learner` is empty unless `winner` is "learner".

    Examples
    --------
    >>> import pandas as pd
    >>> tree = pd.DataFrame({"probability_cost": [0.0, 0.5, 1.0], "expected_cost": [0.0, 0.2, 0.0]})
    >>> bayes = pd.DataFrame({"probability_cost": [0.0, 0.2, 0.6, 1.0], "expected_cost": [0.0, 0.15, 0.15, 0.0]})
    >>> find_cost_winners({"tree": tree, "bayes": bayes})
       start    end   winner learner
    0  0.000  0.375  learner    tree
    1  0.375  1.000  learner   bayes
    """
    import pandas as pd

    finite_curves = {
        name: frame for name, frame in check_frames(curves, _COLUMNS).items() if np.isfinite(frame["expected_cost"]).all()
    }
    names = list(finite_curves)
    costs = [
        (frame["probability_cost"].to_numpy(np.float64), frame["expected_cost"].to_numpy(np.float64))
        for frame in finite_curves.values()
    ]
    lines: list[tuple[float, float, str, str]] = []
    edges = _find_cost_edges(costs)
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        winner, learner = _find_lowest_cost(names, costs, (start + end) / 2)
        if lines and lines[-1][2:] == (winner, learner):
            lines[-1] = (lines[-1][0], end, winner, learner)
        else:
            lines.append((start, end, winner, learner))
    return pd.DataFrame(lines, columns=["start", "end", "winner", "learner"])


def _find_cost_edges(costs: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Collect the probability costs at which curves bend or cross. The lines of the trivial classifiers meet at 0.5."""
    rows = np.unique(np.concatenate([[0.0, 0.5, 1.0], *(x for x, _ in costs)]))
    heights = np.array([*(np.interp(rows, *curve) for curve in costs), np.minimum(rows, 1 - rows)])
    crossings = [rows]
    for first in range(len(heights)):
        gap = heights[first] - heights[first + 1 :]
        left, right = gap[:, :-1], gap[:, 1:]
        crosses = left * right < 0
        fraction = np.divide(left, left - right, out=np.zeros_like(left), where=crosses)
        crossings.append((rows[:-1] + fraction * np.diff(rows))[crosses])
    edges = np.unique(np.concatenate(crossings))
    return np.asarray(edges[np.append(True, np.diff(edges) > _SAME)])


def _find_lowest_cost(names: list[str], costs: list[tuple[FloatArray, FloatArray]], probability_cost: float) -> tuple[str, str]:
    expected_costs = np.array([np.interp(probability_cost, *curve) for curve in costs])
    if not len(expected_costs) or expected_costs.min() >= min(probability_cost, 1 - probability_cost) - _SAME:
        return TRIVIAL, ""
    best = np.flatnonzero(expected_costs <= expected_costs.min() + _SAME)
    return ("learner", names[int(best[0])]) if len(best) == 1 else (TIE, "")


def with_winners(chart: Any, winners: pd.DataFrame, learners: Frames, noun: str = "learner") -> Any:
    """Add a strip at the top of a chart from `draw_cost`. The colour of the strip shows which learner has the lowest cost.

    >>> from fairtrial.measures import cost_curve
    >>> from fairtrial.report.figures.curves import draw_cost
    >>> curves = {"tree": cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])}
    >>> chart = with_winners(draw_cost(curves), find_cost_winners(curves), curves)
    >>> chart.to_dict()["layer"][-1]["mark"]["type"]
    'rect'
    """
    import altair as alt

    x = build_axis("x", "start", "Probability cost of the positive class")
    hint = [
        alt.Tooltip("label:N", title="lowest cost"),
        alt.Tooltip("start:Q", format=".3f"),
        alt.Tooltip("end:Q", format=".3f"),
    ]
    chart = chart.copy(deep=True)
    for kind_shown, shade in (("", PALE), ("learner", None)):
        ranges = winners[(winners["winner"] == "learner") == bool(kind_shown)]
        rows = [
            {"start": start, "end": end, "learner": learner, "label": learner or kind}
            for start, end, kind, learner in ranges.itertuples(index=False, name=None)
        ]
        if rows:
            look: dict[str, Any] = {"color": shade, "stroke": GREY, "strokeWidth": 0.3} if shade else {}
            strip = build_chart(rows).mark_rect(**look)
            positioned_strip = strip.encode(x, x2="end:Q", y=alt.value(-13), y2=alt.value(-3), tooltip=hint)
            chart.layer.append(positioned_strip if shade else positioned_strip.encode(encode_colour(learners)))
    chart.title.subtitle = [*chart.title.subtitle, f"Strip on top: {noun} with the lowest cost. Grey: no single best {noun}"]
    return chart
