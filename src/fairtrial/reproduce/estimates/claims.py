"""Claims of the chapter about estimates of error, model selection and ensembles, judged by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.claim import Claim, IntervalEstimate, are_all_positive, combine_outcomes, mark_inconclusive
from fairtrial.reproduce.estimates.draws import Draws, LearnerEstimates, Quantity, format_estimate
from fairtrial.reproduce.estimates.ensembles import BASES
from fairtrial.reproduce.estimates.simulation import LEVEL, METHODS, N_REPEATS, SelectedModelError

if TYPE_CHECKING:
    import pandas as pd

_REPEATED = f"10-fold, {N_REPEATS} times"
_HOLD_OUTS = ("hold-out 2/3", "hold-out 9/10")  # the methods to which the chapter's binomial interval applies
_STABLE = ("bagged naive Bayes", "bagged nearest neighbour")
_SIGNAL = "(problems with a signal)"
_COVERAGE_TOLERANCE = 0.01
_ERROR_TOLERANCE = 0.02


def judge_claims(
    draws: Draws, ensembles: pd.DataFrame, selected: SelectedModelError, *, conclusive: bool = True
) -> tuple[Claim, ...]:
    """Judge all claims in the chapter's order. Unless `conclusive`, claims judged by simulation are marked as inconclusive."""
    simulated = (
        *_judge_hold_out(draws),
        *_judge_cross_validation(draws),
        *_judge_bootstrap(draws),
        _judge_coverage(draws),
        _judge_selection(selected),
        *judge_ensembles(ensembles),
    )
    return (*(simulated if conclusive else mark_inconclusive(simulated)), _judge_relative_error())


def is_positive_for_all(*estimates: LearnerEstimates) -> bool | None:
    """Return whether all estimates are positive for every learner; None if the intervals do not decide this."""
    return are_all_positive(learner.mean for estimate in estimates for learner in estimate.learners.values())


def _compare(draws: Draws, first: str, second: str, quantity: Quantity) -> LearnerEstimates:
    """Compare two methods by learner over all cells; biases are compared only over problems with a signal."""
    chosen = draws.with_signal if quantity == "bias" else draws
    return chosen.estimate_by_learner(lambda own: own.compare(first, second, quantity))


def _judge_hold_out(draws: Draws) -> list[Claim]:
    bias = draws.with_signal.estimate_by_learner(lambda own: own.estimate_bias("hold-out 2/3"))
    other_bias = draws.with_signal.estimate_bias("hold-out 9/10")
    reason = " (possibly because stratified test sets have the class proportions of the sample; not tested)"
    smaller_error = _compare(draws, "hold-out 2/3", "hold-out 9/10", "bias")
    larger_deviation = _compare(draws, "hold-out 9/10", "hold-out 2/3", "deviation")
    subsampling = _compare(draws, "hold-out 2/3", "subsampling", "deviation")
    stratified = _compare(draws, "subsampling, not stratified", "subsampling", "rmse")
    return [
        Claim(
            "Hold-out is pessimistic, because some rows are not used for training: the bias of hold-out with 2/3 of the rows "
            f"is above 0 for every learner {_SIGNAL}",
            is_positive_for_all(bias),
            f"estimated minus true error, {bias.describe_points()}; not judged, hold-out with 9/10 of the rows: "
            f"{other_bias.describe_points()}{reason if other_bias.mean.is_positive is False else ''}",
        ),
        Claim(
            f"Training on more rows and testing on fewer (9/10 instead of 2/3) gives a smaller estimated error {_SIGNAL} and "
            "a larger standard deviation (all problems) for every learner",
            is_positive_for_all(smaller_error, larger_deviation),
            f"estimated error with 2/3 minus 9/10 of the rows, {smaller_error.describe_points()}; standard deviation with 9/10 "
            f"relative to 2/3, {larger_deviation.describe_ratio()}",
        ),
        Claim(
            "The result of hold-out depends on a single split; random subsampling has a smaller standard deviation for every "
            "learner",
            is_positive_for_all(subsampling),
            f"standard deviation of hold-out 2/3 relative to subsampling, {subsampling.describe_ratio()}",
        ),
        Claim(
            "A class that is over-represented in training affects the estimate: stratification reduces its root mean squared "
            "error for every learner",
            is_positive_for_all(stratified),
            f"root mean squared error of subsampling without relative to with stratification, {stratified.describe_ratio()}",
        ),
    ]


