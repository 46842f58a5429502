"""Figures: differences by imbalance, a map of errors, and the paper's illustrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.figures.base import GREY, INK, PALETTE, build_title, style_chart, to_records
from fairtrial.reproduce.dobscv.learners import make_synthetic_cases
from fairtrial.reproduce.dobscv.simulation import ESTIMANDS, SPLITTERS, Simulation, draw_rows, make_splitter, name_closer
from fairtrial.reproduce.dobscv.studies import LITERAL, NEGATIVE, POSITIVE, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.tables import FoldAverages

if TYPE_CHECKING:
    import pandas as pd

_MIN_FOR_TREND = 20  # data sets


def draw_differences(averages: FoldAverages) -> Any:
    """Draw the mean difference on each data set by imbalance ratio and learner."""
    import altair as alt

    differences = averages.compare_runs().groupby(["learner", "dataset"], sort=False)[["value", "imbalance"]].mean()
    frame = differences.reset_index()
    axis = alt.Axis(values=[2, 5, 10, 20, 50, 100], format="d")
    x = alt.X("imbalance:Q", title="imbalance ratio", scale=alt.Scale(type="log"), axis=axis)
    y = alt.Y("value:Q", title="difference in AUC")
    points = alt.Chart().mark_circle(size=34, opacity=0.65, color=PALETTE[0])
    layers = [_draw_zero("y"), points.encode(x, y, tooltip=["dataset:N", "imbalance:Q", "value:Q"])]
    subtitle = f"{LITERAL} minus {averages.bases[0]}; one point per data set, mean over runs"
    if averages.n_datasets >= _MIN_FOR_TREND:
        trend = alt.Chart().transform_loess("imbalance", "value", groupby=["learner"], bandwidth=0.6)
        layers.append(trend.mark_line(color=PALETTE[1], strokeWidth=2).encode(x, y))
        subtitle += "; the line is a local regression"
    rows = to_records(frame, ["learner", "dataset", "value", "imbalance"])
    panels = alt.layer(*layers, data=_inline(rows)).properties(width=165, height=220)
    faceted = panels.facet(alt.Facet("learner:N", sort=list(frame["learner"].unique()), title=None), columns=5)
    return style_chart(faceted.properties(title=build_title("What DOB-SCV adds to the estimate, by imbalance", subtitle)))


def draw_map(simulation: Simulation) -> Any:
    """Draw the RMSE of shuffled DOB-SCV relative to that of SCV for all problems."""
    import altair as alt

    keys = ["estimand", "structure", "n_rows", "proportion"]
    cells = simulation.cells.set_index(keys)
    scv = cells[cells["scheme"] == SCV]["rmse"]
    frame = cells[cells["scheme"] == SHUFFLED].assign(ratio=lambda rows: rows["rmse"] / scv).reset_index()
    n_cells = len(frame) // len(ESTIMANDS)
    closer = [name_closer(row, n_cells) for row in frame.to_dict("records")]
    frame["text"] = [
        f"{ratio:.2f}{'*' if name in (SCV, 'DOB-SCV') else ''}" for ratio, name in zip(frame["ratio"], closer, strict=True)
    ]
    frame["panel"] = [f"{100 * proportion:.0f} % positive" for proportion in frame["proportion"]]
    rows = to_records(frame, ["estimand", "structure", "n_rows", "panel", "ratio", "text"])
    x = alt.X("n_rows:O", title="rows", axis=alt.Axis(labelAngle=0))
    y = alt.Y("structure:N", title=None, sort=list(frame["structure"].unique()))
    scale = alt.Scale(domain=[0.7, 1.0, 1.3], range=[PALETTE[0], "#FFFFFF", PALETTE[1]], clamp=True, interpolate="rgb")
    legend = alt.Legend(title="RMSE of DOB-SCV / SCV", orient="bottom", format=".2f")
    boxes = alt.Chart().mark_rect(stroke=GREY, strokeWidth=0.5).encode(x, y, alt.Color("ratio:Q", scale=scale, legend=legend))
    texts = alt.Chart().mark_text(color=INK, fontSize=11).encode(x, y, text="text:N")
    panels = alt.layer(boxes, texts, data=_inline(rows)).properties(width=170, height=125)
    faceted = panels.facet(
        row=alt.Row("estimand:N", title=None, sort=list(ESTIMANDS), header=alt.Header(labelPadding=30)),
        column=alt.Column("panel:N", title=None, sort=list(frame["panel"].unique())),
    )
    subtitle = "Below 1: DOB-SCV (shuffled) has the smaller error. * significant at 5 % (Bonferroni)"
    return style_chart(faceted.properties(title=build_title("Error of DOB-SCV relative to SCV", subtitle)))


def draw_level_biases(simulation: Simulation) -> Any:
    """Draw the bias of all schemes for each level of each factor, with a panel per estimand."""
    import altair as alt

    frame = simulation.levels.assign(
        label=lambda rows: rows["factor"].where(rows["factor"] == "all", rows["factor"] + ": " + rows["level"])
    )
    frame["label"] = frame["label"].replace("all", "all problems")
    rows = to_records(frame, ["estimand", "label", "scheme", "bias", "bias_low", "bias_high"])
    colours = alt.Scale(domain=list(SPLITTERS), range=list(PALETTE[: len(SPLITTERS)]))
    colour = alt.Color("scheme:N", title=None, scale=colours, legend=alt.Legend(orient="bottom"))
    offset = alt.YOffset("scheme:N", scale=alt.Scale(domain=list(SPLITTERS), paddingOuter=0.25))
    y = alt.Y("label:N", title=None, sort=list(frame["label"].unique()))
    title = "estimated minus true balanced accuracy"
    low, high = alt.X("bias_low:Q", title=title), alt.X2("bias_high:Q")
    intervals = alt.Chart().mark_rule(strokeWidth=1.6).encode(low, high, y, colour, offset)
    points = alt.Chart().mark_circle(size=38, opacity=1).encode(alt.X("bias:Q", title=title), y, colour, offset)
    panels = alt.layer(_draw_zero("x"), intervals, points, data=_inline(rows)).properties(width=290, height=430)
    faceted = panels.facet(alt.Facet("estimand:N", sort=list(ESTIMANDS), title=None), columns=2)
    subtitle = "Relative to the fold models and to the model trained on all rows; 95 % intervals over samples"
    return style_chart(faceted.properties(title=build_title("Bias on simulated problems", subtitle)))


def draw_partitions(points: pd.DataFrame) -> Any:
    """Draw projected partitions, with a panel per scheme and partition."""
    import altair as alt

    rows = to_records(points, ["x", "y", "class", "role", "panel"])
    classes = alt.Scale(domain=[NEGATIVE, POSITIVE], range=["#9AA5B1", PALETTE[1]])
    roles = alt.Scale(domain=["training", "test"], range=["circle", "triangle-up"])
    marks = (
        alt.Chart(_inline(rows))
        .mark_point(size=36, filled=True)
        .encode(
            alt.X("x:Q", title="linear discriminant", scale=alt.Scale(zero=False)),
            alt.Y("y:Q", title="first principal component of the rest", scale=alt.Scale(zero=False)),
            alt.Color("class:N", title=None, scale=classes, legend=alt.Legend(orient="bottom")),
            alt.Shape("role:N", title=None, scale=roles, legend=alt.Legend(orient="bottom")),
            alt.Opacity("role:N", scale=alt.Scale(domain=["training", "test"], range=[0.45, 1.0]), legend=None),
        )
    )
    faceted = marks.properties(width=300, height=200).facet(
        alt.Facet("panel:N", title=None, sort=list(points["panel"].unique())), columns=2
    )
    subtitle = f"{points['dataset'].iloc[0]}, projected to two dimensions; triangles are test rows"
    return style_chart(
        faceted.properties(title=build_title("Figures 3 and 4: training and test rows of two partitions", subtitle))
    )


def draw_illustrations(seed: int) -> Any:
    """Illustrate SMOTE, the AUC of one operating point, and the folds of a small class."""
    import altair as alt
    import pandas as pd

    rng = np.random.default_rng(seed)
    cases = rng.normal(size=(6, 2))
    synthetic = make_synthetic_cases(cases, np.array([False, False]), np.arange(len(cases)), 12, 4, seed)
    frame = pd.DataFrame(np.vstack([cases, synthetic]), columns=["x", "y"])
    frame["kind"] = ["positive row"] * len(cases) + ["synthetic row"] * len(synthetic)
    kinds = alt.Scale(domain=["positive row", "synthetic row"], range=[PALETTE[1], PALETTE[0]])
    smote = (
        alt.Chart(_inline(to_records(frame, ["x", "y", "kind"])))
        .mark_point(size=60, filled=True, opacity=0.9)
        .encode(
            alt.X("x:Q", title=None),
            alt.Y("y:Q", title=None),
            alt.Color("kind:N", title=None, scale=kinds, legend=alt.Legend(orient="bottom")),
        )
    )
    curve = [{"fpr": fpr, "tpr": tpr, "line": "classifier"} for fpr, tpr in ((0.0, 0.0), (0.2, 0.8), (1.0, 1.0))]
    chance = [{"fpr": value, "tpr": value, "line": "random"} for value in (0.0, 1.0)]
    lines = (
        alt.Chart(_inline([*curve, *chance]))
        .mark_line(point=True)
        .encode(
            alt.X("fpr:Q", title="false positive rate"),
            alt.Y("tpr:Q", title="true positive rate"),
            alt.StrokeDash("line:N", title=None, legend=alt.Legend(orient="bottom")),
        )
    )
    X, y = draw_rows("four clusters", 0, 30, seed)
    folds = []
    for scheme in (SCV, SHUFFLED):
        for fold, (_, test) in enumerate(make_splitter(scheme, seed).split(X, y)):
            folds += [{"x": X[row, 0], "y": X[row, 1], "fold": fold + 1, "scheme": scheme} for row in test]
    colours = alt.Scale(domain=[1, 2, 3, 4, 5], range=list(PALETTE[:5]))
    panels = [
        alt.Chart(_inline([row for row in folds if row["scheme"] == scheme]))
        .mark_point(size=60, filled=True, opacity=0.9)
        .encode(
            alt.X("x:Q", title=None),
            alt.Y("y:Q", title=None),
            alt.Color("fold:N", scale=colours, legend=alt.Legend(orient="bottom")),
        )
        .properties(title=f"folds of {scheme}", width=230, height=200)
        for scheme in (SCV, SHUFFLED)
    ]
    top = [
        smote.properties(title="Figure 1: SMOTE", width=230, height=200),
        lines.properties(title="Figure 2: AUC of one point, 0.8", width=230, height=200),
    ]
    rows = [
        alt.hconcat(*charts)
        .resolve_scale(color="independent", strokeDash="independent")
        .resolve_legend(strokeDash="independent")
        for charts in (top, panels)
    ]
    chart = alt.vconcat(*rows).resolve_scale(color="independent", strokeDash="independent")
    subtitle = "SMOTE interpolates between positive rows; DOB-SCV puts the rows of each cluster into different folds"
    return style_chart(chart.properties(title=build_title("Illustrations, simulated rows", subtitle)))


def _inline(rows: Any) -> Any:
    import altair as alt

    return alt.InlineData(values=tuple(rows))


def _draw_zero(direction: str) -> Any:
    import altair as alt

    return alt.Chart().mark_rule(color=GREY, strokeDash=[4, 3]).encode(**{direction: alt.datum(0)})
