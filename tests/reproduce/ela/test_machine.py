"""The paper's machine and its variants."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.multiclass import OneVsRestClassifier

from fairtrial.data import read
from fairtrial.errors import InputError
from fairtrial.learners import PukSVC
from fairtrial.reproduce.ela.machine import LogisticPukSVC
from fairtrial.resampling import WekaFolds

# The second number is how many rows we may be off: where outputs are not all sure, the stop of the descent decides.
# java -cp weka.jar weka.classifiers.functions.SMO -C 100 -K "weka.classifiers.functions.supportVector.Puk -O 1 -S 1" -N 0 -M
#   -x 5 -s 1 -t SET.arff (WEKA 3.6.14): rows that are right
WEKA = {"hayes-roth": (127, 0), "lymphography": (120, 0), "german": (665, 0), "cleveland": (141, 4)}


@pytest.mark.parametrize("name", ["hayes-roth", "lymphography", "german", "cleveland"])
def test_as_many_rows_are_right_as_weka_has_with_logistic_models(shared_data, name):
    data = read(shared_data / "keel-standard" / f"{name}.dat")
    right = 0
    for train, test in WekaFolds(5, random_state=1).split(data.X, data.y):
        machine = LogisticPukSVC().fit(data.X.iloc[train], data.y.iloc[train])
        right += int((machine.predict(data.X.iloc[test]) == np.asarray(data.y.iloc[test])).sum())
    expected, off = WEKA[name]
    assert abs(right - expected) <= off


@pytest.mark.parametrize("scale", ["min-max", "standard", None])
def test_votes_are_those_of_puk_svc(scale):
    X, y = load_wine(return_X_y=True)
    ours = LogisticPukSVC(answer="votes", scale=scale).fit(X[::2], y[::2])
    theirs = PukSVC(scale=scale).fit(X[::2], y[::2])
    assert ours.predict(X[1::2]).tolist() == theirs.predict(X[1::2]).tolist()
    assert ours.predict_proba(X[1::2]) == pytest.approx(theirs.predict_proba(X[1::2]))


def test_one_against_the_rest_is_scikit_learns():
    X, y = load_iris(return_X_y=True)
    X = (X - X[::2].min(axis=0)) / np.ptp(X[::2], axis=0)
    ours = LogisticPukSVC(answer="one-vs-rest", scale=None).fit(X[::2], y[::2])
    theirs = OneVsRestClassifier(PukSVC(scale=None)).fit(X[::2], y[::2])
    assert ours.predict(X[1::2]).tolist() == theirs.predict(X[1::2]).tolist()


def test_codes_are_numbers_like_others():
    table = pd.DataFrame({"hue": pd.Categorical(list("abcabcabcabc")), "size": np.arange(12.0)})
    y = ["x", "y", "y"] * 4
    coded = table.assign(hue=table["hue"].cat.codes.astype(float))
    one = LogisticPukSVC(encoding="codes").fit(table, y)
    other = LogisticPukSVC().fit(coded, y)
    assert one.predict_proba(table) == pytest.approx(other.predict_proba(coded))


def test_rare_classes_are_told_more_often_with_logistic_models_than_by_votes():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 8))
    y = (X[:, 0] + rng.normal(size=300) > 1.1).astype(int)
    test = rng.normal(size=(2000, 8))
    logistic, votes = (LogisticPukSVC(answer=answer).fit(X, y).predict(test).mean() for answer in ("logistic", "votes"))
    assert y.mean() < 0.35
    assert logistic > votes


def test_rows_left_out_give_probabilities_that_are_less_sure():
    X, y = load_wine(return_X_y=True)
    sure, careful = (
        LogisticPukSVC(answer=each).fit(X[::2], y[::2]).predict_proba(X[1::2]) for each in ("logistic", "held-out")
    )
    assert careful.sum(axis=1) == pytest.approx(1)
    assert careful.max(axis=1).mean() < sure.max(axis=1).mean()


def test_a_class_of_one_row_can_be_learnt_with_held_out_rows():
    X, y = np.arange(9.0)[:, None], [0] * 4 + [1] * 4 + [2]
    assert LogisticPukSVC(answer="held-out").fit(X, y).predict(X[:1]).tolist() == [0]


@pytest.mark.parametrize(
    ("settings", "told"), [({"answer": "vote"}, "answer"), ({"encoding": "hot"}, "encoding"), ({"tol": 0}, "tol must be")]
)
def test_mistakes_are_told(settings, told):
    with pytest.raises(InputError, match=told):
        LogisticPukSVC(**settings).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_not_enough():
    with pytest.raises(InputError, match="at least 2 classes"):
        LogisticPukSVC().fit([[0.0], [1.0]], [1, 1])
