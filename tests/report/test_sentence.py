"""Sentences with numbers from cells of tables."""

import pandas as pd
import pytest

from fairtrial import _text
from fairtrial.errors import InputError
from fairtrial.report.section import CellReference, build_sentence, format_number

MEANS = pd.DataFrame({"mean": [0.91234, 0.5], "lines": [7, 8]}, index=["tree", "rule 2"])


def test_number_has_value_text_and_cell():
    number = format_number(MEANS, "means", "tree", "mean")
    assert number.value == 0.91234
    assert number.text == "0.912"
    assert number.cell == CellReference("means", "tree", "mean")
    assert format_number(MEANS, "means", "rule 2", "lines", "{:d}").text == "8"


def test_names_may_contain_digits_and_braces():
    sentence = build_sentence("{first} beats {second}.", first="rule 2 {x}", second="<b>C4.5</b>")
    assert str(sentence) == "rule 2 {x} beats <b>C4.5</b>."
    assert sentence.names == ("rule 2 {x}", "<b>C4.5</b>")
    assert sentence.numbers == ()


def test_numbers_are_collected():
    mean = format_number(MEANS, "means", "tree", "mean", "{:.1f}")
    sentence = build_sentence("{name} has {mean}.", name="tree", mean=mean)
    assert sentence.text == "tree has 0.9."
    assert [number.cell.column for number in sentence.numbers] == ["mean"]


@pytest.mark.parametrize("template", ["There are 5 learners.", "{name} is ²nd."])
def test_digits_in_a_template_are_refused(template):
    with pytest.raises(InputError, match="template"):
        build_sentence(template, name="x")


@pytest.mark.parametrize(
    ("p", "alpha", "text"),
    [
        (0.0496, 0.05, "p = 0.0496"),
        (0.0504, 0.05, "p = 0.0504"),
        (0.05, 0.05, "p = 0.05"),
        (0.0499999, 0.05, "p = 0.0499999"),
        (0.0123, 0.05, "p = 0.012"),
        (0.0004, 0.05, "p < 0.001"),
        (0.0, 0.05, "p < 0.001"),
        (0.00052, 0.0005, "p = 0.00052"),
    ],
)
def test_rounding_does_not_move_a_p_value_across_alpha(p, alpha, text):
    assert _text.format_p_value(p, alpha) == text


def test_p_values_of_a_column_have_the_digits_of_the_one_nearest_to_alpha():
    assert _text.choose_p_format([0.2, float("nan"), 0.04996], 0.05).format(0.04996) == "0.04996"


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (-0.0004, "{:.3f}", "0.000"),
        (-0.0006, "{:.3f}", "-0.001"),
        (-0.0, "{:.3g}", "0"),
        (-3, "{:,}", "-3"),
        (-1e-9, "{:.1e}", "-1.0e-09"),
    ],
)
def test_zero_has_no_sign(value, number_format, text):
    assert _text.format_number(value, number_format) == text
