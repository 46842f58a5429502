import csv
import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.data.keel import read_keel
from fairtrial.errors import InputError, SuspectInputWarning
from tests.data.written import PLAIN_WORDS, keel, same, tables

FILE = b"""@relation  flowers\r
@Attribute Length real [0.5, 3.0]\r
@attribute hue{red,  dark blue}\r
@attribute 'n' integer[0,9]\r
@attribute extra real\r
@attribute Class {iris, rose, lily}\r
@input Length, hue,, 'n'\r
@output  Class\r
@data\r
1.5 , red, 3,0, rose\r
% a comment\r
<null>,dark blue, 9 ,1,iris\r
\r
7.50E-1,?,4,2,rose"""


def test_everything_a_keel_file_may_hold():
    data = read_keel(FILE)
    assert data.X["Length"].tolist()[::2] == [1.5, 0.75]
    assert np.isnan(data.X["Length"][1])
    assert data.X["hue"].tolist()[:2] == ["red", "dark blue"]
    assert data.X["n"].tolist() == [3.0, 9.0, 4.0]
    assert (data.classes, data.target, data.name) == (("iris", "rose", "lily"), "Class", "flowers")
    assert data.ranges == {"Length": (0.5, 3.0), "n": (0.0, 9.0)}
    assert len(data.notes) == 1
    assert "extra" in data.notes[0]
    assert data.take([0]).ranges == data.ranges


def test_values_outside_their_declared_range_warn_once(tmp_path):
    path = tmp_path / "outside.dat"
    path.write_bytes(FILE.replace(b"9 ,1,iris", b"99 ,1,iris").replace(b"7.50E-1", b"2.5E-1"))
    with pytest.warns(SuspectInputWarning, match=r"outside\.dat, line 12: 'n' is 99.*\[0, 9\].*2 such values") as caught:
        data = read_keel(path)
    assert len(caught) == 1
    assert data.X["n"].tolist() == [3.0, 99.0, 4.0]
    assert data.ranges["n"] == (0, 9)


def test_a_member_of_an_archive_is_read():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("deep/flowers.dat", FILE)
    with zipfile.ZipFile(archive) as opened, opened.open("deep/flowers.dat") as member:
        data = read_keel(member)
    assert data == read_keel(FILE)
    assert data.name == "flowers"


def test_outputs_and_inputs_must_be_attributes():
    with pytest.raises(InputError, match=r"'Huge'.*'hue'"):
        read_keel(FILE.replace(b"hue,,", b"Huge,,"))
    with pytest.raises(InputError, match="'Klass'"):
        read_keel(FILE.replace(b"@output  Class", b"@output Klass"))
    two = FILE.replace(b"@output  Class", b"@outputs Class, hue").replace(b"hue,,", b"")
    with pytest.raises(InputError, match=r"Class and hue.*target="):
        read_keel(two)
    assert list(read_keel(two, target="Class").X.columns) == ["Length", "n"]


@settings(max_examples=40)
@given(tables(PLAIN_WORDS))
def test_what_is_written_is_read(written):
    assert same(read_keel(keel(*written)), *written)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(raw):
    with pytest.raises(InputError):
        read_keel(raw)


@pytest.mark.filterwarnings("ignore:.*outside its declared range:fairtrial.errors.SuspectInputWarning")
@given(st.data())
def test_corrupted_files_are_read_or_refused(given_data):
    place = given_data.draw(st.integers(0, len(FILE)))
    cut = given_data.draw(st.integers(0, 3))
    raw = (
        FILE[:place]
        + given_data.draw(st.binary(max_size=3) | st.sampled_from([b"@", b"{", b"}", b"[", b",", b"'", b"\n"]))
        + FILE[place + cut :]
    )
    try:
        data = read_keel(raw)
    except InputError:
        return
    assert len(data) <= 10


def index(folder: Path, ending: str):
    with (folder / "index.csv").open(newline="") as table:
        return [line for line in csv.DictReader(table) if line["file"].endswith(ending)]


def facts(data):
    """What index.csv tells of a file, which was counted by another program."""
    summary = data.summary()
    present = [count for count in summary.classes.values() if count]
    counts = (len(data), summary.attributes, summary.numeric, summary.nominal, len(present), len(summary.classes))
    return (*counts, min(present), max(present), summary.missing)


def expected_facts(line):
    columns = (
        "rows",
        "attributes",
        "numeric",
        "nominal",
        "classes_present",
        "classes_declared",
        "min_class",
        "max_class",
        "missing_values",
    )
    return tuple(int(line[column]) for column in columns)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_all_real_files_agree_with_the_index(shared_data):
    listed = index(shared_data, ".dat")
    assert len(listed) == 107
    wrong = {line["file"]: (facts(read_keel(shared_data / line["file"])), expected_facts(line)) for line in listed}
    assert {name: pair for name, pair in wrong.items() if pair[0] != pair[1]} == {}


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_the_values_of_real_files_are_those_of_a_plain_split(shared_data):
    for line in index(shared_data, ".dat")[::9]:
        path = shared_data / line["file"]
        body = re.split(r"@data\s*\n", path.read_text())[1]
        rows = [[cell.strip() for cell in row.split(",")] for row in body.splitlines() if row.strip()]
        frame = read_keel(path).frame()
        for name, texts in zip(frame.columns, zip(*rows, strict=True), strict=True):
            known = [None if text in ("?", "<null>") else text for text in texts]
            if frame[name].dtype == "category":
                assert [None if isinstance(cell, float) else cell for cell in frame[name].tolist()] == known
            else:
                numbers = [np.nan if text is None else float(text) for text in known]
                assert np.array_equal(frame[name], numbers, equal_nan=True)


def test_the_declared_ranges_of_a_real_file(shared_data):
    ranges = read_keel(shared_data / "keel-imbalanced" / "abalone9-18.dat").ranges
    assert ranges["Viscera_weight"] == (0.0005, 0.76)
    assert len(ranges) == 7


def test_a_corrupted_real_file_warns(shared_data):
    with pytest.warns(SuspectInputWarning, match=r"heart\.dat: .*heart"):
        data = read_keel(shared_data / "keel-standard" / "heart.dat")
    assert data.fault.name == "heart"
    assert data.notes == ()
