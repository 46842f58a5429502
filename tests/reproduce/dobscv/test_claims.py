"""Claims on numbers of which the answer is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, hypergeom, ttest_1samp

from fairtrial.reproduce.dobscv.claims import (
    compute_overlap_distribution,
    compute_z_scores,
    describe_published_imbalance,
    estimate_log_ratio,
    estimate_proportion,
    estimate_rank_correlation,
    estimate_target_gaps,
    judge_deviations,
    judge_first_fold,
    judge_gains_and_losses,
    judge_overlap,
    judge_rank_sums,
    judge_simulation,
    judge_tables,
    judge_target,
)
from fairtrial.reproduce.dobscv.studies import GIVEN, LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.tables import FoldAverages
from fairtrial.reproduce.experiment import read_published
from tests.reproduce.dobscv.conftest import make_averages


def judge(averages):
    """Judge the claims about the tables, in the order: most data sets, averages, imbalance, deviations (2), named (2) ..."""
    names = ("most", "averages", "imbalance", "higher sd", "lower sd", "Abalone19", "Ecoli2", "outnumber", "gains", "top 5")
    return dict(zip((*names, "significant", "rank sums"), judge_tables(averages)[2:], strict=True))


def test_a_difference_that_rises_with_imbalance(rising):
    outcomes = {name: claim.reproduced for name, claim in judge(rising).items()}
    assert outcomes == {
        "most": True,
        "averages": True,
        "imbalance": True,
        "higher sd": False,  # the same deviation everywhere
        "lower sd": None,
        "Abalone19": True,
        "Ecoli2": False,
        "outnumber": True,
        "gains": True,
        "top 5": False,  # the same data sets for all learners
        "significant": True,
        "rank sums": True,
    }


def test_noise_is_inconclusive(noise):
    claims = judge(noise)
    assert [claims[name].reproduced for name in ("most", "averages", "imbalance", "Abalone19")] == [None] * 4


def test_a_mean_just_above_zero_is_not_enough():
    rng = np.random.default_rng(8)
    shift = rng.normal(size=66)
    shift = 0.02 * (shift - shift.mean()) / shift.std() + 0.0001
    averages = make_averages(lambda scheme, _, index, __: 0.8 + (shift[index] if "DOB" in scheme else 0.0))
    claim = judge(averages)["averages"]
    assert claim.reproduced is None
    assert "C4.5 +0.0001 (-0.00" in claim.details


def test_few_datasets_are_inconclusive():
    averages = make_averages(lambda scheme, *_: 0.8 if "DOB" in scheme else 0.7, names=["Glass1", "Ecoli4"])
    assert {claim.reproduced for claim in judge_tables(averages)} == {None}


def test_an_average_must_be_higher_than_under_both_kinds_of_folds():
    averages = make_averages(lambda scheme, *_: {"SCV (KEEL's folds)": 0.7, "SCV": 0.9}.get(scheme, 0.8))
    claim = judge(averages)["averages"]
    assert claim.reproduced is False
    assert "against SCV: C4.5 -0.1000" in claim.details


def test_the_papers_own_table_contradicts_the_claim_for_two_learners():
    details = describe_published_imbalance()
    assert details.endswith("with 1-NN (1.74 % and 1.96 %), SMO (0.23 % and 0.96 %)")  # as printed in Table 3


def test_proportions_have_the_clopper_pearson_interval():
    proportion = estimate_proportion(15, 16)
    assert (proportion.low, proportion.high) == pytest.approx((beta.ppf(0.025, 15, 2), beta.ppf(0.975, 16, 1)))
    assert estimate_proportion(0, 0).is_positive is None


def test_the_interval_of_a_rank_correlation_covers():
    rng = np.random.default_rng(4)
    pairs = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=(400, 60))
    true = 6 / np.pi * np.arcsin(0.25)  # Spearman's of a normal pair whose Pearson's is 0.5
    estimates = [estimate_rank_correlation(sample[:, 0], sample[:, 1]) for sample in pairs]
    assert 0.91 < np.mean([estimate.low <= true <= estimate.high for estimate in estimates]) < 0.99
    assert estimate_rank_correlation(np.arange(9.0), np.zeros(9)).is_positive is None


def test_gains_and_losses_have_an_interval_over_datasets():
    values = np.random.default_rng(5).normal(0.3, 1, size=66)
    one, five = (pd.DataFrame(dict.fromkeys(range(count), values)) for count in (1, 5))
    [effect], details = judge_gains_and_losses(five)
    # Five identical learners are no more evidence than one; gain and loss are means over cells.
    [single_effect], single_details = judge_gains_and_losses(one)
    assert (single_effect.low, single_effect.high) == pytest.approx((effect.low, effect.high))
    assert details == single_details
    assert f"mean gain {values[values > 0].mean():.4f}, mean loss {-values[values < 0].mean():.4f}" in details
    assert judge_gains_and_losses(one - 10)[0][0].is_positive is False
    assert judge_gains_and_losses(one - one.mean())[0][0].is_positive is None


RUNS = (-0.002, 0.0, 0.001, 0.001, 0.0)


def shift_published(shift, learner="C4.5"):
    """The published averages, except for one learner under KEEL's folds; runs differ a little."""
    published = read_published("dobscv_table3").query("group == 'all'").set_index("learner")["auc_scv"]

    def value(scheme, name, _index, run):
        return published[name] + RUNS[run] + (shift if name == learner and scheme == GIVEN else 0)

    return make_averages(value, runs=5)


