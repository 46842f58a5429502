"""Tables of a judgement: measures, classes, subgroups, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.measures import Measure, auc, calibration_curve, get_measure
from fairtrial.measures.closed_intervals import wilson
from fairtrial.measures.confusion import Confusion
from fairtrial.study.predictions.judged_plan import Plan, quiet
from fairtrial.study.predictions.judged_rows import JudgedModel, intervals
from fairtrial.study.predictions.judged_strays import by_class, codes_of
from fairtrial.study.predictions.prediction_checks import Notes
from fairtrial.study.predictions.predictions import PredictedSet

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = ("dataset", "model", "measure", "estimate", "low", "high", "method", "better", "chance", "rows", "note")
CLASS_COLUMNS = (
    *("dataset", "model", "class", "support", "predicted", "precision", "precision_low", "precision_high"),
    *("recall", "recall_low", "recall_high", "f_score", "auc"),
)
GROUP_COLUMNS = (
    *("dataset", "group", "subgroup", "model", "measure", "rows", "share", "estimate", "low", "high", "method", "note"),
)
CALIBRATION_COLUMNS = ("dataset", "model", "class", "mean_forecast", "share", "weight", "low", "high")
# Fewer rows than this, or fewer of a class, and a subgroup's numbers say little.
SMALL_GROUP, SMALL_CLASS = 20, 5
_MOST_SUBGROUPS = 50


def score_table(models: Sequence[JudgedModel], measures: Sequence[Measure], plan: Plan) -> pd.DataFrame:
    """A line for each model and measure, with intervals."""
    import pandas as pd

    lines = [line for model in models for line in score_lines(model, measures, plan)]
    return pd.DataFrame(lines, columns=list(SCORE_COLUMNS))


def score_lines(model: JudgedModel, measures: Sequence[Measure], plan: Plan) -> list[dict[str, Any]]:
    """The lines of one model."""
    return [
        {
            "dataset": model.dataset,
            "model": model.name,
            **facts_of(each),
            "estimate": one.estimate,
            "low": one.low,
            "high": one.high,
            "method": one.method,
            "rows": len(model.true),
            "note": one.note,
        }
        for each, one in zip(measures, intervals(model, measures, plan), strict=True)
    ]


def facts_of(measure: Measure) -> dict[str, Any]:
    """What a table tells of a measure."""
    better = "higher" if measure.facts.direction == "max" else "lower"
    return {
        "measure": measure.name,
        "better": better,
        "chance": np.nan if measure.facts.chance is None else measure.facts.chance,
    }


def class_table(models: Sequence[JudgedModel], level: float) -> pd.DataFrame:
    """A line for each model and class: precision and recall with Wilson's limits, F, support, AUC against the rest."""
    import pandas as pd

    lines = []
    for model in models:
        table = None
        if model.predicted is not None:
            labels = codes_of(len(model.classes), model.strays)
            counted = Confusion.from_labels(model.true, model.predicted, labels=labels, sample_weight=model.weights)
            table = by_class(counted)
        areas = _areas(model)
        lines += class_lines(
            model.dataset, model.name, model.classes, table, areas, level, model.weights is None, _support(model)
        )
    return pd.DataFrame(lines, columns=list(CLASS_COLUMNS))


def _support(model: JudgedModel) -> Any:
    return np.bincount(model.true, model.weights, minlength=len(model.classes))


def _areas(model: JudgedModel) -> list[float]:
    if model.scores is None:
        return [float("nan")] * len(model.classes)
    with quiet():
        return [
            float(auc(model.true == code, np.ascontiguousarray(column), sample_weight=model.weights))
            for code, column in enumerate(model.scores.T)
        ]


