"""Curves of a study's evidence: the pooled test rows of one repeat, a curve for each learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import measures
from fairtrial._check import one_of
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.study.archive import Archive
from fairtrial.study.evidence import Predictions
from fairtrial.study.results.class_order import ClassOrder
from fairtrial.study.results.score_lines import joined

if TYPE_CHECKING:
    import pandas as pd

KINDS: Mapping[str, Callable[..., Any]] = {
    "roc": measures.roc_curve,
    "roc-hull": measures.roc_hull,
    "precision-recall": measures.precision_recall_curve,
    "gain": measures.gain_curve,
    "tpr-fpr": measures.tpr_fpr_curve,
    "cost": measures.cost_curve,
    "cost-lines": measures.cost_lines,
    "brier": measures.brier_curve,
    "calibration": measures.calibration_curve,
}
_ALIASES = {"pr": "precision-recall", "lift": "gain", "hull": "roc-hull"}
_OF_PROBABILITIES = ("brier", "calibration")


def curve_kind(kind: str) -> str:
    """The name of a kind of curve.

    >>> curve_kind("pr")
    'precision-recall'
    """
    name = _ALIASES.get(kind, kind)
    if name not in KINDS:
        hint = did_you_mean(kind, [*KINDS, *_ALIASES])
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}: {hint}")
    return name


def pooled_repeat(archive: Archive, trials: pd.DataFrame, repeat: int | None) -> dict[str, Predictions]:
    """The test rows of all folds of a repeat (the first by default), by learner; of one data set and condition."""
    repeats = sorted(set(trials["repeat"].tolist()))
    if repeat is None:
        repeat = repeats[0]
    one_of("repeat", repeat, repeats)
    found = {}
    for learner, own in trials[trials["repeat"] == repeat].groupby("learner", sort=False, observed=True):
        good = own[own["status"] == "ok"]
        if len(good) == len(own):
            found[str(learner)] = joined(list(archive.predictions(good["trial"].tolist())))
    return found


def curves_of(kind: str, evidence: Mapping[str, Predictions], order: ClassOrder, learners: Sequence[str]) -> pd.DataFrame:
    """The curves one below the other, with a column for the learner; learners without what it needs are warned about."""
    import pandas as pd

    name = curve_kind(kind)
    if order.positive is None:
        raise InputError(f"positive must be named when the classes are {order.names}: a curve shows one class against the rest")
    parts, left_out = [], []
    for learner in learners:
        why = _why_not(name, evidence.get(learner))
        if why:
            left_out.append(f"{learner} ({why})")
            continue
        one = evidence[learner]
        assert one.scores is not None
        label = order.order[order.positive]
        column = np.ascontiguousarray(one.scores[:, label])
        frame = KINDS[name]((one.truth == label).astype(np.intp), column, labels=[0, 1])
        frame.insert(0, "learner", learner)
        parts.append(frame)
    if left_out:
        told = f"no {name} curve for {', '.join(left_out)}"
        if not parts:
            raise InputError(f"{told}: choose learners that give scores, or run the missing trials")
        warnings.warn(told, UndefinedMeasureWarning, stacklevel=3)
    together: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return together


def _why_not(name: str, one: Predictions | None) -> str:
    if one is None:
        return "trials failed or have not run"
    if one.scores is None:
        return "it gives no scores"
    if name in _OF_PROBABILITIES and one.score_kind != "probability":
        return "it gives decision values, no probabilities"
    return ""
