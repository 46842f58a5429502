"""What a change of the test part costs learners that were trained before it: plain loss and performance deterioration."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import performance_deterioration
from fairtrial.study.archive import Archive, ConditionFacts
from fairtrial.study.results.choosing import CLEAN, told_condition, under
from fairtrial.study.results.split_spread import half_width, share_tested

if TYPE_CHECKING:
    import pandas as pd

_SPLIT = ["repeat", "fold"]
_COLUMNS = ["dataset", "condition", "level", "learner", "clean", "error", "loss", "loss_low", "loss_high"]
_COLUMNS += ["ideal", "trivial", "pd", "splits", "note"]


def deteriorations(archive: Archive, errors: pd.DataFrame, trials: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
    """A line for each data set, learner and condition that changes the test part alone; `errors` are error rates by trial.

    - `clean` and `error`: error rate on the test part as it was and as it became, of the learner trained before the change;
    - `loss`: error - clean over the splits that have both, with an interval corrected for the overlap of the splits;
    - `ideal`: error rate of the same learner trained under the same change, from the condition declared with part "all";
    - `trivial`: error rate of the most frequent class of all these test rows; `pd`: performance deterioration of the means.
    """
    import pandas as pd

    shifts = [each for each in archive.conditions if each.name != CLEAN and each.description.get("part") == "test"]
    if not shifts:
        raise InputError(
            "deterioration needs a condition that changes the test part alone, got none: declare one with part = 'test', and "
            "the same with part = 'all' for the learner that is trained on the change"
        )
    lines = []
    for shift in shifts:
        known = {"shift": shift, "clean": _clean(archive.conditions), "ideal": _ideal(archive.conditions, shift)}
        own = {name: errors[under(errors, each)] if each else errors[:0] for name, each in known.items()}
        for facts in archive.datasets:
            trivial = _trivial(archive, trials, facts.name, len(facts.classes), shift)
            for learner in (each.name for each in archive.learners):
                rates = {name: _rates(frame, facts.name, learner) for name, frame in own.items()}
                if len(rates["shift"]):
                    place = {"dataset": facts.name, "condition": shift.name, "level": shift.level, "learner": learner}
                    lines.append(place | _line(archive, facts.name, rates, trivial, shift, alpha))
    frame = pd.DataFrame(lines, columns=_COLUMNS)
    _warn_undefined(frame)
    return frame


def _clean(conditions: Sequence[ConditionFacts]) -> ConditionFacts | None:
    return next((each for each in conditions if each.name == CLEAN), None)


def _ideal(conditions: Sequence[ConditionFacts], shift: ConditionFacts) -> ConditionFacts | None:
    """The same change of both parts."""
    wanted = {**shift.description, "part": "all"}
    return next((each for each in conditions if dict(each.description) == wanted), None)


def _rates(errors: pd.DataFrame, dataset: str, learner: str) -> pd.Series[float]:
    own = errors[(errors["dataset"] == dataset) & (errors["learner"] == learner) & errors["value"].notna()]
    return own.set_index(_SPLIT)["value"].astype(np.float64)


def _trivial(archive: Archive, trials: pd.DataFrame, dataset: str, classes: int, shift: ConditionFacts) -> float:
    """The share of test rows outside their most frequent class; learners share rows, so that one trial of each split does."""
    own = trials[(trials["dataset"] == dataset) & (trials["status"] == "ok") & under(trials, shift)]
    numbers = own.drop_duplicates(_SPLIT)["trial"].tolist()
    counts = np.zeros(classes)
    for one in archive.predictions(numbers):
        counts += np.bincount(one.truth, minlength=classes)
    return float(1 - counts.max() / counts.sum()) if counts.any() else float("nan")


def _line(
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
    loss, half = (float(differences.mean()), _half(archive, dataset, both, differences, alpha)) if len(both) else (np.nan,) * 2
    same = error.index.intersection(ideal.index)
    deterioration, note = np.nan, ""
    if not len(ideal):
        note = f"declare {_declared(shift)} with part = 'all' as well, for the learner that is trained on the change"
    elif len(same):
        deterioration = _pd(float(error.loc[same].mean()), float(ideal.loc[same].mean()), trivial)
        if np.isnan(deterioration):
            note = "the learner trained on the change does not beat the trivial classifier"
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


def _declared(shift: ConditionFacts) -> str:
    kind = shift.description.get("condition", shift.name)
    return f"{told_condition(shift)} ({kind})" if kind != shift.name else told_condition(shift)


def _half(archive: Archive, dataset: str, splits: Any, differences: FloatArray, alpha: float) -> float:
    return half_width(differences, share_tested(archive, dataset, splits.tolist()), alpha)


def _pd(error: float, ideal: float, trivial: float) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return float(performance_deterioration(error, ideal, trivial))


def _warn_undefined(frame: pd.DataFrame) -> None:
    bad = frame[frame["pd"].isna()]
    if len(bad):
        told = "; ".join(dict.fromkeys(note for note in bad["note"] if note))
        words = f"pd is undefined in {len(bad)} of {len(frame)} lines: {told or 'no split has both trials'}"
        warnings.warn(words, UndefinedMeasureWarning, stacklevel=4)
