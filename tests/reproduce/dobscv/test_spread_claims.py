"""Deviations over folds: how much higher, how much lower."""

import numpy as np
import pytest

from fairtrial.reproduce.dobscv.spread_claims import log_ratio, spread_claims
from tests.reproduce.dobscv.conftest import made_cells


def spread(times, lower, noise):
    """Cells whose deviation is so many times as high in the upper group, and lower by a share under DOB-SCV."""
    cells = made_cells(lambda *_: 0.8)
    factor = dict(zip(cells["dataset"].unique(), np.exp(np.random.default_rng(2).normal(0, noise, size=66)), strict=True))
    high, dob = cells["group"] == "IR>9", cells["scheme"].str.contains("DOB")
    own = 0.05 * np.where(high, times, 1.0) * np.where(dob, 1 - lower, 1.0)
    return cells.assign(sd=own * cells["dataset"].map(factor))


@pytest.mark.parametrize(("times", "holds"), [(4.0, True), (1.5, None), (1.1, None), (0.6, False)])
def test_much_higher_needs_more_than_a_ratio_above_one(times, holds):
    claim = spread_claims(spread(times, 0.2, 0.6))[0]
    assert claim.holds is holds
    assert "at least 1.5 times" in claim.text


def test_a_small_ratio_known_well_is_not_much():
    assert spread_claims(spread(1.2, 0.2, 0.1))[0].holds is False


def test_one_group_tells_nothing():
    assert spread_claims(made_cells(lambda *_: 0.8, names=["Glass1", "Ecoli4"]))[0].holds is None


@pytest.mark.parametrize(("lower", "holds"), [(0.2, True), (-0.2, False), (0.0, None)])
def test_lower_deviations(lower, holds):
    assert spread_claims(spread(2.0, lower, 0.3))[1].holds is holds


def test_the_interval_of_a_log_ratio_covers():
    rng = np.random.default_rng(3)
    found = [log_ratio(rng.gamma(4, 0.5, 44), rng.gamma(4, 0.25, 22)) for _ in range(500)]
    covered = np.mean([each.low <= np.log(2) <= each.high for each in found])
    assert 0.92 < covered < 0.98
    assert log_ratio([1.0], [1.0, 2.0]).above is None
    assert log_ratio([1.0, 2.0], [0.0, 0.0]).above is None
