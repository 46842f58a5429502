"""Checked rows, from which statistics are built: once for the estimate, and once per resample for its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import Classes, FloatArray, IntArray
from fairtrial.errors import InputError
from fairtrial.kernels.arithmetic import Binning, compute_ratio
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.tally import ScoreTally, tally_scores

# How often each row is drawn, a line for each resample.
DrawCounts = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class LabelRows:
    """True and predicted class of each row, as codes."""

    true: IntArray
    predicted: IntArray
    weights: FloatArray | None
    classes: Classes

    @classmethod
    def read(
        cls,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Any = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> LabelRows:
        """Check and encode."""
        true, predicted = _check.check_column("y_true", y_true), _check.check_column("y_pred", y_pred)
        _check.check_same_length(y_true=true, y_pred=predicted)
        weights, (true, predicted) = _check.drop_zero_weights(sample_weight, true, predicted)
        classes, (true_codes, predicted_codes) = _check.encode_labels(labels, positive, y_true=true, y_pred=predicted)
        return cls(true_codes, predicted_codes, weights, classes)

    @cached_property
    def _cells(self) -> Binning:
        k = len(self.classes)
        return Binning(self.true * k + self.predicted, k * k, self.weights)

    def confusion(self, draw_counts: DrawCounts | None = None) -> Confusion:
        """The table; with `draw_counts` (R x n) a batch of R tables."""
        k = len(self.classes)
        table: Any
        if draw_counts is None:
            table = np.bincount(self._cells.codes, self.weights, minlength=k * k).reshape(k, k)
        else:
            table = self._cells.compute_sums(draw_counts).reshape(-1, k, k)
        return Confusion(table, tuple(self.classes.names.tolist()), self.classes.positive)


@dataclass(frozen=True)
class RankedRows:
    """Some rows, each positive or negative, with a score."""

    is_positive: npt.NDArray[np.bool_]
    scores: FloatArray
    weights: FloatArray | None
    row_mask: npt.NDArray[np.bool_] | None = None

    @cached_property
    def tally(self) -> ScoreTally:
        """The tally of these rows."""
        return tally_scores(self.is_positive, self.scores, self.weights)

    @cached_property
    def _bins(self) -> Binning:
        m = len(self.tally.values)
        bin_index = m - 1 - np.searchsorted(self.tally.values[::-1], self.scores)
        return Binning(np.where(self.is_positive, bin_index, bin_index + m), 2 * m, self.weights)

    def redraw(self, draw_counts: DrawCounts) -> ScoreTally:
        """A batch of tallies, one for each line of `draw_counts` (R x n counts of the rows)."""
        subset_counts = draw_counts if self.row_mask is None else draw_counts[:, self.row_mask]
        m = len(self.tally.values)
        counts = self._bins.compute_sums(subset_counts)
        return ScoreTally(self.tally.values, counts[:, :m], counts[:, m:])


@dataclass(frozen=True)
class ScoreRows:
    """True class and score of each row; with more than two classes a column of scores for each class."""

    true: IntArray
    scores: FloatArray
    weights: FloatArray | None
    classes: Classes

    @classmethod
    def read(
        cls,
        y_true: npt.ArrayLike,
        y_score: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        name: str = "y_score",
    ) -> ScoreRows:
        """Check and encode. Finiteness is looked at while tallying."""
        true, scores = _check.check_column("y_true", y_true), _check.check_numbers(name, y_score)
        if scores.ndim > 2 or scores.ndim == 0:
            raise InputError(f"{name} must have one column, or one for each class, got shape {scores.shape}")
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        columns = list(getattr(y_score, "columns", []))
        # Kernels are compiled for one layout; a read-only or strided column would have them compiled again.
        scores = np.require(scores, requirements=["C", "W"])
        _check.check_same_length(y_true=true, **{name: scores})
        weights, (true, scores) = _check.drop_zero_weights(sample_weight, true, scores)
        classes, (codes,) = _check.encode_labels(labels, positive, y_true=true)
        if scores.ndim == 2 and scores.shape[1] != len(classes):
            raise InputError(
                f"{name} must have one column for each of the {len(classes)} classes {classes.names.tolist()}, "
                f"got {scores.shape[1]}: pass labels= in the order of the columns"
            )
        if scores.ndim == 2 and set(map(str, columns)) == set(map(str, classes.names.tolist())):
            # A frame's columns go by their names.
            column_order = [list(map(str, columns)).index(str(class_name)) for class_name in classes.names.tolist()]
            scores = np.ascontiguousarray(scores[:, column_order])
        if scores.ndim == 1 and len(classes) > 2 and positive is None:
            raise InputError(
                f"{name} must have one column for each of the {len(classes)} classes, got one column: "
                "pass all columns, or positive= to single out a class"
            )
        return cls(codes, scores, weights, classes)

    def select_class(self, code: int) -> RankedRows:
        """One class against the rest."""
        column = np.ascontiguousarray(self.scores[:, code]) if self.scores.ndim == 2 else self.scores
        return RankedRows(self.true == code, column, self.weights)

    @cached_property
    def binary(self) -> RankedRows:
        """The positive class against the rest."""
        if self.classes.positive is None and len(self.classes) > 1:
            raise InputError(
                f"positive must be named when the classes are {self.classes.names.tolist()}: pass positive= or average='macro'"
            )
        return self.select_class(self.classes.positive or 0)

    @cached_property
    def one_vs_rest(self) -> tuple[RankedRows, ...]:
        """Each class against the rest."""
        if self.scores.ndim == 1:
            raise InputError("averages over classes need a column of scores for each class, got one column")
        return tuple(self.select_class(code) for code in range(len(self.classes)))

    @cached_property
    def one_vs_one(self) -> tuple[RankedRows, ...]:
        """Each ordered pair of classes, on the rows of these two alone, by the first one's score."""
        if self.scores.ndim == 1:
            raise InputError("pairs of classes need a column of scores for each class, got one column")
        pairs = []
        for first in range(len(self.classes)):
            for second in range(len(self.classes)):
                if first != second:
                    row_mask = (self.true == first) | (self.true == second)
                    weights = None if self.weights is None else self.weights[row_mask]
                    pairs.append(RankedRows(self.true[row_mask] == first, self.scores[row_mask, first], weights, row_mask))
        return tuple(pairs)

    def support(self, draw_counts: DrawCounts | None = None) -> FloatArray:
        """Weight of each true class, R x k."""
        draw_counts = np.ones((1, len(self.true)), dtype=np.uint8) if draw_counts is None else draw_counts
        return self._classes.compute_sums(draw_counts)

    @cached_property
    def _classes(self) -> Binning:
        return Binning(self.true, len(self.classes), self.weights)


