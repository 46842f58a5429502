"""Problems, estimates from one sample, resumable simulation, progress and model selection."""

import dataclasses
import io
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.reproduce.estimates import simulation
from fairtrial.reproduce.estimates.simulation import (
    LEARNERS,
    METHODS,
    N_CANDIDATES,
    SelectedModelError,
    SimulationCell,
    SimulationPlan,
    TrainingResamples,
    build_population,
    build_splitters,
    draw_sample,
    estimate_errors,
    report_progress,
    simulate_cell,
    simulate_cells,
)
from fairtrial.resampling import estimate
from fairtrial.study import randomness
from fairtrial.study.randomness import derive_seed

SMOKE = SimulationPlan.load("smoke")
TINY = dataclasses.replace(SMOKE, problems=("no signal",), sizes=(25,), replicates={"c45": 2, "others": 2})


@pytest.mark.parametrize("scale", ["smoke", "quick", "full"])
def test_every_problem_of_a_plan_can_be_sampled(scale):
    plan = SimulationPlan.load(scale)
    for name in {*plan.problems, *plan.ensembles["problems"]}:
        X, y, n_classes = draw_sample(name, 30, 1)
        assert X.shape[0] == 30 == len(y)
        assert set(np.unique(y)) <= set(range(n_classes))


def test_bayes_errors():
    distance = 1.6832
    assert build_population("two Gaussians").bayes_error == pytest.approx(norm.cdf(-distance / 2), abs=1e-6)
    # With unequal priors, the threshold moves by log(4) / distance.
    shift = np.log(4) / distance
    rare = 0.8 * norm.cdf(-distance / 2 - shift) + 0.2 * norm.cdf(-distance / 2 + shift)
    assert build_population("rare class").bayes_error == pytest.approx(rare, abs=1e-6)


def test_c45_gets_fewer_samples():
    plan = SimulationPlan.load("full")
    counts = {name: plan.count_replicates(name) for name in LEARNERS}
    assert counts["C4.5"] == plan.replicates["c45"] < counts["naive Bayes"] == plan.replicates["others"]


@pytest.fixture(scope="module")
def sample():
    return draw_sample("rare class", 40, 5)


@pytest.mark.parametrize("learner", ["naive Bayes", "C4.5"])
def test_all_methods_and_their_limits(sample, learner):
    estimates = estimate_errors(learner, *sample, SMOKE, np.random.default_rng(1))
    assert tuple(estimates) == METHODS
    assert all(0 <= error.low <= error.value <= error.high <= 1 for error in estimates.values())


@pytest.mark.parametrize(
    ("learner", "reference"), [("naive Bayes", GaussianNB()), ("nearest neighbour", KNeighborsClassifier(1))]
)
def test_resubstitution_and_leave_one_out_are_scikit_learns(sample, learner, reference):
    X, y, _ = sample
    estimates = estimate_errors(learner, *sample, SMOKE, np.random.default_rng(1))
    assert estimates["leave-one-out"].value == pytest.approx(1 - cross_val_score(reference, X, y, cv=LeaveOneOut()).mean())
    assert estimates["resubstitution"].value == pytest.approx(1 - reference.fit(X, y).score(X, y))


def test_folds_and_bootstrap_from_the_same_splits_one_by_one(sample):
    X, y, _ = sample
    estimates = estimate_errors("naive Bayes", *sample, SMOKE, np.random.default_rng(3))
    splitters = build_splitters(SMOKE, y, np.random.default_rng(3))
    folds = splitters["5-fold"].split(X, y)
    n_errors = sum((GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]).sum() for train, test in folds)
    assert estimates["5-fold"].value == pytest.approx(n_errors / 40)
    bootstrap = splitters["bootstrap"]
    expected = estimate(GaussianNB(), X, y, n_resamples=bootstrap.n_splits, random_state=bootstrap.random_state)
    for method, name in {"e0": "bootstrap E0", "632-e0": ".632", "632+": ".632+"}.items():
        limits = (expected[method].value, expected[method].low, expected[method].high)
        assert (estimates[name].value, estimates[name].low, estimates[name].high) == pytest.approx(limits)
    e0, apparent = estimates["bootstrap E0"].value, estimates["resubstitution"].value
    assert estimates[".632"].value == pytest.approx(0.632 * e0 + 0.368 * apparent)


def test_subsampling_has_nadeau_and_bengios_interval(sample):
    X, y, _ = sample
    error = estimate_errors("naive Bayes", *sample, SMOKE, np.random.default_rng(4))["subsampling"]
    splits = list(build_splitters(SMOKE, y, np.random.default_rng(4))["subsampling"].split(X, y))
    errors = np.array([1 - GaussianNB().fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits])
    assert error.value == pytest.approx(errors.mean())
    n_train, n_test = len(splits[0][0]), len(splits[0][1])
    half = 2.776445 * np.sqrt((1 / 5 + n_test / n_train) * errors.var(ddof=1))  # t of 4 degrees of freedom
    assert error.high == pytest.approx(min(errors.mean() + half, 1))


