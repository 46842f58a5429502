"""Grow, prune and apply C4.5 trees.

In prediction, a row with a missing value follows all branches, weighted by their proportion of the training weight.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel

# WEKA treats numbers that differ by less than this as equal; without this rule, trees differ from WEKA's.
SMALL = 1e-6


@kernel
def compute_x_log_x(x: float, table: FloatArray) -> float:
    """Compute x log2 x, using the table of integers if there is one."""
    if table.size > 0:
        return float(table[int(x)])
    return 0.0 if x < SMALL else x * math.log(x) / math.log(2.0)


@kernel
def make_x_log_x_table(n: int) -> FloatArray:
    """Compute x log2 x for 0, 1, ..., n."""
    table = np.zeros(n + 1)
    for x in range(1, n + 1):
        table[x] = x * math.log(float(x)) / math.log(2.0)
    return table


@kernel
def find_majority(counts: FloatArray) -> int:
    """Return the class with the largest weight (the first if there are ties)."""
    best, most = 0, 0.0
    for c in range(counts.size):
        if counts[c] - most > SMALL:
            best, most = c, counts[c]
    return best


@kernel
def sum_weights(counts: FloatArray) -> float:
    """Sum from left to right."""
    total = 0.0
    for c in range(counts.size):
        total += counts[c]
    return total


# Numbers closer than this are not separated; gains this much below the average are still candidates.
_APART, _BELOW_AVERAGE = 1e-5, 1e-3


_MOST_CASES_A_SIDE = 25.0


_MANY_VALUES = 0.3


class TreeRows(NamedTuple):
    """Training set; arrays by column have shape (d, n)."""

    columns: FloatArray
    levels: npt.NDArray[np.int64]  # number of declared values of a nominal column, 0 for a numeric column
    ranked_row: npt.NDArray[np.int64]  # row of a numeric column in `ranked`
    ranked: FloatArray  # numeric columns, each sorted, NaN last
    codes: npt.NDArray[np.int64]
    weight: FloatArray
    classes: int
    declared: int  # number of declared classes, some of which may not occur
    table: FloatArray  # x log2 x of integers; empty if the weights are not 1


class TreeCases(NamedTuple):
    """Cases of a node: their indices in the order of each column, and the row and weight of each case."""

    row: npt.NDArray[np.int32]
    weight: FloatArray


class SplitRules(NamedTuple):
    """Parameters of splits."""

    min_cases: float
    correct_cuts: bool
    binary: bool


@kernel
def find_column_split(
    rows: TreeRows,
    cases: TreeCases,
    rules: SplitRules,
    j: int,
    order: npt.NDArray[np.int32],
    counts: FloatArray,
    table: FloatArray,
) -> tuple[bool, float, float, float]:
    """Return whether the column can split the node, the gain, the gain ratio, and the cut or the single value."""
    if rows.levels[j] == 0:
        return _split_numeric(rows, cases, rules, j, order, counts, table)
    bags = np.zeros((rows.levels[j], rows.classes))
    for i in range(order.size):
        case = order[i]
        value = rows.columns[j, cases.row[case]]
        if not math.isnan(value):
            bags[int(value), rows.codes[cases.row[case]]] += cases.weight[case]
    total = sum_weights(counts)
    if rules.binary:
        return _find_best_value(bags, total, rules.min_cases, table)
    valid, gain, ratio = _evaluate_multiway(bags, total, rules.min_cases, table)
    return valid, gain, ratio, math.nan


@kernel
def _evaluate_multiway(bags: FloatArray, total: float, min_cases: float, table: FloatArray) -> tuple[bool, float, float]:
    """Evaluate the split into all values, if at least two values have enough cases."""
    enough, known_weight = 0, 0.0
    for value in range(bags.shape[0]):
        size = sum_weights(bags[value])
        enough += min_cases - size < SMALL
        known_weight += size
    if enough < 2:
        return False, 0.0, 0.0
    new, spread, old = 0.0, 0.0, compute_x_log_x(known_weight, table)
    for value in range(bags.shape[0]):
        spread += compute_x_log_x(sum_weights(bags[value]), table)
    for c in range(bags.shape[1]):
        of_class = 0.0
        for value in range(bags.shape[0]):
            of_class += bags[value, c]
            new -= compute_x_log_x(bags[value, c], table)
        old -= compute_x_log_x(of_class, table)
    gain = _compute_tree_gain(old - new - spread, known_weight, total)
    return True, gain, _compute_gain_ratio(gain, spread, known_weight, total, table)


@kernel
def _find_best_value(bags: FloatArray, total: float, min_cases: float, table: FloatArray) -> tuple[bool, float, float, float]:
    """Find the best split into one value and all others."""
    any_valid, best_gain, best_ratio, best_value = False, 0.0, 0.0, 0.0
    pair = np.empty((2, bags.shape[1]))
    for value in range(bags.shape[0]):
        if min_cases - sum_weights(bags[value]) >= SMALL:
            continue
        pair[0] = bags[value]
        for c in range(bags.shape[1]):
            pair[1, c] = bags[:, c].sum() - bags[value, c]
        valid, gain, ratio = _evaluate_multiway(pair, total, min_cases, table)
        any_valid = any_valid or valid
        if valid and (value == 0 or ratio - best_ratio > SMALL):
            best_gain, best_ratio, best_value = gain, ratio, float(value)
    return any_valid, best_gain, best_ratio, best_value


@kernel
def _compute_tree_gain(numerator: float, known_weight: float, total: float) -> float:
    """Compute the information gain per case, reduced by the proportion of missing values."""
    numerator *= 1 - (total - known_weight) / total
    return 0.0 if abs(numerator) < SMALL else numerator / known_weight


@kernel
def _compute_gain_ratio(gain: float, spread: float, known_weight: float, total: float, table: FloatArray) -> float:
    """Divide the gain by the information of the split, with missing values as a separate branch."""
    split = compute_x_log_x(total, table) - spread - compute_x_log_x(total - known_weight, table)
    return 0.0 if abs(split) < SMALL else gain / (split / total)


@kernel
def _count_known(
    rows: TreeRows, cases: TreeCases, j: int, order: npt.NDArray[np.int32], counts: FloatArray
) -> tuple[int, FloatArray]:
    """Count the cases with a known value, which come first, and sum their weight by class."""
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
def _compute_min_side(known_weight: float, declared: int, min_cases: float) -> float:
    """Compute the minimum weight on each side of a cut: a tenth of the mean class weight, clipped to [`min_cases`, 25]."""
    least = 0.1 * known_weight / declared
    if least - min_cases < SMALL:
        return min_cases
    return _MOST_CASES_A_SIDE if least - _MOST_CASES_A_SIDE > SMALL else least


@kernel
def _split_numeric(
    rows: TreeRows,
    cases: TreeCases,
    rules: SplitRules,
    j: int,
    order: npt.NDArray[np.int32],
    counts: FloatArray,
    table: FloatArray,
) -> tuple[bool, float, float, float]:
    m, right = _count_known(rows, cases, j, order, counts)
    known_weight, total = sum_weights(right), sum_weights(counts)
    min_side = _compute_min_side(known_weight, rows.declared, rules.min_cases)
    if 2 * min_side - m > SMALL or m < 2:
        return False, 0.0, 0.0, math.nan
    gain, cut_index, cuts, n_left = _find_best_tree_cut(rows, cases, j, order[:m], right, min_side, total, table)
    if cuts > 0 and rules.correct_cuts:
        gain -= math.log(float(cuts)) / math.log(2.0) / total
    if cuts == 0 or gain < SMALL:
        return False, 0.0, 0.0, math.nan
    low, high = rows.columns[j, cases.row[order[cut_index]]], rows.columns[j, cases.row[order[cut_index + 1]]]
    cut = (high + low) / 2
    spread = compute_x_log_x(n_left, table) + compute_x_log_x(known_weight - n_left, table)
    return True, gain, _compute_gain_ratio(gain, spread, known_weight, total, table), low if cut == high else cut


@kernel
def _find_best_tree_cut(
    rows: TreeRows,
    cases: TreeCases,
    j: int,
    order: npt.NDArray[np.int32],
    right: FloatArray,
    min_side: float,
    total: float,
    table: FloatArray,
) -> tuple[float, int, int, float]:
    """Return the gain of the best cut, the index below it, the number of allowed cuts, and the weight below it.

    With each case that moves from right to left, the sums of x log x by class change by one term.
    """
    column, codes, classes = rows.columns[j], rows.codes, right.size
    left = np.zeros(classes)
    known_weight = sum_weights(right)
    n_left, n_right, sum_left, sum_right = 0.0, known_weight, 0.0, 0.0
    for c in range(classes):
        sum_right += compute_x_log_x(right[c], table)
    old = compute_x_log_x(known_weight, table) - sum_right
    best, cut_index, cuts, weight_left = 0.0, -1, 0, 0.0
    row = cases.row[order[0]]
    value = column[row]
    for i in range(1, order.size):
        c, w = codes[row], cases.weight[order[i - 1]]
        sum_left -= compute_x_log_x(left[c], table)
        sum_right -= compute_x_log_x(right[c], table)
        left[c] += w
        right[c] -= w
        sum_left += compute_x_log_x(left[c], table)
        sum_right += compute_x_log_x(right[c], table)
        n_left += w
        n_right -= w
        row = cases.row[order[i]]
        following = column[row]
        if value + _APART < following and min_side - n_left < SMALL and min_side - n_right < SMALL:
            cuts += 1
            new = compute_x_log_x(n_left, table) - sum_left + compute_x_log_x(n_right, table) - sum_right
            gain = _compute_tree_gain(old - new, known_weight, total)
            if gain - best > SMALL:
                best, cut_index, weight_left = gain, i - 1, n_left
        value = following
    return best, cut_index, cuts, weight_left


@kernel
def choose_column(rows: TreeRows, valid: npt.NDArray[np.bool_], gain: FloatArray, ratio: FloatArray) -> int:
    """Return the column with the best gain ratio among those with at least average gain; -1 if there is none.

    Nominal columns with many values are left out of the average, unless all columns are of this kind.
    """
    n = rows.weight.size
    many = np.empty(valid.size, np.bool_)
    for j in range(valid.size):
        many[j] = rows.levels[j] > 0 and _MANY_VALUES * n - rows.levels[j] <= SMALL
    all_many = many.all()
    average, n_counted = 0.0, 0
    for j in range(valid.size):
        if valid[j] and (all_many or not many[j]):
            average += gain[j]
            n_counted += 1
    if n_counted == 0:
        return -1
    average /= n_counted
    best, most = -1, 0.0
    for j in range(valid.size):
        if valid[j] and gain[j] >= average - _BELOW_AVERAGE and ratio[j] - most > SMALL:
            best, most = j, ratio[j]
    return best


@kernel
def find_observed_threshold(rows: TreeRows, j: int, cut: float) -> float:
    """Return the largest value of the whole training set that does not exceed the cut."""
    ranked = rows.ranked[rows.ranked_row[j]]
    low, high = 0, ranked.size  # find the last value with value - cut < SMALL; comparisons with NaN are false
    while low < high:
        middle = (low + high) // 2
        if ranked[middle] - cut < SMALL:
            low = middle + 1
        else:
            high = middle
    last_index = low - 1
    before = last_index
    while before >= 0 and ranked[before] == ranked[last_index]:
        before -= 1
    if before < 0 or ranked[last_index] - ranked[before] > SMALL:
        return float(ranked[last_index])
    return _find_first_near_value(rows.columns[j], cut)


@kernel
def _find_first_near_value(column: FloatArray, cut: float) -> float:
    """Among the values that are too close to the cut to be separated, return the first one in the file, as WEKA does."""
    threshold = -math.inf
    for i in range(column.size):
        if column[i] - threshold > SMALL and column[i] - cut < SMALL:
            threshold = column[i]
    return float(threshold)


@kernel
def find_branch(value: float, nominal: bool, threshold: float) -> int:
    """Return the branch of a value; -1 if it is missing. Nominal splits without a threshold have one branch per value."""
    if math.isnan(value):
        return -1
    if not nominal:
        return 0 if value - threshold < SMALL else 1
    if math.isnan(threshold):
        return int(value)
    return 0 if value == threshold else 1


CaseIndices = npt.NDArray[np.int32]


class Nodes(NamedTuple):
    """A tree as arrays. The children of a node are consecutive: first, first + 1, ..., one per branch."""

    column: npt.NDArray[np.int64]  # -1 at a leaf
    threshold: FloatArray  # cut, or code of the value that is split off; NaN if each value has a branch
    first: npt.NDArray[np.int64]
    branches: npt.NDArray[np.int64]
    counts: FloatArray  # weight by class


@kernel
def ensure_size(array: Any, size: int) -> Any:
    """Return the array with room for at least `size` rows."""
    if array.shape[0] >= size:
        return array
    enlarged = np.zeros((max(size, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    enlarged[: array.shape[0]] = array
    return enlarged


@kernel
def grow_tree(rows: TreeRows, rules: SplitRules, order: npt.NDArray[np.int32]) -> Nodes:
    """Grow the tree. `order[0]` lists all rows, `order[1 + index]` sorts them by a numeric column, missing values last."""
    n, classes = rows.weight.size, rows.classes
    nodes = Nodes(np.full(16, -1), np.full(16, np.nan), np.zeros(16, np.int64), np.zeros(16, np.int64), np.zeros((16, classes)))
    cases = TreeCases(np.arange(n).astype(np.int32), rows.weight.copy())
    branch, fresh = np.empty(n, np.int32), np.empty(n, np.int32)
    stack = np.zeros((16, 4), np.int64)  # node, its segment of each order, cases in use
    stack[0, 2], stack[0, 3] = n, n
    depth, used = 1, 1
    while depth > 0:
        depth -= 1
        node, start, end, top = stack[depth]
        unit = count_classes(rows, cases, order[0, start:end], nodes.counts[node])
        column, cut = _choose_split(rows, cases, rules, order[:, start:end], nodes.counts[node], unit)
        if column < 0:
            continue
        k = 2 if rows.levels[column] == 0 or rules.binary else rows.levels[column]
        nodes, used = _open_node(nodes, node, used, column, k, cut)
        branch, fresh = ensure_size(branch, top), ensure_size(fresh, top)
        share, missing = _compute_branch_proportions(rows, cases, order[0, start:end], column, cut, k, branch)
        cases = TreeCases(ensure_size(cases.row, top + k * missing), ensure_size(cases.weight, top + k * missing))
        top = _add_cases(cases, order[0, start:end], branch, fresh, share, top)
        order, edges = _partition(order, start, end, branch, fresh, share)
        stack = ensure_size(stack, depth + k)
        for b in range(k):
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = (
                nodes.first[node] + b,
                edges[b],
                edges[b + 1],
                top,
            )
            depth += 1
    return Nodes(nodes.column[:used], nodes.threshold[:used], nodes.first[:used], nodes.branches[:used], nodes.counts[:used])


@kernel
def count_classes(rows: TreeRows, cases: TreeCases, case_order: CaseIndices, counts: FloatArray) -> bool:
    """Fill in the weight by class; return whether each case is a whole row of weight one."""
    n, unit = rows.weight.size, rows.table.size > 0
    counts[:] = 0
    for i in range(case_order.size):
        case = case_order[i]
        unit = unit and case < n
        counts[rows.codes[cases.row[case]]] += cases.weight[case]
    return unit


@kernel
def _choose_split(
    rows: TreeRows, cases: TreeCases, rules: SplitRules, order: npt.NDArray[np.int32], counts: FloatArray, unit: bool
) -> tuple[int, float]:
    """Return the column to split on and the cut; -1 for a leaf."""
    d, total = rows.levels.size, sum_weights(counts)
    if 2 * rules.min_cases - total > SMALL or abs(total - counts[find_majority(counts)]) < SMALL:
        return -1, np.nan
    table = rows.table if unit else rows.table[:0]
    valid, gain, ratio, cut = np.zeros(d, np.bool_), np.zeros(d), np.zeros(d), np.zeros(d)
    for j in range(d):
        case_order = order[0] if rows.levels[j] > 0 else order[1 + rows.ranked_row[j]]
        valid[j], gain[j], ratio[j], cut[j] = find_column_split(rows, cases, rules, j, case_order, counts, table)
    column = choose_column(rows, valid, gain, ratio)
    if column < 0:
        return -1, np.nan
    return column, find_observed_threshold(rows, column, cut[column]) if rows.levels[column] == 0 else cut[column]


@kernel
def _open_node(nodes: Nodes, node: int, used: int, column: int, k: int, threshold: float) -> tuple[Nodes, int]:
    """Make the node an inner node, with room for its children."""
    nodes = Nodes(
        ensure_size(nodes.column, used + k),
        ensure_size(nodes.threshold, used + k),
        ensure_size(nodes.first, used + k),
        ensure_size(nodes.branches, used + k),
        ensure_size(nodes.counts, used + k),
    )
    nodes.column[used : used + k] = -1
    nodes.threshold[used : used + k] = np.nan
    nodes.column[node], nodes.threshold[node], nodes.first[node], nodes.branches[node] = column, threshold, used, k
    return nodes, used + k


@kernel
def _compute_branch_proportions(
    rows: TreeRows,
    cases: TreeCases,
    case_order: CaseIndices,
    column: int,
    threshold: float,
    k: int,
    branch: npt.NDArray[np.int32],
) -> tuple[FloatArray, int]:
    """Compute the proportion of known weight in each branch and the number of missing values; fill in the branches."""
    weight, missing = np.zeros(k), 0
    for i in range(case_order.size):
        case = case_order[i]
        b = find_branch(rows.columns[column, cases.row[case]], rows.levels[column] > 0, threshold)
        branch[case] = b
        if b >= 0:
            weight[b] += cases.weight[case]
        else:
            missing += 1
    return weight / weight.sum(), missing


@kernel
def _add_cases(
    cases: TreeCases,
    case_order: CaseIndices,
    branch: npt.NDArray[np.int32],
    fresh: npt.NDArray[np.int32],
    share: FloatArray,
    top: int,
) -> int:
    """Append copies of cases with missing values, one per branch; `fresh` is the index of the first copy."""
    for i in range(case_order.size):
        case = case_order[i]
        if branch[case] < 0:
            fresh[case] = top
            for b in range(share.size):
                if share[b] > SMALL:
                    cases.row[top] = cases.row[case]
                    cases.weight[top] = share[b] * cases.weight[case]
                    top += 1
    return top


@kernel
def _partition(
    order: npt.NDArray[np.int32],
    start: int,
    end: int,
    branch: npt.NDArray[np.int32],
    fresh: npt.NDArray[np.int32],
    share: FloatArray,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Sort the cases of a node by branch, keeping each sort order; data beyond `end` are no longer needed."""
    k = share.size
    edges, missing = np.zeros(k + 1, np.int64), 0
    for i in range(start, end):
        b = branch[order[0, i]]
        if b >= 0:
            edges[b + 1] += 1
        else:
            missing += 1
    edges[0] = start
    for b in range(k):
        edges[b + 1] += edges[b] + (missing if share[b] > SMALL else 0)
    if edges[k] > order.shape[1]:
        enlarged = np.empty((order.shape[0], max(edges[k], 2 * order.shape[1])), np.int32)
        enlarged[:, : order.shape[1]] = order
        order = enlarged
    node_cases, next_index = np.empty(end - start, np.int32), np.empty(k, np.int64)
    for which in range(order.shape[0]):
        line = order[which]
        node_cases[:] = line[start:end]
        next_index[:] = edges[:k]
        for i in range(node_cases.size):
            case = node_cases[i]
            b = branch[case]
            if b >= 0:
                line[next_index[b]] = case
                next_index[b] += 1
                continue
            new = fresh[case]
            for b in range(k):
                if share[b] > SMALL:
                    line[next_index[b]] = new
                    next_index[b] += 1
                    new += 1
    return order, edges


