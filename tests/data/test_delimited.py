"""Text tables as data sets."""

import csv
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st

from fairtrial.data.dates import DEFAULT_FORMAT, convert_date_format, is_iso_like, parse_date, parse_iso_date
from fairtrial.data.delimited import detect_number_format, find_equal_numbers, read_delimited
from fairtrial.data.frames import read_parquet
from fairtrial.data.text_tables import DELIMITERS, MISSING, is_number, sniff_delimiter, sniff_header, split_rows
from fairtrial.errors import InputError, SuspectInputWarning

# --- Delimited ---
# Text tables as data sets.


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
    assert data.X["size"].cat.categories.tolist() == ["010", "9"]
    assert data.classes == (7, 8)
    assert all(isinstance(each, int) for each in data.classes)
    assert read_delimited(path, nominal=["kind", "size"]).classes == ("7", "8")
    assert read_delimited(path, drop=["size"]).X.columns.tolist() == ["code"]
    assert read_delimited(path, target="code", numeric=["size"]).X.columns.tolist() == ["size", "kind"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "knd"}, r"target.*table\.csv.*'knd'.*'kind'"),
        ({"nominal": ["sise"]}, "nominal.*'sise'.*'size'"),
        ({"numeric": ["hue"]}, r"table\.csv, line 3: .*'hue'.*'red'"),
        ({"numeric": ["kind"]}, "'kind'.*class and numeric"),
        ({"numeric": ["size"], "nominal": ["size"]}, "'size'.*nominal and numeric"),
        ({"drop": ["size", "hue"]}, r"table\.csv.*2 columns.*got 1"),
        ({"decimal": ";"}, "decimal.*';'"),
        ({"encoding": "klingon"}, "encoding.*'klingon'"),
        ({"missing": ["b"], "target": "kind"}, r"table\.csv, line 4: .*'kind'.*1 missing value"),
    ],
)
def test_faults(table, options, message):
    path = table("size,hue,kind\n1,,a\n2,red,a\n3,blue,b\n")
    with pytest.raises(InputError, match=message):
        read_delimited(path, **options)


def test_decimal_commas_warn_but_are_not_guessed(table):
    path = table("size;kind\n1,5;a\n2;b\n")
    with pytest.warns(SuspectInputWarning, match="'size'.*decimal=','"):
        assert read_delimited(path).nominal == ("size",)
    assert read_delimited(path, decimal=",").X["size"].tolist() == [1.5, 2]
    assert read_delimited(path, text=["size"]).nominal == ("size",)


def test_points_are_not_numbers_with_decimal_commas(table):
    path = table("size;kind\n1.234;a\n2,5;b\n")
    with pytest.warns(SuspectInputWarning, match="'size'.*decimal="):
        assert read_delimited(path, decimal=",").nominal == ("size",)
    with pytest.raises(InputError, match=r"table\.csv, line 2: .*'size'.*'1\.234'"):
        read_delimited(path, decimal=",", numeric=["size"])


def test_numbers_that_may_have_thousands_warn_with_both_readings(table):
    with pytest.warns(SuspectInputWarning, match=r"'size'.*decimal=','.*'1,234' is 1\.234,.*1234"):
        assert read_delimited(table("size;kind\n1,234;a\n4,567;b\n")).nominal == ("size",)


@pytest.mark.parametrize(
    "cells",
    [["00123", "00456"], ["12345678901234567890", "12345678901234567891"]],
)
def test_codes_stay_text_with_a_warning(table, cells):
    path = table("code,kind\n" + "".join(f"{cell},a\n" for cell in cells) + ",b\n")
    with pytest.warns(SuspectInputWarning, match=rf"'code'.*'{cells[0]}'.*numeric=\['code'\]"):
        data = read_delimited(path)
    assert data.X["code"].tolist() == [*cells, np.nan]
    assert read_delimited(path, numeric=["code"]).X["code"].tolist()[:2] == [float(cell) for cell in cells]
    assert read_delimited(path, text=["code"]).X["code"].tolist()[:2] == cells


