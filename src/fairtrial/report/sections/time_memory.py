"""Time and memory: medians over trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._narrative import render_all
from fairtrial._text import join_names
from fairtrial.report.figures.times import TIME_COLUMNS, compute_learner_times, draw_times
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.study.results.summary import find_oversubscription

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
_FORMATS = {**dict.fromkeys([_NAMES[name] for name in TIME_COLUMNS], "{:.4g}"), "memory (MiB)": "{:.3g}"}


@section("time-memory", title="Time and memory", order=160, serves=("study",), schemes="all", question="how")
def build_section(source: ReportSource) -> Section | None:
    """Report median times and memory by learner and by data set. Return None if no times are available."""
    results = source.get_all_results()
    times = results.times()
    if times.empty or not (times["fit_time"] > 0).any():
        return None
    medians = _rename_time_columns(compute_learner_times(times))
    lines = _rename_time_columns(times.astype({"dataset": object, "learner": object}))
    lines = lines if (lines["note"] != "").any() else lines.drop(columns="note")
    tables = (
        ReportTable(_LEARNERS, "Medians by learner", medians, _FORMATS),
        ReportTable(_LINES, "Medians by data set and learner", lines, _FORMATS, long=True),
    )
    figure = Figure("time-memory-times", "Time and memory by learner", draw_times(times), _format_time_alt(medians), times)
    return Section(
        "time-memory", "Time and memory", _build_time_sentences(medians), (figure,), tables, _build_time_notes(results, times)
    )


def _rename_time_columns(frame: pd.DataFrame) -> pd.DataFrame:
    memory = frame["memory"].astype(float) / 2**20
    frame = frame.assign(memory=memory) if memory.notna().any() else frame.drop(columns="memory")
    return frame.rename(columns=_NAMES)


def _build_time_sentences(medians: pd.DataFrame) -> tuple[Sentence, ...]:
    fit = _NAMES["fit_time"]
    timed = medians[medians[fit].notna()]
    first, last = str(timed.index[0]), str(timed.index[-1])
    quick = format_number(medians, _LEARNERS, first, fit, "{:.3g}")
    if len(timed) == 1:
        return (build_sentence("Fitting {learner} takes {time} s (median over data sets).", learner=first, time=quick),)
    if timed[fit].iloc[0] == timed[fit].iloc[-1]:
        return (build_sentence("Fitting takes {time} s for all learners (median over data sets).", time=quick),)
    slow = format_number(medians, _LEARNERS, last, fit, "{:.3g}")
    template = "Fitting is fastest for {first} ({quick} s) and slowest for {last} ({slow} s; medians over data sets)."
    return (build_sentence(template, first=first, quick=quick, last=last, slow=slow),)


def _format_time_alt(medians: pd.DataFrame) -> str:
    fit = _NAMES["fit_time"]
    timed = medians[medians[fit].notna()]
    if timed[fit].iloc[0] == timed[fit].iloc[-1]:
        return f"Median times of fitting and predicting, and memory, by learner. Fitting takes {timed[fit].iloc[0]:.3g} s."
    return (
        f"Median times of fitting and predicting, and memory, by learner. Fitting is fastest for {timed.index[0]} "
        f"({timed[fit].iloc[0]:.3g} s) and slowest for {timed.index[-1]} ({timed[fit].iloc[-1]:.3g} s)."
    )


def _build_time_notes(results: Results, times: pd.DataFrame) -> tuple[str, ...]:
    notes = ["Medians over successful trials under all conditions. An untimed fit precedes the timed one."]
    slow = times[times["note"] != ""]
    if len(slow):
        names = join_names(dict.fromkeys(slow["learner"].astype(str)))
        notes.append(
            f"For {names}, fitting took much longer than its CPU time on some data sets: the computer was overloaded or the "
            "learner waited. Compare CPU times."
        )
    return (*notes, *render_all(find_oversubscription(results.archive.runs, results.trials())))
