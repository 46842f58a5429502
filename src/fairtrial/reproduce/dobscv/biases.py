"""How far the estimates lie from the truth: bias, error, and who is nearer, with intervals over replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.dobscv.trials import SCV
from fairtrial.reproduce.dobscv.truth import SPLITTERS
from fairtrial.reproduce.interval import Interval, mean_interval

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["population", "learner", "scheme", "measure"]


def biases(lines: pd.DataFrame) -> pd.DataFrame:
    """For each problem, learner, scheme and measure: bias and root mean square error of the estimate, each with an interval.

    `bias` is against what the learner does that was trained on all rows, `fold_bias` against what the five fold models
    themselves do on new rows: the first has in it that folds train on fewer rows, the second only how test parts were chosen.
    `excess` is the mean square error less that of stratified folds on the same samples.
    """
    import pandas as pd

    found = []
    for key, own in _errors(lines).groupby(KEYS, sort=False):
        bias, fold, square, excess = (_ends(mean_interval(own[name])) for name in ("error", "fold_error", "square", "excess"))
        root = [float(np.sqrt(np.maximum(each, 0.0))) for each in square]
        found.append((*key, len(own), *bias, *fold, *root, *excess))
    ends = ["", "_low", "_high"]
    names = [f"{name}{end}" for name in ("bias", "fold_bias", "rmse", "excess") for end in ends]
    return pd.DataFrame(found, columns=[*KEYS, "replicates", *names])


def _errors(lines: pd.DataFrame) -> pd.DataFrame:
    """The errors of each estimate, and its squared error less that of stratified folds on the same sample (`excess`)."""
    lines = lines.dropna(subset=["estimate"])
    error = lines["estimate"] - lines["truth"]
    lines = lines.assign(error=error, square=error**2, fold_error=lines["estimate"] - lines["folds_truth"])
    keys = ["population", "replicate", "learner", "measure"]
    base = lines[lines["scheme"] == SCV].set_index(keys)["square"].rename("base")
    lines = lines.join(base, on=keys)
    return lines.assign(excess=lines["square"] - lines["base"])


def pooled(lines: pd.DataFrame) -> pd.DataFrame:
    """For each scheme and measure: mean biases and excess over problems and learners, and how many cells are optimistic.

    The intervals are over samples: learners on one sample are averaged first, as they are not independent.
    """
    import pandas as pd

    cells = biases(lines)
    lines = _errors(lines)
    found = []
    for measure in lines["measure"].unique():
        for scheme in SPLITTERS:
            own = lines[(lines["measure"] == measure) & (lines["scheme"] == scheme)]
            mine = cells[(cells["measure"] == measure) & (cells["scheme"] == scheme)]
            told = [end for name in ("error", "fold_error", "excess") for end in _ends(_over_problems(own, name))]
            counts = (len(mine), int((mine["bias_low"] > 0).sum()), int((mine["bias_high"] < 0).sum()))
            nearer = (int((mine["excess_high"] < 0).sum()), int((mine["excess_low"] > 0).sum()))
            found.append((measure, scheme, *told, float(mine["rmse"].mean()), *counts, *nearer))
    names = [f"{name}{end}" for name in ("bias", "fold_bias", "excess") for end in ("", "_low", "_high")]
    columns = ["measure", "scheme", *names, "rmse", "cells", "optimistic", "pessimistic", "nearer than SCV", "farther than SCV"]
    return pd.DataFrame(found, columns=columns)


def _over_problems(own: pd.DataFrame, column: str) -> Interval:
    """The mean over problems and learners, with Student's interval.

    Samples are the independent units. Problems are fixed and count alike: a unit is the mean over the samples, one of each
    problem, that have the same number.
    """
    samples = own.groupby(["replicate", "population"], sort=False)[column].mean().unstack("population")
    return mean_interval(samples.dropna().mean(axis=1))


def _ends(found: Interval) -> tuple[float, float, float]:
    return found.value, found.low, found.high
