"""Summaries of simulated estimates, and comparisons of methods.

All learners see the same samples and splits, so the Monte Carlo intervals treat the results of all learners on one sample as
one observation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.estimates.simulation import LEVEL, NO_SIGNAL

if TYPE_CHECKING:
    import pandas as pd

_CELL = ["problem", "n", "learner"]
_MAX_EXTRA_DIGITS = 3
Quantity = Literal["bias", "deviation", "rmse"]


@dataclass(frozen=True, eq=False)
class Draws:
    """Simulated estimates, with one row per cell, replicate and method.

    A cell is a combination of a problem, a number of rows and a learner.
    """

    frame: pd.DataFrame

    @cached_property
    def with_signal(self) -> Draws:
        """Draws of the problems with a signal.

        Without a signal, the size of the training set does not change the error.
        """
        return Draws(self.frame[self.frame["problem"] != NO_SIGNAL])

    @cached_property
    def smallest(self) -> Draws:
        """Draws of the smallest samples."""
        return Draws(self.frame[self.frame["n"] == self.frame["n"].min()])

    def select(self, *, learner: str) -> Draws:
        """Return the draws of one learner."""
        return Draws(self.frame[self.frame["learner"] == learner])

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Bias, standard deviation, RMSE and coverage by cell and method, with 95 % intervals.

        The reference is the true error of the learner trained on the same sample.
        """
        import pandas as pd

        keys = [*_CELL, "method"]
        groups = self.frame.groupby(keys, sort=False, observed=True)
        return pd.DataFrame([dict(zip(keys, names, strict=True)) | _summarize_cell(rows) for names, rows in groups])

    def estimate_bias(self, method: str) -> PooledEstimate:
        """Estimate the mean bias over cells.

        A positive bias is pessimistic.
        """
        cells = [CellEstimate.from_values(key, rows["estimate"] - rows["true_error"]) for key, rows in self._iter_cells(method)]
        return PooledEstimate.from_cells(cells)

    def estimate_coverage(self, method: str) -> IntervalEstimate:
        """Estimate the coverage of the method's intervals, averaged over cells."""
        return pool_proportions(
            [CellEstimate.from_values(key, _is_covered(rows).astype(float)) for key, rows in self._iter_cells(method)]
        )

    def compare(self, first: str, second: str, quantity: Quantity) -> PooledEstimate:
        """Compare two methods on the same samples, and average the result over cells.

        If the quantity is "bias", the result is the bias of the first method minus that of the second. For the other
        quantities, it is the logarithm of the ratio of their standard deviations or root mean squared errors.
        """
        cells = []
        for (key, a), (_, b) in zip(self._iter_cells(first), self._iter_cells(second), strict=True):
            if quantity == "bias":
                cells.append(CellEstimate.from_values(key, a["estimate"] - b["estimate"]))
                continue
            squares = [_square_deviations(rows, quantity) for rows in (a, b)]
            means = [float(values.mean()) for values in squares]
            if min(means) == 0:
                continue  # no ratio to a constant estimate
            influence = (squares[0] / means[0] - squares[1] / means[1]) / 2
            log_ratio = float(np.log(means[0] / means[1]) / 2)
            cells.append(CellEstimate(key, log_ratio, influence, 2 if quantity == "deviation" else 1))
        return PooledEstimate.from_cells(cells)

    def estimate_by_learner(self, estimate: Callable[[Draws], PooledEstimate]) -> LearnerEstimates:
        """Compute the same estimate from all draws and from the draws of each learner."""
        learners = {str(learner): estimate(self.select(learner=learner)) for learner in self.frame["learner"].unique()}
        return LearnerEstimates(estimate(self), learners)

    def _iter_cells(self, method: str) -> Iterator[tuple[tuple[str, int], pd.DataFrame]]:
        """Yield the problem and number of rows of each cell, and the draws of the method.

        Cells with the same problem and number of rows share their samples.
        """
        rows = self.frame[self.frame["method"] == method]
        groups: Iterable[tuple[tuple[str, int, str], pd.DataFrame]]
        groups = rows.groupby(_CELL, sort=False, observed=True)  # type: ignore[assignment]
        for (problem, n, _), cell in groups:
            yield (problem, n), cell.set_index("replicate").sort_index()


def _summarize_cell(rows: pd.DataFrame) -> dict[str, float]:
    from fairtrial.measures.intervals import compute_wilson_limits

    estimate, true_error = rows["estimate"].to_numpy(), rows["true_error"].to_numpy()
    errors, n = estimate - true_error, len(rows)
    n_covered = int(_is_covered(rows).sum())
    quantities = {
        "bias": estimate_mean(errors),
        "deviation": _estimate_root((estimate - estimate.mean()) ** 2 * n / (n - 1)),
        "rmse": _estimate_root(errors**2),
        "coverage": IntervalEstimate(n_covered / n, *compute_wilson_limits(n_covered, n, LEVEL)),
    }
    summary: dict[str, float] = {
        "samples": n,
        "true_error": float(true_error.mean()),
        "estimate": float(estimate.mean()),
    }
    for name, quantity in quantities.items():
        summary |= {name: quantity.value, f"{name}_low": quantity.low, f"{name}_high": quantity.high}
    return summary | {"width": float((rows["high"] - rows["low"]).mean())}


