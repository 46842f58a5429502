"""Tests of `fairtrial.study.run.trial`."""

import hashlib
import pickle
import subprocess
import sys
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairtrial.conditions import (
    AttributeNoise,
    Changed,
    ClassNoise,
    ClassProportion,
    Clean,
    ConceptChange,
    Condition,
    CovariateShift,
    MissingValues,
    PriorShift,
    ScoreNoise,
    Sequence,
)
from fairtrial.data import Dataset, load
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.learners import C45, Bagging, Chi, Prepared, get_sampler, make_learner
from fairtrial.resampling import StratifiedKFold
from fairtrial.study.randomness import derive_generator
from fairtrial.study.records import CODES, INDICES, NUMBERS, Chunk, ResourceLimits, SplitRows, TrialTask, unpack
from fairtrial.study.run import trial as run_module
from fairtrial.study.run.estimator import TrialLearner
from fairtrial.study.run.trial import TrialRunner
from fairtrial.study.run.trial_data import TrialData, _to_matrix, apply_condition

# --- Trial ---
# A trial leaves the evidence that the same steps leave by hand, the same each time, whatever the learner does.


IRIS, CANCER = load("iris"), load("breast_cancer")


def mixed():
    """A set with nominal columns and gaps."""
    rng = np.random.default_rng(3)
    hue = rng.choice(["red", "green", "blue"], 120)
    size = np.where(rng.random(120) < 0.1, np.nan, rng.normal(size=120))
    y = np.where((hue == "red") ^ (np.nan_to_num(size) > 0.5), "yes", "no")
    return Dataset.from_table(pd.DataFrame({"hue": pd.Categorical(hue), "size": size}), y, classes=["yes", "no"])


MIXED = mixed()
CLEAN = (Clean(),)


class Stage:
    """A chunk of all splits, conditions and learners, and its bench."""

    def __init__(self, dataset, learners, conditions=CLEAN, splits=None):
        if splits is None:
            splits = [
                SplitRows(s.train, s.test, 0, s.fold) for s in StratifiedKFold(3).freeze(dataset.X, dataset.y, random_state=1)
            ]
        self.splits, self.dataset = tuple(splits), dataset
        places = [(s, c, k) for s in range(len(splits)) for c in range(len(conditions)) for k in range(len(learners))]
        self.tasks = [TrialTask(bytes([*place] + [0] * 13), *place, 100 + place[0], 7 + place[2]) for place in places]
        packed = tuple(pickle.dumps(each) for each in learners)
        self.chunk = Chunk(dataset.content_hash, self.splits, tuple(conditions), packed, tuple(self.tasks), ResourceLimits())
        self.bench = TrialRunner(TrialData.from_dataset(dataset), self.chunk)

    def run(self):
        return [self.bench.run(task) for task in self.tasks]


def evidence_only(evidence):
    """What must be the same everywhere; times, memory and tracebacks need not."""
    names = ["status", "prediction", "scores", "score_kind", "rows", "y_true", "message"]
    return [getattr(evidence, name) for name in [*names, "level", "changed", "test_level", "test_changed"]]


def only(dataset, learner, condition=None):
    return Stage(dataset, [learner], [condition or Clean()]).run()[0]


@pytest.mark.parametrize("learner", [GaussianNB(), DecisionTreeClassifier(random_state=0), SVC()])
def test_evidence_is_that_of_the_same_steps_by_hand(learner):
    stage = Stage(IRIS, [learner])
    X, y = IRIS.X.to_numpy(), np.asarray(IRIS.y)
    for evidence, rows in zip(stage.run(), stage.splits, strict=True):
        fitted = learner.fit(X[rows.train], y[rows.train])
        assert evidence.status == "ok", evidence
        assert np.array(IRIS.classes)[unpack(evidence.prediction, CODES)].tolist() == fitted.predict(X[rows.test]).tolist()
        told = getattr(fitted, "predict_proba" if evidence.score_kind == "probability" else "decision_function")(X[rows.test])
        np.testing.assert_array_equal(unpack(evidence.scores, NUMBERS).reshape(-1, 3), told)
        assert (evidence.rows, evidence.y_true, evidence.level, evidence.test_level) == (None,) * 4
        assert min(evidence.fit_time, evidence.predict_time, evidence.fit_cpu, evidence.predict_cpu) >= 0
        assert evidence.memory is None or evidence.memory > 0  # None if it is too little to be measured
        assert (evidence.error, evidence.message, evidence.traceback, evidence.log, evidence.notes) == (None,) * 5


