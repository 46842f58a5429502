"""Verdict of a study: policies for failed trials, and the comparison of learners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, check_one_of
from fairtrial._findings import Finding
from fairtrial._text import format_count
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.significance.compare import compare
from fairtrial.significance.scores import Scores
from fairtrial.significance.verdict import Verdict
from fairtrial.study.archive import Archive, ConditionFacts, DataFacts
from fairtrial.study.records import Predictions
from fairtrial.study.results.scores import ScoreRequest, score_predictions
from fairtrial.study.results.selection import CLEAN, format_condition, mask_condition, mask_failed
from fairtrial.study.results.stacking import ClassOrder, compute_test_fraction, find_straddling_groups

if TYPE_CHECKING:
    import pandas as pd

POLICIES = ("exclude", "worst-rank", "trivial")
_MIN_GAP = 1e-3
_SPLIT = ["dataset", "repeat", "fold"]


@dataclass(frozen=True)
class VerdictOptions:
    """Options of a verdict, declared by the study or given by the user."""

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
    """Build the verdict on one measure.

    Row i of `trials` must describe the trial of row i of `scores`.
    """
    in_condition = mask_condition(scores, options.condition)
    condition_scores, condition_trials = scores[in_condition], trials[in_condition]
    _check_finite(condition_scores, request)
    treated, failures = apply_policy(options.failures, archive, condition_scores, condition_trials, request, orders)
    _check_learners(archive, treated, options)
    _check_values(archive, treated, request)
    verdict = compare(
        _arrange_scores(treated, request.measure.name),
        measure=request.measure.name,
        control=options.control,
        alpha=options.alpha,
        rope=options.rope,
        test_fraction=_find_test_fraction(archive, treated),
    )
    verdict = replace(
        verdict, reasons=(*_list_context(archive, condition_scores, options.condition), *failures, *verdict.reasons)
    )
    divided = _find_divided_groups(archive, treated)
    if divided is None:
        return verdict
    if verdict.unit == "split" and not _is_temporal(archive):  # no test on splits accounts for groups with rows in both sets
        return replace(verdict, undecidable=replace(divided, kind="groups_undecidable"))
    return replace(verdict, caveats=(divided, *verdict.caveats))


def _arrange_scores(scores: pd.DataFrame, measure: str) -> Scores:
    """Arrange scores in a matrix of splits x learners, both in order of first occurrence."""
    import pandas as pd

    keys = ["dataset", "repeat", "fold"]
    splits = scores.groupby(keys, sort=False, observed=True).ngroup().to_numpy()
    codes, learners = pd.factorize(scores["learner"])
    cells = np.full((int(splits.max()) + 1, len(learners)), np.nan)
    cells[splits, codes] = scores["value"].to_numpy(dtype=np.float64)
    names = scores[keys].drop_duplicates().itertuples(index=False, name=None)
    rows = tuple((str(dataset), int(repeat), int(fold)) for dataset, repeat, fold in names)
    return Scores(cells, rows, tuple(map(str, learners)), (), measure)


def _is_temporal(archive: Archive) -> bool:
    """Return whether the splits are temporal.

    Such splits deliberately use earlier rows of a group to predict later rows.
    """
    declared = archive.declaration.get("resampling") or {}
    return declared.get("scheme") == "temporal" or str(declared.get("splitter")).endswith(".TimeSeriesSplit")


def _find_divided_groups(archive: Archive, scores: pd.DataFrame) -> Finding | None:
    """Find data sets with a split that has rows of one group in both training and test set."""
    splits = scores.drop_duplicates(["dataset", "repeat", "fold"])
    columns: dict[str, str] = {}
    for facts in archive.datasets:
        if facts.groups is None:
            continue
        chosen = splits.loc[splits["dataset"] == facts.name, ["repeat", "fold"]]
        for repeat, fold in chosen.itertuples(index=False, name=None):
            if find_straddling_groups(facts.groups, *archive.split(facts.name, int(repeat), int(fold))).size:
                columns[facts.name] = str(facts.group_column)
                break
    names = tuple(dict.fromkeys(columns.values()))
    return Finding.of("groups_in_both_sets", datasets=tuple(columns), columns=names) if columns else None


def _list_context(archive: Archive, scores: pd.DataFrame, condition: ConditionFacts) -> list[Finding]:
    findings = []
    if len(archive.conditions) > 1 or condition.name != CLEAN:
        effect = condition.summary if condition.name != CLEAN and condition.summary else "unchanged data"
        findings.append(Finding.of("condition", condition=format_condition(condition), effect=effect))
    n_missing = int((scores["status"] == "missing").sum())
    if n_missing:
        findings.append(Finding.of("incomplete", missing=n_missing, trials=len(scores)))
    return findings


def _check_finite(scores: pd.DataFrame, request: ScoreRequest) -> None:
    infinite = scores[np.isinf(scores["value"].to_numpy(dtype=np.float64))]
    if len(infinite):
        first = infinite.iloc[0]
        remedy = "pass clip=1e-6" if request.measure.name == "log_loss" else "choose another measure"
        raise InputError(
            f"{request.measure.name} must be finite for a verdict, got {format_count(len(infinite), 'infinite score')} "
            f"({first['learner']} on {first['dataset']}): {remedy}"
        )


def _check_learners(archive: Archive, left: pd.DataFrame, options: VerdictOptions) -> None:
    """Check that at least two learners are left, and that the control is one of them."""
    learners = [learner.name for learner in archive.learners]
    present = set(left["learner"].unique())
    remaining = [name for name in learners if name in present]
    remedy = "pass failures='worst-rank' or 'trivial', or rerun the failed trials"
    if len(remaining) < 2:
        why = "add another learner to the study" if len(learners) == 1 else f"no trial of the others succeeded; {remedy}"
        raise InputError(f"a verdict needs at least 2 learners, got only {remaining[0]!r}: {why}")
    if options.control in learners and options.control not in remaining:
        raise InputError(
            f"control must be a learner with a successful trial, got {options.control!r}, which always failed: {remedy}"
        )


def _check_values(archive: Archive, left: pd.DataFrame, request: ScoreRequest) -> None:
    """Check that there are scores to compare."""
    name, trials = request.measure.name, format_count(len(left), "trial")
    if left["value"].notna().any():
        return
    if not (left["status"] == "ok").any():
        raise InputError(f"a verdict needs successful trials, got none of {trials}: run the study")
    first = left.iloc[0]
    if len(archive.split(str(first["dataset"]), int(first["repeat"]), int(first["fold"]))[1]) > 1:
        raise InputError(
            f"{name} must be defined for a verdict, got no value in {trials}: see scores({name!r}), or choose another measure"
        )
    pooled = f"scores({name!r}, pooled=True) scores all rows together, but gives no variance for a test"
    if left["dataset"].nunique() > 1:
        pooled = f"or pool the rows: compare(results.wide({name!r}, pooled=True), measure={name!r})"
    raise InputError(
        f"{name} must be defined for a verdict, got no value in {trials} with one test row each: choose a measure that is "
        f"defined for one row, such as accuracy or brier; {pooled}"
    )


def _find_test_fraction(archive: Archive, scores: pd.DataFrame) -> float | None:
    """Compute the mean fraction of test rows on the first data set.

    Return None if this fraction is one divided by the number of folds.
    """
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
) -> tuple[pd.DataFrame, list[Finding]]:
    """Apply the policy for failed trials to the scores under one condition.

    Return the scores and, if any trial failed, findings that report the policy. Row i of `trials` must describe the trial of
    row i of `scores`.
    """
    check_one_of("failures", policy, POLICIES)
    bad = mask_failed(scores)
    if not bad.any():
        return scores, []
    counts = {"failed": int(bad.sum()), "trials": len(scores), "by_learner": _count_by_learner(scores[bad])}
    if policy == "exclude":
        left, finding = _exclude_failures(scores, bad)
    elif policy == "worst-rank":
        left, finding = _assign_worst(scores, bad, request.measure)
    else:
        left, finding = _assign_trivial(archive, scores, trials, bad, request, orders)
    return left, [Finding("failures", counts), *finding]


def _count_by_learner(scores: pd.DataFrame) -> tuple[str, ...]:
    counts = Counter(zip(scores["learner"], scores["status"], strict=True))
    return tuple(f"{learner}: {count:,} {status}" for (learner, status), count in counts.items())


def _exclude_failures(scores: pd.DataFrame, bad: Any) -> tuple[pd.DataFrame, list[Finding]]:
    """Exclude learners that never succeeded, then data sets on which another learner failed."""
    able = set(scores.loc[(scores["status"] == "ok").to_numpy(), "learner"])
    hopeless = [name for name in dict.fromkeys(scores.loc[bad, "learner"]) if name not in able]
    if not able:
        raise InputError(
            "failures must not be 'exclude' because every trial failed: see failures(), fix the cause and rerun the trials"
        )
    findings = [Finding.of("failed_learners_excluded", learners=tuple(map(str, hopeless)))] if hopeless else []
    is_hopeless = scores["learner"].isin(hopeless).to_numpy()
    excluded = list(dict.fromkeys(scores.loc[bad & ~is_hopeless, "dataset"]))
    left = scores[~is_hopeless & ~scores["dataset"].isin(excluded).to_numpy()]
    if left.empty:
        raise InputError(
            "failures must not be 'exclude' because a learner failed on every data set: pass failures='worst-rank' or "
            "'trivial', remove a learner, or rerun the failed trials"
        )
    if excluded:
        findings.append(Finding.of("failed_datasets_excluded", datasets=tuple(map(str, excluded))))
    return left, findings


def _assign_worst(scores: pd.DataFrame, bad: Any, measure: Measure) -> tuple[pd.DataFrame, list[Finding]]:
    """Assign the worst score to failed trials.

    If there are several data sets, the other trials of the learner on the same data set also get the worst score. If they kept
    their scores, the mean over splits would hide the failure.
    """
    kind = "failures_worst_score"
    if scores["dataset"].nunique() > 1:
        cell = scores["dataset"].astype(str) + "\0" + scores["learner"].astype(str)
        bad = cell.isin(cell[bad]).to_numpy()
        kind = "failures_worst_rank"
    values = scores["value"].to_numpy(dtype=np.float64)
    worst = _compute_worst_value(values[~bad & np.isfinite(values)], measure)
    return scores.assign(value=np.where(bad, worst, values)), [Finding.of(kind)]


def _compute_worst_value(good: FloatArray, measure: Measure) -> float:
    """Return a value that is worse than all scores.

    This is the worst possible value of the measure, unless that value is infinite or one of the scores. In that case, the
    returned value is worse than the worst score by at least the range of the scores. A smaller difference could get the
    smallest rank in a signed-rank test, which would favour the failed learner.
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
) -> tuple[pd.DataFrame, list[Finding]]:
    values = scores["value"].to_numpy(dtype=np.float64).copy()
    trial_by_split = _index_succeeded_trials(trials)
    for facts, order in zip(archive.datasets, orders, strict=True):
        indices = np.flatnonzero(bad & (scores["dataset"] == facts.name).to_numpy())
        splits = scores.iloc[indices][["repeat", "fold"]].to_numpy().tolist()
        predictions = [predict_trivial(archive, facts, order, repeat, fold, trial_by_split) for repeat, fold in splits]
        values[indices] = score_predictions(predictions, order, [request])[0][0]
    return scores.assign(value=values), [Finding.of("failures_trivial")]


def _index_succeeded_trials(trials: pd.DataFrame) -> dict[tuple[str, int, int], int]:
    """Find one successful trial of each split.

    The test rows under the condition can be read from this trial.
    """
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
    """Predict the most frequent class of the training set for each test row.

    The class proportions in the training set serve as probabilities.
    """
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
