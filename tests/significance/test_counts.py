"""Tests that count, against R, published figures and enumeration."""

import math
from itertools import permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, stats

from fairtrial.errors import InputError
from fairtrial.measures import differences
from fairtrial.significance.counts import (
    MCNEMAR_METHODS,
    cochran_q,
    compute_paired_newcombe_limits,
    compute_tango_limits,
    mcnemar,
    mcnemar_table,
    sign_test,
)


def predictions(both, b, c, neither):
    """Truth and two predictions with these counts."""
    right = [(1, 1)] * both + [(1, 0)] * b + [(0, 1)] * c + [(0, 0)] * neither
    return [1] * len(right), [first for first, _ in right], [second for _, second in right]


# REFERENCE: [[101,121],[59,33]]
@pytest.mark.parametrize(
    ("method", "statistic", "p"),
    [
        ("chi2", 20.6722, 5.45009e-6),
        ("chi2-uncorrected", 21.3556, 3.815136e-06),
        ("exact", 121, 4.43445e-6),
        ("mid-p", 121, 3.26665e-6),
    ],
)
def test_mcnemar_reference(method, statistic, p):
    for found in (mcnemar(*predictions(101, 121, 59, 33), method=method), mcnemar_table(121, 59, method=method)):
        assert found.statistic == pytest.approx(statistic, rel=1e-5)
        assert found.p_value == pytest.approx(p, rel=3e-6)
        assert found.variant == method
    assert mcnemar(*predictions(101, 121, 59, 33)).variant == "mid-p"


@pytest.mark.parametrize("method", MCNEMAR_METHODS)
def test_models_that_never_disagree_have_p_1(method):
    y, a, b = predictions(5, 0, 0, 3)
    found = mcnemar(y, a, b, method=method)
    assert (found.p_value, found.statistic, found.effect.estimate) == (1, 0, 0)
    assert found.effect.low < 0 < found.effect.high
    assert mcnemar_table(0, 0, method=method).effect is None
    assert [caveat.kind for caveat in found.caveats] == ["fixed_training_set", "no_discordant_rows"]


@pytest.mark.parametrize("n", range(1, 9))
def test_binomial_p_by_enumeration(n):
    """Every pattern of wins: two-sided tails are doubled, mid-p counts what was seen half."""
    totals = [sum(pattern) for pattern in product((0, 1), repeat=n)]
    for b in range(n + 1):
        few = min(b, n - b)
        below, seen = sum(t < few for t in totals) / 2**n, sum(t == few for t in totals) / 2**n
        assert mcnemar_table(b, n - b, method="exact").p_value == pytest.approx(min(1, 2 * (below + seen)))
        assert mcnemar_table(b, n - b, method="mid-p").p_value == pytest.approx(min(1, 2 * below + seen))


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_properties(b, c):
    p = {method: mcnemar_table(b, c, method=method).p_value for method in MCNEMAR_METHODS}
    assert p["mid-p"] <= p["exact"] <= 1
    assert p["chi2-uncorrected"] <= p["chi2"] <= 1
    if b == c:
        assert set(p.values()) == {1.0}
    else:
        assert p["exact"] == pytest.approx(stats.binomtest(b, b + c).pvalue)
    assert mcnemar_table(c, b).p_value == p["mid-p"]
    if b and c:
        effect = mcnemar_table(b, c).effect
        assert effect.low < effect.estimate == b / c < effect.high


def test_odds_ratio_without_a_loss_is_infinite():
    effect = mcnemar_table(8, 0).effect
    assert effect.estimate == effect.high == math.inf
    assert effect.low > 1


# Newcombe 1998, method 10; the same formula in R
@pytest.mark.parametrize(
    ("counts", "limits"),
    [
        ((36, 12, 2, 0), (0.056929584, 0.340427603)),
        ((20, 12, 2, 16), (0.05615642484, 0.32920699540)),
        ((101, 121, 59, 33), (0.1152730120, 0.2761164214)),
        ((29, 3, 1, 0), (-0.07888920431, 0.20892106277)),
        ((3, 4, 0, 1), (0.02929409054, 0.75930930422)),
    ],
)
def test_newcombes_paired_interval(counts, limits):
    assert compute_paired_newcombe_limits(*counts, 0.95) == pytest.approx(limits)
    effect = mcnemar(*predictions(*counts)).effect
    if counts != (3, 4, 0, 1):  # p is 0.0625, and Newcombe's interval excludes zero
        assert (effect.low, effect.high) == pytest.approx(limits)


def test_interval_that_inverts_the_mcnemar_test():
    effect = mcnemar(*predictions(3, 4, 0, 1)).effect
    # Four of four wins have a mid-p value of 0.025 if half of share ** 4 is 0.025; 4 of 8 rows are discordant
    assert effect.low == pytest.approx((2 * 0.05**0.25 - 1) / 2)
    # The other limit is Newcombe's, because the test says nothing about the proportion of discordant rows
    assert effect.high == pytest.approx(compute_paired_newcombe_limits(3, 4, 0, 1, 0.95)[1])


