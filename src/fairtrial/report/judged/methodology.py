"""What a methodologist would say: the checks of studies that apply to predictions, and those of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.judged.naming import datasets_of, without_lone_set
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.naming import measure_words
from fairtrial.report.sentence import Sentence, say, shown
from fairtrial.study.predictions.judged_checks import FORMS, RULES

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

KEY = "methodology-found"
_MOST_SAID = 8
_NAMES = {"subject": "of", "share": "share of the largest"}
_FORMATS = {"value": "{:.4g}", "limit": "{:g}", "share of the largest": "{:.3f}"}


def section(judgement: Judgement) -> Section:
    """A sentence for each rule that is broken, and all of them in a table."""
    frame = found_frame(judgement)
    if frame.empty:
        words = say("Classes, rows and data sets are as many as the measures and tests used here need.")
        return Section("methodology", "Methodology", (words,))
    told = tuple(_said(frame, line) for line in range(min(len(frame), _MOST_SAID)))
    if len(frame) > _MOST_SAID:
        told += (say("The table has the others."),)
    notes = ("Numbers such as FT002 are those of the methodology checks of studies; the manual documents them.",)
    return Section(
        "methodology", "Methodology", told, (), (Table(KEY, "What was found", frame, _FORMATS, long=len(frame) > 30),), notes
    )


def found_frame(judgement: Judgement) -> pd.DataFrame:
    """The table: rules that are broken, with the number found and the limit."""
    return without_lone_set(judgement.methodology.rename(columns=_NAMES), len(datasets_of(judgement)) > 1)


def _said(frame: pd.DataFrame, line: int) -> Sentence:
    number = str(frame.loc[line, "number"])
    numbers = {
        "value": shown(frame, KEY, line, "value", FORMS[number]),
        "limit": shown(frame, KEY, line, "limit", "{:g}"),
        "share": shown(frame, KEY, line, "share of the largest"),
    }
    parts: dict[str, Any] = {
        "subject": measure_words(str(frame.loc[line, "of"])) if number == "FT002" else frame.loc[line, "of"]
    }
    where = ""
    if "data set" in frame:
        where, parts["dataset"] = "on {dataset} ", frame.loc[line, "data set"]
    words = RULES[number].words.replace("{where}", where)
    start = words[0].upper() + words[1:] if not number.startswith("FT") else "{number}: " + words
    parts |= {"number": number, **numbers}
    used = {name: part for name, part in parts.items() if "{" + name + "}" in start}
    return say(start + " Remedy: {remedy}.", remedy=frame.loc[line, "remedy"], **used)
