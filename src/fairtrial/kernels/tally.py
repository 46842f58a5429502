"""Build the tally of scores: positives and negatives are sorted separately (SIMD) and merged, highest score first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel


@kernel
def split_scores(is_positive: npt.NDArray[np.bool_], scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the positives and of the negatives, in row order."""
    n = scores.size
    positives, negatives = np.empty(n), np.empty(n)
    p, q = 0, 0
    for i in range(n):
        # Writing to both sides and advancing one avoids an unpredictable branch.
        positives[p] = scores[i]
        negatives[q] = scores[i]
        p += is_positive[i]
        q += not is_positive[i]
    return positives[:p], negatives[:q]


@kernel
def merge_tallies(
    positives: FloatArray,
    negatives: FloatArray,
    n_positives: npt.NDArray[np.intp],
    n_negatives: npt.NDArray[np.intp],
    values: FloatArray,
    pos: FloatArray,
    neg: FloatArray,
) -> int:
    """Merge ascending rows into descending tallies; unused entries keep count 0. Return the length of the longest tally.

    Row b of `positives` contains `n_positives[b]` scores; row b of `negatives` contains `n_negatives[b]`.
    """
    widest = 0
    for b in range(values.shape[0]):
        i, j, m = n_positives[b] - 1, n_negatives[b] - 1, 0
        while i >= 0 or j >= 0:
            from_positives = j < 0 or (i >= 0 and positives[b, i] >= negatives[b, j])
            value = positives[b, i] if from_positives else negatives[b, j]
            p, q = 0, 0
            while i >= 0 and positives[b, i] == value:
                p += 1
                i -= 1
            while j >= 0 and negatives[b, j] == value:
                q += 1
                j -= 1
            values[b, m] = value
            pos[b, m] = p
            neg[b, m] = q
            m += 1
        for rest in range(m, values.shape[1]):
            values[b, rest] = 0.0
            pos[b, rest] = 0.0
            neg[b, rest] = 0.0
        widest = max(widest, m)
    return widest


@kernel
def sum_equal_scores(
    scores: FloatArray,
    is_positive: npt.NDArray[np.bool_],
    weights: FloatArray,
    values: FloatArray,
    pos: FloatArray,
    neg: FloatArray,
) -> int:
    """Sum the weights of equal scores, which are sorted in descending order; return the number of distinct scores."""
    m = -1
    for i in range(scores.size):
        if m < 0 or scores[i] != values[m]:
            m += 1
            values[m], pos[m], neg[m] = scores[i], 0.0, 0.0
        if is_positive[i]:
            pos[m] += weights[i]
        else:
            neg[m] += weights[i]
    return m + 1
