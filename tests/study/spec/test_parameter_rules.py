"""Parameters that scikit-learn would refuse are told before anything is fitted."""

import pytest
from imblearn.over_sampling import SMOTE
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fairtrial.learners import C45, Prepared
from fairtrial.study.spec.learners import explain_refusal, find_parameter_problems


class Odd:
    """Parameters that cannot be read."""

    def get_params(self, deep):
        raise RuntimeError


@pytest.mark.parametrize(
    ("estimator", "paths"),
    [
        (RandomForestClassifier("many", max_features="foo"), ["n_estimators", "max_features"]),
        (SMOTE(k_neighbors="x"), ["k_neighbors"]),
        (Prepared(SVC(C=-1)), ["learner__C"]),
        (make_pipeline(StandardScaler(with_mean=3), SVC(kernel="rbff")), ["standardscaler__with_mean", "svc__kernel"]),
        (BaggingClassifier(SVC(C="x")), ["estimator__C"]),
        (RandomForestClassifier(), []),
        (C45(), []),
        (Odd(), []),
        (object(), []),
    ],
)
def test_what_would_be_refused(estimator, paths):
    assert sorted(each.path for each in find_parameter_problems(estimator)) == sorted((each,) for each in paths)


@pytest.mark.parametrize(("kind", "name", "value"), [(RandomForestClassifier, "n_estimators", "many"), (SVC, "C", 0.0)])
def test_scikit_learn_refuses_the_same_when_it_is_fitted(kind, name, value):
    with pytest.raises(ValueError, match=name):
        kind(**{name: value}).fit([[0.0], [1.0]], [0, 1])
    assert explain_refusal(kind, name, value).startswith(f"{name} must be ")


def test_rules_that_cannot_be_read_refuse_nothing():
    kind = type("Kind", (), {"_parameter_constraints": {"a": [object()]}})
    assert explain_refusal(kind, "a", 1) is None
    assert explain_refusal(kind, "b", 1) is None
