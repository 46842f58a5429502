"""Omnibus tests against the papers, R, enumeration and formulas written differently."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2, f as f_distribution, norm, page_trend_test, rankdata, spearmanr, t as student

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance.omnibus import (
    aligned_ranks,
    anova,
    compute_jackknife_limits,
    compute_noncentral_f_limits,
    friedman,
    iman_davenport,
    page_trend,
    quade,
)

RANK_TESTS = [friedman, iman_davenport, aligned_ranks, quade]
TESTS = [*RANK_TESTS, anova]
tables = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 40))
)


def spread(values):
    return bool(np.ptp(values, axis=1).any())


@pytest.fixture(scope="module")
def read(find_published):
    return lambda name: pd.read_csv(find_published(name), index_col=0)


@pytest.fixture(scope="module")
def demsar(read):
    return read("demsar_2006_table6_auc")


@pytest.fixture(scope="module")
def garcia(read):
    return read("garcia_herrera_2008_accuracy")


def test_demsars_figures(demsar):
    # Demsar 2006; REFERENCE section 6
    found = friedman(demsar, ties="uncorrected")
    assert (found.statistic, found.p_value, found.df) == (pytest.approx(9.28, abs=5e-3), pytest.approx(0.0258, abs=5e-5), 3)
    found_f = iman_davenport(demsar, ties="uncorrected")
    assert found_f.statistic == pytest.approx(3.69, abs=5e-3)
    assert found_f.p_value == pytest.approx(0.0198, abs=5e-5)
    assert found_f.df == (3, 39)
    assert friedman(demsar).statistic == pytest.approx(10.2283, abs=5e-5)
    assert list(found.details.values()) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_garcia_and_herreras_figures(garcia):
    assert friedman(garcia, ties="uncorrected").statistic == pytest.approx(39.6467, abs=5e-5)
    assert iman_davenport(garcia, ties="uncorrected").statistic == pytest.approx(14.3087, abs=5e-5)
    assert friedman(garcia).statistic == pytest.approx(39.9128, abs=5e-5)


def test_tutorials_friedman_without_its_slip(read):
    # ERRATA: no tie, chi-squared 15.0, p .000553
    found = friedman(read("tutorial_friedman_domains"), distribution="asymptotic")
    assert (found.statistic, found.p_value) == (pytest.approx(15.0), pytest.approx(0.000553, abs=5e-7))


# R: friedman.test(x); quade.test(x); anova(lm(x ~ 1), X = ~1, test = "Spherical")
R = {
    "demsar_2006_table6_auc": (
        (10.2283464567, 0.0167215803284),
        (4.52323451598, 0.00814370035597),
        (4.44547, 0.00883348909, 0.7628, 0.01678711137),
    ),
    "garcia_herrera_2008_accuracy": (
        (39.9127516779, 4.51203305902e-08),
        (10.9434041055, 1.45515753069e-07),
        (12.04475, 3.205558513e-08, 0.5099, 3.652785424e-05),
    ),
    "garcia_2010_accuracy": (
        (16.3613445378, 0.000956051172221),
        (11.7671019284, 2.57983784315e-06),
        (5.82715, 0.001311404451, 0.7648, 0.003618543925),
    ),
    "tutorial_friedman_domains": (
        (15, 0.000553084370148),
        (13, 0.000320906458386),
        (142.41804, 9.259423888e-12, 0.7570, 2.290741771e-09),
    ),
}


@pytest.mark.parametrize("name", R)
def test_r(read, name):
    table = read(name)
    for test, (statistic, p) in zip((friedman, quade), R[name], strict=False):
        found = test(table, distribution="asymptotic")
        assert (found.statistic, found.p_value) == (pytest.approx(statistic, rel=1e-10), pytest.approx(p, rel=1e-9))
    f, p, epsilon, corrected = R[name][2]
    found = anova(table)
    assert found.statistic == pytest.approx(f, rel=1e-6)
    assert found.p_value == pytest.approx(p, rel=1e-8)
    assert found.details["epsilon"] == pytest.approx(epsilon, abs=5e-5)
    assert found.details["p_corrected"] == pytest.approx(corrected, rel=1e-8)


def as_printed(x):
    """Garcia et al. 2010, the statistic of aligned ranks with rank totals, term by term."""
    n, k = x.shape
    ranks = rankdata(np.round(k * x - x.sum(axis=1, keepdims=True), 9)).reshape(n, k)
    top = (k - 1) * ((ranks.sum(axis=0) ** 2).sum() - k * n**2 / 4 * (k * n + 1) ** 2)
    return top / (k * n * (k * n + 1) * (2 * k * n + 1) / 6 - (ranks.sum(axis=1) ** 2).sum() / k)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@given(tables)
@settings(max_examples=60, deadline=None)
def test_aligned_ranks_term_by_term(x):
    if spread(x):
        found = aligned_ranks(x, better="min", ties="uncorrected", distribution="asymptotic")
        assert found.statistic == pytest.approx(as_printed(x.astype(float)), abs=1e-9)
        assert found.p_value == pytest.approx(chi2.sf(found.statistic, x.shape[1] - 1))


def test_aligned_ranks_of_garcia_2010(read):
    table = read("garcia_2010_accuracy")
    assert aligned_ranks(table, ties="uncorrected").statistic == pytest.approx(as_printed(-table.to_numpy()), rel=1e-10)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_variance_is_that_over_all_exchanges():
    """Over all (k!)^N exchanges within data sets each chi-squared statistic has mean k - 1 exactly."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 9, (3, 3)).astype(float)
    orders = [list(order) for order in permutations(range(3))]
    for test in (friedman, aligned_ranks):
        found = [test(np.array([x[i, o] for i, o in enumerate(each)])).statistic for each in product(orders, repeat=3)]
        assert np.mean(found) == pytest.approx(2)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@given(tables)
