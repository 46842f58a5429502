"""Probabilities of pairs of classes: a logistic line fitted to a machine's outputs, and all pairs coupled to one answer.

The line is found by a quasi-Newton descent that begins at the log odds of the pair with slope 0. Where the outputs separate the
classes there is no best slope; the descent then leaves the threshold where it stopped, not where the machine has it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray

BoolArray = npt.NDArray[np.bool_]

_RIDGE = 1e-8
_STEPS = 200
_ENOUGH = 1e-4  # of the descent that the slope promises (Armijo)
_ROUNDS = 10_000
_STILL = 1e-3


def fitted_line(outputs: FloatArray, second: BoolArray, *, tol: float = 1e-5) -> tuple[float, float]:
    """Intercept and slope of the log odds that a row is of the second class, given a machine's output.

    The descent stops when no derivative exceeds `tol`. With outputs of -1 and 1 the first step separates the classes and leaves
    nothing to descend: the threshold (minus intercept by slope) stays near the mean output instead of 0.

    >>> outputs, second = np.array([-1.0] * 70 + [1.0] * 30), np.arange(100) >= 70
    >>> intercept, slope = fitted_line(outputs, second)
    >>> round(-intercept / slope, 2), round(float(outputs.mean()), 2)
    (-0.4, -0.4)
    """
    centre, spread = float(outputs.mean()), float(outputs.std(ddof=1)) if len(outputs) > 1 else 0.0
    spread = spread or 1.0
    table = np.column_stack([np.ones(len(outputs)), (outputs - centre) / spread])
    line = _descended(table, second, tol)
    return float(line[0] - line[1] * centre / spread), float(line[1] / spread)


def second_share(outputs: FloatArray, line: tuple[float, float]) -> FloatArray:
    """The probability of the second class at these outputs.

    >>> second_share(np.array([0.0, 2.0]), (-2.0, 1.0)).round(3).tolist()
    [0.119, 0.5]
    """
    return np.asarray(1 / (1 + np.exp(-np.clip(line[0] + line[1] * outputs, -700, 700))))


def coupled(shares: FloatArray, counts: FloatArray) -> FloatArray:
    """Class probabilities that agree best with those of the pairs (Hastie & Tibshirani 1998).

    `shares[row, i, j]` is the probability of i, given i or j; `counts[i, j]`, the number of a pair's training rows, weighs it.
    Both are read above the diagonal.

    >>> third = 1 / 3
    >>> coupled(np.array([[[0, third, third], [0, 0, 0.5], [0, 0, 0]]]), np.ones((3, 3))).round(2).tolist()
    [[0.2, 0.4, 0.4]]
    """
    upper = np.triu(np.ones(counts.shape, dtype=bool), 1)
    weight = np.where(upper, counts, 0) + np.where(upper, counts, 0).T
    won = np.where(upper, shares, np.where(upper.T, 1 - np.swapaxes(shares, 1, 2), 0))
    wanted = (weight * won).sum(axis=2)
    found = np.full(wanted.shape, 1 / wanted.shape[1])
    moving = np.ones(len(found), dtype=bool)
    for _ in range(_ROUNDS):
        now = found[moving]
        pair = now[:, :, None] + now[:, None, :]
        got = (weight * np.divide(now[:, :, None], pair, out=np.zeros_like(pair), where=pair > 0)).sum(axis=2)
        next_ = now * np.divide(wanted[moving], got, out=np.zeros_like(got), where=got > 0)
        still = (np.abs(next_ - now) <= _STILL).all(axis=1)
        found[moving] = next_ / next_.sum(axis=1, keepdims=True)
        moving[np.flatnonzero(moving)[still]] = False
        if not moving.any():
            break
    return found


def _descended(table: FloatArray, second: BoolArray, tol: float) -> FloatArray:
    """The coefficients at which the quasi-Newton descent (BFGS) of the penalised loss stops."""
    sign = np.where(second, 1.0, -1.0)

    def loss(line: FloatArray) -> float:
        return float(np.logaddexp(0, -sign * (table @ line)).sum() + _RIDGE * line[1] ** 2)

    def gradient(line: FloatArray) -> FloatArray:
        return np.asarray(table.T @ (second_share(table @ line, (0.0, 1.0)) - second) + [0.0, 2 * _RIDGE * line[1]])

    odds = (second.sum() + 1) / ((~second).sum() + 1)
    line, inverse = np.array([np.log(odds), 0.0]), np.eye(2)
    value, slope = loss(line), gradient(line)
    for _ in range(_STEPS):
        if np.abs(slope).max() < tol:
            break
        step, value = _searched(loss, line, value, slope, -inverse @ slope)
        line = line + step
        turned = gradient(line) - slope
        inverse, slope = _updated(inverse, step, turned), slope + turned
    return line


def _searched(
    loss: Callable[[FloatArray], float], line: FloatArray, value: float, slope: FloatArray, way: FloatArray
) -> tuple[FloatArray, float]:
    """A step along the way that descends enough: shortened by parabola, then by cubic, as Dennis and Schnabel do."""
    rate, length, last = float(slope @ way), 1.0, None
    while True:
        reached = loss(line + length * way)
        if reached <= value + _ENOUGH * length * rate or length < 1e-10:
            return length * way, reached
        rise = reached - value - length * rate
        shorter = -rate * length**2 / (2 * rise) if last is None else _cubic(rate, (length, rise), last)
        last = (length, rise)
        length = float(np.clip(shorter, 0.1 * length, 0.5 * length))


def _cubic(rate: float, now: tuple[float, float], last: tuple[float, float]) -> float:
    """Where the cubic through the start, its slope and two tried lengths is lowest."""
    (a, a_rise), (b, b_rise) = now, last
    cube = (a_rise / a**2 - b_rise / b**2) / (a - b)
    square = (a * b_rise / b**2 - b * a_rise / a**2) / (a - b)
    if cube == 0:
        return -rate / (2 * square)
    root = square**2 - 3 * cube * rate
    if root < 0:
        return 0.5 * a
    width = float(np.sqrt(root))
    return (width - square) / (3 * cube) if square <= 0 else -rate / (square + width)


def _updated(inverse: FloatArray, step: FloatArray, turned: FloatArray) -> FloatArray:
    """The inverse of the second derivatives after a step, as Broyden, Fletcher, Goldfarb and Shanno have it."""
    product = float(step @ turned)
    if product <= 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(turned)):
        return inverse
    left = np.eye(2) - np.outer(step, turned) / product
    return np.asarray(left @ inverse @ left.T + np.outer(step, step) / product)
