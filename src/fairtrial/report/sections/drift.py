"""Drift: what conditions that change the test part alone cost learners that were trained before."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.report.figures.environments import draw_deterioration
from fairtrial.report.names import join_names
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import get_main_condition, list_changed_conditions, with_levels
from fairtrial.study.results.selection import CLEAN
from fairtrial.study.results.stacking import compute_mean_half_width

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource

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


@section("drift", title="Drift", order=120, serves=("study",))
def build_section(source: ReportSource) -> Section | None:
    """What the change costs, by learner and by data set; None where no condition changes the test part alone."""
    results = source.get_results()
    if not list_changed_conditions(results, test_only=True):
        return None
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        frame = with_levels(results.deterioration(), results.archive.conditions)
    if frame["error"].notna().sum() == 0:
        return None
    means = _average_losses(frame)
    tables = (
        ReportTable(
            _MEANS,
            "What the change costs, over all data sets",
            means,
            _FORMATS,
            _MEANS_NOTE if frame["dataset"].nunique() > 1 else _format_interval_note(frame),
        ),
        ReportTable(
            _LINES,
            "What the change costs, by data set",
            _build_dataset_table(frame),
            _FORMATS,
            _format_interval_note(frame),
            long=True,
        ),
    )
    return Section(
        "drift",
        "Drift",
        _build_drift_sentences(means, get_main_condition(results).name == CLEAN),
        _draw_drift_figures(frame),
        tables,
        _build_drift_notes(frame),
    )


def _format_interval_note(frame: pd.DataFrame) -> str:
    return (
        "Loss: rise of the error rate, its interval corrected for the overlap of splits."
        if frame["loss_low"].notna().any()
        else ""
    )


def _average_losses(frame: pd.DataFrame) -> pd.DataFrame:
    """A line for each condition and learner: mean errors, loss and pD."""
    columns = ["clean", "error", "loss", "ideal", "trivial", "pd"]
    keys = ["learner", "condition", "level"]
    plain = frame.astype(dict.fromkeys(["learner", "condition"], object))
    groups = plain.groupby(keys, sort=False, dropna=False)
    means = groups[columns].mean().reset_index()
    means[["loss_low", "loss_high"]] = [_compute_loss_limits(group_lines) for _, group_lines in groups]
    means["data sets"] = groups["loss"].count().to_numpy()
    means["with pD"] = groups["pd"].count().to_numpy()
    return _drop_empty_level(means).rename(columns=_NAMES)


def _compute_loss_limits(lines: pd.DataFrame) -> tuple[float, float]:
    """Of the mean loss: Student's over data sets; of a single one its own, over splits."""
    losses = lines["loss"].dropna().to_numpy(dtype=np.float64)
    if len(lines) == 1:
        return float(lines["loss_low"].iloc[0]), float(lines["loss_high"].iloc[0])
    half_width = compute_mean_half_width(losses, _ALPHA)
    mean = float(losses.mean()) if len(losses) else float("nan")
    return mean - half_width, mean + half_width


