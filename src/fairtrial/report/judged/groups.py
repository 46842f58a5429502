"""Subgroups: whether a model serves one part of the rows worse than another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.judged.naming import better, datasets_of, largest, models_of, without_lone_set
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import keys_of, measure_words
from fairtrial.report.sentence import Sentence, say, shown
from fairtrial.study.predictions.judged_tables import SMALL_GROUP

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

KEY, GAPS = "groups-all", "groups-gaps"
_MOST_COLOURS, _MOST_LINES, _MOST_FIGURES = 8, 60, 6
_FORMATS = dict.fromkeys(["estimate", "low", "high", "lowest", "highest", "gap"], "{:.4f}") | {"share": "{:.3f}"}


def section(judgement: Judgement) -> Section | None:
    """Measures of every subgroup, and the widest gaps between them; None where no column names groups."""
    if not len(judgement.groups):
        return None
    frame = without_lone_set(judgement.groups, len(datasets_of(judgement)) > 1)
    gaps = gaps_frame(judgement)
    everything = Table(KEY, "Every subgroup", frame, _FORMATS, "", None, True)
    tables: tuple[Table, ...] = (everything,)
    if len(gaps):
        note = (
            f"Subgroups of fewer than {SMALL_GROUP} rows are left aside. Intervals that do not overlap speak for a difference; "
            "those that do overlap do not speak against one."
        )
        tables = (Table(GAPS, "The widest gap between subgroups", gaps, _FORMATS, note, None, True), everything)
    return Section("groups", "Subgroups", _words(gaps), _figures(judgement), tables)


def compared_by(judgement: Judgement) -> str:
    """The measure by which subgroups are compared: the main one, or the first that they have."""
    names = list(dict.fromkeys(judgement.groups["measure"].dropna()))
    return judgement.main if judgement.main in names or not names else str(names[0])


def gaps_frame(judgement: Judgement) -> pd.DataFrame:
    """For each column of groups and model the subgroups with the lowest and the highest value."""
    import pandas as pd

    measure, known = compared_by(judgement), _known(judgement)
    lines = []
    for (dataset, group, model), own in known.groupby(["dataset", "group", "model"], sort=False):
        if len(own) < 2:
            continue
        low, high = own.iloc[int(own["estimate"].argmin())], own.iloc[int(own["estimate"].argmax())]
        line = {"dataset": dataset, "group": group, "model": model, "measure": measure, "lowest in": low["subgroup"]}
        line |= {"lowest": low["estimate"], "highest in": high["subgroup"], "highest": high["estimate"]}
        overlap = "unknown" if np.isnan([low["high"], high["low"]]).any() else "yes" if low["high"] >= high["low"] else "no"
        lines.append(line | {"gap": high["estimate"] - low["estimate"], "intervals overlap": overlap})
    frame = pd.DataFrame(lines).sort_values("gap", ascending=False, kind="stable") if lines else pd.DataFrame(lines)
    return without_lone_set(frame, len(datasets_of(judgement)) > 1)


def _known(judgement: Judgement) -> pd.DataFrame:
    groups = judgement.groups
    own = groups[(groups["measure"] == compared_by(judgement)) & (groups["rows"] >= SMALL_GROUP)]
    known: pd.DataFrame = own[np.isfinite(own["estimate"].to_numpy(dtype=np.float64))]
    return known


def _words(gaps: pd.DataFrame) -> tuple[Sentence, ...]:
    if not len(gaps):
        return (say("No two subgroups have enough rows to be compared."),)
    told = [_widest(gaps, int(gaps.index[gaps["group"] == group][0])) for group in dict.fromkeys(gaps["group"])]
    if (gaps["intervals overlap"] == "yes").all():
        told.append(say("In no case are the intervals apart: these gaps may be chance."))
    return tuple(told)


def _widest(gaps: pd.DataFrame, line: int) -> Sentence:
    """The widest gap of a column of groups."""
    own: Any = gaps.loc[line]
    names = {name: str(own[name]) for name in ("group", "model")}
    names |= {"low": str(own["lowest in"]), "high": str(own["highest in"]), "measure": measure_words(str(own["measure"]))}
    where = ""
    if "data set" in gaps:
        names["dataset"], where = str(own["data set"]), " on {dataset}"
    numbers = {name: shown(gaps, GAPS, line, name) for name in ("lowest", "highest")}
    tail = {"yes": "; the intervals overlap", "no": "; the intervals do not overlap"}.get(str(own["intervals overlap"]), "")
    served = "lower" if better(str(own["measure"])) == "max" else "higher"
    first, second = (("low", "lowest"), ("high", "highest"))
    if served == "higher":
        first, second = second, first
    if own["gap"] == 0:
        words = "By {group}, all subgroups have the same {measure}, {lowest}" + where
        kept = {name: part for name, part in (names | {"lowest": numbers["lowest"]}).items() if "{" + name + "}" in words}
        return say(words + ".", **kept)
    told = (
        f"By {{group}}, the widest gap is that of {{model}}{where}: {{measure}} {{{first[1]}}} for {{{first[0]}}}, the worst, "
    )
    return say(told + f"and {{{second[1]}}} for {{{second[0]}}}, the best{tail}.", **names, **numbers)


def _figures(judgement: Judgement) -> tuple[Figure, ...]:
    """A forest of the subgroups of each column."""
    from fairtrial.report.curves import draw_intervals

    if len(models_of(judgement)) > _MOST_COLOURS:
        return ()
    own, several, words = _known(judgement), len(datasets_of(judgement)) > 1, measure_words(compared_by(judgement))
    own = own[own["dataset"].isin(largest(judgement))]
    parts = list(own.groupby(["group", "dataset"], sort=False))[:_MOST_FIGURES]
    names = [f"{group} {dataset}" if several else str(group) for (group, dataset), _ in parts]
    figures = []
    for key, ((group, dataset), lines) in zip(keys_of(names), parts, strict=True):
        if len(lines) > _MOST_LINES:
            continue
        where = f" on {dataset}" if several else ""
        frame = lines.drop(columns="measure").rename(columns={"subgroup": "measure", "model": "learner"})
        frame = frame[["measure", "learner", "estimate", "low", "high"]].reset_index(drop=True)
        drawn = frame if frame["learner"].nunique() > 1 else frame.drop(columns="learner")
        title = f"Intervals: {words} by {group}{where}"
        alt = (
            f"Dots and intervals of {words} for each subgroup of {group}{where} and each model. The table has the same numbers."
        )
        figures.append(Figure(f"groups-{key}", title, draw_intervals(drawn, title=title), alt, frame))
    return tuple(figures)
