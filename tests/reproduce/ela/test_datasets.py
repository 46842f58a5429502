"""The paper's data sets: loaded, checked, and compared with table 2."""

import warnings

import numpy as np
import pytest

from fairtrial.data import Dataset, load, read
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.reproduce.ela.datasets import LARGE, QUICK, SMOKE, PaperDatasets
from fairtrial.reproduce.ela.experiment import CURVE_DATASETS
from fairtrial.reproduce.experiment import Request, read_published, read_study_file


def test_the_study_file_has_the_data_sets_of_table_3():
    declared = read_study_file("ela")["data"]
    assert list(declared) == read_published("ela_table3")["dataset"].tolist()
    assert {*QUICK, *SMOKE, *LARGE, *CURVE_DATASETS} <= set(declared)


def test_all_data_sets_are_there_and_three_are_corrupted(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    datasets = PaperDatasets.load(Request("full", tmp_path))
    assert len(datasets.data) == 32
    assert not datasets.missing
    assert set(datasets.corrupted) == {"ecoli", "heart", "ring"}
    assert not set(datasets.corrupted) & set(CURVE_DATASETS)


def test_smoke_runs_without_a_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    assert set(PaperDatasets.load(Request("smoke", tmp_path)).data) == {"iris", "wine"}


def test_a_data_set_of_another_size_is_loaded_and_reported(monkeypatch, tmp_path):
    folder = tmp_path / "keel-standard"
    folder.mkdir()
    (folder / "wine.csv").write_text("a,class\n" + "1.0,x\n2.0,y\n" * 5)
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    datasets = PaperDatasets.load(Request("smoke", tmp_path))
    assert not datasets.missing
    sizes = datasets.find_other_sizes()
    assert sizes[["data set", "rows", "rows in the paper"]].values.tolist() == [["wine", 10, 178]]


def test_sizes_are_compared_by_the_names_of_table_2():
    short = Dataset.from_table(np.arange(10.0).reshape(-1, 1), np.arange(10) % 2, name="new")
    sizes = PaperDatasets({"iris": load("iris"), "newthyroid": short}, {}).find_other_sizes()
    assert sizes[["data set", "rows", "rows in the paper"]].values.tolist() == [["newthyroid", 10, 215]]


def test_no_data_set_at_all_is_an_error_with_a_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr("fairtrial.reproduce.ela.datasets.load_datasets", lambda names: ({}, dict.fromkeys(names, "gone")))
    with pytest.raises(InputError, match="FAIRTRIAL_DATA=data fairtrial reproduce ela"):
        PaperDatasets.load(Request("quick", tmp_path))


def test_selection_falls_back_to_all():
    datasets = PaperDatasets({"a": 1, "b": 2, "c": 3}, {})
    assert datasets.select(["c", "x"]) == {"c": 3}
    assert datasets.select(["x"]) == {"a": 1, "b": 2, "c": 3}


def test_data_sets_of_packages_are_grouped(tmp_path, monkeypatch):
    (tmp_path / "zoo.csv").write_text("a,class\n" + "1.0,x\n2.0,y\n" * 5)
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    datasets = PaperDatasets({name: load(name) for name in ("iris", "wine", "zoo")}, {})
    assert datasets.group_by_package() == {"scikit-learn": ["iris", "wine"]}


def test_copies_are_found_and_dermatology_becomes_nominal(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    names = ("heart", "hayes-roth", "dermatology")
    with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
        data = {name: read(shared_data / "keel-standard" / f"{name}.dat") for name in names}
    copies = PaperDatasets(data, {}).find_copies()
    assert set(copies) == set(names)
    assert copies["hayes-roth"][1].summary().rows == 132
    nominal = copies["dermatology"][1].summary()
    assert (nominal.numeric, nominal.nominal, nominal.rows) == (1, 33, 358)
    assert copies["dermatology"][1].X["Age"].dtype == "float64"


@pytest.mark.parametrize("name", ["iris", "car"])
def test_other_data_sets_have_no_copy(name):
    assert PaperDatasets({name: None}, {}).find_copies() == {}
