"""Robustness to noise: accuracy and its losses against the level, by condition."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.report.level_means import level_means
from fairtrial.report.loss_surface import draw_loss_surface
from fairtrial.report.places import CLEAN, changed_conditions, keys_of, main_condition, of_drift, with_levels
from fairtrial.report.robustness import draw_levels, draw_losses
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import listed
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts

_NAMES = {
    "dataset": "data set",
    "clean": "accuracy without noise",
    "noisy": "accuracy with noise",
    "rla": "RLA",
    "rla_low": "RLA low",
    "rla_high": "RLA high",
    "ela": "ELA",
    "ela_low": "ELA low",
    "ela_high": "ELA high",
    "datasets": "data sets",
}
_FORMATS = {"level": "{:g}", **dict.fromkeys([name for key, name in _NAMES.items() if key[-4:] != "sets"], "{:.3f}")}
_NOTE = (
    "RLA is the share of its accuracy that a learner loses; ELA adds the price of a poor start, so that it also says which "
    "learner to take (Sáez, Luengo & Herrera 2016). For both, smaller is better."
)
_FEWER = (
    "A data set counts where every learner has a value with and without noise; the column 'data sets' says how many do. Means "
    "in the section of scores are over the data sets of each learner and condition alone."
)


def section(results: Results) -> Section | None:
    """A part for each condition that changes the training data; None where there is none, or nothing to compare it with."""
    every = results.archive.conditions
    noises = changed_conditions(results, test_alone=False)
    conditions = {name: levels for name, levels in noises.items() if not any(of_drift(each, every) for each in levels)}
    if not conditions or main_condition(results).name != CLEAN:
        return None
    keys = keys_of(conditions)
    parts = [part for name, levels in conditions.items() if (part := _part(results, name, levels, keys[name])) is not None]
    return Section("robustness", "Robustness to noise", notes=(_NOTE,), parts=tuple(parts)) if parts else None


def _part(results: Results, name: str, levels: list[ConditionFacts], key: str) -> Section | None:
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        each = results.robustness(name)
        if each["ela"].notna().sum() == 0:
            return None
        several = len(results.archive.datasets) > 1
        overall = results.robustness(name, by="all") if several else each.drop(columns="dataset")
    each, overall = (with_levels(frame, levels) for frame in (each, overall))
    overall = overall[overall["ela"].notna()].reset_index(drop=True)
    means = level_means(results, [main_condition(results), *levels])
    tables = _tables(each, overall, key, several)
    where = f"means of {means['datasets'].max()} data sets" if several else results.archive.datasets[0].name
    figures = _figures(means, overall, name, key, where)
    title = f"{name}: {levels[0].words}" if len(levels) == 1 and levels[0].words else name
    return Section(f"robustness-{key}", title, _sentences(tables[0], name), figures, tables, _notes(results, overall, levels))


def _tables(each: pd.DataFrame, overall: pd.DataFrame, key: str, several: bool) -> tuple[Table, ...]:
    told = (
        "Intervals: Student's over data sets."
        if several
        else "Intervals: by the delta method, corrected for the overlap of splits."
    )
    first = _shown(overall.drop(columns="condition"))
    tables = [
        Table(
            f"robustness-losses-{key}", "Losses of accuracy" + (" over all data sets" if several else ""), first, _FORMATS, told
        )
    ]
    if several:
        note = "Intervals: delta method, corrected for the overlap of splits (Nadeau & Bengio 2003), of that data set alone."
        lines = _shown(each.drop(columns="condition"))
        tables.append(
            Table(f"robustness-by-data-set-{key}", "Losses of accuracy by data set", lines, _FORMATS, note, long=True)
        )
    return tuple(tables)


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """With the learner in front and names in words; a column that says nothing is left out."""
    front = [name for name in ("dataset", "learner", "level") if name in frame]
    order = [*front, *(name for name in frame.columns if name not in front)]
    plain = frame[order].astype({name: object for name in ("dataset", "learner") if name in frame})
    kept = plain if plain["level"].notna().any() else plain.drop(columns="level")
    return kept.rename(columns=_NAMES).reset_index(drop=True)


def _sentences(table: Table, name: str) -> tuple[Sentence, ...]:
    frame = table.frame
    last = frame[frame["level"] == frame["level"].max()] if "level" in frame else frame
    places: list[Any] = [last["RLA"].idxmin(), last["ELA"].idxmin()]
    least, best = (int(each) for each in places)
    found = [_loses_least(table, last, least, name), _told_apart(last, least, "RLA")]
    winner = str(frame.loc[best, "learner"])
    numbers = {"ela": shown(frame, table.key, best, "ELA"), "accuracy": shown(frame, table.key, best, _NAMES["noisy"])}
    if len(last) == 1:
        found.append(say("Its ELA there is {ela}, its accuracy {accuracy}.", **numbers))
    elif best == least:
        found.append(say("By ELA it is also the best choice there ({ela}, accuracy {accuracy}).", **numbers))
    else:
        found.append(
            say(
                "By ELA, which counts the start too, {winner} is the best choice there ({ela}, accuracy {accuracy}).",
                winner=winner,
                **numbers,
            )
        )
    if len(last) > 1:
        found.append(_told_apart(last, best, "ELA"))
    return tuple(each for each in found if each is not None)


def _loses_least(table: Table, last: pd.DataFrame, line: int, name: str) -> Sentence:
    frame = table.frame
    learner = str(frame.loc[line, "learner"])
    parts: dict[str, Any] = {"name": name, "learner": learner, "loss": shown(frame, table.key, line, "RLA")}
    at = "Under {name}"
    if "level" in frame:
        at, parts["level"] = "Under {name} at level {level}", shown(frame, table.key, line, "level", "{:g}")
    if parts["loss"].value <= 0:
        return say(f"{at} {{learner}} loses nothing of its accuracy (a loss of {{loss}}).", **parts)
    if len(last) == 1:
        return say(f"{at} {{learner}} loses {{loss}} of its accuracy.", **parts)
    alike = last[last["RLA"] == frame.loc[line, "RLA"]]["learner"].astype(str).tolist()
    if len(alike) > 1:
        return say(f"{at} {{alike}} lose least, {{loss}} of their accuracy.", alike=listed(alike), **parts)
    return say(f"{at} {{learner}} loses least, {{loss}} of its accuracy.", **parts)


def _told_apart(last: pd.DataFrame, line: int, column: str) -> Sentence | None:
    """Whether intervals tell the one that is ahead from the others."""
    if len(last) < 2:
        return None
    high: Any = last.loc[line, f"{column} high"]
    if np.isnan(high):
        return say("There is no interval to tell learners apart: it takes several data sets, or several splits of one.")
    others = last.drop(index=line)
    apart = others["learner"][others[f"{column} low"] > high].astype(str).tolist()
    rest = others["learner"][~(others[f"{column} low"] > high)].astype(str).tolist()
    if not rest:
        return say("Its interval of {column} lies below those of all others.", column=column)
    if not apart:
        return say("Intervals of {column} do not tell it from any other.", column=column)
    return say(
        "Intervals of {column} tell it from {apart}, but not from {rest}.",
        column=column,
        apart=listed(apart),
        rest=listed(rest),
    )


def _notes(results: Results, overall: pd.DataFrame, levels: list[ConditionFacts]) -> tuple[str, ...]:
    notes = [
        "Intervals that overlap do not prove that learners are alike; intervals apart tell them apart, one pair at a time."
    ]
    lines = overall.groupby("learner", observed=True).size()
    lacking = [each.name for each in results.archive.learners if lines.get(each.name, 0) < len(levels)]
    if lacking:
        notes.append(
            f"Not at every level: {', '.join(lacking)} (trials failed, have not run, or accuracy without noise is zero)."
        )
    if "datasets" in overall and (overall["datasets"] < len(results.archive.datasets)).any():
        notes.append(_FEWER)
    return tuple(notes)


def _figures(means: pd.DataFrame, overall: pd.DataFrame, name: str, key: str, where: str) -> tuple[Figure, ...]:
    if overall["level"].isna().any():
        return ()
    figures = []
    if means["mean"].notna().any():
        chart = draw_levels(means, title=f"Accuracy under {name}", told=f"{where}. Bars: 95 % intervals")
        figures.append(
            Figure(
                f"robustness-accuracy-{key}",
                f"Accuracy under {name}",
                chart,
                _alt(means, "mean", f"Accuracy under {name}, {where}.", highest=True),
                means,
            )
        )
    losses = draw_losses(overall, title=f"Losses under {name}")
    alt = _alt(overall, "ela", f"RLA and ELA under {name}.", highest=False)
    figures.append(Figure(f"robustness-loss-{key}", f"RLA and ELA under {name}", losses, alt, overall))
    surface = draw_loss_surface(overall)
    told = _alt(
        overall, "rla", f"Accuracy with noise over accuracy without it, on the surfaces of RLA and ELA, {name}.", highest=False
    )
    figures.append(
        Figure(f"robustness-surface-{key}", "The same accuracies on the surfaces of RLA and ELA", surface, told, overall)
    )
    return tuple(figures)


def _alt(frame: pd.DataFrame, column: str, words: str, *, highest: bool) -> str:
    last = frame[(frame["level"] == frame["level"].max()) & frame[column].notna()]
    if last.empty:
        return words
    place = last[column].idxmax() if highest else last[column].idxmin()
    what = {"mean": "accuracy", "ela": "ELA", "rla": "RLA"}[column]
    row = last.loc[place]
    side = "highest" if highest else "lowest"
    return f"{words} At level {row['level']:g} {row['learner']} has the {side} {what}, {row[column]:.3f}."
