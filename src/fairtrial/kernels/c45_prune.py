"""Simplify a C4.5 tree (collapse, prune, raise subtrees) and predict class probabilities with it.

In prediction a row without a value goes down all branches, weighted by their proportion of the training weight.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.c45_grow import SMALL, Nodes, TreeRows, ensure_size, find_branch, find_majority, sum_weights
from fairtrial.kernels.compiling import kernel

# How much worse a simpler tree may be expected to do.
_GRACE = 0.1


_NO_FEWER_ERRORS = 1e-3


class ErrorBound(NamedTuple):
    """The confidence of the bound on errors, and its normal deviate."""

    confidence: float
    z: float


class Segments(NamedTuple):
    """Rows with weights; the cases of a node are a stretch of them."""

    row: npt.NDArray[np.int32]
    weight: FloatArray


@kernel
def collapse_tree(nodes: Nodes) -> None:
    """Make a leaf of each node below which the training errors are no fewer than at the node itself."""
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
    """Cut off what is below."""
    nodes.column[node], nodes.threshold[node], nodes.branches[node], nodes.first[node] = -1, math.nan, 0, 0


@kernel
def prune_tree(nodes: Nodes, rows: TreeRows, bound: ErrorBound, raising: bool) -> None:
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
    """Decide on a node whose children are done; True if its largest branch has taken its place and must be pruned anew."""
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
    """The child of most weight, of equal ones the last."""
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
    """Sort a stretch of cases by branch, in place if no value is missing, else as a copy behind `top` with shares of weight.

    Fills in the edges of the branches' stretches and gives the end of all that is in use.
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


@kernel
def compute_node_probabilities(nodes: Nodes, laplace: bool) -> FloatArray:
    """The class frequencies at each node, by Laplace's rule if wanted; a node without cases takes its parent's."""
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
    """A row of class probabilities for each row of `values` (n, d). `probabilities` are those of the nodes."""
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
    """The weight that is not of the majority."""
    return float(sum_weights(counts) - counts[find_majority(counts)])


@kernel
def estimate_errors(counts: FloatArray, confidence: float, z: float) -> float:
    """Errors that a leaf with these class counts is expected to make on as many new cases."""
    total = sum_weights(counts)
    if abs(total) < SMALL:
        return 0.0
    errors = count_errors(counts)
    return errors + estimate_extra_errors(total, errors, confidence, z)


@kernel
def estimate_extra_errors(n: float, errors: float, confidence: float, z: float) -> float:
    """How many errors beyond those seen in `n` cases C4.5 expects: the upper limit of the binomial rate less the rate, times n.

    `z` is the normal deviate of `confidence`. Below one error the limit is interpolated from that of no error.
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
