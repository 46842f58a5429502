"""Breiman's waveform problem: three classes, each a random mixture of two waves with noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.data.simulate.population import BestError, Population, check_numeric_table

if TYPE_CHECKING:
    import pandas as pd

_POINTS = np.arange(1, 22)
_WAVES = np.stack([np.maximum(6.0 - np.abs(_POINTS - peak), 0.0) for peak in (11, 15, 7)])
# The two waves of each class.
_PAIRS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Waveform(Population):
    """The waveform problem: each class is a random mixture of two of three waves, with noise.

    Each row contains u w_a + (1 - u) w_b at 21 points, plus standard normal noise, where u is uniform on [0, 1]. The waves are
    triangles of height 6 that peak at points 11, 15 and 7. Class 1 mixes the first and second waves, class 2 the first and
    third, and class 3 the second and third (Breiman et al. 1984). The book states a Bayes error of about 14 %. The exact value
    is 13.29 %.

    Parameters
    ----------
    attributes : {21, 40}, default 21
        Number of attributes. With 40 attributes, the last 19 are noise.

    Examples
    --------
    >>> Waveform().best_error()
    BestError(value=0.13293, accuracy=1e-06, method='numerical integration')
    >>> X, y = Waveform(attributes=40).sample(3, rng=1)
    >>> X.shape, y.cat.categories.tolist()
    ((3, 40), ['1', '2', '3'])
    """

    name: ClassVar[str] = "waveform"

    attributes: int = 21

    def __post_init__(self) -> None:
        _check.check_one_of("attributes", self.attributes, [21, 40])

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""
        return ("1", "2", "3")

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        codes = rng.integers(3, size=n)
        first, second = np.array(_PAIRS)[codes].T
        u = rng.random((n, 1))
        table = rng.standard_normal((n, self.attributes))
        table[:, :21] += u * _WAVES[first] + (1 - u) * _WAVES[second]
        return table, codes

    def _compute_posterior(self, frame: pd.DataFrame) -> FloatArray:
        logs = _log_densities(check_numeric_table(frame, self.attributes)[:, :21], _WAVES)
        densities = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(densities / densities.sum(axis=1, keepdims=True))

    def best_error(self) -> BestError:
        """Compute the Bayes error by numerical integration."""
        return BestError(_compute_waveform_error(), 1e-6, "numerical integration")


def _log_densities(values: FloatArray, waves: FloatArray) -> FloatArray:
    """Compute the log density of each class, up to a constant.

    Each row is a uniformly distributed point on the line segment between the two waves of its class, plus standard normal
    noise.
    """
    columns = []
    for a, b in _PAIRS:
        length = float(np.linalg.norm(waves[b] - waves[a]))
        along = (values - waves[a]) @ (waves[b] - waves[a]) / length
        aside = ((values - waves[a]) ** 2).sum(axis=1) - along**2
        columns.append(_log_between(along, length) - np.log(length) - aside / 2)
    return np.column_stack(columns)


def _log_between(along: FloatArray, length: float) -> FloatArray:
    """Compute log(Phi(along) - Phi(along - length)), where Phi is the normal CDF.

    The result is accurate even far beyond the ends of the line segment.
    """
    from scipy.special import log_ndtr

    high = np.minimum(along, length - along)
    larger, smaller = log_ndtr(high), log_ndtr(high - length)
    return np.asarray(larger + np.log1p(-np.exp(smaller - larger)))


@cache
def _compute_waveform_error(step: float = 0.05) -> float:
    """Integrate the largest class density over the plane that contains the three waves."""
    first_side, second_side = _WAVES[1] - _WAVES[0], _WAVES[2] - _WAVES[0]
    x = first_side / np.linalg.norm(first_side)
    y = (second_side - (second_side @ x) * x) / np.linalg.norm(second_side - (second_side @ x) * x)
    corners = (_WAVES - _WAVES[0]) @ np.column_stack([x, y])
    low, high = corners.min(axis=0) - 8, corners.max(axis=0) + 8
    largest = 0.0
    for row in np.arange(low[1], high[1], step):
        line = np.arange(low[0], high[0], step)
        logs = _log_densities(np.column_stack([line, np.full(len(line), row)]), corners)
        largest += np.exp(logs.max(axis=1)).sum() / np.sqrt(2 * np.pi)
    return float(1 - largest * step**2 / 3)
