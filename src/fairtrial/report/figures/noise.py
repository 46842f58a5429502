"""Figures of noise: cases in two dimensions, with marks on the cases that noise changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.figures.base import GREY, INK, PALETTE, build_chart, build_title, require_columns, style_chart, to_records

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("x", "y", "label", "changed")
_FROM = ("from_x", "from_y")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def draw_changes(
    panels: Mapping[str, pd.DataFrame],
    *,
    columns: int = 3,
    x: str = "first attribute",
    y: str = "second attribute",
    title: str = "The same rows under noise",
    subtitle: str = "Colour and shape: class. Ringed: changed by the noise",
    side: int = 200,
) -> Any:
    """Draw cases, and mark those that a condition changed. There is one panel per frame.

    Colour and shape show the class. Changed cases are ringed. If a frame has the columns from_x and from_y, lines show how
    cases moved.

    Parameters
    ----------
    panels : mapping of str to dataframe
        Frames from `build_case_frame`, with the columns x, y, label and changed, and optionally from_x and from_y.
    columns : int
        Number of panels per row.
    x, y : str
        Axis titles.
    title : str
        Title of the chart.
    subtitle : str
        Line below the title.
    side : int
        Width and height of a panel in pixels.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> cases = pd.DataFrame({"x": [0.1, 0.7], "y": [0.3, 0.4], "label": ["a", "b"], "changed": [False, True]})
    >>> chart = draw_changes({"clean": cases.assign(changed=False), "noise": cases})
    >>> len(chart.to_dict()["concat"])
    2
    """
    import altair as alt

    frames = _check_panels(panels)
    labels = sorted({str(label) for frame in frames.values() for label in frame["label"]})
    axes = (_build_case_axis(alt.X, frames, "x", x), _build_case_axis(alt.Y, frames, "y", y))
    any_changed = any(frame["changed"].any() for frame in frames.values())
    charts = [_draw_case_panel(name, frame, labels, axes, side, any_changed) for name, frame in frames.items()]
    return style_chart(alt.concat(*charts, columns=columns, spacing=18).properties(title=build_title(title, subtitle)))


def build_case_frame(X: Any, y: Any, changed: Any, columns: tuple[int, int] = (0, 1)) -> pd.DataFrame:
    """Build the frame for one panel of `draw_changes`.

    Parameters
    ----------
    X : array-like or dataframe
        Attributes before the change.
    y : array-like
        Labels before the change.
    changed : Changed
        Result of applying a condition that keeps all rows.
    columns : tuple of int
        Indices of the two columns to draw.

    Returns
    -------
    pandas.DataFrame
        Columns x, y, label and changed. If any plotted value changed, the columns from_x and from_y contain the values before
        the change.

    Examples
    --------
    >>> from fairtrial.conditions import ClassNoise
    >>> X, y = [[0.0, 1.0], [2.0, 3.0]], ["a", "b"]
    >>> build_case_frame(X, y, ClassNoise(1.0).apply(X, y)).to_dict("list")
    {'x': [0.0, 2.0], 'y': [1.0, 3.0], 'label': ['b', 'a'], 'changed': [True, True]}
    """
    import pandas as pd

    if len(changed.rows) != len(y) or not np.array_equal(changed.rows, np.arange(len(y))):
        raise InputError("changed must contain every input row once: draw conditions that do not remove rows")
    before, after = (pd.DataFrame(table).iloc[:, list(columns)].to_numpy(np.float64) for table in (X, changed.X))
    mask = changed.mask if changed.mask.ndim == 1 else changed.mask[:, list(columns)].any(axis=1)
    frame = pd.DataFrame({"x": after[:, 0], "y": after[:, 1], "label": np.asarray(changed.y).astype(str), "changed": mask})
    return frame if np.array_equal(before, after) else frame.assign(from_x=before[:, 0], from_y=before[:, 1])


def _check_panels(panels: Any) -> dict[str, pd.DataFrame]:
    if not isinstance(panels, Mapping) or not panels:
        raise InputError(f"panels must map names to frames of cases, got {type(panels).__name__}: pass {{'clean': frame}}")
    return {str(name): require_columns(f"the panel {name!r}", frame, _COLUMNS) for name, frame in panels.items()}


def _build_case_axis(kind: Any, frames: Mapping[str, pd.DataFrame], field: str, title: str) -> Any:
    import altair as alt

    values = np.concatenate([frame[name] for frame in frames.values() for name in (field, f"from_{field}") if name in frame])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.05 * (high - low) or 1.0
    return kind(f"{field}:Q", title=title, scale=alt.Scale(domain=[low - room, high + room], nice=False, zero=False))


def _draw_case_panel(
    name: str, frame: pd.DataFrame, labels: list[str], axes: tuple[Any, Any], side: int, any_changed: bool
) -> Any:
    import altair as alt

    hues = [PALETTE[i % len(PALETTE)] for i in range(len(labels))]
    shapes = [_SHAPES[i % len(_SHAPES)] for i in range(len(labels))]
    legend = alt.Legend(orient="bottom", symbolOpacity=1)
    colour = alt.Color("label:N", title=None, scale=alt.Scale(domain=labels, range=hues), legend=legend)
    shape = alt.Shape("label:N", title=None, scale=alt.Scale(domain=labels, range=shapes), legend=legend)
    moved = set(_FROM) <= set(frame.columns)
    rows = to_records(frame.assign(label=frame["label"].astype(str)), [*_COLUMNS[:3], *(_FROM if moved else ())])
    ringed = [row for row, changed in zip(rows, frame["changed"], strict=True) if changed]
    layers = []
    if moved:
        paths = build_chart(ringed).mark_rule(color=GREY, strokeWidth=0.8, opacity=0.6, aria=False)
        layers.append(paths.encode(*axes, x2="from_x:Q", y2="from_y:Q"))
    points = build_chart(rows).mark_point(filled=True, size=26, opacity=0.85, aria=False).encode(*axes, colour, shape)
    rings = build_chart(ringed).mark_point(size=110, color=INK, strokeWidth=1.3, opacity=1, aria=False).encode(*axes)
    subtitle = [f"{len(ringed)} of {len(rows)} changed" if ringed else "nothing changed"] if any_changed else []
    heading = alt.TitleParams(name, subtitle=subtitle, fontSize=13, subtitleFontSize=11.5, offset=6)
    return alt.layer(*layers, points, rings).properties(width=side, height=side, title=heading)
