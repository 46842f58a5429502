from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import learning_curve
from sklearn.naive_bayes import GaussianNB

from fairtrial.conditions import Clean, TrainSize, from_declaration
from fairtrial.errors import InputError

X, Y = load_iris(return_X_y=True)


def keep(level, y=Y, seed=0):
    return TrainSize(level).apply(np.arange(len(y))[:, None], y, rng=seed).rows


@pytest.mark.parametrize(("level", "size"), [(0.1, 15), (0.5, 75), (1.0, 150), (7, 7), (150, 150), (0.001, 1)])
def test_sizes_are_proportions_or_numbers_of_rows(level, size):
    changed = TrainSize(level).apply(X, Y, rng=0)
    assert len(changed.y) == size
    assert changed.mask.sum() == 150 - size
    assert changed.level == (pytest.approx(size / 150) if level <= 1 else size)
    np.testing.assert_array_equal(changed.X, X[changed.rows])
    np.testing.assert_array_equal(changed.y, Y[changed.rows])


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    levels=st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)),
    seed=st.integers(0, 100),
)
def test_smaller_sets_are_subsets_with_the_class_proportions(counts, levels, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    small, large = (keep(level, y, seed) for level in sorted(levels))
    assert set(small) <= set(large)
    for rows in (small, large):
        kept = np.bincount(y[rows], minlength=len(counts))
        quota = len(rows) * np.array(counts) / sum(counts)
        assert (np.abs(kept - quota) < len(counts) + 1).all()
        assert (kept >= 1).all() or len(rows) < len(counts)


def test_large_sets_are_stratified_within_one_row():
    y = np.repeat(["a", "b", "c"], [100, 60, 40])
    for size in range(20, 200, 7):
        kept = pd.Series(y[keep(size, y)]).value_counts()
        for name, proportion in {"a": 0.5, "b": 0.3, "c": 0.2}.items():
            assert abs(kept[name] - proportion * size) <= 1


def test_scores_are_those_of_scikit_learn_on_the_same_subsets():
    """scikit-learn takes the first rows of each training set, so the nested samples are put in order of size."""
    rng = np.random.default_rng(1)
    test = np.sort(rng.choice(150, 50, replace=False))
    train = np.setdiff1d(np.arange(150), test)
    sizes = [5, 20, 60, 100]
    samples = [train[TrainSize(size).apply(X[train], Y[train], rng=3).rows] for size in sizes]
    ordered = np.concatenate([samples[0], *(np.setdiff1d(large, small) for small, large in pairwise(samples))])
    counts, _, expected = learning_curve(GaussianNB(), X, Y, train_sizes=sizes, cv=[(ordered, test)])
    assert counts.tolist() == sizes
    scores = [GaussianNB().fit(X[rows], Y[rows]).score(X[test], Y[test]) for rows in samples]
    assert scores == pytest.approx(expected[:, 0].tolist())


@pytest.mark.parametrize("level", [0, -0.1, 1.5, float("inf"), "half", True])
def test_wrong_sizes_are_refused(level):
    with pytest.raises(InputError, match="level must be"):
        TrainSize(level)


def test_more_rows_than_there_are_cannot_be_kept():
    with pytest.raises(InputError, match="at most the number of training rows, 150, got 151: choose smaller sizes"):
        TrainSize(151).apply(X, Y)


def test_only_the_training_set_is_changed():
    assert TrainSize(0.5).limit_to("test") == Clean()
    with pytest.raises(InputError, match="part must be 'train'"):
        TrainSize(0.5, part="all")


def test_declaration_and_description():
    size = from_declaration("train-size", level=0.3)
    assert size == TrainSize(0.3)
    assert from_declaration(**size.describe()) == size
    assert str(size) == "30 % of the rows in the training set"
    assert str(TrainSize(50)) == "50 rows in the training set"


def test_frames_and_lists_are_accepted():
    frame = pd.DataFrame(X)
    changed = TrainSize(10).apply(frame, pd.Series(Y).astype("category"), rng=0)
    assert changed.X.index.tolist() == changed.rows.tolist()
    assert len(TrainSize(4).apply([[x] for x in range(10)], list("ab" * 5), rng=0).X) == 4
