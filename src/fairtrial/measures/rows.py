"""Checked rows of true labels and predictions.

A statistic is computed from the rows once for the estimate, and once per resample for the interval.
"""

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

# How often each row is drawn, one line per resample.
DrawCounts = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class LabelRows:
    """Codes of the true and the predicted class of each row."""

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
        """Check and encode true and predicted labels. Ordered categoricals keep their order."""
        labels = _check.list_ordered_labels(y_true, y_pred) if labels is None else labels
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
        """Build the confusion table, or a batch of R tables if `draw_counts` (R x n) is given."""
        k = len(self.classes)
        table: Any
        if draw_counts is None:
            table = np.bincount(self._cells.codes, self.weights, minlength=k * k).reshape(k, k)
        else:
            table = self._cells.compute_sums(draw_counts).reshape(-1, k, k)
        return Confusion(table, tuple(self.classes.names.tolist()), self.classes.positive)


@dataclass(frozen=True)
class RankedRows:
    """Rows with a score and one of two outcomes, positive or negative."""

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
        """Build a batch of tallies, one for each line (resample) of `draw_counts` (R x n)."""
        subset_counts = draw_counts if self.row_mask is None else draw_counts[:, self.row_mask]
        m = len(self.tally.values)
        counts = self._bins.compute_sums(subset_counts)
        return ScoreTally(self.tally.values, counts[:, :m], counts[:, m:])


@dataclass(frozen=True)
class OutcomeSample:
    """Probabilities and outcomes of a sample of independent units (rows or clusters).

    If there are no weights and no clusters, the sample contains each probability of its tally twice: once as positive and once
    as negative. `counts` then contains the number of rows that each entry represents.
    """

    tally: ScoreTally
    values: FloatArray
    is_positive: npt.NDArray[np.bool_]
    counts: FloatArray | None = None
    weights: FloatArray | None = None
    clusters: IntArray | None = None

    @classmethod
    def from_tally(cls, tally: ScoreTally) -> OutcomeSample:
        """Build a sample of unweighted, independent rows from their tally."""
        counts = np.concatenate([tally.pos, tally.neg]).astype(np.float64)
        is_positive = np.repeat([True, False], len(tally.values))
        return cls(tally, np.concatenate([tally.values, tally.values]), is_positive, counts)

    @classmethod
    def from_rows(cls, ranked: RankedRows, clusters: IntArray | None = None) -> OutcomeSample:
        """Build a sample from rows, which may have weights and clusters."""
        if ranked.weights is None and clusters is None:
            return cls.from_tally(ranked.tally)
        if clusters is not None:
            _check.check_same_length(y_true=ranked.is_positive, cluster=clusters)
        return cls(ranked.tally, ranked.scores, ranked.is_positive, None, ranked.weights, clusters)

    @property
    def units(self) -> int:
        """The number of clusters, or the number of rows if there are no clusters."""
        if self.clusters is not None:
            return int(self.clusters.max()) + 1
        return len(self.values) if self.counts is None else int(self.counts.sum())

    @property
    def row_weights(self) -> FloatArray:
        """The total weight of each entry: its weight, its count or 1."""
        weights = self.counts if self.weights is None else self.weights
        return np.ones(len(self.values)) if weights is None else weights

    @property
    def weight_factor(self) -> float:
        """A lower bound for the factor by which weights increase a variance; 1 without weights."""
        return 1.0 if self.weights is None else float((self.weights**2).sum() / self.weights.sum())

    def count_effective_classes(self) -> tuple[float, float]:
        """Compute the effective number of rows with each outcome (at most the number of clusters)."""
        squares = self.row_weights if self.weights is None else self.row_weights**2
        sums = [
            float(self.row_weights[chosen].sum()) ** 2 / max(float(squares[chosen].sum()), 1e-300)
            for chosen in (self.is_positive, ~self.is_positive)
        ]
        most = float("inf") if self.clusters is None else float(self.units)
        return min(sums[0], most), min(sums[1], most)

    def sum_products(self, contributions: FloatArray) -> FloatArray:
        """Estimate the covariance matrix of several weighted sums over independent units.

        `contributions` has one row per sum, and one column per entry of the sample.
        """
        units = self.units
        correction = units / (units - 1) if units > 1 else np.nan
        if self.clusters is not None:
            weighted = contributions * self.row_weights
            sums = np.stack([np.bincount(self.clusters, line, minlength=units) for line in weighted])
            return np.asarray(sums @ sums.T * correction)
        squares = self.row_weights if self.weights is None else self.row_weights**2
        return np.asarray((contributions * squares) @ contributions.T * correction)


