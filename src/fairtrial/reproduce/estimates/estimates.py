"""The chapter's estimates of error, against the error that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.estimates.claims import Draws, claims
from fairtrial.reproduce.estimates.ensembles import run_ensembles
from fairtrial.reproduce.estimates.estimating import REPEATS
from fairtrial.reproduce.estimates.figures import figures
from fairtrial.reproduce.estimates.judging import covered, summary
from fairtrial.reproduce.estimates.problems import LEARNERS, Plan, plan_of, population
from fairtrial.reproduce.estimates.running import run_cells
from fairtrial.reproduce.estimates.selection import selected
from fairtrial.reproduce.estimates.telling import shown
from fairtrial.reproduce.estimates.worked import worked
from fairtrial.reproduce.reproduction import Reproduction, Request, Table

if TYPE_CHECKING:
    import pandas as pd


def run(request: Request) -> Reproduction:
    """Simulate, estimate, and hold every estimate against the truth."""
    plan = plan_of(request.scale)
    draws = Draws(run_cells(plan, request.seed, request.jobs, request.out, progress=request.progress))
    ensembles = run_ensembles(plan, request.seed, request.jobs, progress=request.progress)
    cells = summary(draws.frame)
    return Reproduction(
        words=(_plan_told(plan), *_found(draws.frame, cells), _ensembles_told(ensembles)),
        tables=_tables(cells, ensembles),
        claims=claims(draws, ensembles, selected(plan.selections, request.seed), judged=request.scale != "smoke"),
        figures=figures(cells, ensembles),
    )


def _plan_told(plan: Plan) -> str:
    problems = ", ".join(f"{name} (best error {population(name).bayes_error:.1%})" for name in plan.problems)
    return (
        "The chapter reports no experiment and no table of results: the reference here is the truth, which is known because "
        f"the problems are simulated. Problems: {problems}. In each of {plan.replicates['others']} samples "
        f"({plan.replicates['c45']} for C4.5) of {', '.join(map(str, plan.sizes))} rows every method estimates the error of "
        f"the learner trained on that sample, and {plan.test_rows} new rows tell its true error. Subsampling is done "
        f"{plan.subsamples} times with a third of the rows as test, the bootstrap {plan.bootstrap_samples} times; .632 takes "
        "E0, as the chapter prints it. Learners: nearest neighbour, naive Bayes, a linear discriminant (shrunk by a tenth), "
        "C4.5; all see the same samples and splits, so that Monte Carlo intervals count samples, not cells. "
        f"{_cells_told(plan)} The chapter credits .632 to Efron and Tibshirani 1997; "
        "it is Efron's of 1983, and theirs is .632+."
    )


def _cells_told(plan: Plan) -> str:
    each = len(plan.sizes) * len(LEARNERS)
    learnable = sum(name != "no signal" for name in plan.problems)
    return (
        f"A cell is a problem, a number of rows and a learner: {each * len(plan.problems)} in all, {each * learnable} without "
        "'no signal', where no number of training rows changes the error; what is claimed of bias is judged on these. "
        "Where methods are compared, a claim holds if it does for each learner, so that none carries it alone; C4.5 has the "
        "fewest samples, and may leave open what the others show."
    )


_LEFT_OUT = "resubstitution"  # it asks for the rows that trained: the words set it apart, each time with its own number


def _found(draws: pd.DataFrame, cells: pd.DataFrame) -> tuple[str, ...]:
    return _nearest(cells), _largest_bias(cells[cells["problem"] != "no signal"]), _covered(draws)


def _apart(number: str) -> str:
    return f"Resubstitution, which is no estimate of what is new, is left out; it has {number}."


def _nearest(cells: pd.DataFrame) -> str:
    """Which method is nearest to the truth."""
    means = cells.groupby("method", sort=False)["rmse"].mean().mul(100).sort_values()
    order = means.drop(_LEFT_OUT)
    fewest, most = (cells[cells["n"] == n] for n in (cells["n"].min(), cells["n"].max()))
    return (
        f"**Nearest to the truth** over all {len(cells.groupby(['problem', 'n', 'learner']))} cells: "
        + "; ".join(f"{name} {value:.1f}" for name, value in order.items())
        + " (mean root mean squared error in points). "
        + f"With {int(cells['n'].min())} rows: {_best(fewest)}; with {int(cells['n'].max())}: {_best(most)}. "
        + _apart(f"{means[_LEFT_OUT]:.1f}")
    )


def _best(cells: pd.DataFrame) -> str:
    means = cells.groupby("method", sort=False)["rmse"].mean().drop(_LEFT_OUT)
    return f"{means.idxmin()} ({100 * means.min():.1f})"


def _largest_bias(cells: pd.DataFrame) -> str:
    """Where each learner's error is estimated worst on average."""
    means = cells.groupby(["learner", "method"], sort=False)["bias"].mean().mul(100).reset_index()
    aside = means["method"] == _LEFT_OUT
    bias, resubstituted = means[~aside], means[aside].to_dict("records")
    worst = bias.loc[bias["bias"].abs().groupby(bias["learner"], sort=False).idxmax()].to_dict("records")
    return (
        "**Largest bias** by learner, where there is something to learn: "
        + "; ".join(f"{row['learner']}: {row['method']} {row['bias']:+.1f} points" for row in worst)
        + ". A plus is too pessimistic. "
        + _apart("; ".join(f"{row['bias']:+.1f} ({row['learner']})" for row in resubstituted))
    )


