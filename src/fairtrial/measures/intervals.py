"""Confidence intervals for measures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._text import format_html_table, format_interval, format_number
from fairtrial.errors import FallbackWarning, InputError, UndefinedMeasureWarning
from fairtrial.kernels.delong import compute_auc_variance
from fairtrial.measures import bootstrap, ranking
from fairtrial.measures.auc_inference import AucEstimate, compute_t_quantile, estimate_auc
from fairtrial.measures.bootstrap import Compute, Resamples
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.measure import LabelMeasure, Measure, OutcomeMeasure, get_measure, registry
from fairtrial.measures.rows import DrawCounts, LabelRows, OutcomeSample, ProbabilityRows, ScoreRows
from fairtrial.measures.tally import ScoreTally

if TYPE_CHECKING:
    import pandas as pd

ConfidenceLimits = tuple[float, float]


def compute_wilson_limits(successes: float, trials: float, level: float) -> ConfidenceLimits:
    """Compute the Wilson score interval for a proportion (Wilson 1927).

    >>> low, high = compute_wilson_limits(81, 263, 0.95)  # Newcombe 1998, Table I, method 3
    >>> round(low, 4), round(high, 4)
    (0.2553, 0.3662)
    """
    return compute_score_limits(successes, trials, compute_normal_quantile(level))


def compute_score_limits(successes: float, trials: float, z: float) -> ConfidenceLimits:
    """Compute the Wilson score limits for a proportion, given the normal quantile `z`."""
    proportion = successes / trials
    centre = proportion + z * z / (2 * trials)
    half = z * math.sqrt(proportion * (1 - proportion) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # With 0 or n successes, a limit is exactly 0 or 1, without rounding errors.
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return low, high


def compute_weighted_wilson_limits(successes: float, total: float, squares: float, level: float) -> ConfidenceLimits:
    """Compute the Wilson interval for a weighted proportion from the effective sample size.

    The effective sample size (Kish 1965) is the squared sum of the weights divided by the sum of the squared weights.

    >>> # 263 cases, each with a weight of 2
    >>> compute_weighted_wilson_limits(162, 526, 1052, 0.95) == compute_wilson_limits(81, 263, 0.95)
    True
    """
    if not squares > 0:  # the weights are so small that their squares are zero
        return math.nan, math.nan
    effective = total / squares * total
    return compute_wilson_limits(successes / total * effective, effective, level)


def compute_clustered_wilson_limits(successes: FloatArray, trials: FloatArray, level: float) -> ConfidenceLimits:
    """Compute the Wilson interval for a proportion from the counts in each cluster.

    The effective sample size is the number of trials divided by the design effect, which is at least 1. If all trials are
    successes or all are failures, the effective sample size is the number of clusters. The limits are NaN if there is only one
    cluster.

    >>> low, high = compute_clustered_wilson_limits(np.array([8.0, 5, 9, 6]), np.full(4, 10.0), 0.95)
    >>> low < 0.7 < high
    True
    """
    return make_clustered_wilson_limits(successes, trials)(level)


def make_clustered_wilson_limits(successes: FloatArray, trials: FloatArray) -> Callable[[float], ConfidenceLimits]:
    """Return a function that maps a confidence level to Wilson limits for clustered rows."""
    is_used = trials > 0
    successes, trials = successes[is_used], trials[is_used]
    count, total = len(trials), float(trials.sum())
    if count < 2:
        return lambda _: (math.nan, math.nan)
    proportion = float(successes.sum()) / total
    independent = proportion * (1 - proportion) * total
    clustered = float(((successes - proportion * trials) ** 2).sum()) * count / (count - 1)
    effective = total / max(1.0, clustered / independent) if independent > 0 else min(float(count), total)
    return lambda level: compute_score_limits(proportion * effective, effective, compute_t_quantile(level, count - 1))


def compute_clopper_pearson_limits(successes: float, trials: float, level: float) -> ConfidenceLimits:
    """Compute the exact, conservative interval of Clopper and Pearson (1934).

    >>> low, high = compute_clopper_pearson_limits(81, 263, 0.95)  # Newcombe 1998, Table I, method 5
    >>> round(low, 4), round(high, 4)
    (0.2527, 0.3676)
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high


