import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.chi import Chi
from fairtrial.measures import accuracy, auc, kappa, mcc
from tests.reference.fuzzy import rules_of, winner


@parametrize_with_checks([Chi(), Chi(labels=3)])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), labels=st.integers(2, 6), columns=st.integers(1, 3), classes=st.integers(2, 3))
def test_rules_weights_and_winners_are_those_of_a_plain_implementation(seed, labels, columns, classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, columns))
    y = np.r_[np.arange(classes), rng.integers(classes, size=25 - classes)]
    new = rng.normal(size=(20, columns)) * 1.5
    chi = Chi(labels).fit(X, y)
    rules, ranges = rules_of(X.tolist(), y.tolist(), labels)
    ours = {
        tuple(rule): (label, weight)
        for rule, label, weight in zip(chi.rules_.tolist(), chi.consequents_, chi.weights_, strict=True)
    }
    assert set(ours) == set(rules)
    for rule, (label, weight) in rules.items():
        assert ours[rule][0] == label
        assert ours[rule][1] == pytest.approx(weight)
    expected = [winner(rules, ranges, labels, row) for row in new.tolist()]
    silent = [label is None for label in expected]
    assert chi.abstains(new).tolist() == silent
    assert chi.predict(new).tolist() == [chi.abstention_ if label is None else label for label in expected]


def test_an_abstention_is_an_error_without_probabilities():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    chi = Chi(labels=9).fit(X[::2], names[::2])
    silent = chi.abstains(X[1::2])
    assert silent.any()
    assert chi.abstention_ == "?"
    predicted = chi.predict(X[1::2])
    assert (predicted[silent] == "?").all()
    assert not chi.predict_proba(X[1::2])[silent].any()
    right = (predicted == names[1::2]).sum()
    assert accuracy(names[1::2], predicted) == right / len(predicted)


def test_declared_ranges_move_the_triangles():
    X, y = pd.DataFrame({"a": [0.0, 1.0]}), [0, 1]
    assert Chi(3).fit(X, y).rules_.tolist() == [[0], [2]]
    assert Chi(3, ranges={"a": (0.0, 2.0)}).fit(X, y).rules_.tolist() == [[0], [1]]


def test_nominal_values_are_crisp_and_missing_ones_match_everything():
    table = pd.DataFrame({"hue": pd.Categorical(["red", "blue", "green"]), "size": [1.0, 2.0, 3.0]})
    chi = Chi().fit(table, ["u", "v", "v"])
    assert chi.predict(pd.DataFrame({"hue": ["red"], "size": [1.0]})).tolist() == ["u"]
    assert chi.abstains(pd.DataFrame({"hue": ["red"], "size": [3.0]})).tolist() == [True]
    assert chi.predict(pd.DataFrame({"hue": ["green"], "size": [np.nan]})).tolist() == ["v"]


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Chi(labels=1), "labels"),
        (Chi(labels=2.5), "labels"),
        (Chi(ranges=[1]), "ranges"),
        (Chi(ranges={"x0": 5}), "ranges"),
        (Chi(ranges={"x0": ("a", "b")}), "x0"),
        (Chi(ranges={"x1": (0, 1)}), "'x1'"),
    ],
)
def test_bad_parameters(learner, message):
    with pytest.raises(InputError, match=message):
        learner.fit([[0.0], [1.0]], ["a", "b"])


@pytest.mark.parametrize("kind", [bool, np.uint8, float])
def test_an_abstention_fits_beside_classes_of_any_kind(kind):
    X, y = load_iris(return_X_y=True)
    labels = (y == 0).astype(kind)
    chi = Chi(labels=9).fit(X[::2], labels[::2])
    predicted = chi.predict(X[1::2])
    assert chi.abstains(X[1::2]).any()
    assert set(predicted.tolist()) == {-1, 0, 1}
    assert chi.score(X[1::2], labels[1::2]) == (predicted == labels[1::2]).mean()


def test_every_measure_of_labels_counts_abstentions_and_an_auc_is_the_same_from_either_side():
    X, y = load_iris(return_X_y=True)
    labels = (y == 1).astype(int)
    chi = Chi(labels=9).fit(X[::2], labels[::2])
    rows, truth = X[1::2], labels[1::2]
    assert chi.abstains(rows).any()
    for measure in (accuracy, kappa, mcc):
        assert measure.scorer()(chi, rows, truth) == pytest.approx(measure(truth, chi.predict(rows), labels=[0, 1, -1]))
    other = Chi(labels=9).fit(X[::2], 1 - labels[::2])
    assert auc.scorer()(chi, rows, truth) == pytest.approx(auc.scorer()(other, rows, 1 - truth))