def test_class_noise_is_the_same_for_all_learners_and_told():
    stage = Stage(IRIS, [GaussianNB(), DecisionTreeClassifier(random_state=0)], [ClassNoise(0.3)])
    rows = stage.splits[0]
    X, y = IRIS.X.iloc[rows.train], IRIS.y.iloc[rows.train]
    changed = ClassNoise(0.3).apply(X, y, derive_generator(100, "train"))
    for evidence, learner in zip(stage.run(), (GaussianNB(), DecisionTreeClassifier(random_state=0)), strict=False):
        fitted = learner.fit(X.to_numpy(), np.asarray(changed.y))
        expected = fitted.predict_proba(IRIS.X.to_numpy()[rows.test])
        np.testing.assert_array_equal(unpack(evidence.scores, NUMBERS).reshape(-1, 3), expected)
        assert (evidence.level, evidence.changed, evidence.test_level) == (0.3, 30, None)
        assert evidence.y_true is None


def test_rows_and_classes_that_a_condition_changes_in_the_test_part_are_kept():
    stage = Stage(IRIS, [GaussianNB()], [PriorShift(priors={"setosa": 0.1}), ClassNoise(0.2, part="test"), Clean()])
    shifted, noisy, clean = stage.run()[:3]
    test = stage.splits[0].test
    rows = unpack(shifted.rows, INDICES)
    assert set(rows) < set(test)
    assert shifted.y_true is None
    assert len(unpack(shifted.prediction, CODES)) == len(rows)
    assert shifted.test_changed == len(test) - len(rows)
    codes = IRIS.y.cat.codes.to_numpy()
    assert noisy.rows is None
    assert (unpack(noisy.y_true, CODES) != codes[test]).sum() == noisy.test_changed == 10
    assert (noisy.level, noisy.test_level) == (None, 0.2)
    assert noisy.prediction == clean.prediction


def test_score_noise_changes_scores_and_not_predictions():
    stage = Stage(CANCER, [GaussianNB(), RidgeClassifier(), OnlyPredict()], [Clean(), ScoreNoise(0.2)])
    found = stage.run()
    clean, noisy = (unpack(found[place].scores, NUMBERS).reshape(-1, 2) for place in (0, 3))
    assert found[0].prediction == found[3].prediction
    assert 0 < np.abs(clean - noisy).max() <= 0.2
    assert np.abs(clean - noisy)[:, 1].max() == found[3].test_level
    assert (found[3].level, found[3].test_changed, found[3].score_kind) == (None, len(clean), "decision")
    assert found[4].status == "ok"
    assert (found[5].status, found[2].status) == ("error", "ok")
    assert "OnlyPredict must have predict_proba or decision_function" in found[5].message


def test_a_condition_that_cannot_be_applied_fails_each_trial_of_its_context_and_no_other():
    wrong = ConceptChange(labels={"setosa": "rosa"})
    found = Stage(IRIS, [GaussianNB(), C45()], [wrong, Clean()]).run()
    assert [each.status for each in found] == ["error", "error", "ok", "ok"] * 3
    assert found[0].error == "fairtrial.errors.InputError"
    assert "got 'rosa'" in found[1].message


SHORTCUTS = [
    "gaussian-nb",
    "random-forest",
    "decision-tree",
    "extra-trees",
    "extra-tree",
    "hist-gradient-boosting",
    "dummy",
    "ada-boost",
    "gradient-boosting",
    "bagging",
    "linear-discriminant-analysis",
    "quadratic-discriminant-analysis",
    "bernoulli-nb",
    "calibrated-classifier-cv",
    "c45",
    "naive-bayes",
    "stump",
]
SMALL = {"n_estimators": 5, "max_iter": 5, "cv": 2, "reg_param": 0.5}


