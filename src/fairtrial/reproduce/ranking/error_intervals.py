"""Error rates and their differences with intervals; repeats are the independent units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.measures.intervals import compute_clopper_pearson_limits, compute_wilson_limits
from fairtrial.reproduce.interval import Interval, mean_interval

PUBLISHED_REPEATS = 1000


def shared_level(comparisons: int) -> float:
    """The level of each of several intervals such that all of them hold together with 95 % (Bonferroni).

    >>> shared_level(10)
    0.995
    """
    return 1 - 0.05 / max(comparisons, 1)


def exact(rate: float, repeats: int, level: float = 0.95) -> Interval:
    """An error rate in percent with Clopper and Pearson's limits.

    >>> exact(1.0, 4).told("{:.1f}")
    '100.0 (39.8 to 100.0)'
    """
    low, high = compute_clopper_pearson_limits(rate * repeats, repeats, level)
    return Interval(100 * rate, 100 * low, 100 * high)


def over_repeats(values: npt.ArrayLike, level: float = 0.95) -> Interval:
    """The mean of one number for each repeat, in percent; limits are unknown where all are alike, for they tell no spread.

    >>> over_repeats([0.0, 0.0, 1.0, 1.0]).told("{:.0f}"), over_repeats([1.0, 1.0]).told("{:.0f}")
    ('50 (-42 to 142)', '100 (interval unknown)')
    """
    given = 100 * np.asarray(values, dtype=float)
    if len(given) and np.ptp(given) == 0:
        return Interval(float(given[0]), math.nan, math.nan)
    return mean_interval(given, level)


def over_cells(values: Sequence[FloatArray]) -> Interval:
    """The mean over cells of their means over repeats, in percent; NaN where a cell has nothing defined.

    Where all is defined it is taken over repeats; else cells, which are independent, add up their own variances.

    >>> over_cells([np.array([0.0, 1.0, math.nan]), np.array([1.0, 1.0, 1.0])]).value
    75.0
    """
    if not any(np.isnan(each).any() for each in values):
        return over_repeats(np.mean(values, axis=0))
    kept = [each[~np.isnan(each)] for each in values]
    if not all(len(each) for each in kept):
        return Interval(math.nan, math.nan, math.nan)
    mean = 100 * float(np.mean([each.mean() for each in kept]))
    squares = np.array([100**2 * each.var(ddof=1) / len(each) if len(each) > 1 else math.nan for each in kept])
    if not squares.sum() > 0:
        return Interval(mean, math.nan, math.nan)
    return _added(mean, squares, np.array([len(each) - 1 for each in kept]))


def _added(mean: float, squares: FloatArray, freedoms: FloatArray) -> Interval:
    """Degrees of freedom after Welch and Satterthwaite."""
    from scipy.stats import t

    freedom = float(squares.sum() ** 2 / (squares**2 / freedoms).sum())
    half = float(t.ppf(0.975, freedom)) * math.sqrt(squares.sum()) / len(squares)
    return Interval(mean, mean - half, mean + half, freedom)


def as_rate(interval: Interval) -> Interval:
    """Its ends kept between 0 and 100, for a rate in percent cannot lie elsewhere.

    >>> as_rate(Interval(2.0, -4.2, 8.2)).told("{:.1f}")
    '2.0 (0.0 to 8.2)'
    """
    low, high = (float(np.clip(end, 0.0, 100.0)) for end in (interval.low, interval.high))
    return replace(interval, low=low, high=high)


def difference_limits(
    ours: float, theirs: float, repeats: float, their_repeats: float = PUBLISHED_REPEATS, level: float = 0.95
) -> tuple[float, float]:
    """Newcombe's interval of the difference of two independent proportions, in percent (1998, method 10).

    Both are shares of repeats; ties counting half, their errors are a little smaller than those of plain counts.

    >>> [round(limit, 2) for limit in difference_limits(0.0, 0.5, 1000)]
    [-1.17, -0.02]
    """
    if math.isnan(ours) or math.isnan(theirs):
        return math.nan, math.nan
    first, second = (wilson_limits(share, size, level) for share, size in ((ours, repeats), (theirs, their_repeats)))
    difference = ours - theirs
    return (
        difference - math.hypot(ours - first[0], second[1] - theirs),
        difference + math.hypot(first[1] - ours, theirs - second[0]),
    )


def wilson_limits(percent: float, repeats: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's limits of a share of repeats, all in percent.

    >>> [round(limit, 2) for limit in wilson_limits(0.0, 1000)]
    [0.0, 0.38]
    """
    if not repeats:
        return math.nan, math.nan
    low, high = compute_wilson_limits(percent * repeats / 100, repeats, level)
    return 100 * low, 100 * high
