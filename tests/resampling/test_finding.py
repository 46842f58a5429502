"""Words of findings."""

from fairtrial.resampling import Finding
from fairtrial.resampling.layout import format_count, join_names


def test_a_finding_says_how_bad_it_is():
    assert str(Finding("fault", "sizes", "Text.")) == "fault: Text."


def test_many_are_cut():
    assert join_names([str(i) for i in range(9)]) == "0, 1, 2, 3, 4, 5 and 3 more"


def test_numbers_with_words():
    assert format_count(0, "row") == "0 rows"