def _drop_empty_level(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if frame["level"].notna().any() else frame.drop(columns="level")


def _build_dataset_table(frame: pd.DataFrame) -> pd.DataFrame:
    plain = frame.astype(dict.fromkeys(["dataset", "learner", "condition"], object))
    plain = plain if (plain["note"] != "").any() else plain.drop(columns="note")
    return _drop_empty_level(plain).rename(columns=_NAMES)


def _build_drift_sentences(means: pd.DataFrame, clean: bool) -> tuple[Sentence, ...]:
    """For each condition who loses least and most, and how sure that is; then by pD."""
    sentences: list[Sentence | None] = []
    if not clean:
        sentences.append(build_sentence(_NO_CLEAN))
    keys = [name for name in ("condition", "level") if name in means]
    for _, condition_means in means.groupby(keys, sort=False, dropna=False):
        defined = condition_means[condition_means["loss"].notna()]
        if len(defined):
            sentences += [_describe_losses(means, defined), _describe_loss_certainty(defined)]
        sentences.append(_describe_pd(means, condition_means[condition_means["pD"].notna()]))
    return tuple(sentence for sentence in sentences if sentence is not None)


def _describe_losses(means: pd.DataFrame, defined: pd.DataFrame) -> Sentence:
    """Whose error rate rises least and most, as the numbers are shown; or that none rises."""
    values = defined["loss"].round(3)
    (least, few), (most, many) = (_find_learners_at(means, values, end) for end in (values.min(), values.max()))
    prefix, parts = _format_condition_prefix(means, least)
    parts |= {"least": few, "loss": format_number(means, _MEANS, least, "loss", _THREE)}
    if values.min() == values.max():
        who = "the error rate of {least}" if len(defined) == 1 else "the error rate of all learners"
        return build_sentence(f"{prefix} {who} changes by {{loss}}.", **_select_used_parts(f"{prefix}{who}{{loss}}", parts))
    parts |= {"most": many, "worst": format_number(means, _MEANS, most, "loss", _THREE)}
    if values.max() <= 0:
        return build_sentence(
            f"{prefix} no error rate rises: that of {{least}} changes by {{loss}}, that of {{most}} by {{worst}}.", **parts
        )
    if values.min() <= 0:
        predicate = "does not rise (it changes by {loss}), that of {most} rises most, by {worst}."
        return build_sentence(f"{prefix} the error rate of {{least}} {predicate}", **parts)
    return build_sentence(
        f"{prefix} the error rate of {{least}} rises least, by {{loss}}, that of {{most}} most, by {{worst}}.", **parts
    )


def _find_learners_at(means: pd.DataFrame, values: pd.Series[float], end: float) -> tuple[Any, str]:
    """The first line with this value, and all learners that have it."""
    lines = values.index[values == end]
    return lines[0], join_names([str(means.loc[line, "learner"]) for line in lines])


def _format_condition_prefix(means: pd.DataFrame, line: Any) -> tuple[str, dict[str, Any]]:
    """The condition, and its level where it has one."""
    parts: dict[str, Any] = {"condition": str(means.loc[line, "condition"])}
    if "level" not in means or np.isnan(means["level"].loc[line]):
        return "Under {condition}", parts
    return "Under {condition} at level {level}", parts | {"level": format_number(means, _MEANS, line, "level", "{:g}")}


def _select_used_parts(template: str, parts: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if "{" + name + "}" in template}


def _describe_loss_certainty(defined: pd.DataFrame) -> Sentence:
    """For whom the interval of the loss excludes zero."""
    if defined["loss low"].isna().all():
        return build_sentence("There is no interval of the loss: it takes several data sets, or several splits of one.")
    sure = defined.loc[(defined["loss low"] > 0) | (defined["loss high"] < 0), "learner"].astype(str).tolist()
    if not sure:
        return build_sentence("No interval of the loss excludes zero: the changes may be chance.")
    if len(sure) == len(defined):
        return build_sentence("The interval of the loss excludes zero for {names}.", names=join_names(sure))
    return build_sentence("The interval of the loss excludes zero for {names} alone.", names=join_names(sure))


def _find_extremes(values: pd.Series[float]) -> tuple[Any, Any]:
    """Where the lowest and the highest value stand."""
    return values.idxmin(), values.idxmax()


def _describe_pd(means: pd.DataFrame, defined: pd.DataFrame) -> Sentence | None:
    """How much of what could be learnt the change destroys, as the numbers are shown; that it is nothing where it is."""
    if len(defined) < 2:
        return None
    values = defined["pD"].round(2)
    (least, few), (most, many) = (_find_learners_at(means, values, end) for end in (values.min(), values.max()))
    worst = format_number(means, _MEANS, most, "pD", _TWO)
    if values.min() == values.max():
        return build_sentence("Performance deterioration (pD) is {worst} for all.", worst=worst)
    parts: dict[str, Any] = {"most": many, "worst": worst}
    if values.max() <= 0:
        return build_sentence("Nothing of what could be learnt is destroyed: pD is at most {worst}, of {most}.", **parts)
    parts |= {"least": few, "share": format_number(means, _MEANS, least, "pD", _TWO)}
    who = "nothing" if values.min() <= 0 else "least"
    template = (
        f"Of what could be learnt the change destroys {who} for {{least}} (pD {{share}}) and most for {{most}} (pD {{worst}})."
    )
    return build_sentence(template, **parts)


def _build_drift_notes(frame: pd.DataFrame) -> tuple[str, ...]:
    notes = [f"pD is undefined where: {note}." for note in dict.fromkeys(frame["note"]) if note]
    if frame["dataset"].nunique() > _MOST_COLUMNS:
        notes.append("The figure shows the first data sets; draw(results, 'deterioration') shows all.")
    return tuple(notes)


def _draw_drift_figures(frame: pd.DataFrame) -> tuple[Figure, ...]:
    value = "pd" if frame["pd"].notna().any() else "loss"
    if not frame[value].notna().any():
        return ()
    first = list(dict.fromkeys(frame["dataset"].astype(str)))[:_MOST_COLUMNS]
    drawn_lines = frame[frame["dataset"].astype(str).isin(first)]
    defined = frame[frame[value].notna()]
    low, high = _find_extremes(defined[value])
    worst, best = defined.loc[high], defined.loc[low]
    name = "pD" if value == "pd" else "loss in error rate"
    alt = (
        f"A matrix of learners by data sets. The highest {name} is {worst[value]:z.2f}, of {worst['learner']} on "
        f"{worst['dataset']}; the lowest {best[value]:z.2f}, of {best['learner']} on {best['dataset']}."
    )
    chart = draw_deterioration(drawn_lines, value=value, title="What drift costs")
    return (Figure("drift-deterioration", "What drift costs, learners by data sets", chart, alt, frame),)
