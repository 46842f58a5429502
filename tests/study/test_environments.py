"""Tests of `fairtrial.study.environments`."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fairtrial.conditions.environment import altered
from fairtrial.conditions.shift import ConceptChange, CovariateShift
from fairtrial.data.simulate import GaussianMixture, flu_environments
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import performance_deterioration
from fairtrial.resampling.splitters import StratifiedKFold
from fairtrial.study.audit import audit_file
from fairtrial.study.environments import EnvironmentFailure, EnvironmentMatrix, run_environments

# --- Environments ---


WORLDS = {"near": GaussianMixture(means=[0, 1]), "moved": GaussianMixture(means=[1, 2])}
SIZE = {"n_train": 300, "n_test": 300, "replicates": 4}


def test_two_gaussians_that_move_by_their_closed_forms():
    """Threshold 1/2, where 3/2 is right: errors by normal distributions; the trivial error is one half."""
    result = run_environments({"line": LogisticRegression()}, WORLDS, n_train=1000, n_test=4000, replicates=8, seed=2)
    moved = (norm.sf(-0.5) + norm.cdf(-1.5)) / 2
    ideal = norm.cdf(-0.5)
    cell = result.frame().query("trained_on == 'near' and tested_on == 'moved'").iloc[0]
    assert cell["error"] == pytest.approx(moved, abs=0.01)
    assert cell["ideal"] == pytest.approx(ideal, abs=0.01)
    assert cell["trivial"] == pytest.approx(0.5, abs=0.01)
    expected = (moved - ideal) / (0.5 - ideal)
    assert cell["pd"] == pytest.approx(expected, abs=0.06)
    assert cell["pd_low"] < expected < cell["pd_high"]


def test_a_reversed_concept_costs_everything():
    worlds = altered(GaussianMixture(means=[0, 5]), {"reversed": ConceptChange(labels={"1": "2", "2": "1"})})
    result = run_environments({"line": LogisticRegression()}, worlds, **SIZE)
    assert result.matrix("line").to_numpy().tolist() == [[0, 1], [1, 0]]
    assert result.matrix("line", "error").loc["usual", "reversed"] > 0.95


def test_a_further_learner_or_environment_changes_no_number():
    few = run_environments({"tree": DecisionTreeClassifier()}, WORLDS, **SIZE)
    learners = {"trivial": DummyClassifier(), "tree": DecisionTreeClassifier()}
    with pytest.warns(UserWarning, match="pD is undefined"):
        many = run_environments(learners, {"other": GaussianMixture(means=[0, 2]), **WORLDS}, **SIZE)
    own = many.frame().query("learner == 'tree' and trained_on != 'other' and tested_on != 'other'").reset_index(drop=True)
    assert own.equals(few.frame())


class Writing(ClassifierMixin, BaseEstimator):
    """Scales the rows where they are."""

    def fit(self, X, y):
        X -= 100.0
        y[:] = y[0]
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        X *= 0.0
        return np.repeat(self.classes_[0], len(X))


class Matrix:
    def sample(self, n, rng):
        y = rng.integers(0, 2, size=n)
        return rng.normal(size=(n, 2)) + y[:, None], y


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_a_learner_that_writes_into_its_rows_spoils_no_other():
    worlds = {"one": Matrix(), "two": Matrix()}
    alone = run_environments({"tree": DecisionTreeClassifier()}, worlds, **SIZE)
    after = run_environments({"writing": Writing(), "tree": DecisionTreeClassifier()}, worlds, **SIZE)
    assert not after.failures
    assert after.frame().query("learner == 'tree'").reset_index(drop=True).equals(alone.frame())


def test_weights_that_change_nothing_cost_nothing():
    """Copies among the training rows would make neighbours worse, and count as deterioration (0.04)."""
    usual = GaussianMixture(means=[[0] * 5, [1] * 5])
    worlds = altered(usual, {"alike": CovariateShift(weights={"x1 > 0": 1.0000001})})
    result = run_environments({"near": KNeighborsClassifier(9)}, worlds, n_train=1000, n_test=1000, replicates=10)
    assert np.abs(result.matrix("near").to_numpy()).max() < 0.02


def test_a_seed_repeats_it_and_another_does_not():
    first, again, other = (run_environments({"t": DecisionTreeClassifier()}, WORLDS, **SIZE, seed=seed) for seed in (1, 1, 2))
    assert first.frame().equals(again.frame())
    assert not first.frame().equals(other.frame())


def test_only_what_is_asked_for_is_run():
    worlds = flu_environments("definitions", coding="numbers")
    result = run_environments(
        {"t": DecisionTreeClassifier(max_depth=3)}, worlds, **SIZE, train_on=["NGP"], test_on=["MC", "FC"]
    )
    pairs = result.frame()[["trained_on", "tested_on"]].to_numpy().tolist()
    assert pairs == [["NGP", "MC"], ["NGP", "FC"], ["MC", "MC"], ["FC", "FC"]]
    assert result.matrix("t").loc["MC"].isna().tolist() == [False, True]
    assert result.averages()["trained_on"].tolist() == ["NGP"]


class Moody(ClassifierMixin, BaseEstimator):
    """Fails to learn where the mean is high, and to predict where it is low."""

    def fit(self, X, y):
        if X.to_numpy().mean() > 1:
            raise ValueError("too high for me")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        if X.to_numpy().mean() < 1:
            raise RuntimeError("too low for me")
        return np.repeat(self.classes_[0], len(X))


class Short(Moody):
    def predict(self, X):
        return self.classes_[:1]


def test_learners_that_raise_are_recorded_and_the_others_go_on():
    result = run_environments({"moody": Moody(), "line": LogisticRegression()}, WORLDS, **SIZE)
    failures = result.failures_frame()
    assert failures["learner"].unique().tolist() == ["moody"]
    assert failures.groupby(["trained_on", "tested_on", "kind"]).size().to_dict() == {
        ("moved", "", "ValueError"): 4,
        ("near", "near", "RuntimeError"): 4,
    }
    cells = result.frame()
    assert cells.query("learner == 'moody' and trained_on == 'near' and tested_on == 'moved'")["error"].notna().all()
    assert cells.query("learner == 'moody'")["pd"].isna().all()
    assert cells.query("learner == 'line'")["pd"].notna().all()


def test_too_few_predictions_are_a_failure():
    result = run_environments({"short": Short()}, {"near": WORLDS["near"]}, **SIZE)
    assert "a class for each of the 300 rows, got 1" in result.failures[0].message


class Remembering(ClassifierMixin, BaseEstimator):
    seen: list = []  # noqa: RUF012

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        Remembering.seen.append((self.random_state, float(X.iloc[0, 0])))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_, len(X))[: len(X)]


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_every_fit_has_a_seed_of_its_own_unless_it_was_given_one():
    Remembering.seen = []
    learners = {
        "free": Remembering(),
        "fixed": Remembering(random_state=7),
        "piped": make_pipeline(StandardScaler(), Remembering()),
    }
    learners["piped"].set_output(transform="pandas")
    result = run_environments(learners, {"near": WORLDS["near"]}, n_train=20, n_test=20, replicates=3)
    assert not result.failures
    seeds = [seed for seed, _ in Remembering.seen]
    assert seeds[1::3] == [7, 7, 7]
    assert len(set(seeds[0::3] + seeds[2::3])) == 6
    first_rows = [row for _, row in Remembering.seen]
    assert first_rows[0::3] == first_rows[1::3], "all learners see the same rows"
    assert learners["free"].random_state is None


def test_conditions_named_in_words_work():
    worlds = altered(flu_environments(coding="numbers")["NGP"], {"no elderly": CovariateShift(keep="age < 65")}, name="NGP")
    result = run_environments(
        {"t": DecisionTreeClassifier(max_depth=4)}, worlds, **SIZE, train_on=["no elderly"], test_on=["NGP"]
    )
    assert result.frame()["pd"].notna().all()


class Wrong:
    def sample(self, n, rng):
        return np.zeros((n - 1, 1)), np.zeros(n - 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"learners": [LogisticRegression()]}, "learners must map names"),
        ({"learners": {}}, "learners must map names"),
        ({"learners": {"a": LogisticRegression}}, "must have fit and predict, got a class"),
        ({"learners": {"a": 3}}, "must have fit and predict"),
        ({"environments": {"x": 3}}, "must have a method sample"),
        ({"environments": {"x": Wrong()}}, "environment 'x' must .* 10 rows .*, got 9"),
        ({"n_train": 0}, "n_train must be at least 1"),
        ({"replicates": 0}, "replicates must be at least 1"),
        ({"alpha": 1}, "alpha must lie between"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"train_on": ["nera"]}, "train_on must .*'near'"),
        ({"test_on": []}, "test_on must name at least 1"),
    ],
)
def test_wrong_arguments_are_named(change, told):
    given = {"learners": {"a": LogisticRegression()}, "environments": WORLDS, "n_train": 10, "n_test": 10, "replicates": 2}
    with pytest.raises(InputError, match=told):
        run_environments(**given | change)


def test_a_bar_is_shown_when_asked_for(capsys):
    run_environments({"a": LogisticRegression()}, {"near": WORLDS["near"]}, n_train=50, n_test=50, replicates=2, progress=True)
    run_environments({"a": LogisticRegression()}, {"near": WORLDS["near"]}, n_train=50, n_test=50, replicates=2)
    assert capsys.readouterr().out == ""


FLU_LEARNERS = {
    "tree": DecisionTreeClassifier(min_samples_leaf=20),
    "line": make_pipeline(StandardScaler(), LogisticRegression()),
}
FLU_SIZE = {"n_train": 1000, "n_test": 1000, "replicates": 8}


def test_flu_the_simple_learner_suffers_more_from_population_drift():
    """The tutorial's first finding: mean pD of the simple network 0.20, of the tree 0.05, and DP is the worst."""
    worlds = {name: flu for name, flu in flu_environments(coding="numbers").items() if name in ("NGP", "DP", "DW", "P+DW")}
    result = run_environments(FLU_LEARNERS, worlds, **FLU_SIZE, train_on=["NGP"])
    averages = result.averages().set_index("learner")["pd"]
    assert averages["line"] > averages["tree"] > -0.02
    assert result.matrix("line").loc["NGP"].idxmax() == "DP"


