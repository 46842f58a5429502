"""Compare the chapter's claims with our results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.claim import (
    Claim,
    IntervalEstimate,
    Verdict,
    build_claim,
    combine_verdicts,
    judge_datasets,
    judge_direction,
    judge_equivalence,
    judge_fact,
    mark_inconclusive,
)
from fairtrial.reproduce.estimates import binomial, complete, regression
from fairtrial.reproduce.estimates.draws import Draws, LearnerEstimates, Quantity, format_estimate
from fairtrial.reproduce.estimates.ensembles import BASES, VOTED, EnsembleResults
from fairtrial.reproduce.estimates.simulation import LEVEL, N_REPEATS, SelectedModelError

if TYPE_CHECKING:
    import pandas as pd

_REPEATED = f"10-fold, {N_REPEATS} times"
_HOLD_OUTS = ("hold-out 2/3", "hold-out 9/10")  # the methods to which the chapter's binomial interval applies
_STABLE = ("bagged naive Bayes", "bagged nearest neighbour")
_SIGNAL = "(problems with a signal)"
# Margins. The first and the third margin date from an earlier version of this experiment.
COVERAGE_SHORTFALL = 0.01  # how far the mean coverage of hold-out intervals may be below the confidence level
COVERAGE_MARGIN = 0.02  # how far the coverage on a test set may be from the confidence level
ERROR_MARGIN = 0.02  # how far the error on new rows may be from the true error
VOTING_MARGIN = 1.0  # how far the errors of voting and averaging may differ, in points
_MANY_ROWS, _FEW_ROWS = 1000, 25  # numbers of test rows for which the Gaussian interval is judged adequate and inadequate
_PROHIBITIVE = 10**9  # number of fits
_TWO_SIDED = f"within {100 * COVERAGE_MARGIN:g} points"
_EACH_ACCURACY = "each accuracy"
CLAIMS = (
    "the relative absolute error is at most 1",
    "absolute error is robust to outliers",
    "hold-out is pessimistic",
    "fewer test rows, larger variance",
    "subsampling has a smaller variance than hold-out",
    "stratification improves the estimate",
    "the validation error of the selected model is too low",
    "cross-validation is less pessimistic than hold-out",
    "leave-one-out has a high variance",
    "5 or 10 folds are better than leave-one-out",
    "repeating cross-validation improves the estimate",
    "complete cross-validation improves the estimate",
    "complete cross-validation is prohibitive",
    ".632 is better than 10-fold for every learner in small samples",
    ".632 is optimistic for the nearest neighbour",
    "90 % of intervals contain the true value",
    "small, variable samples give wide intervals",
    "intervals on a test set have their coverage",
    "the Gaussian interval is adequate for many rows",
    "the Gaussian interval is too narrow for few rows",
    "bagging and boosting reduce the error",
    "voting is as accurate as averaging",
    "bagging helps trees more than stable learners",
)
"""Short names of the claims, in the chapter's order."""


@dataclass(frozen=True, eq=False)
class SimulationResults:
    """All results by which the claims are judged.

    Attributes
    ----------
    draws : Draws
        Estimates of the main simulation.
    complete : Draws
        Estimates by complete cross-validation.
    ensembles : EnsembleResults
        Errors of ensembles.
    selected : SelectedModelError
        Errors of selected models.
    intervals : pandas.DataFrame
        Sampled 90 % intervals (see `binomial.sample_intervals`).
    exact : pandas.DataFrame
        Exact coverage and width of intervals (see `binomial.tabulate_intervals`).
    outliers : pandas.DataFrame
        Changes in regression measures caused by one outlier (see `regression.simulate_outliers`).
    """

    draws: Draws
    complete: Draws
    ensembles: EnsembleResults
    selected: SelectedModelError
    intervals: pd.DataFrame
    exact: pd.DataFrame
    outliers: pd.DataFrame


