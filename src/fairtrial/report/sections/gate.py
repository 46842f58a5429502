"""The decision of a gate: whether candidates may replace the baseline, with differences, margins and tests."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from fairtrial._narrative import render_all
from fairtrial._text import capitalize, format_count, join_names, make_p_format
from fairtrial.report.figures.margin import draw_margins
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import Figure, Highlight, ReportTable, Section, Sentence, section
from fairtrial.report.selection import map_unique_keys
from fairtrial.significance.names import get_display_name

if TYPE_CHECKING:
    from fairtrial.predictions.gate import GateResult
    from fairtrial.report.source import ReportSource


@section("answer", title="The decision", order=10, serves=("gate",), question="answer")
def build_section(source: ReportSource) -> Section:
    """Describe the decision in sentences, and draw the confidence intervals of the differences and the margin."""
    result = source.get_gate()
    texts = [f"{text.removesuffix('.')}." for texts in result.list_texts() for text in texts]
    lead = "The gate passes." if result.passed else "The gate does not pass."
    # The first text states the decision, so it is part of the headline. The other texts are details.
    sentences = [f"{lead} {texts[0]}", *texts[1:]] if texts else [lead]
    if len(result.comparisons) > 1:
        sentences = [f"{lead} {_summarize_comparisons(result)}", *texts]
    notes = render_all(result.notes, "model")
    highlights = tuple(Highlight(note.rstrip("."), section="comparison") for note in notes)
    return Section("answer", "The decision", tuple(map(Sentence, sentences)), _draw_margins(source), highlights=highlights)


def _summarize_comparisons(result: GateResult) -> str:
    """Name the decisions if all comparisons passed. Otherwise, count the passed comparisons and name the other decisions."""
    failed: dict[tuple[str, str], list[str]] = {}
    for comparison in result.comparisons:
        if result.passed or not comparison.result.passed:
            key = comparison.candidate, _phrase_decision(str(comparison.result.decision), result.equivalent)
            failed.setdefault(key, []).append(format_measure_name(str(comparison.measure)))
    order = sorted(failed, key=lambda key: key[1] != "inferior")  # inferiority comes first
    parts = [f"{candidate} is {decision} in {join_names(failed[candidate, decision])}" for candidate, decision in order]
    if result.passed:
        return f"{'; '.join(parts)}."
    passed = sum(comparison.result.passed for comparison in result.comparisons)
    return f"{'; '.join([f'{passed} of {len(result.comparisons)} comparisons passed', *parts])}."


def _draw_margins(source: ReportSource) -> tuple[Figure, ...]:
    """Draw the confidence intervals of the differences and the margin, in one figure per measure."""
    result = source.get_gate()
    frame = result.frame()
    drawn = frame[frame["low"].notna()]
    measures = list(dict.fromkeys(drawn["measure"]))
    keys = map_unique_keys(measures)
    figures = []
    for measure in measures:
        lines = drawn[drawn["measure"] == measure]
        name, baseline = format_measure_name(str(measure)), str(lines["baseline"].iloc[0])
        intervals = [
            f"{line.candidate} {line.difference:+.3g} ({line.low:.3g} to {line.high:.3g}), {line.decision}"
            for line in lines.itertuples()
        ]
        alt = f"Difference in {name} from {baseline}: {'; '.join(intervals)}. Margin {lines['margin'].iloc[0]:g}."
        key = "gate-margins" if len(measures) == 1 else f"gate-margins-{keys[measure]}"
        title = f"{capitalize(name)}: difference from {baseline}"
        chart = draw_margins(lines, baseline=baseline, title=title)
        figures.append(Figure(key, title, chart, alt, lines, size="wide" if len(measures) == 1 else "half"))
    return tuple(figures)


@section("comparison", title="Tests", order=50, serves=("gate",), question="better")
def build_tests_section(source: ReportSource) -> Section:
    """Build the tables of the decisions and of all tests."""
    result = source.get_gate()
    frame, tests = result.frame(), result.tests_frame()
    p_format, yes_or_no = make_p_format(result.alpha), {True: "yes", False: "no"}
    decisions = frame.assign(measure=frame["measure"].map(format_measure_name), passed=frame["passed"].map(yes_or_no))
    decisions = decisions.assign(test=[get_display_name(str(name)) if name else "none" for name in decisions["test"]])
    decisions = decisions.drop(columns=["clusters"] if not frame["clusters"].any() else []).rename(
        columns={"p_value": "p", "needed": "rows needed", "level": "confidence level"}
    )
    tests = tests.assign(
        measure=tests["measure"].map(format_measure_name),
        name=[get_display_name(str(name)) for name in tests["name"]],
        null=[" and ".join(f"{value:g}" for value in null) for null in tests["null"]],
        passed=tests["passed"].map(yes_or_no),
    ).rename(columns={"name": "test", "null": "difference tested against", "p_value": "p (one-sided)"})
    tables = (
        ReportTable("gate-decisions", "Decisions", decisions.set_index("candidate"), {"p": p_format}),
        ReportTable("gate-tests", "Tests", tests.set_index("candidate"), {"p (one-sided)": p_format}),
    )
    decided = [
        f"in {format_measure_name(str(line.measure))}, {line.candidate} is "
        f"{_phrase_decision(str(line.decision), result.equivalent)} to {line.baseline}"
        for line in frame.itertuples()
    ]
    sentence = Sentence(f"{capitalize('; '.join(decided))}.")
    return Section("comparison", "Tests", (sentence,), (), tables, render_all(result.notes, "model"))


def _phrase_decision(decision: str, equivalent: bool) -> str:
    """Format a decision as a phrase, to be followed by a measure or the name of the baseline."""
    if equivalent and decision == "non-inferior":
        return "non-inferior but not shown to be equivalent"
    goal = "equivalent" if equivalent else "non-inferior"
    return f"not shown to be {goal}" if decision == "inconclusive" else decision


@section("predictions", title="Predictions", order=20, serves=("gate",), question="how")
def build_predictions_section(source: ReportSource) -> Section:
    """Describe the file, the number of rows and the version of fairtrial."""
    result = source.get_gate()
    rows = format_count(result.comparisons[0].rows, "row")
    sentence = Sentence(f"Computed from {rows} of {result.source} with fairtrial gate (fairtrial {version('fairtrial')}).")
    return Section("predictions", "Predictions", (sentence,))
