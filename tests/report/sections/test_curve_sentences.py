"""Sentences on areas under curves and lowest costs."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.report.section import ReportTable, Section
from fairtrial.report.sections.curves import AREA, WON, build_curve_sentences, compute_area
from tests.report.report_numbers import check_numbers


def describe_table(areas, fractions, noun="learner", about="flu, class yes"):
    frame = pd.DataFrame({AREA: areas, WON: fractions}, index=pd.Index(list("abc")[: len(areas)], name=noun))
    table = ReportTable("t", "T", frame)
    sentences = build_curve_sentences(table, noun, about)
    check_numbers([Section("s", "S", sentences, tables=(table,))])
    return sentences


@pytest.mark.parametrize(
    ("areas", "fractions", "names", "cells"),
    [
        ([0.9], [1.0], [{"a"}], [[("a", AREA)]]),
        ([0.9, 0.9, 0.8], [0.0, 0.0, 0.0], [{"a and b", "c"}, set()], [[("a", AREA), ("c", AREA)], []]),
        ([0.9, 0.8], [0.7, 0.0], [{"a", "b"}, {"a"}], [[("a", AREA), ("b", AREA)], [("a", WON)]]),
        ([0.9, 0.9], [0.2, 0.7], [set(), {"b", "a"}], [[("a", AREA)], [("b", WON)]]),
    ],
)
def test_sentences_name_the_best_and_the_worst(areas, fractions, names, cells):
    sentences = describe_table(areas, fractions)
    assert [set(sentence.names) - {"flu, class yes"} for sentence in sentences] == names
    assert [[(number.cell.line, number.cell.column) for number in sentence.numbers] for sentence in sentences] == cells
    assert sentences[0].text.startswith("flu, class yes: ")


def test_sentences_without_a_subject_begin_with_a_capital_or_a_name():
    assert describe_table([0.9, 0.9], [0.0, 0.0], "model", "")[0].text.startswith("All models")
    assert describe_table([0.9, 0.8, 0.8], [1.0, 0.0, 0.0], "model", "")[0].names == ("a", "b and c")


def test_area_is_that_of_trapezoids_and_undefined_without_a_curve():
    step = pd.DataFrame({"x": [0.0, 0.0, 0.5, 1.0], "y": [0.0, 0.4, 0.4, 1.0]})
    assert compute_area(step, "x", "y") == pytest.approx(0.5 * 0.4 + 0.5 * 0.7)
    assert np.isnan(compute_area(None, "x", "y"))
