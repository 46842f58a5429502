"""Six measures of one small ranking in one pass: for millions of rankings of some hundred cases.

What must be equal for two rankings that are equally good comes out equal to the last bit: counts stay whole numbers until the
one division at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.hull import cost_moments

MEASURES = ("h_measure", "auc", "auch", "sauc", "ks", "taks")
"""What `six_measures` gives, in its order."""
Classes = npt.NDArray[np.uint8]
_FEW = 24


class Room(NamedTuple):
    """Arrays to work in, used again and again: allocating them would cost more than the measures."""

    values: FloatArray
    sorted_classes: Classes
    starts: IntArray
    corners: FloatArray


@kernel
def room_for(cases: int) -> Room:
    """Room for rankings of up to so many cases."""
    return Room(np.empty(cases), np.empty(cases, np.uint8), np.empty(cases + 1, np.int64), np.empty((2, cases + 1)))


@kernel
def six_measures(scores: FloatArray, classes: Classes, severity_ratio: float, room: Room, out: FloatArray) -> None:
    """Put H, AUC, AUCH, sAUC, KS and taKS of a ranking into `out`; NaN where one is undefined.

    Classes are 1 (positive) and 0. `severity_ratio` NaN means positives over negatives.
    """
    n = scores.size
    rank(scores, classes, room)
    values, sorted_classes = room.values, room.sorted_classes
    P = 0.0
    for i in range(n):
        P += classes[i]
    N = n - P
    if P == 0 or N == 0:
        out[:] = np.nan
        return
    i, distinct, last = 0, 0, 0
    tp, fp, area, gaps, scored, previous, distances, largest = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    x, y = room.corners[0], room.corners[1]
    x[0], y[0] = 0.0, 0.0
    while i < n:
        value, p, q = values[i], 0.0, 0.0
        while i < n and values[i] == value:
            p += sorted_classes[i]
            q += 1 - sorted_classes[i]
            i += 1
        gaps += tp * (previous - value)
        previous = value
        scored += q * gaps
        area += q * (tp + 0.5 * p)
        tp += p
        fp += q
        distance = tp * N - fp * P
        distances += distance
        largest = max(largest, abs(distance))
        distinct += 1
        # A corner that does not turn right lies on or under the line to the new point.
        while last > 0 and (x[last] - x[last - 1]) * (tp - y[last - 1]) >= (y[last] - y[last - 1]) * (fp - x[last - 1]):
            last -= 1
        last += 1
        x[last], y[last] = fp, tp
    pairs = P * N
    out[0] = h_of_corners(x, y, last, severity_ratio)
    out[1] = area / pairs
    out[2] = area_of_corners(x, y, last) / pairs
    out[3] = scored / pairs
    out[4] = largest / pairs
    out[5] = distances / (pairs * (distinct - 1)) if distinct > 1 else np.nan


@kernel
def area_of_corners(x: FloatArray, y: FloatArray, last: int) -> float:
    """Area under the corners 0 .. last, in counts."""
    area = 0.0
    for i in range(1, last + 1):
        area += 0.5 * (x[i] - x[i - 1]) * (y[i] + y[i - 1])
    return area


@kernel
def moments(c: float, beta: float) -> tuple[float, float]:
    """`cost_moments`, as polynomials for Hand's Beta(2, 2)."""
    if beta == 2.0:
        return c * c * (3.0 - 2.0 * c), c * c * c * (2.0 - 1.5 * c)
    return cost_moments(c, beta)


@kernel
def h_of_corners(x: FloatArray, y: FloatArray, last: int, severity_ratio: float) -> float:
    """Hand's H from the hull's corners 0 .. last, in counts."""
    N, P = x[last], y[last]
    pi1, pi0 = P / (P + N), N / (P + N)
    beta = 1 + 1 / (P / N if np.isnan(severity_ratio) else severity_ratio)
    whole_mass, whole_first = moments(1.0, beta)
    loss, upper_mass, upper_first = 0.0, whole_mass, whole_first
    for i in range(last + 1):
        lower_mass, lower_first = 0.0, 0.0
        if i < last:
            rise, run = y[i + 1] - y[i], x[i + 1] - x[i]
            lower_mass, lower_first = moments(rise / (rise + run), beta)
        first = upper_first - lower_first
        loss += pi0 * (x[i] / N) * first + pi1 * (1 - y[i] / P) * (upper_mass - lower_mass - first)
        upper_mass, upper_first = lower_mass, lower_first
    mass, first = moments(pi1, beta)
    trivial = pi0 * first + pi1 * (whole_mass - mass - (whole_first - first))
    return float(1 - loss / trivial)


@kernel
def rank(scores: FloatArray, classes: Classes, room: Room) -> None:
    """Scores from the highest down with their classes: roughly by as many equal intervals as there are, then by insertion."""
    n = scores.size
    values, sorted_classes, starts = room.values, room.sorted_classes, room.starts
    low, high = scores[0], scores[0]
    for i in range(n):
        low, high = min(low, scores[i]), max(high, scores[i])
    scale = (n - 1) / (high - low) if high > low else np.inf
    if n < _FEW or not scale < 1e200:
        for i in range(n):
            values[i], sorted_classes[i] = scores[i], classes[i]
    else:
        starts[: n + 1] = 0
        for i in range(n):
            starts[int((high - scores[i]) * scale) + 1] += 1
        for i in range(n):
            starts[i + 1] += starts[i]
        for i in range(n):
            interval = int((high - scores[i]) * scale)
            values[starts[interval]], sorted_classes[starts[interval]] = scores[i], classes[i]
            starts[interval] += 1
    for i in range(1, n):
        value, own, j = values[i], sorted_classes[i], i
        while j > 0 and values[j - 1] < value:
            values[j], sorted_classes[j] = values[j - 1], sorted_classes[j - 1]
            j -= 1
        values[j], sorted_classes[j] = value, own