@settings(max_examples=60, deadline=None)
def test_analysis_of_variance_of_ranks_is_iman_davenport(x):
    ranks = rankdata(-x, axis=1)
    if spread(x) and np.ptp(ranks, axis=0).any():
        assert iman_davenport(x).statistic == pytest.approx(anova(ranks).statistic, abs=1e-9)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@given(tables, st.randoms())
@settings(max_examples=25, deadline=None)
def test_order_of_learners_and_of_data_sets_does_not_matter(x, random):
    if not spread(x):
        return
    rows, columns = random.sample(range(len(x)), len(x)), random.sample(range(x.shape[1]), x.shape[1])
    for test in RANK_TESTS:
        if np.isinf(test(x).statistic) or np.isnan(test(x).effect.low):
            continue
        for other in (x[rows], x[:, columns], 3 * x + 7):
            assert test(other).statistic == pytest.approx(test(x).statistic, abs=1e-9)
        assert test(x, better="min").p_value == pytest.approx(test(x).p_value, abs=1e-9)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@given(tables)
@settings(max_examples=60, deadline=None)
def test_values_lie_where_they_must(x):
    for test in TESTS:
        found = test(x)
        assert 0 <= found.p_value <= 1 or (test is anova and np.isinf(found.statistic))
        effect = found.effect
        if np.isfinite(effect.low):
            assert 0 <= effect.low <= effect.estimate <= effect.high <= 1


def test_two_learners():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 2))
    t = (x[:, 0] - x[:, 1]).mean() / (x[:, 0] - x[:, 1]).std(ddof=1) * np.sqrt(12)
    found = anova(x)
    assert found.statistic == pytest.approx(t**2)
    assert found.details["epsilon"] == pytest.approx(1)
    wins = (x[:, 0] > x[:, 1]).sum()
    assert friedman(x).statistic == pytest.approx((2 * wins - 12) ** 2 / 12)


def test_full_agreement_has_the_exact_p_value():
    x = np.array([[3.0, 2.0, 1.0], [9.0, 5.0, 4.0], [7.0, 6.0, 1.0]])
    with pytest.warns(UndefinedMeasureWarning, match="Kendall's W"):
        found = iman_davenport(x)
    assert np.isinf(found.statistic)
    # All 6 x 6 x 6 triples of orders, 6 of which agree
    assert found.p_value == pytest.approx(1 / 36)
    assert found.effect.estimate == 1
    assert np.isnan(found.effect.low)
    with pytest.warns(UndefinedMeasureWarning, match="Kendall's W"):
        tied = iman_davenport(np.array([[2.0, 1.0, 1.0], [5.0, 3.0, 3.0]]))
    assert tied.p_value == pytest.approx(1 / 3)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("x", [np.full((4, 3), 0.7), np.repeat([[0.1], [0.7], [0.3]], 3, axis=1)])
def test_all_values_equal(test, x):
    with pytest.warns(UndefinedMeasureWarning, match=test.__name__):
        found = test(x)
    assert np.isnan(found.statistic)
    assert found.p_value == 1
    assert np.isnan(found.effect.estimate)
    assert "all_scores_equal" in [caveat.kind for caveat in found.caveats]


