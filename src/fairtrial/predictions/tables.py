"""Tables of a judgement, built from the statistics of its models: scores, classes, subgroups, calibration, curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairtrial import measures as curve_measures
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial.errors import InputError
from fairtrial.measures import Measure, get_measure
from fairtrial.measures.intervals import Interval, compute_clustered_wilson_limits, compute_wilson_limits
from fairtrial.predictions.columns import format_label
from fairtrial.predictions.statistics import JudgeSettings, ModelStatistics, ignore_warnings, prepare_class_table
from fairtrial.predictions.validate import Notes

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

SUBGROUP_COLUMNS = (
    *("dataset", "column", "subgroup", "model", "measure", "rows", "proportion", "estimate", "low", "high", "method", "note"),
)

CALIBRATION_COLUMNS = ("dataset", "model", "class", "mean_predicted", "observed_frequency", "weight", "low", "high")

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

# A subgroup with fewer rows, or fewer rows of a class, is too small to judge.
MIN_SUBGROUP_ROWS, MIN_SUBGROUP_CLASS_ROWS = 20, 5

_MAX_SUBGROUPS = 50


def build_scores(models: Sequence[ModelStatistics], measures: Sequence[Measure], settings: JudgeSettings) -> pd.DataFrame:
    """Build one row per model and measure, with intervals."""
    import pandas as pd

    lines = [line for model in models for line in _build_score_rows(model, measures, settings)]
    return pd.DataFrame(lines, columns=list(SCORE_COLUMNS))


def _build_score_rows(model: ModelStatistics, measures: Sequence[Measure], settings: JudgeSettings) -> list[dict[str, Any]]:
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
        "better": "higher" if measure.facts.direction == "max" else "lower",
        "chance": measure.facts.get_chance(len(model.classes)),
        "rows": model.distinct_rows,
        "note": interval.note,
    }


def build_classes(models: Sequence[ModelStatistics], level: float) -> pd.DataFrame:
    """Build one row per model and class: precision, recall, F score, support, AUC against the rest."""
    import pandas as pd

    lines = [line for model in models for line in _build_class_rows(model, level)]
    return pd.DataFrame(lines, columns=list(CLASS_COLUMNS))


def _build_class_rows(model: ModelStatistics, level: float) -> list[dict[str, Any]]:
    """Build the rows of one model. Confidence limits require row counts, so there are none for weighted rows."""
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
    """Compute limits of precision and recall of a class from the confusion tables of clusters."""
    limits: dict[str, float] = {}
    for name, totals in (("precision", clusters[:, :, code].sum(axis=1)), ("recall", clusters[:, code, :].sum(axis=1))):
        pair = compute_clustered_wilson_limits(clusters[:, code, code], totals, level)
        limits |= {f"{name}_low": pair[0], f"{name}_high": pair[1]}
    return limits


def _compute_rate(name: str, hits: float, total: float, level: float, unweighted: bool) -> dict[str, float]:
    nan = float("nan")
    low, high = compute_wilson_limits(float(hits), float(total), level) if unweighted and total else (nan, nan)
    return {name: float(hits / total) if total else nan, f"{name}_low": low, f"{name}_high": high}


def build_subgroups(
    models: Sequence[ModelStatistics], columns: Sequence[str], main: Measure, settings: JudgeSettings, notes: Notes
) -> pd.DataFrame:
    """Build one row per data set, subgroup column, subgroup, model and measure, with a note if there are few rows."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for dataset in dict.fromkeys(model.dataset for model in models):
        dataset_models = [model for model in models if model.dataset == dataset]
        for column in columns:
            lines += _build_column_rows(dataset_models, column, main, settings, notes)
    return pd.DataFrame(lines, columns=list(SUBGROUP_COLUMNS))


def _build_column_rows(
    models: Sequence[ModelStatistics], column: str, main: Measure, settings: JudgeSettings, notes: Notes
) -> list[dict[str, Any]]:
    """Build the rows of all subgroups that a column defines in a data set."""
    counts = [model.count_subgroups(column) for model in models]
    subgroups = sorted({subgroup for model_counts in counts for subgroup in model_counts})
    if len(subgroups) > _MAX_SUBGROUPS:
        notes.add("many_subgroups", column=column, subgroups=len(subgroups))
        return []
    # Every subgroup of a model has the same inputs, so the first one shows which measures can be computed.
    examples = [
        model.select_subgroup(column, next(iter(model_counts)))
        for model, model_counts in zip(models, counts, strict=True)
        if model_counts
    ]
    measures = _select_subgroup_measures(examples, main)
    return [
        line
        for subgroup in subgroups
        for model, model_counts in zip(models, counts, strict=True)
        if subgroup in model_counts
        for line in _build_subgroup_rows(model, column, subgroup, measures, settings)
    ]


