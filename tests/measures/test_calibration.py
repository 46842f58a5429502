"""Calibration of probabilities: R, model-diagnostics, statsmodels and scikit-learn; limits; degenerate probabilities."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from fairtrial import measures
from fairtrial.errors import FallbackWarning, InputError, UndefinedMeasureWarning
from fairtrial.measures import (
    brier_decomposition,
    calibration_intercept,
    calibration_slope,
    corp_curve,
    interval,
    oe_ratio,
    rank_table,
)
from tests.measures.test_net_benefit import draw, simulated as simulated

SHRUNK = 0.6, 0.01
"""The oracle's probabilities are also used after p -> 0.6 p + 0.01, which miscalibrates them."""


@pytest.fixture
def shrunk(simulated):
    y, p = simulated
    return y, SHRUNK[0] * p + SHRUNK[1]


def test_intercept_and_slope_equal_r(shrunk):
    # R: glm(y ~ 1, offset = qlogis(p), family = binomial), glm(y ~ qlogis(p), family = binomial)
    assert calibration_intercept(*shrunk) == pytest.approx(0.6587359514, abs=1e-9)
    assert calibration_slope(*shrunk) == pytest.approx(1.4201310326, abs=1e-9)
    assert oe_ratio(*shrunk) == pytest.approx(1.655017250281, abs=1e-11)


def test_limits_are_those_of_the_profile_likelihood(shrunk):
    # R: confint of both models, which interpolates the profile
    found = interval("calibration_intercept", *shrunk)
    assert (found.low, found.high) == pytest.approx((0.4589613227, 0.8520955464), abs=0.02)
    assert found.method == "profile"
    found = interval("calibration_slope", *shrunk)
    assert (found.low, found.high) == pytest.approx((1.1593734004, 1.700165135), abs=0.03)
    assert found.low <= 1.1594
    assert found.high >= 1.6063


def test_weighted_fits_equal_statsmodels():
    rng = np.random.default_rng(4)
    for _ in range(5):
        y, p = draw(rng, 60)
        p, w = np.clip(p, 0.02, 0.98), rng.integers(1, 4, 60)
        logits = np.log(p / (1 - p))
        family = sm.families.Binomial()
        with_offset = sm.GLM(y, np.ones(60), family=family, offset=logits, freq_weights=w).fit(tol=1e-13)
        line = sm.GLM(y, sm.add_constant(logits), family=family, freq_weights=w).fit(tol=1e-13)
        assert calibration_intercept(y, p, sample_weight=w) == pytest.approx(with_offset.params[0], abs=1e-7)
        assert calibration_slope(y, p, sample_weight=w) == pytest.approx(line.params[1], abs=1e-7)


def test_limits_of_many_rows_are_robust_wald_limits():
    rng = np.random.default_rng(5)
    y, p = draw(rng, 4000)
    p = np.clip(p, 0.01, 0.99)
    logits = np.log(p / (1 - p))
    fit = sm.GLM(y, sm.add_constant(logits), family=sm.families.Binomial()).fit(cov_type="HC0")
    found = interval("calibration_slope", y, p)
    assert found.method == "wald"
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * fit.bse[1], rel=0.05)
    cluster = np.arange(4000) // 4
    clustered = sm.GLM(y, sm.add_constant(logits), family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}
    )
    found = interval("calibration_slope", y, p, cluster=cluster)
    assert (found.high - found.low) / 2 == pytest.approx(1.962 * max(clustered.bse[1], fit.bse[1]), rel=0.05)


def test_repeated_rows_in_clusters_keep_the_limits():
    y, p = draw(np.random.default_rng(6), 200)
    p, cluster = np.clip(p, 0.02, 0.98), np.tile(np.arange(200), 3)
    for name in ("calibration_intercept", "calibration_slope", "oe_ratio", "brier_miscalibration", "brier_discrimination"):
        single, tripled = interval(name, y, p), interval(name, np.tile(y, 3), np.tile(p, 3), cluster=cluster)
        assert tripled.estimate == pytest.approx(single.estimate, abs=1e-9)
        assert tripled.high - tripled.low == pytest.approx(single.high - single.low, rel=0.1)


def test_oe_limits_are_those_of_the_observed_proportion(shrunk):
    y, p = shrunk
    found = interval("oe_ratio", y, p)
    limits = stats.binomtest(int(y.sum()), len(y)).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx([limit * len(y) / p.sum() for limit in limits])