def test_the_same_differences_everywhere_leave_no_error():
    base = np.array([[0.1], [0.2], [0.7], [0.4]])
    with pytest.warns(UndefinedMeasureWarning, match="anova"):
        found = anova(base + np.array([0.1, 0.2, 0.3]))
    assert np.isinf(found.statistic)
    assert np.isnan(found.p_value)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_float_noise_makes_no_aligned_rank():
    # 0.3 - 0.2 and 0.4 - 0.3 are the same difference
    x = np.array([[0.3, 0.2], [0.4, 0.3], [0.15, 0.05]])
    assert aligned_ranks(x).statistic == pytest.approx(aligned_ranks(np.round(1000 * x)).statistic)
    assert quade(x).details == pytest.approx(quade(np.round(1000 * x)).details)


def test_limits_of_the_noncentrality():
    # R: uniroot of pf(5, 3, 20, x) and pf(2871, 4, 116, x) at .975 and .025
    assert compute_noncentral_f_limits(5, 3, 20, 0.95) == pytest.approx([0.97383032678, 35.23916098573], rel=1e-6)
    assert compute_noncentral_f_limits(2871, 4, 116, 0.95) == pytest.approx([8690.53968836924, 14651.88746730069], rel=1e-6)
    assert compute_noncentral_f_limits(0.01, 3, 20, 0.95) == (0, 0)


def test_eta_squared_covers():
    """95 % intervals of partial eta squared hold the true one in 95 % of 600 simulated tables."""
    rng = np.random.default_rng(5)
    n, effects = 12, np.array([0.0, 0.3, 0.6, 0.9])
    # lambda = N sum of squared effects / variance; the share is lambda / (lambda + N (k - 1))
    ratio = ((effects - effects.mean()) ** 2).sum()
    true = ratio / (ratio + 3)
    found = [anova(rng.normal(size=(n, 4)) + effects + rng.normal(size=(n, 1))).effect for _ in range(600)]
    assert np.mean([each.low <= true <= each.high for each in found]) == pytest.approx(0.95, abs=0.027)


@pytest.mark.parametrize(("n", "effects"), [(12, [0, 0, 0, 0]), (15, [0, 1, 2]), (30, [-2.5, -1.25, 0, 1.25, 2.5])])
def test_kendalls_w_covers(n, effects):
    """95 % intervals hold the W of the population, whose expected ranks are sums of normal probabilities."""
    rng = np.random.default_rng(6)
    effects, k = np.array(effects), len(effects)
    ranks = norm.cdf((effects[:, None] - effects) / np.sqrt(2)).sum(axis=0) + 0.5
    true = 12 * ((ranks - (k + 1) / 2) ** 2).sum() / (k * (k * k - 1))
    found = [friedman(rng.normal(size=(n, k)) + effects).effect for _ in range(600)]
    covered = np.mean([each.low <= true + 1e-12 and true <= each.high for each in found])
    # If nothing differs, the interval misses zero as often as the test is wrong.
    assert covered == pytest.approx(0.95, abs=0.027)


@pytest.mark.parametrize(("n", "k"), [(6, 3), (9, 5), (14, 4), (40, 3)])
@pytest.mark.parametrize("test", [friedman, iman_davenport, anova])
def test_the_interval_of_the_effect_agrees_with_the_test(n, k, test):
    """The interval excludes zero if and only if p is below 0.05, for exact and asymptotic p-values."""
    rng = np.random.default_rng(n * k)
    outcomes = [test(rng.normal(size=(n, k)) + effect * np.arange(k)) for effect in (0.0, 0.3, 0.5, 1.0) for _ in range(25)]
    outcomes = [outcome for outcome in outcomes if not np.isnan(outcome.effect.low)]
    significant = [outcome.p_value < 0.05 for outcome in outcomes]
    assert 10 < sum(significant) < len(outcomes) - 10
    assert [outcome.effect.low > 0 for outcome in outcomes] == significant
    assert all(outcome.effect.low <= outcome.effect.estimate <= outcome.effect.high for outcome in outcomes)


@pytest.mark.parametrize("test", [aligned_ranks, quade])
def test_tests_of_other_ranks_never_contradict_the_interval(test):
    rng = np.random.default_rng(3)
    outcomes = [test(rng.normal(size=(9, 4)) + 0.4 * np.arange(4)) for _ in range(100)]
    shown = [outcome for outcome in outcomes if not np.isnan(outcome.effect.low)]
    assert len(shown) > 70
    assert all((outcome.effect.low > 0) == (outcome.p_value < 0.05) for outcome in shown)


