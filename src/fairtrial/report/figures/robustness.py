"""Figures of robustness to noise: scores and losses of accuracy by noise level."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import suggest_name
from fairtrial._text import capitalize
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import get_measure
from fairtrial.report.figures.base import (
    GREY,
    INK,
    SIDE,
    build_chart,
    build_title,
    encode_colour,
    encode_dash,
    get_text_colour,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.means import compute_level_means
from fairtrial.report.selection import Selection, get_main_condition, list_changed_conditions

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_HEIGHT, _MAX_LABELS = 260, 12
_LOSS_TITLES = {"rla": "Relative loss of accuracy (RLA)", "ela": "Equalized loss of accuracy (ELA)"}


def draw_levels(
    frame: Any,
    *,
    value: str = "mean",
    axis_title: str = "Accuracy",
    title: str = "Scores under noise",
    explanation: str = "",
    marked: float | None = None,
) -> Any:
    """Draw scores with intervals against noise levels. There is one line per learner.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns level, learner, `value`, low and high.
    value : str
        Column of the scores.
    axis_title : str
        Title of the vertical axis.
    title : str
        Title of the chart.
    explanation : str
        Line below the title.
    marked : float, optional
        Noise level to mark with a dashed line.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"level": [0, 0.2], "learner": "tree", "mean": [0.9, 0.8], "low": [0.8, 0.7], "high": [1, 0.9]})
    >>> chart = draw_levels(frame)
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rule', 'line', 'point', 'text']
    """
    lines = _prepare_level_lines(frame, value)
    subtitle = "Bars: intervals" if lines["low"].notna().any() else "No intervals: each point is a single score"
    chart = _draw_level_panel(lines, axis_title, labelled=True, marked=marked)
    chart = chart.properties(width=430, height=_HEIGHT, title=build_title(title, explanation or subtitle))
    return style_chart(chart)


def draw_losses(frame: Any, *, which: str | tuple[str, ...] = ("rla", "ela"), title: str = "Loss of accuracy") -> Any:
    """Draw the relative and equalized loss of accuracy (RLA and ELA) against noise levels.

    Parameters
    ----------
    frame : pandas.DataFrame
        Result of `Results.robustness`.
    which : str or tuple of str
        "rla", "ela", or both.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"level": [0.2], "learner": ["tree"], "rla": [0.1], "rla_low": [0.0], "rla_high": [0.2]}
    >>> chart = draw_losses(pd.DataFrame(line), which="rla")
    >>> chart.to_dict()["hconcat"][0]["title"]["text"]
    'Relative loss of accuracy (RLA)'
    """
    import altair as alt

    panels = []
    for name in [which] if isinstance(which, str) else which:
        loss_frame = require_columns("frame", to_frame(frame), ["level", "learner", name, f"{name}_low", f"{name}_high"])
        loss_lines = loss_frame.assign(low=loss_frame[f"{name}_low"], high=loss_frame[f"{name}_high"])
        heading = alt.TitleParams(_LOSS_TITLES[name], fontSize=14, offset=8)
        panels.append(
            _draw_level_panel(_prepare_level_lines(loss_lines, name), name.upper()).properties(
                width=SIDE - 30, height=270, title=heading
            )
        )
    chart = alt.hconcat(*panels, spacing=40).properties(title=build_title(title, "Lower is better. Bars: intervals"))
    return style_chart(chart)


def _prepare_level_lines(frame: Any, value: str) -> pd.DataFrame:
    """Prepare the rows, and offset the learners at each noise level so their bars do not overlap."""
    lines = require_columns("frame", to_frame(frame), ["level", "learner", value, "low", "high"])
    lines = lines.assign(value=lines[value].astype(np.float64), learner=lines["learner"].astype(str))
    names = list(dict.fromkeys(lines["learner"]))
    levels = np.unique(lines["level"].dropna().to_numpy(np.float64).round(12))
    step = float(np.diff(levels).min()) if len(levels) > 1 else 0.1
    offsets = lines["learner"].map({name: index - (len(names) - 1) / 2 for index, name in enumerate(names)})
    shifts = offsets.astype(np.float64) * min(0.025 * (np.ptp(levels) or 0.2), 0.6 * step / max(1, len(names)))
    return lines.assign(position=lines["level"] + shifts).dropna(subset=["level", "value"])


def _draw_level_panel(lines: pd.DataFrame, axis_title: str, *, labelled: bool = False, marked: float | None = None) -> Any:
    """Draw one panel.

    If `labelled` is true and there are few learners, lines are labelled at their ends. Otherwise, there is a legend.
    """
    import altair as alt

    learners = list(dict.fromkeys(lines["learner"]))
    rows = to_records(lines, ["position", "level", "learner", "value", "low", "high"])
    levels = sorted({row["level"] for row in rows})
    room = 0.07 * ((levels[-1] - levels[0]) or 0.2)
    ticks = alt.Axis(values=levels, format="~g", grid=False)
    domain = [levels[0] - room, levels[-1] + room]
    x = alt.X("position:Q", title="Noise level", axis=ticks, scale=alt.Scale(domain=domain, nice=False, zero=False))
    scale = alt.Scale(zero=False, nice=True, padding=6)
    labelled = labelled and len(learners) <= _MAX_LABELS
    shade = encode_colour(learners).legend(None) if labelled else encode_colour(learners)
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("level:Q")]
    hint += [alt.Tooltip(f"{name}:Q", title=name, format=".4f") for name in ("value", "low", "high")]
    base = build_chart(rows).encode(x, shade, tooltip=hint)
    bars = base.mark_rule(strokeWidth=1.4, opacity=0.6).encode(alt.Y("low:Q", title=axis_title, scale=scale), alt.Y2("high:Q"))
    y = alt.Y("value:Q", title=axis_title, scale=scale)
    dash = encode_dash(learners).legend(None) if labelled else encode_dash(learners)
    layers = [bars, base.mark_line(strokeWidth=2.2).encode(y, dash), base.mark_point(filled=True, size=46, opacity=1).encode(y)]
    if marked is not None:
        rule = build_chart([{"position": marked}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2)
        layers.insert(0, rule.encode(x))
    if not labelled:
        return alt.layer(*layers)
    hues = alt.Scale(domain=learners, range=[get_text_colour(name, position) for position, name in enumerate(learners)])
    names = build_chart(_place_line_labels(rows)).mark_text(align="left", dx=10, fontSize=12, fontWeight="bold", limit=160)
    names = names.encode(
        alt.Color("learner:N", scale=hues, legend=None), x=alt.value("width"), y=alt.Y("value:Q", scale=scale), text="learner:N"
    )
    return alt.layer(*layers, names).resolve_scale(color="independent")


def _place_line_labels(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Place the name of each learner at the last point of its line, and separate names that would overlap."""
    last = {row["learner"]: row["value"] for row in sorted(rows, key=lambda row: row["level"])}
    ends = [row[name] for row in rows for name in ("value", "low", "high") if row[name] is not None]
    gap = 20 / _HEIGHT * ((max(ends) - min(ends)) or 1.0)
    names = sorted(last, key=last.__getitem__)
    heights = [last[name] for name in names]
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + gap)
    shift = sum(height - last[name] for name, height in zip(names, heights, strict=True)) / len(names)
    return [{"learner": name, "value": height - shift} for name, height in zip(names, heights, strict=True)]


