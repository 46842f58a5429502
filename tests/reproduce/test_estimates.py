"""Repeat the estimates of Galdi and Tagliaferri: learners, simulation, draws, ensembles, claims and page."""

import dataclasses
import io
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import binom, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial import measures
from fairtrial.learners import C45
from fairtrial.reproduce import reproduce
from fairtrial.reproduce.claim import Claim, IntervalEstimate, judge_direction
from fairtrial.reproduce.estimates import binomial, complete, illustrations, regression, simulation
from fairtrial.reproduce.estimates.claims import (
    CLAIMS,
    SimulationResults,
    judge_claims,
    judge_complete,
    judge_confidence_level,
    judge_ensembles,
    judge_exact_intervals,
    judge_outliers,
    judge_printed,
)
from fairtrial.reproduce.estimates.draws import CellEstimate, Draws, format_estimate, format_number, pool, pool_proportions
from fairtrial.reproduce.estimates.ensembles import (
    BASES,
    VOTED,
    EnsembleResults,
    build_learners,
    decompose_error,
    simulate_ensembles,
)
from fairtrial.reproduce.estimates.experiment import assess_example, compute_worked_examples, describe_answer, run
from fairtrial.reproduce.estimates.figures import METHODS_SHOWN, draw_by_rows, draw_coverage, draw_ensembles, draw_samples
from fairtrial.reproduce.estimates.learners import BATCHED, SHRINKAGE, compute_losses, predict_from_all
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
from fairtrial.reproduce.experiment import Request
from fairtrial.resampling import estimate
from fairtrial.study import randomness
from fairtrial.study.randomness import derive_seed
from tests.reproduce import read_numbers

# Learners


REFERENCES = {
    "nearest neighbour": KNeighborsClassifier(1),
    "naive Bayes": GaussianNB(),
    "linear discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE),
}


@pytest.mark.parametrize("problem", ["waveform", "rare class"])
@pytest.mark.parametrize("name", REFERENCES)
def test_many_training_sets_as_scikit_learn_one_by_one(name, problem):
    rng = np.random.default_rng(1)
    X, y, n_classes = draw_sample(problem, 40, rng)
    queries = draw_sample(problem, 60, rng)[0]
    weights = np.array([np.bincount(rng.integers(40, size=40), minlength=40) for _ in range(8)], dtype=float)
    predictions = BATCHED[name](X, y, n_classes, weights, queries)
    for predicted, weight in zip(predictions, weights, strict=True):
        rows = np.repeat(np.arange(40), weight.astype(int))
        assert predicted.tolist() == REFERENCES[name].fit(X[rows], y[rows]).predict(queries).tolist()


@pytest.mark.parametrize("name", REFERENCES)
def test_a_class_without_training_rows_is_never_predicted(name):
    X, y, n_classes = draw_sample("waveform", 30, 2)
    predictions = BATCHED[name](X, y, n_classes, (y != 1)[None].astype(float), X)
    assert set(np.unique(predictions)) == {0, 2}


@pytest.mark.filterwarnings("ignore:Only one sample available")
@pytest.mark.parametrize("name", REFERENCES)
def test_one_row_of_a_class_is_enough(name):
    X, y = np.array([[0.0, 0.0], [0.1, 1.0], [0.2, 0.5], [9.0, 9.0]]), np.array([0, 0, 0, 1])
    predictions = BATCHED[name](X, y, 2, np.ones((1, 4)), X)[0]
    assert predictions.tolist() == REFERENCES[name].fit(X, y).predict(X).tolist()


@pytest.mark.parametrize(("name", "reference"), [("naive Bayes", GaussianNB()), ("C4.5", C45())])
def test_losses_are_those_of_the_tested_rows(name, reference):
    X, y, n_classes = draw_sample("waveform", 30, 1)
    is_tested = np.zeros((2, 30), dtype=bool)
    is_tested[0, :10] = is_tested[1, 10:25] = True
    losses = compute_losses(name, X, y, n_classes, 1.0 - is_tested, is_tested)
    assert not losses[~is_tested].any()
    for row, test in zip(losses, is_tested, strict=True):
        predicted = reference.fit(X[~test], y[~test]).predict(X[test])
        assert row[test].tolist() == (predicted != y[test]).tolist()


@pytest.mark.parametrize(("name", "reference"), [("naive Bayes", GaussianNB()), ("C4.5", C45())])
def test_predictions_for_new_rows(name, reference):
    (X, y, n_classes), (X_new, _, _) = draw_sample("two Gaussians", 50, 1), draw_sample("two Gaussians", 400, 2)
    assert predict_from_all(name, X, y, n_classes, X_new).tolist() == reference.fit(X, y).predict(X_new).tolist()
    assert predict_from_all("nearest neighbour", X, y, n_classes, X).tolist() == y.tolist()


# Simulation


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


# Draws


COLUMNS = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "true_error"]


def standardize(rng):
    """400 values with mean 0 and standard deviation 1 to the last digit."""
    return stats.zscore(rng.standard_normal(400), ddof=1)


def make_draws(methods, n_cells=1):
    """Draws of methods with a given bias and standard deviation; the true error is 0.3."""
    rng = np.random.default_rng(1)
    rows = [
        ("p", cell, "l", replicate, method, value, value - 0.1, value + 0.1, 0.3)
        for cell in range(n_cells)
        for method, (bias, deviation) in methods.items()
        for replicate, value in enumerate(0.3 + bias + deviation * standardize(rng))
    ]
    return Draws(pd.DataFrame(rows, columns=COLUMNS))


def repeat_learners(draws, *learners):
    """The same draws as if several learners had been right and wrong on the same samples."""
    return Draws(pd.concat([draws.frame.assign(learner=name) for name in learners], ignore_index=True))


def keep_replicates(draws, count):
    return Draws(draws.frame[draws.frame["replicate"] < count])


def test_summary_has_bias_deviation_error_and_coverage():
    row = make_draws({"a": (0.05, 0.05)}).summary.iloc[0]
    assert row["bias_low"] < 0.05 < row["bias_high"]
    assert row["deviation_low"] < 0.05 < row["deviation_high"]
    assert row["rmse_low"] < np.hypot(0.05, 0.05) < row["rmse_high"]
    expected = stats.norm.cdf(1) - stats.norm.cdf(-3)  # 0.05 above, within 0.1
    assert row["coverage_low"] < expected < row["coverage_high"]
    assert row["width"] == pytest.approx(0.2)
    assert row["rmse"] ** 2 == pytest.approx(row["bias"] ** 2 + row["deviation"] ** 2, rel=0.01)


def test_bias_has_a_t_interval():
    draws = make_draws({"a": (0.02, 0.05)})
    errors = draws.frame["estimate"] - draws.frame["true_error"]
    expected = stats.t.interval(0.95, 399, errors.mean(), stats.sem(errors))
    bias = draws.estimate_bias("a").mean
    assert (bias.value, bias.low, bias.high) == pytest.approx((errors.mean(), *expected))
    assert bias.is_positive is True


