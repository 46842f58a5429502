import numpy as np
import pytest

from fairtrial.errors import InputError
from fairtrial.resampling.splitters import Holdout, RandomSubsampling


def test_each_is_a_hold_out_and_a_repeat():
    y = np.repeat([0, 1], [20, 10])
    splits = RandomSubsampling(6, test_size=0.3, random_state=1).freeze(y, y)
    assert [part.repeat for part in splits] == list(range(6))
    assert {tuple(np.bincount(y[part.test])) for part in splits} == {(6, 3)}
    assert len({tuple(part.test) for part in splits}) == 6
    assert splits.splits[0].test.tolist() == Holdout(0.3, random_state=1).freeze(y, y).splits[0].test.tolist()


def test_rows_test_as_often_as_their_share():
    tested = np.zeros(10)
    for _, test in RandomSubsampling(3000, test_size=0.3, stratify=False, random_state=1).split(range(10)):
        tested[test] += 1
    assert np.abs(tested / 3000 - 0.3).max() < 4.5 * np.sqrt(0.21 / 3000)


def test_bad_arguments():
    with pytest.raises(InputError, match=r"n_splits.*0"):
        RandomSubsampling(0)
    with pytest.raises(InputError, match="test_size"):
        RandomSubsampling(test_size=1.5)
    assert RandomSubsampling().get_n_splits() == 10
