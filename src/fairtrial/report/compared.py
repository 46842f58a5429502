"""The report of a comparison: what a table of scores says, by the same words, tables and figures as in a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.section import Section
from fairtrial.report.sections.basis import Basis
from fairtrial.report.sections.leading import best_of
from fairtrial.report.sections.naming import in_a_row, measure_words
from fairtrial.report.sections.verdict import belief, cautions, figures, finding, resting_on, said, size_of, sureness
from fairtrial.report.sections.verdict_tables import Judged, facts_table, further_tables, learners_table
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict

_SCORES = ConditionFacts("clean", 0.0, "scores as they were given", {})


def judged_scores(verdict: Verdict, key: str = "verdict") -> Judged:
    """A verdict on scores as the section of the verdict takes it."""
    learners = (*verdict.table.learners, *verdict.left_out.learners)
    return Judged(_SCORES, key, learners, verdict, where=f"over the {verdict.unit}s", basis=_basis(verdict))


def _basis(verdict: Verdict) -> Basis:
    """What holes in the scores left to the verdict."""
    gone = verdict.left_out
    sets = {"because not every learner has a score there": list(gone.datasets)} if gone.datasets else {}
    return Basis(gone.kept_datasets, sets, gone.planned_splits, gone.splits)


def verdict_section(verdict: Verdict, key: str = "verdict") -> Section:
    """The verdict in words, figures and tables, with every choice and its reason."""
    judged = judged_scores(verdict, key)
    tables = (facts_table(judged), learners_table(judged), *further_tables(judged))
    told = said(judged, _scores(verdict))
    return Section("verdict", "The verdict", told, figures(judged), tables, cautions(verdict))


def sections_of_verdict(verdict: Verdict) -> list[Section]:
    """The sections of a comparison's report.

    >>> from fairtrial.significance.advise import advise
    >>> found = advise([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]])
    >>> [section.key for section in sections_of_verdict(found)]
    ['answer', 'verdict', 'references']
    """
    from fairtrial.report.judged.references import references_section, used_by

    measures = [verdict.measure] if verdict.measure else []
    return [_answer(verdict), verdict_section(verdict), references_section(measures, used_by(verdict))]


def _answer(verdict: Verdict) -> Section:
    """On what it rests and who is ahead; then how sure that is, and how large."""
    judged = judged_scores(verdict)
    who = [resting_on(judged), finding(judged, _scores(verdict)), best_of(judged, measure_words(verdict.measure or "score"))]
    sure = [sureness(judged), size_of(judged), *belief(judged)]
    return Section("answer", "The answer", (in_a_row(who), in_a_row(sure)))


def _scores(verdict: Verdict) -> str:
    return measure_words(verdict.measure) if verdict.measure else "the scores"


def subtitle_of_verdict(verdict: Verdict) -> str:
    """What was compared, in one line."""
    table, unit, gone = verdict.table, verdict.unit, verdict.left_out
    of = f" of {len(gone.kept_datasets) + len(gone.datasets)}" if gone.datasets and unit == "data set" else ""
    measure = f", {measure_words(verdict.measure)}" if verdict.measure else ""
    return f"{len(table.learners)} learners, {len(table.datasets)}{of} {unit}s{measure}"
