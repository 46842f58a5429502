"""Tables of a judgement: measures, classes, subgroups, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import compare, measures
from fairtrial.errors import InputError
from fairtrial.measures import Measure, auc, calibration_curve, get_measure
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.measures.tally import ScoreTally, tally_scores
from fairtrial.predictions.read import DatasetPredictions, PredictionFile
from fairtrial.predictions.statistics import (
    InMemoryModel,
    JudgeSettings,
    PositiveClasses,
    compute_intervals,
    format_below_chance_notes,
    ignore_warnings,
    list_codes,
    prepare_class_table,
)
from fairtrial.predictions.validate import Notes
from fairtrial.significance import Verdict

if TYPE_CHECKING:
    import pandas as pd


def rank_models(scores: pd.DataFrame, dataset: str, main: str | Measure) -> list[str]:
    """Models of a data set, the best by the main measure first; those without a value come last."""
    measure = get_measure(main)
    main_scores = scores[(scores["dataset"] == dataset) & (scores["measure"] == measure.name)]
    lower_is_better = measure.facts.direction == "min"
    ordered = main_scores.sort_values("estimate", ascending=lower_is_better, kind="stable", na_position="last")
    return [str(name) for name in ordered["model"]]


def order_best_first(pairs: pd.DataFrame, scores: pd.DataFrame, main: str | Measure) -> pd.DataFrame:
    """The pairs, each with the model first that has the better value of the main measure; lines stay where they are."""
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
    """Data sets whose models are scored on different numbers of rows, with these numbers."""
    row_counts = {
        str(name): {str(model): int(rows) for model, rows in dataset_scores.groupby("model", sort=False)["rows"].max().items()}
        for name, dataset_scores in scores.groupby("dataset", sort=False)
    }
    return {name: rows for name, rows in row_counts.items() if len(set(rows.values())) > 1}


def note_score_problems(scores: pd.DataFrame, positives: PositiveClasses, notes: Notes) -> None:
    """What to mind about the measures: models with fewer rows than others, and scores worse than guessing."""
    for name, rows in find_unequal_rows(scores).items():
        fewer = [f"{model} ({count:,})" for model, count in rows.items() if count < max(rows.values())]
        notes.add(
            f"Models are scored on different rows of {name!r}: of {max(rows.values()):,} rows fewer have {', '.join(fewer)}. "
            "Their measures are not of the same cases; the paired tests are."
        )
    for sentence in format_below_chance_notes(scores, positives):
        notes.add(sentence)


def compare_over_splits(
    file: PredictionFile,
    models_by_dataset: Sequence[Sequence[InMemoryModel]],
    main: Measure,
    settings: JudgeSettings,
    notes: Notes,
) -> Verdict | None:
    """The verdict over data sets, or over the splits of one; None where there is one split of one data set, or one model."""
    import pandas as pd

    if len(file.models) < 2 or not all(model.has(main) for models in models_by_dataset for model in models):
        return None
    lines = [
        line
        for dataset, models in zip(file.datasets, models_by_dataset, strict=True)
        for line in compute_split_values(dataset, models, main)
    ]
    table = pd.DataFrame(lines, columns=["dataset", "learner", "repeat", "fold", "value"])
    if len(table.drop_duplicates(["dataset", "repeat", "fold"])) < 2:
        return None
    try:
        return compare(table, measure=main.name, alpha=settings.alpha)
    except InputError as error:
        notes.add(f"No verdict over {'data sets' if len(file.datasets) > 1 else 'splits'}: {error}.")
        return None


def compute_split_values(
    dataset: DatasetPredictions, models: Sequence[InMemoryModel], main: Measure
) -> list[tuple[str, str, int, int, float]]:
    """The main measure of each model on each split, by the predictions of that split alone."""
    rows = []
    for in_memory_model in models:
        predictions = dataset.models[in_memory_model.name]
        for repeat, fold in sorted(set(zip(predictions.repeat.tolist(), predictions.fold.tolist(), strict=True))):
            lines = np.flatnonzero((predictions.repeat == repeat) & (predictions.fold == fold))
            row_indices = predictions.row_indices[lines]
            split_model = InMemoryModel(
                dataset.name,
                in_memory_model.name,
                dataset.classes,
                in_memory_model.positive,
                row_indices,
                dataset.y_true[row_indices],
                predictions.prediction[lines],
                None if predictions.scores is None else predictions.scores[lines],
                predictions.score_kind,
                None if dataset.weights is None else dataset.weights[row_indices],
            )
            rows.append((dataset.name, in_memory_model.name, repeat, fold, split_model.compute_value(main)))
    return rows


CURVES = {
    "roc": measures.roc_curve,
    "roc_hull": measures.roc_hull,
    "precision_recall": measures.precision_recall_curve,
    "gain": measures.gain_curve,
    "cost": measures.cost_curve,
    "tpr_fpr": measures.tpr_fpr_curve,
    "brier": measures.brier_curve,
}


MAX_CURVE_POINTS = 2000


def build_curve_tables(models: Sequence[InMemoryModel]) -> dict[str, pd.DataFrame]:
    """Each curve with its points for each data set, model and class: the positive one, or each of several."""
    return collect_curves(
        (model.dataset, model.name, name, tally, model.kind == "probability")
        for model in models
        for name, tally in _iter_class_tallies(model)
    )


def collect_curves(tallies: Iterator[tuple[str, str, str, ScoreTally, bool]]) -> dict[str, pd.DataFrame]:
    """The curves of tallies with their data set, model, class, and whether the scores are probabilities."""
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {}
    for dataset, model, name, tally, is_probability in tallies:
        for kind, curve in CURVES.items():
            if curve.needs_probabilities and not is_probability:
                continue
            with ignore_warnings():
                points = limit_curve_points(curve.of(tally))
            points.insert(0, "class", name)
            points.insert(0, "model", model)
            points.insert(0, "dataset", dataset)
            parts.setdefault(kind, []).append(points)
    return {kind: pd.concat(frames, ignore_index=True) for kind, frames in parts.items()}


def limit_curve_points(points: pd.DataFrame) -> pd.DataFrame:
    """At most so many points, evenly taken, the ends among them."""
    if len(points) <= MAX_CURVE_POINTS:
        return points
    indices = np.unique(np.linspace(0, len(points) - 1, MAX_CURVE_POINTS).round().astype(np.intp))
    return points.iloc[indices].reset_index(drop=True)


def _iter_class_tallies(model: InMemoryModel) -> Iterator[tuple[str, ScoreTally]]:
    if model.scores is None:
        return
    codes = range(len(model.classes)) if model.positive is None else (model.positive,)
    for code in codes:
        is_positive = model.y_true == code
        if 0 < is_positive.sum() < len(is_positive):
            yield (
                str(model.classes[code]),
                tally_scores(is_positive, np.ascontiguousarray(model.scores[:, code]), model.weights),
            )


SCORE_COLUMNS = ("dataset", "model", "measure", "estimate", "low", "high", "method", "better", "chance", "rows", "note")


CLASS_COLUMNS = (
    *("dataset", "model", "class", "support", "predicted", "precision", "precision_low", "precision_high"),
    *("recall", "recall_low", "recall_high", "f_score", "auc"),
)


SUBGROUP_COLUMNS = (
    *("dataset", "column", "subgroup", "model", "measure", "rows", "proportion", "estimate", "low", "high", "method", "note"),
)


CALIBRATION_COLUMNS = ("dataset", "model", "class", "mean_predicted", "observed_frequency", "weight", "low", "high")


# Fewer rows than this, or fewer of a class, and a subgroup's numbers say little.
MIN_SUBGROUP_ROWS, MIN_SUBGROUP_CLASS_ROWS = 20, 5


_MAX_SUBGROUPS = 50


def build_score_table(models: Sequence[InMemoryModel], measures: Sequence[Measure], settings: JudgeSettings) -> pd.DataFrame:
    """A line for each model and measure, with intervals."""
    import pandas as pd

    lines = [line for model in models for line in build_score_rows(model, measures, settings)]
    return pd.DataFrame(lines, columns=list(SCORE_COLUMNS))


def build_score_rows(model: InMemoryModel, measures: Sequence[Measure], settings: JudgeSettings) -> list[dict[str, Any]]:
    """The lines of one model."""
    return [
        {
            "dataset": model.dataset,
            "model": model.name,
            **describe_measure(measure),
            "estimate": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "method": interval.method,
            "rows": len(model.y_true),
            "note": interval.note,
        }
        for measure, interval in zip(measures, compute_intervals(model, measures, settings), strict=True)
    ]


def describe_measure(measure: Measure) -> dict[str, Any]:
    """What a table tells of a measure."""
    better = "higher" if measure.facts.direction == "max" else "lower"
    return {
        "measure": measure.name,
        "better": better,
        "chance": np.nan if measure.facts.chance is None else measure.facts.chance,
    }


def build_class_table(models: Sequence[InMemoryModel], level: float) -> pd.DataFrame:
    """A line for each model and class: precision and recall with Wilson's limits, F, support, AUC against the rest."""
    import pandas as pd

    lines = []
    for model in models:
        table = None
        if model.y_pred is not None:
            labels = list_codes(len(model.classes), model.has_unknown_labels)
            confusion = Confusion.from_labels(model.y_true, model.y_pred, labels=labels, sample_weight=model.weights)
            table = prepare_class_table(confusion)
        aucs = _compute_class_aucs(model)
        lines += build_class_rows(
            model.dataset, model.name, model.classes, table, aucs, level, model.weights is None, _count_support(model)
        )
    return pd.DataFrame(lines, columns=list(CLASS_COLUMNS))


