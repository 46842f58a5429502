"""From folds to cells: the mean over the folds of a set, and intervals for one more run like ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 12  # of a difference: what lies beyond is rounding, and equal estimates are to differ by 0
LOW, HIGH, ALL = "IR<9", "IR>9", "all"
_BORDER = 9.0  # the paper's groups; 9.00 itself is in the upper one


def cells_of(scores: pd.DataFrame, imbalance: Mapping[str, float]) -> pd.DataFrame:
    """A line for each scheme, run, set and learner: mean (`auc`) and deviation (`sd`) over its folds, and the imbalance.

    A set on which a learner failed anywhere counts nowhere for that learner.
    """
    keys = ["scheme", "run", "dataset", "learner"]
    found = scores.groupby(keys, sort=False)["value"].agg([_mean, _deviation]).reset_index()
    found = found.set_axis([*keys, "auc", "sd"], axis=1)
    broken = found.loc[found["auc"].isna(), ["dataset", "learner"]].drop_duplicates()
    lost = set(broken.itertuples(index=False, name=None))
    kept = [pair not in lost for pair in zip(found["dataset"], found["learner"], strict=True)]
    found = found[kept].reset_index(drop=True)
    return found.assign(imbalance=found["dataset"].map(imbalance), group=_groups(found["dataset"], imbalance))


def _mean(values: pd.Series[float]) -> float:
    return float(values.mean(skipna=False))


def _deviation(values: pd.Series[float]) -> float:
    return float(values.std(ddof=1, skipna=False))


def _groups(names: pd.Series[str], imbalance: Mapping[str, float]) -> list[str]:
    return [LOW if imbalance[name] < _BORDER else HIGH for name in names]


def base_of(cells: pd.DataFrame) -> str:
    """The stratified scheme that stands for the paper's: KEEL's folds where they ran."""
    return GIVEN if (cells["scheme"] == GIVEN).any() else SCV


def differences(cells: pd.DataFrame, scheme: str = LITERAL, base: str | None = None) -> pd.DataFrame:
    """A line for each run, set and learner: the estimate of a scheme less that of the base, also in percent of the base.

    Runs are paired by their number; they are independent draws.
    """
    keys = ["run", "dataset", "learner"]
    own = cells[cells["scheme"] == scheme].set_index(keys)
    other = cells[cells["scheme"] == (base or base_of(cells))].set_index(keys)
    found = own[["imbalance", "group"]].assign(value=(own["auc"] - other["auc"]).round(DIGITS))
    found["percent"] = 100 * found["value"] / other["auc"]
    return found.dropna(subset=["value"]).reset_index()


def in_groups(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of both groups, and all of them once more as a group of their own."""
    import pandas as pd

    return pd.concat([frame, frame.assign(group=ALL)], ignore_index=True)


def predicted(runs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """The mean over runs (column `value`), and where 95 % of single runs like ours would lie: t sd sqrt(1 + 1 / runs).

    The published number is one run. If the paper did what we do, the published number lies in there 19 times in 20; with a
    single run of ours nothing can be said.

    >>> import pandas as pd
    >>> predicted(pd.DataFrame({"learner": ["a", "a", "a"], "value": [1.0, 2.0, 3.0]}), ["learner"]).round(3).compute_values.tolist()
    [['a', 2.0, -2.968, 6.968]]
    """
    from scipy.stats import t

    groups = runs.groupby(list(keys), sort=False)["value"]
    found = groups.agg(["mean", "std", "count"]).reset_index()
    count = found["count"].to_numpy()
    reach = t.ppf(0.975, np.maximum(count - 1, 1)) * found["std"].to_numpy() * np.sqrt(1 + 1 / count)
    table = found[list(keys)].assign(value=found["mean"])
    return table.assign(low=found["mean"] - reach, high=found["mean"] + reach)
