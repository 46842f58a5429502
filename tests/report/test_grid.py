"""What a page shows of a table."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.report.page import build_cell, build_grid, with_index
from fairtrial.report.section import ReportTable


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
