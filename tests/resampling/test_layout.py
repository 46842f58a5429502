"""Splits read together with a data set."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit

from fairtrial.errors import InputError
from fairtrial.resampling.layout import MAX_EXAMINED_SPLITS, read_layout
from fairtrial.resampling.splits import Split, Splits

X = np.arange(12.0).reshape(6, 2)
Y = np.array(["a", "b"] * 3)
HALVES = [([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])]


def test_sides_mark_test_and_training_rows():
    layout = read_layout([([0, 1], [1, 2])], (X, Y))
    assert layout.compute_sides()[:, 0].tolist() == [2, 3, 1, 0, 0, 0]


def test_repeats_are_taken_from_the_splits():
    parts = [Split(np.array([0]), np.array([1]), repeat, 0) for repeat in (0, 1, 1)]
    layout = read_layout(Splits(6, tuple(parts)), (X, Y))
    assert layout.repeats == ((0,), (1, 2))
    assert layout.split_names == ["fold 1 of repeat 1", "fold 1 of repeat 2", "fold 2 of repeat 2"]


def test_rounds_of_scikit_learn_are_repeats():
    layout = read_layout(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), (X, Y))
    assert layout.repeats == ((0, 1, 2), (3, 4, 5))


def test_draws_are_not_rounds():
    layout = read_layout(ShuffleSplit(4, test_size=0.5, random_state=0), (X, Y))
    assert layout.repeats == ((0, 1, 2, 3),)


def test_of_many_splits_some_are_examined_at_even_distances():
    layout = read_layout(HALVES * 300, (X, Y))
    assert len(layout.examined_splits) == MAX_EXAMINED_SPLITS
    assert (layout.examined_splits[0], layout.examined_splits[-1]) == (0, 599)


def test_numbers_are_standardised():
    np.testing.assert_allclose(read_layout(HALVES, (X, Y)).scaled_values.std(axis=0), 1)


def test_nominal_or_missing_values_make_it_the_range():
    frame = pd.DataFrame({"a": [0.0, 5.0, np.nan, 10.0, 2.0, 3.0], "b": list("xyxyxy"), "c": [4.0] * 6, "d": [np.nan] * 6})
    layout = read_layout(HALVES, (frame, Y))
    assert layout.scaled_values[:, 0].tolist()[:2] == [0.0, 0.5]
    assert layout.scaled_values[:, 1].tolist() == [0, 1] * 3
    assert np.isnan(layout.scaled_values[:, 3]).all()


def test_without_classes_all_rows_are_one():
    assert read_layout(HALVES, (X, None)).classes == ("all",)


@pytest.mark.parametrize(
    ("splits", "dataset", "message"),
    [
        (HALVES, X, "dataset"),
        (HALVES, (X, Y[:3]), "6.*3"),
        (HALVES, (X, np.linspace(0, 1, 6)), r"^y\b.*0.2"),
        (HALVES, (np.empty((6, 0)), Y), "dataset.*6, 0"),
        (HALVES, (np.where(X == 3, np.inf, X), Y), "dataset.*'x1'"),
        (Splits.from_pairs(HALVES, 7), (X, Y), "splits"),
        ([([0], [9])], (X, Y), "test of split 0.*9"),
    ],
)
def test_bad_input_is_refused(splits, dataset, message):
    with pytest.raises(InputError, match=message):
        read_layout(splits, dataset)


def test_dealing_keeps_what_each_class_has():
    splits = [([0, 1, 2, 4, 5], [3, 6]), ([3, 4, 6], [0, 1, 2, 5])]
    layout = read_layout(splits, (np.arange(7.0)[:, None], ["a", "a", "a", "a", "b", "b", "b"]))
    sides, rows = layout.compute_sides(), np.arange(7)
    dealt = layout.permute_sides(rows, sides, 50, np.random.default_rng(0))
    assert dealt.shape == (50, 7, 2)
    assert len({each.tobytes() for each in dealt}) > 5
    for code in (0, 1):
        own = layout.labels == code
        for each in dealt:
            assert sorted(each[own].tolist()) == sorted(sides[own].tolist())
