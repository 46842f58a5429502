"""Splits of one node, by hand and against the reference."""

import math

import numpy as np
import pytest

from fairtrial.kernels.c45 import (
    SplitRules,
    TreeCases,
    TreeRows,
    choose_column,
    find_branch,
    find_column_split,
    find_observed_threshold,
    make_x_log_x_table,
)
from tests.reference.trees_twin import Twin

# Quinlan's golf data (C4.5, 1993, table 2.1 as numbers): outlook, temperature, humidity, windy; 1 is 'play'.
OUTLOOK = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2]
TEMPERATURE = [75, 80, 85, 72, 69, 72, 83, 64, 81, 71, 65, 75, 68, 70]
HUMIDITY = [70, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96]
WINDY = [1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0]
PLAY = [1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1]


def golf(**changes):
    columns = np.array([OUTLOOK, TEMPERATURE, HUMIDITY, WINDY], dtype=float)
    for (column, row), value in changes.get("values", {}).items():
        columns[column, row] = value
    numeric = [1, 2]
    n = columns.shape[1]
    rows = TreeRows(
        columns,
        np.array([3, 0, 0, 2]),
        np.array([0, 0, 1, 0]),
        np.sort(columns[numeric], axis=1),
        np.array(PLAY),
        np.ones(n),
        2,
        2,
        make_x_log_x_table(n),
    )
    return rows, TreeCases(np.arange(n, dtype=np.int32), np.ones(n))


def split(rows, cases, column, *, correct=True, binary=False):
    order = np.argsort(rows.columns[column], kind="stable").astype(np.int32)
    counts = np.bincount(rows.codes, cases.weight[: len(rows.codes)], minlength=2)
    return find_column_split(rows, cases, SplitRules(2.0, correct, binary), column, order, counts, rows.table)


def test_gain_and_ratio_of_outlook_as_in_quinlans_book():
    """Section 2.2: gain .246 bits, split info 1.577 bits, gain ratio .156."""
    valid, gain, ratio, cut = split(*golf(), 0)
    assert valid
    assert gain == pytest.approx(0.246, abs=1e-3)
    assert ratio == pytest.approx(0.156, abs=1e-3)
    assert math.isnan(cut)


def test_gain_of_windy_as_in_quinlans_book():
    """Section 2.2: 0.940 - 0.892 = 0.048 bits."""
    assert split(*golf(), 3)[1] == pytest.approx(0.048, abs=1e-3)


def test_a_missing_value_reduces_the_gain_as_in_quinlans_book():
    """Section 3.2: outlook of case 6 unknown: gain 13/14 (.961 - .747) = .199, split info 1.809, ratio .110."""
    _, gain, ratio, _ = split(*golf(values={(0, 5): np.nan}), 0)
    assert gain == pytest.approx(0.199, abs=1e-3)
    assert ratio == pytest.approx(0.110, abs=1e-3)


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_candidates_equal_the_reference(column):
    rows, cases = golf(values={(2, 3): np.nan})
    reference = Twin(rows.columns.T.tolist(), rows.levels.tolist(), PLAY, [1.0] * 14, 2, prune=False)
    expected = reference.candidate(column, [(row, 1.0) for row in range(14)], 14.0)
    valid, gain, ratio, _ = split(rows, cases, column)
    assert valid == (expected is not None)
    if valid:
        assert (gain, ratio) == pytest.approx(expected[:2])


def test_the_correction_costs_the_choice_among_cuts():
    rows, cases = golf()
    plain, corrected = split(rows, cases, 2, correct=False)[1], split(rows, cases, 2)[1]
    # humidity has 9 different values, of which the cuts with 2 cases on each side are counted: the lowest has one case
    assert plain - corrected == pytest.approx(math.log2(6) / 14) if corrected else plain < math.log2(6) / 14 + 1e-6


def test_a_binary_split_tells_one_value_from_the_others():
    rows, cases = golf()
    valid, gain, _, value = split(rows, cases, 0, binary=True)
    assert valid
    assert value == 1  # overcast: always play
    assert gain == pytest.approx(0.9403 - 10 / 14, abs=1e-4)


def test_the_column_of_the_best_ratio_needs_average_gain():
    rows, _ = golf()
    valid = np.array([True, True, True, False])
    gain, ratio = np.array([0.1, 0.5, 0.5, 0.0]), np.array([0.9, 0.4, 0.5, 0.0])
    assert choose_column(rows, valid, gain, ratio) == 2
    assert choose_column(rows, np.zeros(4, bool), gain, ratio) == -1


def test_the_first_of_equal_ratios_wins():
    rows, _ = golf()
    assert choose_column(rows, np.ones(4, bool), np.full(4, 0.2), np.array([0.3, 0.3 + 1e-7, 0.3, 0.3])) == 0


def test_a_threshold_is_a_value_of_the_whole_training_set():
    rows, _ = golf()
    assert find_observed_threshold(rows, 2, 77.5) == 75
    assert find_observed_threshold(rows, 2, 78.0) == 78


def test_of_near_values_the_first_in_the_file_is_the_threshold():
    near = np.array([[1.0 + 4e-7, 1.0, 3.0]])
    rows = TreeRows(near, np.zeros(1, int), np.zeros(1, int), np.sort(near), np.zeros(3, int), np.ones(3), 1, 1, np.zeros(0))
    assert find_observed_threshold(rows, 0, 2.0) == 1.0 + 4e-7


def test_branches():
    assert find_branch(math.nan, False, 1.0) == -1
    assert [find_branch(value, False, 1.0) for value in (0.9, 1.0, 1.0 + 5e-7, 1.1)] == [0, 0, 0, 1]
    assert [find_branch(float(value), True, math.nan) for value in range(3)] == [0, 1, 2]
    assert [find_branch(float(value), True, 1.0) for value in range(3)] == [1, 0, 1]
