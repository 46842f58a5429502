"""Curves: ROC, precision-recall, gain, calibration, and the cost and Brier curves.

A case is called positive if its score is at least the threshold; the threshold inf calls nothing positive. A curve, like a
measure, is a formula over the ScoreTally: reading, checking and warning are the same for all of them and live in `ScoreCurve`.
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
from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import hull as hulls
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures import probability
from fairtrial.measures.intervals import compute_weighted_wilson_limits
from fairtrial.measures.rows import RankedRows, ScoreRows
from fairtrial.measures.tally import ScoreTally

if TYPE_CHECKING:
    import pandas as pd

CurveColumns = Mapping[str, FloatArray]


class ScoreCurve:
    """A curve: call it on columns, or use `of` on a tally that was built before (by parts, or from a large file)."""

    def __init__(self, formula: Callable[[ScoreTally], CurveColumns], *, needs_probabilities: bool = False) -> None:
        functools.update_wrapper(self, formula)
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
        """The curve of a column of labels and a column of scores (or a column for each class)."""
        rows = _read_curve_rows(y_true, y_score, positive, labels, sample_weight, probabilities=self.needs_probabilities)
        return self._build_frame(self.formula(rows.tally))

    def of(self, tally: ScoreTally) -> pd.DataFrame:
        """The curve of a tally."""
        if tally.pos.ndim > 1:
            raise InputError(f"{self.name} needs a single tally, got a batch: take one of its tallies")
        if self.needs_probabilities:
            _check.check_probabilities("the tally's scores", tally.values)
        return self._build_frame(self.formula(_drop_empty_bins(tally)))

    def __repr__(self) -> str:
        return f"<curve {self.name}>"

    def __reduce__(self) -> str:
        return self.name

    def _build_frame(self, columns: CurveColumns) -> pd.DataFrame:
        import pandas as pd

        undefined = [name for name, values in columns.items() if np.isnan(values).any()]
        if undefined:
            message = f"{self.name} is undefined in {', '.join(undefined)}: both classes must occur; NaN is returned"
            warnings.warn(message, UndefinedMeasureWarning, stacklevel=3)
        return pd.DataFrame(dict(columns))


def _read_curve_rows(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    positive: object,
    labels: Sequence[Any] | None,
    sample_weight: npt.ArrayLike | None,
    *,
    probabilities: bool,
) -> RankedRows:
    """Checked rows of the positive class against the rest."""
    rows = ScoreRows.read(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
    if len(rows.classes) > 2:
        rows.classes.require_positive(", for a curve shows one class against the rest")
    if probabilities:
        _check.check_probabilities("y_score", rows.scores)
    return rows.binary


def _drop_empty_bins(tally: ScoreTally) -> ScoreTally:
    present = (tally.pos > 0) | (tally.neg > 0)
    return tally if present.all() else ScoreTally(tally.values[present], tally.pos[present], tally.neg[present])


def compute_operating_points(tally: ScoreTally) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thresholds from inf down to the lowest score, with the weight of true and of false positives at each."""
    threshold = np.concatenate(([np.inf], tally.values))
    tp, fp = (np.concatenate(([0.0], np.cumsum(counts, dtype=np.float64))) for counts in (tally.pos, tally.neg))
    return threshold, tp, fp