def judge_claims(results: SimulationResults, *, conclusive: bool = True) -> dict[str, Claim]:
    """Judge all claims, and return them keyed by short name, in the chapter's order.

    If `conclusive` is False, claims that are judged by simulation are marked as inconclusive.
    """
    simulated = {
        "absolute error is robust to outliers": judge_outliers(results.outliers),
        **judge_hold_out(results.draws),
        "the validation error of the selected model is too low": judge_selection(results.selected),
        **judge_cross_validation(results.draws),
        "complete cross-validation improves the estimate": judge_complete(results.complete),
        **judge_bootstrap(results.draws),
        "90 % of intervals contain the true value": judge_confidence_level(results.intervals),
        "intervals on a test set have their coverage": judge_hold_out_coverage(results.draws),
        **judge_ensembles(results.ensembles),
    }
    if not conclusive:
        simulated = dict(zip(simulated, mark_inconclusive(simulated.values()), strict=True))
    judged = simulated | judge_exact_intervals(results.exact) | judge_facts()
    return {name: judged[name] for name in CLAIMS}


def _judge_learners(*estimates: LearnerEstimates) -> Verdict:
    """Judge a claim that all estimates are positive for every learner."""
    return judge_direction(mean for estimate in estimates for mean in estimate.means)


def _compare(draws: Draws, first: str, second: str, quantity: Quantity) -> LearnerEstimates:
    """Compare two methods by learner over all cells.

    Biases are compared only over problems with a signal.
    """
    chosen = draws.with_signal if quantity == "bias" else draws
    return chosen.estimate_by_learner(lambda own: own.compare(first, second, quantity))


def judge_hold_out(draws: Draws) -> dict[str, Claim]:
    """Judge the claims about hold-out, subsampling and stratification."""
    small_test = "9/10 for training"
    biases = {
        name: draws.with_signal.estimate_by_learner(lambda own, method=method: own.estimate_bias(method))  # type: ignore[misc]
        for name, method in (("", "hold-out 2/3"), (small_test, "hold-out 9/10"))
    }
    smaller_error = _compare(draws, "hold-out 2/3", "hold-out 9/10", "bias")
    larger_deviation = _compare(draws, "hold-out 9/10", "hold-out 2/3", "deviation")
    subsampling = _compare(draws, "hold-out 2/3", "subsampling", "deviation")
    stratified = _compare(draws, "subsampling, not stratified", "subsampling", "rmse")
    return {
        "hold-out is pessimistic": build_claim(
            "Hold-out is pessimistic, because some rows are not used for training: the bias of hold-out with 2/3 of the rows "
            f"is above 0 for every learner {_SIGNAL}",
            lambda variant: _judge_learners(biases[variant]),
            f"estimated minus true error, {biases[''].describe_points()}; with 9/10 of the rows, "
            f"{biases[small_test].overall.format_points()} points",
            variants=[small_test],
        ),
        "fewer test rows, larger variance": Claim(
            f"Training on more rows and testing on fewer (9/10 instead of 2/3) gives a smaller estimated error {_SIGNAL} and "
            "a larger standard deviation for every learner",
            _judge_learners(smaller_error, larger_deviation),
            f"estimated error with 2/3 minus 9/10 of the rows, {smaller_error.describe_points()}; standard deviation with 9/10 "
            f"relative to 2/3, {larger_deviation.describe_ratio()}",
        ),
        "subsampling has a smaller variance than hold-out": Claim(
            "The result of hold-out depends on a single split; random subsampling has a smaller standard deviation for every "
            "learner",
            _judge_learners(subsampling),
            f"standard deviation of hold-out 2/3 relative to subsampling, {subsampling.describe_ratio()}",
        ),
        "stratification improves the estimate": Claim(
            "A class that is over-represented in training affects the estimate: stratification reduces its root mean squared "
            "error for every learner",
            _judge_learners(stratified),
            "root mean squared error of subsampling without stratification, relative to that with stratification, "
            f"{stratified.describe_ratio()}",
        ),
    }


