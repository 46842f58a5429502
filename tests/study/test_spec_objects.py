"""Tests of `fairtrial.study.spec.objects`."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import tomli_w
from imblearn.over_sampling import SMOTE
from sklearn import model_selection
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fairtrial.conditions import AttributeNoise, ClassNoise, Clean, ConceptChange, MissingValues, PriorShift, Sequence
from fairtrial.data import GivenFolds, load
from fairtrial.errors import InputError, SpecError, SuspectInputWarning
from fairtrial.learners import C45, AdaBoostM1, Bagging, Prepared, get_sampler
from fairtrial.measures import accuracy
from fairtrial.resampling import (
    DOBSCV,
    Bootstrap,
    Given,
    GroupKFold,
    Holdout,
    KFold,
    LeaveOneOut,
    Repeated,
    StratifiedKFold,
    TemporalSplit,
    WekaFolds,
)
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.learners import ensure_prepared, explain_refusal, find_parameter_problems, resolve_learners
from fairtrial.study.spec.local_code import CodePolicy
from fairtrial.study.spec.models import StudySpec
from fairtrial.study.spec.objects import (
    PythonReader,
    serialize_conditions,
    serialize_data,
    serialize_learner,
    serialize_splitter,
    suggest_dataset,
    suggest_learner,
    suggest_splitter,
)
from fairtrial.study.spec.problems import SpecProblem
from fairtrial.study.spec.resolve import resolve_conditions
from fairtrial.study.spec.schemes import build_scheme, build_scheme_from_splitter
from fairtrial.study.spec.toml import SpecSource
from fairtrial.study.spec.tuning import Tuned
from fairtrial.study.study import Study

# --- Lifting ---
# Arguments of Python become plain values; objects are set aside.


def from_python(sections):
    reader = PythonReader()
    return reader.read(sections), reader.objects, reader.collector.problems


def test_data():
    iris = load("iris")
    plain, objects, _ = from_python({"data": ["wine", Path("x") / "y.csv", iris]})
    assert plain["data"]["sets"] == ["wine", "x/y.csv"]
    assert objects == {("data", "iris"): iris}
    assert from_python({"data": iris})[1] == objects
    assert from_python({"data": {"mine": iris, "file": Path("a.csv")}})[0]["data"]["file"] == "a.csv"
    assert from_python({"data": [iris, iris]})[2] == [
        SpecProblem(("data", "iris"), "two data sets are called 'iris': pass them as {name: data set}")
    ]


def test_learners():
    svc = SVC(C=np.float64(2.0))
    plain, objects, _ = from_python(
        {"learners": {"a": svc, "b": "c45", "c": {"learner": "bagging", "parameters": {"estimator": C45(), "x": None}}}}
    )
    assert plain["learners"] == {
        "a": {"learner": "svc", "parameters": {"C": 2.0}},
        "b": "c45",
        "c": {"learner": "bagging", "parameters": {"estimator": {"learner": "c45"}, "x": {"value": "none"}}},
    }
    assert objects == {("learners", "a"): svc}
    for nameless in ([svc], svc, ["c45", svc]):
        [mistake] = from_python({"learners": nameless})[2]
        assert mistake.path == ("learners",)
        assert "{'name': estimator}" in mistake.message
    [mistake] = from_python({"learners": {"a": {"parameters": {"kernel": np.zeros(3)}}}})[2]
    assert mistake.path == ("learners", "a", "parameters", "kernel")
    assert "array([0., 0., 0.])" in mistake.message


def test_conditions():
    plain, objects, _ = from_python({"conditions": [Clean(), ClassNoise(0.1), ClassNoise(0.2)]})
    assert plain["conditions"] == {
        "clean": {"condition": "clean"},
        "class-noise": {"condition": "class-noise", "level": [0.1, 0.2]},
    }
    assert objects == {("conditions", "clean"): (Clean(),), ("conditions", "class-noise"): (ClassNoise(0.1), ClassNoise(0.2))}
    plain, objects, _ = from_python({"conditions": {"class-noise": np.array([0, 0.1]).tolist(), "n": ClassNoise(0.3)}})
    assert plain["conditions"]["class-noise"] == [0, 0.1]
    assert list(objects) == [("conditions", "n")]
    assert from_python({"conditions": ClassNoise(0.3)})[0]["conditions"]["class-noise"]["level"] == [0.3]


def test_the_rest():
    plain, objects, _ = from_python(
        {
            "resampling": KFold(3),
            "measures": [accuracy, "auc"],
            "limits": ResourceLimits(),
            "verdict": {"rope": np.float64(0.1), "control": None},
        }
    )
    assert plain["resampling"] == {"scheme": "kfold", "n_splits": 3, "repeats": 1}
    assert (plain["measures"], plain["verdict"]) == (["accuracy", "auc"], {"rope": 0.1, "control": None})
    assert plain["limits"] == {"time": 3600.0, "memory": None}
    assert list(objects) == [("resampling",)]


def test_all_objects_that_no_study_can_hold_are_told_with_their_places():
    _, objects, mistakes = from_python(
        {
            "data": {"heart": np.zeros((900, 9))},
            "learners": {"nb": GaussianNB, "tree": C45(), "a": {"parameters": {"x": GaussianNB, "y": np.zeros(900)}}},
            "resampling": model_selection.StratifiedKFold,
            "verdict": {"control": object},
        }
    )
    assert list(objects) == [("learners", "tree")]
    assert [each.path for each in mistakes] == [
        ("data", "heart"),
        ("learners", "nb"),
        ("learners", "a", "parameters", "x"),
        ("learners", "a", "parameters", "y"),
        ("resampling",),
        ("verdict", "control"),
    ]
    told = [each.message for each in mistakes]
    assert told[1].endswith("pass GaussianNB()")
    assert "class GaussianNB" in told[2]
    assert "class ndarray" in told[3]
    assert told[4].endswith("pass StratifiedKFold()")
    assert max(map(len, told)) < 150


@pytest.mark.parametrize("data", [["iris", np.zeros((4, 2))], np.zeros((4, 2))])
def test_a_matrix_without_classes_is_reported_at_its_location(data):
    _, _, [problem] = from_python({"data": data})
    assert problem.path == ("data", "sets", len(data) - 1 if isinstance(data, list) else 0)
    assert problem.message.endswith("pass (X, y)")


def resolve_data_sets(data):
    return Study(data=data, learners=["gaussian-nb"]).resolve().data


def test_pairs_frames_bunches_paths_and_names_are_data_sets(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    file = tmp_path / "small.csv"
    file.write_text("a,b\n" + "1,x\n2,y\n3,x\n" * 9)
    resolved = resolve_data_sets([(X, y), load_breast_cancer(), file, "iris", X.iloc[:99, :3].assign(Class=y, last=0)])
    sizes = {entry.name: (*entry.dataset.X.shape, entry.dataset.target) for entry in resolved}
    expected = {"data-1": (178, 13, "target"), "breast_cancer": (569, 30, "class"), "small": (27, 1, "b")}
    assert sizes == expected | {"iris": (150, 4, "class"), "data-5": (99, 4, "Class")}
    [wine] = [entry.dataset for entry in resolved if entry.name == "data-1"]
    assert wine.X.equals(X)
    assert wine.y.tolist() == y.tolist()


def test_the_last_column_is_the_class_of_a_frame_and_is_named():
    frame = load("iris").frame().rename(columns={"class": "species"})
    with pytest.warns(SuspectInputWarning, match="data has no column 'target' or 'class': its last column, 'species', is"):
        [entry] = resolve_data_sets(frame)
    assert (entry.name, entry.dataset.target) == ("data", "species")
    assert entry.dataset.notes == ("The class is the column 'species'.",)


@pytest.mark.parametrize("convert", [polars.from_pandas, pyarrow.Table.from_pandas, lambda frame: frame])
def test_frames_of_every_library_are_data_sets(convert):
    frame = load_iris(as_frame=True).frame
    [entry] = resolve_data_sets({"flowers": convert(frame)})
    assert (entry.name, entry.dataset.target, len(entry.dataset)) == ("flowers", "target", 150)


def test_a_pair_may_have_lists_or_a_column_of_a_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    lists, columns = resolve_data_sets([(X.to_numpy().tolist(), list(map(str, y))), (X, y.to_frame())])
    assert lists.dataset.y.tolist() == list(map(str, y))
    assert columns.dataset.y.tolist() == y.tolist()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            [(np.zeros((4, 2)), [0, 1])],
            "data.data: data cannot be used as a data set: X and y must have the same number of rows",
        ),
        (
            {"a": (np.zeros((4, 2)), [0, 1, None, 1])},
            "data.a: a cannot be used as a data set: y must not contain missing labels",
        ),
        ([pd.DataFrame({"target": [0, 1]})], "data.data: data cannot be used as a data set: the table must have at least 2"),
        (
            [(np.zeros((4, 2)), np.zeros((4, 2)))],
            "data.sets[0]: a data set must be a tuple (X, y) of a table and one class for",
        ),
        ([load_iris(), load_iris()], "data.iris: two data sets are called 'iris': pass them as {name: data set}"),
    ],
)
def test_data_in_memory_that_cannot_be_used_are_refused_in_one_sentence(data, problem):
    with pytest.raises(SpecError) as caught:
        resolve_data_sets(data)
    assert str(caught.value).startswith(problem)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("section", ["data", "learners", "conditions", "resampling"])
def test_what_cannot_be_written_is_named(section):
    mark = {"object": "thing"} if section == "resampling" else {"x": {"object": "thing"}}
    good = {"data": ["iris"], "learners": ["c45"]}
    source = SpecSource(good)
    source.to_toml(StudySpec.from_mapping(good))
    with pytest.raises(InputError, match=rf"{section}\S* .*\(thing\): "):
        source.to_toml(StudySpec.from_mapping(good | {section: mark}))


def test_paths_lead_to_the_same_files_from_elsewhere(tmp_path):
    data = {
        "sets": ["iris", "files/*.csv", "/abs/x.csv", "openml:3"],
        "h": {"file": "h.csv", "target": "y"},
        "w": {"set": "wine"},
    }
    spec = StudySpec.from_mapping({"data": data, "learners": ["c45"]})
    source = SpecSource({}, folder=tmp_path / "a")
    assert tomllib.loads(source.to_toml(spec, tmp_path / "b" / ".." / "a"))["data"] == data
    assert tomllib.loads(source.to_toml(spec, tmp_path / "b"))["data"] == {
        "sets": ["iris", "../a/files/*.csv", "/abs/x.csv", "openml:3"],
        "h": {"file": "../a/h.csv", "target": "y"},
        "w": {"set": "wine"},
    }


def test_whole_paths(tmp_path):
    data = {"sets": ["iris", "b/../files/*.csv", "/abs/x.csv"], "h": {"file": "h.csv", "target": "y"}}
    spec = StudySpec.from_mapping({"data": data, "learners": ["c45"]})
    assert SpecSource({}, folder=tmp_path).to_absolute(spec)["data"] == {
        "sets": ["iris", str(tmp_path / "files" / "*.csv"), "/abs/x.csv"],
        "h": {"file": str(tmp_path / "h.csv"), "target": "y"},
    }


def test_keys_that_are_no_text_cannot_be_written():
    spec = StudySpec.from_mapping({"data": ["iris"], "learners": {"a": {"learner": "svc", "parameters": {"x": {1: 2}}}}})
    with pytest.raises(InputError, match="TOML"):
        SpecSource({}).to_toml(spec)


# --- Foreign objects ---
# What people hold in Python and a study takes in another form; what is told to write works.


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.zeros((2, 1)), "got a ndarray: pass (X, y)"),
        ([np.zeros((2, 1)), [0, 1]], "one class for each row, got a list of ndarray and list"),
        ((np.zeros((2, 1)), "target"), "one class for each row, got a tuple of ndarray and str"),
    ],
)
def test_data_foreign_objects(value, told):
    assert suggest_dataset(value).endswith(told)


@pytest.mark.parametrize("value", ["iris", ["iris", "wine"], {"set": "iris"}, None, 3])
def test_what_a_study_holds(value):
    assert suggest_dataset(value) is None
    assert suggest_learner(value) is None
    assert suggest_splitter(value) is None


def test_a_class_is_no_learner():
    assert suggest_learner(GaussianNB) == "a learner must be an object, got the class GaussianNB: pass GaussianNB()"
    assert suggest_learner(GaussianNB()) is None


def test_the_class_of_a_splitter_is_refused():
    assert suggest_splitter(model_selection.KFold).endswith("pass KFold()")
    assert suggest_splitter(model_selection.KFold(3)) is None


# --- Live objects ---
# Objects are told by declarations that give them back, or not at all.


ESTIMATORS = [
    C45(confidence=0.1),
    Bagging(C45(), 5, random_state=3),
    AdaBoostM1(),
    RandomForestClassifier(30, max_features=None),
    Prepared(SVC(C=2.0), sampler=get_sampler("smote", k_neighbors=3)),
    Prepared(SVC(), preparation="none"),
    make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft"),
    Tuned(Prepared(SVC()), {"C": [1, 10], "gamma": ["scale", 0.1]}, StratifiedKFold(3), "auc"),
    Tuned(C45(), {"confidence": [0.1]}, Repeated(KFold(2), 3)),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_the_declaration_of_an_estimator_gives_it_back(estimator):
    told = serialize_learner(estimator)
    assert "object" not in told
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": {"it": told}})
    tomli_w.dumps(declared.to_short_form())
    [found], mistakes = resolve_learners(declared.learners, CodePolicy(), {})
    assert mistakes == []
    assert compute_learner_identity(found.estimator).hash == compute_learner_identity(ensure_prepared(estimator)).hash


def test_short_names_and_public_paths():
    assert serialize_learner(Prepared(SVC())) == {"learner": "svc"}
    assert serialize_learner(make_pipeline(StandardScaler(), SVC())) == {
        "learner": "sklearn.pipeline.Pipeline",
        "parameters": {
            "steps": [["standardscaler", {"transformer": "sklearn.preprocessing.StandardScaler"}], ["svc", {"learner": "svc"}]]
        },
    }
    assert serialize_learner(MLPClassifier((5, 3)))["parameters"] == {"hidden_layer_sizes": [5, 3]}


class Odd:
    """Not an estimator of scikit-learn."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X


