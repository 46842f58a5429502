"""Strengths of tables of wins equal the maximum that a general optimiser finds."""

import numpy as np
from scipy.optimize import minimize

from fairtrial.kernels.significance import estimate_strengths


def searched(wins):
    k = len(wins)

    def loss(free):
        logs = np.append(free, -free.sum())
        return sum(wins[i, j] * np.log1p(np.exp(logs[j] - logs[i])) for i in range(k) for j in range(k) if i != j)

    free = minimize(loss, np.zeros(k - 1), tol=1e-12).x
    return np.append(free, -free.sum())


def test_equals_the_searched_maximum():
    rng = np.random.default_rng(0)
    tables = rng.integers(1, 9, (4, 5, 5)).astype(float)
    for found, wins in zip(estimate_strengths(tables), tables, strict=True):
        np.testing.assert_allclose(found, searched(wins), atol=1e-4)


def test_two_learners_have_a_closed_form():
    found = estimate_strengths(np.array([[[0.0, 9.0], [3.0, 0.0]]]))[0]
    np.testing.assert_allclose(found, [np.log(3) / 2, -np.log(3) / 2], atol=1e-9)
