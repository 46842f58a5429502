"""Complete cross-validation: all test sets of a size, and the mean over all partitions into folds."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn.model_selection import LeavePOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from fairtrial import Study
from fairtrial.errors import InputError
from fairtrial.resampling import CompleteCV, LeaveOneOut, Repeated
from fairtrial.testing import check_splitter


def list_splits(splitter, X):
    return [(train.tolist(), test.tolist()) for train, test in splitter.split(X)]


@pytest.mark.parametrize(("n", "m"), [(5, 1), (6, 2), (7, 3), (4, 3)])
def test_splits_are_those_of_leave_p_out_in_scikit_learn(n, m):
    X = np.zeros((n, 2))
    assert list_splits(CompleteCV(test_size=m), X) == list_splits(LeavePOut(m), X)
    assert CompleteCV(test_size=m).get_n_splits(X) == LeavePOut(m).get_n_splits(X) == math.comb(n, m)


@pytest.mark.parametrize(("n", "folds"), [(6, 2), (6, 3), (7, 3), (5, 5)])
def test_test_sets_have_one_kth_of_the_rows(n, folds):
    tests = [tuple(test) for _, test in list_splits(CompleteCV(folds), range(n))]
    assert tests == list(combinations(range(n), n // folds))


def test_one_test_row_is_leave_one_out():
    assert list_splits(CompleteCV(test_size=1), range(6)) == list_splits(LeaveOneOut(), range(6))


def test_the_estimate_is_the_mean_over_all_partitions_into_folds():
    """Kohavi 1995: complete k-fold cross-validation averages over all C(n, n / k) test sets."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(6, 2)), np.array([0, 1, 0, 1, 1, 0])
    partitions = []
    for order in permutations(range(6)):
        folds = [list(order[:2]), list(order[2:4]), list(order[4:])]
        partitions.append([(np.setdiff1d(range(6), fold), fold) for fold in folds])
    learner = KNeighborsClassifier(1)
    means = [cross_val_score(learner, X, y, cv=partition).mean() for partition in partitions[::7]]
    every = [cross_val_score(learner, X, y, cv=partition).mean() for partition in partitions]
    complete = cross_val_score(learner, X, y, cv=CompleteCV(3)).mean()
    assert complete == pytest.approx(np.mean(every))
    assert np.std(means) > 0  # single partitions differ


def test_each_split_is_a_repeat_because_test_sets_overlap():
    splits = CompleteCV(2).freeze(range(4))
    assert [(split.repeat, split.fold) for split in splits] == [(repeat, 0) for repeat in range(6)]


def test_too_many_splits_are_refused_with_their_number_and_a_remedy():
    with pytest.raises(InputError, match=r"max_splits.*137,846,528,820.*20 of 40 rows.*10,000.*repeated"):
        next(CompleteCV(2).split(np.zeros((40, 1))))
    with pytest.raises(InputError, match=r"max_splits.*1\.0e29.*50 of 100 rows"):
        CompleteCV(2).get_n_splits(range(100))
    assert CompleteCV(2, max_splits=200_000_000_000).get_n_splits(range(40)) == math.comb(40, 20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CompleteCV(1), "n_folds.*1"),
        (lambda: CompleteCV(test_size=0), "test_size.*0"),
        (lambda: CompleteCV(max_splits=0), "max_splits.*0"),
        (lambda: list(CompleteCV(5).split(range(4))), "n_folds must be at most 4.*5"),
        (lambda: list(CompleteCV(test_size=4).split(range(4))), "test_size.*4 of 4 rows"),
        (lambda: CompleteCV().get_n_splits(), "X must be given"),
        (lambda: Repeated(CompleteCV()), "must be random"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_it_meets_the_contract_of_splitters():
    check_splitter(CompleteCV(test_size=1))
    check_splitter(CompleteCV(test_size=2))


def test_a_study_plans_all_test_sets(tmp_path):
    rows = "\n".join(f"{i % 5},{i % 3},{'yes' if i % 2 else 'no'}" for i in range(8))
    (tmp_path / "tiny.csv").write_text(f"a,b,c\n{rows}\n")
    study = Study(
        {"tiny": {"file": str(tmp_path / "tiny.csv"), "target": "c"}}, ["c45"], resampling={"scheme": "complete", "n_folds": 4}
    )
    [planned] = study.plan().data
    assert len(planned.splits) == math.comb(8, 2)
