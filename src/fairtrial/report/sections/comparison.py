"""The report of a comparison: what a table of scores says, by the same words, tables and figures as in a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.names import format_measure_name, join_sentences
from fairtrial.report.section import Section
from fairtrial.report.sections.answer import describe_best
from fairtrial.report.sections.verdict import (
    Basis,
    VerdictContext,
    build_facts_table,
    build_further_tables,
    build_learners_table,
    build_verdict_sentences,
    describe_context_basis,
    describe_effect_size,
    describe_finding,
    describe_posterior,
    describe_test_result,
    draw_verdict_figures,
    select_cautions,
)
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict

_SCORES = ConditionFacts("clean", 0.0, "scores as they were given", {})


def build_score_context(verdict: Verdict, key: str = "verdict") -> VerdictContext:
    """A verdict on scores as the section of the verdict takes it."""
    learners = (*verdict.table.learners, *verdict.excluded.learners)
    return VerdictContext(_SCORES, key, learners, verdict, where=f"over the {verdict.unit}s", basis=_derive_basis(verdict))


def _derive_basis(verdict: Verdict) -> Basis:
    """What holes in the scores left to the verdict."""
    excluded = verdict.excluded
    sets = {"because not every learner has a score there": list(excluded.datasets)} if excluded.datasets else {}
    return Basis(excluded.used_datasets, sets, excluded.planned_splits, excluded.splits)


def build_verdict_section(verdict: Verdict, key: str = "verdict") -> Section:
    """The verdict in words, figures and tables, with every choice and its reason."""
    context = build_score_context(verdict, key)
    tables = (build_facts_table(context), build_learners_table(context), *build_further_tables(context))
    sentences = build_verdict_sentences(context, _describe_scores(verdict))
    return Section("verdict", "The verdict", sentences, draw_verdict_figures(context), tables, select_cautions(verdict))


def build_comparison_sections(verdict: Verdict) -> list[Section]:
    """The sections of a comparison's report.

    >>> from fairtrial.significance.compare import advise
    >>> found = advise([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]])
    >>> [section.key for section in build_comparison_sections(found)]
    ['answer', 'verdict', 'references']
    """
    from fairtrial.report.sections.sources import build_references_list, list_tests_used

    measures = [verdict.measure] if verdict.measure else []
    return [
        _build_comparison_answer(verdict),
        build_verdict_section(verdict),
        build_references_list(measures, list_tests_used(verdict)),
    ]


def _build_comparison_answer(verdict: Verdict) -> Section:
    """On what it rests and who is ahead; then how sure that is, and how large."""
    context = build_score_context(verdict)
    who = [
        describe_context_basis(context),
        describe_finding(context, _describe_scores(verdict)),
        describe_best(context, format_measure_name(verdict.measure or "score")),
    ]
    sure = [describe_test_result(context), describe_effect_size(context), *describe_posterior(context)]
    return Section("answer", "The answer", (join_sentences(who), join_sentences(sure)))


def _describe_scores(verdict: Verdict) -> str:
    return format_measure_name(verdict.measure) if verdict.measure else "the scores"


def format_comparison_subtitle(verdict: Verdict) -> str:
    """What was compared, in one line."""
    table, unit, excluded = verdict.table, verdict.unit, verdict.excluded
    total = f" of {len(excluded.used_datasets) + len(excluded.datasets)}" if excluded.datasets and unit == "data set" else ""
    measure = f", {format_measure_name(verdict.measure)}" if verdict.measure else ""
    return f"{len(table.learners)} learners, {len(table.datasets)}{total} {unit}s{measure}"
