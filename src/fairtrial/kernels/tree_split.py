"""The split of a node of a C4.5 tree: the best cut of each attribute, and the attribute of the best gain ratio."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.tree_numbers import SMALL, total_of, x_log_x

# Numbers closer than this are not cut apart; gains this much below the average still compete.
_APART, _BELOW_AVERAGE = 1e-5, 1e-3
_MOST_CASES_A_SIDE = 25.0
_MANY_VALUES = 0.3


class Rows(NamedTuple):
    """The training set. Arrays by column: (d, n)."""

    columns: FloatArray
    levels: npt.NDArray[np.int64]  # declared values of a nominal column, 0 for a numeric one
    place: npt.NDArray[np.int64]  # the row of `ranked` that holds a numeric column
    ranked: FloatArray  # numeric columns, each sorted, NaN last
    codes: npt.NDArray[np.int64]
    weight: FloatArray
    classes: int
    declared: int  # classes that were declared: some may have no row
    table: FloatArray  # x log2 x of whole numbers; empty where weights are not one


class Cases(NamedTuple):
    """What lies at a node: places of cases in each column's order, and each case's row and weight."""

    row: npt.NDArray[np.int32]
    weight: FloatArray


class Rules(NamedTuple):
    """The parameters that splitting obeys."""

    min_cases: float
    correct_cuts: bool
    binary: bool


@kernel
def column_split(
    rows: Rows, cases: Cases, rules: Rules, j: int, order: npt.NDArray[np.int32], counts: FloatArray, table: FloatArray
) -> tuple[bool, float, float, float]:
    """Whether the column splits the node, the gain, the gain ratio, and where a number or a single value is cut off."""
    if rows.levels[j] == 0:
        return _numeric(rows, cases, rules, j, order, counts, table)
    bags = np.zeros((rows.levels[j], rows.classes))
    for i in range(order.size):
        case = order[i]
        value = rows.columns[j, cases.row[case]]
        if not math.isnan(value):
            bags[int(value), rows.codes[cases.row[case]]] += cases.weight[case]
    total = total_of(counts)
    if rules.binary:
        return _one_value(bags, total, rules.min_cases, table)
    valid, gain, ratio = _multiway(bags, total, rules.min_cases, table)
    return valid, gain, ratio, math.nan


@kernel
def _multiway(bags: FloatArray, total: float, min_cases: float, table: FloatArray) -> tuple[bool, float, float]:
    """The split into all bags, if at least two hold enough cases."""
    enough, known = 0, 0.0
    for value in range(bags.shape[0]):
        size = total_of(bags[value])
        enough += min_cases - size < SMALL
        known += size
    if enough < 2:
        return False, 0.0, 0.0
    new, spread, old = 0.0, 0.0, x_log_x(known, table)
    for value in range(bags.shape[0]):
        spread += x_log_x(total_of(bags[value]), table)
    for c in range(bags.shape[1]):
        of_class = 0.0
        for value in range(bags.shape[0]):
            of_class += bags[value, c]
            new -= x_log_x(bags[value, c], table)
        old -= x_log_x(of_class, table)
    gain = _gain(old - new - spread, known, total)
    return True, gain, _ratio(gain, spread, known, total, table)


@kernel
def _one_value(bags: FloatArray, total: float, min_cases: float, table: FloatArray) -> tuple[bool, float, float, float]:
    """The best split into one value and all others."""
    found, best_gain, best_ratio, best_value = False, 0.0, 0.0, 0.0
    pair = np.empty((2, bags.shape[1]))
    for value in range(bags.shape[0]):
        if min_cases - total_of(bags[value]) >= SMALL:
            continue
        pair[0] = bags[value]
        for c in range(bags.shape[1]):
            pair[1, c] = bags[:, c].sum() - bags[value, c]
        valid, gain, ratio = _multiway(pair, total, min_cases, table)
        found = found or valid
        if valid and (value == 0 or ratio - best_ratio > SMALL):
            best_gain, best_ratio, best_value = gain, ratio, float(value)
    return found, best_gain, best_ratio, best_value


@kernel
def _gain(numerator: float, known: float, total: float) -> float:
    """Information gain per case, reduced by the share of missing values."""
    numerator *= 1 - (total - known) / total
    return 0.0 if abs(numerator) < SMALL else numerator / known


@kernel
def _ratio(gain: float, spread: float, known: float, total: float, table: FloatArray) -> float:
    """Gain over the information of the split itself, in which missing values are a bag of their own."""
    split = x_log_x(total, table) - spread - x_log_x(total - known, table)
    return 0.0 if abs(split) < SMALL else gain / (split / total)


@kernel
def _known_counts(rows: Rows, cases: Cases, j: int, order: npt.NDArray[np.int32], counts: FloatArray) -> tuple[int, FloatArray]:
    """How many cases have a value (they come first) and their weight by class."""
    m = order.size
    if not math.isnan(rows.columns[j, cases.row[order[m - 1]]]):
        return m, counts.copy()
    right = np.zeros(counts.size)
    for i in range(m):
        row = cases.row[order[i]]
        if math.isnan(rows.columns[j, row]):
            return i, right
        right[rows.codes[row]] += cases.weight[order[i]]
    return m, right


@kernel
def _least_side(known: float, declared: int, min_cases: float) -> float:
    """The weight that each side of a cut needs: a tenth of the mean class, but not below `min_cases` nor above 25."""
    least = 0.1 * known / declared
    if least - min_cases < SMALL:
        return min_cases
    return _MOST_CASES_A_SIDE if least - _MOST_CASES_A_SIDE > SMALL else least


@kernel
def _numeric(
    rows: Rows, cases: Cases, rules: Rules, j: int, order: npt.NDArray[np.int32], counts: FloatArray, table: FloatArray
) -> tuple[bool, float, float, float]:
    m, right = _known_counts(rows, cases, j, order, counts)
    known, total = total_of(right), total_of(counts)
    least = _least_side(known, rows.declared, rules.min_cases)
    if 2 * least - m > SMALL or m < 2:
        return False, 0.0, 0.0, math.nan
    gain, at, cuts, n_left = _best_cut(rows, cases, j, order[:m], right, least, total, table)
    if cuts > 0 and rules.correct_cuts:
        gain -= math.log(float(cuts)) / math.log(2.0) / total
    if cuts == 0 or gain < SMALL:
        return False, 0.0, 0.0, math.nan
    low, high = rows.columns[j, cases.row[order[at]]], rows.columns[j, cases.row[order[at + 1]]]
    cut = (high + low) / 2
    spread = x_log_x(n_left, table) + x_log_x(known - n_left, table)
    return True, gain, _ratio(gain, spread, known, total, table), low if cut == high else cut


@kernel
def _best_cut(
    rows: Rows,
    cases: Cases,
    j: int,
    order: npt.NDArray[np.int32],
    right: FloatArray,
    least: float,
    total: float,
    table: FloatArray,
) -> tuple[float, int, int, float]:
    """The gain of the best cut, the place below it, how many cuts were allowed, and the weight below it.

    The sums of x log x by class on both sides change by one term with each case that moves from right to left.
    """
    column, codes, classes = rows.columns[j], rows.codes, right.size
    left = np.zeros(classes)
    known = total_of(right)
    n_left, n_right, sum_left, sum_right = 0.0, known, 0.0, 0.0
    for c in range(classes):
        sum_right += x_log_x(right[c], table)
    old = x_log_x(known, table) - sum_right
    best, at, cuts, at_left = 0.0, -1, 0, 0.0
    row = cases.row[order[0]]
    value = column[row]
    for i in range(1, order.size):
        c, w = codes[row], cases.weight[order[i - 1]]
        sum_left -= x_log_x(left[c], table)
        sum_right -= x_log_x(right[c], table)
        left[c] += w
        right[c] -= w
        sum_left += x_log_x(left[c], table)
        sum_right += x_log_x(right[c], table)
        n_left += w
        n_right -= w
        row = cases.row[order[i]]
        following = column[row]
        if value + _APART < following and least - n_left < SMALL and least - n_right < SMALL:
            cuts += 1
            new = x_log_x(n_left, table) - sum_left + x_log_x(n_right, table) - sum_right
            gain = _gain(old - new, known, total)
            if gain - best > SMALL:
                best, at, at_left = gain, i - 1, n_left
        value = following
    return best, at, cuts, at_left


@kernel
def best_column(rows: Rows, valid: npt.NDArray[np.bool_], gain: FloatArray, ratio: FloatArray) -> int:
    """The column of the best gain ratio among those whose gain is not below the average; -1 if there is none.

    Nominal columns with many values do not enter the average, unless all are such.
    """
    n = rows.weight.size
    many = np.empty(valid.size, np.bool_)
    for j in range(valid.size):
        many[j] = rows.levels[j] > 0 and _MANY_VALUES * n - rows.levels[j] <= SMALL
    all_many = many.all()
    average, found = 0.0, 0
    for j in range(valid.size):
        if valid[j] and (all_many or not many[j]):
            average += gain[j]
            found += 1
    if found == 0:
        return -1
    average /= found
    best, most = -1, 0.0
    for j in range(valid.size):
        if valid[j] and gain[j] >= average - _BELOW_AVERAGE and ratio[j] - most > SMALL:
            best, most = j, ratio[j]
    return best


@kernel
def observed_threshold(rows: Rows, j: int, cut: float) -> float:
    """The greatest value of the whole training set that is not above the cut."""
    ranked = rows.ranked[rows.place[j]]
    low, high = 0, ranked.size  # the last value with value - cut < SMALL; NaN compares as false
    while low < high:
        middle = (low + high) // 2
        if ranked[middle] - cut < SMALL:
            low = middle + 1
        else:
            high = middle
    at = low - 1
    before = at
    while before >= 0 and ranked[before] == ranked[at]:
        before -= 1
    if before < 0 or ranked[at] - ranked[before] > SMALL:
        return float(ranked[at])
    return _first_of_near_values(rows.columns[j], cut)


@kernel
def _first_of_near_values(column: FloatArray, cut: float) -> float:
    """Of values too near to be told apart the one that comes first in the file, as WEKA takes it."""
    threshold = -math.inf
    for i in range(column.size):
        if column[i] - threshold > SMALL and column[i] - cut < SMALL:
            threshold = column[i]
    return float(threshold)


@kernel
def branch_of(value: float, nominal: bool, threshold: float) -> int:
    """The branch of a value; -1 if it is missing. A nominal split without a threshold has a branch for each value."""
    if math.isnan(value):
        return -1
    if not nominal:
        return 0 if value - threshold < SMALL else 1
    if math.isnan(threshold):
        return int(value)
    return 0 if value == threshold else 1
