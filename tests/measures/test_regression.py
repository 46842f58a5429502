"""Measures of numbers: scikit-learn, closed forms, and columns without spread."""

import math

import numpy as np
import pytest
from sklearn import metrics

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import regression
from tests.reference import cases

SHARED = {
    "mse": (regression.mse, metrics.mean_squared_error),
    "rmse": (regression.rmse, metrics.root_mean_squared_error),
    "mae": (regression.mae, metrics.mean_absolute_error),
    "r2": (regression.r2, metrics.r2_score),
}


@pytest.mark.parametrize("name", SHARED)
def test_equals_scikit_learn(name):
    ours, theirs = SHARED[name]
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        y, p = cases.values(rng)
        w = cases.weights(rng, len(y), kept=3)
        assert ours(y, p, sample_weight=w) == pytest.approx(theirs(y, p, sample_weight=w), rel=1e-10, abs=1e-12)


def test_relative_errors_are_errors_over_those_of_the_mean():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y, p = cases.values(rng)
        w = rng.random(len(y)) + 0.1
        centre = np.full(len(y), np.average(y, weights=w))
        assert regression.rae(y, p, sample_weight=w) == pytest.approx(
            metrics.mean_absolute_error(y, p, sample_weight=w) / metrics.mean_absolute_error(y, centre, sample_weight=w)
        )
        squared = metrics.mean_squared_error(y, p, sample_weight=w) / metrics.mean_squared_error(y, centre, sample_weight=w)
        assert regression.rse(y, p, sample_weight=w) == pytest.approx(squared)
        assert regression.rrse(y, p, sample_weight=w) == pytest.approx(math.sqrt(squared))


def test_a_baseline_replaces_the_mean():
    y, p = [1.0, 2.0, 3.0], [1.0, 2.0, 2.0]
    assert regression.rae(y, p, baseline=0) == pytest.approx(1 / 6)
    assert regression.rse(y, p, baseline=0) == pytest.approx(1 / 14)
    assert regression.rrse(y, p, baseline=0) == pytest.approx(math.sqrt(1 / 14))


def test_correlation_equals_numpys():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y, p = cases.values(rng)
        w = rng.integers(1, 4, len(y))
        repeated = np.corrcoef(np.repeat(y, w), np.repeat(p, w))[0, 1]
        assert regression.correlation(y, p, sample_weight=w) == pytest.approx(repeated, abs=1e-12)


def test_correlation_survives_a_large_offset():
    y, p = cases.values(np.random.default_rng(0), n=50)
    assert regression.correlation(y + 1e8, p - 1e8) == pytest.approx(np.corrcoef(y, p)[0, 1], abs=1e-6)


@pytest.mark.parametrize("weights", [None, [0.3, 0.1, 0.7]])
@pytest.mark.parametrize("name", ["rae", "rse", "rrse", "r2", "correlation"])
def test_equal_true_values_leave_no_value(name, weights):
    """0.1 is not a binary fraction: the mean of three such values is not quite one of them."""
    with pytest.warns(UndefinedMeasureWarning, match=f"regression.{name}"):
        value = getattr(regression, name)(
            [0.1, 0.1, 0.1], [0.1, 0.1, 0.1] if name != "correlation" else [1, 2, 3], sample_weight=weights
        )
    assert math.isnan(value)


@pytest.mark.parametrize("weights", [None, [0.3, 0.1, 0.7, 0.0]])
def test_equal_predictions_have_no_correlation(weights):
    predicted = [0.1, 0.1, 0.1, 0.1 if weights is None else 9]
    with pytest.warns(UndefinedMeasureWarning, match="regression.correlation"):
        assert math.isnan(regression.correlation([1.0, 2.0, 4.0, 5.0], predicted, sample_weight=weights))


def test_nothing_is_relative_to_a_constant_truth():
    for measure in (regression.rae, regression.rse, regression.rrse, regression.r2):
        with pytest.warns(UndefinedMeasureWarning):
            assert np.isnan(measure([0.1, 0.1, 0.1], [0.1, 0.2, 0.1]))


def test_a_row_without_weight_cannot_spoil_the_correlation():
    y, p = np.array([0, 1, 2, 3, 1e9]), np.array([0.1, 0.9, 2.2, 2.8, 5])
    found = regression.correlation(y, p, sample_weight=[1, 1, 1, 1, 0])
    assert found == pytest.approx(np.corrcoef(y[:4], p[:4])[0, 1], rel=1e-12)


def test_names_in_the_registry_begin_with_regression():
    assert measures.get_measure("regression.rmse") is regression.rmse
    assert measures.get_measure("rmse") is measures.rmse is not regression.rmse


def test_text_is_refused():
    with pytest.raises(InputError, match=r"y_pred.*'a'"):
        regression.mse([1.0, 2.0], ["a", "b"])
