"""WEKA's AdaBoostM1 gave the probabilities, to three decimals: tests/reference/weka/make_boosting.py."""

import json
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
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


ENSEMBLES = [Bagging(n_estimators=5), Bagging(NaiveBayes(), 5, vote="majority"), AdaBoostM1(), AdaBoostM1(NaiveBayes())]


@parametrize_with_checks(ENSEMBLES)
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


def test_a_majority_vote_counts_the_predicted_labels_of_the_members():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["benign", "malignant"])[y]
    bagging = Bagging(DecisionTreeClassifier(max_depth=2), 9, vote="majority", random_state=5).fit(X[::2], names[::2])
    labels = np.array([member.predict(X) for member in bagging.estimators_])
    winners = [Counter(column).most_common(1)[0][0] for column in labels.T]  # no ties among nine votes for two classes
    assert bagging.predict(X).tolist() == winners
    np.testing.assert_allclose(bagging.predict_proba(X)[:, 1], (labels == "malignant").mean(axis=0))


def test_a_majority_may_outvote_the_mean_of_the_probabilities():
    """Two members prefer class 0 by a little, one prefers class 1 by far."""
    X, y = np.zeros((10, 1)), np.array([0, 1] * 5)
    votes, mean = (Bagging(FixedMember(), 3, vote=vote, random_state=0).fit(X, y) for vote in ("majority", "average"))
    for bagging in (votes, mean):
        for member, probability in zip(bagging.estimators_, (0.4, 0.4, 0.95), strict=True):
            member.probability = probability
    assert votes.predict(X[:1]).tolist() == [0]
    assert mean.predict(X[:1]).tolist() == [1]
    np.testing.assert_allclose(votes.predict_proba(X[:1]), [[2 / 3, 1 / 3]])


def test_the_out_of_bag_error_of_a_majority_vote_counts_votes():
    X, y = load_breast_cancer(return_X_y=True)
    bagging = Bagging(DecisionTreeClassifier(), 15, vote="majority", random_state=0).fit(X, y)
    rng, votes = np.random.default_rng(0), np.zeros((len(y), 2))
    for member in bagging.estimators_:
        rows = rng.integers(len(y), size=len(y))
        rng.integers(2**31 - 1)  # the seed of the member
        unseen = np.setdiff1d(np.arange(len(y)), rows)
        votes[unseen, member.predict(X[unseen])] += 1
    is_voted = votes.sum(axis=1) > 0
    assert bagging.oob_error_ == pytest.approx(np.mean(votes.argmax(axis=1)[is_voted] != y[is_voted]))


class FixedMember(ClassifierMixin, BaseEstimator):
    """A classifier that predicts the same probability of class 1 for every row."""

    def __init__(self, probability=0.5):
        self.probability = probability

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.probability, self.probability], (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


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
        (Bagging(vote="plurality"), "vote.*'majority'"),
        (AdaBoostM1(by="weight"), "'weights'"),
    ],
)
def test_bad_parameters(learner, message):
    with pytest.raises(InputError, match=message):
        learner.fit([[0.0], [1.0]], ["a", "b"])