def test_tango_limits_equal_the_published_ones():
    # Fagerland, Lydersen & Laake 2014, airway hyper-responsiveness: -0.517 to -0.026; the exact p is 0.07, so 0 is inside
    low, high = compute_tango_limits(1, 7, 21, 0.95)
    assert low == pytest.approx(-0.517, abs=5e-4)
    assert high == pytest.approx((1 - 2 * stats.beta.ppf(0.025, 7, 2)) * 8 / 21)


@pytest.mark.parametrize(("b", "c", "n"), [(12, 2, 58), (5, 9, 60), (30, 0, 400), (0, 0, 100), (14, 0, 14)])
def test_tango_limits_are_the_roots_of_the_score_test(b, c, n):
    def compute_score(difference):
        def compute_loss(losses):
            probabilities = [losses + difference, losses, 1 - 2 * losses - difference]
            return -sum(k * math.log(max(p, 1e-300)) for k, p in zip((b, c, n - b - c), probabilities, strict=True))

        bounds = max(0.0, -difference), (1 - difference) / 2
        losses = optimize.minimize_scalar(compute_loss, bounds=bounds, method="bounded", options={"xatol": 1e-14}).x
        return (b - c - n * difference) / math.sqrt(n * (2 * losses + difference - difference**2))

    low, high = compute_tango_limits(b, c, n, 0.95)
    if low > -1:
        assert compute_score(low) == pytest.approx(1.959964, abs=1e-3)
    if high < 1:
        assert compute_score(high) == pytest.approx(-1.959964, abs=1e-3)


@pytest.mark.parametrize("method", ["mid-p", "exact", "chi2", "chi2-uncorrected"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_agree_with_the_mcnemar_test(method, level):
    for b in range(13):
        for c in range(13):
            for both, neither in ((0, 0), (3, 1), (40, 9)):
                if both + b + c + neither == 0:
                    continue
                found = mcnemar(*predictions(both, b, c, neither), method=method, level=level)
                assert (found.effect.low > 0 or found.effect.high < 0) == (found.p_value < 1 - level)
                assert found.effect.low <= found.effect.estimate <= found.effect.high
            odds = mcnemar_table(b, c, method=method, level=level)
            if odds.effect is not None:
                assert (odds.effect.low > 1 or odds.effect.high < 1) == (odds.p_value < 1 - level)


def test_mid_p_keeps_its_level():
    """Type-I error by enumeration over the discordant count of 40 rows: mid-p within its level, and nearer to it than exact."""
    rate = {}
    for method in ("exact", "mid-p"):
        rejected = {m: [mcnemar_table(b, m - b, method=method).p_value <= 0.05 for b in range(m + 1)] for m in range(41)}
        rate[method] = sum(
            stats.binom.pmf(m, 40, 0.4) * (stats.binom.pmf(np.arange(m + 1), m, 0.5) * rejected[m]).sum() for m in range(41)
        )
    assert rate["exact"] < rate["mid-p"] <= 0.05


def test_sign_test_reference():
    found = sign_test([1] * 9 + [0], [0] * 9 + [1])
    # REFERENCE: 9 of 10, two-sided
    assert found.p_value == pytest.approx(0.021484, abs=1e-6)
    # Clopper-Pearson, R: binom.test(9, 10)
    assert (found.effect.low, found.effect.high) == pytest.approx((0.5549839, 0.9974714), abs=1e-6)


def test_sign_test_of_the_tutorial(find_published):
    table = pd.read_csv(find_published("tutorial_ten_domains_accuracy"), index_col=0)
    # ERRATA: 1.5 against 8.5 with half-ties, 1 : 8 with the tie dropped
    split = sign_test(table["AdaBoost"], table["RandomForest"], ties="split")
    assert (split.details["wins"], split.details["losses"], split.n) == (1.5, 8.5, 10)
    drop = sign_test(table["AdaBoost"], table["RandomForest"])
    assert (drop.details["wins"], drop.details["losses"], drop.n) == (1, 8, 9)
    assert drop.p_value == split.p_value == pytest.approx(2 * 10 / 512)
    assert [caveat.kind for caveat in split.caveats] == ["odd_ties"]
    both = sign_test(table["NB"], table["SVM"], ties="split")
    assert (both.details["wins"], both.details["losses"]) == (4.5, 5.5)


def test_ties_are_split_evenly():
    found = sign_test([1, 1, 1, 0, 0, 0.3], [0, 0, 0, 0, 0, 0.1], ties="split")
    assert found.p_value == pytest.approx(stats.binomtest(5, 6).pvalue)
    assert sign_test([1, 1, 1, 0, 0, 1], [0] * 6).p_value == pytest.approx(stats.binomtest(4, 4).pvalue)


def test_only_ties_have_p_1():
    dropped, split = sign_test([1, 2], [1, 2]), sign_test([1, 2], [1, 2], ties="split")
    assert dropped.p_value == split.p_value == 1
    assert dropped.effect is None
    assert split.effect.estimate == 0.5


def test_float_noise_is_a_tie():
    a, b = [0.1 + 0.2, 0.7], [0.3, 0.5]
    assert sign_test(a, b).details["ties"] == 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
def test_cochran_of_two_is_mcnemar(rows):
    y, a, b = [True] * len(rows), *map(list, zip(*rows, strict=True))
    found = cochran_q(y, {"a": a, "b": b})
    method = "exact" if found.variant == "exact" else "chi2-uncorrected"
    assert found.statistic == pytest.approx(mcnemar(y, a, b, method="chi2-uncorrected").statistic)
    assert found.p_value == pytest.approx(mcnemar(y, a, b, method=method).p_value)


@pytest.mark.parametrize("seed", range(5))
def test_cochran_of_few_rows_is_exact(seed):
    correct = np.random.default_rng(seed).integers(0, 2, (6, 3))
    orders = [sorted(set(permutations(row))) for row in correct.tolist()]
    squares = [(np.sum(order, axis=0) ** 2).sum() for order in product(*orders)]
    found = cochran_q(np.ones(6, dtype=int), correct)
    assert found.p_value == pytest.approx(np.mean(np.array(squares) >= (correct.sum(axis=0) ** 2).sum()))


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_frames_of_other_libraries_give_the_same_tests(convert):
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (40, 3)), columns=["tree", "svm", "nb"])
    y = np.ones(40, dtype=int)
    assert cochran_q(y, convert(frame)) == cochran_q(y, frame)
    pd.testing.assert_frame_equal(
        differences("accuracy", y, convert(frame), labels=[0, 1]).frame(),
        differences("accuracy", y, frame, labels=[0, 1]).frame(),
    )


