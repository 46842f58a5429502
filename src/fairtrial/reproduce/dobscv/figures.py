"""Figures: the difference by imbalance, and the bias where the truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.base import GREY, PALETTE, build_title, style_chart, to_records
from fairtrial.reproduce.dobscv.cells import base_of, differences
from fairtrial.reproduce.dobscv.truth import SPLITTERS

if TYPE_CHECKING:
    import pandas as pd

_ENOUGH = 20  # points for a line through them


def draw_differences(cells: pd.DataFrame) -> Any:
    """A panel for each learner: a point for each set, mean over runs, against its imbalance ratio."""
    import altair as alt

    frame = differences(cells).groupby(["learner", "dataset"], sort=False)[["value", "imbalance"]].mean().reset_index()
    rows = to_records(frame, ["learner", "dataset", "value", "imbalance"])
    ticks = [2, 5, 10, 20, 50, 100]
    x = alt.X("imbalance:Q", title="imbalance ratio", scale=alt.Scale(type="log"), axis=alt.Axis(values=ticks, format="d"))
    y = alt.Y("value:Q", title="difference in AUC")
    points = alt.Chart().mark_circle(size=34, opacity=0.65, color=PALETTE[0])
    layers = [_zero("y"), points.encode(x, y, tooltip=["dataset:N", "imbalance:Q", "value:Q"])]
    told = f"DOB-SCV as printed less {base_of(cells)}; a point for each data set, mean over runs"
    if frame["dataset"].nunique() >= _ENOUGH:
        trend = alt.Chart().transform_loess("imbalance", "value", groupby=["learner"], bandwidth=0.6)
        layers.append(trend.mark_line(color=PALETTE[1], strokeWidth=2).encode(x, y))
        told += "; the line is a local regression"
    panels = alt.layer(*layers, data=alt.InlineData(values=tuple(rows))).properties(width=165, height=220)
    faceted = panels.facet(alt.Facet("learner:N", sort=list(frame["learner"].unique()), title=None), columns=5)
    return style_chart(faceted.properties(title=build_title("What DOB-SCV adds to the estimate, by imbalance", told)))


def _zero(direction: str) -> Any:
    import altair as alt

    return alt.Chart().mark_rule(color=GREY, strokeDash=[4, 3]).encode(**{direction: alt.datum(0)})


def draw_biases(frame: pd.DataFrame, measure: str = "balanced accuracy", column: str = "bias") -> Any:
    """A panel for each problem: bias and its interval for each learner and scheme."""
    import altair as alt

    own = frame[frame["measure"] == measure]
    rows = to_records(own, ["population", "learner", "scheme", column, f"{column}_low", f"{column}_high"])
    schemes = [each for each in SPLITTERS if (own["scheme"] == each).any()]
    colour = alt.Color(
        "scheme:N",
        title=None,
        scale=alt.Scale(domain=schemes, range=list(PALETTE[: len(schemes)])),
        legend=alt.Legend(orient="bottom"),
    )
    place = alt.YOffset("scheme:N", scale=alt.Scale(domain=schemes, paddingOuter=0.25))
    y = alt.Y("learner:N", title=None, sort=list(own["learner"].unique()))
    title = f"estimated less true {measure}"
    base = alt.Chart()
    low, high = alt.X(f"{column}_low:Q", title=title), alt.X2(f"{column}_high:Q")
    ranges = base.mark_rule(strokeWidth=1.6).encode(low, high, y, colour, place)
    points = base.mark_circle(size=38, opacity=1).encode(alt.X(f"{column}:Q", title=title), y, colour, place)
    panels = alt.layer(_zero("x"), ranges, points, data=alt.InlineData(values=tuple(rows))).properties(width=270, height=250)
    faceted = panels.facet(alt.Facet("population:N", sort=list(own["population"].unique()), title=None), columns=2)
    truth = "the learner trained on all rows does" if column == "bias" else "the five fold models do"
    told = f"against what {truth} on new cases; intervals at 95 %"
    return style_chart(faceted.properties(title=build_title("Bias of estimates where the truth is known", told)))
