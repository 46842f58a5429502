"""Figures of curves by name: of one data set under one condition, a curve for each learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.report.figures import curves
from fairtrial.report.figures.base import GREY, PALE, Frames, build_axis, build_chart, check_frames, encode_colour
from fairtrial.report.figures.curves import compute_roc_band, with_band
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import get_main_condition, match_condition, name_condition
from fairtrial.study.archive import ConditionFacts, DataFacts

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_SAME = 1e-9


TRIVIAL, TIE = "no better than a trivial classifier", "several alike"


def find_cost_winners(curves: Frames) -> pd.DataFrame:
    """Ranges of the probability cost with the learner of least expected cost: start, end, who, learner.

    `curves` are those of `cost_curve` by learner. `who` is "learner", "several alike", or "no better than a trivial classifier"
    where calling everything negative or everything positive costs as little; `learner` is empty there. Costs are straight
    between the rows of curves, so that borders are exact.

    >>> import pandas as pd
    >>> one = pd.DataFrame({"probability_cost": [0.0, 0.5, 1.0], "expected_cost": [0.0, 0.2, 0.0]})
    >>> other = pd.DataFrame({"probability_cost": [0.0, 0.2, 0.6, 1.0], "expected_cost": [0.0, 0.15, 0.15, 0.0]})
    >>> find_cost_winners({"tree": one, "bayes": other})
       start    end      who learner
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
        who, learner = _find_lowest_cost(names, costs, (start + end) / 2)
        if lines and lines[-1][2:] == (who, learner):
            lines[-1] = (lines[-1][0], end, who, learner)
        else:
            lines.append((start, end, who, learner))
    return pd.DataFrame(lines, columns=["start", "end", "winner", "learner"])


_COLUMNS = ("probability_cost", "expected_cost")


