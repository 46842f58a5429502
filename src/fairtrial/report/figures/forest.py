"""Forest plots: one row per estimate, with its interval and its value as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_difference, format_number, join_names
from fairtrial.report.figures.base import (
    GREY,
    INK,
    NAME_WIDTH,
    PALE,
    SIDE,
    build_chart,
    build_title,
    build_tooltips,
    encode_colour,
    get_text_colour,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["label", "estimate", "low", "high"]
_OPTIONAL = ["learner", "text", "shaded"]


def draw_forest(
    frame: Any,
    *,
    title: str = "Estimates",
    subtitle: str = "",
    axis_title: str | None = None,
    has_zero: bool = False,
    limits: tuple[float, float] = (-np.inf, np.inf),
    step: int = 30,
    ticks: int = 5,
    domain: tuple[float, float] | None = None,
) -> Any:
    """Draw estimates with intervals, one per row, and print their values on the right.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns label, estimate, low and high. Optional columns: learner (determines the colour of the row), text (printed on
        the right instead of the estimate) and shaded (whether the row has a background). Adjacent rows with the same label form
        a group.
    title, subtitle : str
        Title and subtitle of the chart.
    axis_title : str, optional
        Title of the axis.
    has_zero : bool
        Whether to draw a dashed line at zero, e.g. for differences.
    limits : (float, float)
        Range of the measure. No space is added to the axis beyond this range.
    step : int
        Height of a row in pixels.
    ticks : int
        Approximate number of ticks on the axis.
    domain : (float, float), optional
        Ends of the axis. Default: chosen from the intervals.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> chart = draw_forest(pd.DataFrame({"label": ["tree"], "estimate": [0.8], "low": [0.7], "high": [0.9]}), title="AUC")
    >>> chart.to_dict()["title"]["text"], chart.to_dict()["height"]
    ('AUC', 30)
    """
    import altair as alt

    frame = require_columns("frame", to_frame(frame), _COLUMNS)
    rows, labels, count = _place_rows(frame)
    learners = list(dict.fromkeys(row["learner"] for row in rows if "learner" in row))
    named = all(row.get("learner") == row["label"] for row in rows)
    position: dict[str, Any] = {
        "field": "position",
        "type": "ordinal",
        "scale": {"domain": list(range(count)), "padding": 0},
        "title": None,
    }
    y, base = alt.Y(**position, axis=None), build_chart(rows)
    scale = alt.Scale(domain=list(domain or _choose_domain(frame, has_zero, limits)), zero=False, nice=False)
    colour: Any = encode_colour(learners) if learners else alt.value(INK)
    if learners and (named or len(learners) == 1):
        colour = colour.legend(None)
    hint = build_tooltips({"estimate": "estimate", "low": "low", "high": "high"})
    hint = [*([] if named else [alt.Tooltip("label:N", title="row")]), *(hint if learners else hint[1:])]
    bars = base.mark_rule(strokeWidth=2.5).encode(
        alt.X("low:Q", title=axis_title, scale=scale, axis=alt.Axis(tickCount=ticks, labelOverlap=True, labelSeparation=6)),
        y,
        alt.X2("high:Q"),
        color=colour,
        tooltip=hint,
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        alt.X("estimate:Q", scale=scale), y, color=colour, tooltip=hint
    )
    look: dict[str, Any] = {"ticks": False, "domain": False, "grid": False, "labelLimit": NAME_WIDTH, "labelPadding": 8}
    colours = [
        {"test": f"datum.value === {row['position']}", "value": get_text_colour(row["learner"], learners.index(row["learner"]))}
        for row in rows
        if named and "learner" in row
    ]
    style: dict[str, Any] = {"labelColor": {"condition": colours, "value": INK}} if colours else {}
    weight: Any = "bold" if named else "normal"
    left = alt.Axis(**look, **style, labelExpr=_look_up(labels, count), labelFontWeight=weight)
    right = alt.Axis(**look, orient="right", labelExpr=_look_up({row["position"]: row["text"] for row in rows}, count))
    blank = [base.mark_point(opacity=0, size=0).encode(y=alt.Y(**position, axis=axis)) for axis in (left, right)]
    zero = build_chart([{"zero": 0}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2)
    shaded = [row for row in rows if row.get("shaded")]
    layers = [build_chart(shaded).mark_rect(color=PALE, opacity=0.4).encode(y=y)] if shaded else []
    layers += [zero.encode(alt.X("zero:Q", scale=scale))] if has_zero else []
    chart = alt.layer(*layers, *blank, bars, points).resolve_axis(y="independent")
    return style_chart(
        chart.properties(width=SIDE, height=step * count, title=build_title(title, *[subtitle] * bool(subtitle)))
    )


def _place_rows(frame: Any) -> tuple[list[dict[str, Any]], dict[int, str], int]:
    """Place the rows, with space between groups.

    Return the rows, a mapping from positions to labels, and the number of positions.
    """
    columns = [*_COLUMNS, *(name for name in _OPTIONAL if name in frame)]
    rows = to_records(frame.assign(label=frame["label"].astype(str)), [name for name in columns if name != "shaded"])
    groups: list[list[dict[str, Any]]] = []
    for row in rows:
        if groups and groups[-1][0]["label"] == row["label"]:
            groups[-1].append(row)
        else:
            groups.append([row])
    is_grouped, labels, position = any(len(group) > 1 for group in groups), {}, 0
    for group in groups:
        labels[position + (len(group) - 1) // 2] = group[0]["label"]
        for row in group:
            row["position"] = position
            row["text"] = format_estimate(row["estimate"]) if "text" not in row else str(row["text"])
            position += 1
        position += is_grouped
    if "shaded" in frame:
        for row, flag in zip(rows, frame["shaded"], strict=True):
            row["shaded"] = bool(flag)
    return rows, labels, position - is_grouped


def _choose_domain(frame: Any, has_zero: bool, limits: tuple[float, float]) -> list[float]:
    """Choose the ends of an axis that covers all estimates and their confidence intervals.

    Add some space, but not beyond `limits`, the range of the measure.
    """
    values = frame[["estimate", "low", "high"]].to_numpy(dtype=np.float64)
    values = np.append(values[np.isfinite(values)], [0.0] * has_zero)
    if not len(values):
        return [0.0, 1.0]
    low, high = float(values.min()), float(values.max())
    space = 0.06 * (high - low) or 0.05 * abs(high) or 0.05
    return [max(low - space, min(limits[0], low)), min(high + space, max(limits[1], high))]


def format_estimate(value: float | None) -> str:
    """Format an estimate with three significant digits, or as a whole number if it is at least 1,000.

    Trailing zeros are kept, because estimates are printed in a column.

    >>> format_estimate(0.9), format_estimate(0.86549), format_estimate(None), format_estimate(1234.5)
    ('0.900', '0.865', 'undefined', '1,234')
    """
    if value is None or not np.isfinite(value):
        return format_number(float("nan") if value is None else value)
    return format_number(value) if abs(value) >= 100 else format_number(value, "{:#.3g}")


def describe_rows(frame: pd.DataFrame, *, differences: bool = False) -> str:
    """Format the labels, estimates and texts (such as p-values) of a forest plot as part of its alternative text."""
    texts = [f" ({text})" if text else "" for text in frame["text"]] if "text" in frame else [""] * len(frame)
    numbers = [format_difference(float(value)) if differences else format_estimate(float(value)) for value in frame["estimate"]]
    rows = zip(frame["label"], numbers, texts, strict=True)
    return join_names([f"{label} {number}{text}" for label, number, text in rows], None)


def _look_up(texts: dict[int, str], count: int) -> str:
    """Build the Vega expression that looks up the text of an axis label by its position."""
    return f"{json.dumps([texts.get(position, '') for position in range(count)])}[datum.value]"
