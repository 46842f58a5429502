"""Delimiter and header of text tables."""

import csv

import pytest

from fairtrial.data.text_tables import DELIMITERS, is_number, sniff_delimiter, sniff_header, split_rows


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
