"""Answers come back without training, and Ctrl-C stops what would go on half-trained."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from fairtrial.learners import Prepared
from fairtrial.reproduce.drift.fitting import Kept


class Untrainable(DummyClassifier):
    def fit(self, X, y):
        raise RuntimeError("trained again")


def rows(seed):
    X = pd.DataFrame(np.random.default_rng(seed).normal(size=(40, 2)), columns=["a", "b"])
    return X, pd.Series(np.where(X["a"] + X["b"] > 0, "yes", "no"), dtype="category")


@pytest.fixture
def interrupted(monkeypatch):
    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPClassifier, "_update_no_improvement_count", press)  # called within the rounds of training


@pytest.mark.usefixtures("interrupted")
def test_a_network_is_stopped_and_answers_nothing(tmp_path):
    learner = Kept(Prepared(MLPClassifier(max_iter=5)), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(*rows(1))
    assert not list(tmp_path.iterdir())


def test_a_network_that_ends_at_its_last_round_is_quiet(tmp_path):
    X, y = rows(1)
    Kept(Prepared(MLPClassifier(max_iter=2)), tmp_path).fit(X, y).predict(X)  # warnings are errors here


def test_answers_come_back_without_training(tmp_path):
    (X, y), (X_test, _) = rows(1), rows(2)
    tree = DecisionTreeClassifier(random_state=0)
    right = tree.fit(X, y).predict(X_test).tolist()
    assert Kept(tree, tmp_path, random_state=7).fit(X, y).predict(X_test).tolist() == right
    again = Kept(Untrainable(), tmp_path, random_state=7)
    assert again.fit(X.copy(), y.copy()).predict(X_test.copy()).tolist() == right
    with pytest.raises(RuntimeError, match="trained again"):
        again.predict(X)  # rows that it was not asked about
    for other in (Kept(Untrainable(), tmp_path, random_state=8), Kept(Untrainable(), tmp_path / "other", random_state=7)):
        with pytest.raises(RuntimeError, match="trained again"):
            other.fit(X, y)
    with pytest.raises(RuntimeError, match="trained again"):
        again.fit(X, y[::-1].reset_index(drop=True))


def test_one_stopped_between_two_tests_goes_on(tmp_path):
    (X, y), (X_test, _) = rows(1), rows(2)
    tree = DecisionTreeClassifier(random_state=0)
    Kept(tree, tmp_path).fit(X, y).predict(X)
    again = Kept(DecisionTreeClassifier(random_state=0), tmp_path).fit(X, y)
    assert again.predict(X).tolist() == y.tolist()
    assert again.predict(X_test).tolist() == tree.predict(X_test).tolist()


@pytest.mark.parametrize("left", [0, 60, 150])
def test_a_damaged_answer_is_asked_again(left, tmp_path):
    X, y = rows(1)
    Kept(DecisionTreeClassifier(random_state=0), tmp_path).fit(X, y).predict(X)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:left])
    assert Kept(DecisionTreeClassifier(random_state=0), tmp_path).fit(X, y).predict(X).tolist() == y.tolist()
