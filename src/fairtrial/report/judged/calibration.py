"""Calibration: whether what is forecast with a probability comes true that often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures.closed_intervals import wilson
from fairtrial.report.judged.naming import datasets_of, largest, models_of, without_lone_set
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import joined, keys_of, listed
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.predictions.judgement import Judgement

KEY = "calibration-models"
MOST_LIKELY = "the most likely"
DISTANCE, BIAS = "mean distance", "mean forecast less share"
_MEAN, _CAME = "mean forecast", "share that came true"
_LIMITS = ("low of this", "high of this")
_NAMES = {"mean_forecast": _MEAN, "share": _CAME, "weight": "rows"}


def section(judgement: Judgement) -> Section | None:
    """Forecasts and what came of them in ten bins; None where no model gives probabilities."""
    if not len(judgement.calibration):
        return None
    several = len(datasets_of(judgement)) > 1
    frame = models_frame(judgement)
    bins = without_lone_set(judgement.calibration.rename(columns=_NAMES), several)
    formats = dict.fromkeys([_MEAN, _CAME, DISTANCE, BIAS, *_LIMITS, "low", "high"], "{:.4f}") | {"rows": "{:,.6g}"}
    note = "The mean distance between forecast and share over the bins, each counted by its rows; zero is perfect. Limits of "
    note += "the mean forecast less the share are Wilson's of the share."
    tables = (
        Table(KEY, "How far forecasts lie from what came true", frame, formats, note),
        Table("calibration-bins", "Every bin of forecasts", bins, formats, _bins_note(judgement), None, True),
    )
    return Section("calibration", "Calibration", _words(judgement, frame), _figures(judgement), tables, _notes(judgement))


def _bins_note(judgement: Judgement) -> str:
    """What the limits of a bin rest on."""
    if not judgement.roles.get("weight"):
        return "Limits are those of the share."
    return (
        "Limits are those of the share; weighted rows count as their effective number, the square of the sum of a bin's "
        "weights over the sum of their squares."
    )


def models_frame(judgement: Judgement) -> pd.DataFrame:
    """A line for each data set and model, the best calibrated first within a data set."""
    import pandas as pd

    lines = []
    for (dataset, model), own in judgement.calibration.groupby(["dataset", "model"], sort=False):
        weight = own["weight"].to_numpy(dtype=np.float64)
        gap = (own["mean_forecast"] - own["share"]).to_numpy(dtype=np.float64)
        means = {name: float(np.average(own[name], weights=weight)) for name in ("mean_forecast", "share")}
        line = {"dataset": dataset, "model": model, "class": own["class"].iloc[0], _MEAN: means["mean_forecast"]}
        distance = float(np.average(np.abs(gap), weights=weight))
        bias = float(np.average(gap, weights=weight))
        limits = dict(
            zip(_LIMITS, _limits(judgement, means["mean_forecast"], means["share"], float(weight.sum())), strict=True)
        )
        lines.append(line | {_CAME: means["share"], DISTANCE: distance, BIAS: bias} | limits)
    found = pd.DataFrame(lines)
    place = {name: number for number, name in enumerate(datasets_of(judgement))}
    found = found.assign(place=found["dataset"].map(place)).sort_values(["place", DISTANCE], kind="stable")
    return without_lone_set(found.drop(columns="place"), len(place) > 1)


def _limits(judgement: Judgement, forecast: float, share: float, rows: float) -> tuple[float, float]:
    """Limits of the mean forecast less the share that came true: Wilson's of the share; none of weighted rows."""
    if judgement.roles.get("weight"):
        return float("nan"), float("nan")
    low, high = wilson(share * rows, rows, judgement.level)
    return forecast - high, forecast - low


def _words(judgement: Judgement, frame: pd.DataFrame) -> tuple[Sentence, ...]:
    if "data set" not in frame:
        return _of_one(frame, "")
    return tuple(each for name in largest(judgement) for each in _of_one(frame[frame["data set"] == name], name))


def _of_one(own: pd.DataFrame, dataset: str) -> tuple[Sentence, ...]:
    if not len(own):
        return ()
    first, last = int(own.index[0]), int(own.index[-1])
    where, parts = ("On {dataset}, ", {"dataset": dataset}) if dataset else ("", {})
    numbers = {"least": shown(own, KEY, first, DISTANCE)}
    parts["first"] = str(own.loc[first, "model"])
    if len(own) == 1 or own[DISTANCE].iloc[0] == own[DISTANCE].iloc[-1]:
        name = str(own.loc[first, "model"]) if len(own) == 1 else listed([str(each) for each in own["model"]])
        verb = "lie" if len(own) == 1 else "all lie"
        told = f"the forecasts of {{first}} {verb} {{least}} from what came true, on average."
        return (joined([say(_started(where, told), **(parts | {"first": name}), **numbers), *_side(own)]),)
    numbers["most"] = shown(own, KEY, last, DISTANCE)
    told = "the forecasts of {first} lie nearest to what came true, {least} away on average, those of {last} farthest, {most}."
    said = say(_started(where, told), last=str(own.loc[last, "model"]), **parts, **numbers)
    return (joined([said, *_side(own)]),)


def _started(where: str, told: str) -> str:
    return where + (told if where else told[0].upper() + told[1:])


def _side(own: pd.DataFrame) -> tuple[Sentence, ...]:
    """The model whose forecasts are the farthest too high or too low on the whole, if that is more than chance."""
    sure = own[(own[_LIMITS[0]] > 0) | (own[_LIMITS[1]] < 0)]
    if sure.empty:
        return ()
    line = int(sure.index[int(sure[BIAS].abs().to_numpy().argmax())])
    bias = float(sure[BIAS][line])
    parts: dict[str, Any] = {name: shown(own, KEY, line, column) for name, column in (("mean", _MEAN), ("came", _CAME))}
    side = "too high" if bias > 0 else "too low"
    model = str(own.loc[line, "model"])
    return (
        say(
            " On the whole {model} forecasts {side}: {mean} on average, where {came} came true.",
            model=model,
            side=side,
            **parts,
        ),
    )


def _notes(judgement: Judgement) -> tuple[str, ...]:
    with_forecasts = set(judgement.calibration["model"])
    absent = [name for name in models_of(judgement) if name not in with_forecasts]
    return (f"No calibration for {', '.join(absent)}: no probabilities.",) if absent else ()


def _figures(judgement: Judgement) -> tuple[Figure, ...]:
    from fairtrial.report.curves import draw_calibration

    several, chosen = len(datasets_of(judgement)) > 1, largest(judgement)
    figures = []
    for name, key in zip(chosen, keys_of(chosen), strict=True):
        own = judgement.calibration[judgement.calibration["dataset"] == name]
        if not len(own):
            continue
        frames = {str(model): part.reset_index(drop=True) for model, part in own.groupby("model", sort=False)}
        where = f" on {name}" if several else ""
        label = str(own["class"].iloc[0])
        title = f"Calibration{where}: " + (f"{label} class" if label == MOST_LIKELY else f"class {label}")
        alt = f"What came true over what was forecast{where}, a line for each model; the diagonal is perfect."
        figures.append(
            Figure(f"calibration-{key}", title, draw_calibration(frames, title=title), alt, own.reset_index(drop=True))
        )
    return tuple(figures)
