"""Measures of scores, such as the AUC, the H-measure and average precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels import hull as hulls, ranking as kernels
from fairtrial.measures.measure import measure
from fairtrial.measures.rows import DrawCounts, ScoreRows
from fairtrial.measures.tally import ScoreTally

# Coefficients c of 1 / (1 + x) = sum c[k] x^k for x from 0 to 1, with an error below 1e-14 (Cohen, Rodriguez Villegas &
# Zagier 2000, algorithm 1).
_SIGMOID_TERMS = 20


def _compute_sigmoid_coefficients(terms: int) -> FloatArray:
    scale = (3 + math.sqrt(8)) ** terms
    scale = (scale + 1 / scale) / 2
    coefficients, product, current = np.empty(terms), -1.0, -scale
    for k in range(terms):
        current = product - current
        coefficients[k] = current / scale
        product *= (k + terms) * (k - terms) / ((k + 0.5) * (k + 1))
    return coefficients


_SIGMOID_COEFFICIENTS = _compute_sigmoid_coefficients(_SIGMOID_TERMS)

_BOTH = "only one of the two classes occurs"
_EQUAL = "only one of the two classes occurs or all scores are equal"


def _apply_sweep(tally: ScoreTally, sweep: Callable[..., None], *extra: Any) -> FloatArray:
    """Apply a kernel to each tally of a batch. Return one number for a single tally."""
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
    display_name="AUC",
)
def auc(tally: ScoreTally) -> FloatArray:
    """Area under the ROC curve: probability that a positive scores higher than a negative.

    Ties count half.

    Examples
    --------
    >>> from fairtrial.measures import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])  # 3 of 4 pairs are in order
    0.75
    """
    return _apply_sweep(tally, kernels.compute_auc)


@measure(
    needs="scores",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Breiman et al. 1984",
    rank_based=True,
    undefined=_BOTH,
    display_name="Gini coefficient",
)
def gini(tally: ScoreTally) -> FloatArray:
    """Gini coefficient: 2 AUC - 1.

    Examples
    --------
    >>> from fairtrial.measures import gini
    >>> gini([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    return 2 * _apply_sweep(tally, kernels.compute_auc) - 1


@measure(
    needs="scores",
    direction="max",
    range=(0, 1),
    cite="McClish 1989",
    rank_based=True,
    undefined=_BOTH,
    display_name="partial AUC",
)
def partial_auc(tally: ScoreTally, *, max_fpr: float = 0.1, standardized: bool = False) -> FloatArray:
    """Area under the ROC curve up to a given false positive rate.

    Parameters
    ----------
    max_fpr : float, default 0.1
        Upper limit of the false positive rate.
    standardized : bool, default False
        Whether to rescale the area to 0.5 for random guessing and 1 for a perfect ranking (McClish).

    Examples
    --------
    >>> from fairtrial.measures import partial_auc
    >>> partial_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5)
    0.25
    >>> round(partial_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5, standardized=True), 6)
    0.666667
    """
    _check.check_proportion("max_fpr", max_fpr)
    area = _apply_sweep(tally, kernels.compute_partial_auc, float(max_fpr))
    if not standardized:
        return area
    guessing = 0.5 * max_fpr**2
    return 0.5 * (1 + (area - guessing) / (max_fpr - guessing))


@measure(
    needs="scores",
    direction="max",
    range=(0.5, 1),
    cite="Provost & Fawcett 2001",
    rank_based=True,
    undefined=_BOTH,
    display_name="AUCH",
)
def auch(tally: ScoreTally) -> FloatArray:
    """Area under the convex hull of the ROC curve.

    The area is at least 0.5 because the hull includes the diagonal.

    Examples
    --------
    >>> from fairtrial.measures import auch
    >>> auch([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.875
    """
    return _apply_sweep(tally, hulls.compute_auch)


@measure(
    needs="scores",
    direction="max",
    range=(0, np.inf),
    cite="Wu, Flach & Ferri 2007",
    undefined=_BOTH,
    display_name="scored AUC",
)
def sauc(tally: ScoreTally) -> FloatArray:
    """Scored AUC: mean amount by which positives score higher than negatives.

    The mean is taken over all pairs of a positive and a negative. Pairs in which the positive does not score higher count as
    zero. The value is at most 1 if the scores lie between 0 and 1.

    Examples
    --------
    >>> from fairtrial.measures import sauc
    >>> round(sauc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)  # (0.25 + 0.7 + 0.4) / 4
    0.3375
    """
    values, pos, neg = tally.stack_axes()
    out = np.empty(len(pos))
    kernels.compute_sauc(values, pos, neg, out)
    return out if tally.pos.ndim > 1 else out[0]


@measure(
    needs="scores",
    direction="max",
    range=(0, 1),
    chance=0.5,
    cite="Calders & Jaroszewicz 2007",
    undefined=_BOTH,
    display_name="soft AUC",
)
def soft_auc(tally: ScoreTally, *, beta: float = 10.0) -> FloatArray:
    """Soft AUC: mean sigmoid of the score difference over pairs of a positive and a negative.

    A pair counts as 1 / (1 + exp(-beta (s+ - s-))). The sigmoid replaces the step function of the AUC, so pairs with a small
    score difference count as about one half. The value depends on the scale of the scores. It approaches the AUC as `beta`
    increases and 0.5 as `beta` approaches 0.

    Parameters
    ----------
    beta : float, default 10
        Steepness of the sigmoid. There is no standard value. With `beta` = 10, a score difference of 0.5 counts as 0.993.

    Notes
    -----
    Vanderlooy and Hüllermeier (2008) found no advantage of this measure over the AUC for choosing a model.

    Examples
    --------
    >>> from fairtrial.measures import soft_auc
    >>> round(soft_auc([0, 1], [0.3, 0.8]), 6)  # 1 / (1 + exp(-5))
    0.993307
    >>> round(soft_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], beta=1000), 6)  # the AUC is 0.75
    0.75
    """
    _check.check_between("beta", beta, 0, np.inf)
    values, pos, neg = tally.stack_axes()
    out = np.empty(len(pos))
    kernels.compute_soft_auc(values, pos, neg, float(beta), _SIGMOID_COEFFICIENTS, out)
    return out if tally.pos.ndim > 1 else out[0]


@measure(
    needs="scores",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Kaymak, Ben-David & Potharst 2012",
    rank_based=True,
    undefined=_BOTH,
    display_name="AUK",
)
def kappa_curve_area(tally: ScoreTally) -> FloatArray:
    """Area under the kappa curve (AUK): Cohen's kappa integrated over the false positive rate.

    The ROC curve is linear between its points. Unlike the AUC, the AUK depends on the proportion of positives. If the classes
    are balanced, the AUK equals AUC - 1/2. The AUK is below 0.62 even for a perfect ranking.

    Examples
    --------
    >>> from fairtrial.measures import kappa_curve_area
    >>> kappa_curve_area([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])  # the AUC is 0.75
    0.25
    >>> round(kappa_curve_area([0, 0, 0, 1], [0.1, 0.4, 0.2, 0.8]), 6)  # a perfect ranking: 2 ln 2 - 1
    0.386294
    """
    return _apply_sweep(tally, kernels.compute_kappa_area)


@measure(
    needs="scores", direction="max", range=(0, 1), cite="Hand 2009", rank_based=True, undefined=_BOTH, display_name="H-measure"
)
def h_measure(tally: ScoreTally, *, severity_ratio: float | None = None) -> FloatArray:
    """Hand's H-measure: proportion of the trivial classifier's expected loss that is avoided.

    The cost of a false positive follows the distribution Beta(2, 1 + 1 / SR), where SR is the severity ratio. H is 0 if no
    point of the ROC curve lies above the diagonal.

    Parameters
    ----------
    severity_ratio : float, optional
        Cost of a false positive divided by the cost of a false negative. Default: the number of positives divided by
        the number of negatives. A value of 1 gives Hand's Beta(2, 2) distribution.

    Examples
    --------
    >>> from fairtrial.measures import h_measure
    >>> round(h_measure([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)  # losses 10/64 and 20/64
    0.5
    """
    if severity_ratio is not None:
        _check.check_between("severity_ratio", severity_ratio, 0, np.inf)
    return _apply_sweep(tally, hulls.compute_h_measure, np.nan if severity_ratio is None else float(severity_ratio))


@measure(
    needs="scores",
    direction="max",
    range=(0, 1),
    cite="Berrar 2014",
    rank_based=True,
    undefined=_BOTH,
    display_name="Kolmogorov-Smirnov statistic",
)
def ks(tally: ScoreTally, *, signed: bool = False) -> FloatArray:
    """Kolmogorov-Smirnov statistic: largest |TPR - FPR| over all thresholds.

    Parameters
    ----------
    signed : bool, default False
        Whether to use the largest signed difference TPR - FPR, which does not reward reversed rankings.

    Examples
    --------
    >>> from fairtrial.measures import ks
    >>> ks([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    return _apply_sweep(tally, kernels.compute_ks, bool(signed))


@measure(
    needs="scores",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Berrar 2014",
    rank_based=True,
    undefined=_EQUAL,
    display_name="taKS",
)
def taks(tally: ScoreTally) -> FloatArray:
    """Truncated average Kolmogorov-Smirnov statistic: mean TPR - FPR over the thresholds.

    The first and the last threshold are left out, because both rates are equal there.

    Examples
    --------
    >>> from fairtrial.measures import taks
    >>> round(taks([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)  # mean of 0.5, 0 and 0.5
    0.333333
    """
    return _apply_sweep(tally, kernels.compute_taks, True)


@measure(
    needs="scores",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Berrar 2014",
    rank_based=True,
    undefined=_EQUAL,
    display_name="area between TPR and FPR curves",
)
def abc(tally: ScoreTally) -> FloatArray:
    """Signed area between the TPR and the FPR curve over equally spaced thresholds.

    Examples
    --------
    >>> from fairtrial.measures import abc
    >>> abc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])  # (0.5 + 0 + 0.5) / 4
    0.25
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
    """Average precision: mean precision over all thresholds, weighted by the gain in recall.

    Examples
    --------
    >>> from fairtrial.measures import average_precision
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)  # (1 + 2/3) / 2
    0.833333
    """
    return _apply_sweep(tally, kernels.compute_average_precision)


@measure(
    needs="scores", direction="max", range=(0, np.inf), chance=1.0, cite="Vuk & Curk 2006", rank_based=True, undefined=_BOTH
)
def lift(tally: ScoreTally, *, fraction: float = 0.1) -> FloatArray:
    """Lift: precision among the cases with the highest scores / proportion of positives.

    If only some cases of a group with equal scores can be included, a proportional part of the group is included.

    Parameters
    ----------
    fraction : float, default 0.1
        Proportion of the cases, taken in descending order of score.

    Examples
    --------
    >>> from fairtrial.measures import lift
    >>> lift([1, 0, 0, 0], [0.9, 0.2, 0.1, 0.3], fraction=0.25)  # 1 / 0.25
    4.0
    """
    _check.check_proportion("fraction", fraction)
    return _apply_sweep(tally, kernels.compute_lift, float(fraction))


@measure(
    needs="scores",
    direction="min",
    range=(0, 0.5),
    cite="Hand 2009",
    rank_based=True,
    undefined=_BOTH,
    display_name="minimum error rate",
)
def mer(tally: ScoreTally) -> FloatArray:
    """Minimum error rate over all thresholds.

    Examples
    --------
    >>> from fairtrial.measures import mer
    >>> mer([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])  # 1 error of 4
    0.25
    """
    return 2 * _apply_sweep(tally, kernels.compute_min_loss, np.full(np.atleast_2d(tally.pos).shape[0], 0.5))


@measure(
    needs="scores",
    direction="min",
    range=(0, 1),
    cite="Hand & Anagnostopoulos 2014",
    rank_based=True,
    undefined=_BOTH,
    display_name="minimum weighted loss",
)
def mwl(tally: ScoreTally, *, severity_ratio: float | None = None) -> FloatArray:
    """Minimum weighted loss over all thresholds.

    The loss is 2 (c FP + (1 - c) FN) / n. The cost of a false positive is c = SR / (1 + SR), where SR is the severity ratio.

    Parameters
    ----------
    severity_ratio : float, optional
        Cost of a false positive divided by the cost of a false negative. Default: the number of positives divided by
        the number of negatives.

    Examples
    --------
    >>> from fairtrial.measures import mwl
    >>> mwl([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])  # 2 * 0.5 * 1 / 4
    0.25
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
    undefined="a class does not occur",
    rank_based=True,
    display_name="Hand-Till AUC",
)
def hand_till(rows: ScoreRows, draw_counts: DrawCounts | None) -> FloatArray:
    """Hand and Till's M: mean AUC over all ordered pairs of classes.

    Examples
    --------
    >>> from fairtrial.measures import hand_till
    >>> y_score = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3]]
    >>> round(hand_till([0, 1, 2, 2], y_score), 6)  # five pairs have 1, one has 0.75
    0.958333
    """
    ranked_rows = (rows.binary,) if rows.scores.ndim == 1 or len(rows.classes) < 2 else rows.one_vs_one
    tallies = [pair_rows.tally if draw_counts is None else pair_rows.redraw(draw_counts) for pair_rows in ranked_rows]
    return np.asarray(np.mean([np.atleast_1d(auc.formula(tally)) for tally in tallies], axis=0))


@measure(
    needs="class scores",
    direction="max",
    range=(0, 1),
    cite="Russakovsky et al. 2015",
    undefined="k is not smaller than the number of classes, so every row would count as correct",
    proportion=True,
    rank_based=True,
    display_name="top-k accuracy",
)
def top_k_accuracy(rows: ScoreRows, *, k: int = 2) -> FloatArray:
    """Proportion of rows whose true class is among the k classes with the highest scores.

    If classes are tied at rank k, a row counts with the probability that its true class is included when ties are broken at
    random. The value is therefore deterministic and does not depend on the order of the classes. Without ties, the value equals
    that of scikit-learn.

    Parameters
    ----------
    k : int, default 2
        Number of classes with the highest scores.

    Examples
    --------
    >>> from fairtrial.measures import top_k_accuracy
    >>> y_score = [[0.5, 0.2, 0.3], [0.3, 0.4, 0.3], [0.2, 0.4, 0.4], [0.7, 0.2, 0.1]]
    >>> top_k_accuracy([0, 1, 2, 2], y_score)
    0.75
    >>> top_k_accuracy([0, 0, 2, 2], y_score, labels=[0, 1, 2])  # row 2 counts one half: classes 0 and 2 are tied
    0.625
    """
    _check.check_whole_number("k", k, 1)
    _check.check_finite("y_score", rows.scores)
    if k >= len(rows.classes):
        return np.full(len(rows.true), np.nan)
    if rows.scores.ndim == 1:
        raise InputError(f"y_score must have one column per class for k={k}, got one column: pass all columns")
    true_scores = np.take_along_axis(rows.scores, rows.true[:, None], axis=1)
    n_higher, n_tied = (rows.scores > true_scores).sum(axis=1), (rows.scores == true_scores).sum(axis=1)
    return np.asarray(np.clip((k - n_higher) / n_tied, 0.0, 1.0))
