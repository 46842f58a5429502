import numpy as np
import pytest
from scipy.stats import norm

from fairtrial.reproduce.estimates.problems import LEARNERS, drawn, plan_of, population


@pytest.mark.parametrize("scale", ["smoke", "quick", "full"])
def test_every_problem_of_a_plan_can_be_drawn_from(scale):
    plan = plan_of(scale)
    for name in {*plan.problems, *plan.ensembles["problems"]}:
        X, y, k = drawn(name, 30, 1)
        assert X.shape[0] == 30 == len(y)
        assert set(np.unique(y)) <= set(range(k))


def test_best_errors():
    apart = 1.6832
    assert population("two Gaussians").bayes_error == pytest.approx(norm.cdf(-apart / 2), abs=1e-6)
    # Two shares: the threshold moves by log(4) / distance.
    shift = np.log(4) / apart
    rare = 0.8 * norm.cdf(-apart / 2 - shift) + 0.2 * norm.cdf(-apart / 2 + shift)
    assert population("rare class").bayes_error == pytest.approx(rare, abs=1e-6)


def test_the_tree_gets_fewer_samples():
    plan = plan_of("full")
    counts = {name: plan.replicates_of(name) for name in LEARNERS}
    assert counts["C4.5"] == plan.replicates["c45"] < counts["naive Bayes"] == plan.replicates["others"]
