"""Names, scaling and KEEL's folds of the imbalanced sets."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import Dataset
from fairtrial.errors import InputError
from fairtrial.reproduce.dobscv import sets
from fairtrial.reproduce.dobscv.sets import declared, gathered, places, scaled, unsound
from fairtrial.reproduce.published import published


def test_every_set_of_the_paper_has_a_place():
    names = published("dobscv_table2_datasets")["dataset"].replace("Page-blocks13vs2", "Page-blocks13vs4")
    assert list(places()) == names.tolist()
    assert set(published("dobscv_table4_part")["dataset"]) <= set(places())


def test_places_are_those_of_the_coverage_list(shared_data):
    listed = pd.read_csv(shared_data / "coverage.csv").query("paper == '001 DOB-SCV'")
    expected = dict(zip(listed["paper_name"].replace("Page-blocks13vs2", "Page-blocks13vs4"), listed["name"], strict=True))
    assert {name: where[-1] for name, where in places().items()} == expected


def test_parameters_are_those_of_the_paper():
    inside = {name: entry["parameters"]["learner"] for name, entry in declared()["learners"].items()}
    assert inside["C4.5"]["parameters"] == {"confidence": 0.25, "min_cases": 2}
    assert inside["Chi"]["parameters"] == {"labels": 5}
    assert inside["1-NN"]["parameters"] == {"n_neighbours": 1}
    assert inside["SMO"]["parameters"] == {"C": 1.0, "exponent": 1.0}
    assert inside["PDFC"]["parameters"] == {"C": 100.0, "width": 0.25}
    assert {entry["parameters"]["neighbours"] for entry in declared()["learners"].values()} == {5}


def test_scaling_drops_gaps_and_names_the_classes():
    table = pd.DataFrame({"a": [0.0, 5.0, np.nan, 10.0, 2.0], "hue": pd.Categorical(["r", "g", "g", "g", "r"])})
    found = scaled(Dataset.from_table(table, ["x", "x", "x", "x", "y"], ranges={"a": (0.0, 20.0)}), "small")
    assert found.X["a"].tolist() == [0.0, 0.25, 0.5, 0.1]
    assert found.y.tolist() == ["negative", "negative", "negative", "positive"]
    assert list(found.y.cat.categories) == ["negative", "positive", "?"]
    assert found.X["hue"].tolist() == ["r", "g", "g", "r"]


def test_names_of_classes_stay_where_they_are_the_usual_ones():
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    found = scaled(Dataset.from_table(table, ["positive", "positive", "negative"]), "small")
    assert found.y.tolist() == ["positive", "positive", "negative"]


def test_official_folds_come_with_the_sets(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    monkeypatch.setattr(sets, "SMOKE", ("Glass5", "Abalone9vs18", "Ecoli0146vs5", "Cleveland0vs4"))
    found = gathered("smoke", 1)
    assert set(found.data) == set(found.folds) == {"Glass5", "Abalone9vs18", "Ecoli0146vs5", "Cleveland0vs4"}
    assert list(found.damaged) == ["Ecoli0146vs5"]
    assert "117 rows train and test" in unsound(found.folds)["Abalone9vs18"]
    assert list(unsound(found.folds)) == ["Abalone9vs18"]
    assert len(found.data["Cleveland0vs4"]) == 173  # KEEL's folds lack the rows with gaps
    assert found.imbalance()["Glass5"] == pytest.approx(205 / 9)
    numbers = found.data["Glass5"].X.to_numpy()
    assert numbers.min() == 0
    assert numbers.max() == 1


def test_without_any_set_smoke_simulates_and_others_refuse(monkeypatch):
    monkeypatch.setattr(sets, "found_sets", lambda names: ({}, dict.fromkeys(names, "not here")))
    found = gathered("smoke", 1)
    assert found.simulated
    assert len(found.data) == 2
    assert found.left_out["Glass1"] == "not here"
    with pytest.raises(InputError, match="FAIRTRIAL_DATA"):
        gathered("quick", 1)
