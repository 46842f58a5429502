import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.learner import Learner


class NearestMean(Learner):
    """The simplest learner that the base class can carry."""

    def __init__(self, nominal=None):
        self.nominal = nominal

    def fit(self, X, y, sample_weight=None):
        training = self._read_training(X, y, sample_weight)
        values = np.nan_to_num(training.values)
        places = range(len(self.classes_))
        self.means_ = np.array([self._mean(values, training, place) for place in places])
        return self

    @staticmethod
    def _mean(values, training, place):
        own = training.codes == place
        return np.average(values[own], axis=0, weights=training.weight[own]) if own.any() else np.full(values.shape[1], 1e6)

    def _predict_probabilities(self, columns):
        distance = ((np.nan_to_num(columns.values)[:, None] - self.means_) ** 2).sum(axis=2)
        weight = np.exp(distance.min(axis=1, keepdims=True) - distance)
        return weight / weight.sum(axis=1, keepdims=True)


@parametrize_with_checks([NearestMean()])
def test_the_base_class_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


TABLE = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0], "hue": pd.Categorical(["red", "red", "blue", "blue"], ["red", "blue"])})


def test_a_nominal_value_that_training_did_not_have_is_missing():
    learner = NearestMean().fit(TABLE, list("uuvv"))
    rows = learner._read_rows(pd.DataFrame({"size": [1.0], "hue": ["green"]}))
    assert np.isnan(rows.values[0, 1])


def test_classes_are_those_present():
    learner = NearestMean().fit(TABLE, pd.Categorical(list("uuvv"), ["t", "u", "v"]))
    assert learner.classes_.tolist() == ["u", "v"]


def test_a_matrix_with_columns_declared_nominal():
    learner = NearestMean(nominal=[1]).fit(np.array([[1, "x"], [2, "y"]], dtype=object), ["u", "v"])
    assert learner._template.categories == (None, ("x", "y"))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (TABLE.iloc[:0], [], "X"),
        (TABLE, ["u", None, "v", "v"], "y"),
        (TABLE, [0.0, np.nan, 1.0, 1.0], "y"),
        (TABLE, ["u", "v"], "X and y"),
        (TABLE, pd.Series(["u", None, "v", "v"], dtype="string"), "y"),
        (TABLE, np.array([1, "a", 1, "a"], dtype=object), "y"),
        (TABLE.set_axis([1, "hue"], axis=1), list("uuvv"), "X"),
        ([["a", 1.0], ["b", 2.0]] * 2, list("uuvv"), "nominal="),
        (TABLE.assign(size=np.inf), list("uuvv"), "'size'"),
        (TABLE, None, "y"),
        (TABLE, [0.1, 0.2, 0.3, 0.7], "continuous"),
    ],
)
def test_bad_training_data_is_refused(X, y, message):
    with pytest.raises(InputError, match=message):
        NearestMean().fit(X, y)


def test_other_columns_than_in_training_are_refused():
    learner = NearestMean().fit(TABLE, list("uuvv"))
    with pytest.raises(InputError, match="feature names"):
        learner.predict(TABLE[["hue", "size"]])
    with pytest.raises(InputError, match="feature names"):
        learner.predict(TABLE[["size"]])


def test_ties_go_to_the_class_declared_first():
    rows = pd.DataFrame({"size": [0.0, 2.0]})
    middle = pd.DataFrame({"size": [1.0]})
    assert NearestMean().fit(rows, pd.Categorical(["a", "b"], ["b", "a"])).predict(middle).tolist() == ["b"]
    assert NearestMean().fit(rows, ["a", "b"]).predict(middle).tolist() == ["a"]