@pytest.mark.parametrize(("shift", "is_met"), [(0.0, True), (0.0095, True), (0.02, False), (-0.02, False)])
def test_the_target_is_judged_for_both_kinds_of_folds(shift, is_met):
    claims = judge_target(shift_published(shift))
    assert [claim.reproduced for claim in claims] == [is_met, True]
    assert f"under {GIVEN} is within 0.01" in claims[0].text
    assert f"C4.5 {shift:+.4f} (" in claims[0].details


def test_the_target_ignores_other_learners_and_needs_all_of_its_own():
    assert judge_target(shift_published(0.05, "PDFC"))[0].reproduced
    frame = shift_published(0.0).frame
    assert judge_target(FoldAverages(frame[frame["learner"] != "SMO"]))[0].reproduced is None


def test_the_interval_of_the_target_is_over_runs():
    gap = estimate_target_gaps(shift_published(0.003), GIVEN)["C4.5"]
    expected = ttest_1samp([0.003 + value for value in RUNS], 0).confidence_interval()
    assert (gap.low, gap.high) == pytest.approx((expected.low, expected.high))


def test_some_datasets_cannot_meet_the_target(few):
    claim = judge_target(few)[0]
    assert claim.reproduced is None
    assert "2 of the 66 data sets ran" in claim.details


def make_deviations(ratio, reduction, noise):
    """Deviations that are `ratio` times as high in the upper group, and lower by a proportion under DOB-SCV."""
    frame = make_averages(lambda *_: 0.8).frame
    factors = np.exp(np.random.default_rng(2).normal(0, noise, size=66))
    factor = frame["dataset"].map(dict(zip(frame["dataset"].unique(), factors, strict=True)))
    is_high, is_dob = frame["group"] == "IR>9", frame["scheme"].str.contains("DOB")
    sd = 0.05 * np.where(is_high, ratio, 1.0) * np.where(is_dob, 1 - reduction, 1.0) * factor
    return FoldAverages(frame.assign(sd=sd))


@pytest.mark.parametrize(
    ("ratio", "noise", "outcome"), [(4.0, 0.6, True), (1.5, 0.6, None), (1.1, 0.6, None), (0.6, 0.6, False), (1.2, 0.1, False)]
)
def test_much_higher_deviations_need_more_than_a_ratio_above_one(ratio, noise, outcome):
    assert judge_deviations(make_deviations(ratio, 0.2, noise))[0].reproduced is outcome


def test_one_group_of_imbalance_is_inconclusive(few):
    assert judge_deviations(few)[0].reproduced is None


@pytest.mark.parametrize(("reduction", "outcome"), [(0.2, True), (-0.2, False), (0.0, None)])
def test_lower_deviations(reduction, outcome):
    assert judge_deviations(make_deviations(2.0, reduction, 0.3))[1].reproduced is outcome


