"""Measures of predicted labels that look at one class against the rest; averaged where there are more classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.confusion import Cells
from fairtrial.measures.measure import measure

_NO_TRUE = "the class has no true cases"
_NO_OTHER = "there are no cases outside the class"
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
    """Share of the true cases of a class that are found: TP / (TP + FN).

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
    """Share of the cases outside a class that are left outside: TN / (TN + FP).

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
)
def fpr(cells: Cells) -> tuple[Any, Any]:
    """Share of the cases outside a class that are taken for it: FP / (FP + TN).

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
)
def fnr(cells: Cells) -> tuple[Any, Any]:
    """Share of the true cases of a class that are missed: FN / (FN + TP).

    >>> from fairtrial.measures import fnr
    >>> fnr([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    return cells.fn, cells.fn + cells.tp


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
    """Share of the predictions of a class that are right: TP / (TP + FP).

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
)
def npv(cells: Cells) -> tuple[Any, Any]:
    """Share of the predictions against a class that are right: TN / (TN + FN).

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
    undefined="the class is neither true nor predicted anywhere",
)
def f_score(cells: Cells, *, beta: float = 1.0) -> FloatArray:
    """Weighted harmonic mean of precision and recall; `beta` is how many times recall counts more.

    >>> from fairtrial.measures import f_score
    >>> round(f_score([1] * 90 + [0] * 10, [1] * 100), 3)  # Galdi & Tagliaferri's always-positive model
    0.947
    """
    _check.check_between("beta", beta, 0, np.inf)
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
    undefined="the class, or all outside it, has no true cases",
)
def youden_j(cells: Cells) -> FloatArray:
    """Youden's J: recall + specificity - 1.

    >>> from fairtrial.measures import youden_j
    >>> youden_j([1, 1, 0, 0], [1, 0, 0, 0])
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
    """Markedness: precision + npv - 1.

    >>> from fairtrial.measures import markedness
    >>> round(markedness([1, 1, 0, 0], [1, 0, 0, 0]), 6)
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
    undefined="the class is neither true nor predicted anywhere",
)
def jaccard(cells: Cells) -> FloatArray:
    """Jaccard's index of the true and the predicted cases of a class: TP / (TP + FP + FN).

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
    undefined="the class is never true or never predicted",
)
def fowlkes_mallows(cells: Cells) -> FloatArray:
    """Geometric mean of precision and recall.

    >>> from fairtrial.measures import fowlkes_mallows
    >>> round(fowlkes_mallows([1, 1, 0, 0], [1, 0, 0, 0]), 6)
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
    undefined="a class has no true cases, or recall and fpr are both zero",
)
def positive_likelihood_ratio(cells: Cells) -> FloatArray:
    """Likelihood ratio of a positive prediction: recall / fpr; infinite when there are no false positives.

    >>> from fairtrial.measures import positive_likelihood_ratio
    >>> positive_likelihood_ratio([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
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
    undefined="a class has no true cases, or fnr and specificity are both zero",
)
def negative_likelihood_ratio(cells: Cells) -> FloatArray:
    """Likelihood ratio of a negative prediction: fnr / specificity; infinite when there are no true negatives.

    >>> from fairtrial.measures import negative_likelihood_ratio
    >>> round(negative_likelihood_ratio([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0]), 6)
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
    undefined="hits and errors of both kinds are zero somewhere",
)
def diagnostic_odds_ratio(cells: Cells) -> FloatArray:
    """Odds ratio of a prediction: TP TN / (FP FN); infinite when one kind of error does not occur.

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
    undefined="the class, or all outside it, has no true cases",
)
def single_point_auc(cells: Cells) -> FloatArray:
    """Area under the ROC curve of one point: (1 + TPR - FPR) / 2.

    >>> from fairtrial.measures import single_point_auc
    >>> round(single_point_auc([1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]), 6)
    0.833333
    """
    return (1 + compute_ratio(cells.tp, cells.tp + cells.fn) - compute_ratio(cells.fp, cells.fp + cells.tn)) / 2
