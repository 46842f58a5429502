"""Drift: what conditions that change the test part alone cost learners that were trained before."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.report.deterioration import draw_deterioration
from fairtrial.report.places import changed_conditions
from fairtrial.report.section import Figure, Section, Table
from fairtrial.report.sentence import Sentence, say, shown

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
_FORMATS = {"level": "{:g}", "pD": "{:.2f}", **dict.fromkeys(_RATES, "{:.3f}")}
_MOST_COLUMNS = 15


def section(results: Results) -> Section | None:
    """What the change costs, by learner and by data set; None where no condition changes the test part alone."""
    if not changed_conditions(results, test_alone=True):
        return None
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        frame = results.deterioration()
    if frame["error"].notna().sum() == 0:
        return None
    means = _means(frame)
    tables = (
        Table(
            _MEANS,
            "What the change costs, over all data sets",
            means,
            _FORMATS,
            "Means over the data sets that have both errors.",
        ),
        Table(_LINES, "What the change costs, by data set", _shown(frame), _FORMATS, _interval_note(frame), long=True),
    )
    return Section("drift", "Drift", _sentences(means), _figures(frame), tables, _notes(frame))


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
    means["data sets"] = groups["loss"].count().to_numpy()
    means["with pD"] = groups["pd"].count().to_numpy()
    return _without_level(means).rename(columns=_NAMES)


def _without_level(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if frame["level"].notna().any() else frame.drop(columns="level")


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    plain = frame.astype(dict.fromkeys(["dataset", "learner", "condition"], object))
    plain = plain if (plain["note"] != "").any() else plain.drop(columns="note")
    return _without_level(plain).rename(columns=_NAMES)


def _sentences(means: pd.DataFrame) -> tuple[Sentence, ...]:
    """For each condition who loses least and most; then by pD."""
    found = []
    place = [name for name in ("condition", "level") if name in means]
    for _, own in means.groupby(place, sort=False, dropna=False):
        known = own[own["loss"].notna()]
        if known.empty:
            continue
        least, most = _ends(known["loss"])
        parts = {
            "condition": str(own["condition"].iloc[0]),
            "learner": str(means.loc[least, "learner"]),
            "loss": shown(means, _MEANS, least, "loss"),
        }
        at = "Under {condition}"
        if "level" in means and own["level"].notna().all():
            at, parts["level"] = "Under {condition} at level {level}", shown(means, _MEANS, least, "level", "{:g}")
        if means.loc[least, "loss"] == means.loc[most, "loss"]:
            who = (
                "{learner}'s error rate changes by {loss}"
                if len(known) == 1
                else "the error rate of all learners changes by {loss}"
            )
            found.append(say(f"{at} {who}.", **parts))
        else:
            more = {"last": str(means.loc[most, "learner"]), "worst": shown(means, _MEANS, most, "loss")}
            found.append(
                say(
                    f"{at} the error rate of {{learner}} rises least, by {{loss}}, that of {{last}} most, by {{worst}}.",
                    **parts,
                    **more,
                )
            )
        found += _by_pd(means, own)
    return tuple(found)


def _ends(values: pd.Series[float]) -> tuple[Any, Any]:
    """Where the lowest and the highest value stand."""
    return values.idxmin(), values.idxmax()


def _by_pd(means: pd.DataFrame, own: pd.DataFrame) -> list[Sentence]:
    known = own[own["pD"].notna()]
    if len(known) < 2:
        return []
    least, most = _ends(known["pD"])
    parts: dict[str, Any] = {"learner": str(means.loc[least, "learner"]), "share": shown(means, _MEANS, least, "pD", "{:.2f}")}
    parts |= {"last": str(means.loc[most, "learner"]), "most": shown(means, _MEANS, most, "pD", "{:.2f}")}
    if means.loc[least, "pD"] == means.loc[most, "pD"]:
        return [say("Performance deterioration (pD) is {share} for all.", share=parts["share"])]
    return [
        say(
            "Of what could be learnt the change destroys least for {learner} (pD {share}) and most for {last} (pD {most}).",
            **parts,
        )
    ]


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
        f"A matrix of learners by data sets. The highest {name} is {worst[value]:.2f}, of {worst['learner']} on "
        f"{worst['dataset']}; the lowest {best[value]:.2f}, of {best['learner']} on {best['dataset']}."
    )
    chart = draw_deterioration(drawn, value=value, title="What drift costs")
    return (Figure("drift-deterioration", "What drift costs, learners by data sets", chart, alt, frame),)
