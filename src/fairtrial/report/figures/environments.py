"""Figures of drift: performance deterioration by environment and by data set."""

from __future__ import annotations

import warnings
from math import isnan
from typing import TYPE_CHECKING, Any

from fairtrial import _check
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.report.figures.base import (
    GREY,
    INK,
    build_chart,
    build_title,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import Selection, with_levels

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_TOOLTIP_TITLES = {
    "pd": "pD",
    "pd_low": "pD, lower limit",
    "pd_high": "pD, upper limit",
    "error": "error",
    "error_low": "error, lower limit",
    "error_high": "error, upper limit",
    "ideal": "error, trained there",
    "trivial": "trivial error",
}
_ENVIRONMENT_COLUMNS = ["learner", "trained_on", "tested_on", *_TOOLTIP_TITLES, "replicates", "failures"]
_CELL = (66, 42)
_DARK = "datum.pd > 0.6 || (datum.pd !== null && datum.pd < -0.4)"


def draw_environments(result: Any, *, columns: int = 2, title: str = "Performance by training and test environment") -> Any:
    """Draw a heat map of performance deterioration by training and test environment.

    There is one panel per learner. Rows are training environments, and columns are test environments. Cells show the
    performance deterioration (pD) and the error rate. White means no loss. Red means that the learner is no better than the
    trivial classifier. Blue means that training on the other environment is better than training on the test environment.
    Grey means that pD is undefined, because the learner failed or does not beat the trivial classifier even without drift.

    Parameters
    ----------
    result : result or dataframe
        Result of `run_environments`, or its frame.
    columns : int
        Number of panels per row.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"learner": ["tree"], "trained_on": ["summer"], "tested_on": ["winter"], "pd": [0.3],
    ...     "pd_low": [0.2], "pd_high": [0.4], "error": [0.2], "error_low": [0.18], "error_high": [0.22], "ideal": [0.1],
    ...     "trivial": [0.4], "replicates": [30], "failures": [0]})
    >>> draw_environments(frame).to_dict()["columns"]
    2
    """
    import altair as alt

    frame = require_columns("the frame", to_frame(result), _ENVIRONMENT_COLUMNS)
    if not isinstance(columns, int) or columns < 1:
        raise InputError(f"columns must be at least 1, got {columns!r}")
    panels = [
        _draw_environment_panel(learner_frame, str(learner))
        for learner, learner_frame in frame.groupby("learner", sort=False, observed=True)
    ]
    whole = alt.concat(*panels, columns=columns, spacing=28).properties(
        title=build_title(
            title,
            "pD: proportion of the learnable information that is lost. Below: error rate.",
            "White: no loss. Red: no better than the trivial classifier. Grey: undefined.",
        )
    )
    return style_chart(whole).configure_axis(grid=False, ticks=False, domain=False, labelFontSize=12, titleFontWeight="normal")


def _draw_environment_panel(frame: pd.DataFrame, learner: str) -> Any:
    import altair as alt

    tested, trained = (list(dict.fromkeys(frame[side].astype(str))) for side in ("tested_on", "trained_on"))
    environments = list(dict.fromkeys([*tested, *trained]))
    rows = [row | _format_environment_cell(row) for row in to_records(frame, _ENVIRONMENT_COLUMNS)]
    x = alt.X("tested_on:N", title="Tested on", sort=tested, axis=alt.Axis(labelAngle=0))
    y = alt.Y("trained_on:N", title="Trained on", sort=[name for name in environments if name in trained])
    base = build_chart(rows).encode(x, y, tooltip=_build_environment_tooltips())
    ink = alt.condition(_DARK, alt.value("white"), alt.value(INK))
    layers = [
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=_encode_pd_colour()),
        base.mark_text(dy=-7, fontSize=13, fontWeight="bold").encode(text="label:N", color=ink),
        base.mark_text(dy=9, fontSize=11).encode(
            text="rate:N", color=alt.condition(_DARK, alt.value("white"), alt.value(GREY))
        ),
    ]
    size = {"width": _CELL[0] * len(tested), "height": _CELL[1] * len(trained)}
    return alt.layer(*layers).properties(title=alt.TitleParams(learner, fontSize=14, anchor="start"), **size)


def _encode_pd_colour() -> Any:
    import altair as alt

    scale = alt.Scale(domain=[-0.5, 0, 0.5, 1], range=["#4393C3", "#F7F7F7", "#F4A582", "#B2182B"], clamp=True)
    legend = alt.Legend(title="pD", gradientLength=130, values=[-0.5, 0, 0.5, 1], format=".1f")
    return alt.condition("datum.pd === null", alt.value("#DDDDDD"), alt.Color("pd:Q", scale=scale, legend=legend))


def _format_environment_cell(row: dict[str, Any]) -> dict[str, str]:
    rate = "no result" if row["error"] is None else f"{100 * row['error']:.1f} %"
    if row["pd"] is None:
        return {"label": "failed" if row["failures"] and not row["replicates"] else "undefined", "rate": rate}
    return {"label": f"{round(row['pd'], 2) + 0.0:.2f}", "rate": rate}


def _build_environment_tooltips() -> list[Any]:
    import altair as alt

    names = {"learner": "learner", "trained_on": "trained on", "tested_on": "tested on"}
    channels = [alt.Tooltip(f"{name}:N", title=title) for name, title in names.items()]
    for name, title in _TOOLTIP_TITLES.items():
        channels.append(alt.Tooltip(f"{name}:Q", title=title, format=".3f" if name.startswith("pd") else ".1%"))
    return [*channels, alt.Tooltip("replicates:Q"), alt.Tooltip("failures:Q")]


