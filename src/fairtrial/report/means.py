"""Mean scores of a study with confidence intervals: over the splits of each data set, and over data sets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import Measure, get_measure
from fairtrial.report.selection import map_unique_keys
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results import stacking
from fairtrial.study.results.selection import format_condition, mask_condition
from fairtrial.study.results.stacking import keep_shared_splits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

COLUMNS = ["condition", "level", "learner", "mean", "low", "high", "datasets", "splits"]


def compute_level_means(
    results: Results,
    conditions: Sequence[ConditionFacts],
    measure: str | Measure = "accuracy",
    *,
    dataset: str | None = None,
    alpha: float = 0.05,
    **options: Any,
) -> pd.DataFrame:
    """Compute the mean score and its confidence interval for each condition and learner.

    With several data sets, the t interval is computed over data sets. A data set is omitted unless every learner has a score on
    it under every condition. With one data set, the interval is computed over the splits that all learners share, and is
    corrected for the overlap of training sets (Nadeau & Bengio 2003).
    """
    import pandas as pd

    resolved_measure = get_measure(measure)
    names = [dataset_facts.name for dataset_facts in results.archive.datasets]
    if dataset is None and len(names) > 1:
        lines = _average_over_datasets(results, conditions, resolved_measure, alpha, options)
    else:
        lines = _average_over_splits(results, conditions, resolved_measure, dataset or names[0], alpha, options)
    return pd.DataFrame(lines, columns=COLUMNS)


def _average_over_datasets(
    results: Results, conditions: Sequence[ConditionFacts], measure: Measure, alpha: float, options: dict[str, Any]
) -> list[tuple[Any, ...]]:
    tables = [results.wide(measure, condition.name, condition.level, **options) for condition in conditions]
    complete = np.logical_and.reduce([table.notna().all(axis=1).to_numpy() for table in tables])
    lines: list[tuple[Any, ...]] = []
    for condition, table in zip(conditions, tables, strict=True):
        for learner in table.columns:
            values = table.loc[complete, learner].to_numpy(dtype=np.float64)
            spread = _compute_mean_interval(values, 0.0, alpha, measure)
            lines.append((condition.name, condition.level, learner, *spread, len(values), 0))
    return lines


def _average_over_splits(
    results: Results,
    conditions: Sequence[ConditionFacts],
    measure: Measure,
    dataset: str,
    alpha: float,
    options: dict[str, Any],
) -> list[tuple[Any, ...]]:
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        scores = keep_shared_splits(results.scores(measure, **options))
    scores = scores[scores["dataset"] == dataset]
    lines: list[tuple[Any, ...]] = []
    for condition in conditions:
        condition_scores = scores[mask_condition(scores, condition)]
        for learner in (learner_facts.name for learner_facts in results.archive.learners):
            learner_scores = condition_scores[(condition_scores["learner"] == learner) & condition_scores["value"].notna()]
            test_fraction = compute_test_fraction(
                results, dataset, list(zip(learner_scores["repeat"].tolist(), learner_scores["fold"].tolist(), strict=True))
            )
            spread = _compute_mean_interval(learner_scores["value"].to_numpy(dtype=np.float64), test_fraction, alpha, measure)
            lines.append((condition.name, condition.level, learner, *spread, min(1, len(learner_scores)), len(learner_scores)))
    return lines


def compute_test_fraction(results: Results, dataset: str, splits: list[tuple[int, int]]) -> float:
    """Compute the mean fraction of test rows over splits. Each split is a (repeat, fold) pair.

    The fraction is NaN if there are no splits or no training rows.
    """
    return stacking.compute_test_fraction(results.archive, dataset, splits) if splits else float("nan")


def _compute_mean_interval(
    values: FloatArray, test_fraction: float, alpha: float, measure: Measure
) -> tuple[float, float, float]:
    """Compute the mean and its confidence limits, truncated to the range of the measure.

    The limits are NaN if there are fewer than two values or a value is not finite.
    """
    mean = float(values.mean()) if len(values) else float("nan")
    if len(values) < 2 or not np.isfinite(values).all():
        return mean, float("nan"), float("nan")
    half_width = stacking.compute_half_width(values, test_fraction, alpha)
    lowest, highest = measure.facts.range
    return mean, float(np.maximum(mean - half_width, lowest)), float(np.minimum(mean + half_width, highest))


ALPHA = 0.05
_KEYS = ["measure", "dataset", "condition", "level", "learner"]


def compute_scores(results: Results, measures: Sequence[str]) -> tuple[pd.DataFrame, list[Finding]]:
    """Compute the scores of a study for the given measures.

    The second return value contains findings about measures that are undefined or cannot be computed.
    """
    import pandas as pd

    try:
        return _collect_scores(results, list(measures))
    except InputError:
        frames: list[pd.DataFrame] = []
        findings: list[Finding] = []
    for measure in measures:
        try:
            frame, reasons = _collect_scores(results, [measure])
        except InputError as error:
            findings.append(Finding.of("measure_unavailable", measure=measure, error=str(error)))
            continue
        frames.append(frame)
        findings += reasons
    if not frames:
        return pd.DataFrame(columns=[*_KEYS, "repeat", "fold", "value", "status"]), findings
    return pd.concat(frames, ignore_index=True), findings


def _collect_scores(results: Results, measures: list[str]) -> tuple[pd.DataFrame, list[Finding]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        frame = results.scores(measures)
    messages = [warning.message for warning in caught if isinstance(warning.message, UndefinedMeasureWarning)]
    return frame, [finding for message in messages for finding in message.findings if isinstance(finding, Finding)]


def average_by_dataset(results: Results, scores: pd.DataFrame) -> pd.DataFrame:
    """Average scores over splits for each measure, data set, condition and learner.

    The means have 95 % t intervals. The variance of the mean over J splits is (1 / J + f / (1 - f)) times the variance of the
    scores, because training sets overlap. Here, f is the fraction of test rows. There are J - 1 degrees of freedom (Nadeau &
    Bengio 2003). As in `Results.wide`, only splits that all learners share are used. The mean of a learner on a data set is NaN
    if any of its trials there failed. The limits are also NaN if there is only one split.
    """
    grouped = keep_shared_splits(scores).groupby(_KEYS, sort=False, observed=True, dropna=False)
    means = grouped.agg(mean=("value", "mean"), var=("value", "var"), splits=("value", "count")).reset_index()
    mean = means["mean"].to_numpy(dtype=np.float64)
    fractions = {dataset.name: _compute_dataset_test_fraction(results, dataset.name) for dataset in results.archive.datasets}
    test_fraction = np.array([fractions[str(name)] for name in means["dataset"]], dtype=np.float64)
    count = means["splits"].to_numpy(dtype=np.float64)
    half_width = _compute_half_width(means["var"].to_numpy(dtype=np.float64), count, test_fraction)
    low, high = _clip_limits(means["measure"].astype(str).tolist(), mean, half_width)
    return means[["dataset", "condition", "level", "learner", "measure"]].assign(
        mean=mean, low=low, high=high, splits=means["splits"].astype(int)
    )


def _compute_dataset_test_fraction(results: Results, dataset: str) -> float:
    """Compute the mean fraction of test rows over the splits of a data set. Return NaN if there are no training rows."""
    trials = results.scored_trials()
    fold_keys = trials[trials["dataset"] == dataset].drop_duplicates(["repeat", "fold"])
    return compute_test_fraction(
        results, dataset, list(zip(fold_keys["repeat"].tolist(), fold_keys["fold"].tolist(), strict=True))
    )


def _compute_half_width(variance: FloatArray, count: FloatArray, test_fraction: FloatArray | float) -> FloatArray:
    from scipy.stats import t

    with np.errstate(all="ignore"):
        factor = np.where(count > 1, 1 / count + test_fraction / (1 - np.asarray(test_fraction)), np.nan)
        return np.asarray(t.ppf(1 - ALPHA / 2, np.maximum(count - 1, 1)) * np.sqrt(factor * variance))


def _clip_limits(measures: Sequence[str], mean: FloatArray, half_width: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute confidence limits, truncated to the ranges of the measures."""
    ranges = np.array([get_measure(name).facts.range for name in measures], dtype=np.float64).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        return np.maximum(mean - half_width, ranges[:, 0]), np.minimum(mean + half_width, ranges[:, 1])


