"""Answers become codes and tables of the declared classes, or a clear error."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import SVC

from fairtrial.conditions import ScoreNoise
from fairtrial.data import load
from fairtrial.errors import InputError, LearnerError
from fairtrial.study.run.outputs import EstimatorScores, PredictionOutput

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
        ("many", ["a", "b"], "predict_proba", "got str"),
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
