"""Paired tests between models on the rows that both predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import capitalize, make_p_format
from fairtrial.predictions.pairs import UNDECIDED
from fairtrial.report.figures.curves import draw_intervals
from fairtrial.report.judgement import (
    ALPHA,
    PAIRS_KEY,
    build_tests_frame,
    get_fact,
    list_datasets,
    list_models,
    order_pairs_best_first,
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
from fairtrial.significance.names import get_display_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

COUNTS_KEY = "pairs-counts"
_MAX_DRAWN = 60
_PAIR_FORMATS = dict.fromkeys(["difference", "low", "high"], "{:z.4f}")


@section("pairs", title="Paired tests", order=40, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section | None:
    """Report all paired tests. Return None if there is only one model."""
    judgement = source.get_judgement()
    if len(list_models(judgement)) < 2:
        return None
    if not len(judgement.tests):
        unpaired = judgement.predictions is None and judgement.roles.get("model") and not judgement.roles.get("row")
        why = "no column identifies the rows" if unpaired else "no two models have labels in common, or scores in common"
        return Section("pairs", "Paired tests", (build_sentence("No pair of models can be tested: {why}.", why=why),))
    frame = build_tests_frame(judgement)
    note = (
        "The first model of a pair has the better value of the main measure. Differences are first minus second. Intervals are "
        "not adjusted. Adjusted p: Holm over all pairs of all data sets, for each measure. A p-value at its minimum, the "
        "smallest that the number of resamples allows, is an upper bound. The interval of a permutation test is from the "
        "bootstrap, or from the p-value if they disagree. The primary test is the test for the main measure."
    )
    formats = _PAIR_FORMATS | dict.fromkeys(["p", "adjusted p"], make_p_format(judgement.alpha))
    tables = (build_counts_table(frame), ReportTable(PAIRS_KEY, "Every test of every pair", frame, formats, note, None, True))
    return Section("pairs", "Paired tests", _describe_pairs(judgement, frame), _draw_pair_figures(judgement), tables)


def build_counts_table(frame: pd.DataFrame) -> ReportTable:
    """Count the pairs of each test, those that are significant, and those that cannot be decided, if any."""
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
    """Draw the difference of each pair in the main measure and its interval, up to a maximum number."""
    pairs = order_pairs_best_first(judgement).rename(columns={"difference": "estimate"})
    pairs = pairs[np.isfinite(pairs[["estimate", "low", "high"]].to_numpy(dtype=np.float64)).all(axis=1)]
    several, measure = len(list_datasets(judgement)) > 1, format_measure_name(judgement.main)
    drawn = pairs.head(_MAX_DRAWN)
    if drawn.empty:
        return ()
    if several:
        drawn = drawn.assign(
            second=[f"{second} on {name}" for second, name in zip(drawn["second"], drawn["dataset"], strict=True)]
        )
    few = "" if len(drawn) == len(pairs) else f" (the first {len(drawn)} of {len(pairs):,} pairs)"
    title = f"Differences in {measure}, first minus second{few}"
    frame = drawn[["first", "second", "estimate", "low", "high"]].reset_index(drop=True)
    alt = f"Estimate and interval of the difference in {measure} for each pair of models. The table below has the same numbers."
    return (Figure("pairs-differences", title, draw_intervals(frame, title=title), alt, frame),)