def test_the_decomposition_equals_model_diagnostics_and_r(simulated, shrunk):
    # model-diagnostics 1.4: decompose(y, p, scoring_function=SquaredError()); R: isoreg with ties in the order of y
    parts = brier_decomposition(*simulated)
    estimates = [parts.brier, parts.miscalibration.estimate, parts.discrimination.estimate, parts.uncertainty.estimate]
    assert estimates == pytest.approx([0.119727186693, 0.005805513301, 0.037063215497, 0.150984888889], abs=1e-11)
    parts = brier_decomposition(*shrunk)
    assert (parts.miscalibration.estimate, parts.discrimination.estimate) == pytest.approx((0.017730947, 0.037063215), abs=1e-9)


def test_the_parts_add_up_to_the_brier_score_exactly():
    rng = np.random.default_rng(7)
    for _ in range(40):
        y, p = draw(rng, rng.integers(2, 50))
        w = rng.random(len(y))
        parts = brier_decomposition(y, p, labels=[0, 1], sample_weight=w)
        total = parts.miscalibration.estimate - parts.discrimination.estimate + parts.uncertainty.estimate
        assert total == pytest.approx(measures.brier(y, p, labels=[0, 1], sample_weight=w), abs=1e-14)
        assert parts.brier == pytest.approx(total, abs=1e-14)
        for part in (parts.miscalibration, parts.discrimination, parts.uncertainty):
            assert part.low - 1e-12 <= part.estimate <= part.high + 1e-12
    assert list(parts.frame().index) == ["miscalibration", "discrimination", "uncertainty"]


def test_the_curve_is_the_isotonic_regression_of_scikit_learn():
    rng = np.random.default_rng(8)
    y, p = draw(rng, 400)
    w = rng.random(400)
    for weights in (None, w):
        curve = corp_curve(y, p, sample_weight=weights, resamples=50)
        theirs = IsotonicRegression().fit(p, y, sample_weight=weights).predict(curve["predicted"])
        np.testing.assert_allclose(curve["recalibrated"], theirs, atol=1e-12)
        assert (curve["low"] <= curve["high"]).all()
        assert curve["predicted"].is_monotonic_increasing


def test_the_band_contains_the_diagonal_and_most_of_a_calibrated_curve():
    rng = np.random.default_rng(9)
    y, p = draw(rng, 2000)
    curve = corp_curve(y, p)
    inside = (curve["low"] <= curve["recalibrated"]) & (curve["recalibrated"] <= curve["high"])
    assert inside.mean() > 0.85
    wrong = corp_curve(y, p**3)
    outside = (wrong["recalibrated"] < wrong["low"]) | (wrong["recalibrated"] > wrong["high"])
    assert outside.mean() > 0.6
    wide = corp_curve(np.repeat(y, 5), np.repeat(p, 5), cluster=np.repeat(np.arange(2000), 5))
    widths = [float((frame["high"] - frame["low"]).mean()) for frame in (wide, curve)]
    assert widths[0] == pytest.approx(widths[1], rel=0.25)


@pytest.mark.parametrize(
    ("name", "y", "p", "reason"),
    [
        ("calibration_slope", [0, 0, 1, 1], [0.1, 0.2, 0.7, 0.8], "separate"),
        ("calibration_slope", [0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3], "equal"),
        ("calibration_intercept", [1, 1, 1], [0.2, 0.4, 0.6], "only one"),
        ("calibration_slope", [0, 0, 0], [0.2, 0.4, 0.6], "only one"),
        ("oe_ratio", [0, 1], [0.0, 0.0], "all probabilities are 0"),
    ],
)
def test_undefined_values_are_nan_with_the_reason(name, y, p, reason):
    with pytest.warns(UndefinedMeasureWarning):
        assert math.isnan(measures.get_measure(name)(y, p, labels=[0, 1]))
    with pytest.warns(UndefinedMeasureWarning):
        found = interval(name, y, p, labels=[0, 1])
    assert math.isnan(found.estimate)
    assert math.isnan(found.low)
    assert reason in found.note


