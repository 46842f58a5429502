"""All learners of the catalogue meet the contract, and for each rule a broken learner is reported under this rule."""

from itertools import count

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from fairtrial.learners import Facts, Prepared, learner_class, listing, make_learner
from fairtrial.learners.catalogue import get_parameters
from fairtrial.testing import check_learner, find_violations, list_rules

SMALL = {
    "ada-boost": {"n_estimators": 5},
    "adaboost-m1": {"n_estimators": 3},
    "bagging": {"n_estimators": 3},
    "calibrated-classifier-cv": {"cv": 2, "estimator": GaussianNB()},
    "extra-trees": {"n_estimators": 3},
    "gradient-boosting": {"n_estimators": 3},
    "hist-gradient-boosting": {"max_iter": 2},
    "logistic-regression-cv": {"cv": 2, "Cs": 2, "use_legacy_attributes": False},
    "mlp": {"hidden_layer_sizes": (5,), "solver": "lbfgs", "max_iter": 50},
    "random-forest": {"n_estimators": 3},
    "xgboost": {"n_estimators": 3},
    "lightgbm": {"n_estimators": 3},
    "catboost": {"n_estimators": 3, "verbose": 0, "allow_writing_files": False},
}


@pytest.mark.parametrize("name", listing()["name"])
def test_the_learners_of_the_catalogue_meet_the_contract(name):
    learner_type = learner_class(name)
    known = make_learner(name).get_params().keys() | get_parameters(learner_type).keys()
    learner = make_learner(name, **{key: value for key, value in SMALL.get(name, {}).items() if key in known})
    from_another_package = learner_type.__module__.split(".")[0] in ("catboost", "lightgbm", "xgboost")
    with threadpool_limits(1):
        check_learner(Prepared(learner) if from_another_package else learner)  # as a study runs it


@pytest.mark.parametrize("learner", [GaussianNB(), LinearSVC()], ids=lambda learner: type(learner).__name__)
def test_prepared_learners_meet_the_contract(learner):
    check_learner(Prepared(learner))


class NoneFromSetParams(GaussianNB):
    def set_params(self, **parameters):
        super().set_params(**parameters)


class NoneFromFit(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)


class ChangesParameter(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.var_smoothing = self.var_smoothing * 2
        return self


class UnsortedClasses(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.labels_, self.classes_ = self.classes_, self.classes_[::-1]
        return self

    def predict(self, X):
        return self.labels_[np.argmax(self._joint_log_likelihood(np.asarray(X)), axis=1)]


class UnknownLabel(GaussianNB):
    def predict(self, X):
        labels = super().predict(X)
        return np.where(labels == "blue", "purple", labels) if labels.dtype.kind == "U" else labels


class HalfProbabilities(GaussianNB):
    def predict_proba(self, X):
        return super().predict_proba(X) / 2


class ReversedProbabilities(GaussianNB):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


class TwoDecisionColumns(GaussianNB):
    def decision_function(self, X):
        return self.predict_log_proba(X)


class Unseeded(GaussianNB):
    """Each fit gives other predictions."""

    fits = count(2)

    def fit(self, X, y, sample_weight=None):
        self.fit_ = next(self.fits)
        return super().fit(X, y)

    def predict(self, X):
        codes = np.argmax(self._joint_log_likelihood(np.asarray(X)), axis=1)
        is_odd = (np.asarray(X)[:, 0] * 1e9).astype(int) % self.fit_ == 0
        return self.classes_[np.where(is_odd, (codes + 1) % len(self.classes_), codes)]


class LearnsOnce(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        return self if hasattr(self, "theta_") else super().fit(X, y)


class ScaledRows(GaussianNB):
    """Predictions depend on the number of rows to predict."""

    def predict(self, X):
        return super().predict(np.asarray(X) * len(X) / 60)


class ModifiesRows(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        if isinstance(X, np.ndarray):
            X += 1
        return self


class OtherPredictionsForFrames(GaussianNB):
    def predict(self, X):
        return super().predict(X)[::-1] if isinstance(X, pd.DataFrame) else super().predict(X)


class TextLabels(GaussianNB):
    def predict(self, X):
        return super().predict(X).astype(str)


class DeclaresNominal(GaussianNB):
    fairtrial_facts = Facts(nominal=True, missing=False)


class DeclaresMissing(GaussianNB):
    fairtrial_facts = Facts(nominal=False, missing=True)


class IgnoresMissing(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        return super().fit(np.nan_to_num(np.asarray(X)), y)


class OtherPickle(GaussianNB):
    def __getstate__(self):
        state = super().__getstate__()
        return state | {"theta_": state["theta_"][::-1]} if "theta_" in state else state


BROKEN = {
    "parameters_round_trip": NoneFromSetParams(),
    "fit_returns_self": NoneFromFit(),
    "fit_keeps_parameters": ChangesParameter(),
    "classes_are_sorted": UnsortedClasses(),
    "predictions_are_classes": UnknownLabel(),
    "probabilities_sum_to_one": HalfProbabilities(),
    "probabilities_follow_classes": ReversedProbabilities(),
    "decision_values_have_columns": TwoDecisionColumns(),
    "same_seed_gives_same_predictions": Unseeded(),
    "refit_forgets": LearnsOnce(),
    "rows_are_predicted_independently": ScaledRows(),
    "input_is_not_modified": ModifiesRows(),
    "frames_match_arrays": OtherPredictionsForFrames(),
    "labels_keep_their_type": TextLabels(),
    "nominal_columns_are_accepted": DeclaresNominal(),
    "missing_values_are_accepted": DeclaresMissing(),
    "missing_values_are_refused": IgnoresMissing(),
    "pickled_copy_predicts_equally": OtherPickle(),
}
ALSO_VIOLATED = {"same_seed_gives_same_predictions": {"refit_forgets", "frames_match_arrays"}}


def test_every_rule_has_a_broken_example():
    assert list(BROKEN) == [rule.name for rule in list_rules("learner")]


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_learner_is_reported_under_its_rule(rule):
    assert set(find_violations("learner", BROKEN[rule])) == {rule} | ALSO_VIOLATED.get(rule, set())