def _covered(draws: pd.DataFrame) -> str:
    """What intervals are worth."""
    found = {name: covered(draws, name) for name in draws["method"].unique()}
    aside = found.pop(_LEFT_OUT)
    order = sorted(found.items(), key=lambda each: each[1].value)
    least, most = ("; ".join(f"{name} {each.told('{:.1%}')}" for name, each in part) for part in (order[:3], order[:-4:-1]))
    return (
        "**Intervals** (nominal 95 %): binomial ones for hold-out, as the chapter says, and for folds, those of Nadeau and "
        f"Bengio for subsampling, of the delta method for the bootstrap; {REPEATS} times 10 folds count as once. "
        f"Least coverage, mean over cells: {least}. Most: {most}. {_apart(aside.told('{:.1%}'))}"
    )


def _ensembles_told(ensembles: pd.DataFrame) -> str:
    gains = ensembles.dropna(subset=["gain"]).groupby("learner", sort=False)["gain"].mean()
    bias, variance = (ensembles.groupby("learner", sort=False)[part].mean().mul(100).to_dict() for part in ("bias", "variance"))
    moves = "; ".join(
        f"{name} {bias[name] - bias['C4.5']:+.1f} bias, {variance[name] - variance['C4.5']:+.1f} variance"
        for name in ("bagged C4.5", "boosted C4.5")
    )
    return (
        "**Ensembles**, points of error gained on the single learner, mean over problems: "
        + "; ".join(f"{name} {shown(gain, 1, sign=True)}" for name, gain in gains.items())
        + f". Against the single C4.5: {moves}. Bagging here averages the members' probabilities instead of counting votes."
    )


def _tables(cells: pd.DataFrame, ensembles: pd.DataFrame) -> tuple[Table, ...]:
    short = ["bias", "deviation", "rmse", "coverage", "width"]
    by_method = cells.groupby("method", sort=False)[short].mean() * 100
    by_size = cells.groupby(["learner", "n", "method"], sort=False)[short].mean() * 100
    return (
        Table("worked", "The chapter's worked numbers", worked(), _WORKED, digits=3),
        Table("methods", "All methods", by_method.reset_index(), f"{_NOTE}, sizes and learners.", digits=2),
        Table("methods_by_size", "Methods by learner and number of rows", by_size.reset_index(), f"{_NOTE}.", digits=2),
        Table("ensembles", "Bagging and boosting", _per_cent(ensembles), _ENSEMBLES, digits=3),
        Table("cells", "Every cell with its Monte Carlo intervals", cells, "As shares, not per cent.", shown=False),
    )


def _per_cent(ensembles: pd.DataFrame) -> pd.DataFrame:
    parts = ["error", "noise", "bias", "variance"]
    return ensembles.assign(**{name: 100 * ensembles[name] for name in parts})


_WORKED = (
    "The last two printed numbers are limits for many rows, 1/e and 1 - 1/e, in the column `limit`; a sample of 100 rows has "
    "numbers of its own."
)
_NOTE = (
    "In points or per cent: bias (estimated minus true error), standard deviation of the estimate, root mean squared error, "
    "coverage and width of the 95 % interval; means over problems"
)
_ENSEMBLES = (
    "Points of error: the expected error and its parts (noise, bias, variance after Kohavi and Wolpert); noise is not the best "
    "error but half of the sum over classes of p (1 - p), p being the probability of the class at a row, which lies between "
    "half of the best error on these rows and all of it; `gain` is the error of the single learner minus that of the ensemble "
    "on the same training rows, with its 95 % interval over training samples; the new rows are the same for all."
)
