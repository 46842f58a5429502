"""Critical-difference diagrams (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from fairtrial.errors import InputError
from fairtrial.report.figures.base import GREY, INK, NAME_WIDTH, build_chart, build_title, encode_colour, style_chart

if TYPE_CHECKING:
    import pandas as pd

# Distances in pixels: between bars, between names, from the axis to line ends, and from the axis to the first bar.
_LANE, _LINE, _REACH, _DROP = 10, 22, 44, 16
_LEAST_WIDTH = 440


def draw_critical_difference(
    mean_ranks: pd.Series[float] | Mapping[str, float],
    groups: Iterable[Sequence[str]],
    *,
    critical_difference: float | None = None,
    control: str | None = None,
    title: str = "Critical-difference diagram",
) -> Any:
    """Draw a critical-difference diagram (Demšar 2006).

    Learners are placed on an axis of mean ranks, and a bar joins each group. If a learner outside the group lies between two
    members, a thin dotted line joins the members instead.

    Parameters
    ----------
    mean_ranks : pandas.Series or mapping
        Mean rank of each learner.
    groups : list of tuples of str
        Groups of learners without a significant difference.
    critical_difference : float, optional
        Critical difference, if the procedure has one.
    control : str, optional
        Control learner. If given, pass one group: the control and the learners that do not differ significantly from it.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> chart = draw_critical_difference({"tree": 1.2, "bayes": 1.8, "rule": 3.0}, [("tree", "bayes"), ("rule",)])
    >>> chart.to_dict()["title"]["subtitle"]
    ['Mean ranks; 1 is best. Bars join learners that do not differ significantly']
    """
    import altair as alt

    ranks = _check_mean_ranks(mean_ranks)
    bars = build_rank_bars(ranks, groups)
    k = len(ranks)
    width = min(640, 340 + 28 * k)
    top = 0 if critical_difference is None else 50
    lanes = int(bars["lane"].max()) + 1 if len(bars) else 0
    first_line = top + _DROP + _LANE * lanes + 12
    height = first_line + _LINE * ((k + 1) // 2 - 1) + 8
    x = alt.X("rank:Q", axis=None, scale=alt.Scale(domain=[1, k], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    layers = [
        *_rank_axis(k, top, x, y),
        *_draw_leaders(_layout_learner_labels(ranks, first_line, top, (k - 1) / width), control, x, y),
        *_draw_rank_bars(bars, ranks, top + _DROP, x, y),
    ]
    if critical_difference is not None:
        layers += _draw_ruler(critical_difference, top - 32, x, y)
    heading = build_title(title, *_format_diagram_subtitle(bars, control))
    plain = alt.ViewBackground(stroke=None)
    # In a narrower diagram, the names on both sides leave too little space for the axis, so a phone shows the whole
    # diagram at a smaller scale.
    return style_chart(
        alt.layer(*layers).properties(
            width=width, height=height, title=heading, view=plain, usermeta={"minWidth": _LEAST_WIDTH}
        )
    )


def build_rank_bars(mean_ranks: pd.Series[float] | Mapping[str, float], groups: Iterable[Sequence[str]]) -> pd.DataFrame:
    """Compute the bars of the diagram: group, lane, low, high, and whether the bar is solid.

    A solid bar joins neighbouring members of a group if no learner outside the group lies between them or at their ranks.
    Otherwise, a dotted line joins the members. A solid bar therefore never covers two learners that differ significantly. A
    group of one learner has no bar.

    >>> build_rank_bars({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}, [("a", "b"), ("b", "d"), ("c",)])
       group  lane  low  high  solid
    0      0     0  1.0   2.0   True
    1      1     1  2.0   4.0  False
    """
    import pandas as pd

    ranks = _check_mean_ranks(mean_ranks)
    rows: list[dict[str, Any]] = []
    ends: list[float] = []
    gap = 0.02 * (len(ranks) - 1)
    for number, names in enumerate(_check_groups(groups, ranks)):
        inside = sorted(ranks[name] for name in names)
        outside = [rank for name, rank in ranks.items() if name not in names]
        lane = next((lane for lane, end in enumerate(ends) if end + gap < inside[0]), len(ends))
        ends[lane : lane + 1] = [inside[-1]]
        for low, high, solid in _join_runs(inside, outside):
            rows.append({"group": number, "lane": lane, "low": low, "high": high, "solid": solid})
    return pd.DataFrame(rows, columns=["group", "lane", "low", "high", "solid"])


def _join_runs(inside: list[float], outside: list[float]) -> list[tuple[float, float, bool]]:
    """Build line segments between neighbouring members, and join adjacent solid segments."""
    pieces: list[tuple[float, float, bool]] = []
    for low, high in pairwise(inside):
        solid = not any(low <= rank <= high for rank in outside)
        if pieces and solid and pieces[-1][2]:
            pieces[-1] = (pieces[-1][0], high, True)
        else:
            pieces.append((low, high, solid))
    return pieces


def _check_mean_ranks(mean_ranks: Any) -> dict[str, float]:
    """Check the mean ranks of the learners, and sort them, best first."""
    if not hasattr(mean_ranks, "items") or hasattr(mean_ranks, "columns"):
        raise InputError(f"mean_ranks must map learners to mean ranks, got {type(mean_ranks).__name__}: pass a Series")
    pairs = [(str(name), float(rank)) for name, rank in mean_ranks.items()]
    if len(pairs) < 2:
        raise InputError(f"mean_ranks must contain at least 2 learners, got {len(pairs)}")
    for name, rank in pairs:
        if not 1 <= rank <= len(pairs):
            raise InputError(
                f"mean_ranks must lie between 1 and the number of learners, {len(pairs)}, got {rank:g} for {name!r}"
            )
    sorted_ranks = dict(sorted(pairs, key=lambda pair: pair[1]))
    if len(sorted_ranks) < len(pairs):
        raise InputError(f"mean_ranks must name each learner once, got {[name for name, _ in pairs]}")
    return sorted_ranks


def _check_groups(groups: Iterable[Sequence[str]], ranks: Mapping[str, float]) -> list[list[str]]:
    """Check the groups, drop groups of one learner, and sort the rest, best first."""
    checked_groups = []
    for group in groups:
        names = [str(name) for name in ([group] if isinstance(group, str) else group)]
        for name in names:
            if name not in ranks:
                raise InputError(f"groups must contain learners of mean_ranks, got {name!r}: choose from {list(ranks)}")
        if len(names) > 1:
            checked_groups.append(sorted(set(names), key=ranks.__getitem__))
    return sorted(checked_groups, key=lambda names: [ranks[name] for name in names])


def _format_diagram_subtitle(bars: pd.DataFrame, control: str | None) -> list[str]:
    if len(bars):
        subject = "Bars join learners" if control is None else f"The bar joins {control} and learners"
        statement = f"{subject} that do not differ significantly" + (" from it" if control is not None else "")
    else:
        statement = "All differ significantly" + (f" from {control}" if control is not None else "")
    lines = [f"Mean ranks; 1 is best. {statement}"]
    if not bars["solid"].all():
        lines.append("Dotted: no significant difference either, although a learner in between differs from one of them")
    return lines


def _rank_axis(k: int, top: float, x: Any, y: Any) -> list[Any]:
    """Draw the axis, with a tick for each rank and a short tick for each half rank."""
    line = build_chart([{"rank": 1, "end": k, "y": top}]).mark_rule(color=INK, strokeWidth=1.2).encode(x, y, x2="end:Q")
    halves = [1 + i / 2 for i in range(2 * k - 1)]
    ticks = [{"rank": rank, "y": top - (7 if rank % 1 == 0 else 4), "end": top, "text": f"{rank:g}"} for rank in halves]
    marks = build_chart(ticks).mark_rule(color=INK, strokeWidth=1).encode(x, y, y2="end:Q")
    numbers = build_chart(ticks[::2]).mark_text(color=INK, fontSize=12, dy=-9).encode(x, y, text="text:N")
    return [line, marks, numbers]


def _layout_learner_labels(ranks: Mapping[str, float], first_line: float, top: float, pixel: float) -> list[dict[str, Any]]:
    """Place the names of the better half on the left and the others on the right, so no lines cross."""
    k, rows = len(ranks), []
    for index, (name, rank) in enumerate(ranks.items()):
        left = index < (k + 1) // 2
        line = index if left else k - 1 - index
        end = 1 - _REACH * pixel if left else k + _REACH * pixel
        position = {"y": first_line + _LINE * line, "top": top, "end": end, "left": left}
        rows.append({"learner": name, "rank": rank, "text": f"{rank:.2f}", **position})
    return rows


def _draw_leaders(labels: list[dict[str, Any]], control: str | None, x: Any, y: Any) -> list[Any]:
    import altair as alt

    path = [
        {"learner": label["learner"], "row": row, "rank": rank, "y": height}
        for label in labels
        for row, (rank, height) in enumerate(
            [(label["rank"], label["top"]), (label["rank"], label["y"]), (label["end"], label["y"])]
        )
    ]
    line = build_chart(path).mark_line(color="#9A9A9A", strokeWidth=1.1, strokeJoin="round")
    layers = [line.encode(x, y, detail="learner:N", order="row:Q")]
    label_x = alt.X("end:Q", scale=x.to_dict()["scale"], axis=None)
    sides: tuple[tuple[bool, Literal["left", "right"], Literal["left", "right"]], ...] = (
        (True, "right", "left"),
        (False, "left", "right"),
    )
    for left, name_align, rank_align in sides:
        rows = [label for label in labels if label["left"] == left]
        chosen, others = ([row for row in rows if (row["learner"] == control) == bold] for bold in (True, False))
        gap = -6 if left else 6
        if chosen:
            name = build_chart(chosen).mark_text(
                align=name_align, dx=gap, fontSize=13.5, color=INK, limit=NAME_WIDTH, fontWeight="bold"
            )
            layers.append(name.encode(label_x, y, text="learner:N"))
        names = build_chart(others).mark_text(align=name_align, dx=gap, fontSize=13.5, color=INK, limit=NAME_WIDTH)
        numbers = build_chart(rows).mark_text(align=rank_align, dy=-6, fontSize=11, color=GREY)
        layers += [names.encode(label_x, y, text="learner:N"), numbers.encode(label_x, y, text="text:N")]
    spots = [{"learner": label["learner"], "rank": label["rank"], "y": label["top"]} for label in labels]
    points = build_chart(spots).mark_point(filled=True, size=70, opacity=1)
    colour = encode_colour([label["learner"] for label in labels]).legend(None)
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("rank:Q", title="mean rank", format=".4f")]
    return [*layers, points.encode(x, y, colour, tooltip=hint)]


def _draw_rank_bars(bars: pd.DataFrame, ranks: Mapping[str, float], start: float, x: Any, y: Any) -> list[Any]:
    if bars.empty:
        return []
    rows = [
        {"rank": low, "end": high, "y": start + _LANE * lane, "solid": bool(solid), "group": int(group)}
        for group, lane, low, high, solid in bars.to_numpy().tolist()
    ]
    spots = [
        {"rank": rank, "y": row["y"]}
        for row in rows
        for rank in sorted(set(ranks.values()))
        if (row["rank"] <= rank <= row["end"] if row["solid"] else rank in (row["rank"], row["end"]))
    ]
    layers = []
    looks: tuple[tuple[bool, dict[str, Any]], ...] = (
        (False, {"strokeWidth": 1.4, "strokeDash": [1.5, 2.5]}),
        (True, {"strokeWidth": 4}),
    )
    for solid, look in looks:
        lines = [row for row in rows if row["solid"] == solid]
        if lines:
            layers.append(build_chart(lines).mark_rule(color=INK, **look).encode(x, y, x2="end:Q"))
    members = build_chart(spots).mark_point(filled=True, size=38, opacity=1, color=INK)
    return [*layers, members.encode(x, y)]


def _draw_ruler(critical_difference: float, height: float, x: Any, y: Any) -> list[Any]:
    """Draw a line whose length is the critical difference."""
    end = 1 + float(critical_difference)
    bar = build_chart([{"rank": 1, "end": end, "y": height}]).mark_rule(color=INK, strokeWidth=1.6)
    stops = [{"rank": rank, "y": height - 4, "end": height + 4} for rank in (1, end)]
    caps = build_chart(stops).mark_rule(color=INK, strokeWidth=1.6)
    word = [{"rank": end, "y": height, "text": f"CD = {critical_difference:.3f}"}]
    name = build_chart(word).mark_text(align="left", dx=8, fontSize=12, color=INK)
    return [bar.encode(x, y, x2="end:Q"), caps.encode(x, y, y2="end:Q"), name.encode(x, y, text="text:N")]
