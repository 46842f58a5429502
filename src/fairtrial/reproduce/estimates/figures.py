"""The figures: bias and distance of every estimate by the number of rows, and the parts of error of ensembles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = ("hold-out 2/3", "subsampling", "5-fold", "10-fold", "leave-one-out", "bootstrap E0", ".632", ".632+")
_MORE = "#7F6000"  # the house has seven colours that show on white; this is for an eighth line


def figures(summed: pd.DataFrame, ensembles: pd.DataFrame) -> dict[str, Any]:
    """Each figure by its title."""
    own = summed[summed["method"].isin(_SHOWN) & (summed["problem"] != "no signal")]
    return {
        "Bias of each estimate by the number of rows": draw_by_rows(
            own, "bias", "Bias of each estimate", "Estimated minus true error, points; mean over problems with a signal"
        ),
        "Root mean squared error of each estimate by the number of rows": draw_by_rows(
            own,
            "rmse",
            "Distance of each estimate from the truth",
            "Root mean squared error, points; mean over problems with a signal",
        ),
        "How often intervals hold the true error": draw_coverage(summed),
        "Parts of the error of single learners and ensembles": draw_ensembles(ensembles),
    }


def draw_by_rows(summed: pd.DataFrame, value: str, title: str, words: str) -> Any:
    """A panel for each learner: a line for each method over the number of rows."""
    import altair as alt

    from fairtrial.report.figures.base import DASHES, PALETTE, build_chart, build_title, style_chart, to_records

    means = summed.groupby(["n", "learner", "method"], sort=False)[value].mean().mul(100).rename("value").reset_index()
    rows = to_records(means, ["n", "learner", "method", "value"])
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    methods = [each for each in _SHOWN if any(row["method"] == each for row in rows)]
    legend = alt.Legend(orient="bottom", columns=4, symbolType="stroke", symbolStrokeWidth=3, labelLimit=300, title=None)
    colours = alt.Scale(domain=methods, range=[*PALETTE[:7], _MORE][: len(methods)])
    dashes = alt.Scale(domain=methods, range=[list(DASHES[i // 7]) for i in range(len(methods))])
    sizes = sorted({int(row["n"]) for row in rows})
    x = alt.X("n:Q", title="Rows", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=sizes, format="d"))
    hint = [alt.Tooltip("method:N"), alt.Tooltip("n:Q", title="rows"), alt.Tooltip("value:Q", format=".2f")]
    plain = build_chart(rows)
    base = plain.encode(
        x,
        alt.Y("value:Q", title="Points of error"),
        alt.Color("method:N", scale=colours, legend=legend, sort=methods),
        tooltip=hint,
    )
    dashed = alt.StrokeDash("method:N", scale=dashes, legend=legend, sort=methods)
    layers = [base.mark_line(strokeWidth=2).encode(dashed), base.mark_circle(size=45, opacity=1)]
    if value == "bias":
        layers.insert(0, plain.mark_rule(color="#6B6B6B", strokeDash=[4, 3]).encode(y=alt.datum(0)))
    panels = (
        alt.layer(*layers).properties(width=230, height=210).facet(alt.Facet("learner:N", sort=learners, title=None), columns=2)
    )
    return style_chart(panels.properties(title=build_title(title, words)))


def draw_coverage(summed: pd.DataFrame) -> Any:
    """A point for each problem, learner and size: how often the interval of each method holds the true error."""
    import altair as alt

    from fairtrial.report.figures.base import PALETTE, build_chart, build_title, style_chart, to_records

    rows = to_records(summed.assign(value=100 * summed["coverage"]), ["n", "problem", "learner", "method", "value"])
    methods, learners = (list(dict.fromkeys(row[side] for row in rows)) for side in ("method", "learner"))
    scale = alt.Scale(domain=learners, range=list(PALETTE[: len(learners)]))
    shown = [alt.Tooltip(f"{name}:N") for name in ("learner", "problem", "method")]
    points = (
        build_chart(rows)
        .mark_tick(thickness=2, height=11)
        .encode(
            alt.X("value:Q", title="Intervals that hold the true error, %", scale=alt.Scale(domain=[0, 100])),
            alt.Y("method:N", sort=methods, title=None, axis=alt.Axis(labelLimit=220)),
            alt.YOffset("learner:N", sort=learners),
            alt.Color("learner:N", scale=scale, title=None, legend=alt.Legend(orient="bottom")),
            tooltip=[*shown, alt.Tooltip("n:Q", title="rows"), alt.Tooltip("value:Q", format=".1f")],
        )
    )
    line = build_chart([{"value": 95}]).mark_rule(color="#6B6B6B", strokeDash=[4, 3]).encode(x="value:Q")
    whole = alt.layer(line, points).properties(width=480, height=alt.Step(11))
    return style_chart(
        whole.properties(title=build_title("How often 95 % intervals hold the true error", "A tick for each problem and size"))
    )


def draw_ensembles(ensembles: pd.DataFrame) -> Any:
    """A bar for each learner: noise, bias and variance, a panel for each problem."""
    import altair as alt

    from fairtrial.report.figures.base import PALETTE, build_chart, build_title, style_chart, to_records

    long = ensembles.melt(["problem", "learner"], ["noise", "bias", "variance"], "part", "value")
    rows = to_records(long.assign(value=100 * long["value"].clip(lower=0)), ["problem", "learner", "part", "value"])
    learners, problems = (list(dict.fromkeys(row[side] for row in rows)) for side in ("learner", "problem"))
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
    words = "Kohavi and Wolpert: noise of the classes, bias, variance between training samples; they sum to the error"
    return style_chart(panels.properties(title=build_title("Where the error of ensembles comes from", words)))
