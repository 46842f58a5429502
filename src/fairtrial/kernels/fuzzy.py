"""Fuzzy rules over labels of triangular sets: how far rows match rules."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.kernels.compiling import kernel

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@kernel
def membership(place: float, label: int) -> float:  # pragma: no cover - compiled
    """Of a place counted in label distances (NaN: unknown, belongs to all) in the triangle around a label."""
    if np.isnan(place):
        return 1.0
    return max(0.0, 1.0 - abs(place - label))


@kernel
def class_sums(rules: Codes, places: Floats, codes: npt.NDArray[np.intp], weight: Floats, k: int) -> Floats:
    """For each rule the summed matching degree of the rows of each class."""
    sums = np.zeros((len(rules), k))
    for rule in range(len(rules)):
        for row in range(len(places)):
            degree = _degree(rules[rule], places[row])
            if degree > 0:
                sums[rule, codes[row]] += degree * weight[row]
    return sums


@kernel
def best_by_class(rules: Codes, consequents: npt.NDArray[np.intp], weights: Floats, places: Floats, k: int) -> Floats:
    """For each row the largest matching degree times rule weight among the rules of each class."""
    best = np.zeros((len(places), k))
    for row in range(len(places)):
        for rule in range(len(rules)):
            degree = _degree(rules[rule], places[row]) * weights[rule]
            best[row, consequents[rule]] = max(best[row, consequents[rule]], degree)
    return best


@kernel
def _degree(rule: Codes, place: Floats) -> float:
    """The product of memberships; a rule label of -1 asks nothing."""
    degree = 1.0
    for j in range(len(rule)):
        if rule[j] >= 0:
            degree *= membership(place[j], rule[j])
            if degree == 0.0:
                return 0.0
    return degree
