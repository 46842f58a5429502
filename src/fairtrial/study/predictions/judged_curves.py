"""Curves of a judgement, as frames: one class against the rest, thinned where nobody could see the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairtrial import measures
from fairtrial.measures.tally import ScoreTally, tally_of
from fairtrial.study.predictions.judged_plan import quiet
from fairtrial.study.predictions.judged_rows import JudgedModel

if TYPE_CHECKING:
    import pandas as pd

CURVES = {
    "roc": measures.roc_curve,
    "roc_hull": measures.roc_hull,
    "precision_recall": measures.precision_recall_curve,
    "gain": measures.gain_curve,
    "cost": measures.cost_curve,
    "tpr_fpr": measures.tpr_fpr_curve,
    "brier": measures.brier_curve,
}
MOST_POINTS = 2000


def curve_tables(models: Sequence[JudgedModel]) -> dict[str, pd.DataFrame]:
    """Each curve with its points for each data set, model and class: the positive one, or each of several."""
    return gathered(
        (model.dataset, model.name, name, tally, model.kind == "probability")
        for model in models
        for name, tally in _tallies(model)
    )


def gathered(tallies: Iterator[tuple[str, str, str, ScoreTally, bool]]) -> dict[str, pd.DataFrame]:
    """The curves of tallies with their data set, model, class, and whether the scores are probabilities."""
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {}
    for dataset, model, name, tally, probable in tallies:
        for kind, curve in CURVES.items():
            if curve.needs_probabilities and not probable:
                continue
            with quiet():
                points = thinned(curve.of(tally))
            points.insert(0, "class", name)
            points.insert(0, "model", model)
            points.insert(0, "dataset", dataset)
            parts.setdefault(kind, []).append(points)
    return {kind: pd.concat(found, ignore_index=True) for kind, found in parts.items()}


def thinned(points: pd.DataFrame) -> pd.DataFrame:
    """At most so many points, evenly taken, the ends among them."""
    if len(points) <= MOST_POINTS:
        return points
    kept = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(np.intp))
    return points.iloc[kept].reset_index(drop=True)


def _tallies(model: JudgedModel) -> Iterator[tuple[str, ScoreTally]]:
    if model.scores is None:
        return
    shown = range(len(model.classes)) if model.positive is None else (model.positive,)
    for code in shown:
        is_positive = model.true == code
        if 0 < is_positive.sum() < len(is_positive):
            yield str(model.classes[code]), tally_of(is_positive, np.ascontiguousarray(model.scores[:, code]), model.weights)
