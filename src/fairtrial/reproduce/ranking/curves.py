"""Error rates of the measures against the level of noise, on simulated pairs of rankings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.interval import Interval
from fairtrial.reproduce.ranking.measure_words import HANDS_SEVERITY_RATIO, MEASURES, place
from fairtrial.reproduce.ranking.spreading import spread
from fairtrial.reproduce.ranking_kernels import LABEL_NOISE, PROPORTION_NOISE, SCORE_NOISE, compare_noisy_pairs
from fairtrial.study.randomness import derive_seed

if TYPE_CHECKING:
    import pandas as pd

_CASES, _REPLACED = 100, 10
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class Noise:
    """A kind of noise: its levels in percent, and what one percent is for the kernel."""

    name: str
    title: str
    kind: int
    levels: tuple[int, int]
    unit: float = 0.01
    same: bool = False

    def percents(self, step: int) -> list[int]:
        """Levels from the first to the last, both included."""
        first, last = self.levels
        return sorted({*range(first, last, step), last})


NOISES = (
    Noise("labels", "Misclassification noise", LABEL_NOISE, (0, 100)),
    Noise("scores", "Probability noise", SCORE_NOISE, (0, 100), unit=0.005),
    Noise("proportion", "Class proportion noise", PROPORTION_NOISE, (5, 95)),
)
SAME_NOISE = Noise("scores-same", "Probability noise, the same for both rankings", SCORE_NOISE, (0, 100), unit=0.005, same=True)


@dataclass(frozen=True, eq=False)
class Curve:
    """Error rates of six measures at each level (in percent), and the covariances of errors over the pairs of rankings."""

    noise: Noise
    levels: FloatArray
    pairs: int
    rates: FloatArray
    covariances: FloatArray

    def mean(self, measure: str, *, most: float = math.inf) -> float:
        """Mean error rate over the levels up to `most`."""
        return float(self.rates[self.levels <= most, place(measure)].mean())

    def gap(self, first: str, second: str, *, most: float = math.inf) -> Interval:
        """Mean error of the first less that of the second, in points; the interval is a paired one: both saw the same rankings.

        Of every level each pair of rankings is a unit of its own, so that variances of levels add up.
        """
        kept = self.levels <= most
        value = float(self._differences(first, second)[kept].mean())
        half = _NORMAL_95 * math.sqrt(float(self._variances(first, second)[kept].sum())) / int(kept.sum())
        return Interval(100 * value, 100 * (value - half), 100 * (value + half))

    def gaps(self, first: str, second: str, level: float) -> list[Interval]:
        """The same at each level of noise by itself.

        Where hardly any error was seen a variance says little: intervals are wider by what so many pairs can miss (z^2 / 2n).
        """
        from scipy.stats import norm

        z = float(norm.ppf((1 + level) / 2))
        halves = z * np.sqrt(self._variances(first, second)) + z * z / (2 * self.pairs)
        values = self._differences(first, second)
        return [Interval(100 * v, 100 * (v - half), 100 * (v + half)) for v, half in zip(values, halves, strict=True)]

    def _differences(self, first: str, second: str) -> FloatArray:
        return np.asarray(self.rates[:, place(first)] - self.rates[:, place(second)])

    def _variances(self, first: str, second: str) -> FloatArray:
        i, j, own = place(first), place(second), self.covariances
        return np.maximum((own[:, i, i] + own[:, j, j] - 2 * own[:, i, j]) / self.pairs, 0.0)

    def spread(self, measures: Sequence[str]) -> float:
        """The largest distance of the best and the worst of these measures at any level."""
        own = self.rates[:, [place(each) for each in measures]]
        return float((own.max(axis=1) - own.min(axis=1)).max())

    def frame(self) -> pd.DataFrame:
        """A line for each level: the error rates in percent."""
        import pandas as pd

        found = pd.DataFrame(100 * self.rates, columns=list(MEASURES))
        found.insert(0, "level", self.levels)
        found.insert(0, "noise", self.noise.name)
        return found


def curves(noises: Sequence[Noise], *, step: int, pairs: int, seed: int, jobs: int, progress: bool | None) -> list[Curve]:
    """A curve for each noise; `step` is in percent."""
    tasks = [(noise, level) for noise in noises for level in noise.percents(step)]
    found = spread(lambda task: _errors(*task, pairs, seed), tasks, jobs, name="levels of noise", progress=progress)
    made = []
    for noise in noises:
        own = [sums for (each, _), sums in zip(tasks, found, strict=True) if each is noise]
        rates = np.array([errors for errors, _ in own]) / pairs
        products = np.array([together for _, together in own]) / pairs
        covariances = products - rates[:, :, None] * rates[:, None, :]
        made.append(Curve(noise, np.array(noise.percents(step), float), pairs, rates, covariances))
    return made


def _errors(noise: Noise, level: int, pairs: int, seed: int) -> tuple[FloatArray, FloatArray]:
    errors, together = np.zeros(len(MEASURES)), np.zeros((len(MEASURES), len(MEASURES)))
    stream = np.uint64(derive_seed(seed, "ranking-synthetic", noise.name, level) & 0xFFFFFFFFFFFFFFFF)
    settings = (noise.kind, noise.unit * level, noise.same, _CASES, _REPLACED, HANDS_SEVERITY_RATIO)
    compare_noisy_pairs(*settings, stream, (0, pairs), errors, together)
    return errors, together + np.tril(together, -1).T
