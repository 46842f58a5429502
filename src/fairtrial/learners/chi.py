"""Fuzzy rule learner of Chi, Yan and Pham."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_at_least, check_number, check_one_of, check_whole_number
from fairtrial._frames import EncodedTable
from fairtrial.errors import InputError
from fairtrial.kernels import fuzzy
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.learners.learner import Learner, register_learner, require_two_classes

_RULE_CHUNK = 256


@dataclass(frozen=True, eq=False)
class _Grid:
    """A grid of fuzzy labels: triangles over the range of each numeric column, and a crisp set for each nominal value."""

    low: FloatArray
    step: FloatArray
    top: FloatArray

    @classmethod
    def from_columns(cls, columns: EncodedTable, ranges: Mapping[str, tuple[float, float]], labels: int) -> _Grid:
        values = columns.values
        filled = np.where(np.isnan(values).all(axis=0), 0.0, values)
        low: FloatArray = np.nanmin(filled, axis=0)
        high: FloatArray = np.nanmax(filled, axis=0)
        for j, name in enumerate(columns.names):
            if name in ranges and columns.categories[j] is None:
                low[j], high[j] = ranges[name]
        step = np.where(high > low, (high - low) / (labels - 1), np.inf)
        top = np.full(len(low), float(labels - 1))
        crisp = columns.nominal
        low[crisp], step[crisp], top[crisp] = 0.0, 1.0, np.inf
        return cls(low, step, top)

    def compute_positions(self, columns: EncodedTable) -> FloatArray:
        """Convert values to grid positions. Values outside the range of a column are clipped."""
        return np.ascontiguousarray(np.clip((columns.values - self.low) / self.step, 0.0, self.top))

    @staticmethod
    def find_labels(positions: FloatArray) -> npt.NDArray[np.int32]:
        """Return the index of the nearest label, or -1 for a missing value. Ties go to the lower label."""
        return np.where(np.isnan(positions), -1, np.ceil(positions - 0.5)).astype(np.int32)


@register_learner("chi")
class Chi(Learner):
    """Fuzzy rule learner of Chi, Yan and Pham (1996).

    The learner uses evenly spaced triangular labels, the product t-norm, the penalized certainty factor and the winning rule.
    The antecedent of a rule contains the label nearest to each value in a training row. The consequent is the class with the
    largest sum of matching degrees. The weight of a rule is (own - others) / (own + others). Here, own is the sum of matching
    degrees over the training rows of the rule's class, and others is the sum over all other training rows. Rules without a
    positive weight are dropped.

    Parameters
    ----------
    labels : int, default 5
        Number of fuzzy labels per numeric column.
    ranges : mapping of str to (float, float), optional
        Range of each numeric column, keyed by column name. Default: the range in the training rows.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    rules_ : ndarray of shape (n_rules, d)
        Index of the label for each rule and column, or -1 for a missing value.
    consequents_ : ndarray of shape (n_rules,)
        Class index of each rule.
    weights_ : ndarray of shape (n_rules,)
        Weight of each rule.
    n_rules_ : int
        Number of rules.
    abstention_ : label
        Prediction for rows that match no rule. This label is not a class, and every measure counts it as an error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> chi = Chi().fit(X[::2], y[::2])
    >>> chi.n_rules_, int(chi.abstains(X[1::2]).sum()), chi.score(X[1::2], y[1::2])
    (34, 4, 0.88)
    """

    _kernels = (fuzzy.sum_by_class, fuzzy.find_best_by_class)

    def __init__(self, labels: int = 5, *, ranges: Any = None, nominal: Any = None) -> None:
        self.labels = labels
        self.ranges = ranges
        self.nominal = nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Chi:
        """Derive the rules from the training rows.

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
        check_whole_number("labels", self.labels, 2)
        training = self._read_training(X, y, sample_weight)
        k = len(self.classes_)
        require_two_classes(self)
        self._grid = _Grid.from_columns(training.columns, _check_ranges(self.ranges, training.columns), self.labels)
        positions = self._grid.compute_positions(training.columns)
        rules = np.unique(self._grid.find_labels(positions), axis=0)
        sums = np.vstack(
            run_in_chunks(
                lambda i, j: fuzzy.sum_by_class(rules[i:j], positions, training.codes, training.weight, k),
                len(rules),
                _RULE_CHUNK,
            )
        )
        consequents = np.argmax(sums, axis=1)
        total = sums.sum(axis=1)
        winning_sums = sums[np.arange(len(rules)), consequents]
        weights = np.divide(2 * winning_sums - total, total, out=np.zeros_like(total), where=total > 0)
        selected = weights > 0
        self.rules_, self.consequents_, self.weights_ = rules[selected], consequents[selected], weights[selected]
        self.n_rules_ = int(selected.sum())
        self.abstention_ = _make_abstention_label(self.classes_)
        return self

    def _compute_degrees(self, columns: EncodedTable) -> FloatArray:
        """Compute, for each row and class, the largest product of matching degree and rule weight."""
        positions, k = self._grid.compute_positions(columns), len(self.classes_)
        consequents: IntArray = self.consequents_.astype(np.intp)
        return np.vstack(
            run_in_chunks(
                lambda i, j: fuzzy.find_best_by_class(self.rules_, consequents, self.weights_, positions[i:j], k),
                len(positions),
                _RULE_CHUNK,
            )
        )

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        degrees = self._compute_degrees(columns)
        total = degrees.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(degrees, total, out=np.zeros_like(degrees), where=total > 0))

    def decision_function(self, X: Any) -> FloatArray:
        """Return class probabilities or, for two classes, the second probability minus the first.

        A row that matches no rule gets only zeros. With two classes, such a row therefore ranks between the classes.
        """
        proportions = self.predict_proba(X)
        return np.asarray(proportions[:, 1] - proportions[:, 0]) if proportions.shape[1] == 2 else proportions

    def abstains(self, X: Any) -> npt.NDArray[np.bool_]:
        """Return a mask of the rows that match no rule."""
        return np.asarray(~self.predict_proba(X).any(axis=1))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of the winning rule, or `abstention_` if no rule matches."""
        probabilities = self.predict_proba(X)
        labels = self._choose_most_probable(probabilities)
        abstaining = ~probabilities.any(axis=1)
        if abstaining.any():
            labels = labels.astype(object if labels.dtype.kind == "O" else np.result_type(labels, np.array([self.abstention_])))
            labels[abstaining] = self.abstention_
        return np.asarray(labels)


def _check_ranges(ranges: Any, columns: EncodedTable) -> Mapping[str, tuple[float, float]]:
    if ranges is None:
        return {}
    if not isinstance(ranges, Mapping):
        raise InputError(f"ranges must map column names to (low, high), got {ranges!r}")
    numeric = [name for name, categories in zip(columns.names, columns.categories, strict=True) if categories is None]
    for name, pair in ranges.items():
        check_one_of("each column in ranges", name, numeric)
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise InputError(f"ranges must have (low, high) for {name!r}, got {pair!r}")
        low, high = pair
        check_number(f"ranges[{name!r}][0]", low)
        check_at_least(f"ranges[{name!r}][1]", high, low)
    return ranges


def _make_abstention_label(classes: npt.NDArray[Any]) -> Any:
    """Create a label that is not a class: the smallest class minus 1, or a string of question marks."""
    if classes.dtype.kind == "f":
        return float(classes.min() - 1)
    if classes.dtype.kind in "iub":
        return int(classes.min()) - 1
    label = "?"
    while label in classes.tolist():
        label += "?"
    return label
