"""ROC, precision-recall, gain, Kolmogorov-Smirnov, calibration, cost and Brier curves.

A row is predicted positive if its score is at least the threshold. At threshold inf, no row is predicted positive. The formula
for each curve takes a `ScoreTally`. `ScoreCurve` reads and checks the input and issues warnings.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._text import join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import hull as hulls
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures import probability
from fairtrial.measures.intervals import compute_clustered_wilson_limits, compute_weighted_wilson_limits, read_clusters
from fairtrial.measures.measure import COMMON_PARAMETERS, complete_docstring, describe_parameters
from fairtrial.measures.rows import RankedRows, ScoreRows
from fairtrial.measures.tally import ScoreTally

if TYPE_CHECKING:
    import pandas as pd

CurveColumns = Mapping[str, FloatArray]
_PARAMETERS = {name: COMMON_PARAMETERS[name] for name in ("y_true", "y_score", "positive", "labels", "sample_weight")}


class ScoreCurve:
    """A function that computes a curve from true labels and scores.

    The method `of` computes the curve from a tally of scores.
    """

    def __init__(self, formula: Callable[[ScoreTally], CurveColumns], *, needs_probabilities: bool = False) -> None:
        functools.update_wrapper(self, formula)
        self.__doc__ = complete_docstring(formula.__doc__ or "", Parameters=describe_parameters(_PARAMETERS))
        self.formula = formula
        self.name = formula.__name__
        self.needs_probabilities = needs_probabilities
        parameters = list(inspect.signature(type(self).__call__).parameters.values())[1:]
        self.__signature__ = inspect.Signature(parameters)

    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_score: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Sequence[Any] | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Compute the curve from true labels and scores."""
        rows = _read_curve_rows(y_true, y_score, positive, labels, sample_weight, probabilities=self.needs_probabilities)
        return self._build_frame(self.formula(rows.tally))

    def of(self, tally: ScoreTally, *, max_points: int | None = None) -> pd.DataFrame:
        """Compute the curve from a tally of scores.

        Parameters
        ----------
        tally : ScoreTally
            Tally of scores.
        max_points : int, optional
            Thin the curve evenly to this number of points, including both ends. Default: all points.

        Returns
        -------
        DataFrame
        """
        if tally.pos.ndim > 1:
            raise InputError(f"{self.name} needs a single tally, got a batch: select one tally")
        if self.needs_probabilities:
            _check.check_probabilities("scores of the tally", tally.values)
        return self._build_frame(self.formula(_drop_empty_bins(tally)), max_points)

    def __repr__(self) -> str:
        return f"<curve {self.name}>"

    def __reduce__(self) -> str:
        return self.name

    def _build_frame(self, columns: CurveColumns, max_points: int | None = None) -> pd.DataFrame:
        import pandas as pd

        undefined = [name for name, values in columns.items() if np.isnan(values).any()]
        if undefined:
            message = f"{self.name} is undefined (NaN) in {join_names(undefined)} because only one of the two classes occurs"
            warnings.warn(message, UndefinedMeasureWarning, stacklevel=3)
        size = len(next(iter(columns.values())))
        if max_points is None or size <= max_points:
            return pd.DataFrame(dict(columns))
        indices = np.unique(np.linspace(0, size - 1, max_points).round().astype(np.intp))
        return pd.DataFrame({name: values[indices] for name, values in columns.items()})


