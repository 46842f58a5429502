"""Subgroups: whether a model is worse for some rows than for others."""

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
    """Report the measures of every subgroup and the largest differences. Return None if there are no subgroups."""
    judgement = source.get_judgement()
    if not len(judgement.subgroups):
        return None
    frame = drop_single_dataset(judgement.subgroups, len(list_datasets(judgement)) > 1)
    differences = build_subgroup_differences(judgement)
    everything = ReportTable(SUBGROUPS_KEY, "Every subgroup", frame, _SUBGROUP_FORMATS, "", None, True)
    tables: tuple[ReportTable, ...] = (everything,)
    if len(differences):
        note = (
            f"Subgroups with fewer than {MIN_SUBGROUP_ROWS} rows are left out. Intervals that do not overlap indicate a "
            "difference. Overlapping intervals do not show that there is none."
        )
        tables = (
            ReportTable(
                DIFFERENCES_KEY, "Largest difference between subgroups", differences, _SUBGROUP_FORMATS, note, None, True
            ),
            everything,
        )
    return Section("subgroups", "Subgroups", _describe_subgroups(differences), _draw_subgroup_figures(judgement), tables)


def choose_subgroup_measure(judgement: Judgement) -> str:
    """Choose the measure by which subgroups are compared: the main measure or, if it is missing, the first available one."""
    names = list(dict.fromkeys(judgement.subgroups["measure"].dropna()))
    return judgement.main if judgement.main in names or not names else str(names[0])


def build_subgroup_differences(judgement: Judgement) -> pd.DataFrame:
    """For each subgroup column and model, find the subgroups with the lowest and the highest value."""
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
        return (build_sentence("Fewer than two subgroups have enough rows for a comparison."),)
    sentences = [
        _describe_widest_difference(differences, int(differences.index[differences["column"] == column][0]))
        for column in dict.fromkeys(differences["column"])
    ]
    if (differences["intervals overlap"] == "yes").all():
        sentences.append(build_sentence("All intervals overlap: these differences may be due to chance."))
    return tuple(sentences)


def _describe_widest_difference(differences: pd.DataFrame, line: int) -> Sentence:
    """Describe the largest difference between the subgroups of a column."""
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
        equal_template = "By {column}, all subgroups have the same {measure}" + where + " ({lowest})"
        params = {
            name: part for name, part in (names | {"lowest": numbers["lowest"]}).items() if "{" + name + "}" in equal_template
        }
        return build_sentence(equal_template + ".", **params)
    template = (
        f"By {{column}}, {{model}} has the largest difference{where}: {{measure}} {{{first[1]}}} for {{{first[0]}}} (worst) "
        f"and "
    )
    return build_sentence(template + f"{{{second[1]}}} for {{{second[0]}}} (best){tail}.", **names, **numbers)


def _draw_subgroup_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw estimates and intervals of the subgroups, with one figure per column and data set."""
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
        alt = f"Estimates and intervals of {measure_text} for each subgroup of {column}{where} and each model. The table below "
        alt += "has the same numbers."
        figures.append(Figure(f"subgroups-{key}", title, draw_intervals(drawn, title=title), alt, frame))
    return tuple(figures)
