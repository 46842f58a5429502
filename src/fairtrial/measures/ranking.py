"""Measures of scores: AUC and its relatives, H-measure, KS, average precision, lift, Hand and Till."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.kernels import hull as hulls, ranking as kernels
from fairtrial.measures.measure import measure
from fairtrial.measures.rows import DrawCounts, ScoreRows
from fairtrial.measures.tally import ScoreTally

_BOTH = "both classes must occur"


_EQUAL = "both classes must occur and scores must not all be equal"


def _apply_sweep(tally: ScoreTally, sweep: Callable[..., None], *extra: Any) -> FloatArray:
    """`sweep` over each tally of a batch; one number for a single tally."""
    _, pos, neg = tally.stack_axes()
    out = np.empty(len(pos))
    sweep(pos, neg, *extra, out)
    return out if tally.pos.ndim > 1 else out[0]


@measure(
    needs="scores",
    direction="max",
    range=(0, 1),
    chance=0.5,
    cite="Bamber 1975; Hanley & McNeil 1982",
    aliases=("roc_auc",),
    rank_based=True,
    undefined=_BOTH,
)
def auc(tally: ScoreTally) -> FloatArray:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties counting half.

    >>> from fairtrial.measures import auc
    >>> auc([0, 0, 1, 0, 0, 1, 1, 0, 1, 1], [0, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.8, 0.8, 0.9])
    0.78
    """
    return _apply_sweep(tally, kernels.compute_auc)


@measure(
    needs="scores", direction="max", range=(-1, 1), chance=0.0, cite="Breiman et al. 1984", rank_based=True, undefined=_BOTH
)
def gini(tally: ScoreTally) -> FloatArray:
    """Gini coefficient: 2 AUC - 1.

    >>> from fairtrial.measures import gini
    >>> gini([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8])
    1.0
    """
    return 2 * _apply_sweep(tally, kernels.compute_auc) - 1


@measure(needs="scores", direction="max", range=(0, 1), cite="McClish 1989", rank_based=True, undefined=_BOTH)
def partial_auc(tally: ScoreTally, *, max_fpr: float = 0.1, standardized: bool = False) -> FloatArray:
    """Area under the ROC curve where FPR is at most `max_fpr`.

    `standardized=True` gives McClish's form: 0.5 for guessing, 1 for a perfect ranking.

    >>> from fairtrial.measures import partial_auc
    >>> partial_auc([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5)
    0.5
    >>> partial_auc([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5, standardized=True)
    1.0
    """
    _check.check_proportion("max_fpr", max_fpr)
    area = _apply_sweep(tally, kernels.compute_partial_auc, float(max_fpr))
    if not standardized:
        return area
    guessing = 0.5 * max_fpr**2
    return 0.5 * (1 + (area - guessing) / (max_fpr - guessing))


@measure(needs="scores", direction="max", range=(0.5, 1), cite="Provost & Fawcett 2001", rank_based=True, undefined=_BOTH)
def auch(tally: ScoreTally) -> FloatArray:
    """Area under the ROC convex hull; never below one half, for the hull holds the diagonal.

    >>> from fairtrial.measures import auch
    >>> auch([0, 0, 1, 0, 0, 1, 1, 0, 1, 1], [0, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.8, 0.8, 0.9])
    0.86
    """
    return _apply_sweep(tally, hulls.compute_auch)


@measure(needs="scores", direction="max", range=(0, np.inf), cite="Wu, Flach & Ferri 2007", undefined=_BOTH)
def sauc(tally: ScoreTally) -> FloatArray:
    """Scored AUC: mean over pairs of (s+ - s-) where the positive scores higher. At most 1 when scores lie in [0, 1].

    >>> from fairtrial.measures import sauc
    >>> round(sauc([0, 0, 1, 0, 0, 1, 1, 0, 1, 1], [0, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.8, 0.8, 0.9]), 6)
    0.352
    """
    values, pos, neg = tally.stack_axes()
    out = np.empty(len(pos))
    kernels.compute_sauc(values, pos, neg, out)
    return out if tally.pos.ndim > 1 else out[0]


@measure(needs="scores", direction="max", range=(0, 1), cite="Hand 2009", rank_based=True, undefined=_BOTH)
def h_measure(tally: ScoreTally, *, severity_ratio: float | None = None) -> FloatArray:
    """Hand's H: the share of the trivial classifier's expected loss that is saved, costs coming from Beta(2, 1 + 1/SR).

    `severity_ratio` SR is how much worse a false positive is than a false negative; None takes the ratio of positives to
    negatives, 1 gives Hand's Beta(2, 2). A ranking worse than chance is not turned round: its hull is the diagonal and H is 0.

    >>> from fairtrial.measures import h_measure
    >>> y, s = [0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9]
    >>> round(h_measure(y, s), 10), round(h_measure(y, s, severity_ratio=1), 10)
    (0.5915901308, 0.5799731183)
    """
    if severity_ratio is not None:
        _check.check_between("severity_ratio", severity_ratio, 0, np.inf)
    return _apply_sweep(tally, hulls.compute_h_measure, np.nan if severity_ratio is None else float(severity_ratio))


