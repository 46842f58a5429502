"""What a learner trained on parts of a sample says of the rows it has not seen, and how often it errs on new ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.reproduce.estimates.batched import BATCHED

Mask = npt.NDArray[np.bool_]


def wrong(learner: str, X: FloatArray, y: IntArray, k: int, weights: FloatArray, tested: Mask) -> FloatArray:
    """The loss of each training part (a line) on each row that it is tested on; elsewhere 0.

    >>> X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 1])
    >>> wrong("nearest neighbour", X, y, 2, 1.0 - np.eye(3), np.eye(3, dtype=bool)).diagonal().tolist()
    [1.0, 1.0, 0.0]
    """
    if learner in BATCHED:
        said = BATCHED[learner](X, y, k, weights, X)
    else:
        said = np.array([_tree(X, y, row, X, test) for row, test in zip(weights, tested, strict=True)])
    return np.where(tested, said != y, 0.0)


def error_on(learner: str, X: FloatArray, y: IntArray, k: int, new_X: FloatArray, new_y: IntArray) -> float:
    """The error on new rows of the learner trained on all of the sample."""
    return float((said_of_all(learner, X, y, k, new_X) != new_y).mean())


def said_of_all(learner: str, X: FloatArray, y: IntArray, k: int, queries: FloatArray) -> IntArray:
    """What the learner trained on all of the sample says of these rows."""
    if learner in BATCHED:
        return np.asarray(BATCHED[learner](X, y, k, np.ones((1, len(y))), queries)[0])
    return _tree(X, y, np.ones(len(y)), queries, np.ones(len(queries), dtype=bool))


def _tree(X: FloatArray, y: IntArray, weights: FloatArray, queries: FloatArray, asked: Mask) -> IntArray:
    """What C4.5 says of the rows that are asked for; elsewhere -1."""
    from fairtrial.learners import C45

    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    said = np.full(len(queries), -1)
    if asked.any():
        said[asked] = C45().fit(X[rows], y[rows]).predict(queries[asked])
    return said
