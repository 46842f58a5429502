"""Simulated error curves: the paper's noise levels, coverage of intervals, the same numbers with any number of threads."""

import numpy as np
import pytest

from fairtrial.reproduce.ranking_errors import MEASURES
from fairtrial.reproduce.ranking_synthetic.simulation import NOISES, ErrorCurve, simulate_curves

LABELS, SCORES, PROPORTION = NOISES


def simulate_small(jobs=1, seed=1, pairs=150, step=50):
    return simulate_curves([LABELS, SCORES], step=step, pairs=pairs, seed=seed, jobs=jobs, progress=False)


def test_levels_are_those_of_the_paper():
    assert LABELS.list_levels(1) == list(range(101))
    assert SCORES.unit * SCORES.list_levels(1)[-1] == 0.5
    assert SCORES.unit == 0.005
    assert (PROPORTION.list_levels(1)[0], PROPORTION.list_levels(1)[-1], len(PROPORTION.list_levels(1))) == (5, 95, 91)
    assert PROPORTION.list_levels(50) == [5, 55, 95]


def test_threads_change_nothing_and_seeds_do():
    one, two, other = simulate_small(jobs=1), simulate_small(jobs=2), simulate_small(seed=2)
    for first, second, third in zip(one, two, other, strict=True):
        np.testing.assert_array_equal(first.rates, second.rates)
        np.testing.assert_array_equal(first.covariances, second.covariances)
        assert (first.rates != third.rates).any()


def test_estimated_differences_are_paired():
    # Errors of 4 pairs: of the first measure 1 1 0 0, of the second 1 0 0 0, of the others 0.
    errors = np.zeros((4, 6))
    errors[:2, 0], errors[:1, 1] = 1, 1
    rates = errors.mean(axis=0)[None]
    covariances = (errors.T @ errors / 4 - np.outer(rates, rates))[None]
    curve = ErrorCurve(LABELS, np.array([10.0]), 4, rates, covariances)
    difference = curve.estimate_difference("h_measure", "auc")
    half = 1.959964 * np.sqrt(np.var(errors[:, 0] - errors[:, 1]) / 4)
    assert difference.value == 25
    assert (difference.low, difference.high) == pytest.approx((25 - 100 * half, 25 + 100 * half), abs=1e-4)
    (at_level,) = curve.estimate_differences("h_measure", "auc", 0.95)
    assert at_level.high - difference.high == pytest.approx(100 * 1.959964**2 / 8)  # z^2 / 2n more
    assert curve.estimate_differences("auch", "ks", 0.95)[0].is_within(40) is None
    assert curve.compute_spread(["h_measure", "auc", "ks"]) == 0.5


def test_intervals_contain_the_true_difference_as_often_as_they_should():
    true = (
        simulate_curves([SCORES], step=100, pairs=40_000, seed=9, jobs=2, progress=False)[0]
        .estimate_difference("auc", "ks")
        .value
    )
    n_contained = 0
    for seed in range(60):
        difference = simulate_curves([SCORES], step=100, pairs=300, seed=seed, jobs=1, progress=False)[0].estimate_difference(
            "auc", "ks"
        )
        n_contained += difference.low <= true <= difference.high
    assert n_contained >= 51  # 57 expected; fewer than 51 has a chance of 0.3 %


def test_the_frame_is_in_percent():
    frame = simulate_small()[0].frame()
    assert list(frame.columns) == ["noise", "level", *MEASURES]
    assert frame["level"].tolist() == [0, 50, 100]
    assert 30 < frame["auc"].iloc[-1] < 70