def test_the_interval_of_a_log_ratio_covers():
    rng = np.random.default_rng(3)
    estimates = [estimate_log_ratio(rng.gamma(4, 0.5, 44), rng.gamma(4, 0.25, 22)) for _ in range(500)]
    assert 0.92 < np.mean([estimate.low <= np.log(2) <= estimate.high for estimate in estimates]) < 0.98
    assert estimate_log_ratio([1.0], [1.0, 2.0]).is_positive is None
    assert estimate_log_ratio([1.0, 2.0], [0.0, 0.0]).is_positive is None


def make_tops(*starts, n_datasets=66):
    """Differences of several learners, each with its 5 largest from a given index on."""
    frame = pd.DataFrame(0.001, index=[f"set {index}" for index in range(n_datasets)], columns=range(len(starts)))
    for learner, start in enumerate(starts):
        frame.iloc[start : start + 5, learner] = [0.5, -0.4, 0.3, -0.2, 0.1][:n_datasets]
    return frame


def test_overlap_by_chance_is_hypergeometric():
    two = compute_overlap_distribution(66, 5, 2)
    assert list(two.values()) == pytest.approx(hypergeom(66, 5, 5).pmf(np.arange(6)))
    five = compute_overlap_distribution(66, 5, 5)
    assert sum(five.values()) == pytest.approx(1)
    assert sum(total * p for total, p in five.items()) == pytest.approx(10 * 25 / 66)
    assert five[0] == pytest.approx(np.prod([hypergeom(66, 5 * taken, 5).pmf(0) for taken in range(1, 5)]))


def test_overlap_by_chance_is_that_of_random_draws():
    rng = np.random.default_rng(2)
    draws = np.argsort(rng.random((20_000, 3, 12)), axis=2) < 4  # ranks in a random order: four sets for each of three
    totals = sum((draws[:, first] & draws[:, second]).sum(axis=1) for first, second in ((0, 1), (0, 2), (1, 2)))
    expected = compute_overlap_distribution(12, 4, 3)
    observed = np.bincount(totals, minlength=max(expected) + 1) / len(totals)
    assert observed[list(expected)] == pytest.approx(list(expected.values()), abs=0.012)


@pytest.mark.parametrize(
    ("starts", "outcome"),
    [((0, 10, 20, 30, 40), True), ((0, 4, 20, 30, 40), None), ((0, 2, 20, 30, 40), None), ((0, 0, 0, 30, 40), False)],
)
def test_only_more_overlap_than_by_chance_contradicts(starts, outcome):
    assert judge_overlap(make_tops(*starts))[0] is outcome


def test_overlap_is_inconclusive_if_chance_gives_it_often():
    outcome, details = judge_overlap(make_tops(0, 0, 0, n_datasets=3))
    assert outcome is None
    assert "share 3.0 of their 3 on average; independent ones would share 3.0" in details
    assert judge_overlap(make_tops(0, 10))[0] is None
    assert judge_overlap(make_tops(0, 10).head(0))[0] is None


def make_tests(p_values, plus=1400.0, base=GIVEN, learner="SMO"):
    rows = [(learner, LITERAL, base, run, plus + run, 2211 - plus - run, p) for run, p in enumerate(p_values)]
    return pd.DataFrame(rows, columns=["learner", "scheme", "base", "run", "R+", "R-", "p"])


@pytest.mark.parametrize(
    ("p_values", "plus", "outcome"),
    [
        ((0.001, 0.002, 0.001, 0.003, 0.002), 1400.0, True),
        ((0.2, 0.3, 0.25, 0.4, 0.3), 1400.0, False),
        ((0.03, 0.06, 0.04, 0.08, 0.03), 1400.0, None),
        ((0.001,), 1400.0, None),
        ((0.9,), 1400.0, None),
        ((0.001, 0.002, 0.001), 500.0, False),  # significantly lower
    ],
)
def test_significance_is_that_of_single_runs(p_values, plus, outcome):
    claim = judge_rank_sums(make_tests(p_values, plus))[0]
    assert claim.reproduced is outcome
    assert claim.details.endswith("SMO 0.0639, PDFC 0.0955")  # as printed in Table 5


