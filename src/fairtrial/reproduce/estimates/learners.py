"""Fast learners that are fitted to many training sets of one sample at once.

Each training set is given by a row of weights, which count how often it contains each row of the sample. The predictions equal
those of scikit-learn's KNeighborsClassifier(1), GaussianNB and LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1). C4.5
is fitted to one training set at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray

Mask = npt.NDArray[np.bool_]
SHRINKAGE = 0.1
_SMOOTHING = 1e-9  # as a fraction of the largest variance of an attribute, as in scikit-learn
# X, y, number of classes, weights (training sets, rows), queries -> class codes (training sets, queries)
BatchedLearner = Callable[[FloatArray, IntArray, int, FloatArray, FloatArray], IntArray]


def compute_losses(
    learner: str, X: FloatArray, y: IntArray, n_classes: int, weights: FloatArray, is_tested: Mask
) -> FloatArray:
    """Return the 0-1 loss of each model on its test rows, and 0 for all other rows.

    >>> X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 1])
    >>> compute_losses("nearest neighbour", X, y, 2, 1.0 - np.eye(3), np.eye(3, dtype=bool)).diagonal().tolist()
    [1.0, 1.0, 0.0]
    """
    if learner in BATCHED:
        predictions = BATCHED[learner](X, y, n_classes, weights, X)
    else:
        sets = zip(weights, is_tested, strict=True)
        predictions = np.array([_predict_by_tree(X, y, row, X, requested) for row, requested in sets])
    return np.where(is_tested, predictions != y, 0.0)


def predict_from_all(learner: str, X: FloatArray, y: IntArray, n_classes: int, queries: FloatArray) -> IntArray:
    """Return the predictions of the learner trained on the whole sample."""
    if learner in BATCHED:
        return np.asarray(BATCHED[learner](X, y, n_classes, np.ones((1, len(y))), queries)[0])
    return _predict_by_tree(X, y, np.ones(len(y)), queries, np.ones(len(queries), dtype=bool))


def _predict_by_tree(X: FloatArray, y: IntArray, weights: FloatArray, queries: FloatArray, requested: Mask) -> IntArray:
    """Return the predictions of C4.5 for the requested rows, and -1 for other rows."""
    from fairtrial.learners import C45

    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    predictions = np.full(len(queries), -1)
    if requested.any():
        predictions[requested] = C45().fit(X[rows], y[rows]).predict(queries[requested])
    return predictions


def predict_nearest_neighbour(X: FloatArray, y: IntArray, _: int, weights: FloatArray, queries: FloatArray) -> IntArray:
    """Return the class of the nearest training row.

    >>> X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 1])
    >>> predict_nearest_neighbour(X, y, 2, np.array([[1, 1, 1], [1, 0, 1]]), np.array([[0.9]])).tolist()
    [[1], [0]]
    """
    squares = (queries**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2 * queries @ X.T
    order = np.argsort(squares, axis=1, kind="stable")
    first = (weights > 0)[:, order].argmax(axis=2)
    return np.asarray(y[np.take_along_axis(order[None], first[:, :, None], axis=2)[:, :, 0]])


def predict_naive_bayes(X: FloatArray, y: IntArray, n_classes: int, weights: FloatArray, queries: FloatArray) -> IntArray:
    """Return the most probable class, assuming independent normal attributes within each class."""
    priors, means, squares = _compute_moments(X, y, n_classes, weights)
    overall = np.einsum("sk,skd->sd", priors, means)
    spread = (np.einsum("sk,skd->sd", priors, squares) - overall**2).max(axis=1)
    variances = np.maximum(squares - means**2, 0.0) + (_SMOOTHING * spread)[:, None, None]
    precisions = 1 / np.where(variances > 0, variances, 1.0)
    constant = np.log(np.where(priors > 0, priors, 1.0)) - 0.5 * (np.log(variances) + means**2 * precisions).sum(axis=2)
    scores = np.einsum("md,skd->smk", queries, means * precisions, optimize=True)
    scores -= 0.5 * np.einsum("md,skd->smk", queries**2, precisions, optimize=True)
    return _choose_class(scores + constant[:, None], priors)


def predict_linear_discriminant(
    X: FloatArray, y: IntArray, n_classes: int, weights: FloatArray, queries: FloatArray
) -> IntArray:
    """Return the most probable class, assuming normal densities with a common covariance matrix.

    The estimated covariance matrix is shrunk towards a multiple of the identity matrix.
    """
    priors, means, _ = _compute_moments(X, y, n_classes, weights)
    d = X.shape[1]
    products = (weights / weights.sum(axis=1, keepdims=True)) @ (X[:, :, None] * X[:, None]).reshape(len(X), d * d)
    covariance = products.reshape(-1, d, d) - np.einsum("sk,skd,ske->sde", priors, means, means, optimize=True)
    mean_variance = np.trace(covariance, axis1=1, axis2=2) / d
    covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * mean_variance[:, None, None] * np.eye(d)
    directions = np.linalg.solve(covariance, means.transpose(0, 2, 1))
    constant = np.log(np.where(priors > 0, priors, 1.0)) - 0.5 * np.einsum("skd,sdk->sk", means, directions)
    return _choose_class(np.einsum("md,sdk->smk", queries, directions, optimize=True) + constant[:, None], priors)


def _compute_moments(
    X: FloatArray, y: IntArray, n_classes: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return class proportions, and means and mean squares of the attributes by class."""
    members = weights[:, None] * (y == np.arange(n_classes)[:, None])  # (training sets, classes, rows)
    counts = members.sum(axis=2)
    divisors = np.maximum(counts, 1e-300)[:, :, None]
    return counts / counts.sum(axis=1, keepdims=True), members @ X / divisors, members @ X**2 / divisors


def _choose_class(scores: FloatArray, priors: FloatArray) -> IntArray:
    """Return the class with the highest score among the classes of the training set."""
    return np.asarray(np.where(priors[:, None] > 0, scores, -np.inf).argmax(axis=2))


BATCHED: Mapping[str, BatchedLearner] = MappingProxyType(
    {
        "nearest neighbour": predict_nearest_neighbour,
        "naive Bayes": predict_naive_bayes,
        "linear discriminant": predict_linear_discriminant,
    }
)
