"""Summaries and comparisons of draws, pooling over cells that share samples, and number formats."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.estimates.claims import is_positive_for_all
from fairtrial.reproduce.estimates.draws import CellEstimate, Draws, format_estimate, format_number, pool, pool_proportions

COLUMNS = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "true_error"]


def standardize(rng):
    """400 values with mean 0 and standard deviation 1 to the last digit."""
    return stats.zscore(rng.standard_normal(400), ddof=1)


def make_draws(methods, n_cells=1):
    """Draws of methods with a given bias and standard deviation; the true error is 0.3."""
    rng = np.random.default_rng(1)
    rows = [
        ("p", cell, "l", replicate, method, value, value - 0.1, value + 0.1, 0.3)
        for cell in range(n_cells)
        for method, (bias, deviation) in methods.items()
        for replicate, value in enumerate(0.3 + bias + deviation * standardize(rng))
    ]
    return Draws(pd.DataFrame(rows, columns=COLUMNS))


def repeat_learners(draws, *learners):
    """The same draws as if several learners had been right and wrong on the same samples."""
    return Draws(pd.concat([draws.frame.assign(learner=name) for name in learners], ignore_index=True))


def keep_replicates(draws, count):
    return Draws(draws.frame[draws.frame["replicate"] < count])


def test_summary_has_bias_deviation_error_and_coverage():
    row = make_draws({"a": (0.05, 0.05)}).summary.iloc[0]
    assert row["bias_low"] < 0.05 < row["bias_high"]
    assert row["deviation_low"] < 0.05 < row["deviation_high"]
    assert row["rmse_low"] < np.hypot(0.05, 0.05) < row["rmse_high"]
    expected = stats.norm.cdf(1) - stats.norm.cdf(-3)  # 0.05 above, within 0.1
    assert row["coverage_low"] < expected < row["coverage_high"]
    assert row["width"] == pytest.approx(0.2)
    assert row["rmse"] ** 2 == pytest.approx(row["bias"] ** 2 + row["deviation"] ** 2, rel=0.01)


def test_bias_has_a_t_interval():
    draws = make_draws({"a": (0.02, 0.05)})
    errors = draws.frame["estimate"] - draws.frame["true_error"]
    expected = stats.t.interval(0.95, 399, errors.mean(), stats.sem(errors))
    bias = draws.estimate_bias("a").mean
    assert (bias.value, bias.low, bias.high) == pytest.approx((errors.mean(), *expected))
    assert bias.is_positive is True


def test_comparisons_estimate_ratios_and_differences():
    draws = make_draws({"a": (0.0, 0.08), "b": (0.03, 0.04)}, n_cells=5)
    deviation, rmse, bias = (draws.compare("a", "b", quantity) for quantity in ("deviation", "rmse", "bias"))
    assert deviation.mean.low < np.log(2) < deviation.mean.high
    assert rmse.mean.low < np.log(0.08 / 0.05) < rmse.mean.high
    assert bias.mean.low < -0.03 < bias.mean.high
    assert draws.compare("b", "a", "rmse").mean.is_positive is False
    assert deviation.format_ratio().startswith("2.00 (")
    assert deviation.count_cells(1) == "cells with an interval above 1: 5 of 5, below: 0"
    assert bias.describe_points().startswith("-3.00 (")


def test_the_interval_of_a_log_ratio_is_that_of_the_bootstrap():
    draws = make_draws({"a": (0.0, 0.08), "b": (0.0, 0.05)})
    a, b = (draws.frame.loc[draws.frame["method"] == name, "estimate"].to_numpy() for name in "ab")
    rows = np.random.default_rng(2).integers(400, size=(4000, 400))
    resampled = np.log(a[rows].std(axis=1) / b[rows].std(axis=1))
    ratio = draws.compare("a", "b", "deviation").mean
    assert (ratio.high - ratio.low) / 3.92 == pytest.approx(resampled.std(), rel=0.06)


@pytest.mark.parametrize(
    "estimate",
    [
        lambda draws: draws.estimate_bias("a"),
        lambda draws: draws.compare("a", "b", "deviation"),
        lambda draws: draws.compare("a", "b", "rmse"),
    ],
)
def test_learners_with_the_same_errors_are_no_more_evidence_than_one(estimate):
    draws = make_draws({"a": (0.02, 0.08), "b": (0.0, 0.05)})
    one, four = estimate(draws), estimate(repeat_learners(draws, "k", "l", "m", "n"))
    assert vars(four.mean) == pytest.approx(vars(one.mean))
    assert (len(one.cells), len(four.cells)) == (1, 4)


def test_problems_and_sizes_are_independent():
    bias = make_draws({"a": (0.02, 0.05)}, n_cells=4).estimate_bias("a")
    widths = [cell.high - cell.low for cell in bias.cells]
    assert bias.mean.high - bias.mean.low == pytest.approx(np.sqrt(np.square(widths).sum()) / 4, rel=0.01)


def test_coverage_counts_samples_not_draws():
    draws = make_draws({"a": (0.05, 0.05)})
    n_covered = int(((draws.frame["low"] <= 0.3) & (draws.frame["high"] >= 0.3)).sum())
    coverage = repeat_learners(draws, "k", "l", "m", "n").estimate_coverage("a")
    expected = compute_wilson(n_covered, 400)
    assert (coverage.value, coverage.low, coverage.high) == pytest.approx((n_covered / 400, *expected), abs=0.001)


def test_all_cells_have_equal_weights_in_coverage():
    frame = make_draws({"a": (0.05, 0.05)}).frame
    few = frame[frame["replicate"] < 10].assign(learner="C4.5", low=0.8, high=0.9)
    covered = ((frame["low"] <= 0.3) & (frame["high"] >= 0.3)).mean()
    assert Draws(pd.concat([frame, few])).estimate_coverage("a").value == pytest.approx(covered / 2)


def test_a_deviation_of_two_samples_has_no_interval():
    draws = make_draws({"a": (0.0, 0.08), "b": (0.0, 0.05)}, n_cells=3)
    assert keep_replicates(draws, 2).compare("a", "b", "deviation").mean.is_positive is None
    assert keep_replicates(draws, 1).compare("a", "b", "rmse").mean.is_positive is None


def test_constant_estimates_have_no_ratio():
    ratio = make_draws({"a": (0.0, 0.0), "b": (0.0, 0.05)}).compare("a", "b", "rmse")
    assert ratio.mean.is_positive is None
    assert ratio.cells == ()


def make_cell(samples, values, index=None):
    return CellEstimate.from_values(samples, pd.Series(np.asarray(values, dtype=float), index=index))


def compute_wilson(successes, trials):
    limits = stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    return limits.low, limits.high


def test_one_cell_has_a_t_interval():
    values = [0.1, 0.4, 0.3, 0.9]
    pooled = pool([make_cell("p", values)])
    assert (pooled.low, pooled.high) == pytest.approx(stats.t.interval(0.95, 3, np.mean(values), stats.sem(values)))


def test_replicates_are_matched_by_their_number():
    """Contributions that cancel on each sample have no variance; matched otherwise, they would have."""
    first, second = make_cell("p", [1.0, 2.0, 4.0], [0, 1, 2]), make_cell("p", [-4.0, -2.0, -1.0], [2, 1, 0])
    third = make_cell("q", [0.0, 0.1, 0.2])
    single, pooled = pool([third]), pool([first, second, third])
    assert pooled.high - pooled.low == pytest.approx((single.high - single.low) / 3)


def test_two_independent_cells_by_welch():
    """The mean of two independent means: Welch's interval of a difference, with one sign changed."""
    a, b = np.array([0.1, 0.5, 0.2, 0.9, 0.3]), np.array([1.0, 1.4, 0.2])
    welch = stats.ttest_ind(a, -b, equal_var=False)
    limits = welch.confidence_interval(0.95)
    pooled = pool([make_cell("p", a), make_cell("q", b)])
    assert (pooled.low, pooled.high) == pytest.approx((limits.low / 2, limits.high / 2))
    assert pooled.degrees_of_freedom == pytest.approx(welch.df)


