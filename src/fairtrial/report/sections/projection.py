"""All measures at once: learners as points around Ideal by their confusion tables, and efficiency over declared measures."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import efficiency, projection
from fairtrial.measures.measure import get_measure
from fairtrial.measures.projection import IDEAL
from fairtrial.report.confusion_tables import ConfusionTables, confusion_tables
from fairtrial.report.curves import draw_projection
from fairtrial.report.places import main_condition
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.leading import best_names
from fairtrial.report.sections.naming import listed, measure_words
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.measures.projection import Projection
    from fairtrial.study import Results

_POINTS, _FIT, _EFFICIENCY = "projection-points", "projection-fit", "projection-efficiency"
_SETS = "projection-efficiency-data-sets"
_FAR = "distance to Ideal"


def section(results: Results) -> Section | None:
    """The projection of all learners; None with fewer than two that ran on a common data set."""
    found = confusion_tables(results, main_condition(results))
    if len(found.tables) < 2:
        return None
    points = projection(found.tables, normalise=len(found.datasets) > 1)
    frame = points.frame().rename(columns={"distance_to_ideal": _FAR, "parent": "joined to"}).sort_values(_FAR, kind="stable")
    table = Table(_POINTS, "Where the learners lie", frame, dict.fromkeys(("x", "y", _FAR), "{:.3f}"), _note(points))
    weighed = _efficiency(results)
    fit = _fit(points)
    tables = (table, fit, *weighed)
    sentences = [*_near(frame), _distorted(fit), *(_efficient(weighed[-1]) if weighed else [])]
    return Section("projection", "All measures at once", tuple(sentences), (_figure(points, frame),), tables, _notes(found))


def _note(points: Projection) -> str:
    return f"Distances {points.distance}. Those to Ideal and along the lines are exact."


def _fit(points: Projection) -> Table:
    import pandas as pd

    frame = pd.DataFrame({"stress": [points.stress]}, index=pd.Index(["all distances"], name="of"))
    return Table(_FIT, "How far the picture distorts distances", frame, {"stress": "{:.3f}"})


def _distorted(fit: Table) -> Sentence:
    words = "The picture keeps the other distances with a stress of {stress}, where zero would be no distortion."
    return say(words, stress=shown(fit.frame, _FIT, "all distances", "stress", "{:.3f}"))


def _near(frame: pd.DataFrame) -> list[Sentence]:
    learners = frame.drop(index=IDEAL)
    best, worst = str(learners.index[0]), str(learners.index[-1])
    if learners[_FAR].iloc[0] == learners[_FAR].iloc[-1]:
        return [say("All learners lie at one distance from Ideal, {far}.", far=shown(frame, _POINTS, best, _FAR))]
    alike = [str(name) for name in learners.index[1:] if learners.loc[name, _FAR] == learners.loc[best, _FAR]]
    words = (
        "{best} and {alike} lie nearest to Ideal ({near}), {worst} lies farthest ({far})."
        if alike
        else ("{best} lies nearest to Ideal ({near}), {worst} farthest ({far}).")
    )
    parts = {"near": shown(frame, _POINTS, best, _FAR), "far": shown(frame, _POINTS, worst, _FAR)}
    return [say(words, best=best, alike=", ".join(alike), worst=worst, **parts)]


def _figure(points: Projection, frame: pd.DataFrame) -> Figure:
    learners = frame.drop(index=IDEAL)
    ends = [f"{learners.index[place]} at {learners[_FAR].iloc[place]:.3f}" for place in (0, -1)]
    told = f"None lies nearer to Ideal than {ends[0]}, none farther than {ends[1]}."
    alt = f"Learners as points around Ideal, joined by a spanning tree. {told}"
    return Figure("projection-tree", "Learners by how they err", draw_projection(points), alt, frame)


def _notes(found: ConfusionTables) -> tuple[str, ...]:
    notes = [
        "A learner is the list of all cells of its confusion tables; Ideal makes no error (Japkowicz, Sanghi & Tischer 2008)."
    ]
    if len(found.datasets) > 1:
        notes.append("Tables are divided by their totals, so that large data sets do not drown small ones.")
    if found.learners_left_out:
        notes.append(f"Left out, for they have no data set without a hole: {', '.join(found.learners_left_out)}.")
    if found.datasets_left_out:
        notes.append(f"Data sets left out, for a learner failed or has not run there: {', '.join(found.datasets_left_out)}.")
    return tuple(notes)


def _efficiency(results: Results) -> tuple[Table, ...]:
    """Efficiency, the last, where the study declares measures of both directions and learners have all of them on common data
    sets; before it the count of these where there are others."""
    import pandas as pd

    main = main_condition(results)
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        tables = {get_measure(name).name: results.wide(name, main.name, main.level) for name in results.measures}
    whole = np.logical_and.reduce([np.isfinite(table.to_numpy(dtype=np.float64)).all(axis=1) for table in tables.values()])
    directions = {get_measure(name).facts.direction for name in tables}
    if not whole.any() or directions != {"max", "min"}:
        return ()
    means = pd.DataFrame({name: table[whole].mean() for name, table in tables.items()})
    try:
        found = efficiency(means)
    except InputError:
        return ()
    names = {"super_efficiency": "super-efficiency"}
    frame = found.frame().rename(columns=names).join(means).rename_axis(index="learner")
    formats = dict.fromkeys([name for name in frame.columns if name != "rank"], "{:.4f}")
    sides = f"More is better: {', '.join(found.outputs)}; less is better: {', '.join(found.inputs)}."
    counts = _counts(int(whole.sum()), len(results.archive.datasets))
    note = f"{sides} Each learner with the weights that suit it best.{_basis_words(counts)}"
    return (*counts, Table(_EFFICIENCY, "Efficiency over the declared measures", frame, formats, note))


def _counts(used: int, known: int) -> tuple[Table, ...]:
    """How many data sets the efficiency rests on; nothing where they are all."""
    import pandas as pd

    if used == known:
        return ()
    index = pd.Index(["used for the efficiency", "of the study"], name="data sets")
    return (Table(_SETS, "Data sets of the efficiency", pd.DataFrame({"number": [used, known]}, index=index)),)


def _basis_words(counts: tuple[Table, ...]) -> str:
    if not counts:
        return ""
    used, known = counts[0].frame["number"]
    return f" Means over {used:,} of {known:,} data sets: on the others not every learner has a finite value of each measure."


def _efficient(table: Table) -> list[Sentence]:
    frame = table.frame
    full = [str(name) for name in frame.index if frame.loc[name, "efficiency"] >= 1 - 1e-9]
    if len(full) == len(frame):
        return [say("All learners stand on the frontier of outputs over inputs: efficiency does not choose between them.")]
    stand = "{full} alone stands" if len(full) == 1 else "{full} stand"
    words = f"{stand} on the frontier of outputs over inputs; the others lie below it."
    single = _best_below(frame.drop(index=full), frame)
    if not single:
        return [say(words, full=listed(full))]
    return [say(words + " By single measures it can be otherwise: {single}.", full=listed(full), single="; ".join(single))]


def _best_below(below: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Which learners below the frontier have the best mean of a measure, alone."""
    found: dict[str, list[str]] = {}
    for measure in frame.columns.drop(["efficiency", "super-efficiency", "rank"]):
        best = best_names(frame[measure], get_measure(str(measure)).facts.direction)
        if len(best) == 1 and best[0] in map(str, below.index):
            found.setdefault(best[0], []).append(measure_words(str(measure)))
    return [f"{learner} has the best {listed(measures)}" for learner, measures in found.items()]
