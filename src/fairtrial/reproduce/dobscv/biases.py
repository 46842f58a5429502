"""How far the estimates lie from the truth: bias, error, and who is nearer, with intervals over replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.dobscv.trials import SCV
from fairtrial.reproduce.dobscv.truth import SPLITTERS

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

    lines = lines.dropna(subset=["estimate"])
    error = lines["estimate"] - lines["truth"]
    lines = lines.assign(error=error, square=error**2, fold_error=lines["estimate"] - lines["folds_truth"])
    base = lines[lines["scheme"] == SCV].set_index(["population", "replicate", "learner", "measure"])["square"]
    base = base.rename("base")
    lines = lines.join(base, on=["population", "replicate", "learner", "measure"])
    found = []
    for key, own in lines.groupby(KEYS, sort=False):
        bias, fold, square = interval_of(own["error"]), interval_of(own["fold_error"]), interval_of(own["square"])
        excess = interval_of(own["square"] - own["base"])
        root = [float(np.sqrt(max(each, 0.0))) for each in square]
        found.append((*key, len(own), *bias, *fold, *root, *excess))
    ends = ["", "_low", "_high"]
    names = [f"{name}{end}" for name in ("bias", "fold_bias", "rmse", "excess") for end in ends]
    return pd.DataFrame(found, columns=[*KEYS, "replicates", *names])


def pooled(lines: pd.DataFrame) -> pd.DataFrame:
    """For each scheme and measure: the mean bias over problems and learners, its interval, and how many cells are optimistic.

    Learners on one sample are averaged first, as they are not independent; problems are, and count alike.
    """
    import pandas as pd

    cells = biases(lines)
    lines = lines.dropna(subset=["estimate"])
    lines = lines.assign(error=lines["estimate"] - lines["truth"], fold_error=lines["estimate"] - lines["folds_truth"])
    found = []
    for measure in lines["measure"].unique():
        for scheme in SPLITTERS:
            own = lines[(lines["measure"] == measure) & (lines["scheme"] == scheme)]
            mine = cells[(cells["measure"] == measure) & (cells["scheme"] == scheme)]
            told = (_over_problems(own, "error"), _over_problems(own, "fold_error"))
            counts = (len(mine), int((mine["bias_low"] > 0).sum()), int((mine["bias_high"] < 0).sum()))
            nearer = (int((mine["excess_high"] < 0).sum()), int((mine["excess_low"] > 0).sum()))
            found.append((measure, scheme, *told[0], *told[1], float(mine["rmse"].mean()), *counts, *nearer))
    names = [f"{name}{end}" for name in ("bias", "fold_bias") for end in ("", "_low", "_high")]
    columns = ["measure", "scheme", *names, "rmse", "cells", "optimistic", "pessimistic", "nearer than SCV", "farther than SCV"]
    return pd.DataFrame(found, columns=columns)


def interval_of(values: pd.Series[float]) -> tuple[float, float, float]:
    """Mean and Student's interval at 95 %; NaN ends with a single value."""
    from scipy.stats import t

    mean, n = float(values.mean()), len(values)
    reach = float(t.ppf(0.975, n - 1) * values.std() / np.sqrt(n)) if n > 1 else float("nan")
    return mean, mean - reach, mean + reach


def _over_problems(own: pd.DataFrame, column: str) -> tuple[float, float, float]:
    """The mean over problems of the mean over samples; normal interval."""
    samples = own.groupby(["population", "replicate"], sort=False)[column].mean()
    each = samples.groupby("population").agg(["mean", "var", "count"])
    mean = float(each["mean"].mean())
    reach = 1.96 * float(np.sqrt((each["var"] / each["count"]).sum())) / len(each)
    return mean, mean - reach, mean + reach
