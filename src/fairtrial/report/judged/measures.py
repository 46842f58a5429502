"""The measures of every model with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.measures import get_measure
from fairtrial.report.judged.naming import LEVEL, better, datasets_of, fact, largest, models_of, without_lone_set
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import keys_of, listed, measure_words
from fairtrial.report.sentence import Sentence, say
from fairtrial.study.predictions.judged_order import unequal_rows

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

KEY = "measures-all"
_FOUR = "{:.4f}"
_MOST_COLOURS = 8


def section(judgement: Judgement) -> Section:
    """Measures by model at a glance, drawn with their intervals, and a table of all."""
    several = len(datasets_of(judgement)) > 1
    tables = (_main(judgement),) if several else _wide(judgement)
    figures = _over_sets(judgement) if several else _of_one(judgement)
    frame = all_frame(judgement)
    formats = dict.fromkeys(["estimate", "low", "high"], _FOUR) | {"chance": "{:g}", "rows": "{:,}"}
    note = f"Chance is what guessing gives, where the measure knows it.{fewer_note(judgement)}"
    everything = Table(KEY, "Every measure with its interval", frame, formats, note, None, True)
    return Section("measures", "Measures", _words(judgement), figures, (*tables, everything))


def all_frame(judgement: Judgement) -> pd.DataFrame:
    """The frame of the table of all measures; its lines are those of `judgement.scores`."""
    return without_lone_set(judgement.scores, len(datasets_of(judgement)) > 1)


def fewer_note(judgement: Judgement) -> str:
    """Which models are scored on fewer rows than others."""
    found = []
    for name, rows in unequal_rows(judgement.scores).items():
        fewer = [model for model, count in rows.items() if count < max(rows.values())]
        found.append(listed(fewer) + (f" on {name}" if len(datasets_of(judgement)) > 1 else ""))
    return (
        f" Fewer rows than others have: {'; '.join(found)}; the column rows of the table of every measure counts them."
        if found
        else ""
    )


def _words(judgement: Judgement) -> tuple[Sentence, ...]:
    main = get_measure(judgement.main)
    told = say(
        "The main measure is {measure}. {summary}. {size} values are better.",
        measure=measure_words(main.name),
        summary=main.facts.summary.rstrip("."),
        size="Larger" if main.facts.direction == "max" else "Smaller",
    )
    if not judgement.scores["low"].notna().any():
        return (told, say("No measure has an interval here; the table says what stands against it."))
    limits = say("Intervals are at the level of {level} %; the table names how each is made.", level=fact(judgement, LEVEL))
    absent = [say("Where a model has no value the table says why.")] * bool(judgement.scores["estimate"].isna().any())
    return (told, limits, *absent, *_infinite(judgement))


def _infinite(judgement: Judgement) -> Iterator[Sentence]:
    """Values that no figure can show."""
    endless = judgement.scores[np.isinf(judgement.scores["estimate"].to_numpy(dtype=np.float64))]
    for name, own in endless.groupby("measure", sort=False):
        models = listed(list(dict.fromkeys(map(str, own["model"]))))
        why = ": a class that came true was given a probability of zero" if name == "log_loss" else ""
        yield say("The {measure} of {models} is infinite{why}.", measure=measure_words(str(name)), models=models, why=why)


def _wide(judgement: Judgement) -> tuple[Table, ...]:
    """Measures by models, those to be large and those to be small apart, so that the best can be marked."""
    if len(models_of(judgement)) == 1:
        return ()
    tables = []
    for direction, word in (("max", "larger"), ("min", "smaller")):
        own = judgement.scores[[better(name) == direction for name in judgement.scores["measure"]]]
        if len(own):
            wide = _pivot(own, "measure", models_of(judgement))
            formats = dict.fromkeys(wide.columns, _FOUR)
            title = f"Measures of which {word} values are better"
            tables.append(Table(f"measures-{word}", title, wide, formats, fewer_note(judgement).strip(), direction))
    return tuple(tables)


def _main(judgement: Judgement) -> Table:
    """The main measure, data sets by models."""
    own = judgement.scores[judgement.scores["measure"] == judgement.main]
    wide = _pivot(own, "dataset", models_of(judgement)).rename_axis(index="data set")
    title, long = f"On each data set: {measure_words(judgement.main)}", len(wide) > 12
    formats, note = dict.fromkeys(wide.columns, _FOUR), fewer_note(judgement).strip()
    return Table("measures-main", title, wide, formats, note, better(judgement.main), long)


def _pivot(lines: pd.DataFrame, index: str, models: list[str]) -> pd.DataFrame:
    wide = lines.set_index([index, "model"])["estimate"].unstack("model")
    order = list(dict.fromkeys(lines[index]))
    return wide.reindex(index=order, columns=models).rename_axis(columns=None)


def _of_one(judgement: Judgement) -> tuple[Figure, ...]:
    """A forest of measures that share a scale and are to be large, and each of the others alone."""
    own = _known(judgement.scores)
    names = list(dict.fromkeys(own["measure"]))
    if len(models_of(judgement)) > _MOST_COLOURS:
        names = [name for name in names if name == judgement.main]
    within = [name for name in names if better(name) == "max" and get_measure(name).facts.range in ((0, 1), (-1, 1))]
    groups = [within, *([name] for name in names if name not in within)]
    return tuple(_forest(own, group, models_of(judgement)) for group in groups if group)


def _forest(lines: pd.DataFrame, names: list[str], models: list[str]) -> Figure:
    from fairtrial.report.curves import draw_intervals

    own = lines[lines["measure"].isin(names)]
    alone = len(names) == 1
    words = measure_words(names[0]) if alone else "measures of which larger values are better"
    frame = own.assign(measure=own["model"] if alone else [measure_words(name) for name in own["measure"]])
    frame = frame.rename(columns={"model": "learner"})[["measure", "learner", "estimate", "low", "high"]]
    drawn = frame.drop(columns="learner") if alone or len(models) == 1 else frame
    key = f"measures-intervals-{keys_of(names)[0]}" if alone else "measures-intervals"
    title = f"Intervals: {words}"
    alt = f"Dots and intervals of {words} for each model. The tables below have the same numbers."
    return Figure(key, title, draw_intervals(drawn.reset_index(drop=True), title=title), alt, frame)


def _over_sets(judgement: Judgement) -> tuple[Figure, ...]:
    """The main measure on the data sets with the most rows."""
    from fairtrial.report.curves import draw_intervals

    own, chosen = _known(judgement.scores), largest(judgement)
    own = own[(own["measure"] == judgement.main) & own["dataset"].isin(chosen)]
    if own.empty or len(models_of(judgement)) > _MOST_COLOURS:
        return ()
    frame = own.drop(columns="measure").rename(columns={"dataset": "measure", "model": "learner"})
    frame = frame[["measure", "learner", "estimate", "low", "high"]].reset_index(drop=True)
    words = measure_words(judgement.main)
    few = "" if len(chosen) == len(datasets_of(judgement)) else ", the data sets with the most rows"
    title = f"Intervals: {words} on each data set{few}"
    alt = f"Dots and intervals of {words} for each data set and model. The tables below have the same numbers."
    return (Figure("measures-intervals", title, draw_intervals(frame, title=title), alt, frame),)


def _known(scores: pd.DataFrame) -> pd.DataFrame:
    known: pd.DataFrame = scores[np.isfinite(scores["estimate"].to_numpy(dtype=np.float64))]
    return known
