import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairtrial.errors import InputError, LearnerError
from fairtrial.resampling import Bootstrap, estimate

X, y = load_iris(return_X_y=True)
X, y = X[50::3, :2], y[50::3]


def values(found):
    return [(each.method, each.value, each.standard_error) for each in found.estimates]


def test_by_a_plain_loop():
    found = estimate(GaussianNB(), X, y, n_resamples=30, random_state=4)
    runs, wrong, times = [], np.zeros(len(y)), np.zeros(len(y))
    for train, test in Bootstrap(30, random_state=4).split(X):
        errors = GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]
        runs.append(errors.mean())
        wrong[test] += errors
        times[test] += 1
    predicted = GaussianNB().fit(X, y).predict(X)
    resubstitution = (predicted != y).mean()
    assert found["e0"].value == pytest.approx(np.mean(runs))
    assert found["e0-pooled"].value == pytest.approx(wrong.sum() / times.sum())
    assert found["loo-bootstrap"].value == pytest.approx((wrong / times).mean())
    assert found["632"].value == pytest.approx(0.368 * resubstitution + 0.632 * (wrong / times).mean())
    assert found.no_information == pytest.approx((y[:, None] != predicted).mean())
    assert (found.n_rows, found.n_resamples) == (len(y), 30)


def test_the_form_of_the_data_does_not_matter():
    expected = values(estimate(DecisionTreeClassifier(max_depth=3, random_state=0), X, y, n_resamples=25, random_state=1))
    labels = np.array(["zero", "versicolor", "virginica"])[y]
    for table, classes in [
        (X.tolist(), y.tolist()),
        (pd.DataFrame(X).add_prefix("x"), pd.Series(labels, index=np.arange(len(y)) + 7)),
        (pd.DataFrame(X).add_prefix("x"), pd.Series(pd.Categorical(labels, categories=["none", *sorted(set(labels))]))),
        (sparse.csr_matrix(X), labels),
    ]:
        assert (
            values(
                estimate(DecisionTreeClassifier(max_depth=3, random_state=0), table, classes, n_resamples=25, random_state=1)
            )
            == expected
        )


def test_seeds_decide_and_workers_do_not():
    with joblib.parallel_config("threading"):
        first, again, threaded, other = (
            values(estimate(GaussianNB(), X, y, n_resamples=25, random_state=seed, n_jobs=jobs))
            for seed, jobs in ((1, None), (1, 1), (1, 2), (2, None))
        )
    assert first == again == threaded != other


def test_the_nearest_neighbour_knows_its_training_cases():
    found = estimate(KNeighborsClassifier(1), X[:, :1] + 1e-6 * np.arange(len(y))[:, None], y, n_resamples=40, random_state=1)
    assert found["resubstitution"].value == 0
    assert 0 < found["632"].value < found["632+"].value < found["loo-bootstrap"].value


def test_a_constant_guess_has_no_overfitting():
    balanced = np.tile([0, 1], 20)
    found = estimate(
        DummyClassifier(strategy="constant", constant=0), np.zeros((40, 1)), balanced, n_resamples=20, random_state=1
    )
    assert found.value == pytest.approx(0.5)
    assert found.overfitting == 0


def test_numbers():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 2))
    target = table @ [1.0, -2.0] + rng.normal(size=40)
    squared = estimate(LinearRegression(), table, target, loss="squared", n_resamples=50, random_state=1)
    own = estimate(LinearRegression(), table, target, loss=lambda a, b: (a - b) ** 2, n_resamples=50, random_state=1)
    assert values(squared) == values(own)
    assert 0.5 < squared.value < 2
    assert squared["resubstitution"].value < squared.value < squared["loo-bootstrap"].value
    absolute = estimate(LinearRegression(), table, target, loss="absolute", n_resamples=20, random_state=1)
    assert absolute.value < np.sqrt(squared.high)


def test_a_class_that_goes_missing():
    rare = np.array([0] * 20 + [1])
    table = np.arange(21.0)[:, None]
    with pytest.raises(LearnerError, match=r"SVC.*stratify=True"):
        estimate(SVC(), table, rare, n_resamples=20, random_state=1)
    with pytest.warns(UserWarning, match="1 of 21"):
        found = estimate(SVC(), table, rare, n_resamples=20, stratify=True, random_state=1)
    assert found.n_resamples == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "632 +"}, "method"),
        ({"loss": "eror"}, "loss.*'error'"),
        ({"n_resamples": 1}, "n_resamples.*1"),
        ({"y": y[:-1]}, "34.*33"),
        ({"y": y + 0.5}, r"^y\b"),
        ({"y": np.array(["a", "b"])[y - 1], "loss": "squared"}, r"^y\b.*'a'"),
        ({"learner": "tree"}, "learner"),
        ({"loss": lambda a, b: float((a != b).mean())}, "loss"),
    ],
)
def test_bad_arguments(options, message):
    given = {"learner": GaussianNB(), "X": X, "y": y, "n_resamples": 3, "random_state": 1} | options
    with pytest.raises(InputError, match=message):
        estimate(given.pop("learner"), given.pop("X"), given.pop("y"), **given)


def test_the_main_method_is_marked():
    found = estimate(GaussianNB(), X, y, method="e0", n_resamples=25, level=0.8, random_state=1)
    assert found.value == found["e0"].value
    assert "> e0 " in str(found)
    assert found.level == 0.8