# Increase of the expected errors that is accepted for a simpler tree.
_GRACE = 0.1


_NO_FEWER_ERRORS = 1e-3


class ErrorBound(NamedTuple):
    """Confidence level of the upper bound of the errors, and its normal quantile."""

    confidence: float
    z: float


class Segments(NamedTuple):
    """Rows with weights; the cases of a node are a segment of them."""

    row: npt.NDArray[np.int32]
    weight: FloatArray


@kernel
def collapse_tree(nodes: Nodes) -> None:
    """Turn a node into a leaf if its subtree does not have fewer training errors."""
    errors = np.zeros(nodes.column.size)
    for node in range(nodes.column.size - 1, -1, -1):
        if nodes.column[node] < 0:
            errors[node] = count_errors(nodes.counts[node])
        for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
            errors[node] += errors[child]
    for node in range(nodes.column.size):
        if nodes.column[node] >= 0 and errors[node] >= count_errors(nodes.counts[node]) - _NO_FEWER_ERRORS:
            make_leaf(nodes, node)


@kernel
def make_leaf(nodes: Nodes, node: int) -> None:
    """Remove the subtree of a node."""
    nodes.column[node], nodes.threshold[node], nodes.branches[node], nodes.first[node] = -1, math.nan, 0, 0


@kernel
def prune_tree(nodes: Nodes, rows: TreeRows, bound: ErrorBound, raising: bool) -> None:
    """Replace nodes, from the leaves up, with leaves or with their largest branch if this does not increase the expected
    errors."""
    n = rows.weight.size if raising else 0
    cases = Segments(np.arange(n).astype(np.int32), rows.weight[:n].copy())
    expected = np.zeros(nodes.column.size)
    stack = np.zeros((16, 5), np.int64)  # node, segment of its cases, end of all segments in use, whether its children are done
    stack[0, 2], stack[0, 3] = n, n
    depth = 1
    while depth > 0:
        depth -= 1
        node, start, end, top, done = stack[depth]
        if nodes.column[node] < 0:
            expected[node] = estimate_errors(nodes.counts[node], bound.confidence, bound.z)
        elif done == 0:
            stack = ensure_size(stack, depth + 1 + nodes.branches[node])
            stack[depth, 4] = 1
            edges = np.zeros(nodes.branches[node] + 1, np.int64)
            if raising:
                cases, top = _divide_cases(nodes, rows, cases, node, start, end, top, edges)
            for b in range(nodes.branches[node]):
                depth += 1
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = nodes.first[node] + b, edges[b], edges[b + 1]
                stack[depth, 3], stack[depth, 4] = top, 0
            depth += 1
        else:
            cases, raised = _reduce_node(nodes, rows, cases, bound, raising, expected, node, start, end, top)
            if raised:
                stack[depth, 4] = 0
                depth += 1


