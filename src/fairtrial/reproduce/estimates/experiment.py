"""Compare the chapter's estimates of error with the true error on simulated problems."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.estimates import claims, figures, simulation
from fairtrial.reproduce.estimates.draws import Draws, format_number
from fairtrial.reproduce.estimates.ensembles import simulate_ensembles
from fairtrial.reproduce.estimates.simulation import LEARNERS, N_REPEATS, NO_SIGNAL, SelectedModelError, SimulationPlan
from fairtrial.reproduce.experiment import Reproduction, Request, ResultTable, experiment

if TYPE_CHECKING:
    import pandas as pd

_RESUBSTITUTION = "resubstitution"  # tested on training rows, so the page reports it separately
_TOLERANCE = 0.003  # four standard errors of the proportion over 2000 samples
_WORKED_NOTE = (
    "The last two published values are the limits for many rows, 1/e and 1 - 1/e (column `limit`). The values for samples of "
    "100 rows are different."
)
_METHODS_NOTE = (
    "Bias (estimated minus true error), standard deviation and root mean squared error of the estimate in points, coverage and "
    "width of the 95 % interval in percent. All are means over problems"
)
_ENSEMBLES_NOTE = (
    "The table gives the expected error in points and its parts: noise, bias and variance (Kohavi and Wolpert). Noise is half "
    "the sum of p (1 - p) over the classes, with p the probability of the class at a row. It lies between half the Bayes error "
    "and the Bayes error. `gain` is the error of the single learner minus that of the ensemble on the same training rows, with "
    "its 95 % interval over training samples. All learners are tested on the same new rows."
)


@experiment(
    "estimates",
    title="Estimates of error against the known error",
    paper="estimates",
)
def run(request: Request) -> Reproduction:
    """Simulate samples, estimate the error by all methods, and compare the estimates with the true error."""
    plan = SimulationPlan.load(request.scale)
    draws = Draws(simulation.simulate_cells(plan, request.seed, request.jobs, request.out, progress=request.progress))
    ensembles = simulate_ensembles(plan, request.seed, request.jobs, progress=request.progress)
    selected = SelectedModelError.simulate(plan.selections, request.seed)
    return Reproduction(
        values={
            "plan": plan,
            "bayes_errors": {name: simulation.build_population(name).bayes_error for name in plan.problems},
            "n_cells": len(plan.problems) * len(plan.sizes) * len(LEARNERS),
            "n_signal_cells": sum(name != NO_SIGNAL for name in plan.problems) * len(plan.sizes) * len(LEARNERS),
            "n_repeats": N_REPEATS,
            **summarize_estimates(draws),
            **summarize_ensembles(ensembles),
        },
        tables=build_tables(draws.summary, ensembles),
        claims=claims.judge_claims(draws, ensembles, selected, conclusive=request.scale != "smoke"),
        figures=figures.draw_figures(draws.summary, ensembles),
    )


def summarize_estimates(draws: Draws) -> dict[str, Any]:
    """Summarize the errors, the largest bias by learner, and the coverage; resubstitution is summarized separately."""
    summary = draws.summary
    errors = summary.groupby("method", sort=False)["rmse"].mean().mul(100).sort_values()
    best_by_size = {}
    for n in (int(summary["n"].min()), int(summary["n"].max())):
        means = summary[summary["n"] == n].groupby("method", sort=False)["rmse"].mean().mul(100).drop(_RESUBSTITUTION)
        best_by_size[n] = (means.idxmin(), means.min())
    biases = draws.with_signal.summary.groupby(["learner", "method"], sort=False)["bias"].mean().mul(100).unstack("method")
    others = biases.drop(columns=_RESUBSTITUTION)
    largest = {learner: str(row.abs().idxmax()) for learner, row in others.iterrows()}
    coverage = {method: draws.estimate_coverage(method) for method in summary["method"].unique()}
    resubstitution_coverage = coverage.pop(_RESUBSTITUTION)
    return {
        "errors": errors.drop(_RESUBSTITUTION).to_dict(),
        "best_by_size": best_by_size,
        "largest_biases": {learner: (largest[learner], row[largest[learner]]) for learner, row in others.iterrows()},
        "coverage": sorted(coverage.items(), key=lambda item: item[1].value),
        "resubstitution": {
            "error": errors[_RESUBSTITUTION],
            "biases": biases[_RESUBSTITUTION].to_dict(),
            "coverage": resubstitution_coverage,
        },
    }


def summarize_ensembles(ensembles: pd.DataFrame) -> dict[str, Any]:
    """Summarize the gains of ensembles and the changes in bias and variance of C4.5."""
    gains = ensembles.dropna(subset=["gain"]).groupby("learner", sort=False)["gain"].mean()
    means = ensembles.groupby("learner", sort=False)[["bias", "variance"]].mean().mul(100)
    changes = (means.loc[["bagged C4.5", "boosted C4.5"]] - means.loc["C4.5"]).to_dict("index")
    return {"gains": {name: format_number(gain, 1, sign=True) for name, gain in gains.items()}, "changes": changes}


def build_tables(summary: pd.DataFrame, ensembles: pd.DataFrame) -> tuple[ResultTable, ...]:
    """Build all tables."""
    quantities = ["bias", "deviation", "rmse", "coverage", "width"]
    by_method = summary.groupby("method", sort=False)[quantities].mean().mul(100).reset_index()
    by_size = summary.groupby(["learner", "n", "method"], sort=False)[quantities].mean().mul(100).reset_index()
    in_points = ensembles.assign(**{name: 100 * ensembles[name] for name in ("error", "noise", "bias", "variance")})
    return (
        ResultTable("worked", "Worked examples of the chapter", compute_worked_examples(), _WORKED_NOTE, digits=3),
        ResultTable("methods", "All methods", by_method, f"{_METHODS_NOTE}, numbers of rows and learners.", digits=2),
        ResultTable("methods_by_size", "Methods by learner and number of rows", by_size, f"{_METHODS_NOTE}.", digits=2),
        ResultTable("ensembles", "Bagging and boosting", in_points, _ENSEMBLES_NOTE, digits=3),
        ResultTable("cells", "All cells with Monte Carlo intervals", summary, "As proportions.", on_page=False),
    )


def compute_worked_examples() -> pd.DataFrame:
    """Compute the chapter's examples: a model that predicts "ill" for 90 patients and 10 controls, and the bootstrap.

    >>> compute_worked_examples().round(3)[["quantity", "ours", "published"]].values.tolist()[1]
    ['F-measure', 0.947, 0.95]
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
        ("accuracy, %", 100 * float(accuracy(y_true, y_pred)), 90.0, 0, nan, nan),
        ("F-measure", float(f_score(y_true, y_pred, positive=1)), 0.95, 2, nan, nan),
        ("accuracy averaged over both classes, %", 100 * float(balanced_accuracy(y_true, y_pred)), 45.0, 0, balanced, nan),
        ("probability that a bootstrap sample of 100 rows misses a row", missed, 0.368, 3, missed, exp(-1)),
        ("proportion of distinct rows in 2000 such samples", distinct, 0.632, 3, 1 - missed, 1 - exp(-1)),
    ]
    rows = [
        (name, ours, published, limit, assess_example(ours, published, digits, expected, limit))
        for name, ours, published, digits, expected, limit in examples
    ]
    return pd.DataFrame(rows, columns=["quantity", "ours", "published", "limit", "assessment"])


def assess_example(ours: float, published: float, digits: int, expected: float, limit: float) -> str:
    """Compare a published number with ours; `expected` is the exact value, which reveals errors in our computation.

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
