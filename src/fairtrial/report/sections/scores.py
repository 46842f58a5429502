"""The section of scores: the means of every declared measure with their intervals, over data sets and for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.measures import get_measure
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import keys_of, measure_words, told_condition
from fairtrial.report.sections.score_means import by_data_set, over_data_sets, scored
from fairtrial.report.sentence import Sentence, say

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

FORMATS = {"level": "{:g}", "mean": "{:.4f}", "low": "{:.4f}", "high": "{:.4f}"}
_MOST_COLOURS = 7  # with more learners a line for each is drawn under one condition: colours would not tell them apart
_STUDENT = (
    "Means over the data sets with Student's 95 % interval, which speaks of data sets like these. "
    "Limits end where the measure's range does."
)
_CORRECTED = (
    "Means over the splits of the one data set with their 95 % interval, corrected for the overlap of training rows "
    "(Nadeau and Bengio). They speak of this data set alone. Limits end where the measure's range does."
)
_SINGLE = "One split of one data set has no interval over splits."
_HOLES = "Data sets on which a trial failed or the measure is undefined are left out of a mean: compare such means with care."
_LONG_NOTE = (
    "Means over splits with 95 % intervals, corrected for the overlap of training rows (Nadeau and Bengio): they speak of the "
    "data set alone. A mean is left open where a trial failed."
)


def section(results: Results) -> Section:
    """Means and intervals of each declared measure, under each condition; then data set by data set."""
    scores, told = scored(results, results.measures)
    sets = by_data_set(results, scores)
    means = over_data_sets(results, sets)
    absent = [name for name in results.measures if not means.loc[means["measure"] == name, "mean"].notna().any()]
    present = [name for name in dict.fromkeys(results.measures) if name not in absent]
    keys = dict(zip(dict.fromkeys(results.measures), keys_of(dict.fromkeys(results.measures)), strict=True))
    parts = [_part(results, means[means["measure"] == name], name, keys[name]) for name in present]
    tables = (long_table(sets),) if len(sets) else ()
    return Section("scores", "Scores", _absent(absent), (), (), tuple(told), (*parts, *_all(tables)))


def means_key(results: Results, measure: str) -> str:
    """The key of the table of a measure's means and intervals."""
    names = list(dict.fromkeys(results.measures))
    return f"scores-means-{keys_of(names)[names.index(measure)]}"


def means_frame(results: Results, measure: str) -> pd.DataFrame:
    """The frame of that table: condition, learner, mean, low, high and data sets."""
    scores, _ = scored(results, [measure])
    return _own(over_data_sets(results, by_data_set(results, scores)))


def _own(means: pd.DataFrame) -> pd.DataFrame:
    return means.drop(columns="measure").reset_index(drop=True)


def _absent(absent: Iterable[str]) -> tuple[Sentence, ...]:
    return tuple(
        say("{measure} does not exist for this evidence: no trial has a value.", measure=measure_words(name)) for name in absent
    )


def _part(results: Results, means: pd.DataFrame, measure: str, key: str) -> Section:
    frame = _own(means)
    words, better = measure_words(measure), get_measure(measure).facts.direction
    said = say(
        "{summary}. {size} values are better.",
        summary=get_measure(measure).facts.summary.rstrip("."),
        size="Larger" if better == "max" else "Smaller",
    )
    tables = [Table(f"scores-means-{key}", f"Means: {words}", frame, FORMATS, _note(results, frame), None, True)]
    if frame["condition"].nunique() > 1 and frame["learner"].nunique() > 1:
        tables.insert(0, _wide(results, frame, measure, key))
    return Section(f"scores-{key}", words, (said,), _figures(frame, words, key), tuple(tables))


def _note(results: Results, frame: pd.DataFrame) -> str:
    several = len(results.archive.datasets) > 1
    notes = [_STUDENT if several else _SINGLE if frame["low"].isna().all() else _CORRECTED]
    if (frame["data sets"] < len(results.archive.datasets)).any():
        notes.append(_HOLES)
    return " ".join(notes)


def _wide(results: Results, frame: pd.DataFrame, measure: str, key: str) -> Table:
    """Conditions by learners: the best under each condition can be seen at a glance."""
    learners = [each.name for each in results.archive.learners]
    conditions = [told_condition(each) for each in results.archive.conditions]
    wide = frame.pivot_table("mean", "condition", "learner", dropna=False, observed=True, sort=False)
    wide = wide.reindex(index=[name for name in conditions if name in wide.index], columns=learners).rename_axis(columns=None)
    title, better = f"Means under each condition: {measure_words(measure)}", get_measure(measure).facts.direction
    return Table(f"scores-conditions-{key}", title, wide, dict.fromkeys(learners, "{:.4f}"), "", better)


def _figures(frame: pd.DataFrame, words: str, key: str) -> tuple[Figure, ...]:
    from fairtrial.report.curves import draw_intervals

    known = frame[np.isfinite(frame["mean"].to_numpy(dtype=np.float64))]
    if known["learner"].nunique() > _MOST_COLOURS:
        known = known[known["condition"] == known["condition"].iloc[0]]
    if known["low"].isna().all():
        return ()
    several = known["condition"].nunique() > 1
    lines = known.rename(columns={"mean": "estimate", "condition" if several else "learner": "measure"})
    drawn = lines[["measure", *(["learner"] if several else []), "estimate", "low", "high"]]
    only = "" if several or frame["condition"].nunique() == 1 else f" under {known['condition'].iloc[0]}"
    title = f"Means of {words} with their 95 % intervals{only}"
    lines_of = "condition and learner" if several else f"learner{only}"
    alt = f"Dots and intervals: mean {words} of each {lines_of}. The table below has the same numbers."
    heading, chart = f"Means and intervals{only}: {words}", draw_intervals(drawn, title=title)
    return (Figure(f"scores-intervals-{key}", heading, chart, alt, known),)


def long_table(sets: pd.DataFrame) -> Table:
    """The tidy table of `by_data_set`."""
    frame = sets.rename(columns={"dataset": "data set"}).reset_index(drop=True)
    names = frame.columns[frame.dtypes == "category"]
    frame = frame.astype(dict.fromkeys(names, object))
    return Table("scores-all", "All means, one line each", frame, FORMATS, _LONG_NOTE, None, True)


def _all(tables: tuple[Table, ...]) -> tuple[Section, ...]:
    return (Section("scores-each", "Every data set, condition and learner", (), (), tables),) if tables else ()
