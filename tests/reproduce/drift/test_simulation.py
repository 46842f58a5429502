"""The simulation: what is run, what is stored, and that interrupted runs resume."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from fairtrial.learners import C45, OneR, Prepared
from fairtrial.reproduce.drift import simulation
from fairtrial.reproduce.drift.simulation import (
    TABLES,
    CachedLearner,
    DriftPlan,
    get_matrix_path,
    load_matrix,
    save_matrix,
    simulate,
)
from fairtrial.study.environments import EnvironmentFailure, EnvironmentMatrix


def test_the_tutorials_pairs_and_thirty_replicates():
    plan = DriftPlan.read("full")
    assert plan.pairs == (("1R", "Decision Tree"), ("Simple NN", "Complex NN"))
    assert plan.replicates == 30
    assert {run.table for run in plan.list_runs().values()} == set(TABLES)


@pytest.mark.parametrize("scale", ["smoke", "quick", "full"])
def test_a_variant_changes_what_it_names_and_nothing_else(scale):
    plan = DriftPlan.read(scale)
    main, years = plan.list_runs(), plan.list_runs("age in years")
    changed = {key for key in main if main[key] != years[key]}
    assert {learner for _, learner in changed} == {"1R", "Decision Tree"}
    assert all(years[key].n_train == plan.n_train for key in years)
    assert {run.n_train for run in plan.list_runs("300 patients").values()} == {300}


def test_learners_are_those_that_are_named():
    plan = DriftPlan.read("smoke")
    assert isinstance(plan.make_learner("1R").learner, OneR)
    assert isinstance(plan.make_learner("Decision Tree").learner, C45)
    assert plan.make_learner("Complex NN").learner.max_iter == plan.max_iter


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(scope="module")
def matrices(folder):
    declared = dict(DriftPlan.read("smoke").declared)
    declared["learners"] = {name: messages for name, messages in declared["learners"].items() if "NN" not in name}
    plan = dataclasses.replace(DriftPlan.read("smoke"), n_train=40, n_test=40, replicates=2, declared=declared)
    return plan, simulate(plan, seed=3, jobs=1, folder=folder)


def test_every_part_is_run_once(matrices):
    plan, stored = matrices
    expected = {run for variant in ("", "age in years") for run in plan.list_runs(variant).values()}
    assert set(stored) == expected
    assert all(not matrix.failures for matrix in stored.values())


def test_tables_are_those_of_the_tutorial(matrices):
    plan, stored = matrices
    frames = {table: stored[run].frame() for (table, name), run in plan.list_runs().items() if name == "1R"}
    changed = {table: frame[frame["trained_on"] != frame["tested_on"]] for table, frame in frames.items()}
    assert {table: len(frame) for table, frame in changed.items()} == {"populations": 7, "missing": 10, "definitions": 6}
    assert set(changed["populations"]["trained_on"]) == {"NGP"} == set(changed["missing"]["tested_on"])


def test_the_same_patients_however_they_are_coded(matrices):
    plan, stored = matrices
    by_coding = [stored[plan.list_runs(variant)["populations", "1R"]].runs() for variant in ("", "age in years")]
    assert by_coding[0]["trivial"].tolist() == by_coding[1]["trivial"].tolist()
    assert by_coding[0]["error"].tolist() != by_coding[1]["error"].tolist()


def test_finished_parts_are_found_again_and_others_are_not(matrices, folder, monkeypatch):
    plan, stored = matrices
    assert len(list(folder.iterdir())) == len(stored)
    monkeypatch.setattr(simulation, "_simulate_run", None)  # whoever runs now fails
    again = simulate(plan, seed=3, jobs=1, folder=folder)
    assert list(again) == list(stored)
    for run, matrix in stored.items():
        pd.testing.assert_frame_equal(again[run].runs(), matrix.runs())
        pd.testing.assert_frame_equal(again[run].frame(), matrix.frame())
    for changes in ({"n_test": 41}, {"replicates": 1}, {"n_train": 41}, {"max_iter": 11}):
        with pytest.raises(TypeError):
            simulate(dataclasses.replace(plan, **changes), seed=3, jobs=1, folder=folder)
    with pytest.raises(TypeError):
        simulate(plan, seed=4, jobs=1, folder=folder)


def test_a_stopped_run_goes_on_with_what_is_missing(matrices, folder, tmp_path, monkeypatch):
    plan, stored = matrices
    files = sorted(folder.iterdir())
    for path in files[1:]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    simulate_run, ran = simulation._simulate_run, []
    monkeypatch.setattr(simulation, "_simulate_run", lambda plan, run, *rest: ran.append(run) or simulate_run(plan, run, *rest))
    again = simulate(plan, seed=3, jobs=1, folder=tmp_path)
    assert len(ran) == 1
    assert again[ran[0]].runs()["error"].tolist() == stored[ran[0]].runs()["error"].tolist()


def only(name):
    """A plan of one learner."""
    messages = DriftPlan.read("smoke")
    declared = dict(messages.declared) | {"learners": {name: messages.declared["learners"][name]}}
    return dataclasses.replace(messages, n_train=40, n_test=40, variants=(), declared=declared)


def test_a_part_stopped_half_way_goes_on_after_the_last_training(tmp_path, monkeypatch):
    fit, trained = C45.fit, []

    def counted(self, *given):
        if len(trained) == 20:
            raise KeyboardInterrupt
        trained.append(self)
        return fit(self, *given)

    plan = only("Decision Tree")
    whole = simulate(plan, seed=3, jobs=1, folder=tmp_path / "whole")
    monkeypatch.setattr(C45, "fit", counted)
    with pytest.raises(KeyboardInterrupt):
        simulate(plan, seed=3, jobs=1, folder=tmp_path / "stopped")
    assert not list((tmp_path / "stopped").glob("*.npz"))  # the first run takes 2 x 11 trainings
    trained.clear()
    with pytest.raises(KeyboardInterrupt):
        simulate(plan, seed=3, jobs=1, folder=tmp_path / "stopped")
    assert len(list((tmp_path / "stopped").glob("*.npz"))) == 2  # 2 trainings were left, then 2 x 8
    monkeypatch.setattr(C45, "fit", fit)
    again = simulate(plan, seed=3, jobs=1, folder=tmp_path / "stopped")
    for run, matrix in whole.items():
        pd.testing.assert_frame_equal(again[run].runs(), matrix.runs())
    assert {path.suffix for path in (tmp_path / "stopped").iterdir()} == {".npz"}


def test_no_part_of_a_network_that_was_stopped_is_kept(tmp_path, monkeypatch):
    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPClassifier, "_update_no_improvement_count", press)
    with pytest.raises(KeyboardInterrupt):
        simulate(only("Complex NN"), seed=3, jobs=1, folder=tmp_path)
    assert not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize(("progress", "terminal", "shown"), [(True, False, True), (None, True, True), (None, False, False)])
def test_parts_that_are_begun_are_told(progress, terminal, shown, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    simulate(only("1R"), 3, 1, tmp_path, progress)
    messages = capsys.readouterr().err.splitlines()
    assert [line.split(" (")[0] for line in messages] == [f"drift: run {number} of 3" for number in (1, 2, 3)] * shown
    assert all("1R" in line for line in messages)
    simulate(only("1R"), 3, 1, tmp_path, progress)
    assert capsys.readouterr().err == ""  # all are stored


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
    learner = CachedLearner(Prepared(MLPClassifier(max_iter=5)), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(*rows(1))
    assert not list(tmp_path.iterdir())


def test_a_network_that_ends_at_its_last_round_is_quiet(tmp_path):
    X, y = rows(1)
    CachedLearner(Prepared(MLPClassifier(max_iter=2)), tmp_path).fit(X, y).predict(X)  # warnings are errors here


def test_answers_come_back_without_training(tmp_path):
    (X, y), (X_test, _) = rows(1), rows(2)
    tree = DecisionTreeClassifier(random_state=0)
    right = tree.fit(X, y).predict(X_test).tolist()
    assert CachedLearner(tree, tmp_path, random_state=7).fit(X, y).predict(X_test).tolist() == right
    again = CachedLearner(Untrainable(), tmp_path, random_state=7)
    assert again.fit(X.copy(), y.copy()).predict(X_test.copy()).tolist() == right
    with pytest.raises(RuntimeError, match="trained again"):
        again.predict(X)  # rows that it was not asked about
    for folder, seed in ((tmp_path, 8), (tmp_path / "other", 7)):
        with pytest.raises(RuntimeError, match="trained again"):
            CachedLearner(Untrainable(), folder, random_state=seed).fit(X, y)
    with pytest.raises(RuntimeError, match="trained again"):
        again.fit(X, y[::-1].reset_index(drop=True))


def test_one_stopped_between_two_tests_goes_on(tmp_path):
    (X, y), (X_test, _) = rows(1), rows(2)
    tree = DecisionTreeClassifier(random_state=0)
    CachedLearner(tree, tmp_path).fit(X, y).predict(X)
    again = CachedLearner(DecisionTreeClassifier(random_state=0), tmp_path).fit(X, y)
    assert again.predict(X).tolist() == y.tolist()
    assert again.predict(X_test).tolist() == tree.predict(X_test).tolist()


@pytest.mark.parametrize("left", [0, 60, 150])
def test_a_damaged_answer_is_asked_again(left, tmp_path):
    X, y = rows(1)
    CachedLearner(DecisionTreeClassifier(random_state=0), tmp_path).fit(X, y).predict(X)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:left])
    assert CachedLearner(DecisionTreeClassifier(random_state=0), tmp_path).fit(X, y).predict(X).tolist() == y.tolist()


SETTINGS = {"table": "missing", "learner": "Simple NN", "seed": 1, "version": "1"}


@pytest.fixture
def matrix():
    errors = {
        ("Simple NN", "N", "N"): np.array([0.1, 0.2, 1 / 3]),
        ("Simple NN", "W", "N"): np.array([0.3, np.nan, 0.25]),
    }
    plan = {"n_train": 5, "n_test": 6, "replicates": 3, "seed": 1, "alpha": 0.05}
    failures = [EnvironmentFailure("Simple NN", "W", "", 1, "ValueError", "too few")]
    return EnvironmentMatrix.from_errors(["Simple NN"], ["N", "W"], errors, {"N": np.array([0.4, 0.5, 0.6])}, failures, plan)


def test_a_run_comes_back_as_it_was(matrix, tmp_path):
    path = get_matrix_path(tmp_path / "parts", SETTINGS)
    assert load_matrix(path) is None
    save_matrix(path, SETTINGS, matrix)
    again = load_matrix(path)
    pd.testing.assert_frame_equal(again.runs(), matrix.runs())
    pd.testing.assert_frame_equal(again.frame(), matrix.frame())
    assert again.failures == matrix.failures
    assert (again.learners, again.environments, again.plan) == (matrix.learners, matrix.environments, matrix.plan)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_damaged_files_count_as_none(matrix, tmp_path):
    path = get_matrix_path(tmp_path, SETTINGS)
    save_matrix(path, SETTINGS, matrix)
    whole = path.read_bytes()
    for run in (b"", b"half a file", whole[:200]):
        path.write_bytes(run)
        assert load_matrix(path) is None


@pytest.mark.parametrize("change", [{"seed": 2}, {"version": "2"}, {"learner": "1R"}, {"table": "populations"}])
def test_other_settings_have_another_file(change, tmp_path):
    assert get_matrix_path(tmp_path, SETTINGS) != get_matrix_path(tmp_path, SETTINGS | change)
    assert get_matrix_path(tmp_path, dict(reversed(SETTINGS.items()))) == get_matrix_path(tmp_path, SETTINGS)
