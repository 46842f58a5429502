"""The report of a comparison: what a table of scores says, by the same words, tables and figures as in a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.section import Section
from fairtrial.report.sections.leading import best_of
from fairtrial.report.sections.naming import in_a_row, measure_words
from fairtrial.report.sections.verdict import cautions, figures, said
from fairtrial.report.sections.verdict_tables import Judged, facts_table, further_tables, learners_table
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict

_SCORES = ConditionFacts("clean", 0.0, "scores as they were given", {})


def judged_scores(verdict: Verdict, key: str = "verdict") -> Judged:
    """A verdict on scores as the section of the verdict takes it."""
    return Judged(_SCORES, key, verdict.table.learners, verdict, where=f"over the {verdict.unit}s")


def verdict_section(verdict: Verdict, key: str = "verdict") -> Section:
    """The verdict in words, figures and tables, with every choice and its reason."""
    judged = judged_scores(verdict, key)
    tables = (facts_table(judged), learners_table(judged), *further_tables(judged))
    told = said(judged, measure_words(verdict.measure) if verdict.measure else "the scores")
    return Section("verdict", "The verdict", told, figures(judged), tables, cautions(verdict))


def sections_of_verdict(verdict: Verdict) -> list[Section]:
    """The sections of a comparison's report.

    >>> from fairtrial.significance.advise import advise
    >>> found = advise([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]])
    >>> [section.key for section in sections_of_verdict(found)]
    ['answer', 'verdict', 'references']
    """
    from fairtrial.report.judged.references import references_section, used_by

    verdict_part, judged, words = verdict_section(verdict), judged_scores(verdict), measure_words(verdict.measure or "score")
    first, *rest = verdict_part.sentences
    answer = Section("answer", "The answer", (in_a_row([first, best_of(judged, words)]), in_a_row(rest)))
    measures = [verdict.measure] if verdict.measure else []
    return [answer, verdict_part, references_section(measures, used_by(verdict))]


def subtitle_of_verdict(verdict: Verdict) -> str:
    """What was compared, in one line."""
    table, unit = verdict.table, verdict.unit
    measure = f", {measure_words(verdict.measure)}" if verdict.measure else ""
    return f"{len(table.learners)} learners, {len(table.datasets)} {unit}s{measure}"
