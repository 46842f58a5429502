"""Words of findings."""

from fairtrial._text import join_names
from fairtrial.resampling import Finding


def test_a_finding_says_how_bad_it_is():
    assert str(Finding("fault", "sizes", "Text.")) == "fault: Text."


def test_many_are_cut():
    assert join_names([str(i) for i in range(9)], 6) == "0, 1, 2, 3, 4, 5 and 3 more"
