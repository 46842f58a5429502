"""Class probabilities by a tree: a row without a value goes down all branches, by their share of the training weight."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.tree_grow import Nodes, longer
from fairtrial.kernels.tree_numbers import SMALL, total_of
from fairtrial.kernels.tree_split import branch_of


@kernel
def leaf_probabilities(nodes: Nodes, laplace: bool) -> FloatArray:
    """The class frequencies at each node, by Laplace's rule if wanted; a node without cases takes its parent's."""
    counts = nodes.counts.copy()
    for node in range(nodes.column.size):
        for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
            if total_of(nodes.counts[child]) <= SMALL:
                counts[child] = counts[node]
    if laplace:
        counts += 1.0
    for node in range(nodes.column.size):
        counts[node] /= total_of(counts[node])
    return counts


@kernel
def predict(nodes: Nodes, nominal: npt.NDArray[np.bool_], values: FloatArray, probabilities: FloatArray) -> FloatArray:
    """A row of class probabilities for each row of `values` (n, d). `probabilities` are those of the nodes."""
    n, classes = values.shape[0], probabilities.shape[1]
    found = np.zeros((n, classes))
    total = np.empty(nodes.column.size)
    for node in range(nodes.column.size):
        total[node] = total_of(nodes.counts[node])
    at, weight = np.zeros(16, np.int64), np.ones(16)
    for i in range(n):
        at[0], weight[0], depth = 0, 1.0, 1
        while depth > 0:
            depth -= 1
            node, share = at[depth], weight[depth]
            while nodes.column[node] >= 0:
                b = branch_of(values[i, nodes.column[node]], nominal[nodes.column[node]], nodes.threshold[node])
                if b < 0:
                    break
                node = nodes.first[node] + b
            if nodes.column[node] < 0:
                for c in range(classes):
                    found[i, c] += share * probabilities[node, c]
                continue
            first, k = nodes.first[node], nodes.branches[node]
            at, weight = longer(at, depth + k), longer(weight, depth + k)
            known = total_of(total[first : first + k])
            for b in range(k):
                if total[first + b] > SMALL:
                    at[depth], weight[depth] = first + b, share * total[first + b] / known
                    depth += 1
    return found