def compute_wald_limits(successes: float, trials: float, level: float) -> ConfidenceLimits:
    """Compute the Gaussian (Wald) interval p +- z sqrt(p (1 - p) / n), truncated to [0, 1].

    The interval is provided for comparison only.

    >>> low, high = compute_wald_limits(81, 263, 0.95)  # Newcombe 1998, Table I, method 1
    >>> round(low, 4), round(high, 4)
    (0.2522, 0.3638)
    """
    proportion = successes / trials
    half = compute_normal_quantile(level) * math.sqrt(proportion * (1 - proportion) / trials)
    return max(0.0, proportion - half), min(1.0, proportion + half)


def compute_delong_limits(auc: float, variance: float, level: float) -> ConfidenceLimits:
    """Compute DeLong's interval on the logit scale.

    The AUC must lie strictly between 0 and 1, and its variance must be positive.
    """
    logit = math.log(auc / (1 - auc))
    half = compute_normal_quantile(level) * math.sqrt(variance) / (auc * (1 - auc))
    return _compute_logistic(logit - half), _compute_logistic(logit + half)


def compute_newcombe_limits(auc: float, tally: ScoreTally, level: float) -> ConfidenceLimits:
    """Compute the score interval of Newcombe (2006, method 5) for an AUC.

    The interval remains valid for AUCs near 0 and 1.
    """
    from scipy.optimize import brentq

    positives, negatives = float(tally.positives), float(tally.negatives)
    spare = (positives + negatives) / 2 - 1
    z = compute_normal_quantile(level)

    def compute_excess(theta: float) -> float:
        spread = theta * (1 - theta) / (positives * negatives)
        spread *= 1 + spare * (1 - theta) / (2 - theta) + spare * theta / (1 + theta)
        return (theta - auc) ** 2 - z * z * spread

    low = 0.0 if auc == 0 else float(brentq(compute_excess, 0, auc if compute_excess(auc) < 0 else auc * (1 - 1e-12)))
    high = 1.0 if auc == 1 else float(brentq(compute_excess, auc if compute_excess(auc) < 0 else auc + (1 - auc) * 1e-12, 1))
    return low, high


def compute_normal_quantile(level: float) -> float:
    """Return z such that a standard normal value is between -z and z with probability `level`."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _compute_logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


_MAX_CLUSTER_CELLS = 1 << 26
# With two clusters, the raised confidence level of a bootstrap interval could be rounded to 1.
_MAX_LEVEL = 1 - 1e-9
_ONE_CLUSTER = "all rows are in one cluster, so the confidence limits are undefined"

WITHOUT_LIMITS = {
    "calibration_error": "no confidence limits, because the estimate is biased upwards and bootstrap estimates are biased even "
    "more"
}
"""Measures without confidence limits, and the reasons. Bootstrap limits of the calibration error are not valid."""

METHODS = ("auto", "bca", "percentile", "wilson", "clopper-pearson", "wald", "score", "delong", "newcombe")
_PROPORTION_LIMITS: dict[str, Callable[[float, float, float], ConfidenceLimits]] = {
    "wilson": compute_wilson_limits,
    "clopper-pearson": compute_clopper_pearson_limits,
    "wald": compute_wald_limits,
}
_WALD_NOTE = "for comparison only, because Wald limits can cover much less often than stated"
_METHOD_NAMES = {
    "bca": "BCa bootstrap",
    "percentile": "percentile bootstrap",
    "wilson": "Wilson",
    "clopper-pearson": "Clopper-Pearson",
    "score": "score",
    "delong": "DeLong",
    "newcombe": "Newcombe",
    "profile": "profile likelihood",
    "wald": "Wald",
    "mover": "MOVER",
    "none": "no interval",
}


@dataclass(frozen=True, repr=False)
class Interval:
    """An estimate with confidence limits.

    Attributes
    ----------
    measure : str
        Name of the measure.
    estimate, low, high : float
        Estimate and confidence limits.
    level : float
        Confidence level.
    method : str
        Interval method, such as "wilson" or "bca".
    note : str
        Explains why a method other than the requested one was used, or why the limits are unreliable; otherwise empty.

    Examples
    --------
    >>> print(interval("accuracy", [1, 0, 1, 0], [1, 0, 1, 1]))
    accuracy 0.75, 95 % CI 0.3006 to 0.9544 (Wilson)
    """

    measure: str
    estimate: float
    low: float
    high: float
    level: float
    method: str
    note: str = ""

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row."""
        import pandas as pd

        return pd.DataFrame([vars(self)])

    def __str__(self) -> str:
        limits = format_interval(self.low, self.high, self.level, "{:.4g}")
        name = registry[self.measure].display_name if self.measure in registry else self.measure
        if math.isnan(self.estimate) and self.note:
            return f"{name}: {self.note}"
        text = f"{name} {format_number(self.estimate, '{:.4g}')}, {limits} ({_METHOD_NAMES.get(self.method, self.method)})"
        return text + (f"; {self.note}" if self.note else "")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return format_html_table(self.frame())


