"""Collapsing, pruning and raising equal the reference."""

import numpy as np
import pytest

from fairtrial.kernels.c45 import Nodes, collapse_tree, drop_unreachable
from tests.kernels.test_tree_grow import both
from tests.reference.trees import drawn


def stump(left, right):
    """A root with two leaves."""
    counts = np.array([np.add(left, right), left, right], dtype=float)
    return Nodes(np.array([0, -1, -1]), np.array([0.5, np.nan, np.nan]), np.array([1, 0, 0]), np.array([2, 0, 0]), counts)


@pytest.mark.parametrize("options", [{"prune": False}, {"raising": False}, {}], ids=str)
@pytest.mark.parametrize("seed", range(200, 208))
def test_simplified_trees_equal_the_reference(seed, options):
    kernel, reference = both(*drawn(seed), **options)
    assert kernel == reference


def test_a_split_without_fewer_errors_collapses():
    nodes = stump([5, 1], [4, 2])
    collapse_tree(nodes)
    assert nodes.column[0] == -1


def test_a_split_with_fewer_errors_stays():
    nodes = stump([5, 1], [1, 4])
    collapse_tree(nodes)
    assert nodes.column[0] == 0


def test_compact_drops_what_cannot_be_reached():
    nodes = stump([5, 1], [4, 2])
    collapse_tree(nodes)
    kept = drop_unreachable(nodes)
    assert kept.column.tolist() == [-1]
    assert kept.counts.tolist() == [[9.0, 3.0]]
