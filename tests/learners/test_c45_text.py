"""Numbers as J48 prints them."""

import numpy as np
import pytest

from fairtrial.learners.c45 import Tree, format_tree


def stump(threshold, *counts, categories=None, classes=("no", "yes")):
    table = np.array(counts, dtype=float)
    table = np.vstack([table.sum(axis=0), table])
    none = np.zeros(len(counts), dtype=int)
    return Tree(
        np.array([0, *(none - 1)]),
        np.array([threshold, *(none + np.nan)]),
        np.array([1, *none]),
        np.array([len(counts), *none]),
        table,
        ("age",),
        (categories,),
        np.array(classes),
    )


@pytest.mark.parametrize(
    ("threshold", "printed"),
    [(3.0, "3"), (0.1234567, "0.123457"), (-0.25, "-0.25"), (-1e-9, "0"), (120.0, "120"), (1e12, "1000000000000")],
)
def test_thresholds(threshold, printed):
    lines = format_tree(stump(threshold, [2, 0], [0, 3.125])).splitlines()
    assert lines[:2] == [f"age <= {printed}: no (2.0)", f"age > {printed}: yes (3.13)"]


def test_a_branch_for_each_value_and_an_empty_leaf():
    text = format_tree(stump(np.nan, [2, 1], [0, 0], categories=("young", "old")), with_size=False)
    assert text == "age = young: no (3.0/1.0)\nage = old: no (0.0)"


def test_one_value_against_the_others():
    text = format_tree(stump(1.0, [2, 0], [0, 3], categories=("young", "old", "dead")), with_size=False)
    assert text == "age = old: no (2.0)\nage != old: yes (3.0)"


def test_leaves_and_size_come_last():
    assert format_tree(stump(1.0, [2, 0], [0, 3])).endswith("\n\nNumber of Leaves  : \t2\n\nSize of the tree : \t3\n")