def _read_curve_rows(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    positive: object,
    labels: Sequence[Any] | None,
    sample_weight: npt.ArrayLike | None,
    *,
    probabilities: bool,
) -> RankedRows:
    """Check the input, and return the rows with the positive class against all other classes."""
    rows = ScoreRows.read(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
    if len(rows.classes) > 2:
        rows.classes.require_positive(" because a curve shows one class against the rest")
    if probabilities:
        _check.check_probabilities("y_score", rows.scores)
    return rows.binary


def _drop_empty_bins(tally: ScoreTally) -> ScoreTally:
    present = (tally.pos > 0) | (tally.neg > 0)
    return tally if present.all() else ScoreTally(tally.values[present], tally.pos[present], tally.neg[present])


def compute_operating_points(tally: ScoreTally) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count true and false positives at each threshold, from inf to the lowest score."""
    threshold = np.concatenate(([np.inf], tally.values))
    tp, fp = (np.concatenate(([0.0], np.cumsum(counts, dtype=np.float64))) for counts in (tally.pos, tally.neg))
    return threshold, tp, fp


def find_hull_corners(tally: ScoreTally) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Find the operating points that are corners of the ROC convex hull."""
    threshold, tp, fp = compute_operating_points(tally)
    x, y = hulls.compute_roc_hull(tally.pos, tally.neg)
    # The kernel adds in the same order, so its corners equal the operating points exactly.
    indices = np.searchsorted(tp + fp, x + y)
    return threshold[indices], y, x


@ScoreCurve
def roc_curve(tally: ScoreTally) -> CurveColumns:
    """ROC curve: false and true positive rates at every distinct score.

    The curve runs from (0, 0) to (1, 1).

    Returns
    -------
    DataFrame
        Columns `threshold`, `fpr` and `tpr`.

    Examples
    --------
    >>> from fairtrial.measures import roc_curve
    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
       threshold  fpr  tpr
    0        inf  0.0  0.0
    1       0.80  0.0  0.5
    2       0.40  0.5  0.5
    3       0.35  0.5  1.0
    4       0.10  1.0  1.0
    """
    threshold, tp, fp = compute_operating_points(tally)
    return {"threshold": threshold, "fpr": compute_ratio(fp, fp[-1]), "tpr": compute_ratio(tp, tp[-1])}


@ScoreCurve
def roc_hull(tally: ScoreTally) -> CurveColumns:
    """Corners of the ROC convex hull, with the costs for which each corner is optimal.

    See Provost & Fawcett (2001). The cost ranges of adjacent corners share an endpoint. Together, the ranges cover all costs
    from 0 to 1.

    Returns
    -------
    DataFrame
        Columns `threshold`, `fpr`, `tpr`, `slope_low`, `slope_high`, `cost_low` and `cost_high`. The slopes are the smallest
        and largest slopes of the iso-performance lines for which the corner is optimal. The costs are the smallest and largest
        costs c of a false positive for which the corner is optimal. A false negative costs 1 - c.

    Examples
    --------
    >>> from fairtrial.measures import roc_hull
    >>> roc_hull([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
       threshold  fpr  tpr  slope_low  slope_high  cost_low  cost_high
    0        inf  0.0  0.0        inf         inf  1.000000   1.000000
    1       0.80  0.0  0.5        1.0         inf  0.500000   1.000000
    2       0.35  0.5  1.0        0.0         1.0  0.000000   0.500000
    3       0.10  1.0  1.0        0.0         0.0  0.000000   0.000000
    """
    threshold, tp, fp = find_hull_corners(tally)
    fpr, tpr = compute_ratio(fp, fp[-1]), compute_ratio(tp, tp[-1])
    slope = compute_ratio(np.diff(tpr), np.diff(fpr))
    cost = np.diff(tp) / (np.diff(tp) + np.diff(fp))
    return {
        "threshold": threshold,
        "fpr": fpr,
        "tpr": tpr,
        "slope_low": np.append(slope, 0.0),
        "slope_high": np.append(np.inf, slope),
        "cost_low": np.append(cost, 0.0),
        "cost_high": np.append(1.0, cost),
    }


@ScoreCurve
def precision_recall_curve(tally: ScoreTally) -> CurveColumns:
    """Precision and recall at every distinct score.

    The curve starts at the highest score because precision is undefined if no row is predicted positive.

    Returns
    -------
    DataFrame
        Columns `threshold`, `recall` and `precision`.

    Examples
    --------
    >>> from fairtrial.measures import precision_recall_curve
    >>> precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
       threshold  recall  precision
    0       0.80     0.5   1.000000
    1       0.40     0.5   0.500000
    2       0.35     1.0   0.666667
    3       0.10     1.0   0.500000
    """
    threshold, tp, fp = (column[1:] for column in compute_operating_points(tally))
    return {"threshold": threshold, "recall": compute_ratio(tp, tp[-1]), "precision": tp / (tp + fp)}


@ScoreCurve
def gain_curve(tally: ScoreTally) -> CurveColumns:
    """Gain and lift when the rows with the highest scores are targeted.

    See Vuk & Curk (2006). Gain is the proportion of all positives that are targeted. Lift is gain divided by the proportion of
    rows targeted. The first point targets no rows, so its lift is set to that of the second point.

    Returns
    -------
    DataFrame
        Columns `threshold`, `targeted`, `gain` and `lift`.

    Examples
    --------
    >>> from fairtrial.measures import gain_curve
    >>> gain_curve([1, 0, 0, 0, 1], [0.9, 0.2, 0.1, 0.3, 0.3])
       threshold  targeted  gain      lift
    0        inf       0.0   0.0  2.500000
    1        0.9       0.2   0.5  2.500000
    2        0.3       0.6   1.0  1.666667
    3        0.2       0.8   1.0  1.250000
    4        0.1       1.0   1.0  1.000000
    """
    threshold, tp, fp = compute_operating_points(tally)
    targeted, gain = (tp + fp) / (tp[-1] + fp[-1]), compute_ratio(tp, tp[-1])
    lift = gain[1:] / targeted[1:]
    return {"threshold": threshold, "targeted": targeted, "gain": gain, "lift": np.append(lift[0], lift)}


@ScoreCurve
def tpr_fpr_curve(tally: ScoreTally) -> CurveColumns:
    """Kolmogorov-Smirnov chart: true and false positive rates at each threshold (Berrar 2014).

    The thresholds are placed at equally spaced positions from 0 to 1. The largest absolute difference between the two rates is
    the Kolmogorov-Smirnov statistic (`ks`). The signed area between the curves is `abc`. The mean difference, excluding the
    first and last thresholds, is `taks`.

    Returns
    -------
    DataFrame
        Columns `position`, `threshold`, `tpr`, `fpr` and `difference`.

    Examples
    --------
    >>> from fairtrial.measures import tpr_fpr_curve
    >>> tpr_fpr_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
       position  threshold  tpr  fpr  difference
    0      0.00        inf  0.0  0.0         0.0
    1      0.25       0.80  0.5  0.0         0.5
    2      0.50       0.40  0.5  0.5         0.0
    3      0.75       0.35  1.0  0.5         0.5
    4      1.00       0.10  1.0  1.0         0.0
    """
    threshold, tp, fp = compute_operating_points(tally)
    tpr, fpr = compute_ratio(tp, tp[-1]), compute_ratio(fp, fp[-1])
    position = np.linspace(0.0, 1.0, len(threshold))
    return {"position": position, "threshold": threshold, "tpr": tpr, "fpr": fpr, "difference": tpr - fpr}


def calibration_curve(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    level: float = 0.95,
    cluster: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Compute a calibration curve (reliability diagram) with confidence limits.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or one column per class.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        All classes, in the order of the score columns. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    bins : int, default 10
        Number of bins. Empty bins are omitted.
    strategy : {"uniform", "quantile"}, default "uniform"
        Use bins of equal width ("uniform") or with about the same number of rows ("quantile").
    level : float, default 0.95
        Confidence level of the limits.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent. Clusters cannot be combined with
        weights.

    Returns
    -------
    DataFrame
        One row per bin with the columns `mean_predicted`, `observed_frequency`, `weight`, `low` and `high`. `low` and `high`
        are Wilson limits for the observed frequency. With weights, the limits are based on the effective sample size of the bin
        (Kish 1965).

    Examples
    --------
    >>> from fairtrial.measures import calibration_curve
    >>> calibration_curve([0, 0, 1, 1, 1], [0.1, 0.3, 0.4, 0.8, 0.9], bins=2).round(3)
       mean_predicted  observed_frequency  weight    low   high
    0          0.267  0.333     3.0  0.061  0.792
    1          0.850  1.000     2.0  0.342  1.000
    """
    import pandas as pd

    _check.check_whole_number("bins", bins, 1)
    _check.check_one_of("strategy", strategy, ("uniform", "quantile"))
    _check.check_between("level", level, 0, 1)
    rows = _read_curve_rows(y_true, y_score, positive, labels, sample_weight, probabilities=True)
    bin_index = probability.assign_bins(rows.scores, bins, strategy, rows.weights)
    mean_predicted, positive_weight, weight, squares = _sum_bins(rows, bin_index, bins)
    clusters = read_clusters(cluster)
    if clusters is not None and rows.weights is not None:
        raise InputError("sample_weight must be None with clusters")
    if clusters is not None:
        _check.check_same_length(y_true=rows.is_positive, cluster=clusters)
        limits = np.array([_limit_clustered_bin(rows, clusters, bin_index == i, level) for i in np.unique(bin_index)])
    else:
        sums = zip(positive_weight, weight, squares, strict=True)
        limits = np.array([compute_weighted_wilson_limits(*bin_sums, level) for bin_sums in sums])
    return pd.DataFrame(
        {
            "mean_predicted": mean_predicted,
            "observed_frequency": positive_weight / weight,
            "weight": weight,
            "low": limits[:, 0],
            "high": limits[:, 1],
        }
    )


def _limit_clustered_bin(
    rows: RankedRows, clusters: IntArray, is_inside: npt.NDArray[np.bool_], level: float
) -> tuple[float, float]:
    count = int(clusters.max()) + 1
    positives = np.bincount(clusters[is_inside & rows.is_positive], minlength=count).astype(float)
    return compute_clustered_wilson_limits(positives, np.bincount(clusters[is_inside], minlength=count).astype(float), level)


def _sum_bins(rows: RankedRows, bin_index: npt.NDArray[np.intp], bins: int) -> tuple[FloatArray, ...]:
    """Compute the mean prediction and the sums of weights for each nonempty bin."""
    weights = np.ones(len(rows.scores)) if rows.weights is None else rows.weights
    contributions = (weights * rows.scores, weights * rows.is_positive, weights, weights**2)
    mean_predicted, positive_weight, weight, squares = (
        np.bincount(bin_index, contribution, bins).astype(np.float64) for contribution in contributions
    )
    is_filled = weight > 0
    return mean_predicted[is_filled] / weight[is_filled], positive_weight[is_filled], weight[is_filled], squares[is_filled]


@ScoreCurve
def cost_lines(tally: ScoreTally) -> CurveColumns:
    """Cost lines: expected cost at each threshold in Drummond and Holte's cost space.

    The line for a threshold runs from `fpr` at probability cost 0 to `fnr` at probability cost 1. The first line represents
    predicting all rows negative, and the last line represents predicting all rows positive.

    Returns
    -------
    DataFrame
        Columns `threshold`, `fpr` and `fnr`.

    Examples
    --------
    >>> from fairtrial.measures import cost_lines
    >>> cost_lines([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
       threshold  fpr  fnr
    0        inf  0.0  1.0
    1       0.80  0.0  0.5
    2       0.40  0.5  0.5
    3       0.35  0.5  0.0
    4       0.10  1.0  0.0
    """
    threshold, tp, fp = compute_operating_points(tally)
    return {"threshold": threshold, "fpr": compute_ratio(fp, fp[-1]), "fnr": compute_ratio(tp[-1] - tp, tp[-1])}


@ScoreCurve
def cost_curve(tally: ScoreTally) -> CurveColumns:
    """Cost curve: smallest normalized expected cost at each probability cost.

    See Drummond & Holte (2006). For class proportions p and misclassification costs C, the probability cost is PC = p(+) C(-|+)
    / (p(+) C(-|+) + p(-) C(+|-)). The curve is the lower envelope of all lines of `cost_lines`, including those of the two
    trivial classifiers. It is linear between the points returned.

    Returns
    -------
    DataFrame
        Columns `probability_cost`, `expected_cost` and `threshold`. Each threshold is optimal from the probability cost in its
        own row to that in the next row.

    Examples
    --------
    >>> from fairtrial.measures import cost_curve
    >>> cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
       probability_cost  expected_cost  threshold
    0               0.0           0.00       0.80
    1               0.5           0.25       0.35
    2               1.0           0.00       0.35
    """
    threshold, tp, fp = find_hull_corners(tally)
    if tp[-1] == 0 or fp[-1] == 0:
        undefined = np.full(2, np.nan)
        return {"probability_cost": np.array([0.0, 1.0]), "expected_cost": undefined, "threshold": undefined}
    fpr, fnr = fp / fp[-1], (tp[-1] - tp) / tp[-1]
    run, rise = np.diff(fpr), -np.diff(fnr)
    # Two adjacent corners cost the same at PC = 1 / (1 + slope). Rounding must not reverse the order of these values.
    edges = np.maximum.accumulate(np.concatenate(([0.0], run / (run + rise), [1.0])))
    best = np.flatnonzero(np.diff(edges) > 0)
    start = edges[best]
    return {
        "probability_cost": np.append(start, 1.0),
        "expected_cost": np.append((1 - start) * fpr[best] + start * fnr[best], fnr[best[-1]]),
        "threshold": np.append(threshold[best], threshold[best[-1]]),
    }


@functools.partial(ScoreCurve, needs_probabilities=True)
def brier_curve(tally: ScoreTally) -> CurveColumns:
    """Brier curve: loss when each row is classified by comparing its probability with the cost.

    A false positive costs c, and a false negative costs 1 - c. Rows with a probability above c are predicted positive. The loss
    is Q(c) = 2 [c pi0 (1 - F0(c)) + (1 - c) pi1 F1(c)] (Hernandez-Orallo, Flach & Ferri 2011). The loss is linear between the
    probabilities and jumps at each probability, so each probability has two rows. The area under the curve is the Brier score.

    Returns
    -------
    DataFrame
        Columns `cost` and `loss`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairtrial.measures import brier_curve
    >>> curve = brier_curve([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9])
    >>> curve.head(4)
       cost  loss
    0  0.00  0.00
    1  0.60  0.48
    2  0.60  0.24
    3  0.75  0.30
    >>> float(np.trapezoid(curve["loss"], curve["cost"]))
    0.195
    """
    _, tp, fp = compute_operating_points(tally)
    n = tp[-1] + fp[-1]
    false_positives, false_negatives = fp[::-1] / n, (tp[-1] - tp[::-1]) / n
    edges = np.concatenate(([0.0], tally.values[::-1], [1.0]))
    pieces = np.flatnonzero(np.diff(edges) > 0)
    cost = np.column_stack([edges[pieces], edges[pieces + 1]])
    loss = 2 * (cost * false_positives[pieces, None] + (1 - cost) * false_negatives[pieces, None])
    return {"cost": cost.ravel(), "loss": loss.ravel()}
