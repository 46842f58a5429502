"""Figures: agreement with the paper, variants of the SVM, and further learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.base import GREY, INK, PALETTE, build_chart, build_title, style_chart, to_records
from fairtrial.reproduce.ela.tables import ANY_CLASS, C45, CLEAN, NOISY, OTHER_CLASS, SVM_LOGISTIC, SVM_VOTES, TableCells
from fairtrial.reproduce.experiment import read_published

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_PANEL_TITLES = {C45: "C4.5", SVM_LOGISTIC: "SVM, logistic models", SVM_VOTES: "SVM, votes"}
_PANEL_SIZE = 250
_OVERLAY_VALUES = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)

# Each figure shows a few learners, so that their lines can be distinguished. All groups include C4.5 for comparison.
MAIN_LEARNERS = ("c45", "puk-svc", "puk-svc-logistic", "naive-bayes", "1-nn", "random-forest")
LEARNER_GROUPS = {
    "the paper's learners and one of each other kind": MAIN_LEARNERS,
    "linear, kernel, neural and nearest-neighbour learners": ("c45", "5-nn", "logistic-regression", "linear-svc", "svc", "mlp"),
    "rules and ensembles": ("c45", "ripper", "extra-trees", "ada-boost", "hist-gradient-boosting"),
}
_SHADES = ("#FFF7EC", "#FDCB96", "#D9534A")


def draw_figures(cells: TableCells, variants: pd.DataFrame, curves: Results) -> dict[str, Any]:
    """Draw all figures and return them keyed by title.

    `variants` contains the distances of the SVM variants to the paper. `curves` contains the results at more noise levels.
    """
    return {
        "Our accuracies and the paper's": draw_agreement(cells),
        "Which SVM did the paper run?": draw_distances(variants),
        "RLA and ELA overlaid (figure 1c)": draw_overlay(),
        "The toy examples (figure 2)": draw_toy_examples(read_published("ela_table1")),
        **draw_curves(curves),
    }


def draw_overlay(low: float = 0.3) -> Any:
    """Draw lines of equal RLA and ELA, and the difference between both measures."""
    import altair as alt
    import numpy as np

    from fairtrial.report.figures.robustness import compute_loss_contours

    contours = compute_loss_contours(low)
    contours = contours[contours["value"].isin(_OVERLAY_VALUES)].assign(measure=contours["measure"].str.upper())
    measures = ["RLA", "ELA"]
    scale = alt.Scale(domain=[low, 1.0], nice=False, zero=False)
    x = alt.X("clean:Q", title="Accuracy without noise", scale=scale, axis=alt.Axis(grid=False))
    y = alt.Y("noisy:Q", title="Accuracy with noise", scale=scale, axis=alt.Axis(grid=False))
    hues = alt.Scale(domain=measures, range=list(PALETTE[:2]))
    legend = alt.Legend(orient="bottom", symbolType="stroke", symbolStrokeWidth=2)
    color = alt.Color("measure:N", title=None, scale=hues, legend=legend)
    dash = alt.StrokeDash("measure:N", title=None, scale=alt.Scale(domain=measures, range=[[6, 4], [1, 0]]))
    base = build_chart(to_records(contours, ["measure", "value", "clean", "noisy"])).encode(x, y, color, detail="value:N")
    labels = [
        {"measure": name, "clean": clean, "noisy": noisy, "text": f"{value:g}"}
        for value in _OVERLAY_VALUES
        for name, clean, noisy in (("RLA", 0.95, (1 - value) * 0.95), ("ELA", 0.55, 1 - value * 0.55))
        if low < noisy < 0.99
    ]
    texts = build_chart(labels).mark_text(fontSize=11, dy=-7).encode(x, y, color, alt.Text("text:N"))
    overlay = alt.layer(base.mark_line(strokeWidth=1.8, clip=True).encode(dash), texts)
    accuracies = np.linspace(low, 1, 71)
    points = [{"clean": float(value), "difference": float((1 - value) / value)} for value in accuracies]
    gap = build_chart(points).mark_line(color=INK, strokeWidth=2)
    gap = gap.encode(x, alt.Y("difference:Q", title="ELA - RLA = (100 - A0) / A0", axis=alt.Axis(grid=True)))
    panels = [
        chart.properties(width=_PANEL_SIZE, height=_PANEL_SIZE, title=alt.TitleParams(title, fontSize=14, offset=8))
        for chart, title in ((overlay, "Lines of equal loss"), (gap, "Difference of both measures"))
    ]
    subtitle = "Both measures are equal at an accuracy of 100 % without noise; their difference does not depend on the noise"
    return style_chart(
        alt.hconcat(*panels, spacing=44).properties(title=build_title("RLA and ELA overlaid (figure 1c)", subtitle))
    )


def draw_toy_examples(examples: pd.DataFrame) -> Any:
    """Draw the accuracies of the toy examples without and with noise, as in figure 2."""
    import altair as alt
    import numpy as np

    panels = []
    names = {"c1": "C1", "c2": "C2"}
    for row in examples.dropna(subset=["figure"]).to_dict("records"):
        points = [
            {"classifier": label, "noise": noise, "accuracy": float(row[f"{name}_{column}"])}
            for name, label in names.items()
            for noise, column in (("0 %", "acc0"), ("x %", "accx"))
        ]
        legend = alt.Legend(orient="bottom", symbolType="stroke", symbolStrokeWidth=2)
        hues = alt.Scale(domain=list(names.values()), range=list(PALETTE[:2]))
        color = alt.Color("classifier:N", title=None, scale=hues, legend=legend)
        dash = alt.StrokeDash("classifier:N", title=None, scale=alt.Scale(domain=list(names.values()), range=[[1, 0], [6, 4]]))
        y = alt.Y("accuracy:Q", title="Accuracy (%)", scale=alt.Scale(domain=[0, 105], nice=False))
        base = build_chart(points).encode(alt.X("noise:N", title="Noise level", axis=alt.Axis(labelAngle=0)), y, color)
        losses = [
            ", ".join(f"{label} {np.format_float_positional(row[f'{name}_{loss}'], trim='-')}" for name, label in names.items())
            for loss in ("rla", "ela")
        ]
        heading = alt.TitleParams(
            f"Example {row['example']}", subtitle=[f"RLA: {losses[0]}", f"ELA: {losses[1]}"], fontSize=14, subtitleFontSize=11
        )
        panel = alt.layer(base.mark_line(strokeWidth=2).encode(dash), base.mark_circle(size=50, opacity=1))
        panels.append(panel.properties(width=150, height=170, title=heading))
    subtitle = "A larger loss is worse: RLA prefers C2 in examples 3 and 4, ELA always prefers C1"
    return style_chart(
        alt.hconcat(*panels, spacing=24).properties(title=build_title("The toy examples of table 1 (figure 2)", subtitle))
    )


def draw_agreement(cells: TableCells) -> Any:
    """Draw our accuracies against the paper's, with one panel per learner."""
    import altair as alt
    import pandas as pd

    other_class = cells.compare(OTHER_CLASS)
    kinds = {
        "no noise": (other_class, CLEAN),
        "10 %, another class": (other_class, NOISY),
        "10 %, any class": (cells.compare(ANY_CLASS), NOISY),
    }
    parts = [frame[frame["quantity"] == quantity].assign(noise=kind) for kind, (frame, quantity) in kinds.items()]
    points = pd.concat(parts, ignore_index=True).dropna(subset=["difference"])
    points = points.assign(bottom=points["published"] + points["low"], top=points["published"] + points["high"])
    lowest = max(0.0, float(min(points["ours"].min(), points["published"].min())) - 3)
    scale = alt.Scale(domain=[lowest, 100], nice=False, zero=False, clamp=True)
    title = "Our accuracy (%)"
    x = alt.X("published:Q", title="Accuracy in the paper (%)", scale=scale)
    y = alt.Y("ours:Q", title=title, scale=scale)
    hues = alt.Scale(domain=list(kinds), range=list(PALETTE[:3]))
    color = alt.Color("noise:N", title=None, scale=hues, legend=alt.Legend(orient="bottom"))
    panels = []
    for learner, name in _PANEL_TITLES.items():
        rows = to_records(points[points["learner"] == learner], ["dataset", "noise", "ours", "published", "bottom", "top"])
        base = build_chart(rows).encode(x, color, tooltip=["dataset:N", "noise:N", "ours:Q", "published:Q"])
        bars = base.mark_rule(opacity=0.5).encode(alt.Y("bottom:Q", title=title, scale=scale), alt.Y2("top:Q"))
        circles = base.mark_circle(size=42, opacity=0.9).encode(y)
        diagonal = build_chart([{"published": end, "ours": end} for end in (lowest, 100.0)]).mark_line(
            color=GREY, strokeDash=[4, 3], strokeWidth=1.2
        )
        heading = alt.TitleParams(name, fontSize=14, offset=8)
        panel = alt.layer(diagonal.encode(x, y), bars, circles)
        panels.append(panel.properties(width=_PANEL_SIZE, height=_PANEL_SIZE, title=heading))
    subtitle = "One point per data set and kind of noise, with our 95 % intervals; the dashed line marks equality"
    return style_chart(
        alt.hconcat(*panels, spacing=30).properties(title=build_title("Our accuracies and the paper's", subtitle))
    )


