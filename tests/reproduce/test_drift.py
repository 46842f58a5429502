"""Repeat the drift study of Japkowicz: simulation, results, tables, claims and page."""

import dataclasses
import re
from math import nan
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from fairtrial.data.simulate import flu_environments
from fairtrial.learners import C45, OneR, Prepared
from fairtrial.reproduce.claim import CONTRADICTED, DIRECTION, INCONCLUSIVE, NOT_TESTABLE, REPRODUCED, IntervalEstimate
from fairtrial.reproduce.drift import experiment, simulation
from fairtrial.reproduce.drift.claims import (
    EQUAL,
    MUCH,
    build_claims,
    judge_averages,
    judge_averages_of_table_ii,
    judge_best_choice,
    judge_drop,
    judge_hand,
    judge_repeated_errors,
    judge_rows,
    judge_simpler,
    judge_sizes,
    summarise_claims,
)
from fairtrial.reproduce.drift.experiment import draw_figures, draw_overview, run as run_experiment
from fairtrial.reproduce.drift.results import DriftErrors, DriftResults, jackknife
from fairtrial.reproduce.drift.simulation import (
    TABLES,
    CachedLearner,
    DriftPlan,
    get_matrix_path,
    load_matrix,
    save_matrix,
    simulate,
)
from fairtrial.reproduce.drift.tables import (
    average_published_pd,
    build_tables,
    compare_averages,
    compare_cells,
    compare_trivial,
    compute_published_pd,
    list_contradictions,
    list_illegible,
    read_drift_tables,
    read_published_averages,
    read_unchanged_errors,
    tabulate_hypotheses,
)
from fairtrial.reproduce.experiment import Request, experiments
from fairtrial.reproduce.page import write_page
from fairtrial.study.environments import EnvironmentFailure, EnvironmentMatrix
from tests.reproduce import read_numbers

