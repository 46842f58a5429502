"""Shaffer's static procedure for all pairs of learners."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from math import comb, isqrt

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.significance.adjust import check_p_values, step_down


def shaffer(p_values: npt.ArrayLike) -> FloatArray:
    """Adjusted p values of all pairs of k learners (Shaffer 1986, static), in the order given.

    Holm's procedure with the number of hypotheses that may still be true *together*: if one pair differs, some other pair
    must differ too. Valid under any dependence and never worse than Holm. All k (k - 1) / 2 pairs have to be there.

    >>> shaffer([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.03]
    """
    p = check_p_values(p_values)
    possible = sorted(true_counts(learners_of(len(p))))
    left = np.arange(len(p), 0, -1)
    most = np.array(possible)[np.searchsorted(possible, left, side="right") - 1]
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = step_down(most * p[order])
    return np.clip(adjusted, p, 1.0)


@cache
def true_counts(k: int) -> frozenset[int]:
    """Shaffer's S(k): how many of the pairs of k learners can be equal at once.

    >>> sorted(true_counts(4))
    [0, 1, 2, 3, 6]
    """
    if k < 2:
        return frozenset({0})
    return frozenset(comb(j, 2) + rest for j in range(1, k + 1) for rest in true_counts(k - j))


def learners_of(pairs: int) -> int:
    """The number of learners that have this many pairs."""
    k = (1 + isqrt(1 + 8 * pairs)) // 2
    if comb(k, 2) != pairs:
        some = ", ".join(str(count) for count in accumulate(range(1, 6)))
        raise InputError(f"p_values must hold one value for each pair of learners ({some} ...), got {pairs}: give all pairs")
    return k
