import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.pdfc import PDFC


@parametrize_with_checks([PDFC()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_two_classes_are_those_of_the_gaussian_svm():
    X, y = load_breast_cancer(return_X_y=True)
    scaled = MinMaxScaler().fit_transform(X)
    theirs = SVC(C=100, gamma=0.25).fit(scaled[::2], y[::2])
    ours = PDFC().fit(scaled[::2], y[::2])
    scaler = MinMaxScaler().fit(scaled[::2])
    theirs = SVC(C=100, gamma=0.25).fit(scaler.transform(scaled[::2]), y[::2])
    assert (ours.predict(scaled) == theirs.predict(scaler.transform(scaled))).all()


def test_several_classes_by_the_weighted_mean_of_the_consequents():
    X, y = load_wine(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    machines = OneVsRestClassifier(SVC(C=100, gamma=0.25)).fit(X, y).estimators_
    expected = []
    for machine in machines:
        outputs = []
        for row in X:
            fired = [np.exp(-0.25 * ((row - centre) ** 2).sum()) for centre in machine.support_vectors_]
            outputs.append((machine.intercept_[0] + np.dot(machine.dual_coef_[0], fired)) / (1 + sum(fired)))
        expected.append(outputs)
    ours = PDFC().fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), np.transpose(expected), atol=2e-3)
    assert (ours.predict(X) == np.argmax(expected, axis=0)).all()


def test_nominal_and_missing_columns():
    table = pd.DataFrame({"size": [1.0, None, 8.0, 9.0] * 5, "hue": pd.Categorical(["red", "red", "blue", "blue"] * 5)})
    learner = PDFC().fit(table, ["u", "u", "v", "v"] * 5)
    assert learner.predict(table.iloc[:4]).tolist() == ["u", "u", "v", "v"]


@pytest.mark.parametrize(("learner", "message"), [(PDFC(C=0), "^C "), (PDFC(width=-1), "width")])
def test_bad_parameters(learner, message):
    with pytest.raises(InputError, match=message):
        learner.fit([[0.0], [1.0]], ["a", "b"])


def test_one_class_only():
    with pytest.raises(InputError, match="PDFC"):
        PDFC().fit([[0.0], [1.0]], ["a", "a"])