def test_comparisons_estimate_ratios_and_differences():
    draws = make_draws({"a": (0.0, 0.08), "b": (0.03, 0.04)}, n_cells=5)
    deviation, rmse, bias = (draws.compare("a", "b", quantity) for quantity in ("deviation", "rmse", "bias"))
    assert deviation.mean.low < np.log(2) < deviation.mean.high
    assert rmse.mean.low < np.log(0.08 / 0.05) < rmse.mean.high
    assert bias.mean.low < -0.03 < bias.mean.high
    assert draws.compare("b", "a", "rmse").mean.is_positive is False
    assert deviation.format_ratio().startswith("2.00 (")
    assert bias.format_points().startswith("-3.00 (")


def test_the_interval_of_a_log_ratio_is_that_of_the_bootstrap():
    draws = make_draws({"a": (0.0, 0.08), "b": (0.0, 0.05)})
    a, b = (draws.frame.loc[draws.frame["method"] == name, "estimate"].to_numpy() for name in "ab")
    rows = np.random.default_rng(2).integers(400, size=(4000, 400))
    resampled = np.log(a[rows].std(axis=1) / b[rows].std(axis=1))
    ratio = draws.compare("a", "b", "deviation").mean
    assert (ratio.high - ratio.low) / 3.92 == pytest.approx(resampled.std(), rel=0.06)


@pytest.mark.parametrize(
    "estimate",
    [
        lambda draws: draws.estimate_bias("a"),
        lambda draws: draws.compare("a", "b", "deviation"),
        lambda draws: draws.compare("a", "b", "rmse"),
    ],
)
def test_learners_with_the_same_errors_are_no_more_evidence_than_one(estimate):
    draws = make_draws({"a": (0.02, 0.08), "b": (0.0, 0.05)})
    one, four = estimate(draws), estimate(repeat_learners(draws, "k", "l", "m", "n"))
    assert vars(four.mean) == pytest.approx(vars(one.mean))
    assert (len(one.cells), len(four.cells)) == (1, 4)


def test_problems_and_sizes_are_independent():
    bias = make_draws({"a": (0.02, 0.05)}, n_cells=4).estimate_bias("a")
    widths = [cell.high - cell.low for cell in bias.cells]
    assert bias.mean.high - bias.mean.low == pytest.approx(np.sqrt(np.square(widths).sum()) / 4, rel=0.01)


def test_coverage_counts_samples_not_draws():
    draws = make_draws({"a": (0.05, 0.05)})
    n_covered = int(((draws.frame["low"] <= 0.3) & (draws.frame["high"] >= 0.3)).sum())
    coverage = repeat_learners(draws, "k", "l", "m", "n").estimate_coverage("a")
    expected = compute_wilson(n_covered, 400)
    assert (coverage.value, coverage.low, coverage.high) == pytest.approx((n_covered / 400, *expected), abs=0.001)


def test_all_cells_have_equal_weights_in_coverage():
    frame = make_draws({"a": (0.05, 0.05)}).frame
    few = frame[frame["replicate"] < 10].assign(learner="C4.5", low=0.8, high=0.9)
    covered = ((frame["low"] <= 0.3) & (frame["high"] >= 0.3)).mean()
    assert Draws(pd.concat([frame, few])).estimate_coverage("a").value == pytest.approx(covered / 2)


def test_a_deviation_of_two_samples_has_no_interval():
    draws = make_draws({"a": (0.0, 0.08), "b": (0.0, 0.05)}, n_cells=3)
    assert keep_replicates(draws, 2).compare("a", "b", "deviation").mean.is_positive is None
    assert keep_replicates(draws, 1).compare("a", "b", "rmse").mean.is_positive is None


def test_constant_estimates_have_no_ratio():
    ratio = make_draws({"a": (0.0, 0.0), "b": (0.0, 0.05)}).compare("a", "b", "rmse")
    assert ratio.mean.is_positive is None
    assert ratio.cells == ()


def make_cell(samples, values, index=None):
    return CellEstimate.from_values(samples, pd.Series(np.asarray(values, dtype=float), index=index))


def compute_wilson(successes, trials):
    limits = stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    return limits.low, limits.high


def test_one_cell_has_a_t_interval():
    values = [0.1, 0.4, 0.3, 0.9]
    pooled = pool([make_cell("p", values)])
    assert (pooled.low, pooled.high) == pytest.approx(stats.t.interval(0.95, 3, np.mean(values), stats.sem(values)))


def test_replicates_are_matched_by_their_number():
    """Contributions that cancel on each sample have no variance; matched otherwise, they would have."""
    first, second = make_cell("p", [1.0, 2.0, 4.0], [0, 1, 2]), make_cell("p", [-4.0, -2.0, -1.0], [2, 1, 0])
    third = make_cell("q", [0.0, 0.1, 0.2])
    single, pooled = pool([third]), pool([first, second, third])
    assert pooled.high - pooled.low == pytest.approx((single.high - single.low) / 3)


def test_two_independent_cells_by_welch():
    """The mean of two independent means: Welch's interval of a difference, with one sign changed."""
    a, b = np.array([0.1, 0.5, 0.2, 0.9, 0.3]), np.array([1.0, 1.4, 0.2])
    welch = stats.ttest_ind(a, -b, equal_var=False)
    limits = welch.confidence_interval(0.95)
    pooled = pool([make_cell("p", a), make_cell("q", b)])
    assert (pooled.low, pooled.high) == pytest.approx((limits.low / 2, limits.high / 2))
    assert pooled.degrees_of_freedom == pytest.approx(welch.df)


def test_intervals_cover_if_learners_share_samples_and_one_has_fewer():
    """Four learners, correlation 0.5, the last one with a third of the replicates: independent cells would cover 83 %."""
    rng = np.random.default_rng(1)
    is_covered = []
    for _ in range(300):
        values = rng.standard_normal((30, 1)) + rng.standard_normal((30, 4))
        pooled = pool([make_cell("p", values[: 10 if j == 3 else 30, j]) for j in range(4)])
        is_covered.append(pooled.low <= 0 <= pooled.high)
    assert 0.92 < np.mean(is_covered) < 0.99


def test_proportions_have_wilsons_interval_for_the_effective_number_of_draws():
    values = np.repeat([1.0, 0.0], [900, 100])
    single = pool_proportions([make_cell("p", values)])
    assert (single.low, single.high) == pytest.approx(compute_wilson(900, 1000), abs=2e-4)
    same = pool_proportions([make_cell("p", values), make_cell("p", values)])
    assert vars(same) == pytest.approx(vars(single))
    independent = pool_proportions([make_cell("p", values), make_cell("q", values)])
    assert (independent.low, independent.high) == pytest.approx(compute_wilson(1800, 2000), abs=2e-4)


