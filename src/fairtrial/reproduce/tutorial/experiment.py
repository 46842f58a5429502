"""Recompute all worked examples and tables of the tutorial, and compare them with the printed numbers."""

from __future__ import annotations

from fairtrial.reproduce.experiment import Reproduction, Request, experiment
from fairtrial.reproduce.tutorial import curves, measures, resampling, significance, simulations, weka_tables
from fairtrial.reproduce.tutorial.inputs import TutorialInputs
from fairtrial.reproduce.tutorial.printed import AGREEMENT, DIFFERS

_TOPICS = (measures, weka_tables, curves, significance, resampling, simulations)
_COMPUTED_FROM_PRINTED_INPUT = {
    "information_score": "the information score",
    "t_test": "the paired t test",
    "sign_test": "the sign test",
    "wilcoxon": "the Wilcoxon test",
    "friedman": "the Friedman test",
    "nemenyi": "the Nemenyi test",
}


@experiment(
    "tutorial",
    title="The worked examples and tables of the tutorial",
    paper="tutorial",
)
def run(request: Request) -> Reproduction:
    """Compute all sections for which data are available."""
    inputs = TutorialInputs.load(request)
    sections = [section for topic in _TOPICS for section in topic.build_sections(inputs)]
    tables = tuple(table for section in sections for table in section.tables)
    printed_errors = [
        _COMPUTED_FROM_PRINTED_INPUT[table.name]
        for table in tables
        if table.name in _COMPUTED_FROM_PRINTED_INPUT and (table.frame[AGREEMENT] == DIFFERS).any()
    ]
    return Reproduction(
        {
            "printed_errors": printed_errors,
            **{section.name: {**section.values, "figures": list(section.figures)} for section in sections},
        },
        tables,
        tuple(claim for section in sections for claim in section.claims),
        {title: chart for section in sections for title, chart in section.figures.items()},
        inputs.missing,
    )
