"""The bootstrap of any number of measures at once: rows are drawn once, and every statistic is reweighted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.resample import draw
from fairtrial.kernels.threads import in_chunks

# Drawn counts of this many rows at a time, with the statistics made of them, stay in a core's cache.
_CHUNK = 1 << 18
_GROUPS = 500

Compute = Callable[[npt.NDArray[np.uint8]], FloatArray]


@dataclass(frozen=True)
class Resamples:
    """A fixed set of resamples of n rows: `seed` decides them, threads and chunks do not.

    `strata` (a code for each row) keeps the number of rows of each stratum.
    """

    n: int
    count: int
    seed: int
    strata: IntArray | None = None

    def values(self, compute: Compute) -> FloatArray:
        """`compute(drawn)` over all resamples, `drawn` being R x n counts; gives count x q."""
        order, ends = self._strata()
        seed = np.uint64(self.seed % 2**64)

        def work(start: int, stop: int) -> FloatArray:
            # A byte is enough: of n draws one row gets more than 255 with a chance below 1 in 255!.
            drawn = np.zeros((stop - start, self.n), dtype=np.uint8)
            draw(seed, start, order, ends, drawn)
            return compute(drawn)

        return np.concatenate(in_chunks(work, self.count, _CHUNK // self.n))

    def left_out(self, compute: Compute) -> FloatArray:
        """`compute` with each row left out in turn, or with each of 500 random groups of rows."""
        groups = min(self.n, _GROUPS)
        place = np.random.default_rng(self.seed).permutation(self.n) % groups

        def work(start: int, stop: int) -> FloatArray:
            return compute((place[None, :] != np.arange(start, stop)[:, None]).astype(np.uint8))

        return np.concatenate(in_chunks(work, groups, _CHUNK // self.n))

    def _strata(self) -> tuple[IntArray, IntArray]:
        if self.strata is None:
            return np.arange(self.n), np.array([self.n])
        return np.argsort(self.strata, kind="stable"), np.cumsum(np.bincount(self.strata))


def distances(values: FloatArray, estimate: float) -> FloatArray:
    """values - estimate without float noise, which must not decide on which side of the estimate a resample lies."""
    known = np.append(values[np.isfinite(values)], estimate if np.isfinite(estimate) else 0.0)
    with np.errstate(invalid="ignore"):  # the same infinity is the same value
        apart = np.where(values == estimate, 0.0, values - estimate)
    return np.where(np.abs(apart) <= 1e-12 * max(1.0, np.abs(known).max()), 0.0, apart)


def percentile_limits(values: FloatArray, level: float) -> tuple[float, float]:
    """Percentile limits of resampled values; infinite values are allowed."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="closest_observation" if np.isinf(values).any() else "linear")
    return float(low), float(high)


def bca_limits(values: FloatArray, estimate: float, left_out: FloatArray, level: float) -> tuple[float, float] | None:
    """Efron's bias-corrected and accelerated limits; None where the correction does not exist."""
    from scipy.special import ndtr, ndtri

    apart = distances(values, estimate)
    below = (np.mean(apart < 0) + np.mean(apart <= 0)) / 2
    if not 0 < below < 1 or not np.isfinite(left_out).all() or np.isinf(values).any():
        return None
    influence = left_out.mean() - left_out
    spread = (influence**2).sum()
    if spread == 0:
        return None
    acceleration = (influence**3).sum() / (6 * spread**1.5)
    bias = ndtri(below)
    tail = (1 - level) / 2
    reach = bias + ndtri([tail, 1 - tail])
    shares = ndtr(bias + reach / (1 - acceleration * reach))
    low, high = np.quantile(values, shares)
    return float(low), float(high)
