import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.reproduce.estimates.estimating import METHODS, Parts, estimates, schemes
from fairtrial.reproduce.estimates.problems import drawn, plan_of
from fairtrial.resampling import estimate

PLAN = plan_of("smoke")


@pytest.fixture(scope="module")
def sample():
    return drawn("rare class", 40, 5)


def test_all_methods_and_their_limits(sample):
    for learner in ("naive Bayes", "C4.5"):
        found = estimates(learner, *sample, PLAN, np.random.default_rng(1))
        assert tuple(found) == METHODS
        assert all(0 <= each.low <= each.value <= each.high <= 1 for each in found.values())


def test_resubstitution_and_leave_one_out_are_scikit_learns(sample):
    X, y, _ = sample
    for name, twin in {"naive Bayes": GaussianNB(), "nearest neighbour": KNeighborsClassifier(1)}.items():
        found = estimates(name, *sample, PLAN, np.random.default_rng(1))
        assert found["leave-one-out"].value == pytest.approx(1 - cross_val_score(twin, X, y, cv=LeaveOneOut()).mean())
        assert found["resubstitution"].value == pytest.approx(1 - twin.fit(X, y).score(X, y))


def test_folds_and_bootstrap_from_the_same_splits_one_by_one(sample):
    X, y, _ = sample
    found = estimates("naive Bayes", *sample, PLAN, np.random.default_rng(3))
    own = schemes(PLAN, y, np.random.default_rng(3))
    five = list(own["5-fold"].split(X, y))
    errors = sum((GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]).sum() for train, test in five)
    assert found["5-fold"].value == pytest.approx(errors / 40)
    draws = own["bootstrap"]
    twin = estimate(GaussianNB(), X, y, n_resamples=draws.n_splits, random_state=draws.random_state)
    for method, name in {"e0": "bootstrap E0", "632-e0": ".632", "632+": ".632+"}.items():
        assert found[name] == pytest.approx((twin[method].value, twin[method].low, twin[method].high))
    assert found[".632"].value == pytest.approx(0.632 * found["bootstrap E0"].value + 0.368 * found["resubstitution"].value)


def test_subsampling_is_the_mean_over_splits_with_nadeau_and_bengios_interval(sample):
    X, y, _ = sample
    found = estimates("naive Bayes", *sample, PLAN, np.random.default_rng(4))["subsampling"]
    splits = list(schemes(PLAN, y, np.random.default_rng(4))["subsampling"].split(X, y))
    errors = np.array([1 - GaussianNB().fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits])
    assert found.value == pytest.approx(errors.mean())
    test, train = len(splits[0][1]), len(splits[0][0])
    half = 2.776445 * np.sqrt((1 / 5 + test / train) * errors.var(ddof=1))  # t of 4 degrees of freedom
    assert found.high == pytest.approx(min(errors.mean() + half, 1))


def test_folds_are_not_stratified_where_no_class_has_ten_rows():
    X, y = np.arange(24.0).reshape(24, 1), np.repeat([0, 1, 2], 8)
    own = schemes(PLAN, y, np.random.default_rng(1))
    parts = Parts.of(own["10-fold, 5 times"], X, y)
    assert parts.tested.sum(axis=0).tolist() == [5] * 24
    assert (parts.weights[parts.tested] == 0).all()
