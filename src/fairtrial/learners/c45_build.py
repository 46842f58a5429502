"""From typed columns to a C4.5 tree: sort the columns, grow, collapse, prune."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial.errors import InputError
from fairtrial.kernels.sorting import order
from fairtrial.kernels.tree_grow import grow
from fairtrial.kernels.tree_numbers import x_log_x_table
from fairtrial.kernels.tree_prune import Bound, collapse, compact, prune
from fairtrial.kernels.tree_split import Rows, Rules
from fairtrial.learners.c45_tree import Tree
from fairtrial.learners.learner import Training


@dataclass(frozen=True)
class Plan:
    """How a tree is built, checked."""

    rules: Rules
    bound: Bound
    collapse: bool
    prune: bool
    raising: bool


def build_tree(training: Training, plan: Plan, classes: npt.NDArray[np.intp], declared: int) -> Tree:
    """The tree of typed columns. `classes` lists the places of the classes in the order that breaks ties.

    The classes of the tree are these places; `declared` is how many classes were declared.
    """
    rows = _rows(training, np.argsort(classes)[training.codes], len(classes), declared)
    nodes = grow(rows, plan.rules, _orders(rows))
    if plan.collapse:
        collapse(nodes)
    if plan.prune:
        prune(nodes, rows, plan.bound, plan.raising)
    return Tree(*compact(nodes), training.columns.names, training.columns.categories, classes)


def bound_of(confidence: float) -> Bound:
    """The confidence in single precision, as J48 holds it, with its normal deviate."""
    from scipy.special import ndtri

    _check.number("confidence", confidence)
    if not 0 < confidence <= 0.5:
        raise InputError(f"confidence must be above 0 and at most 0.5, got {confidence!r}: the smaller, the more is pruned")
    single = np.float32(confidence)
    return Bound(float(single), float(ndtri(float(np.float32(1) - single))))


def _rows(training: Training, codes: npt.NDArray[np.intp], classes: int, declared: int) -> Rows:
    columns = np.ascontiguousarray(training.values.T) + 0.0  # minus zero becomes zero
    columns[np.isnan(columns)] = np.nan  # sorting by bits wants one NaN, the positive one
    levels = np.array([0 if each is None else len(each) for each in training.columns.categories], dtype=np.int64)
    # A nominal column in which nothing is known has no categories; it can never be split on.
    numeric = training.columns.numeric
    levels = np.where(numeric, 0, np.maximum(levels, 1))
    place = np.where(numeric, np.cumsum(numeric) - 1, 0)
    ranked = np.sort(columns[numeric], axis=1)
    weight = np.require(training.weight, np.float64, ["C", "W"])
    table = x_log_x_table(len(weight)) if (weight == 1).all() else np.zeros(0)
    return Rows(columns, levels, place, ranked, codes.astype(np.int64), weight, classes, declared, table)


def _orders(rows: Rows) -> npt.NDArray[np.int32]:
    """All rows, then the rows of each numeric column ascending."""
    numeric = np.flatnonzero(rows.levels == 0)
    found = np.empty((1 + len(numeric), rows.weight.size), dtype=np.int32)
    found[0] = np.arange(rows.weight.size)
    for line, j in enumerate(numeric):
        found[1 + line] = order(rows.columns[j])
    return found
