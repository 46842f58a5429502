"""Rules as lists of conditions on columns: grow a rule by FOIL's gain, find the rows it covers, and prune it.

A condition is a column, a kind (0: at most, 1: at least, 2: equal) and a value. The columns are stored as rows of a matrix.
Missing values are NaN, and no condition covers them.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import BoolArray
from fairtrial.kernels.compiling import kernel

_SMALL = 1e-6
_LOG_2 = np.log(2.0)


@kernel
def _is_met(value: float, kind: int, cut: float) -> bool:
    if kind == 0:
        return value <= cut
    if kind == 1:
        return value >= cut
    return value == cut


@kernel
def find_covered_rows(values: FloatArray, rows: IntArray, columns: IntArray, kinds: IntArray, cuts: FloatArray) -> BoolArray:
    """Return the rows that satisfy all conditions."""
    inside = np.ones(len(rows), dtype=np.bool_)
    for index in range(len(rows)):
        for j in range(len(columns)):
            if not _is_met(values[columns[j], rows[index]], kinds[j], cuts[j]):
                inside[index] = False
                break
    return inside


@kernel
def _compute_foil_gain(positives: float, total: float, base: float) -> float:
    """Compute FOIL's gain over a base rate of positives; both rates include one additional row."""
    return float(positives * (np.log((positives + 1.0) / (total + 1.0)) / _LOG_2 - np.log(base) / _LOG_2))


@kernel
def _find_best_rule_cut(
    column: FloatArray, rows: IntArray, positive: BoolArray, base: float
) -> tuple[float, int, float, float, float]:
    """Return gain, kind, value, positives and size of the best side of a numeric column; `rows` are sorted and known."""
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


@kernel
def _find_best_rule_value(
    column: FloatArray, rows: IntArray, positive: BoolArray, base: float, size: int
) -> tuple[float, int, float, float, float]:
    """Return gain, kind, value, positives and size of the best value of a nominal column with `size` values."""
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
def _filter_orders(orders: IntArray, n_known: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Filter the given rows with known values, in the order of each column; return these rows and their counts."""
    d, n = orders.shape
    inside = np.zeros(n, dtype=np.bool_)
    inside[rows] = True
    live, counts = np.empty((d, n), np.intp), np.zeros(d, np.intp)
    for j in range(d):
        for row in orders[j, : n_known[j]]:
            if inside[row]:
                live[j, counts[j]] = row
                counts[j] += 1
    return live, counts


@kernel
def _filter_live(live: IntArray, counts: IntArray, column: FloatArray, kind: int, cut: float) -> None:
    """Keep only the rows that also satisfy one more condition; the arrays are changed in place."""
    for j in range(len(counts)):
        count = 0
        for row in live[j, : counts[j]]:
            if _is_met(column[row], kind, cut):
                live[j, count] = row
                count += 1
        counts[j] = count


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
    """Add conditions to a rule while the gain is positive; return their columns, kinds and values.

    `orders` sorts all rows by each column, the `n_known[j]` known values first. `sizes` is the number of values of a nominal
    column and 0 for a numeric one. A nominal column is used at most once. A condition must cover positive rows with a weight of
    at least `min_weight`.
    """
    d, n = values.shape
    used = used.copy()
    columns, kinds, cuts = np.empty(n, np.intp), np.empty(n, np.intp), np.empty(n, np.float64)
    live, counts = _filter_orders(orders, n_known, rows)
    n_conditions, total = 0, float(len(rows))
    base = (positive[rows].sum() + 1.0) / (total + 1.0)
    while total > 0 and 1.0 - base > _SMALL:
        best, chosen, kind, cut, positives, size = 0.0, -1, 0, 0.0, 0.0, 0.0
        for j in range(d):
            if used[j]:
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
        used[chosen] = sizes[chosen] > 0
        columns[n_conditions], kinds[n_conditions], cuts[n_conditions] = chosen, kind, cut
        n_conditions += 1
        total, base = size, (positives + 1.0) / (size + 1.0)
        _filter_live(live, counts, values[chosen], kind, cut)
    return columns[:n_conditions].copy(), kinds[:n_conditions].copy(), cuts[:n_conditions].copy()


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
    """Return how many of the first conditions to keep: judged by the rate of covered positives, or by accuracy on all rows.

    Rates include two additional rows, one of them positive. Among ties, the shortest rule is chosen. If there are no rows, all
    conditions are kept.
    """
    size, total = len(columns), len(rows)
    if total == 0:
        return size
    inside = rows.copy()
    count, positives = total, 0.0
    for row in rows:
        positives += positive[row]
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