@pytest.mark.parametrize(
    ("p", "replaced"),
    [
        ([0.0, 0.4, 0.6, 0.5, 1.0], [0.05, 0.4, 0.6, 0.5, 0.95]),  # 1 decimal place
        ([0.0, 0.41, 0.6, 0.53, 1.0], [0.005, 0.41, 0.6, 0.53, 0.995]),
        ([0.0, 1 / 7, 4 / 7, 3 / 7, 1.0], [1 / 14, 1 / 7, 4 / 7, 3 / 7, 13 / 14]),  # votes of 7 trees
        ([0.0, 0.4, 0.6123456789, 0.5, 1.0], [1e-6, 0.4, 0.6123456789, 0.5, 1 - 1e-6]),  # not rounded
        ([1e-9, 0.4, 0.6, 0.5, 0.9], [1e-9, 0.4, 0.6, 0.5, 0.9]),  # nothing to replace
    ],
)
def test_a_probability_of_0_counts_as_at_most_half_a_rounding_step(p, replaced):
    y = [0, 1, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("calibration_slope", "calibration_intercept"):
            found, expected = (interval(name, y, values) for values in (p, replaced))
            assert (found.estimate, found.low, found.high) == pytest.approx(
                (expected.estimate, expected.low, expected.high), rel=1e-6
            )
            assert ("a probability of 0 counts as" in found.note) == (p[0] == 0)


def test_rounded_zeros_count_as_their_observed_frequency_within_the_rounding_step():
    y, p = [0] * 400 + [1, 0] + [0] * 50 + [1] * 50, [0.0] * 401 + [0.01] + [0.47] * 100
    assert calibration_slope(y, p) == pytest.approx(calibration_slope(y, [1.5 / 402] * 401 + p[401:]))


def test_clipping_gives_certain_probabilities_a_logit():
    y, p = [0, 1, 0, 1], [0.0, 0.4, 0.6, 0.5]
    assert calibration_slope(y, p, clip=0.01) == pytest.approx(calibration_slope(y, [0.01, 0.4, 0.6, 0.5]))
    assert interval("calibration_intercept", y, p, clip=0.01).low < interval("calibration_intercept", y, p, clip=0.01).high
    with pytest.raises(InputError, match=r"clip.*0\.5"):
        calibration_slope(y, p, clip=0.5)


def test_constant_probabilities_have_an_intercept():
    assert calibration_intercept([0, 1, 1, 1], [0.5] * 4) == pytest.approx(math.log(3))


def test_scores_that_are_not_probabilities_are_refused():
    for function in (calibration_slope, corp_curve, brier_decomposition):
        with pytest.raises(InputError, match=r"y_prob must .*1\.5"):
            function([0, 1], [0.2, 1.5])


def test_one_row_and_one_cluster_have_no_limits():
    with pytest.warns(UndefinedMeasureWarning, match="one cluster"):
        assert math.isnan(interval("oe_ratio", [0, 1, 1], [0.2, 0.5, 0.7], cluster=[1, 1, 1]).high)
    assert math.isnan(brier_decomposition([1], [0.4], labels=[0, 1]).miscalibration.low)


def test_bootstrap_requests_fall_back_for_parts_of_the_brier_score(simulated):
    with pytest.warns(FallbackWarning, match="bootstrap is biased"):
        found = interval("mcb", *simulated, method="bca")
    assert found.method == "cross-fitting"


def test_values_near_the_target_are_better(simulated):
    assert calibration_slope.facts.better == "near 1"
    assert calibration_slope.is_better(0.9, 1.3)
    assert not calibration_slope.is_better(0.5, 1.3)
    table = {"learner": ["a", "b"], "calibration_slope": [0.9, 1.3]}
    with pytest.raises(InputError, match="best value is 1"):
        rank_table(pd.DataFrame(table).set_index("learner"))
    y, p = simulated
    model = LogisticRegression(C=0.1).fit(p[:, None], y)
    slope = calibration_slope(y, model.predict_proba(p[:, None]))
    assert calibration_slope.scorer()(model, p[:, None], y) == pytest.approx(-abs(slope - 1))


def test_several_classes_use_the_most_probable_one():
    rng = np.random.default_rng(10)
    p = rng.dirichlet([1, 1, 1], 300)
    y = np.array([rng.choice(3, p=line) for line in p])
    outcome, top = p.argmax(axis=1) == y, p.max(axis=1)
    assert calibration_slope(y, p) == pytest.approx(calibration_slope(outcome, top))
    assert brier_decomposition(y, p).miscalibration.estimate == pytest.approx(
        brier_decomposition(outcome, top).miscalibration.estimate
    )
