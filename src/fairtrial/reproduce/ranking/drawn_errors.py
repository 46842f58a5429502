"""Figures: error rates against noise, and ours against the published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.base import (
    DASHES,
    build_axis,
    build_chart,
    build_title,
    build_tooltips,
    collect_rows,
    draw_reference_line,
    encode_colour,
    style_chart,
    to_records,
)
from fairtrial.reproduce.ranking.curves import Curve
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS

if TYPE_CHECKING:
    import pandas as pd


def draw_curve(curve: Curve, number: int) -> Any:
    """Error rates of the measures against the level of noise; taKS is dashed, for it lies on the AUC."""
    import altair as alt

    frame = curve.frame()
    frames = {WORDS[each]: frame[["level"]].assign(error=frame[each]) for each in MEASURES}
    columns = {"level": "level of noise in %", "error": "error in %"}
    x = build_axis("x", "level", "Level of noise in %", low=float(frame["level"].min()), high=float(frame["level"].max()))
    y = build_axis(
        "y", "error", "Error: the worse ranking is preferred, in %", high=_ceiling(float(frame[list(MEASURES)].max().max()))
    )
    dashes = [list(DASHES[2] if name == WORDS["taks"] else DASHES[0]) for name in frames]
    dash = alt.StrokeDash("learner:N", scale=alt.Scale(domain=list(frames), range=dashes), title=None, legend=_legend())
    lines = build_chart(collect_rows(frames, columns)).mark_line(strokeWidth=2.2, strokeJoin="round")
    lines = lines.encode(x, y, encode_colour(frames), dash, order=alt.Order("row:Q"), tooltip=build_tooltips(columns))
    title = build_title(curve.noise.title, f"As Figure {number} of the paper; {curve.pairs:,} pairs of rankings at each level.")
    return style_chart(lines.properties(width=480, height=320, title=title))


def draw_agreement(cells: pd.DataFrame, repeats: int) -> Any:
    """Our error rates against the published ones, in %, with 95 % intervals of ours; the axes are square roots."""
    import altair as alt

    high = _ceiling(float(cells[["ours", "published", "highest"]].max().max()))
    rows = to_records(cells.assign(learner=cells["measure"].map(WORDS)), [*cells.columns, "learner"])
    scale = alt.Scale(type="sqrt", domain=[0, high], nice=False)
    ticks = alt.Axis(values=[each for each in (0, 1, 5, 10, 20, 40, 60, 80, 100) if each <= high])
    x = alt.X("published:Q", title="Published error in %", scale=scale, axis=ticks)
    y = alt.Y("ours:Q", title="Error here in %", scale=scale, axis=ticks)
    base, names = build_chart(rows), [WORDS[each] for each in MEASURES]
    bars = base.mark_rule(opacity=0.45).encode(
        x, alt.Y("lowest:Q", title="Error here in %", scale=scale, axis=ticks), alt.Y2("highest:Q"), _circles(names)
    )
    told = build_tooltips({"ours": "here", "published": "published"})
    told = [*told, alt.Tooltip("dataset:N", title="data set"), alt.Tooltip("experiment:Q", title="experiment")]
    points = base.mark_point(filled=True, size=42, opacity=0.85).encode(x, y, _circles(names), tooltip=told)
    line = draw_reference_line([(0, 0), (high, high)], x, y)
    subtitle = f"A point for each measure, data set and experiment; 95 % intervals of {repeats:,} repeats."
    title = build_title("Errors here and in the paper's Table 1", subtitle)
    return style_chart(alt.layer(line, bars, points).properties(width=420, height=420, title=title))


def draw_means(means: pd.DataFrame) -> Any:
    """Mean error of each measure in each experiment, with intervals; open circles are the published means."""
    import altair as alt

    named = means.assign(learner=[WORDS.get(each, each) for each in means["measure"]])
    names, rows = list(dict.fromkeys(named["learner"])), to_records(named, named.columns)
    high = _ceiling(float(means[["high", "published"]].max().max()))
    x = alt.X("learner:N", title=None, sort=names, axis=alt.Axis(labelAngle=-40))
    y = build_axis("y", "value", "Mean error in %", high=high)
    base = build_chart(rows)
    bars = base.mark_rule(strokeWidth=2).encode(
        x, build_axis("y", "low", "Mean error in %", high=high), alt.Y2("high:Q"), _plain(names)
    )
    points = base.mark_point(filled=True, size=50).encode(x, y, _plain(names), tooltip=build_tooltips({"value": "here"}))
    rings = base.mark_point(size=70, opacity=0.9).encode(
        x,
        build_axis("y", "published", "Mean error in %", high=high),
        _plain(names),
        tooltip=build_tooltips({"published": "published"}),
    )
    panels = alt.layer(bars, points, rings).properties(width=max(175, 29 * len(names)), height=230)
    subtitle = "Filled: here, with 95 % intervals over repeats. Open: the paper, over the same data sets."
    shown = panels.facet(column=alt.Column("experiment:N", title=None)).properties(title=build_title("Mean errors", subtitle))
    return style_chart(shown)


def _ceiling(value: float) -> float:
    return max(5.0, 5.0 * -(-value // 5.0))


def _circles(names: list[str]) -> Any:
    import altair as alt

    return encode_colour(names).legend(alt.Legend(orient="bottom", columns=3, symbolType="circle", symbolOpacity=1, title=None))


def _plain(names: list[str]) -> Any:
    return encode_colour(names).legend(None)


def _legend() -> Any:
    import altair as alt

    return alt.Legend(orient="bottom", columns=6, symbolType="stroke", symbolStrokeWidth=3, symbolSize=300)
