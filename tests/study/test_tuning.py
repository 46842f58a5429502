"""Tuned learners: the searches of scikit-learn and optuna, what they choose, and how it is stored and shown."""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from typer.testing import CliRunner

from fairtrial import Study, draw
from fairtrial.cli import app
from fairtrial.errors import LearnerError, SpecError
from fairtrial.report import build_sections
from fairtrial.resampling import StratifiedGroupKFold, StratifiedKFold
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.spec.tuning import ParameterRange, Tuned

X, Y = load_iris(return_X_y=True)
C = ParameterRange(0.01, 100.0, log=True)

STUDY = """
seed = 4
measures = ["accuracy"]
data = ["iris", "wine"]

[resampling]
folds = 2

[learners.grid]
learner = "k-neighbors"
tune = { grid = { n_neighbors = [1, 5] }, resampling = { folds = 2 } }

[learners.random]
learner = "k-neighbors"

[learners.random.tune]
search = "random"
parameters = { n_neighbors = { low = 1, high = 30, log = true }, weights = ["uniform", "distance"] }
iterations = 3
resampling = { folds = 2 }
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning")
    (folder / "tuned.toml").write_text(STUDY)
    path = folder / "tuned.fairtrial"
    return path, Study.read(folder / "tuned.toml").run(path, jobs=2, progress=False)


def make_inner_splits(seed):
    """Draw the inner splits as `Tuned` does, and return them with the seed of the search."""
    rng = np.random.default_rng(seed)
    splits = [tuple(split) for split in StratifiedKFold(3).freeze(X, Y, random_state=rng)]
    return splits, int(rng.integers(2**31))


@pytest.mark.parametrize("search", ["random", "optuna"])
def test_drawn_combinations_have_the_scores_of_scikit_learn_and_the_best_is_chosen(search):
    if search == "optuna":
        pytest.importorskip("optuna")
    space = {"C": C, "kernel": ["linear", "rbf"]}
    tuned = Tuned(SVC(), space, StratifiedKFold(3), random_state=3, search=search, iterations=5).fit(X, Y)
    splits, _ = make_inner_splits(3)
    assert len(tuned.tried_) == 5
    for combination, mean in tuned.tried_:
        assert 0.01 <= combination["C"] <= 100
        assert mean == pytest.approx(cross_val_score(SVC(**combination), X, Y, cv=splits).mean())
    assert tuned.score_ == max(mean for _, mean in tuned.tried_)
    assert tuned.learner_.get_params()["C"] == tuned.chosen_["C"]
    again = Tuned(SVC(), space, StratifiedKFold(3), random_state=3, search=search, iterations=5).fit(X, Y)
    assert again.tried_ == tuned.tried_
    other = Tuned(SVC(), space, StratifiedKFold(3), random_state=4, search=search, iterations=5).fit(X, Y)
    assert other.tried_ != tuned.tried_


def test_halving_chooses_as_scikit_learn_does():
    grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}
    tuned = Tuned(SVC(), grid, StratifiedKFold(3), random_state=3, search="halving").fit(X, Y)
    splits, seed = make_inner_splits(3)
    expected = HalvingGridSearchCV(SVC(), grid, cv=splits, random_state=seed).fit(X, Y)
    assert tuned.chosen_ == expected.best_params_
    assert tuned.score_ == pytest.approx(expected.best_score_)
    assert [mean for _, mean in tuned.tried_] == pytest.approx(expected.cv_results_["mean_test_score"].tolist())


def test_halving_draws_as_many_candidates_as_iterations():
    tuned = Tuned(SVC(), {"C": C}, StratifiedKFold(3), random_state=3, search="halving", iterations=4).fit(X, Y)
    assert len({combination["C"] for combination, _ in tuned.tried_}) == 4


class LeakDetector(ClassifierMixin, BaseEstimator):
    """Fails if a value of the first column occurs in both the training and the test set. Its parameter changes nothing."""

    def __init__(self, number=1):
        self.number = number

    def fit(self, X, y):
        self.seen_, self.classes_ = set(X[:, 0]), np.unique(y)
        return self

    def predict(self, X):
        if self.seen_ & set(X[:, 0]):
            raise ValueError("a group is in both sets")
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("search", ["grid", "random", "halving", "optuna"])
def test_inner_folds_respect_groups(search):
    if search == "optuna":
        pytest.importorskip("optuna")
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 6)
    table, labels = np.column_stack([groups, rng.normal(size=120)]), np.tile([0, 1], 60)
    iterations = None if search == "grid" else 2
    options = {"random_state": 1, "search": search, "iterations": iterations}
    Tuned(LeakDetector(), {"number": [1, 2]}, StratifiedGroupKFold(3), **options).fit(table, labels, groups=groups)
    leaking = Tuned(LeakDetector(), {"number": [1, 2]}, StratifiedKFold(3), **options)
    with warnings.catch_warnings(action="ignore"), pytest.raises((LearnerError, ValueError)):
        leaking.fit(table, labels, groups=groups)


def test_integer_ranges_include_both_limits():
    drawn = ParameterRange(1, 3).rvs(size=300, random_state=0)
    assert drawn.dtype.kind == "i"
    assert np.bincount(drawn)[1:].min() > 70
    assert ParameterRange(1, 1000, log=True).rvs(size=500, random_state=0).min() <= 2


def test_a_grid_keeps_its_content_key():
    """Before there were other searches, the key covered these parameters; defaults of new ones must not change it."""
    old = {"grid", "learner", "measure", "random_state", "resampling"}
    assert set(compute_learner_identity(Tuned(SVC(), {"C": [1]})).parameters) == old
    drawn = compute_learner_identity(Tuned(SVC(), {"C": [1]}, search="random", iterations=3)).parameters
    assert set(drawn) == old | {"search", "iterations"}


def test_chosen_parameters_are_stored_for_every_fold(stored):
    _, results = stored
    choices = results.tuning()
    assert len(choices) == 2 * 2 * (1 + 2)  # data sets x folds x parameters of both learners
    assert set(choices.loc[choices["learner"] == "grid", "value"]) <= {1, 5}
    assert choices.loc[choices["learner"] == "random", "tried"].eq(3).all()
    assert choices["score"].between(0, 1).all()


def test_tuning_does_not_depend_on_the_number_of_workers(stored, tmp_path):
    path, results = stored
    again = Study.read(path.with_suffix(".toml")).run(tmp_path / "again.fairtrial", jobs=1, progress=False)
    pd.testing.assert_frame_equal(again.tuning(), results.tuning())


def test_searches_of_scikit_learn_given_as_objects_are_recorded(tmp_path):
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [5]}, cv=2)
    results = Study(["iris"], {"searched": search}, resampling={"folds": 2}).run(
        tmp_path / "a.fairtrial", jobs=1, progress=False
    )
    assert results.tuning()["value"].tolist() == [5, 5]


def test_results_show_tuning(stored):
    path, results = stored
    shown = CliRunner().invoke(app, ["results", str(path), "--show", "tuning"])
    assert shown.exit_code == 0
    lines = [line.split() for line in shown.output.splitlines()]
    assert lines[0] == ["learner", "dataset", "parameter", "value", "chosen", "trials"]
    grid = results.tuning().query("learner == 'grid' and dataset == 'iris'")["value"]
    assert [[line[3], line[4]] for line in lines if line[:2] == ["grid", "iris"]] == [
        [str(value), str(count)] for value, count in grid.value_counts().sort_index().items()
    ]


def test_results_without_tuned_learners_say_so(tmp_path):
    Study(["iris"], ["gaussian-nb"], resampling={"folds": 2}).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    shown = CliRunner().invoke(app, ["results", str(tmp_path / "a.fairtrial"), "--show", "tuning"])
    assert shown.exit_code == 2
    assert "no learner of the study is tuned" in shown.stderr


def test_report_has_a_section_and_a_figure(stored):
    _, results = stored
    section = next(section for section in build_sections(results) if section.key == "tuning")
    learners, counts = (table.frame for table in section.tables)
    assert learners["trials"].to_dict() == {"grid": 4, "random": 4}
    assert counts.groupby(["learner", "data set", "parameter"])["chosen"].sum().eq(2).all()
    chart = draw(results, "tuning", dataset="iris").to_dict()
    legends = [panel["encoding"]["size"]["legend"] for panel in chart["vconcat"]]
    assert all(legend["values"] in ([1], [1, 2]) and legend["format"] == "d" for legend in legends)  # 2 folds, never 0
    assert [panel["title"]["text"] for panel in chart["vconcat"]] == [
        "grid: n_neighbors",
        "random: n_neighbors",
        "random: weights",
    ]


@pytest.mark.parametrize(
    ("tune", "location", "message"),
    [
        ({"search": "grd", "grid": {"C": [1]}}, "search", "search must be one of grid, random, halving, optuna"),
        ({"grid": {"C": [1]}, "iterations": 3}, "tune", "iterations must be omitted for a grid"),
        ({"grid": {"C": [1]}, "parameters": {"C": [1]}}, "tune", "got both"),
        ({"search": "random", "parameters": {"C": [1]}, "iterations": 0}, "iterations", "at least 1"),
        ({"parameters": {"C": {"low": 1, "high": 2}}}, "parameters", "must have a list of values for C"),
        ({"search": "random", "parameters": {"C": {"low": 2, "high": 1}}}, "parameters.C", "low must be below high"),
        ({"search": "random", "parameters": {"C": {"low": 0, "high": 1, "log": True}}}, "parameters.C", "must be positive"),
        ({"search": "random", "parameters": {"C": {"low": 1, "hi": 2}}}, "parameters.C", "a range has no key 'hi'"),
        ({"search": "random", "parameters": {"C": {"low": 1}}}, "parameters.C", "must be a list of values or a range"),
        ({"search": "random", "parameters": {"C": {"low": -1, "high": 1}}}, "parameters.C.low", "C must be a float"),
    ],
)
def test_wrong_searches_are_refused(tune, location, message):
    with pytest.raises(SpecError) as caught:
        Study(["iris"], {"svm": {"learner": "svc", "tune": tune}}).resolve()
    [problem] = caught.value.problems
    assert message in problem.message
    assert problem.location.endswith(location)


def test_optuna_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(SpecError, match=r"needs the package optuna: run pip install 'fairtrial\[tune\]'"):
        Study(["iris"], {"svm": {"learner": "svc", "tune": {"search": "optuna", "parameters": {"C": [1]}}}}).resolve()


def test_a_search_survives_a_study_file(tmp_path):
    study = Study(["iris"], {"svm": Tuned(SVC(), {"C": C, "kernel": ["rbf"]}, search="random", iterations=4)})
    path = study.write(tmp_path / "study.toml")
    [learner] = Study.read(path).resolve().learners
    assert (learner.estimator.search, learner.estimator.iterations) == ("random", 4)
    assert learner.estimator.grid == {"C": C, "kernel": ["rbf"]}
    assert json.loads(json.dumps(Study.read(path).declaration.to_dict()["learners"]))["svm"]["tune"]["search"] == "random"
