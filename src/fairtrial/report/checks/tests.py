"""Checks of the verdict: what counts as a case, how many there are, how many questions were asked."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from fairtrial.report.cache import compute_verdict
from fairtrial.report.check import CheckFinding, check, join_unique_names, report_not_applicable, report_passed, report_raised
from fairtrial.report.names import describe_test, format_measure_name
from fairtrial.report.section import build_sentence, choose_p_format, format_number, format_p_value
from fairtrial.study.results.selection import format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

SPLIT_TESTS = ("corrected_resampled_t", "five_by_two_f")
"""Tests that allow for the overlap of the splits of one data set."""
MIN_FRIEDMAN_DATASETS = 10
"""Demšar's rule: the distribution of the statistic is an approximation that needs more than about ten data sets."""


def compute_min_wilcoxon_n(alpha: float) -> int:
    """The fewest differences with which Wilcoxon's two-sided test can reach a level: its smallest p value is 2 ** (1 - n).

    >>> compute_min_wilcoxon_n(0.05), compute_min_wilcoxon_n(0.01), compute_min_wilcoxon_n(0.125)
    (6, 8, 4)
    """
    return next(count for count in itertools.count(1) if 2.0 ** (1 - count) <= alpha)


@check(
    "FT001",
    title="Folds used as independent samples",
    looks_for="what the cases of the verdict are: data sets, or splits of one data set, and whether the test allows for that",
    why="Folds and repeats share training rows, so that their scores vary less than new data would: a plain t test on "
    "them finds differences that are not there.",
    remedy="take a test that allows for the overlap, such as corrected_resampled_t; to speak of other data, add data sets",
    cite="Nadeau & Bengio 2003; Bengio & Grandvalet 2004; Dietterich 1998",
)
def folds_as_samples(results: Results) -> CheckFinding:
    """The splits of one data set as cases."""
    verdict, why_not = compute_verdict(results)
    if verdict is None:
        return report_not_applicable(build_sentence("{reason}", reason=why_not))
    if verdict.unit != "split":
        return report_passed(
            build_sentence(
                "A data set counts as one case, with the mean over its folds: no fold is used as a sample of its own."
            )
        )
    alone = len(results.archive.datasets) == 1
    cases = "There is one data set" if alone else "Of the data sets only one is left to the verdict"
    prefix = f"{cases}, so that its splits are the cases. They overlap, and "
    test, allows = describe_test(verdict.outcome.test), verdict.outcome.test in SPLIT_TESTS
    if not allows:
        return report_raised(build_sentence(prefix + "{test} takes them as independent.", test=test))
    return report_passed(build_sentence(prefix + "{test} allows for it. Nothing is said of other data sets.", test=test))


@check(
    "FT008",
    title="Too few data sets for the test",
    looks_for="Wilcoxon's test on so few data sets on which the learners differ that its smallest p value lies above alpha "
    f"(fewer than {compute_min_wilcoxon_n(0.05)} at the level of 0.05, {compute_min_wilcoxon_n(0.01)} at that of 0.01); "
    f"Friedman's on fewer than {MIN_FRIEDMAN_DATASETS}, or on fewer than there are learners",
    why="With so few cases Wilcoxon's test cannot reach the level at all, and the approximation behind Friedman's "
    "is rough; either way a large p value says nothing.",
    remedy="add data sets; until then speak of these data sets only",
    cite="Demšar 2006; Derrac et al. 2011",
)
def few_data_sets(results: Results) -> CheckFinding:
    """Data sets too few to tell learners apart."""
    import pandas as pd

    verdict, why_not = compute_verdict(results)
    if verdict is None:
        return report_not_applicable(build_sentence("{reason}", reason=why_not))
    if verdict.unit == "split":
        return report_not_applicable(build_sentence("The test is on the splits of one data set."))
    test, learners = verdict.outcome.test, len(verdict.table.learners)
    cases = verdict.outcome.n if test == "wilcoxon" else len(verdict.table.datasets)
    needed = compute_min_wilcoxon_n(verdict.alpha) if test == "wilcoxon" else max(MIN_FRIEDMAN_DATASETS, learners)
    if cases >= needed:
        return report_passed(build_sentence("There are data sets enough for {test}.", test=describe_test(test)))
    facts = {"test": test, "data sets": cases, "learners": learners, "alpha": verdict.alpha, "needed": needed}
    frame = pd.DataFrame([facts])
    sentence = build_sentence(
        "{test} has {cases} data {noun} on which learners can differ, and should have {needed} or more.",
        test=describe_test(test)[:1].upper() + describe_test(test)[1:],
        cases=format_number(frame, "checks-ft008", 0, "data sets", "{:d}"),
        noun="set" if cases == 1 else "sets",
        needed=format_number(frame, "checks-ft008", 0, "needed", "{:d}"),
    )
    return report_raised(sentence, frame, alpha="{:g}")


@check(
    "FT015",
    title="Several measures or conditions tested without adjustment",
    looks_for="verdicts, over all declared measures and conditions, that are significant alone but not after Holm's "
    "adjustment for their number",
    why="Who asks twenty questions gets one answer at the level of 0.05 by chance. The study's verdict is on one measure "
    "under one condition, chosen beforehand; the others are further questions.",
    remedy="hold to the declared measure and condition, or take the adjusted p values of this table",
    cite="Holm 1979; Demšar 2006",
)
def many_questions(results: Results) -> CheckFinding:
    """Verdicts that do not survive their number."""
    frame = _tabulate_verdicts(results)
    if len(frame) < 2:
        return report_not_applicable(build_sentence("There is one verdict at most."))
    lost = frame[(frame["p"] <= frame["alpha"]) & (frame["p adjusted"] > frame["alpha"])]
    if lost.empty:
        return report_passed(
            build_sentence("No verdict on a declared measure and condition hangs on adjusting for their number.")
        )
    first = int(lost["p"].sort_values().index[0])
    alpha = float(frame["alpha"].iloc[first])
    sentence = build_sentence(
        "Significant alone but not among all verdicts: {which}; the smallest p among them is {p}, and {adjusted} when "
        "adjusted.",
        which=_format_verdict_list(lost),
        p=format_p_value(frame, "checks-ft015", first, "p", alpha, equal="", below="below ", digits=3),
        adjusted=format_p_value(frame, "checks-ft015", first, "p adjusted", alpha, equal="", below="below ", digits=3),
    )
    p_format = choose_p_format(frame[["p", "p adjusted"]].to_numpy().ravel(), alpha, 3)
    return report_raised(sentence, frame, p=p_format, **{"p adjusted": p_format, "alpha": "{:g}"})


def _format_verdict_list(lines: pd.DataFrame) -> str:
    pairs = lines[["measure", "condition"]].itertuples(index=False, name=None)
    return join_unique_names(f"{format_measure_name(measure)} ({condition})" for measure, condition in pairs)


def _tabulate_verdicts(results: Results) -> pd.DataFrame:
    """A line for each declared measure and condition that has a verdict, with p values adjusted for their number."""
    import numpy as np
    import pandas as pd

    from fairtrial.significance.adjust import adjust

    lines = []
    for measure in results.measures:
        for condition in results.archive.conditions:
            verdict, _ = compute_verdict(results, measure, condition)
            if verdict is not None and not np.isnan(verdict.p_value):
                lines.append((measure, format_condition(condition), verdict.choice, verdict.p_value, verdict.alpha))
    frame = pd.DataFrame(lines, columns=["measure", "condition", "test", "p", "alpha"])
    p = frame["p"].to_numpy(dtype=np.float64)
    frame.insert(4, "p adjusted", adjust(p, "holm") if len(p) else p)
    return frame
