"""A whole study that is small, learners that misbehave, and a way to run it in a process that can be killed."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

TRIALS = 2 * 2 * 6 * 2 * 3


class Sleepy(GaussianNB):
    """Naive Bayes that takes its time, so that there is a middle of a run."""

    def fit(self, X, y):
        time.sleep(0.02)
        return super().fit(X, y)


class Patient(GaussianNB):
    """Naive Bayes that leaves the number of its process in a folder, and waits until it may end."""

    def __init__(self, folder=""):
        super().__init__()
        self.folder = folder

    def fit(self, X, y):
        Path(self.folder, str(os.getpid())).touch()
        while not Path(self.folder, "end").exists():
            time.sleep(0.02)
        return super().fit(X, y)


class Careless(DecisionTreeClassifier):
    """Sets what holds for its whole process, and leaves it so."""

    def fit(self, X, y):
        if np.geterr()["under"] == "raise":
            raise RuntimeError("what it set before still holds")
        fitted = super().fit(X, y)
        sklearn.set_config(transform_output="pandas", assume_finite=True)
        np.seterr(all="raise")
        os.environ["FAIRTRIAL_TEST_CARELESS"] = "1"
        os.chdir("/")
        sys.path.insert(0, "/")
        return fitted


class Trusting(GaussianNB):
    """Fails, or answers something else, where a neighbour's settings hold."""

    def fit(self, X, y):
        scaled = StandardScaler().fit_transform(X)
        np.log(scaled[:1, :1] * 0.0)
        self.spoilt_ = "FAIRTRIAL_TEST_CARELESS" in os.environ or os.getcwd() == "/" or sys.path[0] == "/"
        return super().fit(scaled, y)

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X)) if self.spoilt_ else super().predict(StandardScaler().fit_transform(X))


class Misbehaving(ClassifierMixin, BaseEstimator):
    """Kills its process, hangs, or takes all memory that it can get."""

    def __init__(self, how="kill"):
        self.how = how

    def fit(self, X, y):
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        while self.how == "hang":
            time.sleep(0.1)
        self.classes_ = np.unique(y)
        self.taken_ = []
        while True:
            self.taken_.append(np.ones(4_000_000))

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def whole_study(**changes):
    """Two data sets x two conditions x six learners x two repeats of three folds; or with other sections."""
    from fairtrial.study.study import Study

    sections = {
        "data": ["iris", "wine"],
        "learners": {
            "bayes": GaussianNB(),
            "tree": DecisionTreeClassifier(),
            "forest": RandomForestClassifier(3),
            "sleepy": Sleepy(),
            "careless": Careless(),
            "trusting": Trusting(),
        },
        "conditions": {"class-noise": [0, 0.1]},
        "resampling": {"scheme": "stratified", "folds": 3, "repeats": 2},
    }
    return Study(**{**sections, **changes}, seed=7, name="whole")


def harmful_study():
    """A learner that learns among three that do harm, each in its own way."""
    from fairtrial.study.study import Study

    return Study(
        data=["iris"],
        learners={"bayes": GaussianNB(), **{how: Misbehaving(how) for how in ("kill", "hang", "hog")}},
        resampling={"scheme": "stratified", "folds": 2},
        limits={"time": 4, "memory": "200 MB"},
        name="harmful",
    )


class Counting:
    """Writes how many trials are stored to the standard output, a line for each batch."""

    def __init__(self):
        self.count = 0

    def start(self, study, learners, planned, stored, where):
        self.count = stored

    def add_records(self, records):
        self.count += len(records)
        print(self.count, flush=True)

    def stop(self, summary):
        print(summary, flush=True)


if __name__ == "__main__":
    from fairtrial.study.run.coordinator import run_study
    from tests.study.whole_study import whole_study as imported  # a class of __main__ would be another class

    run_study(imported(), sys.argv[1], engine=sys.argv[2], jobs=int(sys.argv[3]), progress=Counting())