def interval(
    measure: str | Measure | Callable[..., float],
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    method: str = "auto",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    stratified: bool = False,
    positive: object = None,
    labels: Any = None,
    sample_weight: npt.ArrayLike | None = None,
    average: Any = "auto",
    cluster: npt.ArrayLike | None = None,
    **params: Any,
) -> Interval:
    """Compute a confidence interval for a measure.

    If a method is not applicable, another method is used, a `FallbackWarning` is issued, and the result contains a note. For
    example, DeLong's method is not applicable if the AUC is 1.

    Parameters
    ----------
    measure : str, Measure or callable
        Measure, or a function of (y_true, y_score) that is called once per resample.
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like
        Predicted labels, scores, probabilities or values, depending on the measure.
    method : str, default "auto"
        One of the following:

        - "auto": For unweighted rows, "wilson" for proportions and "score" for two-class AUCs. Calibration measures and net
          benefit have their own methods. All other measures use "bca".
        - "bca", "percentile": Bootstrap intervals.
        - "wilson", "clopper-pearson": Intervals for proportions of unweighted rows, e.g. accuracy, recall and precision.
        - "wald": Gaussian interval for the same proportions. It is provided for comparison only: its coverage is far below the
          nominal level if there are few rows or the proportion is near 0 or 1.
        - "score", "delong", "newcombe": Intervals for two-class AUCs of unweighted rows. "score" uses Wilson limits with an
          effective number of cases and remains valid with few cases. "delong" uses the logit scale.
    level : float, default 0.95
        Confidence level.
    resamples : int, default 2000
        Number of bootstrap resamples.
    seed : int, default 0
        Seed of the bootstrap.
    stratified : bool, default False
        Whether to resample the rows of each class separately.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        All classes, in the order of the score columns. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    average : str, default "auto"
        Averaging over classes, as in a call to the measure.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent.
    **params : Any
        Parameters of the measure.

    Returns
    -------
    Interval

    Examples
    --------
    >>> y, s = [0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9]
    >>> found = interval("auc", y, s)
    >>> round(found.low, 3), round(found.high, 3), found.method
    (0.426, 0.985, 'score')
    """
    clusters = read_clusters(cluster, sample_weight, stratified)
    plan = IntervalPlan(str(method).replace("_", "-"), level, resamples, seed, stratified, clusters)
    if not isinstance(measure, (str, Measure)) and not callable(measure):
        raise InputError(f"measure must be a measure, its name or a function, got {measure!r}")
    if not isinstance(measure, (str, Measure)):
        return _bootstrap_function(measure, y_true, y_score, plan, sample_weight, params)
    resolved_measure = get_measure(measure)
    if average is None:
        raise InputError("average must not be None for an interval: pass average='macro', average='weighted' or positive=")
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    rows = resolved_measure.read_rows(y_true, y_score, **options)
    bound_measure = BoundMeasure(resolved_measure, rows, {"average": average, **params})
    return compute_intervals([bound_measure], plan)[0]


