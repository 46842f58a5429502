"""A fitted decision tree: arrays of nodes with the names that they speak of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.tree_grow import Nodes
from fairtrial.kernels.tree_numbers import SMALL, majority

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes as arrays, the root first. The children of a node are `first_child`, `first_child + 1`, ..., one for each branch.

    `column` is -1 at a leaf. `threshold` is the number that a numeric column is cut at, or the code of the value that a binary
    split of a nominal column splits off, else NaN. `counts` holds the training weight of each class, in the order of `classes`.
    """

    column: IntArray
    threshold: FloatArray
    first_child: IntArray
    branches: IntArray
    counts: FloatArray
    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    classes: npt.NDArray[Any]

    @property
    def size(self) -> int:
        """Nodes, leaves included."""
        return len(self.column)

    @property
    def n_leaves(self) -> int:
        """Leaves, those without cases included."""
        return int((self.column < 0).sum())

    @property
    def nodes(self) -> Nodes:
        """The arrays as the kernels take them: writeable, for which they are compiled."""
        arrays: tuple[Any, ...] = (self.column, self.threshold, self.first_child, self.branches, self.counts)
        return Nodes(*(np.require(each, requirements=["C", "W"]) for each in arrays))

    def parents(self) -> IntArray:
        """The parent of each node; -1 for the root."""
        parent = np.full(self.size, -1, dtype=np.intp)
        for node in np.flatnonzero(self.column >= 0):
            parent[self.children(int(node))] = node
        return parent

    def children(self, node: int) -> range:
        """The children of a node, in the order of its branches."""
        return range(self.first_child[node], self.first_child[node] + self.branches[node])

    def cases(self, node: int) -> float:
        """The training weight at a node."""
        return float(self.counts[node].sum())

    def label(self, node: int, parent: int) -> int:
        """The place of a node's class in `classes`; a node without cases takes its parent's."""
        return int(majority(self.counts[node if self.cases(node) > SMALL or parent < 0 else parent]))

    def errors(self, node: int, parent: int) -> float:
        """The training weight at a node that is not of its class."""
        return self.cases(node) - float(self.counts[node, self.label(node, parent)])

    def condition(self, node: int, branch: int) -> tuple[str, Any]:
        """How a branch of a node is told: a sign, and a number or a nominal value."""
        known, cut = self.categories[self.column[node]], float(self.threshold[node])
        if known is None:
            return ("<=", ">")[branch], cut
        if np.isnan(cut):
            return "=", known[branch]
        return ("=", "!=")[branch], known[int(cut)]

    def frame(self) -> pd.DataFrame:
        """A row for each node: its parent, the condition that leads to it, what it splits on, its class, cases and errors."""
        import pandas as pd

        parents, rows = self.parents(), []
        for node in range(self.size):
            parent, column = int(parents[node]), int(self.column[node])
            sign, value = ("", None) if parent < 0 else self.condition(parent, node - int(self.first_child[parent]))
            facts = {"node": node, "parent": parent, "sign": sign, "value": value, "leaf": column < 0}
            facts |= {"splits_on": self.names[column] if column >= 0 else "", "class": self.classes[self.label(node, parent)]}
            rows.append(facts | {"cases": self.cases(node), "errors": self.errors(node, parent)})
        return pd.DataFrame(rows)
