"""All measures at once: a projection of learners based on confusion matrices, and efficiency over the declared measures."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._text import join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import efficiency, get_measure, projection
from fairtrial.measures.projection import IDEAL
from fairtrial.report.cache import select_best_learners
from fairtrial.report.figures.projection import ConfusionTables, compute_confusion_tables, draw_projection
from fairtrial.report.names import find_best_names, format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import get_main_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.measures.projection import Projection
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

_POINTS, _FIT, _EFFICIENCY = "projection-points", "projection-fit", "projection-efficiency"
_SETS = "projection-efficiency-data-sets"
_FAR = "distance to Ideal"
_MOST_LEARNERS = 20


@section("projection", title="All measures at once", order=140, serves=("study",), question="size")
def build_section(source: ReportSource) -> Section | None:
    """Show the projection and the efficiency of the learners. Return None if fewer than two learners have confusion tables."""
    results = source.get_results()
    learners = select_best_learners(results, _MOST_LEARNERS)
    confusion = compute_confusion_tables(results, get_main_condition(results), learners=learners)
    if len(confusion.tables) < 2:
        return None
    points = projection(confusion.tables, normalise=len(confusion.datasets) > 1)
    frame = points.frame().rename(columns={"distance_to_ideal": _FAR, "parent": "joined to"}).sort_values(_FAR, kind="stable")
    table = ReportTable(
        _POINTS, "Positions of the learners", frame, dict.fromkeys(("x", "y", _FAR), "{:.3f}"), _format_distance_note(points)
    )
    efficiency_tables = _build_efficiency_tables(results)
    fit = _build_fit_table(points)
    tables = (table, fit, *efficiency_tables)
    sentences = [
        *_describe_nearest(frame),
        _describe_distortion(fit),
        *(_describe_efficiency(efficiency_tables[-1], list(results.measures)) if efficiency_tables else []),
    ]
    return Section(
        "projection",
        "All measures at once",
        tuple(sentences),
        (_draw_projection_figure(points, frame),),
        tables,
        (*_build_projection_notes(confusion), *_note_omitted_learners(results)),
    )


def _note_omitted_learners(results: Results) -> tuple[str, ...]:
    """Note that only the best learners are shown. Return nothing if all learners are shown."""
    is_limited = len(results.archive.learners) > _MOST_LEARNERS
    return (f"Only the {_MOST_LEARNERS} learners with the best mean ranks are shown.",) * is_limited


def _format_distance_note(points: Projection) -> str:
    return f"{points.distance} distances. Distances to Ideal and along the lines are exact."


def _build_fit_table(points: Projection) -> ReportTable:
    import pandas as pd

    frame = pd.DataFrame({"stress": [points.stress]}, index=pd.Index(["all distances"], name="item"))
    return ReportTable(_FIT, "Distortion of the distances", frame, {"stress": "{:.3f}"})


def _describe_distortion(fit: ReportTable) -> Sentence:
    template = "Stress of the projection: {stress} (zero: no distortion)."
    return build_sentence(template, stress=format_number(fit.frame, _FIT, "all distances", "stress", "{:.3f}"))


def _describe_nearest(frame: pd.DataFrame) -> list[Sentence]:
    learners = frame.drop(index=IDEAL)
    best, worst = str(learners.index[0]), str(learners.index[-1])
    if learners[_FAR].iloc[0] == learners[_FAR].iloc[-1]:
        return [
            build_sentence(
                "All learners have the same distance to the ideal classifier, {far}.",
                far=format_number(frame, _POINTS, best, _FAR),
            )
        ]
    alike = [str(name) for name in learners.index[1:] if learners.loc[name, _FAR] == learners.loc[best, _FAR]]
    template = (
        "{best} and {alike} are closest to the ideal classifier (distance {near}); {worst} is farthest ({far})."
        if alike
        else "{best} is closest to the ideal classifier (distance {near}); {worst} is farthest ({far})."
    )
    parts = {"near": format_number(frame, _POINTS, best, _FAR), "far": format_number(frame, _POINTS, worst, _FAR)}
    return [build_sentence(template, best=best, alike=", ".join(alike), worst=worst, **parts)]


def _draw_projection_figure(points: Projection, frame: pd.DataFrame) -> Figure:
    learners = frame.drop(index=IDEAL)
    ends = [f"{learners.index[index]} ({learners[_FAR].iloc[index]:.3f})" for index in (0, -1)]
    alt = f"Learners as points around Ideal, joined by a spanning tree. Nearest: {ends[0]}. Farthest: {ends[1]}."
    return Figure("projection-tree", "Learners by their errors", draw_projection(points), alt, frame)


def _build_projection_notes(confusion: ConfusionTables) -> tuple[str, ...]:
    notes = [
        "Each learner is represented by all cells of its confusion matrices. Ideal is a classifier without errors "
        "(Japkowicz, Sanghi & Tischer 2008)."
    ]
    if len(confusion.datasets) > 1:
        notes.append("Each confusion matrix is divided by its total, which gives all data sets the same weight.")
    if confusion.learners_left_out:
        notes.append(
            f"Learners left out because trials are missing on every data set: {join_names(confusion.learners_left_out)}."
        )
    if confusion.datasets_left_out:
        notes.append(f"Data sets left out because a learner failed or has not run: {join_names(confusion.datasets_left_out)}.")
    return tuple(notes)


def _build_efficiency_tables(results: Results) -> tuple[ReportTable, ...]:
    """Build the efficiency table. If data sets are left out, a table that counts them comes first.

    No table is built if all declared measures have the same direction, or if no data set has finite values of all measures.
    """
    import pandas as pd

    main = get_main_condition(results)
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        tables = {get_measure(name).name: results.wide(name, main.name, main.level) for name in results.measures}
    complete = np.logical_and.reduce([np.isfinite(table.to_numpy(dtype=np.float64)).all(axis=1) for table in tables.values()])
    directions = {get_measure(name).facts.direction for name in tables}
    if not complete.any() or directions != {"max", "min"}:
        return ()
    means = pd.DataFrame({name: table[complete].mean() for name, table in tables.items()})
    try:
        efficiency_result = efficiency(means)
    except InputError:
        return ()
    names = {"super_efficiency": "super-efficiency"}
    frame = (
        efficiency_result.frame()
        .rename(columns=names)
        .join(means.rename(columns=format_measure_name))
        .rename_axis(index="learner")
    )
    formats = dict.fromkeys([name for name in frame.columns if name != "rank"], "{:.4f}")
    outputs, inputs = (
        join_names(map(format_measure_name, names)) for names in (efficiency_result.outputs, efficiency_result.inputs)
    )
    sides = f"Outputs (larger is better): {outputs}. Inputs (smaller is better): {inputs}."
    counts = _build_count_tables(int(complete.sum()), len(results.archive.datasets))
    note = f"{sides} Each learner is evaluated with the weights most favourable to it.{_format_efficiency_basis(counts)}"
    return (*counts, ReportTable(_EFFICIENCY, "Efficiency over the declared measures", frame, formats, note))


def _build_count_tables(used: int, total: int) -> tuple[ReportTable, ...]:
    """Count the data sets from which the efficiency is computed. Return no table if all data sets are used."""
    import pandas as pd

    if used == total:
        return ()
    index = pd.Index(["used for the efficiency", "in the study"], name="data sets")
    return (ReportTable(_SETS, "Data sets used for the efficiency", pd.DataFrame({"number": [used, total]}, index=index)),)


def _format_efficiency_basis(counts: tuple[ReportTable, ...]) -> str:
    if not counts:
        return ""
    used, total = counts[0].frame["number"]
    return f" Means over {used:,} of {total:,} data sets, those on which each learner has a finite value of each measure."


def _describe_efficiency(table: ReportTable, measures: list[str]) -> list[Sentence]:
    frame = table.frame
    efficient = [str(name) for name in frame.index if frame.loc[name, "efficiency"] >= 1 - 1e-9]
    if len(efficient) == len(frame):
        return [build_sentence("All learners are efficient over the declared measures, so efficiency does not rank them.")]
    verb = "Only {full} is" if len(efficient) == 1 else "{full} are"
    template = f"{verb} efficient (data envelopment analysis over the declared measures)."
    single = _describe_best_below(frame.drop(index=efficient), frame, measures)
    if not single:
        return [build_sentence(template, full=join_names(efficient))]
    return [
        build_sentence(
            template + " In individual measures, others are best: {single}.",
            full=join_names(efficient),
            single="; ".join(single),
        )
    ]


def _describe_best_below(below: pd.DataFrame, frame: pd.DataFrame, measures: list[str]) -> list[str]:
    """Describe which inefficient learners have the best mean of a measure."""
    measures_by_learner: dict[str, list[str]] = {}
    for measure in map(get_measure, dict.fromkeys(measures)):
        column = format_measure_name(measure.name)
        best = find_best_names(frame[column], measure.facts.direction)
        if len(best) == 1 and best[0] in map(str, below.index):
            measures_by_learner.setdefault(best[0], []).append(column)
    return [f"{learner} has the best {join_names(columns)}" for learner, columns in measures_by_learner.items()]