def _select_subgroup_measures(models: Sequence[ModelStatistics], main: Measure) -> list[Measure]:
    """Select the main measure and, if there are labels, accuracy and the rates of two classes."""
    is_binary = all(model.positive is not None for model in models)
    names = ["accuracy", *(("recall", "specificity") if is_binary else ())]
    chosen = [main, *(measure for measure in map(get_measure, names) if measure is not main)]
    return [measure for measure in chosen if not all(model.find_missing_input(measure) for model in models)]


def _build_subgroup_rows(
    model: ModelStatistics, column: str, subgroup: str, measures: Sequence[Measure], settings: JudgeSettings
) -> list[dict[str, Any]]:
    part = model.select_subgroup(column, subgroup)
    common = {"column": column, "subgroup": subgroup, "proportion": float(part.rows / model.rows)}
    try:
        lines = _build_score_rows(part, measures, settings)
    except InputError as error:  # e.g. all weights are zero
        return [{"dataset": model.dataset, "model": model.name, **common, "rows": part.rows, "note": str(error)}]
    small = _describe_small_subgroup(part)
    return [{**line, **common, "note": "; ".join(filter(None, (small, line["note"])))} for line in lines]


def _describe_small_subgroup(model: ModelStatistics) -> str:
    """Describe why a subgroup is too small; empty if it is not."""
    fewest = int(model.count_classes().min())
    if model.rows < MIN_SUBGROUP_ROWS:
        return render(Finding.of("small_subgroup", rows=model.rows))
    return render(Finding.of("small_class", rows=fewest)) if fewest < MIN_SUBGROUP_CLASS_ROWS else ""


def build_calibration(models: Sequence[ModelStatistics], level: float) -> pd.DataFrame:
    """Tabulate the mean predicted probability and the observed frequency of the positive or most probable class in ten bins."""
    import pandas as pd

    parts = []
    for model in models:
        if model.kind == "probability":
            name = "most probable" if model.positive is None else format_label(model.classes[model.positive])
            parts.append(model.calibrate(level).assign(**{"dataset": model.dataset, "model": model.name, "class": name}))
    if not parts:
        return pd.DataFrame(columns=list(CALIBRATION_COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(CALIBRATION_COLUMNS)]


def build_curves(models: Sequence[ModelStatistics]) -> dict[str, pd.DataFrame]:
    """Build the points of each curve for each data set, model and class: the positive class, or each class if there are
    several."""
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
    """Compute the curves of a class; none if no row or every row belongs to it."""
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
    """Rank the models of a data set by the main measure, best first; those without a value come last."""
    measure = get_measure(main)
    main_scores = scores[(scores["dataset"] == dataset) & (scores["measure"] == measure.name)]
    lower_is_better = measure.facts.direction == "min"
    ordered = main_scores.sort_values("estimate", ascending=lower_is_better, kind="stable", na_position="last")
    return [str(name) for name in ordered["model"]]


def order_best_first(pairs: pd.DataFrame, scores: pd.DataFrame, main: str | Measure) -> pd.DataFrame:
    """In each pair, put the model with the better value of the main measure first; rows keep their order."""
    import pandas as pd

    rank_lookups = {str(name): rank_models(scores, str(name), main).index for name in dict.fromkeys(scores["dataset"])}
    lines: list[dict[Any, Any]] = pairs.to_dict("records")
    for line in lines:
        get_rank = rank_lookups[str(line["dataset"])]
        if get_rank(str(line["first"])) > get_rank(str(line["second"])):
            line["first"], line["second"] = line["second"], line["first"]
            line["difference"], line["low"], line["high"] = (0.0 - line[column] for column in ("difference", "high", "low"))
    return pd.DataFrame(lines, columns=list(pairs.columns))


def find_unequal_rows(scores: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Find the data sets whose models are scored on different numbers of rows, and return these numbers."""
    row_counts = {
        str(name): {str(model): int(rows) for model, rows in dataset_scores.groupby("model", sort=False)["rows"].max().items()}
        for name, dataset_scores in scores.groupby("dataset", sort=False)
    }
    return {name: rows for name, rows in row_counts.items() if len(set(rows.values())) > 1}
