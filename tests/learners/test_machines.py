"""Predictions, row for row, of WEKA's SMO (tests/reference/weka/make_machines.py), and counts of REFERENCE section 4."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.svm import SMO, PukSVC
from tests.reference.weka.asking import built_in, every_third

ANSWERS = json.loads((Path(__file__).parents[1] / "reference" / "weka" / "machines.json").read_text())
LEARNERS = {"linear": SMO(), "quadratic": SMO(exponent=2), "puk": PukSVC()}


@parametrize_with_checks([SMO(), PukSVC()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", [case for case in ANSWERS if case != "mixed linear"])
def test_every_prediction_is_wekas(case):
    name, kernel = case.split()
    train, test = every_third(built_in(name))
    learner = clone(LEARNERS[kernel]).fit(train.drop(columns="class"), train["class"])
    classes = list(train["class"].cat.categories)
    assert [classes.index(label) for label in learner.predict(test.drop(columns="class"))] == ANSWERS[case]


def test_the_one_row_that_differs_is_where_weka_stops_short():
    """The weights that WEKA prints for its SVM of b and c on the training rows of `mixed` cost more than ours."""
    train, test = every_third(built_in("mixed"))
    learner = SMO(tol=1e-6).fit(train.drop(columns="class"), train["class"])
    differ = [
        row
        for row, label in enumerate(learner.predict(test.drop(columns="class")))
        if "abc"[ANSWERS["mixed linear"][row]] != label
    ]
    assert differ == [71]
    among = (train["class"] != "a").to_numpy()
    rows, sign = learner._rows[among], np.where(train["class"][among] == "c", 1, -1)

    def cost(weights, bias):
        return np.dot(weights, weights) / 2 + np.maximum(0, 1 - sign * (rows @ weights + bias)).sum()

    exact = SVC(kernel="linear", C=1, tol=1e-8).fit(rows, sign)
    theirs = cost(np.array([3.823, 0, -0.9371, -0.4623, 1.3994, -0.0355, 0.9744]), -2.8755)
    assert cost(exact.coef_[0], exact.intercept_[0]) < theirs - 0.2
    np.testing.assert_allclose(
        -learner._compute_pairwise(learner._template.encode_like(train.drop(columns="class")))[among, 2],
        exact.decision_function(rows),
        atol=1e-3,
    )


@pytest.mark.parametrize(("name", "linear", "puk"), [("diabetes", 206, 187), ("ionosphere", 101, 111)])
def test_counts_of_the_reference(shared_data, name, linear, puk):
    from fairtrial.data import read

    train, test = every_third(read(shared_data / "uci" / f"{name}.arff").frame())
    for learner, right in ((SMO(), linear), (PukSVC(), puk)):
        learner.fit(train.iloc[:, :-1], train.iloc[:, -1])
        assert (learner.predict(test.iloc[:, :-1]) == test.iloc[:, -1].astype(str)).sum() == right


def test_the_pearson_kernel_written_out():
    X, y = load_iris(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)

    def kernel(a, b):
        return 1 / (1 + (2 * euclidean_distances(a, b) * np.sqrt(2 ** (1 / 0.5) - 1) / 3) ** 2) ** 0.5

    ours, theirs = PukSVC(10, sigma=3, omega=0.5, tol=1e-9).fit(X, y), SVC(C=10, kernel=kernel, tol=1e-9).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_lower_order_terms_are_scikit_learns_coef0():
    X, y = load_iris(return_X_y=True)
    ours = SMO(2, exponent=3, lower_order=True, scale=None).fit(X, y)
    theirs = SVC(C=2, kernel="poly", degree=3, gamma=1, coef0=1).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_probabilities_are_proportions_of_votes_and_agree_with_predictions():
    X, y = load_iris(return_X_y=True)
    learner = SMO().fit(X, y)
    probabilities = learner.predict_proba(X)
    assert set(np.round(probabilities.ravel() * 3, 9)) <= {0.0, 1.0, 2.0}
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (learner.classes_[probabilities.argmax(axis=1)] == learner.predict(X)).all()


def test_nominal_and_missing_columns_and_unseen_values():
    table = pd.DataFrame({"size": [1.0, None, 8.0, 9.0] * 5, "hue": pd.Categorical(["red", "red", "blue", None] * 5)})
    learner = PukSVC().fit(table, ["u", "u", "v", "v"] * 5)
    assert learner.predict(pd.DataFrame({"size": [1.0, 9.0], "hue": ["green", "blue"]})).tolist() == ["u", "v"]


def test_a_copy_predicts_the_same_and_the_cached_matrix_does_not_mix_kernels():
    X, y = load_iris(return_X_y=True)
    first = PukSVC().fit(X, y)
    other = PukSVC(sigma=0.1).fit(X, y)
    assert not np.allclose(first.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).decision_function(X), first.decision_function(X))
    np.testing.assert_array_equal(PukSVC().fit(X, y).decision_function(X), first.decision_function(X))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (SMO(C=0), "^C "),
        (SMO(C=float("inf")), "^C "),
        (SMO(tol=0), "tol"),
        (SMO(exponent=1.5, scale="standard"), "exponent"),
        (PukSVC(sigma=-1), "sigma"),
        (PukSVC(omega=0), "omega"),
        (SMO(exponent=0.5), "exponent"),
        (SMO(scale="minmax"), "'min-max'"),
    ],
)
def test_bad_parameters(learner, message):
    with pytest.raises(InputError, match=message):
        learner.fit([[0.0], [1.0]], ["a", "b"])


def test_one_class_only():
    with pytest.raises(InputError, match="PukSVC"):
        PukSVC().fit([[0.0], [1.0]], ["a", "a"])


def test_rows_far_from_the_origin_keep_their_distances():
    X, y = load_iris(return_X_y=True)
    assert (PukSVC(scale=None).fit(X + 1e8, y).predict(X + 1e8) == PukSVC(scale=None).fit(X, y).predict(X)).mean() > 0.99
