import numpy as np
import pytest

from fairtrial.errors import InputError
from fairtrial.resampling import Bootstrap, FiveByTwo, Holdout, KFold, LeaveOneOut, Split, Splits
from fairtrial.study.records import PlannedSplits
from tests.study.small_studies import rows


@pytest.mark.parametrize("scheme", [KFold(4), Holdout(), Bootstrap(3), LeaveOneOut()], ids=repr)
def test_the_splits_are_those_that_were_frozen(scheme):
    data = rows(20)
    frozen = [scheme.freeze(data.X, data.y, random_state=seed) for seed in (1, 2)]
    kept = PlannedSplits(20, frozen)
    parts = [part for each in frozen for part in each]
    assert len(kept) == len(parts)
    for one, other in zip(kept, parts, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
        assert one.train.dtype == one.test.dtype == np.intp
    assert kept.repeats == sum(len({part.repeat for part in each}) for each in frozen)
    assert [each.fold for each in kept] == [part.fold for part in parts]


def test_rows_in_another_order_or_twice_stay_so():
    parts = (Split(np.array([2, 0, 0]), np.array([3, 1]), 0, 0), Split(np.array([1, 0]), np.array([3, 2]), 0, 1))
    kept = PlannedSplits(4, [Splits(4, parts)])
    assert [(each.train.tolist(), each.test.tolist()) for each in kept] == [([2, 0, 0], [3, 1]), ([1, 0], [3, 2])]


def test_repeats_count_on_whether_the_splits_carry_their_number_or_not():
    inner = FiveByTwo().freeze(range(10), [0, 1] * 5, random_state=1)
    assert list(PlannedSplits(10, [inner, inner]).numbers) == [(r, f) for r in range(10) for f in range(2)]
    numbered = [
        Splits(3, (Split(np.array([0, 1]), np.array([2]), repeat, 0), Split(np.array([0]), np.array([1]), repeat, 1)))
        for repeat in range(3)
    ]
    assert PlannedSplits(3, numbered).numbers == tuple((r, f) for r in range(3) for f in range(2))


def test_places_count_from_either_end_and_by_slices():
    kept = PlannedSplits(6, [KFold(3).freeze(range(6), random_state=0)])
    assert kept[-1].fold == 2
    assert [each.fold for each in kept[1:]] == [1, 2]
    with pytest.raises(IndexError):
        kept[3]


def test_leaving_one_out_of_many_rows_is_kept_small():
    n = 400
    kept = PlannedSplits(n, [LeaveOneOut().freeze(range(n))])
    assert sum(test.nbytes + (0 if train is None else train.nbytes) for train, test in kept._splits) == 4 * n


def test_two_splits_of_one_number_are_refused():
    twice = Splits(3, (Split(np.array([0, 1]), np.array([2])), Split(np.array([0]), np.array([1]))))
    with pytest.raises(InputError, match=r"splits must .* got repeat 0, fold 0 twice"):
        PlannedSplits(3, [twice])