def _find_cost_edges(costs: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """All rows of all curves, and where two of them cross between rows; the trivial lines have their corner at a half."""
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


def compute_winning_fractions(winners: pd.DataFrame) -> pd.Series[float]:
    """For each learner that wins somewhere, the share of the range of probability costs on which it does."""
    won_ranges = winners[winners["who"] == "learner"]
    return (won_ranges["end"] - won_ranges["start"]).groupby(won_ranges["learner"], sort=False).sum()


def with_winners(chart: Any, winners: pd.DataFrame, learners: Frames) -> Any:
    """The chart of `draw_cost` with a strip on top that has the colour of the learner that wins there.

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
        alt.Tooltip("label:N", title="least cost"),
        alt.Tooltip("start:Q", format=".3f"),
        alt.Tooltip("end:Q", format=".3f"),
    ]
    chart = chart.copy(deep=True)
    for who, shade in (("", PALE), ("learner", None)):
        ranges = winners[(winners["who"] == "learner") == bool(who)]
        rows = [
            {"start": start, "end": end, "learner": learner, "told": learner or kind}
            for start, end, kind, learner in ranges.itertuples(index=False, name=None)
        ]
        if rows:
            look: dict[str, Any] = {"color": shade, "stroke": GREY, "strokeWidth": 0.3} if shade else {}
            strip = build_chart(rows).mark_rect(**look)
            positioned_strip = strip.encode(x, x2="end:Q", y=alt.value(-13), y2=alt.value(-3), tooltip=hint)
            chart.layer.append(positioned_strip if shade else positioned_strip.encode(encode_colour(learners)))
    chart.title.subtitle = [*chart.title.subtitle, "Strip on top: who has the least cost there. Grey: nobody alone"]
    return chart


def choose_positive_class(results: Results, facts: DataFacts) -> Any:
    """The class that curves are about: the declared one; of two the second in sorted order; of more the rarest that occurs."""
    declared = results.archive.declaration.get("data")
    dataset_declaration = declared.get(facts.name) if isinstance(declared, Mapping) else None
    declared_positive = dataset_declaration.get("positive") if isinstance(dataset_declaration, Mapping) else None
    if declared_positive is not None and declared_positive in facts.classes:
        return declared_positive
    counts = facts.counts
    occurring = [index for index in range(len(facts.classes)) if counts[index]]
    if len(occurring) > 2:
        return facts.classes[min(occurring, key=lambda index: counts[index])]
    names = [facts.classes[index] for index in (occurring if len(occurring) > 1 else range(len(facts.classes)))]
    return _sort_if_comparable(names)[min(1, len(names) - 1)]


def _sort_if_comparable(names: list[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return names


def collect_curve_frames(
    results: Results,
    kind: str,
    *,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: str | Sequence[str] | None = None,
    positive: object = None,
    repeat: int | None = None,
) -> dict[str, pd.DataFrame]:
    """The curves of `results.curves` as a frame for each learner; with several classes the rarest stands against the rest."""
    facts = [dataset_facts for dataset_facts in results.archive.datasets if dataset in (None, dataset_facts.name)]
    if positive is None and len(facts) == 1:
        positive = {facts[0].name: choose_positive_class(results, facts[0])}
    frame = results.curves(
        kind, dataset=dataset, condition=condition, level=level, learner=learner, positive=positive, repeat=repeat
    )
    return {
        str(name): learner_curve.drop(columns="learner").reset_index(drop=True)
        for name, learner_curve in frame.groupby("learner", sort=False, observed=True)
    }


def reduce_curve_points(frames: Frames, columns: Sequence[str], *, most: int = 160, peak: str = "") -> dict[str, pd.DataFrame]:
    """Frames with only the first of the points in a row that fall on one place of a grid, the last of all, and the peak.

    The grid is as fine as about `most` points allow, so that a page of many figures stays small. `columns` are those that are
    drawn; `peak` names one of which the row farthest from 0 must stay.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0.0, 0.0004, 0.0005, 0.5, 1.0]})
    >>> reduce_curve_points({"tree": frame}, ["x"])["tree"]["x"].tolist()
    [0.0, 0.5, 1.0]
    """
    reduced = {}
    for name, frame in frames.items():
        visible = _find_visible_points(frame[list(columns)].to_numpy(np.float64), most)
        visible[-1] = True
        if peak:
            visible[int(np.argmax(np.abs(frame[peak].to_numpy(np.float64))))] = True
        reduced[name] = frame[visible].round(dict.fromkeys(columns, 4)).reset_index(drop=True)
    return reduced


def _find_visible_points(points: FloatArray, most: int) -> npt.NDArray[np.bool_]:
    """The first points on each place of the finest grid that keeps no more than `most` of them."""
    span = np.ptp(points, axis=0)
    positions = (points - points[0]) / np.where(span > 0, span, 1)
    grid = 400.0
    while True:
        visible = np.append(True, (np.diff(np.round(positions * grid), axis=0) != 0).any(axis=1))
        if visible.sum() <= most or grid < 10:
            return visible
        grid *= 0.8


def count_tested_classes(results: Results, facts: DataFacts, condition: ConditionFacts, positive: object) -> tuple[int, int]:
    """How many rows of the class and of the rest were tested in the first repeat, under this condition."""
    trials = results.trials()
    selected_trials = trials[
        (trials["dataset"] == facts.name) & (trials["status"] == "ok") & match_condition(trials, condition)
    ]
    first = selected_trials[selected_trials["repeat"] == selected_trials["repeat"].min()].drop_duplicates("fold")
    label = list(facts.classes).index(positive)
    y_true = [trial_predictions.y_true for trial_predictions in results.archive.predictions(first["trial"].tolist())]
    n_positive = int(sum((labels == label).sum() for labels in y_true))
    return n_positive, int(sum(map(len, y_true))) - n_positive


if TYPE_CHECKING:
    Learners = str | Sequence[str] | None


_MOST_BANDS = 3


@register_figure("roc")
def draw_study_roc(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
    hull: bool = True,
    band: Literal["curve", "points", "none"] | None = None,
    confidence: float = 0.95,
) -> Any:
    """ROC curves with their hulls; bands by default for up to three learners, of the first repeat."""
    selection: dict[str, Any] = {
        "dataset": dataset,
        "condition": condition,
        "level": level,
        "learner": learner,
        "repeat": repeat,
    }
    frames = collect_curve_frames(results, "roc", positive=positive, **selection)
    hulls = collect_curve_frames(results, "roc-hull", positive=positive, **selection) if hull else None
    chart = curves.draw_roc(frames, hulls, title=_format_curve_title("ROC curve", results, dataset, condition, level, positive))
    kind = band or ("curve" if len(frames) <= _MOST_BANDS and not repeat else "none")
    if kind == "none":
        return chart
    if repeat:
        raise InputError(f"band must be 'none' for a repeat other than the first, got {band!r} for repeat {repeat}")
    facts = next(dataset_facts for dataset_facts in results.archive.datasets if dataset in (None, dataset_facts.name))
    label = choose_positive_class(results, facts) if positive is None else _get_positive_label(positive, facts.name)
    counts = count_tested_classes(results, facts, _find_condition(results, condition, level), label)
    bands = {name: compute_roc_band(frame, *counts, level=confidence, kind=kind) for name, frame in frames.items()}
    return with_band(chart, bands, frames, level=confidence, simultaneous=kind == "curve")


@register_figure("precision-recall", "pr")
def draw_study_precision_recall(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Precision over recall."""
    selection: dict[str, Any] = {
        "dataset": dataset,
        "condition": condition,
        "level": level,
        "learner": learner,
        "repeat": repeat,
    }
    frames = collect_curve_frames(results, "precision-recall", positive=positive, **selection)
    title = _format_curve_title("Precision-recall curve", results, dataset, condition, level, positive)
    return curves.draw_precision_recall(frames, title=title)


