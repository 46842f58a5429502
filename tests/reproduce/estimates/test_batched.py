import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.reproduce.estimates.batched import BATCHED, SHRINKAGE
from fairtrial.reproduce.estimates.problems import drawn

TWINS = {
    "nearest neighbour": KNeighborsClassifier(1),
    "naive Bayes": GaussianNB(),
    "linear discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE),
}


@pytest.mark.parametrize("problem", ["waveform", "rare class"])
@pytest.mark.parametrize("name", TWINS)
def test_many_parts_at_once_as_scikit_learn_one_by_one(name, problem):
    rng = np.random.default_rng(1)
    X, y, k = drawn(problem, 40, rng)
    queries = drawn(problem, 60, rng)[0]
    weights = np.array([np.bincount(rng.integers(40, size=40), minlength=40) for _ in range(8)], dtype=float)
    found = BATCHED[name](X, y, k, weights, queries)
    for line, weight in zip(found, weights, strict=True):
        rows = np.repeat(np.arange(40), weight.astype(int))
        assert line.tolist() == TWINS[name].fit(X[rows], y[rows]).predict(queries).tolist()


@pytest.mark.parametrize("name", TWINS)
def test_a_class_that_is_not_in_the_part_is_never_said(name):
    X, y, k = drawn("waveform", 30, 2)
    found = BATCHED[name](X, y, k, (y != 1)[None].astype(float), X)
    assert 1 not in found
    assert {0, 2} == set(np.unique(found))


@pytest.mark.filterwarnings("ignore:Only one sample available")
def test_one_row_of_a_class_is_enough():
    X, y = np.array([[0.0, 0.0], [0.1, 1.0], [0.2, 0.5], [9.0, 9.0]]), np.array([0, 0, 0, 1])
    for name, twin in TWINS.items():
        found = BATCHED[name](X, y, 2, np.ones((1, 4)), X)[0]
        assert found.tolist() == twin.fit(X, y).predict(X).tolist(), name