def test_flu_nothing_is_missed_like_the_old():
    """The tutorial's second table: without old adults and elderly all learners lose by far the most."""
    names = ["NGP", "no Infant", "no Teenager", "no OldAdult", "no OldAdult or Elderly"]
    worlds = {name: flu for name, flu in flu_environments("missing", coding="numbers").items() if name in names}
    result = run_environments(FLU_LEARNERS, worlds, **FLU_SIZE, test_on=["NGP"])
    for learner in FLU_LEARNERS:
        lost = result.matrix(learner)["NGP"]
        assert lost.idxmax() == "no OldAdult or Elderly"
        assert lost.max() > 0.25


def test_an_environment_that_gives_something_else_is_named():
    class Odd:
        def sample(self, n, rng):
            return np.zeros((n, 2))

    with pytest.raises(InputError, match=r"environment 'odd' must .*sample"):
        run_environments({"tree": DecisionTreeClassifier()}, {"odd": Odd()}, n_train=20, n_test=20, replicates=2)


# --- Environment matrix ---


PLAN = {"n_train": 10, "n_test": 20, "replicates": 4, "seed": 0, "alpha": 0.05}
HOME, AWAY = np.array([0.10, 0.12, 0.08, 0.10]), np.array([0.20, 0.24, 0.18, 0.22])
TRIVIAL = {"a": np.array([0.5, 0.5, 0.4, 0.6]), "b": np.array([0.3, 0.32, 0.28, 0.3])}


