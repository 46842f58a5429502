"""Figures: bias and error of estimates by number of rows, coverage of intervals, and error decomposition of ensembles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.base import DASHES, PALETTE, build_chart, build_title, style_chart, to_records
from fairtrial.reproduce.estimates.simulation import NO_SIGNAL

if TYPE_CHECKING:
    import pandas as pd

METHODS_SHOWN = ("hold-out 2/3", "subsampling", "5-fold", "10-fold", "leave-one-out", "bootstrap E0", ".632", ".632+")
_EIGHTH_COLOUR = "#7F6000"  # the palette has only seven colours that are visible on white


def draw_figures(summary: pd.DataFrame, ensembles: pd.DataFrame) -> dict[str, Any]:
    """Draw all figures and return them by title."""
    rows = summary[summary["method"].isin(METHODS_SHOWN) & (summary["problem"] != NO_SIGNAL)]
    subtitle = "in points, mean over problems with a signal"
    return {
        "Bias of each estimate by the number of rows": draw_by_rows(
            rows, "bias", "Bias of each estimate", f"Estimated minus true error, {subtitle}"
        ),
        "Root mean squared error of each estimate by the number of rows": draw_by_rows(
            rows, "rmse", "Root mean squared error of each estimate", f"Root mean squared error, {subtitle}"
        ),
        "How often intervals contain the true error": draw_coverage(summary),
        "Parts of the error of single learners and ensembles": draw_ensembles(ensembles),
    }


def draw_by_rows(summary: pd.DataFrame, quantity: str, title: str, subtitle: str) -> Any:
    """Draw a quantity by number of rows, with a line per method and a panel per learner."""
    import altair as alt

    means = summary.groupby(["n", "learner", "method"], sort=False)[quantity].mean().mul(100).rename("value").reset_index()
    rows = to_records(means, ["n", "learner", "method", "value"])
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    methods = [method for method in METHODS_SHOWN if any(row["method"] == method for row in rows)]
    legend = alt.Legend(orient="bottom", columns=4, symbolType="stroke", symbolStrokeWidth=3, labelLimit=300, title=None)
    colours = alt.Scale(domain=methods, range=[*PALETTE[:7], _EIGHTH_COLOUR][: len(methods)])
    dashes = alt.Scale(domain=methods, range=[list(DASHES[i // 7]) for i in range(len(methods))])
    sizes = sorted({int(row["n"]) for row in rows})
    x = alt.X("n:Q", title="Rows", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=sizes, format="d"))
    tooltip = [alt.Tooltip("method:N"), alt.Tooltip("n:Q", title="rows"), alt.Tooltip("value:Q", format=".2f")]
    chart = build_chart(rows)
    base = chart.encode(
        x,
        alt.Y("value:Q", title="Points of error"),
        alt.Color("method:N", scale=colours, legend=legend, sort=methods),
        tooltip=tooltip,
    )
    dashed = alt.StrokeDash("method:N", scale=dashes, legend=legend, sort=methods)
    layers = [base.mark_line(strokeWidth=2).encode(dashed), base.mark_circle(size=45, opacity=1)]
    if quantity == "bias":
        layers.insert(0, chart.mark_rule(color="#6B6B6B", strokeDash=[4, 3]).encode(y=alt.datum(0)))
    panels = (
        alt.layer(*layers).properties(width=230, height=210).facet(alt.Facet("learner:N", sort=learners, title=None), columns=2)
    )
    return style_chart(panels.properties(title=build_title(title, subtitle)))


def draw_coverage(summary: pd.DataFrame) -> Any:
    """Draw the coverage of the intervals of each method, with a tick per problem, learner and number of rows."""
    import altair as alt

    rows = to_records(summary.assign(value=100 * summary["coverage"]), ["n", "problem", "learner", "method", "value"])
    methods, learners = (list(dict.fromkeys(row[key] for row in rows)) for key in ("method", "learner"))
    scale = alt.Scale(domain=learners, range=list(PALETTE[: len(learners)]))
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("learner", "problem", "method")]
    points = (
        build_chart(rows)
        .mark_tick(thickness=2, height=11)
        .encode(
            alt.X("value:Q", title="Intervals that contain the true error, %", scale=alt.Scale(domain=[0, 100])),
            alt.Y("method:N", sort=methods, title=None, axis=alt.Axis(labelLimit=220)),
            alt.YOffset("learner:N", sort=learners),
            alt.Color("learner:N", scale=scale, title=None, legend=alt.Legend(orient="bottom")),
            tooltip=[*tooltip, alt.Tooltip("n:Q", title="rows"), alt.Tooltip("value:Q", format=".1f")],
        )
    )
    line = build_chart([{"value": 95}]).mark_rule(color="#6B6B6B", strokeDash=[4, 3]).encode(x="value:Q")
    layers = alt.layer(line, points).properties(width=480, height=alt.Step(11))
    return style_chart(
        layers.properties(
            title=build_title("How often 95 % intervals contain the true error", "One tick per problem and number of rows")
        )
    )


def draw_ensembles(ensembles: pd.DataFrame) -> Any:
    """Draw noise, bias and variance as stacked bars, with a bar per learner and a panel per problem."""
    import altair as alt

    long = ensembles.melt(["problem", "learner"], ["noise", "bias", "variance"], "part", "value")
    rows = to_records(long.assign(value=100 * long["value"].clip(lower=0)), ["problem", "learner", "part", "value"])
    learners, problems = (list(dict.fromkeys(row[key] for row in rows)) for key in ("learner", "problem"))
    parts = ["noise", "bias", "variance"]
    scale = alt.Scale(domain=parts, range=["#BDBDBD", PALETTE[0], PALETTE[1]])
    bars = (
        build_chart([row | {"order": parts.index(row["part"])} for row in rows])
        .mark_bar()
        .encode(
            alt.X("value:Q", title="Points of error", stack="zero"),
            alt.Y("learner:N", sort=learners, title=None, axis=alt.Axis(labelLimit=220)),
            alt.Color("part:N", scale=scale, title=None, sort=parts, legend=alt.Legend(orient="bottom")),
            order="order:Q",
            tooltip=[alt.Tooltip("learner:N"), alt.Tooltip("part:N"), alt.Tooltip("value:Q", format=".2f")],
        )
        .properties(width=260, height=alt.Step(19))
    )
    panels = bars.facet(alt.Facet("problem:N", sort=problems, title=None), columns=2)
    subtitle = "Noise, bias and variance (Kohavi and Wolpert), which sum to the error"
    return style_chart(panels.properties(title=build_title("Parts of the error of single learners and ensembles", subtitle)))