def draw_distances(frame: pd.DataFrame) -> Any:
    """Draw the mean distance of each variant to the paper, with its interval."""
    import altair as alt

    rows = to_records(frame, ["variant", "mean distance", "low", "high"])
    y = alt.Y("variant:N", title=None, sort=frame["variant"].tolist(), axis=alt.Axis(labelLimit=260))
    base = build_chart(rows)
    title = "Mean distance to the paper's accuracy without noise (points)"
    scale = alt.Scale(zero=True, nice=True)
    bars = base.mark_rule(color=PALETTE[0], strokeWidth=1.6, opacity=0.6)
    intervals = bars.encode(alt.X("low:Q", title=title, scale=scale), alt.X2("high:Q"), y)
    points = base.mark_circle(color=PALETTE[0], size=60, opacity=1).encode(
        alt.X("mean distance:Q", title=title, scale=scale), y
    )
    chart = alt.layer(intervals, points).properties(width=420, height=alt.Step(24))
    return style_chart(
        chart.properties(title=build_title("Which SVM did the paper run?", "With 95 % intervals over data sets"))
    )


def draw_curves(results: Results) -> dict[str, Any]:
    """Draw accuracies and losses by noise level."""
    from fairtrial.report.figures.robustness import draw_levels, draw_loss_surface, draw_losses
    from fairtrial.report.means import compute_level_means

    losses = results.robustness("class-noise", by="all").astype({"learner": "object"})
    means = compute_level_means(results, results.archive.conditions)
    scope = f"mean of {int(losses['datasets'].max())} data sets"
    charts: dict[str, Any] = {}
    for group, names in select_groups(losses["learner"].unique().tolist()).items():
        group_means, group_losses = (frame[frame["learner"].isin(names)] for frame in (means, losses))
        charts[f"Accuracy under class noise: {group}"] = draw_levels(group_means, title=f"Accuracy under class noise, {scope}")
        charts[f"RLA and ELA under class noise: {group}"] = draw_losses(
            group_losses, title=f"Loss of accuracy under class noise, {scope}"
        )
    main = losses[losses["learner"].isin(MAIN_LEARNERS)]
    surface = draw_loss_surface(main, title=f"RLA and ELA under class noise, {scope}")
    return charts | {
        "Learners on the surfaces of RLA and ELA": surface,
        "ELA of all learners": draw_ela_grid(losses, scope),
    }