def _estimate_root(squares: FloatArray) -> IntervalEstimate:
    mean = estimate_mean(squares)
    return IntervalEstimate(*np.sqrt(np.maximum([mean.value, mean.low, mean.high], 0)).tolist())


def _is_covered(rows: pd.DataFrame) -> pd.Series[bool]:
    return (rows["low"] <= rows["true_error"]) & (rows["true_error"] <= rows["high"])


def _square_deviations(rows: pd.DataFrame, quantity: Quantity) -> pd.Series[float]:
    centre = rows["estimate"].mean() if quantity == "deviation" else rows["true_error"]
    return (rows["estimate"] - centre) ** 2


@dataclass(frozen=True, eq=False)
class CellEstimate:
    """An estimate from the replicates of one cell.

    A cell is a problem, a number of rows and a learner. Cells with the same `samples` share the sample of each replicate.
    """

    samples: Hashable
    value: float
    influence: pd.Series[float]  # influence of each replicate on the value, times the number of replicates; the mean is 0
    n_means: int = 1  # number of means that are estimated from these replicates; each costs one degree of freedom

    @classmethod
    def from_values(cls, samples: Hashable, values: pd.Series[float]) -> CellEstimate:
        """Build the estimate of a mean from one value per replicate."""
        return cls(samples, float(values.mean()), values - values.mean())

    @property
    def degrees_of_freedom(self) -> int:
        """Degrees of freedom of the variance."""
        return len(self.influence) - self.n_means

    @property
    def contributions(self) -> pd.Series[float]:
        """Contribution of each replicate to the variance of the value.

        The squared contributions sum to this variance.
        """
        contributions: pd.Series[float] = self.influence / np.sqrt(len(self.influence) * self.degrees_of_freedom)
        return contributions


def pool(cells: Sequence[CellEstimate]) -> IntervalEstimate:
    """Estimate the mean over cells, with a t interval based on independent samples.

    The limits are NaN if there are too few samples.

    Two learners with the same results on the same samples give the same interval as one learner:

    >>> import pandas as pd
    >>> first, second = (CellEstimate.from_values("here", pd.Series([1.0, 2.0, 4.0])) for _ in range(2))
    >>> pool([first]).format("{:.2f}"), pool([first, second]).format("{:.2f}")
    ('2.33 (-1.46 to 6.13)', '2.33 (-1.46 to 6.13)')
    """
    from scipy.stats import t

    value = float(np.mean([cell.value for cell in cells])) if cells else float("nan")
    variance, degrees = _estimate_variance(cells)
    half = float(t.ppf((1 + LEVEL) / 2, degrees) * np.sqrt(variance))
    return IntervalEstimate(value, value - half, value + half, degrees)


def pool_proportions(cells: Sequence[CellEstimate]) -> IntervalEstimate:
    """Estimate the mean of proportions over cells with Wilson's interval.

    The effective number is the number of independent draws that would give the same variance (Korn and Graubard 1998). If the
    variance is zero, it is the number of distinct samples. A sample that several cells share counts once.

    >>> import pandas as pd
    >>> pool_proportions([CellEstimate.from_values(name, pd.Series([1.0] * 20)) for name in "ab"]).format("{:.3f}")
    '1.000 (0.912 to 1.000)'
    """
    from scipy.stats import norm, t

    from fairtrial.measures.intervals import compute_wilson_limits

    if not cells:
        return IntervalEstimate(float("nan"), float("nan"), float("nan"))
    proportion = float(np.mean([cell.value for cell in cells]))
    n_effective = float(sum(min(len(cell.influence) for cell in group) for group in _group_by_samples(cells)))
    variance, degrees = _estimate_variance(cells)
    if variance > 0:
        factor = (t.ppf((1 + LEVEL) / 2, degrees) / norm.ppf((1 + LEVEL) / 2)) ** 2
        n_effective = min(proportion * (1 - proportion) / variance / factor, sum(len(cell.influence) for cell in cells))
    return IntervalEstimate(proportion, *compute_wilson_limits(proportion * n_effective, n_effective, LEVEL))


def _group_by_samples(cells: Sequence[CellEstimate]) -> list[list[CellEstimate]]:
    groups: dict[Hashable, list[CellEstimate]] = {}
    for cell in cells:
        groups.setdefault(cell.samples, []).append(cell)
    return list(groups.values())