@dataclass(frozen=True)
class ScoreRows:
    """True class and scores of each row: one column of scores, or one column per class."""

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
        """Check and encode true labels and scores. The tally checks later that scores are finite."""
        labels = _check.list_ordered_labels(y_true) if labels is None else labels
        true, scores = _check.check_column("y_true", y_true), _check.check_numbers(name, y_score)
        if scores.ndim > 2 or scores.ndim == 0:
            raise InputError(f"{name} must have one column, or one per class, got shape {scores.shape}")
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        columns = list(getattr(y_score, "columns", []))
        # A read-only or strided array would cause the kernels to be compiled again.
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
            # Columns of a data frame are matched by name.
            column_order = [list(map(str, columns)).index(str(class_name)) for class_name in classes.names.tolist()]
            scores = np.ascontiguousarray(scores[:, column_order])
        if scores.ndim == 1 and len(classes) > 2 and positive is None:
            raise InputError(
                f"{name} must have one column for each of the {len(classes)} classes, got one column: "
                "pass all columns, or positive= to select a class"
            )
        return cls(codes, scores, weights, classes)

    def select_class(self, code: int) -> RankedRows:
        """Return the rows for one class against the rest."""
        column = np.ascontiguousarray(self.scores[:, code]) if self.scores.ndim == 2 else self.scores
        return RankedRows(self.true == code, column, self.weights)

    @cached_property
    def binary(self) -> RankedRows:
        """The rows for the positive class against the rest."""
        if self.classes.positive is None and len(self.classes) > 1:
            raise InputError(
                f"positive must be given if the classes are {self.classes.names.tolist()}: pass positive= or average='macro'"
            )
        return self.select_class(self.classes.positive or 0)

    @cached_property
    def one_vs_rest(self) -> tuple[RankedRows, ...]:
        """The rows for each class against the rest."""
        if self.scores.ndim == 1:
            raise InputError("averaging over classes needs one column of scores per class, got one column")
        return tuple(self.select_class(code) for code in range(len(self.classes)))

    @cached_property
    def one_vs_one(self) -> tuple[RankedRows, ...]:
        """The rows of each ordered pair of classes, with the scores of the first class."""
        if self.scores.ndim == 1:
            raise InputError("y_score must have one column per class, got one column")
        pairs = []
        for first in range(len(self.classes)):
            for second in range(len(self.classes)):
                if first != second:
                    row_mask = (self.true == first) | (self.true == second)
                    weights = None if self.weights is None else self.weights[row_mask]
                    pairs.append(RankedRows(self.true[row_mask] == first, self.scores[row_mask, first], weights, row_mask))
        return tuple(pairs)

    def support(self, draw_counts: DrawCounts | None = None) -> FloatArray:
        """Compute the total weight of each true class in each resample; shape (R, k)."""
        draw_counts = np.ones((1, len(self.true)), dtype=np.uint8) if draw_counts is None else draw_counts
        return self._classes.compute_sums(draw_counts)

    @cached_property
    def _classes(self) -> Binning:
        return Binning(self.true, len(self.classes), self.weights)