def test_intervals_cover_if_learners_share_samples_and_one_has_fewer():
    """Four learners, correlation 0.5, the last one with a third of the replicates: independent cells would cover 83 %."""
    rng = np.random.default_rng(1)
    is_covered = []
    for _ in range(300):
        values = rng.standard_normal((30, 1)) + rng.standard_normal((30, 4))
        pooled = pool([make_cell("p", values[: 10 if j == 3 else 30, j]) for j in range(4)])
        is_covered.append(pooled.low <= 0 <= pooled.high)
    assert 0.92 < np.mean(is_covered) < 0.99


def test_proportions_have_wilsons_interval_for_the_effective_number_of_draws():
    values = np.repeat([1.0, 0.0], [900, 100])
    single = pool_proportions([make_cell("p", values)])
    assert (single.low, single.high) == pytest.approx(compute_wilson(900, 1000), abs=2e-4)
    same = pool_proportions([make_cell("p", values), make_cell("p", values)])
    assert vars(same) == pytest.approx(vars(single))
    independent = pool_proportions([make_cell("p", values), make_cell("q", values)])
    assert (independent.low, independent.high) == pytest.approx(compute_wilson(1800, 2000), abs=2e-4)


def test_draws_that_all_agree_count_their_samples():
    pooled = pool_proportions([make_cell("p", np.ones(10)), make_cell("p", np.ones(4)), make_cell("q", np.ones(6))])
    assert (pooled.low, pooled.high) == pytest.approx(compute_wilson(10, 10))


