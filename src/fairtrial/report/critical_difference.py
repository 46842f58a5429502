"""Demsar's critical-difference diagram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from fairtrial.errors import InputError
from fairtrial.report.drawing import GREY, INK, NAME_WIDTH, PALETTE, chart_of, finished, titled

if TYPE_CHECKING:
    import pandas as pd

# In pixels: from bar to bar, from name to name, how far lines reach beyond the axis, and from the axis to the first bar.
_LANE, _LINE, _REACH, _DROP = 10, 22, 44, 16


def draw_critical_difference(
    mean_ranks: pd.Series[float] | Mapping[str, float],
    groups: Iterable[Sequence[str]],
    *,
    critical_difference: float | None = None,
    control: str | None = None,
    title: str = "Critical-difference diagram",
) -> Any:
    """Demsar's diagram: learners on an axis of mean ranks, and a bar for each of the `groups` that are not told apart.

    A solid bar covers members of its group alone. Where a learner that does not belong to it lies between two members, they are
    joined by a thin dotted line instead (see `bars_of`). With a `control`, the one group is what is not told apart from it.
    The critical difference is drawn where it is given; not every procedure has one.

    >>> chart = draw_critical_difference({"tree": 1.2, "bayes": 1.8, "rule": 3.0}, [("tree", "bayes"), ("rule",)])
    >>> chart.to_dict()["title"]["subtitle"]
    ['Mean ranks, 1 is the best. Bars join learners that are not told apart']
    """
    import altair as alt

    ranks = _checked_ranks(mean_ranks)
    bars = bars_of(ranks, groups)
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
        *_leaders(_labels(ranks, first_line, top, (k - 1) / width), control, x, y),
        *_bars(bars, ranks, top + _DROP, x, y),
    ]
    if critical_difference is not None:
        layers += _ruler(critical_difference, top - 32, x, y)
    told = titled(title, *_told(bars, control))
    plain = alt.ViewBackground(stroke=None)
    return finished(alt.layer(*layers).properties(width=width, height=height, title=told, view=plain))


def bars_of(mean_ranks: pd.Series[float] | Mapping[str, float], groups: Iterable[Sequence[str]]) -> pd.DataFrame:
    """The bars of the diagram: group, lane, low, high, and whether the bar is solid.

    Neighbouring members of a group are joined by a solid bar if no learner outside the group lies between them, ends included;
    otherwise the line is not solid. So a solid bar never covers two learners that are told apart. A group of one has no bar.

    >>> bars_of({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}, [("a", "b"), ("b", "d"), ("c",)])
       group  lane  low  high  solid
    0      0     0  1.0   2.0   True
    1      1     1  2.0   4.0  False
    """
    import pandas as pd

    ranks = _checked_ranks(mean_ranks)
    rows: list[dict[str, Any]] = []
    ends: list[float] = []
    gap = 0.02 * (len(ranks) - 1)
    for number, names in enumerate(_checked_groups(groups, ranks)):
        inside = sorted(ranks[name] for name in names)
        outside = [rank for name, rank in ranks.items() if name not in names]
        lane = next((lane for lane, end in enumerate(ends) if end + gap < inside[0]), len(ends))
        ends[lane : lane + 1] = [inside[-1]]
        for low, high, solid in _runs(inside, outside):
            rows.append({"group": number, "lane": lane, "low": low, "high": high, "solid": solid})
    return pd.DataFrame(rows, columns=["group", "lane", "low", "high", "solid"])


def _runs(inside: list[float], outside: list[float]) -> list[tuple[float, float, bool]]:
    """Pieces between neighbouring members, those of one kind in a row joined."""
    pieces: list[tuple[float, float, bool]] = []
    for low, high in pairwise(inside):
        solid = not any(low <= rank <= high for rank in outside)
        if pieces and solid and pieces[-1][2]:
            pieces[-1] = (pieces[-1][0], high, True)
        else:
            pieces.append((low, high, solid))
    return pieces


def _checked_ranks(mean_ranks: Any) -> dict[str, float]:
    """Mean ranks by learner, the best first."""
    if not hasattr(mean_ranks, "items") or hasattr(mean_ranks, "columns"):
        raise InputError(f"mean_ranks must map learners to mean ranks, got {type(mean_ranks).__name__}: pass a Series")
    pairs = [(str(name), float(rank)) for name, rank in mean_ranks.items()]
    if len(pairs) < 2:
        raise InputError(f"mean_ranks must hold at least 2 learners, got {len(pairs)}")
    for name, rank in pairs:
        if not 1 <= rank <= len(pairs):
            raise InputError(
                f"mean_ranks must lie between 1 and the number of learners, {len(pairs)}, got {rank:g} for {name!r}"
            )
    found = dict(sorted(pairs, key=lambda pair: pair[1]))
    if len(found) < len(pairs):
        raise InputError(f"mean_ranks must name each learner once, got {[name for name, _ in pairs]}")
    return found


def _checked_groups(groups: Iterable[Sequence[str]], ranks: Mapping[str, float]) -> list[list[str]]:
    """Groups of two and more, from the best to the worst."""
    found = []
    for group in groups:
        names = [str(name) for name in ([group] if isinstance(group, str) else group)]
        for name in names:
            if name not in ranks:
                raise InputError(f"groups must hold learners of mean_ranks, got {name!r}: known are {list(ranks)}")
        if len(names) > 1:
            found.append(sorted(set(names), key=ranks.__getitem__))
    return sorted(found, key=lambda names: [ranks[name] for name in names])


def _told(bars: pd.DataFrame, control: str | None) -> list[str]:
    if len(bars):
        alike = "Bars join learners that are" if control is None else f"The bar joins {control} and what is"
        found = f"{alike} not told apart" + (" from it" if control is not None else "")
    else:
        found = "All are told apart" + (f" from {control}" if control is not None else "")
    told = [f"Mean ranks, 1 is the best. {found}"]
    if not bars["solid"].all():
        told.append("Dotted: not told apart either, though a learner between them is told apart from one of them")
    return told


def _rank_axis(k: int, top: float, x: Any, y: Any) -> list[Any]:
    """The axis, with a tick for each rank and a short one for each half."""
    line = chart_of([{"rank": 1, "end": k, "y": top}]).mark_rule(color=INK, strokeWidth=1.2).encode(x, y, x2="end:Q")
    halves = [1 + i / 2 for i in range(2 * k - 1)]
    ticks = [{"rank": rank, "y": top - (7 if rank % 1 == 0 else 4), "end": top, "text": f"{rank:g}"} for rank in halves]
    marks = chart_of(ticks).mark_rule(color=INK, strokeWidth=1).encode(x, y, y2="end:Q")
    numbers = chart_of(ticks[::2]).mark_text(color=INK, fontSize=12, dy=-9).encode(x, y, text="text:N")
    return [line, marks, numbers]


def _labels(ranks: Mapping[str, float], first_line: float, top: float, pixel: float) -> list[dict[str, Any]]:
    """Where each name stands: the better half on the left, the rest on the right, the outermost highest, so no lines cross."""
    k, rows = len(ranks), []
    for place, (name, rank) in enumerate(ranks.items()):
        left = place < (k + 1) // 2
        line = place if left else k - 1 - place
        end = 1 - _REACH * pixel if left else k + _REACH * pixel
        where = {"y": first_line + _LINE * line, "top": top, "end": end, "left": left}
        rows.append({"learner": name, "rank": rank, "text": f"{rank:.2f}", **where})
    return rows


def _leaders(labels: list[dict[str, Any]], control: str | None, x: Any, y: Any) -> list[Any]:
    import altair as alt

    path = [
        {"learner": label["learner"], "row": row, "rank": rank, "y": height}
        for label in labels
        for row, (rank, height) in enumerate(
            [(label["rank"], label["top"]), (label["rank"], label["y"]), (label["end"], label["y"])]
        )
    ]
    line = chart_of(path).mark_line(color="#9A9A9A", strokeWidth=1.1, strokeJoin="round")
    layers = [line.encode(x, y, detail="learner:N", order="row:Q")]
    at = alt.X("end:Q", scale=x.to_dict()["scale"], axis=None)
    sides: tuple[tuple[bool, Literal["left", "right"], Literal["left", "right"]], ...] = (
        (True, "right", "left"),
        (False, "left", "right"),
    )
    for left, out, into in sides:
        rows = [label for label in labels if label["left"] == left]
        chosen, others = ([row for row in rows if (row["learner"] == control) == bold] for bold in (True, False))
        gap = -6 if left else 6
        if chosen:
            name = chart_of(chosen).mark_text(align=out, dx=gap, fontSize=13.5, color=INK, limit=NAME_WIDTH, fontWeight="bold")
            layers.append(name.encode(at, y, text="learner:N"))
        names = chart_of(others).mark_text(align=out, dx=gap, fontSize=13.5, color=INK, limit=NAME_WIDTH)
        numbers = chart_of(rows).mark_text(align=into, dy=-6, fontSize=11, color=GREY)
        layers += [names.encode(at, y, text="learner:N"), numbers.encode(at, y, text="text:N")]
    spots = [{"learner": each["learner"], "rank": each["rank"], "y": each["top"]} for each in labels]
    points = chart_of(spots).mark_point(filled=True, size=44, opacity=1, color=PALETTE[0])
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("rank:Q", title="mean rank", format=".4f")]
    return [*layers, points.encode(x, y, tooltip=hint)]


def _bars(bars: pd.DataFrame, ranks: Mapping[str, float], start: float, x: Any, y: Any) -> list[Any]:
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
            layers.append(chart_of(lines).mark_rule(color=PALETTE[1], **look).encode(x, y, x2="end:Q"))
    members = chart_of(spots).mark_point(filled=True, size=38, opacity=1, color=PALETTE[1])
    return [*layers, members.encode(x, y)]


def _ruler(critical_difference: float, height: float, x: Any, y: Any) -> list[Any]:
    """The critical difference as a length, from the best rank on."""
    end = 1 + float(critical_difference)
    bar = chart_of([{"rank": 1, "end": end, "y": height}]).mark_rule(color=INK, strokeWidth=1.6)
    stops = [{"rank": rank, "y": height - 4, "end": height + 4} for rank in (1, end)]
    caps = chart_of(stops).mark_rule(color=INK, strokeWidth=1.6)
    word = [{"rank": end, "y": height, "text": f"CD = {critical_difference:.3f}"}]
    name = chart_of(word).mark_text(align="left", dx=8, fontSize=12, color=INK)
    return [bar.encode(x, y, x2="end:Q"), caps.encode(x, y, y2="end:Q"), name.encode(x, y, text="text:N")]
