"""Measures of predicted labels that use the whole confusion table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.measure import measure

_ABSENT = "a class has no true cases"


@measure(needs="labels", direction="max", range=(0, 1), proportion=True, cite="Japkowicz & Shah 2011")
def accuracy(table: Confusion) -> tuple[Any, Any]:
    """Proportion of rows with the correct label.

    Examples
    --------
    >>> from fairtrial.measures import accuracy
    >>> accuracy([1, 1, 0, 0], [1, 0, 0, 0])
    0.75
    """
    return table.hits.sum(axis=-1), table.total


@measure(needs="labels", direction="min", range=(0, 1), proportion=True, cite="Japkowicz & Shah 2011")
def error_rate(table: Confusion) -> tuple[Any, Any]:
    """Proportion of rows with a wrong label.

    Examples
    --------
    >>> from fairtrial.measures import error_rate
    >>> error_rate([1, 1, 0, 0], [1, 0, 0, 0])
    0.25
    """
    return table.cells.fn.sum(axis=-1), table.total


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    chance=0.5,
    cite="Brodersen et al. 2010",
    undefined=_ABSENT,
    aliases=("macro_recall",),
)
def balanced_accuracy(table: Confusion) -> FloatArray:
    """Mean recall over the classes.

    Examples
    --------
    >>> from fairtrial.measures import balanced_accuracy
    >>> balanced_accuracy([1] * 90 + [0] * 10, [1] * 100)  # recall 1 and 0
    0.5
    """
    return np.asarray(compute_ratio(table.hits, table.true).mean(axis=-1))


@measure(
    needs="labels",
    direction="max",
    range=(0, 1),
    cite="Kubat & Matwin 1997",
    undefined=_ABSENT,
    display_name="geometric mean of recalls",
)
def g_mean(table: Confusion) -> FloatArray:
    """Geometric mean of the recalls of all classes.

    Examples
    --------
    >>> from fairtrial.measures import g_mean
    >>> round(g_mean([1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]), 6)  # recalls 2/3 and 1
    0.816497
    """
    # Take the roots first, because the product of many recalls may be too small for a float.
    return np.asarray(np.prod(compute_ratio(table.hits, table.true) ** (1 / len(table.labels)), axis=-1))


@measure(
    needs="labels",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Cohen 1960, 1968",
    aliases=("cohen_kappa",),
    undefined="all true and predicted labels are of one class",
    display_name="Cohen's kappa",
)
def kappa(table: Confusion, *, weights: Literal["linear", "quadratic"] | None = None) -> FloatArray:
    """Cohen's kappa: agreement beyond chance.

    kappa = (observed - expected) / (1 - expected), where `expected` is the agreement between independent labels with the same
    class proportions.

    Parameters
    ----------
    weights : {"linear", "quadratic"}, optional
        Weight disagreements by the distance between the classes in the order of `labels`. Default: all disagreements have
        the same weight.

    Examples
    --------
    >>> from fairtrial.measures import Confusion, kappa
    >>> round(kappa.of(Confusion([[60, 50, 10], [10, 100, 40], [30, 10, 90]])), 4)  # observed 0.625, expected 0.33875
    0.4329
    """
    _check.check_one_of("weights", weights, (None, "linear", "quadratic"))
    k = len(table.labels)
    class_distances = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)
    cost = (class_distances > 0).astype(float) if weights is None else class_distances ** (1 if weights == "linear" else 2)
    expected = table.true[..., :, None] * table.predicted[..., None, :]
    observed = (cost * table.table).sum(axis=(-2, -1)) * table.total
    return np.asarray(1 - compute_ratio(observed, (cost * expected).sum(axis=(-2, -1))))


@measure(
    needs="labels",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Matthews 1975; Gorodkin 2004",
    undefined="all true or all predicted labels are of one class",
    aliases=("matthews_correlation",),
    display_name="Matthews correlation coefficient",
)
def mcc(table: Confusion) -> FloatArray:
    """Matthews correlation coefficient between true and predicted labels.

    With two classes, it is (TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN)). With more classes, it is Gorodkin's
    R_K.

    Examples
    --------
    >>> from fairtrial.measures import mcc
    >>> round(mcc([1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]), 6)  # 6 / sqrt(72)
    0.707107
    """
    tp, fp, fn, tn = table.cells
    covariance = (tp * tn - fp * fn).sum(axis=-1)
    spread_true, spread_predicted = ((tp + fn) * (fp + tn)).sum(axis=-1), ((tp + fp) * (fn + tn)).sum(axis=-1)
    return compute_ratio(covariance, np.sqrt(spread_true * spread_predicted))


@measure(
    needs="labels",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Krippendorff 2004; Hayes & Krippendorff 2007",
    undefined="all labels are of one class, or the rows weigh at most 1 in total",
    display_name="Krippendorff's alpha",
    exceptions=("weight scale",),
)
def krippendorff_alpha(table: Confusion, *, level: Literal["nominal", "ordinal", "interval"] = "nominal") -> FloatArray:
    """Krippendorff's alpha: agreement of true and predicted labels beyond chance.

    The true and the predicted labels are treated as the labels of two raters. Alpha is 1 - observed disagreement / expected
    disagreement. The expected disagreement is that between two labels drawn without replacement from all true and predicted
    labels. Each weight is treated as a number of rows, because alpha depends on the number of rows. If the weights sum to 1,
    multiply them by the number of rows.

    Parameters
    ----------
    level : {"nominal", "ordinal", "interval"}, default "nominal"
        Level of measurement. "ordinal" uses the order of `labels`. "interval" uses the labels themselves, which must be
        numbers.

    Examples
    --------
    >>> from fairtrial.measures import krippendorff_alpha
    >>> round(krippendorff_alpha([1, 2, 3, 3, 2, 1], [1, 2, 3, 3, 2, 2]), 4)  # 1 - (2 / 12) / (94 / 132)
    0.766
    """
    _check.check_one_of("level", level, ("nominal", "ordinal", "interval"))
    counts = table.true + table.predicted
    if level == "nominal":
        distances = 1 - np.eye(len(table.labels))
    else:
        positions = np.cumsum(counts, axis=-1) - counts / 2 if level == "ordinal" else _read_label_values(table)
        distances = (positions[..., :, None] - positions[..., None, :]) ** 2
    n = counts.sum(axis=-1)
    observed = 2 * (table.table * distances).sum(axis=(-2, -1)) * (n - 1)
    expected = (counts[..., :, None] * counts[..., None, :] * distances).sum(axis=(-2, -1))
    return np.where(n > 2, 1 - compute_ratio(observed, expected), np.nan)


def _read_label_values(table: Confusion) -> FloatArray:
    try:
        return np.array([float(label) for label in table.labels])
    except (TypeError, ValueError):
        raise InputError(
            f"level='interval' needs labels that are numbers, got {list(table.labels)}: use level='ordinal'"
        ) from None
