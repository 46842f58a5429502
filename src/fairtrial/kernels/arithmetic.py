"""Division as measures need it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Elementwise quotient: 0/0 is NaN, x/0 is infinite, and neither makes noise.

    >>> ratio([1.0, 0.0, 1.0], [2.0, 0.0, 0.0])
    array([0.5, nan, inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(numerator, denominator), dtype=np.float64)
