"""Drift: how much the error rate rises under conditions that change only the test set."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import join_names
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.report.figures.environments import draw_deterioration
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
    "ideal": "error, trained on changed data",
    "trivial": "trivial error",
    "pd": "pD",
}
_RATES = ("error before", "error after", "loss", "loss low", "loss high", "error, trained on changed data", "trivial error")
_TWO, _THREE = "{:z.2f}", "{:z.3f}"  # z prevents "-0.00"
_FORMATS = {"level": "{:g}", "pD": _TWO, **dict.fromkeys(_RATES, _THREE)}
_ALPHA = 0.05
_MEANS_NOTE = "Means over the data sets with both error rates. Interval of the loss: 95 % t interval over these data sets."
_NO_CLEAN = (
    "The loss is undefined because the study has no clean condition for comparison. Add zero to the levels of a condition."
)
_MOST_COLUMNS = 15


@section("drift", title="Drift", order=120, serves=("study",), question="conditions")
def build_section(source: ReportSource) -> Section | None:
    """Report the losses by learner and by data set. Return None if no condition changes only the test set."""
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
            "Loss by learner, over all data sets",
            means,
            _FORMATS,
            _MEANS_NOTE if frame["dataset"].nunique() > 1 else _format_interval_note(frame),
        ),
        ReportTable(
            _LINES,
            "Loss by data set",
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
        "Loss: increase in the error rate. Its interval is corrected for the overlap of splits."
        if frame["loss_low"].notna().any()
        else ""
    )


def _average_losses(frame: pd.DataFrame) -> pd.DataFrame:
    """Average the errors, the loss and pD for each condition and learner."""
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
    """Compute confidence limits for the mean loss over data sets or, with a single data set, over its splits."""
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
    """For each condition, describe the smallest and largest loss, their intervals, and the performance deterioration (pD)."""
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
    """Describe the smallest and the largest loss, rounded as printed."""
    values = defined["loss"].round(3)
    (least, few), (most, many) = (_find_learners_at(means, values, end) for end in (values.min(), values.max()))
    prefix, parts = _format_condition_prefix(means, least)
    parts |= {"least": few, "loss": format_number(means, _MEANS, least, "loss", _THREE)}
    if values.min() == values.max():
        who = "the error rate of {least}" if len(defined) == 1 else "the error rate of all learners"
        return build_sentence(f"{prefix}, {who} changes by {{loss}}.", **_select_used_parts(f"{prefix}{who}{{loss}}", parts))
    parts |= {"most": many, "worst": format_number(means, _MEANS, most, "loss", _THREE)}
    if values.max() <= 0:
        return build_sentence(
            f"{prefix}, no error rate rises: the change is {{loss}} for {{least}} and {{worst}} for {{most}}.", **parts
        )
    if values.min() <= 0:
        predicate = "does not rise for {least} (change {loss}). It rises most for {most}, by {worst}."
        return build_sentence(f"{prefix}, the error rate {predicate}", **parts)
    return build_sentence(
        f"{prefix}, the error rate rises least for {{least}}, by {{loss}}, and most for {{most}}, by {{worst}}.", **parts
    )


def _find_learners_at(means: pd.DataFrame, values: pd.Series[float], end: float) -> tuple[Any, str]:
    """Find the label of the first row with this value, and the names of all learners with this value."""
    lines = values.index[values == end]
    return lines[0], join_names([str(means.loc[line, "learner"]) for line in lines])


def _format_condition_prefix(means: pd.DataFrame, line: Any) -> tuple[str, dict[str, Any]]:
    """Name the condition, and its level if it has one."""
    parts: dict[str, Any] = {"condition": str(means.loc[line, "condition"])}
    if "level" not in means or np.isnan(means["level"].loc[line]):
        return "Under {condition}", parts
    return "Under {condition} {level}", parts | {"level": format_number(means, _MEANS, line, "level", "{:g}")}


def _select_used_parts(template: str, parts: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if "{" + name + "}" in template}


def _describe_loss_certainty(defined: pd.DataFrame) -> Sentence:
    """Name the learners for which the interval of the loss does not contain zero."""
    if defined["loss low"].isna().all():
        return build_sentence("The loss has no interval: it needs several data sets, or several splits of one data set.")
    sure = defined.loc[(defined["loss low"] > 0) | (defined["loss high"] < 0), "learner"].astype(str).tolist()
    if not sure:
        return build_sentence("All intervals of the loss contain zero: the changes may be due to chance.")
    if len(sure) == len(defined):
        return build_sentence("The interval of the loss excludes zero for {names}.", names=join_names(sure))
    return build_sentence("The interval of the loss excludes zero only for {names}.", names=join_names(sure))


def _find_extremes(values: pd.Series[float]) -> tuple[Any, Any]:
    """Find the labels of the lowest and the highest value."""
    return values.idxmin(), values.idxmax()


def _describe_pd(means: pd.DataFrame, defined: pd.DataFrame) -> Sentence | None:
    """Describe the performance deterioration (pD), rounded as printed.

    Return None if fewer than two learners have a pD.
    """
    if len(defined) < 2:
        return None
    values = defined["pD"].round(2)
    (least, few), (most, many) = (_find_learners_at(means, values, end) for end in (values.min(), values.max()))
    worst = format_number(means, _MEANS, most, "pD", _TWO)
    if values.min() == values.max():
        return build_sentence("The performance deterioration (pD) is {worst} for all learners.", worst=worst)
    parts: dict[str, Any] = {"most": many, "worst": worst}
    if values.max() <= 0:
        return build_sentence(
            "No learner deteriorates: the highest performance deterioration (pD) is {worst}, for {most}.", **parts
        )
    parts |= {"least": few, "lowest": format_number(means, _MEANS, least, "pD", _TWO)}
    template = "The performance deterioration (pD) is lowest for {least} ({lowest}) and highest for {most} ({worst})."
    return build_sentence(template, **parts)


def _build_drift_notes(frame: pd.DataFrame) -> tuple[str, ...]:
    notes = [f"pD is undefined: {note}." for note in dict.fromkeys(frame["note"]) if note]
    if frame["dataset"].nunique() > _MOST_COLUMNS:
        notes.append(
            f"The figure shows only the first {_MOST_COLUMNS} data sets. To show all, call draw(results, 'deterioration')."
        )
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
    name = "pD" if value == "pd" else "loss"
    alt = (
        f"Matrix of learners by data sets. The highest {name} is {worst[value]:z.2f} ({worst['learner']} on "
        f"{worst['dataset']}), the lowest {best[value]:z.2f} ({best['learner']} on {best['dataset']})."
    )
    chart = draw_deterioration(drawn_lines, value=value, title="Loss under drift")
    return (Figure("drift-deterioration", "Loss under drift, learners by data sets", chart, alt, frame),)
