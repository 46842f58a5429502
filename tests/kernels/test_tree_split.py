"""Splits of one node, by hand and against the reference."""

import math

import numpy as np
import pytest

from fairtrial.kernels.c45 import (
    SplitRules,
    TreeRows,
    evaluate_values,
    find_branch,
    find_cut,
    find_observed_threshold,
    grow_tree,
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
    return columns


def split(columns, column, *, correct=True):
    """Gain, ratio and cut of one column for all cases, whose weights are 1."""
    n, codes = columns.shape[1], np.array(PLAY)
    table, values = make_x_log_x_table(n), columns[column]
    if column in (1, 2):
        order, sides = np.argsort(values, kind="stable").astype(np.int32), np.empty((2, 2))
        cases = np.arange(n, dtype=np.int32), np.ones(n)
        return find_cut(values, codes, *cases, order, np.bincount(codes) * 1.0, sides, 2, 2.0, correct, table)
    known = ~np.isnan(values)
    bags = np.zeros((3, 2))
    np.add.at(bags, (values[known].astype(int), codes[known]), 1)
    return (*evaluate_values(bags, 3 if column == 0 else 2, float(n), 2.0, table), math.nan)


def stump(columns, levels, codes, *, binary=False, min_cases=2.0):
    """The tree of nominal columns, which has no correction and no pruning."""
    columns, codes = np.array(columns, dtype=float), np.array(codes)
    d, n = columns.shape
    nominal = np.array(levels), np.zeros(d, np.int64), np.empty((0, n))
    rows = TreeRows(columns, *nominal, codes, np.ones(n), int(codes.max()) + 1, int(codes.max()) + 1, make_x_log_x_table(n))
    return grow_tree(rows, SplitRules(min_cases, True, binary), np.arange(n, dtype=np.int32)[None])


def test_gain_and_ratio_of_outlook_as_in_quinlans_book():
    """Section 2.2: gain .246 bits, split info 1.577 bits, gain ratio .156."""
    gain, ratio, cut = split(golf(), 0)
    assert gain == pytest.approx(0.246, abs=1e-3)
    assert ratio == pytest.approx(0.156, abs=1e-3)
    assert math.isnan(cut)


def test_gain_of_windy_as_in_quinlans_book():
    """Section 2.2: 0.940 - 0.892 = 0.048 bits."""
    assert split(golf(), 3)[0] == pytest.approx(0.048, abs=1e-3)


def test_a_missing_value_reduces_the_gain_as_in_quinlans_book():
    """Section 3.2: outlook of case 6 unknown: gain 13/14 (.961 - .747) = .199, split info 1.809, ratio .110."""
    gain, ratio, _ = split(golf(values={(0, 5): np.nan}), 0)
    assert gain == pytest.approx(0.199, abs=1e-3)
    assert ratio == pytest.approx(0.110, abs=1e-3)


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_candidates_equal_the_reference(column):
    columns = golf(values={(2, 3): np.nan})
    reference = Twin(columns.T.tolist(), [3, 0, 0, 2], PLAY, [1.0] * 14, 2, prune=False)
    expected = reference.candidate(column, [(row, 1.0) for row in range(14)], 14.0)
    gain, ratio, _ = split(columns, column)
    assert math.isnan(gain) == (expected is None)
    if expected is not None:
        assert (gain, ratio) == pytest.approx(expected[:2])


def test_the_correction_costs_the_choice_among_cuts():
    plain, corrected = split(golf(), 2, correct=False)[0], split(golf(), 2)[0]
    # humidity has 9 different values, of which the cuts with 2 cases on each side are counted: the lowest has one case
    if math.isnan(corrected):
        assert plain < math.log2(6) / 14 + 1e-6
    else:
        assert plain - corrected == pytest.approx(math.log2(6) / 14)


def test_a_binary_split_separates_one_value_from_the_others():
    nodes = stump([OUTLOOK], [3], PLAY, binary=True)
    assert nodes.threshold[0] == 1  # overcast: always play
    assert nodes.counts[:3].tolist() == [[5, 9], [0, 4], [5, 5]]


def test_the_column_of_the_best_ratio_needs_average_gain():
    """Entropies by hand: `skewed` has gain 0.138 and ratio 0.254, `even` has gain 0.205 and ratio 0.215, `useless` has none."""
    codes = [0] * 8 + [1] * 8
    skewed = [1] * 8 + [0] * 2 + [1] * 6
    even = [0] + [1] * 7 + [0] * 5 + [1] * 3
    useless = [0, 1] * 8
    assert stump([skewed, even], [2, 2], codes).column[0] == 1  # the average gain is 0.172
    assert stump([skewed, even, useless], [2, 2, 2], codes).column[0] == 0  # the average gain is 0.114


def test_the_first_of_equal_ratios_wins():
    codes = [0] * 4 + [1] * 4
    assert stump([[0] * 4 + [1] * 4, [1] * 4 + [0] * 4], [2, 2], codes).column[0] == 0


def test_without_a_valid_split_the_tree_is_a_leaf():
    assert stump([[0] * 7 + [1]], [2], [0] * 4 + [1] * 4).column.tolist() == [-1]


def test_a_threshold_is_a_value_of_the_whole_training_set():
    humidity = np.array(HUMIDITY, dtype=float)
    assert find_observed_threshold(humidity, np.sort(humidity), 77.5) == 75
    assert find_observed_threshold(humidity, np.sort(humidity), 78.0) == 78


def test_of_near_values_the_first_in_the_file_is_the_threshold():
    near = np.array([1.0 + 4e-7, 1.0, 3.0])
    assert find_observed_threshold(near, np.sort(near), 2.0) == 1.0 + 4e-7


def test_branches():
    assert find_branch(math.nan, False, 1.0) == -1
    assert [find_branch(value, False, 1.0) for value in (0.9, 1.0, 1.0 + 5e-7, 1.1)] == [0, 0, 0, 1]
    assert [find_branch(float(value), True, math.nan) for value in range(3)] == [0, 1, 2]
    assert [find_branch(float(value), True, 1.0) for value in range(3)] == [1, 0, 1]
