"""Losses of the simulated learners under drift.

A loss is measured in percentage points of error, or by pD, the performance deterioration.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._text import format_count
from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.drift.simulation import TABLES, DriftPlan, DriftRun, TableName

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.environments import EnvironmentMatrix

MIN_REPLICATES = 3
"""Minimum number of replicates for an interval; two equal replicates would give an interval of width zero."""


@dataclass(frozen=True, eq=False)
class DriftErrors:
    """Errors of one learner in one table, by replicate and change of environment."""

    changes: tuple[tuple[str, str], ...]  # trained on, tested on
    error: FloatArray
    ideal: FloatArray
    trivial: FloatArray

    @classmethod
    def from_runs(cls, runs: pd.DataFrame) -> DriftErrors:
        """Collect the errors from `EnvironmentMatrix.runs()` of one learner."""
        wide = runs.pivot_table(index="replicate", columns=["trained_on", "tested_on"], values=["error", "trivial"], sort=False)
        changes = tuple(pair for pair in wide["error"].columns if pair[0] != pair[1])
        error = wide[[("error", *pair) for pair in changes]].to_numpy()
        ideal = wide[[("error", tested_on, tested_on) for _, tested_on in changes]].to_numpy()
        trivial = wide[[("trivial", *pair) for pair in changes]].to_numpy()
        return cls(changes, error, ideal, trivial)

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return len(self.error)

    def compute_mean_loss(self, rows: IntArray) -> float:
        """Compute the mean loss in percentage points over the given replicates.

        The loss is the error minus the error after training in the test environment.
        """
        return float(100 * (self.error - self.ideal)[rows].mean())

    def compute_pd(self, rows: IntArray) -> FloatArray:
        """Compute pD for each change from the mean errors over the given replicates."""
        from fairtrial.errors import UndefinedMeasureWarning
        from fairtrial.measures import performance_deterioration

        means = [errors[rows].mean(axis=0) for errors in (self.error, self.ideal, self.trivial)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            return np.asarray(performance_deterioration(*means))

    def estimate_loss(self) -> IntervalEstimate:
        """Estimate the average loss in percentage points of error."""
        return jackknife(self.compute_mean_loss, self.replicates)

    def estimate_pd(self, *, without_test: str = "") -> IntervalEstimate:
        """Estimate the average pD over the changes for which pD is defined.

        Changes with tests in the environment `without_test` are left out.
        """
        is_kept = np.array([tested_on != without_test for _, tested_on in self.changes])
        is_used = is_kept & np.isfinite(self.compute_pd(np.arange(self.replicates)))
        return jackknife(lambda rows: _mean_defined(self.compute_pd(rows)[is_used]), self.replicates)

    def estimate_pd_difference(self, other: DriftErrors) -> IntervalEstimate:
        """Estimate the averaged pD of this learner minus that of the other.

        The averages include only the changes for which the pD of both learners is defined.
        """
        rows = np.arange(self.replicates)
        is_defined = np.isfinite(self.compute_pd(rows)) & np.isfinite(other.compute_pd(rows))
        return jackknife(
            lambda rows: _mean_defined((self.compute_pd(rows) - other.compute_pd(rows))[is_defined]), self.replicates
        )

    def estimate_loss_difference(self, other: DriftErrors) -> IntervalEstimate:
        """Estimate the difference between the mean losses in percentage points."""
        return jackknife(lambda rows: self.compute_mean_loss(rows) - other.compute_mean_loss(rows), self.replicates)

    def estimate_error_differences(self, other: DriftErrors) -> list[IntervalEstimate]:
        """Estimate the error of this learner minus that of the other, for each change."""
        differences = 100 * (self.error - other.error)
        return [
            jackknife(lambda rows, column=column: float(column[rows].mean()), self.replicates)  # type: ignore[misc]
            for column in differences.T
        ]


def jackknife(statistic: Callable[[IntArray], float], n: int) -> IntervalEstimate:
    """Estimate a statistic of n replicates with a jackknife t interval (Tukey 1958).

    The limits are NaN if there are fewer than `MIN_REPLICATES` replicates.

    >>> values = np.array([1.0, 2.0, 4.0])  # for a mean, this is the usual t interval
    >>> jackknife(lambda rows: float(values[rows].mean()), 3).format("{:.2f}")
    '2.33 (-1.46 to 6.13)'
    """
    rows = np.arange(n)
    value = statistic(rows)
    if n < MIN_REPLICATES:
        return IntervalEstimate(value, np.nan, np.nan)
    leave_one_out = np.array([statistic(np.delete(rows, row)) for row in rows])
    spread = estimate_mean(n * value - (n - 1) * leave_one_out)
    half = (spread.high - spread.low) / 2
    return IntervalEstimate(value, value - half, value + half, spread.degrees_of_freedom)


def _mean_defined(values: FloatArray) -> float:
    """Average the defined values; NaN if none is defined."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan


