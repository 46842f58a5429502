"""How likely a value is in each class: by counts, by a normal curve, by a kernel density; the way WEKA's estimators do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairtrial._check import FloatArray, IntArray


class Density(Protocol):
    """The likelihood of values in each class: a row for each value."""

    def __call__(self, values: FloatArray) -> FloatArray:
        """Of each value, known and finite, in each class."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Of codes: each count plus one, over their sum."""

    shares: FloatArray

    @classmethod
    def fit(cls, codes: IntArray, classes: IntArray, weight: FloatArray, size: int, k: int) -> Counts:
        """Count codes 0..size-1 in each class."""
        counts = np.bincount(classes * size + codes, weight, k * size).reshape(k, size) + 1
        return cls(counts / counts.sum(axis=1, keepdims=True))

    def __call__(self, values: FloatArray) -> FloatArray:
        """The share of each code in each class."""
        return np.asarray(self.shares[:, values.astype(np.intp)].T)


@dataclass(frozen=True, eq=False)
class Binned:
    """Of numbers cut into intervals: the counts of the intervals."""

    cuts: FloatArray
    counts: Counts

    def __call__(self, values: FloatArray) -> FloatArray:
        """The share of each value's interval in each class."""
        return self.counts(np.searchsorted(self.cuts, values, side="left").astype(np.float64))


@dataclass(frozen=True, eq=False)
class Normal:
    """The normal curve over the interval of one `precision` around each value; deviations are at least a sixth of it."""

    means: FloatArray
    deviations: FloatArray
    precision: float

    @classmethod
    def fit(cls, values: FloatArray, classes: IntArray, weight: FloatArray, k: int) -> Normal:
        """Weighted mean and deviation of the rounded values of each class."""
        precision = mean_gap(values)
        rounded = _rounded(values, precision)
        size = np.bincount(classes, weight, k)
        seen = np.where(size > 0, size, 1)
        means = np.bincount(classes, weight * rounded, k) / seen
        variance = np.bincount(classes, weight * (rounded - means[classes]) ** 2, k) / seen
        return cls(means, np.maximum(np.sqrt(variance), precision / 6), precision)

    def __call__(self, values: FloatArray) -> FloatArray:
        """The mass of each value's interval in each class."""
        return _mass(_rounded(values, self.precision)[:, None] - self.means, self.precision, self.deviations)


@dataclass(frozen=True, eq=False)
class Kernels:
    """The mean of normal curves around the training values, as wide as the class's range over the root of its size."""

    values: tuple[FloatArray, ...]
    weights: tuple[FloatArray, ...]
    deviations: FloatArray
    precision: float

    @classmethod
    def fit(cls, values: FloatArray, classes: IntArray, weight: FloatArray, k: int) -> Kernels:
        """Keep the different rounded values of each class with their weights."""
        precision = mean_gap(values)
        rounded = _rounded(values, precision)
        kept, weights, deviations = [], [], []
        for place in range(k):
            own = classes == place
            distinct, which = np.unique(rounded[own], return_inverse=True)
            kept.append(distinct)
            weights.append(np.bincount(which, weight[own], len(distinct)).astype(np.float64))
            size = weight[own].sum()
            width = (distinct[-1] - distinct[0]) / np.sqrt(size) if size > 0 else 0.0
            deviations.append(max(width, precision / 6))
        return cls(tuple(kept), tuple(weights), np.array(deviations), precision)

    def __call__(self, values: FloatArray) -> FloatArray:
        """The mass of each value's interval in each class."""
        return np.column_stack([self._class(values, place) for place in range(len(self.values))])

    def _class(self, values: FloatArray, place: int) -> FloatArray:
        around, weight = self.values[place], self.weights[place]
        if len(around) == 0:
            around, weight = np.zeros(1), np.ones(1)
        distinct, which = np.unique(values, return_inverse=True)
        mass = _mass(around - distinct[:, None], self.precision, self.deviations[place])
        return np.asarray((mass @ weight / weight.sum())[which])


def mean_gap(values: FloatArray) -> float:
    """The mean distance of neighbouring different values: how precisely a number is told. 0.01 if there is only one.

    >>> mean_gap(np.array([1.0, 3.0, 3.0, 4.0]))
    1.5
    """
    distinct = np.unique(values)
    return float((distinct[-1] - distinct[0]) / (len(distinct) - 1)) if len(distinct) > 1 else 0.01


def _rounded(values: FloatArray, precision: float) -> FloatArray:
    return np.asarray(np.rint(values / precision) * precision)


def _mass(distance: FloatArray, precision: float, deviation: FloatArray | float) -> FloatArray:
    """Of the standard normal curve between both ends of an interval of one precision."""
    from scipy.special import ndtr

    return np.asarray(ndtr((distance + precision / 2) / deviation) - ndtr((distance - precision / 2) / deviation))
