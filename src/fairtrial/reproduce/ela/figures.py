"""Figures: our accuracies against the paper's, and how far the variants of the machine are from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.base import GREY, PALETTE, build_chart, build_title, style_chart, to_records
from fairtrial.reproduce.ela.cells import CLEAN, LOGISTIC, NOISY, TREE, VOTES

if TYPE_CHECKING:
    import pandas as pd

_TOLD = {TREE: "C4.5", LOGISTIC: "SVM, logistic models", VOTES: "SVM, votes"}
_SIDE = 250


def draw_agreement(both: pd.DataFrame, other: pd.DataFrame) -> Any:
    """A panel for each learner: a point for each set and kind of noise, our accuracy against the paper's, with our interval."""
    import altair as alt
    import pandas as pd

    kinds = {"no noise": (both, CLEAN), "10 %, another class": (both, NOISY), "10 %, any class": (other, NOISY)}
    parts = [frame[frame["quantity"] == quantity].assign(noise=told) for told, (frame, quantity) in kinds.items()]
    own = pd.concat(parts, ignore_index=True).dropna(subset=["difference"])
    lines = own.assign(bottom=own["published"] + own["low"], top=own["published"] + own["high"])
    low = float(min(lines["ours"].min(), lines["published"].min())) - 3
    scale = alt.Scale(domain=[max(0.0, low), 100], nice=False, zero=False, clamp=True)
    x = alt.X("published:Q", title="Accuracy in the paper (%)", scale=scale)
    hues = alt.Scale(domain=list(kinds), range=list(PALETTE[:3]))
    shade = alt.Color("noise:N", title=None, scale=hues, legend=alt.Legend(orient="bottom"))
    title = "Our accuracy (%)"
    panels = []
    for learner, name in _TOLD.items():
        rows = to_records(lines[lines["learner"] == learner], ["dataset", "noise", "ours", "published", "bottom", "top"])
        base = build_chart(rows).encode(x, shade, tooltip=["dataset:N", "noise:N", "ours:Q", "published:Q"])
        bars = base.mark_rule(opacity=0.5).encode(alt.Y("bottom:Q", title=title, scale=scale), alt.Y2("top:Q"))
        points = base.mark_circle(size=42, opacity=0.9).encode(alt.Y("ours:Q", title=title, scale=scale))
        ends = [{"published": end, "ours": end} for end in (max(0.0, low), 100.0)]
        equal = build_chart(ends).mark_line(color=GREY, strokeDash=[4, 3], strokeWidth=1.2)
        heading = alt.TitleParams(name, fontSize=14, offset=8)
        whole = alt.layer(equal.encode(x, alt.Y("ours:Q", title=title, scale=scale)), bars, points)
        panels.append(whole.properties(width=_SIDE, height=_SIDE, title=heading))
    told = "A point for each data set and kind of noise; bars: our intervals at 95 %; dashed: equal"
    return style_chart(
        alt.hconcat(*panels, spacing=30).properties(title=build_title("Our accuracies beside the paper's", told))
    )


def draw_distances(frame: pd.DataFrame) -> Any:
    """Mean distance of each variant to the paper, with its interval, the nearest on top."""
    import altair as alt

    rows = to_records(frame, ["variant", "mean distance", "low", "high"])
    y = alt.Y("variant:N", title=None, sort=frame["variant"].tolist(), axis=alt.Axis(labelLimit=260))
    base = build_chart(rows)
    title = "Mean distance to the paper's accuracy without noise (points)"
    scale = alt.Scale(zero=True, nice=True)
    bars = base.mark_rule(color=PALETTE[0], strokeWidth=1.6, opacity=0.6)
    ranges = bars.encode(alt.X("low:Q", title=title, scale=scale), alt.X2("high:Q"), y)
    points = base.mark_circle(color=PALETTE[0], size=60, opacity=1).encode(
        alt.X("mean distance:Q", title=title, scale=scale), y
    )
    whole = alt.layer(ranges, points).properties(width=420, height=alt.Step(24))
    told = "Bars: intervals at 95 % over data sets"
    return style_chart(whole.properties(title=build_title("Which machine did the paper run?", told)))
