"""Curves over costs: what a ranking or a forecast loses, whatever the two kinds of error cost."""

from __future__ import annotations

import functools

import numpy as np

from fairtrial.kernels.arithmetic import ratio
from fairtrial.measures.curves import Columns, Curve, hull_corners, operating_points
from fairtrial.measures.tally import ScoreTally


@Curve
def cost_lines(tally: ScoreTally) -> Columns:
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
    threshold, tp, fp = operating_points(tally)
    return {"threshold": threshold, "fpr": ratio(fp, fp[-1]), "fnr": ratio(tp[-1] - tp, tp[-1])}


@Curve
def cost_curve(tally: ScoreTally) -> Columns:
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
    threshold, tp, fp = hull_corners(tally)
    if tp[-1] == 0 or fp[-1] == 0:
        nothing = np.full(2, np.nan)
        return {"probability_cost": np.array([0.0, 1.0]), "expected_cost": nothing, "threshold": nothing}
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


@functools.partial(Curve, needs_probabilities=True)
def brier_curve(tally: ScoreTally) -> Columns:
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
    _, tp, fp = operating_points(tally)
    n = tp[-1] + fp[-1]
    false_positives, false_negatives = fp[::-1] / n, (tp[-1] - tp[::-1]) / n
    edges = np.concatenate(([0.0], tally.values[::-1], [1.0]))
    pieces = np.flatnonzero(np.diff(edges) > 0)
    cost = np.column_stack([edges[pieces], edges[pieces + 1]])
    loss = 2 * (cost * false_positives[pieces, None] + (1 - cost) * false_negatives[pieces, None])
    return {"cost": cost.ravel(), "loss": loss.ravel()}
