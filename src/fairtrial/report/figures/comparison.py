"""Figures of a comparison: ranks, pairs, strengths, posteriors and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._narrative import name_argument
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, format_p_value
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.report.figures.base import (
    GREY,
    INK,
    PALE,
    SIDE,
    build_axis,
    build_chart,
    build_title,
    encode_colour,
    encode_shape,
    format_with_interval,
    get_colour,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)
from fairtrial.report.figures.critical_difference import draw_critical_difference
from fairtrial.report.figures.curves import draw_intervals
from fairtrial.report.figures.posterior import draw_density, draw_simplex
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.means import compute_level_means, compute_test_fraction
from fairtrial.report.names import get_verdict_measure_name
from fairtrial.report.selection import Selection, get_main_condition
from fairtrial.study.results.selection import format_condition, mask_condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

MINUS = "\N{MINUS SIGN}"
_NAMES: dict[str, Any] = {"grid": False, "labelLimit": 320, "labelPadding": 8, "domain": False, "ticks": False}
_PAIR_COLUMNS = (
    "first",
    "second",
    "difference",
    "rank_difference",
    "p_adjusted",
    "significant",
    "wins",
    "ties",
    "losses",
)
_SELECT = ("condition", "level", "positive")


def draw_ranks(ranks: pd.DataFrame, *, unit: str = "data set", title: str = "Ranks") -> Any:
    """Draw the mean rank of each learner, and the number of data sets on which it has each rank.

    Parameters
    ----------
    ranks : pandas.DataFrame
        Ranks, with one row per data set and one column per learner.
    unit : str
        What each row represents: "data set" or "split".
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> chart = draw_ranks(pd.DataFrame({"tree": [1, 1, 2], "bayes": [2, 2, 1]}))
    >>> chart.to_dict()["title"]["text"]
    'Ranks'
    """
    import altair as alt

    ranks = _check_rank_frame(ranks)
    means = ranks.mean().sort_values(kind="stable")
    order, k = [str(name) for name in means.index], ranks.shape[1]
    counts = [
        {"learner": str(name), "rank": float(rank), "datasets": int(number)}
        for name in means.index
        for rank, number in ranks[name].value_counts().sort_index().items()
    ]
    mean_rows = [{"learner": str(name), "rank": float(mean), "text": f"{mean:.2f}"} for name, mean in means.items()]
    width = max(SIDE, 34 * (k - 1))
    x = build_axis("x", "rank", f"Rank on a {unit} (1 is the best)", low=0.6, high=k + 0.4).axis(
        values=list(range(1, k + 1)), tickCount=k, labelOverlap=False, format="d", domain=False
    )
    y = alt.Y("learner:N", sort=order, title=None, axis=alt.Axis(**{**_NAMES, "grid": True}))
    size = alt.Size("datasets:Q", scale=alt.Scale(domainMin=0, range=[0, 640]), legend=_build_bubble_legend(counts, unit))
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("rank:Q"), alt.Tooltip("datasets:Q", title=f"{unit}s")]
    colour = encode_colour(order).legend(None)
    circles = build_chart(counts).mark_point(filled=True, opacity=0.6).encode(x, y, size, colour, tooltip=hint)
    base = build_chart(mean_rows)
    ticks = base.mark_tick(color=INK, thickness=3, size=24, opacity=1).encode(x, y, tooltip=["learner:N", "rank:Q"])
    head = build_chart([{"text": "mean"}]).mark_text(align="left", fontSize=12, color=GREY)
    numbers = base.mark_text(align="left", fontSize=12.5, color=INK).encode(y=y, x=alt.value(width + 14), text="text:N")
    header = head.encode(x=alt.value(width + 14), y=alt.value(-9), text="text:N")
    heading = build_title(title, f"Circles: number of {unit}s with this rank. Bars: mean rank")
    layers = alt.layer(circles, ticks, numbers, header)
    return style_chart(layers.properties(width=width, height=alt.Step(34, **{"for": "position"}), title=heading))


def _check_rank_frame(ranks: Any) -> pd.DataFrame:
    frame = to_frame(ranks)
    if frame.shape[1] < 2 or not len(frame):
        raise InputError(f"ranks must have at least 2 learners (columns) and 1 row, got the shape {frame.shape}")
    values = frame.to_numpy()
    if values.dtype.kind not in "iuf" or not ((values >= 1) & (values <= frame.shape[1])).all():
        raise InputError(f"ranks must be between 1 and {frame.shape[1]}, the number of learners: pass ranks, not scores")
    return frame


def _build_bubble_legend(counts: list[dict[str, Any]], unit: str) -> Any:
    """Build a legend with a small, a medium and the largest circle."""
    import altair as alt

    most = max(row["datasets"] for row in counts)
    values = sorted({1, max(1, round(most / 3)), most})
    return alt.Legend(
        orient="bottom",
        title=f"{unit}s",
        titleFontWeight="normal",
        titleOrient="left",
        values=values,
        symbolFillColor=GREY,
        symbolStrokeWidth=0,
        format="d",
    )


def draw_pairs(
    pairs: pd.DataFrame,
    *,
    order: Iterable[str] | None = None,
    unit: str = "data set",
    title: str = "Pairwise differences",
    alpha: float = 0.05,
) -> Any:
    """Draw a matrix of the pairwise differences between learners.

    Each cell also shows the adjusted p-value and the numbers of wins, ties and losses. The row of a cell is the
    better learner of the pair, and the column is the other learner. If there is a control, it is always the row. Cells with
    a significant difference are framed.

    Parameters
    ----------
    pairs : pandas.DataFrame
        Columns first, second, difference (first minus second), rank_difference, p_adjusted, significant, wins, ties, losses.
    order : list of str, optional
        Learners, best first. Default: sorted by mean rank.
    unit : str
        What is counted: "data set" or "split".
    title : str
        Title of the chart.
    alpha : float
        Significance level. Displayed p-values are never rounded across this level.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> pair = {"first": ["tree"], "second": ["rule"], "difference": [0.2], "rank_difference": [-1.0], "p_adjusted": [0.01]}
    >>> pairs = pd.DataFrame({**pair, "significant": [True], "wins": [9], "ties": [0], "losses": [1]})
    >>> chart = draw_pairs(pairs)
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rect', 'rect', 'text', 'text', 'text']
    """
    import altair as alt

    frame = require_columns("pairs", to_frame(pairs), _PAIR_COLUMNS)
    names = _order_by_mean_rank(frame) if order is None else [str(name) for name in order]
    cells = _build_pair_cells(frame, names, alpha)
    rows, columns = ([name for name in names if name in {cell[side] for cell in cells}] for side in ("row", "column"))
    long = max(map(len, columns)) > 12
    width, height = (92, 58) if len(columns) <= 12 else (76, 56)
    head = alt.Axis(**_NAMES, orient="top", labelAngle=-40 if long else 0, labelAlign="left" if long else "center")
    x = alt.X("column:N", sort=columns, title=None, axis=head, scale=alt.Scale(paddingInner=0.04, paddingOuter=0.02))
    y = alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(**_NAMES), scale=alt.Scale(paddingInner=0.05, paddingOuter=0.03))
    hint = [alt.Tooltip(f"{name}:N") for name in ("row", "column", "difference", "p", "record")]
    shade = alt.Scale(domain=[-1, 0, 1], range=["#F2A46B", "#F4F4F4", "#7FB8DA"])
    tiles = (
        build_chart(cells).mark_rect(cornerRadius=3).encode(x, y, alt.Color("net:Q", scale=shade, legend=None), tooltip=hint)
    )
    layers = [tiles]
    framed = [cell for cell in cells if cell["significant"]]
    if framed:
        layers.append(build_chart(framed).mark_rect(filled=False, stroke=INK, strokeWidth=2, cornerRadius=3).encode(x, y))
    layers += [
        _draw_cell_text(cells, field, dy, size, x, y)
        for field, dy, size in (("difference", -17, 13.5), ("p", 1, 12), ("record", 18, 12))
    ]
    heading = build_title(
        title,
        f"Row minus column, adjusted p, {unit}s won / tied / lost by the row",
        "Framed: significant. Blue: the row wins more often",
    )
    plain = alt.ViewBackground(stroke=None)
    return style_chart(alt.layer(*layers).properties(width=alt.Step(width), height=alt.Step(height), title=heading, view=plain))


def _order_by_mean_rank(pairs: pd.DataFrame) -> list[str]:
    """Sort learners by mean rank, best first. Only the differences between mean ranks are known."""
    differences: dict[str, list[float]] = {}
    for first, second, difference in zip(pairs["first"], pairs["second"], pairs["rank_difference"], strict=True):
        differences.setdefault(str(first), []).append(difference)
        differences.setdefault(str(second), []).append(-difference)
    # The difference between a learner and itself is 0.
    means = {name: sum(values) / (len(values) + 1) for name, values in differences.items()}
    return sorted(means, key=means.__getitem__)


def _build_pair_cells(pairs: pd.DataFrame, names: list[str], alpha: float) -> list[dict[str, Any]]:
    """Build one cell per pair. Its row is the better learner of the pair, or the control."""
    cells = []
    number_format = _choose_difference_format(pairs["difference"])
    has_control = len(pairs) > 1 and pairs["first"].nunique() == 1
    for pair in to_records(pairs, _PAIR_COLUMNS):
        first, second = pair["first"], pair["second"]
        for name in (first, second):
            if name not in names:
                raise InputError(f"order must name every learner in the pairs, but lacks {name!r}")
        swapped = not has_control and names.index(first) > names.index(second)
        wins, losses = (pair["losses"], pair["wins"]) if swapped else (pair["wins"], pair["losses"])
        n = wins + pair["ties"] + losses
        cells.append(
            {
                "row": second if swapped else first,
                "column": first if swapped else second,
                "difference": _format_signed(_flip_sign(pair["difference"], swapped), number_format),
                "p": format_p_value(float("nan") if pair["p_adjusted"] is None else pair["p_adjusted"], alpha),
                "record": f"{wins:.0f} / {pair['ties']:.0f} / {losses:.0f}",
                "net": (wins - losses) / n if n else 0.0,
                "significant": bool(pair["significant"]),
            }
        )
    return cells


def _flip_sign(value: float | None, swapped: bool) -> float | None:
    return -value if swapped and value is not None else value


def _choose_difference_format(differences: pd.Series[float]) -> str:
    """Choose a format that shows three significant digits of the largest difference."""
    largest = float(np.nan_to_num(differences.abs().max()))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    return f"+.{max(0, 2 - power)}f" if -4 <= power <= 6 else "+.2e"


def _format_signed(value: float | None, number_format: str) -> str:
    if value is None:
        return "undefined"
    text = f"{value:{number_format}}"
    # A number that is rounded to zero has no sign.
    return text.replace("-", MINUS) if float(text) else text[1:]


def _draw_cell_text(cells: list[dict[str, Any]], field: str, dy: float, size: float, x: Any, y: Any) -> Any:
    return build_chart(cells).mark_text(dy=dy, fontSize=size, color=INK).encode(x, y, text=f"{field}:N")


def draw_wins(learners: tuple[str, str], counts: tuple[int, int, int], *, unit: str = "data set") -> Any:
    """Draw the number of data sets on which each of two learners is better.

    Parameters
    ----------
    learners : tuple of str
        Names of the two learners.
    counts : tuple of int
        Wins, ties and losses of the first learner.
    unit : str
        What is counted: "data set" or "split".

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> chart = draw_wins(("tree", "rule"), (5, 1, 2))
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['bar', 'text']
    """
    import altair as alt

    first, second = learners
    labels = [f"{first} is better", "tie", f"{second} is better"]
    rows = [
        {"label": label, "learner": name, "count": count}
        for label, name, count in zip(labels, (first, "", second), counts, strict=True)
    ]
    hues = alt.Scale(domain=[first, "", second], range=[get_colour(first, 0), PALE, get_colour(second, 1)])
    names = alt.Axis(**{**_NAMES, "labelLimit": 200})
    y = alt.Y("label:N", sort=labels, title=None, axis=names, scale=alt.Scale(paddingInner=0.3))
    x = alt.X("count:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1.08 * max(counts)]))
    base = build_chart(rows).encode(x, y, tooltip=[alt.Tooltip("label:N", title=""), alt.Tooltip("count:Q", title=f"{unit}s")])
    bars = base.mark_bar(cornerRadiusEnd=3).encode(alt.Color("learner:N", scale=hues, legend=None))
    numbers = base.mark_text(align="left", dx=6, fontSize=13, color=INK).encode(text="count:Q")
    title = build_title(f"Number of {unit}s on which each is better")
    return style_chart(alt.layer(bars, numbers).properties(width=SIDE, height=132, title=title))


def draw_dataset_scores(
    scores: pd.DataFrame,
    *,
    order: Iterable[str] | None = None,
    axis_title: str = "Score",
    title: str = "Scores",
    subtitle: str = "",
) -> Any:
    """Draw the score of each learner on each data set: one row per data set, one point per learner.

    Parameters
    ----------
    scores : pandas.DataFrame
        Scores, with one row per data set and one column per learner.
    order : list of str, optional
        Data sets from top to bottom. Default: the order of the frame.
    axis_title, title, subtitle : str
        Titles of the axis and of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> chart = draw_dataset_scores(pd.DataFrame({"tree": [0.9, 0.8], "bayes": [0.7, 0.9]}, index=["iris", "wine"]))
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rule', 'point']
    """
    import altair as alt

    frame = to_frame(scores)
    datasets = [str(name) for name in (frame.index if order is None else order)]
    learners = [str(name) for name in frame.columns]
    lines = frame.set_axis([str(name) for name in frame.index]).loc[datasets].to_numpy(dtype=np.float64)
    rows = [
        {"dataset": dataset, "learner": learner, "score": float(value)}
        for dataset, line in zip(datasets, lines, strict=True)
        for learner, value in zip(learners, line, strict=True)
        if np.isfinite(value)
    ]
    if not rows:
        raise InputError("scores must contain at least 1 finite score, got none")
    ends = [
        {"dataset": dataset, "low": float(line[np.isfinite(line)].min()), "high": float(line[np.isfinite(line)].max())}
        for dataset, line in zip(datasets, lines, strict=True)
        if np.isfinite(line).any()
    ]
    y = alt.Y("dataset:N", sort=datasets, title=None, axis=alt.Axis(**_NAMES))
    scale = alt.Scale(zero=False, nice=True, padding=8)
    hint = [alt.Tooltip("dataset:N", title="data set"), alt.Tooltip("learner:N"), alt.Tooltip("score:Q", format=".4f")]
    n_columns = max(1, SIDE // (7 * max(map(len, learners)) + 40))
    legend: Any = alt.Legend(orient="bottom", symbolOpacity=1, columns=n_columns, labelLimit=SIDE)
    legend = legend if len(learners) > 1 else None
    spans = build_chart(ends).mark_rule(color=PALE, strokeWidth=5)
    points = build_chart(rows).mark_point(filled=True, size=80, opacity=0.9)
    chart = alt.layer(
        spans.encode(alt.X("low:Q", title=axis_title, scale=scale), y, x2="high:Q"),
        points.encode(
            alt.X("score:Q", scale=scale),
            y,
            encode_colour(learners).legend(legend),
            encode_shape(learners).legend(legend),
            tooltip=hint,
        ),
    )
    heading = build_title(title, *[subtitle] * bool(subtitle))
    return style_chart(chart.properties(width=SIDE, height=22 * len(datasets), title=heading))


def draw_strengths(frame: Any, *, title: str = "Strengths") -> Any:
    """Draw the strengths of learners (Bradley-Terry model) with intervals.

    Parameters
    ----------
    frame : Strengths or dataframe
        Result of `bradley_terry`, or a frame with the columns learner, strength, low and high.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.significance.strength import bradley_terry
    >>> found = bradley_terry([[0.9, 0.8, 0.7], [0.8, 0.9, 0.7], [0.9, 0.8, 0.6], [0.7, 0.6, 0.65]], resamples=100)
    >>> chart = draw_strengths(found)
    >>> chart.to_dict()["title"]["subtitle"]
    ['Points: strengths (Elo). Lines: 95 % intervals over data sets. Dashed: mean']
    """
    import altair as alt

    subtitle = _format_strength_subtitle(frame)
    lines = require_columns("frame", to_frame(frame), ["learner", "strength", "low", "high"], index="learner")
    lines = lines.sort_values("strength", ascending=False, kind="stable")
    rows = to_records(lines, ["learner", "strength", "low", "high"])
    digits = 0 if float(np.nanmax([lines["strength"].max(), 0])) >= 100 else 2
    for row in rows:
        row["text"] = format_with_interval(row["strength"], row["low"], row["high"], digits)
    order = [row["learner"] for row in rows]
    y = alt.Y("learner:N", sort=order, title=None, axis=alt.Axis(**_NAMES))
    scale = alt.Scale(zero=False, nice=True, padding=10)
    base = build_chart(rows).encode(y, tooltip=[alt.Tooltip("learner:N"), alt.Tooltip("text:N", title="strength")])
    middle = build_chart([{"low": float(lines["strength"].mean())}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2)
    colour = encode_colour(order).legend(None)
    bars = base.mark_rule(strokeWidth=2.4).encode(
        colour, alt.X("low:Q", title="Strength", scale=scale, axis=alt.Axis(format="~f")), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(colour, alt.X("strength:Q", scale=scale))
    numbers = base.mark_text(align="left", fontSize=12, color=INK).encode(x=alt.value(SIDE + 14), text="text:N")
    layers = [middle.encode(alt.X("low:Q", scale=scale))] * bool(np.isfinite(lines["strength"]).all())
    whole = alt.layer(*layers, bars, points, numbers)
    return style_chart(
        whole.properties(width=SIDE, height=alt.Step(30, **{"for": "position"}), title=build_title(title, subtitle))
    )


def _format_strength_subtitle(result: Any) -> str:
    scale = {"elo": " (Elo)", "log": " (natural logarithms)"}.get(getattr(result, "scale", ""), "")
    confidence_level = getattr(result, "level", None)
    lines = "intervals" if confidence_level is None else f"{100 * confidence_level:g} % intervals over data sets"
    return f"Points: strengths{scale}. Lines: {lines}. Dashed: mean"


def list_comparison_figures(verdict: Verdict) -> dict[str, Callable[[], Any]]:
    """Map the name of each figure of a verdict to the function that draws it.

    Parameters
    ----------
    verdict : Verdict
        Result of `compare`.

    Returns
    -------
    dict of str to callable

    Examples
    --------
    >>> from fairtrial import compare
    >>> sorted(list_comparison_figures(compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6]], rows="datasets")))
    ['critical-difference', 'pairs', 'ranks']
    """
    first, second, posterior = verdict.table.learners[0], verdict.table.learners[-1], verdict.posterior
    figures: dict[str, Callable[[], Any]] = {
        "critical-difference": lambda: draw_critical_difference(
            verdict.mean_ranks, verdict.groups, critical_difference=_find_critical_difference(verdict), control=verdict.control
        ),
        "ranks": lambda: draw_ranks(verdict.ranks(), unit=verdict.unit),
        "pairs": lambda: draw_pairs(verdict.pairs(), order=list(verdict.order), unit=verdict.unit, alpha=verdict.alpha),
    }
    if posterior is not None and not np.isnan(posterior.p_first):
        if posterior.draws is not None:
            figures["simplex"] = lambda: draw_simplex(posterior, names=(first, second))
        else:
            figures["density"] = lambda: draw_density(posterior, names=(first, second))
    return figures


def _find_critical_difference(verdict: Verdict) -> float | None:
    """Find the critical difference for mean ranks. Return None for aligned and Quade ranks, which are on a different scale."""
    posthoc = verdict.posthoc
    return posthoc.critical_difference if posthoc is not None and posthoc.omnibus == "friedman" else None


def _draw_comparison_figure(name: str, verdict: Verdict) -> Any:
    """Draw a figure of a verdict, with the measure and the number of data sets or splits in its title."""
    charts = list_comparison_figures(verdict)
    if name not in charts:
        units = "several data sets" if name == "simplex" else "the splits of one data set"
        rope = name_argument("rope", "0.01")
        raise InputError(
            f"the figure {name!r} needs the posterior of 2 learners over {units}, got none: compare 2 learners with {rope}"
        )
    chart = charts[name]()
    units = format_count(len(verdict.table.datasets), verdict.unit)
    details = [verdict.measure_name, units] if verdict.measure_name else [units]
    chart.title.text = f"{chart.title.text}: {', '.join(details)}"
    return chart


@register_figure(
    "critical-difference", "cd", select=_SELECT, from_verdict=partial(_draw_comparison_figure, "critical-difference")
)
def draw_study_critical_difference(
    results: Results,
    selection: Selection,
    measure: str | None = None,
    control: str | None = None,
    alpha: float | None = None,
) -> Any:
    """Draw mean ranks, with bars that join learners without a significant difference."""
    return _draw_verdict_figure("critical-difference", results, selection, measure, control, alpha)


@register_figure("ranks", select=_SELECT, from_verdict=partial(_draw_comparison_figure, "ranks"))
def draw_study_ranks(results: Results, selection: Selection, measure: str | None = None) -> Any:
    """Draw the mean rank of each learner, and the number of data sets on which it has each rank."""
    return _draw_verdict_figure("ranks", results, selection, measure)


@register_figure("pairs", select=_SELECT, from_verdict=partial(_draw_comparison_figure, "pairs"))
def draw_study_pairs(
    results: Results,
    selection: Selection,
    measure: str | None = None,
    control: str | None = None,
    alpha: float | None = None,
) -> Any:
    """Draw a matrix of pairwise differences with adjusted p-values."""
    return _draw_verdict_figure("pairs", results, selection, measure, control, alpha)


def _draw_verdict_figure(
    name: str,
    results: Results,
    selection: Selection,
    measure: str | None,
    control: str | None = None,
    alpha: float | None = None,
) -> Any:
    condition = selection.find_condition(results)
    verdict = results.verdict(
        measure,
        condition=condition.name,
        level=condition.level,
        control=control,
        alpha=alpha,
        positive=selection.positive,
    )
    return _extend_title(list_comparison_figures(verdict)[name](), results, selection, measure)


@register_figure("simplex", select=("learner", *_SELECT), from_verdict=partial(_draw_comparison_figure, "simplex"))
def draw_study_simplex(results: Results, selection: Selection, measure: str | None = None, rope: float = 0.01) -> Any:
    """Draw the posterior for two learners over several data sets (Bayesian signed-rank test)."""
    return _draw_posterior_figure("simplex", results, selection, measure, rope)


@register_figure("density", select=("learner", "dataset", *_SELECT), from_verdict=partial(_draw_comparison_figure, "density"))
def draw_study_density(results: Results, selection: Selection, measure: str | None = None, rope: float = 0.01) -> Any:
    """Draw the posterior of the difference between two learners on one data set (Bayesian correlated t test)."""
    dataset = selection.find_dataset(results).name
    return _draw_posterior_figure("density", results, replace(selection, dataset=dataset), measure, rope)


def _draw_posterior_figure(name: str, results: Results, selection: Selection, measure: str | None, rope: float) -> Any:
    verdict = _compare_learner_pair(results, selection, measure, rope)
    figures = list_comparison_figures(verdict)
    if name not in figures:
        alternative = "density" if name == "simplex" else "simplex"
        raise InputError(f"the figure {name!r} has no posterior: try {alternative!r}, or a study with more scores")
    return _extend_title(figures[name](), results, selection, measure)


def _extend_title(chart: Any, results: Results, selection: Selection, measure: str | None) -> Any:
    """Append the measure and the data set to the title of a chart.

    The condition is also appended, unless it is the main condition.
    """
    condition, datasets = selection.find_condition(results), results.archive.datasets
    dataset_text = selection.dataset or (datasets[0].name if len(datasets) == 1 else f"{len(datasets)} data sets")
    details = [get_measure(measure or get_verdict_measure_name(results)).display_name, dataset_text]
    if condition != get_main_condition(results):
        details.append(format_condition(condition))
    chart.title.text = f"{chart.title.text}: {', '.join(details)}"
    return chart


def _choose_learner_pair(results: Results, selection: Selection) -> list[str]:
    learner = selection.learner
    learner_names = [facts.name for facts in results.archive.learners]
    selected = learner_names if learner is None else [learner] if isinstance(learner, str) else list(learner)
    for name in selected:
        if name not in learner_names:
            raise InputError(f"learner must be in the study, got {name!r}: {suggest_name(name, learner_names)}")
    if len(selected) != 2:
        raise InputError(f"learner must name 2 learners for a posterior, got {len(selected)}: pass e.g. {learner_names[:2]}")
    return selected


def _compare_learner_pair(results: Results, selection: Selection, measure: str | None, rope: float) -> Verdict:
    """Compare two learners by their mean scores on all data sets, or by their scores on the splits of one data set."""
    from fairtrial.significance.compare import compare

    pair, condition, dataset = _choose_learner_pair(results, selection), selection.find_condition(results), selection.dataset
    name = get_measure(measure or get_verdict_measure_name(results)).name
    if dataset is None:
        table = results.wide(name, condition.name, condition.level, positive=selection.positive)[pair].dropna()
        return compare(table, measure=name, rope=rope)
    scores = results.scores(name, positive=selection.positive)
    is_selected = (scores["dataset"] == dataset) & scores["learner"].isin(pair) & mask_condition(scores, condition)
    selected_scores = scores[is_selected & scores["value"].notna()]
    tidy = selected_scores[["dataset", "learner", "repeat", "fold", "value"]].reset_index(drop=True)
    tidy = tidy.astype({"dataset": object, "learner": object})
    splits = list(tidy[["repeat", "fold"]].drop_duplicates().itertuples(index=False, name=None))
    return compare(tidy, measure=name, rope=rope, test_fraction=compute_test_fraction(results, dataset, splits))


@register_figure("intervals", select=("dataset", *_SELECT))
def draw_study_intervals(
    results: Results, selection: Selection, measure: str | Sequence[str] | None = None, alpha: float = 0.05
) -> Any:
    """Draw the mean score of each learner with its interval, over all data sets or on one data set."""
    import pandas as pd

    selection.check_dataset(results)
    dataset, names = selection.dataset, [facts.name for facts in results.archive.datasets]
    measures = results.measures if measure is None else [measure] if isinstance(measure, str) else list(measure)
    condition = selection.find_condition(results)
    frames = []
    for measure_name in measures:
        frame = compute_level_means(
            results, [condition], measure_name, dataset=dataset, alpha=alpha, positive=selection.positive
        )
        frames.append(frame.assign(measure=get_measure(measure_name).name, estimate=frame["mean"]))
    scope_text = f"over {len(names)} data sets" if dataset is None and len(names) > 1 else f"on {dataset or names[0]}"
    scope_text += "" if condition == get_main_condition(results) else f" under {format_condition(condition)}"
    return draw_intervals(
        pd.concat(frames, ignore_index=True), title=f"Mean scores {scope_text}, {100 * (1 - alpha):g} % intervals"
    )