@dataclass(frozen=True)
class IntervalPlan:
    """Options for computing confidence intervals."""

    method: str
    level: float
    resamples: int
    seed: int
    stratified: bool
    clusters: IntArray | None = field(default=None, compare=False)
    """Code of the cluster of each row."""

    def __post_init__(self) -> None:
        _check.check_one_of("method", self.method, METHODS)
        if self.clusters is not None and self.method in ("clopper-pearson", "wald", "delong", "newcombe"):
            raise InputError(
                f"method must be 'auto', 'wilson', 'score', 'bca' or 'percentile' with clusters, got {self.method!r}"
            )
        if isinstance(self.level, (int, float)) and 1 < self.level < 100:
            raise InputError(f"level must lie between 0 and 1, got {self.level!r}: did you mean {self.level / 100:g}?")
        _check.check_between("level", self.level, 0, 1)
        _check.check_whole_number("resamples", self.resamples, 2)
        _check.check_whole_number("seed", self.seed, 0)

    def build_resamples(self, rows: Any) -> Resamples:
        """Build the bootstrap resamples of the given rows."""
        strata = rows.true if self.stratified else None
        if strata is not None and strata.dtype.kind == "f":
            raise InputError("stratified must be False for measures of numbers, which have no classes")
        if self.clusters is not None:
            _check.check_same_length(y_true=rows.true, cluster=self.clusters)
        return Resamples(len(rows.true), self.resamples, self.seed, strata, self.clusters)


def count_effective_rows(weights: FloatArray, clusters: IntArray | None = None) -> float:
    """Compute the number of independent, unweighted rows that would give the same precision.

    This effective number (Kish 1965) is (sum of W)^2 / sum of W^2, where W is the total weight of a row or cluster. If all rows
    or clusters have the same total weight, it equals the number of rows or clusters.

    >>> count_effective_rows(np.ones(6)), count_effective_rows(np.ones(6), np.array([0, 0, 1, 1, 2, 2]))
    (6.0, 3.0)
    """
    totals = weights if clusters is None else np.bincount(clusters, weights)
    squares = float((totals**2).sum())
    return float(totals.sum()) ** 2 / squares if squares else 0.0


def read_clusters(
    cluster: npt.ArrayLike | None, sample_weight: npt.ArrayLike | None = None, stratified: bool = False
) -> IntArray | None:
    """Encode the clusters as integers from 0, and drop rows with a weight of zero.

    >>> read_clusters(["ann", "bob", "ann"])
    array([0, 1, 0])
    """
    import pandas as pd

    if cluster is None:
        return None
    if stratified:
        raise InputError("stratified must be False with clusters: a cluster may contain rows of several classes")
    column = _check.check_column("cluster", cluster)
    if sample_weight is not None:
        _, (column,) = _check.drop_zero_weights(sample_weight, column)
    codes = pd.factorize(column)[0]
    if (codes < 0).any():
        raise InputError(f"cluster must not be missing, got an empty value in row {int(np.argmax(codes < 0))}: fill it")
    return codes.astype(np.intp)