def test_draws_that_all_agree_count_their_samples():
    pooled = pool_proportions([make_cell("p", np.ones(10)), make_cell("p", np.ones(4)), make_cell("q", np.ones(6))])
    assert (pooled.low, pooled.high) == pytest.approx(compute_wilson(10, 10))


def test_too_few_values_have_no_interval():
    for cells in ([], [make_cell("p", [1.0])], [make_cell("p", [1.0, 1.0])]):
        assert pool(cells).is_positive is None
    assert np.isnan(pool_proportions([]).value)


def estimate_biases(deviation=0.05, **biases):
    """Estimates of learners with a given bias, exact to the last digit, on 400 samples."""
    rng = np.random.default_rng(1)
    rows = [
        ("p", 25, learner, replicate, "a", value, 0.0, 1.0, 0.3)
        for learner, bias in biases.items()
        for replicate, value in enumerate(0.3 + bias + deviation * standardize(rng))
    ]
    return Draws(pd.DataFrame(rows, columns=COLUMNS)).estimate_by_learner(lambda draws: draws.estimate_bias("a"))


@pytest.mark.parametrize(("bias", "verdict"), [(0.02, "reproduced"), (0.0, "inconclusive"), (-0.02, "contradicted")])
def test_one_learner_does_not_decide_for_all(bias, verdict):
    """The half width of a learner's interval is 0.0049; that of the mean excludes 0 in all three cases."""
    estimates = estimate_biases(trees=0.1, bayes=bias - 1e-9)
    assert judge_direction(estimates.means) == verdict
    assert estimates.overall.mean.is_positive


def test_learners_are_described_with_their_intervals():
    details = estimate_biases(trees=0.1, bayes=0.02).describe_points()
    half = 100 * stats.t.ppf(0.975, 399) * 0.05 / np.sqrt(400)
    numbers = read_numbers(details)
    assert numbers[0] == 6.0
    assert f"trees +10.00 ({10 - half:+.2f} to {10 + half:+.2f})" in details
    assert f"bayes +2.00 ({2 - half:+.2f} to {2 + half:+.2f})" in details
    ratios = estimate_biases(trees=np.log(2), bayes=np.log(3)).describe_ratio()
    assert read_numbers(ratios)[0] == pytest.approx(np.sqrt(6), abs=0.005)
    assert "trees 2.00 (" in ratios
    assert "bayes 3.00 (" in ratios


@pytest.mark.parametrize("order", [("trees", "bayes"), ("bayes", "trees")])
def test_learners_keep_their_order(order):
    assert tuple(estimate_biases(**dict.fromkeys(order, 0.1)).learners) == order


@pytest.mark.parametrize(
    ("limits", "digits", "options", "text"),
    [
        # The loss of bagged naive Bayes on twonorm in the full run.
        ((-0.02852, -0.05542, -0.001616), 1, {}, "-0.029 (-0.055 to -0.002)"),
        ((0.9848, 0.9704, 0.9994), 2, {"null": 1}, "0.985 (0.970 to 0.999)"),
        ((0.3, -0.04, 0.6), 1, {"sign": True}, "+0.30 (-0.04 to +0.60)"),
        ((0.3, 0.04, 0.6), 1, {"sign": True}, "+0.30 (+0.04 to +0.60)"),
        ((1.5, 1.0, 2.0), 1, {}, "1.5 (1.0 to 2.0)"),
        ((1.001, 0.9, 1.1), 2, {"null": 1}, "1.00 (0.90 to 1.10)"),
        ((0.5, float("nan"), float("nan")), 1, {}, "0.5 (interval unknown)"),
        ((0.5, 0.0, 1.0), 1, {}, "0.5 (0.0 to 1.0)"),
        ((0.5, -1e-12, 1.0), 1, {}, "0.5 (0.0 to 1.0)"),
    ],
)
def test_limits_are_not_rounded_to_no_effect(limits, digits, options, text):
    assert format_estimate(IntervalEstimate(*limits), digits, **options) == text


def test_a_number_keeps_its_sign_and_a_zero_has_none():
    numbers = (format_number(-0.03, 1, sign=True), format_number(0.26, 1, sign=True), format_number(-1e-12, 1))
    assert numbers == ("-0.03", "+0.3", "0.0")


# Ensembles


def test_parts_sum_to_the_error():
    rng = np.random.default_rng(1)
    probabilities = rng.dirichlet([1, 1, 1], size=50)
    predictions = rng.integers(3, size=(7, 50))
    parts = decompose_error(probabilities, predictions)
    error = 1 - np.mean([probabilities[np.arange(50), codes].mean() for codes in predictions])
    assert parts.error == pytest.approx(error)
    assert parts.noise + parts.bias + parts.variance == pytest.approx(error)


def test_noise_is_half_the_error_of_guessing_by_the_probabilities():
    probabilities = np.random.default_rng(3).dirichlet([1, 1, 1], size=200)
    noise, bayes_error = (
        decompose_error(probabilities, np.zeros((2, 200), dtype=int)).noise,
        1 - probabilities.max(axis=1).mean(),
    )
    assert noise == pytest.approx((probabilities * (1 - probabilities)).sum(axis=1).mean() / 2)
    assert bayes_error / 2 < noise < bayes_error


def test_two_learners_by_hand():
    """One row of the first class for sure: one of two learners is wrong, so the votes are 1/2 and 1/2."""
    parts = decompose_error(np.array([[1.0, 0.0]]), np.array([[0], [1]]))
    assert (parts.noise, parts.variance, parts.bias) == pytest.approx((0.0, 0.5, 0.0))


def test_bias_and_variance_do_not_depend_on_the_number_of_learners():
    """Learners that predict the first class with probability 0.8 if it has 0.6: variance 0.16, bias 0.04."""
    rng = np.random.default_rng(2)
    probabilities = np.tile([0.6, 0.4], (4000, 1))
    for n_models in (2, 5, 40):
        parts = decompose_error(probabilities, (rng.random((n_models, 4000)) > 0.8).astype(int))
        assert (parts.variance, parts.bias) == pytest.approx((0.16, 0.04), abs=0.012)


def test_each_ensemble_has_its_single_learner():
    assert set(BASES) | set(BASES.values()) == {*build_learners(3, 1), VOTED}


@pytest.fixture(scope="module")
def ensembles():
    return simulate_ensembles(SimulationPlan.load("smoke"), 1, 1)


def test_a_row_per_problem_and_learner(ensembles):
    frame = ensembles.frame()
    assert len(frame) == 11
    assert frame.loc[frame["learner"].isin(BASES), "gain"].notna().all()
    assert frame.loc[~frame["learner"].isin(BASES), "gain"].isna().all()
    tree, bagged = (frame.loc[frame["learner"] == name, "error"].iloc[0] for name in ("C4.5", "bagged C4.5"))
    assert frame.loc[frame["learner"] == "bagged C4.5", "gain"].iloc[0] == pytest.approx(tree - bagged)
    assert ensembles.errors["bagged C4.5"].mean() == pytest.approx(bagged)


