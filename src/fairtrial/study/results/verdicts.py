"""The verdict of a study: the scores of one condition, failures treated as declared, through `significance.advise`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.errors import InputError
from fairtrial.significance.advise import advise
from fairtrial.significance.reading import read_scores
from fairtrial.significance.scores import counted
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
    _check_learners(archive, treated, wish)
    _check_values(archive, treated, one)
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
        told = f"{waiting:,} of {counted(len(own), 'trial')} {'has' if waiting == 1 else 'have'} not run"
        reason = f"The study is incomplete: {told}, so that this verdict is provisional."
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


def _check_learners(archive: Archive, left: pd.DataFrame, wish: Wish) -> None:
    """At least two learners to compare, and the control among them."""
    learners = [each.name for each in archive.learners]
    kept = [name for name in learners if name in set(left["learner"])]
    remedy = "choose failures='worst-rank' or 'trivial', or run its failed trials again"
    if len(kept) < 2:
        why = "add another one to the study" if len(learners) == 1 else f"no trial of the others succeeded; {remedy}"
        raise InputError(f"a verdict needs at least 2 learners to compare, got only {kept[0]!r}: {why}")
    if wish.control in learners and wish.control not in kept:
        raise InputError(f"control must be a learner that succeeded somewhere, got {wish.control!r}, which never did: {remedy}")


def _check_values(archive: Archive, left: pd.DataFrame, one: Asked) -> None:
    """Something to compare them by."""
    name, trials = one.measure.name, counted(len(left), "trial")
    if left["value"].notna().any():
        return
    if not (left["status"] == "ok").any():
        raise InputError(f"a verdict needs trials that have run, got none of {trials}: run the study")
    first = left.iloc[0]
    if len(archive.split(str(first["dataset"]), int(first["repeat"]), int(first["fold"]))[1]) > 1:
        raise InputError(
            f"{name} must have values for a verdict, got none in {trials}: scores({name!r}) says why; choose another measure"
        )
    pooled = f"scores({name!r}, pooled=True) scores all rows together, which leaves no spread to judge by"
    if left["dataset"].nunique() > 1:
        pooled = f"or judge all rows together by advise(results.wide({name!r}, pooled=True), measure={name!r})"
    raise InputError(
        f"{name} must have values for a verdict, got none in {trials}, which test on single rows: choose a measure that is "
        f"defined for a single row, such as accuracy or brier; {pooled}"
    )


def _test_fraction(archive: Archive, scores: pd.DataFrame) -> float | None:
    """The share of rows that a split of the first data set tests on; None for plain folds, which tell it by their number."""
    first = scores[scores["dataset"] == scores["dataset"].iloc[0]].drop_duplicates(["repeat", "fold"])
    splits = list(zip(first["repeat"].tolist(), first["fold"].tolist(), strict=True))
    share = share_tested(archive, str(first["dataset"].iloc[0]), splits)
    folds = first.groupby("repeat").size().max()
    return share if abs(share * folds - 1) > 1e-9 else None
