"""Measures of labels by counting rows one by one."""

import math
from typing import NamedTuple

import numpy as np


class Cells(NamedTuple):
    tp: float
    fp: float
    fn: float
    tn: float


def cell(y, p, w, true, predicted):
    """Weight of the rows whose truth passes `true` and whose prediction passes `predicted`."""
    return math.fsum(c for a, b, c in zip(y, p, w, strict=True) if true(a) and predicted(b))


def table(y, p, w, classes):
    return [[cell(y, p, w, lambda a, t=t: a == t, lambda b, q=q: b == q) for q in classes] for t in classes]


def cells(y, p, w, c):
    """The four cells of class c."""

    def is_c(label):
        return label == c

    def other(label):
        return label != c

    return Cells(*(cell(y, p, w, true, said) for said, true in ((is_c, is_c), (is_c, other), (other, is_c), (other, other))))


def over(a, b):
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.inf
    return a / b


ONE_CLASS = {
    "recall": lambda c: over(c.tp, c.tp + c.fn),
    "specificity": lambda c: over(c.tn, c.tn + c.fp),
    "fpr": lambda c: over(c.fp, c.fp + c.tn),
    "fnr": lambda c: over(c.fn, c.fn + c.tp),
    "selection_rate": lambda c: over(c.tp + c.fp, c.tp + c.fp + c.fn + c.tn),
    "precision": lambda c: over(c.tp, c.tp + c.fp),
    "npv": lambda c: over(c.tn, c.tn + c.fn),
    "f_score": lambda c: over(2 * c.tp, 2 * c.tp + c.fp + c.fn),
    "youden_j": lambda c: over(c.tp, c.tp + c.fn) - over(c.fp, c.fp + c.tn),
    "markedness": lambda c: over(c.tp, c.tp + c.fp) - over(c.fn, c.fn + c.tn),
    "jaccard": lambda c: over(c.tp, c.tp + c.fp + c.fn),
    "fowlkes_mallows": lambda c: over(c.tp, math.sqrt(c.tp + c.fp) * math.sqrt(c.tp + c.fn)),
    "positive_likelihood_ratio": lambda c: over(over(c.tp, c.tp + c.fn), over(c.fp, c.fp + c.tn)),
    "negative_likelihood_ratio": lambda c: over(over(c.fn, c.tp + c.fn), over(c.tn, c.fp + c.tn)),
    "diagnostic_odds_ratio": lambda c: over(c.tp * c.tn, c.fp * c.fn),
    "single_point_auc": lambda c: (over(c.tp, c.tp + c.fn) + over(c.tn, c.tn + c.fp)) / 2,
}


def accuracy(y, p, w, _classes):
    return np.average(np.asarray(y) == np.asarray(p), weights=w)


def error_rate(y, p, w, _classes):
    return np.average(np.asarray(y) != np.asarray(p), weights=w)


def balanced_accuracy(y, p, w, classes):
    return sum(ONE_CLASS["recall"](cells(y, p, w, c)) for c in classes) / len(classes)


def g_mean(y, p, w, classes):
    return math.prod(ONE_CLASS["recall"](cells(y, p, w, c)) for c in classes) ** (1 / len(classes))


def kappa(y, p, w, classes, power=0):
    """1 - observed / expected disagreement; power 0, 1, 2: unweighted, linear, quadratic."""
    counts = np.array(table(y, p, w, classes)) / sum(w)
    chance = np.outer(counts.sum(1), counts.sum(0))
    k = range(len(classes))
    apart = np.array([[float(abs(i - j) ** power if i != j else 0) for j in k] for i in k])
    return 1 - over(float((apart * counts).sum()), float((apart * chance).sum()))


def mcc(y, p, w, classes):
    """Gorodkin's R_K: the correlation of two matrices of indicators."""
    true = np.array([[float(a == c) for c in classes] for a in y])
    said = np.array([[float(b == c) for c in classes] for b in p])
    true, said = true - np.average(true, axis=0, weights=w), said - np.average(said, axis=0, weights=w)
    covariance = [np.average((a * b).sum(axis=1), weights=w) for a, b in ((true, said), (true, true), (said, said))]
    one_class = any(len({x for x, c in zip(column, w, strict=True) if c > 0}) == 1 for column in (y, p))
    return math.nan if one_class else covariance[0] / math.sqrt(covariance[1] * covariance[2])


WHOLE_TABLE = {
    "accuracy": accuracy,
    "error_rate": error_rate,
    "balanced_accuracy": balanced_accuracy,
    "g_mean": g_mean,
    "kappa": kappa,
    "mcc": mcc,
}
