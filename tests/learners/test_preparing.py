import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import make_pipeline as with_sampler
from imblearn.under_sampling import EditedNearestNeighbours
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.errors import InputError
from fairtrial.learners.c45 import C45
from fairtrial.learners.naive_bayes import NaiveBayes
from fairtrial.learners.prepared import Facts, Prepared
from tests.reference.weka.asking import mixed


class Spy(ClassifierMixin, BaseEstimator):
    """Stores its input."""

    fairtrial_facts = None

    def fit(self, X, y):
        self.seen_, self.classes_ = (X, y), np.unique(y)
        return self

    def predict(self, X):
        self.asked_ = X
        return np.full(len(X), self.classes_[0])


@parametrize_with_checks([Prepared(LogisticRegression()), Prepared(NaiveBayes())])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_a_learner_of_the_user_gets_a_frame_with_named_columns():
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0], "hue": ["red", "blue", "green"], "flag": ["no", "yes", "no"]})
    prepared = Prepared(Spy()).fit(table, ["a", "b", "a"])
    names = ["size", "hue=blue", "hue=green", "hue=red", "flag=yes"]
    assert list(prepared.learner_.seen_[0].columns) == names
    assert prepared.learner_.seen_[0]["hue=red"].tolist() == [1, 0, 0]
    prepared.predict(table)
    assert list(prepared.learner_.asked_.columns) == names
    assert list(Prepared(Spy()).fit(table[["size"]], ["a", "b", "a"]).learner_.seen_[0].columns) == ["size"]


def test_the_standard_preparation_is_scikit_learns_pipeline():
    table = mixed()
    X, y = table.drop(columns="class"), table["class"].astype(str)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    values = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="if_binary"), StandardScaler(with_mean=False)
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include=float)),
        (values, make_column_selector(dtype_include="category")),
        sparse_threshold=0,
    )
    theirs = make_pipeline(columns, LogisticRegression(C=1e3, max_iter=5000, tol=1e-10)).fit(X[::2], y[::2])
    ours = Prepared(LogisticRegression(C=1e3, max_iter=5000, tol=1e-10)).fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.predict_proba(X[1::2]), theirs.predict_proba(X[1::2]), atol=2e-3)
    assert ours.preparation_ == {"missing": "mean or mode", "nominal": "binary columns", "scale": "standard"}


def test_only_what_is_needed_is_done():
    table = mixed()
    X, y = table.drop(columns="class"), table["class"].astype(str)
    assert Prepared(NaiveBayes()).fit(X, y).preparation_ == {}
    assert Prepared(HistGradientBoostingClassifier(max_iter=3)).fit(X, y).preparation_ == {}
    forest = Prepared(RandomForestClassifier(n_estimators=3, random_state=0)).fit(X, y)
    assert forest.preparation_ == {"nominal": "binary columns"}
    np.testing.assert_array_equal(Prepared(NaiveBayes()).fit(X, y).predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X))


def test_missing_values_are_filled_from_training_rows_only():
    spy = Prepared(Spy()).fit(pd.DataFrame({"size": [1.0, 3.0, np.nan]}), ["a", "b", "a"])
    spy.predict(pd.DataFrame({"size": [np.nan, 100.0]}))
    assert spy.learner_.asked_["size"].tolist() == [2.0, 100.0]


def test_samplers_change_training_rows_and_never_test_rows():
    X, y = load_breast_cancer(return_X_y=True)
    spy = Prepared(Spy(), sampler=RandomOverSampler(random_state=0)).fit(X, y)
    seen, labels = spy.learner_.seen_
    assert np.bincount(labels).tolist() == [357, 357]
    assert len(seen) == 714
    spy.predict(X)
    np.testing.assert_array_equal(spy.learner_.asked_, X)
    assert spy.preparation_ == {"sampler": "RandomOverSampler(random_state=0)"}


def test_smote_is_imbalanced_learns_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    theirs = with_sampler(SMOTE(random_state=4), StandardScaler(), LogisticRegression())
    ours = Prepared(LogisticRegression(), sampler=SMOTE(random_state=4))
    np.testing.assert_allclose(cross_val_score(ours, X, y, cv=3), cross_val_score(theirs, X, y, cv=3))


def test_the_preparation_can_be_replaced_or_left_out():
    table = mixed()
    X, y = table.drop(columns="class"), table["class"].astype(str)
    own = make_column_transformer((OrdinalEncoder(encoded_missing_value=-1), ["hue", "flag"]), remainder=SimpleImputer())
    replaced = Prepared(LogisticRegression(max_iter=1000), preparation=own).fit(X, y)
    assert replaced.learner_.n_features_in_ == 4
    assert "OrdinalEncoder" in replaced.preparation_["preparation"]
    with pytest.raises(ValueError, match="could not convert"):
        Prepared(LogisticRegression(), preparation="none").fit(X, y)


