"""Both hypotheses of the tutorial in numbers: what each learner loses, and whether the simpler of two loses more."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.reproduce.interval import Interval, mean_interval

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 3
"""Replicates that an interval takes: two that happen to be alike would seem to be certain."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Errors of one learner in one table: a line for each replicate, a column for each change."""

    changes: tuple[tuple[str, str], ...]  # trained on, tested on
    error: FloatArray
    ideal: FloatArray
    trivial: FloatArray

    @classmethod
    def of(cls, runs: pd.DataFrame) -> Losses:
        """From the frame of `EnvironmentMatrix.runs()` with one learner."""
        wide = runs.pivot_table(index="replicate", columns=["trained_on", "tested_on"], values=["error", "trivial"], sort=False)
        changes = tuple(pair for pair in wide["error"].columns if pair[0] != pair[1])
        columns = [
            [(kind, *(pair if kind != "ideal" else (pair[1], pair[1]))) for pair in changes]
            for kind in ("error", "ideal", "trivial")
        ]
        error, ideal, trivial = (
            wide[[("error" if kind == "ideal" else kind, *rest) for kind, *rest in each]].to_numpy() for each in columns
        )
        return cls(changes, error, ideal, trivial)

    @property
    def replicates(self) -> int:
        """How many there are."""
        return len(self.error)

    def mean_loss(self, rows: IntArray) -> float:
        """Error minus error trained there, in points, averaged over changes and these replicates."""
        return float(100 * (self.error - self.ideal)[rows].mean())

    def pd(self, rows: IntArray) -> FloatArray:
        """pD of the mean errors over these replicates, of each change."""
        from fairtrial.errors import UndefinedMeasureWarning
        from fairtrial.measures import performance_deterioration

        means = [each[rows].mean(axis=0) for each in (self.error, self.ideal, self.trivial)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            return np.asarray(performance_deterioration(*means))


def jackknifed(statistic: Callable[[IntArray], float], n: int) -> Interval:
    """A statistic of n replicates with its interval: Student's for the mean of the jackknife's pseudo-values (Tukey 1958).

    With fewer than FEWEST replicates its ends are not known.

    >>> values = np.array([1.0, 2.0, 4.0])  # of a mean it is the usual interval
    >>> jackknifed(lambda rows: float(values[rows].mean()), 3).told("{:.2f}")
    '2.33 (-1.46 to 6.13)'
    """
    everyone = np.arange(n)
    value = statistic(everyone)
    if n < FEWEST:
        return Interval(value, np.nan, np.nan)
    without = np.array([statistic(np.delete(everyone, each)) for each in everyone])
    spread = mean_interval(n * value - (n - 1) * without)
    half = (spread.high - spread.low) / 2
    return Interval(value, value - half, value + half, spread.freedom)


def loss_of(losses: Losses) -> Interval:
    """What is lost on average, in points of error."""
    return jackknifed(losses.mean_loss, losses.replicates)


def average_pd(losses: Losses) -> Interval:
    """The averaged pD of one learner, over the changes where it is defined."""
    kept = np.isfinite(losses.pd(np.arange(losses.replicates)))
    return jackknifed(lambda rows: _mean(losses.pd(rows)[kept]), losses.replicates)


def more_lost(simple: Losses, complicated: Losses) -> Interval:
    """The averaged pD of the simple learner minus that of the complex one, over the changes where both are defined."""
    everyone = np.arange(simple.replicates)
    kept = np.isfinite(simple.pd(everyone)) & np.isfinite(complicated.pd(everyone))
    return jackknifed(lambda rows: _mean((simple.pd(rows) - complicated.pd(rows))[kept]), simple.replicates)


def more_points_lost(simple: Losses, complicated: Losses) -> Interval:
    """The same in points of error, which are always defined and have no denominator."""
    return jackknifed(lambda rows: simple.mean_loss(rows) - complicated.mean_loss(rows), simple.replicates)


def better_by(simple: Losses, complicated: Losses) -> list[Interval]:
    """For each change, the error of the simple learner minus that of the complex one, in points."""
    return [_mean_over(each) for each in (100 * (simple.error - complicated.error)).T]


def _mean_over(replicates: FloatArray) -> Interval:
    return jackknifed(lambda rows: float(replicates[rows].mean()), len(replicates))


def _mean(values: FloatArray) -> float:
    """The mean over changes; one that is undefined without some replicate does not count there."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan
