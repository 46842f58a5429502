"""Losses and their differences."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.drift.results import DriftErrors, jackknife
from tests.reproduce.drift.conftest import IDEAL, LOST, TRIVIAL


def losses(error, ideal, trivial):
    return DriftErrors(
        (("a", "b"),) * np.shape(error)[1], *(np.asarray(value, dtype=float) for value in (error, ideal, trivial))
    )


def test_of_a_mean_the_jackknife_is_students_interval():
    values = np.random.default_rng(1).normal(size=12)
    estimate = jackknife(lambda rows: float(values[rows].mean()), 12)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((values.mean(), low, high))


def test_errors_are_found_in_the_runs_whatever_their_order():
    cells = [("N", "N", 0.2), ("N", "W", 0.3), ("W", "W", 0.25)]
    runs = pd.DataFrame(
        [
            {"learner": "x", "trained_on": train, "tested_on": test, "replicate": r, "error": error + r / 100, "trivial": 0.4}
            for train, test, error in cells
            for r in (1, 0)
        ]
    )
    estimate = DriftErrors.from_runs(runs)
    assert estimate.changes == (("N", "W"),)
    assert sorted(estimate.error[:, 0]) == pytest.approx([0.3, 0.31])
    assert estimate.error - estimate.ideal == pytest.approx(np.full((2, 1), 0.05))
    assert estimate.estimate_loss().value == pytest.approx(5)


def test_pd_of_mean_errors_and_its_difference():
    rng = np.random.default_rng(2)
    noise = rng.normal(scale=0.001, size=(20, 2))
    simple = losses(0.30 + noise, np.full((20, 2), 0.2), np.full((20, 2), 0.4))
    complicated = losses(0.24 + noise, np.full((20, 2), 0.2), np.full((20, 2), 0.4))
    assert simple.estimate_pd().value == pytest.approx(0.5, abs=0.01)
    assert simple.estimate_pd_difference(complicated).value == pytest.approx(0.3)
    assert simple.estimate_pd_difference(complicated).sign == 1
    assert complicated.estimate_pd_difference(simple).sign == -1
    assert simple.estimate_loss_difference(complicated).value == pytest.approx(6)
    assert [value.value for value in simple.estimate_error_differences(complicated)] == pytest.approx([6, 6])


def test_a_change_without_pd_does_not_count():
    ideal = np.tile([0.2, 0.5], (4, 1))  # the second learner does not beat the trivial one
    estimate = losses(np.full((4, 2), 0.3), ideal, np.full((4, 2), 0.4))
    assert estimate.estimate_pd().value == pytest.approx(0.5)


@pytest.mark.parametrize("replicates", [1, 2])
def test_one_or_two_replicates_have_no_interval(replicates):
    """Two that happen to be alike would have one without any width."""
    one, other = (losses([[error]] * replicates, [[0.2]] * replicates, [[0.4]] * replicates) for error in (0.3, 0.25))
    for estimate, value in (
        (one.estimate_loss(), 10),
        (one.estimate_loss_difference(other), 5),
        (one.estimate_error_differences(other)[0], 5),
    ):
        assert estimate.value == pytest.approx(value)
        assert estimate.sign == 0
        assert np.isnan(estimate.low)


def test_intervals_are_widened_by_students_distribution():
    values = np.random.default_rng(3).normal(size=5)
    estimate = jackknife(lambda rows: float(values[rows].mean()), 5).widen(2)
    low, high = stats.t.interval(0.975, 4, values.mean(), stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx((low, high))


def test_what_is_lost_is_found(results):
    for name, lost in LOST.items():
        assert results.get_errors("missing", name).estimate_loss().value == pytest.approx(100 * lost)
        assert results.get_errors("definitions", name).estimate_pd().value == pytest.approx(lost / (TRIVIAL - IDEAL[name]))


def test_pairs(results):
    pair = ("1R", "Decision Tree")
    expected = 0.06 / 0.15 - 0.03 / 0.25
    assert results.estimate_pd_difference("populations", pair).value == pytest.approx(expected)
    assert results.estimate_loss_difference("populations", pair, "age in years").value == pytest.approx(3)
    assert len(results.estimate_error_differences(pair)) == 2 + 2 + 6
    assert results.estimate_error_differences(pair)[0].value == pytest.approx(100 * (0.25 + 0.06 - 0.15 - 0.03))


def test_cells_have_the_usual_population_once_and_table_three_its_diagonal(results):
    own = [results.build_cells(table) for table in ("populations", "missing", "definitions")]
    diagonal = [int((cells["trained_on"] == cells["tested_on"]).sum()) for cells in own]
    assert diagonal == [4, 4, 12]