def test_classes_that_are_the_same_number_stay_distinct_with_a_warning(table):
    path = table("size,kind\n1,01\n2,1\n3,1\n")
    with pytest.warns(SuspectInputWarning, match="'01' and '1' of 'kind'"):
        assert read_delimited(path).classes == ("01", "1")
    assert read_delimited(path, text=["kind"]).classes == ("01", "1")
    assert read_delimited(table("size,kind\n1,007\n2,010\n")).classes == ("007", "010")


def test_dates_are_seconds(table):
    path = table("day,kind\n1970-01-02,a\n,b\n")
    np.testing.assert_equal(read_delimited(path).X["day"].to_numpy(), [86400, np.nan])
    np.testing.assert_equal(read_delimited(path, numeric=["day"]).X["day"].to_numpy(), [86400, np.nan])
    assert read_delimited(path, nominal=["day"]).X["day"].tolist() == ["1970-01-02", np.nan]
    assert read_delimited(table("day,kind\n0999-12-31,a\n")).X["day"].tolist() == [-30610310400]  # date -u -d ... +%s
    with pytest.warns(SuspectInputWarning, match="'day'.*'1970-02-30'"):
        assert read_delimited(table("day,kind\n1970-01-02,a\n1970-02-30,b\n")).nominal == ("day",)


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e400"])
def test_infinite_numbers_are_refused_with_their_line(table, cell):
    path = table(f"size,kind\n1,a\n{cell},b\n")
    for options in ({}, {"numeric": ["size"]}):
        with pytest.raises(InputError, match=rf"table\.csv, line 3: .*'size'.*'{cell}'"):
            read_delimited(path, **options)
    assert read_delimited(path, text=["size"]).X["size"].tolist() == ["1", cell]
    with pytest.raises(InputError, match="line 3"):
        read_delimited(path, missing=["?"])
    np.testing.assert_equal(read_delimited(path, missing=[cell]).X["size"].to_numpy(), [1, np.nan])


def test_the_header_of_the_glass_data_names_sodium(table):
    data = read_delimited(table("RI,NA,MG,TYPE\n1.5,13.6,4.4,1\n1.5,13.9,3.6,1\n1.5,13.5,3.5,2\n"))
    assert (len(data), data.X.columns.tolist(), data.classes) == (3, ["RI", "NA", "MG"], (1, 2))


def test_csv_and_parquet_give_the_same_data_set(tmp_path):
    table = pd.DataFrame(
        {
            "size": [1.5, None, 3.0, 4.0],
            "flag": pd.array([True, False, None, True], dtype="boolean"),
            "code": ["10", "2", "x", "1"],
            "when": pd.to_datetime(["2001-04-03 12:12:12.123457", None, "1969-07-20 20:17:40", "2020-01-01"], format="ISO8601"),
        }
    )
    for name, classes in {"truth": [True, False, True, True], "word": ["10", "9", "a", "a"], "whole": [10, 9, 9, 10]}.items():
        whole = table.assign(**{name: classes})
        whole.to_csv(tmp_path / "t.csv", index=False)
        whole.to_parquet(tmp_path / "t.parquet")
        from_csv, from_parquet = read_delimited(tmp_path / "t.csv"), read_parquet(tmp_path / "t.parquet")
        assert from_csv == from_parquet
        assert from_csv.X["code"].cat.categories.tolist() == ["1", "10", "2", "x"]
        assert from_csv.X["flag"].cat.categories.tolist() == [False, True]


def test_a_column_of_row_numbers_warns(table):
    path = table(",size,kind\n0,1.5,a\n1,2.5,b\n")
    with pytest.warns(SuspectInputWarning, match=r"drop=\['x0'\]"):
        read_delimited(path)
    assert read_delimited(path, drop=["x0"]).X.columns.tolist() == ["size"]


def test_a_class_of_fractions_warns(table):
    text = "size,value\n" + "".join(f"{i},{i / 7}\n" for i in range(30))
    with pytest.warns(SuspectInputWarning, match="'value'.*target="):
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
    with pytest.warns(SuspectInputWarning, match="heart"):
        data = read_delimited(tmp_path / "raw.csv")
    assert data.fault.name == "heart"


WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(
    lambda word: word not in MISSING and word.lower() not in ("true", "false") and not is_number(word.replace(",", "."))
)
ROWS = st.lists(
    st.tuples(st.floats(allow_nan=False, allow_infinity=False) | st.none(), WORDS | st.none(), WORDS), min_size=1, max_size=15
)


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


def test_a_european_file_of_r_has_its_header(table):
    path = table('"";"size";"kind"\n"a1";1,5;"a"\n"a2";2,5;"b"\n')
    data = read_delimited(path, delimiter=";", decimal=",", drop=["x0"])
    assert (data.X["size"].tolist(), data.target, data.classes) == ([1.5, 2.5], "kind", ("a", "b"))


@pytest.mark.parametrize("header", [0, 1, "infer"])
def test_header_is_a_boolean_and_not_a_line_number(table, header):
    with pytest.raises(InputError, match=f"header.*got {header!r}"):
        read_delimited(table("size,kind\n1,a\n"), header=header)


@pytest.mark.parametrize("option", ["text", "nominal", "numeric", "drop"])
def test_a_boolean_does_not_name_columns(table, option):
    with pytest.raises(InputError, match=f"{option}.*got True"):
        read_delimited(table("size,kind\n1,a\n"), **{option: True})


def test_a_single_text_among_numbers_warns_with_its_line(table):
    rows = [f"{i},a" for i in range(30)]
    path = table("b,kind\n" + "\n".join([*rows[:10], "oops,b", *rows[10:], "?,a"]) + "\n")
    with pytest.warns(SuspectInputWarning, match=r"line 12: .*'b'.*'oops'.*30 .*missing=\['oops'\].*nominal=\['b'\]"):
        assert read_delimited(path).nominal == ("b",)
    assert read_delimited(path, nominal=["b"]).nominal == ("b",)
    assert read_delimited(path, missing=["?", "oops"]).nominal == ()


@pytest.mark.parametrize(("numbers", "words"), [(18, 1), (18, 2), (36, 2), (0, 30)])
def test_columns_of_texts_are_read_without_a_warning(table, numbers, words):
    """Fewer than 20 values, or fewer than 95 numbers in 100."""
    cells = [*map(str, range(numbers)), *["x"] * words]
    assert read_delimited(table("b,kind\n" + "".join(f"{cell},a\n" for cell in cells))).nominal == ("b",)


# --- Sniffing ---
# Delimiter and header of text tables.


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_each_delimiter_is_found(delimiter):
    lines = [delimiter.join(["a", "b", "c"]), delimiter.join(["1", "2.5", "x"]), ""]
    assert sniff_delimiter(lines) == delimiter


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["1,5;2,5;a", "1,7;2,9;b"], ";"),  # decimal commas
        (["x;y,1,2", "u;v,3,4"], ","),  # semicolons within words
        (["two words,1,a", "three more words,2,b"], ","),
        (["a\tb c\t1", "d\te f\t2"], "\t"),
        (['"a,b";1', '"c";2'], ";"),
        (["1 2  3", "  4 5 6  "], " "),
        (["a,b,c", "1,2,3", "1,2", "4,5,6"], ","),  # a ragged row is found later, with its line
        (['"a","b","c"', '"1",2,"x"', '"3",4'], ","),  # a quoted word ends at a blank only
        (['"a","b"', '"1",5.1,"x y"', '"2",4.9,"x z"'], ","),  # R's write.table: no name above the row names
        (['"a" "b"', '"1" "x y"'], " "),
        (["one", "two"], None),
        (["", ""], None),
    ],
)
def test_delimiters_of_real_kinds_of_lines(lines, delimiter):
    assert sniff_delimiter(lines) == delimiter


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("size,kind|1,a|2,b", True),
        ("1,a|2,b", False),
        ("a,b|1,2|3,4", True),
        ("colour,kind|red,a|blue,b|red,a", True),
        ("red,a|blue,b|red,a", False),
        ("vhigh,vhigh,acc|vhigh,low,acc|low,low,unacc", False),
        (",size,kind|0,1.5,a|1,2.5,b", True),  # an index that pandas wrote
        ("?,b|1,c|2,d", False),
        ("RI,NA,MG,TYPE|1.5,13.6,4.4,1|1.6,13.9,3.6,2", True),  # sodium, not a missing value
        ("NA,NA,red|1,2,blue|3,4,red", False),
        ("NA,1,red|2,3,blue", False),
        ("NA,b", False),
        ("5.1,3.5,setosa|4.9,3.0,setosa", False),
        ("a,b", True),
        ("1,b", False),
        ("size,kind,|1,a,|2,b,", True),  # a delimiter too many at each line
    ],
)
def test_headers(text, header):
    assert sniff_header([line.split(",") for line in text.split("|")]) is header


