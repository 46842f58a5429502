import numpy as np
import pytest
from sklearn.model_selection import KFold as SklearnKFold

from fairtrial.errors import InputError
from fairtrial.resampling.splitters import (
    FiveByTwo,
    Given,
    KFold,
    LeaveOneOut,
    RandomSubsampling,
    Repeated,
    StratifiedKFold,
    TenByTen,
)


def frozen_tests(splitter, n=12):
    return [part.test.tolist() for part in splitter.freeze(range(n), np.arange(n) % 2)]


def test_repeats_differ_and_each_is_a_whole_cross_validation():
    splits = Repeated(KFold(3), 4, random_state=1).freeze(range(12))
    assert [(part.repeat, part.fold) for part in splits] == [(r, f) for r in range(4) for f in range(3)]
    assert len({tuple(part.test) for part in splits}) == 12


def test_more_repeats_leave_the_first_ones_as_they_are():
    few, many = (frozen_tests(Repeated(KFold(3), repeats, random_state=1)) for repeats in (2, 5))
    assert many[: len(few)] == few


def test_the_first_repeat_is_the_splitter_with_that_seed():
    assert frozen_tests(Repeated(StratifiedKFold(3), 2, random_state=5))[:3] == frozen_tests(StratifiedKFold(3, random_state=5))


def test_the_seed_may_be_the_splitters():
    assert frozen_tests(Repeated(KFold(3, random_state=5), 2)) == frozen_tests(Repeated(KFold(3), 2, random_state=5))


def test_repeats_of_repeats_are_counted_on():
    splits = Repeated(RandomSubsampling(2, stratify=False), 2, random_state=1).freeze(range(9))
    assert [part.repeat for part in splits] == [0, 1, 2, 3]
    twice = Repeated(Repeated(KFold(2), 2), 2, random_state=1).freeze(range(9))
    assert [part.repeat for part in twice] == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("fixed", [LeaveOneOut(), Given([([0], [1])])])
def test_what_does_not_draw_cannot_be_repeated(fixed):
    with pytest.raises(InputError, match=r"^splitter"):
        Repeated(fixed, 3)


def test_bad_arguments():
    with pytest.raises(InputError, match=r"splitter.*KFold"):
        Repeated(SklearnKFold(3), 3)
    with pytest.raises(InputError, match=r"n_repeats.*0"):
        Repeated(KFold(3), 0)
    with pytest.raises(InputError, match=r"random_state.*1"):
        Repeated(KFold(3, random_state=2), 3, random_state=1)


def test_five_by_two_is_five_pairs_of_halves_that_swap():
    y = np.repeat([0, 1], [8, 4])
    splits = list(FiveByTwo(random_state=1).freeze(y, y))
    assert len(splits) == 10
    for first, second in zip(splits[::2], splits[1::2], strict=True):
        assert first.train.tolist() == second.test.tolist()
        assert first.test.tolist() == second.train.tolist()
        assert np.bincount(y[first.test]).tolist() == [4, 2]


def test_shorthands_and_their_repr():
    assert TenByTen().get_n_splits() == 100
    assert repr(FiveByTwo(random_state=3)) == "FiveByTwo(random_state=3)"
    assert repr(TenByTen(stratify=False)) == "TenByTen(stratify=False)"
    assert len(FiveByTwo(stratify=False).freeze(range(4))) == 10
