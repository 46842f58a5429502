"""Compare the chapter's estimates of error with the true error on simulated problems."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_count, join_names
from fairtrial.reproduce.claim import CONTRADICTED, DIRECTION, REPRODUCED, Claim
from fairtrial.reproduce.estimates import binomial, claims, complete, figures, illustrations, regression, simulation
from fairtrial.reproduce.estimates.claims import SimulationResults
from fairtrial.reproduce.estimates.draws import Draws
from fairtrial.reproduce.estimates.ensembles import VOTED, EnsembleResults, simulate_ensembles
from fairtrial.reproduce.estimates.simulation import N_REPEATS, SelectedModelError, SimulationPlan
from fairtrial.reproduce.experiment import Reproduction, Request, ResultTable, experiment

if TYPE_CHECKING:
    import pandas as pd

_RESUBSTITUTION = "resubstitution"  # tested on training rows, so the page reports it separately
_TOLERANCE = 0.003  # four standard errors of the proportion over 2000 samples
_WORKED_NOTE = (
    "The last two published values, 1/e and 1 - 1/e, are limits for a large number of rows (column `limit`). The exact values "
    "for 100 rows are different."
)
_METHODS_NOTE = (
    "The table shows the bias (estimated minus true error), standard deviation and root mean squared error of the estimate in "
    "points. It also shows the coverage and width of the 95 % interval in percent. All numbers are means over problems"
)
_EXACT_NOTE = (
    "The table shows the exact coverage of 95 % intervals in percent, computed from the binomial distribution. `mean` and "
    "`lowest` are the mean and the lowest coverage over true accuracies from 50 % to 99 %. `lowest at` is the accuracy with "
    "the lowest coverage, and `width` is the mean width in points. `n` is the number of test rows. The Gaussian interval is "
    "the accuracy plus or minus 1.96 standard errors, truncated to [0, 1]."
)
_COMPLETE_NOTE = (
    "Test sets have two rows, so 10 rows give 5 folds, and 20 rows give 10 folds. The bias, standard deviation and root mean "
    "squared error are in points, averaged over problems. `fits` is the number of trained models."
)
_EXAMPLE_NOTE = (
    "The example is a linear model of the progression of diabetes (scikit-learn's data set, trained on two thirds of 442 "
    "patients). The intervals are 95 % BCa bootstrap intervals. For `with outlier`, the largest true value is multiplied by "
    "10. `ratio` is the factor by which the outlier changes the measure."
)
_OUTLIERS_NOTE = (
    "The table shows the factor by which one outlier increases each measure, as a geometric mean over samples. The outlier "
    "moves one of `n` true values by 5 or 10 standard deviations of the errors."
)
_ENSEMBLES_NOTE = (
    "The table shows the expected error in points and its parts: noise, bias and variance (Kohavi and Wolpert). The noise at "
    "a row is half the sum of p (1 - p) over the classes, where p is the probability of the class. The mean noise lies between "
    "half the Bayes error and the Bayes error. `gain` is the error of the single learner minus that of the ensemble on the "
    "same training rows, with its 95 % interval over training samples. All learners are tested on the same new rows. The "
    "bagged learners average the probabilities of their members, except 'bagged C4.5, majority vote', which counts their votes."
)


@experiment(
    "estimates",
    title="Estimates of error against the known error",
    paper="estimates",
)
def run(request: Request) -> Reproduction:
    """Simulate samples, and compare the estimates by all methods with the true error."""
    plan = SimulationPlan.load(request.scale)
    results = simulate_results(plan, request)
    worked = compute_worked_examples()
    judged = claims.judge_claims(results, conclusive=request.scale != "smoke")
    return Reproduction(
        values={
            "plan": plan,
            "bayes_errors": {name: simulation.build_population(name).bayes_error for name in plan.problems},
            "n_repeats": N_REPEATS,
            "figure_rows": binomial.FIGURE_ROWS,
            "exact": binomial.summarize_intervals(results.exact).set_index(["method", "n"]),
            **summarize_estimates(results.draws),
            **summarize_ensembles(results.ensembles),
        },
        tables=build_tables(results, worked),
        claims=(*judged.values(), *claims.judge_printed(worked, results.intervals)),
        figures=figures.draw_figures(results) | illustrations.draw_illustrations(),
        answer=describe_answer(results.draws, judged),
    )


def simulate_results(plan: SimulationPlan, request: Request) -> SimulationResults:
    """Run all simulations.

    Only the main simulation stores its results in the output folder.
    """
    seed, progress = request.seed, request.progress
    return SimulationResults(
        draws=Draws(simulation.simulate_cells(plan, seed, request.jobs, request.out, progress=progress)),
        complete=Draws(complete.simulate_complete(plan, seed, progress=progress)),
        ensembles=simulate_ensembles(plan, seed, request.jobs, progress=progress),
        selected=SelectedModelError.simulate(plan.selections, seed),
        intervals=binomial.sample_intervals(plan.intervals, seed),
        exact=binomial.tabulate_intervals(),
        outliers=regression.simulate_outliers(plan.outliers, seed),
    )


def describe_answer(draws: Draws, judged: Mapping[str, Claim]) -> str:
    """Describe the methods with the smallest errors and the contradicted claims."""
    errors = draws.summary.groupby("method", sort=False)["rmse"].mean().mul(100).drop(_RESUBSTITUTION).sort_values()
    best = [str(name) for name in errors.index[:3]]
    others = [name for name in ("10-fold", "leave-one-out", "hold-out 2/3") if name not in best]
    names = join_names(best)
    n_claims = sum(claim.kind == "claim" for claim in judged.values())
    supported = claims.list_by_verdict(judged, [REPRODUCED, DIRECTION])
    contradicted = claims.list_by_verdict(judged, [CONTRADICTED])
    return (
        f"{names[0].upper()}{names[1:]} have the smallest root mean squared errors of all estimates on simulated problems "
        f"({join_names([f'{errors[name]:.1f}' for name in best])} points). For comparison, "
        f"the errors are {join_names([f'{errors[name]:.1f} for {name}' for name in others])}. "
        f"Of {format_count(n_claims, 'claim')} of the chapter, {len(supported)} are reproduced, at least in direction. "
        + (f"These claims are contradicted: {'; '.join(contradicted)}." if contradicted else "No claim is contradicted.")
    )


def summarize_estimates(draws: Draws) -> dict[str, Any]:
    """Summarize the best methods, the largest biases and the bias of resubstitution."""
    summary = draws.summary
    best_by_size = {}
    for n in (int(summary["n"].min()), int(summary["n"].max())):
        means = summary[summary["n"] == n].groupby("method", sort=False)["rmse"].mean().mul(100).drop(_RESUBSTITUTION)
        best_by_size[n] = (means.idxmin(), means.min())
    biases = draws.with_signal.summary.groupby(["learner", "method"], sort=False)["bias"].mean().mul(100).unstack("method")
    others = biases.drop(columns=_RESUBSTITUTION)
    largest = {learner: str(row.abs().idxmax()) for learner, row in others.iterrows()}
    return {
        "best_by_size": best_by_size,
        "largest_biases": {learner: (largest[learner], row[largest[learner]]) for learner, row in others.iterrows()},
        "resubstitution_biases": biases[_RESUBSTITUTION].to_dict(),
    }


def summarize_ensembles(ensembles: EnsembleResults) -> dict[str, Any]:
    """Summarize how bagging and boosting change the bias and variance of C4.5."""
    means = ensembles.parts.groupby("learner", sort=False)[["bias", "variance"]].mean().mul(100)
    changes = means.loc[["bagged C4.5", VOTED, "boosted C4.5"]] - means.loc["C4.5"]
    return {"changes": changes.to_dict("index")}


def build_tables(results: SimulationResults, worked: pd.DataFrame) -> tuple[ResultTable, ...]:
    """Build all tables."""
    summary = results.draws.summary
    quantities = ["bias", "deviation", "rmse", "coverage", "width"]
    by_method = summary.groupby("method", sort=False)[quantities].mean().mul(100).reset_index()
    by_size = summary.groupby(["learner", "n", "method"], sort=False)[quantities].mean().mul(100).reset_index()
    exact = binomial.summarize_intervals(results.exact)
    exact[["mean", "lowest", "lowest at", "width"]] *= 100
    return (
        ResultTable("worked", "Numbers of the chapter", worked, _WORKED_NOTE, digits=3, is_main=True),
        ResultTable(
            "methods", "All methods", by_method, f"{_METHODS_NOTE}, sample sizes and learners.", digits=2, is_main=True
        ),
        ResultTable("methods_by_size", "Methods by learner and size", by_size, f"{_METHODS_NOTE}.", digits=2, on_page=False),
        ResultTable("cells", "All cells with Monte Carlo intervals", summary, "As proportions.", on_page=False),
        ResultTable("intervals", "Intervals on a test set", exact, _EXACT_NOTE, digits=1),
        ResultTable("complete", "Complete cross-validation", tabulate_complete(results.complete), _COMPLETE_NOTE, digits=2),
        ResultTable("regression", "Regression measures", regression.tabulate_example(), _EXAMPLE_NOTE, digits=2),
        ResultTable("outliers", "One outlier", regression.tabulate_outliers(results.outliers), _OUTLIERS_NOTE, digits=2),
        ResultTable("ensembles", "Bagging and boosting", results.ensembles.frame(), _ENSEMBLES_NOTE, digits=2),
    )


def tabulate_complete(draws: Draws) -> pd.DataFrame:
    """Tabulate bias, standard deviation and RMSE of complete cross-validation, in points."""
    quantities = ["bias", "deviation", "rmse"]
    frame = draws.summary.groupby(["n", "learner", "method"], sort=False)[quantities].mean().mul(100).reset_index()
    n_fits = {
        (n, method): {complete.ONCE: n // 2, complete.REPEATED: N_REPEATS * n // 2}.get(
            method, complete.count_splits(n, n // 2)
        )
        for n, method in zip(frame["n"], frame["method"], strict=True)
    }
    return frame.assign(fits=[n_fits[key] for key in zip(frame["n"], frame["method"], strict=True)])


def compute_worked_examples() -> pd.DataFrame:
    """Compute the chapter's numerical examples, and compare them with the printed numbers.

    The examples are a model that predicts "ill" for 90 patients and 10 controls, and bootstrap samples of 100 rows.

    >>> compute_worked_examples().round(3)[["quantity", "ours", "published"]].values.tolist()[1]
    ['F-measure of the same model', 0.947, 0.95]
    """
    import pandas as pd

    from fairtrial.measures import accuracy, balanced_accuracy, f_score
    from fairtrial.resampling import Bootstrap

    y_true, y_pred = np.repeat([1, 0], [90, 10]), np.ones(100, dtype=int)
    samples = Bootstrap(2000, random_state=1).freeze(np.zeros((100, 1)))
    distinct = float(np.mean([len(np.unique(sample.train)) for sample in samples]) / 100)
    balanced = (100 * 90 / 90 + 100 * 0 / 10) / 2
    missed = 0.99**100
    nan = float("nan")
    # name, our value, published value, its digits, exact value if the published value differs from it, limit for many rows
    examples = [
        ("accuracy of an always positive model, %", 100 * float(accuracy(y_true, y_pred)), 90.0, 0, nan, nan),
        ("F-measure of the same model", float(f_score(y_true, y_pred, positive=1)), 0.95, 2, nan, nan),
        (
            "average accuracy per class of an always positive model, %",
            100 * float(balanced_accuracy(y_true, y_pred)),
            45.0,
            0,
            balanced,
            nan,
        ),
        ("probability that a bootstrap sample of 100 rows misses a row", missed, 0.368, 3, missed, exp(-1)),
        ("mean proportion of distinct rows in 2000 bootstrap samples of 100 rows", distinct, 0.632, 3, 1 - missed, 1 - exp(-1)),
    ]
    rows = [
        (name, ours, published, limit, assess_example(ours, published, digits, expected, limit))
        for name, ours, published, digits, expected, limit in examples
    ]
    return pd.DataFrame(rows, columns=["quantity", "ours", "published", "limit", "assessment"])


def assess_example(ours: float, published: float, digits: int, expected: float, limit: float) -> str:
    """Compare a published number with ours.

    `expected` is the exact value, against which our number is checked if it differs from the published one. It is NaN if no
    check is needed. `limit` is the limit for many rows if the chapter prints this limit, otherwise NaN.

    >>> nan = float("nan")
    >>> assess_example(0.947, 0.95, 2, nan, nan), assess_example(0.5, 0.95, 2, nan, nan)
    ('agrees after rounding', 'differs')
    """
    if not np.isnan(limit):
        is_limit = abs(ours - expected) <= _TOLERANCE and round(limit, digits) == published
        return "rounded limit for many rows, not the value for 100 rows" if is_limit else "differs"
    if round(ours, digits) == round(published, digits):
        return "agrees after rounding"
    return "error in the chapter" if abs(ours - expected) < 1e-9 else "differs"
