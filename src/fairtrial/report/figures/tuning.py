"""Figure of the parameter values that tuning chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError
from fairtrial.report.figures.base import GREY, build_chart, build_title, require_columns, style_chart, to_frame, to_records
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import Selection
from fairtrial.study.results.tuning import format_value

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_LOG_RATIO = 50
"""The axis is logarithmic if the largest value is at least this many times the smallest."""
_MAX_TICKS = 8


@register_figure("tuning", select=("dataset",))
def draw_study_tuning(results: Results, selection: Selection) -> Any:
    """Draw how often tuning chose each parameter value."""
    choices = results.tuning()
    if selection.dataset is not None:
        choices = choices[choices["dataset"] == selection.find_dataset(results).name]
    if choices.empty:
        raise InputError(
            "the figure 'tuning' needs a tuned learner with successful trials, got none: declare tune for a learner"
        )
    return draw_tuning(choices)


def draw_tuning(choices: Any, *, title: str = "Chosen parameters") -> Any:
    """Draw how often each value of a parameter was chosen on each data set.

    Parameters
    ----------
    choices : pandas.DataFrame
        Result of `Results.tuning`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> chart = draw_tuning(pd.DataFrame({"learner": "knn", "dataset": "iris", "parameter": "k", "value": [3, 5, 3]}))
    >>> chart.to_dict()["vconcat"][0]["title"]["text"]
    'knn: k'
    """
    import altair as alt

    lines = require_columns("choices", to_frame(choices), ["learner", "dataset", "parameter", "value"])
    if lines.empty:
        raise InputError("choices must contain at least 1 row, got none")
    most = int(lines.groupby(["learner", "parameter", "dataset"], observed=True)["value"].agg(_count_most_frequent).max())
    panels = [
        _draw_parameter(group, f"{learner}: {parameter}", most)
        for (learner, parameter), group in lines.groupby(["learner", "parameter"], sort=False, observed=True)
    ]
    chart = alt.vconcat(*panels, spacing=26).resolve_scale(size="shared")
    return style_chart(chart.properties(title=build_title(title, "Larger circles: chosen in more trials")))


def _count_most_frequent(values: pd.Series[Any]) -> int:
    return int(values.map(format_value).value_counts().max())


def _draw_parameter(group: pd.DataFrame, heading: str, most: int) -> Any:
    import altair as alt

    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in group["value"])
    choices = group.assign(
        dataset=group["dataset"].astype(str), value=group["value"] if numeric else group["value"].map(format_value)
    )
    counts = choices.groupby(["dataset", "value"], sort=numeric).size().rename("trials").reset_index()
    rows = to_records(counts, ["dataset", "value", "trials"])
    field = "value:Q" if numeric else "value:N"
    axis: dict[str, Any] = {"labelExpr": "datum.value"} if numeric else {}
    scale: Any = alt.Undefined
    if numeric:
        values = sorted({row["value"] for row in rows})
        is_log = values[0] > 0 and values[-1] / values[0] >= _LOG_RATIO
        scale = alt.Scale(type="log" if is_log else "linear", zero=False, nice=False, padding=14)
        axis |= {"values": values} if len(values) <= _MAX_TICKS else {}
    x = alt.X(field, title=None, scale=scale, axis=alt.Axis(labelAngle=0, labelOverlap=True, **axis))
    y = alt.Y("dataset:N", sort=list(dict.fromkeys(choices["dataset"])), title=None)
    legend = alt.Legend(values=sorted({1, (most + 1) // 2, most}), format="d")
    size = alt.Size("trials:Q", title="Trials", scale=alt.Scale(domain=[0, most], range=[30, 320]), legend=legend)
    hint = [alt.Tooltip("dataset:N"), alt.Tooltip(field, format=".4~g" if numeric else ""), alt.Tooltip("trials:Q")]
    circles = build_chart(rows).mark_circle(color=GREY, opacity=0.7).encode(x, y, size, tooltip=hint)
    return circles.properties(width=430, height=alt.Step(26), title=alt.TitleParams(heading, fontSize=14, anchor="start"))
