"""The splits that learners share: means over different splits would compare learners on different rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fairtrial.significance.scores import counted
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.choosing import under
from fairtrial.study.results.failure_policy import failed

if TYPE_CHECKING:
    import pandas as pd

_SPLIT = ["dataset", "repeat", "fold"]


def split_grid(scores: pd.DataFrame) -> pd.DataFrame:
    """Splits (data set, repeat, fold) by learners, of one measure and condition.

    A learner that failed on a data set has no value there, whatever it did on other splits.
    """
    import pandas as pd

    plain = scores.assign(dataset=scores["dataset"].astype(object), learner=scores["learner"].astype(object))
    lost = pd.Series(failed(scores), index=scores.index).groupby([plain["dataset"], plain["learner"]]).transform("any")
    return plain.assign(value=scores["value"].where(~lost)).pivot(index=_SPLIT, columns="learner", values="value")


def shared(grid: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Which splits count: those on which every learner has a value that has one anywhere on the data set.

    >>> import pandas as pd
    >>> splits = pd.MultiIndex.from_product([["iris"], [0], [0, 1, 2]], names=["dataset", "repeat", "fold"])
    >>> nan = float("nan")
    >>> shared(pd.DataFrame({"tree": [0.9, nan, 0.8], "bayes": [0.9, 0.7, 0.9], "none": [nan, nan, nan]}, splits)).tolist()
    [True, False, True]
    """
    known = grid.notna()
    somewhere = known.groupby(level="dataset", sort=False).transform("any")
    return np.asarray((known | ~somewhere).all(axis=1), dtype=bool)


def shared_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Data sets by learners: means over the splits that count; data sets without such a split are not there."""
    grid = split_grid(scores)
    return grid[shared(grid)].groupby(level="dataset", sort=False).mean()


def on_shared_splits(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores, of any measures and conditions, with NaN where they do not count: the same rule, line by line."""
    where = ["measure", "condition", "level"]
    plain = scores.assign(known=scores["value"].notna(), lost=failed(scores))

    def over(place: list[str], column: str, how: Literal["any", "all"]) -> pd.Series[bool]:
        found: pd.Series[bool] = plain.groupby([*where, *place], observed=True, dropna=False)[column].transform(how)
        return found

    plain["known"] &= ~over(["dataset", "learner"], "lost", "any")
    plain["fits"] = plain["known"] | ~over(["dataset", "learner"], "known", "any")
    return scores.assign(value=scores["value"].where(plain["known"] & over(_SPLIT, "fits", "all")))


def left_out_note(scores: pd.DataFrame, conditions: Sequence[ConditionFacts]) -> str:
    """How many splits the means of a measure leave out, by data set; empty where they leave out none."""
    gone: dict[str, int] = {}
    for condition in conditions:
        grid = split_grid(scores[under(scores, condition)])
        for name in grid.index.get_level_values("dataset")[~shared(grid)]:
            gone[name] = gone.get(name, 0) + 1
    if not gone:
        return ""
    planned = len(scores.drop_duplicates([*_SPLIT, "condition", "level"]))
    told = ", ".join(f"{name}: {count:,}" for name, count in gone.items())
    return (
        f"Means of {scores['measure'].iloc[0]} leave out {sum(gone.values()):,} of {counted(planned, 'split')}, on which some "
        f"learners have a value and others have none ({told})."
    )
