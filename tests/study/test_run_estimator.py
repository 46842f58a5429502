"""Tests of `fairtrial.study.run.estimator`."""

import mmap
import os
import pickle
import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairtrial.conditions import ScoreNoise
from fairtrial.data import load
from fairtrial.errors import InputError, LearnerError
from fairtrial.learners import C45, Bagging, Prepared, get_sampler
from fairtrial.study.plan.schedule import dump_estimator
from fairtrial.study.records import TrialRecord
from fairtrial.study.run import meter as meter_module
from fairtrial.study.run.diagnostics import TrialFailure, format_notes, record_warnings, strip_import_paths, to_plain_text
from fairtrial.study.run.estimator import PreparedEstimator, TrialLearner, extract_bare_learner
from fairtrial.study.run.meter import Meter, measure_resident_peak
from fairtrial.study.run.outputs import EstimatorScores, PredictionOutput
from fairtrial.study.run.trial_data import TrialData
from fairtrial.study.spec.tuning import Tuned

# --- Estimator ---
# Each trial gets a fresh, seeded copy, and data in the form that the learner takes.


DATA = TrialData.from_dataset(load("iris"))


def seeds(estimator):
    return {name: value for name, value in estimator.get_params(deep=True).items() if name.endswith("random_state")}


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(),
        Prepared(RandomForestClassifier(), sampler=get_sampler("smote")),
        BaggingClassifier(DecisionTreeClassifier()),
        Bagging(Prepared(DecisionTreeClassifier())),
        VotingClassifier([("one", DecisionTreeClassifier()), ("two", RandomForestClassifier())]),
        make_pipeline(StandardScaler(), LogisticRegression()),
        Tuned(Prepared(DecisionTreeClassifier()), {"max_depth": [1, 2]}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_seed_that_is_not_set_is_set(estimator):
    learner = TrialLearner(pickle.dumps(estimator))
    assert set(seeds(estimator).values()) == {None}
    assert seeds(learner.make_estimator(77)) == dict.fromkeys(seeds(estimator), 77)
    assert seeds(learner.make_estimator(78)) == dict.fromkeys(seeds(estimator), 78)
    assert set(seeds(estimator).values()) == {None}


def test_a_seed_that_is_set_stays():
    forest = TrialLearner(pickle.dumps(RandomForestClassifier(random_state=3))).make_estimator(77)
    assert forest.random_state == 3


def test_a_source_of_random_numbers_starts_anew_in_each_trial():
    learner = TrialLearner(pickle.dumps(RandomForestClassifier(random_state=np.random.RandomState(3))))
    assert learner.make_estimator(1).random_state.random_sample() == learner.make_estimator(1).random_state.random_sample()


def test_copies_share_nothing_and_have_learnt_nothing():
    fitted = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    learner = TrialLearner(pickle.dumps(fitted))
    assert not hasattr(learner.make_estimator(1), "classes_")
    parts = TrialLearner(pickle.dumps(Prepared(GaussianNB())))
    assert parts.make_estimator(1).learner is not parts.make_estimator(1).learner


class Renaming:
    """Breaks scikit-learn's rules: it keeps its argument under another name, and its own way to set it."""

    def __init__(self, random_state=None):
        self.seed = random_state

    def get_params(self, deep=True):
        return {"random_state": self.seed}

    def set_params(self, random_state):
        self.seed = random_state
        return self


def test_learners_with_ways_of_their_own_are_seeded_by_their_rules():
    assert TrialLearner(pickle.dumps(Renaming())).make_estimator(9).seed == 9


class Uncloneable:
    """Not even parameters."""

    def __init__(self, depth):
        self.depth = depth


def test_learners_without_parameters_are_copied():
    learner = TrialLearner(pickle.dumps(Uncloneable([1, 2])))
    learner.make_estimator(1).depth.append(3)
    assert learner.make_estimator(1).depth == [1, 2]


def test_a_class_of_a_notebook_travels():
    namespace = {"__name__": "__main__"}
    exec("class Mine:\n    def fit(self, X, y):\n        return self\n", namespace)
    assert type(TrialLearner(dump_estimator(namespace["Mine"]())).make_estimator(1)).__name__ == "Mine"


@pytest.mark.parametrize(
    ("estimator", "typed"),
    [
        (GaussianNB(), False),
        (C45(), True),
        (Prepared(GaussianNB()), True),
        (BaggingClassifier(C45()), True),
        (make_pipeline(StandardScaler(), C45()), True),
        (make_pipeline(StandardScaler(), GaussianNB()), False),
        (Tuned(Prepared(GaussianNB()), {"var_smoothing": [1e-9]}), True),
    ],
    ids=lambda one: str(one)[:30],
)
def test_who_reads_types_gets_declared_classes(estimator, typed):
    y = PreparedEstimator(estimator).convert_classes(np.array([2, 0]), DATA)
    assert list(y) == ["virginica", "setosa"]
    assert isinstance(y, pd.Series if typed else np.ndarray)
    if typed:
        assert list(y.cat.categories) == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (GaussianNB(), False),
        (C45(), False),
        (Prepared(GaussianNB()), False),
        (Prepared(C45(), nominal=["petal width (cm)"]), True),
        (Prepared(GaussianNB(), preparation=StandardScaler()), True),
        (make_pipeline(ColumnTransformer([("a", "passthrough", ["petal width (cm)"])]), GaussianNB()), True),
    ],
    ids=lambda one: str(one)[:30],
)
def test_who_calls_columns_by_name_gets_names(estimator, named):
    assert isinstance(
        PreparedEstimator(estimator).convert_table(DATA.take_rows(np.array([0])), DATA), pd.DataFrame if named else np.ndarray
    )


