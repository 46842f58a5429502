"""Logistic lines on a machine's outputs, and pairs coupled to class probabilities."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fairtrial.reproduce.ela.coupling import coupled, fitted_line, second_share


def overlapping():
    rng = np.random.default_rng(3)
    second = np.arange(200) >= 130
    return rng.normal(np.where(second, 0.6, -0.7), 1.0), second


def test_the_line_is_the_maximum_of_likelihood_where_classes_overlap():
    outputs, second = overlapping()

    def loss(line):
        return np.logaddexp(0, -np.where(second, 1, -1) * (line[0] + line[1] * outputs)).sum()

    best = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    assert fitted_line(outputs, second, tol=1e-9) == pytest.approx(tuple(best), rel=1e-5)


@pytest.mark.parametrize(("first", "expected"), [(700, -0.4), (500, 0.0), (900, -0.8)])
def test_sure_outputs_leave_the_threshold_at_their_mean(first, expected):
    second = np.arange(1000) >= first
    intercept, slope = fitted_line(np.where(second, 1.0, -1.0), second)
    assert -intercept / slope == pytest.approx(expected, abs=0.01)


def test_the_first_step_on_german_is_that_of_weka():
    """WEKA 3.6.14, SMO -C 100 with Puk and -M on german, whose 700 and 300 rows have outputs of -1 and 1."""
    second = np.arange(1000) >= 700
    intercept, slope = fitted_line(np.where(second, 1.0, -1.0), second)
    assert slope == pytest.approx(499.5, rel=0.002)
    assert intercept == pytest.approx(198.55, rel=0.01)


def test_a_tighter_bound_descends_towards_the_machines_own_threshold():
    second = np.arange(100) >= 90
    outputs = np.where(second, 1.0, -1.0)
    loose, tight = (fitted_line(outputs, second, tol=tol) for tol in (1e-2, 1e-10))
    assert abs(tight[0] / tight[1]) < 0.5 * abs(loose[0] / loose[1])


def test_outputs_that_do_not_vary_tell_the_odds_alone():
    second = np.arange(40) >= 30
    line = fitted_line(np.zeros(40), second, tol=1e-9)
    assert second_share(np.zeros(1), line)[0] == pytest.approx(0.25, abs=1e-6)


def test_consistent_pairs_give_back_the_probabilities_that_they_came_from():
    truth = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.2, 0.7, 0.1]])
    shares = truth[:, :, None] / (truth[:, :, None] + truth[:, None, :])
    assert coupled(shares, np.array([[0, 5, 9], [0, 0, 3], [0, 0, 0]])) == pytest.approx(truth, abs=0.01)


def test_pairs_are_coupled_as_one_row_at_a_time_would_be():
    rng = np.random.default_rng(1)
    sizes = np.array([128, 43, 28, 10])
    counts = (sizes[:, None] + sizes).astype(float)
    shares = np.where(rng.random((30, 4, 4)) < 0.5, rng.integers(0, 2, (30, 4, 4)), rng.random((30, 4, 4)))
    together = coupled(shares, counts)
    assert together == pytest.approx(np.array([by_loops(each, counts) for each in shares]), abs=1e-12)


def by_loops(shares, counts):
    """Hastie and Tibshirani's rounds, written out."""
    k = len(shares)
    found, moved = np.full(k, 1 / k), True
    wins = [
        sum(counts[i, j] * shares[i, j] for j in range(i + 1, k)) + sum(counts[j, i] * (1 - shares[j, i]) for j in range(i))
        for i in range(k)
    ]
    while moved:
        got = [
            sum(counts[i, j] * (found[i] / (found[i] + found[j]) if found[i] > 0 else 0) for j in range(k) if j != i)
            for i in range(k)
        ]
        next_ = np.array([found[i] * wins[i] / got[i] if got[i] > 0 else 0.0 for i in range(k)])
        moved = bool((np.abs(next_ - found) > 1e-3).any())
        found = next_ / next_.sum()
    return found
