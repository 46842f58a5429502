"""Error rates against noise: levels as printed, intervals that hold, and the same numbers whatever the threads."""

import numpy as np
import pytest

from fairtrial.reproduce.ranking.curves import NOISES, Curve, curves
from fairtrial.reproduce.ranking.measure_words import MEASURES

LABELS, SCORES, PROPORTION = NOISES


def small(jobs=1, seed=1, pairs=150, step=50):
    return curves([LABELS, SCORES], step=step, pairs=pairs, seed=seed, jobs=jobs, progress=False)


def test_levels_are_those_of_the_paper():
    assert LABELS.percents(1) == list(range(101))
    assert SCORES.unit * SCORES.percents(1)[-1] == 0.5
    assert SCORES.unit == 0.005
    assert (PROPORTION.percents(1)[0], PROPORTION.percents(1)[-1], len(PROPORTION.percents(1))) == (5, 95, 91)
    assert PROPORTION.percents(50) == [5, 55, 95]


def test_threads_change_nothing_and_seeds_do():
    one, two, other = small(jobs=1), small(jobs=2), small(seed=2)
    for first, second, third in zip(one, two, other, strict=True):
        np.testing.assert_array_equal(first.rates, second.rates)
        np.testing.assert_array_equal(first.covariances, second.covariances)
        assert (first.rates != third.rates).any()


def test_a_gap_is_the_paired_difference():
    # Errors of 4 pairs: of the first measure 1 1 0 0, of the second 1 0 0 0, of the others 0.
    errors = np.zeros((4, 6))
    errors[:2, 0], errors[:1, 1] = 1, 1
    rates = errors.mean(axis=0)[None]
    covariances = (errors.T @ errors / 4 - np.outer(rates, rates))[None]
    curve = Curve(LABELS, np.array([10.0]), 4, rates, covariances)
    gap = curve.gap("h_measure", "auc")
    half = 1.959964 * np.sqrt(np.var(errors[:, 0] - errors[:, 1]) / 4)
    assert gap.value == 25
    assert (gap.low, gap.high) == pytest.approx((25 - 100 * half, 25 + 100 * half), abs=1e-4)
    (alone,) = curve.gaps("h_measure", "auc", 0.95)
    assert alone.high - gap.high == pytest.approx(100 * 1.959964**2 / 8)  # z^2 / 2n more
    assert curve.gaps("auch", "ks", 0.95)[0].within(40) is None
    assert curve.spread(["h_measure", "auc", "ks"]) == 0.5


def test_intervals_hold_the_true_gap_as_often_as_they_say():
    true = curves([SCORES], step=100, pairs=40_000, seed=9, jobs=2, progress=False)[0].gap("auc", "ks").value
    held = 0
    for seed in range(60):
        gap = curves([SCORES], step=100, pairs=300, seed=seed, jobs=1, progress=False)[0].gap("auc", "ks")
        held += gap.low <= true <= gap.high
    assert held >= 51  # 57 expected; fewer than 51 has a chance of 0.3 %


def test_the_frame_is_in_percent():
    frame = small()[0].frame()
    assert list(frame.columns) == ["noise", "level", *MEASURES]
    assert frame["level"].tolist() == [0, 50, 100]
    assert 30 < frame["auc"].iloc[-1] < 70
