"""Text tables as data sets."""

import csv
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st

from fairtrial.data.delimited import read_delimited
from fairtrial.data.sniffing import MISSING, is_number
from fairtrial.errors import InputError, SuspectInputWarning


@pytest.fixture
def table(tmp_path):
    def write(text, name="table.csv"):
        (tmp_path / name).write_text(text, newline="")
        return tmp_path / name

    return write


def test_types_target_and_missing_values(table):
    data = read_delimited(table("size,hue,zone,kind\n1.5,red,1,b\n?,NA,2,a\nnull,blue,1,b\n"))
    np.testing.assert_equal(data.X["size"].to_numpy(), [1.5, np.nan, np.nan])
    assert data.X["hue"].tolist() == ["red", np.nan, "blue"]
    assert data.nominal == ("hue",)
    assert data.y.tolist() == ["b", "a", "b"]
    assert (data.name, data.target, data.classes) == ("table", "kind", ("a", "b"))
    assert data.source.endswith("table.csv")


def test_declared_types(table):
    path = table("code,size,kind\n1,010,7\n2,9,8\n3,9,7\n")
    data = read_delimited(path, nominal=["code"], text=["size"], target="kind", name="declared")
    assert data.X["code"].cat.categories.tolist() == [1, 2, 3]
    assert data.X["size"].cat.categories.tolist() == ["9", "010"]
    assert data.classes == (7, 8)
    assert all(isinstance(each, int) for each in data.classes)
    assert read_delimited(path, nominal=["kind"]).classes == ("7", "8")
    assert read_delimited(path, drop=["size"]).X.columns.tolist() == ["code"]
    assert read_delimited(path, target="code").X.columns.tolist() == ["size", "kind"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "knd"}, r"target must name a column of .*table.csv, got 'knd': did you mean 'kind'"),
        ({"nominal": ["sise"]}, r"nominal must name a column of .*: did you mean 'size'"),
        ({"numeric": ["hue"]}, r"table.csv, line 3: column 'hue' must hold numbers, got 'red'"),
        ({"numeric": ["kind"]}, r"'kind' must be declared once, got class and numeric"),
        ({"numeric": ["size"], "nominal": ["size"]}, r"'size' must be declared once, got nominal and numeric"),
        ({"drop": ["size", "hue"]}, r"must have at least 2 columns, attributes and a class, got 1"),
        ({"decimal": ";"}, r"decimal must be one of"),
        ({"encoding": "klingon"}, r"encoding must name a text encoding"),
        ({"missing": ["b"], "target": "kind"}, r"table.csv, line 4: the class 'kind' is missing \(1 such rows\)"),
    ],
)
def test_faults(table, options, message):
    path = table("size,hue,kind\n1,,a\n2,red,a\n3,blue,b\n")
    with pytest.raises(InputError, match=message):
        read_delimited(path, **options)


def test_decimal_commas_are_told_but_not_guessed(table):
    path = table("size;kind\n1,5;a\n2;b\n")
    with pytest.warns(SuspectInputWarning, match="column 'size' of .* holds numbers with decimal commas"):
        assert read_delimited(path).nominal == ("size",)
    assert read_delimited(path, decimal=",").X["size"].tolist() == [1.5, 2]
    assert read_delimited(path, text=["size"]).nominal == ("size",)


def test_a_column_of_row_numbers_is_told(table):
    path = table(",size,kind\n0,1.5,a\n1,2.5,b\n")
    with pytest.warns(SuspectInputWarning, match=r"counts the rows: it is probably no attribute; pass drop=\['x0'\]"):
        read_delimited(path)
    assert read_delimited(path, drop=["x0"]).X.columns.tolist() == ["size"]


def test_a_class_of_fractions_is_told(table):
    text = "size,value\n" + "".join(f"{i},{i / 7}\n" for i in range(30))
    with pytest.warns(SuspectInputWarning, match="looks like a measurement"):
        read_delimited(table(text))


def test_transfusion(shared_data):
    index = pd.read_csv(shared_data / "index.csv").set_index("file").loc["uci/transfusion.data"]
    summary = read_delimited(shared_data / "uci" / "transfusion.data").summary()
    assert summary.rows == index["rows"] == 748
    assert (summary.numeric, summary.nominal, summary.missing) == (4, 0, 0)
    assert summary.classes == {0: 570, 1: 178}


def test_known_bad_data_are_recognised_without_their_header(shared_data, tmp_path):
    lines = (shared_data / "keel-standard" / "heart.dat").read_text().splitlines()
    (tmp_path / "raw.csv").write_text("\n".join(lines[lines.index("@data") + 1 :]))
    with pytest.warns(SuspectInputWarning, match="damaged data of KEEL's heart"):
        read_delimited(tmp_path / "raw.csv")


WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(
    lambda word: word not in MISSING and not is_number(word.replace(",", "."))
)
ROWS = st.lists(st.tuples(st.floats(allow_nan=False) | st.none(), WORDS | st.none(), WORDS), min_size=1, max_size=15)


@settings(max_examples=100, deadline=None)
@given(rows=ROWS, delimiter=st.sampled_from(",;\t|"), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]))
def test_tables_come_back_as_they_were(tmp_path_factory, rows, delimiter, quoting):
    path = tmp_path_factory.getbasetemp() / "round.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerow(["number", "word", "kind"])
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    data = read_delimited(path, delimiter=delimiter, header=True)
    expected = [np.nan if each is None else each for each, _, _ in rows]
    np.testing.assert_equal(data.X["number"].to_numpy(), np.array(expected, dtype=float))
    if any(word is not None for _, word, _ in rows):
        assert [None if pd.isna(each) else each for each in data.X["word"]] == [word for _, word, _ in rows]
    assert data.y.tolist() == [kind for _, _, kind in rows]


GOOD = b'size,"hue",kind\n1.5,red,a\n-2e3,"blue, dark",b\n?,red,a\n'


@settings(max_examples=300, deadline=None)
@given(
    raw=st.binary(max_size=80)
    | st.builds(
        lambda place, cut, piece: GOOD[:place] + piece + GOOD[place + cut :],
        st.integers(0, len(GOOD)),
        st.integers(0, 10),
        st.binary(max_size=3) | st.sampled_from([b'"', b"\n", b",", b"\0", b"\r", b"\xff", b";", b"\t"]),
    )
)
@example(raw=b'"')
@example(raw=b"\xef\xbb\xbf")
@example(raw=b'a,b\n1,"')
@example(raw=b"\xff\xfea\0,\0b\0")
def test_no_file_whatever_raises_anything_but_an_input_error(tmp_path_factory, raw):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(raw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspectInputWarning)
        try:
            data = read_delimited(path)
        except InputError as error:
            message = str(error)
        else:
            message = ""
            assert len(data) >= 1
            assert data.y.notna().all()
    assert not message or "fuzz.csv" in message
