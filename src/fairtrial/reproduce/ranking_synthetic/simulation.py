"""Count how often each measure prefers the worse of two simulated rankings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.ranking_errors import HANDS_SEVERITY_RATIO, MEASURES, index_measure, run_tasks
from fairtrial.reproduce.ranking_kernels import LABEL_NOISE, PROPORTION_NOISE, SCORE_NOISE, compare_noisy_pairs
from fairtrial.study.randomness import derive_seed

if TYPE_CHECKING:
    import pandas as pd

_CASES, _REPLACED = 100, 10
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class RankingNoise:
    """A kind of noise.

    `levels` contains the lowest and the highest noise level in percent. `unit` is the noise level in the kernel that
    corresponds to one percent. If `same` is true, the same noise is added to both rankings.
    """

    name: str
    title: str
    kind: int
    levels: tuple[int, int]
    unit: float = 0.01
    same: bool = False

    def list_levels(self, step: int) -> list[int]:
        """List the noise levels from the first to the last, inclusive."""
        first, last = self.levels
        return sorted({*range(first, last, step), last})


NOISES = (
    RankingNoise("labels", "Misclassification noise", LABEL_NOISE, (0, 100)),
    RankingNoise("scores", "Probability noise", SCORE_NOISE, (0, 100), unit=0.005),
    RankingNoise("proportion", "Class proportion noise", PROPORTION_NOISE, (5, 95)),
)
SAME_NOISE = RankingNoise(
    "scores-same", "Probability noise, the same for both rankings", SCORE_NOISE, (0, 100), unit=0.005, same=True
)


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Error rates of the six measures at each noise level, with their covariances."""

    noise: RankingNoise
    levels: FloatArray
    pairs: int
    rates: FloatArray
    covariances: FloatArray

    def compute_mean(self, measure: str, *, max_level: float = math.inf) -> float:
        """Compute the mean error rate over the noise levels up to `max_level`."""
        return float(self.rates[self.levels <= max_level, index_measure(measure)].mean())

    def estimate_difference(self, first: str, second: str, *, max_level: float = math.inf) -> IntervalEstimate:
        """Estimate the mean error of the first measure minus that of the second, in points.

        The interval is computed from paired differences. Each noise level has its own pairs of rankings, so the variances of
        the levels are added.
        """
        selected = self.levels <= max_level
        value = float(self._compute_differences(first, second)[selected].mean())
        variance = float(self._compute_variances(first, second)[selected].sum())
        half = _NORMAL_95 * math.sqrt(variance) / int(selected.sum())
        return IntervalEstimate(100 * value, 100 * (value - half), 100 * (value + half))

    def estimate_differences(self, first: str, second: str, confidence: float) -> list[IntervalEstimate]:
        """Estimate the difference between the errors at each noise level.

        The variance is unreliable if errors are rare, so the half-widths are increased by z^2 / 2n.
        """
        from scipy.stats import norm

        z = float(norm.ppf((1 + confidence) / 2))
        halves = z * np.sqrt(self._compute_variances(first, second)) + z * z / (2 * self.pairs)
        values = self._compute_differences(first, second)
        return [
            IntervalEstimate(100 * value, 100 * (value - half), 100 * (value + half))
            for value, half in zip(values, halves, strict=True)
        ]

    def _compute_differences(self, first: str, second: str) -> FloatArray:
        return np.asarray(self.rates[:, index_measure(first)] - self.rates[:, index_measure(second)])

    def _compute_variances(self, first: str, second: str) -> FloatArray:
        i, j, covariances = index_measure(first), index_measure(second), self.covariances
        return np.maximum((covariances[:, i, i] + covariances[:, j, j] - 2 * covariances[:, i, j]) / self.pairs, 0.0)

    def compute_spread(self, measures: Sequence[str]) -> float:
        """Compute the largest difference between two of these measures at any noise level."""
        rates = self.rates[:, [index_measure(measure) for measure in measures]]
        return float((rates.max(axis=1) - rates.min(axis=1)).max())

    def frame(self) -> pd.DataFrame:
        """Return the error rates in percent, with one row per noise level."""
        import pandas as pd

        frame = pd.DataFrame(100 * self.rates, columns=list(MEASURES))
        frame.insert(0, "level", self.levels)
        frame.insert(0, "noise", self.noise.name)
        return frame


def simulate_curves(
    noises: Sequence[RankingNoise], *, step: int, pairs: int, seed: int, jobs: int, progress: bool | None
) -> list[ErrorCurve]:
    """Simulate an error curve for each kind of noise.

    `step` is the distance between noise levels in percent. `pairs` is the number of pairs of rankings at each level.
    """
    tasks = [(noise, level) for noise in noises for level in noise.list_levels(step)]
    sums = run_tasks(lambda task: _count_errors(*task, pairs, seed), tasks, jobs, name="noise levels", progress=progress)
    curves = []
    for noise in noises:
        noise_sums = [level_sums for (task_noise, _), level_sums in zip(tasks, sums, strict=True) if task_noise is noise]
        rates = np.array([errors for errors, _ in noise_sums]) / pairs
        products = np.array([joint_errors for _, joint_errors in noise_sums]) / pairs
        covariances = products - rates[:, :, None] * rates[:, None, :]
        curves.append(ErrorCurve(noise, np.array(noise.list_levels(step), float), pairs, rates, covariances))
    return curves


def _count_errors(noise: RankingNoise, level: int, pairs: int, seed: int) -> tuple[FloatArray, FloatArray]:
    errors, joint_errors = np.zeros(len(MEASURES)), np.zeros((len(MEASURES), len(MEASURES)))
    stream = np.uint64(derive_seed(seed, "ranking-synthetic", noise.name, level) & 0xFFFFFFFFFFFFFFFF)
    settings = (noise.kind, noise.unit * level, noise.same, _CASES, _REPLACED, HANDS_SEVERITY_RATIO)
    compare_noisy_pairs(*settings, stream, (0, pairs), errors, joint_errors)
    return errors, joint_errors + np.tril(joint_errors, -1).T
