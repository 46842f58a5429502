"""Twins of the rule kernels: each condition tried on its own rows, by masks."""

import math

import numpy as np


def mask(values, condition):
    column, kind, cut = condition
    return {0: values[column] <= cut, 1: values[column] >= cut, 2: values[column] == cut}[kind]


def gain(inside, positive, base):
    right = int(positive[inside].sum())
    return right * (math.log((right + 1) / (int(inside.sum()) + 1)) / math.log(2) - math.log(base) / math.log(2))


def candidates(values, sizes, inside, positive, base, used):
    """For each column and value in order, the better side; sides that tie go to the larger values."""
    for j in range(len(values)):
        if used[j]:
            continue
        if sizes[j]:
            yield from ((j, 2, float(code)) for code in range(sizes[j]))
            continue
        for cut in np.unique(values[j][inside & ~np.isnan(values[j])]):
            low, high = ((j, kind, float(cut)) for kind in (0, 1))
            better = gain(inside & mask(values, low), positive, base) > gain(inside & mask(values, high), positive, base)
            yield low if better else high


def grow(values, sizes, rows, positive, used, least):
    inside = np.zeros(values.shape[1], dtype=bool)
    inside[rows] = True
    used, found = list(used), []
    while inside.any():
        base = (positive[inside].sum() + 1) / (inside.sum() + 1)
        if 1 - base <= 1e-6:
            break
        best, chosen = 0.0, None
        for condition in candidates(values, sizes, inside, positive, base, used):
            worth = gain(inside & mask(values, condition), positive, base)
            if worth > best:
                best, chosen = worth, condition
        if chosen is None or positive[inside & mask(values, chosen)].sum() < least:
            break
        used[chosen[0]] = sizes[chosen[0]] > 0
        found.append(chosen)
        inside &= mask(values, chosen)
    return found


def kept_length(values, rows, positive, conditions, whole):
    if len(rows) == 0:
        return len(conditions)
    own, worths = positive[rows], [(positive[rows].sum() + 1) / (len(rows) + 2)]
    for length in range(1, len(conditions) + 1):
        inside = np.all([mask(values, each)[rows] for each in conditions[:length]], axis=0)
        worths.append((inside == own).mean() if whole else (own[inside].sum() + 1) / (inside.sum() + 2))
    return int(np.argmax(worths))