def test_gains_are_paired(ensembles):
    """All differences are between errors on the same training samples."""
    errors = ensembles.errors
    expected = errors["C4.5"] - errors[VOTED]
    gain = ensembles.estimate_gains(VOTED)["waveform"]
    assert (gain.low, gain.high) == pytest.approx(stats.t.interval(0.95, 2, expected.mean(), stats.sem(expected)))
    assert ensembles.compare_errors("bagged C4.5", VOTED)["waveform"].value == pytest.approx(
        (errors["bagged C4.5"] - errors[VOTED]).mean()
    )
    difference = expected - (errors["naive Bayes"] - errors["bagged naive Bayes"])
    assert ensembles.compare_gains(VOTED, "bagged naive Bayes")["waveform"].value == pytest.approx(difference.mean())


# Intervals of accuracy


def test_gaussian_limits_by_hand():
    low, high = binomial.compute_limits("Gaussian", 50, 0.9)
    half = norm.ppf(0.95) * np.sqrt(0.8 * 0.2 / 50)
    assert (low[40], high[40]) == pytest.approx((0.8 - half, 0.8 + half))
    assert (low[50], high[50]) == (1, 1)  # no width if all predictions are correct


@pytest.mark.parametrize(("method", "name"), [("Wilson", "wilson"), ("Clopper-Pearson", "exact")])
def test_binomial_limits_are_scipys(method, name):
    low, high = binomial.compute_limits(method, 20, 0.95)
    for correct in range(21):
        limits = stats.binomtest(correct, 20).proportion_ci(0.95, method=name)
        assert (low[correct], high[correct]) == pytest.approx((limits.low, limits.high), abs=1e-9)


def test_coverage_of_the_gaussian_interval_outcome_by_outcome():
    """20 rows and an accuracy of 0.95: the interval misses if all predictions are correct, with probability 0.358."""
    half_widths = {k: norm.ppf(0.975) * np.sqrt(k / 20 * (1 - k / 20) / 20) for k in range(21)}
    expected = sum(binom.pmf(k, 20, 0.95) for k, half in half_widths.items() if abs(k / 20 - 0.95) <= half)
    assert binomial.compute_coverage("Gaussian", 20, [0.95, 0.05]) == pytest.approx([expected] * 2)
    assert expected == pytest.approx(1 - 0.95**20, abs=0.003)


def test_exact_coverage_and_width_from_all_outcomes():
    """Three test rows and an accuracy of 0.7: the probabilities of 0 to 3 correct predictions by hand."""
    probabilities = np.array([0.027, 0.189, 0.441, 0.343])
    low, high = binomial.compute_limits("Wilson", 3, 0.95)
    assert binomial.compute_coverage("Wilson", 3, [0.7]) == pytest.approx(probabilities[(low <= 0.7) & (high >= 0.7)].sum())
    assert binomial.compute_mean_width("Wilson", 3, [0.7]) == pytest.approx(probabilities @ (high - low))


@pytest.fixture(scope="module")
def exact():
    return binomial.tabulate_intervals()


def test_clopper_pearson_is_conservative(exact):
    assert (exact.loc[exact["method"] == "Clopper-Pearson", "coverage"] >= 0.95).all()
    summary = binomial.summarize_intervals(exact).set_index(["method", "n"])
    assert summary.loc[("Gaussian", 25), "lowest"] == pytest.approx(1 - 0.99**25, abs=2e-4)  # missed if all are correct
    assert summary.loc[("Gaussian", 25), "lowest at"] == 0.99


@pytest.fixture(scope="module")
def intervals():
    return binomial.sample_intervals(1000, 1)


def test_sampled_intervals_have_their_exact_coverage(intervals):
    assert len(intervals) == 3000
    assert intervals["true_accuracy"].unique() == pytest.approx([0.8], abs=1e-4)
    for method in binomial.METHODS:
        coverage = binomial.estimate_coverage(intervals, method)
        expected = binomial.compute_coverage(method, 100, [0.8], 0.9)[0]
        assert coverage.widen(3).low <= expected <= coverage.widen(3).high


def test_figure_4_has_thirty_intervals(intervals):
    figure = binomial.select_figure(intervals)
    assert len(figure) == 30
    rows = [row for row in list_rows(draw_samples(figure)) if "true_value" in row]
    missed = {row["sample"] for row in rows if row["true_value"] == "missed"}
    assert missed == set(figure.loc[(figure["high"] < 0.8) | (figure["low"] > 0.8), "sample"])


# Complete cross-validation


def test_complete_cross_validation_tests_all_pairs():
    X, y, n_classes = draw_sample("two Gaussians", 8, 3)
    errors = complete.compute_split_errors("naive Bayes", X, y, n_classes)
    for first, second in ((0, 1), (2, 7), (5, 3)):
        train = np.setdiff1d(np.arange(8), [first, second])
        predicted = GaussianNB().fit(X[train], y[train]).predict(X[[first, second]])
        assert errors[first, second] == errors[second, first] == (predicted != y[[first, second]]).mean()
    estimates = complete.estimate_by_partitions(errors, np.random.default_rng(1))
    assert estimates["complete"] == pytest.approx(errors[np.triu_indices(8, 1)].mean())


def test_complete_cross_validation_is_the_mean_over_partitions():
    errors = complete.compute_split_errors("nearest neighbour", *draw_sample("two Gaussians", 6, 4))
    once = [complete.estimate_by_partitions(errors, np.random.default_rng(seed))["once"] for seed in range(600)]
    assert np.mean(once) == pytest.approx(np.nanmean(errors), abs=3 * np.std(once) / np.sqrt(600))


def test_number_of_splits():
    assert complete.count_splits(50) == 2_118_760  # 50 over 5
    assert complete.count_splits(10, 5) == 45


# Regression


def test_an_outlier_by_hand():
    """Errors of 1 in nine of ten rows, and of 11 in one: MSE 13 and MAE 2 instead of 1 and 1."""
    y_true = np.arange(10.0)
    before = regression.compute_measures(y_true, y_true + 1)
    after = regression.compute_measures(np.append(y_true[:-1], -1.0), y_true + 1)
    assert (before["MSE"], before["RMSE"], before["MAE"]) == (1, 1, 1)
    assert (after["MSE"], after["MAE"]) == pytest.approx((13, 2))
    assert before["RSE"] == pytest.approx(1 / np.var(y_true))
    assert before["RAE"] == pytest.approx(1 / np.abs(y_true - 4.5).mean())


