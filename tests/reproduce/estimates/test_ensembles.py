"""The parts of an error, and ensembles compared with their single learners."""

import numpy as np
import pytest

from fairtrial.reproduce.estimates.ensembles import BASES, build_learners, decompose_error, simulate_ensembles
from fairtrial.reproduce.estimates.simulation import SimulationPlan


def test_parts_sum_to_the_error():
    rng = np.random.default_rng(1)
    probabilities = rng.dirichlet([1, 1, 1], size=50)
    predictions = rng.integers(3, size=(7, 50))
    parts = decompose_error(probabilities, predictions)
    error = 1 - np.mean([probabilities[np.arange(50), codes].mean() for codes in predictions])
    assert parts.error == pytest.approx(error)
    assert parts.noise + parts.bias + parts.variance == pytest.approx(error)


def test_noise_is_half_the_error_of_guessing_by_the_probabilities():
    probabilities = np.random.default_rng(3).dirichlet([1, 1, 1], size=200)
    noise, bayes_error = (
        decompose_error(probabilities, np.zeros((2, 200), dtype=int)).noise,
        1 - probabilities.max(axis=1).mean(),
    )
    assert noise == pytest.approx((probabilities * (1 - probabilities)).sum(axis=1).mean() / 2)
    assert bayes_error / 2 < noise < bayes_error


def test_two_learners_by_hand():
    """One row of the first class for sure: one of two learners is wrong, so the votes are 1/2 and 1/2."""
    parts = decompose_error(np.array([[1.0, 0.0]]), np.array([[0], [1]]))
    assert (parts.noise, parts.variance, parts.bias) == pytest.approx((0.0, 0.5, 0.0))


def test_bias_and_variance_do_not_depend_on_the_number_of_learners():
    """Learners that predict the first class with probability 0.8 if it has 0.6: variance 0.16, bias 0.04."""
    rng = np.random.default_rng(2)
    probabilities = np.tile([0.6, 0.4], (4000, 1))
    for n_models in (2, 5, 40):
        parts = decompose_error(probabilities, (rng.random((n_models, 4000)) > 0.8).astype(int))
        assert (parts.variance, parts.bias) == pytest.approx((0.16, 0.04), abs=0.012)


def test_each_ensemble_has_its_single_learner():
    assert set(BASES) | set(BASES.values()) == set(build_learners(3, 1))


def test_a_row_per_problem_and_learner():
    frame = simulate_ensembles(SimulationPlan.load("smoke"), 1, 1)
    assert len(frame) == 10
    assert frame.loc[frame["learner"].isin(BASES), "gain"].notna().all()
    assert frame.loc[~frame["learner"].isin(BASES), "gain"].isna().all()
    tree, bagged = (frame.loc[frame["learner"] == name, "error"].iloc[0] for name in ("C4.5", "bagged C4.5"))
    assert frame.loc[frame["learner"] == "bagged C4.5", "gain"].iloc[0] == pytest.approx(100 * (tree - bagged))