@pytest.mark.parametrize(
    "estimator", [Odd(), LogisticRegression(class_weight={0: 1.0, 1: 2.0}), SVC(kernel=lambda a, b: a @ b.T)]
)
def test_what_cannot_be_told_is_marked(estimator):
    assert list(serialize_learner(estimator)) == ["object"]


@pytest.mark.parametrize(
    "conditions",
    [
        (Clean(),),
        (ClassNoise(0.1), ClassNoise(0.3)),
        (ClassNoise(0.2, "pairwise", pairs=("a", "b")),),
        (ClassNoise(None, "transition-matrix", transition=[[0.9, 0.1], [0.2, 0.8]]),),
        (AttributeNoise(0.1, part="all"), AttributeNoise(0.2, part="all")),
        (MissingValues(0.1, "mnar", tail="low"),),
        (PriorShift(priors={"a": 0.3, "b": 0.7}),),
        (Sequence([ClassNoise(0.1), MissingValues(0.2)]),),
    ],
    ids=lambda each: str(each[0]),
)
def test_the_declaration_of_conditions_gives_them_back(conditions):
    told = serialize_conditions(conditions)
    assert "object" not in told
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "conditions": {"it": told}})
    tomli_w.dumps(declared.to_short_form())
    found, mistakes = resolve_conditions(declared.conditions, {})
    assert mistakes == []
    assert tuple(each.condition for each in found) == conditions


