"""Probabilities by a tree, by hand."""

import numpy as np
import pytest

from fairtrial.kernels.c45 import Nodes, compute_node_probabilities, predict_tree

# Outlook: three values, the last without cases.
COUNTS = np.array([[6.0, 4.0], [6.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
NODES = Nodes(np.array([0, -1, -1, -1]), np.full(4, np.nan), np.array([1, 0, 0, 0]), np.array([3, 0, 0, 0]), COUNTS)


def test_frequencies_with_and_without_laplace():
    assert compute_node_probabilities(NODES, False).tolist() == [[0.6, 0.4], [1, 0], [0, 1], [0.6, 0.4]]
    smooth = compute_node_probabilities(NODES, True)
    assert smooth[1] == pytest.approx([7 / 8, 1 / 8])
    assert smooth[3] == pytest.approx([7 / 12, 5 / 12])


def test_known_unseen_and_missing_values():
    columns = np.array([[0.0, 1.0, 2.0, np.nan]])
    leaves, expected = compute_node_probabilities(NODES, False), np.array([[1, 0], [0, 1], [0.6, 0.4], [0.6, 0.4]])
    assert predict_tree(NODES, np.array([True]), columns, leaves, 0, 4) == pytest.approx(expected)
    assert predict_tree(NODES, np.array([True]), columns, leaves, 1, 3) == pytest.approx(expected[1:3])


def test_more_branches_than_the_first_stack_holds():
    counts = np.vstack([[[40.0, 0.0]], np.tile([1.0, 0.0], (40, 1))])
    many = Nodes(np.array([0] + [-1] * 40), np.full(41, np.nan), np.array([1] + [0] * 40), np.array([40] + [0] * 40), counts)
    found = predict_tree(many, np.array([True]), np.array([[np.nan]]), compute_node_probabilities(many, False), 0, 1)
    assert found[0] == pytest.approx([1, 0])
