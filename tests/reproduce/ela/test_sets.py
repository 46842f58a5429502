"""The paper's sets: found, checked, counted."""

import pytest

from fairtrial.errors import InputError
from fairtrial.reproduce.ela.sets import CURVES, LARGE, QUICK, SMOKE, Sets, declared, gathered
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Request


def test_the_study_file_has_the_sets_of_table_3():
    assert list(declared("study")["data"]) == published("ela_table3")["dataset"].tolist()
    assert {*QUICK, *SMOKE, *LARGE, *CURVES} <= set(declared("study")["data"])


def test_all_sets_are_there_and_three_are_damaged(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    sets = gathered(Request("full", tmp_path))
    assert len(sets.data) == 32
    assert not sets.left_out
    assert set(sets.faults) == {"ecoli", "heart", "ring"}


def test_smoke_runs_without_a_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    assert set(gathered(Request("smoke", tmp_path)).data) == {"iris", "wine"}


def test_a_set_of_another_size_is_run(monkeypatch, tmp_path):
    folder = tmp_path / "keel-standard"
    folder.mkdir()
    (folder / "wine.csv").write_text("a,class\n" + "1.0,x\n2.0,y\n" * 5)
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    sets = gathered(Request("smoke", tmp_path))
    assert sets.data["wine"].summary().rows == 10
    assert not sets.left_out


def test_no_set_at_all_is_an_error_with_a_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr("fairtrial.reproduce.ela.sets.found_sets", lambda places: ({}, dict.fromkeys(places, "gone")))
    with pytest.raises(InputError, match="FAIRTRIAL_DATA=data fairtrial reproduce ela"):
        gathered(Request("quick", tmp_path))


def test_some_and_all_others():
    sets = Sets({"a": 1, "b": 2, "c": 3}, {}, {})
    assert sets.only(["c", "x"]) == {"c": 3}
    assert sets.but(["c", "x"]) == {"a": 1, "b": 2}
