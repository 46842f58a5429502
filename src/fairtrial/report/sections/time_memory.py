"""Time and memory: medians of what trials took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.figures.times import TIME_COLUMNS, compute_learner_times, draw_times
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

_LEARNERS, _LINES = "time-memory-learners", "time-memory-data-sets"
_NAMES = {
    "dataset": "data set",
    "fit_time": "fit (s)",
    "predict_time": "predict (s)",
    "fit_cpu": "fit, CPU (s)",
    "predict_cpu": "predict, CPU (s)",
    "memory": "memory (MiB)",
    "datasets": "data sets",
}
_FORMATS = {**dict.fromkeys([_NAMES[name] for name in TIME_COLUMNS], "{:.4g}"), "memory (MiB)": "{:.1f}"}


@section("time-memory", title="Time and memory", order=160, serves=("study",))
def build_section(source: ReportSource) -> Section | None:
    """Medians by learner and by data set; None for predictions that carry no times."""
    results = source.get_results()
    times = results.times()
    if times.empty or not (times["fit_time"] > 0).any():
        return None
    medians = _rename_time_columns(compute_learner_times(times))
    lines = _rename_time_columns(times.astype({"dataset": object, "learner": object}))
    lines = lines if (lines["note"] != "").any() else lines.drop(columns="note")
    tables = (
        ReportTable(_LEARNERS, "Medians by learner, over data sets", medians, _FORMATS),
        ReportTable(_LINES, "Medians by data set and learner", lines, _FORMATS, long=True),
    )
    figure = Figure("time-memory-times", "Time and memory by learner", draw_times(times), _format_time_alt(medians), times)
    return Section(
        "time-memory", "Time and memory", _build_time_sentences(medians), (figure,), tables, _build_time_notes(results, times)
    )


def _rename_time_columns(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(memory=frame["memory"].astype(float) / 2**20).rename(columns=_NAMES)


def _build_time_sentences(medians: pd.DataFrame) -> tuple[Sentence, ...]:
    fit = _NAMES["fit_time"]
    timed = medians[medians[fit].notna()]
    first, last = str(timed.index[0]), str(timed.index[-1])
    quick = format_number(medians, _LEARNERS, first, fit, "{:.3g}")
    if len(timed) == 1:
        return (build_sentence("{learner} takes {time} s to fit (median over data sets).", learner=first, time=quick),)
    if timed[fit].iloc[0] == timed[fit].iloc[-1]:
        return (build_sentence("All learners take the same time to fit, {time} s.", time=quick),)
    slow = format_number(medians, _LEARNERS, last, fit, "{:.3g}")
    template = "{first} is the fastest to fit, with {quick} s, {last} the slowest, with {slow} s (medians over data sets)."
    return (build_sentence(template, first=first, quick=quick, last=last, slow=slow),)


def _format_time_alt(medians: pd.DataFrame) -> str:
    fit = _NAMES["fit_time"]
    timed = medians[medians[fit].notna()]
    if timed[fit].iloc[0] == timed[fit].iloc[-1]:
        return f"Median seconds to fit and to predict, and memory, by learner. Fitting takes {timed[fit].iloc[0]:.3g} s."
    return (
        f"Median seconds to fit and to predict, and memory, by learner. {timed.index[0]} is the fastest to fit, "
        f"{timed[fit].iloc[0]:.3g} s; {timed.index[-1]} the slowest, {timed[fit].iloc[-1]:.3g} s."
    )


def _build_time_notes(results: Results, times: pd.DataFrame) -> tuple[str, ...]:
    notes = ["Medians over trials that did not fail, under all conditions; an untimed fit comes first."]
    slow = times[times["note"] != ""]
    if len(slow):
        names = ", ".join(dict.fromkeys(slow["learner"].astype(str)))
        notes.append(
            f"Fitting took much longer than its CPU time for {names} (see the notes by data set): the machine was "
            "oversubscribed or the learner waited. Compare CPU times."
        )
    busy = [run for run in results.archive.runs if (run.get("jobs") or 0) > (run.get("cpus") or float("inf"))]
    if busy:
        notes.append("A run had more jobs than processors: times are longer than on an idle machine.")
    return tuple(notes)
