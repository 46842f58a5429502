"""Figure of the cost against the threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.figures.base import (
    build_chart,
    build_title,
    encode_colour,
    encode_dash,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)

_COLUMNS = ["model", "threshold", "cost", "low", "high"]
_CHOICE_COLUMNS = ["model", "threshold"]


def draw_costs(curves: Any, choices: Any = None, *, level: float = 0.95, title: str = "Cost by threshold") -> Any:
    """Draw the cost per 1,000 cases against the threshold with its band, and the chosen thresholds.

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
    subtitle = f"Band: pointwise {100 * level:.3g} % CI."
    if choices is not None:
        marks = require_columns("choices", to_frame(choices), _CHOICE_COLUMNS)
        marks = marks[np.isfinite(marks["threshold"])]
        if len(marks):
            chosen = to_records(marks.assign(learner=marks["model"], at=marks["threshold"]), ["learner", "at"])
            rules = build_chart(chosen).mark_rule(strokeDash=[4, 3], strokeWidth=1.4)
            layers.append(rules.encode(x, color=color, tooltip=hint[:2]))
            subtitle += " Dashed: the chosen threshold."
    chart = alt.layer(*layers).properties(width=520, height=280, title=build_title(title, subtitle))
    return style_chart(chart)
