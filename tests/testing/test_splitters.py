"""Our splitters meet the contract, and for each rule a broken splitter is reported under this rule alone."""

import copy

import numpy as np
import pytest
import sklearn.model_selection

from fairtrial.resampling import (
    DBSCV,
    DOBSCV,
    Bootstrap,
    CompleteCV,
    FiveByTwo,
    FoldSplitter,
    Given,
    GroupKFold,
    Holdout,
    KFold,
    LeaveGroupOut,
    LeaveOneOut,
    NestedCV,
    PairedSubsampling,
    RandomSubsampling,
    Repeated,
    ScikitLearnSplitter,
    StratifiedGroupKFold,
    StratifiedKFold,
    TemporalSplit,
    TenByTen,
    WekaFolds,
)
from fairtrial.resampling.splitter import schemes
from fairtrial.testing import check_splitter, find_violations, list_rules, parametrize_with_contract

HALVES = np.arange(30), np.arange(30, 60)
OURS = [
    KFold(4),
    StratifiedKFold(4, random_state=1),
    DBSCV(3),
    DOBSCV(3),
    DOBSCV(3, assign="literal"),
    WekaFolds(3),
    Repeated(KFold(3), 3),
    Repeated(StratifiedKFold(3, random_state=1), 2),
    Repeated(GroupKFold(2, balance=False), 2),
    FiveByTwo(),
    TenByTen(stratify=False),
    Holdout(0.3),
    Holdout(5, stratify=False),
    RandomSubsampling(4, test_size=0.25),
    GroupKFold(3),
    GroupKFold(3, balance=False),
    StratifiedGroupKFold(3),
    LeaveOneOut(),
    CompleteCV(test_size=1),
    LeaveGroupOut(2),
    Bootstrap(5),
    Bootstrap(5, stratify=True),
    NestedCV(4),
    Repeated(NestedCV(3), 2),
    PairedSubsampling(3, 2),
    Given([HALVES, HALVES[::-1]]),
    TemporalSplit(4),
    TemporalSplit(4, window="sliding", gap=2),
    ScikitLearnSplitter(sklearn.model_selection.StratifiedKFold(4, shuffle=True)),
    ScikitLearnSplitter(sklearn.model_selection.GroupShuffleSplit(4)),
    ScikitLearnSplitter(sklearn.model_selection.TimeSeriesSplit(4)),
]


@parametrize_with_contract("splitter", OURS)
def test_our_splitters_meet_the_contract(check):
    check()


def test_every_registered_scheme_is_checked():
    assert set(schemes.values()) <= {type(splitter) for splitter in OURS}


@pytest.mark.parametrize(
    "splitter",
    [
        sklearn.model_selection.KFold(3),
        sklearn.model_selection.StratifiedKFold(3, shuffle=True),
        sklearn.model_selection.ShuffleSplit(4),
        sklearn.model_selection.GroupKFold(3),
    ],
    ids=lambda splitter: type(splitter).__name__,
)
def test_splitters_of_scikit_learn_meet_the_contract(splitter):
    check_splitter(splitter)


class Plain:
    """Three folds in the order of the rows, without the base class of fairtrial; subclasses change one thing."""

    def split(self, X, y=None, groups=None):
        rows = np.arange(len(X))
        for fold in range(3):
            yield rows[rows % 3 != fold], rows[rows % 3 == fold]

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


class OutOfRange(Plain):
    def split(self, X, y=None, groups=None):
        return ((train, np.append(test, len(X))) for train, test in super().split(X))


class Overlapping(Plain):
    def split(self, X, y=None, groups=None):
        return ((np.append(train, test[0]), test) for train, test in super().split(X))


class EmptyTestSet(Plain):
    def split(self, X, y=None, groups=None):
        return ((train, test[:0] if 0 in test else test) for train, test in super().split(X))


class RepeatedTestRow(Plain):
    def split(self, X, y=None, groups=None):
        return ((train, np.append(test, test[0])) for train, test in super().split(X))


class WrongCount(Plain):
    def get_n_splits(self, X=None, y=None, groups=None):
        return 4


class DependsOnType(Plain):
    def split(self, X, y=None, groups=None):
        splits = list(super().split(X))
        return iter(splits[::-1] if np.asarray(y).dtype.kind in "OU" else splits)


class ModifiesInput(Plain):
    def split(self, X, y=None, groups=None):
        if isinstance(X, np.ndarray):
            X += 1
        return super().split(X)


class UntestedRow(KFold):
    def _assign_folds(self, rows, rng):
        folds = super()._assign_folds(rows, rng)
        folds[0] = -1
        return folds


class OtherCopy(KFold):
    """A deep copy has other splits."""

    shift = 0

    def __deepcopy__(self, memo):
        copied = copy.copy(self)
        copied.shift = 1
        return copied

    def _assign_folds(self, rows, rng):
        return np.roll(super()._assign_folds(rows, rng), self.shift)


class OtherPickle(KFold):
    """A pickled copy has other splits."""

    shift = 0

    def __getstate__(self):
        return self.__dict__ | {"shift": 1}

    def __deepcopy__(self, memo):
        return OtherPickle(self.n_splits, random_state=self.random_state)

    def _assign_folds(self, rows, rng):
        return np.roll(super()._assign_folds(rows, rng), self.shift)


class IgnoresSeed(FoldSplitter):
    def _assign_folds(self, rows, rng):
        return np.arange(rows.n) % self.n_splits


class OtherOrderInSplit(KFold):
    def split(self, X, y=None, groups=None):
        return iter(list(super().split(X, y, groups))[::-1])


class IgnoresGroups(KFold):
    _uses_groups = True


class IgnoresTime(KFold):
    _uses_time = True


class IgnoresClasses(KFold):
    _uses_classes = True


BROKEN = {
    "indices_are_in_range": OutOfRange(),
    "train_and_test_are_disjoint": Overlapping(),
    "sets_are_not_empty": EmptyTestSet(),
    "test_rows_are_unique": RepeatedTestRow(),
    "folds_cover_each_row_once": UntestedRow(3),
    "n_splits_matches": WrongCount(),
    "same_seed_gives_same_splits": OtherCopy(3, random_state=1),
    "seeds_give_different_splits": IgnoresSeed(3),
    "freeze_matches_split": OtherOrderInSplit(3),
    "pickled_copy_gives_same_splits": OtherPickle(3),
    "types_do_not_matter": DependsOnType(),
    "groups_stay_together": IgnoresGroups(3),
    "training_rows_are_earlier": IgnoresTime(3),
    "strata_are_balanced": IgnoresClasses(3),
    "input_is_not_modified": ModifiesInput(),
}


def test_every_rule_has_a_broken_example():
    assert list(BROKEN) == [rule.name for rule in list_rules("splitter")]


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_splitter_is_reported_under_its_rule_alone(rule):
    assert list(find_violations("splitter", BROKEN[rule])) == [rule]


def test_a_splitter_that_draws_from_the_global_generator_is_reported():
    class Unseeded(Plain):
        def split(self, X, y=None, groups=None):
            rows = np.random.permutation(len(X))  # noqa: NPY002  the mistake
            yield rows[20:], rows[:20]
            yield rows[:40], rows[40:]
            yield rows[20:], rows[:20]

    assert "same_seed_gives_same_splits" in find_violations("splitter", Unseeded())
