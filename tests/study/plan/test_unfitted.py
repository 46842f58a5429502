"""Nothing that was learnt before reaches a trial, however little an estimator keeps to scikit-learn's rules."""

import pickle
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairtrial.errors import InputError
from fairtrial.learners import Prepared
from fairtrial.study.plan.schedule import clone_unfitted, dump_estimator
from fairtrial.study.run.estimator import TrialLearner

X, Y = [[0.0], [1.0]], ["a", "b"]


class Meddling(ClassifierMixin, BaseEstimator):
    """Changes its parameter in `__init__`, which scikit-learn refuses, and learns only once."""

    def __init__(self, factors=(1,)):
        self.factors = 2 * np.array(factors)

    def fit(self, X, y):
        if not hasattr(self, "memory"):
            self.memory = list(zip(X, y, strict=True))
        self.classes_ = np.unique(y)
        return self


class Plain:
    """Without parameters."""

    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        return self


class Narrow(Meddling):
    """Its `__init__` does not take what it calls its parameters."""

    def __init__(self):
        super().__init__([1])

    def get_params(self, deep=True):
        return {"factors": self.factors}


def test_one_that_scikit_learn_would_not_clone_is_made_anew_with_its_parameters_as_they_stand():
    fitted = Meddling([1, 3]).fit(X, Y)
    found = clone_unfitted(fitted)
    assert vars(found).keys() == {"factors"}
    assert found.factors.tolist() == [2, 6]
    assert found.factors is not fitted.factors
    assert fitted.memory


@pytest.mark.parametrize(
    "outer",
    [
        Prepared,
        lambda inner: make_pipeline(StandardScaler(), inner),
        lambda inner: VotingClassifier([("one", inner), ("two", GaussianNB())]),
    ],
    ids=["prepared", "pipeline", "voting"],
)
def test_also_within_others(outer):
    found = clone_unfitted(outer(Meddling([1]).fit(X, Y)))
    inner = [each for each in found.get_params(deep=True).values() if isinstance(each, Meddling)]
    assert inner
    assert all(vars(each).keys() == {"factors"} and each.factors.tolist() == [2] for each in inner)


def test_both_ends_of_the_way_to_a_trial_send_nothing_that_was_learnt():
    fitted = Meddling([1]).fit(X, Y)
    assert not hasattr(pickle.loads(dump_estimator(fitted)), "memory")
    fresh = TrialLearner(pickle.dumps(fitted)).make_estimator(1)
    assert vars(fresh).keys() == {"factors"}
    assert fresh.factors.tolist() == [2]


def test_one_without_parameters_is_copied_unless_it_has_learnt():
    assert isinstance(clone_unfitted(Plain()), Plain)
    for learner in (Plain().fit(X, Y), Prepared(Plain().fit(X, Y))):
        with pytest.raises(InputError, match=r"mine must not be fitted, got Plain with classes_"):
            clone_unfitted(learner, "mine")


def test_one_that_cannot_be_made_anew_is_refused():
    with pytest.raises(InputError, match=r"mine must .*Narrow\(\*\*get_params\(\)\) raises TypeError"):
        clone_unfitted(Narrow(), "mine")


def test_one_that_says_itself_that_it_stays_fitted_does():
    found = clone_unfitted(FrozenEstimator(GaussianNB().fit(X, Y)))
    assert found.predict([[0.1]]).tolist() == ["a"]


def test_what_cannot_be_copied_and_is_no_learner_stays():
    lock = threading.Lock()
    assert clone_unfitted(GaussianNB(priors=lock)).priors is lock
