"""Wilcoxon's test against R, Demsar's and the tutorial's figures, and all sign patterns listed one by one."""

from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

from fairtrial.errors import InputError
from fairtrial.significance.effect import rank_biserial
from fairtrial.significance.wilcoxon import wilcoxon

C45_FOLDS, NB_FOLDS = [3, 0, 2, 0, 2, 2, 2, 1, 1, 1], [1, 0, 0, 0, 0, 1, 0, 2, 0, 0]


def mean_ranks(values):
    """Mean ranks, by comparing all with all."""
    return [sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values]


def by_listing(d, zeros):
    """R+, R- and the proportion of sign patterns that are at least as uneven."""
    if zeros == "drop":
        d = [each for each in d if each]
    elif zeros == "split" and d.count(0) % 2:
        d = list(d)
        d.remove(0)
    ranks = mean_ranks([abs(each) for each in d])
    spare = sum(rank for each, rank in zip(d, ranks, strict=True) if each == 0) / 2 if zeros == "split" else 0
    signed = [(each, rank) for each, rank in zip(d, ranks, strict=True) if each]
    plus = sum(rank for each, rank in signed if each > 0)
    minus = sum(rank for each, rank in signed if each < 0)
    far = [
        abs(sum(sign * rank for sign, (_, rank) in zip(signs, signed, strict=True))) >= abs(plus - minus)
        for signs in product((-1, 1), repeat=len(signed))
    ]
    return plus + spare, minus + spare, sum(far) / len(far)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10), st.sampled_from(["drop", "pratt", "split"]))
def test_exact_with_ties_and_zeros_by_listing(d, zeros):
    plus, minus, p = by_listing(d, zeros)
    found = wilcoxon(d, [0] * len(d), zeros=zeros)
    assert (found.details["R+"], found.details["R-"]) == (plus, minus)
    assert found.p_value == pytest.approx(p, abs=1e-12)


def test_demsars_example(find_published):
    table = pd.read_csv(find_published("demsar_2006_table6_auc"), index_col=0)
    m, plain = table["C4.5+m"], table["C4.5"]
    split = wilcoxon(m, plain, zeros="split", method="approximate", correction=False)
    # Demsar 2006: R+ 93, R- 12, z -2.54
    assert (split.details["R+"], split.details["R-"]) == (93, 12)
    assert split.details["z"] == pytest.approx(-2.5424, abs=5e-5)
    assert split.p_value == pytest.approx(2 * stats.norm.sf(2.5424), rel=1e-3)
    # R: wilcox.test(paired = TRUE, exact = FALSE), and with correct = FALSE
    dropped = wilcoxon(m, plain, method="approximate")
    assert (dropped.statistic, dropped.p_value) == pytest.approx((71.5, 0.01203035847))
    assert wilcoxon(m, plain, method="approximate", correction=False).p_value == pytest.approx(0.01075713312)
    assert wilcoxon(plain, m, zeros="split").details["R+"] == 12
    assert split.zeros["zeros"] == 2


def test_tutorials_folds():
    found = wilcoxon(NB_FOLDS, C45_FOLDS, method="approximate")
    # ERRATA: R's V = 2.5, p = 0.03125 is the normal approximation with continuity correction
    assert (found.statistic, found.p_value) == pytest.approx((2.5, 0.03125001712))
    exact = wilcoxon(NB_FOLDS, C45_FOLDS)
    d = [a - b for a, b in zip(NB_FOLDS, C45_FOLDS, strict=True)]
    assert exact.variant == "exact"
    assert exact.p_value == pytest.approx(by_listing(d, "drop")[2])
    assert exact.p_value != pytest.approx(0.03125, rel=0.01)


def test_tutorials_domains(find_published):
    table = pd.read_csv(find_published("tutorial_ten_domains_accuracy"), index_col=0)
    found = wilcoxon(table["NB"], table["SVM"])
    # the tutorial's sums; R: wilcox.test(exact = TRUE)
    assert (found.details["R+"], found.details["R-"], found.n) == (17, 28, 9)
    assert found.p_value == pytest.approx(0.5703125)


