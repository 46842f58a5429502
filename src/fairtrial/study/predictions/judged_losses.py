"""What each row adds to a measure of probabilities that is a mean over rows."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray


def losses(probabilities: FloatArray, true: IntArray, positive: int | None, name: str) -> FloatArray:
    """What each row adds to the Brier score or to the log loss; a named one of several classes is judged against the rest.

    >>> losses(np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([0, 1]), 1, "brier").tolist()
    [0.0625, 0.25]
    """
    if positive is not None and probabilities.shape[1] > 2:
        own = probabilities[:, positive]
        probabilities, true = np.column_stack([1 - own, own]), (true == positive).astype(np.intp)
    of_truth = np.take_along_axis(probabilities, true[:, None], axis=1)[:, 0]
    if name == "log_loss":
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(of_truth))
    squares = (probabilities**2).sum(axis=1) - 2 * of_truth + 1
    return np.asarray(squares / 2 if probabilities.shape[1] == 2 else squares)
