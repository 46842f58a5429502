"""Grow, prune and apply C4.5 trees.

If the value that a split tests is missing, the prediction is the weighted mean of the predictions of all branches. The weight
of a branch is its proportion of the training weight.

numba compiles a few long functions with plain arrays much faster than many short functions with tuples of arrays. Therefore,
each step is a single compiled function, and a Python function allocates its arrays. If the compiled function needs more space,
it returns early. The Python function then enlarges the arrays and calls it again.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial._frames import BoolArray
from fairtrial.kernels.compiling import helper, kernel

# WEKA treats numbers that differ by less than this as equal. Without this rule, trees would differ from those of WEKA.
SMALL = 1e-6
# _APART: a cut never separates numbers that are closer than this. _BELOW_AVERAGE: a split is a candidate even if its gain is
# this much below the average.
_APART, _BELOW_AVERAGE = 1e-5, 1e-3
_MOST_CASES_A_SIDE = 25.0
_MANY_VALUES = 0.3
# A simpler tree may increase the expected errors by up to this number.
_GRACE = 0.1
_NO_FEWER_ERRORS = 1e-3

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]


class TreeRows(NamedTuple):
    """A training set. `columns` has shape (d, n)."""

    columns: FloatArray
    levels: Int64Array  # number of declared values of a nominal column, 0 for a numeric column
    ranked_row: Int64Array  # row of a numeric column in `ranked`
    ranked: FloatArray  # numeric columns, each sorted, NaN last
    codes: Int64Array
    weight: FloatArray
    classes: int
    declared: int  # number of declared classes, some of which may not occur
    table: FloatArray  # x log2 x of integers; empty if the weights are not 1


class SplitRules(NamedTuple):
    """Parameters that determine the splits."""

    min_cases: float
    correct_cuts: bool
    binary: bool


class ErrorBound(NamedTuple):
    """Confidence level of the upper bound on the errors, and the normal quantile of this level."""

    confidence: float
    z: float


class Nodes(NamedTuple):
    """A tree as arrays.

    Each branch of a node leads to one child. The children have the indices first, first + 1, ...
    """

    column: Int64Array  # -1 at a leaf
    threshold: FloatArray  # cut, or code of the value that is split off; NaN if each value has a branch
    first: Int64Array
    branches: Int64Array
    counts: FloatArray  # weight by class


@kernel
def make_x_log_x_table(n: int) -> FloatArray:
    """Compute x log2 x for 0, 1, ..., n."""
    table = np.empty(n + 1)
    table[0] = 0.0
    for x in range(1, n + 1):
        table[x] = x * math.log(float(x)) / math.log(2.0)
    return table


@helper
def compute_x_log_x(x: float, table: FloatArray) -> float:
    """Compute x log2 x. Use the table for integers if it is not empty."""
    if table.size > 0:
        return float(table[int(x)])
    return 0.0 if x < SMALL else x * math.log(x) / math.log(2.0)


@helper
def sum_weights(counts: FloatArray) -> float:
    """Sum the weights from left to right."""
    total = 0.0
    for c in range(counts.size):
        total += counts[c]
    return total


@helper
def find_majority(counts: FloatArray) -> int:
    """Return the class with the largest weight. If classes are tied, return the first."""
    best, most = 0, 0.0
    for c in range(counts.size):
        if counts[c] - most > SMALL:
            best, most = c, counts[c]
    return best


@helper
def evaluate_values(bags: FloatArray, k: int, total: float, min_cases: float, table: FloatArray) -> tuple[float, float]:
    """Return the gain and the gain ratio of a split into `k` values.

    Row i of `bags` contains the class weights of value i.

    The gain is multiplied by the proportion of known values, and is NaN if fewer than two values have enough cases. In the gain
    ratio, missing values count as a separate branch.
    """
    enough, known_weight, new, spread = 0, 0.0, 0.0, 0.0
    for value in range(k):
        size = sum_weights(bags[value])
        enough += min_cases - size < SMALL
        known_weight += size
        spread += compute_x_log_x(size, table)
    if enough < 2:
        return math.nan, 0.0
    old = compute_x_log_x(known_weight, table)
    for c in range(bags.shape[1]):
        of_class = 0.0
        for value in range(k):
            of_class += bags[value, c]
            new -= compute_x_log_x(bags[value, c], table)
        old -= compute_x_log_x(of_class, table)
    gain = (old - new - spread) * (1 - (total - known_weight) / total)
    gain = 0.0 if abs(gain) < SMALL else gain / known_weight
    split = compute_x_log_x(total, table) - spread - compute_x_log_x(total - known_weight, table)
    return gain, 0.0 if abs(split) < SMALL else gain / (split / total)


@helper
def find_cut(
    column: FloatArray,
    codes: Int64Array,
    row: Int32Array,
    weight: FloatArray,
    order: Int32Array,
    counts: FloatArray,
    sides: FloatArray,
    declared: int,
    min_cases: float,
    correct_cuts: bool,
    table: FloatArray,
) -> tuple[float, float, float]:
    """Return the gain, the gain ratio and the cut of the best binary split of a numeric column.

    The gain is NaN if there is no split.

    `order` lists the cases of the node in ascending order of the column, with missing values last. `sides` is working memory
    for the class weights on both sides.
    """
    classes, m, total = counts.size, order.size, sum_weights(counts)
    if math.isnan(column[row[order[m - 1]]]):
        for c in range(classes):
            sides[0, c] = sides[1, c] = 0.0
        for i in range(m):
            case_row = row[order[i]]
            if math.isnan(column[case_row]):
                m = i
                break
            sides[1, codes[case_row]] += weight[order[i]]
    else:
        for c in range(classes):
            sides[0, c], sides[1, c] = 0.0, counts[c]
    known_weight = sum_weights(sides[1])
    # The minimum weight on each side is a tenth of the mean class weight, clipped to [min_cases, 25].
    min_side = 0.1 * known_weight / declared
    if min_side - min_cases < SMALL:
        min_side = min_cases
    elif min_side - _MOST_CASES_A_SIDE > SMALL:
        min_side = _MOST_CASES_A_SIDE
    if 2 * min_side - m > SMALL or m < 2:
        return math.nan, 0.0, 0.0
    n_left, n_right, sum_left, sum_right = 0.0, known_weight, 0.0, 0.0
    for c in range(classes):
        sum_right += compute_x_log_x(sides[1, c], table)
    old = compute_x_log_x(known_weight, table) - sum_right
    known_proportion = 1 - (total - known_weight) / total
    best, cut_index, cuts, weight_left = 0.0, -1, 0, 0.0
    case_row = row[order[0]]
    value = column[case_row]
    for i in range(1, m):
        c, w = codes[case_row], weight[order[i - 1]]
        sum_left -= compute_x_log_x(sides[0, c], table)
        sum_right -= compute_x_log_x(sides[1, c], table)
        sides[0, c] += w
        sides[1, c] -= w
        sum_left += compute_x_log_x(sides[0, c], table)
        sum_right += compute_x_log_x(sides[1, c], table)
        n_left += w
        n_right -= w
        case_row = row[order[i]]
        following = column[case_row]
        if value + _APART < following and min_side - n_left < SMALL and min_side - n_right < SMALL:
            cuts += 1
            new = compute_x_log_x(n_left, table) - sum_left + compute_x_log_x(n_right, table) - sum_right
            gain = (old - new) * known_proportion
            gain = 0.0 if abs(gain) < SMALL else gain / known_weight
            if gain - best > SMALL:
                best, cut_index, weight_left = gain, i - 1, n_left
        value = following
    if cuts > 0 and correct_cuts:
        best -= math.log(float(cuts)) / math.log(2.0) / total
    if cuts == 0 or best < SMALL:
        return math.nan, 0.0, 0.0
    low, high = column[row[order[cut_index]]], column[row[order[cut_index + 1]]]
    cut = (high + low) / 2
    spread = compute_x_log_x(weight_left, table) + compute_x_log_x(known_weight - weight_left, table)
    split = compute_x_log_x(total, table) - spread - compute_x_log_x(total - known_weight, table)
    ratio = 0.0 if abs(split) < SMALL else best / (split / total)
    return best, ratio, low if cut == high else cut


@helper
def find_observed_threshold(column: FloatArray, ranked: FloatArray, cut: float) -> float:
    """Return the largest value of the whole training set that does not exceed the cut.

    `ranked` is the sorted column.

    If several values are too close to each other to be separated, the one that is chosen depends on the order of the rows, as
    in WEKA.
    """
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
    threshold = -math.inf
    for i in range(column.size):
        if column[i] - threshold > SMALL and column[i] - cut < SMALL:
            threshold = column[i]
    return float(threshold)


@helper
def find_branch(value: float, nominal: bool, threshold: float) -> int:
    """Return the branch of a value, or -1 if the value is missing.

    Nominal splits without a threshold have one branch per value.
    """
    if math.isnan(value):
        return -1
    if not nominal:
        return 0 if value - threshold < SMALL else 1
    if math.isnan(threshold):
        return int(value)
    return 0 if value == threshold else 1


def grow_tree(rows: TreeRows, rules: SplitRules, order: Int32Array) -> Nodes:
    """Grow the tree.

    `order[0]` lists all rows in their original order. Each further row of `order` lists them in ascending order of one numeric
    column, with missing values last.
    """
    n, d, widest = rows.weight.size, rows.levels.size, max(2, int(rows.levels.max()))
    # Nominal columns with many values are left out of the average gain, unless all columns have many values.
    averaged = (rows.levels == 0) | (_MANY_VALUES * n - rows.levels > SMALL)
    if not averaged.any():
        averaged[:] = True
    none = np.empty(0, np.int64)
    nodes = _enlarge_nodes(Nodes(none, np.empty(0), none, none, np.empty((0, rows.classes))), 256)
    row, weight, branch, fresh = np.arange(n, dtype=np.int32), rows.weight.copy(), np.empty(n, np.int32), np.empty(n, np.int32)
    held, stack = np.empty(n, np.int32), np.zeros((len(nodes.column), 4), np.int64)
    stack[0] = 0, 0, n, n
    scores, bags, sides, share = (
        np.empty((3, d)),
        np.empty((widest, rows.classes)),
        np.empty((2, rows.classes)),
        np.empty(widest),
    )
    state, edges, next_index = np.array([1, 1, 0, 0, 0]), np.empty(widest + 1, np.int64), np.empty(widest, np.int64)
    data = rows.columns, rows.levels, rows.ranked_row, rows.ranked, rows.codes, averaged, rows.table, rows.declared
    work: tuple[Any, ...] = (scores, bags, sides, share, edges, next_index, state)
    while True:
        space: tuple[Any, ...] = (*nodes, row, weight, branch, fresh, order, held, stack)
        if grow_nodes(*data, *rules, *space, *work):
            return Nodes(*(array[: state[1]] for array in space[:5]))
        n_nodes, n_cases, n_ordered = state[2:].tolist()
        if n_nodes > len(nodes.column):
            nodes = _enlarge_nodes(nodes, 2 * n_nodes)
            stack = _enlarge(stack, 2 * n_nodes)
        if n_cases > len(row):
            row, weight, branch, fresh = (_enlarge(array, 2 * n_cases) for array in (row, weight, branch, fresh))
        if n_ordered > len(held):
            held, order = _enlarge(held, 2 * n_ordered), _enlarge(order, 2 * n_ordered, axis=1)


def _enlarge_nodes(nodes: Nodes, size: int) -> Nodes:
    """Append empty leaves."""
    column, threshold, first, branches, counts = (_enlarge(array, size) for array in nodes)
    column[len(nodes.column) :], threshold[len(nodes.column) :] = -1, np.nan
    return Nodes(column, threshold, first, branches, counts)


def _enlarge(array: npt.NDArray[Any], size: int, axis: int = 0) -> npt.NDArray[Any]:
    """Append zeros."""
    shape = list(array.shape)
    shape[axis] = size
    enlarged = np.zeros(shape, array.dtype)
    enlarged[tuple(map(slice, array.shape))] = array
    return enlarged


@kernel
def grow_nodes(
    columns: FloatArray,
    levels: Int64Array,
    ranked_row: Int64Array,
    ranked: FloatArray,
    codes: Int64Array,
    averaged: BoolArray,
    table: FloatArray,
    declared: int,
    min_cases: float,
    correct_cuts: bool,
    binary: bool,
    column: Int64Array,
    threshold: FloatArray,
    first: Int64Array,
    branches: Int64Array,
    counts: FloatArray,
    row: Int32Array,
    weight: FloatArray,
    branch: Int32Array,
    fresh: Int32Array,
    order: Int32Array,
    held: Int32Array,
    stack: Int64Array,
    scores: FloatArray,
    bags: FloatArray,
    sides: FloatArray,
    share: FloatArray,
    edges: Int64Array,
    next_index: Int64Array,
    state: Int64Array,
) -> bool:
    """Split the nodes on the stack until none is left.

    If an array is too small, store the required sizes in `state` and return False.

    A case is a row or a weighted copy of a row. If the value that a split tests is missing, each branch receives a copy. Each
    case has a `row`, a `weight`, a `branch` in the current split, and the index of its first copy, `fresh`. An entry of the
    stack contains a node, the segment of its cases in each order, and the number of cases in use. `state` contains the depth of
    the stack, the number of nodes, and the required numbers of nodes, cases and ordered cases.
    """
    n, d, classes = codes.size, levels.size, counts.shape[1]
    depth, used = state[0], state[1]
    while depth > 0:
        node, start, end, top = stack[depth - 1, 0], stack[depth - 1, 1], stack[depth - 1, 2], stack[depth - 1, 3]
        if column[node] < 0:  # otherwise, the split was chosen before the arrays were enlarged
            unit = table.size > 0  # whether each case is a whole row with a weight of 1
            for c in range(classes):
                counts[node, c] = 0.0
            for i in range(start, end):
                case = order[0, i]
                unit = unit and case < n
                counts[node, codes[row[case]]] += weight[case]
            node_counts = counts[node]
            total = sum_weights(node_counts)
            if 2 * min_cases - total > SMALL or abs(total - node_counts[find_majority(node_counts)]) < SMALL:
                depth -= 1
                continue
            node_table = table if unit else table[:0]
            average, n_averaged = 0.0, 0
            for j in range(d):
                k = levels[j]
                gain, ratio, cut = math.nan, 0.0, math.nan
                if k == 0:
                    gain, ratio, cut = find_cut(
                        columns[j],
                        codes,
                        row,
                        weight,
                        order[1 + ranked_row[j], start:end],
                        node_counts,
                        sides,
                        declared,
                        min_cases,
                        correct_cuts,
                        node_table,
                    )
                elif k > 1:
                    for value in range(k):
                        for c in range(classes):
                            bags[value, c] = 0.0
                    for i in range(start, end):
                        case_row = row[order[0, i]]
                        code = columns[j, case_row]
                        if not math.isnan(code):
                            bags[int(code), codes[case_row]] += weight[order[0, i]]
                    if binary:
                        for value in range(k):  # find the best split into one value and all others
                            if min_cases - sum_weights(bags[value]) >= SMALL:
                                continue
                            for c in range(classes):
                                of_class = 0.0
                                for other in range(k):
                                    of_class += bags[other, c]
                                sides[0, c], sides[1, c] = bags[value, c], of_class - bags[value, c]
                            value_gain, value_ratio = evaluate_values(sides, 2, total, min_cases, node_table)
                            if math.isnan(value_gain):
                                continue
                            if math.isnan(gain):
                                gain, cut = 0.0, 0.0
                            if value == 0 or value_ratio - ratio > SMALL:
                                gain, ratio, cut = value_gain, value_ratio, float(value)
                    else:
                        gain, ratio = evaluate_values(bags, k, total, min_cases, node_table)
                scores[0, j], scores[1, j], scores[2, j] = gain, ratio, cut
                if averaged[j] and not math.isnan(gain):
                    average += gain
                    n_averaged += 1
            # Choose the best gain ratio among the columns with at least average gain.
            average = average / n_averaged if n_averaged > 0 else math.nan
            best, most = -1, 0.0
            for j in range(d):
                if scores[0, j] >= average - _BELOW_AVERAGE and scores[1, j] - most > SMALL:
                    best, most = j, scores[1, j]
            if best < 0:
                depth -= 1
                continue
            column[node], threshold[node] = best, scores[2, best]
            if levels[best] == 0:
                threshold[node] = find_observed_threshold(columns[best], ranked[ranked_row[best]], scores[2, best])
        # Find the branch of each case and the limits of the segment of each branch.
        split, cut = column[node], threshold[node]
        k = 2 if levels[split] == 0 or binary else levels[split]
        for b in range(k):
            share[b], edges[b + 1] = 0.0, 0
        missing, known_weight = 0, 0.0
        for i in range(start, end):
            case = order[0, i]
            b = find_branch(columns[split, row[case]], levels[split] > 0, cut)
            branch[case] = b
            if b >= 0:
                share[b] += weight[case]
                edges[b + 1] += 1
            else:
                missing += 1
        for b in range(k):
            known_weight += share[b]
        new_top = top
        edges[0] = start
        for b in range(k):
            share[b] /= known_weight
            edges[b + 1] += edges[b]
            if share[b] > SMALL:
                edges[b + 1] += missing
                new_top += missing
        if used + k > column.size or new_top > row.size or edges[k] > held.size:
            state[0], state[1], state[2], state[3], state[4] = depth, used, used + k, new_top, edges[k]
            return False
        # Copy the cases with missing values, one copy per branch.
        if missing > 0:
            for i in range(start, end):
                case = order[0, i]
                if branch[case] < 0:
                    fresh[case] = top
                    for b in range(k):
                        if share[b] > SMALL:
                            row[top], weight[top] = row[case], share[b] * weight[case]
                            top += 1
        # Sort the cases of each order by branch without changing the order within a branch. Cases beyond `end` are no longer
        # needed.
        for which in range(order.shape[0]):
            for b in range(k):
                next_index[b] = edges[b]
            for i in range(start, end):
                held[i - start] = order[which, i]
            for i in range(end - start):
                case = held[i]
                b = branch[case]
                if b >= 0:
                    order[which, next_index[b]] = case
                    next_index[b] += 1
                else:
                    copy = fresh[case]
                    for b in range(k):
                        if share[b] > SMALL:
                            order[which, next_index[b]] = copy
                            next_index[b] += 1
                            copy += 1
        first[node], branches[node] = used, k
        depth -= 1
        for b in range(k):
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = used + b, edges[b], edges[b + 1], top
            depth += 1
        used += k
    state[1] = used
    return True


def collapse_tree(nodes: Nodes) -> None:
    """Replace each subtree with a leaf unless the subtree has fewer training errors."""
    collapse_nodes(*nodes, np.zeros(len(nodes.column)))


@kernel
def collapse_nodes(
    column: Int64Array, threshold: FloatArray, first: Int64Array, branches: Int64Array, counts: FloatArray, errors: FloatArray
) -> None:
    """Turn nodes into leaves as described in `collapse_tree`. `errors` is working memory."""
    for node in range(column.size - 1, -1, -1):
        if column[node] < 0:
            errors[node] = count_errors(counts[node])
        for child in range(first[node], first[node] + branches[node]):
            errors[node] += errors[child]
    for node in range(column.size):
        if column[node] >= 0 and errors[node] >= count_errors(counts[node]) - _NO_FEWER_ERRORS:
            column[node], threshold[node], first[node], branches[node] = -1, math.nan, 0, 0


def prune_tree(nodes: Nodes, rows: TreeRows, bound: ErrorBound, raising: bool) -> None:
    """Prune the tree from the leaves up: replace nodes with leaves or with their largest branch.

    A node is replaced unless the replacement increases the expected errors by more than 0.1.
    """
    n, size, widest = rows.weight.size if raising else 0, len(nodes.column), max(2, int(rows.levels.max()))
    row, weight = np.arange(n, dtype=np.int32), rows.weight[:n].copy()
    stack = np.empty((2 * size + 2, 5), np.int64)
    stack[0] = 0, 0, n, n, _ENTER
    held = np.empty(n, np.int32), np.empty(n), np.empty(n, np.int64)
    expected, branch_errors, case_counts, share = np.empty(size), np.zeros(1), np.empty(rows.classes), np.empty(widest)
    edges, next_index, depth = np.empty(widest + 1, np.int64), np.empty(widest, np.int64), np.ones(1, np.int64)
    data: tuple[Any, ...] = (rows.columns, rows.levels, rows.codes, *bound, raising, *nodes)
    work: tuple[Any, ...] = (*held, expected, branch_errors, case_counts, share, edges, next_index, stack, depth)
    space: tuple[Any, ...] = (row, weight)
    while needed := prune_nodes(*data, *space, *work):
        space = tuple(_enlarge(array, 2 * needed) for array in space)


# Steps of pruning a node. Enter: assign its cases to branches. Leave: prune it after its children. Choose: decide between tree,
# leaf and largest branch. Estimate: estimate the errors of a branch with all cases of its parent. Recount: count these cases
# after the branch has replaced its parent.
_ENTER, _LEAVE, _CHOOSE, _ESTIMATE, _RECOUNT = range(5)


@kernel
def prune_nodes(
    columns: FloatArray,
    levels: Int64Array,
    codes: Int64Array,
    confidence: float,
    z: float,
    raising: bool,
    column: Int64Array,
    threshold: FloatArray,
    first: Int64Array,
    branches: Int64Array,
    counts: FloatArray,
    row: Int32Array,
    weight: FloatArray,
    held_row: Int32Array,
    held_weight: FloatArray,
    branch: Int64Array,
    expected: FloatArray,
    branch_errors: FloatArray,
    case_counts: FloatArray,
    share: FloatArray,
    edges: Int64Array,
    next_index: Int64Array,
    stack: Int64Array,
    stack_depth: Int64Array,
) -> int:
    """Run the pruning steps on the stack.

    Return the required number of cases if there is no space for more cases, and 0 otherwise.

    An entry of the stack contains a node, the segment of its cases, the end of all segments in use, and the next step. The
    segments are parts of `row` and `weight`.
    """
    depth = stack_depth[0]
    while depth > 0:
        depth -= 1
        node, start, end, top, step = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3], stack[depth, 4]
        leaf, k = column[node] < 0, branches[node]
        if step == _RECOUNT or (step == _ESTIMATE and leaf):
            for c in range(case_counts.size):
                case_counts[c] = 0.0
            for i in range(start, end):
                case_counts[codes[row[i]]] += weight[i]
            if step == _RECOUNT:
                for c in range(case_counts.size):
                    counts[node, c] = case_counts[c]
            else:
                branch_errors[0] += estimate_errors(case_counts, confidence, z)
        elif leaf:
            expected[node] = estimate_errors(counts[node], confidence, z)
        elif _LEAVE <= step <= _CHOOSE:
            as_tree, largest, most = 0.0, first[node], 0.0  # if branches are equally large, the last one
            for child in range(first[node], first[node] + k):
                as_tree += expected[child]
                size = sum_weights(counts[child])
                if most - size < SMALL:
                    largest, most = child, size
            if step == _LEAVE and raising and column[largest] >= 0:
                branch_errors[0] = 0.0
                stack[depth, 4] = _CHOOSE
                depth += 1
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = largest, start, end, top
                stack[depth, 4] = _ESTIMATE
                depth += 1
                continue
            as_leaf = estimate_errors(counts[node], confidence, z)
            as_branch = branch_errors[0] if step == _CHOOSE else as_leaf if raising else math.inf
            expected[node] = as_tree
            if as_leaf - (as_tree + _GRACE) < SMALL and as_leaf - (as_branch + _GRACE) < SMALL:
                column[node], threshold[node], first[node], branches[node] = -1, math.nan, 0, 0
                expected[node] = as_leaf
            elif as_branch - (as_tree + _GRACE) < SMALL:
                column[node], threshold[node] = column[largest], threshold[largest]
                first[node], branches[node] = first[largest], branches[largest]
                stack[depth, 4] = _ENTER
                depth += 1
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = node, start, end, top
                stack[depth, 4] = _RECOUNT
                depth += 1
            continue
        if leaf or (step == _ESTIMATE and end == start):
            continue
        # Sort the cases of the node by branch. If values are missing, write weighted copies after `top`; otherwise, sort in
        # place.
        split, missing, known_weight = column[node], 0, 0.0
        for b in range(k):
            share[b], edges[b + 1] = 0.0, 0
        for i in range(start, end):
            b = find_branch(columns[split, row[i]], levels[split] > 0, threshold[node])
            branch[i - start] = b
            if b < 0:
                missing += 1
            else:
                share[b] += weight[i]
                edges[b + 1] += 1
        for b in range(k):
            known_weight += share[b]
        edges[0] = start if missing == 0 else top
        for b in range(k):
            share[b] = share[b] / known_weight if known_weight > SMALL else 1 / k
            edges[b + 1] += edges[b] + (missing if share[b] > SMALL else 0)
            next_index[b] = edges[b]
        if missing > 0:
            top = edges[k]
            if top > row.size:
                stack_depth[0] = depth + 1
                return int(top)
        for i in range(start, end):
            held_row[i - start], held_weight[i - start] = row[i], weight[i]
        for i in range(end - start):
            b = branch[i]
            if b >= 0:
                row[next_index[b]], weight[next_index[b]] = held_row[i], held_weight[i]
                next_index[b] += 1
            else:
                for b in range(k):
                    if share[b] > SMALL:
                        row[next_index[b]], weight[next_index[b]] = held_row[i], share[b] * held_weight[i]
                        next_index[b] += 1
        if step == _ENTER:
            stack[depth, 4] = _LEAVE
            depth += 1
        for b in range(k):
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = first[node] + b, edges[b], edges[b + 1], top
            stack[depth, 4] = step
            depth += 1
    return 0


def drop_unreachable(nodes: Nodes) -> Nodes:
    """Keep only the reachable nodes, in breadth-first order."""
    old, first = np.zeros(len(nodes.column), np.int64), np.zeros(len(nodes.column), np.int64)
    used = find_reachable(nodes.first, nodes.branches, old, first)
    old = old[:used]
    return Nodes(nodes.column[old], nodes.threshold[old], first[:used], nodes.branches[old], nodes.counts[old])


@kernel
def find_reachable(first: Int64Array, branches: Int64Array, old: Int64Array, new_first: Int64Array) -> int:
    """Fill in the old index and the first child of each new node, and count the new nodes."""
    used, node = 1, 0
    while node < used:
        k = branches[old[node]]
        if k > 0:
            new_first[node] = used
        for b in range(k):
            old[used] = first[old[node]] + b
            used += 1
        node += 1
    return used


def compute_node_probabilities(nodes: Nodes, laplace: bool) -> FloatArray:
    """Compute the class frequencies of each node, optionally with Laplace's correction.

    An empty node has the frequencies of its nearest ancestor with cases.

    The nodes must be in the order that `drop_unreachable` returns.
    """
    counts = nodes.counts
    empty = np.flatnonzero(sum_rows(counts)[1:] <= SMALL)
    if len(empty):
        source = np.arange(len(counts))  # the nearest ancestor with cases
        source[1 + empty] = np.repeat(source, nodes.branches)[empty]
        while not np.array_equal(ancestor := source[source], source):
            source = ancestor
        counts = counts[source]
    if laplace:
        counts = counts + 1.0
    return np.asarray(counts / sum_rows(counts)[:, None])


def sum_rows(counts: FloatArray) -> FloatArray:
    """Sum each row from left to right, like `sum_weights`."""
    return counts.cumsum(axis=1)[:, -1].copy()  # contiguous, because the kernel is compiled for contiguous arrays


def predict_tree(
    nodes: Nodes, nominal: BoolArray, columns: FloatArray, probabilities: FloatArray, start: int, stop: int
) -> FloatArray:
    """Compute the class probabilities of rows `start` to `stop` - 1.

    `columns` has shape (d, n). `probabilities` contains the class probabilities of the nodes.
    """
    result, size = np.zeros((stop - start, probabilities.shape[1])), len(nodes.column)
    pending, weight = np.empty(size, np.int64), np.empty(size)
    predict_rows(*nodes[:4], sum_rows(nodes.counts), nominal, columns, probabilities, start, pending, weight, result)
    return result


@kernel
def predict_rows(
    column: Int64Array,
    threshold: FloatArray,
    first: Int64Array,
    branches: Int64Array,
    total: FloatArray,
    nominal: BoolArray,
    columns: FloatArray,
    probabilities: FloatArray,
    start: int,
    pending: Int64Array,
    weight: FloatArray,
    result: FloatArray,
) -> None:
    """Add up the weighted probabilities of the leaves that each row reaches.

    Together, `pending` and `weight` form a stack of nodes with their weights.
    """
    for i in range(result.shape[0]):
        pending[0], weight[0], depth = 0, 1.0, 1
        while depth > 0:
            depth -= 1
            node, share = pending[depth], weight[depth]
            while column[node] >= 0:
                b = find_branch(columns[column[node], start + i], nominal[column[node]], threshold[node])
                if b < 0:
                    break
                node = first[node] + b
            if column[node] < 0:
                for c in range(result.shape[1]):
                    result[i, c] += share * probabilities[node, c]
                continue
            known_weight = 0.0
            for child in range(first[node], first[node] + branches[node]):
                known_weight += total[child]
            for child in range(first[node], first[node] + branches[node]):
                if total[child] > SMALL:
                    pending[depth], weight[depth] = child, share * total[child] / known_weight
                    depth += 1


@helper
def count_errors(counts: FloatArray) -> float:
    """Return the total weight of all classes except the majority class."""
    return float(sum_weights(counts) - counts[find_majority(counts)])


@helper
def estimate_errors(counts: FloatArray, confidence: float, z: float) -> float:
    """Estimate the errors of a leaf with these class counts on an equal number of new cases."""
    total = sum_weights(counts)
    if abs(total) < SMALL:
        return 0.0
    errors = count_errors(counts)
    return errors + estimate_extra_errors(total, errors, confidence, z)


@helper
def estimate_extra_errors(n: float, errors: float, confidence: float, z: float) -> float:
    """Compute n times the upper confidence limit of the error rate, minus the number of errors.

    `n` is the number of cases, and `z` is the normal quantile of `confidence`. If `errors` lies between 0 and 1, the result is
    interpolated.
    """
    observed = max(errors, 1.0)
    if observed + 0.5 >= n:
        extra = max(n - observed, 0.0)
    else:
        rate = (observed + 0.5) / n
        root = math.sqrt(rate / n - rate * rate / n + z * z / (4 * n * n))
        extra = (rate + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - observed
    if errors >= 1:
        return extra
    base = n * (1 - math.pow(confidence, 1 / n))
    return base if errors == 0 else base + errors * (extra - base)
