"""Learning from many training sets at once, compared with scikit-learn one by one."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.learners import C45
from fairtrial.reproduce.estimates.learners import BATCHED, SHRINKAGE, compute_losses, predict_from_all
from fairtrial.reproduce.estimates.simulation import draw_sample

REFERENCES = {
    "nearest neighbour": KNeighborsClassifier(1),
    "naive Bayes": GaussianNB(),
    "linear discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE),
}


@pytest.mark.parametrize("problem", ["waveform", "rare class"])
@pytest.mark.parametrize("name", REFERENCES)
def test_many_training_sets_as_scikit_learn_one_by_one(name, problem):
    rng = np.random.default_rng(1)
    X, y, n_classes = draw_sample(problem, 40, rng)
    queries = draw_sample(problem, 60, rng)[0]
    weights = np.array([np.bincount(rng.integers(40, size=40), minlength=40) for _ in range(8)], dtype=float)
    predictions = BATCHED[name](X, y, n_classes, weights, queries)
    for predicted, weight in zip(predictions, weights, strict=True):
        rows = np.repeat(np.arange(40), weight.astype(int))
        assert predicted.tolist() == REFERENCES[name].fit(X[rows], y[rows]).predict(queries).tolist()


@pytest.mark.parametrize("name", REFERENCES)
def test_a_class_without_training_rows_is_never_predicted(name):
    X, y, n_classes = draw_sample("waveform", 30, 2)
    predictions = BATCHED[name](X, y, n_classes, (y != 1)[None].astype(float), X)
    assert set(np.unique(predictions)) == {0, 2}


@pytest.mark.filterwarnings("ignore:Only one sample available")
@pytest.mark.parametrize("name", REFERENCES)
def test_one_row_of_a_class_is_enough(name):
    X, y = np.array([[0.0, 0.0], [0.1, 1.0], [0.2, 0.5], [9.0, 9.0]]), np.array([0, 0, 0, 1])
    predictions = BATCHED[name](X, y, 2, np.ones((1, 4)), X)[0]
    assert predictions.tolist() == REFERENCES[name].fit(X, y).predict(X).tolist()


@pytest.mark.parametrize(("name", "reference"), [("naive Bayes", GaussianNB()), ("C4.5", C45())])
def test_losses_are_those_of_the_tested_rows(name, reference):
    X, y, n_classes = draw_sample("waveform", 30, 1)
    is_tested = np.zeros((2, 30), dtype=bool)
    is_tested[0, :10] = is_tested[1, 10:25] = True
    losses = compute_losses(name, X, y, n_classes, 1.0 - is_tested, is_tested)
    assert not losses[~is_tested].any()
    for row, test in zip(losses, is_tested, strict=True):
        predicted = reference.fit(X[~test], y[~test]).predict(X[test])
        assert row[test].tolist() == (predicted != y[test]).tolist()


@pytest.mark.parametrize(("name", "reference"), [("naive Bayes", GaussianNB()), ("C4.5", C45())])
def test_predictions_for_new_rows(name, reference):
    (X, y, n_classes), (X_new, _, _) = draw_sample("two Gaussians", 50, 1), draw_sample("two Gaussians", 400, 2)
    assert predict_from_all(name, X, y, n_classes, X_new).tolist() == reference.fit(X, y).predict(X_new).tolist()
    assert predict_from_all("nearest neighbour", X, y, n_classes, X).tolist() == y.tolist()