def test_folds_are_not_stratified_if_no_class_has_ten_rows():
    X, y = np.arange(24.0).reshape(24, 1), np.repeat([0, 1, 2], 8)
    splitter = build_splitters(SMOKE, y, np.random.default_rng(1))["10-fold, 5 times"]
    resamples = TrainingResamples.from_splitter(splitter, X, y)
    assert resamples.is_tested.sum(axis=0).tolist() == [5] * 24
    assert (resamples.weights[resamples.is_tested] == 0).all()


def test_a_second_run_reads_the_files_of_the_first(tmp_path, monkeypatch):
    first = simulate_cells(TINY, 1, 1, tmp_path)
    assert len(first) == 4 * 2 * len(METHODS)
    assert len(list((tmp_path / "draws").iterdir())) == 4

    def fail(*_):
        raise AssertionError("simulated again")

    monkeypatch.setattr(simulation, "simulate_cell", fail)
    pd.testing.assert_frame_equal(simulate_cells(TINY, 1, 1, tmp_path), first)
    with pytest.raises(AssertionError, match="simulated again"):
        simulate_cells(TINY, 2, 1, tmp_path)  # another seed is another run


@pytest.mark.parametrize(("name", "value"), [("LEVEL", 0.9), ("SHRINKAGE", 0.2), ("METHODS", METHODS[:-1]), ("_VERSION", -1)])
def test_files_of_other_settings_are_not_read(tmp_path, monkeypatch, name, value):
    monkeypatch.setattr(simulation, "simulate_cell", lambda cell, *_: pd.DataFrame({"learner": [cell.learner]}))
    simulate_cells(TINY, 1, 1, tmp_path)
    files = set((tmp_path / "draws").iterdir())
    monkeypatch.setattr(simulation, name, value)
    simulate_cells(TINY, 1, 1, tmp_path)
    assert len(set((tmp_path / "draws").iterdir()) - files) == 4


def test_only_learners_share_random_numbers(monkeypatch):
    """Replicates are independent units: each problem, size and replicate has its own samples, new rows and splits."""
    seeds = {}

    def record(*names):
        seeds.setdefault(cell, []).append(derive_seed(*names))
        return np.random.default_rng(derive_seed(*names))

    monkeypatch.setattr(randomness, "derive_generator", record)
    settings = [("no signal", 25), ("no signal", 50), ("two Gaussians", 25)]
    for setting in settings:
        for learner in ("naive Bayes", "nearest neighbour"):
            cell = SimulationCell(*setting, learner)
            simulate_cell(cell, TINY, 1)
    used = [seeds[SimulationCell(*setting, "naive Bayes")] for setting in settings]
    assert used == [seeds[SimulationCell(*setting, "nearest neighbour")] for setting in settings]
    assert len({seed for values in used for seed in values}) == 3 * 2 * 3  # settings, replicates, and what is drawn


def test_more_replicates_do_not_change_the_first():
    cell = SimulationCell("no signal", 25, "naive Bayes")
    plans = [dataclasses.replace(TINY, replicates={"c45": 1, "others": count}) for count in (2, 3)]
    few, many = (simulate_cell(cell, plan, 1) for plan in plans)
    pd.testing.assert_frame_equal(many[many["replicate"] < 2].reset_index(drop=True), few)


def test_without_a_signal_every_true_error_is_about_one_half():
    cell = SimulationCell("no signal", 25, "linear discriminant")
    draws = simulate_cell(cell, dataclasses.replace(TINY, test_rows=2000), 1)
    assert draws["true_error"].tolist() == pytest.approx([0.5] * len(draws), abs=0.05)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("progress", "stream", "is_reported"),
    [(True, io.StringIO, True), (None, Terminal, True), (None, io.StringIO, False), (False, Terminal, False)],
)
def test_progress_is_reported_on_request_or_on_a_terminal(monkeypatch, progress, stream, is_reported):
    stderr = stream()
    monkeypatch.setattr(sys, "stderr", stderr)
    items = report_progress(iter("ab"), "cell", 2, progress)
    assert next(items) == "a"
    assert stderr.getvalue() == ("estimates: cell 1 of 2\n" if is_reported else "")
    assert list(items) == ["b"]


def select_best(rng):
    """The smallest validation error of twenty models, by scikit-learn's naive Bayes."""
    train, validation = rng.normal(size=(50, N_CANDIDATES)), rng.normal(size=(50, N_CANDIDATES))
    y_train, y_validation = rng.random(50) < 0.5, rng.random(50) < 0.5
    models = [GaussianNB().fit(train[:, [j]], y_train) for j in range(N_CANDIDATES)]
    return min(1 - model.score(validation[:, [j]], y_validation) for j, model in enumerate(models))


def test_the_selected_model_is_too_good_on_the_validation_set_only():
    selected = SelectedModelError.simulate(400, 1)
    expected = np.mean([select_best(np.random.default_rng(seed)) for seed in range(30)])
    assert selected.validation.value == pytest.approx(expected, abs=0.02)
    assert selected.test.low <= 0.5 <= selected.test.high
    # Twenty independent coins would seem even better, because the models share the labels of the validation set.
    coins = (binom.sf(np.arange(50), 50, 0.5) ** N_CANDIDATES).sum() / 50
    assert coins < selected.validation.low < selected.validation.high < 0.45