def judge_cross_validation(draws: Draws) -> dict[str, Claim]:
    """Judge the claims about k-fold cross-validation and leave-one-out."""
    smaller_bias = _compare(draws, "hold-out 2/3", "10-fold", "bias")
    deviations = [_compare(draws, "leave-one-out", method, "deviation") for method in ("10-fold", "5-fold")]
    errors = [_compare(draws, "leave-one-out", method, "rmse") for method in ("10-fold", "5-fold")]
    repeated = _compare(draws, "10-fold", _REPEATED, "rmse")
    return {
        "cross-validation is less pessimistic than hold-out": Claim(
            "Cross-validation uses all rows: the bias of 10-fold is below that of hold-out with 2/3 of the rows for every "
            f"learner {_SIGNAL}",
            _judge_learners(smaller_bias),
            f"hold-out 2/3 minus 10-fold, {smaller_bias.describe_points()}",
        ),
        "leave-one-out has a high variance": Claim(
            "Leave-one-out has a high variance: above that of 10-fold and of 5-fold for every learner",
            _judge_learners(*deviations),
            f"standard deviation of leave-one-out relative to 10-fold, {deviations[0].describe_ratio()}; relative to 5-fold, "
            f"{deviations[1].describe_ratio()}",
        ),
        "5 or 10 folds are better than leave-one-out": Claim(
            "Therefore 5 or 10 folds are preferred to leave-one-out: both have a smaller root mean squared error for every "
            "learner",
            _judge_learners(*errors),
            f"root mean squared error of leave-one-out relative to 10-fold, {errors[0].describe_ratio()}; relative to 5-fold, "
            f"{errors[1].describe_ratio()}",
        ),
        "repeating cross-validation improves the estimate": Claim(
            "Repeating cross-validation gives a better estimate: a smaller root mean squared error for every learner",
            _judge_learners(repeated),
            f"root mean squared error of 10-fold once relative to {N_REPEATS} times, {repeated.describe_ratio()}",
        ),
    }


def judge_complete(draws: Draws) -> Claim:
    """Judge whether complete cross-validation is better than a single partition."""
    once = _compare(draws, complete.ONCE, complete.COMPLETE, "rmse")
    repeated = _compare(draws, complete.REPEATED, complete.COMPLETE, "rmse")
    return Claim(
        "Testing all splits (complete cross-validation, footnote 2) gives a better estimate: a smaller root mean squared error "
        "than one partition for every learner",
        _judge_learners(once),
        f"root mean squared error of one partition into test sets of two rows relative to all splits, {once.describe_ratio()}; "
        f"not judged, {N_REPEATS} partitions relative to all splits, {repeated.overall.format_ratio()}",
    )


def judge_bootstrap(draws: Draws) -> dict[str, Claim]:
    """Judge the claim about the bootstrap, and our own claim about its bias."""
    n_rows = int(draws.frame["n"].min())
    plain = _compare(draws.smallest, "10-fold", ".632", "rmse")
    plus = _compare(draws.smallest, "10-fold", ".632+", "rmse")
    neighbour = draws.with_signal.select(learner="nearest neighbour")
    plain_bias, plus_bias = (neighbour.estimate_bias(method) for method in (".632", ".632+"))
    difference = neighbour.compare(".632+", ".632", "bias")
    return {
        ".632 is better than 10-fold for every learner in small samples": Claim(
            f"The bootstrap is recommended if the sample is small: with {n_rows} rows, .632 has a smaller root mean squared "
            "error than 10-fold for every learner",
            _judge_learners(plain),
            f"root mean squared error of 10-fold relative to .632 with {n_rows} rows, {plain.describe_ratio()}; not judged, "
            f"relative to .632+, {plus.overall.format_ratio()}",
        ),
        ".632 is optimistic for the nearest neighbour": Claim(
            ".632 is optimistic for the nearest neighbour, which memorizes its training rows (mean bias below 0); .632+ is "
            "less optimistic (its bias is above that of .632)",
            judge_direction([-plain_bias.mean, difference.mean]),
            f"bias in points: .632 {plain_bias.format_points()}, .632+ {plus_bias.format_points()}, difference "
            f"{difference.format_points()}",
            kind="own",
        ),
    }


def judge_confidence_level(intervals: pd.DataFrame) -> Claim:
    """Judge the coverage of 90 % intervals over many samples, as in Figure 4."""
    level = binomial.FIGURE_LEVEL
    coverage = {method: binomial.estimate_coverage(intervals, method) for method in binomial.METHODS}
    n_samples = int(intervals["sample"].max())
    return build_claim(
        f"Of intervals at a confidence level of {_percent(level)}, {_percent(level)} contain the true value (judged as: within "
        f"{100 * COVERAGE_MARGIN:g} points, Wilson's intervals)",
        lambda variant: judge_equivalence([coverage[variant or "Wilson"].subtract(level)], COVERAGE_MARGIN),
        f"{n_samples} samples of {binomial.FIGURE_ROWS} test rows: "
        + "; ".join(f"{method} {_format_percent(value)}" for method, value in coverage.items()),
        variants=[method for method in binomial.METHODS if method != "Wilson"],
    )


