"""Subgroups: whether a model is worse for some rows than for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial._text import capitalize, format_difference, format_p_value, format_percentage, make_p_format
from fairtrial.report.figures.forest import draw_forest
from fairtrial.report.judgement import (
    drop_single_dataset,
    get_direction,
    list_datasets,
    rank_judged_models,
    select_largest_datasets,
)
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, section
from fairtrial.report.selection import make_unique_keys

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

SUBGROUPS_KEY, GAPS_KEY = "subgroups-all", "subgroups-gaps"
_ROUNDING = 1e-9
_MAX_LINES, _MAX_FIGURES, _MAX_LEAD = 24, 6, 2
_FORMATS = dict.fromkeys(["estimate", "low", "high", "rest", "difference", "proportion"], "{:.3g}")
_GAP_NAMES = {"p_value": "p", "p_adjusted": "adjusted p"}
_GAP_NOTE = (
    "Difference: the value of the subgroup minus that of all other rows of the data set. Confidence limits and adjusted "
    "p-values cover all subgroups, columns, models and data sets. For measures other than the main measure, they also cover "
    "all these measures together."
)


@section("subgroups", title="Subgroups", order=80, serves=("judgement",), question="where")
def build_judgement_section(source: ReportSource) -> Section | None:
    """Report the measures of each subgroup and the differences from all other rows.

    Return None if there are no subgroups.
    """
    judgement = source.get_judgement()
    if not len(judgement.subgroups):
        return None
    has_many_datasets = len(list_datasets(judgement)) > 1
    everything = _name_measures(drop_single_dataset(judgement.subgroups, has_many_datasets))
    tables = [ReportTable(SUBGROUPS_KEY, "Every subgroup", everything, _FORMATS, "", None, True)]
    if len(judgement.gaps):
        p_format = make_p_format(judgement.alpha)
        gaps = drop_single_dataset(judgement.gaps.drop(columns="obstacle"), has_many_datasets)
        gaps = _name_measures(gaps.rename(columns=_GAP_NAMES))
        gaps["significant"] = gaps["significant"].map({True: "yes", False: "no"})
        formats = _FORMATS | dict.fromkeys(_GAP_NAMES.values(), p_format)
        tables.insert(
            0, ReportTable(GAPS_KEY, "Differences between each subgroup and the rest", gaps, formats, _GAP_NOTE, None, True)
        )
        sentences = _describe_gaps(judgement)
    else:
        sentences = (build_sentence("There are fewer than two subgroups, so no gap can be computed."),)
    figures = _draw_figures(judgement)
    return Section("subgroups", "Subgroups", sentences, figures, tuple(tables), judgement.label_rules)


def _name_measures(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(measure=frame["measure"].map(format_measure_name, na_action="ignore"))


def _describe_gaps(judgement: Judgement) -> tuple[Sentence, ...]:
    """Describe the gaps in each measure, the main measure first.

    If the main measure has no significant gap, the first text also names significant gaps in other measures.
    """
    first, *others = judgement.gap_summary
    answer = dict.fromkeys((first, *judgement.gap_answer))
    names = [str(finding["measure"]) for finding in judgement.gap_findings]
    has_selector = len(list_datasets(judgement)) == 1 and judgement.main in list_gap_measures(judgement) and len(names) > 1
    selections = [{"measure": name} if has_selector else {} for name in names]
    texts = [" ".join(answer), *others]
    return tuple(
        Sentence(text, when=when)
        for text, when in zip(texts, selections, strict=True)
        if has_selector or text == texts[0] or text not in answer
    )


def list_gap_measures(judgement: Judgement) -> list[str]:
    """List the measures whose gaps have confidence limits, the main measure first.

    If the gaps in the main measure have no limits, list only one measure.
    """
    names = list(dict.fromkeys(map(str, judgement.gaps[judgement.gaps["low"].notna()]["measure"])))
    return sorted(names, key=lambda name: name != judgement.main) if judgement.main in names else names[:1]


def _draw_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw the subgroup gaps for each column.

    A selection menu of the page determines the measure or the data set.
    """
    measures, datasets = list_gap_measures(judgement), select_largest_datasets(judgement)
    has_many_datasets = len(list_datasets(judgement)) > 1
    has_main = judgement.main in measures
    gaps = judgement.gaps[judgement.gaps["low"].notna() & judgement.gaps["dataset"].isin(datasets)]
    gaps = gaps[gaps["measure"].isin(measures[:1] if has_many_datasets else measures)]
    columns = _order_columns(gaps, measures)
    parts = [
        (column, str(measure), str(dataset), lines)
        for column in columns
        for (measure, dataset), lines in gaps[gaps["column"] == column].groupby(["measure", "dataset"], sort=False)
    ]
    figures = []
    names = [" ".join([column, *([dataset] if has_many_datasets else []), measure]) for column, measure, dataset, _ in parts]
    for key, (column, measure, dataset, lines) in zip(make_unique_keys(names), parts, strict=True):
        when = {"dataset": dataset} if has_many_datasets else {"measure": format_measure_name(measure)} if has_main else {}
        is_lead = column in columns[:_MAX_LEAD]
        figures.append(_draw_gaps(judgement, lines, f"subgroups-{key}", is_lead, when))
    return tuple(sorted(figures, key=lambda figure: not figure.lead))


