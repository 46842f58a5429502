"""Words that look like numbers or dates."""

import pytest

from fairtrial.data.delimited import detect_number_format, find_equal_numbers


@pytest.mark.parametrize(
    ("words", "decimal", "told"),
    [
        (["1,5", "2"], ".", "numbers with decimal commas"),
        (["0,234", "1,234"], ".", "numbers with decimal commas"),
        (["1234,567", "1,234"], ".", "numbers with decimal commas"),
        (["1,234", "4,567", "12"], ".", "pass decimal=',' if '1,234' is 1.234, take out the commas if it is 1234"),
        (["-1,234"], ".", "if '-1,234' is -1.234, take out the commas if it is -1234"),
        (["1,234", "12.5"], ".", "take out the commas"),
        (["1,234,567", "1,234"], ".", "take out the commas"),
        (["1,234.5"], ".", "take out the commas"),
        (["1.234,5", "1,5"], ".", "take out the points and pass decimal=','"),
        (["1.234.567", "12"], ".", "take out the points"),
        (["1,5", "2.5"], ".", "write them alike"),
        (["1.234", "1,5"], ",", "points, which decimal=',' does not allow"),
        (["1.234,5"], ",", "points, which decimal=',' does not allow"),
        (["1,234,567", "1"], ",", "take out the commas"),
        (["2001-04-03", "2001-02-30"], ".", "dates, but '2001-02-30' is none"),
    ],
)
def test_what_is_told(words, decimal, told):
    assert told in ": ".join(detect_number_format(words, decimal))


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
