"""The paper's SVM and its variants; logistic models of outputs, and pairs coupled to class probabilities."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris, load_wine
from sklearn.multiclass import OneVsRestClassifier

from fairtrial.data import read
from fairtrial.errors import InputError
from fairtrial.learners import PukSVC
from fairtrial.reproduce.ela.svm import LogisticPukSVC, couple_pairs, fit_logistic_model, predict_second_class
from fairtrial.resampling import WekaFolds

# java -cp weka.jar weka.classifiers.functions.SMO -C 100 -K "weka.classifiers.functions.supportVector.Puk -O 1 -S 1" -N 0 -M
#   -x 5 -s 1 -t SET.arff (WEKA 3.6.14): number of correct rows, and by how many we may differ. If not all outputs are -1 or 1,
#   the point where the fit stops decides.
WEKA = {"hayes-roth": (127, 0), "lymphography": (120, 0), "german": (665, 0), "cleveland": (141, 4)}


@pytest.mark.parametrize("name", WEKA)
def test_as_many_rows_are_correct_as_in_weka_with_logistic_models(shared_data, name):
    data = read(shared_data / "keel-standard" / f"{name}.dat")
    n_correct = 0
    for train, test in WekaFolds(5, random_state=1).split(data.X, data.y):
        svm = LogisticPukSVC().fit(data.X.iloc[train], data.y.iloc[train])
        n_correct += int((svm.predict(data.X.iloc[test]) == np.asarray(data.y.iloc[test])).sum())
    expected, tolerance = WEKA[name]
    assert abs(n_correct - expected) <= tolerance


@pytest.mark.parametrize("scale", ["min-max", "standard", None])
def test_votes_are_those_of_puk_svc(scale):
    X, y = load_wine(return_X_y=True)
    ours = LogisticPukSVC(decision="votes", scale=scale).fit(X[::2], y[::2])
    expected = PukSVC(scale=scale).fit(X[::2], y[::2])
    assert ours.predict(X[1::2]).tolist() == expected.predict(X[1::2]).tolist()
    assert ours.predict_proba(X[1::2]) == pytest.approx(expected.predict_proba(X[1::2]))


def test_one_vs_rest_is_that_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    X = (X - X[::2].min(axis=0)) / np.ptp(X[::2], axis=0)
    ours = LogisticPukSVC(decision="one-vs-rest", scale=None).fit(X[::2], y[::2])
    expected = OneVsRestClassifier(PukSVC(scale=None)).fit(X[::2], y[::2])
    assert ours.predict(X[1::2]).tolist() == expected.predict(X[1::2]).tolist()


def test_codes_are_treated_as_numbers():
    table = pd.DataFrame({"hue": pd.Categorical(list("abcabcabcabc")), "size": np.arange(12.0)})
    y = ["x", "y", "y"] * 4
    coded = table.assign(hue=table["hue"].cat.codes.astype(float))
    probabilities = LogisticPukSVC(encoding="codes").fit(table, y).predict_proba(table)
    assert probabilities == pytest.approx(LogisticPukSVC().fit(coded, y).predict_proba(coded))


def test_rare_classes_are_predicted_more_often_with_logistic_models_than_with_votes():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 8))
    y = (X[:, 0] + rng.normal(size=300) > 1.1).astype(int)
    test = rng.normal(size=(2000, 8))
    logistic, votes = (LogisticPukSVC(decision=decision).fit(X, y).predict(test).mean() for decision in ("logistic", "votes"))
    assert y.mean() < 0.35
    assert logistic > votes


def test_held_out_rows_give_less_extreme_probabilities():
    X, y = load_wine(return_X_y=True)
    logistic, held_out = (
        LogisticPukSVC(decision=decision).fit(X[::2], y[::2]).predict_proba(X[1::2]) for decision in ("logistic", "held-out")
    )
    assert held_out.sum(axis=1) == pytest.approx(1)
    assert held_out.max(axis=1).mean() < logistic.max(axis=1).mean()


def test_a_class_with_one_row_is_learned_with_held_out_rows():
    X, y = np.arange(9.0)[:, None], [0] * 4 + [1] * 4 + [2]
    assert LogisticPukSVC(decision="held-out").fit(X, y).predict(X[:1]).tolist() == [0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"decision": "vote"}, "decision"), ({"encoding": "hot"}, "encoding"), ({"tol": 0}, "tol must be")],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        LogisticPukSVC(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_refused():
    with pytest.raises(InputError, match="at least 2 classes"):
        LogisticPukSVC().fit([[0.0], [1.0]], [1, 1])


def test_the_model_maximizes_the_likelihood_if_classes_overlap():
    rng = np.random.default_rng(3)
    is_second = np.arange(200) >= 130
    outputs = rng.normal(np.where(is_second, 0.6, -0.7), 1.0)

    def compute_loss(model):
        return np.logaddexp(0, -np.where(is_second, 1, -1) * (model[0] + model[1] * outputs)).sum()

    expected = minimize(compute_loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    assert fit_logistic_model(outputs, is_second, tol=1e-9) == pytest.approx(tuple(expected), rel=1e-5)


@pytest.mark.parametrize(("n_first", "threshold"), [(700, -0.4), (500, 0.0), (900, -0.8)])
def test_separated_outputs_leave_the_threshold_at_their_mean(n_first, threshold):
    is_second = np.arange(1000) >= n_first
    intercept, slope = fit_logistic_model(np.where(is_second, 1.0, -1.0), is_second)
    assert -intercept / slope == pytest.approx(threshold, abs=0.01)


def test_the_first_step_on_german_is_that_of_weka():
    """WEKA 3.6.14, SMO -C 100 with Puk and -M on german, whose 700 and 300 rows have outputs of -1 and 1."""
    is_second = np.arange(1000) >= 700
    intercept, slope = fit_logistic_model(np.where(is_second, 1.0, -1.0), is_second)
    assert slope == pytest.approx(499.5, rel=0.002)
    assert intercept == pytest.approx(198.55, rel=0.01)


def test_a_smaller_tolerance_moves_the_threshold_towards_that_of_the_svm():
    is_second = np.arange(100) >= 90
    outputs = np.where(is_second, 1.0, -1.0)
    loose, tight = (fit_logistic_model(outputs, is_second, tol=tol) for tol in (1e-2, 1e-10))
    assert abs(tight[0] / tight[1]) < 0.5 * abs(loose[0] / loose[1])


def test_constant_outputs_give_the_class_proportion():
    is_second = np.arange(40) >= 30
    model = fit_logistic_model(np.zeros(40), is_second, tol=1e-9)
    assert predict_second_class(np.zeros(1), model)[0] == pytest.approx(0.25, abs=1e-6)


def test_consistent_pairs_return_the_probabilities_they_were_made_of():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.2, 0.7, 0.1]])
    first_wins = probabilities[:, :, None] / (probabilities[:, :, None] + probabilities[:, None, :])
    coupled = couple_pairs(first_wins, np.array([[0, 5, 9], [0, 0, 3], [0, 0, 0]]))
    assert coupled == pytest.approx(probabilities, abs=0.01)


def test_rows_are_coupled_independently_of_each_other():
    rng = np.random.default_rng(1)
    sizes = np.array([128, 43, 28, 10])
    n_rows = (sizes[:, None] + sizes).astype(float)
    first_wins = np.where(rng.random((30, 4, 4)) < 0.5, rng.integers(0, 2, (30, 4, 4)), rng.random((30, 4, 4)))
    expected = np.array([couple_with_loops(row, n_rows) for row in first_wins])
    assert couple_pairs(first_wins, n_rows) == pytest.approx(expected, abs=1e-12)


def couple_with_loops(first_wins, n_rows):
    """Hastie and Tibshirani's algorithm for one row, with loops."""
    k = len(first_wins)
    probabilities, changed = np.full(k, 1 / k), True
    observed = [
        sum(n_rows[i, j] * first_wins[i, j] for j in range(i + 1, k))
        + sum(n_rows[j, i] * (1 - first_wins[j, i]) for j in range(i))
        for i in range(k)
    ]
    while changed:
        p = probabilities
        expected = [sum(n_rows[i, j] * (p[i] / (p[i] + p[j]) if p[i] > 0 else 0) for j in range(k) if j != i) for i in range(k)]
        updated = np.array([p[i] * observed[i] / expected[i] if expected[i] > 0 else 0.0 for i in range(k)])
        changed = bool((np.abs(updated - p) > 1e-3).any())
        probabilities = updated / updated.sum()
    return probabilities