def _count_support(model: InMemoryModel) -> Any:
    return np.bincount(model.y_true, model.weights, minlength=len(model.classes))


def _compute_class_aucs(model: InMemoryModel) -> list[float]:
    if model.scores is None:
        return [float("nan")] * len(model.classes)
    with ignore_warnings():
        return [
            float(auc(model.y_true == code, np.ascontiguousarray(column), sample_weight=model.weights))
            for code, column in enumerate(model.scores.T)
        ]


def build_class_rows(
    dataset: str,
    model: str,
    classes: Sequence[Any],
    table: Confusion | None,
    aucs: Sequence[float],
    level: float,
    unweighted: bool,
    support: Any,
) -> list[dict[str, Any]]:
    """The lines of one model; `counted` cells are numbers of rows, which limits need."""
    zeros = np.zeros(len(classes))
    hits, predicted = (zeros, zeros) if table is None else (table.hits, table.predicted)
    lines = []
    for code, name in enumerate(classes):
        line: dict[str, Any] = {"dataset": dataset, "model": model, "class": str(name), "support": float(support[code])}
        if table is not None:
            line["predicted"] = float(predicted[code])
            line.update(_compute_rate("precision", hits[code], predicted[code], level, unweighted))
            line.update(_compute_rate("recall", hits[code], support[code], level, unweighted))
            both = float(predicted[code] + support[code])
            line["f_score"] = 2 * float(hits[code]) / both if both else float("nan")
        line["auc"] = aucs[code]
        lines.append(line)
    return lines


