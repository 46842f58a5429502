"""Measures as scikit-learn scorers, in the tools that call them."""

import pickle

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from fairtrial import measures
from fairtrial.errors import InputError


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::3, :5], y[::3]


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


SAME = {
    "accuracy": (measures.accuracy, "accuracy"),
    "balanced_accuracy": (measures.balanced_accuracy, "balanced_accuracy"),
    "f_score": (measures.f_score, "f1"),
    "auc": (measures.auc, "roc_auc"),
    "average_precision": (measures.average_precision, "average_precision"),
    "brier": (measures.brier, "neg_brier_score"),
    "log_loss": (measures.log_loss, "neg_log_loss"),
    "mcc": (measures.mcc, "matthews_corrcoef"),
}


@pytest.mark.parametrize("name", SAME)
def test_cross_validate_gives_scikit_learns_scores(name, tumours):
    ours, theirs = SAME[name]
    scoring = {"ours": ours.scorer(), "theirs": theirs}
    found = cross_validate(make_pipeline(StandardScaler(), LogisticRegression()), *tumours, scoring=scoring, cv=3)
    np.testing.assert_allclose(found["test_ours"], found["test_theirs"], atol=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (measures.auc.scorer(), "roc_auc_ovr"),
        (measures.auc.scorer(average="weighted"), "roc_auc_ovr_weighted"),
        (measures.hand_till.scorer(), "roc_auc_ovo"),
        (measures.f_score.scorer(), "f1_macro"),
        (measures.log_loss.scorer(clip=np.finfo(float).eps), "neg_log_loss"),
    ],
)
def test_text_labels_of_three_classes(ours, theirs, flowers):
    found = cross_validate(
        DecisionTreeClassifier(max_depth=2, random_state=0), *flowers, scoring={"o": ours, "t": theirs}, cv=3
    )
    np.testing.assert_allclose(found["test_o"], found["test_t"], atol=1e-12)


def test_grid_search_chooses_what_the_measure_prefers(tumours):
    grid = {"n_neighbors": [1, 5, 25]}
    ours = GridSearchCV(KNeighborsClassifier(), grid, scoring=measures.error_rate.scorer(), cv=3, n_jobs=1).fit(*tumours)
    theirs = GridSearchCV(KNeighborsClassifier(), grid, scoring="accuracy", cv=3).fit(*tumours)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"] - 1)
    assert measures.auc.scorer()(ours, *tumours) == pytest.approx(
        metrics.roc_auc_score(tumours[1], ours.predict_proba(tumours[0])[:, 1])
    )


def test_a_measure_to_be_minimised_is_negated(tumours):
    learner = GaussianNB().fit(*tumours)
    X, y = tumours
    assert measures.brier.scorer()(learner, X, y) == pytest.approx(-metrics.brier_score_loss(y, learner.predict_proba(X)[:, 1]))
    assert measures.auc.scorer()(learner, X, y) > 0


def test_a_learner_with_a_decision_function_only(tumours, flowers):
    for X, y in (tumours, flowers):
        learner = make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit(X, y)
        assert not hasattr(learner, "predict_proba")
        score = measures.auc.scorer()(learner, X, y)
        columns = learner.decision_function(X)
        if columns.ndim == 1:
            assert score == pytest.approx(metrics.roc_auc_score(y, columns))
        else:
            expected = [metrics.roc_auc_score(y == c, columns[:, i]) for i, c in enumerate(learner.classes_)]
            assert score == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("learner", [GaussianNB(), LinearSVC(random_state=0)], ids=["probabilities", "decisions"])
def test_the_first_class_may_be_the_positive_one(learner, tumours):
    X, y = StandardScaler().fit_transform(tumours[0]), np.where(tumours[1] == 1, "healthy", "alarm")
    learner = learner.fit(X, y)
    scores = learner.predict_proba(X)[:, 0] if hasattr(learner, "predict_proba") else -learner.decision_function(X)
    expected = metrics.average_precision_score(y == "alarm", scores)
    assert measures.average_precision.scorer(positive="alarm")(learner, X, y) == pytest.approx(expected)
    assert measures.recall.scorer(positive="alarm")(learner, X, y) == pytest.approx(
        metrics.recall_score(y, learner.predict(X), pos_label="alarm")
    )


