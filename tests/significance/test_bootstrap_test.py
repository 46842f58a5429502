"""The bootstrap of differences: p and interval say the same, and its level holds."""

import numpy as np
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import difference
from fairtrial.significance.bootstrap_test import bootstrap_difference

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 120)
GOOD, FAIR = Y + RNG.normal(size=120), Y + 1.6 * RNG.normal(size=120)


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("measure", ["auc", "ks", "average_precision"])
def test_interval_is_that_of_measures(measure, method):
    found = bootstrap_difference(measure, Y, GOOD, FAIR, method=method, resamples=500, seed=4)
    theirs = difference(measure, Y, GOOD, FAIR, method=method, resamples=500, seed=4)
    assert (found.effect.estimate, found.effect.low, found.effect.high) == (theirs.estimate, theirs.low, theirs.high)
    assert found.variant == f"{method}, 500 resamples"


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_p_is_the_level_at_which_the_interval_touches_zero(method):
    p = bootstrap_difference("auc", Y, GOOD, FAIR, method=method).p_value
    assert 0.001 < p < 0.5
    for level, inside in ((1 - p - 0.002, False), (1 - p + 0.0005, True)):
        found = difference("auc", Y, GOOD, FAIR, method=method, level=level)
        assert (found.low <= 0 <= found.high) == inside


def test_percentile_p_is_twice_the_smaller_share():
    """Two labels, one row apart: the difference is the share of drawn copies of that row, never below zero."""
    y, a = np.array([0, 1] * 10), np.array([0, 1] * 10)
    b = a.copy()
    b[0] = 1
    found = bootstrap_difference("accuracy", y, a, b, method="percentile", resamples=4000)
    # the row is missed by (19/20)^20 = 0.358 of the resamples, whose difference is zero: twice that
    assert found.p_value == pytest.approx(2 * (19 / 20) ** 20, abs=0.03)


def test_equal_predictions_have_p_1():
    found = bootstrap_difference("accuracy", Y, Y, Y, resamples=100)
    assert (found.p_value, found.effect.low, found.effect.high) == (1, 0, 0)
    assert [caveat.kind for caveat in found.caveats] == ["constant_resamples"]
    assert (found.resamples, found.undefined_resamples) == (100, 0)


def test_p_is_never_zero():
    found = bootstrap_difference("accuracy", Y, Y, 1 - Y, resamples=199)
    assert found.p_value == pytest.approx(2 / 200)
    far = bootstrap_difference("auc", Y, Y + 0.1 * GOOD, -GOOD, resamples=199)
    assert far.p_value == pytest.approx(2 / 200)


def test_labels_of_both_models_are_shared():
    y, a, b = ["x", "y", "x", "y"], ["x", "y", "x", "x"], ["x", "z", "y", "y"]
    assert bootstrap_difference("accuracy", y, a, b, resamples=50).statistic == pytest.approx(0.25)


def test_undefined_is_nan():
    with pytest.warns(UndefinedMeasureWarning, match="auc"):
        found = bootstrap_difference("auc", [1, 1, 1], [1, 2, 3], [3, 2, 1], resamples=50)
    assert np.isnan(found.p_value)
    assert np.isnan(found.effect.low)


def test_undefined_resamples_are_counted():
    found = bootstrap_difference("auc", [0, 1, 1, 1], [1, 2, 3, 4], [2, 1, 3, 4], resamples=200)
    # a resample without the only negative row is undefined: (3/4)^4 of 200 in the mean
    assert 40 <= found.undefined_resamples <= 90
    caveat = next(caveat for caveat in found.caveats if caveat.kind == "undefined_resamples")
    assert (caveat["undefined"], caveat["resamples"]) == (found.undefined_resamples, 200)


def test_type_1_error_is_controlled():
    """Two models of equal worth; 5 % within the noise of 400 runs, a little above being known of the bootstrap at n = 80."""
    rng = np.random.default_rng(8)
    rejected = 0
    for run in range(400):
        y = np.arange(80) % 2
        a, b = y + 1.2 * rng.normal(size=80), y + 1.2 * rng.normal(size=80)
        rejected += bootstrap_difference("auc", y, a, b, method="percentile", resamples=399, seed=run).p_value <= 0.05
    assert 0.02 <= rejected / 400 <= 0.09


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="method"):
        bootstrap_difference("auc", Y, GOOD, FAIR, method="delong")
    with pytest.raises(InputError, match="resamples"):
        bootstrap_difference("auc", Y, GOOD, FAIR, resamples=1)
    with pytest.raises(InputError, match="'accuracy'"):
        bootstrap_difference("acuracy", Y, Y, Y)