def judge_hold_out_coverage(draws: Draws) -> Claim:
    """Judge whether binomial hold-out intervals contain the true error often enough."""
    coverage = {method: draws.estimate_coverage(method) for method in _HOLD_OUTS}
    described = []
    for method, estimate in coverage.items():
        rows = draws.summary[draws.summary["method"] == method]
        row = rows.iloc[int(rows["coverage"].argmin())]
        lowest = _format_percent(IntervalEstimate(row["coverage"], row["coverage_low"], row["coverage_high"]))
        where = f"{row['problem']}, {row['n']} rows, {row['learner']}"
        described.append(f"{method} {_format_percent(estimate)}, lowest {lowest} on {where}")
    limit = LEVEL - COVERAGE_SHORTFALL
    verdicts = {
        "": judge_direction(estimate.subtract(limit) for estimate in coverage.values()),
        _TWO_SIDED: judge_equivalence([estimate.subtract(LEVEL) for estimate in coverage.values()], COVERAGE_MARGIN),
    }
    return build_claim(
        "Binomial intervals on a test set contain the true error of the learner trained on all rows (judged as: the "
        f"mean coverage of {_percent(LEVEL)} intervals over problems, sizes and learners is at least {_percent(limit)} for "
        "both hold-outs)",
        verdicts.__getitem__,
        "; ".join(described),
        variants=[_TWO_SIDED],
    )


def judge_selection(selected: SelectedModelError) -> Claim:
    """Judge whether the validation error of a selected model is biased, but not its test error."""
    validation, test = (error.subtract(selected.true_error) for error in (selected.validation, selected.test))
    return Claim(
        "The error on the validation set that was used to select the model underestimates the true error; the error on new "
        f"rows is within {ERROR_MARGIN:g} of the true error",
        combine_verdicts([judge_direction([-validation]), judge_equivalence([test], ERROR_MARGIN)]),
        f"true error {selected.true_error}; error of the best of twenty models: {selected.validation.format('{:.3f}')} on the "
        f"validation set, {selected.test.format('{:.3f}')} on new rows",
    )


def judge_outliers(changes: pd.DataFrame) -> Claim:
    """Judge whether one outlier increases squared errors more than absolute errors."""
    differences = regression.estimate_differences(changes)
    ratios = regression.tabulate_outliers(changes)
    described = "; ".join(
        f"{int(row['n'])} rows, outlier of {row['outlier']:g} standard deviations: "
        + ", ".join(f"{name} {row[name]:.2f}" for name in ("MSE", "RMSE", "MAE"))
        for row in ratios.to_dict("records")
    )
    smallest = min(differences, key=lambda difference: difference.value)
    return Claim(
        "Absolute error is more robust to outliers than squared error: one outlier increases MSE and RMSE by a larger factor "
        "than MAE, and RSE by a larger factor than RAE",
        judge_direction(differences),
        f"factor by which one outlier increases the error: {described}; smallest of {len(differences)} differences between "
        f"logarithms of factors {format_estimate(smallest, 3, sign=True)}",
    )


