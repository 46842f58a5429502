import os
import pickle
import subprocess
import sys
import threading
from functools import partial

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from fairtrial.errors import InputError
from fairtrial.learners.prepared import Prepared
from fairtrial.study.plan.schedule import dump_estimator


def constant(n):
    return ["a"] * n


class Constant(ClassifierMixin, BaseEstimator):
    def __init__(self, answer=constant):
        self.answer = answer

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.answer(len(X))


class Meddling(Constant):
    def __init__(self, answer=constant):
        self.answer = partial(answer)


def test_what_was_learnt_stays_behind():
    fitted = RandomForestClassifier(5).fit([[0.0], [1.0]], [0, 1])
    arrived = pickle.loads(dump_estimator(fitted))
    assert arrived.n_estimators == 5
    assert not hasattr(arrived, "estimators_")
    assert hasattr(fitted, "estimators_")


_ELSEWHERE = """
import pickle, sys
for _ in range(2):
    learner = pickle.load(sys.stdin.buffer)
    print(learner.fit([[0.0], [1.0]], ["a", "b"]).predict([[0.0]])[0])
assert not [name for name in sys.modules if name.startswith("tests")]
"""


def test_local_code_arrives_where_its_module_does_not_exist(tmp_path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    sent = dump_estimator(Constant()) + dump_estimator(Prepared(Constant()))
    ran = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE], input=sent, capture_output=True, cwd=tmp_path, env=clean, check=True
    )
    assert ran.stdout.split() == [b"a", b"a"]


def test_a_learner_that_scikit_learn_would_not_clone_travels_all_the_same():
    assert pickle.loads(dump_estimator(Meddling())).predict([1, 2]) == ["a", "a"]


def test_what_cannot_travel_is_refused_by_name():
    with pytest.raises(InputError, match=r"mine cannot be sent to another process \(.*lock.*\)"):
        dump_estimator(GaussianNB(priors=threading.Lock()), "mine")


def test_nothing_stays_registered():
    import cloudpickle

    before = set(cloudpickle.list_registry_pickle_by_value())
    dump_estimator(Constant())
    assert set(cloudpickle.list_registry_pickle_by_value()) == before