def matrix(errors, failures=(), trivial=TRIVIAL, learners=("tree",)):
    return EnvironmentMatrix.from_errors(learners, ["a", "b"], errors, trivial, failures, PLAN)


@pytest.fixture
def small():
    cells = {
        ("tree", "a", "a"): HOME,
        ("tree", "a", "b"): AWAY,
        ("tree", "b", "a"): AWAY + 0.1,
        ("tree", "b", "b"): HOME + 0.05,
    }
    return matrix(cells)


def test_means_and_pd_by_hand(small):
    cell = small.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    assert cell["error"] == pytest.approx(0.21)
    assert cell["ideal"] == pytest.approx(0.15)
    assert cell["trivial"] == pytest.approx(0.30)
    assert cell["loss"] == pytest.approx(0.06)
    assert cell["pd"] == pytest.approx((0.21 - 0.15) / (0.30 - 0.15))
    assert cell["pd_low"] <= cell["pd"] <= cell["pd_high"]
    assert (cell["replicates"], cell["failures"]) == (4, 0)


def test_intervals_of_errors_and_losses_are_those_of_scipy(small):
    cell = small.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    for name, values in (("error", AWAY), ("loss", AWAY - HOME - 0.05)):
        low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
        assert (cell[f"{name}_low"], cell[f"{name}_high"]) == (pytest.approx(low), pytest.approx(high))


def test_the_interval_of_pd_by_every_possible_resample(small):
    """With four replicates there are 256 resamples: their percentiles, up to the chance of the 2,000 drawn."""
    draws = np.array(np.meshgrid(*[range(4)] * 4)).reshape(4, -1).T
    every = performance_deterioration(AWAY[draws].mean(1), (HOME + 0.05)[draws].mean(1), TRIVIAL["b"][draws].mean(1))
    cell = small.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    assert cell["pd_low"] == pytest.approx(np.quantile(every, 0.025), abs=0.01)
    assert cell["pd_high"] == pytest.approx(np.quantile(every, 0.975), abs=0.01)


def test_matrices_and_averages(small):
    assert small.matrix("tree", "error").loc["b", "a"] == pytest.approx(0.31)
    assert np.diag(small.matrix("tree")).tolist() == [0, 0]
    averages = small.averages()
    assert averages["trained_on"].tolist() == ["a", "b"]
    assert averages["pd"].tolist() == pytest.approx([0.4, 0.21 / 0.4])
    assert len(small.runs()) == 16
    with pytest.raises(InputError, match="did you mean 'tree'"):
        small.matrix("tre")
    with pytest.raises(InputError, match="value must be one of"):
        small.matrix("tree", "accuracy")