def test_regression_example():
    table = regression.tabulate_example().set_index("measure")
    assert tuple(table.index) == regression.MEASURES
    assert ((table["low"] < table["value"]) & (table["value"] < table["high"])).all()
    assert table.loc["RMSE", "value"] == pytest.approx(np.sqrt(table.loc["MSE", "value"]))
    assert table.loc["MSE", "ratio"] == pytest.approx(table.loc["RMSE", "ratio"] ** 2)


# Illustrations


def test_thresholds_trade_sensitivity_for_precision():
    panels = illustrations.build_trade_off().groupby("panel")[["sensitivity", "precision"]].first()
    assert panels.loc["a", "sensitivity"] == panels.loc["b", "precision"] == 1
    assert panels.loc["b", "sensitivity"] < panels.loc["c", "sensitivity"]
    assert panels.loc["a", "precision"] < panels.loc["c", "precision"]


def test_marbles_are_bootstrap_samples():
    marbles = illustrations.build_marbles()
    counts = marbles.groupby("sample").size()
    assert set(counts) == {12}
    data = marbles.loc[marbles["sample"] == "data", "class"].value_counts()
    assert data.to_dict() == {"yellow": 5, "red": 4, "blue": 2, "green": 1}


def test_majority_of_the_drawn_votes():
    votes = illustrations.build_votes().pivot_table(index="row", columns="voter", values="class", aggfunc="first")
    trees = (votes[[name for name in votes if name.startswith("tree")]] == "positive").sum(axis=1)
    assert (votes.loc[trees > 5, "majority vote"] == "positive").all()
    assert (votes.loc[trees <= 5, "majority vote"] == "negative").all()


def test_boosting_gives_errors_half_of_the_weight():
    """AdaBoost: after each round, the rows that were wrong have half of the total weight."""
    points = illustrations.build_boosting()
    for number in (1, 2):
        wrong = points.loc[points["round"] == number, "wrong"].to_numpy()
        weights = points.loc[points["round"] == number + 1, "weight"].to_numpy()
        assert weights[wrong].sum() == pytest.approx(weights.sum() / 2)


# Claims


# As the chapter describes it: bias and standard deviation of each method.
USUAL = dict.fromkeys(METHODS, (0.0, 0.05)) | {
    "hold-out 2/3": (0.03, 0.1),
    "hold-out 9/10": (0.01, 0.2),
    "subsampling": (0.03, 0.05),
    "subsampling, not stratified": (0.03, 0.07),
    "leave-one-out": (0.0, 0.07),
    "10-fold, 5 times": (0.0, 0.045),
    ".632": (-0.02, 0.03),
    ".632+": (0.0, 0.03),
}
UNBIASED = IntervalEstimate(0.5, 0.49, 0.51)
SELECTED = SelectedModelError(IntervalEstimate(0.4, 0.39, 0.41), UNBIASED)


def make_biased_draws(methods=USUAL):
    rng = np.random.default_rng(1)
    rows = [
        ("p", n, learner, replicate, method, value, value - 2 * deviation, value + 2 * deviation, 0.3)
        for n in (25, 50)
        for learner in ("nearest neighbour", "C4.5")
        for method, (bias, deviation) in methods.items()
        for replicate, value in enumerate(0.3 + bias + deviation * rng.standard_normal(600))
    ]
    columns = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "true_error"]
    return pd.DataFrame(rows, columns=columns)


def make_ensembles(gain=5.0, stable_gain=0.0, vote=0.0, variances=None, n_samples=25, problems=("p", "q")):
    """Errors of ensembles with given gains in points; the standard deviation of a gain is 1."""
    rng = np.random.default_rng(1)
    frames = []
    for problem in problems:
        single = 30 + stats.zscore(rng.standard_normal(n_samples), ddof=1)
        errors = {"problem": problem} | dict.fromkeys(set(BASES.values()), single)
        for name in BASES:
            mean = stable_gain if name in ("bagged naive Bayes", "bagged nearest neighbour") else gain
            mean += vote if name == VOTED else 0
            errors[name] = single - mean - stats.zscore(rng.standard_normal(n_samples), ddof=1)
        frames.append(pd.DataFrame(errors))
    variances = {"C4.5": 0.15, "naive Bayes": 0.02, "nearest neighbour": 0.03} | (variances or {})
    parts = pd.DataFrame([{"problem": "p", "learner": name, "variance": value} for name, value in variances.items()])
    return EnsembleResults(parts, pd.concat(frames, ignore_index=True))


def make_complete(once=0.12, whole=0.1):
    rng = np.random.default_rng(1)
    methods = {"once": once, "5 times": whole, "complete": whole}
    rows = [
        ("p", 20, learner, replicate, method, value, np.nan, np.nan, 0.3)
        for learner in ("naive Bayes", "nearest neighbour")
        for method, deviation in methods.items()
        for replicate, value in enumerate(0.3 + deviation * standardize(rng))
    ]
    return Draws(pd.DataFrame(rows, columns=COLUMNS))


def make_outliers(squared=0.5, absolute=0.2, deviation=0.1):
    rng = np.random.default_rng(1)
    means = {"MSE": squared, "RMSE": squared, "MAE": absolute, "RAE": absolute, "RSE": squared}
    frames = [
        pd.DataFrame({"n": n, "outlier": 5.0} | {name: mean + deviation * standardize(rng) for name, mean in means.items()})
        for n in (25, 100)
    ]
    return pd.concat(frames, ignore_index=True)


def make_intervals(wilson=0.9, others=0.9, n_samples=10000):
    """Intervals of which a given proportion contains the true value; the others miss it."""
    frames = []
    for method in binomial.METHODS:
        n_covered = round((wilson if method == "Wilson" else others) * n_samples)
        is_covered = np.arange(n_samples) < n_covered
        frame = {"method": method, "sample": np.arange(1, n_samples + 1), "is_covered": is_covered, "true_accuracy": 0.8}
        frames.append(pd.DataFrame(frame))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def judge(exact):
    def judge_made_up(frame, ensembles=None, selected=SELECTED, **options):
        results = SimulationResults(
            draws=Draws(frame),
            complete=make_complete(),
            ensembles=make_ensembles() if ensembles is None else ensembles,
            selected=selected,
            intervals=make_intervals(),
            exact=exact,
            outliers=make_outliers(),
        )
        return judge_claims(results, **options)

    return judge_made_up


def list_verdicts(claims, names):
    return {name: claims[name].verdict for name in names}


@pytest.fixture(scope="module")
def usual(judge):
    return judge(make_biased_draws())


