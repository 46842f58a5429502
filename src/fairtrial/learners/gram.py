"""Kernels between rows, by BLAS; the matrix of one training part is kept, for noise levels and parameters that share it."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from fairtrial._check import FloatArray

Kernel = Callable[[FloatArray, FloatArray], FloatArray]

_KEPT_BYTES = 256 * 1024**2
_kept: OrderedDict[str, FloatArray] = OrderedDict()
_lock = threading.Lock()


def pearson_vii(sigma: float, omega: float) -> Kernel:
    """The Pearson VII universal kernel: (1 + (2 |u| sqrt(2^(1/omega) - 1) / sigma)^2)^(-omega).

    >>> pearson_vii(1.0, 1.0)(np.array([[0.0]]), np.array([[0.0], [0.5]])).tolist()
    [[1.0, 0.5]]
    """
    factor = 4 * (2 ** (1 / omega) - 1) / sigma**2

    def kernel(first: FloatArray, second: FloatArray) -> FloatArray:
        ratio = squared_distances(first, second)
        ratio *= factor
        ratio += 1
        return np.asarray(ratio**-omega if omega != 1 else 1 / ratio)

    return kernel


def gaussian(gamma: float) -> Kernel:
    """exp(-gamma |u|^2)."""
    return lambda first, second: np.exp(-gamma * squared_distances(first, second))


def polynomial(exponent: float, lower_order: bool) -> Kernel:
    """(x . z)^exponent, or (x . z + 1)^exponent with the terms of lower order."""

    def kernel(first: FloatArray, second: FloatArray) -> FloatArray:
        product = first @ second.T + (1.0 if lower_order else 0.0)
        return np.asarray(product if exponent == 1 else product**exponent)

    return kernel


def squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Squared Euclidean distances of all rows to all rows.

    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).tolist()
    [[25.0]]
    """
    centre = second.mean(axis=0)  # far from the origin the difference of large squares would lose its digits
    first, second = first - centre, second - centre
    distances = first @ second.T
    distances *= -2
    distances += (first**2).sum(axis=1)[:, None]
    distances += (second**2).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def training_matrix(name: tuple[Any, ...], kernel: Kernel, rows: FloatArray) -> FloatArray:
    """The kernel among the training rows, kept for the next learner that asks for the same one (name and rows)."""
    key = hashlib.sha256(repr((name, rows.shape)).encode() + rows.tobytes()).hexdigest()
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    matrix = kernel(rows, rows)
    matrix.flags.writeable = False
    with _lock:
        _kept[key] = matrix
        while sum(each.nbytes for each in _kept.values()) > _KEPT_BYTES:
            _kept.popitem(last=False)
    return matrix
