import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.drift.hypotheses import Losses, average_pd, better_by, jackknifed, loss_of, more_lost, more_points_lost


def losses(error, ideal, trivial):
    return Losses((("a", "b"),) * np.shape(error)[1], *(np.asarray(each, dtype=float) for each in (error, ideal, trivial)))


def test_of_a_mean_the_jackknife_is_students_interval():
    values = np.random.default_rng(1).normal(size=12)
    found = jackknifed(lambda rows: float(values[rows].mean()), 12)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high))


def test_errors_are_found_in_the_runs_whatever_their_order():
    cells = [("N", "N", 0.2), ("N", "W", 0.3), ("W", "W", 0.25)]
    runs = pd.DataFrame(
        [
            {"learner": "x", "trained_on": train, "tested_on": test, "replicate": r, "error": error + r / 100, "trivial": 0.4}
            for train, test, error in cells
            for r in (1, 0)
        ]
    )
    found = Losses.of(runs)
    assert found.changes == (("N", "W"),)
    assert sorted(found.error[:, 0]) == pytest.approx([0.3, 0.31])
    assert found.error - found.ideal == pytest.approx(np.full((2, 1), 0.05))
    assert loss_of(found).value == pytest.approx(5)


def test_pd_of_mean_errors_and_its_difference():
    rng = np.random.default_rng(2)
    noise = rng.normal(scale=0.001, size=(20, 2))
    simple = losses(0.30 + noise, np.full((20, 2), 0.2), np.full((20, 2), 0.4))
    complicated = losses(0.24 + noise, np.full((20, 2), 0.2), np.full((20, 2), 0.4))
    assert average_pd(simple).value == pytest.approx(0.5, abs=0.01)
    assert more_lost(simple, complicated).value == pytest.approx(0.3)
    assert more_lost(simple, complicated).sign == 1
    assert more_lost(complicated, simple).sign == -1
    assert more_points_lost(simple, complicated).value == pytest.approx(6)
    assert [each.value for each in better_by(simple, complicated)] == pytest.approx([6, 6])


def test_a_change_without_pd_does_not_count():
    ideal = np.tile([0.2, 0.5], (4, 1))  # the second learner does not beat the trivial one
    found = losses(np.full((4, 2), 0.3), ideal, np.full((4, 2), 0.4))
    assert average_pd(found).value == pytest.approx(0.5)


@pytest.mark.parametrize("replicates", [1, 2])
def test_one_or_two_replicates_have_no_interval(replicates):
    """Two that happen to be alike would have one without any width."""
    one, other = (losses([[error]] * replicates, [[0.2]] * replicates, [[0.4]] * replicates) for error in (0.3, 0.25))
    for found, value in ((loss_of(one), 10), (more_points_lost(one, other), 5), (better_by(one, other)[0], 5)):
        assert found.value == pytest.approx(value)
        assert found.sign == 0
        assert np.isnan(found.low)


def test_intervals_are_widened_by_students_distribution():
    values = np.random.default_rng(3).normal(size=5)
    found = jackknifed(lambda rows: float(values[rows].mean()), 5).widened(2)
    low, high = stats.t.interval(0.975, 4, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high))