_DETERIORATION_COLUMNS = ["dataset", "condition", "level", "learner", "clean", "error", "loss", "ideal", "trivial", "pd"]
_SUBTITLES = {
    "pd": (
        "pD: proportion of the learnable information that is lost. Below: error rate",
        "White: no loss. Red: no better than the trivial classifier. Grey: undefined",
    ),
    "loss": (
        "Increase in the error rate on the changed test set. Below: error rate",
        "White: no loss. Grey: undefined",
    ),
}


@register_figure("deterioration", "pd", select=("condition",))
def draw_study_deterioration(results: Results, selection: Selection, value: str = "pd") -> Any:
    """Draw performance deterioration (pD), or the increase in the error rate, by learner and data set."""
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        frame = with_levels(results.deterioration(), results.archive.conditions)
    condition = selection.condition
    if condition is not None:
        condition_names = list(dict.fromkeys(frame["condition"].astype(str)))
        if condition not in condition_names:
            raise InputError(
                f"condition must change only the test set, got {condition!r}: {suggest_name(condition, condition_names)}"
            )
        frame = frame[frame["condition"] == condition]
    return draw_deterioration(frame, value=value)


def draw_deterioration(frame: Any, *, value: str = "pd", title: str = "Performance deterioration under drift") -> Any:
    """Draw performance deterioration by learner and data set.

    There is one panel per condition and level.

    Parameters
    ----------
    frame : pandas.DataFrame
        Result of `Results.deterioration`.
    value : str
        Column to draw: "pd" (performance deterioration) or "loss" (increase in the error rate).
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"dataset": ["iris"], "condition": ["worn"], "level": [0.3], "learner": ["tree"], "clean": [0.05],
    ...     "error": [0.2], "loss": [0.15], "ideal": [0.1], "trivial": [0.6], "pd": [0.2]}
    >>> draw_deterioration(pd.DataFrame(line)).to_dict()["vconcat"][0]["title"]["text"]
    'worn 0.3'
    """
    import altair as alt

    _check.check_one_of("value", value, tuple(_SUBTITLES))
    lines = require_columns("frame", to_frame(frame), _DETERIORATION_COLUMNS)
    panels = [
        _draw_deterioration_panel(condition_lines, value, _format_condition_name(condition_lines))
        for _, condition_lines in lines.groupby(["condition", "level"], sort=False, observed=True, dropna=False)
    ]
    whole = alt.vconcat(*panels, spacing=28).properties(title=build_title(title, *_SUBTITLES[value]))
    return style_chart(whole).configure_axis(grid=False, ticks=False, domain=False, labelFontSize=12, titleFontWeight="normal")


def _format_condition_name(lines: pd.DataFrame) -> str:
    name, level = str(lines["condition"].iloc[0]), float(lines["level"].iloc[0])
    return name if isnan(level) else f"{name} {level:g}"


def _draw_deterioration_panel(lines: pd.DataFrame, value: str, name: str) -> Any:
    import altair as alt

    datasets, learners = (list(dict.fromkeys(lines[side].astype(str))) for side in ("dataset", "learner"))
    rows = [row | _format_deterioration_cell(row, value) for row in to_records(lines, _DETERIORATION_COLUMNS)]
    narrow = len(datasets) > 8
    head = alt.Axis(labelAngle=-40 if narrow or max(map(len, datasets)) > 10 else 0, labelLimit=160, orient="top")
    x = alt.X("dataset:N", title=None, sort=datasets, axis=head)
    y = alt.Y("learner:N", title=None, sort=learners, axis=alt.Axis(labelLimit=240))
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("dataset:N"), alt.Tooltip("pd:Q", title="pD", format=".3f")]
    names = {
        "loss": "loss",
        "error": "error",
        "clean": "error before",
        "ideal": "error, trained on changed data",
        "trivial": "trivial error",
    }
    hint += [alt.Tooltip(f"{field}:Q", title=tooltip_title, format=".1%") for field, tooltip_title in names.items()]
    base = build_chart(rows).encode(x, y, tooltip=hint)
    dark = "datum.dark"
    ink, soft = (alt.condition(dark, alt.value("white"), alt.value(shade)) for shade in (INK, GREY))
    layers = [
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=_encode_deterioration_colour(value)),
        base.mark_text(dy=-7, fontSize=12.5, fontWeight="bold").encode(text="label:N", color=ink),
        base.mark_text(dy=9, fontSize=10.5).encode(text="rate:N", color=soft),
    ]
    heading = alt.TitleParams(name, fontSize=14, anchor="start")
    size = {"width": alt.Step(58 if narrow else 78), "height": alt.Step(40)}
    return alt.layer(*layers).properties(title=heading, **size)


def _format_deterioration_cell(row: dict[str, Any], value: str) -> dict[str, Any]:
    rate = "no result" if row["error"] is None else f"{100 * row['error']:.1f} %"
    cell_value = row[value]
    if cell_value is None:
        return {"label": "undefined", "rate": rate, "dark": False}
    dark = (cell_value > 0.6 or cell_value < -0.4) if value == "pd" else cell_value > 0.3
    return {"label": f"{round(cell_value, 2) + 0.0:.2f}", "rate": rate, "dark": bool(dark)}


def _encode_deterioration_colour(value: str) -> Any:
    import altair as alt

    domain = [-0.5, 0, 0.5, 1] if value == "pd" else [-0.25, 0, 0.25, 0.5]
    scale = alt.Scale(domain=domain, range=["#4393C3", "#F7F7F7", "#F4A582", "#B2182B"], clamp=True)
    legend = alt.Legend(title="pD" if value == "pd" else "loss", gradientLength=110, values=domain, format=".2~f")
    return alt.condition(f"datum.{value} === null", alt.value("#DDDDDD"), alt.Color(f"{value}:Q", scale=scale, legend=legend))
