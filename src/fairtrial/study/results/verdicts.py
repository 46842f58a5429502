"""The verdict of a study: the scores of one condition, failures treated as declared, through `significance.advise`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.errors import InputError
from fairtrial.significance.advise import advise
from fairtrial.significance.reading import read_scores
from fairtrial.significance.verdict import Step, Verdict
from fairtrial.study.archive import Archive, ConditionFacts
from fairtrial.study.results.choosing import CLEAN, told_condition, under
from fairtrial.study.results.class_order import ClassOrder
from fairtrial.study.results.failure_policy import apply_policy
from fairtrial.study.results.scoring import Asked
from fairtrial.study.results.split_spread import share_tested

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Wish:
    """What to judge, and how: as the study declares it or as the user says."""

    condition: ConditionFacts
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    failures: str = "exclude"


def judge(
    archive: Archive, scores: pd.DataFrame, trials: pd.DataFrame, one: Asked, orders: Sequence[ClassOrder], wish: Wish
) -> Verdict:
    """The verdict on the scores of one measure; `trials` are the lines of `archive.trials()` in the same order as `scores`."""
    mine = under(scores, wish.condition)
    own, own_trials = scores[mine], trials[mine]
    _check_finite(own, one)
    treated, failures = apply_policy(wish.failures, archive, own, own_trials, one, orders)
    tidy = treated[["dataset", "learner", "repeat", "fold", "value"]].reset_index(drop=True)
    read = replace(read_scores(tidy, measure=None), guessed=(), measure=one.measure.name)
    verdict = advise(
        read,
        measure=one.measure.name,
        control=wish.control,
        alpha=wish.alpha,
        rope=wish.rope,
        test_fraction=_test_fraction(archive, treated),
    )
    return replace(verdict, steps=(*_before(archive, own, wish.condition), *failures, *verdict.steps))


def _before(archive: Archive, own: pd.DataFrame, condition: ConditionFacts) -> list[Step]:
    steps: list[Step] = []
    if len(archive.conditions) > 1 or condition.name != CLEAN:
        told = told_condition(condition)
        words = condition.words if condition.name != CLEAN and condition.words else "nothing is changed"
        steps.append(("Under which condition?", told, f"Condition: {told} ({words})."))
    waiting = int((own["status"] == "missing").sum())
    if waiting:
        reason = f"The study is incomplete: {waiting} of {len(own)} trials have not run, so that this verdict is provisional."
        steps.append(("Is the study complete?", "no", reason))
    return steps


def _check_finite(own: pd.DataFrame, one: Asked) -> None:
    endless = own[np.isinf(own["value"].to_numpy(dtype=np.float64))]
    if len(endless):
        first = endless.iloc[0]
        remedy = "pass clip=1e-6" if one.measure.name == "log_loss" else "choose another measure"
        raise InputError(
            f"{one.measure.name} must be finite for a verdict, got {len(endless)} infinite scores "
            f"({first['learner']} on {first['dataset']}): {remedy}"
        )


def _test_fraction(archive: Archive, scores: pd.DataFrame) -> float | None:
    """The share of rows that a split of the first data set tests on; None for plain folds, which tell it by their number."""
    first = scores[scores["dataset"] == scores["dataset"].iloc[0]].drop_duplicates(["repeat", "fold"])
    splits = list(zip(first["repeat"].tolist(), first["fold"].tolist(), strict=True))
    share = share_tested(archive, str(first["dataset"].iloc[0]), splits)
    folds = first.groupby("repeat").size().max()
    return share if abs(share * folds - 1) > 1e-9 else None