@dataclass(frozen=True, eq=False)
class DriftResults:
    """All runs of a plan. The main variant has an empty name."""

    plan: DriftPlan
    matrices: Mapping[DriftRun, EnvironmentMatrix]

    def build_cells(self, table: TableName) -> pd.DataFrame:
        """Build the rows of a table for the main variant.

        Rows without a change of environment are included for the usual population in Tables I and II, and for all
        environments in Table III.
        """
        import pandas as pd

        frames = [self.matrices[run].frame() for (name, _), run in self.plan.list_runs().items() if name == table]
        cells = pd.concat(frames, ignore_index=True)
        is_kept = (cells["trained_on"] == "NGP") | (table == "definitions")
        return cells[(cells["trained_on"] != cells["tested_on"]) | is_kept]

    @cached_property
    def _errors(self) -> dict[DriftRun, DriftErrors]:
        return {run: DriftErrors.from_runs(matrix.runs()) for run, matrix in self.matrices.items()}

    def get_errors(self, table: TableName, learner: str, variant: str = "") -> DriftErrors:
        """Return the errors of one learner in one table."""
        return self._errors[self.plan.list_runs(variant)[table, learner]]

    def estimate_pd_difference(self, table: TableName, pair: tuple[str, str], variant: str = "") -> IntervalEstimate:
        """Estimate the averaged pD of the simple learner minus that of the complex one."""
        simple, complicated = (self.get_errors(table, learner, variant) for learner in pair)
        return simple.estimate_pd_difference(complicated)

    def estimate_loss_difference(self, table: TableName, pair: tuple[str, str], variant: str = "") -> IntervalEstimate:
        """Estimate the difference between the mean losses in percentage points of error."""
        simple, complicated = (self.get_errors(table, learner, variant) for learner in pair)
        return simple.estimate_loss_difference(complicated)

    def estimate_error_differences(self, pair: tuple[str, str], variant: str = "") -> list[IntervalEstimate]:
        """Estimate the error of the simple learner minus that of the complex one, by change."""
        return [
            difference
            for table in TABLES
            for difference in self.get_errors(table, pair[0], variant).estimate_error_differences(
                self.get_errors(table, pair[1], variant)
            )
        ]

    def estimate_mean_error_difference(self, pair: tuple[str, str], variant: str = "") -> IntervalEstimate:
        """Estimate the mean of the error differences over all changes of the three tables.

        The tables share patients. Therefore replicates are the independent units.
        """
        simple, complicated = (
            np.hstack([self.get_errors(table, learner, variant).error for table in TABLES]) for learner in pair
        )
        means = 100 * (simple - complicated).mean(axis=1)
        return jackknife(lambda rows: float(means[rows].mean()), len(means))

    def list_failures(self) -> dict[str, str]:
        """List the learners that failed, each with its first error message."""
        return {
            f"{run.learner} in {run.table}": (
                f"{format_count(len(matrix.failures), 'failure')}, first: {matrix.failures[0].message}"
            )
            for run, matrix in self.matrices.items()
            if matrix.failures
        }
