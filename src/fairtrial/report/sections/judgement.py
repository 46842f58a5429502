"""The sections of a judgement's report, in the order in which they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.names import count_rows, format_count, list_datasets, list_models
from fairtrial.report.sections import answer, calibration, checks, classes, curves, pairs, run, scores, sources, subgroups

if TYPE_CHECKING:
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.section import Section


def build_judgement_sections(judgement: Judgement) -> list[Section]:
    """The sections that apply: a file of labels has no curves, one model no paired tests, one split no verdict over splits.

    >>> import pandas as pd
    >>> from fairtrial import judge
    >>> truth = ["yes", "no"] * 20
    >>> found = judge(pd.DataFrame({"truth": truth, "good": truth[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10}))
    >>> [section.key for section in build_judgement_sections(found)]
    ['answer', 'what-was-judged', 'measures', 'pairs', 'classes', 'methodology', 'reproduce', 'references']
    """
    sections = [
        answer.build_judge_answer_section(judgement),
        run.build_judge_input_section(judgement),
        scores.build_judge_measures_section(judgement),
        pairs.build_judge_pairs_section(judgement),
        _build_verdict_section(judgement),
        classes.build_judge_classes_section(judgement),
        subgroups.build_judge_subgroups_section(judgement),
        calibration.build_judge_calibration_section(judgement),
        curves.build_judge_curves_section(judgement),
        checks.build_judge_methodology_section(judgement),
        sources.build_judge_reproduce_section(judgement),
        sources.build_judge_references_section(judgement),
    ]
    return [section for section in sections if section is not None]


def _build_verdict_section(judgement: Judgement) -> Section | None:
    from fairtrial.report.sections.comparison import build_verdict_section

    return None if judgement.verdict is None else build_verdict_section(judgement.verdict)


def format_judgement_subtitle(judgement: Judgement) -> str:
    """What was judged, in one line."""
    n_datasets, n_models = len(list_datasets(judgement)), len(list_models(judgement))
    rows = sum(count_rows(judgement).values())
    return f"{format_count(n_models, 'model')}, {format_count(n_datasets, 'data set')}, {format_count(rows, 'row')}"
