"""Figures of a comparison of learners. Each takes a finished frame, or a result that has one, and gives an altair chart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.critical_difference import bars_of as bars_of, draw_critical_difference as draw_critical_difference
from fairtrial.report.drawing import (
    GREY,
    INK,
    PALETTE,
    SIDE,
    axis,
    chart_of,
    finished,
    frame_of,
    titled,
    with_columns,
    with_interval,
    written,
)
from fairtrial.report.posterior import draw_density as draw_density, draw_simplex as draw_simplex
from fairtrial.significance.p_words import told_p

if TYPE_CHECKING:
    import pandas as pd

MINUS = "\N{MINUS SIGN}"
_SMALL_P = 0.0001
_NAMES: dict[str, Any] = {"grid": False, "labelLimit": 320, "labelPadding": 8, "domain": False, "ticks": False}


def draw_ranks(ranks: pd.DataFrame, *, unit: str = "data set", title: str = "Ranks") -> Any:
    """How often each learner (column) had which rank over the data sets (rows), and its mean rank.

    `unit` is what a row is called: for the splits of one data set, "split".

    >>> import pandas as pd
    >>> chart = draw_ranks(pd.DataFrame({"tree": [1, 1, 2], "bayes": [2, 2, 1]}))
    >>> chart.to_dict()["title"]["text"]
    'Ranks'
    """
    import altair as alt

    ranks = _checked_ranks(ranks)
    means = ranks.mean().sort_values(kind="stable")
    order, k = [str(name) for name in means.index], ranks.shape[1]
    counts = [
        {"learner": str(name), "rank": float(rank), "datasets": int(number)}
        for name in means.index
        for rank, number in ranks[name].value_counts().sort_index().items()
    ]
    places = [{"learner": str(name), "rank": float(mean), "text": f"{mean:.2f}"} for name, mean in means.items()]
    width = max(SIDE, 34 * (k - 1))
    x = axis("x", "rank", f"Rank on a {unit} (1 is the best)", low=0.6, high=k + 0.4).axis(
        values=list(range(1, k + 1)), tickCount=k, labelOverlap=False, format="d", domain=False
    )
    y = alt.Y("learner:N", sort=order, title=None, axis=alt.Axis(**{**_NAMES, "grid": True}))
    size = alt.Size("datasets:Q", scale=alt.Scale(domainMin=0, range=[0, 640]), legend=_bubbles(counts, unit))
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("rank:Q"), alt.Tooltip("datasets:Q", title=f"{unit}s")]
    circles = chart_of(counts).mark_point(filled=True, color=PALETTE[5], opacity=0.75).encode(x, y, size, tooltip=hint)
    base = chart_of(places)
    ticks = base.mark_tick(color=PALETTE[1], thickness=3, size=24, opacity=1).encode(x, y, tooltip=["learner:N", "rank:Q"])
    head = chart_of([{"text": "mean"}]).mark_text(align="left", fontSize=12, color=GREY)
    numbers = base.mark_text(align="left", fontSize=12.5, color=INK).encode(y=y, x=alt.value(width + 14), text="text:N")
    named = head.encode(x=alt.value(width + 14), y=alt.value(-9), text="text:N")
    told = titled(title, f"Circles: on how many {unit}s a learner had this rank. Bars: its mean rank")
    layers = alt.layer(circles, ticks, numbers, named)
    return finished(layers.properties(width=width, height=alt.Step(34, **{"for": "position"}), title=told))


def _checked_ranks(ranks: Any) -> pd.DataFrame:
    frame = frame_of(ranks)
    if frame.shape[1] < 2 or not len(frame):
        raise InputError(f"ranks must have at least 2 learners (columns) and 1 row, got the shape {frame.shape}")
    values = frame.to_numpy()
    if values.dtype.kind not in "iuf" or not ((values >= 1) & (values <= frame.shape[1])).all():
        raise InputError(f"ranks must be numbers from 1 to the number of learners, {frame.shape[1]}: pass ranks, not scores")
    return frame


def _bubbles(counts: list[dict[str, Any]], unit: str) -> Any:
    """A legend of a small, a middling and the largest circle."""
    import altair as alt

    most = max(row["datasets"] for row in counts)
    values = sorted({1, max(1, round(most / 3)), most})
    return alt.Legend(
        orient="bottom",
        title=f"{unit}s",
        titleFontWeight="normal",
        titleOrient="left",
        values=values,
        symbolFillColor=PALETTE[5],
        symbolStrokeWidth=0,
        format="d",
    )


def draw_pairs(
    pairs: pd.DataFrame,
    *,
    order: Iterable[str] | None = None,
    unit: str = "data set",
    title: str = "Differences of pairs",
    alpha: float = 0.05,
) -> Any:
    """A matrix of pairs: the difference, its adjusted p value, and on how many data sets the row won, tied and lost.

    `pairs` has the columns first, second, difference (of the scores, first less second), rank_difference, p_adjusted,
    different, wins, ties and losses. `order` names the learners, the best first; by default it follows from the differences of
    ranks. The row is the learner that comes first in it; against a control, it is the control. Pairs that are `different` are
    framed; `alpha` is the level by which they are, so that no p value is rounded to its other side.

    >>> import pandas as pd
    >>> pair = {"first": ["tree"], "second": ["rule"], "difference": [0.2], "rank_difference": [-1.0], "p_adjusted": [0.01]}
    >>> pairs = pd.DataFrame({**pair, "different": [True], "wins": [9], "ties": [0], "losses": [1]})
    >>> chart = draw_pairs(pairs)
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rect', 'rect', 'text', 'text', 'text']
    """
    import altair as alt

    frame = with_columns("pairs", frame_of(pairs), _PAIR_COLUMNS)
    names = _order(frame) if order is None else [str(name) for name in order]
    cells = _cells(frame, names, alpha)
    rows, columns = ([name for name in names if name in {cell[side] for cell in cells}] for side in ("row", "column"))
    long = max(map(len, columns)) > 12
    width, height = (92, 64) if len(columns) <= 12 else (76, 56)
    head = alt.Axis(**_NAMES, orient="top", labelAngle=-40 if long else 0, labelAlign="left" if long else "center")
    x = alt.X("column:N", sort=columns, title=None, axis=head, scale=alt.Scale(paddingInner=0.04, paddingOuter=0.02))
    y = alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(**_NAMES), scale=alt.Scale(paddingInner=0.05, paddingOuter=0.03))
    hint = [alt.Tooltip(f"{name}:N") for name in ("row", "column", "difference", "p", "record")]
    shade = alt.Scale(domain=[-1, 0, 1], range=["#F2A46B", "#F4F4F4", "#7FB8DA"])
    legend = alt.Legend(
        orient="bottom",
        title=f"won less lost by the row, share of the {unit}s",
        titleFontWeight="normal",
        titleLimit=320,
        gradientLength=220,
        gradientThickness=10,
        values=[-1, 0, 1],
        format=".0f",
    )
    tiles = chart_of(cells).mark_rect(cornerRadius=3).encode(x, y, alt.Color("net:Q", scale=shade, legend=legend), tooltip=hint)
    layers = [tiles]
    framed = [cell for cell in cells if cell["different"]]
    if framed:
        layers.append(chart_of(framed).mark_rect(filled=False, stroke=INK, strokeWidth=2, cornerRadius=3).encode(x, y))
    layers += [
        _line(cells, field, dy, size, x, y) for field, dy, size in (("difference", -17, 13.5), ("p", 1, 12), ("record", 18, 12))
    ]
    told = titled(title, f"Row less column, adjusted p, {unit}s won / tied / lost by the row", "Framed: told apart")
    plain = alt.ViewBackground(stroke=None)
    return finished(alt.layer(*layers).properties(width=alt.Step(width), height=alt.Step(height), title=told, view=plain))


_PAIR_COLUMNS = (
    "first",
    "second",
    "difference",
    "rank_difference",
    "p_adjusted",
    "different",
    "wins",
    "ties",
    "losses",
)


def _order(pairs: pd.DataFrame) -> list[str]:
    """Learners by how far their mean ranks lie below those of the others, the best first."""
    gaps: dict[str, list[float]] = {}
    for first, second, gap in zip(pairs["first"], pairs["second"], pairs["rank_difference"], strict=True):
        gaps.setdefault(str(first), []).append(gap)
        gaps.setdefault(str(second), []).append(-gap)
    # A learner's gap to itself is 0.
    means = {name: sum(each) / (len(each) + 1) for name, each in gaps.items()}
    return sorted(means, key=means.__getitem__)


def _cells(pairs: pd.DataFrame, names: list[str], alpha: float) -> list[dict[str, Any]]:
    """A cell for each pair, turned so that the row is the better learner, or the control."""
    cells = []
    form = _form_of(pairs["difference"])
    against_one = len(pairs) > 1 and pairs["first"].nunique() == 1
    for pair in written(pairs, _PAIR_COLUMNS):
        first, second = pair["first"], pair["second"]
        for name in (first, second):
            if name not in names:
                raise InputError(f"order must name every learner of the pairs, got none for {name!r}")
        turned = not against_one and names.index(first) > names.index(second)
        wins, losses = (pair["losses"], pair["wins"]) if turned else (pair["wins"], pair["losses"])
        n = wins + pair["ties"] + losses
        cells.append(
            {
                "row": second if turned else first,
                "column": first if turned else second,
                "difference": _signed(_negated(pair["difference"], turned), form),
                "p": _p_words(pair["p_adjusted"], alpha),
                "record": f"{wins:.0f} / {pair['ties']:.0f} / {losses:.0f}",
                "net": (wins - losses) / n if n else 0.0,
                "different": bool(pair["different"]),
            }
        )
    return cells


def _negated(value: float | None, turned: bool) -> float | None:
    return -value if turned and value is not None else value


def _form_of(differences: pd.Series[float]) -> str:
    """How differences are written: with three digits of the largest."""
    largest = float(np.nan_to_num(differences.abs().max()))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    return f"+.{max(0, 2 - power)}f" if -4 <= power <= 6 else "+.2e"


def _signed(value: float | None, form: str) -> str:
    if value is None:
        return "undefined"
    told = f"{value:{form}}"
    # What is rounded to zero has no sign.
    return told.replace("-", MINUS) if float(told) else told[1:]


def _p_words(p: float | None, alpha: float) -> str:
    """Four decimals where it matters, so that 0.0499 and 0.0501 are not both 0.050; more where these hide the side of alpha."""
    if p is None:
        return "p undefined"
    if p < _SMALL_P:
        return f"p < {_SMALL_P:g}" if alpha >= _SMALL_P else told_p(p, alpha, digits=3)
    text = f"{p:.{3 if p >= 0.0995 else 4}f}"
    return f"p = {text}" if np.sign(float(text) - alpha) == np.sign(p - alpha) else told_p(p, alpha, digits=3)


def _line(cells: list[dict[str, Any]], field: str, dy: float, size: float, x: Any, y: Any) -> Any:
    return chart_of(cells).mark_text(dy=dy, fontSize=size, color=INK).encode(x, y, text=f"{field}:N")


def draw_strengths(frame: Any, *, title: str = "Strengths") -> Any:
    """Strengths of learners with their intervals: `bradley_terry(...)`, or a frame with learner, strength, low and high.

    >>> from fairtrial.significance.strength import bradley_terry
    >>> found = bradley_terry([[0.9, 0.8, 0.7], [0.8, 0.9, 0.7], [0.9, 0.8, 0.6], [0.7, 0.6, 0.65]], resamples=100)
    >>> chart = draw_strengths(found)
    >>> chart.to_dict()["title"]["subtitle"]
    ['Points: strengths (Elo). Lines: 95 % intervals over data sets. Dashed: their mean']
    """
    import altair as alt

    told = _strength_words(frame)
    lines = with_columns("frame", frame_of(frame), ["learner", "strength", "low", "high"], index="learner")
    lines = lines.sort_values("strength", ascending=False, kind="stable")
    rows = written(lines, ["learner", "strength", "low", "high"])
    digits = 0 if float(np.nanmax([lines["strength"].max(), 0])) >= 100 else 2
    for row in rows:
        row["text"] = with_interval(row["strength"], row["low"], row["high"], digits)
    order = [row["learner"] for row in rows]
    y = alt.Y("learner:N", sort=order, title=None, axis=alt.Axis(**_NAMES))
    scale = alt.Scale(zero=False, nice=True, padding=10)
    base = chart_of(rows).encode(y, tooltip=[alt.Tooltip("learner:N"), alt.Tooltip("text:N", title="strength")])
    middle = chart_of([{"low": float(lines["strength"].mean())}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2)
    bars = base.mark_rule(strokeWidth=2.4, color=PALETTE[0]).encode(
        alt.X("low:Q", title="Strength", scale=scale, axis=alt.Axis(format="~f")), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=80, opacity=1, color=PALETTE[0]).encode(alt.X("strength:Q", scale=scale))
    numbers = base.mark_text(align="left", fontSize=12, color=INK).encode(x=alt.value(SIDE + 14), text="text:N")
    layers = [middle.encode(alt.X("low:Q", scale=scale))] * bool(np.isfinite(lines["strength"]).all())
    whole = alt.layer(*layers, bars, points, numbers)
    return finished(whole.properties(width=SIDE, height=alt.Step(30, **{"for": "position"}), title=titled(title, told)))


def _strength_words(result: Any) -> str:
    scale = {"elo": " (Elo)", "log": " (natural logarithms)"}.get(getattr(result, "scale", ""), "")
    level = getattr(result, "level", None)
    lines = "intervals" if level is None else f"{100 * level:g} % intervals over data sets"
    return f"Points: strengths{scale}. Lines: {lines}. Dashed: their mean"
