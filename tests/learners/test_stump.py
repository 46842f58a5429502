"""WEKA's DecisionStump gave the probabilities, to three decimals: tests/reference/weka/make_boosting.py."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.learners.stump import Stump
from tests.reference.weka.asking import NAMES, built_in, every_third

ANSWERS = json.loads((Path(__file__).parents[1] / "reference" / "weka" / "boosting.json").read_text())


@parametrize_with_checks([Stump()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", NAMES)
def test_every_probability_is_wekas(name):
    train, test = every_third(built_in(name))
    learner = Stump().fit(train.drop(columns="class"), train["class"])
    declared = list(train["class"].cat.categories)
    expected = np.array(ANSWERS[f"{name} stump"])[:, [declared.index(label) for label in learner.classes_]]
    np.testing.assert_allclose(learner.predict_proba(test.drop(columns="class")), expected, atol=5.01e-4)


def test_the_split_of_numbers_is_scikit_learns():
    rng = np.random.default_rng(8)
    for _ in range(20):
        X, y, weight = rng.normal(size=(30, 3)), rng.integers(3, size=30), rng.integers(1, 4, size=30).astype(float)
        theirs = DecisionTreeClassifier(max_depth=1, criterion="entropy").fit(X, y, weight).tree_
        ours = Stump().fit(X, y, weight)
        assert (ours.column_, pytest.approx(ours.cut_)) == (theirs.feature[0], theirs.threshold[0])


def test_missing_values_have_a_branch_of_their_own():
    table = pd.DataFrame({"hue": ["red", "blue", None, None]})
    stump = Stump().fit(table, ["u", "v", "w", "w"])
    assert stump.predict(pd.DataFrame({"hue": ["red", "blue", None, "green"]})).tolist() == ["u", "v", "w", "w"]


def test_without_any_split_the_probabilities_are_the_class_proportions():
    probabilities = Stump().fit([[1.0], [1.0], [1.0]], ["a", "a", "b"]).predict_proba([[5.0]])
    np.testing.assert_allclose(probabilities, [[2 / 3, 1 / 3]])
