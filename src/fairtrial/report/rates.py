"""The Kolmogorov-Smirnov chart: the true and the false positive rate over the threshold, and where they are farthest apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial.report.drawing import (
    GREY,
    PALETTE,
    Frames,
    axis,
    chart_of,
    checked,
    finished,
    note,
    rows_of,
    titled,
    tooltips,
)

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = {"threshold": "threshold", "tpr": "true positive rate", "fpr": "false positive rate"}
_RATES = ("tpr", "fpr")


def draw_tpr_fpr(frames: Frames, *, title: str = "Kolmogorov-Smirnov chart") -> Any:
    """Both rates over the threshold (`tpr_fpr_curve`), a panel for each learner, the widest gap marked.

    >>> from fairtrial.measures import tpr_fpr_curve
    >>> chart = draw_tpr_fpr({"tree": tpr_fpr_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["concat"][0]["title"]["text"]
    'tree'
    """
    import altair as alt

    panels = [
        _panel(str(name), frame).properties(
            width=290, height=290, title=alt.TitleParams(str(name), fontSize=14, offset=8, limit=320)
        )
        for name, frame in checked(frames, [*_SHOWN, "difference"]).items()
    ]
    told = "Cases whose score reaches the threshold are called positive. Grey: the widest gap, KS"
    return finished(alt.concat(*panels, columns=3, spacing=36).properties(title=titled(title, told)))


def _panel(name: str, frame: pd.DataFrame) -> Any:
    """The panel of one learner. A rate changes at scores alone, and so it goes in steps."""
    import altair as alt

    low, high = _span(frame)
    x, y = axis("x", "score", "Threshold (score)", low=low, high=high), axis("y", "value", "Rate")
    scale = alt.Scale(domain=[_SHOWN[rate] for rate in _RATES], range=list(PALETTE[:2]))
    legend = alt.Legend(orient="bottom", symbolType="stroke", symbolStrokeWidth=3)
    own = {name: _between(frame, low, high)}
    rows = [
        {**row, "rate": _SHOWN[rate], "value": row[rate]}
        for rate in _RATES
        for row in rows_of(own, ["score", *_SHOWN], thin=["score", rate])
    ]
    lines = chart_of(rows).mark_line(strokeWidth=2.2, strokeJoin="round", interpolate="step-after")
    shade = alt.Color("rate:N", scale=scale, title=None, legend=legend)
    rates = lines.encode(x, y, shade, order=alt.Order("row:Q"), tooltip=tooltips(_SHOWN))
    return alt.layer(*_widest_gap(own[name], x, y, low, high), rates)


def _span(frame: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis: 0 and 1 where scores fill a good part of that range, else a little beyond the scores."""
    scores = frame["threshold"].to_numpy(np.float64)
    scores = scores[np.isfinite(scores)]
    if not len(scores):
        return 0.0, 1.0
    low, high = float(scores.min()), float(scores.max())
    if low >= 0 and high <= 1 and high - low >= 0.25:
        return 0.0, 1.0
    room = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
    return low - room, high + room


def _between(frame: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    """The rows from the highest threshold to the lowest, with the place of each; the rates hold on to both ends of the axis."""
    import pandas as pd

    inside = frame.assign(score=frame["threshold"].clip(low, high))
    return pd.concat([inside, inside.tail(1).assign(score=low)], ignore_index=True)


def _widest_gap(frame: pd.DataFrame, x: Any, y: Any, low: float, high: float) -> list[Any]:
    """A bar between the curves where they are farthest apart, with KS beside it."""
    gaps = frame["difference"].abs().to_numpy(np.float64)
    if np.isnan(gaps).any():
        return [note("undefined", x, y, at=((low + high) / 2, 0.5))]
    place = int(gaps.argmax())
    score, tpr, fpr = (float(frame[name].iloc[place]) for name in ("score", *_RATES))
    bar = chart_of([{"score": score, "value": fpr, "to": tpr}]).mark_rule(color=GREY, strokeWidth=5, opacity=0.45)
    side: Literal["left", "right"] = "right" if score < low + 0.6 * (high - low) else "left"
    told = note(f"KS = {gaps[place]:.3f}", x, y, at=(score, (tpr + fpr) / 2), side=side, gap=9)
    return [bar.encode(x, y, y2="to:Q"), told]
