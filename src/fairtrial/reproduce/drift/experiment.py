"""Repeat the tutorial's drift study on a simulated flu domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.drift import claims, simulation, tables
from fairtrial.reproduce.drift.results import DriftResults
from fairtrial.reproduce.drift.simulation import TABLES, DriftPlan, TableName
from fairtrial.reproduce.drift.tables import TABLE_NUMBERS, TABLE_TITLES
from fairtrial.reproduce.experiment import Reproduction, Request, experiment

if TYPE_CHECKING:
    import pandas as pd

_FIGURE_TITLES: dict[TableName, str] = {
    "populations": "Table I: trained on the usual population, tested on others",
    "missing": "Table II: trained without some age groups, tested on the usual population",
    "definitions": "Table III: another definition of the class",
}
_AVERAGES_TITLE = "Averaged pD, ours and the tutorial's"
_OVERVIEW_TITLE = "pD by environment, ours and the tutorial's"


@experiment(
    "drift",
    title="Does the loss under drift separate learners? The flu domain",
    paper="tutorial",
)
def run(request: Request) -> Reproduction:
    """Train four learners in the environments of the three tables and judge both hypotheses."""
    plan = DriftPlan.read(request.scale)
    results = DriftResults(plan, simulation.simulate(plan, request.seed, request.jobs, request.out / "parts", request.progress))
    all_claims = claims.build_claims(results, is_smoke=request.scale == "smoke")
    return Reproduction(
        values=summarise(results),
        tables=tables.build_tables(results),
        claims=tuple(all_claims.values()),
        figures=draw_figures(results),
        skipped=results.list_failures(),
        answer=claims.summarise_claims(all_claims, results),
    )


def summarise(results: DriftResults) -> dict[str, Any]:
    """Compute the values used in the text of the page."""
    plan, published = results.plan, tables.read_drift_tables()
    definitions = results.build_cells("definitions")
    return {
        "plan": plan,
        "much": claims.MUCH,
        "equal": claims.EQUAL,
        "agreement": measure_agreement(results),
        "our_trivial": 100 * definitions.loc[definitions["tested_on"] == "MC", "trivial"].mean(),
        "published_trivial": published.loc[published["tested_on"] == "MC", "trivial"].iloc[0],
    }


def measure_agreement(results: DriftResults) -> pd.DataFrame:
    """Measure the agreement of our errors and pD values with the published ones, by table."""
    import pandas as pd

    agreement = []
    for table in TABLES:
        frame = tables.compare_cells(results, table)
        for quantity, pattern in (("error, %", "{:+.1f}"), ("pD", "{:+.2f}")):
            rows = frame[(frame["quantity"] == quantity) & frame["difference"].notna()]
            n_inside = int(((rows["low"] <= 0) & (rows["high"] >= 0)).sum())
            agreement.append(
                {
                    "table": TABLE_NUMBERS[table],
                    "quantity": quantity,
                    "mean difference": pattern.format(rows["difference"].mean()),
                    "mean absolute difference": pattern.format(rows["difference"].abs().mean()).lstrip("+"),
                    "in our interval": f"{n_inside} of {len(rows)}",
                    "rank correlation": f"{rows['ours'].corr(rows['published'], method='spearman'):.2f}",
                }
            )
    return pd.DataFrame(agreement)


def draw_figures(results: DriftResults) -> dict[str, Any]:
    """Draw all figures and return them keyed by title."""
    from fairtrial.report.figures.environments import draw_environments

    cells = {table: results.build_cells(table) for table in TABLES}
    figures = {_AVERAGES_TITLE: draw_averages(results), _OVERVIEW_TITLE: draw_overview(cells)}
    for table, columns in zip(TABLES, (1, 4, 2), strict=True):
        figures[_FIGURE_TITLES[table]] = draw_environments(cells[table], columns=columns, title=_FIGURE_TITLES[table])
    return figures


def draw_averages(results: DriftResults) -> Any:
    """Draw the averaged pD of each learner beside the printed averages."""
    import altair as alt
    import pandas as pd

    from fairtrial.report.figures.base import build_title, style_chart, to_records

    rows = []
    for table in TABLES:
        printed = {} if table == "missing" else tables.average_published_pd(table)
        for learner in results.plan.learners:
            pd_estimate = results.get_errors(table, learner).estimate_pd()
            values = {"ours": pd_estimate.value, "low": pd_estimate.low, "high": pd_estimate.high}
            rows.append(
                {"table": TABLE_TITLES[table], "learner": learner, **values, "published": printed.get(learner, float("nan"))}
            )
    frame = pd.DataFrame(rows)
    layers = _draw_points(to_records(frame, frame.columns), "learner", results.plan.learners, high=0.5)
    header = alt.Header(labelFontWeight="bold", labelFontSize=12)
    panels = layers.properties(width=240, height=alt.Step(24)).facet(
        column=alt.Column("table:N", sort=list(TABLE_TITLES.values()), title=None, header=header), spacing=24
    )
    subtitle = "Dots show ours with 95 % intervals, crosses the printed averages; those of Table II do not follow from its rows"
    return style_chart(panels.properties(title=build_title(_AVERAGES_TITLE, subtitle)))


def draw_overview(cells: Mapping[TableName, pd.DataFrame]) -> Any:
    """Draw our pD of each change, with its interval, beside the printed pD."""
    import altair as alt

    from fairtrial.report.figures.base import build_title, style_chart

    panels = [_draw_panels(frame, table) for table, frame in cells.items()]
    title = build_title(_OVERVIEW_TITLE, "Dots show our pD with 95 % intervals over replicates, crosses the printed pD")
    return style_chart(alt.vconcat(*panels, spacing=30).properties(title=title))


def _draw_panels(cells: pd.DataFrame, table: TableName) -> Any:
    import altair as alt

    from fairtrial.report.figures.base import to_records

    rows = to_records(_join_published(cells, table), ["learner", "change", "ours", "low", "high", "published"])
    changes, learners = (list(dict.fromkeys(row[side] for row in rows)) for side in ("change", "learner"))
    layers = _draw_points(rows, "change", changes, high=1.0).properties(width=150, height=alt.Step(22))
    return layers.facet(
        column=alt.Column("learner:N", sort=learners, title=None, header=alt.Header(labelFontWeight="bold")), spacing=14
    ).properties(title=alt.TitleParams(_FIGURE_TITLES[table], fontSize=14, anchor="start"))


def _draw_points(rows: list[dict[str, Any]], field: str, names: Sequence[str], high: float) -> Any:
    """Draw our pD values as dots with intervals, and the printed values as crosses."""
    import altair as alt

    from fairtrial.report.figures.base import PALETTE, build_chart

    scale, axis = alt.Scale(domain=[-0.2, high], clamp=True), alt.Axis(values=[0, high / 2, high], format=".2~f")
    x, published_x, low = (alt.X(f"{name}:Q", title="pD", scale=scale, axis=axis) for name in ("ours", "published", "low"))
    y = alt.Y(f"{field}:N", title=None, sort=list(names), axis=alt.Axis(labelLimit=220, grid=True))
    base = build_chart(rows)
    tooltip = [alt.Tooltip(f"{field}:N"), alt.Tooltip("ours:Q", format=".3f"), alt.Tooltip("published:Q", format=".2f")]
    return alt.layer(
        base.mark_rule(color=PALETTE[0], strokeWidth=2).encode(low, y, x2="high:Q"),
        base.mark_circle(color=PALETTE[0], size=70, opacity=1).encode(x, y, tooltip=tooltip),
        base.mark_point(shape="cross", color=PALETTE[1], filled=True, size=80, opacity=1, angle=45).encode(
            published_x, y, tooltip=tooltip
        ),
    )


def _join_published(cells: pd.DataFrame, table: TableName) -> pd.DataFrame:
    keys = ["learner", "trained_on", "tested_on"]
    changed = cells[cells["trained_on"] != cells["tested_on"]]
    rows = changed.merge(tables.read_drift_tables()[[*keys, "pd"]], on=keys, how="left", suffixes=("", "_published"))
    names = {"populations": rows["tested_on"], "missing": rows["trained_on"]}
    change = names.get(table, rows["trained_on"] + " to " + rows["tested_on"])
    return rows.assign(change=change, ours=rows["pd"], low=rows["pd_low"], high=rows["pd_high"], published=rows["pd_published"])
