"""Drift: what conditions that change the test part alone cost learners that were trained before."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.report.deterioration import draw_deterioration
from fairtrial.report.places import CLEAN, changed_conditions, main_condition, with_levels
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sections.naming import listed
from fairtrial.report.sentence import Sentence, say, shown
from fairtrial.study.results.split_spread import mean_half_width

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_MEANS, _LINES = "drift-means", "drift-by-data-set"
_NAMES = {
    "dataset": "data set",
    "clean": "error before",
    "error": "error after",
    "loss_low": "loss low",
    "loss_high": "loss high",
    "ideal": "error, trained on the change",
    "trivial": "trivial error",
    "pd": "pD",
}
_RATES = ("error before", "error after", "loss", "loss low", "loss high", "error, trained on the change", "trivial error")
_TWO, _THREE = "{:z.2f}", "{:z.3f}"  # no "-0.00"
_FORMATS = {"level": "{:g}", "pD": _TWO, **dict.fromkeys(_RATES, _THREE)}
_ALPHA = 0.05
_MEANS_NOTE = "Means over the data sets that have both errors; of the loss with Student's 95 % interval over these data sets."
_NO_CLEAN = (
    "What the change costs cannot be told, for the study has no clean condition to compare it with: put the level zero into "
    "the list of levels of a condition."
)
_MOST_COLUMNS = 15


def section(results: Results) -> Section | None:
    """What the change costs, by learner and by data set; None where no condition changes the test part alone."""
    if not changed_conditions(results, test_alone=True):
        return None
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        frame = with_levels(results.deterioration(), results.archive.conditions)
    if frame["error"].notna().sum() == 0:
        return None
    means = _means(frame)
    tables = (
        Table(
            _MEANS,
            "What the change costs, over all data sets",
            means,
            _FORMATS,
            _MEANS_NOTE if frame["dataset"].nunique() > 1 else _interval_note(frame),
        ),
        Table(_LINES, "What the change costs, by data set", _shown(frame), _FORMATS, _interval_note(frame), long=True),
    )
    return Section(
        "drift", "Drift", _sentences(means, main_condition(results).name == CLEAN), _figures(frame), tables, _notes(frame)
    )


def _interval_note(frame: pd.DataFrame) -> str:
    return (
        "Loss: rise of the error rate, its interval corrected for the overlap of splits."
        if frame["loss_low"].notna().any()
        else ""
    )


def _means(frame: pd.DataFrame) -> pd.DataFrame:
    """A line for each condition and learner: mean errors, loss and pD."""
    columns = ["clean", "error", "loss", "ideal", "trivial", "pd"]
    place = ["learner", "condition", "level"]
    plain = frame.astype(dict.fromkeys(["learner", "condition"], object))
    groups = plain.groupby(place, sort=False, dropna=False)
    means = groups[columns].mean().reset_index()
    means[["loss_low", "loss_high"]] = [_limits(own) for _, own in groups]
    means["data sets"] = groups["loss"].count().to_numpy()
    means["with pD"] = groups["pd"].count().to_numpy()
    return _without_level(means).rename(columns=_NAMES)


def _limits(own: pd.DataFrame) -> tuple[float, float]:
    """Of the mean loss: Student's over data sets; of a single one its own, over splits."""
    losses = own["loss"].dropna().to_numpy(dtype=np.float64)
    if len(own) == 1:
        return float(own["loss_low"].iloc[0]), float(own["loss_high"].iloc[0])
    half = mean_half_width(losses, _ALPHA)
    mean = float(losses.mean()) if len(losses) else float("nan")
    return mean - half, mean + half