def class_lines(
    dataset: str,
    model: str,
    classes: Sequence[Any],
    table: Confusion | None,
    areas: Sequence[float],
    level: float,
    counted: bool,
    support: Any,
) -> list[dict[str, Any]]:
    """The lines of one model; `counted` cells are numbers of rows, which limits need."""
    nothing = np.zeros(len(classes))
    hits, predicted = (nothing, nothing) if table is None else (table.hits, table.predicted)
    lines = []
    for code, name in enumerate(classes):
        line: dict[str, Any] = {"dataset": dataset, "model": model, "class": str(name), "support": float(support[code])}
        if table is not None:
            line["predicted"] = float(predicted[code])
            line.update(_share("precision", hits[code], predicted[code], level, counted))
            line.update(_share("recall", hits[code], support[code], level, counted))
            both = float(predicted[code] + support[code])
            line["f_score"] = 2 * float(hits[code]) / both if both else float("nan")
        line["auc"] = areas[code]
        lines.append(line)
    return lines


def _share(name: str, hits: float, total: float, level: float, counted: bool) -> dict[str, float]:
    nan = float("nan")
    low, high = wilson(float(hits), float(total), level) if counted and total else (nan, nan)
    return {name: float(hits / total) if total else nan, f"{name}_low": low, f"{name}_high": high}


def group_measures(models: Sequence[JudgedModel], main: Measure) -> list[Measure]:
    """What subgroups are compared by: the main measure, and with labels accuracy and the rates of the two classes."""
    two = all(model.positive is not None for model in models)
    names = ["accuracy", *(("recall", "specificity") if two else ())]
    chosen = [main, *(each for each in map(get_measure, names) if each is not main)]
    return [each for each in chosen if any(model.has(each) for model in models)]


def group_table(
    one: PredictedSet, models: Sequence[JudgedModel], measures: Sequence[Measure], plan: Plan, notes: Notes
) -> pd.DataFrame:
    """A line for each group column, subgroup, model and measure; what rests on few rows says so."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for group, values in one.groups.items():
        subgroups = sorted(set(values.tolist()))
        if len(subgroups) > _MOST_SUBGROUPS:
            notes.tell(f"The column {group!r} has {len(subgroups):,} values: too many for subgroups, so it is left out.")
            continue
        for subgroup in subgroups:
            for model in models:
                chosen = values[model.places] == subgroup
                lines += _subgroup(model, chosen, group, str(subgroup), measures, plan)
    return pd.DataFrame(lines, columns=list(GROUP_COLUMNS))


def _subgroup(
    model: JudgedModel, chosen: Any, group: str, subgroup: str, measures: Sequence[Measure], plan: Plan
) -> list[dict[str, Any]]:
    if not chosen.any():
        return []
    part = model.part(chosen)
    small = small_note(len(part.true), np.bincount(part.true, minlength=len(part.classes)))
    common = {"group": group, "subgroup": subgroup, "share": float(len(part.true) / len(model.true))}
    try:
        lines = score_lines(part, measures, plan)
    except InputError as error:  # such as weights that are all zero
        return [{"dataset": model.dataset, "model": model.name, **common, "rows": len(part.true), "note": str(error)}]
    return [{**line, **common, "note": "; ".join(each for each in (small, line["note"]) if each)} for line in lines]


def small_note(rows: int, counts: Any) -> str:
    """What to say of a subgroup that is too small; nothing of one that is not."""
    if rows < SMALL_GROUP:
        return f"only {rows} rows: too few to judge"
    fewest = int(counts.min())
    return f"a class has only {fewest} rows here" if fewest < SMALL_CLASS else ""


def calibration_table(models: Sequence[JudgedModel], level: float) -> pd.DataFrame:
    """Forecast and outcome in ten bins: of the positive class, or, where there is none, of the most likely class."""
    import pandas as pd

    parts = []
    for model in models:
        if model.kind != "probability" or model.scores is None:
            continue
        if model.positive is not None:
            name = str(model.classes[model.positive])
            came_true, forecast = model.true == model.positive, model.scores[:, model.positive]
        else:
            name, picked = "the most likely", model.scores.argmax(axis=1)
            came_true, forecast = model.true == picked, model.scores.max(axis=1)
        curve = calibration_curve(came_true, forecast, sample_weight=model.weights, level=level)
        parts.append(curve.assign(**{"dataset": model.dataset, "model": model.name, "class": name}))
    if not parts:
        return pd.DataFrame(columns=list(CALIBRATION_COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(CALIBRATION_COLUMNS)]