@dataclass(frozen=True)
class WeightedRows:
    """Rows with weights, for measures of probabilities and of predicted numbers.

    `weights` has shape (R, n), with a single line for the estimate or one line per resample.
    """

    weights: FloatArray
    cached_values: dict[Any, Any] = field(default_factory=dict, kw_only=True, repr=False, compare=False)

    def compute_once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Compute a value that does not depend on the weights, and store it for all resamples."""
        if key not in self.cached_values:
            self.cached_values[key] = compute()
        return self.cached_values[key]

    def mean(self, contributions: FloatArray) -> FloatArray:
        """Compute the weighted mean for each resample.

        Infinite contributions with zero weight are ignored.
        """
        infinite = np.isinf(contributions)
        mean = compute_ratio(self.weights @ np.where(infinite, 0.0, contributions), self.weights.sum(axis=1))
        if not infinite.any():
            return np.asarray(mean)
        with np.errstate(invalid="ignore"):
            for sign in (np.inf, -np.inf):
                mean = np.where((self.weights[:, contributions == sign] > 0).any(axis=1), mean + sign, mean)
        return np.asarray(mean)

    def total(self) -> FloatArray:
        """Return the total weight of all rows in each resample."""
        return np.asarray(self.weights.sum(axis=1))

    def redraw(self, draw_counts: DrawCounts) -> FloatArray:
        """Return the weight of each row in each resample."""
        return np.asarray(draw_counts * self.weights[0])


@dataclass(frozen=True)
class ProbabilityRows(WeightedRows):
    """True class and class probabilities of each row.

    `weights` can have one line per resample. `base` contains the original weights of the rows. Two sets of rows with the same
    list of classes can be concatenated with `+`.

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
        """Check and encode true labels and probabilities.

        A single column must contain the probability of the positive class.
        """
        rows = ScoreRows.read(y_true, y_prob, positive=positive, labels=labels, sample_weight=sample_weight, name="y_prob")
        matrix = _check.check_probabilities("y_prob", rows.scores)
        classes, true = rows.classes, rows.true
        if positive is not None and len(classes) != 2 and classes.positive is not None:
            # One of several classes is selected, so it is compared with the rest.
            true = (true == classes.positive).astype(np.intp)
            matrix = matrix[:, classes.positive] if matrix.ndim == 2 else matrix
            classes = Classes(np.array(["the rest", str(positive)]), 1)
        if matrix.ndim == 1 and len(classes) == 1:
            raise InputError(f"positive must be given if only {classes.names[0]!r} occurs: pass positive= or labels=")
        if matrix.ndim == 1:
            matrix = np.column_stack([matrix, 1 - matrix] if classes.positive == 0 else [1 - matrix, matrix])
        weights = np.ones(len(true)) if rows.weights is None else rows.weights
        return cls(weights[None], true, matrix, classes, weights)

    @classmethod
    def read_sets(cls, y_true: npt.ArrayLike, y_prob: npt.ArrayLike, **options: Any) -> ProbabilityRows:
        """Check true labels and prediction sets.

        `y_prob` has one column per class, which contains 1 if the class is in the set of the row, and 0 otherwise.
        """
        rows = ScoreRows.read(y_true, y_prob, name="y_prob", **options)
        if rows.scores.ndim == 1:
            raise InputError("y_prob must have one column per class if it contains sets, got one column")
        weights = np.ones(len(rows.true)) if rows.weights is None else rows.weights
        return cls(weights[None], rows.true, rows.scores, rows.classes, weights)

    def __add__(self, addend: ProbabilityRows) -> ProbabilityRows:
        """Concatenate two sets of rows with the same list of classes."""
        if self.classes.names.tolist() != addend.classes.names.tolist() or self.classes.positive != addend.classes.positive:
            raise InputError(f"rows must have equal classes to be added, got {self.classes.names} and {addend.classes.names}")
        return ProbabilityRows(
            np.concatenate([self.weights, addend.weights], axis=1),
            np.concatenate([self.true, addend.true]),
            np.concatenate([self.probabilities, addend.probabilities]),
            self.classes,
            np.concatenate([self.base, addend.base]),
        )

    @property
    def outcomes(self) -> RankedRows:
        """The probability and outcome of the positive class, or of each row's most probable class."""
        ranked: RankedRows = self.compute_once("outcomes", self._build_outcomes)
        return ranked

    def _build_outcomes(self) -> RankedRows:
        weights = None if (self.base == 1).all() else self.base
        if len(self.classes) == 2 and self.classes.positive is not None:
            column = np.ascontiguousarray(self.probabilities[:, self.classes.positive])
            return RankedRows(self.true == self.classes.positive, column, weights)
        return RankedRows(self.true == self.probabilities.argmax(axis=1), self.probabilities.max(axis=1), weights)

    @property
    def true_class_probabilities(self) -> FloatArray:
        """The predicted probability of each row's true class."""
        probabilities: FloatArray = self.compute_once(
            "true_class_probabilities", lambda: np.take_along_axis(self.probabilities, self.true[:, None], axis=1)[:, 0]
        )
        return probabilities

    @property
    def one_hot_labels(self) -> FloatArray:
        """The true classes in one-hot encoding."""
        one_hot: FloatArray = self.compute_once("one_hot_labels", lambda: np.eye(len(self.classes))[self.true])
        return one_hot

    @cached_property
    def class_proportions(self) -> FloatArray:
        """The weighted proportion of each true class in each resample; shape (R, k)."""
        return compute_ratio(self.weights @ self.one_hot_labels, self.weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ValueRows(WeightedRows):
    """True and predicted number of each row."""

    true: FloatArray
    predicted: FloatArray

    @classmethod
    def read(cls, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None) -> ValueRows:
        """Check true and predicted numbers."""
        true = _check.check_finite("y_true", _check.check_numbers("y_true", _check.check_column("y_true", y_true)))
        predicted = _check.check_finite("y_pred", _check.check_numbers("y_pred", _check.check_column("y_pred", y_pred)))
        _check.check_same_length(y_true=true, y_pred=predicted)
        _check.check_magnitude("y_true", true)
        _check.check_magnitude("y_pred", predicted)
        weights, (true, predicted) = _check.drop_zero_weights(sample_weight, true, predicted)
        return cls((np.ones(len(true)) if weights is None else weights)[None], true, predicted)