ENVIRONMENTS = {
    "populations": ["NGP", "DP", "W"],
    "missing": ["NGP", "no Infant", "no Elderly"],
    "definitions": ["NGP", "MC", "FC"],
}
REPLICATES = 6
IDEAL = {"1R": 0.25, "Decision Tree": 0.15, "Simple NN": 0.2, "Complex NN": 0.16}
LOST = {"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.05, "Complex NN": 0.02}
TRIVIAL = 0.4


def cells(table: str) -> list[tuple[str, str]]:
    names = ENVIRONMENTS[table]
    pairs = [(train, test) for train in names for test in names]
    wanted = {"populations": lambda pair: pair[0] == "NGP", "missing": lambda pair: pair[1] == "NGP"}
    return [pair for pair in pairs if pair[0] == pair[1] or wanted.get(table, bool)(pair)]


def make_results(lost: dict[str, float] = LOST, plan: DriftPlan | None = None) -> DriftResults:
    """Each learner loses the same in every change, but for a wobble that is the same for all."""
    plan = plan or DriftPlan.read("smoke")
    wobble = np.array([-2, -1, 0, 0, 1, 2]) / 1000
    matrices = {}
    for run in {run for variant in ("", *plan.variants) for run in plan.list_runs(variant).values()}:
        errors = {}
        for train, test in cells(run.table):
            foreign = train != test
            errors[run.learner, train, test] = IDEAL[run.learner] + foreign * (lost[run.learner] + wobble)
        trivial = {name: np.full(REPLICATES, TRIVIAL) for name in ENVIRONMENTS[run.table]}
        settings = {"n_train": 1, "n_test": 1, "replicates": REPLICATES, "seed": 0, "alpha": 0.05}
        matrices[run] = EnvironmentMatrix.from_errors([run.learner], ENVIRONMENTS[run.table], errors, trivial, [], settings)
    return DriftResults(plan, matrices)


@pytest.fixture(scope="module")
def results() -> DriftResults:
    return make_results()


# Simulation


def test_the_tutorials_pairs_and_thirty_replicates():
    plan = DriftPlan.read("full")
    assert plan.pairs == (("1R", "Decision Tree"), ("Simple NN", "Complex NN"))
    assert plan.replicates == 30
    assert {run.table for run in plan.list_runs().values()} == set(TABLES)


@pytest.mark.parametrize("scale", ["smoke", "quick", "full"])
def test_a_variant_changes_only_what_it_names(scale):
    plan = DriftPlan.read(scale)
    main, years = plan.list_runs(), plan.list_runs("age in years")
    changed = {key for key in main if main[key] != years[key]}
    assert {learner for _, learner in changed} == {"1R", "Decision Tree"}
    assert all(years[key].n_train == plan.n_train for key in years)
    assert {run.n_train for run in plan.list_runs("300 patients").values()} == {300}


def test_learners_are_created_by_name():
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
    declared["learners"] = {name: settings for name, settings in declared["learners"].items() if "NN" not in name}
    plan = dataclasses.replace(DriftPlan.read("smoke"), n_train=40, n_test=40, replicates=2, declared=declared)
    return plan, simulate(plan, seed=3, jobs=1, folder=folder)


def test_every_run_is_simulated_once(matrices):
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


def test_all_codings_have_the_same_patients(matrices):
    plan, stored = matrices
    by_coding = [stored[plan.list_runs(variant)["populations", "1R"]].runs() for variant in ("", "age in years")]
    assert by_coding[0]["trivial"].tolist() == by_coding[1]["trivial"].tolist()
    assert by_coding[0]["error"].tolist() != by_coding[1]["error"].tolist()


def test_finished_runs_are_reused_and_others_are_not(matrices, folder, monkeypatch):
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


def test_an_interrupted_simulation_resumes_with_the_missing_runs(matrices, folder, tmp_path, monkeypatch):
    plan, stored = matrices
    files = sorted(folder.iterdir())
    for path in files[1:]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    simulate_run, ran = simulation._simulate_run, []
    monkeypatch.setattr(simulation, "_simulate_run", lambda plan, run, *rest: ran.append(run) or simulate_run(plan, run, *rest))
    again = simulate(plan, seed=3, jobs=1, folder=tmp_path)
    assert len(ran) == 1
    assert again[ran[0]].runs()["error"].tolist() == stored[ran[0]].runs()["error"].tolist()


def plan_one_learner(name):
    plan = DriftPlan.read("smoke")
    declared = dict(plan.declared) | {"learners": {name: plan.declared["learners"][name]}}
    return dataclasses.replace(plan, n_train=40, n_test=40, variants=(), declared=declared)


def test_an_interrupted_run_resumes_after_the_last_training(tmp_path, monkeypatch):
    fit, trained = C45.fit, []

    def counted(self, *given):
        if len(trained) == 20:
            raise KeyboardInterrupt
        trained.append(self)
        return fit(self, *given)

    plan = plan_one_learner("Decision Tree")
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


def test_an_interrupted_network_leaves_no_file(tmp_path, monkeypatch):
    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPClassifier, "_update_no_improvement_count", press)
    with pytest.raises(KeyboardInterrupt):
        simulate(plan_one_learner("Complex NN"), seed=3, jobs=1, folder=tmp_path)
    assert not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize(("progress", "terminal", "shown"), [(True, False, True), (None, True, True), (None, False, False)])
