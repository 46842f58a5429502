"""C4.5 release 8 as WEKA's J48 does it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._columns import Columns
from fairtrial.kernels.threads import in_chunks
from fairtrial.kernels.tree_predict import leaf_probabilities, predict
from fairtrial.kernels.tree_split import Rules
from fairtrial.learners.c45_build import Plan, bound_of, build_tree
from fairtrial.learners.c45_text import tree_text
from fairtrial.learners.learner import Learner, declared_order

_ROWS_AT_ONCE = 20_000


class C45(Learner):
    """Quinlan's C4.5 release 8, the same tree as WEKA's J48: gain ratio, fractional cases, error-based pruning.

    Parameters
    ----------
    confidence
        of the bound on a leaf's errors, above 0 and at most 0.5; smaller prunes more.
    min_cases
        the least weight of two branches of a split.
    unpruned
        leave out the pruning by expected errors.
    collapse
        replace a subtree that makes no fewer training errors than a leaf; J48 does so even when unpruned.
    subtree_raising
        let a node be replaced by its largest branch when pruning.
    binary_splits
        split nominal columns into one value and the others, instead of a branch for each value.
    laplace
        smooth class probabilities by Laplace's rule of succession.
    mdl_correction
        reduce the gain of a numeric split by the cost of choosing among its cuts.
    nominal
        names or numbers of columns that are nominal whatever their type.

    Nominal columns are those of category, text or boolean type; a category column has a branch for each declared category. If y
    is a category column, its declared classes count as those of an ARFF file do: their number enters the least weight beside a
    cut, and of equally frequent classes the one declared first is predicted. Missing values may be anywhere but in y.

    Fitted: `classes_`, `tree_` (arrays, see `Tree`), `n_leaves_`, `size_`, `n_features_in_`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = C45().fit(X, y)
    >>> tree.n_leaves_, tree.size_
    (5, 9)
    >>> print(tree.export_text().splitlines()[0])
    petal width (cm) <= 0.6: 0 (50.0)
    """

    def __init__(
        self,
        confidence: float = 0.25,
        min_cases: int = 2,
        *,
        unpruned: bool = False,
        collapse: bool = True,
        subtree_raising: bool = True,
        binary_splits: bool = False,
        laplace: bool = False,
        mdl_correction: bool = True,
        nominal: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_cases = min_cases
        self.unpruned = unpruned
        self.collapse = collapse
        self.subtree_raising = subtree_raising
        self.binary_splits = binary_splits
        self.laplace = laplace
        self.mdl_correction = mdl_correction
        self.nominal = nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45:
        """Grow the tree, collapse and prune it."""
        plan = self._plan()
        training = self._read_training(X, y, sample_weight)
        tree = build_tree(training, plan, self._order, len(declared_order(y, self.classes_)))
        self.tree_ = replace(tree, classes=self.classes_[self._order])
        self.n_leaves_, self.size_ = self.tree_.n_leaves, self.tree_.size
        return self

    def _plan(self) -> Plan:
        least = float(_check.whole_number("min_cases", self.min_cases, 1))
        rules = Rules(least, bool(self.mdl_correction), bool(self.binary_splits))
        return Plan(rules, bound_of(self.confidence), bool(self.collapse), not self.unpruned, bool(self.subtree_raising))

    def _probabilities(self, columns: Columns) -> FloatArray:
        nodes, nominal = self.tree_.nodes, columns.nominal
        values = np.require(columns.values, requirements=["C", "W"])
        leaves = leaf_probabilities(nodes, bool(self.laplace))
        parts = in_chunks(lambda a, b: predict(nodes, nominal, values[a:b], leaves), len(columns), _ROWS_AT_ONCE)
        found = np.concatenate(parts)[:, np.argsort(self._order)]
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def export_text(self) -> str:
        """The tree as J48 prints it: a line for each branch, and at leaves the class with (cases/errors)."""
        check_is_fitted(self)
        return tree_text(self.tree_)
