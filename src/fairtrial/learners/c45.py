"""C4.5 release 8 as implemented by WEKA's J48."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import EncodedTable
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.kernels import c45
from fairtrial.kernels.c45 import SMALL, ErrorBound, Nodes, SplitRules, TreeRows
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.kernels.sorting import order_by_radix, order_scores
from fairtrial.learners.learner import Learner, TrainingSet, get_declared_order, register_learner

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree stored as arrays with one entry per node. The first node is the root.

    The children of a node have consecutive indices that start at `first_child`. `column` is the split column, or -1 for a leaf.
    `threshold` is the cut point of a split on a numeric column. For a binary split on a nominal column, it is the code of the
    value that is separated from all others. In all other cases, it is NaN. `counts` contains the total training weight of each
    class, in the order of `classes`.
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
        """Number of nodes, including leaves."""
        return len(self.column)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, including empty leaves."""
        return int((self.column < 0).sum())

    @property
    def nodes(self) -> Nodes:
        """The node arrays in the form that the compiled kernels require: contiguous and writeable."""
        arrays: tuple[Any, ...] = (self.column, self.threshold, self.first_child, self.branches, self.counts)
        return Nodes(*(np.require(array, requirements=["C", "W"]) for array in arrays))

    def find_parents(self) -> IntArray:
        """Return the parent of each node, or -1 for the root."""
        parent = np.full(self.size, -1, dtype=np.intp)
        for node in np.flatnonzero(self.column >= 0):
            parent[self.get_children(int(node))] = node
        return parent

    def get_children(self, node: int) -> range:
        """Return the children of a node in the order of its branches."""
        return range(self.first_child[node], self.first_child[node] + self.branches[node])

    def count_cases(self, node: int) -> float:
        """Return the total weight of the training rows at a node."""
        return float(self.counts[node].sum())

    def get_label(self, node: int, parent: int) -> int:
        """Return the index of the majority class at a node. An empty node gets the class of its parent."""
        return int(c45.find_majority(self.counts[node if self.count_cases(node) > SMALL or parent < 0 else parent]))

    def count_errors(self, node: int, parent: int) -> float:
        """Return the total weight of the training rows that a node misclassifies."""
        return self.count_cases(node) - float(self.counts[node, self.get_label(node, parent)])

    def get_condition(self, node: int, branch: int) -> tuple[str, Any]:
        """Return the operator of a branch, and its cut point or nominal value."""
        categories, cut = self.categories[self.column[node]], float(self.threshold[node])
        if categories is None:
            return ("<=", ">")[branch], cut
        if np.isnan(cut):
            return "=", categories[branch]
        return ("=", "!=")[branch], categories[int(cut)]

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per node."""
        import pandas as pd

        parents, rows = self.find_parents(), []
        for node in range(self.size):
            parent, column = int(parents[node]), int(self.column[node])
            sign, value = ("", None) if parent < 0 else self.get_condition(parent, node - int(self.first_child[parent]))
            record = {"node": node, "parent": parent, "sign": sign, "value": value, "leaf": column < 0}
            record |= {
                "splits_on": self.names[column] if column >= 0 else "",
                "class": self.classes[self.get_label(node, parent)],
            }
            rows.append(record | {"cases": self.count_cases(node), "errors": self.count_errors(node, parent)})
        return pd.DataFrame(rows)


@dataclass(frozen=True)
class C45Settings:
    """Validated settings for growing and pruning a tree."""

    rules: SplitRules
    bound: ErrorBound
    collapse: bool
    prune: bool
    raising: bool


def build_tree(training: TrainingSet, settings: C45Settings, classes: npt.NDArray[np.intp], n_declared: int) -> Tree:
    """Grow a tree, then collapse and prune it as the settings specify.

    `classes` contains the class indices in the order in which ties are broken. The `classes` attribute of the returned tree
    contains these indices instead of labels. `n_declared` is the number of declared classes.
    """
    rows = _make_tree_rows(training, np.argsort(classes)[training.codes], len(classes), n_declared)
    nodes = c45.grow_tree(rows, settings.rules, _sort_columns(rows))
    if settings.collapse:
        c45.collapse_tree(nodes)
    if settings.prune:
        c45.prune_tree(nodes, rows, settings.bound, settings.raising)
    return Tree(*c45.drop_unreachable(nodes), training.columns.names, training.columns.categories, classes)


def make_error_bound(confidence: float) -> ErrorBound:
    """Return the confidence in single precision, as in J48, and its normal quantile."""
    from scipy.special import ndtri

    _check.check_number("confidence", confidence)
    if not 0 < confidence <= 0.5:
        raise InputError(f"confidence must be above 0 and at most 0.5, got {confidence!r}: smaller values prune more")
    single = np.float32(confidence)
    return ErrorBound(float(single), float(ndtri(float(np.float32(1) - single))))


def _make_tree_rows(training: TrainingSet, codes: npt.NDArray[np.intp], classes: int, n_declared: int) -> TreeRows:
    numeric = training.columns.numeric
    columns = np.ascontiguousarray(training.values.T)
    numbers = columns[numeric] + 0.0  # turns -0.0 into 0.0
    numbers[np.isnan(numbers)] = np.nan  # sorting by bits needs a single, positive NaN
    if numeric.all():
        columns = numbers
    elif numeric.any():
        columns = columns.copy()
        columns[numeric] = numbers
    # A nominal column that contains only missing values has no categories and is never split.
    levels = np.array(
        [0 if categories is None else max(1, len(categories)) for categories in training.columns.categories], dtype=np.int64
    )
    positions = np.where(numeric, np.cumsum(numeric) - 1, 0)
    ranked = np.sort(numbers, axis=1)
    weight = np.require(training.weight, np.float64, ["C", "W"])
    table = c45.make_x_log_x_table(len(weight)) if (weight == 1).all() else np.zeros(0)
    return TreeRows(columns, levels, positions, ranked, codes.astype(np.int64), weight, classes, n_declared, table)


def _sort_columns(rows: TreeRows) -> npt.NDArray[np.int32]:
    """Return a matrix of row orders: the original order, then one for each numeric column."""
    numeric = np.flatnonzero(rows.levels == 0)
    orders = np.empty((1 + len(numeric), rows.weight.size), dtype=np.int32)
    orders[0] = np.arange(rows.weight.size)
    for line, j in enumerate(numeric):
        orders[1 + line] = order_scores(rows.columns[j])
    return orders


def format_tree(tree: Tree, *, with_size: bool = True) -> str:
    """Format the tree as J48 does, with the class, cases and errors at each leaf.

    If `with_size` is true, the text ends with the numbers of leaves and nodes.
    """
    text = f": {_format_leaf(tree, 0, -1)}" if tree.size == 1 else "\n".join(_format_branches(tree))
    if not with_size:
        return text
    return f"{text}\n\nNumber of Leaves  : \t{tree.n_leaves}\n\nSize of the tree : \t{tree.size}\n"


def _format_branches(tree: Tree) -> Iterator[str]:
    """Yield the branches in order, each followed by its subtree."""
    stack = [(0, branch, 0) for branch in reversed(range(tree.branches[0]))]
    while stack:
        node, branch, depth = stack.pop()
        sign, value = tree.get_condition(node, branch)
        value_text = _format_threshold(value) if sign in ("<=", ">") else str(value)
        line = f"{'|   ' * depth}{tree.names[tree.column[node]]} {sign} {value_text}"
        child = int(tree.first_child[node]) + branch
        if tree.column[child] < 0:
            yield f"{line}: {_format_leaf(tree, child, node)}"
        else:
            yield line
            stack += [(child, child_branch, depth + 1) for child_branch in reversed(range(tree.branches[child]))]


def _format_leaf(tree: Tree, node: int, parent: int) -> str:
    errors = tree.count_errors(node, parent)
    wrong = f"/{_format_weight(errors)}" if errors > SMALL else ""
    return f"{_format_label(tree.classes[tree.get_label(node, parent)])} ({_format_weight(tree.count_cases(node))}{wrong})"


def _format_label(label: Any) -> str:
    return str(label.item() if hasattr(label, "item") else label)


def _format_weight(weight: float) -> str:
    """Format a weight with one or two decimal places."""
    return str(float(_round_half_up(weight, 2)))


def _format_threshold(value: float) -> str:
    """Format a threshold with at most six decimal places and without trailing zeros."""
    text = f"{_round_half_up(value, 6) + 0:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _round_half_up(value: float, digits: int) -> Decimal:
    """Round half away from zero, as Java does."""
    scaled = Decimal(value * 10**digits).quantize(Decimal(1), rounding=ROUND_HALF_UP, context=Context(prec=400))
    return scaled.scaleb(-digits)


def _compute_balanced_costs(training: TrainingSet, n_classes: int) -> FloatArray:
    """Compute costs that give all classes the same total weight."""
    totals = np.bincount(training.codes, training.weight, minlength=n_classes)
    return np.asarray(1 / np.where(totals > 0, totals, 1.0))


def _read_costs(class_weight: Any, classes: npt.NDArray[Any], declared: Any) -> FloatArray:
    """Return the cost of each class.

    The keys of `class_weight` can be class labels or, as in study files, the names of the classes.
    """
    if not isinstance(class_weight, Mapping):
        raise InputError(f"class_weight must be 'balanced', a dict of class to cost or None, got {class_weight!r}")
    names = [str(label) for label in classes.tolist()]
    known_names = [*names, *map(str, [] if declared is None else declared)]
    costs = np.full(len(classes), np.nan)
    unknown = None
    for label, cost in class_weight.items():
        _check.check_between(f"class_weight[{label!r}]", cost, 0, np.inf)
        if str(label) in names:
            costs[names.index(str(label))] = cost
        elif str(label) not in known_names:
            unknown = label
    # If every class has a cost, other keys may be classes that do not occur in these rows.
    if unknown is not None and np.isnan(costs).any():
        raise InputError(f"class_weight must name classes, got {unknown!r}: {suggest_name(unknown, known_names)}")
    return np.where(np.isnan(costs), 1.0, costs)


_CHUNK_ROWS = 20_000


@register_learner("c45", aliases=("c4.5", "j48"))
class C45(Learner):
    """C4.5 release 8 decision tree learner that builds the same trees as WEKA's J48.

    The algorithm uses the gain ratio, fractional cases for missing values, and error-based pruning (Quinlan 1993).

    Parameters
    ----------
    confidence : float, default 0.25
        Confidence factor for the error bound at a leaf, above 0 and at most 0.5. Smaller values prune more.
    min_cases : int, default 2
        Minimum weight that at least two branches of a split must have.
    unpruned : bool, default False
        Whether to skip error-based pruning.
    collapse : bool, default True
        Whether to replace a subtree with a leaf if this does not increase the number of training errors. J48 also does this if
        pruning is disabled.
    subtree_raising : bool, default True
        Whether pruning can replace a node with its largest branch.
    binary_splits : bool, default False
        Whether a split on a nominal column separates one value from all others instead of creating one branch per value.
    laplace : bool, default False
        Whether to apply Laplace smoothing to the class probabilities.
    mdl_correction : bool, default True
        Whether to reduce the gain of a numeric split by the cost of choosing its cut point.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.
    class_weight : {"balanced"} or dict of class to float, optional
        Cost of misclassifying a row of each class. The default cost of a class is 1. Rows are weighted by the cost of their
        class, and the weights are rescaled to their original sum (Ting 2002). "balanced" gives all classes the same total
        weight.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    tree_ : Tree
        The fitted tree.
    n_leaves_ : int
        Number of leaves.
    size_ : int
        Number of nodes.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    A split on a categorical column has one branch per declared category. If y is categorical, its declared classes are treated
    like the classes in the header of an ARFF file: their number affects the minimum weight on each side of a cut point, and
    ties go to the class declared first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = C45().fit(X, y)
    >>> tree.n_leaves_, tree.size_
    (5, 9)
    >>> print(tree.export_text().splitlines()[0])
    petal width (cm) <= 0.6: 0 (50.0)
    """

    fairtrial_added_parameters: ClassVar[Mapping[str, Any]] = {"class_weight": None}
    _memory_order = "F"
    _kernels = (
        c45.make_x_log_x_table,
        c45.grow_nodes,
        c45.collapse_nodes,
        c45.prune_nodes,
        c45.find_reachable,
        c45.predict_rows,
        order_by_radix,
    )

    @classmethod
    def _compile_kernels(cls) -> None:
        super()._compile_kernels()
        order_by_radix(np.zeros(1))  # called for long columns only

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
        class_weight: Any = None,
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
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45:
        """Grow, collapse and prune the tree.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.
        sample_weight : array-like of shape (n,), optional
            Weight of each row. Rows with weight 0 are ignored.

        Returns
        -------
        self
        """
        settings = self._make_settings()
        training = self._read_training(X, y, sample_weight)
        if self.class_weight is not None:
            training = self._weight_by_cost(training)
        tree = build_tree(training, settings, self._order, len(get_declared_order(y, self.classes_)))
        self.tree_ = replace(tree, classes=self.classes_[self._order])
        self.n_leaves_, self.size_ = self.tree_.n_leaves, self.tree_.size
        return self

    def _weight_by_cost(self, training: TrainingSet) -> TrainingSet:
        """Multiply the weight of each row by the cost of its class, and rescale the weights to their original sum."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            costs = _compute_balanced_costs(training, len(self.classes_))
        else:
            costs = _read_costs(self.class_weight, self.classes_, self._declared_classes)
        weight = training.weight * costs[training.codes]
        return replace(training, weight=weight * (training.weight.sum() / weight.sum()))

    def _make_settings(self) -> C45Settings:
        min_weight = float(_check.check_whole_number("min_cases", self.min_cases, 1))
        rules = SplitRules(min_weight, bool(self.mdl_correction), bool(self.binary_splits))
        return C45Settings(
            rules, make_error_bound(self.confidence), bool(self.collapse), not self.unpruned, bool(self.subtree_raising)
        )

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        nodes, nominal = self.tree_.nodes, columns.nominal
        values = np.require(columns.values.T, requirements=["C", "W"])
        leaves = c45.compute_node_probabilities(nodes, bool(self.laplace))
        chunks = run_in_chunks(lambda a, b: c45.predict_tree(nodes, nominal, values, leaves, a, b), len(columns), _CHUNK_ROWS)
        probabilities = np.concatenate(chunks)[:, np.argsort(self._order)]
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    def export_text(self) -> str:
        """Format the tree as J48 does, with the class and (cases/errors) at each leaf."""
        check_is_fitted(self)
        return format_tree(self.tree_)
