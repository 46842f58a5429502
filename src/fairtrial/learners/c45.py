"""C4.5 release 8 as WEKA's J48 does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._columns import Columns
from fairtrial.errors import InputError
from fairtrial.kernels.sorting import order
from fairtrial.kernels.threads import in_chunks
from fairtrial.kernels.tree_grow import Nodes, grow
from fairtrial.kernels.tree_numbers import x_log_x_table
from fairtrial.kernels.tree_predict import leaf_probabilities, predict
from fairtrial.kernels.tree_prune import Bound, collapse, compact, prune
from fairtrial.kernels.tree_split import Rows, Rules
from fairtrial.learners.c45_text import tree_text
from fairtrial.learners.c45_tree import Tree
from fairtrial.learners.learner import Learner, Training

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
        bound = _bound(self.confidence)
        rules = Rules(float(_check.whole_number("min_cases", self.min_cases, 1)), self.mdl_correction, self.binary_splits)
        training = self._read_training(X, y, sample_weight)
        self._ties, declared = _declared(y, self.classes_)
        rows = _rows(training, np.argsort(self._ties)[training.codes], len(self.classes_), declared)
        nodes = grow(rows, rules, _orders(rows))
        if self.collapse:
            collapse(nodes)
        if not self.unpruned:
            prune(nodes, rows, bound, bool(self.subtree_raising))
        self.tree_ = _tree(compact(nodes), training.columns, self.classes_[self._ties])
        self.n_leaves_, self.size_ = self.tree_.n_leaves, self.tree_.size
        return self

    def _probabilities(self, columns: Columns) -> FloatArray:
        nodes, nominal = self.tree_.nodes, columns.nominal
        leaves = leaf_probabilities(nodes, bool(self.laplace))
        parts = in_chunks(lambda a, b: predict(nodes, nominal, columns.values[a:b], leaves), len(columns), _ROWS_AT_ONCE)
        found = np.concatenate(parts)[:, np.argsort(self._ties)]
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row; of equal ones the first declared."""
        probabilities = self.predict_proba(X)[:, self._ties]
        return np.asarray(self.classes_[self._ties[np.argmax(probabilities, axis=1)]])

    def export_text(self) -> str:
        """The tree as J48 prints it: a line for each branch, and at leaves the class with (cases/errors)."""
        self._check_fitted()
        return tree_text(self.tree_)

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)


def _bound(confidence: float) -> Bound:
    """The confidence in single precision, as J48 holds it, with its normal deviate."""
    from scipy.special import ndtri

    _check.number("confidence", confidence)
    if not 0 < confidence <= 0.5:
        raise InputError(f"confidence must be above 0 and at most 0.5, got {confidence!r}: the smaller, the more is pruned")
    single = np.float32(confidence)
    return Bound(float(single), float(ndtri(float(np.float32(1) - single))))


def _declared(y: Any, classes: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], int]:
    """The classes present in their declared order (as places in `classes`), and how many were declared."""
    kind = getattr(y, "dtype", None)
    if not hasattr(kind, "categories"):
        return np.arange(len(classes)), len(classes)
    place = {label: at for at, label in enumerate(classes.tolist())}
    named = kind.categories.tolist()
    return np.array([place[label] for label in named if label in place], dtype=np.intp), len(named)


def _rows(training: Training, codes: npt.NDArray[np.intp], classes: int, declared: int) -> Rows:
    columns = np.ascontiguousarray(training.values.T)
    levels = np.array([0 if each is None else len(each) for each in training.columns.categories], dtype=np.int64)
    # A nominal column in which nothing is known has no categories; it can never be split on.
    numeric = training.columns.numeric
    levels = np.where(numeric, 0, np.maximum(levels, 1))
    place = np.where(numeric, np.cumsum(numeric) - 1, 0)
    ranked = np.sort(columns[numeric], axis=1)
    weight = np.asarray(training.weight, dtype=np.float64)
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


def _tree(nodes: Nodes, columns: Columns, classes: npt.NDArray[Any]) -> Tree:
    return Tree(*nodes, columns.names, columns.categories, classes)