def _compute_rate(name: str, hits: float, total: float, level: float, unweighted: bool) -> dict[str, float]:
    nan = float("nan")
    low, high = compute_wilson_limits(float(hits), float(total), level) if unweighted and total else (nan, nan)
    return {name: float(hits / total) if total else nan, f"{name}_low": low, f"{name}_high": high}


def select_subgroup_measures(models: Sequence[InMemoryModel], main: Measure) -> list[Measure]:
    """What subgroups are compared by: the main measure, and with labels accuracy and the rates of the two classes."""
    is_binary = all(model.positive is not None for model in models)
    names = ["accuracy", *(("recall", "specificity") if is_binary else ())]
    chosen = [main, *(measure for measure in map(get_measure, names) if measure is not main)]
    return [measure for measure in chosen if any(model.has(measure) for model in models)]


def build_subgroup_table(
    dataset: DatasetPredictions,
    models: Sequence[InMemoryModel],
    measures: Sequence[Measure],
    settings: JudgeSettings,
    notes: Notes,
) -> pd.DataFrame:
    """A line for each group column, subgroup, model and measure; what rests on few rows says so."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for column, values in dataset.subgroups.items():
        subgroups = sorted(set(values.tolist()))
        if len(subgroups) > _MAX_SUBGROUPS:
            notes.add(f"The column {column!r} has {len(subgroups):,} values: too many for subgroups, so it is left out.")
            continue
        for subgroup in subgroups:
            for model in models:
                is_member = values[model.row_indices] == subgroup
                lines += _build_subgroup_rows(model, is_member, column, str(subgroup), measures, settings)
    return pd.DataFrame(lines, columns=list(SUBGROUP_COLUMNS))


def _build_subgroup_rows(
    model: InMemoryModel, is_member: Any, column: str, subgroup: str, measures: Sequence[Measure], settings: JudgeSettings
) -> list[dict[str, Any]]:
    if not is_member.any():
        return []
    subgroup_model = model.select_rows(is_member)
    small = describe_small_subgroup(
        len(subgroup_model.y_true), np.bincount(subgroup_model.y_true, minlength=len(subgroup_model.classes))
    )
    common = {"column": column, "subgroup": subgroup, "proportion": float(len(subgroup_model.y_true) / len(model.y_true))}
    try:
        lines = build_score_rows(subgroup_model, measures, settings)
    except InputError as error:  # such as weights that are all zero
        return [
            {"dataset": model.dataset, "model": model.name, **common, "rows": len(subgroup_model.y_true), "note": str(error)}
        ]
    return [{**line, **common, "note": "; ".join(note for note in (small, line["note"]) if note)} for line in lines]


def describe_small_subgroup(rows: int, counts: Any) -> str:
    """What to say of a subgroup that is too small; nothing of one that is not."""
    if rows < MIN_SUBGROUP_ROWS:
        return f"only {rows} rows: too few to judge"
    fewest = int(counts.min())
    return f"a class has only {fewest} rows here" if fewest < MIN_SUBGROUP_CLASS_ROWS else ""


def build_calibration_table(models: Sequence[InMemoryModel], level: float) -> pd.DataFrame:
    """Forecast and outcome in ten bins: of the positive class, or, where there is none, of the most likely class."""
    import pandas as pd

    parts = []
    for model in models:
        if model.kind != "probability" or model.scores is None:
            continue
        if model.positive is not None:
            name = str(model.classes[model.positive])
            outcome, probability = model.y_true == model.positive, model.scores[:, model.positive]
        else:
            name, predicted = "most probable", model.scores.argmax(axis=1)
            outcome, probability = model.y_true == predicted, model.scores.max(axis=1)
        curve = calibration_curve(outcome, probability, sample_weight=model.weights, level=level)
        parts.append(curve.assign(**{"dataset": model.dataset, "model": model.name, "class": name}))
    if not parts:
        return pd.DataFrame(columns=list(CALIBRATION_COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(CALIBRATION_COLUMNS)]
