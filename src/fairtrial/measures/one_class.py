"""Measures of predicted labels for one class against the rest.

By default, the measures are averaged over the classes if there are more than two classes and no positive class is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.confusion import Cells
from fairtrial.measures.measure import measure

_NO_TRUE = "the class has no true cases"
_NO_OTHER = "no case is outside the class"
_ONE_SIDE = "the class or its complement has no true cases"
_NEVER_PREDICTED = "the class is never predicted"
_ALWAYS_PREDICTED = "the class is always predicted"


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    per_class=True,
    proportion=True,
    cite="Japkowicz & Shah 2011",
    aliases=("sensitivity", "tpr"),
    undefined=_NO_TRUE,
)
def recall(cells: Cells) -> tuple[Any, Any]:
    """Proportion of the true cases of a class that are found: TP / (TP + FN).

    Examples
    --------
    >>> from fairtrial.measures import recall
    >>> recall(["a", "b", "c", "c"], ["a", "b", "a", "c"], average=None)
    array([1. , 1. , 0.5])
    """
    return cells.tp, cells.tp + cells.fn


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    per_class=True,
    proportion=True,
    cite="Japkowicz & Shah 2011",
    aliases=("tnr",),
    undefined=_NO_OTHER,
)
def specificity(cells: Cells) -> tuple[Any, Any]:
    """Proportion of the cases outside a class that are not assigned to it: TN / (TN + FP).

    Examples
    --------
    >>> from fairtrial.measures import specificity
    >>> specificity([1, 0, 0, 0], [1, 1, 0, 0], positive=1)
    0.6666666666666666
    """
    return cells.tn, cells.tn + cells.fp


@measure(
    needs="labels",
    direction="min",
    range=(0, 1),
    per_class=True,
    proportion=True,
    cite="Fawcett 2006",
    undefined=_NO_OTHER,
    aliases=("false_positive_rate",),
    display_name="false positive rate",
)
def fpr(cells: Cells) -> tuple[Any, Any]:
    """Proportion of the cases outside a class that are assigned to it: FP / (FP + TN).

    Examples
    --------
    >>> from fairtrial.measures import fpr
    >>> fpr([1, 0, 0, 0], [1, 1, 0, 0])
    0.3333333333333333
    """
    return cells.fp, cells.fp + cells.tn


@measure(
    needs="labels",
    direction="min",
    range=(0, 1),
    per_class=True,
    proportion=True,
    cite="Fawcett 2006",
    undefined=_NO_TRUE,
    aliases=("false_negative_rate",),
    display_name="false negative rate",
)
def fnr(cells: Cells) -> tuple[Any, Any]:
    """Proportion of the true cases of a class that are missed: FN / (FN + TP).

    Examples
    --------
    >>> from fairtrial.measures import fnr
    >>> fnr([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    return cells.fn, cells.fn + cells.tp


@measure(
    needs="labels",
    direction="none",
    range=(0, 1),
    per_class=True,
    proportion=True,
    cite="Barocas, Hardt & Narayanan 2023",
    undefined="there are no rows",
)
def selection_rate(cells: Cells) -> tuple[Any, Any]:
    """Proportion of all cases that are assigned to a class: (TP + FP) / n.

    Neither a higher nor a lower rate is better. Compare the rate between subgroups.

    Examples
    --------
    >>> from fairtrial.measures import selection_rate
    >>> selection_rate([1, 0, 0, 0], [1, 1, 0, 0])
    0.5
    """
    return cells.tp + cells.fp, cells.tp + cells.fp + cells.fn + cells.tn


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    per_class=True,
    proportion=True,
    cite="Japkowicz & Shah 2011",
    aliases=("ppv",),
    undefined=_NEVER_PREDICTED,
)
def precision(cells: Cells) -> tuple[Any, Any]:
    """Proportion of the cases assigned to a class that belong to it: TP / (TP + FP).

    Examples
    --------
    >>> from fairtrial.measures import precision
    >>> precision([1, 0, 1, 0], [1, 1, 0, 0])
    0.5
    """
    return cells.tp, cells.tp + cells.fp


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    per_class=True,
    proportion=True,
    cite="Altman & Bland 1994",
    undefined=_ALWAYS_PREDICTED,
    aliases=("negative_predictive_value",),
    display_name="negative predictive value",
)
def npv(cells: Cells) -> tuple[Any, Any]:
    """Proportion of the cases not assigned to a class that do not belong to it: TN / (TN + FN).

    Examples
    --------
    >>> from fairtrial.measures import npv
    >>> npv([1, 1, 0, 0], [1, 0, 0, 0])
    0.6666666666666666
    """
    return cells.tn, cells.tn + cells.fn


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    per_class=True,
    cite="van Rijsbergen 1979",
    aliases=("f1", "f_measure"),
    undefined="no row has the class as true or predicted label",
    display_name="F1 score",
)
def f_score(cells: Cells, *, beta: float = 1.0) -> FloatArray:
    """Weighted harmonic mean of precision and recall.

    F = (1 + beta^2) precision recall / (beta^2 precision + recall).

    Parameters
    ----------
    beta : float, default 1
        Weight of recall relative to precision. A value of 1 gives the F1 score, and 0 gives precision.

    Examples
    --------
    >>> from fairtrial.measures import f_score
    >>> round(f_score([1] * 90 + [0] * 10, [1] * 100), 3)  # 2 * 0.9 / 1.9
    0.947
    """
    _check.check_number("beta", beta)
    if not 0 <= beta < np.inf:
        raise InputError(f"beta must be finite and at least 0, got {beta}")
    hits = (1 + beta**2) * cells.tp
    return compute_ratio(hits, hits + beta**2 * cells.fn + cells.fp)