def test_conditions_that_cannot_be_told_are_marked():
    assert list(serialize_conditions((ConceptChange(labels=lambda _, y: y),))) == ["object"]
    assert list(serialize_conditions((ClassNoise(0.1), ClassNoise(0.1, "next-class")))) == ["object"]


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(3),
        DOBSCV(4, assign="keel"),
        Holdout(0.2),
        Bootstrap(7),
        LeaveOneOut(),
        WekaFolds(3, random_state=9),
        GroupKFold(3, balance=False),
        TemporalSplit(3, window="sliding", train_size=50, gap="7 days"),
    ],
    ids=repr,
)
def test_the_declaration_of_a_splitter_gives_it_back(splitter):
    assert build_scheme(serialize_splitter(splitter)).text == build_scheme_from_splitter(splitter).text


@pytest.mark.parametrize(
    ("splitter", "spec"),
    [
        (model_selection.GroupShuffleSplit(20, test_size=0.2), {"n_splits": 20, "test_size": 0.2}),
        (model_selection.RepeatedStratifiedKFold(n_splits=3, n_repeats=4), {"n_splits": 3, "n_repeats": 4}),
        (model_selection.LeaveOneGroupOut(), {}),
        (model_selection.TimeSeriesSplit(4, gap=2), {"n_splits": 4, "gap": 2}),
        (model_selection.PredefinedSplit([0, 1, 0, 1]), None),  # an array cannot be written
    ],
    ids=lambda value: type(value).__name__,
)
def test_splitters_of_scikit_learn_are_declared_by_import_path(splitter, spec):
    name = type(splitter).__name__
    if spec is None:
        assert serialize_splitter(splitter)["scheme"] == "object"
        return
    path = f"sklearn.model_selection.{name}"
    declared = serialize_splitter(splitter)
    assert declared == {"scheme": "splitter", "splitter": path} | spec | {"repeats": 1}
    rebuilt = build_scheme(declared, lambda path, *_: getattr(model_selection, path.rpartition(".")[2]))
    assert repr(rebuilt.splitter.splitter) == repr(splitter)
    assert rebuilt.text == build_scheme_from_splitter(splitter).text