def test_a_regular_table_has_an_interval():
    # Two orders, five times each: leaving one out changes nothing, so the jackknife alone would have no width
    x = np.array([[3.0, 1.0, 2.0], [2.0, 1.0, 3.0]] * 5)
    low, high = compute_jackknife_limits(rankdata(x, axis=1) - 2, 0.95)
    assert low == pytest.approx(high)
    assert friedman(x).effect.high - friedman(x).effect.low > 0.3


def test_jackknife_leaves_each_data_set_out():
    x = np.random.default_rng(1).normal(size=(9, 4)) + np.arange(4)
    correlation = lambda t: (len(t) * friedman(t).effect.estimate - 1) / (len(t) - 1)  # noqa: E731
    parts = np.arctanh([correlation(np.delete(x, i, axis=0)) for i in range(9)])
    reach = student.ppf(0.975, 8) * np.sqrt(8 / 9 * ((parts - parts.mean()) ** 2).sum())
    low, high = compute_jackknife_limits(rankdata(x, axis=1) - 2.5, 0.95)
    assert low == pytest.approx(max(0, np.tanh(np.arctanh(correlation(x)) - reach)))
    assert high == pytest.approx(np.tanh(np.arctanh(correlation(x)) + reach))
    found = friedman(x).effect
    assert found.low <= low < high <= found.high
    # W without bias is the mean Spearman correlation of all pairs of data sets
    pairs = np.corrcoef(rankdata(x, axis=1))[np.triu_indices(9, 1)]
    assert correlation(x) == pytest.approx(pairs.mean())


def test_sphericity_lost_is_seen():
    rng = np.random.default_rng(8)
    common = rng.normal(size=(400, 1))
    x = np.hstack([common + 0.01 * rng.normal(size=(400, 1)), common, common + rng.normal(size=(400, 1))])
    # Differences with one dominant direction: epsilon near its least value 1 / (k - 1)
    assert anova(x).details["epsilon"] == pytest.approx(0.5, abs=0.01)


def test_p_values_come_from_the_named_distributions(demsar):
    found = quade(demsar)
    assert found.p_value == pytest.approx(f_distribution.sf(found.statistic, *found.df))


@pytest.mark.parametrize("test", RANK_TESTS)
def test_bad_arguments(test, demsar):
    with pytest.raises(InputError, match="better"):
        test(demsar, better="large")
    with pytest.raises(InputError, match="scores"):
        test(demsar.iloc[:, :1])
    with pytest.raises(InputError, match="scores"):
        anova(demsar.iloc[:1])
    if test is not quade:
        with pytest.raises(InputError, match="ties"):
            test(demsar, ties="none")


def test_agreement_is_never_less_likely_when_it_is_less():
    rows = np.tile([1.0, 2.0, 3.0, 4.0], (6, 1)) + np.arange(6)[:, None]
    swapped = rows.copy()
    swapped[0, :2] = swapped[0, 1::-1]
    with pytest.warns(UndefinedMeasureWarning):
        unanimous = iman_davenport(rows).p_value
    assert unanimous == pytest.approx(24.0**-5)
    assert iman_davenport(swapped).p_value >= unanimous


FEW = np.array([[3.0, 2, 1], [3, 2, 1], [3, 1, 2]])


def permute_rows(x):
    """All tables with the scores of each data set in any order."""
    orders = [list(order) for order in permutations(range(x.shape[1]))]
    for choice in product(orders, repeat=len(x)):
        yield np.array([row[order] for row, order in zip(x, choice, strict=True)])


def test_three_data_sets_and_three_learners_have_the_exact_p_value():
    # REFERENCE section 8: the F distribution gives 0.0494
    found = iman_davenport(FEW)
    assert found.p_value == pytest.approx(7 / 36)
    assert found.variant == "exact"
    assert friedman(FEW).p_value == pytest.approx(7 / 36)
    assert iman_davenport(FEW, distribution="asymptotic").p_value == pytest.approx(0.0494, abs=5e-5)


@pytest.mark.filterwarnings("ignore:Kendall's W")
@pytest.mark.parametrize("test", RANK_TESTS)
@pytest.mark.parametrize(
    "x",
    [
        FEW,
        np.array([[1.0, 2, 4], [3, 8, 30], [7, 7.5, 17.1]]),
        np.array([[1.0, 1, 2], [3, 1, 1], [2, 2, 5], [1, 4, 4]]),
        np.array([[0.1, 0.2, 0.2, 0.9], [0.4, 0.5, 0.1, 0.2]]),
    ],
    ids=["few", "untied", "tied", "four learners"],
)
def test_exact_p_values_by_brute_force(test, x):
    """The proportion of all orders within data sets with a statistic of at least the observed one."""
    observed = test(x, distribution="asymptotic").statistic
    at_least = [not test(table, distribution="asymptotic").statistic < observed - 1e-9 for table in permute_rows(x)]
    assert test(x).p_value == pytest.approx(np.mean(at_least))


