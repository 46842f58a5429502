import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.splitters import Holdout


def halves(splitter, y):
    ((train, test),) = splitter.split(y, y)
    return np.asarray(y)[train], np.asarray(y)[test]


@settings(deadline=None)
@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 2**31),
)
@pytest.mark.filterwarnings("ignore:class:fairtrial.errors.SuspectInputWarning")
def test_each_class_has_its_share_to_within_one(counts, share, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    n_test = math.ceil(round(share * len(y), 9))
    if n_test >= len(y):
        with pytest.raises(InputError, match="test_size"):
            halves(Holdout(share), y)
        return
    train, test = halves(Holdout(share, random_state=seed), y)
    assert len(test) == n_test
    assert len(train) == len(y) - n_test
    found = np.bincount(test, minlength=len(counts))
    assert (np.abs(found - np.array(counts) * n_test / len(y)) < 1).all()


@pytest.mark.parametrize(
    ("size", "n", "expected"),
    # scikit-learn takes the ceiling too, but of 0.07 * 100 = 7.000000000000001 it makes 8
    [(0.25, 10, 3), (0.07, 100, 7), (1 / 3, 150, 50), (0.1, 11, 2), (4, 10, 4), (np.float64(0.5), 10, 5), (np.int64(1), 3, 1)],
)
def test_size_of_the_test_part(size, n, expected):
    ((train, test),) = Holdout(size, stratify=False, random_state=1).split(range(n))
    assert (len(train), len(test)) == (n - expected, expected)


def test_remainders_that_tie_are_drawn():
    # Three classes of 3 rows and 5 to test: two of them give 2, one gives 1, each as often.
    y = np.repeat([0, 1, 2], 3)
    single = [int(np.argmin(np.bincount(halves(Holdout(5, random_state=seed), y)[1]))) for seed in range(600)]
    assert np.bincount(single, minlength=3).min() > 150


@pytest.mark.parametrize(("size", "part"), [(0.1, "test"), (0.9, "training")])
def test_a_class_that_is_lost_is_named(size, part):
    y = ["common"] * 19 + ["rare"]
    with pytest.warns(SuspectInputWarning, match=f"'rare'.*{part}"):
        halves(Holdout(size, random_state=1), y)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (0.0, "test_size.*0.0"),
        (1.0, "test_size.*1.0"),
        (float("nan"), "test_size.*nan"),
        (0, "test_size.*0"),
        ("half", "test_size.*'half'"),
        (True, "test_size.*True"),
    ],
)
def test_bad_sizes(size, message):
    with pytest.raises(InputError, match=message):
        Holdout(size)


def test_nothing_left_to_train_on():
    with pytest.raises(InputError, match=r"test_size.*5"):
        list(Holdout(5, stratify=False).split(range(5)))
    with pytest.raises(InputError, match=r"test_size.*0.9"):
        list(Holdout(0.9, stratify=False).split(range(5)))


def test_one_split():
    assert Holdout().get_n_splits() == 1
    with pytest.raises(InputError, match=r"^y\b.*Holdout\(stratify=True\)"):
        list(Holdout().split(range(5)))