HOLD_OUT, SUBSAMPLING, STRATIFIED = CLAIMS[2], CLAIMS[4], CLAIMS[5]
SELECTION, LEAVE_ONE_OUT, FOLDS, REPEATING = CLAIMS[6], CLAIMS[8], CLAIMS[9], CLAIMS[10]
BOOTSTRAP, OPTIMISTIC, COVERAGE = CLAIMS[13], CLAIMS[14], CLAIMS[17]
WIDTH, GAUSSIAN, FEW_ROWS = CLAIMS[16], CLAIMS[18], CLAIMS[19]
ENSEMBLES, VOTING, STABLE = CLAIMS[20:]
RELATIVE_ERROR, PROHIBITIVE = CLAIMS[0], CLAIMS[12]
EXACT = (RELATIVE_ERROR, PROHIBITIVE, WIDTH, GAUSSIAN, FEW_ROWS)


def test_simulation_as_the_chapter_describes_it(usual):
    assert tuple(usual) == CLAIMS
    names = [name for name in CLAIMS if name not in (COVERAGE, RELATIVE_ERROR, GAUSSIAN)]
    assert list_verdicts(usual, names) == dict.fromkeys(names, "reproduced")
    assert usual[RELATIVE_ERROR].verdict == "contradicted"


def test_our_own_claims_are_not_those_of_the_chapter(usual):
    own = [name for name, claim in usual.items() if claim.kind == "own"]
    assert own == [OPTIMISTIC, FEW_ROWS, VOTING, STABLE]


def test_simulated_claims_are_inconclusive_on_request(usual, judge):
    for name, claim in judge(make_biased_draws(), conclusive=False).items():
        assert claim.verdict == (usual[name].verdict if name in EXACT else "inconclusive")
        assert claim.details.startswith(usual[name].details)


def test_simulation_that_contradicts_the_chapter(judge):
    other = {"hold-out 2/3": (-0.03, 0.04), "hold-out 9/10": (-0.03, 0.04), "leave-one-out": (0.0, 0.02), ".632": (0.1, 0.1)}
    selected = SelectedModelError(IntervalEstimate(0.55, 0.54, 0.56), UNBIASED)
    claims = judge(make_biased_draws(USUAL | other), make_ensembles(gain=-5.0), selected)
    names = (HOLD_OUT, SUBSAMPLING, LEAVE_ONE_OUT, FOLDS, BOOTSTRAP, SELECTION, ENSEMBLES, STABLE)
    assert list_verdicts(claims, names) == dict.fromkeys(names, "contradicted")


def judge_mixed(judge, methods):
    """C4.5 as the chapter describes it, the nearest neighbour with other numbers for these methods."""
    usual, other = make_biased_draws(), make_biased_draws(USUAL | methods)
    frames = [usual[usual["learner"] == "C4.5"], other[other["learner"] == "nearest neighbour"]]
    return judge(pd.concat(frames, ignore_index=True))


@pytest.mark.parametrize(
    ("deviation", "verdicts"), [(0.05, ("inconclusive", "direction reproduced")), (0.045, ("contradicted",))]
)
def test_leave_one_out_is_judged_by_learner(judge, deviation, verdicts):
    """Pooled, C4.5 alone would decide both claims: a ratio of 1.4, and of 1 or 0.9 for the nearest neighbour."""
    claims = judge_mixed(judge, {"leave-one-out": (0.0, deviation)})
    for name in (LEAVE_ONE_OUT, FOLDS):
        assert claims[name].verdict in verdicts
        assert claims[name].details.count("C4.5 1.") == 2
        assert claims[name].details.count("nearest neighbour ") == 2
    assert claims[REPEATING].verdict == "reproduced"


def test_other_comparisons_are_judged_by_learner(judge):
    claims = judge_mixed(judge, {".632": (-0.1, 0.03), "subsampling, not stratified": (0.03, 0.05)})
    assert claims[BOOTSTRAP].verdict == "contradicted"
    assert claims[STRATIFIED].verdict in ("inconclusive", "direction reproduced")


@pytest.mark.parametrize(
    ("second", "verdict", "variant"), [(0.01, "reproduced", "reproduced"), (-0.2, "inconclusive", "contradicted")]
)
def test_the_other_hold_out_is_a_variant(judge, second, verdict, variant):
    claim = judge(make_biased_draws(USUAL | {"hold-out 9/10": (second, 0.02)}))[HOLD_OUT]
    assert (claim.verdict, claim.variants["9/10 for training"]) == (verdict, variant)
    assert np.sign(read_numbers(claim.details.split("9/10")[1])[0]) == np.sign(second)


def test_the_lowest_coverage_is_reported_with_its_interval(judge):
    """480 of 600 in one cell, all elsewhere: Wilson's interval by hand."""
    frame = make_biased_draws().assign(low=0.0, high=1.0)
    is_cell = (frame["method"] == "hold-out 2/3") & (frame["n"] == 50) & (frame["learner"] == "C4.5")
    is_missed = is_cell & (frame["replicate"] < 120)
    claim = judge(frame.assign(low=frame["low"].where(~is_missed, 0.9)))[COVERAGE]
    assert "80.0 % (76.6 % to 83.0 %)" in claim.details


@pytest.fixture(scope="module")
def judge_coverage(judge):
    def judge_narrow(methods, half, frame=None):
        """Judge the coverage if intervals of these methods have a half width, and those of others cover everything."""
        frame = make_biased_draws() if frame is None else frame
        is_narrow = frame["method"].isin(methods)
        low, high = ((frame["estimate"] + sign * half).where(is_narrow, end) for sign, end in ((-1, 0.0), (1, 1.0)))
        claim = judge(frame.assign(low=low, high=high))[COVERAGE]
        return claim.variants.get("main run", claim.verdict), claim.variants["within 2 points"]

    return judge_narrow


def test_coverage_is_judged_by_the_chapters_intervals(judge_coverage):
    """A coverage of 100 % is at least 94 %, but not within 2 points of 95 %."""
    assert judge_coverage([], 0.0) == ("reproduced", "contradicted")
    assert judge_coverage(["hold-out 9/10"], 0.001) == ("contradicted", "contradicted")
    # The chapter does not claim this.
    assert judge_coverage(["10-fold", "subsampling", ".632"], 0.001) == ("reproduced", "contradicted")
    unbiased = make_biased_draws(USUAL | dict.fromkeys(("hold-out 2/3", "hold-out 9/10"), (0.0, 0.1)))
    half = 0.1 * norm.ppf(0.976)  # for a coverage of 95.2 %
    assert judge_coverage(["hold-out 2/3", "hold-out 9/10"], half, unbiased)[1] == "reproduced"


def test_coverage_of_few_samples_is_not_reproduced(judge_coverage):
    frame = make_biased_draws()
    assert judge_coverage([], 0.0, frame[frame["replicate"] < 5])[0] == "direction reproduced"
    # Two standard deviations around an unbiased estimate cover 95.4 %: 240 samples are too few to decide.
    unbiased = make_biased_draws(USUAL | {"hold-out 2/3": (0.0, 0.1)})
    verdict, _ = judge_coverage(["hold-out 2/3"], 0.2, unbiased[unbiased["replicate"] < 60])
    assert verdict in ("direction reproduced", "inconclusive")