def _without_level(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if frame["level"].notna().any() else frame.drop(columns="level")


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    plain = frame.astype(dict.fromkeys(["dataset", "learner", "condition"], object))
    plain = plain if (plain["note"] != "").any() else plain.drop(columns="note")
    return _without_level(plain).rename(columns=_NAMES)


def _sentences(means: pd.DataFrame, clean: bool) -> tuple[Sentence, ...]:
    """For each condition who loses least and most, and how sure that is; then by pD."""
    found: list[Sentence | None] = []
    if not clean:
        found.append(say(_NO_CLEAN))
    place = [name for name in ("condition", "level") if name in means]
    for _, own in means.groupby(place, sort=False, dropna=False):
        known = own[own["loss"].notna()]
        if len(known):
            found += [_losses(means, known), _sureness(known)]
        found.append(_by_pd(means, own[own["pD"].notna()]))
    return tuple(each for each in found if each is not None)


def _losses(means: pd.DataFrame, known: pd.DataFrame) -> Sentence:
    """Whose error rate rises least and most, as the numbers are shown; or that none rises."""
    values = known["loss"].round(3)
    (least, few), (most, many) = (_at(means, values, end) for end in (values.min(), values.max()))
    at, parts = _under(means, least)
    parts |= {"least": few, "loss": shown(means, _MEANS, least, "loss", _THREE)}
    if values.min() == values.max():
        who = "the error rate of {least}" if len(known) == 1 else "the error rate of all learners"
        return say(f"{at} {who} changes by {{loss}}.", **_named(f"{at}{who}{{loss}}", parts))
    parts |= {"most": many, "worst": shown(means, _MEANS, most, "loss", _THREE)}
    if values.max() <= 0:
        return say(f"{at} no error rate rises: that of {{least}} changes by {{loss}}, that of {{most}} by {{worst}}.", **parts)
    if values.min() <= 0:
        words = "does not rise (it changes by {loss}), that of {most} rises most, by {worst}."
        return say(f"{at} the error rate of {{least}} {words}", **parts)
    return say(f"{at} the error rate of {{least}} rises least, by {{loss}}, that of {{most}} most, by {{worst}}.", **parts)


def _at(means: pd.DataFrame, values: pd.Series[float], end: float) -> tuple[Any, str]:
    """The first line with this value, and all learners that have it."""
    lines = values.index[values == end]
    return lines[0], listed([str(means.loc[line, "learner"]) for line in lines])


def _under(means: pd.DataFrame, line: Any) -> tuple[str, dict[str, Any]]:
    """The condition, and its level where it has one."""
    parts: dict[str, Any] = {"condition": str(means.loc[line, "condition"])}
    if "level" not in means or np.isnan(means["level"].loc[line]):
        return "Under {condition}", parts
    return "Under {condition} at level {level}", parts | {"level": shown(means, _MEANS, line, "level", "{:g}")}


def _named(words: str, parts: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if "{" + name + "}" in words}


def _sureness(known: pd.DataFrame) -> Sentence:
    """For whom the interval of the loss excludes zero."""
    if known["loss low"].isna().all():
        return say("There is no interval of the loss: it takes several data sets, or several splits of one.")
    sure = known.loc[(known["loss low"] > 0) | (known["loss high"] < 0), "learner"].astype(str).tolist()
    if not sure:
        return say("No interval of the loss excludes zero: the changes may be chance.")
    if len(sure) == len(known):
        return say("The interval of the loss excludes zero for {names}.", names=listed(sure))
    return say("The interval of the loss excludes zero for {names} alone.", names=listed(sure))


def _ends(values: pd.Series[float]) -> tuple[Any, Any]:
    """Where the lowest and the highest value stand."""
    return values.idxmin(), values.idxmax()


def _by_pd(means: pd.DataFrame, known: pd.DataFrame) -> Sentence | None:
    """How much of what could be learnt the change destroys, as the numbers are shown; that it is nothing where it is."""
    if len(known) < 2:
        return None
    values = known["pD"].round(2)
    (least, few), (most, many) = (_at(means, values, end) for end in (values.min(), values.max()))
    worst = shown(means, _MEANS, most, "pD", _TWO)
    if values.min() == values.max():
        return say("Performance deterioration (pD) is {worst} for all.", worst=worst)
    parts: dict[str, Any] = {"most": many, "worst": worst}
    if values.max() <= 0:
        return say("Nothing of what could be learnt is destroyed: pD is at most {worst}, of {most}.", **parts)
    parts |= {"least": few, "share": shown(means, _MEANS, least, "pD", _TWO)}
    who = "nothing" if values.min() <= 0 else "least"
    words = (
        f"Of what could be learnt the change destroys {who} for {{least}} (pD {{share}}) and most for {{most}} (pD {{worst}})."
    )
    return say(words, **parts)


def _notes(frame: pd.DataFrame) -> tuple[str, ...]:
    told = [f"pD is undefined where: {note}." for note in dict.fromkeys(frame["note"]) if note]
    if frame["dataset"].nunique() > _MOST_COLUMNS:
        told.append("The figure shows the first data sets; draw(results, 'deterioration') shows all.")
    return tuple(told)


def _figures(frame: pd.DataFrame) -> tuple[Figure, ...]:
    value = "pd" if frame["pd"].notna().any() else "loss"
    if not frame[value].notna().any():
        return ()
    first = list(dict.fromkeys(frame["dataset"].astype(str)))[:_MOST_COLUMNS]
    drawn = frame[frame["dataset"].astype(str).isin(first)]
    known = frame[frame[value].notna()]
    low, high = _ends(known[value])
    worst, best = known.loc[high], known.loc[low]
    name = "pD" if value == "pd" else "loss in error rate"
    alt = (
        f"A matrix of learners by data sets. The highest {name} is {worst[value]:z.2f}, of {worst['learner']} on "
        f"{worst['dataset']}; the lowest {best[value]:z.2f}, of {best['learner']} on {best['dataset']}."
    )
    chart = draw_deterioration(drawn, value=value, title="What drift costs")
    return (Figure("drift-deterioration", "What drift costs, learners by data sets", chart, alt, frame),)
