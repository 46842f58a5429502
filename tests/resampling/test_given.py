import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

from fairtrial.errors import InputError
from fairtrial.resampling.splitters import Given, KFold


def listed(splits):
    return [(train.tolist(), test.tolist()) for train, test in splits]


def test_pairs_stay_as_they_are_even_with_rows_on_both_sides():
    pairs = [([0, 1, 2], [2, 3]), ([3], [0])]
    assert listed(Given(pairs).split(range(4))) == pairs
    assert listed(Given(iter(pairs)).freeze(range(4))) == pairs


def test_a_generator_can_be_asked_twice():
    cv = Given(([row], [row + 1]) for row in range(3))
    assert listed(cv.split(range(4))) == listed(cv.split(range(4)))
    assert cv.get_n_splits() == 3


def test_masks_and_decided_splits():
    mask = np.array([True, False, True])
    assert listed(Given([(mask, ~mask)]).split(range(3))) == [([0, 2], [1])]
    decided = KFold(2, random_state=1).freeze(range(3))
    assert Given(decided).freeze(range(3)).content_hash == decided.content_hash


def test_folds_are_scikit_learns_predefined_split():
    fold = [0, 1, -1, 1, 4, 0]
    assert listed(Given.from_folds(fold).split(range(6))) == listed(PredefinedSplit(fold).split())


def test_what_does_not_fit():
    with pytest.raises(InputError, match=r"splits.*0"):
        Given([])
    with pytest.raises(InputError, match=r"test of split 0.*3"):
        list(Given([([0], [3])]).split(range(3)))
    with pytest.raises(InputError, match="fold"):
        Given.from_folds([0, -2])
    with pytest.raises(InputError, match="fold"):
        Given.from_folds([0.5, 1])
    with pytest.raises(InputError, match=r"splits.*0"):
        Given.from_folds([-1, -1])


def test_folds_must_be_those_of_the_rows():
    with pytest.raises(InputError, match=r"^X\b.*6"):
        Given.from_folds([0, 1]).freeze(np.zeros((6, 1)))
    with pytest.raises(InputError, match=r"fold.*'a'"):
        Given.from_folds(["a", "b"])
