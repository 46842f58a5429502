import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.estimates.pooling import Measured, covering, pooled


def cell(place, values, index=None):
    return Measured.of_mean(place, pd.Series(np.asarray(values, dtype=float), index=index))


def wilson(held, draws):
    found = stats.binomtest(held, draws).proportion_ci(0.95, method="wilson")
    return found.low, found.high


def test_one_cell_has_students_interval():
    values = [0.1, 0.4, 0.3, 0.9]
    found = pooled([cell("p", values)])
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 3, np.mean(values), stats.sem(values)))


def test_replicates_are_matched_by_their_number():
    """Contributions that cancel on each sample leave no doubt; matched otherwise, they would."""
    first, second = cell("p", [1.0, 2.0, 4.0], [0, 1, 2]), cell("p", [-4.0, -2.0, -1.0], [2, 1, 0])
    third = cell("q", [0.0, 0.1, 0.2])
    alone = pooled([third])
    found = pooled([first, second, third])
    assert found.high - found.low == pytest.approx((alone.high - alone.low) / 3)


def test_two_places_by_welch():
    """The mean of two independent means: Welch's interval of a difference, with one sign turned."""
    a, b = np.array([0.1, 0.5, 0.2, 0.9, 0.3]), np.array([1.0, 1.4, 0.2])
    welch = stats.ttest_ind(a, -b, equal_var=False).confidence_interval(0.95)
    found = pooled([cell("p", a), cell("q", b)])
    assert (found.low, found.high) == pytest.approx((welch.low / 2, welch.high / 2))
    assert found.freedom == pytest.approx(stats.ttest_ind(a, -b, equal_var=False).df)


def test_95_per_cent_hold_the_truth_where_learners_share_samples_and_one_has_fewer():
    """Four learners, correlation 0.5, the last one with a third of the replicates: independent cells would cover 83 %."""
    rng = np.random.default_rng(1)
    held = []
    for _ in range(300):
        shared = rng.standard_normal((30, 1)) + rng.standard_normal((30, 4))
        found = pooled([cell("p", shared[: 10 if j == 3 else 30, j]) for j in range(4)])
        held.append(found.low <= 0 <= found.high)
    assert 0.92 < np.mean(held) < 0.99


def test_shares_have_wilsons_interval_for_what_the_samples_are_worth():
    held = np.repeat([1.0, 0.0], [900, 100])
    single = covering([cell("p", held)])
    assert (single.low, single.high) == pytest.approx(wilson(900, 1000), abs=2e-4)
    twice = covering([cell("p", held), cell("p", held)])
    assert vars(twice) == pytest.approx(vars(single))
    apart = covering([cell("p", held), cell("q", held)])
    assert (apart.low, apart.high) == pytest.approx(wilson(1800, 2000), abs=2e-4)


def test_draws_that_all_agree_are_worth_their_samples():
    found = covering([cell("p", np.ones(10)), cell("p", np.ones(4)), cell("q", np.ones(6))])
    assert (found.low, found.high) == pytest.approx(wilson(10, 10))


def test_nothing_is_told_from_nothing():
    for few in ([], [cell("p", [1.0])], [cell("p", [1.0, 1.0])]):
        assert pooled(few).above is None
    assert np.isnan(covering([]).value)
