"""Figures of what noise does: cases in two dimensions, those that changed marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.drawing import GREY, INK, PALETTE, chart_of, finished, titled, with_columns, written

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
    title: str = "The same cases under noise",
    subtitle: str = "Colour and shape: the class. Ringed: what the noise changed",
    side: int = 200,
) -> Any:
    """A panel for each frame of cases: where they lie, their class by colour and shape, those that changed ringed.

    A frame has the columns x, y, label and changed. With from_x and from_y, too, a line leads from where a case was to where it
    is now. All panels have the same axes. `changed_cases` makes such frames.

    >>> import pandas as pd
    >>> cases = pd.DataFrame({"x": [0.1, 0.7], "y": [0.3, 0.4], "label": ["a", "b"], "changed": [False, True]})
    >>> chart = draw_changes({"clean": cases.assign(changed=False), "noise": cases})
    >>> len(chart.to_dict()["concat"])
    2
    """
    import altair as alt

    frames = _checked(panels)
    labels = sorted({str(label) for frame in frames.values() for label in frame["label"]})
    axes = (_axis(alt.X, frames, "x", x), _axis(alt.Y, frames, "y", y))
    counted = any(frame["changed"].any() for frame in frames.values())
    drawn = [_panel(name, frame, labels, axes, side, counted) for name, frame in frames.items()]
    return finished(alt.concat(*drawn, columns=columns, spacing=18).properties(title=titled(title, subtitle)))


def changed_cases(X: Any, y: Any, changed: Any, columns: tuple[int, int] = (0, 1)) -> pd.DataFrame:
    """The frame of a panel: two columns of the table that a condition left, the classes, and which cases it changed.

    `X` and `y` are the data before; the condition must not have removed or drawn rows.

    >>> from fairtrial.conditions import ClassNoise
    >>> X, y = [[0.0, 1.0], [2.0, 3.0]], ["a", "b"]
    >>> changed_cases(X, y, ClassNoise(1.0).apply(X, y)).to_dict("list")
    {'x': [0.0, 2.0], 'y': [1.0, 3.0], 'label': ['b', 'a'], 'changed': [True, True]}
    """
    import pandas as pd

    if len(changed.rows) != len(y) or not np.array_equal(changed.rows, np.arange(len(y))):
        raise InputError("changed must hold the rows that came in, each once: draw conditions that remove none")
    before, after = (pd.DataFrame(table).iloc[:, list(columns)].to_numpy(np.float64) for table in (X, changed.X))
    mask = changed.mask if changed.mask.ndim == 1 else changed.mask[:, list(columns)].any(axis=1)
    frame = pd.DataFrame({"x": after[:, 0], "y": after[:, 1], "label": np.asarray(changed.y).astype(str), "changed": mask})
    return frame if np.array_equal(before, after) else frame.assign(from_x=before[:, 0], from_y=before[:, 1])


def _checked(panels: Any) -> dict[str, pd.DataFrame]:
    if not isinstance(panels, Mapping) or not panels:
        raise InputError(f"panels must map names to frames of cases, got {type(panels).__name__}: pass {{'clean': frame}}")
    return {str(name): with_columns(f"the panel {name!r}", frame, _COLUMNS) for name, frame in panels.items()}


def _axis(kind: Any, frames: Mapping[str, pd.DataFrame], field: str, title: str) -> Any:
    import altair as alt

    seen = np.concatenate([frame[name] for frame in frames.values() for name in (field, f"from_{field}") if name in frame])
    low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
    room = 0.05 * (high - low) or 1.0
    return kind(f"{field}:Q", title=title, scale=alt.Scale(domain=[low - room, high + room], nice=False, zero=False))


def _panel(name: str, frame: pd.DataFrame, labels: list[str], axes: tuple[Any, Any], side: int, counted: bool) -> Any:
    import altair as alt

    hues = [PALETTE[i % len(PALETTE)] for i in range(len(labels))]
    shapes = [_SHAPES[i % len(_SHAPES)] for i in range(len(labels))]
    legend = alt.Legend(orient="bottom", symbolOpacity=1)
    colour = alt.Color("label:N", title=None, scale=alt.Scale(domain=labels, range=hues), legend=legend)
    shape = alt.Shape("label:N", title=None, scale=alt.Scale(domain=labels, range=shapes), legend=legend)
    moved = set(_FROM) <= set(frame.columns)
    rows = written(frame.assign(label=frame["label"].astype(str)), [*_COLUMNS[:3], *(_FROM if moved else ())])
    ringed = [row for row, changed in zip(rows, frame["changed"], strict=True) if changed]
    layers = []
    if moved:
        paths = chart_of(ringed).mark_rule(color=GREY, strokeWidth=0.8, opacity=0.6, aria=False)
        layers.append(paths.encode(*axes, x2="from_x:Q", y2="from_y:Q"))
    points = chart_of(rows).mark_point(filled=True, size=26, opacity=0.85, aria=False).encode(*axes, colour, shape)
    rings = chart_of(ringed).mark_point(size=110, color=INK, strokeWidth=1.3, opacity=1, aria=False).encode(*axes)
    told = [f"{len(ringed)} of {len(rows)} changed" if ringed else "nothing changed"] if counted else []
    heading = alt.TitleParams(name, subtitle=told, fontSize=13, subtitleFontSize=11.5, offset=6)
    return alt.layer(*layers, points, rings).properties(width=side, height=side, title=heading)
