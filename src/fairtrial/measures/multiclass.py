"""Measures of scores that combine the classes in a way of their own."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.measures.measure import measure
from fairtrial.measures.ranking import auc
from fairtrial.measures.rows import Drawn, ScoreRows


@measure(
    needs="class scores",
    direction="max",
    range=(0, 1),
    chance=0.5,
    cite="Hand & Till 2001",
    aliases=("m_measure",),
    undefined="every class must occur",
    rank_based=True,
)
def hand_till(rows: ScoreRows, drawn: Drawn | None) -> FloatArray:
    """Hand and Till's M: mean AUC over all pairs of classes, each pair seen from both sides.

    >>> from fairtrial.measures import hand_till
    >>> hand_till([0, 1, 2, 2], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3]])
    0.9583333333333334
    """
    ranked = (rows.binary,) if rows.scores.ndim == 1 or len(rows.classes) < 2 else rows.one_vs_one
    tallies = [each.tally if drawn is None else each.redraw(drawn) for each in ranked]
    return np.asarray(np.mean([np.atleast_1d(auc.formula(tally)) for tally in tallies], axis=0))
