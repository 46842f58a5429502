"""Figure of learning curves: scores by training size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial.errors import InputError
from fairtrial.measures import get_measure
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
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.names import format_measure_name, get_verdict_measure_name
from fairtrial.report.selection import Selection

if TYPE_CHECKING:
    from fairtrial.study import Results


@register_figure("learning-curve", "learning-curves", select=("dataset", "positive"))
def draw_study_learning_curve(results: Results, selection: Selection, measure: str | None = None, alpha: float = 0.05) -> Any:
    """Draw the mean score of each learner against the training size, over all data sets or on one data set."""
    selection.check_dataset(results)
    names = [facts.name for facts in results.archive.datasets if selection.dataset in (None, facts.name)]
    name = get_verdict_measure_name(results) if measure is None else get_measure(measure).name
    by: Literal["dataset", "all"] = "all" if len(names) > 1 else "dataset"
    frame = results.learning_curve(name, by=by, alpha=alpha, positive=selection.positive)
    if by == "dataset":
        frame = frame[frame["dataset"] == names[0]]
    where = f"{frame['datasets'].max()} data sets" if by == "all" else names[0]
    return draw_learning_curve(frame, axis_title=format_measure_name(name), title=f"Learning curves: {where}")


def draw_learning_curve(frame: Any, *, axis_title: str = "Score", title: str = "Learning curves", explanation: str = "") -> Any:
    """Draw scores against training sizes, one line per learner, with intervals.

    Parameters
    ----------
    frame : pandas.DataFrame
        Result of `Results.learning_curve` for one data set or over all data sets, with the columns learner, size, rows, mean,
        low and high.
    axis_title : str
        Title of the vertical axis.
    title : str
        Title of the chart.
    explanation : str
        Line below the title.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"learner": "tree", "size": [0.1, 1], "rows": [9, 90], "mean": [0.7, 0.9], "low": 0.6, "high": 1})
    >>> [layer["mark"]["type"] for layer in draw_learning_curve(frame).to_dict()["layer"]]
    ['area', 'line', 'point']
    """
    import altair as alt

    lines = require_columns("frame", to_frame(frame), ["learner", "size", "rows", "mean", "low", "high"])
    lines = lines.assign(learner=lines["learner"].astype(str)).dropna(subset=["mean"])
    if lines.empty:
        raise InputError("frame must contain at least 1 row with a score, got none")
    counted = bool((lines["size"] > 1).any())
    field, x_title = ("rows", "Training rows") if counted else ("size", "Proportion of the training rows")
    lines = lines.sort_values(["learner", field], kind="stable")
    rows = to_records(lines, ["learner", "size", "rows", "mean", "low", "high"])
    ticks = sorted({float(np.round(row[field], 6)) for row in rows})
    learners = list(dict.fromkeys(to_frame(frame)["learner"].astype(str)))
    axis = alt.Axis(values=ticks, format="~g", grid=False, labelOverlap=True)
    x = alt.X(f"{field}:Q", title=x_title, scale=alt.Scale(type="log", nice=False, padding=10), axis=axis)
    scale = alt.Scale(zero=False, nice=False, padding=12)
    y = alt.Y("mean:Q", title=axis_title, scale=scale)
    hint = [
        alt.Tooltip("learner:N"),
        alt.Tooltip("size:Q", format="~g"),
        alt.Tooltip("rows:Q", title="training rows", format=".1f"),
    ]
    hint += [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("mean", "low", "high")]
    base = build_chart(rows).encode(x, encode_colour(learners), tooltip=hint)
    band = base.mark_area(opacity=0.13).encode(alt.Y("low:Q", title=axis_title, scale=scale), alt.Y2("high:Q"))
    line = base.mark_line(strokeWidth=2.2).encode(y, encode_dash(learners))
    points = base.mark_point(filled=True, size=46, opacity=1).encode(y)
    subtitle = explanation or (
        "Bands: intervals" if lines["low"].notna().any() else "No intervals: each point is a single score"
    )
    chart = alt.layer(band, line, points).properties(width=430, height=300, title=build_title(title, subtitle))
    return style_chart(chart)
