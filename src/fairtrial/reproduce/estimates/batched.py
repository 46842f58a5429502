"""Learners that learn from many training parts of one sample at once: what takes a second fit by fit takes milliseconds.

A training part is a row of weights, how often each row of the sample is in it. What is learnt is what scikit-learn's
KNeighborsClassifier(1), GaussianNB and LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1) learn from these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from fairtrial._check import FloatArray, IntArray

SHRINKAGE = 0.1
_SMOOTHING = 1e-9  # of the largest variance of an attribute, as in scikit-learn
# X, y, number of classes, weights (parts, rows), queries -> codes of classes (parts, queries)
Batched = Callable[[FloatArray, IntArray, int, FloatArray, FloatArray], IntArray]


def nearest_neighbour(X: FloatArray, y: IntArray, _: int, weights: FloatArray, queries: FloatArray) -> IntArray:
    """The class of the nearest training row.

    >>> X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 1])
    >>> nearest_neighbour(X, y, 2, np.array([[1, 1, 1], [1, 0, 1]]), np.array([[0.9]])).tolist()
    [[1], [0]]
    """
    squares = (queries**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2 * queries @ X.T
    order = np.argsort(squares, axis=1, kind="stable")
    first = (weights > 0)[:, order].argmax(axis=2)
    return np.asarray(y[np.take_along_axis(order[None], first[:, :, None], axis=2)[:, :, 0]])


def naive_bayes(X: FloatArray, y: IntArray, k: int, weights: FloatArray, queries: FloatArray) -> IntArray:
    """The most probable class by normal densities of each attribute in each class."""
    share, means, squares = _moments(X, y, k, weights)
    overall = np.einsum("sk,skd->sd", share, means)
    spread = (np.einsum("sk,skd->sd", share, squares) - overall**2).max(axis=1)
    variances = np.maximum(squares - means**2, 0.0) + (_SMOOTHING * spread)[:, None, None]
    precise = 1 / np.where(variances > 0, variances, 1.0)
    constant = np.log(np.where(share > 0, share, 1.0)) - 0.5 * (np.log(variances) + means**2 * precise).sum(axis=2)
    scores = np.einsum("md,skd->smk", queries, means * precise, optimize=True)
    scores -= 0.5 * np.einsum("md,skd->smk", queries**2, precise, optimize=True)
    return _best(scores + constant[:, None], share)


def linear_discriminant(X: FloatArray, y: IntArray, k: int, weights: FloatArray, queries: FloatArray) -> IntArray:
    """The most probable class by normal densities with one covariance, a tenth of it shrunk to a multiple of the identity."""
    share, means, _ = _moments(X, y, k, weights)
    d = X.shape[1]
    products = (weights / weights.sum(axis=1, keepdims=True)) @ (X[:, :, None] * X[:, None]).reshape(len(X), d * d)
    covariance = products.reshape(-1, d, d) - np.einsum("sk,skd,ske->sde", share, means, means, optimize=True)
    level = np.trace(covariance, axis1=1, axis2=2) / d
    covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * level[:, None, None] * np.eye(d)
    directions = np.linalg.solve(covariance, means.transpose(0, 2, 1))
    constant = np.log(np.where(share > 0, share, 1.0)) - 0.5 * np.einsum("skd,sdk->sk", means, directions)
    return _best(np.einsum("md,sdk->smk", queries, directions, optimize=True) + constant[:, None], share)


def _moments(X: FloatArray, y: IntArray, k: int, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each training part and class: its share, and the means of the attributes and of their squares."""
    members = weights[:, None] * (y == np.arange(k)[:, None])  # (parts, classes, rows)
    counts = members.sum(axis=2)
    each = np.maximum(counts, 1e-300)[:, :, None]
    return counts / counts.sum(axis=1, keepdims=True), members @ X / each, members @ X**2 / each


def _best(scores: FloatArray, share: FloatArray) -> IntArray:
    """The class of the highest score among those that the training part has."""
    return np.asarray(np.where(share[:, None] > 0, scores, -np.inf).argmax(axis=2))


BATCHED: Mapping[str, Batched] = MappingProxyType(
    {"nearest neighbour": nearest_neighbour, "naive Bayes": naive_bayes, "linear discriminant": linear_discriminant}
)
