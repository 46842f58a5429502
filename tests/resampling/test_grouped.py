from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.model_selection import (
    GroupKFold as SklearnGroupKFold,
    LeavePGroupsOut,
    StratifiedGroupKFold as SklearnStratifiedGroupKFold,
)

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.grouped import GroupKFold, LeaveGroupOut, StratifiedGroupKFold


def fold_sizes(splitter, groups, y=None):
    return sorted(len(test) for _, test in splitter.split(groups, y, groups))


class TestGroupKFold:
    @settings(deadline=None)
    @given(sizes=st.lists(st.integers(1, 20), min_size=5, max_size=25), k=st.integers(2, 5), seed=st.integers(0, 2**31))
    def test_sizes_are_those_of_scikit_learns_greedy_rule(self, sizes, k, seed):
        groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
        ours = fold_sizes(GroupKFold(k, random_state=seed), groups)
        assert ours == fold_sizes(SklearnGroupKFold(k), groups)
        assert ours[-1] - ours[0] <= max(sizes)

    @settings(deadline=None)
    @given(sizes=st.lists(st.integers(1, 20), min_size=5, max_size=25), k=st.integers(2, 5), seed=st.integers(0, 2**31))
    def test_without_balance_folds_have_as_many_groups_to_within_one(self, sizes, k, seed):
        groups = np.repeat(np.arange(len(sizes)), sizes)
        found = [
            len(set(groups[test])) for _, test in GroupKFold(k, balance=False, random_state=seed).split(groups, None, groups)
        ]
        assert max(found) - min(found) <= 1
        assert sum(found) == len(sizes)

    def test_groups_of_one_size_are_dealt_at_random(self):
        groups = np.repeat(np.arange(6), 2)
        parts = {
            frozenset(frozenset(groups[t]) for _, t in GroupKFold(3, random_state=s).split(groups, None, groups))
            for s in range(300)
        }
        assert len(parts) == 15  # ways to make three pairs of six

    def test_too_few_groups(self):
        with pytest.raises(InputError, match=r"n_splits.*3"):
            fold_sizes(GroupKFold(3), ["a", "a", "b", "b"])


class TestStratifiedGroupKFold:
    def test_shares_are_as_even_as_scikit_learns(self):
        ours, theirs = [], []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            groups = np.sort(rng.integers(0, 30, 300))
            y = (rng.random(300) < rng.beta(1, 2, 30)[groups]).astype(int)
            for found, splitter in (
                (ours, StratifiedGroupKFold(5, random_state=seed)),
                (theirs, SklearnStratifiedGroupKFold(5, shuffle=True, random_state=seed)),
            ):
                counts = np.array([np.bincount(y[test], minlength=2) for _, test in splitter.split(y, y, groups)])
                found.append((counts / counts.sum(axis=0)).std(axis=0).mean())
        assert np.mean(ours) < 1.1 * np.mean(theirs)

    @settings(deadline=None)
    @given(n_groups=st.integers(4, 20), k=st.integers(2, 4), seed=st.integers(0, 2**31))
    @pytest.mark.filterwarnings("ignore:class:fairtrial.errors.SuspectInputWarning")
    def test_every_fold_has_rows(self, n_groups, k, seed):
        rng = np.random.default_rng(seed)
        groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, 20)])
        y = groups % 3 if seed % 2 else rng.integers(0, 3, len(groups))
        splits = StratifiedGroupKFold(k, random_state=seed).freeze(y, y, groups)
        assert sorted(splits.frame()["row"]) == list(range(len(y)))
        assert min(len(part.test) for part in splits) > 0

    def test_homogeneous_groups_of_one_size_are_dealt_evenly(self):
        y, groups = np.repeat([0, 0, 0, 1, 1, 1], 2), np.repeat(np.arange(6), 2)
        for _, test in StratifiedGroupKFold(3, random_state=1).split(y, y, groups):
            assert np.bincount(y[test]).tolist() == [2, 2]

    def test_rare_classes(self):
        y = np.array([3, 3, -1, -1, 3])
        with pytest.warns(SuspectInputWarning, match="-1.*2.*3"):
            list(StratifiedGroupKFold(3).split(y, y, np.arange(5)))


class TestLeaveGroupOut:
    @pytest.mark.parametrize("p", [1, 2, 3])
    def test_splits_are_those_of_scikit_learn(self, p):
        groups = np.array(["c", "a", "b", "a", "d", "c"])
        found, expected = (
            [(train.tolist(), test.tolist()) for train, test in cv.split(groups, None, groups)]
            for cv in (LeaveGroupOut(p), LeavePGroupsOut(p))
        )
        assert found == expected
        assert len(found) == LeaveGroupOut(p).get_n_splits(None, None, groups) == comb(4, p)

    def test_too_few_groups(self):
        with pytest.raises(InputError, match=r"groups.*2"):
            list(LeaveGroupOut(2).split([1, 2], groups=["a", "b"]))
        with pytest.raises(InputError, match=r"n_groups.*0"):
            LeaveGroupOut(0)
        with pytest.raises(InputError, match="groups"):
            LeaveGroupOut().get_n_splits()
