"""Bias, spread, distance and coverage of estimates, and comparisons of two of them, all with their Monte Carlo intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairtrial._check import FloatArray

if TYPE_CHECKING:
    import pandas as pd

CELL = ["problem", "n", "learner"]
Kind = Literal["bias", "deviation", "rmse"]
_Z = 1.959964


@dataclass(frozen=True)
class Pooled:
    """The mean over cells with its 95 % Monte Carlo interval, and how many cells have intervals above or below 0."""

    value: float
    low: float
    high: float
    above: int
    below: int
    cells: int

    @property
    def sign(self) -> int:
        """1 above 0, -1 below 0, 0 where the interval holds 0."""
        return int(self.low > 0) - int(self.high < 0)

    def points(self) -> str:
        """As points of error."""
        return f"{100 * self.value:+.2f} points ({100 * self.low:+.2f} to {100 * self.high:+.2f}; {self._counts(0)})"

    def ratio(self) -> str:
        """As a ratio, for logarithms of ratios."""
        value, low, high = np.exp([self.value, self.low, self.high])
        return f"ratio {value:.2f} ({low:.2f} to {high:.2f}; {self._counts(1)})"

    def _counts(self, nothing: int) -> str:
        return f"of {self.cells} cells {self.above} have their own interval above {nothing}, {self.below} below"


def summary(draws: pd.DataFrame, by: Iterable[str] = (*CELL, "method")) -> pd.DataFrame:
    """A line for each cell and method: bias, standard deviation, root mean squared error and coverage, with 95 % intervals.

    All are against the true error of the learner trained on that very sample; the standard deviation is the estimate's own.
    """
    import pandas as pd

    by = list(by)
    lines = [dict(zip(by, names, strict=True)) | _facts(own) for names, own in draws.groupby(by, sort=False, observed=True)]
    return pd.DataFrame(lines)


def _facts(own: pd.DataFrame) -> dict[str, float]:
    from fairtrial.measures.closed_intervals import wilson

    estimate, truth = own["estimate"].to_numpy(), own["truth"].to_numpy()
    off, n = estimate - truth, len(own)
    facts: dict[str, float] = {"samples": n, "truth": float(truth.mean()), "estimate": float(estimate.mean())}
    half = _Z * _error(off)
    facts |= {"bias": float(off.mean()), "bias_low": float(off.mean() - half), "bias_high": float(off.mean() + half)}
    facts |= _root("deviation", (estimate - estimate.mean()) ** 2 * n / (n - 1))
    facts |= _root("rmse", off**2)
    held = int(((own["low"] <= own["truth"]) & (own["truth"] <= own["high"])).sum())
    low, high = wilson(held, n, 0.95)
    return facts | {
        "coverage": held / n,
        "coverage_low": low,
        "coverage_high": high,
        "width": float((own["high"] - own["low"]).mean()),
    }


def _root(name: str, squares: FloatArray) -> dict[str, float]:
    half = _Z * _error(squares)
    ends = np.sqrt(np.maximum(squares.mean() + np.array([0, -half, half]), 0))
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends.tolist(), strict=True))


def biased(draws: pd.DataFrame, method: str) -> Pooled:
    """Estimate minus truth, averaged over cells: above 0 is pessimistic."""
    return pooled([_of_mean(own["estimate"] - own["truth"]) for _, own in _cells(draws, method)])


def compare(draws: pd.DataFrame, one: str, other: str, kind: Kind) -> Pooled:
    """How one method differs from another on the same samples, averaged over cells.

    The difference of biases, or the logarithm of the ratio of standard deviations or of root mean squared errors.
    """
    found = []
    for (_, first), (_, second) in zip(_cells(draws, one), _cells(draws, other), strict=True):
        a, b = (own.sort_values("replicate") for own in (first, second))
        if kind == "bias":
            found.append(_of_mean(a["estimate"].to_numpy() - b["estimate"].to_numpy()))
            continue
        squares = [_squares(own, kind) for own in (a, b)]
        means = [each.mean() for each in squares]
        if min(means) == 0:
            continue  # an estimate that never moves has no ratio
        influence = (squares[0] / means[0] - squares[1] / means[1]) / 2
        found.append((float(np.log(means[0] / means[1]) / 2), _error(influence)))
    return pooled(found)


def _squares(own: pd.DataFrame, kind: Kind) -> FloatArray:
    estimate, truth = own["estimate"].to_numpy(), own["truth"].to_numpy()
    return np.asarray((estimate - (estimate.mean() if kind == "deviation" else truth)) ** 2)


def pooled(found: list[tuple[float, float]]) -> Pooled:
    """The mean of independent numbers with their standard errors.

    >>> pooled([(1.0, 0.3), (3.0, 0.4)])
    Pooled(value=2.0, low=1.51, high=2.49, above=2, below=0, cells=2)
    """
    values, errors = np.array(found).T
    value, half = float(values.mean()), _Z * float(np.sqrt((errors**2).sum())) / len(values)
    above, below = ((sign * values > _Z * errors).sum() for sign in (1, -1))
    return Pooled(value, value - half, value + half, int(above), int(below), len(values))


def _cells(draws: pd.DataFrame, method: str) -> Iterable[tuple[object, pd.DataFrame]]:
    return draws[draws["method"] == method].groupby(CELL, sort=False, observed=True)


def _of_mean(values: FloatArray | pd.Series[float]) -> tuple[float, float]:
    given = np.asarray(values)
    return float(given.mean()), _error(given)


def _error(values: FloatArray) -> float:
    """The standard error of a mean, widened by Student's t: 1.96 of it on both sides hold 95 % with few values, too."""
    from scipy.stats import t

    return float(t.ppf(0.975, len(values) - 1) / _Z * values.std(ddof=1) / np.sqrt(len(values)))
