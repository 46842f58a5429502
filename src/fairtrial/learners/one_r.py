"""The 1R learner of Holte: a single rule on a single column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairtrial._check import FloatArray, IntArray, check_whole_number
from fairtrial._frames import EncodedTable
from fairtrial.learners.encoding import format_double
from fairtrial.learners.learner import Learner, TrainingSet, register_learner


@dataclass(frozen=True, eq=False)
class ColumnRule:
    """A rule on one column: a class for each value or interval, and a class for missing values (-1 if there are none).

    `correct` is the number of training rows that the rule classifies correctly. Interval i extends up to,
    but does not include, `cuts[i]`. A nominal column has no cuts.
    """

    column: int
    cuts: FloatArray
    codes: IntArray
    missing: int
    correct: int


@register_learner("one-r")
class OneR(Learner):
    """1R learner: the rule on a single column with the fewest training errors (Holte 1993).

    The rules are identical to those of OneR in WEKA 3.6.14. A numeric column is divided into intervals. All intervals except
    the last contain at least `min_bucket` rows of their majority class. Neighbouring intervals of the same class are merged.
    Missing values are treated as a separate value. Ties go to the first column and to the class declared first.

    Parameters
    ----------
    min_bucket : int, default 6
        Minimum number of rows of the majority class in an interval.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    column_ : int
        Index of the column that the rule uses.
    cuts_ : ndarray
        Cut points of the column, if it is numeric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> print(OneR().fit(iris.data, iris.target_names[iris.target]).export_text().expandtabs(4))
    petal width (cm):
        < 0.8   -> setosa
        < 1.75  -> versicolor
        >= 1.75 -> virginica
    (144/150 instances correct)
    <BLANKLINE>
    """

    def __init__(self, min_bucket: int = 6, *, nominal: Any = None) -> None:
        self.min_bucket = min_bucket
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> OneR:
        """Find the best column and its rule.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.

        Returns
        -------
        self
        """
        check_whole_number("min_bucket", self.min_bucket, 1)
        training = self._read_training(X, y)
        declared = self._order.tolist()
        ranks = np.argsort(declared)[training.codes]
        rules = list(self._iter_rules(training, ranks)) or [_make_default_rule(ranks)]
        best = max(rules, key=lambda rule: rule.correct)
        declared_codes = np.array([*declared, -1], dtype=np.intp)
        self._rule = ColumnRule(
            best.column, best.cuts, declared_codes[best.codes], int(declared_codes[best.missing]), best.correct
        )
        self._first = declared[0]
        self._n = len(ranks)
        self.column_ = best.column
        self.cuts_ = best.cuts
        return self

    def _iter_rules(self, training: TrainingSet, ranks: IntArray) -> Iterator[ColumnRule]:
        """Yield a rule for each column. A numeric column without values has no rule."""
        k = len(self.classes_)
        for j, categories in enumerate(training.columns.categories):
            values = training.values[:, j]
            present = ~np.isnan(values)
            if categories is None and not present.any():
                continue
            if categories is None:
                cuts, counts = find_intervals(values[present], ranks[present], k, self.min_bucket)
            else:
                cuts, counts = np.empty(0), _count_by_value(values[present].astype(np.intp), ranks[present], len(categories), k)
            missing_counts = np.bincount(ranks[~present], minlength=k)
            missing = int(np.argmax(missing_counts)) if missing_counts.any() else -1
            correct = int(counts.max(axis=1, initial=0).sum() + missing_counts.max())
            yield ColumnRule(j, cuts, counts.argmax(axis=1), missing, correct)

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        rule = self._rule
        values = columns.values[:, rule.column]
        present = ~np.isnan(values)
        codes = np.full(len(values), rule.missing if rule.missing >= 0 else self._first)
        if len(rule.codes):
            numeric = columns.categories[rule.column] is None
            positions = (
                np.searchsorted(rule.cuts, values[present], side="right") if numeric else values[present].astype(np.intp)
            )
            codes[present] = rule.codes[positions]
        return np.asarray(np.eye(len(self.classes_))[codes])

    def export_text(self) -> str:
        """Format the rule as WEKA does."""
        check_is_fitted(self)
        rule, columns = self._rule, self._template
        value_texts = (
            _format_intervals(rule.cuts) if columns.categories[rule.column] is None else columns.categories[rule.column]
        )
        lines = [f"\t{value}\t-> {self.classes_[code]}" for value, code in zip(value_texts or (), rule.codes, strict=False)]
        if rule.missing >= 0:
            lines.append(f"\t?\t-> {self.classes_[rule.missing]}")
        return "\n".join([f"{columns.names[rule.column]}:", *lines, f"({rule.correct}/{self._n} instances correct)\n"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def find_intervals(values: FloatArray, codes: IntArray, k: int, min_count: int) -> tuple[FloatArray, IntArray]:
    """Find the cut points of a numeric column and the class counts in each interval.

    Each distinct value starts as an interval. From left to right, an interval is merged with the next one if it has fewer than
    `min_count` rows of its majority class. It is also merged if both intervals have the same majority class. Finally,
    neighbours with the same majority class are merged.

    >>> cuts, counts = find_intervals(np.array([1.0, 2, 3, 4, 5, 6]), np.array([0, 0, 1, 1, 1, 0]), 2, 2)
    >>> cuts.tolist(), counts.tolist()
    ([2.5, 5.5], [[2, 0], [0, 3], [1, 0]])
    """
    distinct, positions = np.unique(values, return_inverse=True)
    middles = (distinct[:-1] + distinct[1:]) / 2
    ends, counts = _join_intervals(_count_by_value(positions, codes, len(distinct), k), np.arange(len(distinct)), min_count)
    ends, counts = _join_intervals(counts, ends, 0)
    return middles[ends[:-1]], counts


def _join_intervals(counts: IntArray, ends: IntArray, min_count: int) -> tuple[IntArray, IntArray]:
    """Merge neighbouring intervals in one pass from left to right. `ends` contains the index at which each interval ends."""
    merged_counts, merged_ends = [counts[0]], [ends[0]]
    for row, end in zip(counts[1:], ends[1:], strict=True):
        previous = merged_counts[-1]
        if np.argmax(row) == np.argmax(previous) or previous.max() < min_count:
            merged_counts[-1], merged_ends[-1] = previous + row, end
        else:
            merged_counts.append(row)
            merged_ends.append(end)
    return np.array(merged_ends), np.array(merged_counts)


def _count_by_value(values: IntArray, codes: IntArray, size: int, k: int) -> IntArray:
    """Build a table of row counts with one row per value and one column per class."""
    return np.bincount(values * k + codes, minlength=size * k).reshape(size, k)


def _make_default_rule(ranks: IntArray) -> ColumnRule:
    """Build a rule that predicts the most frequent class, for tables in which all values are missing."""
    counts = np.bincount(ranks)
    return ColumnRule(0, np.empty(0), np.array([np.argmax(counts)]), int(np.argmax(counts)), int(counts.max()))


def _format_intervals(cuts: FloatArray) -> list[str]:
    if len(cuts) == 0:
        return ["not ?"]
    return [*(f"< {format_double(cut)}" for cut in cuts), f">= {format_double(cuts[-1])}"]


def get_target_name(y: Any) -> str:
    """Return the name of the class column, or "class" if it has no name."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "class"
