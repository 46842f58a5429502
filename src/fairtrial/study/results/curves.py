"""Curves of the learners of a study: ROC, precision-recall, calibration and others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import measures
from fairtrial._registry import suggest_name
from fairtrial._text import join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.study.records import Predictions
from fairtrial.study.results.stacking import ClassOrder

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
_PROBABILITY_KINDS = ("brier", "calibration")


def build_curves(kind: str, predictions: Mapping[str, Predictions], order: ClassOrder, learners: Sequence[str]) -> pd.DataFrame:
    """Build a table with the curves of all learners.

    Learners without the necessary scores are left out, and a warning names them.
    """
    import pandas as pd

    name = resolve_curve_kind(kind)
    if order.positive is None:
        raise InputError(f"positive must be given for the classes {order.names}: a curve shows one class against the others")
    parts, left_out = [], []
    for learner in learners:
        why = _explain_missing_curve(name, predictions.get(learner))
        if why:
            left_out.append(f"{learner} ({why})")
            continue
        learner_predictions = predictions[learner]
        assert learner_predictions.scores is not None
        label = order.order[order.positive]
        column = np.ascontiguousarray(learner_predictions.scores[:, label])
        frame = KINDS[name]((learner_predictions.y_true == label).astype(np.intp), column, labels=[0, 1])
        frame.insert(0, "learner", learner)
        parts.append(frame)
    if left_out:
        message = f"no {name} curve for {join_names(left_out)}"
        if not parts:
            raise InputError(f"{message}: choose learners with scores, or run the missing trials")
        warnings.warn(message, UndefinedMeasureWarning, stacklevel=3)
    together: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return together


def resolve_curve_kind(kind: str) -> str:
    """Resolve the name or alias of a kind of curve.

    >>> resolve_curve_kind("pr")
    'precision-recall'
    """
    name = _ALIASES.get(kind, kind)
    if name not in KINDS:
        hint = suggest_name(kind, [*KINDS, *_ALIASES])
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}: {hint}")
    return name


def _explain_missing_curve(name: str, predictions: Predictions | None) -> str:
    if predictions is None:
        return "trials failed or have not run"
    if predictions.scores is None:
        return "no scores"
    if name in _PROBABILITY_KINDS and predictions.score_kind != "probability":
        return "decision values, but no probabilities"
    return ""
