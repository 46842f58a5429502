"""Options of the commands as text, read into what a study takes."""

from __future__ import annotations

import re
from dataclasses import replace
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


def results_view(results: Results, what: str, *, measure: str | None, condition: str | None, level: float | None) -> Any:
    """What a command shows of results: a text or a frame."""
    one_of("show", what, SHOWN)
    place: dict[str, Any] = {"condition": condition, "level": level}
    if what == "summary" and measure is None and condition is None:
        return str(results)
    if what == "verdict":
        return str(results.verdict(measure, **place))
    return _frame(results, what, measure, place)


def _frame(results: Results, what: str, measure: str | None, place: dict[str, Any]) -> pd.DataFrame:
    if what in ("summary", "table"):
        return results.wide(measure, **place).round(4).rename_axis(index="dataset", columns=None).reset_index()
    if what == "scores":
        return results.scores(measure)
    if what == "robustness":
        return results.robustness(place["condition"], measure or "accuracy")
    if what == "deterioration":
        return results.deterioration()
    return results.failures() if what == "failures" else results.times()
