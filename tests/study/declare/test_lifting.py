"""Arguments of Python become plain values; objects are set aside."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from fairtrial.conditions import ClassNoise, Clean
from fairtrial.data import load
from fairtrial.errors import InputError
from fairtrial.learners import C45
from fairtrial.measures import accuracy
from fairtrial.resampling import KFold
from fairtrial.study.declare.declaration import Declaration
from fairtrial.study.declare.lifting import check_tellable, lifted, moved
from fairtrial.study.records import Limits


def test_data():
    iris = load("iris")
    plain, objects = lifted({"data": ["wine", Path("x") / "y.csv", iris]})
    assert plain["data"]["sets"] == ["wine", "x/y.csv"]
    assert objects == {("data", "iris"): iris}
    assert lifted({"data": iris})[1] == objects
    assert lifted({"data": {"mine": iris, "file": Path("a.csv")}})[0]["data"]["file"] == "a.csv"
    with pytest.raises(InputError, match="two data sets are called 'iris'"):
        lifted({"data": [iris, iris]})


def test_learners():
    svc = SVC(C=np.float64(2.0))
    plain, objects = lifted(
        {"learners": {"a": svc, "b": "c45", "c": {"learner": "bagging", "parameters": {"estimator": C45(), "x": None}}}}
    )
    assert plain["learners"] == {
        "a": {"learner": "svc", "parameters": {"C": 2.0}},
        "b": "c45",
        "c": {"learner": "bagging", "parameters": {"estimator": {"learner": "c45"}, "x": {"value": "none"}}},
    }
    assert objects == {("learners", "a"): svc}
    for nameless in ([svc], svc, ["c45", svc]):
        with pytest.raises(InputError, match="learners that are objects must have names"):
            lifted({"learners": nameless})
    with pytest.raises(InputError, match=r"a study cannot hold .* here: give the whole learner as an object"):
        lifted({"learners": {"a": {"parameters": {"kernel": np.zeros(3)}}}})


def test_conditions():
    plain, objects = lifted({"conditions": [Clean(), ClassNoise(0.1), ClassNoise(0.2)]})
    assert plain["conditions"] == {
        "clean": {"condition": "clean"},
        "class-noise": {"condition": "class-noise", "level": [0.1, 0.2]},
    }
    assert objects == {("conditions", "clean"): (Clean(),), ("conditions", "class-noise"): (ClassNoise(0.1), ClassNoise(0.2))}
    plain, objects = lifted({"conditions": {"class-noise": np.array([0, 0.1]).tolist(), "n": ClassNoise(0.3)}})
    assert plain["conditions"]["class-noise"] == [0, 0.1]
    assert list(objects) == [("conditions", "n")]
    assert lifted({"conditions": ClassNoise(0.3)})[0]["conditions"]["class-noise"]["level"] == [0.3]


def test_the_rest():
    plain, objects = lifted(
        {
            "resampling": KFold(3),
            "measures": [accuracy, "auc"],
            "limits": Limits(),
            "verdict": {"rope": np.float64(0.1), "control": None},
        }
    )
    assert plain["resampling"] == {"scheme": "kfold", "n_splits": 3, "repeats": 1}
    assert (plain["measures"], plain["verdict"]) == (["accuracy", "auc"], {"rope": 0.1, "control": None})
    assert plain["limits"] == {"time": 3600.0, "memory": None}
    assert list(objects) == [("resampling",)]


@pytest.mark.parametrize("section", ["data", "learners", "conditions", "resampling"])
def test_what_cannot_be_written_is_named(section):
    mark = {"object": "thing"} if section == "resampling" else {"x": {"object": "thing"}}
    good = {"data": ["iris"], "learners": ["c45"]}
    check_tellable(Declaration.of(good))
    with pytest.raises(InputError, match=rf"{section}\S* cannot be written to a study file \(thing\): "):
        check_tellable(Declaration.of(good | {section: mark}))


def test_paths_lead_to_the_same_files_from_elsewhere(tmp_path):
    plain = {
        "data": {
            "sets": ["iris", "files/*.csv", "/abs/x.csv", "openml:3"],
            "h": {"file": "h.csv", "target": "y"},
            "w": {"set": "wine"},
        }
    }
    assert moved(plain, tmp_path, tmp_path / "a" / "..") == plain
    assert moved(plain, tmp_path / "a", tmp_path / "b")["data"] == {
        "sets": ["iris", "../a/files/*.csv", "/abs/x.csv", "openml:3"],
        "h": {"file": "../a/h.csv", "target": "y"},
        "w": {"set": "wine"},
    }
