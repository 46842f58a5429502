"""Confidence bands of ROC curves, from the counts alone: no resampling, so that a perfect curve has a band too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.measures.closed_intervals import wilson
from fairtrial.report.drawing import Frames, axis, chart_of, colour, rows_of, with_columns

if TYPE_CHECKING:
    import pandas as pd


def roc_band(
    curve: pd.DataFrame,
    positives: int,
    negatives: int,
    *,
    level: float = 0.95,
    of: Literal["curve", "points"] = "curve",
) -> pd.DataFrame:
    """A confidence band of an ROC curve (columns fpr and tpr): the columns fpr, low and high.

    `of="curve"`: the whole true curve lies within with at least this probability (Campbell 1994, simultaneous joint regions):
    both rates are distribution functions, each within Kolmogorov's distance of its estimate with probability sqrt(level), and
    the classes are independent. It is wide, and it keeps its promise for any scores (Macskassy, Provost & Rosset 2005).
    `of="points"`: for each threshold alone, the rectangle of both rates' Wilson limits holds its true point with this
    probability; the whole curve leaves that band more often. Both take the test rows as independent and the learner as given.

    >>> from fairtrial.measures import roc_curve
    >>> curve = roc_curve([0] * 10 + [1] * 10, list(range(20)))
    >>> roc_band(curve, 10, 10, level=0.9025).round(3).iloc[[0, -1]].to_dict("list")
    {'fpr': [0.0, 1.0], 'low': [0.0, 0.591], 'high': [1.0, 1.0]}
    """
    import pandas as pd

    frame = with_columns("curve", curve, ["fpr", "tpr"])
    positives, negatives = (_check.whole_number(*each, 1) for each in (("positives", positives), ("negatives", negatives)))
    _check.between("level", level, 0, 1)
    _check.one_of("of", of, ("curve", "points"))
    fpr, tpr = (_check.finite(name, frame[name].to_numpy(np.float64)) for name in ("fpr", "tpr"))
    each = float(np.sqrt(level))
    make = _far if of == "curve" else _near
    (fpr_low, fpr_high), (tpr_low, tpr_high) = make(fpr, negatives, each), make(tpr, positives, each)
    # Where the edges leave the square they bend, too.
    bends = [np.interp(1.0, tpr_high, fpr_low), np.interp(0.0, tpr_low, fpr_high)]
    x = np.unique(np.concatenate([[0.0, 1.0], fpr_low, fpr_high, bends]))
    x = np.repeat(x[(x >= 0) & (x <= 1)], 2)[1:-1]
    upper = _along(np.append(fpr_low, 2.0), np.append(tpr_high, tpr_high[-1]), x)
    lower = _along(np.append(-1.0, fpr_high), np.append(tpr_low[0], tpr_low), x)
    return pd.DataFrame({"fpr": x, "low": np.clip(lower, 0, 1), "high": np.clip(upper, 0, 1)})


def _far(rate: FloatArray, cases: int, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits for all thresholds at once: Kolmogorov's distance."""
    from scipy.stats import kstwo

    distance = float(kstwo.ppf(level, cases))
    return rate - distance, rate + distance


def _near(rate: FloatArray, cases: int, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits for each threshold alone: Wilson's."""
    limits = np.array([wilson(round(each * cases), cases, level) for each in rate.tolist()])
    return limits[:, 0], limits[:, 1]


def _along(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """A rising line with steps, at pairs of places: of each pair the value before a step, then the one behind it."""
    before = np.clip(np.searchsorted(x, at, side="left"), 1, len(x) - 1)
    behind = np.clip(np.searchsorted(x, at, side="right"), 1, len(x) - 1)
    # The first and the last place stand alone: the start is looked at from its right, the end from its left.
    right = np.arange(len(at)) % 2 == 0
    place = np.where(right, behind, before)
    width = x[place] - x[place - 1]
    share = np.divide(at - x[place - 1], width, out=np.ones_like(at), where=width > 0)
    return np.asarray(y[place - 1] + np.clip(share, 0, 1) * (y[place] - y[place - 1]))


def with_band(chart: Any, bands: Frames, learners: Frames, *, level: float = 0.95, whole: bool = True) -> Any:
    """The chart of `draw_roc` with bands behind its curves; `learners` are those of the chart, whose colours they have.

    >>> from fairtrial.measures import roc_curve
    >>> from fairtrial.report.curves import draw_roc
    >>> curves = {"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])}
    >>> chart = with_band(draw_roc(curves), {"tree": roc_band(curves["tree"], 2, 2)}, curves)
    >>> chart.to_dict()["layer"][0]["mark"]["type"]
    'area'
    """
    rows = rows_of(bands, ["fpr", "low", "high"], thin=["fpr", "low", "high"])
    # Rows stay in their order: an `order` would make an area of each of them.
    opacity = 0.22 if len(bands) == 1 else 0.14
    x, low = axis("x", "fpr", "False positive rate"), axis("y", "low", "True positive rate")
    area = chart_of(rows).mark_area(opacity=opacity, line=False).encode(x, low, colour(learners), y2="high:Q")
    chart = chart.copy(deep=True)
    chart.layer.insert(0, area)
    what = "band for the whole curve" if whole else "band for each threshold alone"
    named = "" if len(bands) == len(learners) else f" of {', '.join(bands)}"
    chart.title.subtitle = [*chart.title.subtitle, f"Shaded: {100 * level:g} % {what}{named}"]
    return chart
