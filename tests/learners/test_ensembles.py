"""WEKA's AdaBoostM1 gave the probabilities, to three decimals: tests/reference/weka/make_boosting.py."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.chi import Chi
from fairtrial.learners.ensembles import AdaBoostM1, Bagging
from fairtrial.learners.naive_bayes import NaiveBayes
from fairtrial.learners.stump import Stump
from fairtrial.learners.svm import SMO
from tests.reference.weka.asking import NAMES, built_in, every_third

ANSWERS = json.loads((Path(__file__).parents[1] / "reference" / "weka" / "boosting.json").read_text())


@parametrize_with_checks([Bagging(n_estimators=5), Bagging(NaiveBayes(), 5), AdaBoostM1(), AdaBoostM1(NaiveBayes())])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", NAMES)
def test_every_boosted_probability_is_wekas(name):
    train, test = every_third(built_in(name))
    learner = AdaBoostM1().fit(train.drop(columns="class"), train["class"])
    declared = list(train["class"].cat.categories)
    expected = np.array(ANSWERS[f"{name} boosted"])[:, [declared.index(label) for label in learner.classes_]]
    np.testing.assert_allclose(learner.predict_proba(test.drop(columns="class")), expected, atol=5.01e-4)


def test_two_classes_are_scikit_learns_boosting():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    theirs = AdaBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y)
    ours = AdaBoostM1(tree, 8, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.log_odds_, theirs.estimator_weights_, rtol=1e-6)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_boosting_stops_at_a_perfect_or_a_useless_member():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    perfect = AdaBoostM1().fit(X, y)
    assert len(perfect.estimators_) == 1
    np.testing.assert_allclose(perfect.predict_proba(X), perfect.estimators_[0].predict_proba(X))
    useless = AdaBoostM1().fit(np.zeros((4, 1)), y)
    assert len(useless.estimators_) == 1


def test_by_resampling_and_without_weights():
    X, y = load_breast_cancer(return_X_y=True)
    drawn = AdaBoostM1(by="resampling", random_state=3).fit(X, y)
    again = AdaBoostM1(by="resampling", random_state=3).fit(X, y)
    np.testing.assert_array_equal(drawn.predict_proba(X), again.predict_proba(X))
    assert drawn.score(X, y) > Stump().fit(X, y).score(X, y)
    assert AdaBoostM1(SMO(), 3, random_state=0).fit(X, y).score(X, y) > 0.95


def test_bagging_averages_members_that_saw_other_rows():
    X, y = load_iris(return_X_y=True)
    bagging = Bagging(NaiveBayes(), 7, random_state=5).fit(X, y)
    mean = np.mean([member.predict_proba(X) for member in bagging.estimators_], axis=0)
    np.testing.assert_allclose(bagging.predict_proba(X), mean)
    assert len({member.class_prior_.tobytes() for member in bagging.estimators_}) > 1


def test_the_out_of_bag_error_is_near_that_on_new_rows():
    X, y = load_breast_cancer(return_X_y=True)
    bagging = Bagging(DecisionTreeClassifier(), 40, random_state=0).fit(X[::2], y[::2])
    assert abs(bagging.oob_error_ - (1 - bagging.score(X[1::2], y[1::2]))) < 0.04
    single = Bagging(NaiveBayes(), 1, random_state=0).fit(X, y)
    assert 0 < single.oob_error_ < 0.2  # of the third of the rows that the one member did not see


def test_members_without_probabilities_vote_and_a_class_that_a_bag_misses_keeps_its_column():
    X, y = load_iris(return_X_y=True)
    votes = Bagging(LinearSVC(), 4, random_state=1).fit(X, y).predict_proba(X)
    assert set(np.unique(votes * 4)) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    rare = Bagging(NaiveBayes(), 5, random_state=2).fit(X[:60], np.r_[y[:59], 9])
    assert rare.predict_proba(X[:2]).shape == (2, 3)


def test_members_that_abstain_leave_the_others_to_decide():
    X, y = load_iris(return_X_y=True)
    bagging = Bagging(Chi(labels=9), 5, random_state=0).fit(X[::2], y[::2])
    np.testing.assert_allclose(bagging.predict_proba(X[1::2]).sum(axis=1), 1)


def test_typed_columns_reach_the_members():
    table = pd.DataFrame({"size": [1.0, None, 8.0, 9.0] * 8, "hue": pd.Categorical(["red", "red", "blue", None] * 8)})
    for learner in (Bagging(random_state=0), AdaBoostM1()):
        fitted = learner.fit(table, ["u", "u", "v", "v"] * 8)
        assert fitted.predict(table.iloc[:4]).tolist() == ["u", "u", "v", "v"]


def test_clones_and_copies():
    X, y = load_iris(return_X_y=True)
    bagging = Bagging(NaiveBayes("kernel"), 3, random_state=9)
    fitted = clone(bagging).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Bagging("c45"), "estimator.*'c45'"),
        (Bagging(n_estimators=0), "n_estimators"),
        (AdaBoostM1(by="weight"), "'weights'"),
    ],
)
def test_bad_parameters(learner, message):
    with pytest.raises(InputError, match=message):
        learner.fit([[0.0], [1.0]], ["a", "b"])