@measure(
    needs="labels",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    per_class=True,
    cite="Youden 1950",
    aliases=("informedness",),
    undefined=_ONE_SIDE,
    display_name="Youden's J",
)
def youden_j(cells: Cells) -> FloatArray:
    """Youden's J: recall + specificity - 1.

    Examples
    --------
    >>> from fairtrial.measures import youden_j
    >>> youden_j([1, 1, 0, 0], [1, 0, 0, 0])  # 0.5 + 1 - 1
    0.5
    """
    return compute_ratio(cells.tp, cells.tp + cells.fn) + compute_ratio(cells.tn, cells.tn + cells.fp) - 1


@measure(
    needs="labels",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    per_class=True,
    cite="Powers 2011",
    undefined="the class is always or never predicted",
)
def markedness(cells: Cells) -> FloatArray:
    """Markedness: precision + negative predictive value - 1.

    Examples
    --------
    >>> from fairtrial.measures import markedness
    >>> round(markedness([1, 1, 0, 0], [1, 0, 0, 0]), 6)  # 1 + 2/3 - 1
    0.666667
    """
    return compute_ratio(cells.tp, cells.tp + cells.fp) + compute_ratio(cells.tn, cells.tn + cells.fn) - 1


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    per_class=True,
    cite="Jaccard 1912",
    aliases=("iou",),
    undefined="no row has the class as true or predicted label",
    display_name="Jaccard index",
)
def jaccard(cells: Cells) -> FloatArray:
    """Jaccard index of the true and the predicted cases of a class: TP / (TP + FP + FN).

    Examples
    --------
    >>> from fairtrial.measures import jaccard
    >>> jaccard([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    return compute_ratio(cells.tp, cells.tp + cells.fp + cells.fn)


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    per_class=True,
    cite="Fowlkes & Mallows 1983",
    undefined="the class has no true or no predicted cases",
    display_name="Fowlkes-Mallows index",
)
def fowlkes_mallows(cells: Cells) -> FloatArray:
    """Geometric mean of precision and recall.

    Examples
    --------
    >>> from fairtrial.measures import fowlkes_mallows
    >>> round(fowlkes_mallows([1, 1, 0, 0], [1, 0, 0, 0]), 6)  # sqrt(1 * 0.5)
    0.707107
    """
    return np.sqrt(compute_ratio(cells.tp, cells.tp + cells.fp) * compute_ratio(cells.tp, cells.tp + cells.fn))


@measure(
    needs="labels",
    direction="max",
    range=(0, np.inf),
    chance=1.0,
    per_class=True,
    cite="Deeks & Altman 2004",
    aliases=("lr_positive",),
    undefined="the class or its complement has no true cases, or recall and false positive rate are both zero",
)
def positive_likelihood_ratio(cells: Cells) -> FloatArray:
    """Likelihood ratio of a positive prediction: recall / false positive rate.

    The ratio is infinite if there are true positives but no false positives.

    Examples
    --------
    >>> from fairtrial.measures import positive_likelihood_ratio
    >>> positive_likelihood_ratio([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])  # 0.5 / 0.25
    2.0
    """
    return compute_ratio(compute_ratio(cells.tp, cells.tp + cells.fn), compute_ratio(cells.fp, cells.fp + cells.tn))


@measure(
    needs="labels",
    direction="min",
    range=(0, np.inf),
    chance=1.0,
    per_class=True,
    cite="Deeks & Altman 2004",
    aliases=("lr_negative",),
    undefined="the class or its complement has no true cases, or false negative rate and specificity are both zero",
)
def negative_likelihood_ratio(cells: Cells) -> FloatArray:
    """Likelihood ratio of a negative prediction: false negative rate / specificity.

    The ratio is infinite if there are false negatives but no true negatives.

    Examples
    --------
    >>> from fairtrial.measures import negative_likelihood_ratio
    >>> round(negative_likelihood_ratio([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0]), 6)  # 0.5 / 0.75
    0.666667
    """
    return compute_ratio(compute_ratio(cells.fn, cells.tp + cells.fn), compute_ratio(cells.tn, cells.fp + cells.tn))


@measure(
    needs="labels",
    direction="max",
    range=(0, np.inf),
    chance=1.0,
    per_class=True,
    cite="Glas et al. 2003",
    aliases=("dor",),
    undefined="TP x TN and FP x FN are both zero",
)
def diagnostic_odds_ratio(cells: Cells) -> FloatArray:
    """Diagnostic odds ratio: TP TN / (FP FN).

    The ratio is infinite if FP FN is zero and TP TN is not.

    Examples
    --------
    >>> from fairtrial.measures import diagnostic_odds_ratio
    >>> diagnostic_odds_ratio([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
    3.0
    """
    return compute_ratio(cells.tp * cells.tn, cells.fp * cells.fn)


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    chance=0.5,
    per_class=True,
    cite="Sokolova & Lapalme 2009",
    undefined=_ONE_SIDE,
    display_name="single-point AUC",
)
def single_point_auc(cells: Cells) -> FloatArray:
    """Area under the ROC curve through one operating point: (1 + TPR - FPR) / 2.

    Examples
    --------
    >>> from fairtrial.measures import single_point_auc
    >>> round(single_point_auc([1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]), 6)  # (1 + 2/3) / 2
    0.833333
    """
    return (1 + compute_ratio(cells.tp, cells.tp + cells.fn) - compute_ratio(cells.fp, cells.fp + cells.tn)) / 2
