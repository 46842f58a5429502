"""Splitters that keep groups together: no group is in both the training and the test set."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from fairtrial._check import IntArray, check_whole_number
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import FoldSplitter, Seed, Splitter, SplitterInput, check_class_sizes, scheme


@scheme("group")
class GroupKFold(FoldSplitter):
    """Folds that keep all rows of a group together.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    balance : bool, default True
        If True, balance the number of rows: the largest groups are assigned first, each to the smallest fold. Groups of equal
        size are assigned in random order. If all group sizes differ, only the order of the folds is random. If False, assign
        groups at random and balance the number of groups.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> patient = ["ann", "ann", "ann", "bob", "cid", "cid", "dee", "eve"]
    >>> splits = GroupKFold(2, random_state=1).freeze(patient, groups=patient)
    >>> [len(test) for _, test in splits]
    [4, 4]
    """

    _uses_groups = True

    def __init__(self, n_splits: int = 5, *, balance: bool = True, random_state: Seed = None) -> None:
        super().__init__(n_splits, random_state=random_state)
        self.balance = balance

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        groups = rows.require_groups("GroupKFold")
        sizes = _count_group_sizes(groups, self.n_splits)
        if not self.balance:
            return rng.permutation(np.arange(len(sizes)) % self.n_splits)[groups]
        fold_of = np.empty(len(sizes), dtype=np.intp)
        filled = np.zeros(self.n_splits, dtype=np.intp)
        for group in np.lexsort((rng.random(len(sizes)), -sizes)):
            fold_of[group] = np.argmin(filled)
            filled[fold_of[group]] += sizes[group]
        return rng.permutation(self.n_splits)[fold_of][groups]


@scheme("stratified-group")
class StratifiedGroupKFold(FoldSplitter):
    """Folds of whole groups with similar class proportions.

    Groups with the most unequal class counts are assigned first. Each group is assigned to the fold with the fewest cases of
    the classes in the group.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed. An integer makes the splits reproducible. Default: a random seed.

    Examples
    --------
    >>> patient = ["ann", "ann", "bob", "bob", "cid", "cid", "dee", "dee"]
    >>> ill = [1, 1, 0, 0, 0, 0, 1, 1]
    >>> splits = StratifiedGroupKFold(2, random_state=1).freeze(patient, ill, patient)
    >>> [sum(ill[row] for row in test) for _, test in splits]
    [2, 2]
    """

    _uses_classes = True
    _uses_groups = True

    def _assign_folds(self, rows: SplitterInput, rng: np.random.Generator) -> IntArray:
        y, groups = rows.require_classes("StratifiedGroupKFold"), rows.require_groups("StratifiedGroupKFold")
        sizes = _count_group_sizes(groups, self.n_splits)
        check_class_sizes(rows, self.n_splits, "StratifiedGroupKFold")
        counts = np.zeros((len(sizes), len(rows.class_names)))
        np.add.at(counts, (groups, y), 1)
        proportions = counts / counts.sum(axis=0)
        fold_of = np.empty(len(sizes), dtype=np.intp)
        filled, lengths = np.zeros((self.n_splits, proportions.shape[1])), np.zeros(self.n_splits)
        for group in np.lexsort((rng.random(len(sizes)), -counts.std(axis=1))):
            # The sum of squares is smallest if all folds are equal. Adding proportions g to fold f increases this sum by 2 f.g
            # + g.g.
            fold = np.lexsort((lengths, np.round(filled @ proportions[group], 12)))[0]
            fold_of[group] = fold
            filled[fold] += proportions[group]
            lengths[fold] += sizes[group]
        return rng.permutation(self.n_splits)[fold_of][groups]


@scheme("leave-group-out")
class LeaveGroupOut(Splitter):
    """Splits in which each combination of `n_groups` groups is the test set once.

    The scheme is not random.

    Parameters
    ----------
    n_groups : int, default 1
        Number of groups in a test set.

    Examples
    --------
    >>> site = ["x", "y", "x", "z"]
    >>> [test.tolist() for _, test in LeaveGroupOut().split(site, groups=site)]
    [[0, 2], [1], [3]]
    """

    _uses_groups = True
    _is_random = False

    def __init__(self, n_groups: int = 1) -> None:
        self.n_groups = check_whole_number("n_groups", n_groups, 1)

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        groups = rows.require_groups("LeaveGroupOut")
        present = int(groups.max()) + 1
        if present <= self.n_groups:
            raise InputError(f"the number of groups must be greater than n_groups = {self.n_groups}, got {present}")
        for fold, left_out in enumerate(combinations(range(present), self.n_groups)):
            tested = np.isin(groups, left_out)
            yield Split(np.flatnonzero(~tested), np.flatnonzero(tested), 0, fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of combinations of groups.

        Parameters
        ----------
        X, y : object, optional
            Ignored.
        groups : array-like of shape (n,)
            Group of each row.

        Returns
        -------
        int
        """
        if groups is None:
            raise InputError("groups must be given: the number of splits depends on them")
        return comb(int(self._read_input(groups, None, groups).require_groups("LeaveGroupOut").max()) + 1, self.n_groups)


def _count_group_sizes(groups: IntArray, n_splits: int) -> IntArray:
    """Return the number of rows of each group, and check that there are enough groups."""
    sizes = np.bincount(groups)
    if len(sizes) < n_splits:
        raise InputError(f"n_splits must be at most {len(sizes)}, the number of groups, got {n_splits}")
    return sizes