_CONTOUR_VALUES = (-0.25, 0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5)
# From blue (gain) through white (no loss) to red. The first colour fills the area above the first line. All colours are
# light enough for dark text. A dark page replaces them with other shades.
_GAIN_COLOURS = ("#9ECAE1", "#EDF8FB")
_LOSS_COLOURS = ("#FFF7EC", "#FEE8C8", "#FDD9A8", "#FDCB96", "#FDBB84", "#FCA972", "#FB9766", "#F5855C", "#EA6C52", "#D9534A")
_SHADES = (*_GAIN_COLOURS, *_LOSS_COLOURS)
_SIDE = 330


def compute_loss_contours(low: float = 0.0) -> pd.DataFrame:
    """Compute lines of equal loss from accuracy `low` to 1.

    The frame has the columns measure, value, clean and noisy. RLA equals c on the line noisy = (1 - c) * clean. All these lines
    pass through the origin, so RLA depends only on the ratio of the two accuracies. ELA equals c on the line noisy = 1 - c *
    clean. All these lines pass through (0, 1), so a low accuracy without noise increases ELA.

    >>> lines = compute_loss_contours()
    >>> lines[(lines["measure"] == "ela") & (lines["value"] == 0.5)][["clean", "noisy"]].to_numpy().tolist()
    [[0.0, 1.0], [1.0, 0.5]]
    """
    import pandas as pd

    lines = []
    for value in _CONTOUR_VALUES:
        for clean in (low, 1.0):
            lines.append(("rla", value, clean, (1 - value) * clean))
            if value >= 0:
                lines.append(("ela", value, clean, 1 - value * clean))
    return pd.DataFrame(lines, columns=["measure", "value", "clean", "noisy"])


