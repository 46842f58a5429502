"""Table 1: how often each measure prefers naive Bayes with a tenth of its scores replaced, on ten data sets with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.coarse import undecided
from fairtrial.reproduce.ranking.cells import CHOSEN, OTHERS, WITHOUT_NOISE, Outcome, Reading, outcome
from fairtrial.reproduce.ranking.coded import Coded
from fairtrial.reproduce.ranking.cylinder import CYLINDER, cylinder_readings, cylinder_table, cylinder_words
from fairtrial.reproduce.ranking.drawn_errors import draw_agreement, draw_means
from fairtrial.reproduce.ranking.joined_words import joined_words, standings, warn_of
from fairtrial.reproduce.ranking.joining import JoinedMeasure, joined_measures
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS
from fairtrial.reproduce.ranking.real_claims import real_claims
from fairtrial.reproduce.ranking.real_sets import NAMES, cylinder, real_sets
from fairtrial.reproduce.ranking.real_tables import cells_beside, differing, mean_errors, readings_table, shown
from fairtrial.reproduce.ranking.real_words import real_words
from fairtrial.reproduce.ranking.spreading import spread
from fairtrial.reproduce.reproduction import Reproduction, Request, Table

if TYPE_CHECKING:
    import pandas as pd

_NOISY = (1, 2, 3, 4)
_Task = tuple[Coded, int, Reading]


def run(request: Request) -> Reproduction:
    """Fill the cells, lay them beside the paper's, judge its statements."""
    joined = joined_measures(request.measures)
    names = [*MEASURES, *(each.name for each in joined)]
    sets, missing = real_sets(stand_in=request.scale == "smoke")
    repeats = request.pick(smoke=4, quick=250, full=1000)
    readings = request.pick(smoke=(CHOSEN, *OTHERS[:1]), quick=(CHOSEN,), full=(CHOSEN, *OTHERS))
    found = _filled(request, sets, repeats, readings, joined)
    clean = [each for each in found[CHOSEN] if each.experiment == WITHOUT_NOISE]
    noisy = [each for each in found[CHOSEN] if each.experiment != WITHOUT_NOISE]
    own = [_without_joined(each) for each in noisy]
    cells, means = cells_beside(noisy, measures=names), mean_errors(noisy, measures=names)
    by_reading = {reading: own if reading is CHOSEN else found[reading] for reading in readings}
    others = readings_table(by_reading)
    ways, table = _cylinder(request, repeats, sets, own)
    claims, standing = real_claims(own, [_without_joined(each) for each in clean]), standings(joined, noisy, clean)
    warn_of(standing)
    return Reproduction(
        words=real_words(cells, others, repeats, len(sets), [*ways, *joined_words(standing)]),
        tables=(*_tables(cells, clean, means, others, names), *table),
        claims=undecided(claims) if request.scale == "smoke" else claims,
        figures=_figures(cells, means, repeats) if set(sets) & set(NAMES) else {},
        left_out=missing,
    )


def _filled(
    request: Request, sets: Mapping[str, Coded], repeats: int, readings: Sequence[Reading], joined: Sequence[JoinedMeasure]
) -> dict[Reading, list[Outcome]]:
    """Outcomes of each reading, experiment by experiment; what joins does so in the chosen reading."""
    tasks: list[_Task] = [
        (data, experiment, reading)
        for reading in readings
        for experiment in ((WITHOUT_NOISE, *_NOISY) if reading is CHOSEN else _NOISY)
        for data in sets.values()
    ]

    def fill(task: _Task) -> Outcome:
        data, experiment, reading = task
        more = joined if reading is CHOSEN else ()
        return outcome(data, experiment, reading, repeats, request.seed, request.out / "cells", more)

    done = spread(fill, tasks, request.jobs, name="data sets in experiments", progress=request.progress)
    found: dict[Reading, list[Outcome]] = {reading: [] for reading in readings}
    for (_, _, reading), each in zip(tasks, done, strict=True):
        found[reading].append(each)
    return found


