"""Data sets as files, and back."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.data import Dataset, catalogue, load, read, write
from fairtrial.data.catalogue import list_folder_entries, list_user_folders
from fairtrial.data.openml import cache_folder, write_atomically
from fairtrial.errors import InputError, SuspectInputWarning

# --- Writing ---
# Data sets as files, and back.


TEXT = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=8).filter(
    lambda text: text.strip() == text
)
DATA = st.builds(
    lambda rows, names, title: Dataset.from_table(
        pd.DataFrame({names[0]: [row[0] for row in rows], names[1]: pd.Categorical([row[1] for row in rows], dtype=None)}),
        [row[2] for row in rows],
        target=names[2],
        name=title,
    ),
    st.lists(st.tuples(st.floats(allow_infinity=False), TEXT, TEXT), min_size=1, max_size=10),
    st.lists(TEXT, min_size=3, max_size=3, unique=True),
    TEXT,
)


@settings(max_examples=60, deadline=None)
@given(data=DATA)
@pytest.mark.parametrize("form", ["parquet", "arff"])
def test_types_values_and_classes_come_back(tmp_path_factory, form, data):
    path = write(data, tmp_path_factory.getbasetemp() / f"back.{form}", overwrite=True)
    assert read(path) == data


def test_csv_keeps_values(tmp_path):
    iris = load("iris")
    found = read(write(iris, tmp_path / "iris.csv"))
    np.testing.assert_array_equal(found.X, iris.X)
    assert found.y.tolist() == iris.y.tolist()


def test_csv_keeps_codes_truths_and_classes_that_look_like_one_number(tmp_path):
    table = pd.DataFrame({"zip": ["001", "010", "001"], "flag": [True, False, True], "size": [1.5, 2.0, 3.0]})
    data = Dataset.from_table(table, ["01", "1", "1"])
    path = write(data, tmp_path / "w.csv")
    with pytest.warns(SuspectInputWarning) as caught:
        assert read(path) == data
    assert len(caught) == 2


def test_infinite_numbers_are_refused_by_texts_as_their_readers_do(tmp_path):
    data = Dataset.from_table(pd.DataFrame({"a": [1.0, -np.inf]}), ["x", "y"])
    for form in ("csv", "arff"):
        with pytest.raises(InputError, match=f"{form}.*row 1 of column 'a'.*parquet"):
            write(data, tmp_path / f"t.{form}")
    assert read(write(data, tmp_path / "t.parquet")) == data


def test_missing_values_and_classes_without_rows(tmp_path):
    table = pd.DataFrame({"a": [1.0, np.nan], "b": pd.Categorical([None, "it's, so"], ["it's, so", "never"])})
    data = Dataset.from_table(table, ["x", "x"], classes=["x", "y y"])
    for form in ("parquet", "arff"):
        assert read(write(data, tmp_path / f"t.{form}")) == data
    found = read(write(data, tmp_path / "t.csv"))
    assert found.X.isna().to_numpy().tolist() == [[False, True], [True, False]]


def test_refusals(tmp_path):
    data = Dataset.from_table(pd.DataFrame({"a": ["NA", "b"]}), ["x", "y"])
    with pytest.raises(InputError, match="'NA' in column 'a'"):
        write(data, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []
    write(data, tmp_path / "t.arff")
    with pytest.raises(InputError, match=r"t\.arff"):
        write(data, tmp_path / "t.arff")
    with pytest.raises(InputError, match="format"):
        write(data, tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="absent"):
        write(data, tmp_path / "absent" / "t.arff")
    assert write(data, tmp_path / "t", format="parquet").read_bytes()[:4] == b"PAR1"


def test_places_and_formats_that_do_not_fit(tmp_path):
    data = load("iris")
    with pytest.raises(InputError, match=r"data.*got str.*write\(data, path\)"):
        write("x.csv", data)
    with pytest.raises(InputError, match=r"folder.*iris\.csv"):
        write(data, tmp_path)
    with pytest.raises(InputError, match=r"x\.arff.*\.csv.*format csv"):
        write(data, tmp_path / "x.arff", format="csv")
    path = write(data, tmp_path / "x.csv", format="csv")
    with pytest.raises(InputError, match="overwrite=True"):
        write(data, path)


# --- User folders ---
# The user's folders.


CSV = "size,kind\n1,a\n2,b\n"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    for place in ("one/mine.csv", "one/deep/iris.csv", "two/mine.csv", "two/x-5-1tra.dat", "two/x-5-1tst.dat", "two/notes.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(CSV)
    (tmp_path / "one" / ".hidden").mkdir()
    (tmp_path / "one" / ".hidden" / "a.csv").write_text(CSV)
    monkeypatch.setenv("FAIRTRIAL_DATA", os.pathsep.join([str(tmp_path / "one"), str(tmp_path / "two")]))
    return tmp_path


@pytest.mark.usefixtures("folders")
def test_files_at_any_depth_but_no_parts_of_folds():
    assert [entry.name for entry in list_folder_entries()] == ["mine", "iris", "mine"]


def test_they_go_before_others_and_are_listed(folders):
    assert len(load("iris")) == 2
    assert len(load("scikit-learn/iris")) == 150
    listed = catalogue()["name"].tolist()
    assert listed[:3] == ["mine", "iris", f"{folders / 'two'}/mine"]
    assert "scikit-learn/iris" in listed
    assert load(f"{folders / 'two'}/mine").source == str(folders / "two" / "mine.csv")


@pytest.mark.usefixtures("folders")
def test_a_name_of_two_files_needs_the_folder():
    with pytest.raises(InputError, match=r"'mine' .*one/mine\.csv and .*two/mine\.csv: .* 'one/mine' or 'two/mine'"):
        load("mine")
    assert load("two/mine").source.endswith("two/mine.csv")
    assert load("deep/iris").source.endswith("one/deep/iris.csv")


def test_a_missing_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="FAIRTRIAL_DATA"):
        load("iris")
    monkeypatch.delenv("FAIRTRIAL_DATA")
    assert list_user_folders() == []


# --- Cache ---
# The folder of downloads.


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/fairtrial"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/fairtrial"),
        ("darwin", {}, "home/Library/Caches/fairtrial"),
        ("linux", {"FAIRTRIAL_CACHE": "mine", "XDG_CACHE_HOME": "xdg"}, "mine"),
    ],
)
def test_the_folder_of_each_platform(monkeypatch, platform, variables, expected):
    for variable in ("FAIRTRIAL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert cache_folder() == Path(expected)


def test_files_are_kept_whole(tmp_path):
    path = write_atomically(tmp_path / "a" / "b.txt", b"one")
    assert write_atomically(path, b"two").read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["b.txt"]
    with pytest.raises(InputError, match="FAIRTRIAL_CACHE"):
        write_atomically(path / "below a file", b"")