def test_cochran_against_its_permutation_distribution():
    """Q's textbook formula, and its mean k - 1 over all permutations within rows."""
    right = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 1]])
    y = np.ones(4, dtype=int)
    columns, rows = right.sum(axis=0), right.sum(axis=1)
    expected = 2 * 3 * ((columns - columns.mean()) ** 2).sum() / (rows * (3 - rows)).sum()
    assert cochran_q(y, right).statistic == pytest.approx(expected)
    orders = [[np.roll(row, shift) for shift in range(3)] for row in right]
    mean = np.mean([cochran_q(y, np.array(pick)).statistic for pick in product(*orders)])
    assert mean == pytest.approx(2)


def test_cochran_names_learners_and_takes_frames():
    frame = pd.DataFrame({"tree": [1, 1, 0, 1], "svm": [0, 1, 0, 0], "nb": [0, 0, 1, 1]})
    found = cochran_q([1, 1, 1, 1], frame)
    assert found.details == {"accuracy tree": 0.75, "accuracy svm": 0.25, "accuracy nb": 0.5}
    assert found.df == 2
    assert found.statistic == cochran_q([1, 1, 1, 1], frame.to_numpy()).statistic
    assert found.variant == "exact"


def test_cochran_of_equal_learners():
    found = cochran_q(["a", "b"], {"x": ["a", "a"], "y": ["a", "a"], "z": ["a", "a"]})
    assert (found.statistic, found.p_value, found.effect) == (0, 1, None)


def test_cochran_effect_grows_from_0_to_1():
    rng = np.random.default_rng(0)
    alike = cochran_q(np.ones(500), rng.integers(0, 2, (500, 3)).astype(float)).effect
    assert alike.low == 0
    assert alike.high < 0.03
    apart = cochran_q(np.ones(400), np.column_stack([np.ones(400), np.zeros(400)])).effect
    assert apart.low < apart.estimate < apart.high == 1
    assert apart.estimate > 0.99
    # the limits are where Q lies at the tails of the noncentral distribution
    some = cochran_q(np.ones(60), (rng.random((60, 3)) < [0.9, 0.7, 0.6]).astype(float))
    for limit, share in ((some.effect.low, 0.975), (some.effect.high, 0.025)):
        assert stats.ncx2.cdf(some.statistic, 2, limit * 120) == pytest.approx(share, abs=1e-6)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="'mid-p'"):
        mcnemar([1], [1], [0], method="midp")
    with pytest.raises(InputError, match="pred_b"):
        mcnemar([1, 0], [1, 0], [1])
    with pytest.raises(InputError, match=r"^b "):
        mcnemar_table(1.5, 2)
    with pytest.raises(InputError, match="ties"):
        sign_test([1], [2], ties="half")
    with pytest.raises(InputError, match="predictions"):
        cochran_q([1, 0], {"a": [1, 0]})
    with pytest.raises(InputError, match="predictions"):
        cochran_q([1, 0], [1, 0])


def test_treatment_of_ties_is_reported():
    dropped, split = (sign_test([0.5, 0.7, 0.9], [0.5, 0.6, 0.7], ties=ties).ties for ties in ("drop", "split"))
    assert (dropped.kind, dropped["ties"], split.kind) == ("ties_dropped", 1, "ties_split")
    assert sign_test([0.7, 0.9], [0.6, 0.7]).ties is None
