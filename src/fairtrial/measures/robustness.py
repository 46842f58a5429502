"""Measures of the performance lost under noise or a change of environment.

These measures are computed from the values of other measures.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.measure import measure

_NO_ACCURACY = "the accuracy without noise is 0"
_SAEZ = "Sáez, Luengo & Herrera 2016"


@measure(
    needs="results",
    direction="min",
    range=(-np.inf, 1),
    cite=f"Sáez, Luengo & Herrera 2011; {_SAEZ}",
    undefined=_NO_ACCURACY,
    aliases=("relative_loss_of_accuracy",),
    display_name="relative loss of accuracy",
)
def rla(clean: npt.ArrayLike, noisy: npt.ArrayLike, *, scale: float = 100) -> FloatArray:
    """Relative loss of accuracy: (A_0 - A_x) / A_0.

    A_0 is the accuracy without noise, and A_x is the accuracy with noise. The value is negative if the accuracy is higher with
    noise. Learners with a low accuracy have little accuracy to lose, so use `ela` to compare learners.

    Parameters
    ----------
    clean, noisy : float or array-like
        Accuracies without and with noise.
    scale : float, default 100
        Accuracy of a perfect learner: 100 for percent, 1 for proportions.

    Examples
    --------
    >>> from fairtrial.measures import rla
    >>> rla(80, 76)
    0.05
    >>> rla([0.8, 0.5], [0.76, 0.5], scale=1)
    array([0.05, 0.  ])
    """
    before, after = _read_accuracies(clean, noisy, scale)
    return _divide_or_undefined(before - after, before)


@measure(
    needs="results",
    direction="min",
    range=(0, np.inf),
    cite=_SAEZ,
    undefined=_NO_ACCURACY,
    aliases=("equalized_loss_of_accuracy",),
    display_name="equalized loss of accuracy",
)
def ela(clean: npt.ArrayLike, noisy: npt.ArrayLike, *, scale: float = 100) -> FloatArray:
    """Equalized loss of accuracy: (100 - A_x) / A_0.

    A_0 is the accuracy without noise, and A_x is the accuracy with noise. The value is the relative loss of accuracy plus
    (100 - A_0) / A_0.

    Parameters
    ----------
    clean, noisy : float or array-like
        Accuracies without and with noise.
    scale : float, default 100
        Accuracy of a perfect learner: 100 for percent, 1 for proportions.

    Examples
    --------
    >>> from fairtrial.measures import ela
    >>> ela(80, 76)
    0.3
    >>> ela([1, 0.5], [0.96, 0.48], scale=1)  # both have a relative loss of 0.04
    array([0.04, 1.04])
    """
    before, after = _read_accuracies(clean, noisy, scale)
    return _divide_or_undefined(float(scale) - after, before)


@measure(
    needs="results",
    direction="min",
    range=(-1, np.inf),
    cite="Kharin & Zhuk 1994",
    undefined="the Bayes error is 0",
    aliases=("bayes_robustness_measure",),
    display_name="Bayes robustness measure",
)
def brm(error_noisy: npt.ArrayLike, error_bayes: npt.ArrayLike) -> FloatArray:
    """Bayes robustness measure: (E_x - E) / E.

    E_x is the error under noise, and E is the Bayes error without noise. The Bayes error is known only for simulated data.
    Negative values are due to random error in `error_noisy`.

    Parameters
    ----------
    error_noisy, error_bayes : float or array-like
        Error under noise and Bayes error, in the same unit.

    Examples
    --------
    >>> from fairtrial.measures import brm
    >>> brm(0.15, 0.1)
    0.5
    """
    noisy, bayes = _read_errors(error_noisy=error_noisy, error_bayes=error_bayes)
    return _divide_or_undefined(noisy - bayes, bayes)


@measure(
    needs="results",
    direction="min",
    range=(-np.inf, 1),
    cite="Alaiz-Rodríguez & Japkowicz 2008",
    undefined="the trivial classifier does not have a higher error than the learner trained on the changed environment",
    aliases=("pD",),
)
def performance_deterioration(
    error_test: npt.ArrayLike, error_ideal: npt.ArrayLike, error_trivial: npt.ArrayLike
) -> FloatArray:
    """Performance deterioration: (E_test - E_ideal) / (E_0 - E_ideal), at most 1.

    All errors are measured in the changed environment. A value of 0 means that performance does not deteriorate. A value of 1
    means that the learner is no better than the trivial classifier. A negative value means that training before the change gave
    a lower error.

    Parameters
    ----------
    error_test : float or array-like
        Error of the learner trained before the change (E_test).
    error_ideal : float or array-like
        Error of the same learner trained in the changed environment (E_ideal).
    error_trivial : float or array-like
        Error of the trivial classifier (E_0).

    Examples
    --------
    >>> from fairtrial.measures import performance_deterioration
    >>> round(performance_deterioration(28.5, 27.2, 37.2), 2)  # 1.3 / 10
    0.13
    >>> performance_deterioration([34.2, 20.0], [32.8, 20.0], 32.9)
    array([1., 0.])
    """
    test, ideal, trivial = _read_errors(error_test=error_test, error_ideal=error_ideal, error_trivial=error_trivial)
    proportion = np.where(test <= trivial, compute_ratio(test - ideal, trivial - ideal), 1.0)
    return np.where(trivial > ideal, proportion, np.nan)


def _divide_or_undefined(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide two arrays. The result is NaN if the denominator is 0."""
    return np.where(denominator == 0, np.nan, compute_ratio(numerator, denominator))


def _read_accuracies(clean: npt.ArrayLike, noisy: npt.ArrayLike, scale: float) -> tuple[FloatArray, FloatArray]:
    top = _check.check_numbers("scale", scale)
    if top.ndim or not 0 < top < np.inf:
        raise InputError(f"scale must be the accuracy of a perfect learner, e.g. 100 or 1, got {scale!r}")
    before, after = _align_arrays(clean=clean, noisy=noisy)
    for name, values in (("clean", before), ("noisy", after)):
        outside = (values < 0) | (values > top)
        if outside.any():
            value = values[outside][0]
            raise InputError(f"{name} must contain accuracies from 0 to {top:g}, got {value:g}: pass scale= for another unit")
    largest = max(before.max(), after.max())
    # If all accuracies are 0, they do not show whether the unit is percent.
    if top == 100 and 0 < largest <= 1:
        warnings.warn(
            f"the largest accuracy is {largest:g} of 100: pass scale=1 if the accuracies are proportions",
            SuspectInputWarning,
            stacklevel=4,
        )
    return before, after


def _read_errors(**errors: npt.ArrayLike) -> list[FloatArray]:
    arrays = _align_arrays(**errors)
    for name, values in zip(errors, arrays, strict=True):
        if (values < 0).any():
            raise InputError(f"{name} must not be negative, got {values[values < 0][0]:g}")
    return arrays


def _align_arrays(**columns: npt.ArrayLike) -> list[FloatArray]:
    """Check that all values are finite, and broadcast them to one shape with at least one value."""
    arrays = [_check.check_numbers(name, values) for name, values in columns.items()]
    for name, array in zip(columns, arrays, strict=True):
        _check.check_finite(name, np.atleast_1d(array))
    try:
        aligned = np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = ", ".join(f"{name} has {array.shape}" for name, array in zip(columns, arrays, strict=True))
        raise InputError(f"arrays must have compatible shapes: {shapes}") from None
    if aligned[0].size == 0:
        raise InputError(f"{' and '.join(columns)} must contain at least 1 value, got 0")
    return list(aligned)
