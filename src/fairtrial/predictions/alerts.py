"""Goals for thresholds, cross-fitting, and intervals for rates and costs at a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.measures.bootstrap import compute_bca_limits, compute_distances, compute_percentile_limits
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import (
    Interval,
    compute_clustered_wilson_limits,
    compute_normal_quantile,
    compute_wilson_limits,
)
from fairtrial.measures.measure import LabelMeasure
from fairtrial.measures.tally import ScoreTally
from fairtrial.predictions.read import ScoreKind
from fairtrial.predictions.statistics import MANY_ROWS, NO_VARIATION, CountIntervals, InMemoryModel, JudgeSettings, omit_limits
from fairtrial.significance.costs import (
    PER_CASES,
    CostUnits,
    compute_cost_limits,
    compute_row_costs,
    compute_sum_variance,
    count_class_units,
)

GoalKind = Literal["costs", "recall", "precision", "alerts"]
Limits = tuple[float, float]

FOLDS = 10
"""Largest number of folds of cross-fitting."""

RATES = {"recall": ((0,), (0, 2)), "precision": ((0,), (0, 1)), "alert_rate": ((0, 1), (0, 1, 2, 3))}
"""Columns in the numerator and the denominator of each rate. The columns are TP, FP, FN and TN."""

UNDEFINED = {
    "recall": "there are no positives",
    "precision": "no case is predicted positive",
    "alert_rate": "there are no cases",
}

_REPEATS = 5
_MIN_BOOTSTRAP_CLUSTERS = 5
_MAX_JACKKNIFE, _MAX_CANDIDATES, _FEW_CANDIDATES = 2000, 400, 60
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Goal:
    """Goal that determines how a threshold is chosen.

    Attributes
    ----------
    kind : {"costs", "recall", "precision", "alerts"}
        Lowest cost, a minimum recall or precision, or a maximum number of alerts per 1,000 cases.
    value : float
        Required minimum or allowed maximum. Ignored for costs.
    costs : (float, float)
        Costs of a false positive and a false negative.
    """

    kind: GoalKind
    value: float = float("nan")
    costs: tuple[float, float] = (1.0, 1.0)

    def choose(self, pos: FloatArray, neg: FloatArray) -> int:
        """Return the index of the best threshold, given the class counts at each score.

        Scores must be in descending order. An index of -1 means a threshold above all scores. For costs, the threshold with the
        lowest cost is chosen, and ties are broken in favour of the highest threshold. For recall, the highest threshold that
        meets the goal is chosen. For precision and alerts, the lowest threshold that meets the goal is chosen.

        >>> Goal("recall", 0.5).choose(np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 3.0]))
        0
        """
        tp, fp = np.cumsum(pos), np.cumsum(neg)
        positives, total = float(tp[-1]), float(tp[-1] + fp[-1])
        if self.kind == "costs":
            values = np.where(pos + neg > 0, self.costs[0] * fp + self.costs[1] * (positives - tp), np.inf)
            tolerance = _ROUNDING * sum(self.costs) * total
            if self.costs[1] * positives < values.min() - tolerance:
                return -1
            return int(np.argmax(values <= values.min() + tolerance))
        if self.kind == "recall":
            return int(np.argmax(tp >= self.value * positives * (1 - _ROUNDING)))
        if self.kind == "precision":
            reached = tp >= self.value * (tp + fp) * (1 - _ROUNDING)
        else:
            reached = tp + fp <= self.value / PER_CASES * total * (1 + _ROUNDING)
        allowed = np.flatnonzero(reached & (pos + neg > 0))
        return int(allowed[-1]) if len(allowed) else -1


@dataclass(frozen=True, eq=False)
class AlertCells:
    """Counts of true positives, false positives, false negatives and true negatives at a threshold.

    Attributes
    ----------
    cells : ndarray of shape (units, 4)
        Total weight of TP, FP, FN and TN in each unit. A unit is a cluster or a weighted row. If `is_plain`, all rows form a
        single unit.
    is_plain : bool
        Whether rows are independent and unweighted.
    scale : float
        Factor that converts the total weight to the effective number of rows.
    has_clusters : bool
        Whether the units are clusters.
    effective : float or None
        Effective number of units in the smaller class, or None if rows are independent and unweighted.
    """

    cells: FloatArray
    is_plain: bool
    scale: float = 1.0
    has_clusters: bool = False
    effective: float | None = None

    def adjust_level(self, level: float) -> float:
        """Raise the confidence level if the smaller class has few effective units.

        Limits are computed with a t quantile for the number of units. At the adjusted level, this quantile equals the quantile
        for the effective number of units in the smaller class.
        """
        if self.effective is None or len(self.cells) < 2:
            return level
        from scipy.stats import t as student

        quantile = student.ppf((1 + level) / 2, max(1.0, min(len(self.cells), self.effective) - 1))
        return float(1 - 2 * student.sf(quantile, len(self.cells) - 1))

    @cached_property
    def totals(self) -> FloatArray:
        """The total weights of true positives, false positives, false negatives and true negatives."""
        return np.asarray(self.cells.sum(axis=0))

    def compute_rate(self, name: str, level: float) -> Interval:
        """Compute recall, precision or the alert rate, with a Wilson interval."""
        numerator, denominator = (self.cells[:, columns].sum(axis=1) for columns in map(list, RATES[name]))
        return self._compute_proportion(name, numerator, denominator, level, UNDEFINED[name])

    def compute_cost(self, costs: tuple[float, float], level: float) -> Interval:
        """Compute the cost per 1,000 cases, with a confidence interval."""
        _, fp, fn, _ = self.totals.tolist()
        total = float(self.totals.sum())
        estimate = PER_CASES * (costs[0] * fp + costs[1] * fn) / total
        scaled = self.cells * self.scale
        low, high = compute_cost_limits(scaled[:, 1], scaled[:, 2], scaled.sum(axis=1), costs, self.adjust_level(level))
        note = "the confidence limits are undefined with one cluster" if math.isnan(high) else ""
        return Interval("cost", estimate, PER_CASES * low, PER_CASES * high, level, "score", note)

    def compute_measure(self, measure: LabelMeasure, settings: JudgeSettings) -> Interval:
        """Compute a label-based measure with a confidence interval. If the measure is undefined, the note gives the reason."""
        table = to_confusion(self.totals)
        if self.is_plain:
            interval = CountIntervals(settings).from_table(measure, table)
        elif measure.facts.proportion:
            successes, trials = measure.count_table_successes(to_confusion(self.cells))
            return self._compute_proportion(measure.name, successes, trials, settings.level, measure.facts.undefined)
        else:
            interval = self._bootstrap(measure, float(measure.of(table)), settings)
        if math.isnan(interval.estimate):
            return omit_limits(interval, f"undefined because {measure.facts.undefined}")
        return interval

    def _compute_proportion(self, name: str, successes: FloatArray, trials: FloatArray, level: float, reason: str) -> Interval:
        nan, total = float("nan"), float(trials.sum())
        if total <= 0:
            return Interval(name, nan, nan, nan, level, "", f"undefined because {reason}")
        if self.is_plain:
            limits = compute_wilson_limits(float(successes.sum()), total, level)
        else:
            limits = compute_clustered_wilson_limits(successes * self.scale, trials * self.scale, self.adjust_level(level))
        note = "the confidence limits are undefined with one cluster" if math.isnan(limits[0]) else ""
        return Interval(name, float(successes.sum()) / total, *limits, level, "wilson", note)

    def _bootstrap(self, measure: LabelMeasure, estimate: float, settings: JudgeSettings) -> Interval:
        """Bootstrap whole units. Compute BCa limits, or percentile limits if there are too many units for a jackknife."""
        units, level = len(self.cells), settings.level
        interval = Interval(measure.name, estimate, float("nan"), float("nan"), level, "")
        if self.has_clusters and units < _MIN_BOOTSTRAP_CLUSTERS:
            return omit_limits(
                interval, f"no confidence limits, because there are fewer than {_MIN_BOOTSTRAP_CLUSTERS} clusters"
            )
        rng = np.random.default_rng(settings.seed)
        drawn = np.array(
            [
                np.bincount(rng.integers(units, size=units), minlength=units) @ self.cells
                for _ in range(settings.limit_resamples(units))
            ]
        )
        values = np.asarray(measure.of(to_confusion(drawn)))
        values = values[~np.isnan(values)]
        if not len(values) or not compute_distances(values, estimate).any():
            return omit_limits(interval, NO_VARIATION)
        limits = None
        if units <= _MAX_JACKKNIFE:
            jackknife = np.asarray(measure.of(to_confusion(self.totals - self.cells)))
            limits = compute_bca_limits(values, estimate, jackknife, level)
        method = "percentile" if limits is None else "bca"
        low, high = limits or compute_percentile_limits(values, level)
        return Interval(measure.name, estimate, low, high, level, method)


def to_confusion(cells: FloatArray) -> Confusion:
    """Build one or more confusion matrices. The last axis of `cells` contains TP, FP, FN and TN."""
    tp, fp, fn, tn = np.moveaxis(np.maximum(cells, 0.0), -1, 0)
    return Confusion(np.stack([np.stack([tn, fp], axis=-1), np.stack([fn, tp], axis=-1)], axis=-2), (0, 1), 1)


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """Scores of a model for the positive class, and the true class of each row.

    Attributes
    ----------
    dataset, model : str
        Names of the data set and the model.
    kind : {"probability", "decision"}
        Whether the scores are probabilities or decision values.
    is_positive : ndarray of bool
        Whether each row is positive.
    values : ndarray
        Distinct scores in descending order.
    index : ndarray of int
        For each row, the index of its score in `values`.
    weights : ndarray or None
        Weight of each row.
    clusters : ndarray or None
        Cluster code of each row. Codes start at 0.
    """

    dataset: str
    model: str
    kind: ScoreKind
    is_positive: npt.NDArray[np.bool_]
    values: FloatArray
    index: IntArray
    weights: FloatArray | None = None
    clusters: IntArray | None = None

    @classmethod
    def from_model(cls, model: InMemoryModel) -> ScoredCases:
        """Extract the positive-class scores of a model. The model must have scores and a positive class."""
        assert model.scores is not None
        assert model.positive is not None
        assert model.kind is not None
        values, index = np.unique(model.scores[:, model.positive], return_inverse=True)
        clusters = None if model.clusters is None else np.unique(model.clusters, return_inverse=True)[1]
        return cls(
            model.dataset,
            model.name,
            model.kind,
            model.y_true == model.positive,
            values[::-1].copy(),
            len(values) - 1 - index,
            model.weights,
            clusters,
        )

    @property
    def is_plain(self) -> bool:
        """Whether rows are independent and unweighted."""
        return self.weights is None and self.clusters is None

    @cached_property
    def tally(self) -> ScoreTally:
        """The total weights of positives and negatives at each score."""
        pos, neg = (self._sum_by_score(self.is_positive == flag) for flag in (True, False))
        return ScoreTally(self.values, pos, neg)

    def _sum_by_score(self, values: npt.NDArray[Any]) -> FloatArray:
        weighted = values if self.weights is None else values * self.weights
        return np.bincount(self.index, weighted, minlength=len(self.values)).astype(np.float64)

    @cached_property
    def scale(self) -> float:
        """The factor that converts the total weight to the effective number of rows (Kish 1965)."""
        return 1.0 if self.weights is None else float(self.weights.sum() / (self.weights**2).sum())

    @cached_property
    def effective(self) -> float | None:
        """Effective number of units in the smaller class, or None if `is_plain` is true."""
        return count_class_units(self.is_positive, self.weights, self.clusters)

    def make_units(self, costs: tuple[float, float]) -> CostUnits:
        """Build the independent units (rows or clusters) for the comparison of costs."""
        return CostUnits(costs, len(self.index), self.weights, self.clusters, self.effective)

    def get_threshold(self, index: int) -> float:
        """Return the threshold at an index. The index -1 stands for infinity."""
        return float(self.values[index]) if index >= 0 else float("inf")

    def find_index(self, threshold: float) -> int:
        """Find the index of the lowest score that is at least the threshold. Return -1 if all scores are lower."""
        return len(self.values) - int(np.searchsorted(self.values[::-1], threshold, side="left")) - 1

    def count_alerts(self, alert: FloatArray) -> AlertCells:
        """Count TP, FP, FN and TN in each unit.

        `alert` contains the proportion of positive predictions for each row.
        """
        parts = [self.is_positive * alert, ~self.is_positive * alert, self.is_positive * (1 - alert)]
        columns = np.column_stack([*parts, ~self.is_positive * (1 - alert)])
        if self.weights is not None:
            columns *= self.weights[:, None]
        if self.clusters is not None:
            columns = np.column_stack([np.bincount(self.clusters, column) for column in columns.T])
        elif self.weights is None:
            columns = columns.sum(axis=0, keepdims=True)
        return AlertCells(columns, self.is_plain, self.scale, self.clusters is not None, self.effective)

    def count_at(self, thresholds: Sequence[float]) -> Iterator[AlertCells]:
        """Count TP, FP, FN and TN at each threshold."""
        if self.is_plain:
            cells = np.column_stack(self.tally.count_cells(thresholds))
            yield from (AlertCells(row[None], True) for row in cells)
            return
        for threshold in thresholds:
            yield self.count_alerts((self.index <= self.find_index(threshold)).astype(np.float64))

    def cross_fit(self, goal: Goal, seed: int) -> FloatArray | None:
        """Predict each row at the threshold chosen on the other folds.

        Return the proportion of repeats in which each row is predicted positive. Folds are drawn anew in each repeat. Only one
        repeat is used for very large files. Return None if a class has fewer than two rows or clusters.

        Cross-fitting is not needed for an alert budget, because its threshold is chosen without labels. All rows are then
        predicted at the threshold chosen on all rows. The same applies to recall and precision goals if cross-fitting changes
        only predictions of tied scores, in groups with at least as many rows as there are folds.
        """
        on_same_rows = (self.index <= goal.choose(self.tally.pos, self.tally.neg)).astype(np.float64)
        if goal.kind == "alerts":
            return on_same_rows
        folds = self.folds
        if folds < 2:
            return None
        repeats = _REPEATS if len(self.index) <= MANY_ROWS else 1
        alert = np.zeros(len(self.index))
        for repeat in range(repeats):
            fold = self._draw_folds(folds, np.random.default_rng([seed, repeat]))
            chosen = np.empty(folds, dtype=np.intp)
            for number in range(folds):
                is_other = fold != number
                pos, neg = (self._sum_by_score(is_other & (self.is_positive == flag)) for flag in (True, False))
                chosen[number] = goal.choose(pos, neg)
            alert += self.index <= chosen[fold]
        alert /= repeats
        if goal.kind != "costs" and (np.bincount(self.index)[self.index[alert != on_same_rows]] >= folds).all():
            return on_same_rows
        return alert

    @cached_property
    def folds(self) -> int:
        """The number of folds for cross-fitting. Cross-fitting is impossible with fewer than two folds."""
        return min(FOLDS, self._count_units(True), self._count_units(False))

    def _count_units(self, flag: bool) -> int:
        members = self.is_positive == flag
        return int(members.sum()) if self.clusters is None else len(np.unique(self.clusters[members]))

    def _draw_folds(self, folds: int, rng: np.random.Generator) -> IntArray:
        """Assign the rows of each class to folds in turn.

        If there are clusters, whole clusters are assigned, starting with those that contain the most positives.
        """
        if self.clusters is None:
            fold = np.empty(len(self.index), dtype=np.intp)
            for flag in (True, False):
                members = np.flatnonzero(self.is_positive == flag)
                fold[rng.permutation(members)] = (np.arange(len(members)) + rng.integers(folds)) % folds
            return fold
        positives = np.bincount(self.clusters, self.is_positive)
        order = np.lexsort((rng.random(len(positives)), -positives))
        of_cluster = np.empty(len(positives), dtype=np.intp)
        of_cluster[order] = np.arange(len(positives)) % folds
        return of_cluster[self.clusters]

    def find_threshold_limits(self, goal: Goal, chosen: int, alert: FloatArray | None, level: float) -> Limits:
        """Find confidence limits for the best threshold in the population.

        For costs, the limits enclose all thresholds whose cost is not significantly higher than the cross-fitted cost
        (one-sided test). Because no threshold costs less than the best one, the limits contain the best threshold with a
        probability of at least `level`. For rates, the limits enclose the thresholds around the chosen one that may be the
        best. A threshold is excluded if its rate significantly misses the goal. It is also excluded if a neighbouring threshold
        is preferable and its rate significantly meets the goal.
        """
        if goal.kind == "costs":
            if alert is None:
                return float("nan"), float("nan")
            candidates, accepted = self._test_costs(goal.costs, alert, level)
            members = np.flatnonzero(accepted)
        else:
            candidates, accepted = self._test_rates(goal, chosen, level)
            start = int(np.searchsorted(candidates, chosen))
            rejected = np.flatnonzero(~accepted)
            first, last = (
                rejected[rejected < start].max(initial=-1) + 1,
                rejected[rejected > start].min(initial=len(accepted)) - 1,
            )
            members = np.array([first, last])
        indices = [chosen, *(int(candidates[member]) for member in members[[0, -1]])] if len(members) else [chosen]
        # A threshold can be lowered to just above the next lower score without changing any label, so this score is the lower
        # limit. If there is no lower score, there is no lower limit.
        lowest = max(indices) + 1
        low = self.get_threshold(lowest) if lowest < len(self.values) else float("-inf")
        return low, self.get_threshold(min(indices))

    def _list_candidates(self, chosen: int | None = None) -> IntArray:
        """List the indices of all thresholds, or of a subset if there are too many.

        The numbers of rows between neighbouring thresholds of the subset are about equal. With very many clustered or weighted
        rows, the subset is smaller to save time.
        """
        count = _MAX_CANDIDATES if self.is_plain or len(self.index) <= MANY_ROWS else _FEW_CANDIDATES
        if len(self.values) <= count:
            return np.arange(-1, len(self.values))
        cumulative = np.cumsum(self.tally.pos + self.tally.neg)
        marks = np.searchsorted(cumulative, np.linspace(0, cumulative[-1], count)[1:-1])
        extra = [-1, len(self.values) - 1, *([] if chosen is None else [chosen])]
        return np.unique(np.append(np.minimum(marks, len(self.values) - 1), extra))

    def _test_costs(
        self, costs: tuple[float, float], alert: FloatArray, level: float
    ) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        units = self.make_units(costs)
        reference = compute_row_costs(self.is_positive, alert, costs)
        one_sided = 2 * level - 1
        quantile = float("inf") if units.count < 2 else units.compute_quantile(one_sided) if one_sided > 0 else 0.0
        without, with_alert = (compute_row_costs(self.is_positive, np.full(len(alert), flag), costs) for flag in (0.0, 1.0))
        if self.clusters is None:
            total, squares = (
                self._accumulate((without - reference) ** power, (with_alert - reference) ** power, power) for power in (1, 2)
            )
            n = units.rows
            variance = np.maximum((squares - total**2 / n) * n / (n - 1), 0.0)
            candidates = np.arange(-1, len(self.values))
        else:
            candidates = self._list_candidates()
            total, variance = np.zeros((2, len(candidates)))
            for position, candidate in enumerate(candidates):
                cluster_sums = units.sum_units(np.where(self.index <= candidate, with_alert, without) - reference)
                total[position] = cluster_sums.sum()
                variance[position] = compute_sum_variance(cluster_sums, cluster_sums) if len(cluster_sums) > 1 else 0.0
        return candidates, total <= quantile * np.sqrt(variance + 2 * units.error_variance)

    def _accumulate(self, without: FloatArray, with_alert: FloatArray, power: int) -> FloatArray:
        """At each threshold, sum `with_alert` over the alerts and `without` over all other rows.

        In these sums, weights are raised to `power`.
        """
        weights = 1.0 if self.weights is None else self.weights**power
        start = float((weights * without).sum())
        steps = np.bincount(self.index, weights * (with_alert - without), minlength=len(self.values))
        return start + np.append(0.0, np.cumsum(steps))

    def _test_rates(self, goal: Goal, chosen: int, level: float) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        candidates = self._list_candidates(chosen)
        name = "alert_rate" if goal.kind == "alerts" else goal.kind
        low, high = self._compute_rate_limits(name, candidates, level)
        value = goal.value / PER_CASES if goal.kind == "alerts" else goal.value
        if goal.kind == "recall":  # the highest threshold that reaches the goal: the next higher one does not
            return candidates, (high >= value) & (np.append(-np.inf, low[:-1]) < value)
        if goal.kind == "precision":  # the lowest threshold that reaches the goal: the next lower one does not
            return candidates, (high >= value) & (np.append(low[1:], -np.inf) < value)
        return candidates, (low <= value) & (np.append(high[1:], np.inf) > value)

    def _compute_rate_limits(self, name: str, candidates: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Compute confidence limits for a rate at each candidate threshold. The limits for an undefined rate are 0 and 1."""
        if self.is_plain:
            z = compute_normal_quantile(level)
            tp, fp = (np.append(0.0, np.cumsum(counts))[candidates + 1] for counts in (self.tally.pos, self.tally.neg))
            cells = np.stack([tp, fp, self.tally.positives - tp, self.tally.negatives - fp])
            successes, trials = (cells[list(columns)].sum(axis=0) for columns in RATES[name])
            safe = np.maximum(trials, 1.0)
            rate = successes / safe
            centre, scale = rate + z * z / (2 * safe), 1 + z * z / safe
            half = z * np.sqrt(rate * (1 - rate) / safe + z * z / (4 * safe * safe))
            low, high = (centre - half) / scale, (centre + half) / scale
            return np.where(successes > 0, low, 0.0), np.where(successes < trials, high, 1.0)
        limits = [self.count_alerts((self.index <= index).astype(np.float64)).compute_rate(name, level) for index in candidates]
        low, high = (np.array([getattr(interval, side) for interval in limits]) for side in ("low", "high"))
        return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
