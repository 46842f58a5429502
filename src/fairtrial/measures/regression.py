"""Measures of predicted numbers, in a module of their own so that names do not clash with those for classes.

In the registry their names begin with `regression.`: `regression.rmse`.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.arithmetic import ratio
from fairtrial.measures.measure import measure
from fairtrial.measures.rows import ValueRows

_CONSTANT = "the true values are all equal"


def _around_mean(rows: ValueRows, power: int, baseline: float | None) -> FloatArray:
    """Mean |baseline - y|^power for each line of weights."""
    if baseline is not None:
        return rows.mean(np.abs(rows.true - baseline) ** power)
    lines = []
    for weights in rows.weights:
        # Seen from one of its own values, a constant column is zero exactly and its mean is free of rounding.
        shifted = rows.true - rows.true[weights.argmax()]
        lines.append(np.average(np.abs(shifted - np.average(shifted, weights=weights)) ** power, weights=weights))
    return np.array(lines)


def _variance(rows: ValueRows, centred: FloatArray) -> FloatArray:
    """Variance for each line of weights; what rounding leaves of a constant column is zero."""
    square = rows.mean(centred**2)
    spread = square - rows.mean(centred) ** 2
    return np.where(spread > 1e-13 * square, spread, 0.0)


@measure(name="regression.mse", needs="values", direction="min", range=(0, np.inf), cite="Galdi & Tagliaferri 2018")
def mse(rows: ValueRows) -> FloatArray:
    """Mean squared error.

    >>> from fairtrial.measures.regression import mse
    >>> mse([1.0, 2.0, 4.0], [1.0, 2.0, 1.0])
    3.0
    """
    return rows.mean((rows.predicted - rows.true) ** 2)


@measure(name="regression.rmse", needs="values", direction="min", range=(0, np.inf), cite="Galdi & Tagliaferri 2018")
def rmse(rows: ValueRows) -> FloatArray:
    """Root mean squared error.

    >>> from fairtrial.measures.regression import rmse
    >>> rmse([1.0, 2.0, 4.0, 4.0], [1.0, 2.0, 2.0, 4.0])
    1.0
    """
    return np.sqrt(rows.mean((rows.predicted - rows.true) ** 2))


@measure(name="regression.mae", needs="values", direction="min", range=(0, np.inf), cite="Galdi & Tagliaferri 2018")
def mae(rows: ValueRows) -> FloatArray:
    """Mean absolute error.

    >>> from fairtrial.measures.regression import mae
    >>> mae([1.0, 2.0, 4.0], [1.0, 2.0, 1.0])
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
)
def rae(rows: ValueRows, *, baseline: float | None = None) -> FloatArray:
    """Relative absolute error: over that of always saying the mean (or `baseline`, say the mean of the training data).

    >>> from fairtrial.measures.regression import rae
    >>> rae([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    return ratio(rows.mean(np.abs(rows.predicted - rows.true)), _around_mean(rows, 1, baseline))


@measure(
    name="regression.rse",
    needs="values",
    direction="min",
    range=(0, np.inf),
    chance=1.0,
    cite="Galdi & Tagliaferri 2018",
    undefined=_CONSTANT,
)
def rse(rows: ValueRows, *, baseline: float | None = None) -> FloatArray:
    """Relative squared error: over that of always saying the mean (or `baseline`).

    >>> from fairtrial.measures.regression import rse
    >>> rse([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    return ratio(rows.mean((rows.predicted - rows.true) ** 2), _around_mean(rows, 2, baseline))


@measure(
    name="regression.rrse",
    needs="values",
    direction="min",
    range=(0, np.inf),
    chance=1.0,
    cite="Witten & Frank 2005",
    undefined=_CONSTANT,
)
def rrse(rows: ValueRows, *, baseline: float | None = None) -> FloatArray:
    """Root relative squared error.

    >>> from fairtrial.measures.regression import rrse
    >>> round(rrse([1.0, 2.0, 3.0], [1.0, 2.0, 2.0]), 6)
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
)
def r2(rows: ValueRows) -> FloatArray:
    """Share of the variance explained: 1 - relative squared error.

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
)
def correlation(rows: ValueRows) -> FloatArray:
    """Pearson's correlation of truth and prediction.

    >>> from fairtrial.measures.regression import correlation
    >>> round(correlation([1.0, 2.0, 3.0], [2.0, 4.0, 6.5]), 6)
    0.997949
    """
    # Centring first keeps the sums small, so that subtracting squares loses little.
    true, predicted = rows.true - rows.true.mean(), rows.predicted - rows.predicted.mean()
    covariance = rows.mean(true * predicted) - rows.mean(true) * rows.mean(predicted)
    spread = _variance(rows, true) * _variance(rows, predicted)
    return ratio(np.where(spread > 0, covariance, 0.0), np.sqrt(spread))
