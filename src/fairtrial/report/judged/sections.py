"""The sections of a judgement's report, in the order in which they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.judged import (
    answer,
    calibration,
    classes,
    curves,
    groups,
    measures,
    methodology,
    pairs,
    references,
    reproduce,
    what_was_judged,
)
from fairtrial.report.judged.naming import counted, datasets_of, models_of, rows_by_set

if TYPE_CHECKING:
    from fairtrial.report.section import Section
    from fairtrial.study.predictions.judgement import Judgement


def sections_of_judgement(judgement: Judgement) -> list[Section]:
    """The sections that apply: a file of labels has no curves, one model no paired tests, one split no verdict over splits.

    >>> import pandas as pd
    >>> from fairtrial.study import judge
    >>> truth = ["yes", "no"] * 20
    >>> found = judge(pd.DataFrame({"truth": truth, "good": truth[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10}))
    >>> [section.key for section in sections_of_judgement(found)]
    ['answer', 'what-was-judged', 'measures', 'pairs', 'classes', 'methodology', 'reproduce', 'references']
    """
    found = [
        answer.section(judgement),
        what_was_judged.section(judgement),
        measures.section(judgement),
        pairs.section(judgement),
        _verdict(judgement),
        classes.section(judgement),
        groups.section(judgement),
        calibration.section(judgement),
        curves.section(judgement),
        methodology.section(judgement),
        reproduce.section(judgement),
        references.section(judgement),
    ]
    return [section for section in found if section is not None]


def _verdict(judgement: Judgement) -> Section | None:
    from fairtrial.report.compared import verdict_section

    return None if judgement.verdict is None else verdict_section(judgement.verdict)


def subtitle_of_judgement(judgement: Judgement) -> str:
    """What was judged, in one line."""
    sets, models = len(datasets_of(judgement)), len(models_of(judgement))
    rows = sum(rows_by_set(judgement).values())
    return f"{counted(models, 'model')}, {counted(sets, 'data set')}, {counted(rows, 'row')}"
