"""Figures of estimates, interval coverage and error decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.base import DASHES, GREY, PALETTE, build_chart, build_title, style_chart, to_records
from fairtrial.reproduce.estimates import binomial
from fairtrial.reproduce.estimates.simulation import LEVEL, NO_SIGNAL

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce.estimates.claims import SimulationResults

METHODS_SHOWN = ("hold-out 2/3", "subsampling", "5-fold", "10-fold", "leave-one-out", "bootstrap E0", ".632", ".632+")
_SIZES_SHOWN = (25, 50, 100, 1000)
_EIGHTH_COLOUR = "#7F6000"  # the palette has only seven colours that are visible on white


def draw_figures(results: SimulationResults) -> dict[str, Any]:
    """Draw all figures and return them keyed by title.

    The first is the main figure.
    """
    summary = results.draws.summary
    rows = summary[summary["method"].isin(METHODS_SHOWN) & (summary["problem"] != NO_SIGNAL)]
    subtitle = "in points, mean over problems with a signal"
    return {
        "Root mean squared error of each estimate by the number of rows": draw_by_rows(
            rows, "rmse", "Root mean squared error of each estimate", f"Root mean squared error, {subtitle}"
        ),
        "Bias of each estimate by the number of rows": draw_by_rows(
            rows, "bias", "Bias of each estimate", f"Estimated minus true error, {subtitle}"
        ),
        "How often intervals contain the true error": draw_coverage(summary),
        "Figure 4: intervals of 30 samples": draw_samples(binomial.select_figure(results.intervals)),
        "Exact coverage of intervals on a test set": draw_exact_coverage(results.exact),
        "Parts of the error of single learners and ensembles": draw_ensembles(results.ensembles.parts),
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
        layers.insert(0, chart.mark_rule(color=GREY, strokeDash=[4, 3]).encode(y=alt.datum(0)))
    panels = (
        alt.layer(*layers).properties(width=230, height=210).facet(alt.Facet("learner:N", sort=learners, title=None), columns=2)
    )
    return style_chart(panels.properties(title=build_title(title, subtitle)))


def draw_coverage(summary: pd.DataFrame) -> Any:
    """Draw the coverage of each method's intervals on each problem."""
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
    line = build_chart([{"value": 95}]).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x="value:Q")
    layers = alt.layer(line, points).properties(width=480, height=alt.Step(11))
    return style_chart(
        layers.properties(
            title=build_title("How often 95 % intervals contain the true error", "One tick per problem and number of rows")
        )
    )


def draw_samples(intervals: pd.DataFrame) -> Any:
    """Draw the interval of each sample, and the true accuracy as a line.

    Intervals that miss the true accuracy have a different colour.
    """
    import altair as alt

    named = intervals.assign(true_value=intervals["is_covered"].map({True: "contained", False: "missed"}))
    rows = to_records(named, ["sample", "accuracy", "low", "high", "true_value"])
    colours = alt.Scale(domain=["contained", "missed"], range=[PALETTE[0], PALETTE[1]])
    colour = alt.Color("true_value:N", scale=colours, title="True value", legend=alt.Legend(orient="bottom"))
    domain = [min(row["low"] for row in rows), max(row["high"] for row in rows)]
    y = alt.Y("low:Q", title="Accuracy", scale=alt.Scale(domain=domain, zero=False, nice=True))
    x = alt.X("sample:O", title="Sample", axis=alt.Axis(labels=False, ticks=False))
    chart = build_chart(rows)
    true_accuracy = float(intervals["true_accuracy"].iloc[0])
    line = build_chart([{"low": true_accuracy}]).mark_rule(color=GREY, strokeDash=[4, 3]).encode(y="low:Q")
    bars = chart.mark_rule(strokeWidth=3).encode(x, y, alt.Y2("high"), colour)
    points = chart.mark_circle(size=45, opacity=1).encode(x, alt.Y("accuracy:Q"), colour)
    layers = alt.layer(line, bars, points).properties(width=480, height=220)
    n_missed = int((~intervals["is_covered"]).sum())
    title = build_title(
        f"{n_missed} of {len(rows)} intervals at {100 * binomial.FIGURE_LEVEL:.0f} % miss the true accuracy",
        f"Wilson's intervals of {binomial.FIGURE_ROWS} test rows; the dashed line is the true accuracy {true_accuracy:.2f}",
    )
    return style_chart(layers.properties(title=title))


def draw_exact_coverage(exact: pd.DataFrame) -> Any:
    """Draw the exact coverage by true accuracy, method and number of test rows."""
    import altair as alt

    chosen = exact[exact["n"].isin(_SIZES_SHOWN)]
    panel = chosen["n"].map("{} rows".format)
    rows = to_records(
        chosen.assign(panel=panel, coverage=100 * chosen["coverage"], accuracy=100 * chosen["accuracy"]),
        ["panel", "method", "accuracy", "coverage"],
    )
    colours = alt.Scale(domain=list(binomial.METHODS), range=[PALETTE[1], PALETTE[0], PALETTE[2]])
    chart = build_chart(rows)
    lines = chart.mark_line(strokeWidth=1.8, clip=True).encode(
        alt.X("accuracy:Q", title="True accuracy, %", scale=alt.Scale(domain=[50, 100])),
        alt.Y("coverage:Q", title="Coverage, %", scale=alt.Scale(domain=[0, 100])),
        alt.Color("method:N", scale=colours, title=None, sort=list(binomial.METHODS), legend=alt.Legend(orient="bottom")),
        tooltip=[alt.Tooltip("method:N"), alt.Tooltip("accuracy:Q"), alt.Tooltip("coverage:Q", format=".1f")],
    )
    nominal = chart.mark_rule(color=GREY, strokeDash=[4, 3]).encode(y=alt.datum(100 * LEVEL))
    panels = (
        alt.layer(nominal, lines)
        .properties(width=230, height=160)
        .facet(alt.Facet("panel:N", sort=[f"{n} rows" for n in _SIZES_SHOWN], title=None), columns=2)
    )
    subtitle = "From the binomial distribution, by number of test rows"
    return style_chart(panels.properties(title=build_title("Exact coverage of 95 % intervals of accuracy", subtitle)))


def draw_ensembles(ensembles: pd.DataFrame) -> Any:
    """Draw noise, bias and variance as stacked bars, with a panel per problem."""
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
