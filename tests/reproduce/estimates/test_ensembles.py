import numpy as np
import pytest

from fairtrial.reproduce.estimates.ensembles import BASES, decomposed, learners, run_ensembles
from fairtrial.reproduce.estimates.problems import plan_of


def test_parts_sum_to_the_error_whatever_is_said():
    rng = np.random.default_rng(1)
    probabilities = rng.dirichlet([1, 1, 1], size=50)
    said = rng.integers(3, size=(7, 50))
    parts = decomposed(probabilities, said)
    error = 1 - np.mean([probabilities[np.arange(50), each].mean() for each in said])
    assert parts.error == pytest.approx(error)
    assert parts.noise + parts.bias + parts.variance == pytest.approx(error)


def test_noise_is_half_the_error_of_guessing_by_the_probabilities_not_the_best_error():
    probabilities = np.random.default_rng(3).dirichlet([1, 1, 1], size=200)
    noise, best = decomposed(probabilities, np.zeros((2, 200), dtype=int)).noise, 1 - probabilities.max(axis=1).mean()
    assert noise == pytest.approx((probabilities * (1 - probabilities)).sum(axis=1).mean() / 2)
    assert best / 2 < noise < best


def test_two_learners_by_hand():
    """One row of the first class for sure: one of two learners is wrong, so that votes are 1/2 and 1/2."""
    parts = decomposed(np.array([[1.0, 0.0]]), np.array([[0], [1]]))
    assert (parts.noise, parts.variance, parts.bias) == pytest.approx((0.0, 0.5, 0.0))


def test_bias_and_variance_do_not_depend_on_the_number_of_learners():
    """Learners that say the first class with chance 0.8 where it has 0.6: variance 0.16, bias 0.04."""
    rng = np.random.default_rng(2)
    truth = np.tile([0.6, 0.4], (4000, 1))
    for trained in (2, 5, 40):
        parts = decomposed(truth, (rng.random((trained, 4000)) > 0.8).astype(int))
        assert (parts.variance, parts.bias) == pytest.approx((0.16, 0.04), abs=0.012)


def test_each_ensemble_has_its_single_learner():
    own = learners(3, 1)
    assert set(BASES) | set(BASES.values()) == set(own)


def test_runs_give_a_line_for_each_problem_and_learner():
    plan = plan_of("smoke")
    frame = run_ensembles(plan, 1, 1)
    assert len(frame) == 10
    assert frame.loc[frame["learner"].isin(BASES), "gain"].notna().all()
    assert frame.loc[~frame["learner"].isin(BASES), "gain"].isna().all()
    tree, bagged = (frame.loc[frame["learner"] == name, "error"].iloc[0] for name in ("C4.5", "bagged C4.5"))
    assert frame.loc[frame["learner"] == "bagged C4.5", "gain"].iloc[0] == pytest.approx(100 * (tree - bagged))