@dataclass(frozen=True)
class WeightedRows:
    """Rows whose measures are means. `weights` is R x n: one line for the estimate, or one per resample."""

    weights: FloatArray
    cached_values: dict[Any, Any] = field(default_factory=dict, kw_only=True, repr=False, compare=False)

    def compute_once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What does not depend on the weights is computed once for all resamples."""
        if key not in self.cached_values:
            self.cached_values[key] = compute()
        return self.cached_values[key]

    def mean(self, contributions: FloatArray) -> FloatArray:
        """Weighted mean over rows, for each line of weights; an infinite contribution counts only where it has weight."""
        infinite = np.isinf(contributions)
        mean = compute_ratio(self.weights @ np.where(infinite, 0.0, contributions), self.weights.sum(axis=1))
        if not infinite.any():
            return np.asarray(mean)
        with np.errstate(invalid="ignore"):
            for sign in (np.inf, -np.inf):
                mean = np.where((self.weights[:, contributions == sign] > 0).any(axis=1), mean + sign, mean)
        return np.asarray(mean)

    def total(self) -> FloatArray:
        """Weight of all rows."""
        return np.asarray(self.weights.sum(axis=1))

    def redraw(self, draw_counts: DrawCounts) -> FloatArray:
        """Weights of resamples."""
        return np.asarray(draw_counts * self.weights[0])


@dataclass(frozen=True)
class ProbabilityRows(WeightedRows):
    """True class and probability of every class for each row: the statistic of all measures of probabilities.

    `weights` may hold many lines (resamples); `base` are the rows' own. Rows of the same classes add up.

    >>> rows = ProbabilityRows.read([0, 1], [0.2, 0.9]) + ProbabilityRows.read([1, 0], [0.6, 0.5])
    >>> from fairtrial.measures import brier
    >>> round(brier.of(rows), 3)
    0.115
    """

    true: IntArray
    probabilities: FloatArray
    classes: Classes
    base: FloatArray

    @classmethod
    def read(
        cls,
        y_true: npt.ArrayLike,
        y_prob: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Any = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> ProbabilityRows:
        """Check and encode; one column means the probability of the positive class."""
        rows = ScoreRows.read(y_true, y_prob, positive=positive, labels=labels, sample_weight=sample_weight, name="y_prob")
        matrix = _check.check_probabilities("y_prob", rows.scores)
        classes, true = rows.classes, rows.true
        if positive is not None and len(classes) != 2 and classes.positive is not None:
            # One class singled out of several: that class against the rest.
            true = (true == classes.positive).astype(np.intp)
            matrix = matrix[:, classes.positive] if matrix.ndim == 2 else matrix
            classes = Classes(np.array(["the rest", str(positive)]), 1)
        if matrix.ndim == 1 and len(classes) == 1:
            raise InputError(f"positive must be named when only {classes.names[0]!r} occurs: pass positive= or labels=")
        if matrix.ndim == 1:
            matrix = np.column_stack([matrix, 1 - matrix] if classes.positive == 0 else [1 - matrix, matrix])
        weights = np.ones(len(true)) if rows.weights is None else rows.weights
        return cls(weights[None], true, matrix, classes, weights)

    def __add__(self, addend: ProbabilityRows) -> ProbabilityRows:
        """Rows of both, which must have the same classes."""
        if self.classes.names.tolist() != addend.classes.names.tolist() or self.classes.positive != addend.classes.positive:
            raise InputError(f"only rows of the same classes add up, got {self.classes.names} and {addend.classes.names}")
        return ProbabilityRows(
            np.concatenate([self.weights, addend.weights], axis=1),
            np.concatenate([self.true, addend.true]),
            np.concatenate([self.probabilities, addend.probabilities]),
            self.classes,
            np.concatenate([self.base, addend.base]),
        )

    @property
    def true_class_probabilities(self) -> FloatArray:
        """Probability given to the true class of each row."""
        probabilities: FloatArray = self.compute_once(
            "true_class_probabilities", lambda: np.take_along_axis(self.probabilities, self.true[:, None], axis=1)[:, 0]
        )
        return probabilities

    @property
    def one_hot_labels(self) -> FloatArray:
        """The true class as a row of zeros with a one."""
        one_hot: FloatArray = self.compute_once("one_hot_labels", lambda: np.eye(len(self.classes))[self.true])
        return one_hot

    @cached_property
    def class_proportions(self) -> FloatArray:
        """Weight share of each true class, R x k."""
        return compute_ratio(self.weights @ self.one_hot_labels, self.weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ValueRows(WeightedRows):
    """True and predicted number of each row."""

    true: FloatArray
    predicted: FloatArray

    @classmethod
    def read(cls, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None) -> ValueRows:
        """Check."""
        true = _check.check_finite("y_true", _check.check_numbers("y_true", _check.check_column("y_true", y_true)))
        predicted = _check.check_finite("y_pred", _check.check_numbers("y_pred", _check.check_column("y_pred", y_pred)))
        _check.check_same_length(y_true=true, y_pred=predicted)
        weights, (true, predicted) = _check.drop_zero_weights(sample_weight, true, predicted)
        return cls((np.ones(len(true)) if weights is None else weights)[None], true, predicted)
