"""The ten data sets: as in the UCI repository, encoded, explained if missing, and the variants of Cylinder."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import Dataset
from fairtrial.errors import InputError
from fairtrial.reproduce.experiment import read_published
from fairtrial.reproduce.ranking_real import datasets as module
from fairtrial.reproduce.ranking_real.datasets import (
    DATASET_NAMES,
    UCI_FILES,
    encode_cylinder_variants,
    encode_dataset,
    load_encoded_datasets,
)

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
    assert list(DATASET_NAMES) == list(dict.fromkeys(read_published("berrar_table1")["dataset"]))


def test_all_ten_data_sets_are_as_in_the_uci_repository(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    datasets, missing = load_encoded_datasets()
    assert missing == {}
    assert {name: dataset.codes.shape[::-1] for name, dataset in datasets.items()} == SIZES
    assert list(datasets) == list(DATASET_NAMES)
    spect = datasets["Spect"]
    assert int(spect.classes.sum()) == 55  # UCI: 55 normal, 212 abnormal
    assert spect.columns.nominal.all()
    assert int((datasets["House"].codes < 0).sum()) == 392


def test_without_any_data_set_there_is_a_stand_in_or_an_error(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    monkeypatch.setattr(module, "CATALOGUE_NAMES", {"Sonar": ["no-such-set"]})
    monkeypatch.setattr(module, "SPECT_NAMES", {"train": ["no-such-set"], "test": ["no-such-set"]})
    datasets, missing = load_encoded_datasets(stand_in=True)
    assert list(datasets) == ["wdbc"]
    assert set(missing) == {"Sonar", "Spect"}
    with pytest.raises(InputError, match=r"must find at least one of its ten data sets, got none: set FAIRTRIAL_DATA"):
        load_encoded_datasets()


def test_the_reason_for_a_missing_data_set_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    _, missing = load_encoded_datasets(stand_in=True)
    assert missing["House"] == (
        "the UCI data set Congressional Voting Records was not found: put uci/vote.arff into a folder and set "
        "FAIRTRIAL_DATA to that folder"
    )
    assert "uci/spect.train.arff and uci/spect.test.arff" in missing["Spect"]
    assert not any("did you mean" in why for why in missing.values())


def test_a_corrupted_file_keeps_its_own_reason(tmp_path, monkeypatch):
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "vote.arff").write_text("@relation vote\n@attribute a {x\n@data\nx\n")
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    _, missing = load_encoded_datasets(stand_in=True)
    assert "vote.arff" in missing["House"]
    assert "was not found" not in missing["House"]


@pytest.mark.parametrize("name", DATASET_NAMES)
def test_the_files_in_the_reasons_exist(name, shared_data):
    for file in UCI_FILES[name][1].split(" and "):
        assert (shared_data / file).is_file()


def test_codes_lead_back_to_the_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=50).round(1), "hue": pd.Categorical(rng.choice(list("rg"), 50), categories=list("rgb"))}
    )
    frame.loc[::7, "x"] = np.nan
    frame.loc[::9, "hue"] = np.nan
    encoded = encode_dataset("things", Dataset.from_table(frame, rng.choice(["a", "b"], 50, p=[0.7, 0.3])))
    levels, offsets = encoded.columns.levels, encoded.columns.offsets
    x = np.where(encoded.codes[0] >= 0, levels[offsets[0] + encoded.codes[0]], np.nan)
    np.testing.assert_array_equal(x, frame["x"])
    assert [None if code < 0 else "rgb"[code] for code in encoded.codes[1]] == [
        None if pd.isna(value) else value for value in frame["hue"]
    ]
    assert encoded.columns.nominal.tolist() == [0, 1]
    assert offsets[2] - offsets[1] == 3  # a category without a row counts, as for WEKA


def test_the_rarer_class_is_positive():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert encode_dataset("few", Dataset.from_table(table, ["yes", "no", "no"])).classes.tolist() == [1, 0, 0]
    assert encode_dataset("few", Dataset.from_table(table, ["no", "yes", "yes"])).classes.tolist() == [1, 0, 0]


def test_more_than_two_classes_are_refused():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="must have 2 classes, got 3 in flowers"):
        encode_dataset("flowers", Dataset.from_table(table, ["a", "b", "c"]))


def test_variants_of_cylinder(cylinder_variants):
    without_names, complete, named = cylinder_variants.values()
    assert [variant.codes.shape for variant in (without_names, complete, named)] == [(2, 5), (4, 3), (4, 5)]
    assert without_names.codes[0].tolist()[1] == -1
    assert (complete.codes >= 0).all()
    ink, humidity = named.codes[2:]
    assert len(set(ink.tolist())) == 3
    assert (ink >= 0).all()
    assert np.flatnonzero(humidity < 0).tolist() == [2]
    assert len({variant.content_hash for variant in cylinder_variants.values()}) == 3


def test_277_rows_of_cylinder_are_complete(shared_data, monkeypatch):
    """The UCI repository states 277 rows without missing values."""
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    shapes = [variant.codes.shape for variant in encode_cylinder_variants().values()]
    assert shapes == [(35, 540), (39, 277), (39, 540)]