@register_figure("cost-curve", "cost")
def draw_study_cost_curve(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
    lines: bool = False,
    winners: bool = True,
) -> Any:
    """Cost curves with a strip of who wins where; `lines` adds the line of each threshold."""
    selection: dict[str, Any] = {
        "dataset": dataset,
        "condition": condition,
        "level": level,
        "learner": learner,
        "repeat": repeat,
    }
    frames = collect_curve_frames(results, "cost", positive=positive, **selection)
    threshold_lines = collect_curve_frames(results, "cost-lines", positive=positive, **selection) if lines else None
    chart = curves.draw_cost(
        frames, threshold_lines, title=_format_curve_title("Cost curve", results, dataset, condition, level, positive)
    )
    return with_winners(chart, find_cost_winners(frames), frames) if winners else chart


@register_figure("brier-curve", "brier")
def draw_study_brier_curve(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Brier curves, of learners that give probabilities."""
    selection: dict[str, Any] = {
        "dataset": dataset,
        "condition": condition,
        "level": level,
        "learner": learner,
        "repeat": repeat,
    }
    frames = collect_curve_frames(results, "brier", positive=positive, **selection)
    return curves.draw_brier(frames, title=_format_curve_title("Brier curve", results, dataset, condition, level, positive))


@register_figure("ks", "kolmogorov-smirnov")
def draw_study_ks(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """True and false positive rate over the thresholds, a panel for each learner."""
    selection: dict[str, Any] = {
        "dataset": dataset,
        "condition": condition,
        "level": level,
        "learner": learner,
        "repeat": repeat,
    }
    frames = collect_curve_frames(results, "tpr-fpr", positive=positive, **selection)
    return curves.draw_tpr_fpr(
        frames, title=_format_curve_title("Kolmogorov-Smirnov chart", results, dataset, condition, level, positive)
    )


@register_figure("gain", "lift")
def draw_study_gain(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Gain and lift."""
    selection: dict[str, Any] = {
        "dataset": dataset,
        "condition": condition,
        "level": level,
        "learner": learner,
        "repeat": repeat,
    }
    frames = collect_curve_frames(results, "gain", positive=positive, **selection)
    return curves.draw_gain(frames, title=_format_curve_title("Gain and lift", results, dataset, condition, level, positive))


@register_figure("calibration", "reliability")
def draw_study_calibration(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Calibration curves, of learners that give probabilities."""
    selection: dict[str, Any] = {
        "dataset": dataset,
        "condition": condition,
        "level": level,
        "learner": learner,
        "repeat": repeat,
    }
    frames = collect_curve_frames(results, "calibration", positive=positive, **selection)
    return curves.draw_calibration(
        frames, title=_format_curve_title("Calibration", results, dataset, condition, level, positive)
    )


def _format_curve_title(
    curve_name: str, results: Results, dataset: str | None, condition: str | None, level: float | None, positive: object
) -> str:
    facts = next(dataset_facts for dataset_facts in results.archive.datasets if dataset in (None, dataset_facts.name))
    label = choose_positive_class(results, facts) if positive is None else _get_positive_label(positive, facts.name)
    suffix = "" if condition is None else f" under {name_condition(_find_condition(results, condition, level))}"
    return f"{curve_name}: {facts.name}, class {label}{suffix}"


def _get_positive_label(positive: object, dataset: str) -> object:
    return positive.get(dataset) if isinstance(positive, dict) else positive


def _find_condition(results: Results, condition: str | None, level: float | None) -> ConditionFacts:
    """The condition that is meant; the curves have been drawn by then, so that it exists."""
    if condition is None:
        return get_main_condition(results)
    matching = [condition_facts for condition_facts in results.archive.conditions if condition_facts.name == condition]
    return next(
        (condition_facts for condition_facts in matching if level is not None and abs(condition_facts.level - level) < 1e-12),
        matching[0],
    )