def _cylinder(
    request: Request, repeats: int, sets: Mapping[str, Coded], own: Sequence[Outcome]
) -> tuple[list[str], list[Table]]:
    """What comes of Cylinder when its columns and rows are taken otherwise: words and a table."""
    data = cylinder() if CYLINDER in sets and request.scale != "quick" else None
    if data is None:
        return [], []
    others = cylinder_readings(data)
    tasks = [(words, experiment) for words in others for experiment in _NOISY]

    def fill(task: tuple[str, int]) -> Outcome:
        words, experiment = task
        return outcome(others[words], experiment, CHOSEN, repeats, request.seed, request.out / "cells")

    done = spread(fill, tasks, request.jobs, name="Cylinder in other ways", progress=request.progress)
    by_words = {"as it is": [each for each in own if each.dataset == CYLINDER]}
    by_words |= {words: [each for task, each in zip(tasks, done, strict=True) if task[0] == words] for words in others}
    frame = cylinder_table(by_words, {"as it is": sets[CYLINDER], **others})
    return cylinder_words(by_words), [
        Table("cylinder", "Cylinder, its columns and rows taken otherwise", frame, _CYLINDER_NOTE)
    ]


_CYLINDER_NOTE = (
    "Error rates in %, in brackets the published ones; a star marks a cell that differs by more than sampling. All else is as "
    "in Table 1. A missing number stays missing in every reading that keeps its row."
)


def _without_joined(outcome: Outcome) -> Outcome:
    size = len(MEASURES)
    return replace(outcome, errors=outcome.errors[:, :size], values=outcome.values[:size], deviations=outcome.deviations[:size])


def _tables(
    cells: pd.DataFrame, clean: Sequence[Outcome], means: pd.DataFrame, others: pd.DataFrame, names: Sequence[str]
) -> list[Table]:
    apart, measures = differing(cells), [WORDS.get(each, each) for each in means["measure"]]
    listed = [Table("differing", "Cells that differ by more than sampling", apart, _DIFFERING_NOTE, digits=2)]
    return [
        Table("table1", "Table 1: error rates in %, in brackets the published ones", shown(cells, names), _NOTE),
        *(listed if len(apart) else []),
        Table("means", "Mean error rates over the data sets, in %", means.assign(measure=measures), digits=2),
        Table("clean", "Without noise", _clean(clean, names), _CLEAN_NOTE, digits=3),
        Table("readings", "What the paper leaves open, read in other ways", others, _READINGS_NOTE, digits=2),
        Table("cells", "All cells", cells, shown=False),
    ]


_NOTE = (
    "A star marks a cell whose 95 % interval of the difference (Newcombe's, of two independent shares of repeats) leaves out "
    "0. Measures that joined have no published rates."
)
_DIFFERING_NOTE = (
    "`low` and `high` are the limits of the difference. Of as many comparisons as there are cells, about one in twenty may "
    "fall out by chance even where both experiments are the same; fewer where rates are near 0."
)
_CLEAN_NOTE = "The mean AUC of naive Bayes in cross-validation of the data as they are, and the error rates in % there."
_READINGS_NOTE = (
    "`within` counts the cells within sampling error of the paper; distances are between error rates, in points. The first "
    "line is the result; the others were looked at afterwards, so that the nearest of them proves little about what the paper "
    "did."
)


def _clean(clean: Sequence[Outcome], names: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    lines = [
        {"data set": each.dataset, "mean AUC": each.values[MEASURES.index("auc")]}
        | {f"error {WORDS.get(name, name)}": 100 * rate for name, rate in zip(names, each.rates, strict=True)}
        for each in clean
    ]
    return pd.DataFrame(lines)


def _figures(cells: pd.DataFrame, means: pd.DataFrame, repeats: int) -> dict[str, Any]:
    both = cells[np.isfinite(cells["published"]) & np.isfinite(cells["ours"])]
    return {"Errors here and in Table 1": draw_agreement(both, repeats), "Mean errors": draw_means(means)}
