import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut as SklearnLeaveOneOut

from fairtrial.errors import InputError
from fairtrial.resampling.splitters import LeaveOneOut


def test_splits_are_those_of_scikit_learn():
    X = np.zeros((7, 2))
    pairs = [[(train.tolist(), test.tolist()) for train, test in cv.split(X)] for cv in (LeaveOneOut(), SklearnLeaveOneOut())]
    assert pairs[0] == pairs[1]
    assert LeaveOneOut().get_n_splits(X) == 7


def test_many_rows_are_not_held_at_once():
    # A million splits of a million rows would not fit anywhere.
    train, test = next(LeaveOneOut().split(np.zeros((10**6, 1))))
    assert len(train) == 10**6 - 1
    assert test.tolist() == [0]


def test_too_few_rows_and_no_rows():
    with pytest.raises(InputError, match=r"^X\b.*1"):
        list(LeaveOneOut().split([1]))
    with pytest.raises(InputError, match=r"^X\b"):
        LeaveOneOut().get_n_splits()
