"""All measures at once: learners as points around Ideal by their confusion tables, and efficiency over declared measures."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import efficiency, get_measure, projection
from fairtrial.measures.projection import IDEAL
from fairtrial.report.figures.projection import ConfusionTables, compute_confusion_tables, draw_projection
from fairtrial.report.names import find_best_names, format_measure_name, join_names
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


@section("projection", title="All measures at once", order=140, serves=("study",))
def build_section(source: ReportSource) -> Section | None:
    """The projection of all learners; None with fewer than two that ran on a common data set."""
    results = source.get_results()
    confusion = compute_confusion_tables(results, get_main_condition(results))
    if len(confusion.tables) < 2:
        return None
    points = projection(confusion.tables, normalise=len(confusion.datasets) > 1)
    frame = points.frame().rename(columns={"distance_to_ideal": _FAR, "parent": "joined to"}).sort_values(_FAR, kind="stable")
    table = ReportTable(
        _POINTS, "Where the learners lie", frame, dict.fromkeys(("x", "y", _FAR), "{:.3f}"), _format_distance_note(points)
    )
    efficiency_tables = _build_efficiency_tables(results)
    fit = _build_fit_table(points)
    tables = (table, fit, *efficiency_tables)
    sentences = [
        *_describe_nearest(frame),
        _describe_distortion(fit),
        *(_describe_efficiency(efficiency_tables[-1]) if efficiency_tables else []),
    ]
    return Section(
        "projection",
        "All measures at once",
        tuple(sentences),
        (_draw_projection_figure(points, frame),),
        tables,
        _build_projection_notes(confusion),
    )


def _format_distance_note(points: Projection) -> str:
    return f"Distances {points.distance}. Those to Ideal and along the lines are exact."


def _build_fit_table(points: Projection) -> ReportTable:
    import pandas as pd

    frame = pd.DataFrame({"stress": [points.stress]}, index=pd.Index(["all distances"], name="of"))
    return ReportTable(_FIT, "How far the picture distorts distances", frame, {"stress": "{:.3f}"})


def _describe_distortion(fit: ReportTable) -> Sentence:
    template = "The picture keeps the other distances with a stress of {stress}, where zero would be no distortion."
    return build_sentence(template, stress=format_number(fit.frame, _FIT, "all distances", "stress", "{:.3f}"))


def _describe_nearest(frame: pd.DataFrame) -> list[Sentence]:
    learners = frame.drop(index=IDEAL)
    best, worst = str(learners.index[0]), str(learners.index[-1])
    if learners[_FAR].iloc[0] == learners[_FAR].iloc[-1]:
        return [
            build_sentence("All learners lie at one distance from Ideal, {far}.", far=format_number(frame, _POINTS, best, _FAR))
        ]
    alike = [str(name) for name in learners.index[1:] if learners.loc[name, _FAR] == learners.loc[best, _FAR]]
    template = (
        "{best} and {alike} lie nearest to Ideal ({near}), {worst} lies farthest ({far})."
        if alike
        else ("{best} lies nearest to Ideal ({near}), {worst} farthest ({far}).")
    )
    parts = {"near": format_number(frame, _POINTS, best, _FAR), "far": format_number(frame, _POINTS, worst, _FAR)}
    return [build_sentence(template, best=best, alike=", ".join(alike), worst=worst, **parts)]


def _draw_projection_figure(points: Projection, frame: pd.DataFrame) -> Figure:
    learners = frame.drop(index=IDEAL)
    ends = [f"{learners.index[index]} at {learners[_FAR].iloc[index]:.3f}" for index in (0, -1)]
    extremes = f"None lies nearer to Ideal than {ends[0]}, none farther than {ends[1]}."
    alt = f"Learners as points around Ideal, joined by a spanning tree. {extremes}"
    return Figure("projection-tree", "Learners by how they err", draw_projection(points), alt, frame)


def _build_projection_notes(confusion: ConfusionTables) -> tuple[str, ...]:
    notes = [
        "A learner is the list of all cells of its confusion tables; Ideal makes no error (Japkowicz, Sanghi & Tischer 2008)."
    ]
    if len(confusion.datasets) > 1:
        notes.append("Tables are divided by their totals, so that large data sets do not drown small ones.")
    if confusion.learners_left_out:
        notes.append(f"Left out, for they have no data set without a hole: {', '.join(confusion.learners_left_out)}.")
    if confusion.datasets_left_out:
        notes.append(
            f"Data sets left out, for a learner failed or has not run there: {', '.join(confusion.datasets_left_out)}."
        )
    return tuple(notes)


def _build_efficiency_tables(results: Results) -> tuple[ReportTable, ...]:
    """Efficiency, the last, where the study declares measures of both directions and learners have all of them on common data
    sets; before it the count of these where there are others."""
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
    frame = efficiency_result.frame().rename(columns=names).join(means).rename_axis(index="learner")
    formats = dict.fromkeys([name for name in frame.columns if name != "rank"], "{:.4f}")
    sides = f"More is better: {', '.join(efficiency_result.outputs)}; less is better: {', '.join(efficiency_result.inputs)}."
    counts = _build_count_tables(int(complete.sum()), len(results.archive.datasets))
    note = f"{sides} Each learner with the weights that suit it best.{_format_efficiency_basis(counts)}"
    return (*counts, ReportTable(_EFFICIENCY, "Efficiency over the declared measures", frame, formats, note))


def _build_count_tables(used: int, total: int) -> tuple[ReportTable, ...]:
    """How many data sets the efficiency rests on; nothing where they are all."""
    import pandas as pd

    if used == total:
        return ()
    index = pd.Index(["used for the efficiency", "of the study"], name="data sets")
    return (ReportTable(_SETS, "Data sets of the efficiency", pd.DataFrame({"number": [used, total]}, index=index)),)


def _format_efficiency_basis(counts: tuple[ReportTable, ...]) -> str:
    if not counts:
        return ""
    used, total = counts[0].frame["number"]
    return f" Means over {used:,} of {total:,} data sets: on the others not every learner has a finite value of each measure."


def _describe_efficiency(table: ReportTable) -> list[Sentence]:
    frame = table.frame
    efficient = [str(name) for name in frame.index if frame.loc[name, "efficiency"] >= 1 - 1e-9]
    if len(efficient) == len(frame):
        return [
            build_sentence(
                "All learners stand on the frontier of outputs over inputs: efficiency does not choose between them."
            )
        ]
    stand = "{full} alone stands" if len(efficient) == 1 else "{full} stand"
    template = f"{stand} on the frontier of outputs over inputs; the others lie below it."
    single = _describe_best_below(frame.drop(index=efficient), frame)
    if not single:
        return [build_sentence(template, full=join_names(efficient))]
    return [
        build_sentence(
            template + " By single measures it can be otherwise: {single}.",
            full=join_names(efficient),
            single="; ".join(single),
        )
    ]


def _describe_best_below(below: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Which learners below the frontier have the best mean of a measure, alone."""
    measures_by_learner: dict[str, list[str]] = {}
    for measure in frame.columns.drop(["efficiency", "super-efficiency", "rank"]):
        best = find_best_names(frame[measure], get_measure(str(measure)).facts.direction)
        if len(best) == 1 and best[0] in map(str, below.index):
            measures_by_learner.setdefault(best[0], []).append(format_measure_name(str(measure)))
    return [f"{learner} has the best {join_names(measures)}" for learner, measures in measures_by_learner.items()]