@kernel
def _reduce_node(
    nodes: Nodes,
    rows: TreeRows,
    cases: Segments,
    bound: ErrorBound,
    raising: bool,
    expected: FloatArray,
    node: int,
    start: int,
    end: int,
    top: int,
) -> tuple[Segments, bool]:
    """Prune a node whose children are done; return whether its largest branch replaced it and must be pruned again."""
    first = nodes.first[node]
    as_tree = sum_weights(expected[first : first + nodes.branches[node]])
    as_leaf = estimate_errors(nodes.counts[node], bound.confidence, bound.z)
    largest, as_branch = _find_largest_child(nodes, node), math.inf
    if raising and nodes.column[largest] < 0:
        as_branch = as_leaf
    elif raising:
        cases, as_branch = _send_down(nodes, rows, cases, bound, largest, start, end, top, False)
    expected[node] = as_tree
    if as_leaf - (as_tree + _GRACE) < SMALL and as_leaf - (as_branch + _GRACE) < SMALL:
        make_leaf(nodes, node)
        expected[node] = as_leaf
        return cases, False
    if as_branch - (as_tree + _GRACE) >= SMALL:
        return cases, False
    nodes.column[node], nodes.threshold[node] = nodes.column[largest], nodes.threshold[largest]
    nodes.first[node], nodes.branches[node] = nodes.first[largest], nodes.branches[largest]
    cases, _ = _send_down(nodes, rows, cases, bound, node, start, end, top, True)
    return cases, True


