"""Columns of text as numbers, labels or classes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from fairtrial.data.delimited import (
    as_classes,
    as_dates,
    as_labels,
    as_numbers,
    as_text,
    find_code,
    find_isolated_text,
    find_non_number,
)


def column(*cells):
    half = len(cells) // 2
    return pa.chunked_array([pa.array(cells[:half], pa.string()), pa.array(cells[half:], pa.string())])


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_numbers_come_back_exactly(values):
    assert as_numbers(column(*map(repr, values)), []).tolist() == values


def test_numbers_with_signs_blanks_gaps_and_decimal_commas():
    np.testing.assert_equal(as_numbers(column(" +1", "?", "2e400", ".5 "), ["?"]), [1, np.nan, np.inf, 0.5])
    np.testing.assert_equal(as_numbers(column("1,5", "2"), [], ","), [1.5, 2])
    assert as_numbers(column("1", "x"), []) is None
    assert as_numbers(column("1,5", "2"), []) is None
    assert as_numbers(column("1_0", "2"), []) is None
    assert as_numbers(column("nan", "2"), ["?"]) is None, "missing only if missing= says so"
    np.testing.assert_equal(as_numbers(column("?", "?"), ["?"]), [np.nan, np.nan])


def test_a_point_is_no_number_among_decimal_commas():
    assert as_numbers(column("1,5", "1.234"), [], ",") is None
    assert find_non_number(column("1,5", "1.234"), [], ",") == (1, "1.234")
    np.testing.assert_equal(as_numbers(column("-1,5e3", "?"), ["?"], ","), [-1500, np.nan])


def test_the_first_word():
    assert find_non_number(column("1", "?", "b", "c"), ["?"]) == (2, "b")
    assert find_non_number(column("1", "nan"), []) == (1, "nan")


@pytest.mark.parametrize("code", ["00123", "-01", "01.10", "1234567890123456"])
def test_codes_are_found(code):
    assert find_code(column("1", "0", "?", f" {code}", "000"), ["?"]) == code


def test_numbers_are_no_codes():
    cells = ["0", "-0", "0.50", "123456789012345", "1234567890123456.0", "1.2345678901234567e+19", "10", "000"]
    assert find_code(column(*cells), ["000"]) is None


def test_dates_are_the_seconds_that_other_readers_give():
    cells = ["2001-04-03", "?", "1969-12-31 23:59:59.5", "2001-04-03T14:12:12+02:00", "9999-12-31"]
    expected = [986256000, np.nan, -0.5, 986299932, 253402214400]  # date -u -d ... +%s
    np.testing.assert_equal(as_dates(column(*cells), ["?"]), expected)
    assert as_dates(column("2001-04-03", "2001-02-30"), []) is None
    assert as_dates(column("2001-04-03", "20010403"), []) is None
    assert as_dates(column("2001-04-03", "x"), []) is None


@pytest.mark.parametrize(
    ("cells", "labels", "classes", "text"),
    [
        (["10", "9", "10"], [9, 10], [9, 10], ["10", "9"]),
        (["1.0", "-1.0"], ["-1.0", "1.0"], [-1.0, 1.0], ["-1.0", "1.0"]),
        (["007", "010"], ["007", "010"], ["007", "010"], ["007", "010"]),
        (["01", "1", "1"], ["01", "1"], ["01", "1"], ["01", "1"]),
        (["1", "1.0"], ["1", "1.0"], ["1", "1.0"], ["1", "1.0"]),
        (["inf", "1"], ["1", "inf"], ["1", "inf"], ["1", "inf"]),
        (["b", "a", "10", "9"], ["10", "9", "a", "b"], ["10", "9", "a", "b"], ["10", "9", "a", "b"]),
        (["-0", "--5"], ["--5", "-0"], ["--5", "-0"], ["--5", "-0"]),
        (
            ["12345678901234567891", "12345678901234567890"],
            *[["12345678901234567890", "12345678901234567891"]] * 3,
        ),
    ],
)
def test_categories(cells, labels, classes, text):
    for read, expected in ((as_labels, labels), (as_classes, classes), (as_text, text)):
        found = read(column(*cells), [])
        assert found.categories.tolist() == expected
        assert [type(each) for each in found.categories.tolist()] == [type(each) for each in expected]
    assert as_text(column(*cells), []).tolist() == cells


def test_true_and_false_in_any_case_are_one_category_each():
    cells = column("true", "FALSE", "?", "True")
    for read in (as_labels, as_classes):
        found = read(cells, ["?"])
        assert (found.categories.tolist(), found.codes.tolist()) == ([False, True], [1, 0, -1, 1])
        assert read(column("false", "x"), []).tolist() == ["false", "x"]
    assert as_text(cells, ["?"]).categories.tolist() == ["FALSE", "True", "true"]


def test_classes_with_decimal_commas():
    assert as_classes(column("1,5", "0,5"), [], ",").categories.tolist() == [0.5, 1.5]
    assert as_classes(column("1.5", "0.5"), [], ",").categories.tolist() == ["0.5", "1.5"]


def test_missing_labels():
    for read in (as_labels, as_classes, as_text):
        assert read(column("?", "5", "x", ""), ["?", ""]).codes.tolist() == [-1, 0, 1, -1]
        assert read(column("?", "?"), ["?"]).codes.tolist() == [-1, -1]


def test_a_word_is_astray_where_19_of_20_values_are_numbers():
    assert find_isolated_text(column(*["1,5"] * 10, "?", "x", *["2"] * 9), ["?"], ",") == (11, "x", 19)
    assert find_isolated_text(column(*["1"] * 18, "x"), []) is None, "too few values"
    assert find_isolated_text(column(*["1"] * 18, "x", "y"), []) is None, "too many words"
    assert find_isolated_text(column(*["1"] * 20), []) is None, "no word"
    assert find_isolated_text(column("?", "?"), ["?"]) is None