def test_it_can_be_read(small):
    text = str(small)
    assert text.splitlines()[0].endswith("1 learner, 2 environments, 4 replicates of 10 training and 20 test rows")
    assert "0.40 (21.0)" in text
    assert "trivial" in text
    assert "<table" in small._repr_html_()
    assert repr(small).startswith("<EnvironmentMatrix of 1 learner")


def test_names_are_escaped():
    cells = {("<b>", "a", "a"): HOME}
    assert "<b>" not in matrix(cells, learners=["<b>"])._repr_html_()


def test_failures_leave_holes_and_no_silent_numbers():
    broken = AWAY.copy()
    broken[1] = np.nan
    never = np.full(4, np.nan)
    cells = {("tree", "a", "a"): HOME, ("tree", "a", "b"): broken, ("tree", "b", "a"): never, ("tree", "b", "b"): HOME + 0.05}
    failed = EnvironmentFailure("tree", "b", "", 0, "ValueError", "no")
    result = matrix(cells, [failed])
    first = result.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    kept = [0, 2, 3]
    assert (first["replicates"], first["failures"]) == (3, 1)
    assert first["error"] == pytest.approx(AWAY[kept].mean())
    expected = performance_deterioration(AWAY[kept].mean(), HOME[kept].mean() + 0.05, TRIVIAL["b"][kept].mean())
    assert first["pd"] == pytest.approx(expected)
    none = result.frame().query("trained_on == 'b' and tested_on == 'a'").iloc[0]
    assert np.isnan(none[["error", "loss", "pd", "pd_low"]].astype(float)).all()
    assert (none["replicates"], none["failures"]) == (0, 4)
    assert "1 failure" in str(result)
    assert "- (-)" in str(result)
    assert result.failures_frame()["message"].tolist() == ["no"]


def test_undefined_pd_warns_once():
    with pytest.warns(UndefinedMeasureWarning, match="pD is undefined in 1 cell ") as told:
        result = matrix({("tree", "a", "a"): HOME}, trivial={"a": HOME - 0.05, "b": HOME})
    assert len(told) == 1
    assert np.isnan(result.frame()["pd"][0])
    assert result.frame()["error"][0] == pytest.approx(0.1)


def test_one_replicate_has_no_interval():
    plan = PLAN | {"replicates": 1}
    result = EnvironmentMatrix.from_errors(["tree"], ["a"], {("tree", "a", "a"): HOME[:1]}, {"a": TRIVIAL["a"][:1]}, [], plan)
    cell = result.frame().iloc[0]
    assert cell["pd"] == 0
    assert np.isnan(cell[["pd_low", "pd_high", "error_low", "error_high"]].astype(float)).all()


# --- Auditing ---
# Audits of files.


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.4f},{b:.4f},{'uv'[i % 2]}" for i, (a, b) in enumerate(rng.normal(size=(80, 2)))]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,kind", *lines]))
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(("scheme", "name"), [("stratified", "StratifiedKFold"), ("kfold", "KFold"), ("dob-scv", "DOBSCV")])
def test_schemes_are_drawn(file, scheme, name):
    found = audit_file(file, scheme=scheme, n_splits=4, seed=1, n_permutations=19)
    assert found.scheme.startswith(f"{name}(n_splits=4")
    assert found.n_rows == 80


def test_assign_goes_to_dob_scv(file):
    assert "literal" in audit_file(file, scheme="dob-scv", assign="literal", n_permutations=19).scheme


def test_splits_are_read(file):
    y = np.arange(80) % 2
    StratifiedKFold(5, random_state=0).freeze(y, y).frame().to_csv(file.with_name("splits.csv"), index=False)
    found = audit_file(file, splits=file.with_name("splits.csv"), n_permutations=19)
    assert found.ok
    assert len(found.table()) == 5


def test_names_of_the_catalogue_are_loaded():
    assert audit_file("iris", scheme="stratified", n_permutations=19).n_rows == 150


def test_keels_folds_are_read(shared_data):
    found = audit_file(shared_data / "keel-imbalanced-5fold" / "iris0-5-fold.zip", n_permutations=19)
    assert found.ok
    assert found.n_rows == 150


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_keels_leak_is_found(shared_data):
    found = audit_file(shared_data / "keel-imbalanced-5fold" / "abalone9-18-5-fold.zip", n_permutations=19)
    assert "fold 1 (117 of 147 test rows)." in found.faults[0].text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "kfold", "splits": "x.csv"}, "splits and scheme"),
        ({"scheme": "kfold", "assign": "literal"}, "assign must"),
        ({"scheme": "stratfied"}, "'stratified'"),
    ],
)
def test_bad_options_are_refused(file, options, message):
    with pytest.raises(InputError, match=message):
        audit_file(file, **options)
