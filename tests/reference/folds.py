"""Folds by hand: random ones, and DOB-SCV by full sorts, for tests of what looks at folds."""

import numpy as np


def as_splits(fold):
    """Pairs (train, test) of the fold of each row."""
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]


def stratified(y, k, rng):
    fold = np.empty(len(y), dtype=int)
    start = 0
    for label in np.unique(y):
        own = rng.permutation(np.flatnonzero(y == label))
        fold[own] = (start + np.arange(len(own))) % k
        start += len(own)
    return as_splits(fold)


def dob(X, y, k, rng, *, shuffled):
    """Distribution-optimally balanced folds: a random case and its nearest left ones of the class, one to each fold."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    fold = np.empty(len(y), dtype=int)
    for label in np.unique(y):
        left = np.flatnonzero(y == label)
        while len(left):
            seed = left[rng.integers(len(left))]
            far = ((scaled[left] - scaled[seed]) ** 2).sum(axis=1)
            far[left == seed] = -1
            near = left[np.argsort(far, kind="stable")[:k]]
            fold[near] = rng.permutation(k)[: len(near)] if shuffled else np.arange(len(near))
            left = np.setdiff1d(left, near)
    return as_splits(fold)
