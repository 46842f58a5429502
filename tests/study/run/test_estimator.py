"""Each trial gets a fresh, seeded copy, and data in the form that the learner takes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairtrial.data import load
from fairtrial.learners import C45, Bagging, Prepared, get_sampler
from fairtrial.study.plan.schedule import dump_estimator
from fairtrial.study.run.estimator import PreparedEstimator, TrialLearner, extract_bare_learner
from fairtrial.study.run.trial_data import TrialData
from fairtrial.study.spec.tuning import Tuned

DATA = TrialData.from_dataset(load("iris"))


def seeds(estimator):
    return {name: value for name, value in estimator.get_params(deep=True).items() if name.endswith("random_state")}


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(),
        Prepared(RandomForestClassifier(), sampler=get_sampler("smote")),
        BaggingClassifier(DecisionTreeClassifier()),
        Bagging(Prepared(DecisionTreeClassifier())),
        VotingClassifier([("one", DecisionTreeClassifier()), ("two", RandomForestClassifier())]),
        make_pipeline(StandardScaler(), LogisticRegression()),
        Tuned(Prepared(DecisionTreeClassifier()), {"max_depth": [1, 2]}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_seed_that_is_not_set_is_set(estimator):
    learner = TrialLearner(pickle.dumps(estimator))
    assert set(seeds(estimator).values()) == {None}
    assert seeds(learner.make_estimator(77)) == dict.fromkeys(seeds(estimator), 77)
    assert seeds(learner.make_estimator(78)) == dict.fromkeys(seeds(estimator), 78)
    assert set(seeds(estimator).values()) == {None}


def test_a_seed_that_is_set_stays():
    forest = TrialLearner(pickle.dumps(RandomForestClassifier(random_state=3))).make_estimator(77)
    assert forest.random_state == 3


def test_a_source_of_random_numbers_starts_anew_in_each_trial():
    learner = TrialLearner(pickle.dumps(RandomForestClassifier(random_state=np.random.RandomState(3))))
    assert learner.make_estimator(1).random_state.random_sample() == learner.make_estimator(1).random_state.random_sample()


def test_copies_share_nothing_and_have_learnt_nothing():
    fitted = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    learner = TrialLearner(pickle.dumps(fitted))
    assert not hasattr(learner.make_estimator(1), "classes_")
    parts = TrialLearner(pickle.dumps(Prepared(GaussianNB())))
    assert parts.make_estimator(1).learner is not parts.make_estimator(1).learner


class Renaming:
    """Breaks scikit-learn's rules: it keeps its argument under another name, and its own way to set it."""

    def __init__(self, random_state=None):
        self.seed = random_state

    def get_params(self, deep=True):
        return {"random_state": self.seed}

    def set_params(self, random_state):
        self.seed = random_state
        return self


def test_learners_with_ways_of_their_own_are_seeded_by_their_rules():
    assert TrialLearner(pickle.dumps(Renaming())).make_estimator(9).seed == 9


class Uncloneable:
    """Not even parameters."""

    def __init__(self, depth):
        self.depth = depth


def test_learners_without_parameters_are_copied():
    learner = TrialLearner(pickle.dumps(Uncloneable([1, 2])))
    learner.make_estimator(1).depth.append(3)
    assert learner.make_estimator(1).depth == [1, 2]


def test_a_class_of_a_notebook_travels():
    namespace = {"__name__": "__main__"}
    exec("class Mine:\n    def fit(self, X, y):\n        return self\n", namespace)
    assert type(TrialLearner(dump_estimator(namespace["Mine"]())).make_estimator(1)).__name__ == "Mine"


@pytest.mark.parametrize(
    ("estimator", "typed"),
    [
        (GaussianNB(), False),
        (C45(), True),
        (Prepared(GaussianNB()), True),
        (BaggingClassifier(C45()), True),
        (make_pipeline(StandardScaler(), C45()), True),
        (make_pipeline(StandardScaler(), GaussianNB()), False),
        (Tuned(Prepared(GaussianNB()), {"var_smoothing": [1e-9]}), True),
    ],
    ids=lambda one: str(one)[:30],
)
def test_who_reads_types_gets_declared_classes(estimator, typed):
    y = PreparedEstimator(estimator).convert_classes(np.array([2, 0]), DATA)
    assert list(y) == ["virginica", "setosa"]
    assert isinstance(y, pd.Series if typed else np.ndarray)
    if typed:
        assert list(y.cat.categories) == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (GaussianNB(), False),
        (C45(), False),
        (Prepared(GaussianNB()), False),
        (Prepared(C45(), nominal=["petal width (cm)"]), True),
        (Prepared(GaussianNB(), preparation=StandardScaler()), True),
        (make_pipeline(ColumnTransformer([("a", "passthrough", ["petal width (cm)"])]), GaussianNB()), True),
    ],
    ids=lambda one: str(one)[:30],
)
def test_who_calls_columns_by_name_gets_names(estimator, named):
    assert isinstance(
        PreparedEstimator(estimator).convert_table(DATA.take_rows(np.array([0])), DATA), pd.DataFrame if named else np.ndarray
    )


@pytest.mark.parametrize(
    ("estimator", "bare"),
    [
        (Prepared(DecisionTreeClassifier()), True),
        (Prepared(C45()), True),
        (Prepared(LogisticRegression()), False),
        (Prepared(DecisionTreeClassifier(), sampler=get_sampler("smote")), False),
        (Prepared(DecisionTreeClassifier(), preparation="none"), False),
        (Prepared(DecisionTreeClassifier(), preparation=StandardScaler()), False),
        (Prepared(DecisionTreeClassifier(), nominal=[0]), False),
        (Prepared(make_pipeline(StandardScaler(), GaussianNB())), False),
        (Prepared("c45"), False),
        (DecisionTreeClassifier(), False),
    ],
    ids=lambda one: str(one)[:40],
)
def test_when_there_is_nothing_to_prepare(estimator, bare):
    assert (extract_bare_learner(estimator) is not None) == bare


def test_the_bare_learner_runs_only_where_numbers_are_finite():
    learner = TrialLearner(pickle.dumps(Prepared(GaussianNB())))
    assert learner.has_shortcut
    assert type(learner.select_estimator(finite=True).make_estimator(1)) is GaussianNB
    assert type(learner.select_estimator(finite=False).make_estimator(1)) is Prepared
    assert learner.name == "GaussianNB"


def test_scores_of_pairs_are_known_before():
    assert PreparedEstimator(Prepared(SVC(decision_function_shape="ovo"))).scores_pairs
    assert not PreparedEstimator(SVC()).scores_pairs
