"""What a methodologist would say: the checks of studies that apply to predictions, and those of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.predictions.narrative import METHODOLOGY_RULES, VALUE_FORMATS
from fairtrial.report.check import CheckResult, run_checks
from fairtrial.report.judgement import drop_single_dataset, list_datasets
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import ReportTable, Section, Sentence, build_sentence, format_number, section

if TYPE_CHECKING:
    from fairtrial.report.source import ReportSource
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.study import Results

METHODOLOGY_KEY = "methodology-checks"
_COUNTS = "checks-counts"
_MANY = 30
_MAX_SENTENCES = 8
_METHODOLOGY_NAMES = {"proportion": "proportion of the largest class"}
_METHODOLOGY_FORMATS = {"value": "{:.4g}", "limit": "{:g}", "proportion of the largest class": "{:.3f}"}


@section("checks", title="Methodology checks", order=170, serves=("study",))
def build_section(source: ReportSource) -> Section:
    """How many checks were raised, all in one table with words and remedy, and for each raised one its numbers and why."""
    results = source.get_results()
    check_results = run_checks(results)
    counts = build_outcome_counts(check_results)
    tables = (
        ReportTable("checks-all", "All checks, those raised first", build_checks_frame(check_results)),
        ReportTable(_COUNTS, "Checks by outcome", counts),
    )
    notes = ("Checks are numbered and documented on the page 'Methodology checks' of the manual; numbers never change.",)
    subsections = tuple(
        _build_check_section(check_result) for check_result in check_results if check_result.finding.outcome == "raised"
    )
    return Section(
        "checks", "Methodology checks", tuple(_summarize_checks(check_results, counts)), (), tables, notes, subsections
    )


def build_outcome_counts(check_results: tuple[CheckResult, ...]) -> pd.DataFrame:
    """How many checks ended in which way, and all; outcomes that did not come are left out."""
    import pandas as pd

    outcomes = pd.Series([check_result.finding.outcome for check_result in check_results], dtype=object).value_counts(
        sort=False
    )
    lines = {str(outcome): int(count) for outcome, count in outcomes.items()} | {"all": len(check_results)}
    return pd.DataFrame({"checks": list(lines.values())}, index=pd.Index(lines, name="outcome"))


def build_checks_frame(check_results: tuple[CheckResult, ...]) -> pd.DataFrame:
    """A line for each check; the remedy stands where it is needed."""
    import pandas as pd

    lines = [
        (
            check.number,
            check.title,
            finding.outcome,
            str(finding.sentence),
            _to_sentence(check.remedy) * (finding.outcome == "raised"),
        )
        for check, finding in check_results
    ]
    return pd.DataFrame(lines, columns=["number", "check", "outcome", "what was found", "remedy"])


def _summarize_checks(check_results: tuple[CheckResult, ...], counts: pd.DataFrame) -> list[Sentence]:
    total = format_number(counts, _COUNTS, "all", "checks", "{:d}")
    if "raised" not in counts.index:
        sentences = [build_sentence("None of {all} checks was raised.", all=total)]
    else:
        several = counts.loc["raised", "checks"] != 1
        sentences = [
            build_sentence(
                "{raised} of {all} checks {were} raised: {which}.",
                raised=format_number(counts, _COUNTS, "raised", "checks", "{:d}"),
                all=total,
                were="were" if several else "was",
                which=", ".join(
                    check_result.check.number for check_result in check_results if check_result.finding.outcome == "raised"
                ),
            )
        ]
    broken = [
        check_result.check.number for check_result in check_results if check_result.finding.outcome == "could not be made"
    ]
    return [
        *sentences,
        *([build_sentence("Not made, by a mistake of their own: {which}.", which=", ".join(broken))] if broken else []),
    ]


def _build_check_section(check_result: CheckResult) -> Section:
    check, finding = check_result
    tables: tuple[ReportTable, ...] = ()
    if finding.details is not None:
        long = len(finding.details) > _MANY
        tables = (ReportTable(check.table, f"{check.number}: what was found", finding.details, finding.formats, long=long),)
    cited = f" ({check.cite})" if check.cite else ""
    why = f"Why it matters: {check.why.rstrip('.')}{cited}."
    return Section(f"checks-{check.number.lower()}-part", f"{check.number} {check.title}", (), (), tables, (why,))


def _to_sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""


@section("methodology", title="Methodology", order=170, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section:
    """A sentence for each rule that is broken, and all of them in a table."""
    judgement = source.get_judgement()
    frame = build_methodology_frame(judgement)
    if frame.empty:
        sentence = build_sentence("Classes, rows and data sets are as many as the measures and tests used here need.")
        return Section("methodology", "Methodology", (sentence,))
    sentences = tuple(_describe_check(frame, line) for line in range(min(len(frame), _MAX_SENTENCES)))
    if len(frame) > _MAX_SENTENCES:
        sentences += (build_sentence("The table has the others."),)
    notes = ("Numbers such as FT002 are those of the methodology checks of studies; the manual documents them.",)
    return Section(
        "methodology",
        "Methodology",
        sentences,
        (),
        (ReportTable(METHODOLOGY_KEY, "What was found", frame, _METHODOLOGY_FORMATS, long=len(frame) > _MANY),),
        notes,
    )


def build_methodology_frame(judgement: Judgement) -> pd.DataFrame:
    """The table: rules that are broken, with the number found and the limit."""
    return drop_single_dataset(judgement.methodology.rename(columns=_METHODOLOGY_NAMES), len(list_datasets(judgement)) > 1)


def _describe_check(frame: pd.DataFrame, line: int) -> Sentence:
    number = str(frame.loc[line, "number"])
    numbers = {
        "value": format_number(frame, METHODOLOGY_KEY, line, "value", VALUE_FORMATS[number]),
        "limit": format_number(frame, METHODOLOGY_KEY, line, "limit", "{:g}"),
        "proportion": format_number(frame, METHODOLOGY_KEY, line, "proportion of the largest class"),
    }
    parts: dict[str, Any] = {
        "subject": format_measure_name(str(frame.loc[line, "subject"])) if number == "FT002" else frame.loc[line, "subject"]
    }
    where = ""
    if "data set" in frame:
        where, parts["dataset"] = "on {dataset} ", frame.loc[line, "data set"]
    template = METHODOLOGY_RULES[number].template.replace("{where}", where)
    text = template[0].upper() + template[1:] if not number.startswith("FT") else "{number}: " + template
    parts |= {"number": number, **numbers}
    used = {name: part for name, part in parts.items() if "{" + name + "}" in text}
    return build_sentence(text + " Remedy: {remedy}.", remedy=frame.loc[line, "remedy"], **used)