def test_probabilities_with_the_first_class_positive(tumours):
    X, y = tumours
    learner = GaussianNB().fit(X, y)
    expected = metrics.brier_score_loss(y, learner.predict_proba(X)[:, 0], pos_label=0)
    assert measures.brier.scorer(positive=0)(learner, X, y) == pytest.approx(-expected)


def test_weights_reach_the_measure(tumours):
    X, y = tumours
    w = np.random.default_rng(0).random(len(y))
    learner = GaussianNB().fit(X, y)
    expected = metrics.roc_auc_score(y, learner.predict_proba(X)[:, 1], sample_weight=w)
    assert measures.auc.scorer()(learner, X, y, sample_weight=w) == pytest.approx(expected)


def test_parameters_of_the_measure_are_kept(tumours):
    X, y = tumours
    learner = GaussianNB().fit(X, y)
    assert measures.f_score.scorer(beta=2)(learner, X, y) == pytest.approx(metrics.fbeta_score(y, learner.predict(X), beta=2))


def test_a_fold_that_misses_a_class_is_scored_over_all_classes(flowers):
    X, y = flowers
    learner = GaussianNB().fit(X, y)
    first = y == "setosa"
    assert measures.accuracy.scorer()(learner, X[first], y[first]) == pytest.approx(
        np.mean(learner.predict(X[first]) == "setosa")
    )


def test_regression_needs_no_classes():
    X, y = make_regression(60, 3, noise=5, random_state=0)
    scoring = {"ours": measures.regression.rmse.scorer(), "theirs": "neg_root_mean_squared_error"}
    found = cross_validate(LinearRegression(), X, y, scoring=scoring, cv=3)
    np.testing.assert_allclose(found["test_ours"], found["test_theirs"])


def test_a_scorer_pickles(tumours):
    scorer = measures.h_measure.scorer(severity_ratio=1)
    again = pickle.loads(pickle.dumps(scorer))
    learner = GaussianNB().fit(*tumours)
    assert again == scorer
    assert again(learner, *tumours) == scorer(learner, *tumours)


class OnlyLabels(ClassifierMixin, BaseEstimator):
    """A learner without scores of any kind."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    ("measure", "learner", "message"),
    [
        (measures.brier, LinearSVC(random_state=0), "brier.*predict_proba.*LinearSVC"),
        (measures.auc, OnlyLabels(), "auc.*decision_function.*predict_proba.*OnlyLabels"),
        (measures.accuracy, LinearRegression(), "accuracy.*LinearRegression"),
    ],
)
def test_a_learner_that_cannot_give_what_is_needed_is_refused(measure, learner, message, tumours):
    X, y = StandardScaler().fit_transform(tumours[0]), tumours[1]
    with pytest.raises(InputError, match=message):
        measure.scorer()(learner.fit(X, y), X, y)


@pytest.mark.parametrize("measure", [measures.recall, measures.auc, measures.brier], ids=lambda each: each.name)
def test_a_positive_class_that_the_learner_does_not_know_is_refused(measure, tumours):
    with pytest.raises(InputError, match=r"positive.*7"):
        measure.scorer(positive=7)(GaussianNB().fit(*tumours), *tumours)


def test_labels_in_another_order_than_the_columns_are_refused(tumours):
    learner = GaussianNB().fit(*tumours)
    with pytest.raises(InputError, match=r"labels.*\[1, 0\]"):
        measures.auc.scorer(labels=[1, 0])(learner, *tumours)


def test_a_measure_of_results_cannot_score_one_learner(tumours):
    of_results = [each for each in measures.registry.values() if each.facts.needs == "results"]
    for each in of_results:
        with pytest.raises(InputError, match=each.name):
            each.scorer()(GaussianNB().fit(*tumours), *tumours)


def test_three_classes_are_scored_by_probabilities():
    X, y = load_iris(return_X_y=True)
    learner = LogisticRegression(max_iter=1000).fit(X, y)
    expected = metrics.roc_auc_score(y, learner.predict_proba(X), multi_class="ovr")
    assert measures.auc.scorer()(learner, X, y) == pytest.approx(expected)


def test_a_class_unseen_in_training_is_an_error_of_the_learner_not_of_the_scorer():
    learner = GaussianNB().fit([[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1])
    assert measures.accuracy.scorer()(learner, [[0.0], [5.0]], [0, 2]) == 0.5


def test_options_are_checked_when_the_scorer_is_made():
    with pytest.raises(InputError, match="'severity_ratio'"):
        measures.h_measure.scorer(severity_rato=1)
