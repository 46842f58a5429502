"""Figures of curves. Each takes finished frames by learner, as `fairtrial.measures` makes them, and gives an altair chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.drawing import (
    GREY,
    NAME_WIDTH,
    PALETTE,
    SIDE,
    Frames,
    axis,
    chart_of,
    checked,
    colour,
    curves_of,
    finished,
    frame_of,
    highest,
    note,
    reference,
    rows_of,
    titled,
    tooltips,
    with_columns,
    with_interval,
    written,
)
from fairtrial.report.label_places import CORNERS, corners_of
from fairtrial.report.rates import draw_tpr_fpr as draw_tpr_fpr

if TYPE_CHECKING:
    import pandas as pd

_PLANE = 420  # pixels


def draw_roc(frames: Frames, hulls: Frames | None = None, *, title: str = "ROC curve") -> Any:
    """ROC curves (`roc_curve`) with the diagonal and, where given, the convex hulls (`roc_hull`).

    >>> from fairtrial.measures import roc_curve, roc_hull
    >>> y, score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> chart = draw_roc({"tree": roc_curve(y, score)}, {"tree": roc_hull(y, score)})
    >>> chart.to_dict()["width"] == chart.to_dict()["height"]
    True
    """
    import altair as alt

    columns = {"threshold": "threshold", "fpr": "false positive rate", "tpr": "true positive rate"}
    x, y = axis("x", "fpr", "False positive rate"), axis("y", "tpr", "True positive rate")
    curves = curves_of(frames, x, y, columns)
    layers = [reference([(0, 0), (1, 1)], x, y)]
    if hulls is not None:
        corners = chart_of(rows_of(hulls, columns)).mark_line(strokeWidth=1, strokeDash=[2, 2], point={"size": 26})
        layers.append(corners.encode(x, y, colour(frames), order=alt.Order("row:Q"), tooltip=tooltips(columns)))
    told = "Dashed: guessing" if hulls is None else "Dotted, with corners: the convex hull. Dashed: guessing"
    return finished(alt.layer(*layers, curves).properties(width=SIDE, height=SIDE, title=titled(title, told)))


def draw_precision_recall(frames: Frames, *, title: str = "Precision-recall curve") -> Any:
    """Precision over recall (`precision_recall_curve`) with the base rate: the precision of calling everything positive.

    >>> from fairtrial.measures import precision_recall_curve
    >>> chart = draw_precision_recall({"tree": precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["title"]["subtitle"]
    ['Dashed: the base rate, 0.500']
    """
    import altair as alt
    import pandas as pd

    columns = {"threshold": "threshold", "recall": "recall", "precision": "precision"}
    # The precision of the highest score holds down to recall 0, for cases of one score are found in proportion.
    whole = {name: pd.concat([frame.head(1).assign(recall=0.0), frame]) for name, frame in checked(frames, columns).items()}
    x, y = axis("x", "recall", "Recall"), axis("y", "precision", "Precision")
    curves = curves_of(whole, x, y, columns, interpolate="step-before")
    rates = sorted({round(float(frame["precision"].iloc[-1]), 6) for frame in frames.values()})
    layers = [reference([(0, rate), (1, rate)], x, y) for rate in rates]
    told = f"Dashed: the base rate, {', '.join(f'{rate:.3f}' for rate in rates)}"
    return finished(alt.layer(*layers, curves).properties(width=SIDE, height=SIDE, title=titled(title, told)))


def draw_cost(frames: Frames, lines: Frames | None = None, *, title: str = "Cost curve") -> Any:
    """Cost curves (`cost_curve`) with the two trivial classifiers and, where given, the line of each threshold (`cost_lines`).

    >>> from fairtrial.measures import cost_curve
    >>> chart = draw_cost({"tree": cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['line', 'line', 'text', 'text', 'line']
    """
    import altair as alt

    columns = {"threshold": "best threshold", "probability_cost": "probability cost", "expected_cost": "expected cost"}
    x = axis("x", "probability_cost", "Probability cost of the positive class")
    y = axis("y", "expected_cost", "Normalised expected cost", high=0.5)
    layers = [reference(points, x, y) for points in ([(0, 0), (0.5, 0.5)], [(0.5, 0.5), (1, 0)])]
    layers.append(note("always negative", x, y, at=(0.36, 0.36), side="left", gap=8))
    layers.append(note("always positive", x, y, at=(0.64, 0.36), gap=8))
    if lines is not None:
        layers.append(_cost_segments(frames, lines))
    curves = curves_of(frames, x, y, columns)
    told = "Lower is better. Dashed: calling everything negative, or everything positive"
    return finished(alt.layer(*layers, curves).properties(width=460, height=300, title=titled(title, told)))


def _cost_segments(frames: Frames, lines: Frames) -> Any:
    import altair as alt

    rows = [{**row, "start": 0, "end": 1} for row in rows_of(lines, ["threshold", "fpr", "fnr"], thin=["fpr", "fnr"])]
    # A learner may have thousands of thresholds; the more there are, the fainter each is, so that the curves stay in front.
    segments = chart_of(rows).mark_rule(strokeWidth=0.7, opacity=min(0.5, 25 / len(rows)), clip=True)
    return segments.encode(alt.X("start:Q"), alt.Y("fpr:Q"), alt.X2("end:Q"), alt.Y2("fnr:Q"), colour(frames))


def draw_brier(frames: Frames, *, title: str = "Brier curve") -> Any:
    """Brier curves (`brier_curve`): the area under each is the Brier score.

    >>> from fairtrial.measures import brier_curve
    >>> chart = draw_brier({"tree": brier_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["title"]["text"]
    'Brier curve'
    """
    columns = {"cost": "cost", "loss": "loss"}
    x = axis("x", "cost", "Cost of a false positive (a false negative costs the rest)")
    y = axis("y", "loss", "Loss", high=1.05 * (highest(frames, "loss") or 1.0))
    told = "Lower is better. The area under a curve is the Brier score"
    return finished(curves_of(frames, x, y, columns).properties(width=460, height=300, title=titled(title, told)))


def draw_gain(frames: Frames, *, title: str = "Gain and lift") -> Any:
    """Gain and lift side by side (`gain_curve`), each with what targeting at random gives.

    >>> from fairtrial.measures import gain_curve
    >>> chart = draw_gain({"tree": gain_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> len(chart.to_dict()["hconcat"])
    2
    """
    import altair as alt

    columns = {"threshold": "threshold", "targeted": "share targeted", "gain": "gain", "lift": "lift"}
    filled = {name: _within_ties(frame) for name, frame in checked(frames, columns).items()}
    x = axis("x", "targeted", "Share of cases targeted")
    panels = []
    for field, words, top, chance in (
        ("gain", "Share of positives found", 1.0, [(0, 0), (1, 1)]),
        ("lift", "Lift", 1.08 * (highest(frames, "lift") or 1.0), [(0, 1), (1, 1)]),
    ):
        y = axis("y", field, words, high=top)
        panels.append(alt.layer(reference(chance, x, y), curves_of(filled, x, y, columns)).properties(width=290, height=290))
    whole = alt.hconcat(*panels, spacing=36).properties(title=titled(title, "Dashed: targeting at random"))
    return finished(whole)


def _within_ties(frame: pd.DataFrame) -> pd.DataFrame:
    """Points between the thresholds: within a tie positives are found in proportion, so that lift bends there."""
    targeted = frame["targeted"].to_numpy()
    shares = np.union1d(targeted, np.linspace(0, 1, 201))
    reached = frame.iloc[np.searchsorted(targeted, shares)]
    gain = np.interp(shares, targeted, frame["gain"].to_numpy())
    lift = np.append(frame["lift"].iloc[0], gain[1:] / shares[1:])
    return reached.assign(targeted=shares, gain=gain, lift=lift)


def draw_calibration(frames: Frames, *, title: str = "Calibration") -> Any:
    """Calibration curves (`calibration_curve`) with their intervals and the diagonal; below, how many cases each bin holds.

    >>> from fairtrial.measures import calibration_curve
    >>> chart = draw_calibration({"tree": calibration_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], bins=2)})
    >>> len(chart.to_dict()["vconcat"])
    2
    """
    import altair as alt

    columns = {
        "mean_forecast": "mean forecast",
        "share": "share that came true",
        "weight": "cases",
        "low": "low",
        "high": "high",
    }
    data = chart_of(rows_of(frames, columns))
    x, y = axis("x", "mean_forecast", "Mean forecast"), axis("y", "share", "Share that came true")
    shade, hint = colour(frames), tooltips(columns)
    bars = data.mark_rule(strokeWidth=1.6, opacity=0.55).encode(x, axis("y", "low", "Share that came true"), shade, y2="high:Q")
    points = data.mark_point(filled=True, size=50, opacity=1).encode(x, y, shade, tooltip=hint)
    above = alt.layer(reference([(0, 0), (1, 1)], x, y), bars, curves_of(frames, x, y, columns), points)
    cases = axis("y", "weight", "Cases", high=1.1 * highest(frames, "weight")).axis(tickCount=3)
    below = alt.layer(
        data.mark_rule(strokeWidth=1.6, opacity=0.55).encode(x, cases, shade, y2=alt.datum(0)),
        data.mark_point(filled=True, size=30, opacity=1).encode(x, cases, shade, tooltip=hint),
    )
    above, below = above.properties(width=SIDE, height=SIDE), below.properties(width=SIDE, height=70)
    told = "Bars: the interval of each share. Dashed: perfect calibration"
    return finished(alt.vconcat(above, below, spacing=16).properties(title=titled(title, told)))


def draw_intervals(frame: Any, *, title: str | None = None) -> Any:
    """A forest plot: columns measure, estimate, low and high; with a column learner, learners are set beside each other.

    Differences have the columns first and second instead of measure, and get a line at 0. Results that have such a frame may be
    given as they are: `draw_intervals(evaluate(...))`, `draw_intervals(differences(...))`.

    >>> from fairtrial.measures import evaluate
    >>> chart = draw_intervals(evaluate([0, 1, 1, 0, 1], [0, 1, 0, 0, 1], measures=["accuracy"]))
    >>> chart.to_dict()["title"]["text"]
    'Estimates with their intervals'
    """
    import altair as alt

    about = getattr(frame, "measure", "") if hasattr(frame, "frame") else ""
    frame = frame_of(frame)
    paired = "first" in frame and "second" in frame and "measure" not in (*frame.columns, frame.index.name)
    if paired:
        frame = frame.assign(measure=[f"{pair.first} - {pair.second}" for pair in frame.itertuples()])
    frame = with_columns("frame", frame, ["measure", "estimate", "low", "high"], index="measure")
    learners = [str(name) for name in frame["learner"].unique()] if "learner" in frame else [""]
    base = _forest_base(frame, learners)
    words = f"Difference in {about}" if paired and about else "Difference" if paired else "Estimate"
    scale = alt.Scale(zero=paired, nice=True, padding=8)
    bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", title=words, scale=scale), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(alt.X("estimate:Q", scale=scale))
    numbers = base.mark_text(align="left", fontSize=12).encode(x=alt.value(SIDE + 14), text="text:N")
    zero = chart_of([{"low": 0}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2).encode(alt.X("low:Q", scale=scale))
    step = alt.Step(22 if len(learners) > 1 else 30, **{"for": "position"} if len(learners) == 1 else {"for": "offset"})
    heading = title or ("Differences with their intervals" if paired else "Estimates with their intervals")
    told = ["Dashed: no difference"] if paired else []
    whole = alt.layer(*[zero] * paired, bars, points, numbers)
    return finished(whole.properties(width=SIDE, height=step, title=titled(heading, *told)))


def _forest_base(frame: pd.DataFrame, learners: list[str]) -> Any:
    """The rows of a forest plot in their places, with the numbers in words."""
    import altair as alt

    names = frame["learner"].astype(str) if "learner" in frame else [""] * len(frame)
    rows = [
        {**row, "learner": name}
        for row, name in zip(written(frame, ["measure", "estimate", "low", "high"]), names, strict=True)
    ]
    for row in rows:
        row["text"] = with_interval(row["estimate"], row["low"], row["high"])
    y = alt.Y("measure:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=260, labelPadding=8))
    place = [y, alt.YOffset("learner:N", sort=learners, scale=alt.Scale(paddingInner=0.2))] if len(learners) > 1 else [y]
    return chart_of(rows).encode(
        *place, colour(learners), tooltip=tooltips({"estimate": "estimate", "low": "low", "high": "high"})
    )


def draw_projection(
    points: Any,
    edges: Mapping[str, str] | pd.Series[str] | Iterable[tuple[str, str]] | None = None,
    *,
    title: str = "Learners by how they err",
) -> Any:
    """Learners as points of a plane (columns learner, x, y; or the result of `projection`), joined by the edges of a tree.

    `edges` are pairs of learners, or each learner's parent; by default the column parent of `points`, where there is one:
    `draw_projection(projection(tables))`. Both axes have one scale, for distances are to be compared.

    >>> import pandas as pd
    >>> points = pd.DataFrame({"learner": ["Ideal", "tree", "bayes"], "x": [0, 3, 0], "y": [0, 0, 4]})
    >>> chart = draw_projection(points, [("Ideal", "tree"), ("Ideal", "bayes")])
    >>> chart.to_dict()["width"] == chart.to_dict()["height"]
    True
    """
    import altair as alt

    points = with_columns("points", frame_of(points), ["learner", "x", "y"], index="learner")
    rows = written(points, ["learner", "x", "y"])
    places = {row["learner"]: (row["x"], row["y"]) for row in rows}
    low_x, low_y, span = _square(points)
    labels = _labels(rows, near=0.02 * span)
    pixels = [(_PLANE * (each["x"] - low_x) / span, _PLANE * (1 - (each["y"] - low_y) / span)) for each in labels]
    corners = corners_of(pixels, [each["names"] for each in labels], _PLANE)
    x = axis("x", "x", "First coordinate", low=low_x, high=low_x + span)
    y = axis("y", "y", "Second coordinate", low=low_y, high=low_y + span)
    layers = [
        chart_of(_segments(_pairs(points, edges), places)).mark_rule(color=GREY, opacity=0.6).encode(x, y, x2="x2:Q", y2="y2:Q")
    ]
    data = chart_of(rows).encode(x, y, tooltip=[alt.Tooltip("learner:N"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q")])
    layers.append(data.mark_point(filled=True, size=80, opacity=1, color=PALETTE[0]))
    for corner in CORNERS:
        own = [label for label, chosen in zip(labels, corners, strict=True) if chosen == corner]
        if own:
            text = chart_of(own).mark_text(**corner._asdict(), fontSize=12.5, limit=NAME_WIDTH)
            layers.append(text.encode(x, y, text="names:N"))
    whole = alt.layer(*layers).properties(
        width=_PLANE, height=_PLANE, title=titled(title, "Learners that lie close together err alike")
    )
    return finished(whole)


def _square(points: pd.DataFrame) -> tuple[float, float, float]:
    """The lower left corner and the side of a square that holds all points, with room for their names."""
    low, high = points[["x", "y"]].min(), points[["x", "y"]].max()
    span = 1.3 * float((high - low).max()) or 1.0
    middle = (low + high) / 2
    return float(middle["x"]) - span / 2, float(middle["y"]) - span / 2, span


def _labels(rows: Iterable[dict[str, Any]], near: float) -> list[dict[str, Any]]:
    """The names beside the points; points in one place share one label."""
    labels: list[dict[str, Any]] = []
    for row in rows:
        close = [label for label in labels if abs(label["x"] - row["x"]) < near and abs(label["y"] - row["y"]) < near]
        if close:
            close[0]["names"] += f", {row['learner']}"
        else:
            labels.append({"x": row["x"], "y": row["y"], "names": row["learner"]})
    return labels


def _pairs(points: pd.DataFrame, edges: Any) -> list[tuple[str, str]]:
    if edges is None:
        edges = points.set_index("learner")["parent"] if "parent" in points else ()
    pairs = edges.items() if hasattr(edges, "items") else edges
    return [(str(first), str(second)) for first, second in pairs if second]


def _segments(pairs: Iterable[tuple[str, str]], places: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    rows = []
    for pair in pairs:
        for name in pair:
            if name not in places:
                raise InputError(f"edges must join the given learners, got {name!r}: known are {sorted(places)}")
        (x, y), (x2, y2) = places[pair[0]], places[pair[1]]
        rows.append({"x": x, "y": y, "x2": x2, "y2": y2})
    return rows
