"""Columns of text as numbers, labels or classes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from fairtrial.data.text_columns import as_classes, as_labels, as_numbers, as_text, first_word


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
    np.testing.assert_equal(as_numbers(column("?", "?"), ["?"]), [np.nan, np.nan])


def test_the_first_word():
    assert first_word(column("1", "?", "b", "c"), ["?"]) == (2, "b")


@pytest.mark.parametrize(
    ("cells", "labels", "classes", "text"),
    [
        (["10", "9", "10"], [9, 10], [9, 10], ["9", "10"]),
        (["1.0", "-1.0"], ["-1.0", "1.0"], [-1.0, 1.0], ["-1.0", "1.0"]),
        (["010", "9"], ["9", "010"], [9.0, 10.0], ["9", "010"]),
        (["b", "a", "10", "9"], ["9", "10", "a", "b"], ["9", "10", "a", "b"], ["9", "10", "a", "b"]),
        (["-0", "--5"], ["-0", "--5"], ["-0", "--5"], ["-0", "--5"]),
        (["99999999999999999999", "1"], ["1", "99999999999999999999"], [1.0, 1e20], ["1", "99999999999999999999"]),
    ],
)
def test_categories(cells, labels, classes, text):
    assert as_labels(column(*cells), []).categories.tolist() == labels
    assert as_classes(column(*cells), []).categories.tolist() == classes
    assert as_text(column(*cells), []).categories.tolist() == text
    assert [str(each) for each in as_text(column(*cells), [])] == cells


def test_missing_labels():
    for read in (as_labels, as_classes, as_text):
        assert read(column("?", "5", "x", ""), ["?", ""]).codes.tolist() == [-1, 0, 1, -1]
        assert read(column("?", "?"), ["?"]).codes.tolist() == [-1, -1]