def find_hull_corners(tally: ScoreTally) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Those operating points that are corners of the ROC convex hull."""
    threshold, tp, fp = compute_operating_points(tally)
    x, y = hulls.compute_roc_hull(tally.pos, tally.neg)
    # The kernel adds up in the same order, so that its corners are found among the points to the last bit.
    indices = np.searchsorted(tp + fp, x + y)
    return threshold[indices], y, x


@ScoreCurve
def roc_curve(tally: ScoreTally) -> CurveColumns:
    """ROC curve: false and true positive rate at every distinct score, from (0, 0) to (1, 1).

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
    """Corners of the ROC convex hull, and where each is the best choice (Provost & Fawcett 2001).

    `slope_low` and `slope_high` bound the slopes of the iso-performance lines that touch the corner. `cost_low` and `cost_high`
    say the same as costs: c for a false positive and 1 - c for a false negative, at the class shares of these rows. The
    ranges of neighbouring corners meet; together they cover every cost from 0 to 1.

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
    """Recall and precision at every distinct score.

    The curve begins at the highest score: above it nothing is called positive, and precision does not exist.

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
    """Gain and lift: the share of positives found when the highest-scored share of cases is targeted (Vuk & Curk 2006).

    Lift is gain over the share targeted. Where nothing is targeted it is the lift of the cases that share the highest score,
    which is what it tends to.

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
    """TPR-FPR plot or Kolmogorov-Smirnov chart: both rates over the thresholds, put equally far apart on [0, 1] (Berrar 2014).

    The largest absolute difference is KS, the area between the curves ABC, and the mean difference without the first and the
    last threshold taKS.

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
) -> pd.DataFrame:
    """Calibration curve or reliability diagram: the mean forecast of each bin and the share that came true.

    `low` and `high` are Wilson's interval of the share at the given level; weighted cases count as their effective number,
    the square of the sum of a bin's weights over the sum of their squares. Bins that hold nothing are left out; `strategy`
    "quantile" puts equally many cases in each.

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
    mean_predicted, positive_weight, weight, squares = _sum_bins(
        rows, probability.assign_bins(rows.scores, bins, strategy, rows.weights), bins
    )
    limits = np.array(
        [compute_weighted_wilson_limits(*bin_sums, level) for bin_sums in zip(positive_weight, weight, squares, strict=True)]
    )
    return pd.DataFrame(
        {
            "mean_predicted": mean_predicted,
            "observed_frequency": positive_weight / weight,
            "weight": weight,
            "low": limits[:, 0],
            "high": limits[:, 1],
        }
    )


def _sum_bins(rows: RankedRows, bin_index: npt.NDArray[np.intp], bins: int) -> tuple[FloatArray, ...]:
    """Mean forecast, weight that came true, weight and sum of squared weights of each bin that has weight."""
    weights = np.ones(len(rows.scores)) if rows.weights is None else rows.weights
    contributions = (weights * rows.scores, weights * rows.is_positive, weights, weights**2)
    mean_predicted, positive_weight, weight, squares = (
        np.bincount(bin_index, contribution, bins).astype(np.float64) for contribution in contributions
    )
    is_filled = weight > 0
    return mean_predicted[is_filled] / weight[is_filled], positive_weight[is_filled], weight[is_filled], squares[is_filled]


@ScoreCurve
def cost_lines(tally: ScoreTally) -> CurveColumns:
    """The line of each threshold in Drummond and Holte's cost space: it runs from `fpr` at PC = 0 to `fnr` at PC = 1.

    The first line (from 0 to 1) calls everything negative, the last one (from 1 to 0) everything positive.

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
    """Cost curve: the least normalised expected cost at each probability cost (Drummond & Holte 2006).

    With shares p of the classes and costs C of the errors, `probability_cost` is
    PC = p(+) C(-|+) / (p(+) C(-|+) + p(-) C(+|-)). The curve is the lower envelope of all lines of `cost_lines`, the two
    trivial ones among them; it is straight between the rows. `threshold` is the best one from its row to the next.

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
    # Two neighbouring corners cost the same where PC = 1 / (1 + slope); rounding must not turn the order round.
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
    """Brier curve: the loss when the forecast is believed and cut at the cost (Hernandez-Orallo, Flach & Ferri 2011).

    A false positive costs c and a false negative 1 - c, and cases whose forecast is above c are called positive. The loss is
    Q(c) = 2 [c pi0 (1 - F0(c)) + (1 - c) pi1 F1(c)]: straight lines with a jump at each forecast, so that each forecast has two
    rows, the loss before and after the jump. The area under the curve is the Brier score.

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
