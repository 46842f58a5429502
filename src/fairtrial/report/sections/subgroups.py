"""Subgroups: whether a model serves one part of the rows worse than another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.predictions.tables import MIN_SUBGROUP_ROWS
from fairtrial.report.figures.curves import draw_intervals
from fairtrial.report.judgement import drop_single_dataset, get_direction, list_datasets, list_models, select_largest_datasets
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import make_unique_keys

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

SUBGROUPS_KEY, DIFFERENCES_KEY = "subgroups-all", "subgroups-differences"
_MAX_COLOURS, _MAX_LINES, _MAX_FIGURES = 8, 60, 6
_SUBGROUP_FORMATS = dict.fromkeys(["estimate", "low", "high", "lowest", "highest", "difference"], "{:.4f}") | {
    "proportion": "{:.3f}"
}


@section("subgroups", title="Subgroups", order=80, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section | None:
    """Measures of every subgroup, and the widest gaps between them; None where no column names groups."""
    judgement = source.get_judgement()
    if not len(judgement.subgroups):
        return None
    frame = drop_single_dataset(judgement.subgroups, len(list_datasets(judgement)) > 1)
    differences = build_subgroup_differences(judgement)
    everything = ReportTable(SUBGROUPS_KEY, "Every subgroup", frame, _SUBGROUP_FORMATS, "", None, True)
    tables: tuple[ReportTable, ...] = (everything,)
    if len(differences):
        note = (
            f"Subgroups of fewer than {MIN_SUBGROUP_ROWS} rows are left aside. Intervals that do not overlap speak for a "
            "difference; those that do overlap do not speak against one."
        )
        tables = (
            ReportTable(DIFFERENCES_KEY, "The widest gap between subgroups", differences, _SUBGROUP_FORMATS, note, None, True),
            everything,
        )
    return Section("subgroups", "Subgroups", _describe_subgroups(differences), _draw_subgroup_figures(judgement), tables)


def choose_subgroup_measure(judgement: Judgement) -> str:
    """The measure by which subgroups are compared: the main one, or the first that they have."""
    names = list(dict.fromkeys(judgement.subgroups["measure"].dropna()))
    return judgement.main if judgement.main in names or not names else str(names[0])


def build_subgroup_differences(judgement: Judgement) -> pd.DataFrame:
    """For each column of groups and model the subgroups with the lowest and the highest value."""
    import pandas as pd

    measure, comparable = choose_subgroup_measure(judgement), _select_comparable(judgement)
    lines = []
    for (dataset, column, model), subgroups in comparable.groupby(["dataset", "column", "model"], sort=False):
        if len(subgroups) < 2:
            continue
        low, high = subgroups.iloc[int(subgroups["estimate"].argmin())], subgroups.iloc[int(subgroups["estimate"].argmax())]
        line = {"dataset": dataset, "column": column, "model": model, "measure": measure, "lowest in": low["subgroup"]}
        line |= {"lowest": low["estimate"], "highest in": high["subgroup"], "highest": high["estimate"]}
        overlap = "unknown" if np.isnan([low["high"], high["low"]]).any() else "yes" if low["high"] >= high["low"] else "no"
        lines.append(line | {"difference": high["estimate"] - low["estimate"], "intervals overlap": overlap})
    frame = pd.DataFrame(lines).sort_values("difference", ascending=False, kind="stable") if lines else pd.DataFrame(lines)
    return drop_single_dataset(frame, len(list_datasets(judgement)) > 1)


def _select_comparable(judgement: Judgement) -> pd.DataFrame:
    groups = judgement.subgroups
    subset = groups[(groups["measure"] == choose_subgroup_measure(judgement)) & (groups["rows"] >= MIN_SUBGROUP_ROWS)]
    comparable: pd.DataFrame = subset[np.isfinite(subset["estimate"].to_numpy(dtype=np.float64))]
    return comparable


def _describe_subgroups(differences: pd.DataFrame) -> tuple[Sentence, ...]:
    if not len(differences):
        return (build_sentence("No two subgroups have enough rows to be compared."),)
    sentences = [
        _describe_widest_difference(differences, int(differences.index[differences["column"] == column][0]))
        for column in dict.fromkeys(differences["column"])
    ]
    if (differences["intervals overlap"] == "yes").all():
        sentences.append(build_sentence("In no case are the intervals apart: these gaps may be chance."))
    return tuple(sentences)


def _describe_widest_difference(differences: pd.DataFrame, line: int) -> Sentence:
    """The widest gap of a column of groups."""
    widest: Any = differences.loc[line]
    names = {name: str(widest[name]) for name in ("column", "model")}
    names |= {
        "low": str(widest["lowest in"]),
        "high": str(widest["highest in"]),
        "measure": format_measure_name(str(widest["measure"])),
    }
    where = ""
    if "data set" in differences:
        names["dataset"], where = str(widest["data set"]), " on {dataset}"
    numbers = {name: format_number(differences, DIFFERENCES_KEY, line, name) for name in ("lowest", "highest")}
    tail = {"yes": "; the intervals overlap", "no": "; the intervals do not overlap"}.get(str(widest["intervals overlap"]), "")
    worse_side = "lower" if get_direction(str(widest["measure"])) == "max" else "higher"
    first, second = (("low", "lowest"), ("high", "highest"))
    if worse_side == "higher":
        first, second = second, first
    if widest["difference"] == 0:
        equal_template = "By {column}, all subgroups have the same {measure}, {lowest}" + where
        params = {
            name: part for name, part in (names | {"lowest": numbers["lowest"]}).items() if "{" + name + "}" in equal_template
        }
        return build_sentence(equal_template + ".", **params)
    template = (
        f"By {{column}}, the widest gap is that of {{model}}{where}: {{measure}} {{{first[1]}}} for {{{first[0]}}}, the worst, "
    )
    return build_sentence(template + f"and {{{second[1]}}} for {{{second[0]}}}, the best{tail}.", **names, **numbers)


def _draw_subgroup_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """A forest of the subgroups of each column."""
    if len(list_models(judgement)) > _MAX_COLOURS:
        return ()
    subgroups, several, measure_text = (
        _select_comparable(judgement),
        len(list_datasets(judgement)) > 1,
        format_measure_name(choose_subgroup_measure(judgement)),
    )
    subgroups = subgroups[subgroups["dataset"].isin(select_largest_datasets(judgement))]
    parts = list(subgroups.groupby(["column", "dataset"], sort=False))[:_MAX_FIGURES]
    names = [f"{column} {dataset}" if several else str(column) for (column, dataset), _ in parts]
    figures = []
    for key, ((column, dataset), lines) in zip(make_unique_keys(names), parts, strict=True):
        if len(lines) > _MAX_LINES:
            continue
        where = f" on {dataset}" if several else ""
        frame = lines.drop(columns="measure").rename(columns={"subgroup": "measure", "model": "learner"})
        frame = frame[["measure", "learner", "estimate", "low", "high"]].reset_index(drop=True)
        drawn = frame if frame["learner"].nunique() > 1 else frame.drop(columns="learner")
        title = f"Intervals: {measure_text} by {column}{where}"
        alt = f"Dots and intervals of {measure_text} for each subgroup of {column}{where} and each model."
        alt += " The table has the same numbers."
        figures.append(Figure(f"subgroups-{key}", title, draw_intervals(drawn, title=title), alt, frame))
    return tuple(figures)
