"""Checks of the verdict: dependent cases, too few data sets, decisive data sets, and multiple testing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._text import make_p_format
from fairtrial.report.cache import compute_verdict
from fairtrial.report.check import CheckAnswer, check, list_unique, report_not_applicable, report_passed, report_raised
from fairtrial.report.names import format_measure_name
from fairtrial.significance.methodology import (
    MAX_DECISIVE_PROPORTION,
    check_dataset_count,
    compute_min_wilcoxon_n,
    compute_removal_limit,
    find_decisive_datasets,
)
from fairtrial.significance.names import get_display_name
from fairtrial.study.results.selection import format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

_MIN_DATASETS = 3
SPLIT_TESTS = ("corrected_resampled_t", "five_by_two_f")
"""Tests that account for the overlap between splits of one data set."""


@check(
    "FT001",
    title="Folds used as independent samples",
    looks_for="splits of one data set that a test treats as independent samples",
    why="The training sets of different splits overlap, so the scores are correlated. A standard t test ignores this "
    "correlation, and its type I error rate exceeds the nominal level.",
    remedy="use a test that accounts for the overlap, such as the corrected resampled t test; to generalize to other data, add "
    "data sets",
    cite="Nadeau & Bengio 2003; Bengio & Grandvalet 2004; Dietterich 1998",
    texts={
        "not applicable": "there is no comparison over data sets or splits.",
        "passed": "each data set contributes one value, the mean over its folds.",
        "corrected": "the cases are overlapping splits of one data set, and the {test} accounts for the overlap.",
        "runs": "the cases are runs with different seeds on the same rows, as specified.",
        "raised": "the cases are overlapping splits of one data set, but the {test} treats them as independent.",
    },
    serves=("study", "judgement", "comparison"),
    affects_answer=True,
)
def check_folds_as_samples(source: ReportSource) -> CheckAnswer:
    """Check whether splits of one data set are treated as independent."""
    verdict = source.verdict
    if verdict is None:
        return report_not_applicable()
    if verdict.unit != "split":
        return report_passed("runs" if verdict.unit == "run" else "passed")
    test = get_display_name(verdict.outcome.test)
    return report_passed("corrected", test=test) if verdict.outcome.test in SPLIT_TESTS else report_raised(test=test)


@check(
    "FT008",
    title="Too few data sets for the test",
    looks_for="so few data sets that even the smallest possible p-value exceeds alpha. The Wilcoxon test needs at least "
    f"{compute_min_wilcoxon_n(0.05)} data sets at alpha = 0.05 and {compute_min_wilcoxon_n(0.01)} at alpha = 0.01. With more "
    "than two learners, the check uses the smallest possible adjusted p-value of a pair",
    why="With so few data sets, no pair can differ significantly, even if the overall test is significant. A large p-value is "
    "then uninformative, and nothing can be decided.",
    remedy="add data sets; until then, restrict conclusions to these data sets",
    cite="Demšar 2006; Derrac et al. 2011",
    texts={
        "not applicable": "there is no comparison over data sets.",
        "passed": "there are enough data sets for the {test}.",
        "raised": "the {test} has {datasets:count data set} on which {nouns} can differ; it needs at least {limit}.",
    },
    serves=("study", "judgement", "comparison"),
)
def check_few_datasets(source: ReportSource) -> CheckAnswer:
    """Check whether the test has enough data sets."""
    import pandas as pd

    verdict = source.verdict
    if verdict is None or verdict.unit != "data set":
        return report_not_applicable()
    findings = check_dataset_count(verdict)
    if not findings:
        return report_passed(test=get_display_name(verdict.outcome.test))
    finding = findings[0]
    facts = {"test": verdict.outcome.test, "data sets": finding["datasets"], f"{source.noun}s": len(verdict.table.learners)}
    frame = pd.DataFrame([{**facts, "alpha": verdict.alpha, "needed": finding["limit"]}])
    return report_raised(details=frame, formats={"alpha": "{:g}"}, **finding.values)


@check(
    "FT024",
    title="Best learner depends on few data sets",
    looks_for="results in which leaving out one data set, or up to "
    f"{100 * MAX_DECISIVE_PROPORTION:.0f} % of the data sets, changes which learner is best",
    why="If a few data sets determine which learner is best, a different choice of data sets could change the answer. Nearly "
    "any learner wins on data sets that were chosen in its favour. The check cannot see data sets that were left out of the "
    "study.",
    remedy="report all learners that are not significantly worse than the best; add data sets; choose the data sets before the "
    "study, by a rule that you report",
    cite="Japkowicz & Shah 2011",
    texts={
        "not applicable": "there is no comparison of learners over at least 3 data sets.",
        "shared": "several {nouns} tie for best.",
        "passed": "{best} remains best without the {limit:count data set} that favour{limit:s} it most.",
        "raised": "without {count} of {n:count data set} ({datasets}), {rival} is best instead of {best}.",
    },
    serves=("study", "judgement", "comparison"),
)
def check_decisive_datasets(source: ReportSource) -> CheckAnswer:
    """Check whether another learner is best if a few data sets are left out."""
    import pandas as pd

    verdict = source.verdict
    if verdict is None or verdict.unit != "data set" or len(verdict.table.datasets) < _MIN_DATASETS:
        return report_not_applicable()
    if len(verdict.ranking.best) > 1:
        return report_not_applicable("shared")
    best, n = verdict.order[0], len(verdict.table.datasets)
    decisive = find_decisive_datasets(verdict)
    if decisive is None:
        return report_passed(best=best, limit=compute_removal_limit(n))
    rival, removed = decisive
    rows = [verdict.table.datasets.index(name) for name in removed]
    columns = {name: verdict.table.values[rows, verdict.table.find_column(name)] for name in (best, rival)}
    frame = pd.DataFrame({"data set": removed, **columns})
    return report_raised(details=frame, count=len(removed), n=n, datasets=removed, rival=rival, best=best)


@check(
    "FT015",
    title="Several measures or conditions tested without adjustment",
    looks_for="verdicts that are significant on their own, but not after Holm adjustment for the number of declared measures "
    "and conditions",
    why="Even if the learners do not differ, on average one in twenty tests at alpha 0.05 is significant. The study's verdict "
    "concerns one measure under one condition, both chosen in advance. All other verdicts answer additional questions.",
    remedy="base conclusions on the declared measure and condition, or use the adjusted p-values in the table of this check",
    cite="Holm 1979; Demšar 2006",
    texts={
        "not applicable": "there is at most one verdict.",
        "passed": "adjustment for the number of measures and conditions does not change any verdict.",
        "raised": (
            "not significant after adjustment for the number of verdicts: {verdicts}. The smallest of these p-values is "
            "{smallest:.3g} before and {adjusted:.3g} after adjustment."
        ),
    },
    affects_answer=True,
)
def check_many_questions(source: ReportSource) -> CheckAnswer:
    """Check for verdicts that are no longer significant after adjustment for the number of verdicts."""
    frame = _tabulate_verdicts(source.get_results())
    if len(frame) < 2:
        return report_not_applicable()
    lost = frame[(frame["p"] <= frame["alpha"]) & (frame["p adjusted"] > frame["alpha"])]
    if lost.empty:
        return report_passed()
    first = int(lost["p"].sort_values().index[0])
    p_format = make_p_format(float(frame["alpha"].iloc[first]))
    pairs = lost[["measure", "condition"]].itertuples(index=False, name=None)
    return report_raised(
        details=frame,
        formats={"p": p_format, "p adjusted": p_format, "alpha": "{:g}"},
        verdicts=list_unique(f"{format_measure_name(measure)} ({condition})" for measure, condition in pairs),
        smallest=float(frame["p"].iloc[first]),
        adjusted=float(frame["p adjusted"].iloc[first]),
    )


def _tabulate_verdicts(results: Results) -> pd.DataFrame:
    """Tabulate the verdicts on declared measures and conditions, with p-values adjusted for the number of verdicts."""
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