@pytest.mark.parametrize(
    ("validation", "test", "verdict"),
    [
        ((0.4, 0.39, 0.41), (0.5, 0.49, 0.51), "reproduced"),
        ((0.49, 0.47, 0.51), (0.5, 0.49, 0.51), "direction reproduced"),
        ((0.4, 0.39, 0.41), (0.49, 0.45, 0.53), "direction reproduced"),
        ((0.51, 0.49, 0.53), (0.5, 0.49, 0.51), "inconclusive"),
        ((0.4, 0.39, 0.41), (0.47, 0.45, 0.49), "inconclusive"),
        ((0.4, 0.39, 0.41), (0.4, 0.39, 0.41), "contradicted"),
        ((0.6, 0.59, 0.61), (0.5, 0.49, 0.51), "contradicted"),
    ],
)
def test_verdicts_on_selection(judge, validation, test, verdict):
    selected = SelectedModelError(IntervalEstimate(*validation), IntervalEstimate(*test))
    assert judge(make_biased_draws().query("replicate < 5"), selected=selected)[SELECTION].verdict == verdict


def test_a_correction_that_may_be_chance_is_not_reproduced(judge):
    """.632+ as .632: whether it is less optimistic is unknown, whatever the two means are."""
    verdict = judge(make_biased_draws(USUAL | {".632+": USUAL[".632"]}))[OPTIMISTIC].verdict
    assert verdict in ("direction reproduced", "inconclusive")


@pytest.mark.parametrize(
    ("once", "whole", "verdicts"),
    [
        (0.12, 0.1, ["reproduced"]),
        (0.1, 0.1, ["direction reproduced", "inconclusive"]),
        (0.1, 0.12, ["contradicted"]),
    ],
)
def test_verdicts_on_complete_cross_validation(once, whole, verdicts):
    assert judge_complete(make_complete(once, whole)).verdict in verdicts


@pytest.mark.parametrize(
    ("squared", "absolute", "deviation", "verdict"),
    [
        (0.5, 0.2, 0.1, "reproduced"),
        (0.21, 0.2, 0.3, "direction reproduced"),
        (0.19, 0.2, 0.3, "inconclusive"),
        (0.1, 0.2, 0.1, "contradicted"),
    ],
)
def test_verdicts_on_outliers(squared, absolute, deviation, verdict):
    assert judge_outliers(make_outliers(squared, absolute, deviation)).verdict == verdict


@pytest.mark.parametrize(
    ("wilson", "n_samples", "verdict"),
    [(0.9, 10000, "reproduced"), (0.9, 100, "direction reproduced"), (0.93, 200, "inconclusive"), (0.8, 10000, "contradicted")],
)
def test_verdicts_on_the_confidence_level(wilson, n_samples, verdict):
    claim = judge_confidence_level(make_intervals(wilson, wilson, n_samples))
    assert (claim.verdict, claim.sensitivity) == (verdict, "all variants agree")


def test_other_intervals_are_variants_of_the_confidence_level():
    claim = judge_confidence_level(make_intervals(0.9, 0.8))
    assert claim.verdict == "inconclusive"
    assert set(claim.variants.values()) == {"reproduced", "contradicted"}


def test_claims_about_exact_intervals(exact):
    """The Gaussian interval of 1000 rows is adequate on average, but not at an accuracy of 99 %."""
    claims = judge_exact_intervals(exact)
    assert (claims[WIDTH].verdict, claims[FEW_ROWS].verdict) == ("reproduced", "reproduced")
    assert claims[GAUSSIAN].variants == {"main run": "reproduced", "each accuracy": "contradicted"}


def test_other_exact_intervals_have_other_verdicts(exact):
    is_gaussian = exact["method"] == "Gaussian"
    narrow = judge_exact_intervals(exact.assign(coverage=exact["coverage"].where(~is_gaussian, 0.5)))
    assert (narrow[GAUSSIAN].verdict, narrow[FEW_ROWS].verdict) == ("contradicted", "reproduced")
    wide = judge_exact_intervals(exact.assign(coverage=0.95, width=exact["n"]))
    verdicts = (wide[WIDTH].verdict, wide[GAUSSIAN].verdict, wide[FEW_ROWS].verdict)
    assert verdicts == ("contradicted", "reproduced", "contradicted")


@pytest.mark.parametrize(
    ("gain", "n_samples", "verdict"),
    [(5.0, 25, "reproduced"), (0.2, 5, "direction reproduced"), (-0.2, 5, "inconclusive"), (-5.0, 25, "contradicted")],
)
def test_verdicts_on_ensembles(gain, n_samples, verdict):
    claim = judge_ensembles(make_ensembles(gain, n_samples=n_samples))[ENSEMBLES]
    assert (claim.verdict, claim.sensitivity) == (verdict, "all variants agree")


def test_averaging_is_a_variant_of_voting():
    claim = judge_ensembles(make_ensembles(gain=2.0, vote=-4.0))[ENSEMBLES]
    assert claim.variants == {"main run": "contradicted", "averaged probabilities": "reproduced"}
    assert claim.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("vote", "n_samples", "verdict"),
    [(0.0, 25, "reproduced"), (0.9, 4, "direction reproduced"), (1.1, 4, "inconclusive"), (3.0, 25, "contradicted")],
)
def test_verdicts_on_voting(vote, n_samples, verdict):
    assert judge_ensembles(make_ensembles(vote=vote, n_samples=n_samples))[VOTING].verdict == verdict


@pytest.mark.parametrize(
    ("stable_gain", "n_samples", "verdict"),
    [(0.0, 25, "reproduced"), (4.8, 4, "direction reproduced"), (5.2, 4, "inconclusive"), (9.0, 25, "contradicted")],
)
def test_trees_gain_more_than_stable_learners(stable_gain, n_samples, verdict):
    assert judge_ensembles(make_ensembles(stable_gain=stable_gain, n_samples=n_samples))[STABLE].verdict == verdict


def test_a_learner_with_half_the_variance_of_trees_is_not_stable():
    stable = judge_ensembles(make_ensembles())[STABLE].details
    unstable = judge_ensembles(make_ensembles(variances={"nearest neighbour": 0.109}))[STABLE].details
    assert "nearest neighbour 10.9" in unstable
    assert unstable.count("nearest neighbour") == stable.count("nearest neighbour") + 1  # it is named as unstable
    assert unstable.count("naive Bayes") == stable.count("naive Bayes")


def test_printed_numbers(intervals):
    """All agree with ours except the average accuracy of both classes, 45 % instead of 50 %."""
    printed = judge_printed(compute_worked_examples(), intervals)
    assert {claim.kind for claim in printed} == {"printed"}
    assert [claim.verdict for claim in printed] == ["reproduced"] * 2 + ["contradicted"] + ["reproduced"] * 3


