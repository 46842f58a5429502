"""Recompute the worked examples and tables of the tutorial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairtrial._text import format_count, join_names
from fairtrial.reproduce.experiment import Reproduction, Request, experiment
from fairtrial.reproduce.tutorial import cherry_picking, curves, measures, resampling, significance, simulations, weka_tables
from fairtrial.reproduce.tutorial.inputs import TutorialInputs
from fairtrial.reproduce.tutorial.printed import AGREEMENT, DIFFERS, PageSection

_TOPICS = (weka_tables, measures, curves, significance, resampling, simulations, cherry_picking)
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
    values: dict[str, Any] = {
        "printed_errors": _list_printed_errors(sections),
        **{section.name: {**section.values, "figures": list(section.figures)} for section in sections},
    }
    return Reproduction(
        values,
        tuple(table for section in sections for table in section.tables),
        tuple(claim for section in sections for claim in section.claims),
        {title: chart for section in sections for title, chart in section.figures.items()},
        inputs.missing,
        _write_answer(values),
    )


def _list_printed_errors(sections: list[PageSection]) -> list[str]:
    """List the examples whose printed numbers do not follow from their printed input."""
    errors = [
        _COMPUTED_FROM_PRINTED_INPUT[table.name]
        for section in sections
        for table in section.tables
        if table.name in _COMPUTED_FROM_PRINTED_INPUT and (table.frame[AGREEMENT] == DIFFERS).any()
    ]
    ranks = next(section for section in sections if section.name == "printed_ranks")
    return ["the table of ranks", *errors] if ranks.values["errors"] else errors


def _write_answer(values: Mapping[str, Any]) -> str:
    """State which tables agree, how many examples have errors, and what the simulations show."""
    agreement = []
    if "measures" in values:
        measures_table = values["measures"]
        exceptions = f" ({join_names(measures_table['other'])} are not comparable)" if measures_table["other"] else ""
        agreement.append(
            f"{measures_table['n_same']} of {9 * len(measures_table['same'])} measures of "
            f"{format_count(len(measures_table['same']), 'learner')} on Breast Cancer{exceptions}"
        )
    if "weka_summary" in values:
        summary = values["weka_summary"]
        agreement.append(f"{summary['n_agreeing']} of {summary['n_printed']} numbers of WEKA's summary of Labour")
    sentences = [f"Our learners agree with the printed tables in {' and in '.join(agreement)}."] if agreement else []
    sentences.append(
        f"In {format_count(len(values['printed_errors']), 'worked example')}, printed numbers do not follow from the printed "
        "input. The corrected tests lead to the same conclusions, except the sign test if a tie counts as half a win."
    )
    tests, choice = values["repeated_tests"], values["cherry_picking"]
    sentences.append(
        f'In simulations, the test "{tests["worst"]}" rejects a true null hypothesis in {tests["worst_rate"]:.0f} % of cases '
        "instead of 5 %. One of four simulated learners is worse than the other three by half a standard deviation. In "
        f"{choice['half_4']:.0f} % of the simulated studies, it nevertheless has the best mean rank on the 10 of 20 data sets "
        "that favour it most."
    )
    return " ".join(sentences)
