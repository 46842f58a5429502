"""Statistics of two samples, straight from their definitions: one pair of samples at a time, by loops over pairs of rows."""

import numpy as np


def parts(side):
    """Positions of test and training rows of one column of sides."""
    return np.flatnonzero(side & 1), np.flatnonzero(side >> 1)


def heom(a, b, nominal):
    total = 0.0
    for x, y, named in zip(a, b, nominal, strict=True):
        if np.isnan(x) or np.isnan(y):
            total += 1
        elif named:
            total += float(x != y)
        else:
            total += (x - y) ** 2
    return total**0.5


def energy(rows, test, train):
    def mean(first, second):
        return np.mean([[np.linalg.norm(rows[i] - rows[j]) for j in second] for i in first])

    return 2 * mean(test, train) - mean(test, test) - mean(train, train)


def hellinger(values, test, train):
    gap = 0.0
    for value in np.unique(values):
        gap += (np.mean(values[test] == value) ** 0.5 - np.mean(values[train] == value) ** 0.5) ** 2
    return (gap / 2) ** 0.5


def neighbour_scores(rows, side, k):
    """Test less training rows among the k nearest other rows, ties by position."""
    scores = []
    for i in range(len(rows)):
        far = [(np.linalg.norm(rows[i] - rows[j]), j) for j in range(len(rows)) if j != i]
        near = [j for _, j in sorted(far)[:k]]
        scores.append(sum(int(side[j] & 1) - int(side[j] >> 1) for j in near))
    return np.array(scores)


def twins(rows, labels, side):
    """Test rows (not training themselves) with an equal training row: of the same class, of another class."""
    same = other = 0
    for i in np.flatnonzero(side == 1):
        equal = [j for j in range(len(rows)) if j != i and side[j] & 2 and np.array_equal(rows[i], rows[j], equal_nan=True)]
        same += any(labels[j] == labels[i] for j in equal)
        other += any(labels[j] != labels[i] for j in equal)
    return same, other
