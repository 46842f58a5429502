"""Grow a rule by FOIL's gain, find the rows that a rule covers, and prune a rule.

A rule is a list of conditions. A condition consists of a column, a kind (0: at most, 1: at least, 2: equal) and a value. The
columns are stored as rows of a matrix. Missing values are NaN and satisfy no condition.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import BoolArray
from fairtrial.kernels.compiling import helper, kernel

_SMALL = 1e-6
_LOG_2 = np.log(2.0)


@helper
def _is_met(value: float, kind: int, cut: float) -> bool:
    if kind == 0:
        return value <= cut
    if kind == 1:
        return value >= cut
    return value == cut


@kernel
def find_covered_rows(values: FloatArray, rows: IntArray, columns: IntArray, kinds: IntArray, cuts: FloatArray) -> BoolArray:
    """Return whether each row satisfies all conditions."""
    inside = np.empty(len(rows), np.bool_)
    for index in range(len(rows)):
        inside[index] = True
        for j in range(len(columns)):
            if not _is_met(values[columns[j], rows[index]], kinds[j], cuts[j]):
                inside[index] = False
                break
    return inside


@helper
def _compute_foil_gain(positives: float, total: float, base: float) -> float:
    """Compute FOIL's gain over a base rate, with one positive row added to both rates."""
    return float(positives * (np.log((positives + 1.0) / (total + 1.0)) / _LOG_2 - np.log(base) / _LOG_2))


@helper
def _find_best_rule_cut(
    column: FloatArray, rows: IntArray, positive: BoolArray, base: float
) -> tuple[float, int, float, float, float]:
    """Find the best cut of a numeric column.

    Return its gain, kind and value, and the numbers of positives and of rows that satisfy the condition.

    `rows` are sorted by the column and contain no missing values.
    """
    n = len(rows)
    above, above_positive = float(n), 0.0
    for row in rows:
        above_positive += positive[row]
    below, below_positive = 0.0, 0.0
    best, kind, cut, best_positive, best_size = 0.0, 0, np.nan, 0.0, 0.0
    start = 0
    while start < n:
        value = column[rows[start]]
        end, here = start, 0.0
        while end < n and column[rows[end]] == value:
            here += positive[rows[end]]
            end += 1
        below += end - start
        below_positive += here
        first, second = _compute_foil_gain(below_positive, below, base), _compute_foil_gain(above_positive, above, base)
        if first > second:
            if first > best:
                best, kind, cut, best_positive, best_size = first, 0, value, below_positive, below
        elif second > best:
            best, kind, cut, best_positive, best_size = second, 1, value, above_positive, above
        above -= end - start
        above_positive -= here
        start = end
    return best, kind, cut, best_positive, best_size


@helper
def _find_best_rule_value(
    column: FloatArray, rows: IntArray, positive: BoolArray, base: float, size: int
) -> tuple[float, int, float, float, float]:
    """Find the best value of a nominal column, which has `size` values.

    Return its gain, kind and value, and the numbers of positives and of rows that satisfy the condition.
    """
    total, accurate = np.zeros(size), np.zeros(size)
    for row in rows:
        code = column[row]
        if not np.isnan(code):
            total[int(code)] += 1
            accurate[int(code)] += positive[row]
    best, cut, best_positive, best_size = 0.0, np.nan, 0.0, 0.0
    for code in range(size):
        gain = _compute_foil_gain(accurate[code], total[code], base)
        if gain > best:
            best, cut, best_positive, best_size = gain, float(code), accurate[code], total[code]
    return best, 2, cut, best_positive, best_size


@kernel
def grow_rule(
    values: FloatArray,
    orders: IntArray,
    n_known: IntArray,
    sizes: IntArray,
    rows: IntArray,
    positive: BoolArray,
    used: BoolArray,
    min_weight: float,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Add conditions to a rule while the gain is positive, and return the conditions.

    `orders[j]` lists all rows in ascending order of column j. The first `n_known[j]` of them have known values. `sizes[j]` is
    the number of values of a nominal column, or 0 for a numeric column. A nominal column is used at most once. A condition is
    added only if the rule then covers at least `min_weight` positive rows.
    """
    d, n = values.shape
    columns, kinds, cuts = np.empty(n, np.intp), np.empty(n, np.intp), np.empty(n)
    inside, exhausted = np.zeros(n, np.bool_), np.zeros(d, np.bool_)
    n_conditions, total, positives = 0, float(len(rows)), 0.0
    for row in rows:
        inside[row] = True
        positives += positive[row]
    base = (positives + 1.0) / (total + 1.0)
    # The rows that the rule covers, for each column: in ascending order and without missing values.
    live, counts = np.empty((d, n), np.intp), np.empty(d, np.intp)
    for j in range(d):
        exhausted[j], counts[j] = used[j], 0
        for index in range(n_known[j]):
            row = orders[j, index]
            if inside[row]:
                live[j, counts[j]] = row
                counts[j] += 1
    while total > 0 and 1.0 - base > _SMALL:
        best, chosen, kind, cut, positives, size = 0.0, -1, 0, 0.0, 0.0, 0.0
        for j in range(d):
            if exhausted[j]:
                continue
            if sizes[j] > 0:
                candidate = _find_best_rule_value(values[j], live[j, : counts[j]], positive, base, sizes[j])
            else:
                candidate = _find_best_rule_cut(values[j], live[j, : counts[j]], positive, base)
            if candidate[0] > best:
                best, kind, cut, positives, size = candidate
                chosen = j
        if chosen < 0 or min_weight - positives > _SMALL:
            break
        exhausted[chosen] = sizes[chosen] > 0
        columns[n_conditions], kinds[n_conditions], cuts[n_conditions] = chosen, kind, cut
        n_conditions += 1
        total, base = size, (positives + 1.0) / (size + 1.0)
        for j in range(d):
            count = 0
            for index in range(counts[j]):
                row = live[j, index]
                if _is_met(values[chosen, row], kind, cut):
                    live[j, count] = row
                    count += 1
            counts[j] = count
    return columns[:n_conditions], kinds[:n_conditions], cuts[:n_conditions]


@kernel
def find_best_length(
    values: FloatArray,
    rows: IntArray,
    positive: BoolArray,
    columns: IntArray,
    kinds: IntArray,
    cuts: FloatArray,
    by_accuracy: bool,
) -> int:
    """Return the number of leading conditions of a rule to keep.

    The shortened rule maximizes the proportion of positives among the covered rows or, if `by_accuracy` is true, the accuracy
    on all rows. The proportion includes two additional rows, one of which is positive. If lengths are tied, the shortest is
    chosen. If there are no rows, all conditions are kept.
    """
    size, total = len(columns), len(rows)
    if total == 0:
        return size
    inside = np.empty(total, np.intp)
    count, positives = total, 0.0
    for index in range(total):
        inside[index] = rows[index]
        positives += positive[rows[index]]
    best, length, negatives_outside = (positives + 1.0) / (total + 2.0), 0, 0.0
    for j in range(size):
        n_inside, accurate = 0, 0.0
        for index in range(count):
            row = inside[index]
            if _is_met(values[columns[j], row], kinds[j], cuts[j]):
                inside[n_inside] = row
                n_inside += 1
                accurate += positive[row]
            elif not positive[row]:
                negatives_outside += 1.0
        count = n_inside
        worth = (accurate + negatives_outside) / total if by_accuracy else (accurate + 1.0) / (count + 2.0)
        if worth > best:
            best, length = worth, j + 1
    return length
