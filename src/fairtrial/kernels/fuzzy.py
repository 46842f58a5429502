"""Matching degrees between rows and fuzzy rules with triangular membership functions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.kernels.compiling import kernel

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@kernel
def compute_membership(position: float, label: int) -> float:  # pragma: no cover - compiled
    """Compute the triangular membership function of a label at a position.

    The unit of positions is the distance between adjacent labels. A missing position (NaN) fully belongs to every label.
    """
    if np.isnan(position):
        return 1.0
    return max(0.0, 1.0 - abs(position - label))


@kernel
def sum_by_class(rules: Codes, positions: Floats, codes: npt.NDArray[np.intp], weight: Floats, k: int) -> Floats:
    """Sum the weighted matching degrees of each rule over the rows of each class."""
    sums = np.zeros((len(rules), k))
    for rule in range(len(rules)):
        for row in range(len(positions)):
            degree = _compute_degree(rules[rule], positions[row])
            if degree > 0:
                sums[rule, codes[row]] += degree * weight[row]
    return sums


@kernel
def find_best_by_class(rules: Codes, consequents: npt.NDArray[np.intp], weights: Floats, positions: Floats, k: int) -> Floats:
    """Find the largest product of matching degree and rule weight for each row and class."""
    best = np.zeros((len(positions), k))
    for row in range(len(positions)):
        for rule in range(len(rules)):
            degree = _compute_degree(rules[rule], positions[row]) * weights[rule]
            best[row, consequents[rule]] = max(best[row, consequents[rule]], degree)
    return best


@kernel
def _compute_degree(rule: Codes, positions: Floats) -> float:
    """Compute the product of the memberships over the columns.

    A rule label of -1 means that there is no condition on this column.
    """
    degree = 1.0
    for j in range(len(rule)):
        if rule[j] >= 0:
            degree *= compute_membership(positions[j], rule[j])
            if degree == 0.0:
                return 0.0
    return degree