@pytest.mark.parametrize("test", [iman_davenport, quade])
def test_monte_carlo_estimates_the_exact_p_value(test):
    x = np.random.default_rng(4).normal(size=(6, 4)) + 0.4 * np.arange(4)
    exact, drawn = test(x), test(x, distribution="monte-carlo", resamples=20_000, seed=3)
    assert exact.variant == "exact"
    assert (drawn.variant, drawn.resamples) == ("Monte Carlo, 20,000 permutations", 20_000)
    error = np.sqrt(exact.p_value * (1 - exact.p_value) / 20_000)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * error + 1e-4)
    assert test(x[::-1, ::-1], distribution="monte-carlo", resamples=20_000, seed=3).p_value == drawn.p_value
    assert test(x, distribution="monte-carlo", resamples=20_000, seed=4).p_value != drawn.p_value


def test_source_of_p_depends_on_the_size_of_the_table():
    rng = np.random.default_rng(0)
    assert iman_davenport(rng.normal(size=(12, 4))).variant == "exact"
    assert quade(rng.normal(size=(10, 10))).variant == "Monte Carlo, 50,000 permutations"
    assert quade(rng.normal(size=(13, 4))).variant == "asymptotic"
    with pytest.raises(InputError, match="'monte-carlo'"):
        iman_davenport(rng.normal(size=(10, 10)), distribution="exact")
    with pytest.raises(InputError, match="distribution"):
        iman_davenport(FEW, distribution="normal")


@pytest.mark.filterwarnings("ignore:Kendall's W")
@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 4), (5, 10)])
def test_type_1_error_with_few_data_sets(n, k):
    """At most 5 % (the F distribution rejects 19.5, 6.8 and 5.5 %); the band is 3 standard errors of 1,500 runs."""
    rng = np.random.default_rng(n)
    wrong = np.mean([iman_davenport(rng.normal(size=(n, k))).p_value <= 0.05 for _ in range(1500)])
    assert wrong <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.parametrize(("n", "k"), [(4, 3), (6, 4), (10, 5), (3, 8)])
def test_page_trend_against_scipy(n, k):
    x = np.random.default_rng(n).normal(size=(n, k)) + 0.3 * np.arange(k)
    theirs = page_trend_test(x, method="exact")
    found = page_trend(x)
    assert (found.statistic, found.p_value, found.variant) == (theirs.statistic, pytest.approx(theirs.pvalue), "exact")
    asymptotic = page_trend_test(x, method="asymptotic").pvalue
    assert page_trend(x, distribution="asymptotic").p_value == pytest.approx(asymptotic)
    assert found.effect.estimate == pytest.approx(np.mean([spearmanr(row, range(k)).statistic for row in x]))
    drawn = page_trend(x, distribution="monte-carlo").p_value
    assert drawn == pytest.approx(found.p_value, abs=4 * np.sqrt(found.p_value / 50_000) + 1e-4)


def test_page_trend_with_ties_by_brute_force():
    x = np.array([[1.0, 1, 2], [1, 3, 3], [2, 5, 4]])
    value = lambda table: (rankdata(table, axis=1) @ [1, 2, 3]).sum()  # noqa: E731
    at_least = [value(table) >= value(x) - 1e-9 for table in permute_rows(x)]
    assert page_trend(x).p_value == pytest.approx(np.mean(at_least))


def test_page_trend_of_a_given_order():
    # Page 1963 has L = 224 for eight data sets of four learners; here the order is given by names
    frame = pd.DataFrame({"few": [0.1, 0.2, 0.3], "many": [0.7, 0.8, 0.6], "some": [0.4, 0.5, 0.5]})
    assert page_trend(frame, order=["few", "some", "many"]).statistic == 3 * 14
    assert page_trend(frame, order=["few", "some", "many"]).p_value == pytest.approx(1 / 6**3)
    with pytest.raises(InputError, match="order"):
        page_trend(frame, order=["few", "many"])
    with pytest.warns(UndefinedMeasureWarning, match="page_trend"):
        assert page_trend(np.ones((3, 3))).p_value == 1
