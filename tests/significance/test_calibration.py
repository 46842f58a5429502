"""Tests of calibration: R, simulated type I error, clusters, degenerate probabilities."""

import math

import numpy as np
import pytest
from scipy.special import expit

from fairtrial.errors import InputError
from fairtrial.significance import calibration_test
from tests.measures.test_calibration import shrunk as shrunk
from tests.measures.test_net_benefit import simulated as simulated


def test_statistics_equal_r(shrunk):
    # R, by hand: glm(y ~ qlogis(p)) against the log-likelihood of p; Spiegelhalter's z; U' I^-1 U
    found = calibration_test(*shrunk, method="likelihood_ratio")
    assert (found.statistic, found.p_value) == pytest.approx((48.9262526613, 2.37574172095e-11), rel=1e-8)
    assert found.details["slope"] == pytest.approx(1.4201310326)
    found = calibration_test(*shrunk, method="spiegelhalter")
    assert (found.statistic, found.p_value) == pytest.approx((5.4022051222, 6.58266133763e-08), rel=1e-8)
    found = calibration_test(*shrunk, method="score")
    assert found.statistic == pytest.approx(54.4414882779, rel=1e-9)
    assert found.p_value == pytest.approx(math.exp(-54.4414882779 / 2), rel=1e-6)  # chi-squared with 2 df


def test_the_default_controls_the_type_i_error_in_20_rows():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        p = rng.uniform(0.01, 0.6, 20)
        p_values.append(calibration_test((rng.random(20) < p).astype(int), p, labels=[0, 1], resamples=199).p_value)
    assert np.mean(np.array(p_values) <= 0.05) < 0.085


def test_simulated_and_asymptotic_p_values_agree():
    rng = np.random.default_rng(1)
    p = rng.random(400)
    y = (rng.random(400) < p**1.2).astype(int)
    simulated, asymptotic = (calibration_test(y, p, method=method) for method in ("auto", "score"))
    assert simulated.p_value == pytest.approx(asymptotic.p_value, abs=0.03)
    assert simulated.variant == "simulated"
    assert calibration_test(np.tile(y, 20), np.tile(p, 20)).variant == ""


def test_copies_of_rows_in_clusters_are_not_evidence():
    rng = np.random.default_rng(2)
    p = rng.random(60)
    y = (rng.random(60) < p).astype(int)
    single = calibration_test(y, p)
    cluster = np.repeat(np.arange(60), 6)
    copied = calibration_test(np.repeat(y, 6), np.repeat(p, 6), cluster=cluster)
    assert copied.p_value == pytest.approx(single.p_value, abs=0.15)
    assert calibration_test(np.repeat(y, 6), np.repeat(p**3, 6), cluster=cluster).p_value < 0.05
    with pytest.raises(InputError, match="method must be 'auto' or 'score' with clusters"):
        calibration_test(y, p, method="spiegelhalter", cluster=np.arange(60))
    few = calibration_test(y, p, cluster=np.arange(60) % 5)
    assert math.isnan(few.p_value)
    assert few.caveats[0].kind == "few_clusters_to_test"


def test_rounding_does_not_make_calibrated_probabilities_miscalibrated():
    rejections = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = expit(rng.normal(-4, 1.6, 3000))
        outcome = calibration_test(rng.random(3000) < p, p.round(2), resamples=99)
        assert math.isfinite(outcome.statistic)
        rejections += outcome.p_value <= 0.05
    assert rejections <= 5  # at most 2 expected; all 40 samples have probabilities of 0.00, most of them with a positive


def test_a_positive_at_an_unrounded_zero_is_strong_evidence():
    rng = np.random.default_rng(1)
    p = expit(rng.normal(-2, 1.5, 1000))
    y = (rng.random(1000) < p).astype(int)
    assert calibration_test(y, p).p_value > 0.05
    y[0], p[0] = 1, 0.0
    for cluster in (None, np.arange(1000)):
        outcome = calibration_test(y, p, cluster=cluster)
        assert math.isfinite(outcome.statistic)
        # 20 times the probability of a positive in one row, if its probability is 1e-6
        assert outcome.p_value == pytest.approx(20 * 1e-6)
        assert outcome.caveats[-1].kind == "certain_and_wrong"
    assert calibration_test(y, p, clip=0.01).p_value > 0.05
    with pytest.raises(InputError, match=r"clip must be above 0 and below 0\.5, got 0"):
        calibration_test(y, p, clip=0)


def test_labels_as_probabilities_are_overconfident():
    outcome = calibration_test([0] * 40 + [1] * 10 + [1] * 40 + [0] * 10, [0.0] * 50 + [1.0] * 50)
    assert outcome.p_value < 0.001
    assert 0 < outcome.details["slope"] < 0.2


def test_probabilities_of_0_and_1():
    certain = calibration_test([1, 0, 1], [1.0, 0.0, 1.0])
    assert math.isnan(certain.p_value)
    assert certain.caveats[0].kind == "all_certain"
    right = calibration_test([0, 0, 1, 0, 1], [0.0, 0.4, 0.6, 0.5, 1.0], method="score")
    assert right.statistic == calibration_test([0, 0, 1, 0, 1], [0.05, 0.4, 0.6, 0.5, 0.95], method="score").statistic


def test_degenerate_probabilities_are_tested_or_explained():
    assert 0 < calibration_test([0, 0, 0, 1], [0.5] * 4).p_value <= 1
    assert 0 < calibration_test([0, 0, 0], [0.1, 0.2, 0.3], labels=[0, 1]).p_value <= 1
    separated = calibration_test([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.8], method="likelihood_ratio")
    assert math.isnan(separated.p_value)
    assert separated.caveats[0].kind == "no_calibration_line"
    assert calibration_test([0, 1], [0.5, 0.5], method="spiegelhalter").caveats[0].kind == "only_one_half"
    with pytest.raises(InputError, match="method must be"):
        calibration_test([0, 1], [0.5, 0.5], method="hosmer")
    with pytest.raises(InputError, match=r"y_prob must .*1\.5"):
        calibration_test([0, 1], [0.2, 1.5])
