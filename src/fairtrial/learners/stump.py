"""Decision stump: a tree with one split."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import EncodedTable
from fairtrial.learners.learner import Learner, register_learner


@register_learner("stump", aliases=("decision-stump",))
class Stump(Learner):
    """Decision stump: a single split of minimum entropy, as in WEKA's DecisionStump.

    A split on a nominal column separates one value from all others. A split on a numeric column is midway between two
    neighbouring values. Missing values go to a separate branch.

    Parameters
    ----------
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    column_ : int
        Index of the split column.
    cut_ : float
        Cut point of a numeric column, or code of the separated value of a nominal column.
    distributions_ : ndarray of shape (3, k)
        Class probabilities of the three branches. The last branch is for missing values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> stump = Stump().fit(X, y)
    >>> stump.column_, stump.cut_
    (2, 2.45)
    """

    def __init__(self, *, nominal: Any = None) -> None:
        self.nominal = nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Stump:
        """Find the best split.

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
        training = self._read_training(X, y, sample_weight)
        k = len(self.classes_)
        onehot = np.zeros((len(training.codes), k))
        onehot[np.arange(len(onehot)), training.codes] = training.weight
        splits = [
            _find_best_split(training.values[:, j], onehot, bool(kind)) for j, kind in enumerate(training.columns.nominal)
        ]
        self.column_ = int(np.argmin([entropy for entropy, _ in splits]))
        self.cut_ = splits[self.column_][1]
        counts = np.zeros((3, k))
        np.add.at(counts, self._find_branches(training.columns), onehot)
        total = onehot.sum(axis=0)
        counts[counts.sum(axis=1) == 0] = total
        self.distributions_ = counts / counts.sum(axis=1, keepdims=True)
        return self

    def _find_branches(self, columns: EncodedTable) -> IntArray:
        """Return the branch of each row: 0 or 1 for the two sides of the split, or 2 for a missing value."""
        values = columns.values[:, self.column_]
        first = values == self.cut_ if columns.nominal[self.column_] else values <= self.cut_
        return np.where(np.isnan(values), 2, np.where(first, 0, 1)).astype(np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        return np.asarray(self.distributions_[self._find_branches(columns)])


def _find_best_split(values: FloatArray, onehot: FloatArray, nominal: bool) -> tuple[float, float]:
    """Find the split with the smallest entropy on a column, and return its entropy and cut point.

    If no split is possible, the entropy is infinite.
    """
    missing = np.isnan(values)
    present, classes = values[~missing], onehot[~missing]
    if nominal:
        cuts = np.unique(present)
        first = np.array([classes[present == cut].sum(axis=0) for cut in cuts]).reshape(len(cuts), onehot.shape[1])
    else:
        order = np.argsort(present, kind="stable")
        present = present[order]
        ends = np.flatnonzero(present[1:] > present[:-1])
        cuts = (present[ends] + present[ends + 1]) / 2
        first = np.cumsum(classes[order], axis=0)[ends]
    if len(cuts) == 0:
        return np.inf, np.nan
    sides = np.stack([first, classes.sum(axis=0) - first, np.broadcast_to(onehot[missing].sum(axis=0), first.shape)], axis=1)
    entropy = _compute_split_entropy(sides)
    best = int(np.argmin(entropy))
    return float(entropy[best]), float(cuts[best])


def _compute_split_entropy(sides: FloatArray) -> FloatArray:
    """Compute the weighted mean entropy of the sides of each split, in bits.

    The axes of `sides` are splits, sides and classes.
    """
    logs = np.log2(sides, out=np.zeros_like(sides), where=sides > 0)
    size = sides.sum(axis=2)
    size_logs = np.log2(size, out=np.zeros_like(size), where=size > 0)
    total = (size * size_logs).sum(axis=1) - (sides * logs).sum(axis=(1, 2))
    return np.asarray(np.maximum(total, 0) / size.sum(axis=1))
