import subprocess
import sys
import types

import pytest
from sklearn.base import BaseEstimator, is_classifier

from fairtrial.errors import InputError, UnknownNameError
from fairtrial.learners import catalogue, register_learner
from fairtrial.learners.catalogue import describe_learner, learner_class, listing, make_learner


def test_all_listed_learners_can_be_made_and_are_classifiers():
    lines = listing()
    assert lines["name"].is_unique
    assert {"c45", "one-r", "ripper", "naive-bayes", "puk-svc", "smo", "pdfc", "chi", "random-forest", "mlp"} <= set(
        lines["name"]
    )
    for name in lines["name"]:
        learner = make_learner(name)
        assert is_classifier(learner) or hasattr(learner, "predict"), name


def test_short_names_of_scikit_learn():
    for name, expected in {
        "svc": "SVC",
        "gaussian-nb": "GaussianNB",
        "decision-tree": "DecisionTreeClassifier",
        "mlp": "MLPClassifier",
    }.items():
        assert learner_class(name).__name__ == expected


def test_aliases_from_weka():
    assert [learner_class(name).__name__ for name in ("J48", "c4.5", "JRip", "IBk", "knn")] == [
        "C45",
        "C45",
        "Ripper",
        "NearestNeighbours",
        "NearestNeighbours",
    ]
    with pytest.raises(InputError, match="SMO"):
        make_learner(learner_class("smo")())


def test_required_arguments_are_described():
    assert "estimators" in describe_learner("sklearn.ensemble.VotingClassifier")


def test_any_importable_class():
    assert learner_class("sklearn.linear_model.LogisticRegression").__name__ == "LogisticRegression"
    with pytest.raises(UnknownNameError, match=r"'sklearn\.nowhere\.Nothing'"):
        learner_class("sklearn.nowhere.Nothing")
    with pytest.raises(InputError, match="StandardScaler"):
        learner_class("sklearn.preprocessing.StandardScaler")


@pytest.mark.parametrize(("name", "package"), [("xgboost", "xgboost"), ("lightgbm", "lightgbm"), ("catboost", "catboost")])
def test_boosted_trees_when_installed(name, package, monkeypatch):
    class Trees(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return X

    module = types.ModuleType(package)
    setattr(module, catalogue._OPTIONAL_LEARNERS[name].split(".")[1], Trees)
    monkeypatch.setattr(catalogue, "find_spec", lambda asked: object() if asked == package else None)
    monkeypatch.setitem(sys.modules, package, module)
    assert learner_class(name) is Trees
    monkeypatch.setattr(catalogue, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=f"{name} is not installed: pip install {package}"):
        learner_class(name)


def test_packages_register_their_own_learners(monkeypatch):
    monkeypatch.setattr(catalogue.learners, "_items", {})
    monkeypatch.setattr(catalogue.learners, "_aliases", {})
    assert register_learner("mine", aliases=("my-own",))(BaseEstimator) is BaseEstimator
    assert learner_class("mine") is learner_class("my-own") is BaseEstimator


def test_wrong_parameters():
    with pytest.raises(InputError, match=r"'c'.*'C'"):
        make_learner("smo", c=1)


def test_description_of_one_learner():
    text = describe_learner("smo")
    assert "fairtrial.learners.svm.SMO" in text
    assert "exponent = 1.0" in text
    assert "missing values filled" in describe_learner("logistic-regression")


def test_common_names_agree_with_a_search_of_scikit_learn():
    found = catalogue.find_scikit_learn_classes()
    assert all(catalogue.learner_class(name) is found[name] for name in catalogue._COMMON_LEARNERS)


def test_common_names_need_no_search_of_scikit_learn():
    code = (
        "import sys; from fairtrial.learners import make_learner; make_learner('gaussian-nb'); "
        "assert 'sklearn.utils._testing' not in sys.modules, 'looked through'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