def average_over_datasets(results: Results, dataset_means: pd.DataFrame) -> pd.DataFrame:
    """Average scores over data sets for each measure, condition and learner.

    The means have 95 % t intervals. With a single data set, the mean and interval are those of `average_by_dataset`. The column
    `data sets` contains the number of data sets that have a mean.
    """
    import pandas as pd

    lines: list[dict[str, Any]] = []
    single = len(results.archive.datasets) == 1
    keys = ["measure", "condition", "level", "learner"]
    labels = {
        (condition.name, repr(float(condition.level))): format_condition(condition) for condition in results.archive.conditions
    }
    grouped: Any = dataset_means.groupby(keys, sort=False, observed=True, dropna=False)
    for (measure, condition, level, learner), dataset_lines in grouped:
        values = dataset_lines["mean"].dropna().to_numpy(dtype=np.float64)
        condition_text = labels.get((str(condition), repr(float(level))), str(condition))
        line: dict[str, Any] = {"measure": measure, "condition": condition_text, "learner": learner}
        lines.append(line | (_get_single_mean(dataset_lines) if single else _average_values(str(measure), values)))
    return pd.DataFrame(lines, columns=["measure", "condition", "learner", "mean", "low", "high", "data sets"])


def _get_single_mean(lines: pd.DataFrame) -> dict[str, Any]:
    line = lines.iloc[0]
    return {name: float(line[name]) for name in ("mean", "low", "high")} | {"data sets": int(lines["mean"].notna().sum())}


def _average_values(measure: str, values: FloatArray) -> dict[str, Any]:
    if not len(values):
        return dict.fromkeys(("mean", "low", "high"), float("nan")) | {"data sets": 0}
    mean = np.array([values.mean()])
    variance = values.var(ddof=1) if len(values) > 1 and np.isfinite(values).all() else np.nan
    low, high = _clip_limits([measure], mean, _compute_half_width(np.array([variance]), np.array([float(len(values))]), 0.0))
    return {"mean": float(mean[0]), "low": float(low[0]), "high": float(high[0]), "data sets": len(values)}


def format_means_key(results: Results, measure: str) -> str:
    """Format the key of the table that contains the means of a measure."""
    return f"scores-means-{map_unique_keys(results.measures)[measure]}"
