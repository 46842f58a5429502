"""WEKA's OneR gave the rules and the classes: tests/reference/weka/make_one_r.py."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.learner import get_declared_order
from fairtrial.learners.one_r import OneR, find_intervals, get_target_name
from tests.reference.weka.asking import built_in, every_third

ANSWERS = json.loads((Path(__file__).parents[1] / "reference" / "weka" / "one_r.json").read_text())


@parametrize_with_checks([OneR()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", ANSWERS)
def test_the_rule_and_every_prediction_are_wekas(case):
    name, bucket = case.split()
    train, test = every_third(built_in(name))
    learner = OneR(int(bucket)).fit(train.drop(columns="class"), train["class"])
    assert learner.export_text() == ANSWERS[case]["text"]
    expected = train["class"].cat.categories[ANSWERS[case]["predicted"]]
    assert learner.predict(test.drop(columns="class")).tolist() == expected.tolist()


def test_missing_values_are_a_value():
    table = pd.DataFrame({"hue": ["red", "red", None, None], "none": [np.nan] * 4})
    learner = OneR().fit(table, ["u", "u", "v", "v"])
    assert learner.export_text() == "hue:\n\tred\t-> u\n\t?\t-> v\n(4/4 instances correct)\n"
    assert learner.predict(pd.DataFrame({"hue": ["red", None, "new"], "none": [1.0] * 3})).tolist() == ["u", "v", "v"]


def test_missing_values_that_training_did_not_have_get_the_first_declared_class():
    classes = pd.Series(pd.Categorical(["u", "v"] * 10, ["w", "v", "u"]))
    learner = OneR(1).fit(pd.DataFrame({"x": [0.0, 1.0] * 10}), classes)
    assert learner.predict(pd.DataFrame({"x": [np.nan]})).tolist() == ["v"]


def test_without_any_value_the_most_frequent_class():
    learner = OneR().fit([[np.nan], [np.nan], [np.nan]], ["a", "b", "b"])
    assert learner.predict([[1.0], [np.nan]]).tolist() == ["b", "b"]
    assert "2/3 instances correct" in learner.export_text()


def test_one_class_only():
    learner = OneR().fit([[1.0], [2.0]], ["a", "a"])
    assert learner.export_text() == "x0:\n\tnot ?\t-> a\n(2/2 instances correct)\n"


def test_an_interval_closes_when_its_majority_is_large_enough_and_the_next_value_is_of_another_class():
    values, codes = np.arange(9.0), np.array([0, 0, 0, 1, 0, 1, 1, 1, 1])
    cuts, counts = find_intervals(values, codes, 2, 3)
    assert cuts.tolist() == [2.5]
    assert counts.tolist() == [[3, 0], [1, 5]]


def test_probabilities_are_zero_or_one_and_survive_pickling():
    train, test = every_third(built_in("mixed"))
    learner = OneR().fit(train.drop(columns="class"), train["class"])
    probabilities = learner.predict_proba(test.drop(columns="class"))
    assert set(np.unique(probabilities)) == {0.0, 1.0}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(learner)).predict_proba(test.drop(columns="class")), probabilities)


def test_order_and_name_of_the_classes():
    column = pd.Series(pd.Categorical(["b", "c"], ["c", "a", "b"]), name="kind")
    assert get_declared_order(column, np.array(["b", "c"])) == [1, -1, 0]
    assert get_declared_order(["b", "c"], np.array(["b", "c"])) == [0, 1]
    assert (get_target_name(column), get_target_name(["b"])) == ("kind", "class")


def test_a_bucket_of_nothing():
    with pytest.raises(InputError, match="min_bucket"):
        OneR(0).fit([[1.0], [2.0]], ["a", "b"])
