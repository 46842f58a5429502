"""What curves say in words."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.report.section import ReportTable, Section
from fairtrial.report.sections.curves import AREA, WON, build_curve_sentences, compute_area
from tests.report.report_numbers import check_numbers


def told(areas, won, noun="learner", about="flu, class yes"):
    frame = pd.DataFrame({AREA: areas, WON: won}, index=pd.Index(list("abc")[: len(areas)], name=noun))
    table = ReportTable("t", "T", frame)
    sentences = build_curve_sentences(table, noun, about)
    check_numbers([Section("s", "S", sentences, tables=(table,))])
    return [each.text for each in sentences]


@pytest.mark.parametrize(
    ("areas", "won", "expected"),
    [
        ([0.9], [1.0], ["flu, class yes: a has an area under ROC of 0.900."]),
        (
            [0.9, 0.9, 0.8],
            [0.0, 0.0, 0.0],
            [
                "flu, class yes: a and b have the largest area under ROC, 0.900, c the smallest, 0.800.",
                "No learner alone has the least expected cost anywhere.",
            ],
        ),
        (
            [0.9, 0.8],
            [0.7, 0.0],
            [
                "flu, class yes: a has the largest area under ROC, 0.900, b the smallest, 0.800.",
                "a has the least expected cost on a share of 0.700 of the range of costs; no other learner has it alone "
                "anywhere.",
            ],
        ),
        (
            [0.9, 0.9],
            [0.2, 0.7],
            [
                "flu, class yes: all learners with a curve have the same area under ROC, 0.900.",
                "Which learner is best depends on the costs: b has the least expected cost on a share of 0.700 of the range of "
                "costs, the largest part; elsewhere a.",
            ],
        ),
    ],
)
def test_words_follow_the_numbers(areas, won, expected):
    assert told(areas, won) == expected


def test_models_have_the_same_words_without_the_place():
    assert told([0.9, 0.9], [0.0, 0.0], "model", "") == [
        "All models with a curve have the same area under ROC, 0.900.",
        "No model alone has the least expected cost anywhere.",
    ]
    assert told([0.9, 0.8, 0.8], [1.0, 0.0, 0.0], "model", "")[0] == (
        "a has the largest area under ROC, 0.900, b and c the smallest, 0.800."
    )


def test_areas_are_those_of_trapezia_and_a_curve_that_is_not_there_has_none():
    step = pd.DataFrame({"x": [0.0, 0.0, 0.5, 1.0], "y": [0.0, 0.4, 0.4, 1.0]})
    assert compute_area(step, "x", "y") == pytest.approx(0.5 * 0.4 + 0.5 * 0.7)
    assert np.isnan(compute_area(None, "x", "y"))
