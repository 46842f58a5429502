"""Bergmann and Hommel's procedure for all pairs of learners, exact up to 16 learners.

A set of pairs is *exhaustive* if its pairs, and no others, can be equal together: the pairs within the blocks of a partition of
the learners. The adjusted p value of a pair is the largest |I| min p(I) over the exhaustive sets I that hold it. Listing these
sets ends at about 9 learners, there being Bell(k) - 1. They need not be listed: with v the least p value of I, the blocks of I
are cliques of the graph of pairs with p >= v, and what is wanted is the partition into cliques with the most pairs, the pair in
question lying within a block. A dynamic programme over subsets of learners finds it for all pairs at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels.cliques import most_true, neighbours
from fairtrial.kernels.threads import in_chunks
from fairtrial.significance.adjust import check_p_values
from fairtrial.significance.shaffer import learners_of

MOST_LEARNERS = 16


def bergmann(p_values: npt.ArrayLike) -> FloatArray:
    """Adjusted p values of all pairs of k learners (Bergmann & Hommel 1988), 2 <= k <= 16.

    The pairs come in the order (1, 2), (1, 3), ..., (1, k), (2, 3), ..., that of `itertools.combinations` and of SciPy's
    `squareform`. Valid under any dependence and never worse than Shaffer's static procedure.
    A pair with a larger p value may have the smaller adjusted one, as the third below: the sets that hold it decide.

    >>> bergmann([0.001, 0.02, 0.04, 0.03, 0.3, 0.4]).round(3).tolist()
    [0.006, 0.06, 0.06, 0.09, 0.3, 0.4]
    """
    p = check_p_values(p_values)
    k = learners_of(len(p))
    if k > MOST_LEARNERS:
        raise InputError(
            f"bergmann must have at most {MOST_LEARNERS} learners, got {k}: use 'shaffer', or compare with a control"
        )
    square = np.zeros((k, k))
    square[np.triu_indices(k, 1)] = p
    square += square.T
    thresholds = np.unique(p)

    def work(start: int, stop: int) -> FloatArray:
        return np.asarray(np.max([v * most_true(neighbours(square >= v), k) for v in thresholds[start:stop]], axis=0))

    chunk = -(-len(thresholds) // 8)
    adjusted = np.max(in_chunks(work, len(thresholds), chunk), axis=0)[np.triu_indices(k, 1)]
    return np.asarray(np.clip(adjusted, p, 1.0))
