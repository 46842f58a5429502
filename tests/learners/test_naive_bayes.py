"""WEKA's NaiveBayes gave the probabilities, to three decimals: tests/reference/weka/make_naive_bayes.py."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.naive_bayes import NaiveBayes
from tests.reference.weka.asking import built_in, every_third

ANSWERS = json.loads((Path(__file__).parents[1] / "reference" / "weka" / "naive_bayes.json").read_text())
# WEKA stops the sum over kernels early, within one part in a hundred.
CLOSE = {"normal": 5.01e-4, "discretised": 5.01e-4, "kernel": 3e-3}


@parametrize_with_checks([NaiveBayes(), NaiveBayes("kernel"), NaiveBayes("discretised")])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", ANSWERS)
def test_every_probability_is_wekas(case):
    name, numeric = case.split()
    train, test = every_third(built_in(name))
    learner = NaiveBayes(numeric).fit(train.drop(columns="class"), train["class"])
    declared = list(train["class"].cat.categories)
    expected = np.array(ANSWERS[case])[:, [declared.index(label) for label in learner.classes_]]
    np.testing.assert_allclose(learner.predict_proba(test.drop(columns="class")), expected, atol=CLOSE[numeric])


def test_counts_are_scikit_learns_with_one_added():
    rng = np.random.default_rng(2)
    X, y = rng.integers(3, size=(60, 4)), rng.integers(2, size=60)
    theirs = CategoricalNB(alpha=1, min_categories=3, class_prior=(np.bincount(y) + 1) / 62).fit(X, y)
    ours = NaiveBayes(nominal=[0, 1, 2, 3]).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)


def test_missing_values_unseen_values_and_empty_columns_are_ignored():
    table = pd.DataFrame({"hue": ["red", "blue", "red", "blue"], "none": [np.nan] * 4})
    learner = NaiveBayes().fit(table, ["u", "v", "u", "u"])
    rows = pd.DataFrame({"hue": ["green", None], "none": [1.0, np.nan]})
    np.testing.assert_allclose(learner.predict_proba(rows), [learner.class_prior_] * 2)
    np.testing.assert_allclose(learner.class_prior_, [4 / 6, 2 / 6])


def test_one_class_only_is_predicted_always():
    assert NaiveBayes().fit([[1.0], [2.0]], ["a", "a"]).predict([[9.0]]).tolist() == ["a"]


def test_an_unknown_estimator():
    with pytest.raises(InputError, match="'kernel'"):
        NaiveBayes("kernels").fit([[1.0], [2.0]], ["a", "b"])