@kernel
def _find_largest_child(nodes: Nodes, node: int) -> int:
    """Return the child with the largest weight (the last if there are ties)."""
    largest, most = nodes.first[node], 0.0
    for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
        total = sum_weights(nodes.counts[child])
        if most - total < SMALL:
            largest, most = child, total
    return int(largest)


@kernel
def _send_down(
    nodes: Nodes, rows: TreeRows, cases: Segments, bound: ErrorBound, root: int, start: int, end: int, top: int, keep: bool
) -> tuple[Segments, float]:
    """Return the expected errors of a subtree on these cases; `keep` stores the counts of the cases in the nodes."""
    counts, errors = np.zeros(rows.classes), 0.0
    stack = np.zeros((16, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = root, start, end, top
    depth = 1
    while depth > 0:
        depth -= 1
        node, start, end, top = stack[depth]
        leaf = nodes.column[node] < 0
        if keep or leaf:
            counts[:] = 0
            for i in range(start, end):
                counts[rows.codes[cases.row[i]]] += cases.weight[i]
            if keep:
                nodes.counts[node] = counts
        if leaf:
            errors += estimate_errors(counts, bound.confidence, bound.z)
        elif keep or end > start:
            edges = np.zeros(nodes.branches[node] + 1, np.int64)
            cases, top = _divide_cases(nodes, rows, cases, node, start, end, top, edges)
            stack = ensure_size(stack, depth + nodes.branches[node])
            for b in range(nodes.branches[node]):
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = nodes.first[node] + b, edges[b], edges[b + 1]
                stack[depth, 3] = top
                depth += 1
    return cases, errors


@kernel
def _divide_cases(
    nodes: Nodes, rows: TreeRows, cases: Segments, node: int, start: int, end: int, top: int, edges: npt.NDArray[np.int64]
) -> tuple[Segments, int]:
    """Sort a segment of cases by branch: in place, or as weighted copies after `top` if values are missing.

    Fill in the boundaries of the branch segments; return the end of the space in use.
    """
    k, column, m = nodes.branches[node], nodes.column[node], end - start
    branch, size, weight, missing = np.empty(m, np.int64), np.zeros(k, np.int64), np.zeros(k), 0
    for i in range(m):
        row = cases.row[start + i]
        b = find_branch(rows.columns[column, row], rows.levels[column] > 0, nodes.threshold[node])
        branch[i] = b
        if b < 0:
            missing += 1
        else:
            size[b] += 1
            weight[b] += cases.weight[start + i]
    known_weight = sum_weights(weight)
    share = weight / known_weight if known_weight > SMALL else np.full(k, 1 / k)
    edges[0] = start if missing == 0 else top
    for b in range(k):
        edges[b + 1] = edges[b] + size[b] + (missing if share[b] > SMALL else 0)
    if missing > 0:
        cases = Segments(ensure_size(cases.row, edges[k]), ensure_size(cases.weight, edges[k]))
        top = edges[k]
    _write_cases(cases, start, end, branch, share, edges)
    return cases, top


@kernel
def _write_cases(
    cases: Segments, start: int, end: int, branch: npt.NDArray[np.int64], share: FloatArray, edges: npt.NDArray[np.int64]
) -> None:
    held_row, held_weight, next_index = cases.row[start:end].copy(), cases.weight[start:end].copy(), edges[:-1].copy()
    for i in range(held_row.size):
        b = branch[i]
        if b >= 0:
            cases.row[next_index[b]], cases.weight[next_index[b]] = held_row[i], held_weight[i]
            next_index[b] += 1
            continue
        for b in range(share.size):
            if share[b] > SMALL:
                cases.row[next_index[b]], cases.weight[next_index[b]] = held_row[i], share[b] * held_weight[i]
                next_index[b] += 1


@kernel
def drop_unreachable(nodes: Nodes) -> Nodes:
    """Keep only reachable nodes, with children after their parents."""
    old = np.zeros(nodes.column.size, np.int64)  # old index of each new node
    first = np.zeros(nodes.column.size, np.int64)
    used, node = 1, 0
    while node < used:
        first[node] = used if nodes.branches[old[node]] > 0 else 0
        for b in range(nodes.branches[old[node]]):
            old[used] = nodes.first[old[node]] + b
            used += 1
        node += 1
    old = old[:used]
    return Nodes(nodes.column[old], nodes.threshold[old], first[:used], nodes.branches[old], nodes.counts[old])


@kernel
def compute_node_probabilities(nodes: Nodes, laplace: bool) -> FloatArray:
    """Compute class frequencies of each node, optionally with Laplace's rule; empty nodes use the frequencies of the parent."""
    counts = nodes.counts.copy()
    for node in range(nodes.column.size):
        for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
            if sum_weights(nodes.counts[child]) <= SMALL:
                counts[child] = counts[node]
    if laplace:
        counts += 1.0
    for node in range(nodes.column.size):
        counts[node] /= sum_weights(counts[node])
    return counts


@kernel
def predict_tree(nodes: Nodes, nominal: npt.NDArray[np.bool_], values: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Compute class probabilities of each row of `values` (n, d) from the `probabilities` of the nodes."""
    n, classes = values.shape[0], probabilities.shape[1]
    result = np.zeros((n, classes))
    total = np.empty(nodes.column.size)
    for node in range(nodes.column.size):
        total[node] = sum_weights(nodes.counts[node])
    pending_nodes, weight = np.zeros(16, np.int64), np.ones(16)
    for i in range(n):
        pending_nodes[0], weight[0], depth = 0, 1.0, 1
        while depth > 0:
            depth -= 1
            node, share = pending_nodes[depth], weight[depth]
            while nodes.column[node] >= 0:
                b = find_branch(values[i, nodes.column[node]], nominal[nodes.column[node]], nodes.threshold[node])
                if b < 0:
                    break
                node = nodes.first[node] + b
            if nodes.column[node] < 0:
                for c in range(classes):
                    result[i, c] += share * probabilities[node, c]
                continue
            first, k = nodes.first[node], nodes.branches[node]
            pending_nodes, weight = ensure_size(pending_nodes, depth + k), ensure_size(weight, depth + k)
            known_weight = sum_weights(total[first : first + k])
            for b in range(k):
                if total[first + b] > SMALL:
                    pending_nodes[depth], weight[depth] = first + b, share * total[first + b] / known_weight
                    depth += 1
    return result


@kernel
def count_errors(counts: FloatArray) -> float:
    """Return the weight outside the majority class."""
    return float(sum_weights(counts) - counts[find_majority(counts)])


@kernel
def estimate_errors(counts: FloatArray, confidence: float, z: float) -> float:
    """Estimate the errors of a leaf with these class counts on the same number of new cases."""
    total = sum_weights(counts)
    if abs(total) < SMALL:
        return 0.0
    errors = count_errors(counts)
    return errors + estimate_extra_errors(total, errors, confidence, z)


@kernel
def estimate_extra_errors(n: float, errors: float, confidence: float, z: float) -> float:
    """Estimate the errors beyond those observed in `n` cases: n times (upper binomial limit - rate).

    `z` is the normal quantile of `confidence`. For less than one error, the limit is interpolated from the limit for zero
    errors.
    """
    if errors < 1:
        base = n * (1 - math.pow(confidence, 1 / n))
        return base if errors == 0 else base + errors * (_estimate_normal_extra(n, 1.0, z) - base)
    return _estimate_normal_extra(n, errors, z)


@kernel
def _estimate_normal_extra(n: float, errors: float, z: float) -> float:
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    rate = (errors + 0.5) / n
    root = math.sqrt(rate / n - rate * rate / n + z * z / (4 * n * n))
    return (rate + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - errors