def _estimate_variance(cells: Sequence[CellEstimate]) -> tuple[float, float]:
    """Return the variance of the mean over cells, and its degrees of freedom.

    The contributions of a replicate are added over the cells that share its sample. Learners can have different numbers of
    replicates. Different groups of cells have independent samples, so their variances are added.
    """
    import pandas as pd

    if not cells or min(cell.degrees_of_freedom for cell in cells) < 1:
        return float("nan"), float("nan")
    groups = _group_by_samples(cells)
    sums = [pd.concat([cell.contributions for cell in group]).groupby(level=0).sum() / len(cells) for group in groups]
    variances = np.array([float((values**2).sum()) for values in sums])
    if not variances.any():
        return float("nan"), float("nan")
    degrees = np.array([min(cell.degrees_of_freedom for cell in group) for group in groups])
    return float(variances.sum()), float(variances.sum() ** 2 / (variances**2 / degrees).sum())


@dataclass(frozen=True)
class PooledEstimate:
    """The mean over cells and the estimate of each cell, with 95 % Monte Carlo intervals."""

    mean: IntervalEstimate
    cells: tuple[IntervalEstimate, ...]

    @classmethod
    def from_cells(cls, cells: list[CellEstimate]) -> PooledEstimate:
        """Pool the estimates of cells."""
        return cls(pool(cells), tuple(pool([cell]) for cell in cells))

    def format_points(self) -> str:
        """Format the mean in points of error."""
        points = IntervalEstimate(100 * self.mean.value, 100 * self.mean.low, 100 * self.mean.high)
        return format_estimate(points, 2, sign=True)

    def format_ratio(self) -> str:
        """Format the mean of log ratios as a ratio."""
        ratio = IntervalEstimate(*np.exp([self.mean.value, self.mean.low, self.mean.high]).tolist())
        return format_estimate(ratio, 2, null=1)


@dataclass(frozen=True)
class LearnerEstimates:
    """The mean estimate over all cells, and that over the cells of each learner.

    Claims are judged by the means of the individual learners.
    """

    overall: PooledEstimate
    learners: dict[str, PooledEstimate]

    @property
    def means(self) -> list[IntervalEstimate]:
        """Mean estimate over the cells of each learner."""
        return [estimate.mean for estimate in self.learners.values()]

    def describe_points(self) -> str:
        """Describe the estimates in points of error."""
        learners = self._format_learners(PooledEstimate.format_points)
        return f"{self.overall.format_points()} points; {learners}"

    def describe_ratio(self) -> str:
        """Describe estimates of log ratios as ratios."""
        learners = self._format_learners(PooledEstimate.format_ratio)
        return f"ratio {self.overall.format_ratio()}; {learners}"

    def _format_learners(self, format_mean: Callable[[PooledEstimate], str]) -> str:
        return ", ".join(f"{name} {format_mean(estimate)}" for name, estimate in self.learners.items())


def format_estimate(estimate: IntervalEstimate, digits: int, *, null: int = 0, sign: bool = False) -> str:
    """Format an estimate and its interval so that no limit is wrongly rounded to `null`.

    `null` is the value that means no effect. If the interval does not contain it, the estimate is not rounded to it either.

    >>> format_estimate(IntervalEstimate(-0.03, -0.06, -0.004), 1), format_estimate(IntervalEstimate(0.01, -0.2, 0.3), 1)
    ('-0.030 (-0.060 to -0.004)', '0.0 (-0.2 to 0.3)')
    >>> format_estimate(IntervalEstimate(1.02, 1.004, 1.04), 2, null=1)
    '1.020 (1.004 to 1.040)'
    """
    values = [estimate.value, estimate.low, estimate.high]
    visible = values if estimate.subtract(null).sign else values[1:]
    digits = max(_count_digits(value, digits, null) for value in visible)
    value, low, high = (_format_rounded(value, digits, sign=sign) for value in values)
    return f"{value} (interval unknown)" if isnan(estimate.low) else f"{value} ({low} to {high})"


def format_number(number: float, digits: int, *, sign: bool = False) -> str:
    """Format a rounded number, with more digits if it would otherwise be rounded to 0.

    A number that is still rounded to 0 has no minus sign.

    >>> format_number(-0.03, 1), format_number(-0.26, 1), format_number(-1e-9, 1)
    ('-0.03', '-0.3', '0.0')
    """
    return _format_rounded(number, _count_digits(number, digits, 0), sign=sign)


def _count_digits(number: float, digits: int, null: int) -> int:
    """Return how many decimal places distinguish a number from `null`, at least `digits`.

    If no number of decimal places up to the maximum does so, return `digits`.
    """
    candidates = range(digits, digits + _MAX_EXTRA_DIGITS + 1)
    return next((count for count in candidates if round(number - null, count) != 0), digits)


def _format_rounded(number: float, digits: int, *, sign: bool) -> str:
    return f"{number:{'+' if sign else ''}z.{digits}f}"