@pytest.mark.parametrize(
    ("estimator", "bare"),
    [
        (Prepared(DecisionTreeClassifier()), True),
        (Prepared(C45()), True),
        (Prepared(LogisticRegression()), False),
        (Prepared(DecisionTreeClassifier(), sampler=get_sampler("smote")), False),
        (Prepared(DecisionTreeClassifier(), preparation="none"), False),
        (Prepared(DecisionTreeClassifier(), preparation=StandardScaler()), False),
        (Prepared(DecisionTreeClassifier(), nominal=[0]), False),
        (Prepared(make_pipeline(StandardScaler(), GaussianNB())), False),
        (Prepared("c45"), False),
        (DecisionTreeClassifier(), False),
    ],
    ids=lambda one: str(one)[:40],
)
def test_when_there_is_nothing_to_prepare(estimator, bare):
    assert (extract_bare_learner(estimator) is not None) == bare


def test_the_bare_learner_runs_only_where_numbers_are_finite():
    learner = TrialLearner(pickle.dumps(Prepared(GaussianNB())))
    assert learner.has_shortcut
    assert type(learner.select_estimator(finite=True).make_estimator(1)) is GaussianNB
    assert type(learner.select_estimator(finite=False).make_estimator(1)) is Prepared
    assert learner.name == "GaussianNB"


def test_scores_of_pairs_are_known_before():
    assert PreparedEstimator(Prepared(SVC(decision_function_shape="ovo"))).scores_pairs
    assert not PreparedEstimator(SVC()).scores_pairs


# --- Outputs ---
# Answers become codes and tables of the declared classes, or a clear error.


LABELS = np.array(["a", "b", "c"])


def scored(told, classes, method="predict_proba", n=2, labels=LABELS, trained=(0, 1, 2), pairs=False):
    fitted = SimpleNamespace() if classes is None else SimpleNamespace(classes_=np.array(classes))
    return PredictionOutput(None, told, method).align_scores(fitted, n, np.array(trained), labels, "Mine", pairs=pairs)


