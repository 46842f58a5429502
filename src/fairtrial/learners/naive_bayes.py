"""Naive Bayes over numeric and nominal columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray, one_of
from fairtrial._columns import Columns
from fairtrial.learners.densities import Binned, Counts, Density, Kernels, Normal
from fairtrial.learners.discretising import cut_points
from fairtrial.learners.learner import Learner, Training

_LEAST = 1e-75


class NaiveBayes(Learner):
    """Naive Bayes: nominal columns by counts, numeric ones by a normal curve, a kernel density or intervals; gaps are ignored.

    `numeric` is "normal", "kernel" or "discretised" (Fayyad and Irani's intervals, cut on the training rows). Counts start at
    one. Values and rounding follow WEKA's NaiveBayes, so that its probabilities come out.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NaiveBayes().fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    def __init__(self, numeric: str = "normal", *, nominal: Any = None) -> None:
        self.numeric = numeric
        self.nominal = nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayes:
        """Estimate the likelihoods of each column in each class."""
        one_of("numeric", self.numeric, ["normal", "kernel", "discretised"])
        training = self._read_training(X, y, sample_weight)
        k = len(self.classes_)
        counts = np.bincount(training.codes, training.weight, k) + 1
        self.class_prior_ = counts / counts.sum()
        self._densities = [self._density(training, j) for j in range(training.values.shape[1])]
        return self

    def _density(self, training: Training, j: int) -> Density | None:
        """Of one column; None where training saw no value."""
        known = ~np.isnan(training.values[:, j])
        values, classes, weight = training.values[known, j], training.codes[known], training.weight[known]
        k, categories = len(self.classes_), training.columns.categories[j]
        if len(values) == 0:
            return None
        if categories is not None:
            return Counts.fit(values.astype(np.intp), classes, weight, len(categories), k)
        if self.numeric == "normal":
            return Normal.fit(values, classes, weight, k)
        if self.numeric == "kernel":
            return Kernels.fit(values, classes, weight, k)
        cuts = np.array(cut_points(values, classes, weight, k))
        intervals = np.searchsorted(cuts, values, side="left")
        return Binned(cuts, Counts.fit(intervals, classes, weight, len(cuts) + 1, k))

    def _probabilities(self, columns: Columns) -> FloatArray:
        logs = np.tile(np.log(self.class_prior_), (len(columns), 1))
        for j, density in enumerate(self._densities):
            known = ~np.isnan(columns.values[:, j])
            if density is not None and known.any():
                logs[known] += np.log(np.maximum(density(columns.values[known, j]), _LEAST))
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