def _judge_cross_validation(draws: Draws) -> list[Claim]:
    smaller_bias = _compare(draws, "hold-out 2/3", "10-fold", "bias")
    deviations = [_compare(draws, "leave-one-out", method, "deviation") for method in ("10-fold", "5-fold")]
    errors = [_compare(draws, "leave-one-out", method, "rmse") for method in ("10-fold", "5-fold")]
    repeated = _compare(draws, "10-fold", _REPEATED, "rmse")
    biases = {method: draws.with_signal.estimate_bias(method) for method in ("leave-one-out", "10-fold", "5-fold")}
    mean_biases = "; ".join(f"{method} {100 * bias.mean.value:+.2f}" for method, bias in biases.items())
    return [
        Claim(
            "Cross-validation uses all rows: the bias of 10-fold is below that of hold-out with 2/3 of the rows for every "
            f"learner {_SIGNAL}",
            is_positive_for_all(smaller_bias),
            f"hold-out 2/3 minus 10-fold, {smaller_bias.describe_points()}; mean bias in points: {mean_biases}",
        ),
        Claim(
            "Leave-one-out has a high variance: above that of 10-fold and of 5-fold for every learner",
            is_positive_for_all(*deviations),
            f"standard deviation of leave-one-out relative to 10-fold, {deviations[0].describe_ratio()}; relative to 5-fold, "
            f"{deviations[1].describe_ratio()}",
        ),
        Claim(
            "Therefore 5 or 10 folds are preferred to leave-one-out: both have a smaller root mean squared error for every "
            "learner",
            is_positive_for_all(*errors),
            f"root mean squared error of leave-one-out relative to 10-fold, {errors[0].describe_ratio()}; relative to 5-fold, "
            f"{errors[1].describe_ratio()}",
        ),
        Claim(
            "Repeating cross-validation gives a better estimate: a smaller root mean squared error for every learner",
            is_positive_for_all(repeated),
            f"root mean squared error of 10-fold once relative to {N_REPEATS} times, {repeated.describe_ratio()}",
        ),
    ]


def _judge_bootstrap(draws: Draws) -> list[Claim]:
    n_rows = int(draws.frame["n"].min())
    plain = _compare(draws.smallest, "10-fold", ".632", "rmse")
    plus = _compare(draws.smallest, "10-fold", ".632+", "rmse")
    neighbour = draws.with_signal.select(learner="nearest neighbour")
    plain_bias, plus_bias = (neighbour.estimate_bias(method) for method in (".632", ".632+"))
    difference = neighbour.compare(".632+", ".632", "bias")
    return [
        Claim(
            f"The bootstrap is recommended if the sample is small: with {n_rows} rows, .632 has a smaller root mean squared "
            "error than 10-fold for every learner",
            is_positive_for_all(plain),
            f"root mean squared error of 10-fold relative to .632 with {n_rows} rows, {plain.describe_ratio()}; not judged, "
            f"relative to .632+, {plus.describe_ratio()}",
        ),
        Claim(
            "Not in the chapter: .632 is optimistic for the nearest neighbour, which memorizes its training rows (mean bias "
            "below 0); .632+ is less optimistic (its bias is above that of .632)",
            combine_outcomes([(-plain_bias.mean).is_positive, difference.mean.is_positive]),
            f".632, {plain_bias.describe_points()}; .632+, {plus_bias.describe_points()}; .632+ minus .632, "
            f"{difference.describe_points()}",
        ),
    ]


