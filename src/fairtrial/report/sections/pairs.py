"""Paired tests between models on the rows that both predict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial._text import (
    capitalize,
    format_count,
    format_p_value,
    format_percentage,
    join_names,
    make_p_format,
)
from fairtrial.predictions.pairs import UNDECIDED
from fairtrial.report.figures.forest import describe_rows, draw_forest
from fairtrial.report.judgement import (
    ALPHA,
    MAX_ROWS,
    PAIRS_KEY,
    build_tests_frame,
    get_direction,
    get_fact,
    list_datasets,
    list_models,
    list_tested_measures,
    order_pairs_best_first,
    rank_judged_models,
    select_largest_datasets,
)
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import (
    Figure,
    ReportTable,
    Section,
    Sentence,
    build_sentence,
    format_number,
    section,
)
from fairtrial.report.selection import make_unique_keys
from fairtrial.significance.names import get_display_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

COUNTS_KEY = "pairs-counts"
_MAX_DRAWN, _MAX_NAMED = 15, 3
_PAIR_FORMATS = dict.fromkeys(["difference", "low", "high"], "{:z.4f}")


@section("pairs", title="Paired tests", order=40, serves=("judgement",), question="better")
def build_judgement_section(source: ReportSource) -> Section | None:
    """Report all paired tests.

    Return None if there is only one model. Also return None if there is a verdict over data sets, because
    `build_dataset_section` then reports the tests.
    """
    judgement = source.get_judgement()
    return None if _follows_verdict(judgement) else _build_pair_section(judgement)


@section("dataset-pairs", title="Paired tests on each data set", order=55, serves=("judgement",), question="better")
def build_dataset_section(source: ReportSource) -> Section | None:
    """Report all paired tests after the verdict over data sets.

    Return None if there is no such verdict.
    """
    judgement = source.get_judgement()
    return _build_pair_section(judgement) if _follows_verdict(judgement) else None


def _follows_verdict(judgement: Judgement) -> bool:
    return judgement.verdict is not None and len(list_datasets(judgement)) > 1


def _build_pair_section(judgement: Judgement) -> Section | None:
    if len(list_models(judgement)) < 2:
        return None
    if not len(judgement.tests):
        unpaired = judgement.predictions is None and judgement.roles.get("model") and not judgement.roles.get("row")
        why = "no column identifies the rows" if unpaired else "no two models both have predicted labels or both have scores"
        return Section("pairs", "Paired tests", (build_sentence("No pair of models can be tested: {why}.", why=why),))
    frame = build_tests_frame(judgement)
    note = (
        "The first model of a pair has the better value of the main measure. Differences are first minus second. Intervals are "
        "simultaneous over all pairs (Bonferroni). Significance is decided by the adjusted p-value (Holm over all pairs of all "
        "data sets, separately for each measure). A p-value at its minimum, the smallest that the number of resamples allows, "
        "is an upper bound. The interval of a permutation test is from the bootstrap, or from the p-value if the two disagree. "
        "The primary test is the test for the main measure."
    )
    formats = _PAIR_FORMATS | dict.fromkeys(["p", "adjusted p"], make_p_format(judgement.alpha))
    tables = (build_counts_table(frame), ReportTable(PAIRS_KEY, "Every test of every pair", frame, formats, note, None, True))
    sentences = (*_describe_selections(judgement), *_describe_pairs(judgement, frame))
    return Section("pairs", "Paired tests", sentences, _draw_pair_figures(judgement), tables)


def _list_selections(judgement: Judgement) -> list[tuple[str, str, dict[str, str]]]:
    """List the measures, data sets and selections for which a figure and a sentence are shown.

    The name of the data set is empty if there is only one data set.
    """
    if len(list_datasets(judgement)) > 1:
        return [(judgement.main, dataset, {"dataset": dataset}) for dataset in select_largest_datasets(judgement)]
    measures = list_tested_measures(judgement)
    if len(measures) == 1:
        return [(judgement.main, "", {})]
    return [(measure, "", {"measure": format_measure_name(measure)}) for measure in measures]


def _describe_selections(judgement: Judgement) -> list[Sentence]:
    """Describe the significant pairs of each selection and, if there are several data sets, of all data sets together."""
    findings = [
        Sentence(text, when=when)
        for measure, dataset, when in _list_selections(judgement)
        if (text := _describe_significant_pairs(judgement, measure, dataset))
    ]
    several = len(list_datasets(judgement)) > 1
    overall = _describe_significant_pairs(judgement, judgement.main, "") if several else ""
    return [*findings, *([Sentence(overall)] if overall else [])]


def _describe_significant_pairs(judgement: Judgement, measure: str, dataset: str) -> str:
    """Describe which pairs differ significantly in a measure on one data set or, if `dataset` is empty, on all data sets."""
    pairs = order_pairs_best_first(judgement, measure)
    pairs = pairs[pairs["dataset"] == dataset] if dataset else pairs
    tested, several = pairs[pairs["p_adjusted"].notna()], pairs["dataset"].nunique() > 1
    if tested.empty:
        return ""
    sign = 1 if get_direction(measure) == "max" else -1
    ranks = [
        rank_judged_models(judgement, str(name), measure).index(str(first))
        for name, first in zip(tested["dataset"], tested["first"], strict=True)
    ]
    # Sort the pairs. If several models are better than the same model, the best of them comes first.
    lines = tested.iloc[np.argsort(ranks, kind="stable")].to_dict("records")
    for line in lines:
        is_ahead = sign * line["difference"] >= 0
        line["better"], line["worse"] = (line["first"], line["second"]) if is_ahead else (line["second"], line["first"])
    where = f" on {dataset}" if dataset else ""
    values: dict[str, Any] = {"pairs": len(tested), "measure": f"{format_measure_name(measure)}{where}"}
    if len(lines) == 1:
        (line,) = lines
        values |= {name: str(line[name]) for name in ("better", "worse")}
        kind = "pair_differs" if line["significant"] else "pair_similar"
        adjusted = "adjusted " if _is_adjusted(judgement) else ""
        return render(Finding.of(kind, **values, adjusted=adjusted, p=float(line["p_adjusted"]), alpha=judgement.alpha))
    significant = [line for line in lines if line["significant"]]
    if not significant:
        return render(Finding.of("pairs_similar", **values), "model")
    texts = _name_better_models(significant, several)
    values["named"] = f": {'; '.join(texts)}" if len(texts) <= _MAX_NAMED else ""
    return render(Finding.of("pairs_differ", significant=len(significant), **values), "model")


def _is_adjusted(judgement: Judgement) -> bool:
    """Return whether p-values and limits are adjusted for several pairs."""
    return len(judgement.pairs) > 1


def _name_better_models(lines: list[dict[Any, Any]], several: bool) -> list[str]:
    """Name the better models of the significant pairs.

    With several data sets, count those on which each pair differs significantly.
    """
    if several:
        counts = Counter((str(line["better"]), str(line["worse"])) for line in lines)
        return [f"{better} is better than {worse} on {format_count(n, 'data set')}" for (better, worse), n in counts.items()]
    groups: dict[str, list[str]] = {}
    for line in lines:
        groups.setdefault(str(line["worse"]), []).append(str(line["better"]))
    worse_models: dict[tuple[str, ...], list[str]] = {}
    for worse, names in groups.items():
        worse_models.setdefault(tuple(names), []).append(worse)
    return [
        f"{join_names(names)} {'is' if len(names) == 1 else 'are'} better than {join_names(worse)}"
        for names, worse in worse_models.items()
    ]


def build_counts_table(frame: pd.DataFrame) -> ReportTable:
    """Count all pairs, the significant pairs and the undecidable pairs of each test."""
    significant = frame["significant"]
    flags = frame[["test"]].assign(pairs=1, significant=significant == "yes", undecided=significant == UNDECIDED)
    counts = flags.groupby("test", sort=False).sum().astype(int)
    if not counts["undecided"].any():
        counts = counts.drop(columns="undecided")
    counts["primary"] = frame.groupby("test", sort=False)["primary"].agg(lambda values: "yes" if "yes" in set(values) else "no")
    return ReportTable(COUNTS_KEY, "Significant pairs by test", counts)


def _describe_pairs(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    counts = build_counts_table(frame).frame
    deciding = [str(name) for name in judgement.tests.loc[judgement.tests["primary"], "test"].unique()]
    measure = format_measure_name(judgement.main)
    if not deciding:
        return (build_sentence("None of these tests applies to {measure}, so there is no primary test.", measure=measure),)
    sentences = []
    for name in deciding:
        line = get_display_name(name)
        parts: dict[str, Any] = {
            "test": capitalize(line),
            "measure": measure,
            "pairs": format_number(counts, COUNTS_KEY, line, "pairs", "{:,}"),
            "significant": format_number(counts, COUNTS_KEY, line, "significant", "{:,}"),
            "alpha": get_fact(judgement, ALPHA),
        }
        template = "{test} for {measure}: {significant} of {pairs} pairs differ significantly (alpha = {alpha})"
        if "undecided" in counts and counts.loc[line, "undecided"]:
            template += ", {undecided} cannot be decided"
            parts["undecided"] = format_number(counts, COUNTS_KEY, line, "undecided", "{:,}")
        sentences.append(build_sentence(f"{template}.", **parts))
    return tuple(sentences)


def _draw_pair_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw the difference of each pair and its interval, for each tested measure or for each of the largest data sets."""
    selections, figures = _list_selections(judgement), []
    keys = make_unique_keys([dataset or measure for measure, dataset, _ in selections])
    for (measure, dataset, when), key in zip(selections, keys, strict=True):
        order = rank_judged_models(judgement, dataset or list_datasets(judgement)[0], measure)
        lines = order_pairs_best_first(judgement, measure)
        lines = lines[np.isfinite(lines[["difference", "low", "high"]].to_numpy(dtype=np.float64)).all(axis=1)]
        lines = lines[lines["dataset"] == dataset] if dataset else lines
        if lines.empty:
            continue
        positions = [[order.index(str(name)) for name in lines[column]] for column in ("first", "second")]
        lines = lines.iloc[np.lexsort(positions[::-1])]
        drawn = lines.head(_MAX_DRAWN)
        frame = drawn.rename(columns={"difference": "estimate"})[["first", "second", "estimate", "low", "high"]]
        frame = frame.reset_index(drop=True).assign(
            label=[f"{first} - {second}" for first, second in zip(drawn["first"], drawn["second"], strict=True)],
            text=_format_p_values(judgement, drawn),
        )
        few = "" if len(drawn) == len(lines) else f"; {len(drawn)} of {len(lines)} pairs, those of the best models"
        title = f"Differences in {format_measure_name(measure)}" + (f" on {dataset}" if dataset else "")
        chart = draw_forest(
            frame,
            title=title,
            subtitle=f"First minus second, paired; {_describe_adjustment(judgement)}{few}",
            has_zero=True,
            step=28 if len(frame) <= 6 else 20,
        )
        alt = f"{title}, {_describe_adjustment(judgement)}: {describe_rows(frame, differences=True)}."
        name = f"pairs-differences-{key}" if when else "pairs-differences"
        figures.append(Figure(name, title, chart, alt, frame, True, "wide", when))
    return tuple(figures)


