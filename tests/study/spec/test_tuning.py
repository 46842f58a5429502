"""The choice falls inside the training rows, as scikit-learn's own search makes it, and never sees a test row."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from fairtrial.data import load
from fairtrial.errors import InputError, LearnerError
from fairtrial.learners import C45, Chi, Prepared, get_sampler
from fairtrial.measures import get_measure
from fairtrial.resampling import KFold, StratifiedKFold
from fairtrial.study.spec.tuning import Tuned

WINE = load("wine")
X, Y = WINE.X, WINE.y


@pytest.mark.parametrize("measure", ["accuracy", "brier", "auc"])
def test_the_choice_is_that_of_scikit_learns_search(measure):
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 20]}
    tree = DecisionTreeClassifier(random_state=0)
    tuned = Tuned(tree, grid, StratifiedKFold(3), measure, random_state=5).fit(X, Y)
    splits = StratifiedKFold(3).freeze(X, Y, random_state=5)
    theirs = GridSearchCV(tree, grid, scoring=get_measure(measure).scorer(), cv=splits).fit(X, np.asarray(Y))
    ours = {tuple(sorted(parameters.items())): mean for parameters, mean in tuned.tried_}
    expected = {
        tuple(sorted(p.items())): m
        for p, m in zip(theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True)
    }
    assert ours == pytest.approx(expected)
    assert ours[tuple(sorted(tuned.chosen_.items()))] == max(ours.values())
    np.testing.assert_array_equal(tuned.predict(X), clone(tree).set_params(**tuned.chosen_).fit(X, Y).predict(X))


def test_parameters_of_a_prepared_learner_go_by_their_own_names():
    learner = Prepared(LogisticRegression(max_iter=500), sampler=get_sampler("smote"))
    tuned = Tuned(learner, {"C": [1e-6, 1.0], "sampler__k_neighbors": [2]}, StratifiedKFold(3), random_state=1).fit(X, Y)
    assert tuned.chosen_ == {"C": 1.0, "sampler__k_neighbors": 2}
    assert tuned.learner_.learner_.C == 1.0
    assert tuned.learner_.sampler.k_neighbors == 2


def test_of_equal_ones_the_first_in_the_order_of_names_and_values_is_taken():
    tuned = Tuned(C45(), {"nominal": [None], "confidence": [0.25, 0.2499999]}, KFold(3), random_state=1).fit(X, Y)
    assert tuned.chosen_["confidence"] == 0.25
    assert list(tuned.chosen_) == ["confidence", "nominal"]


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_order_in_which_a_grid_is_written_does_not_count(names):
    class Odd(Spy):
        def __init__(self, a=0, b=0):
            self.a, self.b = a, b

        def predict(self, X):
            return np.repeat(self.classes_[0 if self.a == self.b else 1 : 2], len(X))[: len(X)]

    means = Tuned(Odd(), {name: [0, 1] for name in names}, KFold(3), random_state=1).fit(X, Y)
    assert [tuple(each.items()) for each, _ in means.tried_] == [(("a", a), ("b", b)) for a in (0, 1) for b in (0, 1)]


def test_the_same_seed_gives_the_same_choice_and_another_other_splits():
    def means(seed):
        return [mean for _, mean in Tuned(C45(), {"confidence": [0.1, 0.4]}, KFold(3), random_state=seed).fit(X, Y).tried_]

    assert means(1) == means(1)
    assert means(1) != means(2)


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers which rows it has seen."""

    seen: ClassVar[set] = set()

    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Spy.seen |= set(np.asarray(X)[:, 0])
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_only_training_rows_are_seen():
    rows = np.arange(20.0)[:, None]
    Spy.seen = set()
    Tuned(Spy(), {"k": [1, 2]}, StratifiedKFold(2), random_state=1).fit(rows[:12], np.array([0, 1] * 6)).predict(rows)
    assert set(range(12)) == Spy.seen


def test_the_contract_of_scikit_learn():
    tuned = Tuned(SVC(), {"C": [1.0]}, KFold(2), "accuracy")
    again = clone(tuned)
    assert again.get_params()["learner__C"] == 1.0
    assert repr(again.resampling) == repr(tuned.resampling)
    assert again.set_params(random_state=3).random_state == 3
    assert hasattr(tuned, "decision_function")
    assert not hasattr(Tuned(LinearSVC(), {"C": [1.0]}), "predict_proba")
    assert not hasattr(Tuned(DecisionTreeClassifier(), {}), "decision_function")
    fitted = Tuned(DecisionTreeClassifier(), {"max_depth": [2]}, KFold(2), random_state=1).fit(X.to_numpy(), np.asarray(Y))
    assert fitted.predict_proba(X.to_numpy()).shape == (178, 3)
    assert fitted.classes_.tolist() == sorted(set(Y))


def test_a_learner_that_abstains_may_be_tuned_within_a_preparation():
    tuned = Tuned(Prepared(Chi()), {"labels": [3, 9]}, StratifiedKFold(3), "accuracy", random_state=1).fit(X, Y)
    table, labels = X.to_numpy(), np.asarray(Y)
    splits = StratifiedKFold(3).freeze(X, Y, random_state=1)
    shares = [
        np.mean(
            [(Chi(n).fit(table[train], labels[train]).predict(table[test]) == labels[test]).mean() for train, test in splits]
        )
        for n in (3, 9)
    ]
    assert [value for _, value in tuned.tried_] == pytest.approx(shares)
    assert any(Chi(9).fit(table[train], labels[train]).abstains(table[test]).any() for train, test in splits)


def test_a_measure_without_a_value_in_any_inner_split_fails_the_learner():
    rows, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    order = KFold(6)
    with pytest.raises(LearnerError, match=r"auc .* 6 inner splits"):
        Tuned(DecisionTreeClassifier(), {"max_depth": [1]}, order, "auc", random_state=1).fit(rows, y)


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ({}, r"grid must .*, got \{\}"),
        (3, "grid must .*, got 3"),
        ({"c": [1]}, "grid .*'c'.*'C'"),
        ({"C": 1}, "grid must .* C, got 1"),
        ({"C": []}, r"grid must .* C, got \[\]"),
        ({"learner__C": [1]}, "grid .*'learner__C'"),
    ],
)
def test_grids_are_checked(grid, told):
    Tuned(Prepared(SVC()), {"C": [1]}).check_grid()
    with pytest.raises(InputError, match=told):
        Tuned(Prepared(SVC()), grid).check_grid()
