from collections import Counter
from itertools import chain

import numpy as np
import pandas as pd
from hypothesis import given, strategies as st

from fairtrial.data.folds import compute_row_keys, count_copies, match_rows


def parts(keys, folds, n_folds):
    """Test and training keys of folds that are right."""
    keys, folds = np.array(keys), np.array(folds)
    return [keys[folds == f] for f in range(n_folds)], [keys[folds != f] for f in range(n_folds)]


@st.composite
def right_folds(draw):
    n_folds = draw(st.integers(2, 5))
    keys = draw(st.lists(st.integers(0, 5), min_size=2 * n_folds, max_size=25))
    return (*parts(keys, [i % n_folds for i in range(len(keys))], n_folds), keys)


@given(right_folds())
def test_folds_that_are_right_are_recovered_with_all_duplicates(case):
    test_keys, train_keys, keys = case
    assert {key: int(count) for key, count in enumerate(count_copies(test_keys, train_keys)) if count} == dict(Counter(keys))
    places, kept = match_rows(test_keys, train_keys)
    tests, trains = places[: len(test_keys)], places[len(test_keys) :]
    assert sorted(chain(*tests)) == list(range(len(keys)))
    assert len(kept) == len(keys)
    for test, train in zip(tests, trains, strict=True):
        assert sorted(test + train) == list(range(len(keys)))


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 4), min_size=1), st.lists(st.integers(0, 4), min_size=1)), min_size=2, max_size=4
    )
)
def test_every_part_keeps_its_rows_whatever_the_folds(folds):
    test_keys, train_keys = ([np.array(pair[side]) for pair in folds] for side in (0, 1))
    joined = np.concatenate([*test_keys, *train_keys])
    places, kept = match_rows(test_keys, train_keys)
    for place, keys in zip(places, [*test_keys, *train_keys], strict=True):
        assert joined[np.array(kept)[place]].tolist() == keys.tolist()
        assert len(set(place)) == len(place)
    assert set().union(*places) == set(range(len(kept)))


def test_a_leak_differs_from_a_row_that_is_never_tested():
    tests, trains = parts([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], 3)
    tests[0] = np.array([0, 2])  # 2 is tested twice and trains its own fold, 1 is never tested
    places, kept = match_rows(tests, trains)
    assert len(kept) == 6
    assert places[:3] == [[0, 1], [1, 2], [3, 4]]
    assert set(places[0]) & set(places[3]) == {1}
    assert places[4] == [0, 5, 3, 4]


def test_equal_rows_share_a_key_and_missing_values_are_equal():
    frame = pd.DataFrame({"a": [0.0, -0.0, np.nan, np.nan], "b": pd.Categorical(["x", "x", None, None])})
    assert compute_row_keys(frame).tolist() == [0, 0, 1, 1]
