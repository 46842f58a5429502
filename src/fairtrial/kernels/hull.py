"""The ROC convex hull, AUCH and the H-measure."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel


@kernel
def compute_roc_hull(pos: FloatArray, neg: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the false and true positives at the corners of the ROC convex hull of one tally."""
    size = 64
    x, y = np.zeros(size), np.zeros(size)
    last = 0
    fp, tp = 0.0, 0.0
    for i in range(pos.size):
        if pos[i] + neg[i] == 0:
            continue
        fp += neg[i]
        tp += pos[i]
        # Remove the last corner if it does not lie above the line from the previous corner to the new point.
        while last > 0 and (x[last] - x[last - 1]) * (tp - y[last - 1]) >= (y[last] - y[last - 1]) * (fp - x[last - 1]):
            last -= 1
        last += 1
        if last == size:
            grown_x, grown_y = np.zeros(2 * size), np.zeros(2 * size)
            grown_x[:size], grown_y[:size] = x, y
            x, y, size = grown_x, grown_y, 2 * size
        x[last], y[last] = fp, tp
    return x[: last + 1], y[: last + 1]


@kernel
def compute_auch(pos: FloatArray, neg: FloatArray, out: FloatArray) -> None:
    """Compute the area under the ROC convex hull."""
    for b in range(pos.shape[0]):
        x, y = compute_roc_hull(pos[b], neg[b])
        area = 0.0
        for i in range(1, x.size):
            area += 0.5 * (x[i] - x[i - 1]) * (y[i] + y[i - 1])
        full = x[-1] * y[-1]
        out[b] = min(area / full, 1.0) if full > 0 else np.nan


@kernel
def compute_cost_moments(c: float, beta: float) -> tuple[float, float]:
    """Integrate u(t) and t u(t) from 0 to c, where u is the density of Beta(2, beta)."""
    tail = np.exp(beta * np.log1p(-c)) if c < 1 else 0.0
    mass = 1 - tail * (1 + beta * c)
    first = 2 / (2 + beta) * (1 - tail * (1 + beta * c + 0.5 * beta * (beta + 1) * c * c))
    return mass, first


@kernel
def compute_h_measure(pos: FloatArray, neg: FloatArray, severity_ratio: float, out: FloatArray) -> None:
    """Compute Hand's H-measure.

    If `severity_ratio` is NaN, the ratio of positives to negatives in each tally is used.
    """
    for b in range(pos.shape[0]):
        x, y = compute_roc_hull(pos[b], neg[b])
        N, P = x[-1], y[-1]
        if N == 0 or P == 0:
            out[b] = np.nan
            continue
        pi1, pi0 = P / (P + N), N / (P + N)
        ratio = P / N if np.isnan(severity_ratio) else severity_ratio
        beta = 1 + 1 / ratio
        loss = 0.0
        upper_mass, upper_first = compute_cost_moments(1.0, beta)
        for i in range(x.size):
            lower_mass, lower_first = 0.0, 0.0
            if i + 1 < x.size:
                rise, run = y[i + 1] - y[i], x[i + 1] - x[i]
                lower_mass, lower_first = compute_cost_moments(rise / (rise + run), beta)
            first = upper_first - lower_first
            loss += pi0 * (x[i] / N) * first + pi1 * (1 - y[i] / P) * (upper_mass - lower_mass - first)
            upper_mass, upper_first = lower_mass, lower_first
        mass, first = compute_cost_moments(pi1, beta)
        whole_mass, whole_first = compute_cost_moments(1.0, beta)
        trivial = pi0 * first + pi1 * (whole_mass - mass - (whole_first - first))
        out[b] = 1 - loss / trivial
