"""Complete cross-validation with two test rows, compared with random partitions."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.reproduce.estimates import learners
from fairtrial.reproduce.estimates.simulation import N_REPEATS, SimulationPlan, draw_sample, report_progress
from fairtrial.resampling import CompleteCV

if TYPE_CHECKING:
    import pandas as pd

SIZES = (10, 20)  # rows; with two test rows, these are 5 and 10 folds
ONCE, REPEATED, COMPLETE = "once", f"{N_REPEATS} times", "complete"
_TEST_ROWS = 2


def count_splits(n: int, n_folds: int = 10) -> int:
    """Count the splits of complete cross-validation with test sets as large as a fold.

    >>> count_splits(20), count_splits(100)
    (190, 17310309456440)
    """
    return comb(n, n // n_folds)


def compute_split_errors(learner: str, X: FloatArray, y: IntArray, n_classes: int) -> FloatArray:
    """Return the errors of all splits with two test rows, indexed by these rows.

    The diagonal is NaN.
    """
    n = len(y)
    first, second = np.array([test for _, test in CompleteCV(test_size=_TEST_ROWS).split(X)]).T
    is_tested = np.zeros((len(first), n), dtype=bool)
    is_tested[np.arange(len(first)), first] = is_tested[np.arange(len(first)), second] = True
    losses = learners.compute_losses(learner, X, y, n_classes, 1.0 - is_tested, is_tested)
    errors = np.full((n, n), np.nan)
    errors[first, second] = errors[second, first] = losses.sum(axis=1) / _TEST_ROWS
    return errors


def estimate_by_partitions(errors: FloatArray, rng: np.random.Generator) -> dict[str, float]:
    """Estimate the error from one and from five random partitions, and from all splits.

    Every pair of rows is equally likely to be a test set of a random partition. Complete cross-validation is therefore the
    mean over all partitions. It has the same bias as one partition, and a smaller variance.
    """
    n = len(errors)
    partitions = [rng.permutation(n).reshape(-1, _TEST_ROWS) for _ in range(N_REPEATS)]
    estimates = [float(errors[pairs[:, 0], pairs[:, 1]].mean()) for pairs in partitions]
    return {ONCE: estimates[0], REPEATED: float(np.mean(estimates)), COMPLETE: float(np.nanmean(errors))}


def simulate_complete(plan: SimulationPlan, seed: int, *, progress: bool | None = False) -> pd.DataFrame:
    """Simulate samples, and return the estimates and the true error.

    C4.5 is left out because it cannot be fitted to all training sets at once.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.study.randomness import derive_generator

    rows = []
    settings = [(problem, n) for problem in plan.problems for n in SIZES]
    with threadpool_limits(1):
        for problem, n in report_progress(settings, "complete cross-validation", len(settings), progress):
            for replicate in range(plan.complete):
                names = (seed, "complete", problem, n, replicate)
                X, y, n_classes = draw_sample(problem, n, derive_generator(*names, "sample"))
                X_new, y_new, _ = draw_sample(problem, plan.test_rows, derive_generator(*names, "new"))
                for learner in learners.BATCHED:
                    true_error = float((learners.predict_from_all(learner, X, y, n_classes, X_new) != y_new).mean())
                    errors = compute_split_errors(learner, X, y, n_classes)
                    estimates = estimate_by_partitions(errors, derive_generator(*names, "partitions"))
                    rows += [
                        (problem, n, learner, replicate, method, estimate, np.nan, np.nan, true_error)
                        for method, estimate in estimates.items()
                    ]
    columns = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "true_error"]
    return pd.DataFrame(rows, columns=columns)