def _describe_adjustment(judgement: Judgement) -> str:
    level = format_percentage(judgement.level)
    return f"simultaneous {level} CI, adjusted p" if _is_adjusted(judgement) else f"{level} CI, p"


def draw_differences_from_best(judgement: Judgement, dataset: str, key: str, when: Mapping[str, str]) -> Figure | None:
    """Draw the difference of each model from the best model in the main measure, with intervals and p-values."""
    order = rank_judged_models(judgement, dataset)
    pairs = order_pairs_best_first(judgement)
    pairs = pairs[(pairs["dataset"] == dataset) & (pairs["first"] == order[0])]
    pairs = pairs[np.isfinite(pairs["difference"].to_numpy(dtype=np.float64))]
    if pairs.empty:
        return None
    pairs = pairs.iloc[np.argsort([order.index(str(name)) for name in pairs["second"]])]
    drawn = pairs.head(MAX_ROWS - 1)
    frame = _build_frame(
        label=drawn["second"],
        learner=drawn["second"],
        estimate=0.0 - drawn["difference"],
        low=0.0 - drawn["high"],
        high=0.0 - drawn["low"],
        text=_format_p_values(judgement, drawn),
    )
    few = "" if len(drawn) == len(pairs) else f"; the {len(drawn)} best of {len(pairs)} models"
    measure = format_measure_name(judgement.main)
    subtitle = f"Paired; {_describe_adjustment(judgement)}{few}"
    title = f"Difference in {measure} from {order[0]}" + (f" on {dataset}" if len(list_datasets(judgement)) > 1 else "")
    chart = draw_forest(frame, title=title, subtitle=subtitle, has_zero=True, step=34 if len(frame) <= 4 else 26)
    alt = f"{title}, {_describe_adjustment(judgement)}: {describe_rows(frame, differences=True)}."
    return Figure(key, title, chart, alt, frame, True, "half", when)


def _format_p_values(judgement: Judgement, pairs: pd.DataFrame) -> list[str]:
    """Format the p-values of pairs, adjusted if there are several pairs."""
    return [
        "no test" if np.isnan(p) else format_p_value(float(p), judgement.alpha, at_most=bool(at_minimum))
        for p, at_minimum in zip(pairs["p_adjusted"], pairs["at_minimum"], strict=True)
    ]


def _build_frame(**columns: Any) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: list(values) for name, values in columns.items()})