def test_the_answer_names_the_best_method_and_contradicted_claims():
    claims = {
        "a": Claim("a", "contradicted", ""),
        "b": Claim("b", "reproduced", ""),
        "c": Claim("c", "contradicted", "", "own"),
    }
    methods = USUAL | {"resubstitution": (0.0, 0.001), "bootstrap E0": (0.0, 0.02)}
    answer = describe_answer(Draws(make_biased_draws(methods).query("replicate < 50")), claims)
    assert answer.startswith("Bootstrap E0, .632+ and .632 have ")
    assert "Of 2 claims of the chapter, 1 " in answer
    assert answer.endswith(": a.")


# The experiment


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("estimates")


@pytest.fixture(scope="module")
def smoke(folder):
    return reproduce("estimates", scale="smoke", out=folder, jobs=1, progress=False)


def test_the_whole_experiment_runs(smoke, folder):
    assert [claim.kind for claim in smoke.claims].count("claim") == 19
    assert len(smoke.claims) == len(CLAIMS) + 6
    assert len(smoke.frame("cells")) == 2 * 2 * 4 * 12
    page = (folder / "index.md").read_text(encoding="utf-8")
    assert all(claim.text in page for claim in smoke.claims)
    assert all(f"*{title}*" in page for title in smoke.figures)
    assert all(f"({table.name}.csv)" in page for table in smoke.tables)


def test_so_few_samples_are_inconclusive(smoke):
    """Except for claims that exact numbers decide."""
    verdicts = dict(zip(CLAIMS, [claim.verdict for claim in smoke.claims], strict=False))
    assert {verdict for name, verdict in verdicts.items() if name not in EXACT} == {"inconclusive"}
    assert verdicts[RELATIVE_ERROR] == "contradicted"


def test_values_of_the_page_are_those_of_the_tables(smoke):
    cells, values = smoke.frame("cells"), smoke.values
    signal = cells[(cells["problem"] != "no signal") & (cells["learner"] == "nearest neighbour")]
    biases = 100 * signal.groupby("method")["bias"].mean()
    assert values["resubstitution_biases"]["nearest neighbour"] == pytest.approx(biases.pop("resubstitution"))
    largest = biases.abs().idxmax()
    assert values["largest_biases"]["nearest neighbour"] == (largest, pytest.approx(biases[largest]))
    methods = smoke.frame("methods").set_index("method")
    assert methods.loc[".632+", "bias"] == pytest.approx(100 * cells[cells["method"] == ".632+"]["bias"].mean())


def test_complete_cross_validation_has_the_number_of_fits(smoke):
    fits = smoke.frame("complete").groupby(["n", "method"])["fits"].unique().map(list).to_dict()
    complete_fits = {(10, "complete"): [45], (20, "complete"): [190]}
    assert fits == complete_fits | {(10, "once"): [5], (10, "5 times"): [25], (20, "once"): [10], (20, "5 times"): [50]}


@pytest.mark.usefixtures("smoke")
def test_progress_is_reported_on_request(folder, capsys):
    """The cells are read from the files of the first run."""
    run(Request("smoke", folder, progress=True))
    lines = [line for line in capsys.readouterr().err.splitlines() if "estimates" in line]
    assert len(lines) == 16 + 4 + 3
    assert read_numbers(lines[11]) == [12, 16]


def test_worked_examples():
    """All positive on 90 and 10: accuracy 90 %, F = 2 * 0.9 / 1.9, and (100 + 0) / 2, for which the chapter has 45."""
    examples = compute_worked_examples()
    assert examples["ours"].tolist()[:3] == pytest.approx([90, 1.8 / 1.9, 50])
    limit = "rounded limit for many rows, not the value for 100 rows"
    assert examples["assessment"].tolist() == ["agrees after rounding"] * 2 + ["error in the chapter"] + [limit] * 2


def test_published_limits_differ_from_the_values_of_100_rows():
    """0.99^100 is 0.366; 1/e is 0.368, which is published."""
    examples = compute_worked_examples().iloc[3:]
    assert examples["limit"].tolist() == pytest.approx([0.367879, 0.632121], abs=1e-6)
    assert examples["ours"].tolist() == pytest.approx([0.366032, 0.633968], abs=0.003)
    assert examples["limit"].round(3).tolist() == examples["published"].tolist() != examples["ours"].round(3).tolist()


@pytest.mark.parametrize(("ours", "published"), [(0.5, 0.632), (0.634, 0.64)])
def test_other_numbers_are_not_the_limit(ours, published):
    assert assess_example(ours, published, 3, 1 - 0.99**100, 0.632121) == "differs"


@pytest.mark.parametrize(("name", "row"), [("accuracy", 0), ("f_score", 1), ("balanced_accuracy", 2)])
def test_an_error_of_ours_is_not_one_of_the_chapter(monkeypatch, name, row):
    monkeypatch.setattr(measures, name, lambda *_, **__: 0.47)
    assert compute_worked_examples().loc[row, "assessment"] == "differs"


SUMMARY = pd.DataFrame(
    [
        {"problem": problem, "n": n, "learner": "C4.5", "method": method, "bias": bias, "rmse": 0.1, "coverage": 0.9}
        for n in (25, 50)
        for method, bias in (("10-fold", 0.02), (".632", -0.04))
        for problem in ("p", "q")
    ]
)


def list_rows(chart):
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_biases_are_means_over_problems_in_points():
    rows = list_rows(draw_by_rows(SUMMARY, "bias", "title", "subtitle"))
    assert len(rows) == 4
    assert [row["value"] for row in rows if row["method"] == ".632"] == pytest.approx([-4.0, -4.0])


def test_every_method_has_its_own_colour():
    rows = [{"n": n, "learner": "C4.5", "method": method, "bias": 0.1} for n in (25, 50) for method in METHODS_SHOWN]
    chart = draw_by_rows(pd.DataFrame(rows), "bias", "title", "subtitle").to_dict()
    colours = next(layer["encoding"]["color"]["scale"] for layer in chart["spec"]["layer"] if "color" in layer["encoding"])
    assert colours["domain"] == list(METHODS_SHOWN)
    assert len(set(colours["range"])) == len(METHODS_SHOWN)


def test_coverage_is_in_percent_with_the_nominal_line():
    assert sorted({row["value"] for row in list_rows(draw_coverage(SUMMARY))}) == [90.0, 95]


def test_bars_do_not_go_below_zero():
    ensembles = [{"problem": "p", "learner": "C4.5", "noise": 0.1, "bias": -0.001, "variance": 0.05}]
    rows = list_rows(draw_ensembles(pd.DataFrame(ensembles)))
    assert {row["part"]: row["value"] for row in rows} == {"noise": 10.0, "bias": 0.0, "variance": 5.0}
