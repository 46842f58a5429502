"""Temporal splits: scikit-learn's for distinct times, and no training row at or after the first test row for any times."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.model_selection import TimeSeriesSplit

from fairtrial.errors import InputError
from fairtrial.resampling import TemporalSplit

times = st.lists(st.integers(0, 40), min_size=8, max_size=60).filter(lambda values: len(set(values)) > 5)


def list_sets(splitter, time):
    return [(set(train.tolist()), set(test.tolist())) for train, test in splitter.split(np.zeros(len(time)), time=time)]


@pytest.mark.parametrize(("n_splits", "gap", "size"), [(2, 0, None), (4, 0, None), (4, 3, None), (5, 2, 7), (3, 0, 4)])
def test_distinct_times_give_the_splits_of_scikit_learn(n_splits, gap, size):
    order = np.random.default_rng(1).permutation((n_splits + 1) * 8)
    window = {} if size is None else {"window": "sliding", "train_size": size}
    ours = list_sets(TemporalSplit(n_splits, gap=gap + 1, **window), order)  # scikit-learn leaves out `gap` rows between
    rows = np.argsort(order)
    theirs = [
        (set(rows[train].tolist()), set(rows[test].tolist()))
        for train, test in TimeSeriesSplit(n_splits, gap=gap, max_train_size=size).split(rows)
    ]
    assert ours == theirs


@settings(deadline=None)
@given(
    time=times,
    n_splits=st.integers(1, 5),
    window=st.sampled_from(["expanding", "sliding"]),
    gap=st.sampled_from([0, 0.5, 3]),
)
def test_no_training_row_is_later_than_the_gap_before_the_first_test_row(time, n_splits, window, gap):
    values = np.array(time, dtype=float)
    splitter = TemporalSplit(n_splits, window=window, gap=gap)
    first = values[next(iter(TemporalSplit(n_splits).split(values, time=values)))[1]].min()
    if first - values.min() < gap:
        with pytest.raises(InputError, match="gap must leave training rows"):
            splitter.freeze(values, time=values)
        return
    splits = splitter.freeze(values, time=values)
    tested = np.concatenate([test for _, test in splits])
    assert len(np.unique(tested)) == len(tested)
    for train, test in splits:
        assert len(train)
        assert len(test)
        assert values[train].max() < values[test].min()
        assert values[test].min() - values[train].max() >= gap
    starts = [values[test].min() for _, test in splits]
    assert starts == sorted(starts)
    earliest = np.setdiff1d(np.arange(len(values)), tested)
    assert values[earliest].max() < values[tested].min()


@settings(deadline=None)
@given(time=times, n_splits=st.integers(1, 5), seed=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(time, n_splits, seed):
    values, order = np.array(time), np.random.default_rng(seed).permutation(len(time))
    plain = list_sets(TemporalSplit(n_splits, window="sliding"), values)
    shuffled = list_sets(TemporalSplit(n_splits, window="sliding"), values[order])
    assert plain == [({int(order[row]) for row in train}, {int(order[row]) for row in test}) for train, test in shuffled]


def test_a_sliding_window_keeps_the_size_of_the_first_training_set():
    sizes = [len(train) for train, _ in list_sets(TemporalSplit(4, window="sliding"), np.arange(50))]
    assert sizes == [10, 10, 10, 10]
    assert [len(train) for train, _ in list_sets(TemporalSplit(4), np.arange(50))] == [10, 20, 30, 40]


def test_a_gap_in_days_applies_to_dates():
    days = pd.date_range("2026-01-01", periods=60)
    for train, test in TemporalSplit(3, gap="7 days").split(np.zeros(60), time=days):
        assert days[test].min() - days[train].max() == pd.Timedelta("7 days")


@pytest.mark.parametrize(
    ("options", "time", "text"),
    [
        ({}, None, "time must be given for TemporalSplit"),
        ({"n_splits": 3}, [1, 1, 2, 3], "n_splits must be at most 2, the number of different times minus 1, got 3"),
        ({"gap": 9}, np.arange(12), "gap must leave training rows before each test set, got 9"),
        ({}, ["jan", "feb"], "time must contain numbers or dates, got 'jan'"),
        ({}, [1.0, np.nan], "time must not contain missing or infinite values, got one at row 1"),
        ({}, [1.0], "arrays must have the same number of rows"),
    ],
)
def test_times_that_cannot_be_split(options, time, text):
    with pytest.raises(InputError, match=text):
        list(TemporalSplit(**options).split(np.zeros(2 if time is None or len(time) < 3 else len(time)), time=time))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"gap": -1}, "gap must be a number of at least 0, or text such as '7 days', got -1"),
        ({"gap": "soon"}, "gap must be a number of at least 0, or text such as '7 days', got 'soon'"),
        ({"window": "rolling"}, "window must be one of"),
        ({"train_size": 5}, "train_size must be omitted for an expanding window, got 5"),
    ],
)
def test_invalid_parameters(options, text):
    with pytest.raises(InputError, match=text):
        TemporalSplit(**options)
