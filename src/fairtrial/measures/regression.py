"""Measures of predicted numbers.

These measures have their own module because names such as `rmse` also exist for probabilities. In the registry, their names
begin with `regression.`, as in `regression.rmse`.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.measure import measure
from fairtrial.measures.rows import ValueRows

_CONSTANT = "the true values are all equal"


def _compute_deviations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Subtract the weighted mean. The result is exactly zero if all values are equal."""
    shifted = values - values[weights.argmax()]
    return np.asarray(shifted - np.average(shifted, weights=weights))


def _compute_mean_deviation(rows: ValueRows, power: int, baseline: float | None) -> FloatArray:
    """Compute the mean of |baseline - y|^power for each resample; a mean of zero becomes NaN."""
    if baseline is not None:
        spread = rows.mean(np.abs(rows.true - baseline) ** power)
    else:
        lines = [np.average(np.abs(_compute_deviations(rows.true, w)) ** power, weights=w) for w in rows.weights if w.any()]
        spread = np.full(len(rows.weights), np.nan)
        spread[rows.weights.any(axis=1)] = lines
    return np.where(spread > 0, spread, np.nan)


@measure(
    name="regression.mse",
    needs="values",
    direction="min",
    range=(0, np.inf),
    cite="Galdi & Tagliaferri 2018",
    display_name="MSE",
)
def mse(rows: ValueRows) -> FloatArray:
    """Mean squared error.

    Examples
    --------
    >>> from fairtrial.measures.regression import mse
    >>> mse([1.0, 2.0, 4.0], [1.0, 2.0, 1.0])  # 9 / 3
    3.0
    """
    return rows.mean((rows.predicted - rows.true) ** 2)


@measure(
    name="regression.rmse",
    needs="values",
    direction="min",
    range=(0, np.inf),
    cite="Galdi & Tagliaferri 2018",
    display_name="RMSE",
)
def rmse(rows: ValueRows) -> FloatArray:
    """Root mean squared error.

    Examples
    --------
    >>> from fairtrial.measures.regression import rmse
    >>> rmse([1.0, 2.0, 4.0, 4.0], [1.0, 2.0, 2.0, 4.0])  # sqrt(4 / 4)
    1.0
    """
    return np.sqrt(rows.mean((rows.predicted - rows.true) ** 2))


@measure(
    name="regression.mae",
    needs="values",
    direction="min",
    range=(0, np.inf),
    cite="Galdi & Tagliaferri 2018",
    display_name="MAE",
)
def mae(rows: ValueRows) -> FloatArray:
    """Mean absolute error.

    Examples
    --------
    >>> from fairtrial.measures.regression import mae
    >>> mae([1.0, 2.0, 4.0], [1.0, 2.0, 1.0])  # 3 / 3
    1.0
    """
    return rows.mean(np.abs(rows.predicted - rows.true))


@measure(
    name="regression.rae",
    needs="values",
    direction="min",
    range=(0, np.inf),
    chance=1.0,
    cite="Galdi & Tagliaferri 2018",
    undefined=_CONSTANT,
    display_name="relative absolute error",
)
def rae(rows: ValueRows, *, baseline: float | None = None) -> FloatArray:
    """Relative absolute error: absolute error relative to that of a constant prediction.

    Parameters
    ----------
    baseline : float, optional
        Constant prediction to compare with, e.g. the mean of the training data. Default: the mean of `y_true`.

    Examples
    --------
    >>> from fairtrial.measures.regression import rae
    >>> rae([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])  # 1 / 2
    0.5
    """
    return compute_ratio(rows.mean(np.abs(rows.predicted - rows.true)), _compute_mean_deviation(rows, 1, baseline))


@measure(
    name="regression.rse",
    needs="values",
    direction="min",
    range=(0, np.inf),
    chance=1.0,
    cite="Galdi & Tagliaferri 2018",
    undefined=_CONSTANT,
    display_name="relative squared error",
)
def rse(rows: ValueRows, *, baseline: float | None = None) -> FloatArray:
    """Relative squared error: squared error relative to that of a constant prediction.

    Parameters
    ----------
    baseline : float, optional
        Constant prediction to compare with, e.g. the mean of the training data. Default: the mean of `y_true`.

    Examples
    --------
    >>> from fairtrial.measures.regression import rse
    >>> rse([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])  # 1 / 2
    0.5
    """
    return compute_ratio(rows.mean((rows.predicted - rows.true) ** 2), _compute_mean_deviation(rows, 2, baseline))


@measure(
    name="regression.rrse",
    needs="values",
    direction="min",
    range=(0, np.inf),
    chance=1.0,
    cite="Witten & Frank 2005",
    undefined=_CONSTANT,
    display_name="root relative squared error",
)
def rrse(rows: ValueRows, *, baseline: float | None = None) -> FloatArray:
    """Root relative squared error: square root of the relative squared error.

    Parameters
    ----------
    baseline : float, optional
        Constant prediction to compare with, e.g. the mean of the training data. Default: the mean of `y_true`.

    Examples
    --------
    >>> from fairtrial.measures.regression import rrse
    >>> round(rrse([1.0, 2.0, 3.0], [1.0, 2.0, 2.0]), 6)  # sqrt(1 / 2)
    0.707107
    """
    return np.asarray(np.sqrt(rse.formula(rows, baseline=baseline)))


@measure(
    name="regression.r2",
    needs="values",
    direction="max",
    range=(-np.inf, 1),
    chance=0.0,
    cite="Wright 1921",
    undefined=_CONSTANT,
    display_name="R²",
)
def r2(rows: ValueRows) -> FloatArray:
    """Coefficient of determination: 1 - relative squared error.

    Examples
    --------
    >>> from fairtrial.measures.regression import r2
    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    return np.asarray(1 - rse.formula(rows))


@measure(
    name="regression.correlation",
    needs="values",
    direction="max",
    range=(-1, 1),
    chance=0.0,
    cite="Pearson 1895",
    undefined="the true or the predicted values are all equal",
    display_name="correlation",
)
def correlation(rows: ValueRows) -> FloatArray:
    """Pearson correlation between true and predicted values.

    Examples
    --------
    >>> from fairtrial.measures.regression import correlation
    >>> round(correlation([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]), 6)  # 1 / 2
    0.5
    """
    return np.array([_compute_correlation(rows.true, rows.predicted, weights) for weights in rows.weights])


def _compute_correlation(true: FloatArray, predicted: FloatArray, weights: FloatArray) -> float:
    if not weights.any():
        return float("nan")
    t, p = _compute_deviations(true, weights), _compute_deviations(predicted, weights)
    spread = np.sqrt((weights @ t**2) * (weights @ p**2))
    return float(np.clip(weights @ (t * p) / spread, -1, 1)) if spread > 0 else float("nan")
