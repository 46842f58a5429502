"""Sentences whose numbers are cells of tables."""

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.sentence import Cell, say, shown

MEANS = pd.DataFrame({"mean": [0.91234, 0.5], "lines": [7, 8]}, index=["tree", "rule 2"])


def test_a_number_keeps_its_value_its_text_and_its_place():
    number = shown(MEANS, "means", "tree", "mean")
    assert number.value == 0.91234
    assert number.text == "0.912"
    assert number.cell == Cell("means", "tree", "mean")
    assert shown(MEANS, "means", "rule 2", "lines", "{:d}").text == "8"


def test_names_may_hold_digits_and_braces_and_stay_as_they_are():
    said = say("{first} beats {second}.", first="rule 2 {x}", second="<b>C4.5</b>")
    assert str(said) == "rule 2 {x} beats <b>C4.5</b>."
    assert said.names == ("rule 2 {x}", "<b>C4.5</b>")
    assert said.numbers == ()


def test_numbers_are_collected():
    said = say("{name} has {mean}.", name="tree", mean=shown(MEANS, "means", "tree", "mean", "{:.1f}"))
    assert said.text == "tree has 0.9."
    assert [each.cell.column for each in said.numbers] == ["mean"]


@pytest.mark.parametrize("words", ["It has 5 lives.", "{name} is ²nd."])
def test_words_with_a_number_of_their_own_are_refused(words):
    with pytest.raises(InputError, match="no number of their own"):
        say(words, name="x")
