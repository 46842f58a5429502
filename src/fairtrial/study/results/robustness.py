"""Robustness to noise and shift: losses of accuracy and performance deterioration (pD)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import Measure, ela, get_measure, performance_deterioration, rla
from fairtrial.study.archive import Archive, ConditionFacts
from fairtrial.study.results.selection import CLEAN, choose_names, format_condition, is_train_size, mask_condition
from fairtrial.study.results.stacking import (
    compute_half_width,
    compute_mean_half_width,
    compute_test_fraction,
    keep_shared_splits,
)

if TYPE_CHECKING:
    import pandas as pd

_SPLIT_KEYS = ["repeat", "fold"]
_LEARNER_SPLIT_KEYS = ["dataset", "learner", *_SPLIT_KEYS]
_DETERIORATION_COLUMNS = [
    *("dataset", "condition", "level", "learner", "clean", "error", "loss", "loss_low", "loss_high"),
    *("ideal", "trivial", "pd", "splits", "note"),
]


def compute_losses(
    archive: Archive, scores: pd.DataFrame, measure: Measure, condition: str | None, alpha: float = 0.05
) -> pd.DataFrame:
    """Compute clean and noisy mean scores, and the losses RLA and ELA with intervals.

    The result has a row for each data set, condition, level and learner. The row is missing if any clean or noisy trial of the
    learner on this data set failed. Means are taken over the splits that all remaining learners share, both for clean and for
    noisy data. Intervals use the delta method. The variance over splits is corrected for overlapping training sets (Nadeau &
    Bengio 2003).
    """
    import pandas as pd

    _check_measure(measure)
    changed_conditions = _select_changed(archive.conditions, condition)
    counting = keep_shared_splits(scores)
    clean = _select_valued(counting, next(facts for facts in archive.conditions if facts.name == CLEAN))
    get_test_fraction = cache(lambda dataset, splits: compute_test_fraction(archive, dataset, list(splits)))
    lines = []
    for facts in changed_conditions:
        both = clean.merge(_select_valued(counting, facts), on=_LEARNER_SPLIT_KEYS, suffixes=("_clean", "_noisy"))
        for (dataset, learner), pairs in both.groupby(["dataset", "learner"], sort=False, observed=True):
            test_fraction = get_test_fraction(
                dataset, tuple(zip(pairs["repeat"].tolist(), pairs["fold"].tolist(), strict=True))
            )
            labels = {"dataset": dataset, "condition": facts.name, "level": facts.level, "learner": learner}
            before, after = (pairs[f"value_{when}"].to_numpy(dtype=np.float64) for when in ("clean", "noisy"))
            lines.append(labels | _compute_loss(before, after, test_fraction, alpha))
    columns = ["dataset", "condition", "level", "learner", *_compute_loss(np.ones(1), np.ones(1), 0.5, alpha)]
    frame = pd.DataFrame(lines, columns=columns)
    _warn_undefined_losses(frame)
    return frame


def average_losses(frame: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
    """Average the losses of each learner over data sets, and compute t intervals.

    `frame` is the result of `compute_losses`. For each condition, the averages include the data sets on which all learners have
    a value. Learners without any value under the condition are ignored in this selection.
    """
    import pandas as pd

    lines = []
    common = _mask_common_datasets(frame)
    for labels, group in frame.groupby(["condition", "level", "learner"], sort=False, observed=True, dropna=False):
        defined = group[group["ela"].notna() & common.loc[group.index]]
        line: dict[str, Any] = dict(zip(("condition", "level", "learner"), labels, strict=True))
        line |= {name: defined[name].mean() for name in ("clean", "noisy")}
        for name in ("rla", "ela"):
            values = defined[name].to_numpy(dtype=np.float64)
            middle, half = (values.mean(), compute_mean_half_width(values, alpha)) if len(values) else (np.nan, np.nan)
            line |= _clip_limits(name, middle, half)
        lines.append(line | {"datasets": len(defined)})
    return pd.DataFrame(lines)


def _mask_common_datasets(frame: pd.DataFrame) -> pd.Series[bool]:
    """Make a mask of the rows of data sets on which every learner has a value.

    Each condition is considered separately. Learners without any value under the condition are ignored.
    """
    defined = frame[frame["ela"].notna()]
    keys = ["condition", "level"]
    learners = defined.groupby(keys, observed=True, dropna=False)["learner"].nunique()
    here = defined.groupby([*keys, "dataset"], observed=True, dropna=False)["learner"].nunique()
    counts = frame.merge(learners.rename("all").reset_index(), on=keys, how="left")
    counts = counts.merge(here.rename("here").reset_index(), on=[*keys, "dataset"], how="left")
    return (counts["here"] == counts["all"]).set_axis(frame.index)


def _check_measure(measure: Measure) -> None:
    facts = measure.facts
    if facts.direction != "max" or facts.range != (0, 1):
        raise InputError(
            f"measure must range from 0 (worst) to 1 (best) for losses of accuracy, got {measure.name} with range "
            f"{facts.range}: choose accuracy, balanced_accuracy or auc"
        )


def _select_changed(conditions: Sequence[ConditionFacts], condition: str | None) -> list[ConditionFacts]:
    names = list(dict.fromkeys(facts.name for facts in conditions if facts.name != CLEAN and not is_train_size(facts)))
    if not names:
        raise InputError("robustness needs a condition other than clean, got none: add e.g. class-noise = [0, 0.1]")
    chosen = choose_names("condition", names, condition)
    if all(facts.name != CLEAN for facts in conditions):
        raise InputError(f"robustness needs clean trials, got none: add 0 to the levels of {chosen[0]}")
    return [facts for facts in conditions if facts.name in chosen]


def _select_valued(scores: pd.DataFrame, condition: ConditionFacts) -> pd.DataFrame:
    selected = scores[mask_condition(scores, condition)]
    return selected.loc[selected["value"].notna(), [*_LEARNER_SPLIT_KEYS, "value"]]


def _compute_loss(before: FloatArray, after: FloatArray, test_fraction: float, alpha: float) -> dict[str, Any]:
    """Compute RLA and ELA from the mean scores, with delta-method intervals."""
    start, end = float(before.mean()), float(after.mean())
    line: dict[str, Any] = {"clean": start, "noisy": end}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        loss_values = {"rla": rla(start, end, scale=1), "ela": ela(start, end, scale=1)}
    # RLA - 1 and ELA are quotients (constant - after) / before, with the derivatives -1 / before and -quotient / before.
    quotients = {"rla": loss_values["rla"] - 1, "ela": loss_values["ela"]}
    for name, value in loss_values.items():
        half = (
            compute_half_width((after + quotients[name] * before) / start, test_fraction, alpha) if start > 0 else float("nan")
        )
        line |= _clip_limits(name, value, half)
    return line | {"splits": len(before)}


def _clip_limits(name: str, value: float, half: float) -> dict[str, float]:
    """Clip the confidence limits of a loss to the range of its measure."""
    lowest, highest = get_measure(name).facts.range
    low, high = np.maximum(value - half, lowest), np.minimum(value + half, highest)
    return {name: value, f"{name}_low": float(low), f"{name}_high": float(high)}


def _warn_undefined_losses(frame: pd.DataFrame) -> None:
    bad = frame[frame["ela"].isna()]
    if len(bad):
        first = bad.iloc[0]
        first_case = f"{first['learner']} on {first['dataset']}"
        warnings.warn(
            f"rla and ela are undefined in {len(bad):,} of {len(frame):,} rows ({first_case}): the clean mean is 0",
            UndefinedMeasureWarning,
            stacklevel=4,
        )


def compute_deteriorations(archive: Archive, errors: pd.DataFrame, trials: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
    """Compute pD and the increase in error rate under conditions that change only the test set.

    `errors` contains the error rate of each trial. The result has a row for each condition, data set and learner. The columns
    include:

    - `clean` and `error`: error rates on the clean and on the changed test sets, for the learner trained on clean data;
    - `loss`: `error` minus `clean` on the splits that have both, with an interval corrected for overlapping training sets;
    - `ideal`: error rate of the same learner trained under the condition, which is also declared with `part = "all"`;
    - `trivial`: error rate if the most frequent class of the changed test rows is always predicted;
    - `pd`: performance deterioration (pD), computed from the mean error rates.
    """
    import pandas as pd

    shifts = [
        condition for condition in archive.conditions if condition.name != CLEAN and condition.description.get("part") == "test"
    ]
    if not shifts:
        raise InputError(
            "deterioration needs a condition that changes only the test set, got none: declare one with part = 'test', and "
            "once more with part = 'all' for the learner trained under the condition"
        )
    lines = []
    for shift in shifts:
        conditions = {"shift": shift, "clean": _find_clean(archive.conditions), "ideal": _find_ideal(archive.conditions, shift)}
        errors_by_role = {
            name: errors[mask_condition(errors, condition)] if condition else errors[:0]
            for name, condition in conditions.items()
        }
        for facts in archive.datasets:
            trivial = _compute_trivial_error(archive, trials, facts.name, len(facts.classes), shift)
            for learner in (facts.name for facts in archive.learners):
                rates = {name: _select_rates(frame, facts.name, learner) for name, frame in errors_by_role.items()}
                if len(rates["shift"]):
                    labels = {"dataset": facts.name, "condition": shift.name, "level": shift.level, "learner": learner}
                    lines.append(labels | _build_deterioration_row(archive, facts.name, rates, trivial, shift, alpha))
    frame = pd.DataFrame(lines, columns=_DETERIORATION_COLUMNS)
    _warn_undefined_pd(frame)
    return frame


def _find_clean(conditions: Sequence[ConditionFacts]) -> ConditionFacts | None:
    return next((condition for condition in conditions if condition.name == CLEAN), None)


def _find_ideal(conditions: Sequence[ConditionFacts], shift: ConditionFacts) -> ConditionFacts | None:
    """Find the condition that has the parameters of `shift`, except for `part = "all"`."""
    description = {**shift.description, "part": "all"}
    return next((condition for condition in conditions if dict(condition.description) == description), None)


def _select_rates(errors: pd.DataFrame, dataset: str, learner: str) -> pd.Series[float]:
    selected = errors[(errors["dataset"] == dataset) & (errors["learner"] == learner) & errors["value"].notna()]
    return selected.set_index(_SPLIT_KEYS)["value"].astype(np.float64)


def _compute_trivial_error(archive: Archive, trials: pd.DataFrame, dataset: str, classes: int, shift: ConditionFacts) -> float:
    """Compute the proportion of test rows that are not in the most frequent class.

    The test rows under the condition are read from one successful trial of each split.
    """
    shift_trials = trials[(trials["dataset"] == dataset) & (trials["status"] == "ok") & mask_condition(trials, shift)]
    numbers = shift_trials.drop_duplicates(_SPLIT_KEYS)["trial"].tolist()
    counts = np.zeros(classes)
    for predictions in archive.predictions(numbers):
        counts += np.bincount(predictions.y_true, minlength=classes)
    return float(1 - counts.max() / counts.sum()) if counts.any() else float("nan")


def _build_deterioration_row(
    archive: Archive,
    dataset: str,
    rates: Mapping[str, pd.Series[float]],
    trivial: float,
    shift: ConditionFacts,
    alpha: float,
) -> dict[str, Any]:
    error, clean, ideal = rates["shift"], rates["clean"], rates["ideal"]
    both = error.index.intersection(clean.index)
    differences = np.asarray(error.loc[both] - clean.loc[both], dtype=np.float64)
    loss, half = (
        (float(differences.mean()), _compute_split_half_width(archive, dataset, both, differences, alpha))
        if len(both)
        else (np.nan,) * 2
    )
    same = error.index.intersection(ideal.index)
    deterioration, note = np.nan, ""
    if not len(ideal):
        note = f"declare {_format_shift(shift)} with part = 'all', too, for the learner trained under the condition"
    elif len(same):
        deterioration = _compute_pd(float(error.loc[same].mean()), float(ideal.loc[same].mean()), trivial)
        if np.isnan(deterioration):
            note = "the learner trained under the condition is not better than the trivial classifier"
    return {
        "clean": clean.mean(),
        "error": error.mean(),
        "loss": loss,
        "loss_low": loss - half,
        "loss_high": loss + half,
        "ideal": ideal.mean(),
        "trivial": trivial,
        "pd": deterioration,
        "splits": len(error),
        "note": note,
    }


def _format_shift(shift: ConditionFacts) -> str:
    kind = shift.description.get("condition", shift.name)
    return f"{format_condition(shift)} ({kind})" if kind != shift.name else format_condition(shift)


def _compute_split_half_width(archive: Archive, dataset: str, splits: Any, differences: FloatArray, alpha: float) -> float:
    return compute_half_width(differences, compute_test_fraction(archive, dataset, splits.tolist()), alpha)


def _compute_pd(error: float, ideal: float, trivial: float) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return float(performance_deterioration(error, ideal, trivial))


def _warn_undefined_pd(frame: pd.DataFrame) -> None:
    bad = frame[frame["pd"].isna()]
    if len(bad):
        notes = "; ".join(dict.fromkeys(note for note in bad["note"] if note))
        message = f"pd is undefined in {len(bad):,} of {len(frame):,} rows: {notes or 'no split has both trials'}"
        warnings.warn(message, UndefinedMeasureWarning, stacklevel=4)
