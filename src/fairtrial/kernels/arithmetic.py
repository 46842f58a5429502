"""Ratios without division warnings, and weight sums per bin for many resamples at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import get_ident
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.compiling import kernel


def compute_ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Divide elementwise without warnings. 0/0 is NaN, and x/0 is infinite.

    >>> compute_ratio([1.0, 0.0, 1.0], [2.0, 0.0, 0.0])
    array([0.5, nan, inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(numerator, denominator), dtype=np.float64)


_ONES = np.empty(0)


@kernel
def add_to_bins(row_weights: npt.NDArray[Any], rows: IntArray, bins: IntArray, weights: FloatArray, out: FloatArray) -> None:
    """Add row_weights[r, rows[i]] * weights[i] to out[r, bins[i]] for all r and i.

    If `weights` is empty, row_weights[r, rows[i]] is added.
    """
    weighted = weights.size > 0
    for r in range(row_weights.shape[0]):
        for i in range(rows.size):
            out[r, bins[i]] += row_weights[r, rows[i]] * weights[i] if weighted else float(row_weights[r, rows[i]])


@dataclass(frozen=True)
class Binning:
    """The bin and the weight of each row. If `weights` is None, each row has a weight of 1.

    >>> Binning(np.array([0, 1, 0]), 2).compute_sums(np.array([[1, 1, 1], [2, 0, 1]]))
    array([[2., 1.],
           [3., 0.]])
    """

    codes: IntArray
    size: int
    weights: FloatArray | None = None

    @cached_property
    def _by_bin(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the rows, bins and weights, sorted by bin for faster summation."""
        order = np.argsort(self.codes, kind="stable")
        return order, self.codes[order], _ONES if self.weights is None else self.weights[order]

    @cached_property
    def _latest(self) -> dict[int, tuple[npt.NDArray[Any], FloatArray]]:
        return {}

    def compute_sums(self, row_weights: npt.NDArray[Any]) -> FloatArray:
        """Compute the sum of the weights in each bin for each resample.

        `row_weights` has shape (R, n), and the result has shape (R, size). Many measures need the same sums, so each thread
        caches its latest result. Do not modify the result.
        """
        previous_weights, out = self._latest.get(get_ident(), (None, _ONES))
        if previous_weights is not row_weights:
            if len(row_weights) == 1:
                # With a single resample, sorting the rows by bin takes longer than it saves. The sums are the same.
                weights = row_weights[0] if self.weights is None else row_weights[0] * self.weights
                out = np.asarray(np.bincount(self.codes, weights, minlength=self.size)[None], dtype=np.float64)
            else:
                out = np.zeros((len(row_weights), self.size))
                add_to_bins(row_weights, *self._by_bin, out)
            self._latest[get_ident()] = row_weights, out
        return out