@pytest.mark.parametrize("name", SHORTCUTS)
@pytest.mark.parametrize("dataset", [IRIS, CANCER], ids=lambda one: one.name)
def test_the_bare_learner_leaves_the_same_evidence_as_the_prepared_one(name, dataset, monkeypatch):
    learner = make_learner(name)
    learner.set_params(**{each: value for each, value in SMALL.items() if each in learner.get_params()})
    rows = np.random.default_rng(1).permutation(len(dataset))
    splits = [SplitRows(rows[:90], rows[90:150], 0, 0)]
    conditions = [Clean(), ClassNoise(0.2), MissingValues(0.1, part="test")]
    stage = Stage(dataset, [Prepared(learner)], conditions, splits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert TrialLearner(stage.chunk.learners[0]).has_shortcut
        short = stage.run()
        monkeypatch.setattr(TrialLearner, "select_estimator", lambda self, **_: self.as_declared)
        long = Stage(dataset, [Prepared(learner)], conditions, splits).run()
    assert [each.status for each in short] == ["ok"] * 3, short
    assert [evidence_only(each) for each in short] == [evidence_only(each) for each in long]


def test_the_shortcut_is_taken(monkeypatch):
    monkeypatch.setattr(Prepared, "fit", None)
    assert only(IRIS, Prepared(GaussianNB())).status == "ok"
    assert only(IRIS, Prepared(GaussianNB()), MissingValues(0.1)).status == "error"


DRAWING = {
    "forest": Prepared(make_learner("random-forest", n_estimators=4)),
    "bagging": Bagging(C45(), n_estimators=3),
    "smote": Prepared(C45(), sampler=get_sampler("smote", k_neighbors=2)),
    "c45": C45(),
    "sgd": Prepared(SGDClassifier(max_iter=5)),
}
CONDITIONS = [Clean(), ClassNoise(0.2), AttributeNoise(0.2, part="all"), PriorShift(weights={"setosa": 2}, method="draw")]


def digests(order):
    """A hash of each trial's evidence, run in this order."""
    warnings.simplefilter("ignore")
    stage = Stage(IRIS, list(DRAWING.values()), CONDITIONS)
    tasks = np.random.default_rng(order).permutation(len(stage.tasks))
    found = {int(place): stage.bench.run(stage.tasks[place]) for place in tasks}
    assert {each.status for each in found.values()} == {"ok"}
    return [hashlib.sha256(repr(evidence_only(found[place])).encode()).hexdigest() for place in sorted(found)]


def test_the_same_trial_leaves_the_same_evidence_in_any_order_and_process():
    first = digests(1)
    assert digests(2) == first
    code = "from tests.study.test_run_trial import digests; print('\\n'.join(digests(3)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == first
    assert len(set(first)) == len(first)


class Careless:
    """A learner of ones own; each subclass does one thing wrong."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class OnlyPredict(Careless):
    """Tells no scores."""


class GlobalDraws(Careless):
    """Draws from the global sources."""

    def predict(self, X):
        import random

        return np.array([random.choice(list(self.classes_)) for _ in range(len(X))])

    def predict_proba(self, X):
        drawn = np.random.random((len(X), len(self.classes_)))  # noqa: NPY002
        return drawn / drawn.sum(axis=1, keepdims=True)


def test_learners_that_draw_from_global_sources_repeat():
    first, other = Stage(IRIS, [GlobalDraws(), GaussianNB()]).run()[:2]
    np.random.random(5)  # noqa: NPY002
    again = Stage(IRIS, [GlobalDraws()]).run()[0]
    assert evidence_only(first) == evidence_only(again) != evidence_only(other)
    assert len(set(unpack(first.prediction, CODES))) == 3


class Writer(Careless):
    """Writes into all that it is handed."""

    def fit(self, X, y):
        super().fit(X, y)
        self.spoil(X)
        y[:] = y[0] if isinstance(y, np.ndarray) else y.iloc[0]
        return self

    def predict(self, X):
        told = super().predict(X)
        self.spoil(X)
        return told

    def spoil(self, X):
        for column in X:
            X[column].array[:] = "red" if column == "hue" else -1.0


@pytest.mark.parametrize("dataset", [IRIS, MIXED], ids=lambda one: one.name)
@pytest.mark.parametrize("condition", [Clean(), ClassNoise(0.2), AttributeNoise(0.2, part="all")], ids=str)
def test_no_learner_can_change_the_data_of_the_next(dataset, condition):
    whole = [SplitRows(np.arange(len(dataset)), np.arange(len(dataset)), 0, 0)]
    before = dataset.content_hash
    alone = Stage(dataset, [C45()], [condition], whole).run()
    stage = Stage(dataset, [Writer(), C45()], [condition], whole)
    found = stage.run()
    assert [each.status for each in found] == ["ok", "ok"]
    assert evidence_only(found[1]) == evidence_only(alone[0])
    assert Dataset.from_table(dataset.X, dataset.y).content_hash == before


class Weighted(Careless):
    """Needs named columns, and real labels in an array."""

    def fit(self, X, y):
        assert list(X.columns) == list(IRIS.X.columns)
        assert isinstance(y, np.ndarray)
        assert set(y.tolist()) == set(IRIS.classes)
        return super().fit(X, y)


def test_other_estimators_get_a_frame_with_names_and_real_labels():
    assert only(IRIS, Weighted()).status == "ok"
    weighed = SGDClassifier(class_weight={"setosa": 5.0}, random_state=0, max_iter=3, tol=None)
    assert only(IRIS, weighed).status == "ok"


def test_typed_columns_reach_those_who_read_them():
    assert only(MIXED, C45()).status == "ok"
    assert only(MIXED, Prepared(GaussianNB())).status == "ok"
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), StandardScaler(with_mean=False), DecisionTreeClassifier())
    assert only(MIXED, pipeline).status == "ok"
    assert only(MIXED, GaussianNB()).status == "error"


def test_columns_follow_the_declared_order():
    evidence = only(MIXED, Prepared(GaussianNB()))  # declared are yes, no
    scores = unpack(evidence.scores, NUMBERS).reshape(-1, 2)
    assert (scores.argmax(axis=1) == unpack(evidence.prediction, CODES)).all()
    truth = MIXED.y.cat.codes.to_numpy()[Stage(MIXED, [C45()]).splits[0].test]
    assert (truth == unpack(evidence.prediction, CODES)).mean() > 0.6


class Warns(Careless):
    """Warns again and again."""

    def fit(self, X, y):
        for _ in range(3):
            warnings.warn("does not converge", RuntimeWarning, stacklevel=1)
        return super().fit(X, y)


def test_warnings_become_notes():
    for evidence in Stage(IRIS, [Warns()]).run():
        assert evidence.notes == "RuntimeWarning: does not converge (3 times)"


def test_abstentions_are_counted_and_are_not_notes():
    stage = Stage(IRIS, [Chi(labels=9), Prepared(Chi(labels=9), sampler=get_sampler("random-over-sampler"))])
    for evidence in stage.run():
        assert (evidence.status, evidence.message, evidence.score_kind) == ("ok", None, "decision")
        silent = ~unpack(evidence.scores, NUMBERS).reshape(-1, 3).any(axis=1)
        codes = unpack(evidence.prediction, CODES)
        assert 0 < silent.sum() < len(codes)
        assert ((codes == -1) == silent).all()
        assert evidence.abstentions == silent.sum()
        assert "abstain" not in evidence.notes


class Raises(Careless):
    """Raises what it was given, in fit or in predict."""

    def __init__(self, error, late=False):
        self.error, self.late = error, late

    def fit(self, X, y):
        if not self.late:
            raise self.error
        return super().fit(X, y)

    def predict(self, X):
        raise self.error


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("error", "status", "name"),
    [
        (ValueError("too few"), "error", "ValueError"),
        (MemoryError("too many"), "memory", "MemoryError"),
        (SystemExit("bye"), "error", "SystemExit"),
        (KeyboardInterrupt("stop"), "error", "KeyboardInterrupt"),
    ],
)
def test_whatever_a_learner_raises_is_told(error, status, name, late):
    found = Stage(IRIS, [Raises(error, late), GaussianNB()], [ClassNoise(0.1)]).run()[:2]
    failed = found[0]
    assert (failed.status, failed.error, failed.message) == (status, name, str(error))
    assert 'test_run_trial.py", line' in failed.traceback
    assert (failed.prediction, failed.scores) == (None, None)
    assert failed.fit_time > 0
    assert (failed.predict_time is not None) == late
    assert failed.memory is None or failed.memory > 0
    assert failed.changed == 10
    assert found[1].status == "ok"


class Foreign(Careless):
    """Predicts a class that nobody declared."""

    def predict(self, X):
        return ["rosa"] * len(X)


def test_answers_that_make_no_sense_are_failures():
    failed = only(IRIS, Foreign())
    assert (failed.status, failed.error) == ("error", "fairtrial.errors.LearnerError")
    assert failed.message.startswith("predict of Foreign must")
    assert "'rosa'" in failed.message


def test_a_learner_that_cannot_be_read_fails_alone():
    stage = Stage(IRIS, [GaussianNB(), GaussianNB()])
    broken = Chunk("iris", stage.splits, (Clean(),), (b"no pickle", stage.chunk.learners[1]), (), ResourceLimits())
    found = [TrialRunner(TrialData.from_dataset(IRIS), broken).run(task) for task in stage.tasks[:2]]
    assert [each.status for each in found] == ["error", "ok"]
    assert "UnpicklingError" in found[0].error


class Counts(Careless):
    """Counts how often it learns, and from how many rows."""

    seen: list[tuple[int, int]] = []  # noqa: RUF012

    def fit(self, X, y):
        Counts.seen.append((len(X), len(set(y))))
        return super().fit(X, y)


def test_each_learner_warms_up_once_on_a_few_rows_of_every_class(monkeypatch):
    monkeypatch.setattr(run_module, "_warm", set())
    monkeypatch.setattr(Counts, "seen", [])
    stage = Stage(IRIS, [Counts()])
    stage.run()
    assert Counts.seen == [(39, 3), (100, 3), (100, 3), (100, 3)]
    Stage(IRIS, [Counts()]).run()
    assert len(Counts.seen) == 7


def test_a_few_rows_are_all_where_there_are_few_and_have_every_class():
    assert run_module._select_few_rows(np.array([0, 1, 0])).tolist() == [0, 1, 2]
    many = np.repeat(np.arange(50), 3)
    assert np.bincount(many[run_module._select_few_rows(many)]).tolist() == [2] * 50
    single = np.append(np.zeros(1000, dtype=int), [1, 2, 2, 2])
    counts = np.bincount(single[run_module._select_few_rows(single)])
    assert (counts[1:] == [1, 2]).all()
    assert 30 <= counts.sum() <= 40


class FailsFirst(Careless):
    """Breaks on its first try."""

    tries = 0

    def fit(self, X, y):
        FailsFirst.tries += 1
        if FailsFirst.tries == 1:
            warnings.warn("only warming up", stacklevel=1)
            raise SystemExit
        return super().fit(X, y)


def test_what_goes_wrong_while_warming_up_does_not_count(monkeypatch):
    monkeypatch.setattr(run_module, "_warm", set())
    monkeypatch.setattr(FailsFirst, "tries", 0)
    evidence = only(IRIS, FailsFirst())
    assert (evidence.status, evidence.notes) == ("ok", None)


def test_a_class_without_training_rows_has_no_probability():
    found = Stage(IRIS, [GaussianNB(), SVC()], splits=[SplitRows(np.arange(100), np.arange(100, 150), 0, 0)]).run()
    probability, decision = (unpack(each.scores, NUMBERS).reshape(-1, 3) for each in found)
    assert (probability[:, 2] == 0).all()
    assert (decision[:, 2] == decision.min()).all()


def test_gaps_reach_learners_that_take_them():
    assert only(IRIS, C45(), MissingValues(0.2, part="all")).status == "ok"
    assert only(IRIS, Prepared(GaussianNB()), MissingValues(0.2, part="all")).status == "ok"
    failed = only(IRIS, GaussianNB(), MissingValues(0.2, part="all"))
    assert "NaN" in failed.message


class Setting(GaussianNB):
    """Notes a setting that it meets, and sets it otherwise."""

    met: ClassVar[list[str]] = []

    def fit(self, X, y):
        Setting.met.append(np.geterr()["divide"])
        np.seterr(divide="raise")
        warnings.simplefilter("ignore")
        return super().fit(X, y)


def test_what_is_set_while_a_learner_warms_up_holds_in_no_trial(monkeypatch):
    monkeypatch.setattr(run_module, "_warm", set())
    monkeypatch.setattr(Setting, "met", [])
    filters = list(warnings.filters)
    with np.errstate(divide="warn"):
        assert only(IRIS, Setting()).status == "ok"
    assert Setting.met[:2] == ["warn", "warn"]
    assert list(warnings.filters) == filters


# --- Trial data ---
# Rows are picked as pandas would pick them, and nobody can reach the data through what is handed out.


NUMBERS_TRIAL_DATA = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "age": [5.0, np.nan, 7.0, 8.0]})
MIXED_TRIAL_DATA = NUMBERS_TRIAL_DATA.assign(
    hue=pd.Categorical(["red", "blue", None, "red"], categories=["red", "blue", "green"])
)


def test_numbers_are_one_matrix_with_gaps():
    data = TrialData.from_dataset(Dataset.from_table(NUMBERS_TRIAL_DATA, ["a", "b", "a", "b"]))
    assert data.frame is None
    assert not data.finite
    np.testing.assert_array_equal(data.take_rows(np.array([3, 1, 1])), NUMBERS_TRIAL_DATA.to_numpy()[[3, 1, 1]])


def test_nominal_columns_stay_a_frame_whose_rows_count_from_0():
    data = TrialData.from_dataset(Dataset.from_table(MIXED_TRIAL_DATA, ["a", "b", "a", "b"]))
    assert data.matrix is None
    assert not data.finite
    rows = np.array([2, 0, 0])
    pd.testing.assert_frame_equal(data.take_rows(rows), MIXED_TRIAL_DATA.iloc[rows].reset_index(drop=True))


@pytest.mark.parametrize("table", [NUMBERS_TRIAL_DATA, MIXED_TRIAL_DATA])
def test_what_is_handed_out_is_a_copy(table):
    dataset = Dataset.from_table(table, ["a", "b", "a", "b"])
    before, data = dataset.content_hash, TrialData.from_dataset(dataset)
    for _ in range(2):
        picked = data.take_rows(np.arange(4))
        assert np.asarray(picked, dtype=object)[0, 0] == 1.0
        if isinstance(picked, np.ndarray):
            picked[:] = -1.0
        else:
            picked.iloc[:, 0] = -1.0
            picked["hue"].array[0] = "green"
    again = Dataset.from_table(dataset.X, dataset.y)
    assert again.content_hash == before
    assert data.take_rows(np.arange(4)).shape == table.shape
    assert np.asarray(data.take_rows(np.array([0])), dtype=object)[0, -1] == np.asarray(table, dtype=object)[0, -1]


def test_classes_declare_those_without_rows():
    dataset = Dataset.from_table(NUMBERS_TRIAL_DATA, ["b", "a", "b", "a"], classes=["c", "b", "a"])
    data = TrialData.from_dataset(dataset)
    assert data.codes.tolist() == [1, 2, 1, 2]
    column = data.to_categorical(data.codes)
    assert list(column) == ["b", "a", "b", "a"]
    assert list(column.categories) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("labels", "kind"), [(["x", "long name"], "U"), ([3, 1], "i"), ([True, False], "b"), ([1.5, 2.0], "O"), (["a", "b\0"], "O")]
)
def test_labels_are_the_real_ones(labels, kind):
    given = np.array([labels[0], labels[1], labels[0], labels[1]], dtype=object)
    data = TrialData.from_dataset(Dataset.from_table(NUMBERS_TRIAL_DATA, given, classes=labels))
    assert data.labels.dtype.kind == kind
    assert data.labels.tolist() == labels
    assert data.labels[data.codes].tolist() == [labels[0], labels[1], labels[0], labels[1]]


def test_a_named_table_has_the_columns_of_the_data_set():
    data = TrialData.from_dataset(Dataset.from_table(NUMBERS_TRIAL_DATA, ["a", "b", "a", "b"]))
    assert list(data.to_frame(data.take_rows(np.array([0]))).columns) == ["size", "age"]
    frame = pd.DataFrame({"z": [1]})
    assert data.to_frame(frame) is frame


@pytest.mark.parametrize("table", [np.asfortranarray(np.eye(3)), pd.DataFrame(np.eye(3)).astype({0: int})])
def test_a_matrix_lies_row_after_row(table):
    matrix = _to_matrix(table)
    assert matrix.flags.c_contiguous
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, np.eye(3))


@pytest.mark.parametrize("table", [MIXED_TRIAL_DATA, np.array([["a"]]), pd.DataFrame({"flag": [True]})])
def test_nominal_columns_make_no_matrix(table):
    assert _to_matrix(table) is None


# --- Trial splits ---
# Conditions change the part that they are declared for, as they would by hand, and tell what they did.


IRIS_TRIAL_SPLITS = load("iris")
DATA = TrialData.from_dataset(IRIS_TRIAL_SPLITS)
ROWS = SplitRows(np.arange(0, 150, 2), np.arange(1, 150, 2), 0, 0)


@pytest.mark.parametrize(
    "condition",
    [
        ClassNoise(0.2),
        ClassNoise(0.2, "pairwise", pairs=[["setosa", "virginica"]], part="all"),
        ClassNoise(0.1, "neighbourwise-borderline"),
        AttributeNoise(0.3, part="all"),
        AttributeNoise(0.3, columns=["petal width (cm)"], part="test"),
        MissingValues(0.2, part="all"),
        ClassProportion(0.5, positive="setosa"),
        PriorShift(priors={"setosa": 0.1}),
        PriorShift(weights={"setosa": 3}, method="draw", part="all"),
        CovariateShift(keep="`sepal length (cm)` < 6"),
        ConceptChange(labels={"setosa": "virginica"}, where="`sepal length (cm)` < 5"),
        Sequence([ClassNoise(0.2), AttributeNoise(0.2, part="test")]),
    ],
    ids=str,
)
def test_parts_are_what_the_condition_makes_by_hand(condition):
    parts = apply_condition(DATA, ROWS, condition, seed=11)
    for name, rows, part in (("train", ROWS.train, parts.train), ("test", ROWS.test, parts.test)):
        change = condition.limit_to(name)
        X, y = IRIS_TRIAL_SPLITS.X.iloc[rows].reset_index(drop=True), IRIS_TRIAL_SPLITS.y.iloc[rows].reset_index(drop=True)
        expected = change.apply(X, y, derive_generator(11, name))
        np.testing.assert_array_equal(part.take_table(DATA), expected.X.to_numpy())
        assert DATA.labels[part.codes].tolist() == list(expected.y)
        assert part.rows.tolist() == rows[expected.rows].tolist()
        if isinstance(change, Clean):
            assert (part.level, part.changed) == (None, None)
        else:
            assert (part.level, part.changed) == (expected.level, expected.mask.sum())


def test_some_rows_of_a_part_are_those_of_the_whole():
    for condition in (Clean(), AttributeNoise(0.3)):
        part = apply_condition(DATA, ROWS, condition, 1).train
        np.testing.assert_array_equal(part.take_table(DATA, np.array([4, 0])), part.take_table(DATA)[[4, 0]])


def test_a_table_is_a_new_copy_each_time():
    for condition in (Clean(), AttributeNoise(0.3)):
        part = apply_condition(DATA, ROWS, condition, 1).train
        first = part.take_table(DATA)
        kept = first.copy()
        first[:] = -1
        np.testing.assert_array_equal(part.take_table(DATA), kept)


def test_nominal_columns_stay_typed_under_noise():
    table = pd.DataFrame({"hue": pd.Categorical(["red", "blue"] * 10), "size": np.arange(20.0)})
    data = TrialData.from_dataset(Dataset.from_table(table, ["a", "b"] * 10))
    rows = SplitRows(np.arange(5, 20), np.arange(5), 0, 0)
    part = apply_condition(data, rows, AttributeNoise(0.5), 1).train
    changed = part.take_table(data)
    assert changed.dtypes.astype(str).tolist() == ["category", "float64"]
    assert changed.index.tolist() == list(range(15))
    assert not part.is_finite(data)
    changed["hue"].array[:] = "red"
    assert set(part.take_table(data)["hue"]) == {"red", "blue"}


def test_finite_means_numbers_without_gaps():
    clean = apply_condition(DATA, ROWS, Clean(), 1)
    assert clean.train.is_finite(DATA)
    holes = apply_condition(DATA, ROWS, MissingValues(0.1, part="test"), 1)
    assert [holes.train.is_finite(DATA), holes.test.is_finite(DATA)] == [True, False]


def test_finite_looks_at_the_rows_of_the_part():
    table = pd.DataFrame({"x": [1.0, 2.0, np.nan]})
    data = TrialData.from_dataset(Dataset.from_table(table, ["a", "b", "a"]))
    parts = apply_condition(data, SplitRows(np.array([0, 1]), np.array([2]), 0, 0), Clean(), 1)
    assert [parts.train.is_finite(data), parts.test.is_finite(data)] == [True, False]


def test_warnings_of_a_condition_become_notes():
    change = ConceptChange(labels={"setosa": "virginica"}, where="`sepal length (cm)` > 100")
    assert apply_condition(DATA, ROWS, change, 1).notes.startswith(f"{SuspectInputWarning.__name__}: no class changes")
    assert apply_condition(DATA, ROWS, Clean(), 1).notes is None


def test_classes_must_be_declared():
    with pytest.raises(InputError, match="got 'rosa'"):
        apply_condition(DATA, ROWS, ConceptChange(labels={"setosa": "rosa"}), 1)


def test_score_noise_leaves_the_rows_alone():
    parts = apply_condition(DATA, ROWS, ScoreNoise(0.1), 1)
    assert parts.score_noise == ScoreNoise(0.1)
    assert (parts.test.level, parts.test.changed) == (None, None)
    assert apply_condition(DATA, ROWS, ClassNoise(0.1), 1).score_noise is None


@pytest.mark.parametrize("condition", [ScoreNoise(0.1, part="train"), Sequence([ClassNoise(0.1), ScoreNoise(0.1)])])
def test_score_noise_elsewhere_is_refused(condition):
    with pytest.raises(InputError, match="score noise must"):
        apply_condition(DATA, ROWS, condition, 1)


@dataclass(frozen=True)
class Renamed(Condition):
    """Gives classes in a list, and a table of its own."""

    def _apply(self, X, y, rng):
        return Changed(X * 0, ["setosa"] * len(X), np.ones(len(X), dtype=bool), 1.0, np.arange(len(X)))


def test_a_condition_of_ones_own_may_give_plain_labels():
    part = apply_condition(DATA, ROWS, Renamed(), 1).train
    assert part.codes.tolist() == [0] * 75
    assert part.take_table(DATA).sum() == 0
    assert part.changed == 75


@dataclass(frozen=True)
class Emptied(Condition):
    """Leaves no row."""

    def _apply(self, X, y, rng):
        none = np.arange(0)
        return Changed(X.iloc[none], y.iloc[none], np.ones(0, dtype=bool), 1.0, none)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_condition_that_leaves_no_row_of_a_part_is_told_so(part):
    with pytest.raises(InputError, match=rf"Emptied\(.*at least 1 of the 75 rows of the {part}"):
        apply_condition(DATA, ROWS, Emptied(part=part), 1)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_split_without_rows_in_a_part_is_told_so(part):
    rows = SplitRows(**{"train": ROWS.train, "test": ROWS.test, part: np.arange(0)}, repeat=0, fold=0)
    with pytest.raises(InputError, match=f"the {part}.* set of a split"):
        apply_condition(DATA, rows, Clean(), 1)
