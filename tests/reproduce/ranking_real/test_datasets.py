"""The ten sets: as UCI has them, and named where they are missing."""

import pytest

from fairtrial.errors import InputError
from fairtrial.reproduce.published import published
from fairtrial.reproduce.ranking import real_sets as module
from fairtrial.reproduce.ranking.real_sets import NAMES, real_sets

# Rows and attributes as the UCI repository states them.
SIZES = {
    "Sonar": (208, 60),
    "Spect": (267, 22),
    "Heart": (270, 13),
    "Liver": (345, 6),
    "Ionosphere": (351, 34),
    "House": (435, 16),
    "Cylinder": (540, 39),
    "Credit": (690, 15),
    "Transfusion": (748, 4),
    "Pima": (768, 8),
}


def test_the_names_are_those_of_table_1():
    assert list(NAMES) == list(dict.fromkeys(published("berrar_table1")["dataset"]))


def test_all_ten_sets_are_as_uci_has_them(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    found, missing = real_sets()
    assert missing == {}
    assert {name: each.codes.shape[::-1] for name, each in found.items()} == SIZES
    assert list(found) == list(NAMES)
    spect = found["Spect"]
    assert int(spect.classes.sum()) == 55  # UCI: 55 normal, 212 abnormal
    assert spect.columns.nominal.all()
    assert int((found["House"].codes < 0).sum()) == 392


def test_without_any_set_there_is_a_stand_in_or_a_refusal(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    monkeypatch.setattr(module, "PLACES", {"Sonar": ["no-such-set"]})
    monkeypatch.setattr(module, "_SPECT", {"train": ["no-such-set"], "test": ["no-such-set"]})
    found, missing = real_sets(stand_in=True)
    assert list(found) == ["wdbc"]
    assert set(missing) == {"Sonar", "Spect"}
    with pytest.raises(InputError, match=r"must find at least one of its ten data sets, got none: .* FAIRTRIAL_DATA"):
        real_sets()


def test_a_missing_set_is_named_as_the_paper_does_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    _, missing = real_sets(stand_in=True)
    assert missing["House"] == (
        "the UCI set Congressional Voting Records is not found: put uci/vote.arff into a folder and name that folder by "
        "FAIRTRIAL_DATA"
    )
    assert "uci/spect.train.arff and uci/spect.test.arff" in missing["Spect"]
    assert not any("did you mean" in why for why in missing.values())


def test_a_damaged_set_keeps_its_own_reason(tmp_path, monkeypatch):
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "vote.arff").write_text("@relation vote\n@attribute a {x\n@data\nx\n")
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    _, missing = real_sets(stand_in=True)
    assert "vote.arff" in missing["House"]
    assert "is not found" not in missing["House"]


@pytest.mark.parametrize("name", NAMES)
def test_the_file_of_each_remedy_is_one_that_is_found(name, shared_data):
    for file in module._FILES[name][1].split(" and "):
        assert (shared_data / file).is_file()
