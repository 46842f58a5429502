"""Confidence intervals for the accuracy on a test set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.estimates.simulation import LEVEL, build_population

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("Gaussian", "Wilson", "Clopper-Pearson")
SIZES = (10, 25, 50, 100, 200, 1000)
ACCURACIES = tuple(np.round(np.arange(0.50, 0.995, 0.01), 2).tolist())
FIGURE_LEVEL = 0.90
FIGURE_SAMPLES = 30
FIGURE_ROWS = 100  # test rows of each sample; the chapter does not state the number
_PROBLEM = "two Gaussians"


@cache
def compute_limits(method: str, n: int, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the confidence limits for accuracy, given 0, 1, ..., n correct predictions.

    The Gaussian interval is the accuracy plus or minus z standard errors, truncated to [0, 1]. The standard error is
    sqrt(accuracy (1 - accuracy) / n).

    >>> low, high = compute_limits("Gaussian", 100, 0.95)
    >>> low[80].round(4).item(), high[80].round(4).item()
    (0.7216, 0.8784)
    """
    from fairtrial.measures.intervals import compute_clopper_pearson_limits, compute_wald_limits, compute_wilson_limits

    compute = {
        "Gaussian": compute_wald_limits,
        "Wilson": compute_wilson_limits,
        "Clopper-Pearson": compute_clopper_pearson_limits,
    }[method]
    low, high = np.array([compute(correct, n, level) for correct in range(n + 1)]).T
    return low, high


def compute_coverage(method: str, n: int, accuracies: Sequence[float], level: float = LEVEL) -> FloatArray:
    """Compute the probability that the interval contains each true accuracy.

    The probability follows from the binomial distribution.

    >>> compute_coverage("Gaussian", 5, [0.5]).round(4).tolist()  # all but 0 and 5 correct predictions: 30 / 32
    [0.9375]
    """
    low, high = (limits[:, None] for limits in compute_limits(method, n, level))
    is_covered = (low <= np.asarray(accuracies)) & (np.asarray(accuracies) <= high)
    coverage: FloatArray = (_compute_probabilities(n, tuple(accuracies)) * is_covered).sum(axis=0)
    return coverage


def compute_mean_width(method: str, n: int, accuracies: Sequence[float], level: float = LEVEL) -> FloatArray:
    """Compute the expected width of the interval for each true accuracy."""
    low, high = compute_limits(method, n, level)
    width: FloatArray = (high - low) @ _compute_probabilities(n, tuple(accuracies))
    return width


@cache
def _compute_probabilities(n: int, accuracies: tuple[float, ...]) -> FloatArray:
    """Return binomial probabilities: rows 0 to n correct predictions, columns accuracies."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(n + 1)[:, None], n, np.asarray(accuracies)))


def tabulate_intervals() -> pd.DataFrame:
    """Return the exact coverage and the mean width of 95 % intervals."""
    import pandas as pd

    frames = [
        pd.DataFrame({"n": n, "method": method, "accuracy": ACCURACIES}).assign(
            coverage=compute_coverage(method, n, ACCURACIES), width=compute_mean_width(method, n, ACCURACIES)
        )
        for n in SIZES
        for method in METHODS
    ]
    return pd.concat(frames, ignore_index=True)


def summarize_intervals(exact: pd.DataFrame) -> pd.DataFrame:
    """Summarize coverage and width over all true accuracies, by number of test rows and method.

    The result contains the mean and the lowest coverage, the accuracy with the lowest coverage, and the mean width.
    """
    groups = exact.groupby(["n", "method"], sort=False)
    lowest = exact.loc[groups["coverage"].idxmin(), ["n", "method", "accuracy"]].rename(columns={"accuracy": "lowest at"})
    summary = groups.agg(mean=("coverage", "mean"), lowest=("coverage", "min"), width=("width", "mean")).reset_index()
    return summary.merge(lowest, on=["n", "method"])[["n", "method", "mean", "lowest", "lowest at", "width"]]


def sample_intervals(n_samples: int, seed: int) -> pd.DataFrame:
    """Sample 90 % intervals for the accuracy of the Bayes classifier.

    The true accuracy is known: it is 1 minus the Bayes error of the problem "two Gaussians". The result has one row per
    sample and method.
    """
    import pandas as pd

    from fairtrial.study.randomness import derive_generator

    population = build_population(_PROBLEM)
    X, y = population.sample(n_samples * FIGURE_ROWS, derive_generator(seed, "intervals of accuracy"))
    is_correct = population.bayes_probabilities(X).argmax(axis=1) == y.cat.codes.to_numpy()
    correct = is_correct.reshape(n_samples, FIGURE_ROWS).sum(axis=1)
    frames = []
    for method in METHODS:
        low, high = (limits[correct] for limits in compute_limits(method, FIGURE_ROWS, FIGURE_LEVEL))
        samples = {"sample": np.arange(1, n_samples + 1), "accuracy": correct / FIGURE_ROWS, "low": low, "high": high}
        frames.append(pd.DataFrame(samples | {"method": method, "true_accuracy": 1 - population.bayes_error}))
    intervals = pd.concat(frames, ignore_index=True)
    return intervals.assign(is_covered=intervals["true_accuracy"].between(intervals["low"], intervals["high"]))


def estimate_coverage(intervals: pd.DataFrame, method: str) -> IntervalEstimate:
    """Estimate the coverage of a method from its sampled intervals."""
    from fairtrial.measures.intervals import compute_wilson_limits

    is_covered = intervals.loc[intervals["method"] == method, "is_covered"]
    n_covered = int(is_covered.sum())
    return IntervalEstimate(float(is_covered.mean()), *compute_wilson_limits(n_covered, len(is_covered), LEVEL))


def select_figure(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return Wilson's intervals for the first 30 samples, as in Figure 4."""
    return intervals[(intervals["method"] == "Wilson") & (intervals["sample"] <= FIGURE_SAMPLES)]
