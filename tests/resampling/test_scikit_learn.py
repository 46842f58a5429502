"""Splitters of scikit-learn as splitters of this package: the same splits, with groups, time and seed."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import model_selection as theirs

from fairtrial.errors import InputError
from fairtrial.resampling import KFold, ScikitLearnSplitter

RNG = np.random.default_rng(4)
GROUPS = RNG.permutation(np.repeat(np.arange(12), 5))
Y = RNG.permutation(np.repeat(["a", "b"], 30))
X = RNG.normal(size=(60, 2))

GROUPED = {
    "GroupKFold": lambda: theirs.GroupKFold(3),
    "StratifiedGroupKFold": lambda: theirs.StratifiedGroupKFold(3, shuffle=True),
    "GroupShuffleSplit": lambda: theirs.GroupShuffleSplit(4, test_size=0.3),
    "LeaveOneGroupOut": theirs.LeaveOneGroupOut,
    "LeavePGroupsOut": lambda: theirs.LeavePGroupsOut(2),
}


@pytest.mark.parametrize("splitter", [theirs.KFold(4), theirs.StratifiedKFold(3), theirs.LeaveOneGroupOut()], ids=repr)
def test_splits_without_randomness_are_those_of_scikit_learn(splitter):
    groups = GROUPS if isinstance(splitter, theirs.LeaveOneGroupOut) else None
    expected = [(train.tolist(), test.tolist()) for train, test in splitter.split(X, Y, groups)]
    ours = ScikitLearnSplitter(splitter)
    assert [(train.tolist(), test.tolist()) for train, test in ours.freeze(X, Y, groups)] == expected
    assert ours.get_n_splits(X, Y, groups) == len(expected)
    assert not ours._is_random


@settings(deadline=None, max_examples=40)
@given(
    name=st.sampled_from(sorted(GROUPED)),
    sizes=st.lists(st.integers(1, 9), min_size=6, max_size=15),
    seed=st.integers(0, 2**31),
)
def test_groups_never_straddle_a_split(name, sizes, seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat([f"patient {i}" for i in range(len(sizes))], sizes))
    y = np.arange(len(groups)) % 2
    for train, test in ScikitLearnSplitter(GROUPED[name]()).freeze(groups, y, groups, random_state=seed):
        assert not set(groups[train]) & set(groups[test])


def test_the_seed_given_to_freeze_determines_the_splits():
    splitter = ScikitLearnSplitter(theirs.GroupShuffleSplit(5))
    first, again, other = (splitter.freeze(X, Y, GROUPS, random_state=seed).content_hash for seed in (1, 1, 2))
    assert first == again != other


def test_rows_reach_a_splitter_in_order_of_time():
    time = RNG.permutation(60).astype(float)
    splits = list(ScikitLearnSplitter(theirs.TimeSeriesSplit(5)).freeze(X, Y, time=time))
    assert len(splits) == 5
    assert all(time[split.train].max() < time[split.test].min() for split in splits)


def test_predefined_folds_refer_to_the_rows_as_given():
    splitter = ScikitLearnSplitter(theirs.PredefinedSplit([0, 1, 1, 0]))
    splits = splitter.freeze(np.zeros(4), time=[3, 2, 1, 0])
    assert [split.test.tolist() for split in splits] == [[0, 3], [1, 2]]


@pytest.mark.parametrize(
    ("splitter", "numbers"),
    [
        (theirs.RepeatedKFold(n_splits=2, n_repeats=2), [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (theirs.KFold(3), [(0, 0), (0, 1), (0, 2)]),
        (theirs.ShuffleSplit(3, test_size=0.5), [(0, 0), (1, 0), (2, 0)]),
    ],
    ids=repr,
)
def test_overlapping_test_sets_are_repeats(splitter, numbers):
    splits = ScikitLearnSplitter(splitter).freeze(X, random_state=1)
    assert [(split.repeat, split.fold) for split in splits] == numbers


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ScikitLearnSplitter(theirs.KFold), "splitter must be an object with split and get_n_splits"),
        (lambda: ScikitLearnSplitter(3), "splitter must be an object with split and get_n_splits"),
        (lambda: ScikitLearnSplitter(KFold(3)), "splitter must be a splitter of scikit-learn"),
        (
            lambda: ScikitLearnSplitter(theirs.KFold(3, shuffle=True, random_state=1)),
            "random_state of the splitter must be None",
        ),
        (lambda: ScikitLearnSplitter(theirs.GroupKFold(3)).freeze(X, Y), "groups must be given for GroupKFold"),
        (lambda: ScikitLearnSplitter(theirs.TimeSeriesSplit(3)).freeze(X, Y), "time must be given for TimeSeriesSplit"),
        (lambda: ScikitLearnSplitter(theirs.GroupKFold(40)).freeze(X, Y, GROUPS), "GroupKFold cannot split these rows: "),
    ],
)
def test_what_cannot_be_used_is_refused(make, text):
    with pytest.raises(InputError, match=text):
        make()
