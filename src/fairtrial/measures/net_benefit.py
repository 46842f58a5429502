"""Net benefit of acting on predicted probabilities, and decision curves.

At a threshold t, a false positive costs t / (1 - t) times the benefit of a true positive. The net benefit of a model is a mean
over rows, and so is the difference in net benefit between two models. Both are weighted sums of proportions of rows. Their
confidence limits are computed from the Wilson limits for these proportions (MOVER, Zou & Donner 2008) and from the correlations
between the proportions in a multinomial sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.auc_inference import compute_t_quantile
from fairtrial.measures.intervals import compute_normal_quantile, read_clusters
from fairtrial.measures.measure import measure, set_limits
from fairtrial.measures.rows import OutcomeSample, RankedRows, ScoreRows
from fairtrial.measures.tally import ScoreTally

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_THRESHOLD = 0.5
DEFAULT_THRESHOLDS = np.arange(1, 100) / 100
TREAT_ALL, TREAT_NONE = "treat all", "treat none"

_ONE_CLUSTER = "all rows are in one cluster, so the confidence limits are undefined"


@measure(
    needs="outcomes",
    direction="max",
    range=(-np.inf, 1),
    cite="Vickers & Elkin 2006",
    undefined="there are no rows",
)
def net_benefit(tally: ScoreTally, *, threshold: float = DEFAULT_THRESHOLD) -> FloatArray:
    """Net benefit: true positives minus false positives times the odds of the threshold.

    True and false positives are proportions of all rows, so a net benefit of 0.039 means 39 net true positives per 1,000 rows.
    A row is predicted positive, i.e. treated, if its probability is at least `threshold`. Treating no rows has a net benefit of
    0. Treating all rows has the net benefit of a model whose probabilities are all 1.

    If there are more than two classes and no positive class is given, each row's most probable class is used. The row is
    predicted positive if the probability of this class is at least `threshold`. It is a true positive if this class is also
    the true class.

    Parameters
    ----------
    threshold : float, default 0.5
        Lowest probability at which a row is treated. It must lie between 0 and 1. At a threshold t, a false positive costs t /
        (1 - t) times the benefit of a true positive.

    Examples
    --------
    >>> from fairtrial.measures import net_benefit
    >>> net_benefit([1, 1, 0, 0], [0.9, 0.3, 0.4, 0.1], threshold=0.2)  # 2 / 4 - 1 / 4 * 0.2 / 0.8
    0.4375
    """
    _check.check_between("threshold", threshold, 0, 1)
    is_treated = tally.values >= threshold
    treated_pos, treated_neg = ((counts * is_treated).sum(axis=-1) for counts in (tally.pos, tally.neg))
    return compute_ratio(treated_pos - treated_neg * threshold / (1 - threshold), tally.positives + tally.negatives)


@set_limits(net_benefit)
def _limit_net_benefit(
    sample: OutcomeSample, level: float, threshold: float = DEFAULT_THRESHOLD
) -> tuple[float, float, str, str]:
    thresholds = np.array([threshold])
    decisions = _Decisions.from_sample(sample, thresholds)
    _, low, high = decisions.compare(sample.values, None, level)
    return float(low[0]), float(high[0]), "mover", _ONE_CLUSTER if np.isnan(low[0]) else ""


@dataclass(frozen=True)
class _Decisions:
    """Outcomes and weights of rows, and the thresholds that determine which rows are treated.

    If the rows come from a tally, `counts` contains the number of rows that each entry represents. If rows are not weighted,
    `weights` is None.
    """

    thresholds: FloatArray
    is_positive: npt.NDArray[np.bool_]
    counts: FloatArray | None = None
    weights: FloatArray | None = None
    clusters: IntArray | None = None

    @classmethod
    def from_sample(cls, sample: OutcomeSample, thresholds: FloatArray) -> _Decisions:
        """Build the decisions from the rows of a sample, in the order of `sample.values`."""
        return cls(thresholds, sample.is_positive, sample.counts, sample.weights, sample.clusters)

    def compare(
        self, first: FloatArray | None, second: FloatArray | None, level: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute the difference in net benefit, first minus second, with confidence limits.

        `first` and `second` contain the scores of the rows. Pass None to treat no rows, or infinite scores to treat all rows.
        """
        first_bins, second_bins = self._assign_bins(first), self._assign_bins(second)
        weights = np.ones(len(self.is_positive)) if self.weights is None else self.weights
        weights = weights if self.counts is None else weights * self.counts
        odds = self.thresholds / (1 - self.thresholds)
        total = weights.sum()
        # Rows that only the first model or only the second model treats: true positives, then false positives.
        sums = [
            self._sum_treated(low, high, chosen, weights) for low, high, chosen in self._list_cells(first_bins, second_bins)
        ]
        proportions = np.stack(sums) / total
        factors = np.stack([np.ones_like(odds), -np.ones_like(odds), -odds, odds])
        estimate = (factors * proportions).sum(axis=0)
        effective, quantile = self._count_effective_rows(estimate, proportions, factors, first_bins, second_bins, level)
        # If a strategy treats no row or all rows, some cells are impossible. They must not widen the limits.
        only_first = first is not None and not _treats_all(second)
        only_second = second is not None and not _treats_all(first)
        possible = np.array([only_first, only_second, only_first, only_second])
        low, high = compute_linear_limits(proportions[possible], factors[possible], effective, quantile)
        return estimate, low, high

    def _assign_bins(self, scores: FloatArray | None) -> IntArray:
        """Count the thresholds at which each row is treated."""
        if scores is None:
            return np.zeros(len(self.is_positive), dtype=np.intp)
        return np.searchsorted(self.thresholds, scores, side="right")

    def _list_cells(self, first: IntArray, second: IntArray) -> list[tuple[IntArray, IntArray, npt.NDArray[np.bool_]]]:
        cells = []
        for is_outcome in (self.is_positive, ~self.is_positive):
            cells += [(second, first, is_outcome & (first > second)), (first, second, is_outcome & (second > first))]
        return cells

    def _sum_treated(self, low: IntArray, high: IntArray, chosen: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
        """Sum the weights of the chosen rows at each threshold.

        A row counts at the thresholds with index `low` to `high` - 1.
        """
        size = len(self.thresholds) + 1
        starts, stops = (np.bincount(bins[chosen], weights[chosen], minlength=size) for bins in (low, high))
        return np.cumsum(starts - stops)[:-1]

    def _count_effective_rows(
        self,
        estimate: FloatArray,
        proportions: FloatArray,
        factors: FloatArray,
        first: IntArray,
        second: IntArray,
        level: float,
    ) -> tuple[FloatArray, float]:
        """Compute the effective number of rows at each threshold, and the quantile for the limits.

        The effective number of rows is the number of independent rows that would give the same variance.
        """
        if self.clusters is None and self.weights is None:
            rows = float(len(self.is_positive)) if self.counts is None else float(self.counts.sum())
            return np.full(len(estimate), rows), compute_normal_quantile(level)
        weights = np.ones(len(self.is_positive)) if self.weights is None else self.weights
        total, size = weights.sum(), len(self.thresholds) + 1
        if self.clusters is None:
            squares = np.stack([self._sum_treated(*cell, weights**2) for cell in self._list_cells(first, second)])
            whole = (weights**2).sum()
            spread = ((factors - estimate) ** 2 * squares).sum(axis=0) + estimate**2 * (whole - squares.sum(axis=0))
            units, kish, quantile = float(len(weights)), float(total**2 / whole), compute_normal_quantile(level)
        else:
            n_clusters = int(self.clusters.max()) + 1
            if n_clusters < 2:
                return np.full(len(estimate), np.nan), np.nan
            weight_sums = np.bincount(self.clusters, weights, minlength=n_clusters)
            net = np.zeros((2, n_clusters, size))
            for sign, (low, high, chosen) in zip((1, -1, 1, -1), self._list_cells(first, second), strict=True):
                outcome = 0 if self.is_positive[chosen].all() else 1
                np.add.at(net[outcome], (self.clusters[chosen], low[chosen]), sign * weights[chosen])
                np.add.at(net[outcome], (self.clusters[chosen], high[chosen]), -sign * weights[chosen])
            treated = np.cumsum(net, axis=2)[:, :, :-1]
            sums = treated[0] - self.thresholds / (1 - self.thresholds) * treated[1]
            spread = ((sums - estimate * weight_sums[:, None]) ** 2).sum(axis=0)
            units, quantile = float(n_clusters), compute_t_quantile(level, n_clusters - 1)
            kish = float(total**2 / (weight_sums**2).sum())
        variance = spread * units / (units - 1) / total**2 if units > 1 else np.full(len(estimate), np.nan)
        independent = (factors**2 * proportions).sum(axis=0) - estimate**2
        most = kish if self.clusters is None else float(total**2 / (weights**2).sum())
        has_spread = (variance > 0) & (independent > 0)
        effective = np.divide(independent, variance, out=np.full(len(estimate), kish), where=has_spread)
        return np.minimum(effective, most), quantile


def _treats_all(scores: FloatArray | None) -> bool:
    return scores is not None and bool(np.isposinf(scores).all())


def compute_linear_limits(
    proportions: FloatArray, factors: FloatArray, rows: FloatArray, quantile: float
) -> tuple[FloatArray, FloatArray]:
    """Compute confidence limits for a weighted sum of multinomial proportions.

    The limits are computed from the Wilson limits for the proportions. Each entry on the first axis of `proportions` and
    `factors` is a term of the sum.

    >>> low, high = compute_linear_limits(np.array([[0.25]]), np.array([[1.0]]), np.array([20.0]), 1.959964)
    >>> np.round([low[0], high[0]], 4)  # the Wilson limits of 5 of 20
    array([0.1119, 0.4687])
    """
    z2, proportions = quantile**2, np.clip(proportions, 0.0, 1.0)  # sums of weights may exceed 1 by a rounding error
    centre, scale = proportions + z2 / (2 * rows), 1 + z2 / rows
    half = quantile * np.sqrt(proportions * (1 - proportions) / rows + z2 / (4 * rows**2))
    below = proportions - np.where(proportions <= 0, 0.0, (centre - half) / scale)
    above = np.where(proportions >= 1, 1.0, (centre + half) / scale) - proportions
    estimate = (factors * proportions).sum(axis=0)
    odds = np.sqrt(compute_ratio(proportions, 1 - proportions))
    limits = []
    for sign, down, up in ((-1, below, above), (1, above, below)):
        distances = factors * np.where(factors > 0, down, up)
        square = (distances**2).sum(axis=0)
        for k, m in combinations(range(len(factors)), 2):
            with np.errstate(invalid="ignore"):  # the product of infinite and zero odds is not used
                product = np.minimum(odds[k] * odds[m], 1.0)
            correlation = np.where((proportions[k] > 0) & (proportions[m] > 0), -product, 0.0)
            square = square + 2 * correlation * distances[k] * distances[m]
        limits.append(estimate + sign * np.sqrt(np.maximum(square, 0.0)))
    return limits[0], limits[1]


def decision_curve(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike | Mapping[str, npt.ArrayLike],
    thresholds: npt.ArrayLike | None = None,
    *,
    level: float = 0.95,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    cluster: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Compute the net benefit of one or more models at many thresholds, with confidence limits.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, k), or mapping of str to array-like
        Probabilities of the positive class, or one column per class. To compare several models, pass a mapping
        from names to arrays.
    thresholds : array-like, optional
        Thresholds between 0 and 1. Default: 0.01, 0.02, ..., 0.99.
    level : float, default 0.95
        Confidence level of the limits. The limits are valid for each threshold separately.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        All classes, in the order of the score columns. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent.

    Returns
    -------
    DataFrame
        One row per model and threshold, with columns `model` (if `y_score` is a mapping), `threshold`, `net_benefit`, `low`,
        `high`, `treat_all` and `treat_none`. The last two columns contain the net benefits of treating all rows and of treating
        none.

    See Also
    --------
    decision_differences : Differences between models, and between each model and treating all rows or none.

    References
    ----------
    Vickers & Elkin (2006), Medical Decision Making 26, 565-574. Zou & Donner (2008), Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    >>> from fairtrial.measures import decision_curve
    >>> decision_curve([1, 1, 0, 0], [0.9, 0.3, 0.4, 0.1], [0.2, 0.5]).round(3)
       threshold  net_benefit    low   high  treat_all  treat_none
    0        0.2        0.438  0.013  0.819      0.375         0.0
    1        0.5        0.250 -0.281  0.699      0.000         0.0
    """
    import pandas as pd

    models, decisions = _read_models(y_true, y_score, thresholds, level, positive, labels, sample_weight, cluster)
    treat_all = decisions.compare(np.full(len(decisions.is_positive), np.inf), None, level)[0]
    parts = []
    for name, scores in models.items():
        estimate, low, high = decisions.compare(scores, None, level)
        columns = {"threshold": decisions.thresholds, "net_benefit": estimate, "low": low, "high": high}
        frame = pd.DataFrame({**columns, "treat_all": treat_all, "treat_none": 0.0})
        if isinstance(y_score, Mapping):
            frame.insert(0, "model", name)
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


def decision_differences(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike | Mapping[str, npt.ArrayLike],
    thresholds: npt.ArrayLike | None = None,
    *,
    level: float = 0.95,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    cluster: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Compare the net benefits of models with each other and with simple strategies.

    Each model is compared with all other models, with treating all rows, and with treating none. All comparisons are paired.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, k), or mapping of str to array-like
        Probabilities of the positive class, or one column per class. To compare several models, pass a mapping
        from names to arrays.
    thresholds : array-like, optional
        Thresholds between 0 and 1. Default: 0.01, 0.02, ..., 0.99.
    level : float, default 0.95
        Confidence level of the limits. The limits are valid for each difference and threshold separately.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        All classes, in the order of the score columns. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent.

    Returns
    -------
    DataFrame
        One row per pair and threshold, with columns `first`, `second` (a model, "treat all" or "treat none"), `threshold`,
        `difference` (first minus second), `low` and `high`.

    Examples
    --------
    >>> from fairtrial.measures import decision_differences
    >>> decision_differences([1, 1, 0, 0], [0.9, 0.3, 0.4, 0.1], [0.2]).round(3)
       first      second  threshold  difference    low   high
    0  model   treat all        0.2       0.062 -0.430  0.175
    1  model  treat none        0.2       0.438  0.013  0.819
    """
    import pandas as pd

    models, decisions = _read_models(y_true, y_score, thresholds, level, positive, labels, sample_weight, cluster)
    reserved = {TREAT_ALL, TREAT_NONE} & set(models)
    if reserved:
        raise InputError(f"y_score must not name a model {reserved.pop()!r}, which is a strategy: rename the model")
    pairs: list[tuple[str, str]] = list(combinations(models, 2))
    pairs += [(name, strategy) for name in models for strategy in (TREAT_ALL, TREAT_NONE)]
    everything: dict[str, FloatArray | None] = {
        **models,
        TREAT_ALL: np.full(len(decisions.is_positive), np.inf),
        TREAT_NONE: None,
    }
    parts = []
    for first, second in pairs:
        estimate, low, high = decisions.compare(everything[first], everything[second], level)
        parts.append(
            pd.DataFrame(
                {
                    "first": first,
                    "second": second,
                    "threshold": decisions.thresholds,
                    "difference": estimate,
                    "low": low,
                    "high": high,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def compute_sample_curve(sample: OutcomeSample, thresholds: FloatArray, level: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute the decision curve of a sample, and the differences from treating all rows."""
    import pandas as pd

    decisions = _Decisions.from_sample(sample, thresholds)
    everything = np.full(len(sample.values), np.inf)
    estimate, low, high = decisions.compare(sample.values, None, level)
    columns = {"threshold": thresholds, "net_benefit": estimate, "low": low, "high": high}
    curve = pd.DataFrame({**columns, "treat_all": decisions.compare(everything, None, level)[0], "treat_none": 0.0})
    estimate, low, high = decisions.compare(sample.values, everything, level)
    differences = {"threshold": thresholds, "difference": estimate, "low": low, "high": high}
    return curve, pd.DataFrame({"second": TREAT_ALL, **differences})


def _read_models(
    y_true: npt.ArrayLike,
    y_score: Any,
    thresholds: npt.ArrayLike | None,
    level: float,
    positive: object,
    labels: Sequence[Any] | None,
    sample_weight: npt.ArrayLike | None,
    cluster: npt.ArrayLike | None,
) -> tuple[dict[str, FloatArray], _Decisions]:
    """Check the input; return the scores of each model and the decisions that all models share."""
    _check.check_between("level", level, 0, 1)
    models = dict(y_score) if isinstance(y_score, Mapping) else {"model": y_score}
    if not models:
        raise InputError("y_score must contain at least 1 model, got none")
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    rows = {str(name): _read_probabilities(y_true, scores, options) for name, scores in models.items()}
    first = next(iter(rows.values()))
    clusters = read_clusters(cluster, sample_weight)
    if clusters is not None:
        _check.check_same_length(y_true=first.is_positive, cluster=clusters)
    decisions = _Decisions(check_thresholds(thresholds), first.is_positive, None, first.weights, clusters)
    return {name: ranked.scores for name, ranked in rows.items()}, decisions


def _read_probabilities(y_true: npt.ArrayLike, y_score: npt.ArrayLike, options: dict[str, Any]) -> RankedRows:
    rows = ScoreRows.read(y_true, y_score, **options)
    if len(rows.classes) > 2:
        rows.classes.require_positive(" because a decision curve is computed for one class")
    _check.check_probabilities("y_score", rows.scores)
    return rows.binary


def check_thresholds(thresholds: npt.ArrayLike | None) -> FloatArray:
    """Check that thresholds lie between 0 and 1; return them sorted and without duplicates.

    If `thresholds` is None, return the default thresholds.
    """
    if thresholds is None:
        return DEFAULT_THRESHOLDS
    values = _check.check_finite("thresholds", _check.check_numbers("thresholds", np.atleast_1d(np.asarray(thresholds))))
    if not values.size:
        raise InputError("thresholds must contain at least 1 number, got none")
    outside = values[(values <= 0) | (values >= 1)]
    if outside.size:
        first = float(outside[0])
        remedy = f"pass {first / 100:g} for {first:g} %" if 1 < first < 100 else "leave it out"
        raise InputError(f"thresholds must lie between 0 and 1, got {first:g}: {remedy}")
    return np.unique(values)
