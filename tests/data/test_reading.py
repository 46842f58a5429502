"""One way to read them all."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from fairtrial import data
from fairtrial.data.reading import convert_dataset_types, read
from fairtrial.errors import InputError

KEEL = "@relation r\n@attribute size real [0, 9]\n@attribute kind {a, b}\n@inputs size\n@outputs kind\n@data\n1, a\n2, b\n"
ARFF = "@relation r\n@attribute size numeric\n@attribute kind {a, b}\n@data\n1,a\n2,b\n"
CSV = "size,kind\n1,a\n2,b\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.dat", KEEL),
        ("t.DAT", "% comment\n\n" + KEEL),
        ("t.arff", ARFF),
        ("t.csv", CSV),
        ("t.dat", CSV),
        ("t.data", CSV),
        ("t.txt", CSV.replace(",", " ")),
        ("t.tsv", CSV.replace(",", "\t")),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_each_suffix(tmp_path, name, text, packed):
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    found = read(path)
    assert found.X["size"].tolist() == [1, 2]
    assert found.y.tolist() == ["a", "b"]
    assert (found.name, found.target) == ("t", "kind")
    assert read(str(path), name="other").name == "other"


def test_parquet_and_frames_and_bunches(tmp_path):
    frame = pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]})
    frame.to_parquet(tmp_path / "t.pq")
    assert read(tmp_path / "t.pq") == read(frame) == data.read(frame, name="other")
    assert read(read(frame)) == read(frame)
    assert read(load_iris(), name="iris") == data.load("iris")
    with pytest.raises(InputError, match="target"):
        read(load_iris(), target="class")


def test_a_declared_format_goes_before_the_suffix(tmp_path):
    path = tmp_path / "table"
    path.write_text(CSV)
    assert len(read(path, format="delimited", header=True)) == 2
    with pytest.raises(InputError, match=r"'no suffix'.*format="):
        read(path)
    with pytest.raises(InputError, match=r"format.*'parquet'"):
        read(path, format="parket")


@pytest.mark.parametrize(("name", "text"), [("t.dat", KEEL), ("t.arff", ARFF), ("t.csv", CSV)])
def test_overrides_and_wrong_names(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert read(path, nominal=["size"]).nominal == ("size",)
    assert read(path, numeric=["size"]).X["size"].tolist() == [1, 2]
    for argument in ("target", "nominal", "numeric", "drop"):
        with pytest.raises(InputError, match="'size'"):
            read(path, **{argument: "sise" if argument == "target" else ["sise"]})
    with pytest.raises(InputError, match="2 columns"):
        read(path, drop=["size"])


def test_layouts_belong_to_text_tables(tmp_path):
    (tmp_path / "t.arff").write_text(ARFF)
    (tmp_path / "t.csv").write_text(CSV)
    assert len(read(tmp_path / "t.arff", encoding="latin-1")) == 2
    with pytest.raises(InputError, match="header"):
        read(tmp_path / "t.arff", header=True)
    with pytest.raises(InputError, match="header"):
        read(pd.DataFrame({"a": [1], "b": [2]}), header=True)
    with pytest.raises(InputError, match=r"'delimeter'.*'delimiter'"):
        read(tmp_path / "t.csv", delimeter=",")


def test_places_that_hold_no_file(tmp_path):
    (tmp_path / "iris.csv").write_text(CSV)
    with pytest.raises(InputError, match=r"irs\.csv.*'iris\.csv'"):
        read(tmp_path / "irs.csv")
    with pytest.raises(InputError, match=r"no such file$"):
        read(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InputError, match="read_folds"):
        read(tmp_path)
    (tmp_path / "folds.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"use fairtrial\.data\.read_folds"):
        read(tmp_path / "folds.zip")
    with pytest.raises(InputError, match="NUL"):
        read("a\0b.csv")


def test_retyping_keeps_what_is_declared(tmp_path):
    (tmp_path / "t.dat").write_text(
        KEEL.replace("@inputs size", "@attribute more integer [1, 5]\n@inputs size, more")
        .replace("1, a", "1, a, 4")
        .replace("2, b", "2, a, 5")
    )
    found = read(tmp_path / "t.dat")
    changed = convert_dataset_types(found, nominal=["size"])
    assert changed.classes == found.classes == ("a", "b")
    assert found.ranges == {"size": (0, 9), "more": (1, 5)}
    assert changed.ranges == {"more": (1, 5)}
    assert convert_dataset_types(found) is found
    np.testing.assert_array_equal(convert_dataset_types(found.take([1]), drop=["more"]).row_ids, [1])


def test_csv_is_a_name_of_text_tables(tmp_path):
    (tmp_path / "table").write_text(CSV)
    assert read(tmp_path / "table", format="csv") == read(tmp_path / "table", format="delimited")


def test_a_file_is_meant_only_if_its_name_is_near(tmp_path):
    (tmp_path / "e.csv").write_text(CSV)
    with pytest.raises(InputError, match=r"no such file$"):
        read(tmp_path / "nope.csv")
    with pytest.raises(InputError, match=r"'e\.csv'"):
        read(tmp_path / "e.cvs")