def test_the_start_of_each_run_is_reported(progress, terminal, shown, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    simulate(plan_one_learner("1R"), 3, 1, tmp_path, progress)
    lines = capsys.readouterr().err.splitlines()
    assert [read_numbers(line)[:2] for line in lines] == [[number, 3] for number in (1, 2, 3)] * shown
    assert all("1R" in line for line in lines)
    simulate(plan_one_learner("1R"), 3, 1, tmp_path, progress)
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
def test_an_interrupted_network_makes_no_predictions(tmp_path):
    learner = CachedLearner(Prepared(MLPClassifier(max_iter=5)), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(*rows(1))
    assert not list(tmp_path.iterdir())


def test_a_network_that_stops_at_max_iter_does_not_warn(tmp_path):
    X, y = rows(1)
    CachedLearner(Prepared(MLPClassifier(max_iter=2)), tmp_path).fit(X, y).predict(X)  # warnings are errors here


def test_stored_predictions_are_read_without_training(tmp_path):
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


def test_a_learner_interrupted_between_two_test_sets_resumes(tmp_path):
    (X, y), (X_test, _) = rows(1), rows(2)
    tree = DecisionTreeClassifier(random_state=0)
    CachedLearner(tree, tmp_path).fit(X, y).predict(X)
    again = CachedLearner(DecisionTreeClassifier(random_state=0), tmp_path).fit(X, y)
    assert again.predict(X).tolist() == y.tolist()
    assert again.predict(X_test).tolist() == tree.predict(X_test).tolist()


@pytest.mark.parametrize("left", [0, 60, 150])
def test_corrupted_predictions_are_computed_again(left, tmp_path):
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


def test_a_stored_run_is_loaded_unchanged(matrix, tmp_path):
    path = get_matrix_path(tmp_path / "parts", SETTINGS)
    assert load_matrix(path) is None
    save_matrix(path, SETTINGS, matrix)
    again = load_matrix(path)
    pd.testing.assert_frame_equal(again.runs(), matrix.runs())
    pd.testing.assert_frame_equal(again.frame(), matrix.frame())
    assert again.failures == matrix.failures
    assert (again.learners, again.environments, again.plan) == (matrix.learners, matrix.environments, matrix.plan)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_corrupted_files_are_not_loaded(matrix, tmp_path):
    path = get_matrix_path(tmp_path, SETTINGS)
    save_matrix(path, SETTINGS, matrix)
    whole = path.read_bytes()
    for run in (b"", b"half a file", whole[:200]):
        path.write_bytes(run)
        assert load_matrix(path) is None


@pytest.mark.parametrize("change", [{"seed": 2}, {"version": "2"}, {"learner": "1R"}, {"table": "populations"}])
def test_different_settings_have_different_files(change, tmp_path):
    assert get_matrix_path(tmp_path, SETTINGS) != get_matrix_path(tmp_path, SETTINGS | change)
    assert get_matrix_path(tmp_path, dict(reversed(SETTINGS.items()))) == get_matrix_path(tmp_path, SETTINGS)


# Results


def losses(error, ideal, trivial):
    return DriftErrors(
        (("a", "b"),) * np.shape(error)[1], *(np.asarray(value, dtype=float) for value in (error, ideal, trivial))
    )


def test_the_jackknife_interval_of_a_mean_is_the_t_interval():
    values = np.random.default_rng(1).normal(size=12)
    estimate = jackknife(lambda rows: float(values[rows].mean()), 12)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((values.mean(), low, high))


def test_errors_do_not_depend_on_the_order_of_the_runs():
    cells = [("N", "N", 0.2), ("N", "W", 0.3), ("W", "W", 0.25)]
    runs = pd.DataFrame(
        [
            {"learner": "x", "trained_on": train, "tested_on": test, "replicate": r, "error": error + r / 100, "trivial": 0.4}
            for train, test, error in cells
            for r in (1, 0)
        ]
    )
    estimate = DriftErrors.from_runs(runs)
    assert estimate.changes == (("N", "W"),)
    assert sorted(estimate.error[:, 0]) == pytest.approx([0.3, 0.31])
    assert estimate.error - estimate.ideal == pytest.approx(np.full((2, 1), 0.05))
    assert estimate.estimate_loss().value == pytest.approx(5)


def test_pd_of_mean_errors_and_its_difference():
    rng = np.random.default_rng(2)
    noise = rng.normal(scale=0.001, size=(20, 2))
    simple = losses(0.30 + noise, np.full((20, 2), 0.2), np.full((20, 2), 0.4))
    complicated = losses(0.24 + noise, np.full((20, 2), 0.2), np.full((20, 2), 0.4))
    assert simple.estimate_pd().value == pytest.approx(0.5, abs=0.01)
    assert simple.estimate_pd_difference(complicated).value == pytest.approx(0.3)
    assert simple.estimate_pd_difference(complicated).sign == 1
    assert complicated.estimate_pd_difference(simple).sign == -1
    assert simple.estimate_loss_difference(complicated).value == pytest.approx(6)
    assert [value.value for value in simple.estimate_error_differences(complicated)] == pytest.approx([6, 6])


def test_tests_in_one_environment_can_be_left_out():
    errors = DriftErrors((("a", "b"), ("b", "c")), np.tile([0.3, 0.25], (4, 1)), np.full((4, 2), 0.2), np.full((4, 2), 0.4))
    assert errors.estimate_pd().value == pytest.approx((0.5 + 0.25) / 2)
    assert errors.estimate_pd(without_test="b").value == pytest.approx(0.25)


def test_a_change_without_pd_is_left_out():
    ideal = np.tile([0.2, 0.5], (4, 1))  # the second learner does not beat the trivial one
    estimate = losses(np.full((4, 2), 0.3), ideal, np.full((4, 2), 0.4))
    assert estimate.estimate_pd().value == pytest.approx(0.5)


@pytest.mark.parametrize("replicates", [1, 2])
def test_one_or_two_replicates_have_no_interval(replicates):
    """Two that happen to be alike would have one without any width."""
    one, other = (losses([[error]] * replicates, [[0.2]] * replicates, [[0.4]] * replicates) for error in (0.3, 0.25))
    for estimate, value in (
        (one.estimate_loss(), 10),
        (one.estimate_loss_difference(other), 5),
        (one.estimate_error_differences(other)[0], 5),
    ):
        assert estimate.value == pytest.approx(value)
        assert estimate.sign == 0
        assert np.isnan(estimate.low)


def test_intervals_are_widened_by_the_t_distribution():
    values = np.random.default_rng(3).normal(size=5)
    estimate = jackknife(lambda rows: float(values[rows].mean()), 5).widen(2)
    low, high = stats.t.interval(0.975, 4, values.mean(), stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx((low, high))


def test_losses_are_recovered(results):
    for name, lost in LOST.items():
        assert results.get_errors("missing", name).estimate_loss().value == pytest.approx(100 * lost)
        assert results.get_errors("definitions", name).estimate_pd().value == pytest.approx(lost / (TRIVIAL - IDEAL[name]))


def test_differences_of_pairs(results):
    pair = ("1R", "Decision Tree")
    expected = 0.06 / 0.15 - 0.03 / 0.25
    assert results.estimate_pd_difference("populations", pair).value == pytest.approx(expected)
    assert results.estimate_loss_difference("populations", pair, "age in years").value == pytest.approx(3)
    assert len(results.estimate_error_differences(pair)) == 2 + 2 + 6
    assert results.estimate_error_differences(pair)[0].value == pytest.approx(100 * (0.25 + 0.06 - 0.15 - 0.03))


def test_the_mean_error_difference_is_over_all_changes_of_all_tables(results):
    pair = ("1R", "Decision Tree")
    single = [difference.value for difference in results.estimate_error_differences(pair)]
    assert results.estimate_mean_error_difference(pair).value == pytest.approx(np.mean(single))


def test_cells_have_the_usual_population_once_and_table_three_has_its_diagonal(results):
    own = [results.build_cells(table) for table in ("populations", "missing", "definitions")]
    diagonal = [int((cells["trained_on"] == cells["tested_on"]).sum()) for cells in own]
    assert diagonal == [4, 4, 12]


# Tables


def test_names_are_those_of_the_simulated_domain():
    lines = read_drift_tables()
    for table, own in lines.groupby("table"):
        known = set(flu_environments(table))
        assert set(own["trained_on"]) | set(own["tested_on"]) <= known
    assert not lines.duplicated(["table", "learner", "trained_on", "tested_on"]).any()


def test_one_row_contradicts_its_own_errors():
    """pD by its formula, written out; the tutorial's Simple NN from FC to MC prints 25.9 % beside 0.73, which takes 27.7 %."""
    lines = read_drift_tables()
    inner = (lines["error"] - lines["ideal"]) / (lines["trivial"] - lines["ideal"])
    by_hand = np.where(lines["error"] <= lines["trivial"], inner, 1.0)
    assert compute_published_pd(lines).to_numpy() == pytest.approx(by_hand)
    assert list_contradictions(lines) == ["Simple NN from FC to MC (printed 0.73, from its errors 0.00)"]
    lines.loc[(lines["learner"] == "Simple NN") & (lines["trained_on"] == "FC") & (lines["tested_on"] == "MC"), "error"] = 27.7
    assert list_contradictions(lines) == []


def test_averages_follow_from_the_rows_only_in_tables_one_and_three():
    averages = read_published_averages()
    off = (averages["value"] - averages["from_rows"]).abs()
    assert off[averages["table"] != "missing"].max() < 0.005
    assert off[averages["table"] == "missing"].min() > 0.08
    assert len(averages) == 12


def test_published_averages_without_the_tests_on_mc():
    """1R in Table III: 0.20, 0.17, 0.10 and 0.36 are not tested on MC."""
    assert average_published_pd("definitions")["1R"] == 0.36
    assert average_published_pd("definitions", without_test="MC")["1R"] == pytest.approx((0.20 + 0.17 + 0.10 + 0.36) / 4)


def test_the_error_of_the_tree_on_ngp_differs_between_tables():
    unchanged = read_unchanged_errors()
    assert unchanged["Decision Tree"] == {"populations": 18.9, "missing": 18.9, "definitions": 18.6}
    assert [name for name, errors in unchanged.items() if len(set(errors.values())) > 1] == ["Decision Tree"]


def test_illegible_values_follow_from_the_errors():
    """(25.0 - 23.7) / (36.0 - 23.7) in Table II; in Table III 29.5 % is beyond the trivial 28.4 %: all is lost.

    With the latter the mean of the six lines is the printed 0.36; the five that can be read give 0.23.
    """
    assert list_illegible() == ["1R from no Teenager or OldAdult to NGP (0.11)", "1R from FC to MC (1.00)"]
    assert list_illegible("populations") == []
    own = read_published_averages().query("table == 'definitions' and learner == '1R'").iloc[0]
    assert own["from_rows"] == pytest.approx((0.20 + 0.17 + 0.33 + 1 + 0.10 + 0.36) / 6)
    assert own["value"] == 0.36


def test_cells_are_compared_with_the_printed_ones(results):
    frame = compare_cells(results, "populations")
    line = frame.query("learner == '1R' and tested_on == 'DP' and quantity == 'error, %'").iloc[0]
    assert (line["ours"], line["published"]) == pytest.approx((31.0, 34.2))
    line = frame.query("learner == '1R' and tested_on == 'W' and quantity == 'pD'").iloc[0]
    assert (line["ours"], line["published"]) == pytest.approx((0.06 / 0.15, 0.13))
    assert line["low"] < line["difference"] < line["high"]
    assert frame["learner"].drop_duplicates().tolist() == ["1R", "Decision Tree", "Simple NN", "Complex NN"]


def test_averages_are_compared_with_the_printed_ones_and_with_those_of_the_printed_rows(results):
    line = compare_averages(results).query("table == 'Table II' and learner == '1R'").iloc[0]
    assert (line["published"], line["mean of the printed rows"]) == pytest.approx((0.29, 0.145), abs=0.001)
    assert line["ours"] == pytest.approx(0.06 / 0.15)


def test_hypotheses_for_main_and_variants(results):
    frame = tabulate_hypotheses(results)
    assert frame["variant"].unique().tolist() == ["main", "age in years"]
    assert len(frame) == 2 * 3 * 2
    assert set(frame["the simple one loses"]) == {"more"}


def test_trivial_errors(results):
    frame = compare_trivial(results).set_index("environment")
    assert frame.loc["MC", "published"] == 28.4
    assert frame["ours"].dropna().to_dict() == pytest.approx(dict.fromkeys(["NGP", "DP", "W", "MC", "FC"], 40.0))


def test_table_names_are_unique(results):
    names = [table.name for table in build_tables(results)]
    assert len(set(names)) == len(names) == 6


def test_notes_name_the_rows_with_illegible_or_contradictory_numbers(results):
    notes = {table.name: table.note for table in build_tables(results)}
    for line in ("1R from no Teenager or OldAdult to NGP (0.11)", "1R from FC to MC (1.00)"):
        assert line in notes["averages"]
    assert "1R from FC to MC (1.00)" in notes["definitions"]
    assert "Simple NN from FC to MC" in notes["definitions"]
    assert read_numbers(notes["definitions"])[-2:] == [0.73, 0.00]  # printed, and computed from the printed errors
    assert "1R from no Teenager or OldAdult to NGP (0.11)" in notes["missing"]
    assert "1R" not in notes["populations"]
    assert "names up by one line" in notes["missing"]


# Claims


def test_all_learners_lose(results):
    for table in TABLES:
        claim = judge_drop(results, table)
        assert (claim.verdict, claim.sensitivity) == (REPRODUCED, "all variants agree")


def test_a_gain_contradicts_the_loss_and_no_change_is_inconclusive():
    gains, still = make_results(LOST | {"1R": -0.02}), make_results(LOST | {"1R": 0.0})
    small = make_results(LOST | {"1R": 0.0005})  # the interval contains 0
    assert [judge_drop(own, "missing").verdict for own in (gains, still, small)] == [CONTRADICTED, INCONCLUSIVE, DIRECTION]


class FixedResults(NamedTuple):
    """Results with given differences between the learners of both pairs, in the main run and in its variant."""

    both: tuple[IntervalEstimate, IntervalEstimate]
    in_variant: tuple[IntervalEstimate, IntervalEstimate] | None = None
    plan = DriftPlan.read("smoke")

    def estimate_pd_difference(self, table, pair, variant=""):
        differences = self.in_variant if variant and self.in_variant else self.both
        return differences[self.plan.pairs.index(pair)]

    estimate_loss_difference = estimate_pd_difference


def estimate(value, half=0.02):
    return IntervalEstimate(value, value - half, value + half, 29)


@pytest.mark.parametrize(
    ("table", "first", "second", "verdict"),
    [
        ("populations", 0.23, 0.16, REPRODUCED),  # as printed: "much more"
        ("populations", 0.23, 0.11, DIRECTION),
        ("populations", 0.23, 0.09, INCONCLUSIVE),
        ("populations", 0.23, 0.06, CONTRADICTED),  # more, but not much more
        ("missing", 0.06, 0.05, REPRODUCED),  # as the means of the printed rows: "slightly more"
        ("missing", 0.06, 0.01, DIRECTION),
        ("missing", 0.06, 0.11, INCONCLUSIVE),
        ("missing", 0.06, 0.20, CONTRADICTED),  # much more
        ("missing", -0.10, 0.05, CONTRADICTED),  # less
        ("definitions", 0.12, 0.01, REPRODUCED),  # as printed: 1R does, the simple network does not
        ("definitions", 0.12, -0.30, REPRODUCED),
        ("definitions", 0.12, 0.04, DIRECTION),
        ("definitions", 0.01, 0.06, INCONCLUSIVE),
        ("definitions", 0.12, 0.10, CONTRADICTED),
        ("definitions", -0.12, 0.01, CONTRADICTED),
    ],
)
def test_much_slightly_and_not_more_are_judged_differently(table, first, second, verdict):
    assert judge_simpler(FixedResults((estimate(first), estimate(second))), table).verdict == verdict


def test_the_margins_separate_the_tutorials_own_words():
    printed, rows = average_published_pd("populations"), read_published_averages().query("table == 'missing'")
    rows = rows.set_index("learner")["from_rows"]
    pairs = DriftPlan.read("full").pairs
    assert min(printed[simple] - printed[complicated] for simple, complicated in pairs) > MUCH
    assert 0 < max(rows[simple] - rows[complicated] for simple, complicated in pairs) < MUCH
    assert EQUAL == MUCH / 2


@pytest.mark.parametrize("table", TABLES)
def test_a_claim_of_two_parts_is_contradicted_only_by_joint_intervals(table):
    """At 4 degrees of freedom an interval for two parts is 3.495 / 2.776 = 1.26 times as wide as one alone, for four 1.66."""
    wide = {"missing": (0.7, 0.5)}.get(table, (0.9, 0.7))
    supporting = IntervalEstimate(0.05, 0.04, 0.06, 4) if table == "missing" else IntervalEstimate(0.3, 0.2, 0.4, 4)
    for half, verdict in zip(wide, (INCONCLUSIVE, CONTRADICTED), strict=True):
        opposite = IntervalEstimate(-1 + MUCH, -1 + MUCH - half, -1 + MUCH + half, 4)
        second = IntervalEstimate(-0.3, -0.4, -0.2, 4) if table == "definitions" else supporting
        assert judge_simpler(FixedResults((opposite, second)), table).verdict == verdict


def test_a_variant_with_the_opposite_result_makes_the_claim_inconclusive():
    printed, opposite, unclear = ((estimate(value), estimate(value)) for value in (0.2, -0.2, 0.09))
    assert judge_simpler(FixedResults(printed), "populations").verdict == REPRODUCED
    claim = judge_simpler(FixedResults(printed, opposite), "populations")
    assert (claim.verdict, claim.sensitivity) == (INCONCLUSIVE, "main run: reproduced; age in years: contradicted")
    claim = judge_simpler(FixedResults(printed, unclear), "populations")
    assert (claim.verdict, claim.sensitivity) == (REPRODUCED, "age in years: inconclusive")
    assert judge_simpler(FixedResults(opposite, printed), "populations").verdict == INCONCLUSIVE


def test_undefined_differences_are_not_testable():
    nothing = IntervalEstimate(nan, nan, nan)
    judged = judge_simpler(FixedResults((nothing, nothing)), "missing")
    assert judged.verdict == NOT_TESTABLE
    assert "nan" not in judged.details
    assert judged.details.count("undefined") == 4  # both pairs, by pD and in points


def test_the_sign_alone_is_reported_with_the_size():
    claim = judge_simpler(FixedResults((estimate(0.06), estimate(0.06))), "populations")
    assert claim.verdict == CONTRADICTED
    assert claim.details.endswith("; higher by any amount: reproduced in the main run")


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(-0.1, 0.1, REPRODUCED), (-0.02, 0.1, DIRECTION), (0.01, 0.1, INCONCLUSIVE), (0.1, 0.2, CONTRADICTED)],
)
def test_hands_trend_needs_a_case_of_each_sign(first, second, verdict):
    assert judge_hand(FixedResults((estimate(first), estimate(second)))).verdict == verdict


def test_undefined_cases_of_hands_trend_are_left_out():
    nothing = IntervalEstimate(nan, nan, nan)
    assert judge_hand(FixedResults((nothing, estimate(0.1)))).verdict == CONTRADICTED
    assert judge_hand(FixedResults((nothing, nothing))).verdict == NOT_TESTABLE


class FixedErrors(NamedTuple):
    """Results with given differences in the error, of the mean over all changes and of single changes."""

    mean: IntervalEstimate
    single: list[IntervalEstimate]
    plan = DriftPlan.read("smoke")

    def estimate_mean_error_difference(self, pair, variant=""):
        return self.mean

    def estimate_error_differences(self, pair, variant=""):
        return self.single


def test_the_best_choice_is_judged_by_the_mean_and_by_single_contradictions(results):
    assert judge_best_choice(results).verdict == REPRODUCED
    numbers = read_numbers(judge_best_choice(results).details)
    assert numbers[-3:] == [20, 20, 0]
    open_case, worse = estimate(-0.01), estimate(-0.2)
    judged = {
        name: judge_best_choice(FixedErrors(estimate(mean), [estimate(0.3)] * 22 + [single])).verdict
        for name, mean, single in (
            ("an inconclusive case", 0.2, open_case),
            ("a case to the contrary", 0.2, worse),
            ("a small mean", 0.01, open_case),
            ("a mean to the contrary", -0.2, open_case),
        )
    }
    assert list(judged.values()) == [REPRODUCED, INCONCLUSIVE, DIRECTION, CONTRADICTED]


def make_pd_results(pds, half=0.01):
    """Make results whose averaged pD are given for each learner."""

    class Errors(NamedTuple):
        value: float

        def estimate_pd(self, without_test=""):
            return estimate(self.value, half)

    class Results:
        plan = DriftPlan.read("smoke")

        def get_errors(self, table, learner, variant=""):
            return Errors(pds[learner])

    return Results()


def test_sizes_are_compared_with_the_printed_ones():
    printed = average_published_pd("populations")
    ours = {"1R": 0.15, "Decision Tree": 0.02, "Simple NN": 0.08, "Complex NN": 0.01}  # our full run of November 2026
    claim = judge_sizes(make_pd_results(printed), "populations")
    assert (claim.verdict, claim.kind) == (REPRODUCED, "printed")
    assert "0.28 (1R), 0.05 (Decision Tree), 0.20 (Simple NN) and 0.04 (Complex NN)" in claim.text
    assert judge_sizes(make_pd_results(ours), "populations").verdict == CONTRADICTED
    assert judge_sizes(make_pd_results(printed, half=0.2), "populations").verdict == DIRECTION
    shifted = printed | {"1R": printed["1R"] - 0.06}
    assert judge_sizes(make_pd_results(shifted, half=0.02), "populations").verdict == INCONCLUSIVE
    without_mc = average_published_pd("definitions", without_test="MC")
    assert judge_sizes(make_pd_results(without_mc), "definitions").verdict == REPRODUCED
    assert judge_sizes(make_pd_results(printed), "missing").verdict == NOT_TESTABLE


def test_claims_state_how_they_are_judged(results):
    for claim in build_claims(results).values():
        if claim.kind == "claim":
            assert "(judged as: " in claim.text


def test_the_tutorials_own_numbers():
    first, second = judge_averages(["populations", "definitions"]), judge_averages_of_table_ii()
    assert (first.verdict, second.verdict) == (REPRODUCED, NOT_TESTABLE)
    assert read_numbers(first.details)[:2] == [8, 8]
    assert "1R 0.29, mean of the rows 0.14" in second.details
    assert judge_averages(["missing"]).verdict == CONTRADICTED  # hence no conclusion is drawn from it
    assert judge_rows().verdict == INCONCLUSIVE
    assert read_numbers(judge_rows().details)[:2] == [89, 90]
    repeated = judge_repeated_errors()
    assert repeated.verdict == CONTRADICTED
    assert read_numbers(repeated.details)[-3:] == [18.9, 18.9, 18.6]
    assert {claim.kind for claim in (first, second, judge_rows(), repeated)} == {"printed"}


def test_more_than_one_wrong_pd_contradicts_the_rows(monkeypatch):
    rows = read_drift_tables()
    rows.loc[0, "pd"] = 0.5
    monkeypatch.setattr("fairtrial.reproduce.drift.tables.read_drift_tables", lambda: rows)
    assert judge_rows().verdict == CONTRADICTED
    monkeypatch.setattr("fairtrial.reproduce.drift.tables.list_contradictions", lambda _: [])
    assert judge_rows().verdict == REPRODUCED


def test_each_claim_has_its_numbers(results):
    judged = build_claims(results)
    assert len(judged) == 15
    assert all(read_numbers(claim.details) for name, claim in judged.items() if name != "size missing")


def test_the_answer_follows_the_verdicts(results):
    judged = build_claims(results)
    answer = summarise_claims(judged, results)
    reproduced = answer.partition("Reproduced: ")[2].partition(". ")[0]
    assert all(f"all learners lose performance in {name}" in reproduced for name in ("Table I", "Table II", "Table III"))
    assert "0.04 to 0.28 in the tutorial" in answer
    changed = judged | {"drop missing": dataclasses.replace(judged["drop missing"], verdict=CONTRADICTED)}
    contradicted = summarise_claims(changed, results).partition("Contradicted: ")[2].partition(". ")[0]
    assert "all learners lose performance in Table II" in contradicted.split("; ")


# The experiment


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return run_experiment(Request("smoke", tmp_path_factory.mktemp("drift")))


def test_the_whole_experiment_runs(smoke):
    assert not smoke.skipped
    assert len(smoke.claims) == 15
    assert len(smoke.frame("missing")) == 80
    assert smoke.frame("populations")["ours"].notna().sum() >= 28
    assert all(chart.to_dict() for chart in smoke.figures.values())
    assert [table.name for table in smoke.tables if table.is_main] == ["averages"]


def test_two_replicates_are_inconclusive(smoke):
    """Except for the tutorial's own numbers."""
    assert {claim.verdict for claim in smoke.claims if claim.kind == "claim"} <= {INCONCLUSIVE, NOT_TESTABLE}


def render(reproduction, folder):
    return write_page(experiments["drift"], Request("smoke", folder), reproduction, [1.0]).read_text()


def test_the_page_shows_undefined_numbers(smoke, tmp_path):
    text = render(smoke, tmp_path)
    assert not re.search(r"\bnan\b", text)
    assert "Complex NN undefined" in text  # with so few patients a network may not beat the trivial classifier


def test_the_page_follows_the_numbers(monkeypatch, tmp_path):
    losses = {"1R": 0.01, "Decision Tree": 0.06, "Simple NN": 0.05, "Complex NN": 0.02}
    monkeypatch.setattr(experiment.simulation, "simulate", lambda plan, *_: make_results(losses, plan).matrices)
    reproduction = run_experiment(Request("quick", tmp_path))
    text = render(reproduction, tmp_path)
    assert reproduction.answer in text
    contradicted = reproduction.answer.partition("Contradicted: ")[2].partition(". ")[0]
    statements = (
        "simple learners lose much more (Table I)",
        "simple learners lose slightly more (Table II)",
        "1R loses more than the tree, but the simple network does not lose more than the complex one (Table III)",
    )
    assert all(statement in contradicted for statement in statements)
    assert "names up by one line" in text  # Table II in the available text
    assert "40.0 %" in text  # our trivial error on MC


def test_the_overview_has_a_panel_for_each_table(results):
    chart = draw_overview({table: results.build_cells(table) for table in ("populations", "definitions")}).to_dict()
    assert len(chart["vconcat"]) == 2
    rows = [row for values in chart["datasets"].values() for row in values]
    line = next(row for row in rows if row["learner"] == "1R" and row["change"] == "W")
    assert (round(line["ours"], 6), line["published"]) == (0.4, 0.13)
    assert line["low"] < line["ours"] < line["high"]
    assert {"NGP to MC", "FC to NGP"} <= {row["change"] for row in rows}


def test_the_main_figure_shows_averages_without_those_printed_in_table_ii(results):
    chart = next(iter(draw_figures(results).values())).to_dict()
    rows = [row for values in chart["datasets"].values() for row in values]
    assert len(rows) == 12
    by_key = {(row["table"], row["learner"]): row for row in rows}
    assert by_key["Table I, population drift", "1R"]["published"] == 0.28
    assert by_key["Table I, population drift", "1R"]["ours"] == pytest.approx(0.06 / 0.15)
    assert {row["published"] for row in rows if row["table"].startswith("Table II,")} == {None}


def test_all_figures_are_charts(results):
    drawn = draw_figures(results)
    assert len(drawn) == 5
    assert all(chart.to_dict()["title"] for chart in drawn.values())