def _judge_coverage(draws: Draws) -> Claim:
    """Judge the coverage of the chapter's binomial intervals on a test set."""
    coverage = {method: draws.estimate_coverage(method) for method in METHODS if method != "resubstitution"}
    judged, others = (
        "; ".join(f"{method} {value.format('{:.1%}')}" for method, value in coverage.items() if (method in _HOLD_OUTS) is own)
        for own in (True, False)
    )
    lowest = []
    for method in _HOLD_OUTS:
        rows = draws.summary[draws.summary["method"] == method]
        row = rows.iloc[int(rows["coverage"].argmin())]
        proportion = IntervalEstimate(row["coverage"], row["coverage_low"], row["coverage_high"]).format("{:.1%}")
        lowest.append(f"{method} {proportion} on {row['problem']}, {row['n']} rows, {row['learner']}")
    limit = LEVEL - _COVERAGE_TOLERANCE
    return Claim(
        f"Binomial intervals on a test set at a confidence level of {LEVEL:.0%} contain the true value in {LEVEL:.0%} of cases "
        f"(judged as: in at least {limit:.0%} for both hold-outs, mean over cells)",
        are_all_positive(coverage[method].subtract(limit) for method in _HOLD_OUTS),
        "coverage of the true error of the learner trained on the whole sample, mean over cells: "
        f"{judged}; lowest of all cells: {'; '.join(lowest)}; not judged, intervals of the other methods: {others}",
    )


def _judge_selection(selected: SelectedModelError) -> Claim:
    validation, test = (error.subtract(selected.true_error) for error in (selected.validation, selected.test))
    return Claim(
        "The error on the validation set that selected the model underestimates the true error; the error on new rows is "
        f"within {_ERROR_TOLERANCE:g} of it",
        combine_outcomes([(-validation).is_positive, test.is_within(_ERROR_TOLERANCE)]),
        f"true error {selected.true_error}; error of the best of twenty models: {selected.validation.format('{:.3f}')} on the "
        f"validation set, {selected.test.format('{:.3f}')} on new rows",
    )


def judge_ensembles(ensembles: pd.DataFrame) -> list[Claim]:
    """Judge whether bagging and boosting reduce the error, and for which base learners they reduce it more.

    All learners are trained on the same samples. Two gains differ if their intervals do not overlap, which is conservative.
    """
    gains = {
        (row["problem"], row["learner"]): IntervalEstimate(row["gain"], row["low"], row["high"])
        for row in ensembles.dropna(subset=["gain"]).to_dict("records")
    }
    trees = {key: gain for key, gain in gains.items() if key[1] in ("bagged C4.5", "boosted C4.5")}
    compared = {key: gain for key, gain in gains.items() if key[1] in ("bagged C4.5", *_STABLE)}
    differences = [
        IntervalEstimate(tree.value - other.value, tree.low - other.high, tree.high - other.low)
        for (problem, learner), tree in trees.items()
        if learner == "bagged C4.5"
        for other in (gains[problem, name] for name in _STABLE)
    ]
    return [
        Claim(
            "Bagging and boosting outperform the single classifier: on every problem, both reduce the error of C4.5",
            are_all_positive(trees.values()),
            f"reduction of the error in points: {_format_gains(trees)}",
        ),
        Claim(
            "Not in the chapter, after Breiman 1996: on every problem, bagging reduces the error of trees more than that of "
            "the stable learners naive Bayes and nearest neighbour (the chapter states only that the gain depends on the "
            "instability of the base learner)",
            are_all_positive(differences),
            f"{_describe_variances(ensembles)}; reduction of the error in points: {_format_gains(compared)}",
        ),
    ]


def _format_gains(gains: dict[tuple[str, str], IntervalEstimate]) -> str:
    return "; ".join(f"{learner}, {problem} {format_estimate(gain, 1)}" for (problem, learner), gain in gains.items())


def _describe_variances(ensembles: pd.DataFrame) -> str:
    """Describe the variances of the single learners; a variance above half that of trees counts as unstable."""
    names = ["C4.5", *(BASES[name] for name in _STABLE)]
    variances = ensembles.groupby("learner", sort=False)["variance"].mean().mul(100)
    values = ", ".join(f"{name} {variances[name]:.1f}" for name in names)
    unstable = [name for name in names[1:] if variances[name] > variances["C4.5"] / 2]
    notes = "".join(f"; {name} has more than half the variance of C4.5 and is not stable here" for name in unstable)
    return f"variance of the single learners in points, mean over problems: {values}{notes}"


def _judge_relative_error() -> Claim:
    from fairtrial.measures.regression import rae

    error = float(rae([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]))
    return Claim(
        "The relative absolute error lies between 0 and 1",
        error <= 1,
        f"true values 1, 2, 3 and predictions 3, 2, 1 give {error:g}; the error exceeds 1 if predictions are worse than the "
        "mean",
    )
