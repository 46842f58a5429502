"""Thresholds: the threshold with the lowest cost, the cost at each threshold, and the threshold table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._narrative import render_all
from fairtrial._text import format_interval, format_number, format_percentage, make_p_format
from fairtrial.measures.intervals import Interval
from fairtrial.predictions.thresholds import (
    ALTERNATIVES,
    ThresholdResult,
    choose_threshold,
    format_threshold_limits,
)
from fairtrial.report.figures.thresholds import draw_costs
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, section
from fairtrial.report.selection import make_unique_keys

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource

_POINTS = 60
_MAX_DATASETS, _MAX_ROWS = 3, 200_000
_OWN_NAMES = {"alert_rate": "alert rate", "cost": "cost per 1,000 cases"}


@section("thresholds", title="Thresholds", order=95, serves=("judgement",))
def build_judgement_section(source: ReportSource) -> Section | None:
    """Choose thresholds at equal costs. Return None if there are no scores for a positive class, or rows are streamed."""
    judgement = source.get_judgement()
    predictions = judgement.predictions
    if predictions is None or not judgement.positives.classes:
        return None
    datasets = [dataset for dataset in predictions.datasets if dataset.name in judgement.positives.classes]
    usable = [
        dataset
        for dataset in datasets
        if all(model.scores is not None for model in dataset.models.values()) and len(np.unique(dataset.y_true)) > 1
    ]
    if not usable or max(len(dataset.y_true) for dataset in usable) > _MAX_ROWS:
        return None
    selected = replace(predictions, datasets=tuple(usable[:_MAX_DATASETS]))
    positive = source.figure_options().get("positive")
    result = choose_threshold(selected, costs=(1, 1), level=judgement.level, alpha=judgement.alpha, positive=positive)
    note = "A false positive and a false negative are assumed to cost the same. To set other costs, run fairtrial threshold."
    few_clusters = render_all(finding for finding in result.notes if finding.kind == "threshold_few_clusters")
    return _build_section(result, "thresholds", "Thresholds", few_clusters, (Sentence(note),))


@section("answer", title="The threshold", order=10, serves=("threshold",))
def build_section(source: ReportSource) -> Section | None:
    """Build the section that reports the result of `choose_threshold`."""
    result = source.get_thresholds()
    return _build_section(result, "answer", "The threshold", render_all(result.notes, "model"))


def _build_section(
    result: ThresholdResult, key: str, title: str, notes: tuple[str, ...], lead: tuple[Sentence, ...] = ()
) -> Section:
    sentences = (*lead, *(Sentence(f"{text}.") for text in result.list_texts()))
    choices, formats = _build_choices_frame(result), dict.fromkeys(_CHOICE_COLUMNS[3:], "{:.3g}")
    tables = [
        ReportTable(f"{key}-choices", "Chosen thresholds", choices, formats, note=_explain_estimates(result)),
        ReportTable(f"{key}-table", "Threshold table", _build_table_frame(result), long=True),
    ]
    if len(result.pairs):
        p_format = make_p_format(result.alpha)
        pairs = result.pairs.drop(columns=["measure", "test"]).rename(columns={"p_value": "p", "p_adjusted": "adjusted p"})
        pairs = pairs.assign(significant=pairs["significant"].map({True: "yes", False: "no"}))
        pair_formats = {"p": p_format, "adjusted p": p_format, **dict.fromkeys(_PAIR_NUMBERS, "{:.3g}")}
        frame = _drop_single_dataset(pairs.rename(columns={"first_cost": "first cost", "second_cost": "second cost"}))
        title_pairs = "Differences in cost per 1,000 cases"
        tables.append(ReportTable(f"{key}-pairs", title_pairs, frame, pair_formats, note=_PAIR_NOTE))
    return Section(key, title, sentences, _draw_figures(result, key), tuple(tables), notes)


_CHOICE_COLUMNS = ("quantity", "chosen", "CI", "current", "alert nobody", "alert everybody")
_PAIR_NUMBERS = ("first cost", "second cost", "difference", "low", "high")
_PAIR_NOTE = (
    "Each pair is compared on its common rows. Low and high: simultaneous confidence limits of all pairs "
    "(Bonferroni). Significance is decided by the adjusted p-value (Holm)."
)


def _explain_estimates(result: ThresholdResult) -> str:
    method = "Estimates are cross-fitted: each fold is predicted at the threshold chosen on the other folds."
    if result.goal.kind == "alerts":
        method = "The threshold is chosen without true labels, so estimates are computed on the same rows."
    return (
        f"A case is predicted positive if its score is at least the threshold. {method} CI: confidence limits; for the "
        "threshold, limits of the best threshold for new cases. Current: the value at the current threshold."
    )


def _draw_figures(result: ThresholdResult, key: str) -> tuple[Figure, ...]:
    if result.goal.kind != "costs":
        return ()
    costs = result.curves
    figures = []
    datasets = list(dict.fromkeys(costs["dataset"]))
    choices = result.frame()
    for name, part in zip(datasets, make_unique_keys(datasets), strict=True):
        curves = costs[costs["dataset"] == name].reset_index(drop=True)
        curves = curves.assign(cost_fp=result.goal.costs[0], cost_fn=result.goal.costs[1])
        title = "Cost by threshold" + (f" on {name}" if len(datasets) > 1 else "")
        fp, fn = (format_number(cost) for cost in result.goal.costs)
        alt = f"Cost per 1,000 cases over thresholds with confidence band, at FP = {fp} and FN = {fn}, one line per model."
        chart = draw_costs(curves, choices[choices["dataset"] == name], level=result.level, title=title)
        figures.append(Figure(f"{key}-costs-{part}", title, chart, alt, curves))
    return tuple(figures)


def _build_choices_frame(result: ThresholdResult) -> pd.DataFrame:
    """Build a row for each model and quantity: estimate, limits, current value, and costs without a threshold."""
    import pandas as pd

    lines = []
    nan = float("nan")
    for choice in result.choices:
        model = {"dataset": choice.dataset, "model": choice.model}
        current = nan if choice.current is None else choice.current
        limits = format_threshold_limits(choice.low, choice.high)
        rows: list[tuple[object, ...]] = [("threshold", choice.label, limits, current, nan, nan)]
        for name, interval in choice.estimates.items():
            at_current = choice.current_estimates[name].estimate if choice.current is not None else nan
            others = [choice.alternatives[other].estimate for other in ALTERNATIVES] if name == "cost" else [nan, nan]
            rows.append((_name(name), format_number(interval.estimate), _format_limits(interval), at_current, *others))
        if choice.saving is not None:
            saving = replace(
                choice.saving, **{name: 100 * getattr(choice.saving, name) for name in ("estimate", "low", "high")}
            )
            rows.append(("saving, %", format_number(saving.estimate), _format_limits(saving), nan, nan, nan))
        lines += [{**model, **dict(zip(_CHOICE_COLUMNS, row, strict=True))} for row in rows]
    frame = _drop_single_dataset(pd.DataFrame(lines))
    return frame.dropna(axis=1, how="all").rename(columns={"CI": f"{format_percentage(result.level)} CI"})


def _format_limits(interval: Interval) -> str:
    return "undefined" if np.isnan(interval.low) else format_interval(interval.low, interval.high, None)


def _build_table_frame(result: ThresholdResult) -> pd.DataFrame:
    """Build a row for each model and threshold, with a column for each measure."""
    keys = ["dataset", "model", "threshold", "tp", "fp", "fn", "tn"]
    labels: dict[Any, str] = {(choice.dataset, choice.model, choice.threshold): choice.label for choice in result.choices}
    lines = [
        {
            **dict(zip(keys, values, strict=True)),
            "threshold": labels.get(values[:3]) or format_number(part["threshold"].iloc[0]),
            **{
                _name(line["measure"]): _format_cell(line["estimate"], line["low"], line["high"])
                for line in part.to_dict("records")
            },
        }
        for values, part in result.table.groupby(keys, sort=False)
    ]
    import pandas as pd

    frame = pd.DataFrame(lines).rename(columns={name: name.upper() for name in ("tp", "fp", "fn", "tn")})
    return _drop_single_dataset(frame)


def _drop_single_dataset(frame: pd.DataFrame) -> pd.DataFrame:
    if frame["dataset"].nunique() > 1:
        return frame.rename(columns={"dataset": "data set"})
    return frame.drop(columns="dataset")


def _name(measure: str) -> str:
    return _OWN_NAMES.get(measure) or format_measure_name(measure)


def _format_cell(estimate: float, low: float, high: float) -> str:
    limits = f" ({format_interval(low, high, None)})" if np.isfinite(low) and np.isfinite(high) else ""
    return format_number(estimate) + limits