def judge_ensembles(ensembles: EnsembleResults) -> dict[str, Claim]:
    """Judge the claims about bagging and boosting."""
    averaged = "averaged probabilities"
    bagging = {"": ensembles.estimate_gains(VOTED), averaged: ensembles.estimate_gains("bagged C4.5")}
    boosting = ensembles.estimate_gains("boosted C4.5")
    voting = ensembles.compare_errors("bagged C4.5", VOTED)
    stable = {name: ensembles.compare_gains("bagged C4.5", name) for name in _STABLE}
    return {
        "bagging and boosting reduce the error": build_claim(
            "Bagging (majority vote) and boosting outperform the single classifier: each reduces the error of C4.5 "
            "(combined test over problems)",
            lambda variant: combine_verdicts(judge_datasets(gains.values()) for gains in (bagging[variant], boosting)),
            f"reduction of the error in points: bagging, {_format_problems(bagging[''])}; boosting, "
            f"{_format_problems(boosting)}",
            variants=[averaged],
        ),
        "voting is as accurate as averaging": Claim(
            "Bagged trees that vote, as in the chapter, are as accurate as bagged trees that average probabilities (judged as: "
            f"errors within {VOTING_MARGIN:g} point on each problem)",
            judge_equivalence(voting.values(), VOTING_MARGIN),
            f"error of averaging minus voting in points: {_format_problems(voting)}",
            kind="own",
        ),
        "bagging helps trees more than stable learners": Claim(
            "After Breiman (1996): bagging reduces the error of trees more than that of naive Bayes and nearest neighbour "
            "(combined test over problems; the chapter states only that the gain depends on the instability of the base "
            "learner)",
            combine_verdicts(judge_datasets(differences.values()) for differences in stable.values()),
            f"{_describe_variances(ensembles.parts)}; gain of C4.5 minus that of the other learner in points: "
            + "; ".join(f"{BASES[name]}, {_format_problems(differences)}" for name, differences in stable.items()),
            kind="own",
        ),
    }


def _format_problems(estimates: Mapping[str, IntervalEstimate]) -> str:
    return ", ".join(f"{problem} {format_estimate(estimate, 1, sign=True)}" for problem, estimate in estimates.items())


def _describe_variances(parts: pd.DataFrame) -> str:
    """Describe the variances of single learners.

    A learner with more than half the variance of C4.5 counts as unstable.
    """
    names = ["C4.5", *(BASES[name] for name in _STABLE)]
    variances = parts.groupby("learner", sort=False)["variance"].mean().mul(100)
    values = ", ".join(f"{name} {variances[name]:.1f}" for name in names)
    unstable = [name for name in names[1:] if variances[name] > variances["C4.5"] / 2]
    notes = "".join(f"; {name} has more than half the variance of C4.5 and is not stable here" for name in unstable)
    return f"variance of the single learners in points, mean over problems: {values}{notes}"


def judge_exact_intervals(exact: pd.DataFrame) -> dict[str, Claim]:
    """Judge the claims about width and the Gaussian interval from exact values."""
    summary = {(row["method"], row["n"]): row for row in binomial.summarize_intervals(exact).to_dict("records")}
    widths = exact[exact["method"] == "Wilson"].pivot_table(index="accuracy", columns="n", values="width")
    sizes, levels = list(widths.columns), [0.5, 0.8, 0.95]
    chosen = widths.loc[levels]
    decreases = [*-np.diff(chosen.to_numpy(), axis=0).ravel(), *-np.diff(chosen.to_numpy(), axis=1).ravel()]
    few, many, wilson = (summary[key] for key in (("Gaussian", _FEW_ROWS), ("Gaussian", _MANY_ROWS), ("Wilson", _FEW_ROWS)))
    is_many = (exact["method"] == "Gaussian") & (exact["n"] == _MANY_ROWS)
    deviations = {"": [many["mean"] - LEVEL], _EACH_ACCURACY: (exact.loc[is_many, "coverage"] - LEVEL).tolist()}
    return {
        "small, variable samples give wide intervals": Claim(
            "Small samples with a high variability give wide intervals: the mean width decreases with the number of test rows, "
            f"and with the accuracy from 50 % to 95 %, where the variance is smaller (Wilson's {_percent(LEVEL)} intervals)",
            judge_direction(_fix(float(decrease)) for decrease in decreases),
            "mean width in points for an accuracy of 50 %, 80 % and 95 %: "
            + "; ".join(f"{n} rows {', '.join(f'{100 * width:.1f}' for width in chosen[n])}" for n in sizes),
        ),
        "the Gaussian interval is adequate for many rows": build_claim(
            f"If the test set is large, a Gaussian interval is adequate (judged as: with {_MANY_ROWS} rows, the exact coverage "
            f"at {_percent(LEVEL)}, mean over accuracies from 50 % to 99 %, is within {100 * COVERAGE_MARGIN:g} points)",
            lambda variant: judge_equivalence(map(_fix, deviations[variant]), COVERAGE_MARGIN),
            f"exact coverage {_percent(many['mean'], 1)}; lowest {_percent(many['lowest'], 1)}, at an accuracy of "
            f"{_percent(many['lowest at'])}",
            variants=[_EACH_ACCURACY],
        ),
        "the Gaussian interval is too narrow for few rows": Claim(
            f"With few rows, the Gaussian interval is not adequate, and Wilson's is (judged as: with {_FEW_ROWS} rows, the "
            f"mean exact coverage of the Gaussian interval is more than {100 * COVERAGE_MARGIN:g} points below "
            f"{_percent(LEVEL)}, and that of Wilson's interval is closer)",
            combine_verdicts(
                [
                    judge_direction([_fix(LEVEL - COVERAGE_MARGIN - few["mean"])]),
                    judge_equivalence([_fix(wilson["mean"] - LEVEL)], COVERAGE_MARGIN),
                ]
            ),
            f"mean exact coverage: Gaussian {_percent(few['mean'], 1)}, lowest {_percent(few['lowest'], 1)}; Wilson "
            f"{_percent(wilson['mean'], 1)}, lowest {_percent(wilson['lowest'], 1)}",
            kind="own",
        ),
    }


