"""Figures of more learners and levels: lines, a few learners to a figure, and all of them as a table in colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.base import INK, build_chart, build_title, style_chart, to_records
from fairtrial.report.figures.robustness import draw_levels, draw_loss_surface, draw_losses
from fairtrial.report.means import compute_level_means

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

# As many to a figure as can be told apart as lines, and stand side by side at a level: C4.5 in each, to compare with.
FEW = ("c45", "puk-svc", "puk-svc-logistic", "naive-bayes", "1-nn", "random-forest")
GROUPS = {
    "the paper's two and one of each other kind": FEW,
    "linear, kernel and neural learners, neighbours": ("c45", "5-nn", "logistic-regression", "linear-svc", "svc", "mlp"),
    "rules and ensembles": ("c45", "ripper", "extra-trees", "ada-boost", "hist-gradient-boosting"),
}
_SHADES = ("#FFF7EC", "#FDCB96", "#D9534A")


def curve_figures(results: Results) -> dict[str, Any]:
    """Accuracy and losses of each group over the levels, paths of a few on the surfaces of RLA and ELA, and ELA of all."""
    losses = results.robustness("class-noise", by="all").astype({"learner": "object"})
    means = compute_level_means(results, results.archive.conditions)
    sets = f"mean of {int(losses['datasets'].max())} data sets"
    drawn: dict[str, Any] = {}
    for kind, names in shown_groups(losses["learner"].unique().tolist()).items():
        level, loss = (each[each["learner"].isin(names)] for each in (means, losses))
        drawn[f"Accuracy under class noise: {kind}"] = draw_levels(level, title=f"Accuracy under class noise, {sets}")
        drawn[f"RLA and ELA under class noise: {kind}"] = draw_losses(loss, title=f"Loss of accuracy under class noise, {sets}")
    few = losses[losses["learner"].isin(FEW)]
    return {
        **drawn,
        "Learners on the surfaces of RLA and ELA": draw_loss_surface(few, title=f"RLA and ELA under class noise, {sets}"),
        "ELA of all learners": draw_all(losses, sets),
    }


def shown_groups(learners: Sequence[str]) -> dict[str, list[str]]:
    """The groups of which more than C4.5 was run, each without those that were not.

    >>> shown_groups(["c45", "ripper", "naive-bayes"])
    {"the paper's two and one of each other kind": ['c45', 'naive-bayes'], 'rules and ensembles': ['c45', 'ripper']}
    """
    found = {kind: [name for name in names if name in learners] for kind, names in GROUPS.items()}
    return {kind: names for kind, names in found.items() if set(names) - {"c45"}}


def draw_all(losses: pd.DataFrame, sets: str) -> Any:
    """A row for each learner, the least mean ELA on top, a column for each level, ELA as number and colour."""
    import altair as alt

    order = losses.groupby("learner", sort=False)["ela"].mean().sort_values().index.tolist()
    rows = to_records(losses.assign(level=[f"{level:g}" for level in losses["level"]]), ["learner", "level", "ela"])
    x = alt.X("level:N", title="Level of class noise", sort=None, axis=alt.Axis(labelAngle=0))
    y = alt.Y("learner:N", title=None, sort=order, axis=alt.Axis(labelLimit=220))
    shade = alt.Color("ela:Q", scale=alt.Scale(range=list(_SHADES)), legend=None)
    base = build_chart(rows).encode(x, y, tooltip=["learner:N", "level:N", alt.Tooltip("ela:Q", format=".4f")])
    numbers = base.mark_text(fontSize=12, color=INK).encode(alt.Text("ela:Q", format=".2f"))
    whole = alt.layer(base.mark_rect(stroke="white").encode(shade), numbers).properties(width=alt.Step(58), height=alt.Step(24))
    told = (f"Equalized loss of accuracy, {sets}", "The least mean over levels on top")
    return style_chart(whole.properties(title=build_title("ELA of all learners", *told)))
