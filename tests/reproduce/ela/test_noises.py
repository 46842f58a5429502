"""Two readings of '10 %'."""

import pytest

from fairtrial.reproduce.ela.cells import LOGISTIC, TREE, their_cells
from fairtrial.reproduce.ela.noises import readings, table, words
from fairtrial.reproduce.ela.tables import compared


def test_the_reading_that_is_nearer_is_found(printed, shifted):
    found = readings(compared(shifted, their_cells()), compared(printed, their_cells())).set_index("learner")
    line = found.loc[TREE]
    assert line[["bias, other", "distance, other", "bias, any", "distance, any"]].tolist() == pytest.approx([2, 2, 0, 0])
    assert (line["any nearer"], line["data sets"]) == (32, 32)
    assert line["p, sign test"] == pytest.approx(2 * 0.5**32)


def test_words_follow_the_numbers(printed, shifted):
    near, far = compared(printed, their_cells()), compared(shifted, their_cells())
    assert "any class may be drawn: C4.5 and the machine with logistic models." in words(table(far, near).frame)
    assert "any class may be drawn: neither of the two" in words(table(near, far).frame)


def test_equal_readings_have_no_test(printed):
    same = compared(printed, their_cells())
    assert readings(same, same).set_index("learner").loc[LOGISTIC, "p, sign test"] != 0
    assert readings(same, same)["any nearer"].tolist() == [0, 0, 0]


def test_a_learner_without_numbers_has_no_line(printed):
    both = compared(printed[printed["learner"] == TREE], their_cells())
    assert readings(both, both)["learner"].tolist() == [TREE]
