"""The section of scores: the means of every declared measure with their intervals, over data sets and for each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.measures import get_measure
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import keys_of, measure_words
from fairtrial.report.sections.score_means import by_data_set, over_data_sets, scored
from fairtrial.report.sentence import Sentence, say

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_UNDEFINED = re.compile(r"(\S+) is undefined for ([\d,]+) of ([\d,]+) trials?: (.*)", re.DOTALL)
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
    holes, notes = _undefined(told)
    return Section("scores", "Scores", _absent(absent), (), holes, notes, (*parts, *_all(tables)))


def _undefined(told: Iterable[str]) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """What was told of measures without a value in some trials, as a table; and what else was told."""
    import pandas as pd

    lines, others = [], []
    for each in told:
        found = _UNDEFINED.fullmatch(each)
        if found is None:
            others.append(each)
        else:
            measure, count, trials, why = found.groups()
            lines.append((measure_words(measure), int(count.replace(",", "")), int(trials.replace(",", "")), why))
    frame = pd.DataFrame(lines, columns=["measure", "undefined", "trials", "how often, and why"])
    title = "Measures that are undefined in some trials"
    return (Table("scores-undefined", title, frame),) * bool(lines), tuple(others)


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
    table = Table(f"scores-means-{key}", f"Means: {words}", frame, FORMATS, _note(results, frame), None, True)
    return Section(f"scores-{key}", words, (said,), _figures(frame, words, key), (table,))


def _note(results: Results, frame: pd.DataFrame) -> str:
    several = len(results.archive.datasets) > 1
    notes = [_STUDENT if several else _SINGLE if frame["low"].isna().all() else _CORRECTED]
    if (frame["data sets"] < len(results.archive.datasets)).any():
        notes.append(_HOLES)
    return " ".join(notes)


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
