"""Tests that learners share neither threads nor patched libraries, and that their output is checked."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairtrial
from fairtrial import Study
from fairtrial.data import Dataset
from fairtrial.study.run.coordinator import run_study
from fairtrial.study.run.dry_run import dry_run


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent class, with the class proportions as probabilities."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(np.asarray(y), return_counts=True)
        self.proportions_ = counts / counts.sum()
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.proportions_.argmax()])

    def predict_proba(self, X):
        return np.tile(self.proportions_, (len(X), 1))


class Patcher(Majority):
    """Replaces GaussianNB.predict for the whole process, then raises or succeeds."""

    def __init__(self, fails=True):
        self.fails = fails

    def fit(self, X, y):
        GaussianNB.predict = lambda self, X: np.full(len(X), self.classes_[0])
        if self.fails:
            raise ValueError("patched, then failed")
        return super().fit(X, y)


class InstalledPatcher(GaussianNB):
    """Patches as an installed learner would: its class looks like a part of scikit-learn."""

    def fit(self, X, y, sample_weight=None):
        GaussianNB.predict = lambda self, X: np.full(len(X), self.classes_[0])
        raise ValueError("patched, then failed")


class ThreadCounter(Majority):
    """Fits a learner, and writes down the number of threads of the process.

    CatBoost keeps idle threads even if it uses only one, so its parameter is written instead.
    """

    def __init__(self, learner=None, note=""):
        self.learner = learner
        self.note = note

    def fit(self, X, y):
        self.learner.fit(X, (np.asarray(y) == np.asarray(y)[0]).astype(int))
        parameters = self.learner.get_params()
        thread_counts = [value for name, value in parameters.items() if name.endswith("thread_count")]
        Path(self.note).write_text(str(thread_counts[0] if thread_counts else len(os.listdir("/proc/self/task"))))
        return super().fit(X, y)


def run(tmp_path, learners, **options):
    options = {"resampling": {"folds": 3}, "measures": ["accuracy"], **options}
    data = options.pop("data", ["iris"])
    return Study(data, learners, name="study", **options).run(tmp_path / "study.fairtrial", jobs=1, progress=False)


def accuracies(results, learner):
    scores = results.scores("accuracy")
    return scores.loc[scores["learner"] == learner, "value"].tolist()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return accuracies(run(tmp_path_factory.mktemp("alone"), {"bayes": GaussianNB()}), "bayes")


@pytest.mark.parametrize("patcher", [Patcher(), Patcher(fails=False)], ids=["raises", "succeeds"])
def test_a_learner_that_patches_a_library_does_not_change_other_learners(tmp_path, undisturbed, patcher):
    results = run(tmp_path, {"patcher": patcher, "bayes": GaussianNB()})
    assert accuracies(results, "bayes") == undisturbed
    assert (results.trials().query("learner == 'patcher'")["status"] == "ok").all() == (not patcher.fails)


def test_an_installed_learner_that_patches_a_library_and_raises_does_not_change_other_learners(
    tmp_path, undisturbed, monkeypatch
):
    """The learner is pickled by reference and counts as installed, so it may share a worker until it fails."""
    study = Study(["iris"], {"patcher": InstalledPatcher(), "bayes": GaussianNB()}, resampling={"folds": 3})
    plan = study.plan()
    monkeypatch.setattr("fairtrial.study.run.coordinator.plan_study", lambda _: _without_local_learners(plan))
    run_study(study, tmp_path / "study.fairtrial", jobs=1, progress=False)
    assert accuracies(fairtrial.open_results(tmp_path / "study.fairtrial"), "bayes") == undisturbed


def _without_local_learners(plan):
    from dataclasses import replace

    return replace(plan, learners=tuple(replace(learner, local=False) for learner in plan.learners))


def test_a_dry_run_keeps_local_learners_apart(tmp_path):
    study = Study(["iris"], {"patcher": Patcher(fails=False), "bayes": GaussianNB()}, resampling={"folds": 3})
    summary = str(dry_run(study, tmp_path / "study.fairtrial"))
    assert "failed" not in summary
    assert "one trial of patcher and bayes" in summary


def make_booster(name):
    if name == "lightgbm":
        return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=5, verbose=-1)
    if name == "xgboost":
        return pytest.importorskip("xgboost").XGBClassifier(n_estimators=5)
    return pytest.importorskip("catboost").CatBoostClassifier(n_estimators=5, verbose=0, allow_writing_files=False)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs 2 cores")
@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost"])
def test_a_boosting_library_uses_one_thread_and_the_stored_parameters_stay_as_written(tmp_path, name):
    """The library is nested in a search, an ensemble and a pipeline."""
    booster = make_booster(name)
    nested = GridSearchCV(VotingClassifier([("b", make_pipeline(StandardScaler(), booster))]), {"voting": ["hard"]}, cv=2)
    learner = ThreadCounter(nested, str(tmp_path / "note"))
    key = Study(["iris"], {"booster": learner}).plan().learners[0].hash
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    data = Dataset.from_table(X, np.where(X[:, 0] > 0, "a", "b"), name="numbers")
    study = Study([data], {"booster": learner}, resampling={"folds": 2}, measures=["accuracy"], limits={"time": 60})
    results = study.run(tmp_path / "study.fairtrial", jobs=1, progress=False)
    trials = results.trials()
    assert (trials["status"] == "ok").all(), trials["message"].tolist()
    assert int((tmp_path / "note").read_text()) == 1
    assert study.plan().learners[0].hash == key
    assert "1" not in str(_get_thread_parameters(results))


def _get_thread_parameters(results):
    """Collect the stored values of all thread parameters."""
    found, left = [], [results.archive.learners[0].parameters]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            found += [value[name] for name in ("n_jobs", "thread_count", "nthread") if name in value]
            left += value.values()
        elif isinstance(value, list):
            left += value
    return found


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost"])
def test_a_boosting_library_runs_by_name_and_writes_nothing_into_the_working_folder(tmp_path, monkeypatch, name):
    pytest.importorskip(name)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    booster = {"learner": name, "parameters": {"n_estimators": 3}}
    results = run(tmp_path, {"booster": booster}, data=["iris", "automobile"])  # automobile has nominal columns
    assert results.trials()["status"].tolist() == ["ok"] * 6, results.failures()["message"].tolist()
    assert results.wide("accuracy").loc["iris", "booster"] > 0.8
    assert list(work.iterdir()) == []


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs 2 cores")
def test_the_number_of_threads_that_a_study_sets_is_used(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    learner = ThreadCounter(lightgbm.LGBMClassifier(n_estimators=5, n_jobs=2, verbose=-1), str(tmp_path / "note"))
    run(tmp_path, {"booster": learner})
    assert int((tmp_path / "note").read_text()) == 2


def test_torch_uses_one_thread(tmp_path):
    pytest.importorskip("torch")
    run(tmp_path, {"net": TorchLearner(str(tmp_path / "note"))})
    assert (tmp_path / "note").read_text() == "1"


class TorchLearner(Majority):
    """Writes down the number of threads of torch."""

    def __init__(self, note=""):
        self.note = note

    def fit(self, X, y):
        import torch

        Path(self.note).write_text(str(torch.get_num_threads()))
        return super().fit(X, y)


class OddProbabilities(Majority):
    """Returns probabilities of another type."""

    def __init__(self, kind="text"):
        self.kind = kind

    def predict_proba(self, X):
        table = super().predict_proba(X)
        kinds = {"text": str, "complex": complex, "bytes": "S20", "time": "m8[s]"}
        return table.astype(object) + 0j if self.kind == "object" else table.astype(kinds[self.kind])


@pytest.mark.parametrize(
    ("kind", "got"),
    [
        ("text", "text"),
        ("bytes", "text"),
        ("complex", "complex numbers"),
        ("object", "values of type complex"),
        ("time", "values of type timedelta64[s]"),
    ],
)
def test_probabilities_that_are_not_real_numbers_are_refused(tmp_path, kind, got):
    results = run(tmp_path, {"odd": OddProbabilities(kind)}, resampling={"folds": 2})
    assert results.trials()["status"].tolist() == ["error", "error"]
    message = f"predict_proba of OddProbabilities must return a table of real numbers, got {got}: convert it to float"
    assert set(results.trials()["message"]) == {message}
