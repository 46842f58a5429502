"""Limits without resampling, against published tables, scipy and R."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom, binomtest, norm

from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally, interval
from fairtrial.measures.intervals import (
    compute_clopper_pearson_limits,
    compute_delong_limits,
    compute_newcombe_limits,
    compute_weighted_wilson_limits,
    compute_wilson_limits,
)

# Newcombe 1998, Statistics in Medicine 17, Table I, methods 3 and 5
NEWCOMBE_1998 = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]


@pytest.mark.parametrize(("successes", "trials", "score", "exact"), NEWCOMBE_1998)
def test_proportions_equal_newcombes_table(successes, trials, score, exact):
    assert compute_wilson_limits(successes, trials, 0.95) == pytest.approx(score, abs=5e-5)
    assert compute_clopper_pearson_limits(successes, trials, 0.95) == pytest.approx(exact, abs=5e-5)


@pytest.mark.parametrize("trials", [1, 2, 17, 400])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_proportions_equal_scipys(trials, level):
    for successes in {0, 1, trials // 2, trials}:
        test = binomtest(successes, trials)
        assert compute_wilson_limits(successes, trials, level) == pytest.approx(
            tuple(test.proportion_ci(level, "wilson")), abs=1e-9
        )
        assert compute_clopper_pearson_limits(successes, trials, level) == pytest.approx(
            tuple(test.proportion_ci(level, "exact")), abs=1e-9
        )


# Newcombe 1998, Table I, method 1; he prints "below 0" for the lower limit of 1 of 29
@pytest.mark.parametrize(
    ("successes", "trials", "limits"),
    [(81, 263, (0.2522, 0.3638)), (15, 148, (0.0527, 0.1500)), (0, 20, (0.0, 0.0)), (1, 29, (0.0, 0.1009))],
)
def test_wald_limits_equal_newcombes_table(successes, trials, limits):
    wald = interval("accuracy", [1] * trials, [1] * successes + [0] * (trials - successes), method="wald")
    assert (wald.low, wald.high) == pytest.approx(limits, abs=5e-5)
    assert wald.method == "wald"
    assert "comparison only" in wald.note


def compute_coverage(method, n, p):
    """The probability that the 95 % interval of n rows contains p, summed over all numbers of successes."""
    coverage = 0.0
    for successes in range(n + 1):
        limits = interval("accuracy", [1] * n, [1] * successes + [0] * (n - successes), method=method, labels=[0, 1])
        coverage += binom.pmf(successes, n, p) * (limits.low <= p <= limits.high)
    return coverage


@pytest.mark.parametrize(
    ("n", "p", "coverage"), [(17, 0.5, 0.951), (40, 0.5, 0.919), (30, 0.2, 0.946), (98, 0.2, 0.928), (592, 0.005, 0.792)]
)
def test_wald_coverage_equals_the_examples_of_brown_cai_and_dasgupta(n, p, coverage):
    """Brown, Cai & DasGupta 2001, Statistical Science 16, section 2.1."""
    assert compute_coverage("wald", n, p) == pytest.approx(coverage, abs=5e-4)


@pytest.mark.parametrize("p", [0.9, 0.95])
@pytest.mark.parametrize("n", [10, 20, 30, 50])
def test_wald_limits_cover_too_rarely_near_one(n, p):
    """Closed form: the coverage is the probability that n (x / n - p)^2 <= z^2 x / n (1 - x / n) for a binomial x."""
    x = np.arange(n + 1)
    is_covered = n * (x / n - p) ** 2 <= norm.ppf(0.975) ** 2 * (x / n) * (1 - x / n)
    expected = binom.pmf(x, n, p)[is_covered].sum()
    assert compute_coverage("wald", n, p) == pytest.approx(expected, abs=1e-12)
    assert expected < 0.93 <= compute_coverage("clopper-pearson", n, p)
    assert expected < compute_coverage("wilson", n, p)


def test_wald_limits_need_a_proportion_of_independent_unweighted_rows():
    y, predicted = [0, 1, 1, 0], [0, 1, 0, 0]
    with pytest.raises(InputError, match=r"'wald' needs a proportion.*kappa"):
        interval("kappa", y, predicted, method="wald")
    with pytest.raises(InputError, match=r"with clusters, got 'wald'"):
        interval("accuracy", y, predicted, method="wald", cluster=[0, 0, 1, 1])


def test_equal_weights_do_not_change_the_limits():
    expected = tuple(binomtest(3, 10).proportion_ci(0.95, "wilson"))
    for weight in (1e-6, 0.5, 1000.0):
        assert compute_weighted_wilson_limits(3 * weight, 10 * weight, 10 * weight**2, 0.95) == pytest.approx(
            expected, abs=1e-9
        )
    assert all(map(math.isnan, compute_weighted_wilson_limits(1e-200, 1e-200, 0.0, 0.95)))


def test_delong_is_symmetric_on_the_logit_scale():
    auc, variance = 0.875, 0.0136574074074
    half = norm.ppf(0.975) * math.sqrt(variance) / (auc * (1 - auc))
    assert compute_delong_limits(auc, variance, 0.95) == pytest.approx((expit(logit(auc) - half), expit(logit(auc) + half)))


def test_delong_stays_within_the_unit_interval():
    low, high = compute_delong_limits(0.999999, 0.2, 0.9999)
    assert 0 <= low < 0.999999 < high <= 1


# auRoc 0.2-1 (R): auc.nonpara.mw(x, y, method = "newcombe")
AUROC = [
    ([0.4, 0.65, 0.8, 0.9], [0.1, 0.2, 0.3, 0.35, 0.6, 0.7], 0.95, (0.492013186624, 0.977916032441)),
    ([8, 9, 10, 11, 12], [1, 2, 3, 4, 5, 6, 7], 0.95, (0.682789748174, 1.0)),
    ([0.5, 0.6, 0.7, 0.9, 0.3], [0.1, 0.4, 0.35, 0.55, 0.2, 0.15], 0.9, (0.569782082421, 0.966168328675)),
]


@pytest.mark.parametrize(("positives", "negatives", "level", "expected"), AUROC)
def test_newcombe_equals_aurocs(positives, negatives, level, expected):
    y, s = [1] * len(positives) + [0] * len(negatives), np.concatenate([positives, negatives])
    tally = ScoreTally.from_scores(y, s)
    auc = np.mean(np.subtract.outer(positives, negatives) > 0)
    assert compute_newcombe_limits(auc, tally, level) == pytest.approx(expected, abs=1e-9)


def test_newcombe_mirrors_a_mirrored_ranking():
    tally = ScoreTally.from_scores([0, 0, 1, 1, 1], [1, 2, 3, 4, 5])
    low, high = compute_newcombe_limits(1.0, tally, 0.95)
    assert compute_newcombe_limits(0.0, tally, 0.95) == pytest.approx((1 - high, 1 - low))
