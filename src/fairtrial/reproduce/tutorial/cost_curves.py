"""Cost curves: for which class shares and costs one classifier is preferable."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.reproduction import Claim, Reproduction, Table
from fairtrial.reproduce.tutorial.breast_cancer import POSITIVE
from fairtrial.reproduce.tutorial.tested import as_printed, folds_told, pooled_rows

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_SHOWN = ("NB", "C4.5", "Boost")


def cost_curves(results: Results) -> Reproduction:
    """ROC and cost curves of three learners on Breast Cancer; nothing where the study lacks it."""
    from fairtrial.measures import auc, cost_curve, roc_curve
    from fairtrial.report.figures.curves import draw_cost, draw_roc
    from fairtrial.report.figures.study_curves import find_cost_winners, with_winners

    found = {name: own for name in _SHOWN if (own := pooled_rows(results, "Breast Cancer", name)) is not None}
    if not found:
        return Reproduction((), ())
    given = {name: (own.truth == POSITIVE, own.score(POSITIVE)) for name, own in found.items()}
    curves = {name: cost_curve(*each) for name, each in given.items()}
    winners = find_cost_winners(curves)
    areas = {name: float(auc(*each)) for name, each in given.items()}
    rocs = {name: roc_curve(*each) for name, each in given.items()}
    claim = _claim(winners, judged=as_printed(results))
    note = (
        f"*Asked:* {_crossings(rocs)} (AUC: {', '.join(f'{name} {area:.3f}' for name, area in areas.items())}, over "
        f"{folds_told(results)}); who is better, then? *Answer:* by the probability cost, which holds class shares and costs "
        f"of errors together: {claim.evidence}. On the ROC curve that cannot be read."
    )
    figures = {
        "ROC curves on Breast Cancer": draw_roc(rocs),
        "Cost curves on Breast Cancer; the strip on top names the winner": with_winners(draw_cost(curves), winners, curves),
    }
    return Reproduction((), (Table("cost_winners", "Cost curves: who wins where", winners, note, digits=3),), (claim,), figures)


def _claim(winners: pd.DataFrame, *, judged: bool) -> Claim:
    """Whether the curves tell one range of class shares and costs from another: two learners must win somewhere."""
    several = set(winners.loc[winners["who"] == "learner", "learner"])
    ranges = [
        f"{row['learner'] or row['who']} from {row['start']:.2f} to {row['end']:.2f}" for row in winners.to_dict("records")
    ]
    text = "Cost curves tell for what class probabilities one classifier is preferable: more than one wins somewhere"
    return Claim(text, len(several) > 1 if judged else None, "; ".join(ranges))


def _crossings(curves: dict[str, pd.DataFrame]) -> str:
    pairs = list(combinations(curves, 2))
    crossing = [f"{first} and {second}" for first, second in pairs if cross(curves[first], curves[second])]
    return f"{len(crossing)} of {len(pairs)} pairs of ROC curves cross" + (f": {', '.join(crossing)}" if crossing else "")


def cross(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether each of two ROC curves lies above the other somewhere.

    >>> import pandas as pd
    >>> early, late = ({"fpr": [0, x, 1], "tpr": [0, y, 1]} for x, y in ((0.1, 0.5), (0.5, 0.9)))
    >>> cross(pd.DataFrame(early), pd.DataFrame(late))
    True
    """
    corners = np.unique(np.concatenate([first["fpr"], second["fpr"]]))
    width = np.diff(corners)
    # just inside of both ends of every stretch: at a corner itself a curve may rise
    places = np.concatenate([corners[:-1] + 1e-6 * width, corners[1:] - 1e-6 * width])
    gap = np.interp(places, first["fpr"], first["tpr"]) - np.interp(places, second["fpr"], second["tpr"])
    return bool((gap > 1e-5).any() and (gap < -1e-5).any())
