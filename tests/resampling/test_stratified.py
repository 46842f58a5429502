import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.splitters import StratifiedKFold, number_by_appearance, shuffle_by_class


def parts_of(splitter, y):
    return [test for _, test in splitter.split(y, y)]


@settings(deadline=None)
@given(
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    k=st.integers(2, 10),
    seed=st.integers(0, 2**31),
)
@pytest.mark.filterwarnings("ignore:class:fairtrial.errors.SuspectInputWarning")
def test_sizes_and_class_counts_differ_by_at_most_one(counts, k, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    if max(counts) < k:
        with pytest.raises(InputError, match="n_splits"):
            parts_of(StratifiedKFold(k, random_state=seed), y)
        return
    folds = parts_of(StratifiedKFold(k, random_state=seed), y)
    assert sorted(np.concatenate(folds)) == list(range(len(y)))
    table = np.array([np.bincount(y[fold], minlength=len(counts)) for fold in folds])
    assert np.ptp(table.sum(axis=1)) <= 1
    assert np.ptp(table, axis=0).max() <= 1


def test_three_classes_whose_remainders_would_pile_up():
    # Dealt each from the first fold on, 3 x 6 rows in 5 folds would give one fold 6 and the others 3.
    y = np.repeat([0, 1, 2], 6)
    assert sorted(len(fold) for fold in parts_of(StratifiedKFold(5, random_state=1), y)) == [3, 3, 4, 4, 4]


def test_which_fold_is_larger_is_drawn():
    y = np.repeat([0, 1], [6, 5])
    larger = [int(np.argmax([len(fold) for fold in parts_of(StratifiedKFold(5, random_state=seed), y)])) for seed in range(500)]
    assert np.bincount(larger, minlength=5).min() > 60


def test_rows_of_a_class_are_shuffled():
    # Each of 6 rows of a class is in fold 0 of 3 with probability 1/3.
    y = np.repeat([0, 1], 6)
    in_first = np.zeros(12)
    for seed in range(2000):
        in_first[parts_of(StratifiedKFold(3, random_state=seed), y)[0]] += 1
    assert np.abs(in_first / 2000 - 1 / 3).max() < 4.5 * np.sqrt(2 / 9 / 2000)


def test_like_scikit_learn_a_rare_class_is_warned_about_and_still_dealt():
    y = np.array([3, 3, -1, -1, 3])
    with pytest.warns(SuspectInputWarning, match="-1.*2.*3"):
        folds = parts_of(StratifiedKFold(3, random_state=1), y)
    assert sorted(np.concatenate(folds)) == [0, 1, 2, 3, 4]


def test_like_scikit_learn_all_classes_too_rare_is_an_error():
    with pytest.raises(InputError, match=r"n_splits.*2.*3"):
        parts_of(StratifiedKFold(3), [3, 3, -1, -1, 2])


def test_lists_of_mixed_labels_are_refused():
    with pytest.raises(InputError, match="labels"):
        parts_of(StratifiedKFold(2), [1, "a", 1, "a"])


def test_categories_without_rows_are_no_classes():
    y = pd.Series(["a", "b"] * 4, dtype=pd.CategoricalDtype(["c", "b", "a"]))
    assert [len(fold) for fold in parts_of(StratifiedKFold(4, random_state=1), y)] == [2, 2, 2, 2]


@given(codes=st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_codes_by_appearance(codes):
    found = number_by_appearance(np.array(codes)).tolist()
    place = {}
    assert found == [place.setdefault(code, len(place)) for code in codes]


def test_order_is_class_after_class():
    y = np.array([1, 0, 1, 0, 0])
    order = shuffle_by_class(y, np.random.default_rng(1))
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert y[order].tolist() == [0, 0, 0, 1, 1]
