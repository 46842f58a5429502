"""Subgroups: whether a model is worse for some rows than for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._text import make_p_format
from fairtrial.report.figures.curves import draw_gaps
from fairtrial.report.judgement import drop_single_dataset, list_datasets, list_models, select_largest_datasets
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, section
from fairtrial.report.selection import make_unique_keys

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

SUBGROUPS_KEY, GAPS_KEY = "subgroups-all", "subgroups-gaps"
_MAX_COLOURS, _MAX_LINES, _MAX_FIGURES = 8, 60, 6
_FORMATS = dict.fromkeys(["estimate", "low", "high", "rest", "difference", "proportion"], "{:.3g}")
_GAP_NAMES = {"p_value": "p", "p_adjusted": "adjusted p"}
_GAP_NOTE = (
    "Difference: the value of the subgroup minus that of all other rows of the data set. Confidence limits and adjusted "
    "p-values of a measure cover all subgroups, columns, models and data sets."
)


@section("subgroups", title="Subgroups", order=80, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section | None:
    """Report the measures of each subgroup and its gap to the rest. Return None if there are no subgroups."""
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
        tables.insert(0, ReportTable(GAPS_KEY, "Gaps to the rest", gaps, formats, _GAP_NOTE, None, True))
        sentences = tuple(map(Sentence, dict.fromkeys((*judgement.gap_answer, *judgement.gap_summary))))
    else:
        sentences = (build_sentence("There are fewer than two subgroups, so no gap can be computed."),)
    figures = _draw_figures(judgement)
    return Section("subgroups", "Subgroups", sentences, figures, tuple(tables), judgement.label_rules)


def _name_measures(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(measure=frame["measure"].map(format_measure_name, na_action="ignore"))


def select_drawn_gaps(judgement: Judgement) -> pd.DataFrame:
    """Select the gaps with limits in the measures with significant gaps or, if there are none, in the main measure.

    If the main measure has no limits, the first measure with limits replaces it.
    """
    gaps = judgement.gaps[judgement.gaps["low"].notna()]
    names = list(dict.fromkeys(gaps["measure"]))
    first = [judgement.main] if judgement.main in names else names[:1]
    drawn = list(dict.fromkeys(gaps[gaps["significant"].astype(bool)]["measure"])) or first
    return gaps[gaps["measure"].isin(drawn)]


def _draw_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw the gaps in the selected measures, with one figure per measure, column and data set."""
    if len(list_models(judgement)) > _MAX_COLOURS:
        return ()
    gaps, has_many_datasets = select_drawn_gaps(judgement), len(list_datasets(judgement)) > 1
    gaps = gaps[gaps["dataset"].isin(select_largest_datasets(judgement))]
    has_many_measures = gaps["measure"].nunique() > 1
    parts = [part for _, part in gaps.groupby(["measure", "column", "dataset"], sort=False)]
    # The sort is stable, so figures with significant gaps come first and otherwise keep their order.
    parts = sorted(parts, key=lambda part: not part["significant"].any())[:_MAX_FIGURES]
    keys = ["column", *["dataset"] * has_many_datasets, *["measure"] * has_many_measures]
    names = [" ".join(str(part[key].iloc[0]) for key in keys) for part in parts]
    figures = []
    for key, lines in zip(make_unique_keys(names), parts, strict=True):
        if len(lines) > _MAX_LINES:
            continue
        column, dataset = lines["column"].iloc[0], lines["dataset"].iloc[0]
        scope = f" on {dataset}" if has_many_datasets else ""
        frame = lines[["subgroup", "model", "difference", "low", "high"]].reset_index(drop=True)
        measure = format_measure_name(str(lines["measure"].iloc[0]))
        title = f"Gaps to the rest: {measure} by {column}{scope}"
        alt = f"Difference in {measure} between each subgroup of {column}{scope} and the rest, with simultaneous intervals, "
        alt += "for each model. The table below has the same numbers."
        chart = draw_gaps(frame, title=title, measure=measure, level=judgement.level)
        figures.append(Figure(f"subgroups-{key}", title, chart, alt, frame))
    return tuple(figures)