@pytest.mark.parametrize("n", [3, 10, 25, 50])
def test_without_ties_it_is_the_table_of_scipy(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    exact = stats.wilcoxon(a, b, method="exact")
    assert wilcoxon(a, b).p_value == pytest.approx(exact.pvalue)
    theirs = stats.wilcoxon(a, b, method="asymptotic", correction=True)
    assert wilcoxon(a, b, method="approximate").p_value == pytest.approx(theirs.pvalue)


def test_pratts_approximation_is_scipys():
    rng = np.random.default_rng(2)
    d = rng.integers(-5, 9, 60).astype(float)
    theirs = stats.wilcoxon(d, zero_method="pratt", method="asymptotic", correction=False)
    ours = wilcoxon(d, np.zeros(60), zeros="pratt", method="approximate", correction=False)
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_exact_with_an_even_number_of_zeros_is_the_same_split_or_pratt():
    d = [0, 0, 1, 2, 2, -1, 3, 5, 4]
    assert wilcoxon(d, [0] * 9, zeros="split").p_value == wilcoxon(d, [0] * 9, zeros="pratt").p_value


@pytest.mark.parametrize("zeros", ["drop", "pratt", "split"])
@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_only_zeros_have_p_1(zeros, method):
    found = wilcoxon([1, 2, 3], [1, 2, 3], zeros=zeros, method=method)
    assert (found.p_value, found.details["z"], found.effect) == (1, 0, None)
    assert [caveat.kind for caveat in found.caveats] == ["all_differences_zero"]


def test_float_noise_makes_no_rank():
    noisy = wilcoxon([0.3, 0.4, 0.9, 0.3], [0.2, 0.3, 0.2, 0.4])
    clean = wilcoxon([3, 4, 9, 3], [2, 3, 2, 4])
    assert noisy.details == clean.details
    assert noisy.p_value == clean.p_value


def test_auto_turns_to_the_approximation_when_large():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=501), rng.normal(0.1, 1, 501)
    auto, exact = wilcoxon(a, b), wilcoxon(a, b, method="exact")
    assert auto.variant.startswith("approximate")
    # the next term of Edgeworth's series: the kurtosis of a sum of n signed ranks is below normal by about 3.6/n
    z = abs(exact.details["z"])
    missing = 3.6 / 501 / 24 * (3 * z - z**3) * 2 * stats.norm.pdf(z)
    assert exact.p_value - auto.p_value == pytest.approx(missing, rel=0.05)
    assert wilcoxon(a[1:], b[1:]).variant == "exact"


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.sampled_from(["drop", "pratt", "split"]))
def test_swapping_the_learners_swaps_the_sums(d, zeros):
    there, back = (wilcoxon(x, y, zeros=zeros) for x, y in ((d, [0] * len(d)), ([0] * len(d), d)))
    assert 0 < there.p_value == back.p_value <= 1
    assert (there.details["R+"], there.details["R-"]) == (back.details["R-"], back.details["R+"])
    assert there.details["z"] <= 0
    if there.effect is not None:
        assert -1 <= there.effect.low <= there.effect.estimate <= there.effect.high <= 1
        assert there.effect.estimate == -back.effect.estimate


def test_effect_is_kerbys():
    found = wilcoxon([1, 2, 3, 4, 5, -6], [0] * 6)
    # Kerby 2014: (R+ - R-) / (R+ + R-)
    assert found.effect.estimate == pytest.approx((15 - 6) / 21)


def test_interval_of_the_effect_covers_also_where_it_is_large():
    rng = np.random.default_rng(5)
    # For normal differences with mean m and deviation 1 the population value is 2 P(d + d' > 0) - 1 = 2 Phi(m sqrt 2) - 1
    truth = 2 * stats.norm.cdf(np.sqrt(2)) - 1
    hits = 0
    for _ in range(300):
        effect = wilcoxon(rng.normal(1, 1, 30), np.zeros(30)).effect
        hits += effect.low <= truth <= effect.high
    assert 0.91 <= hits / 300 <= 0.985


