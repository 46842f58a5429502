"""Effect sizes against R (effectsize 0.8.3), formulae by hand and brute force over all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance import effect

A = [0.80, 0.85, 0.78, 0.90, 0.88, 0.76, 0.83, 0.91, 0.79, 0.86]
B = [0.77, 0.86, 0.74, 0.85, 0.87, 0.70, 0.84, 0.88, 0.75, 0.80]
ALL = [
    effect.cohens_d,
    effect.cohens_d_av,
    effect.hedges_g,
    effect.cliffs_delta,
    effect.vargha_delaney_a12,
    effect.akinshin_gamma,
    effect.rank_biserial,
]


def test_d_and_g_equal_r():
    # effectsize::cohens_d(a, b); effectsize::hedges_g(a, b)
    d, g = effect.cohens_d(A, B, paired=False), effect.hedges_g(A, B, paired=False)
    assert (d.estimate, d.low, d.high) == pytest.approx((0.5184070338, -0.3809930437, 1.404011137), abs=1e-5)
    assert g.estimate == pytest.approx(0.4964506437, abs=1e-9)
    # R multiplies the limits by Hedges' factor too, which leaves them short: they are limits of the true effect, as d's are
    assert (g.low, g.high) == (d.low, d.high)


def test_d_is_the_tutorials():
    expected = (np.mean(A) - np.mean(B)) / np.sqrt((np.var(A, ddof=1) + np.var(B, ddof=1)) / 2)
    for paired in (True, False):
        assert effect.cohens_d(A, B, paired=paired).estimate == pytest.approx(expected)
    assert effect.cohens_d(A, B).note == "medium (Cohen 1988)"


def test_d_av_by_hand():
    expected = (np.mean(A) - np.mean(B)) / ((np.std(A, ddof=1) + np.std(B, ddof=1)) / 2)
    assert effect.cohens_d_av(A, B).estimate == pytest.approx(expected)


def test_limits_of_noncentrality():
    for t, df in [(2.0, 10), (-3.3, 4), (0.0, 30), (60.0, 9), (200.0, 99)]:
        low, high = effect.compute_noncentral_t_limits(t, df, 0.9)
        assert stats.nct.sf(t, df, low) == pytest.approx(0.05, abs=1e-6)
        assert stats.nct.cdf(t, df, high) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("paired", [True, False])
def test_interval_of_d_covers(paired):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        shared = rng.normal(0, 1, 15) if paired else 0
        a, b = 0.7 * np.sqrt(2) + shared + rng.normal(size=15), shared + rng.normal(size=15)
        found = effect.cohens_d(a, b, paired=paired)
        truth = 0.7 * np.sqrt(2) / (np.sqrt(2) if paired else 1)
        covered += found.low < truth < found.high
    assert 0.92 < covered / 400 < 0.98


def brute_delta(a, b):
    """Cliff's delta and limits, from the whole dominance matrix (Cliff 1996, consistent variance)."""
    n, m, z = len(a), len(b), stats.norm.ppf(0.975)
    d = np.sign(np.subtract.outer(a, b))
    delta = d.mean()
    of_rows = ((d.mean(axis=1) - delta) ** 2).sum() / (n - 1)
    of_columns = ((d.mean(axis=0) - delta) ** 2).sum() / (m - 1)
    of_cells = ((d - delta) ** 2).sum() / ((n - 1) * (m - 1))
    s2 = ((m - 1) * of_rows + (n - 1) * of_columns + of_cells) / (n * m)
    reach = z * np.sqrt(s2) * np.sqrt((1 - delta**2) ** 2 + z**2 * s2)
    return delta, *((delta - delta**3 + side * reach) / (1 - delta**2 + z**2 * s2) for side in (-1, 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=15), st.lists(st.integers(0, 9), min_size=2, max_size=15))
def test_delta_equals_brute_force(a, b):
    found, a12 = effect.cliffs_delta(a, b), effect.vargha_delaney_a12(a, b)
    assert a12.estimate == pytest.approx((found.estimate + 1) / 2)
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    if abs(found.estimate) < 1:
        delta, low, high = brute_delta(a, b)
        assert (found.estimate, found.low, found.high) == pytest.approx((delta, max(low, -1), min(high, 1)), abs=1e-12)


def test_delta_at_its_end():
    # Feng & Cliff 2004: (n - z^2) / (n + z^2)
    found = effect.cliffs_delta([5, 6, 7, 8, 9], [1, 2, 3, 4])
    z2 = stats.norm.ppf(0.975) ** 2
    assert (found.estimate, found.low, found.high) == pytest.approx((1, (4 - z2) / (4 + z2), 1))
    assert effect.cliffs_delta([1, 2, 3, 4], [5, 6, 7, 8, 9]).high == pytest.approx(-(4 - z2) / (4 + z2))


