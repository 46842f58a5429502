"""The section of methodology checks: what a reviewer would ask, what was found, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.checks import Examined, examine
from fairtrial.report.section import Section, Table
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_COUNTS = "checks-counts"
_MANY = 30


def section(results: Results) -> Section:
    """How many checks were raised, all in one table with words and remedy, and for each raised one its numbers and why."""
    examined = examine(results)
    counts = counts_frame(examined)
    tables = (
        Table("checks-all", "All checks, those raised first", checks_frame(examined)),
        Table(_COUNTS, "Checks by outcome", counts),
    )
    notes = ("Checks are numbered and documented on the page 'Methodology checks' of the manual; numbers never change.",)
    parts = tuple(_part(one) for one in examined if one.finding.outcome == "raised")
    return Section("checks", "Methodology checks", tuple(_summary(examined, counts)), (), tables, notes, parts)


def counts_frame(examined: tuple[Examined, ...]) -> pd.DataFrame:
    """How many checks ended in which way, and all; outcomes that did not come are left out."""
    import pandas as pd

    found = pd.Series([one.finding.outcome for one in examined], dtype=object).value_counts(sort=False)
    lines = {str(outcome): int(count) for outcome, count in found.items()} | {"all": len(examined)}
    return pd.DataFrame({"checks": list(lines.values())}, index=pd.Index(lines, name="outcome"))


def checks_frame(examined: tuple[Examined, ...]) -> pd.DataFrame:
    """A line for each check; the remedy stands where it is needed."""
    import pandas as pd

    lines = [
        (
            check.number,
            check.title,
            finding.outcome,
            str(finding.words),
            _sentence(check.remedy) * (finding.outcome == "raised"),
        )
        for check, finding in examined
    ]
    return pd.DataFrame(lines, columns=["number", "check", "outcome", "what was found", "remedy"])


def _summary(examined: tuple[Examined, ...], counts: pd.DataFrame) -> list[Sentence]:
    every = shown(counts, _COUNTS, "all", "checks", "{:d}")
    if "raised" not in counts.index:
        told = [say("None of {all} checks was raised.", all=every)]
    else:
        several = counts.loc["raised", "checks"] != 1
        told = [
            say(
                "{raised} of {all} checks {were} raised: {which}.",
                raised=shown(counts, _COUNTS, "raised", "checks", "{:d}"),
                all=every,
                were="were" if several else "was",
                which=", ".join(one.check.number for one in examined if one.finding.outcome == "raised"),
            )
        ]
    broken = [one.check.number for one in examined if one.finding.outcome == "could not be made"]
    return [*told, *([say("Not made, by a mistake of their own: {which}.", which=", ".join(broken))] if broken else [])]


def _part(one: Examined) -> Section:
    check, finding = one
    tables: tuple[Table, ...] = ()
    if finding.details is not None:
        long = len(finding.details) > _MANY
        tables = (Table(check.table, f"{check.number}: what was found", finding.details, finding.formats, long=long),)
    cited = f" ({check.cite})" if check.cite else ""
    why = f"Why it matters: {check.why.rstrip('.')}{cited}."
    return Section(f"checks-{check.number.lower()}-part", f"{check.number} {check.title}", (), (), tables, (why,))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""
