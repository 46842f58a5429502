"""Naive Bayes for numeric and nominal columns, with normal, kernel or count-based densities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_one_of
from fairtrial._frames import EncodedTable
from fairtrial.learners.learner import Learner, TrainingSet, register_learner


def find_cut_points(values: FloatArray, codes: IntArray, weight: FloatArray, k: int) -> list[float]:
    """Return the sorted cut points of a numeric column, found by the method of Fayyad and Irani.

    A value equal to a cut point belongs to the interval below it. Missing values are ignored.

    >>> find_cut_points(np.array([1.0, 2, 3, 4, 5, 6, 7, 8]), np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.ones(8), 2)
    [4.5]
    """
    present = ~np.isnan(values)
    order = np.argsort(values[present], kind="stable")
    ordered = values[present][order]
    counts = np.zeros((len(ordered), k))
    counts[np.arange(len(ordered)), codes[present][order]] = weight[present][order]
    return _find_cuts(ordered, counts)


def _find_cuts(values: FloatArray, counts: FloatArray) -> list[float]:
    """Cut at the point of minimum entropy, and repeat this on both sides.

    The recursion stops when the information gain of a cut does not exceed its description length.
    """
    ends = np.flatnonzero(values[1:] > values[:-1])
    if len(ends) == 0:
        return []
    below = np.cumsum(counts, axis=0)[ends]
    total = counts.sum(axis=0)
    n = float(total.sum())
    within = (below.sum(axis=1) * _compute_entropy(below) + (total - below).sum(axis=1) * _compute_entropy(total - below)) / n
    best = int(np.argmin(within))
    if not _is_worthwhile(total, below[best], n, float(within[best])):
        return []
    end = ends[best] + 1
    cut = float((values[end - 1] + values[end]) / 2)
    return [*_find_cuts(values[:end], counts[:end]), cut, *_find_cuts(values[end:], counts[end:])]


def _is_worthwhile(total: FloatArray, left: FloatArray, n: float, within: float) -> bool:
    """Return whether the information gain exceeds the description length of the cut and of the classes on both sides."""
    right = total - left
    gain = float(_compute_entropy(total)) - within
    if gain <= 0 or n <= 1:
        return False
    n_classes = [int((side > 0).sum()) for side in (total, left, right)]
    entropies = [float(_compute_entropy(side)) for side in (total, left, right)]
    change = n_classes[0] * entropies[0] - n_classes[1] * entropies[1] - n_classes[2] * entropies[2]
    delta = np.log2(3.0 ** n_classes[0] - 2) - change
    return bool(gain > (np.log2(n - 1) + delta) / n)


def _compute_entropy(counts: FloatArray) -> FloatArray:
    """Compute the entropy of each row of class counts in bits."""
    total = counts.sum(axis=-1, keepdims=True)
    proportions = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return np.asarray(-(proportions * np.log2(proportions, out=np.zeros_like(proportions), where=proportions > 0)).sum(axis=-1))


class Density(Protocol):
    """Function that returns the likelihood of values in each class, with one row per value."""

    def __call__(self, values: FloatArray) -> FloatArray:
        """Compute the likelihood of each (known and finite) value in each class."""


@dataclass(frozen=True, eq=False)
class CountDensity:
    """Laplace-smoothed likelihood of each code in each class.

    The likelihood of a code is its count plus 1, divided by the sum of these values over all codes.
    """

    proportions: FloatArray

    @classmethod
    def fit(cls, codes: IntArray, classes: IntArray, weight: FloatArray, size: int, k: int) -> CountDensity:
        """Estimate the likelihood of the codes 0..size-1 in each class."""
        counts = np.bincount(classes * size + codes, weight, k * size).reshape(k, size) + 1
        return cls(counts / counts.sum(axis=1, keepdims=True))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the likelihood of each code in each class."""
        return np.asarray(self.proportions[:, values.astype(np.intp)].T)


@dataclass(frozen=True, eq=False)
class BinnedDensity:
    """Likelihood of numeric values in each class, estimated from counts in intervals."""

    cuts: FloatArray
    counts: CountDensity

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the likelihood of the interval that contains each value, in each class."""
        return self.counts(np.searchsorted(self.cuts, values, side="left").astype(np.float64))


@dataclass(frozen=True, eq=False)
class NormalDensity:
    """Normal probability, in each class, of the interval of width `precision` around a value.

    Standard deviations are at least precision / 6.
    """

    means: FloatArray
    deviations: FloatArray
    precision: float

    @classmethod
    def fit(cls, values: FloatArray, classes: IntArray, weight: FloatArray, k: int) -> NormalDensity:
        """Compute the weighted mean and standard deviation of the rounded values of each class."""
        precision = compute_mean_gap(values)
        rounded = _round_to_precision(values, precision)
        size = np.bincount(classes, weight, k)
        divisors = np.where(size > 0, size, 1)
        means = np.bincount(classes, weight * rounded, k) / divisors
        variance = np.bincount(classes, weight * (rounded - means[classes]) ** 2, k) / divisors
        return cls(means, np.maximum(np.sqrt(variance), precision / 6), precision)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Compute the probability of the interval around each value, in each class."""
        return _compute_mass(_round_to_precision(values, self.precision)[:, None] - self.means, self.precision, self.deviations)