@dataclass(frozen=True)
class BoundMeasure:
    """A measure together with the rows and parameters from which it is computed."""

    measure: Measure
    rows: Any
    params: dict[str, Any]

    def __post_init__(self) -> None:
        formula_params = {name: value for name, value in self.params.items() if name != "average"}
        self.measure.check(self.params["average"], formula_params)

    def estimate(self) -> float:
        """Compute the value; return NaN without a warning if it is undefined."""
        return float(self.measure.compute_values(self.rows, **self.params)[0])

    def compute_resampled(self, draw_counts: DrawCounts) -> FloatArray:
        """Compute the value of the measure for each resample."""
        values = self.measure.compute_values(self.rows, draw_counts, **self.params)
        if values.shape != (len(draw_counts),):
            raise InputError(
                f"the formula of {self.measure.name} must return one value per resample, got shape {values.shape} "
                f"for {len(draw_counts)} resamples: reduce only the last axes of the arrays"
            )
        return values

    @property
    def is_plain_auc(self) -> bool:
        """Whether this is a two-class AUC of unweighted rows."""
        return (
            self.measure is ranking.auc
            and isinstance(self.rows, ScoreRows)
            and self.rows.weights is None
            and self.rows.classes.positive is not None
            and self.params["average"] in ("auto", "binary")
        )

    @property
    def is_plain_proportion(self) -> bool:
        """Whether this is a proportion of unweighted rows."""
        if not self.measure.facts.proportion:
            return False
        if isinstance(self.rows, ProbabilityRows):
            return bool((self.rows.base == 1).all())
        if self.rows.weights is not None or not isinstance(self.rows, LabelRows):
            return self.rows.weights is None
        if not self.measure.facts.per_class:
            return True
        if self.params["average"] == "micro":
            # Each row must be a single trial. For example, micro specificity counts every row once for each other class.
            return self.count_successes()[1] == len(self.rows.true)
        return self.rows.classes.positive is not None and self.params["average"] in ("auto", "binary")

    def count_successes(self) -> tuple[float, float]:
        """Return the numerator and the denominator of a proportion."""
        if isinstance(self.measure, LabelMeasure):
            return self.measure.count_successes(self.rows, **self.params)
        return float(self._list_successes().sum()), float(len(self.rows.true))

    def _list_successes(self) -> FloatArray:
        """Return the success of each row as a number from 0 to 1."""
        params = {name: value for name, value in self.params.items() if name != "average"}
        return np.asarray(self.measure.formula(self.rows, **params), dtype=np.float64)

    def count_cluster_successes(self, clusters: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the numerator and denominator of a proportion for each cluster.

        Return None if the tables would need too much memory.
        """
        _check.check_same_length(y_true=self.rows.true, cluster=clusters)
        if not isinstance(self.measure, LabelMeasure):
            successes = np.bincount(clusters, self._list_successes()).astype(np.float64)
            return successes, np.bincount(clusters).astype(np.float64)
        k, count = len(self.rows.classes), int(clusters.max()) + 1
        if count * k * k > _MAX_CLUSTER_CELLS:
            return None
        cells = (clusters * k + self.rows.true) * k + self.rows.predicted
        tables = np.bincount(cells, minlength=count * k * k).reshape(count, k, k).astype(float)
        batch = Confusion(tables, tuple(self.rows.classes.names.tolist()), self.rows.classes.positive)
        return self.measure.count_table_successes(batch, **self.params)


def compute_intervals(bound_measures: list[BoundMeasure], plan: IntervalPlan) -> list[Interval]:
    """Compute intervals for several measures on the same rows.

    All bootstrap intervals use the same resamples.
    """
    intervals: dict[int, Interval] = {}
    to_draw: list[int] = []
    for i, bound_measure in enumerate(bound_measures):
        closed_form = _compute_closed_form(bound_measure, plan)
        if closed_form is None:
            to_draw.append(i)
        else:
            intervals[i] = closed_form
    if to_draw:
        bootstrap_intervals = _bootstrap_intervals([bound_measures[i] for i in to_draw], plan)
        intervals.update(zip(to_draw, bootstrap_intervals, strict=True))
    return [intervals[i] for i in range(len(bound_measures))]


def _compute_closed_form(bound_measure: BoundMeasure, plan: IntervalPlan) -> Interval | None:
    name = bound_measure.measure.name
    if plan.method in _PROPORTION_LIMITS or (plan.method == "auto" and bound_measure.is_plain_proportion):
        if not bound_measure.is_plain_proportion:
            raise InputError(f"method={plan.method!r} needs a proportion of unweighted rows, got {name}: use 'bca'")
        return _compute_proportion_interval(bound_measure, plan)
    if isinstance(bound_measure.measure, OutcomeMeasure) and (
        plan.method == "auto" or not bound_measure.measure.is_bootstrapped
    ):
        return _compute_outcome_interval(bound_measure, plan, bound_measure.measure)
    if plan.method == "auto" and bound_measure.measure is ranking.gini:
        return _compute_gini_interval(bound_measure, plan)
    if plan.method in ("score", "delong", "newcombe") or (plan.method == "auto" and bound_measure.is_plain_auc):
        if not bound_measure.is_plain_auc:
            raise InputError(f"method={plan.method!r} needs a two-class AUC of unweighted rows, got {name}: use 'bca'")
        return _compute_auc_interval(bound_measure, plan)
    return None


def _compute_proportion_interval(bound_measure: BoundMeasure, plan: IntervalPlan) -> Interval:
    successes, trials = bound_measure.count_successes()
    if trials == 0 or math.isnan(successes):
        return _build_undefined_interval(bound_measure, plan)
    if plan.clusters is not None:
        return _compute_clustered_proportion(bound_measure, plan, plan.clusters)
    method = plan.method if plan.method in _PROPORTION_LIMITS else "wilson"
    limits = _PROPORTION_LIMITS[method](successes, trials, plan.level)
    note = _WALD_NOTE if method == "wald" else ""
    return Interval(bound_measure.measure.name, successes / trials, *limits, plan.level, method, note)


def _compute_clustered_proportion(bound_measure: BoundMeasure, plan: IntervalPlan, clusters: IntArray) -> Interval:
    counts = bound_measure.count_cluster_successes(clusters)
    if counts is None:
        return _bootstrap_intervals([bound_measure], replace(plan, method="bca"))[0]
    limits = compute_clustered_wilson_limits(*counts, plan.level)
    note = _ONE_CLUSTER if np.isnan(limits[0]) else ""
    if note:
        warn_undefined_limits(f"{bound_measure.measure.name}: {note}")
    return Interval(bound_measure.measure.name, bound_measure.estimate(), *limits, plan.level, "wilson", note)


def _compute_outcome_interval(bound_measure: BoundMeasure, plan: IntervalPlan, measure: OutcomeMeasure) -> Interval | None:
    """Compute an interval using the measure's `limits` function.

    Return None if the measure has no such function.
    """
    if measure.limits is None:
        return None
    params = {name: value for name, value in bound_measure.params.items() if name != "average"}
    estimate = bound_measure.estimate()
    sample = OutcomeSample.from_rows(bound_measure.rows.outcomes, plan.clusters)
    low, high, method, note = measure.limits(sample, plan.level, **params)
    if np.isnan(estimate):
        measure.warn_undefined(np.asarray(estimate))
        reason = note or f"undefined because {measure.facts.undefined}"
        return Interval(measure.name, estimate, math.nan, math.nan, plan.level, "none", reason)
    if note and math.isnan(low):
        warn_undefined_limits(f"{measure.name}: {note}")
    elif not note and plan.method != "auto":
        note = "limits by cross-fitting, because the bootstrap is biased"
        warn_fallback(f"{measure.name}: {note}")
    return Interval(measure.name, estimate, low, high, plan.level, method, note)


def _compute_auc_interval(bound_measure: BoundMeasure, plan: IntervalPlan) -> Interval:
    ranked = bound_measure.rows.binary
    tally = ranked.tally
    estimate, *parts = compute_auc_variance(tally.pos, tally.neg)
    if np.isnan(estimate):
        return _build_undefined_interval(bound_measure, plan)
    if plan.clusters is not None:
        _check.check_same_length(y_true=ranked.is_positive, cluster=plan.clusters)
        if not plan.clusters.any():
            warn_undefined_limits(f"auc: {_ONE_CLUSTER}")
            return Interval("auc", estimate, math.nan, math.nan, plan.level, "score", _ONE_CLUSTER)
        limits = estimate_auc(ranked.scores, ranked.is_positive, plan.clusters).compute_limits(plan.level)
        return Interval("auc", estimate, *limits, plan.level, "score")
    if plan.method in ("auto", "score"):
        return Interval("auc", estimate, *build_auc_estimate(tally).compute_limits(plan.level), plan.level, "score")
    variance = sum(parts)
    exists = 0 < estimate < 1 and variance > 0
    if exists and plan.method == "delong":
        return Interval("auc", estimate, *compute_delong_limits(estimate, variance, plan.level), plan.level, "delong")
    note = ""
    if plan.method != "newcombe" and not exists:
        note = "Newcombe interval, because the DeLong variance is zero"
        warn_fallback(f"AUC {estimate:.4g}: {note}")
    return Interval("auc", estimate, *compute_newcombe_limits(estimate, tally, plan.level), plan.level, "newcombe", note)


def build_auc_estimate(tally: ScoreTally) -> AucEstimate:
    """Compute an AUC and the components of its variance from a tally of unweighted rows."""
    auc, *variances = compute_auc_variance(tally.pos, tally.neg)
    counts = int(tally.positives), int(tally.negatives)
    parts = tuple((0.0 if np.isnan(part) else part, count - 1.0) for part, count in zip(variances, counts, strict=True))
    return AucEstimate(auc, *counts, parts)


def _compute_gini_interval(bound_measure: BoundMeasure, plan: IntervalPlan) -> Interval | None:
    auc_bound = replace(bound_measure, measure=ranking.auc)
    if not auc_bound.is_plain_auc:
        return None
    auc_interval = _compute_auc_interval(auc_bound, plan)
    return replace(
        auc_interval, measure="gini", **{name: 2 * getattr(auc_interval, name) - 1 for name in ("estimate", "low", "high")}
    )


def _build_undefined_interval(bound_measure: BoundMeasure, plan: IntervalPlan) -> Interval:
    nan = float("nan")
    bound_measure.measure.warn_undefined(np.asarray(nan))
    return Interval(
        bound_measure.measure.name,
        nan,
        nan,
        nan,
        plan.level,
        "none",
        f"undefined because {bound_measure.measure.facts.undefined}",
    )


def warn_undefined_limits(message: str) -> None:
    """Warn that confidence limits are NaN."""
    warnings.warn(message, UndefinedMeasureWarning, stacklevel=5)


def warn_fallback(message: str) -> None:
    """Warn that a method other than the requested one was used."""
    warnings.warn(message, FallbackWarning, stacklevel=5)


def _bootstrap_intervals(bound_measures: list[BoundMeasure], plan: IntervalPlan) -> list[Interval]:
    def compute(draw_counts: DrawCounts) -> FloatArray:
        return np.column_stack([bound_measure.compute_resampled(draw_counts) for bound_measure in bound_measures])

    estimates = [bound_measure.estimate() for bound_measure in bound_measures]
    for bound_measure, estimate in zip(bound_measures, estimates, strict=True):
        if np.isnan(estimate):
            bound_measure.measure.warn_undefined(np.asarray(estimate))
    return compute_bootstrap_intervals(
        compute,
        estimates,
        [bound_measure.measure.name for bound_measure in bound_measures],
        plan,
        plan.build_resamples(bound_measures[0].rows),
    )


def compute_bootstrap_intervals(
    compute: Compute, estimates: list[float], names: list[str], plan: IntervalPlan, draws: Resamples
) -> list[Interval]:
    """Compute a bootstrap interval for each column that `compute` returns."""
    values = draws.compute_values(compute)
    jackknife = None if plan.method == "percentile" else draws.compute_jackknife(compute)
    return [
        _build_bootstrap_interval(name, estimate, values[:, i], None if jackknife is None else jackknife[:, i], plan)
        for i, (name, estimate) in enumerate(zip(names, estimates, strict=True))
    ]


def _build_bootstrap_interval(
    name: str, estimate: float, values: FloatArray, jackknife: FloatArray | None, plan: IntervalPlan
) -> Interval:
    if name in WITHOUT_LIMITS:
        return Interval(name, estimate, float("nan"), float("nan"), plan.level, "none", WITHOUT_LIMITS[name])
    if plan.clusters is not None and not plan.clusters.any():
        warn_undefined_limits(f"{name}: {_ONE_CLUSTER}")
        return Interval(name, estimate, float("nan"), float("nan"), plan.level, "none", _ONE_CLUSTER)
    defined = values[~np.isnan(values)]
    notes = []
    if len(defined) < len(values):
        notes.append(f"{len(values) - len(defined)} of {len(values)} resamples are undefined and left out")
    if np.isnan(estimate) or not len(defined):
        return Interval(name, estimate, float("nan"), float("nan"), plan.level, "none", "; ".join(["undefined", *notes]))
    if not bootstrap.compute_distances(defined, estimate).any():
        notes.append("all resamples are equal, so the confidence limits do not apply to new cases")
        if plan.method == "bca":
            warn_fallback(f"{name}: {notes[-1]}")
        return Interval(name, estimate, estimate, estimate, plan.level, "percentile", "; ".join(notes))
    level = _widen_level(plan)
    limits = None if jackknife is None else bootstrap.compute_bca_limits(defined, estimate, jackknife, level)
    if jackknife is not None and limits is None:
        notes.append("percentile limits, because the BCa correction is undefined")
        if plan.method == "bca":
            warn_fallback(f"{name}: {notes[-1]}")
    method = "percentile" if limits is None else "bca"
    low, high = bootstrap.compute_percentile_limits(defined, level) if limits is None else limits
    return Interval(name, estimate, low, high, plan.level, method, "; ".join(notes))


def _widen_level(plan: IntervalPlan) -> float:
    """Raise the level of a cluster bootstrap to obtain limits that are as wide as t limits.

    The correction is that of Hesterberg (2015). Without this correction, the coverage of 95 % intervals from 20 clusters is
    about 92.7 %.
    """
    from scipy.special import ndtr

    if plan.clusters is None:
        return plan.level
    count = int(plan.clusters.max()) + 1
    quantile = compute_t_quantile(plan.level, count - 1) * math.sqrt(count / (count - 1))
    return min(float(2 * ndtr(quantile) - 1), _MAX_LEVEL)


def _bootstrap_function(
    function: Callable[..., float],
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    plan: IntervalPlan,
    sample_weight: npt.ArrayLike | None,
    params: dict[str, Any],
) -> Interval:
    if plan.method not in ("auto", "bca", "percentile"):
        raise InputError(f"method must be 'auto', 'bca' or 'percentile' for a function, got {plan.method!r}")
    if sample_weight is not None:
        raise InputError("sample_weight must be None for a function: define a measure to use weights")
    true_labels, scores = _check.check_column("y_true", y_true), np.asarray(y_score)
    _check.check_same_length(y_true=true_labels, y_score=scores)

    def compute_value(pick: Any) -> float:
        number = function(true_labels[pick], scores[pick], **params)
        if np.ndim(number) != 0 or number is None:
            raise InputError(f"the function must return one number, got {number!r}")
        return float(number)

    def compute(draw_counts: DrawCounts) -> FloatArray:
        picks = [np.repeat(np.arange(len(true_labels)), counts.astype(np.intp)) for counts in draw_counts]
        return np.array([[compute_value(pick)] for pick in picks])

    strata = _check.encode_labels(None, None, y_true=true_labels)[1][0] if plan.stratified else None
    draws = Resamples(len(true_labels), plan.resamples, plan.seed, strata, plan.clusters)
    name = getattr(function, "__name__", "function")
    return compute_bootstrap_intervals(compute, [compute_value(slice(None))], [name], plan, draws)[0]