def test_a_seed_of_a_splitter_of_scikit_learn_is_refused():
    with pytest.raises(InputError, match=r"random_state of the splitter must be None.*the study sets the seed"):
        build_scheme_from_splitter(model_selection.KFold(3, shuffle=True, random_state=1))


def test_repeats_and_other_splitters():
    assert serialize_splitter(Repeated(StratifiedKFold(5), 3)) == {"scheme": "stratified", "n_splits": 5, "repeats": 3}
    assert "object" in serialize_splitter(Given([([0], [1])]))


def test_data_are_marked_by_their_contents():
    iris = load("iris")
    told = serialize_data("mine", iris)["object"]
    assert told == f"mine: 150 rows, {iris.content_hash[:16]}"
    assert "2 given folds" in serialize_data("mine", GivenFolds(iris, (((0,), (1,)), ((1,), (0,)))))["object"]


def test_preparation_is_told_where_it_is_not_as_usual():
    assert serialize_learner(Prepared(SVC(), preparation="none")) == {"learner": "svc", "preparation": "none"}
    assert serialize_learner(Prepared(SVC())) == {"learner": "svc"}
    inner = {"learner": "svc", "preparation": "standard"}
    assert serialize_learner(Bagging(Prepared(SVC()))) == {"learner": "bagging", "parameters": {"estimator": inner}}
    assert "object" in serialize_learner(Prepared(SVC(), preparation=StandardScaler()))


# --- Parameter rules ---
# Parameters that scikit-learn would refuse are told before anything is fitted.


class OddParameterRules:
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
        (OddParameterRules(), []),
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


def test_a_learner_whose_parameters_cannot_be_read_is_refused_in_one_sentence():
    class Broken(GaussianNB):
        def get_params(self, deep=True):
            raise RuntimeError("no parameters\ntoday")

    message = r"^learners\.broken: get_params .*RuntimeError: no parameters today.*: correct its class$"
    with pytest.raises(SpecError, match=message):
        Study(data=["iris"], learners={"broken": Broken()}, allow_local_code=True)
