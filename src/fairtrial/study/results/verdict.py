"""The verdict of a study: the scores of one condition, failures treated as declared, through `significance.advise`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, check_one_of
from fairtrial._text import format_count
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.significance.compare import compare
from fairtrial.significance.reading import read_scores
from fairtrial.significance.verdict import Step, Verdict
from fairtrial.study.archive import Archive, ConditionFacts, DataFacts
from fairtrial.study.records import Predictions
from fairtrial.study.results.scores import ScoreRequest, score_predictions
from fairtrial.study.results.selection import CLEAN, format_condition, mask_condition, mask_failed
from fairtrial.study.results.stacking import ClassOrder, compute_test_fraction

if TYPE_CHECKING:
    import pandas as pd

POLICIES = ("exclude", "worst-rank", "trivial")
_QUESTION = "What becomes of failed trials?"
_MIN_GAP = 1e-3
_SPLIT = ["dataset", "repeat", "fold"]


@dataclass(frozen=True)
class VerdictOptions:
    """What to judge, and how: as the study declares it or as the user says."""

    condition: ConditionFacts
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    failures: str = "exclude"


def build_verdict(
    archive: Archive,
    scores: pd.DataFrame,
    trials: pd.DataFrame,
    request: ScoreRequest,
    orders: Sequence[ClassOrder],
    options: VerdictOptions,
) -> Verdict:
    """The verdict on the scores of one measure; `trials` are the lines of `archive.trials()` in the same order as `scores`."""
    in_condition = mask_condition(scores, options.condition)
    condition_scores, condition_trials = scores[in_condition], trials[in_condition]
    _check_finite(condition_scores, request)
    treated, failures = apply_policy(options.failures, archive, condition_scores, condition_trials, request, orders)
    _check_learners(archive, treated, options)
    _check_values(archive, treated, request)
    tidy = treated[["dataset", "learner", "repeat", "fold", "value"]].reset_index(drop=True)
    read = replace(read_scores(tidy, measure=None), guesses=(), measure=request.measure.name)
    verdict = compare(
        read,
        measure=request.measure.name,
        control=options.control,
        alpha=options.alpha,
        rope=options.rope,
        test_fraction=_find_test_fraction(archive, treated),
    )
    return replace(
        verdict, steps=(*_list_context_steps(archive, condition_scores, options.condition), *failures, *verdict.steps)
    )


def _list_context_steps(archive: Archive, scores: pd.DataFrame, condition: ConditionFacts) -> list[Step]:
    steps: list[Step] = []
    if len(archive.conditions) > 1 or condition.name != CLEAN:
        description = format_condition(condition)
        effect = condition.summary if condition.name != CLEAN and condition.summary else "nothing is changed"
        steps.append(("Under which condition?", description, f"Condition: {description} ({effect})."))
    waiting = int((scores["status"] == "missing").sum())
    if waiting:
        description = f"{waiting:,} of {format_count(len(scores), 'trial')} {'has' if waiting == 1 else 'have'} not run"
        reason = f"The study is incomplete: {description}, so that this verdict is provisional."
        steps.append(("Is the study complete?", "no", reason))
    return steps


def _check_finite(scores: pd.DataFrame, request: ScoreRequest) -> None:
    endless = scores[np.isinf(scores["value"].to_numpy(dtype=np.float64))]
    if len(endless):
        first = endless.iloc[0]
        remedy = "pass clip=1e-6" if request.measure.name == "log_loss" else "choose another measure"
        raise InputError(
            f"{request.measure.name} must be finite for a verdict, got {len(endless)} infinite scores "
            f"({first['learner']} on {first['dataset']}): {remedy}"
        )


def _check_learners(archive: Archive, left: pd.DataFrame, options: VerdictOptions) -> None:
    """At least two learners to compare, and the control among them."""
    learners = [learner.name for learner in archive.learners]
    remaining = [name for name in learners if name in set(left["learner"])]
    remedy = "choose failures='worst-rank' or 'trivial', or run its failed trials again"
    if len(remaining) < 2:
        why = "add another one to the study" if len(learners) == 1 else f"no trial of the others succeeded; {remedy}"
        raise InputError(f"a verdict needs at least 2 learners to compare, got only {remaining[0]!r}: {why}")
    if options.control in learners and options.control not in remaining:
        raise InputError(
            f"control must be a learner that succeeded somewhere, got {options.control!r}, which never did: {remedy}"
        )


def _check_values(archive: Archive, left: pd.DataFrame, request: ScoreRequest) -> None:
    """Something to compare them by."""
    name, trials = request.measure.name, format_count(len(left), "trial")
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
        pooled = f"or judge all rows together by compare(results.wide({name!r}, pooled=True), measure={name!r})"
    raise InputError(
        f"{name} must have values for a verdict, got none in {trials}, which test on single rows: choose a measure that is "
        f"defined for a single row, such as accuracy or brier; {pooled}"
    )


def _find_test_fraction(archive: Archive, scores: pd.DataFrame) -> float | None:
    """The share of rows that a split of the first data set tests on; None for plain folds, whose number says it."""
    first = scores[scores["dataset"] == scores["dataset"].iloc[0]].drop_duplicates(["repeat", "fold"])
    splits = list(zip(first["repeat"].tolist(), first["fold"].tolist(), strict=True))
    fraction = compute_test_fraction(archive, str(first["dataset"].iloc[0]), splits)
    folds = first.groupby("repeat").size().max()
    return fraction if abs(fraction * folds - 1) > 1e-9 else None


def apply_policy(
    policy: str,
    archive: Archive,
    scores: pd.DataFrame,
    trials: pd.DataFrame,
    request: ScoreRequest,
    orders: Sequence[ClassOrder],
) -> tuple[pd.DataFrame, list[Step]]:
    """Scores of one condition with the policy applied, and the step that says so; none where nothing failed.

    `trials` are the lines of `archive.trials()` that belong to `scores`, in the same order.
    """
    check_one_of("failures", policy, POLICIES)
    bad = mask_failed(scores)
    if not bad.any():
        return scores, []
    summary = f"{int(bad.sum()):,} of {format_count(len(scores), 'trial')} failed ({_count_by_learner(scores[bad])})"
    if policy == "exclude":
        left, explanation = _exclude_failures(scores, bad)
    elif policy == "worst-rank":
        left, explanation = _assign_worst(scores, bad, request.measure)
    else:
        left, explanation = _assign_trivial(archive, scores, trials, bad, request, orders)
    return left, [(_QUESTION, policy, f"{summary}: {explanation}.")]


def _count_by_learner(lines: pd.DataFrame) -> str:
    counts = Counter(zip(lines["learner"], lines["status"], strict=True))
    return ", ".join(f"{learner}: {count:,} {status}" for (learner, status), count in counts.items())


def _exclude_failures(scores: pd.DataFrame, bad: Any) -> tuple[pd.DataFrame, str]:
    """Learners that never succeeded go first: data sets are left out for the sake of those that did."""
    able = set(scores.loc[(scores["status"] == "ok").to_numpy(), "learner"])
    hopeless = [name for name in dict.fromkeys(scores.loc[bad, "learner"]) if name not in able]
    if not able:
        raise InputError(
            "failures must not be 'exclude' where every learner failed on every data set, for nothing is left: see what "
            "failures() says, mend it and run the trials again"
        )
    sentences = [f"{', '.join(hopeless)} succeeded nowhere and {_choose_verb(hopeless)} left out"] if hopeless else []
    is_hopeless = scores["learner"].isin(hopeless).to_numpy()
    excluded = list(dict.fromkeys(scores.loc[bad & ~is_hopeless, "dataset"]))
    left = scores[~is_hopeless & ~scores["dataset"].isin(excluded).to_numpy()]
    if left.empty:
        raise InputError(
            "failures must not be 'exclude' where learners failed on every data set, for nothing is left: choose 'worst-rank' "
            "or 'trivial', leave a learner out, or run the failed trials again"
        )
    if excluded:
        sets = "the data set" if len(excluded) == 1 else f"the {len(excluded):,} data sets"
        who = "another" if hopeless else "a learner"
        sentences.append(f"{sets} on which {who} failed {_choose_verb(excluded)} left out ({', '.join(excluded)})")
    return left, "; ".join(sentences)


def _choose_verb(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _assign_worst(scores: pd.DataFrame, bad: Any, measure: Measure) -> tuple[pd.DataFrame, str]:
    """One failure costs the whole data set: the mean of the folds that went well would hide it."""
    explanation = "each counts as the worst score that there is, so that no difference is larger"
    if scores["dataset"].nunique() > 1:
        cell = scores["dataset"].astype(str) + "\0" + scores["learner"].astype(str)
        bad = cell.isin(cell[bad]).to_numpy()
        explanation = (
            f"a learner that failed on a data set gets the worst rank there, whatever it did on other splits; {explanation}"
        )
    values = scores["value"].to_numpy(dtype=np.float64)
    worst = _compute_worst_value(values[~bad & np.isfinite(values)], measure)
    return scores.assign(value=np.where(bad, worst, values)), explanation


def _compute_worst_value(good: FloatArray, measure: Measure) -> float:
    """The worst end of the measure's range, else a value as far behind all others as these lie apart.

    A value just behind the others would be the smallest difference of a signed rank test, and speak for who failed.
    """
    low, high = measure.facts.range
    end, sign = (low, 1.0) if measure.facts.direction == "max" else (high, -1.0)
    if not len(good):
        return float("nan")
    lowest, highest = float((sign * good).min()), float((sign * good).max())
    if np.isfinite(end) and sign * end < lowest:
        return float(end)
    return sign * (lowest - max(highest - lowest, _MIN_GAP * max(abs(lowest), 1.0)))


def _assign_trivial(
    archive: Archive, scores: pd.DataFrame, trials: pd.DataFrame, bad: Any, request: ScoreRequest, orders: Sequence[ClassOrder]
) -> tuple[pd.DataFrame, str]:
    values = scores["value"].to_numpy(dtype=np.float64).copy()
    trial_by_split = _index_succeeded_trials(trials)
    for facts, order in zip(archive.datasets, orders, strict=True):
        indices = np.flatnonzero(bad & (scores["dataset"] == facts.name).to_numpy())
        splits = scores.iloc[indices][["repeat", "fold"]].to_numpy().tolist()
        predictions = [predict_trivial(archive, facts, order, repeat, fold, trial_by_split) for repeat, fold in splits]
        values[indices] = score_predictions(predictions, order, [request])[0][0]
    explanation = (
        "each counts as the score of the trivial classifier, which names the most frequent class of the training part and "
        "gives the shares of the classes there as scores"
    )
    return scores.assign(value=values), explanation


def _index_succeeded_trials(trials: pd.DataFrame) -> dict[tuple[str, int, int], int]:
    """A trial of each split that did not fail: the condition may have changed the test rows, and all learners had the same."""
    good = trials[trials["status"] == "ok"].drop_duplicates(_SPLIT)
    keys = zip(*(good[name].tolist() for name in _SPLIT), strict=True)
    return dict(zip(keys, good["trial"].tolist(), strict=True))


def predict_trivial(
    archive: Archive,
    facts: DataFacts,
    order: ClassOrder,
    repeat: int,
    fold: int,
    trial_by_split: dict[tuple[str, int, int], int] | None = None,
) -> Predictions:
    """What the trivial classifier says of a test part: the most frequent class of the data set's training rows."""
    train, test = archive.split(facts.name, repeat, fold)
    rows, y_true = test, facts.codes[test]
    number = (trial_by_split or {}).get((facts.name, repeat, fold))
    if number is not None:
        predictions = next(iter(archive.predictions([number])))
        rows, y_true = predictions.rows, predictions.y_true
    train_codes = facts.codes[train]
    counts = np.bincount(train_codes[train_codes >= 0], minlength=len(facts.classes))
    class_indices = list(order.order)
    likely = class_indices[int(counts[class_indices].argmax())]
    proportions = np.tile(counts / counts.sum(), (len(rows), 1))
    return Predictions(rows, y_true, np.full(len(rows), likely, dtype=np.intp), proportions, "probability")
