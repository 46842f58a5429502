"""Building blocks for scores: stacked predictions, class orders, splits and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import Classes, FloatArray, IntArray
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.rows import ProbabilityRows, ScoreRows
from fairtrial.measures.tally import ScoreTally, tally_models
from fairtrial.study.archive import Archive, DataFacts
from fairtrial.study.records import ABSTAINED, Predictions
from fairtrial.study.results.selection import mask_failed

if TYPE_CHECKING:
    import pandas as pd


BoolArray = npt.NDArray[np.bool_]

_SPLIT = ["dataset", "repeat", "fold"]
_ROUNDING = 1e-5
"""Tolerance for the sum of probabilities, the same as in the measures."""
_OUTSIDE = 1e-9
"""Tolerance for probabilities below 0 or above 1, the same as in the measures. Such probabilities are clipped."""


@dataclass(frozen=True)
class ClassOrder:
    """The order of the classes of a data set, and the positive class.

    `order` contains indices into `declared`. `positive` is an index into `order`, or None.
    """

    declared: tuple[Any, ...]
    order: tuple[int, ...]
    positive: int | None

    @classmethod
    def from_facts(cls, facts: DataFacts, positive: object = None) -> ClassOrder:
        """Build the sorted order of the classes that have rows.

        If there are two classes, the second one is the default positive class.

        >>> rare = DataFacts("rare", "", ("sick", "healthy"), np.array([0, 1, 1]), np.arange(3))
        >>> order = ClassOrder.from_facts(rare)
        >>> order.order, order.positive, order.names[order.positive]
        ((1, 0), 1, 'sick')
        """
        occurring = np.flatnonzero(facts.counts)
        indices = occurring.tolist() if len(occurring) > 1 else list(range(len(facts.classes)))
        return cls(facts.classes, tuple(_sort_classes(facts.classes, indices)), None)._with_positive(positive)

    @classmethod
    def from_datasets(
        cls, datasets: Sequence[DataFacts], positive: object = None, declared: Mapping[str, Any] | None = None
    ) -> tuple[ClassOrder, ...]:
        """Build the class order of each data set.

        `declared` maps data sets to positive classes. `positive` overrides these classes: it is a class, or a mapping of data
        sets to classes. A single class applies to the data sets that contain it. All other data sets keep their declared or
        default positive class.
        """
        positives = {**(declared or {}), **_resolve_positives(datasets, positive)}
        return tuple(cls.from_facts(facts, positives.get(facts.name)) for facts in datasets)

    def include_all_classes(self) -> ClassOrder:
        """Return the order of all declared classes, including classes without rows."""
        positive_name = None if self.positive is None else self.names[self.positive]
        wider = replace(self, order=tuple(_sort_classes(self.declared, list(range(len(self.declared))))), positive=None)
        return wider._with_positive(positive_name)

    def _with_positive(self, positive: object) -> ClassOrder:
        if positive is not None:
            return replace(self, positive=self.names.index(positive))
        return replace(self, positive=1 if len(self.order) == 2 else None)

    @property
    def names(self) -> list[Any]:
        """Names of the classes in order."""
        return [self.declared[index] for index in self.order]

    @cached_property
    def positions(self) -> IntArray:
        """Position of each declared class in the order, or -1 if the class is left out."""
        positions = np.full(len(self.declared), -1, dtype=np.intp)
        positions[list(self.order)] = np.arange(len(self.order))
        return positions

    def to_positions(self, prediction: IntArray) -> IntArray:
        """Convert predicted classes to positions in `order`, but leave abstentions unchanged."""
        return np.where(prediction == ABSTAINED, ABSTAINED, self.positions[prediction])

    @cached_property
    def classes(self) -> Classes:
        """The classes in the form that measures accept."""
        names = np.empty(len(self.order), dtype=object)
        names[:] = self.names
        return Classes(names, self.positive)


def _sort_classes(classes: tuple[Any, ...], indices: list[int]) -> list[int]:
    try:
        return sorted(indices, key=lambda index: classes[index])
    except TypeError:
        return indices


def _resolve_positives(datasets: Sequence[DataFacts], positive: object) -> dict[str, Any]:
    if positive is None:
        return {}
    if isinstance(positive, Mapping):
        facts_by_name = {facts.name: facts for facts in datasets}
        for name, label in positive.items():
            if name not in facts_by_name:
                raise InputError(
                    f"positive must name data sets of the study, got {name!r}: {suggest_name(name, facts_by_name)}"
                )
            if label not in facts_by_name[name].classes:
                hint = suggest_name(label, facts_by_name[name].classes)
                raise InputError(f"positive must be a class of the data set {name!r}, got {label!r}: {hint}")
        return dict(positive)
    positives = {facts.name: positive for facts in datasets if positive in facts.classes}
    if not positives:
        hint = suggest_name(positive, {label for facts in datasets for label in facts.classes})
        raise InputError(f"positive must be a class of one of the data sets, got {positive!r}: {hint}")
    return positives


@dataclass(frozen=True, eq=False)
class SplitGrid:
    """A table of the scores of one measure under one condition.

    Rows are splits (data set, repeat, fold), and columns are learners. A learner that failed on any split of a data set has no
    values on this data set.
    """

    values: pd.DataFrame

    @classmethod
    def from_scores(cls, scores: pd.DataFrame) -> SplitGrid:
        """Build the grid from a table of scores."""
        import pandas as pd

        plain = scores.assign(dataset=scores["dataset"].astype(object), learner=scores["learner"].astype(object))
        lost = pd.Series(mask_failed(scores), index=scores.index).groupby([plain["dataset"], plain["learner"]]).transform("any")
        return cls(plain.assign(value=scores["value"].where(~lost)).pivot(index=_SPLIT, columns="learner", values="value"))

    @cached_property
    def shared(self) -> BoolArray:
        """Mask of the shared splits, on which every learner has a value.

        Learners without any value on the data set are ignored.

        >>> import pandas as pd
        >>> splits = pd.MultiIndex.from_product([["iris"], [0], [0, 1, 2]], names=["dataset", "repeat", "fold"])
        >>> nan = float("nan")
        >>> values = pd.DataFrame({"tree": [0.9, nan, 0.8], "bayes": [0.9, 0.7, 0.9], "none": [nan, nan, nan]}, splits)
        >>> SplitGrid(values).shared.tolist()
        [True, False, True]
        """
        has_value = self.values.notna()
        somewhere = has_value.groupby(level="dataset", sort=False).transform("any")
        return np.asarray((has_value | ~somewhere).all(axis=1), dtype=bool)

    def compute_means(self) -> pd.DataFrame:
        """Compute the mean score of each learner on each data set over the shared splits.

        Data sets without shared splits are left out.
        """
        return self.values[self.shared].groupby(level="dataset", sort=False).mean()


def keep_shared_splits(scores: pd.DataFrame) -> pd.DataFrame:
    """Set scores outside the shared splits to NaN, separately for each measure and condition."""
    where = ["measure", "condition", "level"]
    plain = scores.assign(known=scores["value"].notna(), lost=mask_failed(scores))

    def transform_groups(keys: list[str], column: str, how: Literal["any", "all"]) -> pd.Series[bool]:
        reduced: pd.Series[bool] = plain.groupby([*where, *keys], observed=True, dropna=False)[column].transform(how)
        return reduced

    plain["known"] &= ~transform_groups(["dataset", "learner"], "lost", "any")
    plain["fits"] = plain["known"] | ~transform_groups(["dataset", "learner"], "known", "any")
    return scores.assign(value=scores["value"].where(plain["known"] & transform_groups(_SPLIT, "fits", "all")))


def compute_test_fraction(archive: Archive, dataset: str, splits: list[tuple[int, int]]) -> float:
    """Compute the fraction of rows that are test rows, averaged over splits.

    Duplicate training rows count once. If no group has rows in both sets of a split, groups are counted instead of rows. The
    reason is that rows of the same group are not independent. The fraction is NaN if no split has training rows.
    """
    facts = next(facts for facts in archive.datasets if facts.name == dataset)
    groups = facts.groups
    fractions = []
    for repeat, fold in splits:
        train, test = archive.split(dataset, repeat, fold)
        in_training = np.zeros(len(facts.codes), dtype=bool)
        in_training[train] = True
        sizes = int(np.count_nonzero(in_training)), len(test)
        if groups is not None and not find_straddling_groups(groups, train, test).size:
            sizes = len(np.unique(groups[train])), len(np.unique(groups[test]))
        fractions.append(sizes[1] / sum(sizes))
    fraction = float(np.mean(fractions))
    return fraction if fraction < 1 else float("nan")


def find_straddling_groups(groups: IntArray, train: IntArray, test: IntArray) -> IntArray:
    """Find the groups that have rows in both sets of a split.

    >>> find_straddling_groups(np.array([0, 0, 1, 1, 2]), np.array([0, 2, 3]), np.array([1, 4])).tolist()
    [0]
    """
    return np.intersect1d(groups[train], groups[test])


def compute_half_width(contributions: FloatArray, test_fraction: float, alpha: float) -> float:
    """Compute the half-width of the t interval for a mean over splits, or NaN for one split.

    The variance of the mean is (1 / J + f / (1 - f)) times the variance of the J contributions (Nadeau & Bengio 2003). Here, f
    is the fraction of test rows. There are J - 1 degrees of freedom.

    >>> round(compute_half_width(np.array([0.8, 0.9, 0.7, 0.8]), 0.25, 0.05), 3)
    0.198
    """
    from scipy.stats import t

    J = len(contributions)
    if J < 2:
        return float("nan")
    spread = np.sqrt((1 / J + test_fraction / (1 - test_fraction)) * contributions.var(ddof=1))
    return float(t.ppf(1 - alpha / 2, J - 1) * spread)


def compute_mean_half_width(values: FloatArray, alpha: float) -> float:
    """Compute the half-width of the t interval for a mean over independent data sets."""
    return compute_half_width(values, 0.0, alpha)


@dataclass(frozen=True, eq=False)
class Stack:
    """A stack of B trials with n test rows each.

    `true` and `predicted` contain positions in the order of the k classes, and have the shape (B, n). `scores` has the shape
    (B, n, k), or is None. Either all trials have abstentions, or none do.
    """

    true: IntArray
    predicted: IntArray
    scores: FloatArray | None
    kind: str | None
    order: ClassOrder

    @classmethod
    def iter_groups(cls, trials: Sequence[Predictions], order: ClassOrder) -> Iterator[tuple[IntArray, Stack]]:
        """Stack trials with the same number of test rows and the same kind of scores.

        Yield each stack with the indices of its trials. If a trial predicts a class without rows, or assigns such a class a
        positive probability, its stack uses all declared classes. Trials with and without abstentions are stacked separately.
        """
        groups: dict[tuple[int, str | None], list[int]] = {}
        for index, predictions in enumerate(trials):
            score_kind = predictions.score_kind if predictions.scores is not None else None
            groups.setdefault((len(predictions.y_true), score_kind), []).append(index)
        wider = order.include_all_classes()
        for (_, kind), indices in groups.items():
            members = [trials[index] for index in indices]
            shape = len(members), -1
            true = np.concatenate([predictions.y_true for predictions in members]).reshape(shape)
            predicted = np.concatenate([predictions.prediction for predictions in members]).reshape(shape)
            scores = None
            if kind is not None:
                k = len(order.declared)
                scores = np.concatenate([member.scores for member in members if member.scores is not None]).reshape(*shape, k)
            has_unknown = _mask_unknown_classes(order, true, predicted, scores, kind)
            abstains = (predicted == ABSTAINED).any(axis=1)
            for mask, seen_order in (
                (~has_unknown & ~abstains, order),
                (~has_unknown & abstains, order),
                (has_unknown & ~abstains, wider),
                (has_unknown & abstains, wider),
            ):
                if mask.any():
                    positions, predicted_positions = seen_order.positions[true[mask]], seen_order.to_positions(predicted[mask])
                    picked = None if scores is None else scores[mask][:, :, list(seen_order.order)]
                    yield np.array(indices)[mask], cls(positions, predicted_positions, picked, kind, seen_order)

    @cached_property
    def confusion(self) -> Confusion:
        """Confusion matrices of all trials.

        Abstentions count as an extra last label that is never the true class.
        """
        k = len(self.order.order)
        return self._count_confusion(
            np.where(self.abstained, k, self.predicted), [*self.order.names, *["abstained"] * self.abstains]
        )

    @cached_property
    def confusion_as_errors(self) -> Confusion:
        """Confusion matrices in which each abstention counts as a wrong class."""
        wrong = (self.true + 1) % len(self.order.order)
        return self._count_confusion(np.where(self.abstained, wrong, self.predicted), self.order.names)

    def _count_confusion(self, predicted: IntArray, labels: Sequence[Any]) -> Confusion:
        k, trials = len(labels), len(self.true)
        cells = np.arange(trials)[:, None] * (k * k) + self.true * k + predicted
        table = np.bincount(cells.ravel(), minlength=trials * k * k).reshape(trials, k, k)
        return Confusion(table.astype(np.float64), tuple(labels), self.order.positive)

    @cached_property
    def abstained(self) -> BoolArray:
        """Mask of the abstentions, with shape (B, n)."""
        return np.asarray(self.predicted == ABSTAINED)

    @cached_property
    def abstains(self) -> bool:
        """Whether the trials have abstentions."""
        return bool(self.abstained.any())

    @cached_property
    def support(self) -> FloatArray:
        """Number of test rows of each class, with shape (B, k)."""
        return self.confusion.true[:, : len(self.order.order)]

    @cached_property
    def finite(self) -> BoolArray:
        """Mask of the trials with finite scores."""
        if self.scores is None:
            return np.zeros(len(self.true), dtype=bool)
        return np.asarray(np.isfinite(self.scores).all(axis=(1, 2)))

    @cached_property
    def has_probabilities(self) -> BoolArray:
        """Mask of the trials whose scores are probabilities."""
        if self.scores is None or self.kind != "probability":
            return np.zeros(len(self.true), dtype=bool)
        with np.errstate(invalid="ignore"):
            inside = ((self.scores >= -_OUTSIDE) & (self.scores <= 1 + _OUTSIDE)).all(axis=(1, 2))
            return np.asarray(inside & (np.abs(self.scores.sum(axis=2) - 1) <= _ROUNDING).all(axis=1))

    @cached_property
    def _tallies(self) -> dict[int, ScoreTally]:
        return {}

    def tally(self, code: int) -> ScoreTally:
        """Tally the scores of one class. Rows of all other classes count as negatives."""
        if code not in self._tallies:
            column = np.ascontiguousarray(np.where(self.finite[:, None], self._get_column(code), 0.0))
            self._tallies[code] = tally_models(self.true == code, column)
        return self._tallies[code]

    def _get_column(self, code: int) -> FloatArray:
        assert self.scores is not None
        return self.scores[:, :, code]

    def make_score_rows(self, trial: int) -> ScoreRows:
        """Return the rows of one trial, for measures that use the scores of all classes."""
        assert self.scores is not None
        return ScoreRows(self.true[trial], np.ascontiguousarray(self.scores[trial]), None, self.order.classes)

    @cached_property
    def _probabilities(self) -> tuple[IntArray, FloatArray, Classes]:
        """True classes, probabilities and class order.

        If there are more than two classes and one of them is positive, the other classes are combined into one.
        """
        assert self.scores is not None
        positive, probabilities = self.order.positive, np.clip(self.scores, 0.0, 1.0)
        if positive is None or len(self.order.order) == 2:
            return self.true, probabilities, self.order.classes
        probability = probabilities[:, :, positive]
        names = np.array(["the rest", str(self.order.names[positive])])
        return (self.true == positive).astype(np.intp), np.stack([1 - probability, probability], axis=-1), Classes(names, 1)

    def make_probability_rows(self, trial: int) -> ProbabilityRows:
        """Return the rows of one trial, for measures of probabilities."""
        true, matrix, classes = self._probabilities
        ones = np.ones(true.shape[1])
        return ProbabilityRows(ones[None], true[trial], np.ascontiguousarray(matrix[trial]), classes, ones)

    def make_mean_rows(self) -> MeanRows:
        """Return the rows of all trials together, for measures that are based on means over rows."""
        true, matrix, classes = self._probabilities
        return MeanRows(true.ravel(), matrix.reshape(true.size, -1), classes, true.shape)


@dataclass(frozen=True, eq=False)
class MeanRows:
    """The rows of several trials, with the interface of `ProbabilityRows`."""

    true: IntArray
    probabilities: FloatArray
    classes: Classes
    shape: tuple[int, ...]
    cached_values: dict[Any, Any] = field(default_factory=dict)

    def mean(self, contributions: FloatArray) -> FloatArray:
        """Compute the mean over the rows of each trial."""
        return np.asarray(contributions.reshape(self.shape).mean(axis=1))

    @cached_property
    def true_class_probabilities(self) -> FloatArray:
        """Predicted probability of the true class of each row."""
        return np.take_along_axis(self.probabilities, self.true[:, None], axis=1)[:, 0]

    @cached_property
    def one_hot_labels(self) -> FloatArray:
        """One-hot encoded true classes."""
        return np.eye(len(self.classes))[self.true]

    def compute_once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Compute a value on first use and cache it, as `ProbabilityRows` does."""
        if key not in self.cached_values:
            self.cached_values[key] = compute()
        return self.cached_values[key]


def _mask_unknown_classes(
    order: ClassOrder, true: IntArray, predicted: IntArray, scores: FloatArray | None, kind: str | None
) -> BoolArray:
    """Make a mask of the trials that contain a class outside `order`."""
    left_out = np.flatnonzero(order.positions < 0)
    if not len(left_out):
        return np.zeros(len(true), dtype=bool)
    has_unknown = np.isin(true, left_out).any(axis=1) | np.isin(predicted, left_out).any(axis=1)
    if kind == "probability" and scores is not None:
        has_unknown |= (scores[:, :, left_out] > 0).any(axis=(1, 2))
    return np.asarray(has_unknown)