def test_too_few_values_have_no_interval():
    for cells in ([], [make_cell("p", [1.0])], [make_cell("p", [1.0, 1.0])]):
        assert pool(cells).is_positive is None
    assert np.isnan(pool_proportions([]).value)


def estimate_biases(deviation=0.05, **biases):
    """Estimates of learners with a given bias, exact to the last digit, on 400 samples."""
    rng = np.random.default_rng(1)
    rows = [
        ("p", 25, learner, replicate, "a", value, 0.0, 1.0, 0.3)
        for learner, bias in biases.items()
        for replicate, value in enumerate(0.3 + bias + deviation * standardize(rng))
    ]
    return Draws(pd.DataFrame(rows, columns=COLUMNS)).estimate_by_learner(lambda draws: draws.estimate_bias("a"))


@pytest.mark.parametrize(("bias", "outcome"), [(0.02, True), (0.0, None), (-0.02, False)])
def test_one_learner_does_not_decide_for_all(bias, outcome):
    """The half width of a learner's interval is 0.0049; that of the mean excludes 0 in all three cases."""
    estimates = estimate_biases(trees=0.1, bayes=bias)
    assert is_positive_for_all(estimates) is outcome
    assert estimates.overall.mean.is_positive


def test_a_contradiction_allows_for_the_number_of_estimates():
    """-0.0052 is below 0 by its own interval (0.0049), but not by one for four estimates (0.0063)."""
    estimates = estimate_biases(trees=0.1, bayes=-0.0052)
    assert estimates.learners["bayes"].mean.is_positive is False
    assert is_positive_for_all(estimates, estimate_biases(trees=0.1, bayes=0.1)) is None
    assert is_positive_for_all() is None


def test_learners_are_described_with_their_intervals():
    details = estimate_biases(trees=0.1, bayes=0.02).describe_points()
    half = 100 * stats.t.ppf(0.975, 399) * 0.05 / np.sqrt(400)
    assert details.startswith("+6.00 (")
    assert f"by learner: trees +10.00 ({10 - half:+.2f} to {10 + half:+.2f}), bayes +2.00 ({2 - half:+.2f} to" in details
    assert details.endswith("cells with an interval above 0: 2 of 2, below: 0")
    ratios = estimate_biases(trees=np.log(2), bayes=np.log(3)).describe_ratio()
    assert ratios.startswith(f"ratio {np.sqrt(6):.2f} (")
    assert "trees 2.00 (" in ratios
    assert "bayes 3.00 (" in ratios


@pytest.mark.parametrize("order", [("trees", "bayes"), ("bayes", "trees")])
def test_learners_keep_their_order(order):
    assert tuple(estimate_biases(**dict.fromkeys(order, 0.1)).learners) == order


def test_a_learner_without_an_interval_is_inconclusive():
    frame = repeat_learners(make_draws({"a": (0.1, 0.05)}), "trees", "bayes").frame
    few = Draws(frame[(frame["learner"] == "trees") | (frame["replicate"] < 1)])
    assert is_positive_for_all(few.estimate_by_learner(lambda draws: draws.estimate_bias("a"))) is None


@pytest.mark.parametrize(
    ("limits", "digits", "options", "text"),
    [
        # The loss of bagged naive Bayes on twonorm in the full run.
        ((-0.02852, -0.05542, -0.001616), 1, {}, "-0.029 (-0.055 to -0.002)"),
        ((0.9848, 0.9704, 0.9994), 2, {"null": 1}, "0.985 (0.970 to 0.999)"),
        ((0.3, -0.04, 0.6), 1, {"sign": True}, "+0.30 (-0.04 to +0.60)"),
        ((0.3, 0.04, 0.6), 1, {"sign": True}, "+0.30 (+0.04 to +0.60)"),
        ((1.5, 1.0, 2.0), 1, {}, "1.5 (1.0 to 2.0)"),
        ((1.001, 0.9, 1.1), 2, {"null": 1}, "1.00 (0.90 to 1.10)"),
        ((0.5, float("nan"), float("nan")), 1, {}, "0.5 (interval unknown)"),
        ((0.5, 0.0, 1.0), 1, {}, "0.5 (0.0 to 1.0)"),
        ((0.5, -1e-12, 1.0), 1, {}, "0.5 (0.0 to 1.0)"),
    ],
)
def test_limits_are_not_rounded_to_no_effect(limits, digits, options, text):
    assert format_estimate(IntervalEstimate(*limits), digits, **options) == text


def test_a_number_keeps_its_sign_and_a_zero_has_none():
    numbers = (format_number(-0.03, 1, sign=True), format_number(0.26, 1, sign=True), format_number(-1e-12, 1))
    assert numbers == ("-0.03", "+0.3", "0.0")
