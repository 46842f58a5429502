"""Robustness of a study: what learners lose under its conditions, as RLA and ELA with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import ela, rla
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.study.archive import Archive, ConditionFacts
from fairtrial.study.results.choosing import CLEAN, chosen_names, under
from fairtrial.study.results.shared_splits import on_shared_splits
from fairtrial.study.results.split_spread import half_width, mean_half_width, share_tested

if TYPE_CHECKING:
    import pandas as pd

_SPLIT = ["dataset", "learner", "repeat", "fold"]


def losses(
    archive: Archive, scores: pd.DataFrame, measure: Measure, condition: str | None, alpha: float = 0.05
) -> pd.DataFrame:
    """A line for each data set, condition, level and learner: means without and with the change, RLA and ELA with intervals.

    A learner that failed on a data set under either has no line there, and splits count that all others share under both: means
    are those of `Results.wide` where every trial ran. Intervals by the delta method, the variance over splits being corrected
    for their overlap as Nadeau and Bengio do.
    """
    import pandas as pd

    _check_measure(measure)
    changed = _changed(archive.conditions, condition)
    counting = on_shared_splits(scores)
    clean = _valued(counting, next(each for each in archive.conditions if each.name == CLEAN))
    shares = cache(lambda dataset, splits: share_tested(archive, dataset, list(splits)))
    lines = []
    for each in changed:
        both = clean.merge(_valued(counting, each), on=_SPLIT, suffixes=("_clean", "_noisy"))
        for (dataset, learner), own in both.groupby(["dataset", "learner"], sort=False, observed=True):
            share = shares(dataset, tuple(zip(own["repeat"].tolist(), own["fold"].tolist(), strict=True)))
            place = {"dataset": dataset, "condition": each.name, "level": each.level, "learner": learner}
            before, after = (own[f"value_{when}"].to_numpy(dtype=np.float64) for when in ("clean", "noisy"))
            lines.append(place | _loss(before, after, share, alpha))
    columns = ["dataset", "condition", "level", "learner", *_loss(np.ones(1), np.ones(1), 0.5, alpha)]
    frame = pd.DataFrame(lines, columns=columns)
    _warn_undefined(frame)
    return frame


def over_data_sets(frame: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
    """Means with Student's interval, of what `losses` gives, over the data sets on which all learners have a value.

    A learner without any value under a condition holds back no data set.
    """
    import pandas as pd

    lines = []
    common = _common(frame)
    for place, own in frame.groupby(["condition", "level", "learner"], sort=False, observed=True, dropna=False):
        known = own[own["ela"].notna() & common.loc[own.index]]
        line: dict[str, Any] = dict(zip(("condition", "level", "learner"), place, strict=True))
        line |= {name: known[name].mean() for name in ("clean", "noisy")}
        for name in ("rla", "ela"):
            values = known[name].to_numpy(dtype=np.float64)
            middle, half = (values.mean(), mean_half_width(values, alpha)) if len(values) else (np.nan, np.nan)
            line |= _limits(name, middle, half)
        lines.append(line | {"datasets": len(known)})
    return pd.DataFrame(lines)


def _common(frame: pd.DataFrame) -> pd.Series[bool]:
    """Which lines are of data sets on which every learner has a value that has one anywhere under the condition."""
    known = frame[frame["ela"].notna()]
    where = ["condition", "level"]
    learners = known.groupby(where, observed=True, dropna=False)["learner"].nunique()
    here = known.groupby([*where, "dataset"], observed=True, dropna=False)["learner"].nunique()
    counts = frame.merge(learners.rename("all").reset_index(), on=where, how="left")
    counts = counts.merge(here.rename("here").reset_index(), on=[*where, "dataset"], how="left")
    return (counts["here"] == counts["all"]).set_axis(frame.index)


def _check_measure(measure: Measure) -> None:
    facts = measure.facts
    if facts.direction != "max" or facts.range != (0, 1):
        raise InputError(
            f"measure must run from 0 (worst) to 1 (best) for losses of accuracy, got {measure.name} with range "
            f"{facts.range}: take accuracy, balanced_accuracy or auc"
        )


def _changed(conditions: Sequence[ConditionFacts], condition: str | None) -> list[ConditionFacts]:
    names = list(dict.fromkeys(each.name for each in conditions if each.name != CLEAN))
    if not names:
        raise InputError("robustness needs a condition that changes something, got clean alone: add class-noise = [0, 0.1]")
    wanted = chosen_names("condition", names, condition)
    if all(each.name != CLEAN for each in conditions):
        raise InputError(f"robustness needs the trials without noise, got none: add 0 to the levels of {wanted[0]}")
    return [each for each in conditions if each.name in wanted]


def _valued(scores: pd.DataFrame, condition: ConditionFacts) -> pd.DataFrame:
    own = scores[under(scores, condition)]
    return own.loc[own["value"].notna(), [*_SPLIT, "value"]]


def _loss(before: FloatArray, after: FloatArray, share: float, alpha: float) -> dict[str, Any]:
    """RLA and ELA of the means; each split contributes to their variance what the means' derivatives say."""
    start, end = float(before.mean()), float(after.mean())
    line: dict[str, Any] = {"clean": start, "noisy": end}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = {"rla": rla(start, end, scale=1), "ela": ela(start, end, scale=1)}
    # Both are (a constant - after) / before, whose derivatives are -1 / before and -quotient / before.
    quotients = {"rla": found["rla"] - 1, "ela": found["ela"]}
    for name, value in found.items():
        half = half_width((after + quotients[name] * before) / start, share, alpha) if start > 0 else float("nan")
        line |= _limits(name, value, half)
    return line | {"splits": len(before)}


def _limits(name: str, value: float, half: float) -> dict[str, float]:
    """A value with limits that the measure can reach."""
    lowest, highest = get_measure(name).facts.range
    low, high = np.maximum(value - half, lowest), np.minimum(value + half, highest)
    return {name: value, f"{name}_low": float(low), f"{name}_high": float(high)}


def _warn_undefined(frame: pd.DataFrame) -> None:
    bad = frame[frame["ela"].isna()]
    if len(bad):
        first = bad.iloc[0]
        told = f"{first['learner']} on {first['dataset']}"
        warnings.warn(
            f"rla and ela are undefined in {len(bad)} of {len(frame)} lines ({told}): the mean without noise is 0",
            UndefinedMeasureWarning,
            stacklevel=4,
        )
