"""Resampling schemes: the answer for each scheme, and whether the scores of learners differ between schemes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._text import choose_p_format, join_names
from fairtrial.report.cache import compute_verdict
from fairtrial.report.names import format_measure_name, get_verdict_measure_name
from fairtrial.report.section import ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import get_main_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

_MEANS, _PAIRS = "resampling-means", "resampling-pairs"
_NAMES = {
    "first": "scheme",
    "second": "other scheme",
    "mean_first": "mean",
    "mean_second": "other mean",
    "statistic": "W",
    "p_adjusted": "adjusted p",
    "effect": "rank-biserial correlation",
    "datasets": "data sets",
}


@section("resampling", title="Resampling schemes", order=105, serves=("study",), schemes="none", question="how")
def build_section(source: ReportSource) -> Section | None:
    """Compare the schemes for each learner. Return None if the study has a single scheme."""
    results = source.get_all_results()
    if len(results.schemes) == 1:
        return None
    condition = get_main_condition(results)
    measure = format_measure_name(get_verdict_measure_name(results))
    alpha = float(results.archive.declaration.get("verdict", {}).get("alpha") or 0.05)
    pairs = results.compare_resampling(condition=condition.name, level=condition.level, alpha=alpha)
    means = _build_means(results, condition.name, condition.level)
    named_pairs = pairs.rename(columns=_NAMES)
    p_format = choose_p_format(pairs["p_adjusted"].dropna().tolist(), alpha)
    formats = {
        **dict.fromkeys(("mean", "other mean", "difference", "rank-biserial correlation", "low", "high"), "{:.3f}"),
        **dict.fromkeys(("p", "adjusted p"), p_format),
        "W": "{:g}",
    }
    note = (
        "Wilcoxon signed-rank test over data sets for each learner and pair of schemes; p-values are adjusted by Holm's method "
        "over all rows."
    )
    tables = (
        ReportTable(_MEANS, f"Mean {measure} by scheme", means, dict.fromkeys(means.columns, "{:.3f}")),
        ReportTable(_PAIRS, f"{measure}: differences between schemes", named_pairs, formats, note),
    )
    sentences = [_describe_scheme(results, name) for name in results.schemes]
    notes = (
        "The notes of the other sections name the scheme that they show. For a report on another scheme, pass "
        "results.for_resampling(NAME) to write_report.",
    )
    return Section("resampling", "Resampling schemes", (*sentences, _describe_pairs(named_pairs)), (), tables, notes)


def _build_means(results: Results, condition: str, level: float) -> pd.DataFrame:
    import pandas as pd

    tables = {name: results.wide(condition=condition, level=level, resampling=name) for name in results.schemes}
    return pd.DataFrame({name: table.mean() for name, table in tables.items()}).rename_axis(index="learner")


def _describe_scheme(results: Results, name: str) -> Sentence:
    """Describe the answer for one resampling scheme."""
    verdict, reason = compute_verdict(results.for_resampling(name))
    if verdict is None:
        return build_sentence("With {scheme}: {reason}", scheme=name, reason=reason)
    return build_sentence("With {scheme}: {answer}", scheme=name, answer=verdict.summarize())


def _describe_pairs(pairs: pd.DataFrame) -> Sentence:
    """Report the learners whose scores differ significantly between schemes."""
    if (pairs["outcome"] == "cannot be decided").all():
        return build_sentence("It cannot be decided whether schemes differ, because there are too few data sets.")
    different = pairs[pairs["outcome"] == "significantly different"]
    if different.empty:
        return build_sentence("No learner's scores differ significantly between schemes.")
    line = different["adjusted p"].idxmin()
    names = join_names(dict.fromkeys(different["learner"].astype(str)))
    return build_sentence(
        "Scores differ significantly between schemes for {names}; the smallest adjusted p-value is {p}.",
        names=names,
        p=format_number(pairs, _PAIRS, line, "adjusted p", "{:.2g}"),
    )
