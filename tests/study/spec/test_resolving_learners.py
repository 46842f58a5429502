"""Names and parameters become learners, prepared where they need it."""

import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fairtrial.data import load
from fairtrial.learners import C45, Bagging, Prepared
from fairtrial.resampling import Repeated
from fairtrial.study.spec.learners import resolve_learners
from fairtrial.study.spec.local_code import CodePolicy
from fairtrial.study.spec.models import StudySpec
from fairtrial.study.spec.tuning import Tuned


def found(learners, objects=None, code=None):
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": learners})
    return resolve_learners(declared.learners, code or CodePolicy(), objects or {})


def made(learner, **other):
    [one], mistakes = found({"it": learner}, **other)
    assert mistakes == []
    return one.estimator


def test_only_what_needs_it_is_prepared():
    assert type(made({"learner": "c45"})) is C45
    forest = made({"learner": "random-forest", "parameters": {"n_estimators": 7}})
    assert isinstance(forest, Prepared)
    assert forest.learner.n_estimators == 7
    assert forest.learner.random_state is None
    assert type(made("hist-gradient-boosting")).__name__ == "HistGradientBoostingClassifier"


@pytest.mark.parametrize("name", ["c4.5", "J48", "C4.5"])
def test_aliases_with_a_dot_are_names(name):
    assert type(made({"learner": name})) is C45


def test_samplers():
    smoted = made({"learner": "c45", "sampler": {"sampler": "smote", "k_neighbors": 3}})
    assert isinstance(smoted, Prepared)
    assert smoted.sampler.k_neighbors == 3
    assert type(made({"learner": "c45", "sampler": "tomek-links"}).sampler).__name__ == "TomekLinks"


def test_learners_within_learners():
    bagged = made({"learner": "bagging", "parameters": {"estimator": {"learner": "c45", "parameters": {"confidence": 0.1}}}})
    assert isinstance(bagged, Bagging)
    assert bagged.estimator.confidence == 0.1
    voted = made(
        {
            "learner": "sklearn.ensemble.VotingClassifier",
            "parameters": {"estimators": [["a", {"learner": "gaussian-nb"}], ["b", {"learner": "svc"}]], "weights": [1, 2]},
        }
    )
    assert isinstance(voted.learner, VotingClassifier)
    assert [type(each).__name__ for _, each in voted.learner.estimators] == ["GaussianNB", "SVC"]
    steps = [["scale", {"transformer": "sklearn.preprocessing.StandardScaler"}], ["learn", {"learner": "logistic-regression"}]]
    piped = made({"learner": "sklearn.pipeline.Pipeline", "parameters": {"steps": steps}})
    assert type(piped) is Pipeline
    assert type(piped.steps[1][1]) is LogisticRegression


def test_none_can_be_written():
    forest = made({"learner": "random-forest", "parameters": {"max_features": {"value": "none"}}})
    assert forest.learner.max_features is None


def test_tuning():
    tune = {"grid": {"n_neighbors": [1, 3]}, "resampling": {"folds": 3, "repeats": 2}, "measure": "brier"}
    tuned = made({"learner": "k-neighbors", "tune": tune})
    assert isinstance(tuned, Tuned)
    assert isinstance(tuned.learner, Prepared)
    assert (tuned.grid, tuned.measure, tuned.random_state) == ({"n_neighbors": [1, 3]}, "brier", None)
    assert isinstance(tuned.resampling, Repeated)
    assert tuned.resampling.get_n_splits() == 6


def test_objects_are_prepared_like_names():
    [one], _ = found({"mine": {"object": "x"}}, {("learners", "mine"): RandomForestClassifier(3)})
    assert isinstance(one.estimator, Prepared)
    assert one.estimator.learner.n_estimators == 3


def test_local_code_by_a_file(tmp_path):
    text = "from sklearn.tree import DecisionTreeClassifier\nclass Mine(DecisionTreeClassifier):\n    pass\n"
    (tmp_path / "own_learner.py").write_text(text)
    assert type(made("own_learner.py:Mine", code=CodePolicy(True, tmp_path)).learner).__name__ == "Mine"
    _, [mistake] = found({"it": "own_learner.py:Mine"}, code=CodePolicy(False, tmp_path))
    assert mistake.path == ("learners", "it", "learner")
    assert "is refused" in mistake.message


