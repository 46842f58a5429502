"""The tutorial as one page: every worked example and table, with our numbers and the printed ones."""

from __future__ import annotations

from fairtrial.reproduce.experiment import Reproduction, Request, experiment
from fairtrial.reproduce.tutorial import curves, measures, resampling, significance, simulations, weka_tables
from fairtrial.reproduce.tutorial.inputs import TutorialInputs
from fairtrial.reproduce.tutorial.printed import AGREEMENT

_TOPICS = (measures, weka_tables, curves, significance, resampling, simulations)
_COMPUTED_FROM_PRINTED_INPUT = ("information_score", "t_test", "sign_test", "wilcoxon", "friedman", "nemenyi")


@experiment(
    "tutorial",
    title="The worked examples and tables of the tutorial",
    paper="Japkowicz: Performance evaluation for learning algorithms (tutorial)",
)
def run(request: Request) -> Reproduction:
    """Compute all sections whose data are available."""
    inputs = TutorialInputs.load(request)
    sections = [section for topic in _TOPICS for section in topic.build_sections(inputs)]
    tables = tuple(table for section in sections for table in section.tables)
    printed_errors = [
        table.title.split(":")[0]
        for table in tables
        if table.name in _COMPUTED_FROM_PRINTED_INPUT and (table.frame[AGREEMENT] == "differs").any()
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
