"""Tables: the paper's averages and counts come out of its own numbers."""

import pytest

from fairtrial.reproduce.ela.cells import CLEAN, ELA, LOGISTIC, NOISY, RLA, TREE, their_cells
from fairtrial.reproduce.ela.tables import (
    OURS,
    PAPER,
    averages,
    best_counts,
    by_set,
    compared,
    disagreements,
    judged_differently,
    printed_tables,
)

# The rows 'average' and 'best' of the paper's table 3.
AVERAGE = {(TREE, CLEAN): 81.28, (TREE, NOISY): 80.37, (TREE, ELA): 0.2777, (TREE, RLA): 0.0115}
AVERAGE |= {(LOGISTIC, CLEAN): 82.24, (LOGISTIC, NOISY): 78.50, (LOGISTIC, ELA): 0.3117, (LOGISTIC, RLA): 0.0457}
BEST = {CLEAN: (12, 20), NOISY: (16, 16), ELA: (16, 16), RLA: (23, 9)}
# Shadowed in grey in the paper, by its text.
APART = {
    "balance",
    "sonar",
    "flare",
    "lymphography",
    "vehicle",
    "ring",
    "newthyroid",
    "vowel",
    "magic",
    "yeast",
    "german",
    "glass",
}
APART |= {"contraceptive"}


def test_averages_are_the_papers(printed):
    found = averages(compared(printed, their_cells()), "some").set_index(["learner", "quantity"])
    for place, value in AVERAGE.items():
        assert found.loc[place, "paper"] == pytest.approx(value, abs=0.0051 if value > 1 else 0.000051)
    assert found["difference"].abs().max() == 0
    assert (found["data sets"] == 32).all()


def test_averages_of_shifted_numbers_tell_the_shift(shifted):
    found = averages(compared(shifted, their_cells()), "some").set_index(["learner", "quantity"])
    assert found.loc[(TREE, CLEAN), ["difference", "low", "high", "mean distance"]].tolist() == pytest.approx([2.0] * 4)


def test_best_counts_are_the_papers(printed):
    found = best_counts(printed_tables(printed, printed, their_cells()))
    for quantity, counts in BEST.items():
        own = found[(found["table"] == PAPER) & (found["quantity"] == quantity)]
        assert tuple(own[["C4.5 best", "SVM best"]].iloc[0]) == counts


def test_sets_judged_differently_are_those_that_the_paper_names(printed):
    tables = printed_tables(printed, printed, their_cells())
    apart = judged_differently(tables[PAPER])
    assert set(apart[apart["differently"]].index) == APART
    told = disagreements(tables).set_index("data set")
    assert set(told.index) == APART
    assert told.loc["flare", "paper"] == "ELA C4.5, RLA SVM"


def test_tables_hold_the_same_data_sets(printed):
    fewer = printed[printed["dataset"] != "iris"]
    tables = printed_tables(fewer, printed, their_cells())
    assert all(len(table) == 31 for table in tables.values())
    assert tables[OURS].index.tolist() == tables[PAPER].index.tolist()


def test_a_line_by_set_tells_both_numbers_and_the_interval(shifted):
    line = by_set(compared(shifted, their_cells()), TREE).set_index("data set").loc["iris"]
    assert line[CLEAN] == "97.07"
    assert line[f"{CLEAN}, paper"] == "95.07"
    assert line[f"{CLEAN}, difference"] == "+2.00 (+1.99 to +2.01)"
