"""Sentences whose numbers are cells of tables."""

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.section import CellReference, build_sentence, choose_p_format, format_number, format_p_value, format_value

MEANS = pd.DataFrame({"mean": [0.91234, 0.5], "lines": [7, 8]}, index=["tree", "rule 2"])


def test_a_number_keeps_its_value_its_text_and_its_place():
    number = format_number(MEANS, "means", "tree", "mean")
    assert number.value == 0.91234
    assert number.text == "0.912"
    assert number.cell == CellReference("means", "tree", "mean")
    assert format_number(MEANS, "means", "rule 2", "lines", "{:d}").text == "8"


def test_names_may_hold_digits_and_braces_and_stay_as_they_are():
    said = build_sentence("{first} beats {second}.", first="rule 2 {x}", second="<b>C4.5</b>")
    assert str(said) == "rule 2 {x} beats <b>C4.5</b>."
    assert said.names == ("rule 2 {x}", "<b>C4.5</b>")
    assert said.numbers == ()


def test_numbers_are_collected():
    said = build_sentence("{name} has {mean}.", name="tree", mean=format_number(MEANS, "means", "tree", "mean", "{:.1f}"))
    assert said.text == "tree has 0.9."
    assert [each.cell.column for each in said.numbers] == ["mean"]


@pytest.mark.parametrize("words", ["It has 5 lives.", "{name} is ²nd."])
def test_words_with_a_number_of_their_own_are_refused(words):
    with pytest.raises(InputError, match="no number of their own"):
        build_sentence(words, name="x")


@pytest.mark.parametrize(
    ("p", "alpha", "text"),
    [
        (0.0496, 0.05, "= 0.0496"),
        (0.0504, 0.05, "= 0.0504"),
        (0.05, 0.05, "= 0.05"),
        (0.0499999, 0.05, "= 0.0499999"),
        (0.0123, 0.05, "= 0.012"),
        (0.0004, 0.05, "< 0.001"),
        (0.0, 0.05, "< 0.001"),
        (0.00052, 0.0005, "= 0.00052"),
    ],
)
def test_a_p_value_cannot_seem_to_lie_on_the_other_side_of_alpha(p, alpha, text):
    number = format_p_value(pd.DataFrame({"p": [p]}), "facts", 0, "p", alpha)
    assert (number.text, number.value) == (text, p)


def test_a_column_of_p_values_has_the_digits_that_its_nearest_one_needs():
    assert choose_p_format([0.2, float("nan"), 0.04996], 0.05).format(0.04996) == "0.04996"


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-0.0004, "{:.3f}", "0.000"),
        (-0.0006, "{:.3f}", "-0.001"),
        (-0.0, "{:.3g}", "0"),
        (-3, "{:,}", "-3"),
        (-1e-9, "{:.1e}", "-1.0e-09"),
    ],
)
def test_what_rounds_to_zero_has_no_sign(value, form, text):
    assert format_value(value, form) == text