@pytest.mark.parametrize(
    ("learner", "path", "told"),
    [
        ("random-forrest", ("learner",), "'random-forest'"),
        ("os:system", ("learner",), "is refused"),
        ("os.system", ("learner",), "is refused"),
        ("no_such.Class", ("learner",), "no_such"),
        ({"learner": "c45", "parameters": {"confidance": 1}}, ("parameters", "confidance"), "'confidence'"),
        (
            {"learner": "sklearn.svm.SVC", "parameters": {"c": 1}},
            ("parameters", "c"),
            "'C'",
        ),
        ({"learner": "sklearn.ensemble.VotingClassifier"}, ("parameters",), "VotingClassifier"),
        ({"learner": "c45", "sampler": "smoote"}, ("sampler",), "'smote'"),
        (
            {"learner": "c45", "sampler": {"sampler": "smote", "k_neighbours": 3}},
            ("sampler", "k_neighbours"),
            "'k_neighbors'",
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"learner": "c46"}}},
            ("parameters", "estimator", "learner"),
            "'c45'",
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"learner": "os.system"}}},
            ("parameters", "estimator", "learner"),
            "is refused",
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"transformer": "subprocess.Popen"}}},
            ("parameters", "estimator"),
            "is refused",
        ),
        ({"learner": "svc", "tune": {"grid": {"c": [1]}}}, ("tune", "grid"), "'C'"),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "measure": "acuracy"}},
            ("tune", "measure"),
            "'accuracy'",
        ),
        ({"learner": "svc", "tune": {"grid": {"C": [1]}, "measure": "ela"}}, ("tune", "measure"), "ela"),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "measure": "regression.mse"}},
            ("tune", "measure"),
            "regression.mse",
        ),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "resampling": "given"}},
            ("tune", "resampling"),
            "'given'",
        ),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "resampling": "kfol"}},
            ("tune", "resampling"),
            "'kfold'",
        ),
        ({"object": "lost"}, (), "Python object"),
    ],
)
def test_mistakes(learner, path, told):
    _, [mistake] = found({"it": learner})
    assert mistake.path == ("learners", "it", *path)
    assert told in mistake.message


def test_all_mistakes_of_a_learner_are_told():
    wrong = {"learner": "svc", "parameters": {"c": 1, "kernal": 2}, "sampler": "smoote"}
    _, mistakes = found({"it": wrong})
    assert {each.path[2:] for each in mistakes} == {("parameters", "c"), ("parameters", "kernal"), ("sampler",)}
    wrong = {"learner": "svc", "tune": {"grid": {"c": [1]}, "measure": "x", "resampling": "y"}}
    _, mistakes = found({"it": wrong})
    assert {each.path[3:] for each in mistakes} == {("grid",), ("measure",), ("resampling",)}


def test_the_same_learner_twice_is_refused():
    _, [mistake] = found({"a": "c45", "b": {"learner": "C4.5", "parameters": {"confidence": 0.25}}})
    assert mistake.path == ("learners", "b")
    assert mistake.message.startswith("b and a ")
    assert found({"a": "c45", "b": {"learner": "c45", "parameters": {"confidence": 0.1}}})[1] == []


def test_a_learner_that_is_none_is_refused():
    for wrong in (C45, 3):
        _, [mistake] = found({"a": {"object": "x"}}, {("learners", "a"): wrong})
        assert "fit and predict" in mistake.message


def test_preparation_can_be_turned_off():
    bare = made({"learner": "svc", "preparation": "none"})
    assert (type(bare), bare.preparation, bare.sampler) == (Prepared, "none", None)
    data = load("wine")
    rows, answers = data.X.to_numpy(), data.y.astype(object)
    alone, standard = SVC().fit(rows, answers), make_pipeline(StandardScaler(), SVC()).fit(rows, answers)
    assert bare.fit(data.X, data.y).predict(data.X).tolist() == alone.predict(rows).tolist()
    prepared = made("svc").fit(data.X, data.y)
    assert prepared.predict(data.X).tolist() == standard.predict(rows).tolist() != alone.predict(rows).tolist()
    assert made({"learner": "svc", "sampler": "smote", "preparation": "none"}).preparation == "none"
    assert type(made({"learner": "c45", "preparation": "standard"})) is C45
    nested = made({"learner": "bagging", "parameters": {"estimator": {"learner": "svc", "preparation": "standard"}}})
    assert nested.estimator.preparation == "standard"


@pytest.mark.parametrize(
    ("learner", "paths"),
    [
        (
            {"learner": "random-forest", "parameters": {"n_estimators": "many", "max_depth": -3}},
            [("parameters", "n_estimators"), ("parameters", "max_depth")],
        ),
        ({"learner": "c45", "sampler": {"sampler": "smote", "k_neighbors": "x"}}, [("sampler", "k_neighbors")]),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1, -1], "kernel": ["rbf", "rbff"]}}},
            [("tune", "grid", "C", 1), ("tune", "grid", "kernel", 1)],
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"learner": "svc", "parameters": {"C": "x"}}}},
            [("parameters", "estimator", "parameters", "C")],
        ),
    ],
)
def test_values_that_scikit_learn_refuses_are_told_before_anything_runs(learner, paths):
    _, mistakes = found({"it": learner})
    assert [each.path for each in mistakes] == [("learners", "it", *each) for each in paths]


def test_so_are_those_of_objects():
    _, [mistake] = found({"it": {"object": "x"}}, {("learners", "it"): RandomForestClassifier("many")})
    assert mistake.path == ("learners", "it", "n_estimators")
    assert mistake.message == "n_estimators must be an int in the range [1, inf), got 'many'"
