"""The arrays of a tree and their frame."""

import numpy as np

from tests.learners.test_c45_text import stump


def test_the_frame_has_one_row_per_node():
    frame = stump(0.5, [2, 1], [0, 3]).frame()
    assert frame["parent"].tolist() == [-1, 0, 0]
    assert frame["sign"].tolist() == ["", "<=", ">"]
    assert frame["value"].tolist()[1:] == [0.5, 0.5]
    assert frame["splits_on"].tolist() == ["age", "", ""]
    assert frame["class"].tolist() == ["yes", "no", "yes"]
    assert frame["cases"].tolist() == [6, 3, 3]
    assert frame["errors"].tolist() == [2, 1, 0]


def test_sizes_and_relations():
    tree = stump(np.nan, [2, 1], [0, 0], [0, 3], categories=("a", "b", "c"))
    assert (tree.size, tree.n_leaves) == (4, 3)
    assert list(tree.get_children(0)) == [1, 2, 3]
    assert tree.find_parents().tolist() == [-1, 0, 0, 0]
    assert tree.get_label(2, 0) == 1  # without cases: the parent's
    assert tree.nodes.branches.tolist() == [3, 0, 0, 0]