def _percent(proportion: float, digits: int = 0) -> str:
    return f"{100 * proportion:.{digits}f} %"


def _format_percent(estimate: IntervalEstimate) -> str:
    return IntervalEstimate(100 * estimate.value, 100 * estimate.low, 100 * estimate.high).format("{:.1f} %")


def _fix(value: float) -> IntervalEstimate:
    """Return an exact value as an estimate without sampling error."""
    return IntervalEstimate(value, value, value)


def judge_facts() -> dict[str, Claim]:
    """Judge the claims that can be decided by an example or a count."""
    error = regression.compute_measures([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])["RAE"]
    n_splits = {n: complete.count_splits(n) for n in (20, 50, 100)}
    return {
        "complete cross-validation is prohibitive": Claim(
            "Footnote 2: testing all splits is usually prohibitive (judged as: with 100 rows and test sets of a tenth, it "
            f"needs more than {_PROHIBITIVE:,} fits)",
            judge_fact(n_splits[100] > _PROHIBITIVE),
            "number of fits: " + "; ".join(f"{n} rows {_format_large(count)}" for n, count in n_splits.items()),
        ),
        "the relative absolute error is at most 1": Claim(
            "The relative absolute error lies between 0 and 1",
            judge_fact(error <= 1),
            f"true values 1, 2, 3 and predictions 3, 2, 1 give {error:g}; the error exceeds 1 if predictions are worse than "
            "the mean",
        ),
    }


def _format_large(count: int) -> str:
    return f"{count:,}" if count < 10**7 else f"{count:.1e}"


def judge_printed(worked: pd.DataFrame, intervals: pd.DataFrame) -> list[Claim]:
    """Judge the numbers that the chapter prints."""
    from scipy.stats import binom

    figure = binomial.select_figure(intervals)
    n_samples = len(figure)
    exact = float(binomial.compute_coverage("Wilson", binomial.FIGURE_ROWS, [float(figure["true_accuracy"].iloc[0])], 0.9)[0])
    low, high = (int(limit) for limit in binom.interval(0.95, n_samples, 1 - exact))
    printed_misses = 3
    return [
        *(
            Claim(
                f"{row['quantity'][0].upper()}{row['quantity'][1:]}: {row['published']:g}",
                judge_fact(row["assessment"] in _AGREEING),
                f"ours {row['ours']:.4g}"
                + (
                    f" for 100 rows; the printed number is the limit for many rows, {row['limit']:.4g}"
                    if row["limit"] == row["limit"]
                    else ""
                ),
                kind="printed",
            )
            for row in worked.to_dict("records")
        ),
        Claim(
            f"Figure 4: {printed_misses} of 30 intervals at 90 % do not contain the true value",
            judge_fact(low <= printed_misses <= high),
            f"ours {int((~figure['is_covered']).sum())} of {n_samples}; in 95 % of cases between {low} and {high}",
            kind="printed",
        ),
    ]


_AGREEING = ("agrees after rounding", "rounded limit for many rows, not the value for 100 rows")


def list_by_verdict(claims: Mapping[str, Claim], verdicts: Iterable[Verdict]) -> list[str]:
    """Return the short names of the chapter's claims that have one of these verdicts."""
    return [name for name, claim in claims.items() if claim.kind == "claim" and claim.verdict in set(verdicts)]
