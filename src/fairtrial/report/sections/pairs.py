"""Paired tests between models on the rows that both predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import capitalize, choose_p_format, join_names
from fairtrial.report.figures.curves import draw_intervals
from fairtrial.report.judgement import (
    ALPHA,
    PAIRS_KEY,
    build_pairs_frame,
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
    frame = build_pairs_frame(judgement)
    note = (
        "The first model of a pair has the better value of the main measure. Differences are first minus second. Intervals are "
        "not adjusted. Adjusted p: Holm over the pairs of a data set, for each test. A p-value at its minimum, the smallest "
        "that the number of resamples allows, is an upper bound. The permutation test has no interval. The primary test is the "
        "test for the main measure."
    )
    p_values = frame[["p", "adjusted p"]].to_numpy(dtype=np.float64).ravel()
    formats = _PAIR_FORMATS | dict.fromkeys(["p", "adjusted p"], choose_p_format(p_values, judgement.alpha))
    tables = (build_counts_table(frame), ReportTable(PAIRS_KEY, "Every test of every pair", frame, formats, note, None, True))
    return Section("pairs", "Paired tests", _describe_pairs(judgement, frame), _draw_pair_figures(judgement), tables)


def build_counts_table(frame: pd.DataFrame) -> ReportTable:
    """Count the pairs and the significant pairs of each test."""
    grouped = (
        frame.assign(significant=frame["significant"] == "yes").groupby("test", sort=False)["significant"].agg(["size", "sum"])
    )
    counts = grouped.set_axis(["pairs", "significant"], axis=1).astype(int)
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
        template = "{test} for {measure}: {significant} of {pairs} pairs differ significantly (alpha = {alpha})."
        sentences.append(build_sentence(template, **parts))
    main_tests = frame[frame["measure"] == judgement.main]
    return (*sentences, _describe_agreement(main_tests, measure)) if (main_tests["primary"] == "no").any() else tuple(sentences)


def _describe_agreement(main_tests: pd.DataFrame, measure: str) -> Sentence:
    """Describe whether the other tests on the main measure agree with the primary test."""
    keys = [name for name in ("data set", "first", "second") if name in main_tests]
    n_outcomes = main_tests.groupby(keys, sort=False)["significant"].nunique()
    if (n_outcomes == 1).all():
        return build_sentence("The other tests of {measure} agree with this on every pair.", measure=measure)
    where = "data set" in keys
    names = [
        " vs ".join(map(str, pair[-2:])) + (f" on {pair[0]}" if where else "") for pair in n_outcomes.index[n_outcomes > 1]
    ]
    template = "The tests of {measure} disagree on {pairs}: interpret these pairs with caution."
    return build_sentence(template, measure=measure, pairs=join_names(names[:3]) if len(names) <= 3 else "several pairs")


def _draw_pair_figures(judgement: Judgement) -> tuple[Figure, ...]:
    """Draw the differences of the primary test and their intervals, up to a maximum number."""
    pairs = order_pairs_best_first(judgement).rename(columns={"difference": "estimate"})
    pairs = pairs[pairs["primary"] & np.isfinite(pairs[["estimate", "low", "high"]].to_numpy(dtype=np.float64)).all(axis=1)]
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
