"""Build the tally of scores, highest score first.

Short columns of positives and negatives are sorted separately and merged. In long columns, each score is packed with its class
into one integer, and the integers are sorted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import helper, kernel
from fairtrial.kernels.sorting import Keys, sort_packed_keys

NOT_FINITE, TOO_WIDE = -1, -2


@kernel
def split_scores(is_positive: npt.NDArray[np.bool_], scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the positives and of the negatives, in row order."""
    n = scores.size
    positives, negatives = np.empty(n), np.empty(n)
    p, q = 0, 0
    for i in range(n):
        # Writing to both arrays and advancing only one index avoids an unpredictable branch.
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
    """Merge ascending rows into descending tallies, and return the length of the longest tally.

    Row b of `positives` contains `n_positives[b]` scores, and row b of `negatives` contains `n_negatives[b]` scores. Unused
    entries of the tallies have a count of 0.
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
    """Sum the weights of equal scores, and return the number of distinct scores.

    The scores must be in descending order.
    """
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


@kernel
def tally_by_radix(
    is_positive: npt.NDArray[np.bool_],
    scores: FloatArray,
    keys: Keys,
    spare: Keys,
    values: FloatArray,
    pos: FloatArray,
    neg: FloatArray,
) -> int:
    """Tally fewer than 2^32 scores, and return the number of distinct scores.

    The result is NOT_FINITE if a score is not finite, and TOO_WIDE if a score and its class do not fit into 64 bits. They do
    not fit if scores have both signs and very different magnitudes. `keys` and `spare` are working memory of n entries.
    """
    one, sign = np.uint64(1), np.uint64(0x8000000000000000)
    low, high, any_negative = find_magnitudes(scores)
    if high >= np.uint64(0x7FF0000000000000):
        return NOT_FINITE
    # Keys of negative scores are below `offset`. Among these scores, larger magnitudes have smaller keys.
    offset = high - low + one if any_negative else np.uint64(0)
    if offset >> np.uint64(62):
        return TOO_WIDE
    bits, rest = 1, offset + (high - low)
    while rest:
        bits += 1
        rest >>= one
    raw = scores.view(np.uint64)
    for i in range(scores.size):
        distance = (raw[i] & ~sign) - low
        key = offset - one - distance if raw[i] > sign else offset + distance
        keys[i] = key << one | np.uint64(is_positive[i])
    keys = sort_packed_keys(keys, spare, bits)
    raw_values = values.view(np.uint64)
    m, last, p, q = -1, np.uint64(0), 0, 0
    for i in range(keys.size - 1, -1, -1):
        key = keys[i] >> one
        if m < 0 or key != last:
            m, last, p, q = m + 1, key, 0, 0
            raw_values[m] = key - offset + low if key >= offset else (offset - one - key + low) | sign
        p += int(keys[i] & one)
        q += int(~keys[i] & one)
        pos[m] = p
        neg[m] = q
    return m + 1


@helper
def find_magnitudes(scores: FloatArray) -> tuple[np.uint64, np.uint64, bool]:
    """Return the bits of the smallest and largest magnitude, and whether a score is below zero."""
    sign = np.uint64(0x8000000000000000)
    raw = scores.view(np.uint64)
    low, high, any_negative = ~sign, np.uint64(0), False
    for i in range(raw.size):
        low = min(low, raw[i] & ~sign)
        high = max(high, raw[i] & ~sign)
        any_negative |= raw[i] > sign
    return low, high, any_negative
