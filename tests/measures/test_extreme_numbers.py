"""Measures with very many classes, extreme numbers, ordered categories and unusual parameters."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics

from fairtrial.errors import InputError
from fairtrial.measures import accuracy, balanced_accuracy, evaluate, f_score, g_mean, interval, kappa, recall
from fairtrial.measures.regression import mse


@pytest.mark.parametrize("rows", [2, 4])
def test_g_mean_of_1000_classes_does_not_vanish(rows):
    y = np.repeat(np.arange(1000), rows)
    predicted = np.where(np.arange(len(y)) % rows, (y + 1) % 1000, y)
    assert g_mean(y, predicted) == pytest.approx(1 / rows)  # the product of the recalls, 4 ** -1000, is not a float


@pytest.mark.parametrize("unit", [1e-70, 1e-12, 1e-6, 1.0, 1e9, 1e70])
def test_mse_intervals_do_not_depend_on_the_unit(unit):
    rng = np.random.default_rng(0)
    true = rng.normal(size=40)
    predicted = true + rng.normal(size=40)
    base = interval("regression.mse", true, predicted, seed=1)
    scaled = interval("regression.mse", unit * true, unit * predicted, seed=1)
    assert scaled.method == base.method == "bca"
    assert [scaled.low / unit**2, scaled.high / unit**2] == pytest.approx([base.low, base.high], rel=1e-6)


def test_integers_beyond_2_to_the_53_are_refused():
    exact = 2**53
    assert mse([exact, 0], [exact - 1, 0]) == 0.5
    with pytest.raises(InputError, match="y_true"):
        mse([exact + 1, 0], [exact, 0])
    with pytest.raises(InputError, match="y_pred"):
        mse([0, 1], np.array([2**63 + 5, 1], dtype=np.uint64))


def test_large_integer_labels_are_exact():
    assert accuracy([2**60, 2**60 + 1], [2**60, 2**60]) == 0.5


@pytest.mark.parametrize("size", [1e160, 1e-170])
def test_extreme_weights_and_values_are_refused(size):
    with pytest.raises(InputError, match="sample_weight"):
        accuracy([0, 1, 1], [0, 1, 0], sample_weight=[size, size, size])
    with pytest.raises(InputError, match="y_true"):
        mse([size, 2 * size], [0.0, 0.0])


@pytest.mark.parametrize("size", [1e-130, 1e130])
def test_large_and_small_weights_are_right(size):
    y, p, weights = [0, 1, 1, 0, 1], [0, 1, 0, 0, 1], np.array([1.0, 2, 3, 4, 5])
    assert recall(y, p, sample_weight=size * weights) == pytest.approx(7 / 10)
    assert mse(y, p, sample_weight=size * weights) == pytest.approx(3 / 15)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_chance_level_of_balanced_accuracy_is_1_over_the_number_of_classes(k):
    y = np.arange(10 * k) % k
    frame = evaluate(y, y, measures=["balanced_accuracy", "kappa"], interval=None).frame()
    assert frame.loc["balanced_accuracy", "chance"] == 1 / k
    assert frame.loc["kappa", "chance"] == 0
    guesses = np.random.default_rng(0).integers(0, k, 200_000)
    assert balanced_accuracy(np.arange(200_000) % k, guesses) == pytest.approx(1 / k, abs=0.01)


def test_ordered_categories_keep_their_order():
    grades = ["low", "medium", "high"]
    rng = np.random.default_rng(0)
    codes, guesses = rng.integers(0, 3, (2, 60))
    columns = [pd.Series(pd.Categorical([grades[i] for i in each], grades, ordered=True)) for each in (codes, guesses)]
    expected = metrics.cohen_kappa_score(codes, guesses, weights="quadratic")
    assert kappa(*columns, weights="quadratic") == pytest.approx(expected)
    assert kappa(*[column.astype(str) for column in columns], weights="quadratic") != pytest.approx(expected)


def test_ordered_categories_of_polars_and_pyarrow_keep_their_order():
    columns = (["yes", "no"], ["no", "no"])
    true, predicted = (pd.Series(pd.Categorical(column, ["yes", "no"], ordered=True)) for column in columns)
    assert recall(true, predicted) == 1
    enum = pl.Enum(["yes", "no"])
    assert recall(pl.Series(list(true), dtype=enum), pl.Series(list(predicted), dtype=enum)) == 1
    assert recall(pa.Array.from_pandas(true), pa.Array.from_pandas(predicted)) == 1


def test_the_last_of_two_ordered_categories_is_positive():
    true = pd.Categorical(["yes", "no", "yes"], ["yes", "no"], ordered=True)
    predicted = pd.Categorical(["yes", "no", "no"], ["yes", "no"], ordered=True)
    assert recall(pd.Series(true), pd.Series(predicted)) == 1  # of "no", the last category
    assert recall(list(true), list(predicted)) == 0.5


def test_f_score_with_beta_0_is_precision():
    y, p = [1, 1, 1, 0, 0], [1, 0, 0, 1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f_score(y, p, beta=0) == metrics.fbeta_score(y, p, beta=0) == 0.5
    with pytest.raises(InputError, match="beta"):
        f_score(y, p, beta=-1)