def draw_loss_surface(frame: Any, *, title: str = "The same accuracies by RLA and ELA") -> Any:
    """Draw accuracies with and without noise on the surfaces of RLA and ELA.

    Colours and contours show the loss. The path of a learner leads from no noise (small point) to the highest noise level
    (large point).

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns learner, level, clean and noisy (accuracies between 0 and 1).
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> chart = draw_loss_surface(pd.DataFrame({"learner": ["tree"], "level": [0.2], "clean": [0.9], "noisy": [0.8]}))
    >>> len(chart.to_dict()["hconcat"])
    2
    """
    import altair as alt

    lines = require_columns("frame", to_frame(frame), ["learner", "level", "clean", "noisy"]).dropna(subset=["clean", "noisy"])
    if lines.empty:
        raise InputError("frame must contain at least 1 row with defined accuracies, got none")
    least = float(min(lines["clean"].min(), lines["noisy"].min()))
    low = max(0.0, np.floor(10 * (least - 0.03)) / 10)
    panels = [_draw_surface_panel(lines, name, low) for name in ("rla", "ela")]
    subtitle = "Each path follows one learner from no noise to the highest noise level. Lines: equal loss; red: larger loss"
    return style_chart(alt.hconcat(*panels, spacing=44).properties(title=build_title(title, subtitle)))


def _draw_surface_panel(lines: pd.DataFrame, measure: str, low: float) -> Any:
    import altair as alt

    scale = alt.Scale(domain=[low, 1.0], nice=False, zero=False)
    x = alt.X("clean:Q", title="Accuracy without noise", scale=scale, axis=alt.Axis(grid=False, format=".2~f"))
    y = alt.Y("noisy:Q", title="Accuracy with noise", scale=scale, axis=alt.Axis(grid=False, format=".2~f"))
    contours = compute_loss_contours(low)
    measure_contours = contours[contours["measure"] == measure]
    layers = _draw_contour_bands(measure_contours, low, x, y)
    names = [str(name) for name in dict.fromkeys(lines["learner"].astype(str))]
    hint = [alt.Tooltip("learner:N"), *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("level", "clean", "noisy"))]
    paths = build_chart(_collect_learner_paths(lines)).encode(x, y, encode_colour(names), detail="learner:N", tooltip=hint)
    layers.append(paths.mark_line(strokeWidth=2.4, clip=True).encode(order="level:Q"))
    size = alt.Size("level:Q", scale=alt.Scale(range=[24, 130]), legend=None)
    layers.append(paths.mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.8).encode(size))
    return alt.layer(*layers).properties(
        width=_SIDE, height=_SIDE, title=alt.TitleParams(measure.upper(), fontSize=14, offset=8)
    )


def _collect_learner_paths(lines: pd.DataFrame) -> list[dict[str, Any]]:
    """Build one point per learner and noise level. The points without noise lie on the diagonal."""
    import pandas as pd

    start = lines.drop_duplicates("learner").assign(level=0.0, noisy=lambda frame: frame["clean"])
    whole = pd.concat([start, lines])
    return to_records(whole.assign(learner=whole["learner"].astype(str)), ["learner", "level", "clean", "noisy"])


def _draw_contour_bands(contours: pd.DataFrame, low: float, x: Any, y: Any) -> list[Any]:
    """Draw the contours with labels at the border, and the areas between the contours."""
    import altair as alt

    values = sorted(contours["value"].unique())
    heights = {value: contour.sort_values("clean")["noisy"].to_numpy() for value, contour in contours.groupby("value")}
    above, below = np.full(2, 2.0), np.full(2, -2.0)
    layers = []
    edges = [above, *(heights[value] for value in values), below]
    for index, (top, bottom) in enumerate(pairwise(edges)):
        rows = [{"clean": c, "noisy": float(t), "to": float(b)} for c, t, b in zip((low, 1.0), top, bottom, strict=True)]
        shade = _SHADES[index + len(_SHADES) - len(values) - 1]
        layers.append(build_chart(rows).mark_area(color=shade, opacity=0.75, clip=True).encode(x, y, y2="to:Q"))
    rows = [
        {"value": row["value"], "clean": row["clean"], "noisy": row["noisy"]} for row in to_records(contours, contours.columns)
    ]
    layers.append(build_chart(rows).mark_line(color=GREY, strokeWidth=0.8, clip=True).encode(x, y, detail="value:N"))
    labels = [label for value in values if (label := _locate_contour_label(value, heights[value], low))]
    marks = build_chart(labels).mark_text(color=INK, fontSize=10.5, align="right", dx=-3, dy=-5)
    return [*layers, marks.encode(x, y, text=alt.Text("text:N"))]


