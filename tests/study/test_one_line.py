"""Text on one line, and durations."""

import pytest

from fairtrial._text import collapse_whitespace, format_duration, format_reason


@pytest.mark.parametrize(
    ("text", "most", "line"),
    [
        ("the quick brown fox", 19, "the quick brown fox"),
        ("the quick brown fox", 18, "the quick brown…"),
        ("the quick brown fox", 16, "the quick brown…"),
        ("the quick brown fox", 15, "the quick…"),
        ("/a/path/that/has/no/blank/in/it", 10, "/a/path/t…"),
        ("two\nlines\tand \x1b[31mcolour\r\n", None, "two lines and [31mcolour"),
        ("[bold]name[/bold] :warning:", None, "[bold]name[/bold] :warning:"),
        ("", 5, ""),
    ],
)
def test_a_line_is_plain_and_cut_after_a_word(text, most, line):
    assert collapse_whitespace(text, most) == line
    assert most is None or len(line) <= most


def test_a_reason_is_the_class_and_the_message():
    assert format_reason("ValueError", "no") == "ValueError: no"
    assert format_reason("ValueError", None) == format_reason("ValueError", float("nan")) == "ValueError"
    assert format_reason("ValueError", "word " * 100).endswith("word…")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0021, "2.1 ms"),
        (0.99, "990 ms"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (90000, "1 d 1 h"),
        (172800, "2 d"),
    ],
)
def test_durations_have_at_most_two_units(seconds, text):
    assert format_duration(seconds) == text
