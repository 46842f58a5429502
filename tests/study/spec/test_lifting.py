"""Arguments of Python become plain values; objects are set aside."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from fairtrial.conditions import ClassNoise, Clean
from fairtrial.data import load
from fairtrial.errors import InputError
from fairtrial.learners import C45
from fairtrial.measures import accuracy
from fairtrial.resampling import KFold
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.models import StudySpec
from fairtrial.study.spec.objects import PythonReader
from fairtrial.study.spec.problems import SpecProblem
from fairtrial.study.spec.toml import SpecSource


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
    frame = pd.DataFrame({"size": np.arange(500.0), "kind": ["a", "b"] * 250})
    _, objects, mistakes = from_python(
        {
            "data": {"heart": frame},
            "learners": {"nb": GaussianNB, "tree": C45(), "a": {"parameters": {"x": GaussianNB, "y": np.zeros(900)}}},
            "resampling": model_selection.StratifiedKFold(5),
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
    assert told[4].endswith("pass fairtrial.resampling.StratifiedKFold(5)")
    assert max(map(len, told)) < 150


@pytest.mark.parametrize("data", [["iris", (np.zeros((4, 2)), [0, 1, 0, 1])], (np.zeros((4, 2)), np.zeros(4))])
def test_a_matrix_with_its_classes_is_told_where_it_stands(data):
    _, _, [mistake] = from_python({"data": data})
    assert mistake.path == ("data", "sets", len(data) - 1 if isinstance(data, list) else 0)
    assert "fairtrial.data.Dataset.from_table(X, y" in mistake.message


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
