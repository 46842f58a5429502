"""The surfaces of RLA and ELA over accuracy without and with noise (Sáez, Luengo & Herrera 2016, figure 1), seen from above."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.drawing import GREY, INK, chart_of, colour, finished, frame_of, titled, with_columns, written

if TYPE_CHECKING:
    import pandas as pd

_LEVELS = (-0.25, 0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5)
# From blue (gains) over white (nothing lost) to red; the first is that of what lies above the first line. All are light enough
# for dark words; a dark page has shades of its own for them.
_GAINS = ("#9ECAE1", "#EDF8FB")
_LOSSES = ("#FFF7EC", "#FEE8C8", "#FDD9A8", "#FDCB96", "#FDBB84", "#FCA972", "#FB9766", "#F5855C", "#EA6C52", "#D9534A")
_SHADES = (*_GAINS, *_LOSSES)
_SIDE = 330


def loss_contours(low: float = 0.0) -> pd.DataFrame:
    """Lines of equal loss: measure, value, clean, noisy, from accuracy `low` to 1.

    RLA is c where noisy = (1 - c) clean: rays through the origin, which do not see how good the start was. ELA is c where
    noisy = 1 - c clean: a fan through (0, 1), so that a poor start costs.

    >>> lines = loss_contours()
    >>> lines[(lines["measure"] == "ela") & (lines["value"] == 0.5)][["clean", "noisy"]].to_numpy().tolist()
    [[0.0, 1.0], [1.0, 0.5]]
    """
    import pandas as pd

    lines = []
    for value in _LEVELS:
        for clean in (low, 1.0):
            lines.append(("rla", value, clean, (1 - value) * clean))
            if value >= 0:
                lines.append(("ela", value, clean, 1 - value * clean))
    return pd.DataFrame(lines, columns=["measure", "value", "clean", "noisy"])


def draw_loss_surface(frame: Any, *, title: str = "How RLA and ELA see the same accuracies") -> Any:
    """Learners by accuracy without noise and with it, on the surfaces of RLA and ELA.

    `frame` has the columns learner, level, clean and noisy (shares). Colours and lines show the height of the surface; the path
    of a learner leads from no noise (small) to the highest level (large).

    >>> import pandas as pd
    >>> chart = draw_loss_surface(pd.DataFrame({"learner": ["tree"], "level": [0.2], "clean": [0.9], "noisy": [0.8]}))
    >>> len(chart.to_dict()["hconcat"])
    2
    """
    import altair as alt

    lines = with_columns("frame", frame_of(frame), ["learner", "level", "clean", "noisy"]).dropna(subset=["clean", "noisy"])
    if lines.empty:
        raise InputError("frame must hold at least 1 line with accuracies, got none that is defined")
    least = float(min(lines["clean"].min(), lines["noisy"].min()))
    low = max(0.0, np.floor(10 * (least - 0.03)) / 10)
    panels = [_panel(lines, name, low) for name in ("rla", "ela")]
    told = "Each path is a learner, from no noise to the highest level. Lines join places of equal loss; "
    told += "the redder, the more is lost"
    return finished(alt.hconcat(*panels, spacing=44).properties(title=titled(title, told)))


def _panel(lines: pd.DataFrame, measure: str, low: float) -> Any:
    import altair as alt

    scale = alt.Scale(domain=[low, 1.0], nice=False, zero=False)
    x = alt.X("clean:Q", title="Accuracy without noise", scale=scale, axis=alt.Axis(grid=False, format=".2~f"))
    y = alt.Y("noisy:Q", title="Accuracy with noise", scale=scale, axis=alt.Axis(grid=False, format=".2~f"))
    contours = loss_contours(low)
    own = contours[contours["measure"] == measure]
    layers = _bands(own, low, x, y)
    names = [str(name) for name in dict.fromkeys(lines["learner"].astype(str))]
    hint = [alt.Tooltip("learner:N"), *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("level", "clean", "noisy"))]
    paths = chart_of(_paths(lines)).encode(x, y, colour(names), detail="learner:N", tooltip=hint)
    layers.append(paths.mark_line(strokeWidth=2.4, clip=True).encode(order="level:Q"))
    size = alt.Size("level:Q", scale=alt.Scale(range=[24, 130]), legend=None)
    layers.append(paths.mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.8).encode(size))
    return alt.layer(*layers).properties(
        width=_SIDE, height=_SIDE, title=alt.TitleParams(measure.upper(), fontSize=14, offset=8)
    )


def _paths(lines: pd.DataFrame) -> list[dict[str, Any]]:
    """A point for each learner and level, and one without noise: on the diagonal."""
    import pandas as pd

    start = lines.drop_duplicates("learner").assign(level=0.0, noisy=lambda own: own["clean"])
    whole = pd.concat([start, lines])
    return written(whole.assign(learner=whole["learner"].astype(str)), ["learner", "level", "clean", "noisy"])


def _bands(contours: pd.DataFrame, low: float, x: Any, y: Any) -> list[Any]:
    """Areas between neighbouring lines, the lines, and their values where they leave the square."""
    import altair as alt

    values = sorted(contours["value"].unique())
    at = {value: own.sort_values("clean")["noisy"].to_numpy() for value, own in contours.groupby("value")}
    above, below = np.full(2, 2.0), np.full(2, -2.0)
    layers = []
    edges = [above, *(at[value] for value in values), below]
    for place, (top, bottom) in enumerate(pairwise(edges)):
        rows = [{"clean": c, "noisy": float(t), "to": float(b)} for c, t, b in zip((low, 1.0), top, bottom, strict=True)]
        shade = _SHADES[place + len(_SHADES) - len(values) - 1]
        layers.append(chart_of(rows).mark_area(color=shade, opacity=0.75, clip=True).encode(x, y, y2="to:Q"))
    rows = [
        {"value": row["value"], "clean": row["clean"], "noisy": row["noisy"]} for row in written(contours, contours.columns)
    ]
    layers.append(chart_of(rows).mark_line(color=GREY, strokeWidth=0.8, clip=True).encode(x, y, detail="value:N"))
    labels = [spot for value in values if (spot := _label(value, at[value], low))]
    marks = chart_of(labels).mark_text(color=INK, fontSize=10.5, align="right", dx=-3, dy=-5)
    return [*layers, marks.encode(x, y, text=alt.Text("text:N"))]


def _label(value: float, ends: Any, low: float) -> dict[str, Any] | None:
    """Where a line leaves the square: on the right, or at the bottom or the top."""
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
