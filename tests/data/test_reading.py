"""One way to read them all."""

import gzip
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow
import pytest
from sklearn.datasets import load_iris

from fairtrial import data
from fairtrial.data.folds import read_folds
from fairtrial.data.frames import read_parquet
from fairtrial.data.keel import read_keel
from fairtrial.data.reading import convert_dataset_types, read
from fairtrial.errors import InputError, SuspectInputWarning
from tests.data.test_declared import index

# --- Reading ---
# One way to read them all.


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


# --- Parquet ---
# Parquet files.


@pytest.fixture
def path(tmp_path):
    frame = pd.DataFrame(
        {"size": [1, None, 3], "hue": pd.Categorical(["r", "b", "r"], ["r", "g", "b"]), "kind": ["a", "b", "a"]}
    )
    frame.to_parquet(tmp_path / "three.parquet")
    return tmp_path / "three.parquet"


def test_dictionary_columns_are_nominal_with_all_their_values(path):
    data = read_parquet(path)
    assert (data.name, data.target, data.nominal) == ("three", "kind", ("hue",))
    assert data.X["hue"].cat.categories.tolist() == ["r", "g", "b"]
    assert data.X["size"].isna().tolist() == [False, True, False]
    assert read_parquet(path, drop=["hue"], name="two").X.columns.tolist() == ["size"]


def test_faults(path, tmp_path):
    with pytest.raises(InputError, match=r"target.*'kind'"):
        read_parquet(path, target="kin")
    with pytest.raises(InputError, match=r"absent\.parquet"):
        read_parquet(tmp_path / "absent.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"three\.parquet cannot be read as Parquet: "):
        read_parquet(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"three\.parquet cannot be read as Parquet: "):
        read_parquet(path)


def test_a_class_of_fractions_warns(tmp_path):
    pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}).to_parquet(tmp_path / "t.parquet")
    with pytest.warns(SuspectInputWarning, match=r"'b' of .*t\.parquet"):
        read_parquet(tmp_path / "t.parquet")


# --- Folds ---


HEAD = "@relation r\n@attribute a real [0, 9]\n@attribute c {x,y}\n@data\n"
PARTS = {"1tra": "3,x\n4,y", "1tst": "1,x\n2,y", "2tra": "2,y\n1,x", "2tst": "3,x\n4,y"}


def write(folder, parts, stem="set-2", head=HEAD):
    for part, rows in parts.items():
        (folder / f"{stem}-{part}.dat").write_text(head + rows)
    return folder