@pytest.mark.parametrize(("plus", "outcome"), [(1400.0, True), (700.0, False), (1104.0, None)])
def test_rank_sums(plus, outcome):
    assert judge_rank_sums(make_tests((0.1, 0.1, 0.1), plus=plus))[1].reproduced is outcome


def test_both_kinds_of_folds_and_all_learners_must_agree():
    good, bad = make_tests((0.001, 0.002, 0.001)), make_tests((0.5, 0.6, 0.5), plus=700.0, base=SCV)
    claims = judge_rank_sums(pd.concat([good, bad]))
    assert [claim.reproduced for claim in claims] == [False, False]
    assert "against SCV:" in claims[1].details
    another = make_tests((0.5, 0.6, 0.5), plus=700.0, learner="Chi")
    assert judge_rank_sums(pd.concat([good, another]))[1].reproduced is False


def test_z_of_a_published_p_value():
    assert compute_z_scores(make_tests((0.0639,))).tolist() == pytest.approx([1.8528], abs=1e-3)  # R: qnorm(1 - .0639 / 2)


def make_pooled(fold_bias=(0.0, 0.0, 0.0), excess=(0.0, 0.0, 0.0), half=0.002, smaller=0):
    rows = [
        ("balanced accuracy", scheme, 0.01, 0.05, 20, smaller, 0, bias, bias - half, bias + half, e, e - half, e + half)
        for scheme, bias, e in zip((SCV, LITERAL, SHUFFLED), fold_bias, excess, strict=True)
    ]
    names = ["measure", "scheme", "bias", "rmse", "cells", "smaller error than SCV", "greater error than SCV"]
    limits = [f"{name}{end}" for name in ("fold_bias", "excess") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*names, *limits])


@pytest.mark.parametrize(
    ("fold_bias", "outcome"),
    [
        ((0.0, 0.01, 0.01), True),
        ((0.0, 0.01, 0.001), None),
        ((0.0, 0.01, -0.01), False),
        ((0.01, 0.01, 0.01), False),
        ((0.004, 0.01, 0.01), None),
    ],
)
def test_optimism(fold_bias, outcome):
    assert judge_simulation(make_pooled(fold_bias))[1].reproduced is outcome


def test_a_wide_interval_does_not_show_that_scv_is_unbiased():
    assert judge_simulation(make_pooled((0.0, 0.5, 0.5), half=0.1))[1].reproduced is None


@pytest.mark.parametrize(
    ("excess", "outcome"),
    [((0, -0.01, -0.01), True), ((0, 0.01, 0.01), False), ((0, -0.01, -0.001), None), ((0, -0.01, 0.01), False)],
)
def test_a_smaller_error_is_a_better_estimate(excess, outcome):
    assert judge_simulation(make_pooled(excess=excess))[0].reproduced is outcome


def test_a_single_cell_decides_nothing():
    claim = judge_simulation(make_pooled(smaller=1))[0]
    assert claim.reproduced is None
    assert "smaller in 1 and greater in 0 of 20 cells" in claim.details


def test_a_lower_first_fold():
    rng = np.random.default_rng(1)
    rows = [
        (scheme, f"set {number}", fold, 0.8 + rng.normal(0, 0.01) - (0.05 if scheme == LITERAL and fold == 0 else 0))
        for scheme in (LITERAL, SHUFFLED)
        for number in range(20)
        for fold in range(5)
    ]
    scores = pd.DataFrame(rows, columns=["scheme", "dataset", "fold", "value"])
    claim = judge_first_fold(scores)
    assert claim.reproduced
    assert "DOB-SCV literal -0.04" in claim.details
    assert judge_first_fold(scores[scores["dataset"].isin(["set 0", "set 1"])]).reproduced is None
    assert judge_first_fold(scores.assign(value=0.8 + 0.01 * (scores["fold"] == 0))).reproduced is False
    both = scores["value"].where((scores["scheme"] == LITERAL) | (scores["fold"] > 0), scores["value"] - 0.05)
    assert judge_first_fold(scores.assign(value=both)).reproduced is False  # shuffled groups do not prevent it
    noisy = scores["value"] + np.where(scores["scheme"] == SHUFFLED, rng.normal(0, 0.2, len(scores)), 0)
    assert judge_first_fold(scores.assign(value=noisy)).reproduced is None  # nor is it known whether they do
