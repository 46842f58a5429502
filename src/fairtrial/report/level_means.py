"""Mean scores under each level of a condition, with intervals: what the figures of noise show."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.report.places import lines_of
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results import split_spread
from fairtrial.study.results.shared_splits import on_shared_splits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

COLUMNS = ["condition", "level", "learner", "mean", "low", "high", "datasets", "splits"]


def level_means(
    results: Results,
    conditions: Sequence[ConditionFacts],
    measure: str | Measure = "accuracy",
    *,
    dataset: str | None = None,
    alpha: float = 0.05,
    **options: Any,
) -> pd.DataFrame:
    """A line for each of these conditions and each learner: the mean with an interval.

    Over several data sets it is the mean of their means, with Student's interval, over the data sets on which every learner has
    a score under all of these conditions. On one data set it is the mean over the splits that learners share, their variance
    corrected for the overlap of training rows (Nadeau & Bengio 2003); a learner that failed there has none.
    """
    import pandas as pd

    one = get_measure(measure)
    names = [each.name for each in results.archive.datasets]
    if dataset is None and len(names) > 1:
        lines = _over_data_sets(results, conditions, one, alpha, options)
    else:
        lines = _over_splits(results, conditions, one, dataset or names[0], alpha, options)
    return pd.DataFrame(lines, columns=COLUMNS)


def _over_data_sets(
    results: Results, conditions: Sequence[ConditionFacts], measure: Measure, alpha: float, options: dict[str, Any]
) -> list[tuple[Any, ...]]:
    tables = [results.wide(measure, each.name, each.level, **options) for each in conditions]
    whole = np.logical_and.reduce([table.notna().all(axis=1).to_numpy() for table in tables])
    lines: list[tuple[Any, ...]] = []
    for condition, table in zip(conditions, tables, strict=True):
        for learner in table.columns:
            values = table.loc[whole, learner].to_numpy(dtype=np.float64)
            spread = _interval(values, 0.0, alpha, measure)
            lines.append((condition.name, condition.level, learner, *spread, len(values), 0))
    return lines


def _over_splits(
    results: Results,
    conditions: Sequence[ConditionFacts],
    measure: Measure,
    dataset: str,
    alpha: float,
    options: dict[str, Any],
) -> list[tuple[Any, ...]]:
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        scores = on_shared_splits(results.scores(measure, **options))
    scores = scores[scores["dataset"] == dataset]
    lines: list[tuple[Any, ...]] = []
    for condition in conditions:
        own = scores[lines_of(scores, condition)]
        for learner in (each.name for each in results.archive.learners):
            mine = own[(own["learner"] == learner) & own["value"].notna()]
            share = share_tested(results, dataset, list(zip(mine["repeat"].tolist(), mine["fold"].tolist(), strict=True)))
            spread = _interval(mine["value"].to_numpy(dtype=np.float64), share, alpha, measure)
            lines.append((condition.name, condition.level, learner, *spread, min(1, len(mine)), len(mine)))
    return lines


def share_tested(results: Results, dataset: str, splits: list[tuple[int, int]]) -> float:
    """The mean share of rows that these splits (repeat, fold) test on; NaN without splits or where none train."""
    return split_spread.share_tested(results.archive, dataset, splits) if splits else float("nan")


def _interval(values: FloatArray, share: float, alpha: float, measure: Measure) -> tuple[float, float, float]:
    """Mean and limits that the measure can reach; limits are NaN for fewer than two values."""
    mean = float(values.mean()) if len(values) else float("nan")
    if len(values) < 2 or not np.isfinite(values).all():
        return mean, float("nan"), float("nan")
    half = split_spread.half_width(values, share, alpha)
    lowest, highest = measure.facts.range
    return mean, float(np.maximum(mean - half, lowest)), float(np.minimum(mean + half, highest))
