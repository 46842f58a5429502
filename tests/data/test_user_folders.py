"""The user's folders."""

import os

import pytest

from fairtrial.data import catalogue, load
from fairtrial.data.catalogue import list_folder_entries, list_user_folders
from fairtrial.errors import InputError

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
