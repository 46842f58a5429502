"""Limits that need no resampling: of a proportion and of an AUC."""

from __future__ import annotations

import math

from fairtrial.measures.tally import ScoreTally

Limits = tuple[float, float]


def wilson(successes: float, trials: float, level: float) -> Limits:
    """Wilson's score interval of a proportion (1927).

    >>> low, high = wilson(81, 263, 0.95)  # Newcombe 1998, Table I, method 3
    >>> round(low, 4), round(high, 4)
    (0.2553, 0.3662)
    """
    z = normal_quantile(level)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # At 0 and n the limit is 0 and 1 by algebra; rounding must not push it off.
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return low, high


def weighted_wilson(successes: float, total: float, squares: float, level: float) -> Limits:
    """Wilson's interval of a weighted proportion: the cases count as their effective number (Kish 1965).

    That is the square of the sum of the weights over the sum of their squares, which no common factor changes.

    >>> weighted_wilson(162, 526, 1052, 0.95) == wilson(81, 263, 0.95)  # each of 263 cases with a weight of 2
    True
    """
    if not squares > 0:  # weights so small that their squares are nothing
        return math.nan, math.nan
    effective = total / squares * total
    return wilson(successes / total * effective, effective, level)


def clopper_pearson(successes: float, trials: float, level: float) -> Limits:
    """The exact interval of Clopper and Pearson (1934): never too short, often too long.

    >>> low, high = clopper_pearson(81, 263, 0.95)  # Newcombe 1998, Table I, method 5
    >>> round(low, 4), round(high, 4)
    (0.2527, 0.3676)
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high


def delong(auc: float, variance: float, level: float) -> Limits:
    """DeLong's interval on the logit scale, so that it stays within (0, 1); needs 0 < AUC < 1 and a variance above 0."""
    logit = math.log(auc / (1 - auc))
    half = normal_quantile(level) * math.sqrt(variance) / (auc * (1 - auc))
    return _logistic(logit - half), _logistic(logit + half)


def newcombe(auc: float, tally: ScoreTally, level: float) -> Limits:
    """Newcombe's score interval of an AUC (2006, method 5), which is at its best where DeLong's breaks down, near 0 and 1."""
    from scipy.optimize import brentq

    positives, negatives = float(tally.positives), float(tally.negatives)
    spare = (positives + negatives) / 2 - 1
    z = normal_quantile(level)

    def excess(theta: float) -> float:
        spread = theta * (1 - theta) / (positives * negatives)
        spread *= 1 + spare * (1 - theta) / (2 - theta) + spare * theta / (1 + theta)
        return (theta - auc) ** 2 - z * z * spread

    low = 0.0 if auc == 0 else float(brentq(excess, 0, auc if excess(auc) < 0 else auc * (1 - 1e-12)))
    high = 1.0 if auc == 1 else float(brentq(excess, auc if excess(auc) < 0 else auc + (1 - auc) * 1e-12, 1))
    return low, high


def normal_quantile(level: float) -> float:
    """How many standard deviations hold this share of a normal distribution."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