@dataclass(frozen=True, eq=False)
class KernelDensity:
    """Kernel density estimate: the mean of normal densities centred on the training values of each class.

    In each class, the standard deviation is the range of the training values divided by the square root of their total weight.
    It is at least precision / 6.
    """

    values: tuple[FloatArray, ...]
    weights: tuple[FloatArray, ...]
    deviations: FloatArray
    precision: float

    @classmethod
    def fit(cls, values: FloatArray, classes: IntArray, weight: FloatArray, k: int) -> KernelDensity:
        """Store the distinct rounded values of each class with their weights."""
        precision = compute_mean_gap(values)
        rounded = _round_to_precision(values, precision)
        distinct_values, weights, deviations = [], [], []
        for code in range(k):
            in_class = classes == code
            distinct, inverse = np.unique(rounded[in_class], return_inverse=True)
            distinct_values.append(distinct)
            weights.append(np.bincount(inverse, weight[in_class], len(distinct)).astype(np.float64))
            size = weight[in_class].sum()
            width = (distinct[-1] - distinct[0]) / np.sqrt(size) if size > 0 else 0.0
            deviations.append(max(width, precision / 6))
        return cls(tuple(distinct_values), tuple(weights), np.array(deviations), precision)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Compute the probability of the interval around each value, in each class."""
        return np.column_stack([self._compute_class_mass(values, code) for code in range(len(self.values))])

    def _compute_class_mass(self, values: FloatArray, code: int) -> FloatArray:
        centres, weight = self.values[code], self.weights[code]
        if len(centres) == 0:
            centres, weight = np.zeros(1), np.ones(1)
        distinct, inverse = np.unique(values, return_inverse=True)
        mass = _compute_mass(centres - distinct[:, None], self.precision, self.deviations[code])
        return np.asarray((mass @ weight / weight.sum())[inverse])


def compute_mean_gap(values: FloatArray) -> float:
    """Compute the precision of a column: the mean distance between neighbouring distinct values.

    If there is only one distinct value, the precision is 0.01.

    >>> compute_mean_gap(np.array([1.0, 3.0, 3.0, 4.0]))
    1.5
    """
    distinct = np.unique(values)
    return float((distinct[-1] - distinct[0]) / (len(distinct) - 1)) if len(distinct) > 1 else 0.01


def _round_to_precision(values: FloatArray, precision: float) -> FloatArray:
    return np.asarray(np.rint(values / precision) * precision)


def _compute_mass(distance: FloatArray, precision: float, deviation: FloatArray | float) -> FloatArray:
    """Compute the normal probability of an interval of width `precision`.

    `distance` is the distance between the mean and the centre of the interval.
    """
    from scipy.special import ndtr

    return np.asarray(ndtr((distance + precision / 2) / deviation) - ndtr((distance - precision / 2) / deviation))


_MIN_DENSITY = 1e-75


@register_learner("naive-bayes")
class NaiveBayes(Learner):
    """Naive Bayes classifier for numeric and nominal columns. Missing values are ignored.

    Counts of nominal values start at one. Probabilities are computed and numbers are rounded as in WEKA's NaiveBayes.

    Parameters
    ----------
    numeric : {"normal", "kernel", "discretised"}, default "normal"
        Density estimate for numeric columns: normal, kernel, or counts in intervals found by the method of Fayyad and Irani.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NaiveBayes().fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    def __init__(self, numeric: str = "normal", *, nominal: Any = None) -> None:
        self.numeric = numeric
        self.nominal = nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayes:
        """Estimate the likelihood of each column in each class.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.
        sample_weight : array-like of shape (n,), optional
            Weight of each row. Rows with weight 0 are ignored.

        Returns
        -------
        self
        """
        check_one_of("numeric", self.numeric, ["normal", "kernel", "discretised"])
        training = self._read_training(X, y, sample_weight)
        k = len(self.classes_)
        counts = np.bincount(training.codes, training.weight, k) + 1
        self.class_prior_ = counts / counts.sum()
        self._densities = [self._fit_density(training, j) for j in range(training.values.shape[1])]
        return self

    def _fit_density(self, training: TrainingSet, j: int) -> Density | None:
        """Estimate the density of one column. Return None if all its training values are missing."""
        present = ~np.isnan(training.values[:, j])
        values, classes, weight = training.values[present, j], training.codes[present], training.weight[present]
        k, categories = len(self.classes_), training.columns.categories[j]
        if len(values) == 0:
            return None
        if categories is not None:
            return CountDensity.fit(values.astype(np.intp), classes, weight, len(categories), k)
        if self.numeric == "normal":
            return NormalDensity.fit(values, classes, weight, k)
        if self.numeric == "kernel":
            return KernelDensity.fit(values, classes, weight, k)
        cuts = np.array(find_cut_points(values, classes, weight, k))
        intervals = np.searchsorted(cuts, values, side="left")
        return BinnedDensity(cuts, CountDensity.fit(intervals, classes, weight, len(cuts) + 1, k))

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        logs = np.tile(np.log(self.class_prior_), (len(columns), 1))
        for j, density in enumerate(self._densities):
            present = ~np.isnan(columns.values[:, j])
            if density is not None and present.any():
                logs[present] += np.log(np.maximum(density(columns.values[present, j]), _MIN_DENSITY))
        posteriors = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(posteriors / posteriors.sum(axis=1, keepdims=True))
