"""Bootstrap several measures on the same resamples of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels import randomness
from fairtrial.kernels.compiling import run_in_chunks

# The counts of this many rows and the statistics computed from them fit into the cache of a core.
_COUNTS_PER_CHUNK = 1 << 18


_GROUPS = 500


Compute = Callable[[npt.NDArray[np.uint8]], FloatArray]


@dataclass(frozen=True)
class Resamples:
    """A fixed set of resamples of n rows.

    The resamples depend only on `seed`, not on the number of threads or chunks. `strata` contains the code of each row's
    stratum. Each resample has the same number of rows in each stratum as the data. `clusters` contains the code of each row's
    cluster, starting at 0. Whole clusters are drawn because rows in the same cluster may be dependent.
    """

    n: int
    count: int
    seed: int
    strata: IntArray | None = None
    clusters: IntArray | None = None

    @property
    def n_units(self) -> int:
        """The number of units (rows or clusters) from which each resample is drawn."""
        return self.n if self.clusters is None else int(self.clusters.max()) + 1

    def _expand(self, unit_counts: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        return unit_counts if self.clusters is None else unit_counts[:, self.clusters]

    def compute_values(self, compute: Compute) -> FloatArray:
        """Apply `compute` to the draw counts of every resample.

        `compute` receives an array with one row per resample and one column per data row. The result has one row per resample.
        """
        order, ends = self._order_strata()
        seed = np.uint64(self.seed % 2**64)

        def compute_chunk(start: int, stop: int) -> FloatArray:
            # One byte is enough: the probability that n draws contain a row more than 255 times is below 1 / 255!.
            draw_counts = np.zeros((stop - start, self.n_units), dtype=np.uint8)
            randomness.draw_resamples(seed, start, order, ends, draw_counts)
            return compute(self._expand(draw_counts))

        return np.concatenate(run_in_chunks(compute_chunk, self.count, _COUNTS_PER_CHUNK // self.n))

    def compute_jackknife(self, compute: Compute) -> FloatArray:
        """Apply `compute` with each unit (row or cluster) left out in turn.

        If there are more than 500 units, they are randomly divided into 500 groups, and the groups are left out in turn.
        """
        groups = min(self.n_units, _GROUPS)
        group_index = np.random.default_rng(self.seed).permutation(self.n_units) % groups

        def compute_chunk(start: int, stop: int) -> FloatArray:
            return compute(self._expand((group_index[None, :] != np.arange(start, stop)[:, None]).astype(np.uint8)))

        return np.concatenate(run_in_chunks(compute_chunk, groups, _COUNTS_PER_CHUNK // self.n))

    def _order_strata(self) -> tuple[IntArray, IntArray]:
        if self.strata is None:
            return np.arange(self.n_units), np.array([self.n_units])
        return np.argsort(self.strata, kind="stable"), np.cumsum(np.bincount(self.strata))


def compute_distances(values: FloatArray, estimate: float) -> FloatArray:
    """Compute the deviations of the values from the estimate, with rounding errors set to zero."""
    finite_values = np.append(values[np.isfinite(values)], estimate if np.isfinite(estimate) else 0.0)
    with np.errstate(invalid="ignore"):  # two equal infinities count as the same value
        deviations = np.where(values == estimate, 0.0, values - estimate)
    return np.where(np.abs(deviations) <= 1e-12 * np.abs(finite_values).max(), 0.0, deviations)


def compute_percentile_limits(values: FloatArray, level: float) -> tuple[float, float]:
    """Compute percentile limits from resampled values, some of which may be infinite."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="closest_observation" if np.isinf(values).any() else "linear")
    return float(low), float(high)


def compute_bca_limits(values: FloatArray, estimate: float, jackknife: FloatArray, level: float) -> tuple[float, float] | None:
    """Compute Efron's BCa limits, or return None if the correction is undefined."""
    from scipy.special import ndtr, ndtri

    deviations = compute_distances(values, estimate)
    below = (np.mean(deviations < 0) + np.mean(deviations <= 0)) / 2
    if not 0 < below < 1 or not np.isfinite(jackknife).all() or np.isinf(values).any():
        return None
    influence = jackknife.mean() - jackknife
    largest = float(np.abs(influence).max())
    if largest == 0:
        return None
    influence /= largest  # the unit does not matter, and powers must not overflow
    spread = (influence**2).sum()
    acceleration = (influence**3).sum() / (6 * spread**1.5)
    bias = ndtri(below)
    tail = (1 - level) / 2
    reach = bias + ndtri([tail, 1 - tail])
    quantiles = ndtr(bias + reach / (1 - acceleration * reach))
    low, high = np.quantile(values, quantiles)
    return float(low), float(high)
