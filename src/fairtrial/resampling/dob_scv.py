"""Distribution optimally balanced stratified cross-validation (Moreno-Torres et al. 2012; Lopez et al. 2014)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from fairtrial._check import IntArray, one_of
from fairtrial.errors import InputError
from fairtrial.kernels.keel import keel_groups
from fairtrial.kernels.neighbours import groups_by_class
from fairtrial.resampling.distance import as_cases, as_keel_cases, rows_by_class
from fairtrial.resampling.splitter import FoldSplitter, Rows, Seed, enough_of_each_class

Assign = Literal["shuffled", "literal", "keel"]


class DOBSCV(FoldSplitter):
    """Folds in which near neighbours of a class are kept apart, so that every fold has cases of every region.

    A random case of a class that has no fold yet and its `n_splits - 1` nearest ones of the class form a group, and each member
    goes to another fold, until none is left. Distances are standardised Euclidean, or HEOM where a value is nominal or missing;
    equal distances go by row. On independent cases the estimates come out somewhat too good: see the page on DOB-SCV.

    `assign` says how a group is spread. "shuffled" draws the order of the folds anew for each group; sizes differ by at most
    one, in total and within each class. "literal" puts the first case into fold 1 and its neighbours into 2, 3, ... by
    distance, as printed; this gathers outliers in fold 1. "keel" does what the software KEEL does: as "literal", but by KEEL's
    own distance, and never with a neighbour at distance nought, so that copies of a case gather in fold 1.

    >>> X = [[1.0], [1.1], [5.0], [5.1], [9.0], [9.1]]
    >>> for train, test in DOBSCV(2, random_state=0).split(X, [0] * 6):
    ...     print([X[row][0] // 1 for row in test])
    [1.0, 5.0, 9.0]
    [1.0, 5.0, 9.0]
    """

    _labels_classes = True

    def __init__(self, n_splits: int = 5, *, assign: Assign = "shuffled", random_state: Seed = None) -> None:
        super().__init__(n_splits, random_state=random_state)
        one_of("assign", assign, get_args(Assign))
        self.assign = assign

    def _folds(self, rows: Rows, rng: np.random.Generator) -> IntArray:
        classes = rows_by_class(rows.classes("DOBSCV"))
        enough_of_each_class(rows, self.n_splits, "DOBSCV")
        # The next case without a fold in a random order is a random one of those without a fold.
        seeds = [rng.permutation(len(members)) for members in classes]
        if self.assign == "keel":
            return keel_folds(rows, classes, seeds, self.n_splits)
        cases = as_cases(rows.X)
        taken = groups_by_class(cases.points, cases.kinds, classes, seeds, self.n_splits)
        counts = [len(members) for members in taken]
        folds = np.empty(rows.n, np.intp)
        folds[np.concatenate(taken)] = (literal_folds if self.assign == "literal" else shuffled_folds)(
            counts, self.n_splits, rng
        )
        return folds


def keel_folds(rows: Rows, classes: list[IntArray], seeds: list[IntArray], n_splits: int) -> IntArray:
    """The place of each row in its group, as KEEL forms groups."""
    cases = as_keel_cases(rows.X, rows.classes("DOBSCV"))
    folds = np.empty(rows.n, np.intp)
    for members, order in zip(classes, seeds, strict=True):
        taken, places = keel_groups(cases.points[members], cases.weights, cases.shares, order, n_splits)
        folds[members[taken]] = places
    empty = np.flatnonzero(np.bincount(folds, minlength=n_splits) == 0)
    if len(empty):
        raise InputError(
            f"assign='keel' leaves fold {empty[0] + 1} without a case, for it never takes a copy of a case for its neighbour: "
            "take assign='shuffled'"
        )
    return folds


def literal_folds(counts: list[int], n_splits: int, rng: np.random.Generator) -> IntArray:
    """A fold for each member, class after class: its place in its group."""
    del rng  # nothing is drawn
    return np.concatenate([np.arange(count) % n_splits for count in counts])


def shuffled_folds(counts: list[int], n_splits: int, rng: np.random.Generator) -> IntArray:
    """A fold for each member, class after class: all folds in random order for each whole group.

    The rest of a class goes to the folds whose turn it is, in random order; the turn is carried on to the next class. In the
    end the folds change their numbers at random, so that none is the first.
    """
    parts, turn = [], 0
    for count in counts:
        whole = np.tile(np.arange(n_splits), (count // n_splits, 1))
        rest = (turn + np.arange(count % n_splits)) % n_splits
        parts += [rng.permuted(whole, axis=1).ravel(), rng.permutation(rest)]
        turn = (turn + len(rest)) % n_splits
    return np.asarray(rng.permutation(n_splits)[np.concatenate(parts)])
