"""Figure of the differences between candidates and a baseline, compared with a margin."""

from __future__ import annotations

from typing import Any

from fairtrial.errors import InputError
from fairtrial.report.figures.base import (
    GREY,
    INK,
    build_chart,
    build_title,
    encode_colour,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)

_COLUMNS = ["candidate", "measure", "margin", "difference", "low", "high", "decision", "passed"]


def draw_margins(comparisons: Any, *, baseline: str = "baseline", title: str = "Difference and margin") -> Any:
    """Draw the interval of each candidate's difference from the baseline, with lines at zero and at the margin.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        Result of `GateResult.frame`, with the columns candidate, measure, margin, difference, low, high, decision and passed.
    baseline : str
        Name of the baseline.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"candidate": "new", "measure": "auc", "margin": 0.01, "difference": -0.001, "low": -0.005, "high": 0.003,
    ...         "decision": "non-inferior", "passed": True}
    >>> draw_margins(pd.DataFrame([line])).to_dict()["title"]["text"]
    'Difference and margin'
    """
    import altair as alt

    lines = require_columns("comparisons", to_frame(comparisons), _COLUMNS)
    if lines.empty:
        raise InputError("comparisons must contain at least 1 row, got none")
    from fairtrial.measures import get_measure

    panels = []
    for measure, group in lines.groupby("measure", sort=False):
        group_measure = get_measure(str(measure))
        sign = -1 if group_measure.facts.direction == "max" else 1
        outcomes = [
            f"{'passes' if passed else 'does not pass'}: {decision}"
            for passed, decision in zip(group["passed"], group["decision"], strict=True)
        ]
        drawn = group.assign(bound=sign * group["margin"], zero=0.0, learner=group["candidate"], text=outcomes)
        rows = to_records(drawn, [*_COLUMNS, "bound", "zero", "learner", "text"])
        panels.append(_draw_panel(rows, group_measure.display_name, baseline, len(lines) > 1))
    sides = {"right" if get_measure(str(name)).facts.direction == "max" else "left" for name in lines["measure"]}
    side = sides.pop() if len(sides) == 1 else "better side"
    subtitle = f"Passes if the whole interval lies to the {side} of the dashed line"
    chart = alt.vconcat(*panels, spacing=22) if len(panels) > 1 else panels[0]
    return style_chart(chart.properties(title=build_title(title, subtitle)))


def _draw_panel(rows: list[dict[str, Any]], measure: str, baseline: str, has_heading: bool) -> Any:
    import altair as alt

    y = alt.Y("candidate:N", sort=[row["candidate"] for row in rows], title=None, axis=alt.Axis(ticks=False, domain=False))
    candidates = list(dict.fromkeys(str(row["candidate"]) for row in rows))
    x_title = f"Difference in {measure}, {candidates[0] if len(candidates) == 1 else 'candidate'} minus {baseline}"
    x = alt.X("low:Q", title=x_title, scale=alt.Scale(zero=False, padding=18), axis=alt.Axis(format="~g"))
    hint = [alt.Tooltip("candidate:N"), alt.Tooltip("decision:N")]
    hint += [alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("difference", "low", "high", "margin")]
    base = build_chart(rows)
    color = encode_colour(row["candidate"] for row in rows).legend(None)
    bars = base.mark_rule(strokeWidth=3).encode(x, y, x2="high:Q", color=color, tooltip=hint)
    points = base.mark_point(filled=True, size=110, opacity=1).encode(x=alt.X("difference:Q"), y=y, color=color, tooltip=hint)
    zero = base.mark_rule(color=GREY, opacity=0.6).encode(x=alt.X("zero:Q"))
    bound = base.mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=1.6).encode(x=alt.X("bound:Q"))
    words = base.mark_text(align="left", dy=-14, fontSize=12, color=INK).encode(x=alt.X("low:Q"), y=y, text="text:N")
    panel = (zero + bound + bars + points + words).properties(width=520, height=alt.Step(46))
    return panel.properties(title=alt.TitleParams(measure, fontSize=14, anchor="start")) if has_heading else panel