def test_one_sign_throughout_still_has_a_limit():
    effect = wilcoxon([1, 2, 3, 4, 5], [0] * 5).effect
    assert (effect.estimate, effect.high) == (1, 1)
    # All five signs agree with probability 0.025 if the log odds of rank i are 2 t i
    ranks = np.arange(1, 6)
    t = optimize.brentq(lambda t: np.prod(1 / (1 + np.exp(-2 * t * ranks))) - 0.025, -1, 1)
    assert effect.low == pytest.approx((ranks * np.tanh(t * ranks)).sum() / 15)
    assert wilcoxon([0] * 5, [1, 2, 3, 4, 5]).effect.high == pytest.approx(-effect.low)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="'pratt'"):
        wilcoxon([1], [2], zeros="prat")
    with pytest.raises(InputError, match="method"):
        wilcoxon([1], [2], method="normal")
    with pytest.raises(InputError, match="first"):
        wilcoxon([1, float("nan")], [2, 1])


def test_type_1_error_with_ties_is_controlled():
    """Five per cent or less under random signs of heavily tied ranks, by listing how many of each tie are positive.

    p depends only on the sum of positive ranks, so that one pattern of signs is tested for each sum.
    """
    sizes = np.repeat([1, 2, 3, 4], [4, 3, 5, 3])
    p_values, rejected = {}, 0
    for positive in product(range(5), range(4), range(6), range(4)):
        signs = np.concatenate([np.repeat([1, -1], [plus, n - plus]) for plus, n in zip(positive, (4, 3, 5, 3), strict=True)])
        total = float((stats.rankdata(sizes) * signs).sum())
        if total not in p_values:
            p_values[total] = wilcoxon(sizes * signs, np.zeros(15)).p_value
        orders = np.prod([comb(n, plus) for plus, n in zip(positive, (4, 3, 5, 3), strict=True)])
        rejected += orders * (p_values[total] <= 0.05)
    assert 0.025 < rejected / 2**15 <= 0.05


@pytest.mark.parametrize(("zeros", "kind"), [("drop", "zeros_dropped"), ("pratt", "zeros_pratt"), ("split", "zeros_split")])
def test_treatment_of_zeros_is_reported(zeros, kind):
    found = wilcoxon([0.5, 0.7, 0.9], [0.5, 0.6, 0.7], zeros=zeros)
    assert (found.zeros.kind, found.zeros["zeros"]) == (kind, 1)
    assert wilcoxon([0.7, 0.9], [0.6, 0.7], zeros=zeros).zeros is None


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(-9, 12), min_size=1, max_size=70),
    st.sampled_from(["drop", "pratt", "split"]),
    st.sampled_from([("exact", True), ("approximate", True), ("approximate", False)]),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_interval_excludes_zero_if_and_only_if_the_test_rejects(d, zeros, variant, level):
    found = wilcoxon(d, [0] * len(d), zeros=zeros, method=variant[0], correction=variant[1], level=level)
    if found.effect is not None and abs(found.p_value - (1 - level)) > 1e-9:
        assert (found.effect.low > 0 or found.effect.high < 0) == (found.p_value < 1 - level)
        plus, minus = found.details["R+"], found.details["R-"]
        assert found.effect.estimate == pytest.approx((plus - minus) / (plus + minus))


@pytest.mark.parametrize("n", [40, 120, 501])
def test_interval_of_rank_biserial_is_that_of_the_test(n):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    ours, theirs = rank_biserial(a, b), wilcoxon(a, b).effect
    assert (ours.estimate, ours.low, ours.high) == pytest.approx((theirs.estimate, theirs.low, theirs.high))


@pytest.mark.parametrize(
    ("draw", "value"),
    [
        (lambda rng, n: rng.normal(0.5, 1, n), 2 * stats.norm.cdf(np.sqrt(0.5)) - 1),
        (lambda rng, n: rng.exponential(1, n) - 0.7, 2 * stats.gamma.sf(1.4, 2) - 1),
        (lambda rng, n: rng.standard_cauchy(n) + 0.5, 2 * stats.cauchy.cdf(0.5) - 1),
    ],
    ids=["normal", "skewed", "heavy-tailed"],
)
def test_inverted_interval_covers(draw, value):
    """95 % intervals of 15 differences cover 2 P(d + d' > 0) - 1; the band is 3 standard errors of 300 runs."""
    rng = np.random.default_rng(1)
    effects = [wilcoxon(draw(rng, 15), np.zeros(15)).effect for _ in range(300)]
    assert np.mean([effect.low <= value <= effect.high for effect in effects]) >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / 300)
