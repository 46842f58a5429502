"""Options of the commands as text, read into what a study takes."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

from fairtrial._check import one_of, whole_number
from fairtrial.errors import InputError
from fairtrial.study.records import Limits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.declare.study import Study
    from fairtrial.study.results.results import Results

SHOWN = ("summary", "table", "scores", "robustness", "deterioration", "verdict", "failures", "times")


def jobs_of(jobs: int | None) -> int:
    """How many trials at a time: as many as this process may use cores, unless told."""
    from fairtrial.study.engine.engine import usable_cores

    return usable_cores() if jobs is None else whole_number("jobs", jobs, 1)


def shard_of(text: str | None) -> tuple[int, int] | None:
    """The part of a study that `3/100` names.

    >>> shard_of("3/100")
    (3, 100)
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise InputError(f"shard must be I/N with I from 1 to N, such as 3/100, got {text!r}")
    return int(found[1]), int(found[2])


def limits_of(study: Study, time: str | None, memory: str | None) -> Limits | None:
    """The limits of the study with those that were told instead; None where none were."""
    from fairtrial.study.declare.declared_values import memory_bytes, seconds
    from fairtrial.study.declare.resolving import limits_of as declared_limits

    if time is None and memory is None:
        return None
    told = {name: (text, read) for name, text, read in (("time", time, seconds), ("memory", memory, memory_bytes))}
    said = {name: _amount(text, read) for name, (text, read) in told.items() if text is not None}
    return replace(declared_limits(study.declaration), **said)


def _amount(text: str, read: Any) -> Any:
    """A plain number means seconds or bytes, "none" no limit."""
    plain = text.strip()
    found = read(float(plain) if "." in plain else int(plain)) if re.fullmatch(r"\d+(\.\d+)?", plain) else read(plain)
    return None if found == "none" else found


def results_view(
    results: Results, what: str, *, measure: str | None, condition: str | None, level: float | None, exact: bool = False
) -> Any:
    """What a command shows of results: a text or a frame, for people to read, or the frame as the results give it (`exact`)."""
    one_of("show", what, SHOWN)
    place: dict[str, Any] = {"condition": condition, "level": level}
    if what == "summary" and measure is None and condition is None:
        return str(results)
    if what == "verdict":
        return str(results.verdict(measure, **place))
    frame = _frame(results, what, measure, place)
    readable = {"robustness": _readable_robustness, "times": _readable_times}
    return frame if exact or what not in readable else readable[what](frame)


def _frame(results: Results, what: str, measure: str | None, place: dict[str, Any]) -> pd.DataFrame:
    if what in ("summary", "table"):
        return results.wide(measure, **place).rename_axis(index="dataset", columns=None).reset_index()
    if what == "scores":
        return results.scores(measure)
    if what == "robustness":
        return results.robustness(place["condition"], measure or "accuracy")
    if what == "deterioration":
        return results.deterioration()
    return results.failures() if what == "failures" else results.times()


def _readable_robustness(frame: pd.DataFrame) -> pd.DataFrame:
    """A line for each condition, level, data set and learner, then those over all data sets; an interval in one cell."""
    import pandas as pd

    from fairtrial.study.results.robust import over_data_sets

    lines = frame.astype({"dataset": str})
    if lines["dataset"].nunique() > 1:
        lines = pd.concat([lines, over_data_sets(frame).assign(dataset="(over all)")], ignore_index=True)
    order = list(dict.fromkeys(zip(lines["condition"], lines["level"], strict=True)))
    places = pd.Series([order.index(each) for each in zip(lines["condition"], lines["level"], strict=True)])
    lines = lines.iloc[places.argsort(kind="stable")]
    shown = lines[["condition", "level", "dataset", "learner", "clean", "noisy"]].copy()
    for name in ("rla", "ela"):
        limits = (lines[each] for each in (name, f"{name}_low", f"{name}_high"))
        shown[f"{name} (low to high)"] = [_interval(*each) for each in zip(*limits, strict=True)]
    return shown.reset_index(drop=True)


def _interval(value: float, low: float, high: float) -> str:
    """A value with its interval in one cell.

    >>> _interval(0.0512345, 0.0101, 0.092), _interval(0.1, float("nan"), float("nan"))
    ('0.05123 (0.0101 to 0.092)', '0.1')
    """
    told = "" if isnan(value) else f"{value:.4g}"
    return told if isnan(low) or isnan(high) else f"{told} ({low:.4g} to {high:.4g})"


def _readable_times(frame: pd.DataFrame) -> pd.DataFrame:
    """Times in milliseconds and memory in megabytes, with the unit in the name of the column."""
    names = {"fit_time": "fit", "predict_time": "predict", "fit_cpu": "fit CPU", "predict_cpu": "predict CPU"}
    shown = frame.assign(**{each: 1000 * frame[each] for each in names}, memory=frame["memory"] / 1e6)
    return shown.rename(columns={"memory": "memory (MB)"} | {each: f"{name} (ms)" for each, name in names.items()})
