"""Whether the errors of the measures go up and down together over data sets and experiments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.interval import Interval, all_above, mean_interval
from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS
from fairtrial.reproduce.reproduction import Claim

_LEAST_SETS = 4


def correlated(noisy: Sequence[Outcome]) -> Claim:
    """Rank correlations over all cells; as cells of a data set are alike, intervals leave out one data set after the other."""
    text = "The errors of the measures are, overall, positively correlated"
    rates = np.array([each.rates[: len(MEASURES)] for each in noisy])
    sets = np.array([each.dataset for each in noisy])
    if len(set(sets)) < _LEAST_SETS:
        return Claim(text, None, f"fewer than {_LEAST_SETS} data sets")
    found = {(one, other): correlation(rates[:, [one, other]], sets) for one, other in combinations(range(len(MEASURES)), 2)}
    known = {pair: each for pair, each in found.items() if np.isfinite(each.value)}
    if not known:
        return Claim(text, None, "too few errors")
    smallest = min(known, key=lambda pair: known[pair].value)
    one, other = (WORDS[MEASURES[place]] for place in smallest)
    told = f"the smallest rank correlation over the cells is {known[smallest].told('{:.2f}')} ({one} and {other})"
    return Claim(text, all_above(found.values()), told)


def correlation(rates: FloatArray, sets: FloatArray) -> Interval:
    """The rank correlation of two columns with its jackknife interval over data sets.

    >>> rates = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 5.0], [4.0, 9.0]])
    >>> correlation(rates, np.array(["a", "b", "c", "d"])).told("{:.1f}")
    '1.0 (1.0 to 1.0)'
    """
    names = list(dict.fromkeys(sets.tolist()))
    value = _ranked(rates)
    without = np.array([_ranked(rates[sets != name]) for name in names])
    spread = mean_interval(len(names) * value - (len(names) - 1) * without)
    half = (spread.high - spread.low) / 2
    return Interval(value, max(value - half, -1.0), min(value + half, 1.0), spread.freedom)


def _ranked(rates: FloatArray) -> float:
    """Spearman's; NaN where a column does not vary."""
    from scipy.stats import rankdata

    if (np.ptp(rates, axis=0) == 0).any():
        return float("nan")
    return float(np.corrcoef(np.apply_along_axis(rankdata, 0, rates).T)[0, 1])
