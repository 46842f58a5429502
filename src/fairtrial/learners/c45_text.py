"""A tree as J48 prints it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from fairtrial.kernels.tree_numbers import SMALL
from fairtrial.learners.c45_tree import Tree


def tree_text(tree: Tree, *, with_size: bool = True) -> str:
    """A line for each branch, the leaves with their class, cases and errors; then the number of leaves and of nodes."""
    text = f": {_leaf(tree, 0, -1)}" if tree.size == 1 else "\n".join(_lines(tree))
    if not with_size:
        return text
    return f"{text}\n\nNumber of Leaves  : \t{tree.n_leaves}\n\nSize of the tree : \t{tree.size}\n"


def _lines(tree: Tree) -> Iterator[str]:
    """Branches in order, each followed by what is below it."""
    waiting = [(0, branch, 0) for branch in reversed(range(tree.branches[0]))]
    while waiting:
        node, branch, depth = waiting.pop()
        sign, value = tree.condition(node, branch)
        told = _number(value) if sign in ("<=", ">") else str(value)
        line = f"{'|   ' * depth}{tree.names[tree.column[node]]} {sign} {told}"
        child = int(tree.first_child[node]) + branch
        if tree.column[child] < 0:
            yield f"{line}: {_leaf(tree, child, node)}"
        else:
            yield line
            waiting += [(child, each, depth + 1) for each in reversed(range(tree.branches[child]))]


def _leaf(tree: Tree, node: int, parent: int) -> str:
    errors = tree.errors(node, parent)
    wrong = f"/{_count(errors)}" if errors > SMALL else ""
    return f"{_plain(tree.classes[tree.label(node, parent)])} ({_count(tree.cases(node))}{wrong})"


def _plain(label: Any) -> str:
    return str(label.item() if hasattr(label, "item") else label)


def _count(weight: float) -> str:
    """A weight with at most two decimals and at least one."""
    return str(float(_rounded(weight, 2)))


def _number(value: float) -> str:
    """A threshold with at most six decimals and no trailing zero."""
    text = f"{_rounded(value, 6) + 0:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _rounded(value: float, digits: int) -> Decimal:
    """Halves away from zero, as Java prints them."""
    scaled = Decimal(value * 10**digits).quantize(Decimal(1), rounding=ROUND_HALF_UP, context=Context(prec=400))
    return scaled.scaleb(-digits)
