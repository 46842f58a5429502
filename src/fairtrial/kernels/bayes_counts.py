"""Naive Bayes by counts: how often each value of each column occurs in each of two classes is all that it needs.

Every column comes as codes: the place of a value among the column's values in ascending order, -1 where it is missing. Columns
of numbers differ from nominal ones only in what is made of the counts.
"""

from __future__ import annotations

from math import erf, erfc, exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.ranking_pass import Classes

INTERVALS, DENSITIES = 0, 1
"""How numbers become likelihoods, and counts shares.

INTERVALS: the mass of a normal curve over an interval as wide as the mean gap of values, counts from one (WEKA, NaiveBayes).
DENSITIES: the height of a normal curve, counts from zero, 0.001 in place of zero (R's e1071).
"""
_LEAST = 1e-75
_INSTEAD_OF_ZERO = 0.001


class Columns(NamedTuple):
    """What the codes mean: column j has the values levels[offsets[j]:offsets[j + 1]], and is nominal or not."""

    levels: FloatArray
    offsets: IntArray
    nominal: Classes


@kernel
def positive_shares(codes: IntArray, classes: Classes, columns: Columns, style: int, scores: FloatArray) -> None:
    """The posterior probability of class 1 for the last places of `codes`, learnt from the first classes.size ones.

    `codes` is columns x places; `scores` has room for the places to be predicted.
    """
    levels, offsets, nominal = columns.levels, columns.offsets, columns.nominal
    most, learnt = np.max(offsets[1:] - offsets[:-1]), classes.size
    counts, logs = np.empty((2, most)), np.empty((2, most))
    sizes = class_sizes(classes)
    first = 1.0 if style == INTERVALS else 0.0
    prior = log((sizes[1] + first) / (sizes[0] + first))
    scores[:] = prior
    for j in range(codes.shape[0]):
        width = offsets[j + 1] - offsets[j]
        counts[:, :width] = 0.0
        known = 0
        for i in range(learnt):
            if codes[j, i] >= 0:
                counts[classes[i], codes[j, i]] += 1.0
                known += 1
        if known == 0:
            continue
        values = levels[offsets[j] : offsets[j + 1]]
        if nominal[j]:
            log_shares(counts, width, style, logs)
        elif style == INTERVALS:
            log_masses(counts, values, logs)
        else:
            log_heights(counts, values, logs)
        for r in range(scores.size):
            code = codes[j, learnt + r]
            if code >= 0:
                scores[r] += logs[1, code] - logs[0, code]
    for r in range(scores.size):
        ahead = scores[r]
        # As shares of two exponentials whose larger is 1.
        scores[r] = 1.0 / (1.0 + exp(-ahead)) if ahead >= 0 else exp(ahead) / (1.0 + exp(ahead))


@kernel
def class_sizes(classes: Classes) -> FloatArray:
    """Rows of class 0 and of class 1."""
    sizes = np.zeros(2)
    for i in range(classes.size):
        sizes[classes[i]] += 1.0
    return sizes


@kernel
def log_shares(counts: FloatArray, width: int, style: int, logs: FloatArray) -> None:
    """Logarithms of the share of each value in each class."""
    first = 1.0 if style == INTERVALS else 0.0
    for c in range(2):
        total = 0.0
        for v in range(width):
            total += counts[c, v] + first
        for v in range(width):
            share = (counts[c, v] + first) / total
            logs[c, v] = log(share) if share > 0 else log(_INSTEAD_OF_ZERO)


@kernel
def moments(counts: FloatArray, values: FloatArray, c: int) -> tuple[float, float, float]:
    """Size, mean and sum of squared deviations of the values in a class."""
    size, total, squares = 0.0, 0.0, 0.0
    for v in range(values.size):
        size += counts[c, v]
        total += counts[c, v] * values[v]
    mean = total / size if size > 0 else 0.0
    for v in range(values.size):
        squares += counts[c, v] * (values[v] - mean) ** 2
    return size, mean, squares


@kernel
def log_heights(counts: FloatArray, values: FloatArray, logs: FloatArray) -> None:
    """Logarithms of the height of each class's normal curve at each value."""
    for c in range(2):
        size, mean, squares = moments(counts, values, c)
        deviation = sqrt(squares / (size - 1)) if size > 1 else 0.0
        deviation = deviation if deviation > 0 else _INSTEAD_OF_ZERO
        for v in range(values.size):
            height = exp(-0.5 * ((values[v] - mean) / deviation) ** 2) / (deviation * sqrt(2 * pi))
            logs[c, v] = log(height) if height > 0 else log(_INSTEAD_OF_ZERO)


@kernel
def log_masses(counts: FloatArray, values: FloatArray, logs: FloatArray) -> None:
    """Logarithms of the mass of each class's normal curve over the interval of each value."""
    precision = mean_gap(counts, values)
    rounded = np.rint(values / precision) * precision
    for c in range(2):
        size, mean, squares = moments(counts, rounded, c)
        deviation = max(sqrt(squares / size) if size > 0 else 0.0, precision / 6)
        for v in range(values.size):
            apart = rounded[v] - mean
            mass = normal_below((apart + precision / 2) / deviation) - normal_below((apart - precision / 2) / deviation)
            logs[c, v] = log(max(mass, _LEAST))


@kernel
def mean_gap(counts: FloatArray, values: FloatArray) -> float:
    """The mean distance of neighbouring values that occur; 0.01 if there is only one."""
    lowest, highest, distinct = 0.0, 0.0, 0
    for v in range(values.size):
        if counts[0, v] + counts[1, v] > 0:
            if distinct == 0:
                lowest = values[v]
            highest = values[v]
            distinct += 1
    return (highest - lowest) / (distinct - 1) if distinct > 1 else 0.01


@kernel
def normal_below(x: float) -> float:
    """The standard normal curve's mass below x."""
    z = x * sqrt(0.5)
    if abs(z) < sqrt(0.5):
        return 0.5 + 0.5 * erf(z)
    tail = 0.5 * erfc(abs(z))
    return tail if z < 0 else 1.0 - tail
