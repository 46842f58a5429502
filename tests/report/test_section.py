"""Sections, tables and figures of a report."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from fairtrial import _text
from fairtrial.errors import InputError
from fairtrial.report import judgement as names
from fairtrial.report.judgement import (
    build_facts_frame,
    count_rows,
    get_fact,
    list_datasets,
    list_models,
    select_largest_datasets,
)
from fairtrial.report.names import find_best_names, format_condition_phrase, format_measure_name, get_verdict_measure_name
from fairtrial.report.page import build_cell, build_grid, with_index
from fairtrial.report.section import CellReference, Figure, ReportTable, Section, build_sentence, format_number
from fairtrial.report.selection import get_main_condition, make_unique_keys
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition
from tests.report.checks.made_results import changed
from tests.report.judgement.cases import judged
from tests.study.archives import CLEAN, real_results

# --- Section ---
# Sections, tables and figures of a report.


def test_parts_are_frozen_and_have_defaults():
    table = ReportTable("means", "Means", pd.DataFrame({"x": [1]}))
    figure = Figure("roc", "ROC", None, "a curve")
    section = Section("scores", "Scores", tables=(table,), figures=(figure,))
    assert (table.formats, table.note, table.best, table.long) == ({}, "", None, False)
    assert figure.frame is None
    assert (section.sentences, section.notes, section.subsections) == ((), (), ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        section.title = "other"


def test_tables_do_not_share_their_formats():
    one, other = (ReportTable(key, "", pd.DataFrame()) for key in ("a", "b"))
    one.formats["x"] = "{:.1f}"
    assert other.formats == {}


# --- Sentence ---
# Sentences with numbers from cells of tables.


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


# --- Grid ---
# What a page shows of a table.


@pytest.mark.parametrize(
    ("value", "form", "text", "kept"),
    [
        (0.123456789, "{:.3f}", "0.123", "0.123456789"),
        (np.float64(1234.0), "", "1,234", "1234"),
        (np.int64(5), "", "5", "5"),
        (np.float32(0.5), "", "0.5", "0.5"),
        (1 / 3, "", "0.3333", repr(1 / 3)),
        (1e300, "", "1e+300", "1e+300"),
        (float("nan"), "{:.3f}", "–", ""),  # noqa: RUF001
        (float("inf"), "", "∞", "Infinity"),
        (-np.inf, "{:.1f}", "-∞", "-Infinity"),
        (True, "", "yes", None),
        (np.bool_(False), "", "no", None),
        (None, "", "–", None),  # noqa: RUF001
        (pd.NA, "", "–", None),  # noqa: RUF001
        (pd.NaT, "", "–", None),  # noqa: RUF001
        ("<b>", "{:.3f}", "<b>", None),
    ],
)
def test_a_cell_has_a_text_and_a_number_its_value(value, form, text, kept):
    found = build_cell(value, form)
    assert (found["text"], found["value"]) == (text, kept)


def test_an_index_is_shown_where_it_says_something():
    plain = pd.DataFrame({"x": [1, 2]})
    assert list(with_index(plain[::-1]).columns) == ["x"]
    assert list(with_index(plain.rename_axis("fold")).columns) == ["fold", "x"]
    assert list(with_index(plain.set_axis(["a", "b"])).columns) == ["", "x"]
    both = plain.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["data set", "fold"]))
    assert list(with_index(both).columns) == ["data set", "fold", "x"]


@pytest.mark.parametrize(("direction", "best"), [("max", [[0, 0, 1], [0, 0, 0]]), ("min", [[1, 1, 0], [0, 0, 0]])])
def test_the_best_of_a_line_is_marked_ties_too_and_not_where_there_is_only_one(direction, best):
    frame = pd.DataFrame({"a": [1.0, 5.0], "b": [1.0, np.nan], "c": [2.0, np.nan]}, index=pd.Index(["x", "y"], name="set"))
    lines = build_grid(ReportTable("t", "", frame, best=direction))["lines"]
    assert [[int(each["best"]) for each in line[1:]] for line in lines] == best


def test_numbers_are_told_from_words_by_column():
    frame = pd.DataFrame({"name": ["a", "b"], "mean": [np.nan, 1.0], "none": [None, None]})
    assert [head["number"] for head in build_grid(ReportTable("t", "", frame))["heads"]] == [False, True, False]


@pytest.mark.parametrize(
    ("lines", "long", "folded", "later"),
    [(12, True, False, False), (13, True, True, False), (201, True, True, True), (201, False, False, False)],
)
def test_long_tables_start_folded_and_very_long_ones_are_made_later(lines, long, folded, later):
    found = build_grid(ReportTable("t", "", pd.DataFrame({"x": range(lines)}), long=long))
    assert found["folded"] is folded
    assert (found["later"] is not None) is later
    assert found["count"] == lines
    assert len(found["lines"]) == (0 if later else lines)


def test_lines_for_later_hold_every_cell():
    values = np.arange(300) / 7
    frame = pd.DataFrame({"name": ["a", "b", "c"] * 100, "one": values, "other": values[::-1]}).set_index("name")
    later = build_grid(ReportTable("t", "", frame, {"one": "{:.1f}"}, best="max", long=True))["later"]
    name, one, _ = later["columns"]
    assert [name["texts"][code] for code in name["codes"]] == frame.index.tolist()
    assert "values" not in name
    assert [float(value) for value in one["values"]] == values.tolist()
    assert [one["texts"][code] for code in one["codes"]] == [f"{value:.1f}" for value in values]
    assert {tuple(each) for each in later["best"]} == {(row, 1 if row >= 150 else 2) for row in range(300)}


def test_float_noise_does_not_part_the_best():
    frame = pd.DataFrame({"set": ["one"], "a": [0.1 + 0.2], "b": [0.3], "c": [0.2], "d": [0.3 - 1e-9]})
    line = build_grid(ReportTable("t", "", frame, best="max"))["lines"][0]
    assert [cell["best"] for cell in line] == [False, True, True, False, False]


# --- Naming ---
# Display names of conditions and measures, and keys from names.


def condition(name, level):
    return ConditionFacts(name, level, "", {})


def test_conditions_have_their_level_unless_there_is_none():
    assert format_condition(condition("class-noise", 0.05)) == "class-noise 0.05"
    assert format_condition(condition("worn", math.nan)) == "worn"
    assert format_condition_phrase(condition("worn", math.nan)) == "under worn"
    assert (format_condition(CLEAN), format_condition_phrase(CLEAN)) == ("clean", "on clean data")


def test_condition_without_a_level_is_stored_with_level_one():
    moved = ConditionFacts("ps", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]})
    assert (format_condition(moved), format_condition_phrase(moved)) == ("ps", "under ps")
    assert format_condition(ConditionFacts("noise", 1.0, "", {"condition": "class-noise", "level": 1.0})) == "noise 1"


def test_main_condition_is_clean_or_the_first():
    noise, worn = condition("class-noise", 0.1), condition("worn", 1.0)
    assert get_main_condition(changed(real_results(), conditions=(noise, CLEAN))) is CLEAN
    assert get_main_condition(changed(real_results(), conditions=(noise, worn))) is noise


@pytest.mark.parametrize(
    ("declaration", "measure"),
    [({}, "accuracy"), ({"measures": ["auc", "kappa"]}, "auc"), ({"measures": ["auc"], "verdict": {"measure": "mcc"}}, "mcc")],
)
def test_verdict_measure_is_the_declared_one_or_the_first(declaration, measure):
    results = real_results(names=["iris"], declaration=declaration)
    assert get_verdict_measure_name(results) == results.verdict().measure == measure


def test_keys_are_unique_and_safe():
    assert make_unique_keys(["A b", "a-b", "a_b-2", "</script>", "é", "ü"]) == [
        "a-b",
        "a-b-2",
        "a-b-2-2",
        "script",
        "name",
        "name-2",
    ]


def test_measures_have_display_names():
    assert format_measure_name("f_score") == "F1 score"
    assert format_measure_name("my_measure") == "my measure"


def test_best_names_ignore_rounding_errors():
    assert find_best_names(pd.Series({"a": 0.3, "b": 0.1 + 0.2, "c": 0.2}), "max") == ["a", "b"]
    assert find_best_names(pd.Series({"a": 0.3, "c": 0.2}), "min") == ["c"]


# --- Naming ---


def test_facts_are_those_of_the_judgement():
    facts = build_facts_frame(judged("two classes"))["value"]
    assert facts.to_dict() == {
        "data sets": 1,
        "models": 3,
        "rows": 160,
        "measures": 17,
        "paired tests": 6,  # two tests of three pairs
        "confidence level, %": 95,
        "alpha": 0.05,
    }
    assert get_fact(judged("two classes"), "rows", "{:,}").text == "160"


def test_names_rows_and_the_largest_data_sets(monkeypatch):
    found = judged("many sets")
    assert list_datasets(found) == [f"set {i}" for i in range(5)]
    assert list_models(found) == ["forest", "tree"]
    assert count_rows(found) == {f"set {i}": 40 for i in range(5)}
    monkeypatch.setattr(names, "MAX_PARTS", 2)
    assert select_largest_datasets(found) == ["set 0", "set 1"]


def test_directions_of_measures():
    assert (names.get_direction("auc"), names.get_direction("brier")) == ("max", "min")


@pytest.mark.parametrize(("level", "text"), [(0.9, "90"), (0.999, "99.9")])
def test_the_level_in_percent(level, text):
    found = judged("labels only", level=level)
    assert get_fact(found, names.LEVEL).text == text