def _locate_contour_label(value: float, ends: Any, low: float) -> dict[str, Any] | None:
    """Find a position for the label of a contour, near the border of the square. Return None if no position is suitable."""
    start, end = float(ends[0]), float(ends[1])
    if low + 0.01 * (1 - low) < end <= 1:
        return {"clean": 1.0, "noisy": min(end, 1 - 0.04 * (1 - low)), "text": f"{value:g}"}
    border = low if end < low else 1.0
    if start == end or not min(start, end) < border < max(start, end):
        return None
    clean = low + (border - start) / (end - start) * (1 - low)
    if clean < low + 0.1 * (1 - low):
        return None
    inset = 0.02 * (1 - low) * (1 if border == low else -3)
    return {"clean": clean, "noisy": border + inset, "text": f"{value:g}"}


_SELECT = ("condition", "dataset")


@register_figure("noise", select=(*_SELECT, "positive"))
def draw_study_noise(results: Results, selection: Selection, measure: str = "accuracy", alpha: float = 0.05) -> Any:
    """Draw the mean of a measure against the noise level, with intervals, over all data sets or on one data set."""
    name = _find_condition_name(results, selection)
    selection.check_dataset(results)
    levels = {**list_changed_conditions(results, test_only=False), **list_changed_conditions(results, test_only=True)}[name]
    conditions = [get_main_condition(results), *levels]
    frame = compute_level_means(
        results, conditions, measure, dataset=selection.dataset, alpha=alpha, positive=selection.positive
    )
    measure_name = get_measure(measure).display_name
    title = f"{capitalize(measure_name)} under {name}{_format_dataset_suffix(results, selection)}"
    return draw_levels(frame, axis_title=measure_name, title=title)


@register_figure("rla", select=_SELECT)
def draw_study_rla(results: Results, selection: Selection, alpha: float = 0.05) -> Any:
    """Draw the relative loss of accuracy (RLA) against noise levels."""
    frame, name = _collect_losses(results, selection, alpha)
    return draw_losses(frame, which="rla", title=f"Loss of accuracy under {name}{_format_dataset_suffix(results, selection)}")


@register_figure("ela", select=_SELECT)
def draw_study_ela(results: Results, selection: Selection, alpha: float = 0.05) -> Any:
    """Draw the equalized loss of accuracy (ELA) against noise levels."""
    frame, name = _collect_losses(results, selection, alpha)
    return draw_losses(frame, which="ela", title=f"Loss of accuracy under {name}{_format_dataset_suffix(results, selection)}")


@register_figure("loss-surface", "surface", select=_SELECT)
def draw_study_loss_surface(results: Results, selection: Selection) -> Any:
    """Draw accuracies with and without noise on the surfaces of RLA and ELA."""
    frame, name = _collect_losses(results, selection, 0.05)
    return draw_loss_surface(frame, title=f"RLA and ELA under {name}{_format_dataset_suffix(results, selection)}")


def _collect_losses(results: Results, selection: Selection, alpha: float) -> tuple[pd.DataFrame, str]:
    """Compute RLA and ELA under one condition, over all data sets or on one data set."""
    name = _find_condition_name(results, selection)
    selection.check_dataset(results)
    dataset = selection.dataset
    single = dataset is not None or len(results.archive.datasets) == 1
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        frame = results.robustness(name, by="dataset" if single else "all", alpha=alpha)
    return frame[frame["dataset"] == dataset] if dataset is not None else frame, name


def _find_condition_name(results: Results, selection: Selection) -> str:
    """Find the name of the selected condition. The selection may omit the name if only one condition changes the data."""
    condition = selection.condition
    condition_names = list(
        {**list_changed_conditions(results, test_only=False), **list_changed_conditions(results, test_only=True)}
    )
    if not condition_names:
        raise InputError("this figure needs a condition other than clean, got only clean")
    if condition is None and len(condition_names) > 1:
        raise InputError(
            f"condition must be given if the study has several, got None: choose one of {', '.join(condition_names)}"
        )
    if condition is not None and condition not in condition_names:
        raise InputError(f"condition must be in the study, got {condition!r}: {suggest_name(condition, condition_names)}")
    return condition or condition_names[0]


def _format_dataset_suffix(results: Results, selection: Selection) -> str:
    names = [facts.name for facts in results.archive.datasets]
    several = selection.dataset is None and len(names) > 1
    return f", mean of {len(names)} data sets" if several else f", {selection.dataset or names[0]}"
