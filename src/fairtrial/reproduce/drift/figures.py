"""The figures: pD by environment, and ours against the tutorial's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.drift.declared import TABLES, TableName
from fairtrial.reproduce.drift.printed import printed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce.drift.findings import Findings

_TITLES: dict[TableName, str] = {
    "populations": "Table I: trained on the usual population, tested on others",
    "missing": "Table II: trained where groups of ages are missing, tested on the usual population",
    "definitions": "Table III: the class is defined otherwise",
}
_COLUMNS = ["learner", "change", "ours", "least", "most", "published"]


def figures(found: Findings) -> dict[str, Any]:
    """Each figure by its title."""
    from fairtrial.report.figures.environments import draw_environments

    cells = {table: found.cells(table) for table in TABLES}
    charts = {"pD by environment, ours and the tutorial's": draw_compared(cells)}
    for table, columns in zip(TABLES, (1, 4, 2), strict=True):
        charts[_TITLES[table]] = draw_environments(cells[table], columns=columns, title=_TITLES[table])
    return charts


def draw_compared(cells: Mapping[TableName, pd.DataFrame]) -> Any:
    """A panel for each table and learner: pD of each change, ours with its interval, the tutorial's as a cross."""
    import altair as alt

    from fairtrial.report.figures.base import build_title, style_chart

    panels = [_panels(frame, table) for table, frame in cells.items()]
    title = build_title(
        "pD by environment, ours and the tutorial's",
        "Dots: ours, with 95 % intervals over replicates. Crosses: printed in the tutorial.",
    )
    return style_chart(alt.vconcat(*panels, spacing=30).properties(title=title))


def _panels(frame: pd.DataFrame, table: TableName) -> Any:
    import altair as alt

    from fairtrial.report.figures.base import PALETTE, build_chart, to_records

    rows = to_records(_drawn(frame, table), _COLUMNS)
    changes, learners = (list(dict.fromkeys(row[side] for row in rows)) for side in ("change", "learner"))
    scale, axis = alt.Scale(domain=[-0.2, 1], clamp=True), alt.Axis(values=[0, 0.5, 1], format=".1f")
    x, printed_x, least = (alt.X(f"{name}:Q", title="pD", scale=scale, axis=axis) for name in ("ours", "published", "least"))
    y = alt.Y("change:N", title=None, sort=changes, axis=alt.Axis(labelLimit=220, grid=True))
    base = build_chart(rows)
    hint = [alt.Tooltip("change:N"), alt.Tooltip("ours:Q", format=".3f"), alt.Tooltip("published:Q", format=".2f")]
    layers = alt.layer(
        base.mark_rule(color=PALETTE[0], strokeWidth=2).encode(least, y, x2="most:Q"),
        base.mark_circle(color=PALETTE[0], size=70, opacity=1).encode(x, y, tooltip=hint),
        base.mark_point(shape="cross", color=PALETTE[1], filled=True, size=80, opacity=1, angle=45).encode(
            printed_x, y, tooltip=hint
        ),
    ).properties(width=150, height=alt.Step(22))
    return layers.facet(
        column=alt.Column("learner:N", sort=learners, title=None, header=alt.Header(labelFontWeight="bold")), spacing=14
    ).properties(title=alt.TitleParams(_TITLES[table], fontSize=14, anchor="start"))


def _drawn(cells: pd.DataFrame, table: TableName) -> pd.DataFrame:
    keys = ["learner", "trained_on", "tested_on"]
    changed = cells[cells["trained_on"] != cells["tested_on"]]
    own = changed.merge(printed()[[*keys, "pd"]], on=keys, how="left", suffixes=("", "_printed"))
    names = {"populations": own["tested_on"], "missing": own["trained_on"]}
    change = names.get(table, own["trained_on"] + " to " + own["tested_on"])
    return own.assign(change=change, ours=own["pd"], least=own["pd_low"], most=own["pd_high"], published=own["pd_printed"])
