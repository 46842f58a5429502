"""Texts that look like numbers or dates but cannot be read as such."""

import pytest

from fairtrial.data.delimited import detect_number_format, find_equal_numbers


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
