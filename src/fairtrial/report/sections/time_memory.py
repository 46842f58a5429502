"""Time and memory: medians of what trials took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sentence import Sentence, say, shown
from fairtrial.report.times import NUMBERS, draw_times, learner_times

if TYPE_CHECKING:
    import pandas as pd

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
_FORMATS = {**dict.fromkeys([_NAMES[name] for name in NUMBERS], "{:.4g}"), "memory (MiB)": "{:.1f}"}


def section(results: Results) -> Section | None:
    """Medians by learner and by data set; None for predictions that carry no times."""
    times = results.times()
    if times.empty or not (times["fit_time"] > 0).any():
        return None
    medians = _shown(learner_times(times))
    lines = _shown(times.astype({"dataset": object, "learner": object}))
    lines = lines if (lines["note"] != "").any() else lines.drop(columns="note")
    tables = (
        Table(_LEARNERS, "Medians by learner, over data sets", medians, _FORMATS),
        Table(_LINES, "Medians by data set and learner", lines, _FORMATS, long=True),
    )
    figure = Figure("time-memory-times", "Time and memory by learner", draw_times(times), _alt(medians), times)
    return Section("time-memory", "Time and memory", _sentences(medians), (figure,), tables, _notes(results, times))


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(memory=frame["memory"].astype(float) / 2**20).rename(columns=_NAMES)


def _sentences(medians: pd.DataFrame) -> tuple[Sentence, ...]:
    fit = _NAMES["fit_time"]
    known = medians[medians[fit].notna()]
    first, last = str(known.index[0]), str(known.index[-1])
    quick = shown(medians, _LEARNERS, first, fit, "{:.3g}")
    if len(known) == 1:
        return (say("{learner} takes {time} s to fit (median over data sets).", learner=first, time=quick),)
    if known[fit].iloc[0] == known[fit].iloc[-1]:
        return (say("All learners take the same time to fit, {time} s.", time=quick),)
    slow = shown(medians, _LEARNERS, last, fit, "{:.3g}")
    words = "{first} is the fastest to fit, with {quick} s, {last} the slowest, with {slow} s (medians over data sets)."
    return (say(words, first=first, quick=quick, last=last, slow=slow),)


def _alt(medians: pd.DataFrame) -> str:
    fit = _NAMES["fit_time"]
    known = medians[medians[fit].notna()]
    if known[fit].iloc[0] == known[fit].iloc[-1]:
        return f"Median seconds to fit and to predict, and memory, by learner. Fitting takes {known[fit].iloc[0]:.3g} s."
    return (
        f"Median seconds to fit and to predict, and memory, by learner. {known.index[0]} is the fastest to fit, "
        f"{known[fit].iloc[0]:.3g} s; {known.index[-1]} the slowest, {known[fit].iloc[-1]:.3g} s."
    )


def _notes(results: Results, times: pd.DataFrame) -> tuple[str, ...]:
    notes = ["Medians over trials that did not fail, under all conditions; an untimed fit comes first."]
    slow = times[times["note"] != ""]
    if len(slow):
        who = ", ".join(dict.fromkeys(slow["learner"].astype(str)))
        notes.append(
            f"Fitting took much longer than its CPU time for {who} (see the notes by data set): the machine was oversubscribed "
            "or the learner waited. Compare CPU times."
        )
    busy = [run for run in results.archive.runs if (run.get("jobs") or 0) > (run.get("cpus") or float("inf"))]
    if busy:
        notes.append("A run had more jobs than processors: times are longer than on an idle machine.")
    return tuple(notes)