def test_numbers_with_decimal_commas_are_not_a_header():
    assert sniff_header([["", "size", "kind"], ["1", "1,5", "a"], ["2", "2,5", "b"]])  # as R's write.csv2 makes it
    assert not sniff_header([["1,5", "a"], ["2,5", "b"]])


def test_names_that_count_the_columns_are_a_header_if_the_rest_agrees():
    rows = [["0", "1", "2", "target"], *([str(i), "1", "2", "ab"[i % 2]] for i in range(12))]
    assert sniff_header(rows)
    assert not sniff_header(rows[:5]), "too few rows to tell"
    assert not sniff_header([["0", "1", "2", "a"], *rows[1:]]), "the word is a class"
    assert not sniff_header([["0", "1", "7", "target"], *rows[1:]]), "no count"


@pytest.mark.parametrize("cell", ["1", "-1", "+2.5", "1.", ".5", "1e5", "1E-5", "inf", "-Infinity"])
def test_numbers(cell):
    assert is_number(cell)
    float(cell)


@pytest.mark.parametrize("cell", ["", "a", "1,5", "1_000", "0x1", "1e", "--1", "\u0661", "1 2", "nan", "."])
def test_words(cell):
    assert not is_number(cell)


def test_rows_come_with_their_lines():
    lines = ["a,b\n", "\n", '"x\n', 'y",2\n', "   \n", "3, 4\n"]
    assert list(split_rows(lines, ",")) == [(1, ["a", "b"]), (3, ["x\ny", "2"]), (6, ["3", "4"])]
    assert list(split_rows(['"a b" c', "", 'd "e""f"'], " ")) == [(1, ["a b", "c"]), (3, ["d", 'e"f'])]


def test_a_quote_that_is_never_closed_is_refused_with_its_line():
    with pytest.raises(csv.Error, match="line 2"):
        list(split_rows(["a,b\n", '1,"2\n', "3,4\n"], ","))


# --- Suspect words ---
# Texts that look like numbers or dates but cannot be read as such.


@pytest.mark.parametrize(
    ("texts", "decimal", "kind", "example"),
    [
        (["1,5", "2"], ".", "decimal commas", "1,5"),
        (["0,234", "1,234"], ".", "decimal commas", "0,234"),
        (["1234,567", "1,234"], ".", "decimal commas", "1234,567"),
        (["1,234", "4,567", "12"], ".", "decimal or thousands commas", "1,234"),
        (["-1,234"], ".", "decimal or thousands commas", "-1,234"),
        (["1,234", "12.5"], ".", "thousands commas", "1,234"),
        (["1,234,567", "1,234"], ".", "thousands commas", "1,234,567"),
        (["1,234.5"], ".", "thousands commas", "1,234.5"),
        (["1.234,5", "1,5"], ".", "thousands points and decimal commas", "1.234,5"),
        (["1.234.567", "12"], ".", "thousands points", "1.234.567"),
        (["1,5", "2.5"], ".", "points and commas", "1,5"),
        (["1.234", "1,5"], ",", "points with decimal=','", "1.234"),
        (["1.234,5"], ",", "points with decimal=','", "1.234,5"),
        (["1,234,567", "1"], ",", "thousands commas", "1,234,567"),
        (["2001-04-03", "2001-02-30"], ".", "wrong date", "2001-02-30"),
    ],
)
def test_formats(texts, decimal, kind, example):
    assert detect_number_format(texts, decimal) == (kind, example)