def test_probabilities_come_before_decisions_and_predict_is_its_own():
    class Both:
        def predict(self, X):
            return ["b"] * len(X)

        def predict_proba(self, X):
            return [[1.0, 0.0]] * len(X)

        def decision_function(self, X):
            raise AssertionError

    answers = PredictionOutput.from_estimator(Both(), [[1], [2]])
    assert (answers.predicted, answers.method, answers.scores) == (["b", "b"], "predict_proba", [[1.0, 0.0]] * 2)


def test_without_scores_there_are_none():
    class Neither:
        def predict(self, X):
            return ["a"]

    answers = PredictionOutput.from_estimator(Neither(), [[1]])
    assert answers.align_scores(Neither(), 1, np.array([0]), LABELS, "Mine") is None


@pytest.mark.parametrize(
    "predicted",
    [
        ["c", "a"],
        np.array(["c", "a"]),
        np.array(["c", "a"], dtype=object),
        np.array([["c"], ["a"]]),
        pd.Series(["c", "a"]),
        pd.Categorical(["c", "a"]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_predictions_of_any_kind(predicted):
    assert PredictionOutput(predicted).encode_predictions(2, LABELS, "Mine").tolist() == [2, 0]


def test_an_abstention_is_the_place_of_no_class_and_other_labels_are_refused():
    said = PredictionOutput(np.array(["c", "?", "a"]), abstention="?")
    assert said.encode_predictions(3, LABELS, "Mine").tolist() == [2, -1, 0]
    numbers = PredictionOutput(np.array([3, 2, 4]), abstention=2)
    assert numbers.encode_predictions(3, np.array([3, 4]), "Mine").tolist() == [0, -1, 1]
    with pytest.raises(LearnerError, match="got '!'"):
        PredictionOutput(["a", "!"], abstention="?").encode_predictions(2, LABELS, "Mine")
    with pytest.raises(LearnerError, match=r"got '\?'"):
        PredictionOutput(["a", "?"]).encode_predictions(2, LABELS, "Mine")


def test_a_declared_class_is_no_abstention():
    assert PredictionOutput(["a", "c"], abstention="c").encode_predictions(2, LABELS, "Mine").tolist() == [0, 2]


def test_whole_numbers_may_come_as_floats():
    assert PredictionOutput(np.array([4.0, 3.0])).encode_predictions(2, np.array([3, 4]), "Mine").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (["a"], r"predict of Mine .* 2 rows, got shape \(1,\)"),
        ([["a", "b"], ["a", "b"]], r"got shape \(2, 2\)"),
        (None, r"got shape \(\)"),
        (["a", "d"], "predict of Mine .*, got 'd'"),
        ([0, 1], "got 0"),
        (np.array(["a", np.nan], dtype=object), "got nan"),
        (np.array([["a"], {}], dtype=object), r"got \['a'\]"),
    ],
)
def test_wrong_predictions_are_told(predicted, message):
    with pytest.raises(LearnerError, match=message):
        PredictionOutput(predicted).encode_predictions(2, LABELS, "Mine")


def test_columns_are_put_in_declared_order():
    found = scored([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], ["c", "a", "b"])
    assert found.values.tolist() == [[0.2, 0.7, 0.1], [0.3, 0.2, 0.5]]
    assert (found.kind, found.note) == ("probability", None)


def test_a_class_that_was_not_there_has_no_probability_and_the_smallest_decision():
    assert scored([[0.4, 0.6], [1.0, 0.0]], ["a", "c"]).values.tolist() == [[0.4, 0, 0.6], [1, 0, 0]]
    found = scored([3.0, -1.0], ["a", "c"], "decision_function")
    assert found.values.tolist() == [[-3, -3, 3], [1, -3, -1]]
    assert found.kind == "decision"


def test_one_class_only():
    assert scored([[1.0], [1.0]], ["b"]).values.tolist() == [[0, 1, 0]] * 2
    assert scored([2.0, 2.0], ["b"], "decision_function").values.tolist() == [[2, 2, 2]] * 2


def test_without_classes_those_of_training_are_meant_in_order():
    labels = np.array(["z", "m", "a"])
    found = scored([[0.9, 0.1], [0.2, 0.8]], None, labels=labels, trained=(0, 0, 2))
    assert found.values.tolist() == [[0.1, 0, 0.9], [0.8, 0, 0.2]]  # the columns are a, z


@pytest.mark.parametrize("learner", [LogisticRegression(max_iter=1000), SVC(), RidgeClassifier()])
def test_the_largest_score_is_the_prediction(learner):
    iris = load("iris")
    X, y = iris.X.to_numpy(), np.asarray(iris.y)
    for rows in (np.arange(150), np.arange(100)):  # three classes, two of three
        fitted = learner.fit(X[rows], y[rows])
        answers = PredictionOutput.from_estimator(fitted, X)
        labels = np.array(iris.classes)
        found = answers.align_scores(fitted, 150, iris.y.cat.codes.to_numpy()[rows], labels, "Mine")
        if isinstance(learner, SVC):  # its ties are broken by votes
            assert (found.values.argmax(axis=1) == answers.encode_predictions(150, labels, "Mine")).mean() > 0.95
        else:
            assert found.values.argmax(axis=1).tolist() == answers.encode_predictions(150, labels, "Mine").tolist()


@pytest.mark.parametrize(
    ("told", "classes", "method", "message"),
    [
        ([[0.5, 0.5]], ["a", "b"], "predict_proba", r"predict_proba of Mine .* each of the 2 rows .* got shape \(1, 2\)"),
        ([[0.5, 0.5]] * 2, ["a", "b", "c"], "predict_proba", "3 classes, got shape"),
        ([0.5, 0.5], ["a", "b"], "predict_proba", r"got shape \(2,\)"),
        ([[1.0] * 6] * 2, ["a", "b", "c"], "decision_function", r"got shape \(2, 6\)"),
        ([[0.5, np.nan], [0.5, 0.5]], ["a", "b"], "predict_proba", "got nan at row 0"),
        ([0.0, -np.inf], ["a", "b"], "decision_function", "got -inf at row 1"),
        ("many", ["a", "b"], "predict_proba", "got text"),
        ([[], []], [], "predict_proba", r"classes_ of Mine .*, got \[\]"),
        ([[0.5, 0.5]] * 2, ["a", "d"], "predict_proba", r"classes_ of Mine .*, got \['a', 'd'\]"),
        ([[0.5, 0.5]] * 2, ["a", "a"], "predict_proba", r"classes_ of Mine .*, got \['a', 'a'\]"),
    ],
)
def test_wrong_scores_are_told(told, classes, method, message):
    with pytest.raises(LearnerError, match=message):
        scored(told, classes, method)


def test_scores_of_pairs_are_refused_where_there_are_more_than_two_classes():
    with pytest.raises(LearnerError, match="decision_function_shape='ovr'"):
        scored([[1.0] * 3] * 2, ["a", "b", "c"], "decision_function", pairs=True)
    assert scored([1.0, 2.0], ["a", "b"], "decision_function", labels=LABELS[:2], pairs=True).values.tolist() == [
        [-1, 1],
        [-2, 2],
    ]


@pytest.mark.parametrize(
    ("told", "note"), [([[0.5, 0.9], [0.5, 0.5]], "sums from 1 to 1.4"), ([[-1.0, 2.0], [0.5, 0.5]], "values from -1 to 2")]
)
def test_what_is_no_probability_is_kept_as_a_score(told, note):
    found = scored(told, ["a", "b"], labels=LABELS[:2])
    assert found.values.tolist() == told
    assert found.kind == "decision"
    assert note in found.note


def test_rounding_leaves_probabilities():
    assert scored([[1 + 2e-16, -1e-17], [0.3, 0.7000001]], ["a", "b"], labels=LABELS[:2]).kind == "probability"


def test_noise_of_two_classes_is_that_of_the_second():
    scores = EstimatorScores(np.array([[0.7, 0.3], [0.1, 0.9]]), "probability")
    expected = ScoreNoise(0.2).apply(np.array([0.3, 0.9]), rng=np.random.default_rng(5))
    found, level, changed = scores.add_noise(ScoreNoise(0.2), np.random.default_rng(5))
    np.testing.assert_array_equal(found.values[:, 1], expected.X)
    np.testing.assert_allclose(found.values.sum(axis=1), 1)
    assert (level, changed, found.kind) == (expected.level, 2, "decision")
    assert scores.add_noise(ScoreNoise(0.2, clip=True), np.random.default_rng(5))[0].kind == "probability"


def test_noise_of_decisions_keeps_them_opposite():
    found, _, _ = EstimatorScores(np.array([[-2.0, 2.0]]), "decision").add_noise(ScoreNoise(0.5), np.random.default_rng(1))
    assert found.values[0, 0] == -found.values[0, 1] != -2.0


def test_noise_of_more_classes_is_different_for_each():
    values = np.full((50, 3), 1 / 3)
    found, level, changed = EstimatorScores(values, "probability").add_noise(ScoreNoise(0.1), np.random.default_rng(1))
    assert len(np.unique(found.values)) == 150
    assert level == np.abs(found.values - values).max() <= 0.1
    assert (changed, found.kind) == (150, "decision")


def test_clipping_needs_probabilities():
    with pytest.raises(InputError, match="between 0 and 1"):
        EstimatorScores(np.array([[-2.0, 2.0]]), "decision").add_noise(ScoreNoise(0.5, clip=True), np.random.default_rng(1))


# --- Meter ---
# Times and memory are those of what happens in between; warnings are counted, not shown.


MEGABYTE = 2**20


def test_sleep_takes_wall_time_and_no_cpu_time():
    meter = Meter()
    with meter.time_stage("fit"):
        time.sleep(0.05)
    assert 0.05 <= meter.figures["fit_time"] < 60
    assert 0 <= meter.figures["fit_cpu"] < meter.figures["fit_time"]


def test_work_takes_cpu_time():
    meter = Meter()
    with meter.time_stage("predict"):
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
    assert 0.02 <= meter.figures["predict_cpu"] < 60


def test_a_stage_that_fails_is_timed_as_well():
    meter = Meter()
    with pytest.raises(KeyError), meter.time_stage("fit"):
        raise KeyError
    assert set(meter.figures) == {"fit_time", "fit_cpu"}


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak can be set back on Linux only")
def test_memory_is_the_growth_since_the_start_each_time():
    for megabytes in (60, 20, 40):  # each alone: the peak before does not hide it
        meter = Meter()
        with mmap.mmap(-1, megabytes * MEGABYTE) as block:  # the allocator might hand out memory that it kept
            np.frombuffer(block, dtype=np.uint8)[:] = 1
        assert megabytes - 4 <= meter.measure_memory() / MEGABYTE <= megabytes + 10


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak can be reset only on Linux")
def test_memory_that_an_earlier_trial_has_freed_counts_again():
    """Blocks below the threshold of mmap stay in the heap of the C library after they are freed."""
    size, count = 50_000, 200
    for _ in range(3):
        meter = Meter()
        blocks = [np.ones(size // 8) for _ in range(count)]
        del blocks
        assert 0.9 * size * count <= meter.measure_memory() <= 1.5 * size * count


def test_without_the_files_of_linux_the_peak_is_the_greatest_ever_and_memory_is_unknown(monkeypatch):
    monkeypatch.setattr(meter_module, "_use_system_file", lambda *_: b"")
    block = np.ones(30 * MEGABYTE // 8)
    assert measure_resident_peak() > block.nbytes
    meter = Meter()
    assert meter.measure_memory() is None


def test_a_file_that_may_not_be_used_is_passed_over():
    def refuse(_):
        raise PermissionError

    assert meter_module._use_system_file(os.devnull, os.O_RDONLY, refuse) == b""
    assert meter_module._use_system_file("/no/such/file", os.O_RDONLY, refuse) == b""


def test_different_warnings_are_counted():
    with record_warnings() as caught:
        for name in ("first", "second", "first"):
            warnings.warn(name, RuntimeWarning, stacklevel=1)
        warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
    assert format_notes(caught, None, "before") == "before\nRuntimeWarning: first (2 times)\nRuntimeWarning: second"


def test_no_warnings_are_no_notes():
    with record_warnings() as caught:
        pass
    assert format_notes(caught, None) is None


def test_notes_are_short():
    with record_warnings() as caught:
        for number in range(500):
            warnings.warn(f"trouble {number}", stacklevel=1)
    assert len(format_notes(caught)) == 1000


def test_filters_are_as_before():
    before = list(warnings.filters)
    with record_warnings():
        pass
    assert warnings.filters == before


def test_text_that_no_file_holds_is_written_out():
    assert to_plain_text("a\udc80b", 100) == "a\\udc80b"
    assert to_plain_text("abc", 2) == "ab"


# --- Diagnostics ---
# A failure says its class, its message and where it came from; nothing of it can break the store.


class UnspeakableError(Exception):
    """Cannot be told."""

    def __str__(self):
        raise RuntimeError


def caught(error, cause=None):
    try:
        raise error from cause
    except BaseException as found:
        return TrialFailure.from_error(found)


def test_class_message_and_traceback():
    failure = caught(LearnerError("no rows"))
    assert (failure.status, failure.error, failure.message) == ("error", "fairtrial.errors.LearnerError", "no rows")
    assert failure.traceback.endswith("fairtrial.errors.LearnerError: no rows\n")
    assert 'test_run_estimator.py", line' in failure.traceback
    assert caught(ValueError("x")).error == "ValueError"


def test_files_of_packages_are_named_from_the_package_on():
    with pytest.raises(np.linalg.LinAlgError) as found:
        np.linalg.inv(np.zeros((2, 2)))
    assert 'File "numpy/linalg/' in TrialFailure.from_error(found.value).traceback


@pytest.mark.parametrize(
    ("error", "cause", "status"),
    [
        (MemoryError(), None, "memory"),
        (np.exceptions.AxisError("x"), None, "error"),
        (RuntimeError("wrapped"), MemoryError(), "memory"),
        (RuntimeError("other"), ValueError(), "error"),
        (SystemExit(3), None, "error"),
        (KeyboardInterrupt(), None, "error"),
    ],
)
def test_status(error, cause, status):
    assert caught(error, cause).status == status


def test_a_circle_of_causes_ends():
    first, second = ValueError(), ValueError()
    first.__cause__, second.__cause__ = second, first
    assert TrialFailure.from_error(first).status == "error"


def test_long_texts_are_cut_where_it_hurts_least():
    failure = caught(ValueError("m" * 9000 + "end"))
    assert failure.message == "m" * 2000
    assert len(failure.traceback) == 4000
    assert failure.traceback.endswith("mend\n")


def test_what_cannot_be_told_is_said_so():
    assert caught(UnspeakableError()).message.startswith("(")
    assert "test_run_estimator" in caught(UnspeakableError()).traceback


def test_half_characters_are_written_out():
    failure = caught(ValueError("a\ud800"))
    (failure.message + failure.traceback).encode("utf-8")
    assert failure.message == "a\\ud800"


def test_evidence_of_a_failure():
    evidence = TrialFailure("error", "E", "m", "t").to_record(b"key", memory=3)
    assert evidence == TrialRecord(b"key", "error", error="E", message="m", traceback="t", memory=3)


def test_the_longest_folder_goes_first(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", "/", "/home/me", "/home/me/lib/", "/home/me/library"])
    text = (
        'File "/home/me/lib/pack/a.py", line 1\n  File "/home/me/b.py", line 2\n  '
        'File "/home/me/library/c.py"\n  File "/etc/d.py"'
    )
    assert strip_import_paths(text) == ('File "pack/a.py", line 1\n  File "b.py", line 2\n  File "c.py"\n  File "/etc/d.py"')
