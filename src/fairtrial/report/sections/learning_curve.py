"""Learning curves: how the scores depend on the number of training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.measures import get_measure
from fairtrial.report.figures.learning_curve import draw_learning_curve
from fairtrial.report.names import format_measure_name, get_verdict_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.study.results.selection import is_train_size

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource

_OVERALL, _DATASETS = "learning-curve", "learning-curve-data-sets"
_NAMES = {"dataset": "data set", "size": "training size", "rows": "training rows", "datasets": "data sets"}
_FORMATS = {"training size": "{:g}", "training rows": "{:.1f}", **dict.fromkeys(("mean", "low", "high"), "{:.3f}")}
_NOTE = (
    "Training sets are stratified samples of the training rows; smaller sets are subsets of larger ones. A training size of at "
    "most 1 is a proportion."
)


@section("learning-curve", title="Learning curves", order=108, serves=("study",), question="size")
def build_section(source: ReportSource) -> Section | None:
    """Show scores by training size. Return None if the study declares no training sizes."""
    results = source.get_results()
    if not any(is_train_size(condition) for condition in results.archive.conditions):
        return None
    measure = get_verdict_measure_name(results)
    name = format_measure_name(measure)
    curves = results.learning_curve(measure)
    if curves.empty:
        return None
    several = len(results.archive.datasets) > 1
    main = results.learning_curve(measure, by="all") if several else curves.drop(columns="dataset")
    interval = "95 % t intervals over data sets" if several else "95 % t intervals over splits, corrected for their overlap"
    frame = main.rename(columns=_NAMES)
    tables = [ReportTable(_OVERALL, f"{name} by training size", frame, _FORMATS, f"Intervals: {interval}.")]
    if several:
        note = "Intervals: 95 % t intervals over splits, corrected for their overlap (Nadeau & Bengio 2003)."
        lines = curves.rename(columns=_NAMES)
        tables.append(ReportTable(_DATASETS, f"{name} by training size and data set", lines, _FORMATS, note, long=True))
    where = f"{main['datasets'].max()} data sets" if several else results.archive.datasets[0].name
    bands = f"Bands: {interval}" if main["low"].notna().any() else "No intervals: a single data set or split"
    chart = draw_learning_curve(main, axis_title=name, title=f"Learning curves: {where}", explanation=bands)
    sentences = _describe_ends(frame, name, get_measure(measure).facts.direction == "max")
    alt = f"{name} of each learner by training size."
    figure = Figure("learning-curve-scores", f"{name} by training size", chart, alt, main)
    return Section("learning-curve", "Learning curves", sentences, (figure,), tuple(tables), (_NOTE,))


def _describe_ends(frame: pd.DataFrame, measure: str, is_gain: bool) -> tuple[Sentence, ...]:
    """Name the best learner at the smallest and at the largest training size."""
    sizes = frame.groupby("training size")["training rows"].mean().sort_values()
    sentences = []
    for size in dict.fromkeys((sizes.index[0], sizes.index[-1])):
        at_size = frame[frame["training size"] == size]
        best = at_size["mean"].idxmax() if is_gain else at_size["mean"].idxmin()
        sentences.append(
            build_sentence(
                "With {rows} training rows on average, {learner} has the best {measure} ({value}).",
                rows=format_number(frame, _OVERALL, best, "training rows", "{:,.0f}"),
                learner=frame.loc[best, "learner"],
                measure=measure,
                value=format_number(frame, _OVERALL, best, "mean"),
            )
        )
    return tuple(sentences)