@pytest.mark.parametrize(
    "words", [["a", "1,5"], ["1,2,3"], ["red"], ["1.2.3"], [","], ["2001-04-03", "x"], ["2001-04-03"], ["12,34,567"], []]
)
def test_words_that_are_words(words):
    assert detect_number_format(words, ".") is None
    assert detect_number_format(words, ",") is None


def test_one_number_written_in_two_ways():
    assert find_equal_numbers(["01", "1"], ".") == ("01", "1")
    assert find_equal_numbers(["2", "1e1", "10.0"], ".") == ("1e1", "10.0")
    assert find_equal_numbers(["1,0", "1"], ",") == ("1,0", "1")
    assert find_equal_numbers(["12345678901234567890", "12345678901234567891"], ".") is None, "two numbers, though one float"
    assert find_equal_numbers(["01", "2"], ".") is None
    assert find_equal_numbers(["1", "01", "1e9999999999999999999999"], ".") is None
    assert find_equal_numbers(["01", "1", "x"], ".") is None


# --- Dates ---


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [  # expected: date -u -d TEXT +%s
        (DEFAULT_FORMAT, "2001-04-03T12:12:12", 986299932.0),
        ("yyyy-MM-dd HH:mm", "1999-12-31 23:59", 946684740.0),
        ("dd/MM/yy", "31/12/99", 946598400.0),
        ("d MMM yyyy", "9 Sep 2001", 999993600.0),
        ("yyyy-MM-dd HH:mm:ss.SSS", "1970-01-01 00:00:01.250", 1.25),
        ("yyyy-MM-dd HH:mm z", "2001-04-03 12:12 UTC", 986299920.0),
        ("yyyy-MM-dd HH:mm Z", "2001-04-03 12:12 +0200", 986292720.0),
        ("yyyy-MM-dd HH:mm z", "2001-04-03 12:12 GMT+02:00", 986292720.0),
        ("hh:mm a 'o''clock' 100% D yyyy", "11:30 PM o'clock 100% 001 1970", 84600.0),
    ],
)
def test_patterns_of_java_are_understood(pattern, text, expected):
    assert parse_date(text, convert_date_format(pattern, InputError)) == expected


@pytest.mark.parametrize(("pattern", "value"), [("yyyy-'T", "quotes"), ("yyyy-ww", "'w'"), ("yyyy yyyy", "'yyyy yyyy'")])
def test_patterns_that_cannot_be_read_are_refused(pattern, value):
    with pytest.raises(InputError, match=value):
        convert_date_format(pattern, InputError)


@given(st.text("yMdHhmsSaDEzZXwW'% -:/T", max_size=12), st.text(max_size=12))
def test_any_pattern_is_read_or_refused(pattern, text):
    try:
        form = convert_date_format(pattern, InputError)
    except InputError:
        return
    with suppress(ValueError, OverflowError):
        assert isinstance(parse_date(text, form), float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # expected: date -u -d TEXT +%s.%N
        ("2001-04-03", 986256000.0),
        ("2001-04-03T12:12:12", 986299932.0),
        ("2001-04-03 12:12", 986299920.0),
        ("2001-04-03 14:12:12.250000+02:00", 986299932.25),
        ("2001-04-03T12:12:12Z", 986299932.0),
        ("1969-12-31 23:59:59.5", -0.5),
        ("0001-01-01", -62135596800.0),
    ],
)
def test_iso_dates(text, expected):
    assert is_iso_like(text)
    assert parse_iso_date(text) == expected


@pytest.mark.parametrize("text", ["2001-02-30", "2001-13-01", "2001-04-03 25:00", "0000-01-01", "2001-04-03T12:12:12+99:00"])
def test_dates_that_never_were(text):
    assert is_iso_like(text)
    assert parse_iso_date(text) is None


@pytest.mark.parametrize(
    "text", ["20010403", "2001-W14-2", "2001-4-3", "03/04/2001", "12:12", "x", "", "2001-04-03T", "2001-04-03 x"]
)
def test_what_is_no_iso_date(text):
    assert not is_iso_like(text)
    assert parse_iso_date(text) is None
