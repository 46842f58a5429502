"""Placements of cases and variances of AUCs, computed in linear time after sorting.

Reference: DeLong, DeLong & Clarke-Pearson (1988).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.sorting import order_scores


@kernel
def compute_auc_variance(pos: FloatArray, neg: FloatArray) -> tuple[float, float, float]:
    """Compute the AUC of an unweighted tally, and each class's contribution to its variance.

    The AUC is NaN if a class has no cases. A contribution is NaN if its class has only one case.
    """
    P, N, area = 0.0, 0.0, 0.0
    for i in range(pos.size):
        area += neg[i] * (P + 0.5 * pos[i])
        P += pos[i]
        N += neg[i]
    if P == 0 or N == 0:
        return np.nan, np.nan, np.nan
    auc = area / (P * N)
    tp, fp, over_positives, over_negatives = 0.0, 0.0, 0.0, 0.0
    for i in range(pos.size):
        over_positives += pos[i] * ((N - fp - 0.5 * neg[i]) / N - auc) ** 2
        over_negatives += neg[i] * ((tp + 0.5 * pos[i]) / P - auc) ** 2
        tp += pos[i]
        fp += neg[i]
    from_positives = over_positives / (P - 1) / P if P > 1 else np.nan
    from_negatives = over_negatives / (N - 1) / N if N > 1 else np.nan
    return auc, from_positives, from_negatives


def compute_placements(scores: FloatArray, is_positive: npt.NDArray[np.bool_]) -> FloatArray:
    """Compute the placements of all cases.

    The placement of a positive is the proportion of negatives with a lower score. The placement of a negative is the proportion
    of positives with a higher score. Ties count half.
    """
    return _compute_sorted_placements(scores, is_positive, order_scores(scores))


@kernel
def _compute_sorted_placements(
    scores: FloatArray, is_positive: npt.NDArray[np.bool_], ascending: npt.NDArray[np.uint32]
) -> FloatArray:
    n = scores.size
    P = is_positive.sum()
    N = n - P
    out = np.empty(n)
    below_p, below_n, start = 0, 0, 0
    while start < n:
        stop, p, q = start, 0, 0
        while stop == start or (stop < n and scores[ascending[stop]] == scores[ascending[start]]):
            p += is_positive[ascending[stop]]
            q += not is_positive[ascending[stop]]
            stop += 1
        for i in range(start, stop):
            if is_positive[ascending[i]]:
                out[ascending[i]] = (below_n + 0.5 * q) / N
            else:
                out[ascending[i]] = (P - below_p - 0.5 * p) / P
        below_p += p
        below_n += q
        start = stop
    return out


@kernel
def compute_auc_covariance(placements: FloatArray, is_positive: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Compute the AUCs of several models on the same rows, and their covariance matrix.

    `placements` has one row per model and one column per row of the data.
    """
    models, n = placements.shape
    P = is_positive.sum()
    N = n - P
    aucs = np.zeros(models)
    for a in range(models):
        for i in range(n):
            if is_positive[i]:
                aucs[a] += placements[a, i]
        aucs[a] /= P
    covariance = np.zeros((models, models))
    for a in range(models):
        for b in range(a + 1):
            over_positives, over_negatives = 0.0, 0.0
            for i in range(n):
                product = (placements[a, i] - aucs[a]) * (placements[b, i] - aucs[b])
                over_positives += product * is_positive[i]
                over_negatives += product * (not is_positive[i])
            covariance[a, b] = over_positives / (P - 1) / P + over_negatives / (N - 1) / N
            covariance[b, a] = covariance[a, b]
    return aucs, covariance
