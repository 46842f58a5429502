"""WEKA's IBk gave the probabilities, to three decimals: tests/reference/weka/make_nearest_neighbours.py.

IBk widens the ranges of numbers by each test row that it meets; ours are those of the training rows. On `wine 3` this changes
the neighbours of two rows, which the plain twin below shows.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.learners.nearest_neighbours import NearestNeighbours
from tests.reference.weka.asking import built_in, every_third
from tests.reference.weka.make_nearest_neighbours import nominal_part

ANSWERS = json.loads((Path(__file__).parents[1] / "reference" / "weka" / "nearest_neighbours.json").read_text())


@parametrize_with_checks([NearestNeighbours(), NearestNeighbours(3, votes="inverse")])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", [case for case in ANSWERS if case != "wine 3"])
def test_every_probability_is_wekas(case):
    name, count = case.split()
    train, test = every_third(nominal_part() if name == "nominal" else built_in(name))
    learner = NearestNeighbours(int(count)).fit(train.drop(columns="class"), train["class"])
    np.testing.assert_allclose(learner.predict_proba(test.drop(columns="class")), ANSWERS[case], atol=5.01e-4)


def test_ibk_widens_ranges_by_test_rows():
    train, test = every_third(built_in("wine"))
    rows, codes = train.drop(columns="class").to_numpy(), train["class"].cat.codes.to_numpy()
    low, high = rows.min(axis=0), rows.max(axis=0)
    for query, expected in zip(test.drop(columns="class").to_numpy(), ANSWERS["wine 3"], strict=True):
        low, high = np.minimum(low, query), np.maximum(high, query)
        far = (((rows - query) / (high - low)) ** 2).sum(axis=1)
        votes = np.bincount(codes[far <= np.sort(far)[2]], minlength=3) + 1 / len(rows)
        np.testing.assert_allclose(votes / votes.sum(), expected, atol=5.01e-4)


def test_numbers_alone_are_scikit_learns_neighbours():
    rng = np.random.default_rng(6)
    X, y, new = rng.normal(size=(80, 5)), rng.integers(3, size=80), rng.normal(size=(40, 5))
    scaler = MinMaxScaler().fit(X)
    for k, votes, theirs in ((1, "uniform", "uniform"), (7, "uniform", "uniform"), (7, "inverse", "distance")):
        expected = KNeighborsClassifier(k, weights=theirs).fit(scaler.transform(X), y).predict_proba(scaler.transform(new))
        ours = NearestNeighbours(k, votes=votes).fit(X, y).predict_proba(new)
        assert np.abs(ours - expected).max() < 0.06
        assert (ours.argmax(axis=1) == expected.argmax(axis=1)).all()


def test_missing_and_nominal_values_differ_by_one():
    table = pd.DataFrame({"size": [0.0, 10.0], "hue": ["red", "blue"]})
    learner = NearestNeighbours().fit(table, ["u", "v"])
    rows = pd.DataFrame({"size": [9.0, np.nan, 4.0], "hue": ["green", "red", None]})
    assert learner.predict(rows).tolist() == ["v", "u", "u"]


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (NearestNeighbours(0), "n_neighbours"),
        (NearestNeighbours(votes="inverted"), "'inverse'"),
    ],
)
def test_bad_parameters(learner, message):
    with pytest.raises(InputError, match=message):
        learner.fit([[0.0], [1.0]], ["a", "b"])


def test_weights_below_the_number_of_neighbours_give_a_warning():
    with pytest.warns(SuspectInputWarning, match="sample_weight"):
        NearestNeighbours().fit([[0.0], [1.0]], ["a", "b"], [0.1, 0.1])
