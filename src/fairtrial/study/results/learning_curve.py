"""Learning curves: scores by training size, computed from the `train-size` conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.study.archive import Archive, ConditionFacts
from fairtrial.study.results.selection import CLEAN, TRAIN_SIZE, is_train_size, mask_condition
from fairtrial.study.results.stacking import (
    compute_half_width,
    compute_mean_half_width,
    compute_test_fraction,
    keep_shared_splits,
)

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["dataset", "learner", "size", "rows", "mean", "low", "high", "splits"]


def compute_learning_curve(
    archive: Archive, scores: pd.DataFrame, trials: pd.DataFrame, measure: Measure, alpha: float
) -> pd.DataFrame:
    """Compute mean scores by data set, training size and learner, with corrected t intervals.

    Row i of `trials` must describe the trial of row i of `scores`. The full training set has size 1.
    """
    import pandas as pd

    sizes = _list_sizes(archive.conditions)
    shared = keep_shared_splits(scores).assign(removed=trials["changed"].to_numpy(dtype=np.float64))
    lines = []
    for facts in archive.datasets:
        data_scores = shared[(shared["dataset"] == facts.name) & shared["value"].notna()]
        n_rows = _count_training_rows(archive, facts.name, data_scores)
        for condition in sizes:
            at_size = data_scores[mask_condition(data_scores, condition)]
            for learner in (learner.name for learner in archive.learners):
                chosen = at_size[at_size["learner"] == learner]
                if chosen.empty:
                    continue
                splits = list(zip(chosen["repeat"].tolist(), chosen["fold"].tolist(), strict=True))
                rows = [n_rows[split] for split in splits] - chosen["removed"].fillna(0).to_numpy()
                values = chosen["value"].to_numpy(dtype=np.float64)
                half = compute_half_width(values, compute_test_fraction(archive, facts.name, splits), alpha)
                size = 1.0 if condition.name == CLEAN else condition.level
                interval = _clip(float(values.mean()), half, measure)
                lines.append((facts.name, learner, size, float(rows.mean()), *interval, len(values)))
    return pd.DataFrame(lines, columns=_COLUMNS)


def average_learning_curve(frame: pd.DataFrame, measure: Measure, alpha: float) -> pd.DataFrame:
    """Average learning curves over data sets, and compute t intervals.

    A point of a learning curve is the mean score of a learner at one training size. Only the data sets with the most points are
    used. On these data sets, every learner normally has a value at every size.
    """
    import pandas as pd

    points = frame.groupby("dataset", sort=False).size()
    complete = frame[frame["dataset"].isin(points[points == points.max()].index)]
    lines = []
    for (size, learner), group in complete.groupby(["size", "learner"], sort=False):
        values = group["mean"].to_numpy(dtype=np.float64)
        interval = _clip(float(values.mean()), compute_mean_half_width(values, alpha), measure)
        lines.append((learner, size, float(group["rows"].mean()), *interval, len(values)))
    return pd.DataFrame(lines, columns=[*_COLUMNS[1:-1], "datasets"])


def _list_sizes(conditions: Sequence[ConditionFacts]) -> list[ConditionFacts]:
    """List the `train-size` conditions by ascending level, followed by clean data."""
    sizes = sorted((condition for condition in conditions if is_train_size(condition)), key=lambda size: size.level)
    if not sizes:
        raise InputError(f"a learning curve needs several training sizes, got none: declare {TRAIN_SIZE} = [0.1, 0.3, 1.0]")
    return [*sizes, *(condition for condition in conditions if condition.name == CLEAN)]


def _count_training_rows(archive: Archive, dataset: str, scores: pd.DataFrame) -> dict[tuple[int, int], int]:
    splits = dict.fromkeys(zip(scores["repeat"].tolist(), scores["fold"].tolist(), strict=True))
    return {(repeat, fold): len(archive.split(dataset, repeat, fold)[0]) for repeat, fold in splits}


def _clip(mean: float, half: float, measure: Measure) -> tuple[float, Any, Any]:
    """Return a mean and its confidence limits, which are truncated to the range of the measure."""
    lowest, highest = measure.facts.range
    return mean, float(np.maximum(mean - half, lowest)), float(np.minimum(mean + half, highest))
