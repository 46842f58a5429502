"""Cost curves: for which class shares and costs one classifier is preferable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.reproduction import Claim, Reproduction, Table
from fairtrial.reproduce.tutorial.breast_cancer import POSITIVE
from fairtrial.reproduce.tutorial.tested import pooled_rows

if TYPE_CHECKING:
    from fairtrial.study import Results

_SHOWN = ("NB", "C4.5", "Boost")


def cost_curves(results: Results) -> Reproduction:
    """ROC and cost curves of three learners on Breast Cancer; nothing where the study lacks it."""
    from fairtrial.measures import auc, cost_curve, roc_curve
    from fairtrial.report.cost_winners import cost_winners, with_winners
    from fairtrial.report.curves import draw_cost, draw_roc

    found = {name: own for name in _SHOWN if (own := pooled_rows(results, "Breast Cancer", name)) is not None}
    if not found:
        return Reproduction((), ())
    given = {name: (own.truth == POSITIVE, own.score(POSITIVE)) for name, own in found.items()}
    curves = {name: cost_curve(*each) for name, each in given.items()}
    winners = cost_winners(curves)
    areas = {name: float(auc(*each)) for name, each in given.items()}
    told = ", ".join(f"{name} {area:.3f}" for name, area in areas.items())
    ranges = [
        f"{row['learner'] or row['who']} from {row['start']:.2f} to {row['end']:.2f}" for row in winners.to_dict("records")
    ]
    note = (
        f"*Asked:* the ROC curves cross (AUC: {told}); who is better, then? *Answer:* by the probability cost, which holds "
        "class "
        f"shares and costs of errors together: {'; '.join(ranges)}. On the ROC curve that cannot be read."
    )
    several = set(winners.loc[winners["who"] == "learner", "learner"])
    claim = Claim(
        "Cost curves tell for what class probabilities one classifier is preferable", len(several) > 0, "; ".join(ranges)
    )
    figures = {
        "ROC curves on Breast Cancer": draw_roc({name: roc_curve(*each) for name, each in given.items()}),
        "Cost curves on Breast Cancer; the strip on top names the winner": with_winners(draw_cost(curves), winners, curves),
    }
    return Reproduction((), (Table("cost_winners", "Cost curves: who wins where", winners, note, digits=3),), (claim,), figures)
