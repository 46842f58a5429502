"""What curves say in words."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.report.section import Section, Table
from fairtrial.report.sections.curve_words import AREA, WON, curve_sentences
from tests.report.prose import check_prose
from tests.study.archives import data_facts


def told(areas, won, classes=("no", "yes")):
    frame = pd.DataFrame({AREA: areas, WON: won}, index=pd.Index(list("abc")[: len(areas)], name="learner"))
    table = Table("t", "T", frame)
    facts = data_facts("flu", np.arange(9) % len(classes), classes)
    sentences = curve_sentences(table, facts, "yes")
    check_prose([Section("s", "S", sentences, tables=(table,))])
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


def test_with_more_classes_it_is_one_against_the_rest():
    assert told([0.9], [1.0], ("no", "yes", "perhaps"))[0].startswith("flu, class yes against the rest:")
