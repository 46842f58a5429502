"""Figures of more learners and levels: a few as lines, all of them as a table in colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.drawing import INK, chart_of, finished, titled, written
from fairtrial.report.level_means import level_means
from fairtrial.report.loss_surface import draw_loss_surface
from fairtrial.report.robustness import draw_levels, draw_losses

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

# As many as can be told apart as lines: the two of the paper, and one of each other kind.
FEW = ("c45", "puk-svc", "puk-svc-logistic", "naive-bayes", "1-nn", "random-forest")
_SHADES = ("#FFF7EC", "#FDCB96", "#D9534A")


def curve_figures(results: Results) -> dict[str, Any]:
    """Accuracy and losses of a few learners over the levels, their paths on the surfaces of RLA and ELA, and ELA of all."""
    losses = results.robustness("class-noise", by="all").astype({"learner": "object"})
    means = level_means(results, results.archive.conditions)
    few, means = (each[each["learner"].isin(FEW)] for each in (losses, means))
    sets = f"mean of {int(losses['datasets'].max())} data sets"
    return {
        "Accuracy under class noise": draw_levels(means, title=f"Accuracy under class noise, {sets}"),
        "RLA and ELA under class noise": draw_losses(few, title=f"Loss of accuracy under class noise, {sets}"),
        "Learners on the surfaces of RLA and ELA": draw_loss_surface(few, title=f"RLA and ELA under class noise, {sets}"),
        "ELA of all learners": draw_all(losses, sets),
    }


def draw_all(losses: pd.DataFrame, sets: str) -> Any:
    """A row for each learner, the least mean ELA on top, a column for each level, ELA as number and colour."""
    import altair as alt

    order = losses.groupby("learner", sort=False)["ela"].mean().sort_values().index.tolist()
    rows = written(losses.assign(level=[f"{level:g}" for level in losses["level"]]), ["learner", "level", "ela"])
    x = alt.X("level:N", title="Level of class noise", sort=None, axis=alt.Axis(labelAngle=0))
    y = alt.Y("learner:N", title=None, sort=order, axis=alt.Axis(labelLimit=220))
    shade = alt.Color("ela:Q", scale=alt.Scale(range=list(_SHADES)), legend=None)
    base = chart_of(rows).encode(x, y, tooltip=["learner:N", "level:N", alt.Tooltip("ela:Q", format=".4f")])
    numbers = base.mark_text(fontSize=12, color=INK).encode(alt.Text("ela:Q", format=".2f"))
    whole = alt.layer(base.mark_rect(stroke="white").encode(shade), numbers).properties(width=alt.Step(58), height=alt.Step(24))
    told = (f"Equalized loss of accuracy, {sets}", "The least mean over levels on top")
    return finished(whole.properties(title=titled("ELA of all learners", *told)))
