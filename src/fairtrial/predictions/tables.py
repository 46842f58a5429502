"""Build the tables of a judgement: scores, classes, confusion matrices, calibration and curves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import measures as curve_measures
from fairtrial._check import FloatArray
from fairtrial._narrative import render
from fairtrial._text import collapse_whitespace, format_number, format_percentage, format_table, wrap_lines
from fairtrial.measures import Measure, get_measure
from fairtrial.measures.intervals import Interval, compute_clustered_wilson_limits, compute_wilson_limits
from fairtrial.predictions.columns import format_label
from fairtrial.predictions.statistics import (
    JudgeSettings,
    ModelStatistics,
    has_unknown_labels,
    ignore_warnings,
    prepare_class_table,
)

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = ("dataset", "model", "measure", "estimate", "low", "high", "method", "better", "chance", "rows", "note")

CLASS_COLUMNS = (
    *(
        "dataset",
        "model",
        "class",
        "support",
        "effective_rows",
        "effective_other_rows",
        "predicted",
        "precision",
        "precision_low",
        "precision_high",
    ),
    *("recall", "recall_low", "recall_high", "f_score", "auc"),
)

CONFUSION_COLUMNS = ("dataset", "model", "true", "predicted", "count", "rate", "low", "high")
OTHER_LABEL = "(other)"
"""Display name for predicted labels that are not classes."""

# If a confusion matrix has more cells than this, only nonempty cells are listed.
_MAX_CELLS = 400
# If there are more predicted classes than this, the console lists only the most frequent errors.
_MAX_CONSOLE_CLASSES, _MAX_ERRORS = 5, 5

CALIBRATION_COLUMNS = ("dataset", "model", "class", "mean_predicted", "observed_frequency", "weight", "low", "high")

ASSESSMENT_COLUMNS = {
    "corp": ("dataset", "model", "class", "predicted", "recalibrated", "low", "high"),
    "decisions": ("dataset", "model", "class", "threshold", "net_benefit", "low", "high", "treat_all", "treat_none"),
    "decision_differences": ("dataset", "first", "second", "threshold", "difference", "low", "high"),
    "calibration_tests": (
        *("dataset", "model", "class", "test", "statistic", "p_value", "p_adjusted"),
        *("uncertainty", "low", "high", "note", "at_minimum"),
    ),
}

CURVES = {
    "roc": curve_measures.roc_curve,
    "roc_hull": curve_measures.roc_hull,
    "precision_recall": curve_measures.precision_recall_curve,
    "gain": curve_measures.gain_curve,
    "cost": curve_measures.cost_curve,
    "tpr_fpr": curve_measures.tpr_fpr_curve,
    "brier": curve_measures.brier_curve,
}

MAX_CURVE_POINTS = 2000


def build_scores(models: Sequence[ModelStatistics], measures: Sequence[Measure], settings: JudgeSettings) -> pd.DataFrame:
    """Build the table of scores, with one row per model and measure."""
    import pandas as pd

    lines = [line for model in models for line in build_score_rows(model, measures, settings)]
    return pd.DataFrame(lines, columns=list(SCORE_COLUMNS))


def build_score_rows(model: ModelStatistics, measures: Sequence[Measure], settings: JudgeSettings) -> list[dict[str, Any]]:
    """Build one row for each measure of a model."""
    intervals = model.compute_intervals(measures, settings)
    return [_build_score_row(model, measure, interval) for measure, interval in zip(measures, intervals, strict=True)]


def _build_score_row(model: ModelStatistics, measure: Measure, interval: Interval) -> dict[str, Any]:
    return {
        "dataset": model.dataset,
        "model": model.name,
        "measure": measure.name,
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "method": interval.method,
        "better": measure.facts.better,
        "chance": measure.facts.get_chance(len(model.classes)),
        "rows": model.distinct_rows,
        "note": interval.note,
    }


def build_classes(models: Sequence[ModelStatistics], level: float) -> pd.DataFrame:
    """Build a table of class-wise measures, with one row per model and class."""
    import pandas as pd

    lines = [line for model in models for line in _build_class_rows(model, level)]
    return pd.DataFrame(lines, columns=list(CLASS_COLUMNS))


def _build_class_rows(model: ModelStatistics, level: float) -> list[dict[str, Any]]:
    """Build one row per class of a model.

    If rows have weights, the rates have no confidence limits, because Wilson limits require row counts.
    """
    confusion = model.count_confusion()
    table = None if confusion is None else prepare_class_table(confusion)
    support, aucs, unweighted = model.sum_support(), model.compute_class_aucs(), not model.is_weighted
    clusters = model.count_cluster_tables() if unweighted else None
    effective_rows = model.count_effective_rows()
    lines = []
    for code, label in enumerate(model.classes):
        line: dict[str, Any] = {"dataset": model.dataset, "model": model.name, "class": str(label)}
        line["support"] = float(support[code])
        line["effective_rows"], line["effective_other_rows"] = effective_rows[code].tolist()
        if table is not None:
            hits, predicted = table.hits[code], table.predicted[code]
            line["predicted"] = float(predicted)
            line.update(_compute_rate("precision", hits, predicted, level, unweighted))
            line.update(_compute_rate("recall", hits, support[code], level, unweighted))
            if clusters is not None:
                line.update(_limit_clustered_rates(clusters, code, level))
            both = float(predicted + support[code])
            line["f_score"] = 2 * float(hits) / both if both else float("nan")
        line["auc"] = aucs[code]
        lines.append(line)
    return lines


def _limit_clustered_rates(clusters: FloatArray, code: int, level: float) -> dict[str, float]:
    """Compute confidence limits for the precision and recall of a class from one confusion table per cluster."""
    limits: dict[str, float] = {}
    for name, totals in (("precision", clusters[:, :, code].sum(axis=1)), ("recall", clusters[:, code, :].sum(axis=1))):
        pair = compute_clustered_wilson_limits(clusters[:, code, code], totals, level)
        limits |= {f"{name}_low": pair[0], f"{name}_high": pair[1]}
    return limits


def _compute_rate(name: str, hits: float, total: float, level: float, unweighted: bool) -> dict[str, float]:
    nan = float("nan")
    low, high = compute_wilson_limits(float(hits), float(total), level) if unweighted and total else (nan, nan)
    return {name: float(hits / total) if total else nan, f"{name}_low": low, f"{name}_high": high}


def build_confusion(models: Sequence[ModelStatistics], level: float) -> pd.DataFrame:
    """Build one row per model, true class and predicted class.

    A row contains the count, and the rate within the true class with Wilson limits. If rows are clustered or weighted, the
    limits are based on the effective number of rows. All predicted labels that are not classes are counted together, as
    "(other)". If a confusion matrix has more than 400 cells, only nonempty cells are listed.
    """
    import pandas as pd

    lines = [line for model in models for line in _build_confusion_rows(model, level)]
    return pd.DataFrame(lines, columns=list(CONFUSION_COLUMNS))


def _build_confusion_rows(model: ModelStatistics, level: float) -> list[dict[str, Any]]:
    confusion = model.count_confusion()
    if confusion is None:
        return []
    k = len(model.classes)
    names = [str(label) for label in model.classes] + [OTHER_LABEL] * has_unknown_labels(confusion)
    cells = [(code, label) for code in range(k) for label in range(len(names))]
    if len(cells) > _MAX_CELLS:
        cells = [cell for cell in cells if confusion.table[cell]]
    clusters = None if model.is_weighted else model.count_cluster_tables()
    cluster_sums = None if clusters is None else clusters.sum(axis=2)
    effective_rows = model.count_effective_rows()[:, 0]
    lines = []
    for code, label in cells:
        count, total = float(confusion.table[code, label]), float(confusion.true[code])
        rate, limits = float("nan"), (float("nan"), float("nan"))
        if total:
            rate = count / total
            if clusters is not None and cluster_sums is not None:
                limits = compute_clustered_wilson_limits(clusters[:, code, label], cluster_sums[:, code], level)
            elif effective_rows[code] > 0:
                limits = compute_wilson_limits(rate * effective_rows[code], effective_rows[code], level)
        cell = {"true": names[code], "predicted": names[label], "count": count, "rate": rate}
        lines.append({"dataset": model.dataset, "model": model.name, **cell, "low": limits[0], "high": limits[1]})
    return lines


def format_confusion(confusion: pd.DataFrame, level: float) -> list[str]:
    """Format the confusion matrix of each model. If there are many classes, list only the most frequent errors."""
    lines: list[str] = []
    several = confusion["dataset"].nunique() > 1
    for (dataset, model), cells in confusion.groupby(["dataset", "model"], sort=False):
        names = list(dict.fromkeys(cells["predicted"]))
        subject = f"{model} on {dataset}" if several else str(model)
        contents = f"count, % of the true class, {format_percentage(level)} CI"
        if len(names) > _MAX_CONSOLE_CLASSES:
            lines += [
                "",
                *wrap_lines(f"Most frequent errors of {subject}: {contents}", 78, indent="  "),
                *_format_errors(cells),
            ]
        else:
            lines += [
                "",
                *wrap_lines(f"Confusion matrix of {subject}: {contents}", 78, indent="  "),
                *_format_matrix(cells, names),
            ]
    return lines[1:]


def _format_matrix(cells: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Format a confusion matrix. Each true class has a line of counts and rates, and a line of confidence limits."""
    width = max(12, 58 // len(names) - 2)
    name_width = max(8, 78 - len(names) * (width + 2))
    rows = [["true", *(collapse_whitespace(f"as {name}", width) for name in names)]]
    for true_class, line in cells.groupby("true", sort=False):
        rates = [
            f"{format_number(count, '{:,.6g}')}  {_format_percent(rate)}" for count, rate in line[["count", "rate"]].values
        ]
        limits = [_format_percent_limits(low, high) for low, high in line[["low", "high"]].values]
        rows += [[collapse_whitespace(true_class, name_width), *rates], ["", *limits]]
    return format_table(rows)


def _format_errors(cells: pd.DataFrame) -> list[str]:
    """Format the most frequent pairs of a true class and a wrong predicted class."""
    errors = cells[(cells["true"] != cells["predicted"]) & (cells["count"] > 0)]
    errors = errors.sort_values("count", ascending=False, kind="stable").head(_MAX_ERRORS)
    if errors.empty:
        return ["  none"]
    rows = [["true", "predicted", "count", "%", "CI"]]
    for line in errors.to_dict("records"):
        names = [collapse_whitespace(line[name], 24) for name in ("true", "predicted")]
        limits = _format_percent_limits(line["low"], line["high"])
        rows.append([*names, format_number(line["count"], "{:,.6g}"), _format_percent(line["rate"]), limits])
    return format_table(rows, left=2)


def _format_percent(rate: float) -> str:
    return "100" if rate == 1 else format_number(100 * rate, "{:.1f}")


def _format_percent_limits(low: float, high: float) -> str:
    return "" if np.isnan(low) else f"{_format_percent(low)} to {_format_percent(high)}"


def build_calibration(models: Sequence[ModelStatistics], level: float) -> pd.DataFrame:
    """Build the calibration curves: mean predicted probability and observed frequency in ten bins.

    The curves refer to the positive class or, if there is no positive class, to the most probable class.
    """
    import pandas as pd

    parts = []
    for model in models:
        if model.kind == "probability":
            name = "most probable" if model.positive is None else format_label(model.classes[model.positive])
            parts.append(model.calibrate(level).assign(**{"dataset": model.dataset, "model": model.name, "class": name}))
    if not parts:
        return pd.DataFrame(columns=list(CALIBRATION_COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(CALIBRATION_COLUMNS)]


def build_assessments(models: Sequence[ModelStatistics], settings: JudgeSettings) -> dict[str, pd.DataFrame]:
    """Build the tables of CORP curves, decision curves, differences in net benefit, and calibration tests."""
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in ASSESSMENT_COLUMNS}
    assessed, against_all = [], []
    for model in models:
        assessment = model.assess_probabilities(settings)
        if assessment is None:
            continue
        name = "most probable" if model.positive is None else format_label(model.classes[model.positive])
        keys = {"dataset": model.dataset, "model": model.name, "class": name}
        parts["corp"].append(assessment.corp.assign(**keys))
        test, uncertainty = assessment.test, assessment.uncertainty
        line = {**keys, "uncertainty": uncertainty.estimate, "low": uncertainty.low, "high": uncertainty.high}
        note = " ".join(render(finding, "model") for finding in test.caveats)
        # If the p-value is the smallest that resampling can yield, it is an upper bound.
        at_minimum = test.resamples is not None and test.p_value * (1 + test.resamples) <= 1 + 1e-9
        line |= {"test": test.test, "statistic": test.statistic, "p_value": test.p_value, "note": note}
        line |= {"at_minimum": at_minimum}
        parts["calibration_tests"].append(pd.DataFrame([line]))
        if model.positive is not None:
            assessed.append(model)
            parts["decisions"].append(assessment.decisions.assign(**keys))
            against_all.append(assessment.differences.assign(dataset=model.dataset, first=model.name))
    for first, second in combinations(assessed, 2):
        pair = first.pair_with(second) if first.dataset == second.dataset else None
        lines = None if pair is None else pair.compare_net_benefits(settings.level)
        if lines is not None:
            keys = {"dataset": first.dataset, "first": first.name, "second": second.name}
            parts["decision_differences"].append(lines.assign(**keys))
    parts["decision_differences"] += against_all
    return {
        name: pd.concat(frames, ignore_index=True).reindex(columns=list(columns))
        if (frames := parts[name])
        else pd.DataFrame(columns=list(columns))
        for name, columns in ASSESSMENT_COLUMNS.items()
    }


def build_curves(models: Sequence[ModelStatistics]) -> dict[str, pd.DataFrame]:
    """Build the points of all curves for each data set and model.

    Curves refer to the positive class. If there is no positive class, there is a curve for each class.
    """
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {}
    for model in models:
        codes = () if model.kind is None else range(len(model.classes)) if model.positive is None else (model.positive,)
        for code in codes:
            for curve, points in _compute_curves(model, code).items():
                for column, value in (("class", format_label(model.classes[code])), ("model", model.name)):
                    points.insert(0, column, value)
                points.insert(0, "dataset", model.dataset)
                parts.setdefault(curve, []).append(points)
    return {curve: pd.concat(frames, ignore_index=True) for curve, frames in parts.items()}


def _compute_curves(model: ModelStatistics, code: int) -> dict[str, pd.DataFrame]:
    """Compute the curves of a class.

    The result is empty if none or all of the rows belong to the class.
    """
    tally = model.tally(code, MAX_CURVE_POINTS)
    if not tally.positives or not tally.negatives:
        return {}
    with ignore_warnings():
        return {
            name: curve.of(tally, max_points=MAX_CURVE_POINTS)
            for name, curve in CURVES.items()
            if model.kind == "probability" or not curve.needs_probabilities
        }


def rank_models(scores: pd.DataFrame, dataset: str, main: str | Measure) -> list[str]:
    """Rank the models of a data set by the main measure, best first. Models without a value come last."""
    measure = get_measure(main)
    main_scores = scores[(scores["dataset"] == dataset) & (scores["measure"] == measure.name)]
    lower_is_better = measure.facts.direction == "min"
    ordered = main_scores.sort_values("estimate", ascending=lower_is_better, kind="stable", na_position="last")
    return [str(name) for name in ordered["model"]]


def order_best_first(pairs: pd.DataFrame, scores: pd.DataFrame, main: str | Measure) -> pd.DataFrame:
    """Put the model with the better value of the main measure first in each pair. The order of pairs does not change."""
    import pandas as pd

    rank_lookups = {str(name): rank_models(scores, str(name), main).index for name in dict.fromkeys(scores["dataset"])}
    lines: list[dict[Any, Any]] = pairs.to_dict("records")
    for line in lines:
        get_rank = rank_lookups[str(line["dataset"])]
        if get_rank(str(line["first"])) > get_rank(str(line["second"])):
            line["first"], line["second"] = line["second"], line["first"]
            line["difference"] = 0.0 - line["difference"]
            for low, high in (("low", "high"), ("simultaneous_low", "simultaneous_high")):
                line[low], line[high] = 0.0 - line[high], 0.0 - line[low]
    return pd.DataFrame(lines, columns=list(pairs.columns))


def find_unequal_rows(scores: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Find the data sets whose models have different numbers of rows, and return the number of rows of each model."""
    row_counts = {
        str(name): {str(model): int(rows) for model, rows in dataset_scores.groupby("model", sort=False)["rows"].max().items()}
        for name, dataset_scores in scores.groupby("dataset", sort=False)
    }
    return {name: rows for name, rows in row_counts.items() if len(set(rows.values())) > 1}