@pytest.mark.parametrize("paired", [True, False])
def test_interval_of_delta_covers(paired):
    rng = np.random.default_rng(1)
    truth = 2 * stats.norm.cdf(0.5) - 1  # shifted by sqrt(2) / 2 with unit variances
    covered = 0
    for _ in range(400):
        shared = rng.normal(0, np.sqrt(0.5), 25) if paired else np.zeros(25)
        spread = np.sqrt(0.5) if paired else 1
        a = np.sqrt(2) / 2 + shared + rng.normal(0, spread, 25)
        found = effect.cliffs_delta(a, shared + rng.normal(0, spread, 25), paired=paired)
        covered += found.low < truth < found.high
    assert 0.91 < covered / 400 < 0.985


def test_gamma_by_hand():
    # medians 3 and 4; deviations 1 and 2, scaled and pooled
    found = effect.akinshin_gamma([1, 2, 3, 4, 5], [2, 3, 4, 6, 9])
    assert found.estimate == pytest.approx(-1 / (1.4826022 * np.sqrt((1 + 4) / 2)))
    rng = np.random.default_rng(2)
    a, b = rng.normal(1, 1, 20_000), rng.normal(0, 1, 20_000)
    assert effect.akinshin_gamma(a, b, paired=False, resamples=10).estimate == pytest.approx(1, abs=0.05)


def test_rank_biserial_equals_r():
    # effectsize::rank_biserial(a, b, paired = TRUE)
    found = effect.rank_biserial(A, B)
    assert found.estimate == pytest.approx(0.8545454545)
    assert found.low < found.estimate <= found.high <= 1
    zeros = effect.rank_biserial([*A, 0.5, 0.6], [*B, 0.5, 0.6])
    assert zeros.estimate == pytest.approx(found.estimate)


def test_interval_of_rank_biserial_covers():
    rng = np.random.default_rng(3)
    # for N(0.5, 1) differences the population value is 2 P(X1 + X2 > 0) - 1
    truth = 2 * stats.norm.cdf(0.5 * np.sqrt(2)) - 1
    hits = 0
    for _ in range(60):
        found = effect.rank_biserial(rng.normal(0.5, 1, 30), np.zeros(30))
        hits += found.low < truth < found.high
    assert hits >= 50


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_swapping_the_columns_turns_the_sign(function):
    one, other = function(A, B), function(B, A)
    middle = 0.5 if function is effect.vargha_delaney_a12 else 0
    assert one.estimate > middle
    assert one.estimate - middle == pytest.approx(middle - other.estimate)
    assert one.low <= one.estimate <= one.high
    assert one.name == function.__name__
    wider = function(A, B, level=0.99)
    assert wider.low <= one.low
    assert wider.high >= one.high


@pytest.mark.parametrize(
    ("function", "a", "b"),
    [
        (effect.cohens_d, [1, 1, 1], [2, 2, 2]),
        (effect.hedges_g, [1, 1, 1], [1, 1, 1]),
        (effect.hedges_g, [1, 2], [2, 4]),
        (effect.cohens_d_av, [0.1, 0.1, 0.1], [0.3, 0.3, 0.3]),
        (effect.akinshin_gamma, [1, 1, 1, 5], [2, 2, 2, 9]),
        (effect.rank_biserial, [0.3, 0.2], [0.3, 0.2]),
    ],
)
def test_undefined(function, a, b):
    with pytest.warns(UndefinedMeasureWarning):
        found = function(a, b)
    assert np.isnan([found.estimate, found.low, found.high]).all()
    assert "undefined" in found.note


def test_equal_differences_have_an_estimate_but_no_interval():
    found = effect.cohens_d([1, 2, 3], [0, 1, 2])
    assert found.estimate == pytest.approx(1)
    assert np.isnan(found.low)
    assert "no interval" in found.note


def test_sizes():
    assert effect._describe_size(0.2, *effect._COHEN).startswith("small")
    assert effect._describe_size(-0.5, *effect._COHEN).startswith("medium")
    assert effect._describe_size(0.19, *effect._COHEN).startswith("negligible")
    assert effect._describe_size(0.71 - 0.5, *effect._VARGHA).startswith("large")


def test_bad_input():
    with pytest.raises(InputError, match="second"):
        effect.cohens_d([1, 2, 3], [1, 2])
    assert np.isfinite(effect.cohens_d([1, 2, 3], [1, 2], paired=False).low)
    with pytest.raises(InputError, match="first"):
        effect.cliffs_delta([1], [1, 2])
    with pytest.raises(InputError, match="level"):
        effect.cliffs_delta(A, B, level=1)


def test_limits_exist_for_large_effects():
    found = effect.cohens_d([0.9, 0.8], [0.5, 0.41], level=0.99)
    assert found.low < found.estimate < found.high
    # Where t is very large it is nearly its noncentrality over the root of a scaled chi-squared, which gives the limits
    t, df = 1.6e5, 3
    low, high = effect.compute_noncentral_t_limits(t, df, 0.95)
    expected = [t * np.sqrt(stats.chi2.ppf(share, df) / df) for share in (0.025, 0.975)]
    assert (low, high) == pytest.approx(expected, rel=1e-3)
