import numpy as np
import pytest
from sklearn.model_selection import KFold as SklearnKFold

from fairtrial.errors import InputError
from fairtrial.resampling.splitters import KFold


@pytest.mark.parametrize("n", [10, 11, 19, 20])
@pytest.mark.parametrize("k", [2, 3, 7, 10])
def test_fold_sizes_are_those_of_scikit_learn(n, k):
    ours, theirs = ([len(test) for _, test in cv.split(range(n))] for cv in (KFold(k, random_state=1), SklearnKFold(k)))
    assert ours == theirs


def test_rows_are_shuffled_so_that_every_pair_meets_equally_often():
    # Two rows of 6 are in the same of 3 folds of 2 with probability 1/5.
    together = np.zeros((6, 6))
    for seed in range(2000):
        for _, test in KFold(3, random_state=seed).split(range(6)):
            together[np.ix_(test, test)] += 1
    pairs = together[np.triu_indices(6, 1)] / 2000
    assert np.abs(pairs - 0.2).max() < 4.5 * np.sqrt(0.2 * 0.8 / 2000)


def test_folds_of_one_row_each():
    rows = [int(test[0]) for _, test in KFold(20, random_state=1).split(range(20))]
    assert sorted(rows) == list(range(20)) != rows


def test_more_folds_than_rows():
    with pytest.raises(InputError, match=r"n_splits.*4"):
        list(KFold(4).split(range(3)))
