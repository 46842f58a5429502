"""Measures of scores by their definitions: pairs of cases and lists of thresholds, in no hurry.

Every function takes the rows themselves: `y` (true where positive), `s` (scores) and `w` (weights). Rows of
weight zero are absent.
"""

import itertools

import numpy as np
from scipy import integrate, spatial, special


def rows_of(values, pos, neg):
    """The rows that a tally stands for: at each score one weighted positive and one weighted negative."""
    values, pos, neg = (np.asarray(each, dtype=float) for each in (values, pos, neg))
    y = np.r_[np.ones(len(pos), bool), np.zeros(len(neg), bool)]
    return present(y, np.r_[values, values], np.r_[pos, neg])


def present(y, s, w):
    y, s, w = np.asarray(y, bool), np.asarray(s, float), np.asarray(w, float)
    return y[w > 0], s[w > 0], w[w > 0]


def tally(y, s, w):
    """Score -> [positives, negatives]."""
    counts = {}
    for truth, score, weight in zip(*present(y, s, w), strict=True):
        counts.setdefault(float(score), [0.0, 0.0])[0 if truth else 1] += weight
    return dict(sorted(counts.items(), reverse=True))


def roc_points(y, s, w):
    """(FPR, TPR) of 'positive where s >= t' for t above all scores and for each score, downwards."""
    y, s, w = present(y, s, w)
    thresholds = [np.inf, *sorted(set(s.tolist()), reverse=True)]
    hits = np.array([w[y & (s >= t)].sum() for t in thresholds]) / w[y].sum()
    alarms = np.array([w[~y & (s >= t)].sum() for t in thresholds]) / w[~y].sum()
    return alarms, hits


def needs_both(function):
    """NaN unless both classes have weight."""

    def guarded(y, s, w, **params):
        y, s, w = present(y, s, w)
        return function(y, s, w, **params) if y.any() and (~y).any() else np.nan

    return guarded


def _mean_over_pairs(y, s, w, gain):
    pairs = w[y][:, None] * w[~y][None, :]
    return float((pairs * gain(s[y][:, None] - s[~y][None, :])).sum() / pairs.sum())


@needs_both
def auc(y, s, w):
    return _mean_over_pairs(y, s, w, lambda gap: (gap > 0) + 0.5 * (gap == 0))


@needs_both
def sauc(y, s, w):
    return _mean_over_pairs(y, s, w, lambda gap: np.maximum(gap, 0))


@needs_both
def soft_auc(y, s, w, *, beta):
    return _mean_over_pairs(y, s, w, lambda gap: special.expit(beta * gap))


@needs_both
def kappa_curve_area(y, s, w):
    """Cohen's kappa of the confusion matrix at each FPR, by quadrature; the ROC curve is straight between its points."""
    alarms, hits = roc_points(y, s, w)
    positives, negatives = w[y].sum() / w.sum(), w[~y].sum() / w.sum()

    def kappa(fpr, tpr):
        observed = positives * tpr + negatives * (1 - fpr)
        predicted = positives * tpr + negatives * fpr
        expected = positives * predicted + negatives * (1 - predicted)
        return (observed - expected) / (1 - expected)

    area = 0.0
    for x0, x1, y0, y1 in zip(alarms, alarms[1:], hits, hits[1:], strict=False):
        if x1 > x0:
            area += integrate.quad(lambda x, a=(x0, x1), b=(y0, y1): kappa(x, np.interp(x, a, b)), x0, x1, epsabs=1e-12)[0]
    return area


@needs_both
def partial_auc(y, s, w, *, max_fpr):
    alarms, hits = roc_points(y, s, w)
    area = 0.0
    for x0, x1, y0, y1 in zip(alarms, alarms[1:], hits, hits[1:], strict=False):
        stop = min(x1, max_fpr)
        if stop > x0:
            area += (stop - x0) * (y0 + 0.5 * (y1 - y0) * (stop - x0) / (x1 - x0))
    return area


