"""Methodology checks: which checks were raised, what they found, and how to fix the problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._text import capitalize, format_text
from fairtrial.report.check import CheckResult, run_checks
from fairtrial.report.section import Highlight, ReportTable, Section, Sentence, section

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource

_COUNTS = "checks-counts"
_MANY = 30


@section(
    "checks",
    title="Methodology checks",
    order=170,
    serves=("study", "judgement", "comparison"),
    schemes="none",
    question="checks",
)
def build_section(source: ReportSource) -> Section:
    """Build a table of all checks. For each raised check, show the numbers, the reason and the remedy."""
    check_results = run_checks(source)
    counts = build_outcome_counts(check_results)
    tables = (
        ReportTable("checks-all", "All checks, raised ones first", build_checks_frame(check_results)),
        ReportTable(_COUNTS, "Checks by outcome", counts),
    )
    notes = ("The page 'Methodology checks' of the documentation explains every check. Check numbers are permanent.",)
    subsections = tuple(
        _build_check_section(check_result) for check_result in check_results if check_result.finding.outcome == "raised"
    )
    sentences = tuple(map(Sentence, _summarize_checks(check_results)))
    highlights = tuple(
        Highlight(f"{check.number} {check.title}", f"{finding.text} {_to_sentence(check.remedy)}".strip())
        for check, finding in check_results
        if finding.outcome == "raised"
    )
    return Section("checks", "Methodology checks", sentences, (), tables, notes, subsections, highlights=highlights)


def build_outcome_counts(check_results: tuple[CheckResult, ...]) -> pd.DataFrame:
    """Count the checks by outcome. Outcomes without checks are omitted."""
    import pandas as pd

    outcomes = pd.Series([check_result.finding.outcome for check_result in check_results], dtype=object).value_counts(
        sort=False
    )
    lines = {str(outcome): int(count) for outcome, count in outcomes.items()} | {"all": len(check_results)}
    return pd.DataFrame({"checks": list(lines.values())}, index=pd.Index(lines, name="outcome"))


def build_checks_frame(check_results: tuple[CheckResult, ...]) -> pd.DataFrame:
    """Build a frame with one row per check. Only raised checks have a remedy."""
    import pandas as pd

    lines = [
        (
            check.number,
            check.title,
            finding.outcome,
            finding.text,
            _to_sentence(check.remedy) * (finding.outcome == "raised"),
        )
        for check, finding in check_results
    ]
    return pd.DataFrame(lines, columns=["number", "check", "outcome", "finding", "remedy"])


def _summarize_checks(check_results: tuple[CheckResult, ...]) -> list[str]:
    raised = [result for result in check_results if result.finding.outcome == "raised"]
    broken = [result.check.number for result in check_results if result.finding.outcome == "failed to run"]
    values = {"raised": len(raised), "all": len(check_results), "broken": broken}
    summary = (
        "{raised} of {all:count check} {raised:is} raised." if raised else "No methodology problems found ({all:count check})."
    )
    texts = [summary, *(["failed to run: {broken}."] if broken else [])]
    return [capitalize(format_text(text, values)) for text in texts]


def _build_check_section(check_result: CheckResult) -> Section:
    check, finding = check_result
    tables: tuple[ReportTable, ...] = ()
    if finding.details is not None:
        long = len(finding.details) > _MANY
        tables = (ReportTable(check.table, f"{check.number}: numbers", finding.details, dict(finding.formats), long=long),)
    cited = f" ({check.cite})" if check.cite else ""
    notes = (f"Why it matters: {check.why.rstrip('.')}{cited}.", f"Remedy: {check.remedy.rstrip('.')}.")
    return Section(f"checks-{check.number.lower()}-part", f"{check.number} {check.title}", (), (), tables, notes)


def _to_sentence(text: str) -> str:
    return f"{capitalize(text).rstrip('.')}." if text else ""