def _order_columns(gaps: pd.DataFrame, measures: list[str]) -> list[str]:
    """Sort the columns, and keep only a few.

    Columns with significant gaps in the first measure come first.
    """
    main = gaps[gaps["measure"].isin(measures[:1])]
    significant = set(main[main["significant"].astype(bool)]["column"])
    return sorted(dict.fromkeys(map(str, gaps["column"])), key=lambda name: name not in significant)[:_MAX_FIGURES]


def _draw_gaps(judgement: Judgement, lines: pd.DataFrame, key: str, lead: bool, when: dict[str, str]) -> Figure:
    """Draw the subgroup gaps in one measure, for one column of one data set.

    If there are many gaps, draw only the subgroups with the largest gaps, and only the best models.
    """
    column, dataset, measure = (str(lines[name].iloc[0]) for name in ("column", "dataset", "measure"))
    sizes = lines["difference"].abs().groupby(lines["subgroup"]).max().nlargest(_MAX_LINES)
    subgroups = [name for name in dict.fromkeys(lines["subgroup"]) if name in sizes.index]
    ranked = [name for name in rank_judged_models(judgement, dataset) if name in set(lines["model"])]
    models = ranked[: max(1, _MAX_LINES // len(subgroups))]
    drawn = lines[lines["model"].isin(models) & lines["subgroup"].isin(subgroups)]
    order = np.lexsort([[models.index(name) for name in drawn["model"]], [subgroups.index(name) for name in drawn["subgroup"]]])
    drawn = drawn.iloc[order]
    frame = drawn[["subgroup", "model", "difference", "low", "high"]].reset_index(drop=True)
    frame = frame.set_axis(["label", "learner", "estimate", "low", "high"], axis=1).assign(
        text=[
            format_p_value(float(p), judgement.alpha) if significant else ""
            for p, significant in zip(drawn["p_adjusted"], drawn["significant"], strict=True)
        ]
    )
    name, scope = format_measure_name(measure), f" on {dataset}" if len(list_datasets(judgement)) > 1 else ""
    notes = [f"Subgroup minus rest, {format_percentage(judgement.level)} CI, simultaneous"]
    notes += ["adjusted p if significant"] if (frame["text"] != "").any() else []
    notes += [f"the {len(models)} best models"] if len(models) < len(ranked) else []
    notes += [f"the {len(subgroups)} largest gaps"] if len(subgroups) < lines["subgroup"].nunique() else []
    title = f"{capitalize(name)} by {column}{scope}"
    chart = draw_forest(frame, title=title, subtitle="; ".join(notes), has_zero=True, step=13 if len(models) > 1 else 26)
    sizes_of_gaps = drawn["difference"].abs()
    is_largest = sizes_of_gaps >= sizes_of_gaps.max() - _ROUNDING  # among gaps of equal size, name one of a worse subgroup
    is_worse = drawn["difference"] * (1 if get_direction(measure) == "max" else -1) < 0
    largest = drawn.iloc[int(np.argmax(is_largest * 2 + (is_largest & is_worse)))]
    alt = (
        f"Difference in {name} between each subgroup of {column}{scope} and the rest. Largest: {largest['subgroup']} "
        f"({largest['model']}), {format_difference(float(largest['difference']))}. Significant differences: "
        f"{int(drawn['significant'].sum())} of {len(drawn)}."
    )
    return Figure(key, title, chart, alt, frame, lead, "half", when)