def select_groups(learners: Sequence[str]) -> dict[str, list[str]]:
    """Leave out learners that were not run, and groups that contain only C4.5.

    >>> select_groups(["c45", "ripper", "naive-bayes"])
    {"the paper's learners and one of each other kind": ['c45', 'naive-bayes'], 'rules and ensembles': ['c45', 'ripper']}
    """
    groups = {group: [name for name in names if name in learners] for group, names in LEARNER_GROUPS.items()}
    return {group: names for group, names in groups.items() if set(names) - {"c45"}}


def draw_ela_grid(losses: pd.DataFrame, scope: str) -> Any:
    """Draw ELA as a coloured grid of learners and noise levels."""
    import altair as alt

    order = losses.groupby("learner", sort=False)["ela"].mean().sort_values().index.tolist()
    rows = to_records(losses.assign(level=[f"{level:g}" for level in losses["level"]]), ["learner", "level", "ela"])
    x = alt.X("level:N", title="Class noise level", sort=None, axis=alt.Axis(labelAngle=0))
    y = alt.Y("learner:N", title=None, sort=order, axis=alt.Axis(labelLimit=220))
    color = alt.Color("ela:Q", scale=alt.Scale(range=list(_SHADES)), legend=None)
    base = build_chart(rows).encode(x, y, tooltip=["learner:N", "level:N", alt.Tooltip("ela:Q", format=".4f")])
    numbers = base.mark_text(fontSize=12, color=INK).encode(alt.Text("ela:Q", format=".2f"))
    grid = alt.layer(base.mark_rect(stroke="white").encode(color), numbers).properties(width=alt.Step(58), height=alt.Step(24))
    subtitles = (f"Equalized loss of accuracy, {scope}", "Sorted by the mean over noise levels, lowest first")
    return style_chart(grid.properties(title=build_title("ELA of all learners", *subtitles)))