@measure(needs="scores", direction="max", range=(0, 1), cite="Berrar 2014", rank_based=True, undefined=_BOTH)
def ks(tally: ScoreTally, *, signed: bool = False) -> FloatArray:
    """Kolmogorov-Smirnov statistic: largest |TPR - FPR| over thresholds.

    `signed=True` gives the largest TPR - FPR, which does not reward a ranking that is upside down.

    >>> from fairtrial.measures import ks
    >>> ks([0, 0, 1, 0, 0, 1, 1, 0, 1, 1], [0, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.8, 0.8, 0.9])
    0.6
    """
    return _apply_sweep(tally, kernels.compute_ks, bool(signed))


@measure(needs="scores", direction="max", range=(-1, 1), chance=0.0, cite="Berrar 2014", rank_based=True, undefined=_EQUAL)
def taks(tally: ScoreTally) -> FloatArray:
    """Truncated average Kolmogorov-Smirnov statistic: mean TPR - FPR over thresholds, without the first and the last.

    >>> from fairtrial.measures import taks
    >>> taks([1, 1, 0, 0], [1, 1, 0, 0])
    1.0
    """
    return _apply_sweep(tally, kernels.compute_taks, True)


@measure(needs="scores", direction="max", range=(-1, 1), chance=0.0, cite="Berrar 2014", rank_based=True, undefined=_EQUAL)
def abc(tally: ScoreTally) -> FloatArray:
    """Signed area between the TPR and the FPR curve, thresholds being equally far apart.

    >>> from fairtrial.measures import abc
    >>> abc([1, 1, 0, 0], [1, 1, 0, 0])
    0.5
    """
    return _apply_sweep(tally, kernels.compute_taks, False)


@measure(
    needs="scores",
    direction="max",
    range=(0, 1),
    cite="Buckley & Voorhees 2000",
    rank_based=True,
    undefined=_BOTH,
    aliases=("ap",),
)
def average_precision(tally: ScoreTally) -> FloatArray:
    """Average precision: precision at each threshold, weighted by the step in recall.

    >>> from fairtrial.measures import average_precision
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)
    0.833333
    """
    return _apply_sweep(tally, kernels.compute_average_precision)


@measure(
    needs="scores", direction="max", range=(0, np.inf), chance=1.0, cite="Vuk & Curk 2006", rank_based=True, undefined=_BOTH
)
def lift(tally: ScoreTally, *, fraction: float = 0.1) -> FloatArray:
    """Lift: how many times more positives the top `fraction` of cases holds than a random one; a cut tie counts in proportion.

    >>> from fairtrial.measures import lift
    >>> lift([1, 0, 0, 0], [0.9, 0.2, 0.1, 0.3], fraction=0.25)
    4.0
    """
    _check.check_proportion("fraction", fraction)
    return _apply_sweep(tally, kernels.compute_lift, float(fraction))


@measure(needs="scores", direction="min", range=(0, 0.5), cite="Hand 2009", rank_based=True, undefined=_BOTH)
def mer(tally: ScoreTally) -> FloatArray:
    """Minimum error rate over all thresholds.

    >>> from fairtrial.measures import mer
    >>> mer([0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9])
    0.2
    """
    return 2 * _apply_sweep(tally, kernels.compute_min_loss, np.full(np.atleast_2d(tally.pos).shape[0], 0.5))


@measure(needs="scores", direction="min", range=(0, 1), cite="Hand & Anagnostopoulos 2014", rank_based=True, undefined=_BOTH)
def mwl(tally: ScoreTally, *, severity_ratio: float | None = None) -> FloatArray:
    """Minimum weighted loss over all thresholds, a false positive costing SR times a false negative; costs sum to 2.

    >>> from fairtrial.measures import mwl
    >>> round(mwl([0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9]), 6)
    0.16
    """
    if severity_ratio is None:
        cost = np.atleast_1d(tally.positives / (tally.positives + tally.negatives))
    else:
        _check.check_between("severity_ratio", severity_ratio, 0, np.inf)
        cost = np.full(np.atleast_2d(tally.pos).shape[0], severity_ratio / (1 + severity_ratio))
    return 2 * _apply_sweep(tally, kernels.compute_min_loss, cost)


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
def hand_till(rows: ScoreRows, draw_counts: DrawCounts | None) -> FloatArray:
    """Hand and Till's M: mean AUC over all pairs of classes, each pair seen from both sides.

    >>> from fairtrial.measures import hand_till
    >>> hand_till([0, 1, 2, 2], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3]])
    0.9583333333333334
    """
    ranked_rows = (rows.binary,) if rows.scores.ndim == 1 or len(rows.classes) < 2 else rows.one_vs_one
    tallies = [pair_rows.tally if draw_counts is None else pair_rows.redraw(draw_counts) for pair_rows in ranked_rows]
    return np.asarray(np.mean([np.atleast_1d(auc.formula(tally)) for tally in tallies], axis=0))
