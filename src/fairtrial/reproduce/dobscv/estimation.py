"""Estimates and tests by which the claims are judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean

if TYPE_CHECKING:
    import pandas as pd

MIN_DATASETS = 6
"""If fewer data sets were run, all claims about data sets are inconclusive."""

_Z_LIMIT = 1.959964


def estimate_rank_correlation(first: Any, second: Any) -> IntervalEstimate:
    """Estimate Spearman's rank correlation with an interval by Fisher's z.

    The variance is that of Bonett and Wright.

    >>> estimate_rank_correlation(np.arange(10.0), np.array([2, 1, 4, 3, 6, 5, 8, 7, 10, 9])).format("{:.3f}")
    '0.939 (0.688 to 0.990)'
    """
    from scipy.stats import spearmanr

    if len(first) < 4 or min(len(np.unique(values)) for values in (first, second)) < 2:
        return IntervalEstimate(0.0, float("nan"), float("nan"))
    value = float(spearmanr(first, second).statistic)
    middle = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
    half = _Z_LIMIT * np.sqrt((1 + value**2 / 2) / (len(first) - 3))
    return IntervalEstimate(value, float(np.tanh(middle - half)), float(np.tanh(middle + half)))


def estimate_log_ratio(first: Any, second: Any) -> IntervalEstimate:
    """Estimate the log ratio of two means with a delta-method t interval.

    >>> estimate_log_ratio([2.0, 2.0, 2.0], [1.0, 1.0]).format("{:.4f}")
    '0.6931 (0.6931 to 0.6931)'
    """
    from scipy.stats import t

    groups = [np.asarray(values, dtype=float) for values in (first, second)]
    groups = [values[~np.isnan(values)] for values in groups]
    if min(len(values) for values in groups) < 2 or min(values.mean() for values in groups) <= 0:
        return IntervalEstimate(float("nan"), float("nan"), float("nan"))
    ratio = float(np.log(groups[0].mean() / groups[1].mean()))
    variances = np.array([values.var(ddof=1) / len(values) / values.mean() ** 2 for values in groups])
    if not variances.sum():
        return IntervalEstimate(ratio, ratio, ratio)
    terms = sum(variance**2 / (len(values) - 1) for variance, values in zip(variances, groups, strict=True))
    degrees = variances.sum() ** 2 / terms
    half = float(t.ppf(0.975, degrees) * np.sqrt(variances.sum()))
    return IntervalEstimate(ratio, ratio - half, ratio + half, float(degrees))


def estimate_gain_ratio(differences: pd.DataFrame) -> tuple[IntervalEstimate, float, float]:
    """Estimate the log ratio of the mean gain to the mean loss, and return it with both means.

    The interval is computed over data sets, because the learners' results on one data set are not independent. It uses the
    linearized influence of each data set.
    """
    values = differences.fillna(0.0).to_numpy()
    gain, gain_influence = _average_counted(np.maximum(values, 0), values > 0)
    loss, loss_influence = _average_counted(np.maximum(-values, 0), values < 0)
    if not gain or not loss:
        limit = float("inf") if gain else -float("inf") if loss else float("nan")
        return IntervalEstimate(limit, limit, limit), gain, loss
    return estimate_mean(np.log(gain / loss) + gain_influence / gain - loss_influence / loss), gain, loss


def _average_counted(values: Any, is_counted: Any) -> tuple[float, Any]:
    sums, counts = values.sum(axis=1), is_counted.sum(axis=1)
    if not counts.sum():
        return 0.0, np.zeros(len(sums))
    mean = float(sums.sum() / counts.sum())
    return mean, (sums - mean * counts) / counts.mean()


def compute_gail_simon_p(estimates: Iterable[IntervalEstimate]) -> float:
    """Compute the p-value of Gail and Simon's (1985) test for qualitative interaction.

    The null hypothesis is that all quantities, which are estimated independently, have the same sign. The t statistic of each
    estimate is converted to a z score. The squared z scores of positive and of negative estimates are summed separately, and
    the smaller sum is the test statistic. Its null distribution is bounded by a mixture of chi-squared distributions.

    >>> round(compute_gail_simon_p([IntervalEstimate(3.0, 1.04, 4.96), IntervalEstimate(-3.0, -4.96, -1.04)]), 4)
    0.0014
    """
    from scipy.stats import binom, chi2, norm, t

    z_scores = []
    for estimate in estimates:
        degrees = estimate.degrees_of_freedom
        half = (estimate.high - estimate.low) / 2
        if half > 0:
            statistic = estimate.value / half * t.isf(0.025, degrees)
            z_scores.append(float(np.sign(statistic) * norm.isf(t.sf(abs(statistic), degrees))))
        elif estimate.value:
            z_scores.append(float(np.sign(estimate.value) * norm.isf(1e-12)))
    z = np.array(z_scores)
    smaller = min((z[z > 0] ** 2).sum(), (z[z < 0] ** 2).sum()) if len(z) else 0.0
    counts = np.arange(1, len(z))
    return float((binom.pmf(counts, len(z) - 1, 0.5) * chi2.sf(smaller, counts)).sum()) if len(counts) and smaller else 1.0


@cache
def compute_overlap_distribution(n_datasets: int, top: int, n_learners: int) -> dict[int, float]:
    """Compute the distribution of the total overlap of randomly drawn top data sets.

    The total overlap is the number of shared data sets, summed over pairs of learners. The pairs are not independent. Therefore
    data sets are drawn for one learner after another. A state contains the number of data sets that have been drawn for no
    learner, for one learner, for two learners, and so on.

    >>> {total: round(p, 4) for total, p in compute_overlap_distribution(4, 2, 2).items()}  # hypergeometric: 1, 4, 1 of 6
    {0: 0.1667, 1: 0.6667, 2: 0.1667}
    """
    states = {(n_datasets, *[0] * n_learners): 1.0}
    for _ in range(n_learners):
        next_states: dict[tuple[int, ...], float] = {}
        for state, p in states.items():
            for picked in _list_picks(state[:-1], top):
                new = tuple(np.add(state, np.subtract((0, *picked), (*picked, 0))).tolist())
                ways = prod(comb(available, n_picked) for available, n_picked in zip(state, picked, strict=False))
                next_states[new] = next_states.get(new, 0.0) + p * ways / comb(n_datasets, top)
        states = next_states
    distribution: dict[int, float] = {}
    for state, p in states.items():
        total = sum(count * comb(times, 2) for times, count in enumerate(state))
        distribution[total] = distribution.get(total, 0.0) + p
    return dict(sorted(distribution.items()))


def _list_picks(available: tuple[int, ...], count: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to pick `count` items, as numbers of items of each kind.

    `available` contains the number of items of each kind. For example, (2, 1) items and a count of 2 yield (1, 1) and (2, 0).
    """
    if not available:
        if not count:
            yield ()
        return
    for n_picked in range(min(available[0], count) + 1):
        for rest in _list_picks(available[1:], count - n_picked):
            yield (n_picked, *rest)


def compute_z_scores(tests: pd.DataFrame) -> FloatArray:
    """Compute the z score of each test from its p-value.

    The score is positive if the rank sum of DOB-SCV is higher.

    >>> import pandas as pd
    >>> compute_z_scores(pd.DataFrame({"R+": [9.0, 1.0], "R-": [1.0, 9.0], "p": [0.05, 0.05]})).round(2).tolist()
    [1.96, -1.96]
    """
    from scipy.stats import norm

    return np.asarray(norm.isf(tests["p"] / 2) * np.sign(tests["R+"] - tests["R-"]))


def format_estimates(estimates: Mapping[str, IntervalEstimate], pattern: str = "{:+.4f}") -> str:
    """Format the estimates of all learners."""
    return ", ".join(f"{learner} {estimate.format(pattern)}" for learner, estimate in estimates.items())
