"""Rank correlations with intervals over data sets."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.reproduce.ranking.rank_correlations import correlated, correlation
from tests.reproduce.ranking.test_real_tables import made

SETS = tuple("abcdefgh")


def cells(rate, repeats=100):
    return [made(e, name, [rate(place, at) for at in range(6)], repeats) for e in (1, 2) for place, name in enumerate(SETS)]


def test_the_value_is_spearmans_and_the_interval_leaves_out_whole_sets():
    rng = np.random.default_rng(1)
    rates = rng.integers(0, 9, size=(16, 2)).astype(float)
    sets = np.repeat(SETS, 2)
    found = correlation(rates, sets)
    assert found.value == pytest.approx(stats.spearmanr(rates).statistic)
    without = np.array([stats.spearmanr(rates[sets != name]).statistic for name in SETS])
    error = np.sqrt(7 / 8 * ((without - without.mean()) ** 2).sum())  # Efron and Stein 1981
    half = stats.t.ppf(0.975, 7) * error
    assert (found.low, found.high) == pytest.approx((found.value - half, min(found.value + half, 1)))


def test_verdicts():
    assert correlated(cells(lambda place, at: 5 * place + at)).holds is True
    assert correlated(cells(lambda place, at: 5 * place + 2 if at else 50 - 5 * place)).holds is False
    assert correlated(cells(lambda *_: 3)).holds is None
    assert correlated(cells(lambda place, _: 5 * place)[:3]).holds is None
