"""Simplifying a grown C4.5 tree: collapsing, and pruning by expected errors with subtree raising."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.tree_grow import Nodes, longer
from fairtrial.kernels.tree_numbers import SMALL, expected_errors, total_of, wrong
from fairtrial.kernels.tree_split import Rows, branch_of

# How much worse a simpler tree may be expected to do.
_GRACE = 0.1
_NO_FEWER_ERRORS = 1e-3


class Bound(NamedTuple):
    """The confidence of the bound on errors, and its normal deviate."""

    confidence: float
    z: float


class Segments(NamedTuple):
    """Rows with weights; the cases of a node are a stretch of them."""

    row: npt.NDArray[np.int32]
    weight: FloatArray


@kernel
def collapse(nodes: Nodes) -> None:
    """Make a leaf of each node below which the training errors are no fewer than at the node itself."""
    errors = np.zeros(nodes.column.size)
    for node in range(nodes.column.size - 1, -1, -1):
        if nodes.column[node] < 0:
            errors[node] = wrong(nodes.counts[node])
        for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
            errors[node] += errors[child]
    for node in range(nodes.column.size):
        if nodes.column[node] >= 0 and errors[node] >= wrong(nodes.counts[node]) - _NO_FEWER_ERRORS:
            make_leaf(nodes, node)


@kernel
def make_leaf(nodes: Nodes, node: int) -> None:
    """Cut off what is below."""
    nodes.column[node], nodes.threshold[node], nodes.branches[node], nodes.first[node] = -1, math.nan, 0, 0


@kernel
def prune(nodes: Nodes, rows: Rows, bound: Bound, raising: bool) -> None:
    """From the leaves up, replace a node by a leaf, or by its largest branch, where no more errors are expected."""
    n = rows.weight.size if raising else 0
    cases = Segments(np.arange(n).astype(np.int32), rows.weight[:n].copy())
    expected = np.zeros(nodes.column.size)
    stack = np.zeros(
        (16, 5), np.int64
    )  # node, stretch of its cases, end of all stretches in use, whether its children are done
    stack[0, 2], stack[0, 3] = n, n
    depth = 1
    while depth > 0:
        depth -= 1
        node, start, end, top, done = stack[depth]
        if nodes.column[node] < 0:
            expected[node] = expected_errors(nodes.counts[node], bound.confidence, bound.z)
        elif done == 0:
            stack = longer(stack, depth + 1 + nodes.branches[node])
            stack[depth, 4] = 1
            edges = np.zeros(nodes.branches[node] + 1, np.int64)
            if raising:
                cases, top = _divide(nodes, rows, cases, node, start, end, top, edges)
            for b in range(nodes.branches[node]):
                depth += 1
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = nodes.first[node] + b, edges[b], edges[b + 1]
                stack[depth, 3], stack[depth, 4] = top, 0
            depth += 1
        else:
            cases, raised = _simplify(nodes, rows, cases, bound, raising, expected, node, start, end, top)
            if raised:
                stack[depth, 4] = 0
                depth += 1


@kernel
def _simplify(
    nodes: Nodes,
    rows: Rows,
    cases: Segments,
    bound: Bound,
    raising: bool,
    expected: FloatArray,
    node: int,
    start: int,
    end: int,
    top: int,
) -> tuple[Segments, bool]:
    """Decide on a node whose children are done; True if its largest branch has taken its place and must be pruned anew."""
    first = nodes.first[node]
    as_tree = total_of(expected[first : first + nodes.branches[node]])
    as_leaf = expected_errors(nodes.counts[node], bound.confidence, bound.z)
    largest, as_branch = _largest(nodes, node), math.inf
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
def _largest(nodes: Nodes, node: int) -> int:
    """The child of most weight, of equal ones the last."""
    largest, most = nodes.first[node], 0.0
    for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
        total = total_of(nodes.counts[child])
        if most - total < SMALL:
            largest, most = child, total
    return int(largest)


@kernel
def _send_down(
    nodes: Nodes, rows: Rows, cases: Segments, bound: Bound, root: int, start: int, end: int, top: int, keep: bool
) -> tuple[Segments, float]:
    """The errors expected of a subtree that these cases are sent down; `keep` writes their counts into its nodes."""
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
            errors += expected_errors(counts, bound.confidence, bound.z)
        elif keep or end > start:
            edges = np.zeros(nodes.branches[node] + 1, np.int64)
            cases, top = _divide(nodes, rows, cases, node, start, end, top, edges)
            stack = longer(stack, depth + nodes.branches[node])
            for b in range(nodes.branches[node]):
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = nodes.first[node] + b, edges[b], edges[b + 1]
                stack[depth, 3] = top
                depth += 1
    return cases, errors


@kernel
def _divide(
    nodes: Nodes, rows: Rows, cases: Segments, node: int, start: int, end: int, top: int, edges: npt.NDArray[np.int64]
) -> tuple[Segments, int]:
    """Sort a stretch of cases by branch, in place if no value is missing, else as a copy behind `top` with shares of weight.

    Fills in the edges of the branches' stretches and gives the end of all that is in use.
    """
    k, column, m = nodes.branches[node], nodes.column[node], end - start
    branch, size, weight, missing = np.empty(m, np.int64), np.zeros(k, np.int64), np.zeros(k), 0
    for i in range(m):
        row = cases.row[start + i]
        b = branch_of(rows.columns[column, row], rows.levels[column] > 0, nodes.threshold[node])
        branch[i] = b
        if b < 0:
            missing += 1
        else:
            size[b] += 1
            weight[b] += cases.weight[start + i]
    known = total_of(weight)
    share = weight / known if known > SMALL else np.full(k, 1 / k)
    edges[0] = start if missing == 0 else top
    for b in range(k):
        edges[b + 1] = edges[b] + size[b] + (missing if share[b] > SMALL else 0)
    if missing > 0:
        cases = Segments(longer(cases.row, edges[k]), longer(cases.weight, edges[k]))
        top = edges[k]
    _write(cases, start, end, branch, share, edges)
    return cases, top


@kernel
def _write(
    cases: Segments, start: int, end: int, branch: npt.NDArray[np.int64], share: FloatArray, edges: npt.NDArray[np.int64]
) -> None:
    held_row, held_weight, at = cases.row[start:end].copy(), cases.weight[start:end].copy(), edges[:-1].copy()
    for i in range(held_row.size):
        b = branch[i]
        if b >= 0:
            cases.row[at[b]], cases.weight[at[b]] = held_row[i], held_weight[i]
            at[b] += 1
            continue
        for b in range(share.size):
            if share[b] > SMALL:
                cases.row[at[b]], cases.weight[at[b]] = held_row[i], share[b] * held_weight[i]
                at[b] += 1


@kernel
def compact(nodes: Nodes) -> Nodes:
    """Only the nodes that can be reached, children after their parents."""
    old = np.zeros(nodes.column.size, np.int64)  # the old place of each new node
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
