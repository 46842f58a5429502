"""Projections: confusion tables of learners, and a figure that shows learners as points around an ideal classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from fairtrial._check import IntArray
from fairtrial.errors import InputError
from fairtrial.measures import projection as project
from fairtrial.measures.projection import IDEAL
from fairtrial.report.figures.base import (
    GREY,
    INK,
    NAME_WIDTH,
    build_axis,
    build_chart,
    build_title,
    get_colour,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import Selection, get_main_condition
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.records import ABSTAINED
from fairtrial.study.results.selection import mask_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

_PLANE = 420  # pixels
_LETTER, _HEIGHT, _GAP = 7.0, 13.0, 8.0  # pixels: width of a letter, height of a line, distance from a point to its name
_POINT = 5.0


@register_figure("projection", select=("dataset",))
def draw_study_projection(
    results: Results,
    selection: Selection,
    distance: Literal["L2", "L1"] = "L2",
    method: Literal["tree", "mds"] = "tree",
) -> Any:
    """Draw learners as points around an ideal classifier.

    The confusion tables under the main condition determine the positions.
    """
    names = None if selection.dataset is None else [selection.find_dataset(results).name]
    confusion = compute_confusion_tables(results, get_main_condition(results), names)
    if not confusion.tables:
        raise InputError("a projection needs a data set on which all learners have run, got none: run the missing trials")
    points = project(confusion.tables, distance=distance, method=method, normalise=len(confusion.datasets) > 1)
    dataset_text = confusion.datasets[0] if len(confusion.datasets) == 1 else f"{len(confusion.datasets)} data sets"
    return draw_projection(points, title=f"Learners by their errors: {dataset_text}")


def draw_projection(
    points: Any,
    edges: Mapping[str, str] | pd.Series[str] | Iterable[tuple[str, str]] | None = None,
    *,
    title: str = "Learners by their errors",
) -> Any:
    """Draw learners as points in a plane, joined by a spanning tree.

    Both axes have the same scale, so distances can be compared.

    Parameters
    ----------
    points : result or dataframe
        Result of `projection`, or a frame with the columns learner, x and y.
    edges : mapping, series or pairs, optional
        Pairs of learners to join with lines, or the parent of each learner. Default: the column parent of `points`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> points = pd.DataFrame({"learner": ["Ideal", "tree", "bayes"], "x": [0, 3, 0], "y": [0, 0, 4]})
    >>> chart = draw_projection(points, [("Ideal", "tree"), ("Ideal", "bayes")])
    >>> chart.to_dict()["width"] == chart.to_dict()["height"]
    True
    """
    import altair as alt

    points = require_columns("points", to_frame(points), ["learner", "x", "y"], index="learner")
    rows = to_records(points, ["learner", "x", "y"])
    positions = {row["learner"]: (row["x"], row["y"]) for row in rows}
    low_x, low_y, span = _compute_bounding_square(points)
    labels = _merge_close_labels(rows, near=0.02 * span)
    pixels = [(_PLANE * (label["x"] - low_x) / span, _PLANE * (1 - (label["y"] - low_y) / span)) for label in labels]
    corners = choose_corners(pixels, [label["names"] for label in labels], _PLANE)
    x = build_axis("x", "x", "First coordinate", low=low_x, high=low_x + span)
    y = build_axis("y", "y", "Second coordinate", low=low_y, high=low_y + span)
    layers = [
        build_chart(_build_edge_segments(_list_edges(points, edges), positions))
        .mark_rule(color=GREY, opacity=0.6)
        .encode(x, y, x2="x2:Q", y2="y2:Q")
    ]
    data = build_chart(rows).encode(x, y, tooltip=[alt.Tooltip("learner:N"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q")])
    names = [row["learner"] for row in rows]
    hues = [INK if name == IDEAL else get_colour(name, position) for position, name in enumerate(names)]
    colour = alt.Color("learner:N", scale=alt.Scale(domain=names, range=hues), legend=None)
    layers.append(data.mark_point(filled=True, size=80, opacity=1).encode(colour))
    for corner in CORNERS:
        corner_labels = [label for label, chosen in zip(labels, corners, strict=True) if chosen == corner]
        if corner_labels:
            text = build_chart(corner_labels).mark_text(**corner._asdict(), fontSize=12.5, limit=NAME_WIDTH)
            layers.append(text.encode(x, y, text="names:N"))
    whole = alt.layer(*layers).properties(
        width=_PLANE, height=_PLANE, title=build_title(title, "Learners that are close together make similar errors")
    )
    return style_chart(whole)


def _compute_bounding_square(points: pd.DataFrame) -> tuple[float, float, float]:
    """Compute the lower left corner and the side length of a square around all points and their names."""
    low, high = points[["x", "y"]].min(), points[["x", "y"]].max()
    span = 1.3 * float((high - low).max()) or 1.0
    middle = (low + high) / 2
    return float(middle["x"]) - span / 2, float(middle["y"]) - span / 2, span


def _merge_close_labels(rows: Iterable[dict[str, Any]], near: float) -> list[dict[str, Any]]:
    """Label the points. Points that are close together share a label."""
    labels: list[dict[str, Any]] = []
    for row in rows:
        close = [label for label in labels if abs(label["x"] - row["x"]) < near and abs(label["y"] - row["y"]) < near]
        if close:
            close[0]["names"] += f", {row['learner']}"
        else:
            labels.append({"x": row["x"], "y": row["y"], "names": row["learner"]})
    return labels


def _list_edges(points: pd.DataFrame, edges: Any) -> list[tuple[str, str]]:
    if edges is None:
        edges = points.set_index("learner")["parent"] if "parent" in points else ()
    pairs = edges.items() if hasattr(edges, "items") else edges
    return [(str(first), str(second)) for first, second in pairs if second]


def _build_edge_segments(
    pairs: Iterable[tuple[str, str]], positions: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    rows = []
    for pair in pairs:
        for name in pair:
            if name not in positions:
                raise InputError(f"edges must join the given learners, got {name!r}: choose from {sorted(positions)}")
        (x, y), (x2, y2) = positions[pair[0]], positions[pair[1]]
        rows.append({"x": x, "y": y, "x2": x2, "y2": y2})
    return rows


class Corner(NamedTuple):
    """Position of a name relative to its point: the alignment of the text and its offset in pixels."""

    align: Literal["left", "right"]
    dx: float
    dy: float


CORNERS = (
    Corner("left", _GAP, -_GAP),
    Corner("right", -_GAP, -_GAP),
    Corner("left", _GAP, _GAP),
    Corner("right", -_GAP, _GAP),
)
_Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels


def choose_corners(points: Sequence[tuple[float, float]], names: Sequence[str], width: float) -> list[Corner]:
    """Choose a position for the name of each point, inside the figure and away from other names and points.

    Coordinates are in pixels from the upper left corner.

    >>> [corner.align for corner in choose_corners([(100, 50), (110, 50), (390, 50)], ["tree", "bayes", "forest"], 400)]
    ['right', 'left', 'right']
    """
    occupied: list[_Box] = [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    corners = []
    for point, name in zip(points, names, strict=True):
        boxes = {corner: _compute_label_box(point, name, corner) for corner in CORNERS}
        costs = {corner: _measure_hidden_area(box, occupied, width) for corner, box in boxes.items()}
        best = min(costs, key=costs.__getitem__)
        occupied.append(boxes[best])
        corners.append(best)
    return corners


def _compute_label_box(point: tuple[float, float], name: str, corner: Corner) -> _Box:
    x, y = point[0] + corner.dx, point[1] + corner.dy
    name_width = _LETTER * len(name)
    left = x if corner.align == "left" else x - name_width
    return left, y - _HEIGHT / 2, left + name_width, y + _HEIGHT / 2


def _measure_hidden_area(box: _Box, occupied: Sequence[_Box], width: float) -> float:
    """Compute the area of a name, in square pixels, that covers other items or lies outside the picture."""
    outside = (max(0.0, -box[0]) + max(0.0, box[2] - width)) * _HEIGHT
    return outside + sum(_compute_overlap(box, obstacle) for obstacle in occupied)


def _compute_overlap(first: _Box, second: _Box) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(0.0, width) * max(0.0, height)


@dataclass(frozen=True, eq=False)
class ConfusionTables:
    """Confusion tables of learners on the data sets that all these learners completed.

    `tables` maps each learner to one table per data set in `datasets`. Rows are the true labels. Learners that completed no
    data set are left out, and so are data sets that a remaining learner did not complete. If a learner abstained on a data set,
    all tables of the data set have an additional last label for abstentions.
    """

    tables: dict[str, list[IntArray]]
    datasets: tuple[str, ...]
    learners_left_out: tuple[str, ...]
    datasets_left_out: tuple[str, ...]


def compute_confusion_tables(
    results: Results,
    condition: ConditionFacts,
    datasets: Iterable[str] | None = None,
    learners: Sequence[str] | None = None,
) -> ConfusionTables:
    """Sum the confusion tables of each learner and data set over repeats and folds.

    Learners that completed no data set are dropped. Then, data sets that a remaining learner did not complete are dropped.
    """
    dataset_facts = [facts for facts in results.archive.datasets if datasets is None or facts.name in set(datasets)]
    learners = learners or [learner.name for learner in results.archive.learners]
    trials = results.scored_trials()
    trials = trials[mask_condition(trials, condition) & trials["learner"].isin(set(learners))]
    groups = {
        (str(learner), str(dataset)): part for (learner, dataset), part in trials.groupby(["learner", "dataset"], observed=True)
    }
    tables_by_key = {
        (learner, facts.name): _count_confusions(results, facts, groups.get((learner, facts.name)))
        for facts in dataset_facts
        for learner in learners
    }
    kept_learners = [name for name in learners if any(tables_by_key[name, facts.name] is not None for facts in dataset_facts)]
    whole = [
        facts.name for facts in dataset_facts if all(tables_by_key[name, facts.name] is not None for name in kept_learners)
    ]
    tables: dict[str, list[IntArray]] = {}
    for name in kept_learners:
        learner_tables = [table for dataset in whole if (table := tables_by_key[name, dataset]) is not None]
        tables[name if name != IDEAL else f"{name} (learner)"] = learner_tables
    _drop_unused_label(list(tables.values()))
    return ConfusionTables(
        tables if whole else {},
        tuple(whole),
        tuple(name for name in learners if name not in kept_learners),
        tuple(facts.name for facts in dataset_facts if facts.name not in whole),
    )


def _count_confusions(results: Results, facts: DataFacts, trials: pd.DataFrame | None) -> IntArray | None:
    """Sum the confusion tables of the given trials of a learner on a data set.

    Return None if a trial failed or has not run.
    """
    if trials is None or (trials["status"] != "ok").any():
        return None
    k = len(facts.classes) + 1  # the last label is for abstentions
    counts = np.zeros(k * k, dtype=np.intp)
    for trial_predictions in results.archive.predictions(trials["trial"].tolist()):
        predicted = np.where(trial_predictions.prediction == ABSTAINED, k - 1, trial_predictions.prediction)
        counts += np.bincount(trial_predictions.y_true * k + predicted, minlength=k * k)
    return counts.reshape(k, k) if counts.any() else None


def _drop_unused_label(tables: list[list[IntArray]]) -> None:
    """Drop the label for abstentions on data sets without abstentions."""
    for index in range(len(tables[0]) if tables else 0):
        if not any(learner_tables[index][:, -1].any() for learner_tables in tables):
            for learner_tables in tables:
                learner_tables[index] = learner_tables[index][:-1, :-1]
