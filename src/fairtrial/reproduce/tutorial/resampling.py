"""Resampling on Labour: error estimates and the permutation test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_count
from fairtrial.reproduce.claim import Claim, IntervalEstimate, estimate_mean, judge_direction, mark_inconclusive
from fairtrial.reproduce.experiment import Request, ResultTable
from fairtrial.reproduce.tutorial.inputs import TutorialInputs, find_wrong_predictions
from fairtrial.reproduce.tutorial.printed import PageSection

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

_ALPHA = 0.05
_N_SEEDS = 20
_MIN_RESAMPLES = 99
_BOOTSTRAP_LABELS = {
    "e0": "bootstrap E0",
    "632-e0": "e632 (as in the tutorial)",
    "632+": ".632+",
    "resubstitution": "resubstitution",
}


def build_sections(inputs: TutorialInputs) -> Iterator[PageSection]:
    """Estimate errors and run the permutation test on Labour, if it was found."""
    if inputs.labour is not None:
        yield build_resampling(inputs.labour, inputs.request)
        yield build_permutation(inputs.labour, inputs.request)


def build_resampling(data: Dataset, request: Request) -> PageSection:
    """Estimate the errors of three learners, and compare the class proportions of folds."""
    from fairtrial.learners import C45, NaiveBayes, NearestNeighbours

    learners = {"C4.5": C45(), "NB": NaiveBayes(), "1NN": NearestNeighbours(1)}
    n_resamples = request.pick(smoke=20, quick=50, full=200)
    n_folds = request.pick(smoke=2, quick=10, full=10)
    schemes = _choose_schemes(n_folds, request)
    errors = _estimate_errors(data, learners, schemes, n_resamples, request.seed)
    is_rare = (data.y == data.y.value_counts().idxmin()).to_numpy()
    proportions = _tabulate_proportions(data, is_rare, schemes)
    by_scheme = errors.set_index("scheme").to_dict()
    values = {
        "n_resamples": n_resamples,
        "estimates": {
            name: {method: by_scheme[name][label] for method, label in _BOOTSTRAP_LABELS.items()} for name in learners
        },
        "rare": 100 * float(is_rare.mean()),
        "plain": (100 * proportions[["lowest in test", "highest in test"]].iloc[0]).tolist(),
        "stratified": (100 * proportions[["lowest in test", "highest in test"]].iloc[1]).tolist(),
    }
    tables = (
        ResultTable("resampling_errors", "The error on Labour by scheme", errors, digits=3),
        ResultTable("resampling_shares", "Class proportions in the folds", proportions, digits=3),
    )
    figures = {"Variants of cross-validation, 20 rows": _draw_schemes(request.seed)}
    claims: tuple[Claim, ...] = (judge_stratification(measure_proportion_ranges(data, n_folds, _N_SEEDS), n_folds),)
    if n_folds < 10:
        claims = mark_inconclusive(claims, f"inconclusive with {n_folds} folds")
    return PageSection("resampling", values, tables, claims, figures)


def _choose_schemes(n_folds: int, request: Request) -> dict[str, Any]:
    from fairtrial.resampling import FiveByTwo, KFold, LeaveOneOut, StratifiedKFold, TenByTen

    schemes: dict[str, Any] = {
        f"{n_folds}-fold": KFold(n_folds, random_state=request.seed),
        f"{n_folds}-fold, stratified": StratifiedKFold(n_folds, random_state=request.seed),
        "5x2-fold": FiveByTwo(random_state=request.seed),
    }
    if request.scale == "smoke":
        return schemes
    return schemes | {"10x10-fold": TenByTen(random_state=request.seed), "leave-one-out": LeaveOneOut()}


def _estimate_errors(
    data: Dataset, learners: dict[str, Any], schemes: dict[str, Any], n_resamples: int, seed: int
) -> pd.DataFrame:
    """Estimate the errors of learners (columns) by all schemes (rows).

    Bootstrap estimates have intervals.
    """
    import pandas as pd

    from fairtrial.resampling import estimate

    X, y = data.X, data.y
    lines: dict[str, dict[str, float]] = {}
    for scheme, splitter in schemes.items():
        splits = list(splitter.freeze(X, y))
        lines[scheme] = {
            name: float(np.mean([find_wrong_predictions(learner, X, y, split.train, split.test).mean() for split in splits]))
            for name, learner in learners.items()
        }
    for name, learner in learners.items():
        estimates = estimate(learner, X, y, n_resamples=n_resamples, stratify=True, random_state=seed)
        for method, label in _BOOTSTRAP_LABELS.items():
            error = estimates[method]
            line = lines.setdefault(label, {})
            line |= {name: error.value, f"{name}, low": error.low, f"{name}, high": error.high}
    columns = [*learners, *(f"{name}, {end}" for name in learners for end in ("low", "high"))]
    return pd.DataFrame.from_dict(lines, orient="index")[columns].rename_axis("scheme").reset_index()


def _tabulate_proportions(data: Dataset, is_rare: Any, schemes: dict[str, Any]) -> pd.DataFrame:
    """Tabulate the range of the proportion of the rarer class over splits."""
    import pandas as pd

    lines = []
    for name, splitter in schemes.items():
        splits = list(splitter.freeze(data.X, data.y))
        test = [float(is_rare[split.test].mean()) for split in splits]
        train = [float(is_rare[split.train].mean()) for split in splits]
        lines.append((name, len(splits), len(splits[0].test), min(test), max(test), min(train), max(train)))
    limits = [f"{end} in {rows}" for rows in ("test", "training") for end in ("lowest", "highest")]
    return pd.DataFrame(lines, columns=["scheme", "splits", "test rows", *limits])


def measure_proportion_ranges(data: Dataset, n_folds: int, n_seeds: int) -> pd.DataFrame:
    """Measure the range of the proportion of the rarer class over folds, for each seed."""
    import pandas as pd

    from fairtrial.resampling import KFold, StratifiedKFold

    is_rare = (data.y == data.y.value_counts().idxmin()).to_numpy()
    lines = []
    for seed in range(n_seeds):
        splitters = {"plain": KFold(n_folds, random_state=seed), "stratified": StratifiedKFold(n_folds, random_state=seed)}
        splits = {
            name: [is_rare[split.test].mean() for split in splitter.freeze(data.X, data.y)]
            for name, splitter in splitters.items()
        }
        lines.append({name: float(np.ptp(proportions)) for name, proportions in splits.items()})
    return pd.DataFrame(lines)


def judge_stratification(ranges: pd.DataFrame, n_folds: int) -> Claim:
    """Judge whether class proportions vary less over stratified folds than over plain folds.

    `ranges` has one row per seed.
    """
    gap = estimate_mean(100 * (ranges["plain"] - ranges["stratified"]))
    return Claim(
        "Stratification preserves the class distribution in every fold, but a purely random split does not: the proportion of "
        "the rarer class varies less over stratified folds",
        judge_direction([gap]),
        f"range over {n_folds} plain folds minus range over stratified folds: {gap.format('{:+.1f}')} percentage points, "
        f"mean of {format_count(len(ranges), 'seed')}",
    )


def _draw_schemes(seed: int) -> Any:
    from fairtrial.report.figures.folds import draw_splits
    from fairtrial.resampling import Bootstrap, KFold, LeaveOneOut, StratifiedKFold

    classes = np.repeat(["bad", "good"], [5, 15])
    rows = np.arange(len(classes)).reshape(-1, 1)
    schemes = {
        "5-fold": KFold(5, random_state=seed),
        "5-fold, stratified": StratifiedKFold(5, random_state=seed),
        "bootstrap, 5 samples": Bootstrap(5, random_state=seed),
        "leave-one-out": LeaveOneOut(),
    }
    return draw_splits({name: splitter.freeze(rows, classes) for name, splitter in schemes.items()}, classes)


def build_permutation(data: Dataset, request: Request) -> PageSection:
    """Test accuracies by permuting the labels, and by randomly switching them."""
    import pandas as pd
    from sklearn.dummy import DummyClassifier

    from fairtrial.learners import NaiveBayes

    n_resamples, n_folds = request.pick(smoke=(3, 2), quick=(99, 5), full=(499, 10))
    learners = {"NB": NaiveBayes(), "majority class": DummyClassifier()}
    settings = data, n_resamples, n_folds, request.seed
    rows = [{"learner": name, **_test_labels(learner, *settings)} for name, learner in learners.items()]
    nb, majority = rows
    values = {
        "n_resamples": n_resamples,
        "least_p": 1 / (n_resamples + 1),
        "alpha": _ALPHA,
        "rejects": is_significant(nb["p, permuted"], n_resamples),
        "p": nb["p, permuted"],
        "majority": majority,
        "interval": compute_p_limits(majority["p, switched"], n_resamples),
    }
    claims = judge_permutation(majority, n_resamples, int(data.y.value_counts().max()), len(data.y))
    table = ResultTable("permutation", "The permutation test on Labour", pd.DataFrame(rows), digits=3)
    return PageSection("permutation", values, (table,), claims)


def _test_labels(learner: Any, data: Dataset, n_resamples: int, n_folds: int, seed: int) -> dict[str, Any]:
    from fairtrial.significance import label_permutation

    test = label_permutation(learner, data.X, data.y, cv=n_folds, resamples=n_resamples, seed=seed)
    assert test.effect is not None
    switched = compute_switched_accuracies(learner, data, n_resamples, n_folds, seed)
    return {
        "accuracy": test.statistic,
        "mean, permuted": test.statistic - test.effect.estimate,
        "p, permuted": test.p_value,
        "mean, switched": float(np.mean(switched)),
        "p, switched": float((1 + np.sum(np.asarray(switched) >= test.statistic - 1e-12)) / (1 + n_resamples)),
    }


def compute_switched_accuracies(learner: Any, data: Dataset, n_resamples: int, n_folds: int, seed: int) -> list[float]:
    """Compute cross-validated accuracies after switching each label with probability 1/2."""
    import pandas as pd

    from fairtrial.resampling import StratifiedKFold

    rng = np.random.default_rng([seed, 11])
    X, y = data.X, data.y
    codes = y.cat.codes.to_numpy()
    accuracies = []
    for _ in range(n_resamples):
        switched = np.where(rng.random(len(codes)) < 0.5, 1 - codes, codes)
        bogus = pd.Series(pd.Categorical.from_codes(switched, y.cat.categories))
        splits = StratifiedKFold(n_folds, random_state=int(rng.integers(2**31))).split(X, bogus)
        accuracies.append(float(np.mean([1 - find_wrong_predictions(learner, X, bogus, *split).mean() for split in splits])))
    return accuracies


def is_significant(p_value: float, n_resamples: int) -> bool | None:
    """Return whether p is below 0.05; None if its Monte Carlo interval contains 0.05."""
    low, high = compute_p_limits(p_value, n_resamples)
    return True if high < _ALPHA else False if low > _ALPHA else None


def compute_p_limits(p_value: float, n_resamples: int) -> tuple[float, float]:
    """Compute the 95 % Monte Carlo interval of a p-value."""
    from fairtrial.measures.intervals import compute_clopper_pearson_limits

    low, high = compute_clopper_pearson_limits(round(p_value * (n_resamples + 1)) - 1, n_resamples, 0.95)
    return float(low), float(high)


def compute_majority_probability(n_rows: int, n_majority: int) -> float:
    """Compute the probability of a majority of at least `n_majority` random labels.

    >>> round(compute_majority_probability(57, 37), 3)
    0.033
    """
    from scipy.stats import binom

    return min(1.0, 2 * float(binom.sf(n_majority - 1, n_rows, 0.5)))


def judge_permutation(majority: dict[str, Any], n_resamples: int, n_majority: int, n_rows: int) -> tuple[Claim, ...]:
    """Judge the procedure of the slides by the p-value of a classifier that learned nothing."""
    low, high = compute_p_limits(majority["p, switched"], n_resamples)
    excess = IntervalEstimate(majority["p, switched"], low, high).subtract(_ALPHA)
    claim = Claim(
        "Randomly switched labels give appropriate bogus data (judged as: always predicting the majority class gives p of "
        f"at least {_ALPHA:g})",
        judge_direction([excess]),
        f"always predicting the majority class gives p = {majority['p, switched']:.3f} (95 % CI {low:.3f} to {high:.3f}; with "
        f"permuted labels {majority['p, permuted']:.3f}); {n_resamples} bogus data sets, so p is at least "
        f"{1 / (n_resamples + 1):.3f}; with random labels, one class gets {n_majority} or more of {n_rows} rows with a "
        f"probability of {compute_majority_probability(n_rows, n_majority):.3f}",
    )
    return (claim,) if n_resamples >= _MIN_RESAMPLES else mark_inconclusive([claim])