def zipped(path, parts, stem="set-2"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__MACOSX/._set-2-1tra.dat", "junk")
        for part, rows in parts.items():
            archive.writestr(f"deep/{stem}-{part}.dat", HEAD + rows)
    return path


@pytest.mark.parametrize("stem", ["set-2", "x-10dobscv", "abalone9-18-5"])
def test_a_folder_and_an_archive_give_the_same_folds(tmp_path, stem):
    (tmp_path / "folder").mkdir()
    one, other = read_folds(write(tmp_path / "folder", PARTS, stem)), read_folds(zipped(tmp_path / "f.zip", PARTS, stem))
    assert one.dataset == other.dataset
    assert one.dataset.name == stem
    assert one.dataset.frame().to_numpy().tolist() == [[1.0, "x"], [2.0, "y"], [3.0, "x"], [4.0, "y"]]
    assert one.dataset.ranges == {"a": (0.0, 9.0)}
    for folds in (one, other):
        assert [(train.tolist(), test.tolist()) for train, test in folds] == [([2, 3], [0, 1]), ([1, 0], [2, 3])]


def test_folds_describe_themselves(tmp_path):
    folds = read_folds(write(tmp_path, PARTS))
    assert len(folds) == 2
    assert folds.never_tested == 0
    assert folds.frame().reset_index().to_numpy().tolist() == [[1, 2, 2, 0], [2, 2, 2, 0]]
    assert str(folds).startswith("set-2: 2 given folds of 4 rows")
    assert folds._repr_html_() == f"<p>{folds}</p>"
    with pytest.raises(ValueError, match="read-only"):
        folds.splits[0][0][0] = 5


def test_leaks_and_untested_rows_warn(tmp_path):
    parts = PARTS | {
        "3tra": "1,x\n2,y\n3,x\n4,y\n9,x",
        "3tst": "5,x\n1,x",
        "1tra": "3,x\n4,y\n5,x\n9,x",
        "2tra": "1,x\n2,y\n5,x\n9,x",
    }
    with pytest.warns(SuspectInputWarning, match="fold 3 has 1 of its 2 test rows.*1 of 6 rows"):
        folds = read_folds(write(tmp_path, parts))
    assert folds.never_tested == 1
    assert folds.frame()["both"].tolist() == [0, 0, 1]
    assert folds.dataset.X["a"].tolist() == [1, 2, 3, 4, 5, 9]


def test_declared_values_are_joined(tmp_path):
    write(tmp_path, {"1tra": "3,z", "1tst": "1,x", "2tra": "1,x"}, head=HEAD.replace("{x,y}", "{x,z}"))
    write(tmp_path, {"2tst": "3,z"}, head=HEAD.replace("{x,y}", "{x,y,z}"))
    assert read_folds(tmp_path).dataset.classes == ("x", "z", "y")


def test_several_schemes_in_one_folder(tmp_path):
    write(tmp_path, PARTS)
    write(tmp_path, {"1tra": "1,x", "1tst": "2,y", "2tra": "2,y", "2tst": "1,x"}, stem="set-2dobscv")
    with pytest.raises(InputError, match=r"set-2 and set-2dobscv.*scheme="):
        read_folds(tmp_path)
    assert len(read_folds(tmp_path, scheme="set-2dobscv").dataset) == 2
    with pytest.raises(InputError, match="scheme"):
        read_folds(tmp_path, scheme="set-3")


def test_what_is_no_set_of_folds_is_refused(tmp_path):
    with pytest.raises(InputError, match="x-5-1tra"):
        read_folds(tmp_path)
    with pytest.raises(InputError, match="no such"):
        read_folds(tmp_path / "none")
    (tmp_path / "text").write_text("text")
    with pytest.raises(InputError, match="must be a folder or a zip archive"):
        read_folds(tmp_path / "text")
    write(tmp_path, {"1tra": "1,x"})
    with pytest.raises(InputError, match="fold 1 of set-2"):
        read_folds(tmp_path)
    write(tmp_path, {"1tst": "1,q"})
    with pytest.raises(InputError, match=r"1tst\.dat, line 5: .*'c'.*'q'"):
        read_folds(tmp_path)
    write(tmp_path, {"1tst": "1,x"}, head=HEAD.replace(" a ", " b "))
    with pytest.raises(InputError, match=r"set-2-1tra\.dat.*1tst\.dat.*b.*got a"):
        read_folds(tmp_path)
    write(tmp_path, {"1tst": "z,x"}, head=HEAD.replace("real [0, 9]", "{z}"))
    with pytest.raises(InputError, match="nominal and numeric"):
        read_folds(tmp_path)


@pytest.mark.parametrize("place", range(0, 400, 20))
def test_a_corrupted_archive_is_read_or_refused(tmp_path, place):
    raw = bytearray(zipped(tmp_path / "f.zip", PARTS).read_bytes())
    raw[place] ^= 0xFF
    (tmp_path / "f.zip").write_bytes(raw)
    with suppress(InputError):
        assert len(read_folds(tmp_path / "f.zip")) == 2


def test_an_encrypted_member_is_refused(tmp_path):
    path = zipped(tmp_path / "f.zip", PARTS)
    raw = path.read_bytes()
    central = raw.index(b"PK\x01\x02", raw.index(b"PK\x01\x02") + 1)
    path.write_bytes(raw[: central + 8] + b"\x01" + raw[central + 9 :])
    with pytest.raises(InputError, match=r"cannot be opened|encrypted"):
        read_folds(path)


def test_abalone_leaks_as_the_splits_alone_show(shared_data):
    with pytest.warns(SuspectInputWarning, match="fold 1 has 117 of its 147 test rows.*119 of 731 rows"):
        folds = read_folds(shared_data / "keel-imbalanced-5fold" / "abalone9-18-5-fold.zip")
    both = [len(np.intersect1d(train, test)) for train, test in folds.splits]
    assert both == [117, 0, 0, 0, 0]
    assert len(folds.splits[0][1]) == 147
    assert len(np.unique(np.concatenate([test for _, test in folds.splits]))) == 612
    assert len(folds.dataset) == 731
    whole = read_keel(shared_data / "keel-imbalanced" / "abalone9-18.dat")
    rows = lambda data: sorted(map(tuple, data.frame().astype(str).to_numpy().tolist()))  # noqa: E731
    assert rows(folds.dataset) == rows(whole)


EXCEPTIONS = {
    "cleveland-0_vs_4-5-fold.zip": 173,
    "breast-5-fold.zip": 277,
}  # the notes of index.csv: incomplete rows are dropped


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
@pytest.mark.parametrize(
    "collection",
    [("keel-imbalanced-5fold", part) for part in range(4)] + [("keel-standard-5fold", 0), ("keel-standard-10fold", 0)],
)
def test_all_real_archives_load(shared_data, collection):
    folder, part = collection
    paths = sorted((shared_data / folder).glob("*.zip"))
    rows = {line["file"]: int(line["rows"]) for line in index(shared_data, ".dat")}
    assert len(paths) == {"keel-imbalanced-5fold": 66, "keel-standard-5fold": 29, "keel-standard-10fold": 14}[folder]
    for path in paths[part :: 4 if "imbalanced" in folder else 1]:
        name = path.name.replace("-5-fold.zip", "").replace("-10-fold.zip", "").replace("-10dobscv.zip", "")
        folds = read_folds(path)
        assert len(folds) == (10 if "10" in folder else 5)
        assert len(folds.dataset) == EXCEPTIONS.get(path.name, rows[f"{folder.rsplit('-', 1)[0]}/{name}.dat"]), path
        if "abalone9-18" not in path.name:
            tested = np.concatenate([test for _, test in folds])
            assert sorted(tested.tolist()) == list(range(len(folds.dataset))), path
            for train, test in folds:
                assert len(train) + len(test) == len(folds.dataset)
                assert not set(train.tolist()) & set(test.tolist())


# --- Groups and time ---


VISITS = pd.DataFrame(
    {
        "patient": [2**60 + 1, 2**60 + 2, 2**60 + 1],
        "day": ["2026-01-03", "2026-01-01", "2026-01-02"],
        "dose": [1.0, 2.0, 3.0],
        "kind": ["a", "b", "a"],
    }
)


@pytest.mark.parametrize("form", ["csv", "parquet", "frame", "arrow", "arff"])
def test_groups_and_time_are_read_from_every_source(tmp_path, form):
    """Ids that differ only beyond the 15th digit stay different."""
    path = tmp_path / f"visits.{form}"
    if form == "csv":
        VISITS.to_csv(path, index=False)
    elif form == "parquet":
        VISITS.to_parquet(path)
    elif form == "arff":
        header = '@relation v\n@attribute patient string\n@attribute day date "yyyy-MM-dd"\n@attribute dose numeric\n'
        rows = VISITS.astype(str).agg(",".join, axis=1)
        path.write_text(header + "@attribute kind {a,b}\n@data\n" + "\n".join(rows) + "\n")
    elif form == "arrow":
        path = pyarrow.Table.from_pandas(VISITS)
    else:
        path = VISITS
    found = read(path, target="kind", groups="patient", time="day")
    assert list(found.X) == ["dose"]
    assert found.groups.cat.codes.tolist() == [0, 1, 0]
    assert (found.time / 86400 - 20454).tolist() == [2, 0, 1]  # 2026-01-01 is day 20,454 after 1970-01-01


def test_groups_that_are_the_default_class_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("size,kind,patient\n1,a,x\n2,b,x\n3,a,y\n")
    with pytest.raises(InputError, match="groups must differ from the class column, got 'patient': name the class with target"):
        read(tmp_path / "t.csv", groups="patient")
    assert read(tmp_path / "t.csv", target="kind", groups="patient").groups.tolist() == ["x", "x", "y"]
