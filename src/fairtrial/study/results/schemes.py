"""Comparison of the resampling schemes of a study.

The comparison shows whether the scores of a learner depend on the scheme.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.significance.adjust import adjust
from fairtrial.significance.wilcoxon import wilcoxon

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

_COLUMNS = [
    *("learner", "first", "second", "mean_first", "mean_second", "difference"),
    *("statistic", "p", "p_adjusted", "effect", "low", "high", "datasets", "n"),
]


def compare_schemes(tables: Mapping[str, pd.DataFrame], alpha: float = 0.05) -> pd.DataFrame:
    """Compare pairs of schemes by Wilcoxon signed-rank tests over data sets, for each learner.

    `tables` maps each scheme to its table of mean scores, with data sets as rows and learners as columns. Holm's method adjusts
    the p-values over all rows of the result. The effect is the rank-biserial correlation with its confidence interval. The
    test results are NaN for fewer than 2 data sets. The outcome is "cannot be decided" if there are too few data sets for a
    significant p-value.
    """
    import pandas as pd

    if len(tables) < 2:
        raise InputError("schemes can be compared if there are at least 2, got 1: declare several [[resampling]] tables")
    learners = next(iter(tables.values())).columns
    lines = [
        {"learner": learner, "first": first, "second": second}
        | _compare_pair(tables[first][learner], tables[second][learner], alpha)
        for learner in learners
        for first, second in combinations(tables, 2)
    ]
    frame = pd.DataFrame(lines, columns=_COLUMNS)
    tested = frame["p"].notna()
    frame.loc[tested, "p_adjusted"] = adjust(frame.loc[tested, "p"].to_numpy(), "holm") if tested.any() else np.nan
    smallest = 2.0 ** (1 - frame.pop("n"))  # smallest possible p-value of the exact test
    is_decidable = (smallest <= alpha) & (smallest.min() * tested.sum() <= alpha)
    outcomes = np.where(frame["p_adjusted"] <= alpha, "significantly different", "no significant difference")
    return frame.assign(outcome=np.where(is_decidable, outcomes, "cannot be decided"))


def _compare_pair(first: pd.Series[float], second: pd.Series[float], alpha: float) -> dict[str, Any]:
    shared = first.notna() & second.notna()
    a, b = (column[shared].to_numpy(dtype=np.float64) for column in (first, second))
    line: dict[str, Any] = dict.fromkeys(_COLUMNS[3:], np.nan) | {"datasets": len(a), "n": int(np.count_nonzero(a != b))}
    if not len(a):
        return line
    line |= {"mean_first": a.mean(), "mean_second": b.mean(), "difference": (a - b).mean()}
    if len(a) < 2:
        return line
    outcome = wilcoxon(a, b, level=1 - alpha)
    line |= {"statistic": outcome.statistic, "p": outcome.p_value}
    if outcome.effect is not None:
        line |= {"effect": outcome.effect.estimate, "low": outcome.effect.low, "high": outcome.effect.high}
    return line
