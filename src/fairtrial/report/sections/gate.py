"""The decision of a gate: difference, margin and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._narrative import render_all
from fairtrial._text import make_p_format
from fairtrial.report.figures.margin import draw_margins
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, section

if TYPE_CHECKING:
    from fairtrial.report.source import ReportSource


@section("answer", title="The decision", order=10, serves=("gate",))
def build_section(source: ReportSource) -> Section:
    """Build the decision: sentences, the intervals against the margin, and all tests."""
    result = source.get_gate()
    sentences = [f"{text.removesuffix('.')}." for texts in result.list_texts() for text in texts]
    lead = "The gate passes." if result.passed else "The gate does not pass."
    frame = result.frame()
    p_format = make_p_format(result.alpha)
    yes_or_no = {True: "yes", False: "no"}
    decisions = frame.assign(measure=frame["measure"].map(format_measure_name), passed=frame["passed"].map(yes_or_no))
    decisions = decisions.drop(columns=["clusters"] if not frame["clusters"].any() else []).rename(
        columns={"p_value": "p", "needed": "rows needed"}
    )
    tests = result.tests_frame()
    tests = tests.assign(
        measure=tests["measure"].map(format_measure_name),
        null=[" and ".join(f"{value:g}" for value in null) for null in tests["null"]],
        passed=tests["passed"].map(yes_or_no),
    ).rename(columns={"name": "test", "null": "difference tested against", "p_value": "p (one-sided)"})
    figures: tuple[Figure, ...] = ()
    if frame["low"].notna().any():
        drawn = frame[frame["low"].notna()]
        baseline = str(frame["baseline"].iloc[0])
        alt = "Confidence interval of each difference, with lines at zero and at the margin. " + " ".join(sentences)
        figures = (Figure("gate-margins", "Difference and margin", draw_margins(drawn, baseline=baseline), alt, drawn),)
    tables = (
        ReportTable("gate-decisions", "Decisions", decisions.set_index("candidate"), {"p": p_format}),
        ReportTable("gate-tests", "Tests", tests.set_index("candidate"), {"p (one-sided)": p_format}),
    )
    notes = render_all(result.notes, "model")
    return Section("answer", "The decision", tuple(map(Sentence, [lead, *sentences])), figures, tables, notes)
