import numpy as np
import pytest

from fairtrial.errors import InputError
from fairtrial.resampling.bootstrap import Bootstrap


def test_as_many_rows_as_there_are_and_the_rest_tests():
    for train, test in Bootstrap(50, random_state=1).split(range(20)):
        assert len(train) == 20
        assert sorted({*train, *test}) == list(range(20))


@pytest.mark.parametrize("n", [10, 100])
def test_the_share_left_out_is_what_it_should_be(n):
    # Each row is left out with probability (1 - 1/n)^n, near 0.368; the variance of the count is known exactly.
    splits = Bootstrap(2000, random_state=1).freeze(range(n))
    p, both = (1 - 1 / n) ** n, (1 - 2 / n) ** n
    variance = n * p * (1 - p) + n * (n - 1) * (both - p * p)
    share = np.mean([len(part.test) / n for part in splits])
    assert abs(share - p) < 4 * np.sqrt(variance / 2000) / n
    assert abs(share - 0.368) < 0.025
    times = np.bincount(np.concatenate([part.train for part in splits]), minlength=n)
    assert np.abs(times / 2000 - 1).max() < 5 / np.sqrt(2000)
    assert [part.repeat for part in splits] == list(range(2000))


def test_never_an_empty_test_part():
    splits = Bootstrap(200, random_state=1).freeze(range(2))
    assert {tuple(part.test) for part in splits} == {(0,), (1,)}


def test_stratified_draws_keep_the_count_of_each_class():
    y = np.repeat(["a", "b"], [15, 3])
    for train, _ in Bootstrap(50, stratify=True, random_state=1).split(y, y):
        assert np.unique(y[train], return_counts=True)[1].tolist() == [15, 3]


def test_nothing_to_leave_out():
    with pytest.raises(InputError, match=r"^X\b"):
        list(Bootstrap().split([1]))
    with pytest.raises(InputError, match=r"^X\b"):
        list(Bootstrap(stratify=True).split([1, 2], ["a", "b"]))
    with pytest.raises(InputError, match=r"n_splits.*0"):
        Bootstrap(0)
    assert Bootstrap().get_n_splits() == 200
