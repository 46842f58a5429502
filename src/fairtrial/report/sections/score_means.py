"""Means of the scores of a study with their intervals: of each data set over its splits, and over the data sets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import get_measure
from fairtrial.report.level_means import share_tested
from fairtrial.report.sections.naming import told_condition
from fairtrial.study.results.shared_splits import on_shared_splits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

ALPHA = 0.05
_PLACE = ["measure", "dataset", "condition", "level", "learner"]


def scored(results: Results, measures: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """The scores of these measures, and why some are undefined; measures that cannot be computed are left out and named."""
    import pandas as pd

    try:
        return _quietly(results, list(measures))
    except InputError:
        parts, told = [], []
    for each in measures:
        try:
            frame, said = _quietly(results, [each])
        except InputError as error:
            told.append(str(error))
            continue
        parts.append(frame)
        told += said
    if not parts:
        return pd.DataFrame(columns=[*_PLACE, "repeat", "fold", "value", "status"]), told
    return pd.concat(parts, ignore_index=True), told


def _quietly(results: Results, wanted: list[str]) -> tuple[pd.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        frame = results.scores(wanted)
    said = [str(each.message).removesuffix("; NaN is given") for each in caught]
    return frame, [reason for each in said for reason in each.split("; ")]


def by_data_set(results: Results, scores: pd.DataFrame) -> pd.DataFrame:
    """A line for each measure, data set, condition and learner: the mean over splits with its 95 % interval.

    The variance of a mean over J splits is (1 / J + share / (1 - share)) times that of the scores, with Student's t for J - 1
    degrees of freedom, where `share` is that of the rows tested on: splits overlap in their training rows (Nadeau & Bengio
    2003). Splits are those that all learners share, as in `Results.wide`; a mean is NaN where a trial failed. Limits are NaN
    with one split.
    """
    grouped = on_shared_splits(scores).groupby(_PLACE, sort=False, observed=True, dropna=False)
    found = grouped.agg(mean=("value", "mean"), var=("value", "var"), splits=("value", "count")).reset_index()
    mean = found["mean"].to_numpy(dtype=np.float64)
    shares = {each.name: _share_tested(results, each.name) for each in results.archive.datasets}
    share = np.array([shares[str(name)] for name in found["dataset"]], dtype=np.float64)
    count = found["splits"].to_numpy(dtype=np.float64)
    half = _half_width(found["var"].to_numpy(dtype=np.float64), count, share)
    low, high = _within(found["measure"].astype(str).tolist(), mean, half)
    return found[["dataset", "condition", "level", "learner", "measure"]].assign(
        mean=mean, low=low, high=high, splits=found["splits"].astype(int)
    )


def _share_tested(results: Results, dataset: str) -> float:
    """The mean share of rows that the splits of a data set test on; NaN where none train."""
    trials = results.trials()
    own = trials[trials["dataset"] == dataset].drop_duplicates(["repeat", "fold"])
    return share_tested(results, dataset, list(zip(own["repeat"].tolist(), own["fold"].tolist(), strict=True)))


def _half_width(variance: FloatArray, count: FloatArray, share: FloatArray | float) -> FloatArray:
    from scipy.stats import t

    with np.errstate(all="ignore"):
        factor = np.where(count > 1, 1 / count + share / (1 - np.asarray(share)), np.nan)
        return np.asarray(t.ppf(1 - ALPHA / 2, np.maximum(count - 1, 1)) * np.sqrt(factor * variance))


def _within(measures: Sequence[str], mean: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits that the measures can reach."""
    ranges = np.array([get_measure(name).facts.range for name in measures], dtype=np.float64).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        return np.maximum(mean - half, ranges[:, 0]), np.minimum(mean + half, ranges[:, 1])


def over_data_sets(results: Results, sets: pd.DataFrame) -> pd.DataFrame:
    """A line for each measure, condition and learner: the mean over the data sets with its 95 % interval, Student's.

    With a single data set it is that of `by_data_set`. `data sets` counts those with a mean.
    """
    import pandas as pd

    lines: list[dict[str, Any]] = []
    single = len(results.archive.datasets) == 1
    place = ["measure", "condition", "level", "learner"]
    labels = {(each.name, repr(float(each.level))): told_condition(each) for each in results.archive.conditions}
    grouped: Any = sets.groupby(place, sort=False, observed=True, dropna=False)
    for (measure, condition, level, learner), own in grouped:
        values = own["mean"].dropna().to_numpy(dtype=np.float64)
        told = labels.get((str(condition), repr(float(level))), str(condition))
        line: dict[str, Any] = {"measure": measure, "condition": told, "learner": learner}
        lines.append(line | (_single(own) if single else _over(str(measure), values)))
    return pd.DataFrame(lines, columns=["measure", "condition", "learner", "mean", "low", "high", "data sets"])


def _single(own: pd.DataFrame) -> dict[str, Any]:
    line = own.iloc[0]
    return {name: float(line[name]) for name in ("mean", "low", "high")} | {"data sets": int(own["mean"].notna().sum())}


def _over(measure: str, values: FloatArray) -> dict[str, Any]:
    if not len(values):
        return dict.fromkeys(("mean", "low", "high"), float("nan")) | {"data sets": 0}
    mean = np.array([values.mean()])
    spread = values.var(ddof=1) if len(values) > 1 and np.isfinite(values).all() else np.nan
    low, high = _within([measure], mean, _half_width(np.array([spread]), np.array([float(len(values))]), 0.0))
    return {"mean": float(mean[0]), "low": float(low[0]), "high": float(high[0]), "data sets": len(values)}
