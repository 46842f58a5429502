"""Growing a C4.5 tree on columns that are sorted once: a split partitions each column's order and keeps it sorted.

A case is a row with a weight. A row whose value is missing goes down all branches of a split, as a new case with a share of the
weight in each; all others keep their case.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.tree_numbers import SMALL, majority, total_of
from fairtrial.kernels.tree_split import Cases, Rows, Rules, best_column, branch_of, column_split, observed_threshold

Places = npt.NDArray[np.int32]


class Nodes(NamedTuple):
    """A tree as arrays. The children of a node are neighbours: first, first + 1, ..., one for each branch."""

    column: npt.NDArray[np.int64]  # -1 at a leaf
    threshold: FloatArray  # of a number, or the code of the value that is split off; NaN for a branch for each value
    first: npt.NDArray[np.int64]
    branches: npt.NDArray[np.int64]
    counts: FloatArray  # weight by class


@kernel
def longer(array: Any, size: int) -> Any:
    """The array with room for at least `size` rows."""
    if array.shape[0] >= size:
        return array
    room = np.zeros((max(size, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    room[: array.shape[0]] = array
    return room


@kernel
def grow(rows: Rows, rules: Rules, order: npt.NDArray[np.int32]) -> Nodes:
    """The whole tree. `order[0]` lists all rows, `order[1 + place]` a numeric column's ascending, missing last."""
    n, classes = rows.weight.size, rows.classes
    nodes = Nodes(np.full(16, -1), np.full(16, np.nan), np.zeros(16, np.int64), np.zeros(16, np.int64), np.zeros((16, classes)))
    cases = Cases(np.arange(n).astype(np.int32), rows.weight.copy())
    branch, fresh = np.empty(n, np.int32), np.empty(n, np.int32)
    stack = np.zeros((16, 4), np.int64)  # node, its part of each order, cases in use
    stack[0, 2], stack[0, 3] = n, n
    depth, used = 1, 1
    while depth > 0:
        depth -= 1
        node, start, end, top = stack[depth]
        unit = count_classes(rows, cases, order[0, start:end], nodes.counts[node])
        column, cut = _choose(rows, cases, rules, order[:, start:end], nodes.counts[node], unit)
        if column < 0:
            continue
        k = 2 if rows.levels[column] == 0 or rules.binary else rows.levels[column]
        nodes, used = _open(nodes, node, used, column, k, cut)
        branch, fresh = longer(branch, top), longer(fresh, top)
        share, missing = _shares(rows, cases, order[0, start:end], column, cut, k, branch)
        cases = Cases(longer(cases.row, top + k * missing), longer(cases.weight, top + k * missing))
        top = _new_cases(cases, order[0, start:end], branch, fresh, share, top)
        order, edges = _partition(order, start, end, branch, fresh, share)
        stack = longer(stack, depth + k)
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
def count_classes(rows: Rows, cases: Cases, listed: Places, counts: FloatArray) -> bool:
    """Fill in the weight by class; True if each case is a whole row and all rows weigh one."""
    n, unit = rows.weight.size, rows.table.size > 0
    counts[:] = 0
    for i in range(listed.size):
        case = listed[i]
        unit = unit and case < n
        counts[rows.codes[cases.row[case]]] += cases.weight[case]
    return unit


@kernel
def _choose(
    rows: Rows, cases: Cases, rules: Rules, order: npt.NDArray[np.int32], counts: FloatArray, unit: bool
) -> tuple[int, float]:
    """The column to split on and where; -1 for a leaf."""
    d, total = rows.levels.size, total_of(counts)
    if 2 * rules.min_cases - total > SMALL or abs(total - counts[majority(counts)]) < SMALL:
        return -1, np.nan
    table = rows.table if unit else rows.table[:0]
    valid, gain, ratio, cut = np.zeros(d, np.bool_), np.zeros(d), np.zeros(d), np.zeros(d)
    for j in range(d):
        listed = order[0] if rows.levels[j] > 0 else order[1 + rows.place[j]]
        valid[j], gain[j], ratio[j], cut[j] = column_split(rows, cases, rules, j, listed, counts, table)
    column = best_column(rows, valid, gain, ratio)
    if column < 0:
        return -1, np.nan
    return column, observed_threshold(rows, column, cut[column]) if rows.levels[column] == 0 else cut[column]


@kernel
def _open(nodes: Nodes, node: int, used: int, column: int, k: int, threshold: float) -> tuple[Nodes, int]:
    """Make the node an inner one, with room for its children."""
    nodes = Nodes(
        longer(nodes.column, used + k),
        longer(nodes.threshold, used + k),
        longer(nodes.first, used + k),
        longer(nodes.branches, used + k),
        longer(nodes.counts, used + k),
    )
    nodes.column[used : used + k] = -1
    nodes.threshold[used : used + k] = np.nan
    nodes.column[node], nodes.threshold[node], nodes.first[node], nodes.branches[node] = column, threshold, used, k
    return nodes, used + k


@kernel
def _shares(
    rows: Rows, cases: Cases, listed: Places, column: int, threshold: float, k: int, branch: npt.NDArray[np.int32]
) -> tuple[FloatArray, int]:
    """The share of the known weight in each branch, and how many cases have no value; fills in the branch of each case."""
    weight, missing = np.zeros(k), 0
    for i in range(listed.size):
        case = listed[i]
        b = branch_of(rows.columns[column, cases.row[case]], rows.levels[column] > 0, threshold)
        branch[case] = b
        if b >= 0:
            weight[b] += cases.weight[case]
        else:
            missing += 1
    return weight / weight.sum(), missing


@kernel
def _new_cases(
    cases: Cases, listed: Places, branch: npt.NDArray[np.int32], fresh: npt.NDArray[np.int32], share: FloatArray, top: int
) -> int:
    """Append a case for each branch that a case without a value goes down; `fresh` tells the first of them."""
    for i in range(listed.size):
        case = listed[i]
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
    """Sort the cases of a node into its branches, each order kept; what lies beyond `end` is no longer needed."""
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
        room = np.empty((order.shape[0], max(edges[k], 2 * order.shape[1])), np.int32)
        room[:, : order.shape[1]] = order
        order = room
    held, at = np.empty(end - start, np.int32), np.empty(k, np.int64)
    for which in range(order.shape[0]):
        line = order[which]
        held[:] = line[start:end]
        at[:] = edges[:k]
        for i in range(held.size):
            case = held[i]
            b = branch[case]
            if b >= 0:
                line[at[b]] = case
                at[b] += 1
                continue
            new = fresh[case]
            for b in range(k):
                if share[b] > SMALL:
                    line[at[b]] = new
                    at[b] += 1
                    new += 1
    return order, edges
