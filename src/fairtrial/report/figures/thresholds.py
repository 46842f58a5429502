"""Figures of thresholds: the cost against the threshold, and curves with the operating points at a selected threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.figures.base import (
    GREY,
    Frames,
    build_axis,
    build_chart,
    build_title,
    collect_rows,
    draw_reference_line,
    encode_colour,
    encode_dash,
    list_fields,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["model", "threshold", "cost", "low", "high"]
_CHOICE_COLUMNS = ["model", "threshold"]


def draw_costs(curves: Any, choices: Any = None, *, level: float = 0.95, title: str = "Cost by threshold") -> Any:
    """Draw the cost per 1,000 cases against the threshold, with confidence bands and the chosen thresholds.

    Parameters
    ----------
    curves : pandas.DataFrame
        Columns model, threshold, cost, low and high.
    choices : pandas.DataFrame, optional
        Columns model and threshold: the chosen thresholds, drawn as vertical lines.
    level : float, default 0.95
        Confidence level of the band.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"model": "tree", "cost": 210.0, "low": 190.0, "high": 235.0}
    >>> curves = pd.DataFrame([{**line, "threshold": 0.2}, {**line, "threshold": 0.4}])
    >>> draw_costs(curves).to_dict()["title"]["text"]
    'Cost by threshold'
    """
    import altair as alt

    lines = require_columns("curves", to_frame(curves), _COLUMNS)
    if not np.isfinite(lines["cost"]).all():
        raise InputError("curves must contain finite costs, got an undefined cost: remove rows with undefined costs")
    names = list(dict.fromkeys(map(str, lines["model"])))
    rows = to_records(lines.assign(learner=lines["model"], at=lines["threshold"]), ["learner", "at", "cost", "low", "high"])
    base = build_chart(rows)
    x = alt.X("at:Q", title="Threshold", scale=alt.Scale(zero=False, nice=False))
    color = encode_colour(names)
    low = alt.Y("low:Q", title="Cost per 1,000 cases")
    band = base.mark_area(opacity=0.16).encode(x, low, y2="high:Q", color=color)
    hint = [alt.Tooltip("learner:N", title="model"), alt.Tooltip("at:Q", title="threshold", format=".3~g")]
    hint += [alt.Tooltip(f"{name}:Q", format=",.3~r") for name in ("cost", "low", "high")]
    curve = base.mark_line(strokeWidth=2).encode(x, alt.Y("cost:Q"), color=color, strokeDash=encode_dash(names), tooltip=hint)
    layers = [band, curve]
    subtitle = [
        "Estimated on all rows, so optimistic; the stated cost is cross-fitted.",
        f"Band: pointwise {100 * level:.3g} % CI.",
    ]
    if choices is not None:
        marks = require_columns("choices", to_frame(choices), _CHOICE_COLUMNS)
        marks = marks[np.isfinite(marks["threshold"])]
        if len(marks):
            chosen = to_records(marks.assign(learner=marks["model"], at=marks["threshold"]), ["learner", "at"])
            rules = build_chart(chosen).mark_rule(strokeDash=[4, 3], strokeWidth=1.4)
            layers.append(rules.encode(x, color=color, tooltip=hint[:2]))
            subtitle[1] += " Dashed: chosen thresholds."
    chart = alt.layer(*layers).properties(width=520, height=280, title=build_title(title, *subtitle))
    return style_chart(chart)


# Chart parameters that the sliders of the page set, and their initial values.
_SELECTED = {"threshold": 0.5, "cost_fp": 1.0, "cost_fn": 1.0}
_HEIGHT = 230


def draw_operating_roc(curves: Frames, points: pd.DataFrame) -> Any:
    """Draw ROC curves with an open circle at the selected threshold.

    Parameters
    ----------
    curves : mapping of str to dataframe
        Curve of each model, as returned by `roc_curve`.
    points : pandas.DataFrame
        Columns learner, at (the threshold), fpr and tpr.

    Returns
    -------
    altair.Chart
        The parameter `threshold` of the chart selects the points.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial.measures import roc_curve
    >>> points = pd.DataFrame({"learner": ["tree"], "at": [0.5], "fpr": [0.0], "tpr": [0.5]})
    >>> chart = draw_operating_roc({"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])}, points)
    >>> chart.to_dict()["params"]
    [{'name': 'threshold', 'value': 0.5}]
    """
    x, y = build_axis("x", "fpr", "False positive rate"), build_axis("y", "tpr", "True positive rate")
    colour = encode_colour(curves).legend(None)
    circles = _draw_circles(_build_points(points, x, y), x, y, colour)
    layers = [draw_reference_line([(0, 0), (1, 1)], x, y), _draw_lines(curves, x, y, colour), circles]
    return _layer(layers, ["threshold"], "ROC curves", "Circle: the selected threshold. Dashed: guessing")


def draw_operating_precision(curves: Frames, points: pd.DataFrame) -> Any:
    """Draw precision-recall curves with an open circle at the selected threshold.

    Parameters
    ----------
    curves : mapping of str to dataframe
        Curve of each model, as returned by `precision_recall_curve`.
    points : pandas.DataFrame
        Columns learner, at (the threshold), recall and precision.

    Returns
    -------
    altair.Chart
        The parameter `threshold` of the chart selects the points.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial.measures import precision_recall_curve
    >>> points = pd.DataFrame({"learner": ["tree"], "at": [0.5], "recall": [0.5], "precision": [1.0]})
    >>> chart = draw_operating_precision({"tree": precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])}, points)
    >>> chart.to_dict()["title"]["subtitle"]
    ['Circle: the selected threshold. Dashed: the base rate']
    """
    import pandas as pd

    x, y = build_axis("x", "recall", "Recall"), build_axis("y", "precision", "Precision")
    rates = sorted({round(float(frame["precision"].iloc[-1]), 6) for frame in curves.values()})
    layers = [draw_reference_line([(0, rate), (1, rate)], x, y) for rate in rates]
    colour = encode_colour(curves).legend(None)
    # As in `draw_precision_recall`, the precision at the highest score extends down to recall 0.
    whole = {name: pd.concat([frame.head(1).assign(recall=0.0), frame]) for name, frame in curves.items()}
    layers.append(_draw_lines(whole, x, y, colour, interpolate="step-before"))
    layers.append(_draw_circles(_build_points(points, x, y), x, y, colour))
    return _layer(layers, ["threshold"], "Precision-recall curves", "Circle: the selected threshold. Dashed: the base rate")


def draw_operating_costs(points: pd.DataFrame) -> Any:
    """Draw the cost per 1,000 cases against the threshold for the selected costs, and mark the lowest cost of each model.

    Parameters
    ----------
    points : pandas.DataFrame
        Columns learner, at (the threshold), and false_positives and false_negatives per 1,000 cases.

    Returns
    -------
    altair.Chart
        The parameters `cost_fp` and `cost_fn` of the chart are the costs of a false positive and a false negative. The
        parameter `threshold` moves the vertical line.

    Examples
    --------
    >>> import pandas as pd
    >>> points = {"learner": "tree", "at": [0.0, 1.0], "false_positives": [500.0, 0.0], "false_negatives": [0.0, 500.0]}
    >>> [parameter["name"] for parameter in draw_operating_costs(pd.DataFrame(points)).to_dict()["params"]]
    ['threshold', 'cost_fp', 'cost_fn']
    """
    import altair as alt

    names = list(dict.fromkeys(points["learner"]))
    most_fp, most_fn = points["false_positives"].max(), points["false_negatives"].max()
    # Cost of predicting every case as positive, or every case as negative, whichever is cheaper.
    trivial = f"min({most_fp:.6g} * cost_fp, {most_fn:.6g} * cost_fn)"
    x, colour = build_axis("x", "at", "Threshold"), encode_colour(names)
    scale = alt.Scale(domainMin=0, domainMax=alt.expr(f"1.4 * {trivial}"))
    # The axis is wide enough for the labels of all cost ratios, because the width of the chart is fixed when it is drawn.
    y = alt.Y("cost:Q", title="Cost per 1,000 cases", scale=scale, axis=alt.Axis(minExtent=40))
    cost = "datum.false_positives * cost_fp + datum.false_negatives * cost_fn"
    rows = to_records(points, ["learner", "at", "false_positives", "false_negatives"])
    base = build_chart(rows).transform_calculate(cost=cost)
    lines = base.mark_line(strokeWidth=2, clip=True).encode(x, y, colour, encode_dash(names), tooltip=_build_hint(x, y))
    lowest = (
        base.transform_joinaggregate(lowest="min(cost)", groupby=["learner"])
        .transform_filter("datum.cost == datum.lowest")
        .transform_aggregate(at="min(at)", groupby=["learner", "cost"])
        .mark_point(shape="diamond", filled=True, size=90, opacity=1)
        .encode(x, y, colour, tooltip=_build_hint(x, y))
    )
    reference = build_chart([{}]).transform_calculate(cost=trivial)
    reference = reference.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2).encode(y=y)
    layers = [reference, lines, _draw_threshold(x), _draw_circles(base, x, y, colour, clip=True), lowest]
    subtitle = "Diamond: lowest cost. Dashed: the same prediction for every case (the cheaper one)"
    return _layer(layers, list(_SELECTED), "Cost by threshold", subtitle)


def draw_operating_benefit(points: pd.DataFrame) -> Any:
    """Draw decision curves, and reference lines for treating all cases and treating none.

    Parameters
    ----------
    points : pandas.DataFrame
        Columns learner, at (the threshold), net_benefit and treat_all.

    Returns
    -------
    altair.Chart
        The parameter `threshold` of the chart moves the vertical line.

    Examples
    --------
    >>> import pandas as pd
    >>> points = pd.DataFrame({"learner": "tree", "at": [0.1, 0.5], "net_benefit": [0.3, 0.2], "treat_all": [0.2, -0.4]})
    >>> draw_operating_benefit(points).to_dict()["title"]["text"]
    'Decision curves'
    """
    names = list(dict.fromkeys(points["learner"]))
    highest = max(float(points["net_benefit"].max()), float(points["treat_all"].max()), 0.02)
    x, colour = build_axis("x", "at", "Threshold"), encode_colour(names)
    y, all_y = (
        build_axis("y", field, "Net benefit", low=-0.25 * highest, high=1.05 * highest)
        for field in ("net_benefit", "treat_all")
    )
    base = _build_points(points, x, y)
    lines = base.mark_line(strokeWidth=2, clip=True).encode(x, y, colour, encode_dash(names), tooltip=_build_hint(x, y))
    treat_all = build_chart(to_records(points[points["learner"] == names[0]], ["at", "treat_all"]))
    treat_all = treat_all.mark_line(color=GREY, strokeDash=[5, 4], strokeWidth=1.4, clip=True).encode(x, all_y)
    none = build_chart([{"net_benefit": 0}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2).encode(y)
    layers = [none, treat_all, lines, _draw_threshold(x), _draw_circles(base, x, y, colour, clip=True)]
    return _layer(layers, ["threshold"], "Decision curves", "Dashed: treat every case (falling) and none (0)")


def _draw_lines(curves: Frames, x: Any, y: Any, colour: Any, **mark: Any) -> Any:
    import altair as alt

    lines = build_chart(collect_rows(curves, list_fields(x, y))).mark_line(strokeWidth=2, **mark)
    hint = [alt.Tooltip("learner:N", title="model"), *_build_values_hint(x, y)]
    return lines.encode(x, y, colour, encode_dash(curves).legend(None), order=alt.Order("row:Q"), tooltip=hint)


def _build_points(points: pd.DataFrame, x: Any, y: Any) -> Any:
    """Build a chart of the operating points of all models and thresholds."""
    return build_chart(to_records(points, dict.fromkeys(["learner", "at", *list_fields(x, y)])))


def _draw_circles(points: Any, x: Any, y: Any, colour: Any, *, clip: bool = False) -> Any:
    """Draw an open circle for each model at the selected threshold. `clip` hides circles outside the axes."""
    circles = points.transform_filter("abs(datum.at - threshold) < 0.00001")
    marks = circles.mark_point(size=95, strokeWidth=2.2, fill="white", opacity=1, clip=clip)
    return marks.encode(x, y, colour, tooltip=_build_hint(x, y))


def _build_hint(x: Any, y: Any) -> list[Any]:
    import altair as alt

    return [alt.Tooltip("learner:N", title="model"), alt.Tooltip("at:Q", title="threshold"), *_build_values_hint(x, y)]


def _build_values_hint(x: Any, y: Any) -> list[Any]:
    import altair as alt

    titles = {"fpr": "false positive rate", "tpr": "true positive rate"}
    values = [column for column in list_fields(x, y) if column != "at"]
    return [alt.Tooltip(f"{column}:Q", format=",.3~r", title=titles.get(column, column.replace("_", " "))) for column in values]


def _draw_threshold(x: Any) -> Any:
    """Draw a vertical line at the selected threshold."""
    return build_chart([{}]).transform_calculate(at="threshold").mark_rule(color=GREY, strokeWidth=1.2).encode(x)


def _layer(layers: list[Any], parameters: list[str], title: str, subtitle: str) -> Any:
    import altair as alt

    chart = alt.layer(*layers).add_params(*(alt.param(name=name, value=_SELECTED[name]) for name in parameters))
    return style_chart(chart.properties(width=300, height=_HEIGHT, title=build_title(title, subtitle)))