@needs_both
def ks(y, s, w, *, signed):
    alarms, hits = roc_points(y, s, w)
    return float((hits - alarms).max() if signed else np.abs(hits - alarms).max())


@needs_both
def taks(y, s, w):
    alarms, hits = roc_points(y, s, w)
    return float(np.mean((hits - alarms)[1:-1])) if len(hits) > 2 else np.nan


@needs_both
def abc(y, s, w):
    """Trapezoids between the two curves, thresholds equally far apart on [0, 1]: Berrar's equation 6."""
    alarms, hits = roc_points(y, s, w)
    place = np.linspace(0, 1, len(hits))
    return float(np.trapezoid(hits, place) - np.trapezoid(alarms, place)) if len(hits) > 2 else np.nan


@needs_both
def average_precision(y, s, w):
    precision = [w[y & (s >= score)].sum() / w[s >= score].sum() for score in s[y]]
    return float(np.average(precision, weights=w[y]))


@needs_both
def least_loss(y, s, w, *, cost):
    losses = [cost * w[~y & (s >= t)].sum() + (1 - cost) * w[y & (s < t)].sum() for t in [np.inf, *sorted(set(s.tolist()))]]
    return float(min(losses) / w.sum())


@needs_both
def lift(y, s, w, *, fraction):
    found, room = 0.0, fraction * w.sum()
    for score in sorted(set(s.tolist()), reverse=True):
        here = s == score
        share = min(1.0, max(0.0, room) / w[here].sum())
        found += share * w[here & y].sum()
        room -= w[here].sum()
    return found / (fraction * w[y].sum())


@needs_both
def auch(y, s, w):
    """Area of the convex hull of the ROC points with the corner (1, 0)."""
    alarms, hits = roc_points(y, s, w)
    return float(spatial.ConvexHull(np.c_[np.r_[alarms, 1], np.r_[hits, 0]]).volume)


def hull_corners(pos, neg):
    """Points of the counts' ROC curve that lie above the line through any two others; O(n^3), exact for integers."""
    points = sorted({(0, 0), *zip(np.cumsum(neg).tolist(), np.cumsum(pos).tolist(), strict=True)})
    return [p for p in points if not any(_covers(a, b, p) for a, b in itertools.combinations(points, 2) if p not in (a, b))]


def _covers(a, b, p):
    within = a[0] <= p[0] <= b[0] and a[1] <= p[1] <= b[1]
    return within and (b[0] - a[0]) * (p[1] - a[1]) <= (b[1] - a[1]) * (p[0] - a[0])


@needs_both
def h_measure(y, s, w, *, severity_ratio=None):
    """Hand's definition by quadrature: the least expected loss over thresholds, integrated over costs."""
    alarms, hits = roc_points(y, s, w)
    pi1 = w[y].sum() / w.sum()
    pi0 = 1 - pi1
    ratio = pi1 / pi0 if severity_ratio is None else severity_ratio
    b = 1 + 1 / ratio

    def density(c):
        return b * (b + 1) * c * (1 - c) ** (b - 1)

    def expected(alarms, hits):
        # The best threshold changes only where two lines of loss cross.
        flat, steep = pi1 * (1 - hits), pi0 * alarms - pi1 * (1 - hits)
        crossings = {0.0, 1.0}
        for i, j in itertools.combinations(range(len(hits)), 2):
            if steep[i] != steep[j]:
                crossings.add(float(np.clip((flat[j] - flat[i]) / (steep[i] - steep[j]), 0, 1)))
        pieces = [piece for piece in itertools.pairwise(sorted(crossings)) if piece[1] - piece[0] > 1e-12]
        return sum(integrate.quad(lambda c: density(c) * (flat + c * steep).min(), *p, epsabs=1e-11)[0] for p in pieces)

    trivial = np.array([0.0, 1.0])
    return 1 - expected(alarms, hits) / expected(trivial, trivial)