def test_parameters_of_the_learner_can_be_searched():
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(Prepared(LogisticRegression()), {"learner__C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_params_["learner__C"] in (0.1, 1.0)


def test_methods_are_those_of_the_learner():
    assert not hasattr(Prepared(LinearSVC()), "predict_proba")
    assert hasattr(Prepared(LinearSVC()), "decision_function")


def test_an_unknown_preparation():
    with pytest.raises(InputError, match="'standard'"):
        Prepared(NaiveBayes(), preparation="standart").fit([[1.0], [2.0]], ["a", "b"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learner": "c45"}, "'c45'.*make_learner"),
        ({"learner": NaiveBayes}, "learner.*NaiveBayes"),
        ({"learner": NaiveBayes(), "sampler": "smote"}, "sampler.*'smote'"),
    ],
)
def test_names_and_classes_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Prepared(**wrong).fit([[1.0], [2.0]], ["a", "b"])


def test_sampling_and_imputation_are_recorded():
    table = mixed()
    X, y = table.drop(columns="class"), table["class"].astype(str)
    prepared = Prepared(NaiveBayes(), sampler=SMOTE(random_state=0), preparation="none").fit(X, y)
    assert prepared.preparation_["missing"] == "mean or mode"
    assert prepared.preparation_["sampler"].startswith("SMOTENC")
    whole = X.dropna()
    assert Prepared(LogisticRegression()).fit(whole, y[whole.index]).preparation_ == {
        "nominal": "binary columns",
        "scale": "standard",
    }


def test_classes_that_a_sampler_removes_keep_their_column():
    X = np.r_[np.random.default_rng(0).normal(size=(40, 2)) + 9 * (np.arange(40) % 2)[:, None], [[0.0, 0.0], [9.0, 9.0]]]
    y = np.array(["a", "b"] * 20 + ["c", "c"])
    learner = Prepared(LogisticRegression(), sampler=EditedNearestNeighbours(sampling_strategy="all")).fit(X, y)
    assert learner.learner_.classes_.tolist() != learner.classes_.tolist()
    assert learner.predict_proba(X).shape == (42, 3)


def test_test_rows_are_filled_as_training_rows_were_when_there_is_a_sampler():
    X = np.array([[1.0], [3.0], [np.nan], [9.0], [9.5], [8.5]])
    spy = Prepared(Spy(), sampler=RandomOverSampler(random_state=0)).fit(X, list("aabbbb"))
    spy.predict([[np.nan]])
    assert spy.learner_.asked_.tolist() == [[np.nanmean(X)]]


def test_a_learner_that_needs_nothing_learns_as_it_does_alone():
    table = mixed()
    X = table.drop(columns="class")
    y = table["class"].cat.reorder_categories(["c", "a", "b"])
    assert Prepared(C45()).fit(X, y).learner_.export_text() == C45().fit(X, y).export_text()


def test_a_preparation_may_look_at_the_classes():
    table = mixed()
    learner = Prepared(LogisticRegression(), preparation=TargetEncoder(random_state=0))
    assert (
        learner.fit(table[["hue", "flag"]], table["class"].astype(str)).score(
            table[["hue", "flag"]], table["class"].astype(str)
        )
        > 0.4
    )


class Numbered(LogisticRegression):
    """Accepts only the classes 0, 1, ..., as xgboost does."""

    fairtrial_facts = Facts(nominal=False, missing=False, numbered=True)

    def fit(self, X, y):
        assert sorted(set(np.asarray(y).tolist())) == list(range(len(set(y))))
        return super().fit(X, y)


def test_classes_are_numbered_for_learners_that_need_it():
    table = mixed()
    X, y = table.drop(columns="class"), table["class"].astype(str)
    numbered = Prepared(Numbered(max_iter=1000)).fit(X, y)
    named = Prepared(LogisticRegression(max_iter=1000), preparation="standard").fit(X, y)
    assert set(numbered.predict(X)) <= {"a", "b", "c"}
    assert (numbered.predict(X) == named.predict(X)).mean() > 0.95
    assert numbered.predict_proba(X).shape == (240, 3)


class ColumnOfLabels(GaussianNB):
    """Returns predictions as a column, as CatBoost does."""

    def predict(self, X):
        return super().predict(X).reshape(-1, 1)


def test_predictions_in_a_column_become_one_label_per_row():
    X, y = load_iris(return_X_y=True)
    predictions = Prepared(ColumnOfLabels()).fit(X, y).predict(X)
    assert predictions.tolist() == GaussianNB().fit(X, y).predict(X).tolist()
