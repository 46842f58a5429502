import numpy as np
import pytest
from scipy.stats import binom
from sklearn.naive_bayes import GaussianNB

from fairtrial.reproduce.estimates.selection import CANDIDATES, selected


def best_of_twenty(rng):
    """The least validation error, by scikit-learn's naive Bayes."""
    train, check = rng.normal(size=(50, CANDIDATES)), rng.normal(size=(50, CANDIDATES))
    y, truth = rng.random(50) < 0.5, rng.random(50) < 0.5
    return min(1 - GaussianNB().fit(train[:, [j]], y).score(check[:, [j]], truth) for j in range(CANDIDATES))


def test_the_winner_looks_too_good_where_it_chose_and_not_elsewhere():
    found = selected(400, 1)
    twin = np.mean([best_of_twenty(np.random.default_rng(seed)) for seed in range(30)])
    assert found.validation.value == pytest.approx(twin, abs=0.02)
    assert found.test.low <= 0.5 <= found.test.high
    # Twenty independent coins would look better still: the models share the classes that they are tried on.
    coins = (binom.sf(np.arange(50), 50, 0.5) ** CANDIDATES).sum() / 50
    assert coins < found.validation.low < found.validation.high < 0.45
