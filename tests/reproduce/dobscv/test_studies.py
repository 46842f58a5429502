"""Data sets, their scaling, KEEL's folds, and the studies."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import Dataset, GivenFolds
from fairtrial.errors import InputError
from fairtrial.reproduce.dobscv import studies
from fairtrial.reproduce.dobscv.studies import (
    GIVEN,
    LITERAL,
    SCHEMES,
    SCV,
    ImbalancedData,
    list_candidates,
    list_schemes,
    scale_columns,
    simulate_datasets,
)
from fairtrial.reproduce.experiment import Request, read_published, read_study_file


def test_every_dataset_of_the_paper_has_candidates():
    names = read_published("dobscv_table2_datasets")["dataset"].replace("Page-blocks13vs2", "Page-blocks13vs4")
    assert list(list_candidates()) == names.tolist()
    assert set(read_published("dobscv_table4_part")["dataset"]) <= set(list_candidates())


def test_candidates_are_those_of_the_coverage_list(shared_data):
    listed = pd.read_csv(shared_data / "coverage.csv").query("paper == '001 DOB-SCV'")
    expected = dict(zip(listed["paper_name"].replace("Page-blocks13vs2", "Page-blocks13vs4"), listed["name"], strict=True))
    assert {name: addresses[-1] for name, addresses in list_candidates().items()} == expected


def test_parameters_are_those_of_the_paper():
    learners = read_study_file("dobscv")["learners"]
    parameters = {name: entry["parameters"]["learner"]["parameters"] for name, entry in learners.items()}
    assert parameters["C4.5"] == {"confidence": 0.25, "min_cases": 2}
    assert parameters["Chi"] == {"labels": 5}
    assert parameters["1-NN"] == {"n_neighbours": 1}
    assert parameters["SMO"] == {"C": 1.0, "exponent": 1.0}
    assert parameters["PDFC"] == {"C": 100.0, "width": 0.25}
    assert {entry["parameters"]["neighbours"] for entry in learners.values()} == {5}


def test_scaling_drops_missing_values_and_renames_the_classes():
    table = pd.DataFrame({"a": [0.0, 5.0, np.nan, 10.0, 2.0], "hue": pd.Categorical(["r", "g", "g", "g", "r"])})
    scaled = scale_columns(Dataset.from_table(table, ["x", "x", "x", "x", "y"], ranges={"a": (0.0, 20.0)}), "small")
    assert scaled.X["a"].tolist() == [0.0, 0.25, 0.5, 0.1]
    assert scaled.y.tolist() == ["negative", "negative", "negative", "positive"]
    assert list(scaled.y.cat.categories) == ["negative", "positive", "?"]
    assert scaled.X["hue"].tolist() == ["r", "g", "g", "r"]


def test_usual_class_names_are_kept():
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    scaled = scale_columns(Dataset.from_table(table, ["positive", "positive", "negative"]), "small")
    assert scaled.y.tolist() == ["positive", "positive", "negative"]


def test_keels_folds_come_with_the_datasets(shared_data, monkeypatch):
    names = {"Glass5", "Abalone9vs18", "Ecoli0146vs5", "Cleveland0vs4"}
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    monkeypatch.setattr(studies, "SMOKE", tuple(names))
    data = ImbalancedData.load("smoke", 1)
    assert set(data.datasets) == set(data.folds) == names
    assert data.damaged == ("Ecoli0146vs5",)
    assert data.list_faulty_folds() == [{"dataset": "Abalone9vs18", "untested": 119, "leaking": 117}]
    assert len(data.datasets["Cleveland0vs4"]) == 173  # KEEL's folds lack the rows with missing values
    assert data.compute_imbalance()["Glass5"] == pytest.approx(205 / 9)
    numbers = data.datasets["Glass5"].X.to_numpy()
    assert (numbers.min(), numbers.max()) == (0, 1)


def test_without_any_dataset_smoke_simulates_and_others_raise(monkeypatch):
    monkeypatch.setattr(studies, "load_datasets", lambda names: ({}, dict.fromkeys(names, "not here")))
    data = ImbalancedData.load("smoke", 1)
    assert data.simulated
    assert len(data.datasets) == 2
    assert data.skipped["Glass1"] == "not here"
    with pytest.raises(InputError, match="FAIRTRIAL_DATA"):
        ImbalancedData.load("quick", 1)


def test_schemes_by_scale(tmp_path):
    assert list_schemes(Request("full", tmp_path), True) == list(SCHEMES)
    assert GIVEN not in list_schemes(Request("quick", tmp_path), False)
    assert list_schemes(Request("smoke", tmp_path), True) == [GIVEN, LITERAL]
    assert list_schemes(Request("smoke", tmp_path), False) == [SCV, LITERAL]


def test_given_folds_are_used_and_abstentions_are_errors(tmp_path, monkeypatch):
    name, dataset = next(iter(simulate_datasets(1).items()))
    halves = (np.arange(0, len(dataset), 2), np.arange(1, len(dataset), 2))
    folds = {name: GivenFolds(dataset, (halves, halves[::-1]))}
    spec = read_study_file("dobscv")
    monkeypatch.setattr(studies, "read_study_file", lambda _: {**spec, "learners": {"Chi": spec["learners"]["Chi"]}})
    monkeypatch.setattr(studies, "list_schemes", lambda *_: [GIVEN])
    data = ImbalancedData({name: dataset}, folds, {})
    scores = data.run_studies(Request("smoke", tmp_path, jobs=1, progress=False), 2)
    assert scores[["run", "fold"]].values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert scores["status"].eq("ok").all()
    assert scores["value"].between(0.3, 1).all()
    names = sorted(path.name for path in tmp_path.glob("*.fairtrial"))
    assert names == ["scv-keel-s-folds-1.fairtrial", "scv-keel-s-folds-2.fairtrial"]  # a full run is resumed from these
