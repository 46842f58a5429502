"""Decisions at a margin over data sets against a textbook, closed forms, enumeration, scipy and statsmodels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance import margin_test

# Hollander & Wolfe (1973), depression scale at the first and second visit; help page of R's wilcox.test.
FIRST_VISIT = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND_VISIT = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]


def p_values(decision):
    return {test.name: test.p_value for test in decision.tests}


def enumerate_p(d, null):
    """One-sided exact p-value of d > null over all signs, without ties."""
    shifted = np.asarray(d) - null
    ranks = stats.rankdata(np.abs(shifted))
    observed = ranks[shifted > 0].sum()
    sums = [ranks[np.array(signs)].sum() for signs in itertools.product([False, True], repeat=len(d))]
    return np.mean(np.array(sums) >= observed - 1e-9)


def test_textbook_estimate_limits_and_p():
    decision = margin_test(FIRST_VISIT, SECOND_VISIT, 0.5)
    # Hollander & Wolfe, examples 3.3 and 3.4: estimate 0.46, limits 0.010 and 0.786; R: p = 0.01953, one-sided
    assert (decision.difference, decision.low, decision.high) == pytest.approx((0.46, 0.010, 0.786), abs=1e-9)
    assert decision.tests[0].p_value == pytest.approx(10 / 512)
    assert (decision.decision, decision.passed, decision.test, decision.n) == ("superior", True, "wilcoxon", 9)


@pytest.mark.parametrize("n", [6, 8, 11])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_signed_rank_decisions_equal_enumeration(n, alpha):
    d = np.random.default_rng(n).normal(0.3, 1, n)
    decision = margin_test(d, np.zeros(n), 0.7, alpha=alpha)
    found = p_values(decision)
    assert found["superiority"] == pytest.approx(enumerate_p(d, 0))
    assert found["non-inferiority"] == pytest.approx(enumerate_p(d, -0.7))
    assert found["inferiority"] == pytest.approx(enumerate_p(-d, 0.7))
    assert found["equivalence"] == pytest.approx(max(enumerate_p(d, -0.7), enumerate_p(-d, -0.7)))
    # The test of a value just outside the limits rejects, just inside it does not.
    assert enumerate_p(d, decision.low - 1e-6) <= alpha / 2 < enumerate_p(d, decision.low + 1e-6)
    assert enumerate_p(-d, -decision.high - 1e-6) <= alpha / 2 < enumerate_p(-d, -decision.high + 1e-6)
    walsh = [(x + y) / 2 for x, y in itertools.combinations_with_replacement(d, 2)]
    assert decision.difference == pytest.approx(np.median(walsh))


@pytest.mark.parametrize("n", [40, 300, 700])
def test_signed_rank_p_values_equal_scipy(n):
    d = np.random.default_rng(n).normal(0.02, 1, n)
    found = p_values(margin_test(d, np.zeros(n), 0.1))
    method = {"method": "exact"} if n <= 500 else {"method": "asymptotic", "correction": True}
    for name, null, alternative in (("superiority", 0, "greater"), ("non-inferiority", -0.1, "greater")):
        assert found[name] == pytest.approx(stats.wilcoxon(d - null, alternative=alternative, **method).pvalue, rel=1e-9)
    assert found["inferiority"] == pytest.approx(stats.wilcoxon(d + 0.1, alternative="less", **method).pvalue, rel=1e-9)


def test_t_decision_in_closed_form():
    # With 2 degrees of freedom, P(T > t) = 1/2 - t / (2 sqrt(2 + t^2)); t is 2 sqrt(3) at 0 and 3 sqrt(3) at -0.01.
    decision = margin_test([0.51, 0.62, 0.73], [0.5, 0.6, 0.7], 0.01, method="t")
    found = p_values(decision)
    assert found["superiority"] == pytest.approx(0.5 - math.sqrt(12 / 14) / 2)
    assert found["non-inferiority"] == pytest.approx(0.5 - math.sqrt(27 / 29) / 2)
    assert (decision.decision, decision.passed) == ("non-inferior", True)
    half = 4.302653 * 0.01 / math.sqrt(3)
    assert (decision.low, decision.high) == pytest.approx((0.02 - half, 0.02 + half), abs=1e-8)


@pytest.mark.parametrize("margin", [0.2, 0.5, 1.5])
def test_t_decisions_equal_statsmodels(margin):
    weights = pytest.importorskip("statsmodels.stats.weightstats", reason="statsmodels is in the extra bench")
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.1, 1, 25), rng.normal(size=25)
    decision = margin_test(a, b, margin, method="t")
    p, (_, p_lower, _), (_, p_upper, _) = weights.ttost_paired(a, b, -margin, margin)
    found = p_values(decision)
    assert found["equivalence"] == pytest.approx(p)
    assert found["non-inferiority"] == pytest.approx(p_lower)
    assert max(p_lower, p_upper) == pytest.approx(found["equivalence"])
    difference = weights.DescrStatsW(a - b)
    assert (decision.low, decision.high) == pytest.approx(difference.tconfint_mean(0.05))
    assert found["superiority"] == pytest.approx(difference.ttest_mean(0, "larger")[1])
    assert found["inferiority"] == pytest.approx(difference.ttest_mean(-margin, "smaller")[1])


@pytest.mark.parametrize("method", ["wilcoxon", "t"])
@given(seed=st.integers(0, 10_000), n=st.integers(2, 15), equivalent=st.booleans())
@settings(max_examples=40, deadline=None)
def test_p_values_limits_and_decision_agree(method, seed, n, equivalent):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 12, n) / 10, rng.integers(0, 12, n) / 10  # many ties and zeros
    if method == "t" and np.ptp(np.round(a - b, 9)) == 0:
        return
    decision = margin_test(a, b, 0.3, method=method, equivalent=equivalent)
    bounds = {
        "superiority": decision.low > 0,
        "non-inferiority": decision.low > -0.3,
        "equivalence": decision.low > -0.3 and decision.high < 0.3,
        "inferiority": decision.high < -0.3,
    }
    for test in decision.tests:
        assert test.passed == bounds[test.name] == (test.p_value <= 0.025 + 1e-12)
    mirrored = margin_test(b, a, 0.3, method=method, equivalent=equivalent, better="min")
    assert (mirrored.decision, mirrored.low, mirrored.high) == (decision.decision, -decision.high, -decision.low)
    assert [test.p_value for test in mirrored.tests] == pytest.approx([test.p_value for test in decision.tests])
    if decision.needed is not None:
        assert decision.needed > n
        assert not decision.passed


def test_ties_and_zeros_make_the_limits_conservative():
    d = np.array([0.0, 0.0, 0.1, 0.1, 0.1, 0.2, 0.2, 0.3, -0.1])
    decision = margin_test(d, np.zeros(9), 0.05)
    # R ranks the differences other than zero; here zeros count against the learner.
    assert decision.tests[0].p_value >= stats.wilcoxon(d[d != 0], alternative="greater").pvalue
    same = margin_test([0.7] * 8, [0.7] * 8, 0.01, equivalent=True)
    assert (same.decision, same.low, same.high, same.tests[1].p_value) == ("equivalent", 0, 0, 2.0**-8)


@pytest.mark.parametrize(("n", "alpha", "smallest"), [(5, 0.05, 6), (6, 0.05 / 3, 7), (8, 0.05 / 10, 9), (3, 0.125, 4)])
def test_too_few_data_sets_for_finite_limits(n, alpha, smallest):
    few = margin_test(1 + np.arange(n) / 100, np.zeros(n), 0.5, alpha=alpha)
    assert (few.decision, few.low, few.high, few.passed) == ("inconclusive", -math.inf, math.inf, False)
    assert few.needed == smallest
    assert few.tests[0].p_value == 2.0**-n
    enough = margin_test(1 + np.arange(smallest) / 100, np.zeros(smallest), 0.5, alpha=alpha)
    assert enough.decision == "superior"


def test_needed_data_sets_shrink_the_limits_to_the_margin():
    d = np.array([-0.02, 0.03, -0.05, 0.04, 0.01, -0.03, 0.02, -0.01, 0.05, -0.04])  # mean 0
    decision = margin_test(d, np.zeros(10), 0.005, method="t")
    half = decision.high
    assert decision.needed == math.ceil(10 * (half / 0.005) ** 2)
    assert half * math.sqrt(10 / decision.needed) <= 0.005 < half * math.sqrt(10 / (decision.needed - 1))


def test_differences_that_do_not_vary_have_no_t_limits():
    with pytest.warns(UndefinedMeasureWarning, match="paired_t"):
        decision = margin_test([0.6, 0.7, 0.8], [0.5, 0.6, 0.7], 0.01, method="t")
    assert (decision.decision, decision.passed, decision.needed) == ("inconclusive", False, None)
    assert math.isnan(decision.low)
    assert [caveat.kind for caveat in decision.caveats] == ["constant_differences"]


def test_asymmetric_differences_are_reported():
    skewed = margin_test([0.0, 0.01, 0.02, 0.03, 0.01, 0.02, 0.9, 0.015], np.zeros(8), 0.1)
    assert [caveat.kind for caveat in skewed.caveats] == ["asymmetric_margin"]
    assert "symmetric differences" in skewed.summary
    assert margin_test(FIRST_VISIT, SECOND_VISIT, 0.1).caveats == ()


def test_frame_and_text():
    decision = margin_test(FIRST_VISIT, SECOND_VISIT, 0.5)
    row = decision.frame().iloc[0]
    assert (row["decision"], row["p_superiority"], row["n"]) == ("superior", 10 / 512, 9)
    assert str(decision).startswith("superior at the margin 0.5: difference +0.46, 95 % CI 0.01 to 0.786")
    assert "superior" in decision._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1, 2], 0), {}, r"margin must be greater than 0, got 0: pass"),
        (([1, 2], [1, 2], -0.1), {}, r"margin must be greater than 0, got -0\.1"),
        (([1, 2], [1, 2], math.nan), {}, "margin"),
        (([1, 2], [1, 2, 3], 0.1), {}, "same length|rows"),
        (([1, 2], [1, 2], 0.1), {"method": "z"}, "method must be one of"),
        (([1, 2], [1, 2], 0.1), {"better": "up"}, "better must be one of"),
        (([1, 2], [1, 2], 0.1), {"alpha": 2}, "alpha"),
        ((range(5001), range(5001), 0.1), {}, r"method must be 't' for more than 5,000 differences"),
    ],
)
def test_bad_input_is_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        margin_test(*arguments, **options)
