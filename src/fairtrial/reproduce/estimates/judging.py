"""Bias, spread, distance and coverage of estimates, and comparisons of two of them, all with their Monte Carlo intervals.

All learners see the same samples and the same splits: what they give on one sample is one independent unit, not four.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.estimates.pooling import Measured, covering, pooled
from fairtrial.reproduce.estimates.telling import told
from fairtrial.reproduce.interval import Interval, mean_interval

if TYPE_CHECKING:
    import pandas as pd

CELL = ["problem", "n", "learner"]
Kind = Literal["bias", "deviation", "rmse"]


@dataclass(frozen=True)
class Compared:
    """The mean over cells, and each cell's own number, all with their 95 % Monte Carlo intervals."""

    whole: Interval
    cells: tuple[Interval, ...]

    @classmethod
    def of(cls, cells: list[Measured]) -> Compared:
        """From what each cell has and what its replicates contribute to it."""
        return cls(pooled(cells), tuple(pooled([each]) for each in cells))

    @property
    def above(self) -> bool | None:
        """Whether the mean is above 0; None where its interval does not tell."""
        return self.whole.above

    @property
    def below(self) -> bool | None:
        """Whether the mean is below 0; None where its interval does not tell."""
        return None if self.above is None else not self.above

    def points(self) -> str:
        """As points of error, with the number of cells on each side."""
        return f"{self.as_points()} points; {self.counts(0)}"

    def as_points(self) -> str:
        """The mean in points of error."""
        return told(Interval(100 * self.whole.value, 100 * self.whole.low, 100 * self.whole.high), 2, sign=True)

    def as_ratio(self) -> str:
        """The mean as a ratio, for logarithms of ratios."""
        return told(Interval(*np.exp([self.whole.value, self.whole.low, self.whole.high]).tolist()), 2, nothing=1)

    def counts(self, nothing: int) -> str:
        """How many cells lie on which side of no effect."""
        above, below = (sum(each.sign == side for each in self.cells) for side in (1, -1))
        return f"cells whose own interval is above {nothing}: {above} of {len(self.cells)}, below: {below}"


def summary(draws: pd.DataFrame) -> pd.DataFrame:
    """A line for each cell and method: bias, standard deviation, root mean squared error and coverage, with 95 % intervals.

    All are against the true error of the learner trained on that very sample; the standard deviation is the estimate's own.
    """
    import pandas as pd

    by = [*CELL, "method"]
    lines = [dict(zip(by, names, strict=True)) | _facts(own) for names, own in draws.groupby(by, sort=False, observed=True)]
    return pd.DataFrame(lines)


def _facts(own: pd.DataFrame) -> dict[str, float]:
    """What one cell's draws of one method say: each is of a sample of its own."""
    from fairtrial.measures.intervals import compute_wilson_limits

    estimate, truth = own["estimate"].to_numpy(), own["truth"].to_numpy()
    off, n = estimate - truth, len(own)
    held = int(_held(own).sum())
    found = {
        "bias": mean_interval(off),
        "deviation": _root((estimate - estimate.mean()) ** 2 * n / (n - 1)),
        "rmse": _root(off**2),
        "coverage": Interval(held / n, *compute_wilson_limits(held, n, 0.95)),
    }
    facts: dict[str, float] = {"samples": n, "truth": float(truth.mean()), "estimate": float(estimate.mean())}
    for name, each in found.items():
        facts |= {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
    return facts | {"width": float((own["high"] - own["low"]).mean())}


def _root(squares: FloatArray) -> Interval:
    mean = mean_interval(squares)
    return Interval(*np.sqrt(np.maximum([mean.value, mean.low, mean.high], 0)).tolist())


def _held(own: pd.DataFrame) -> pd.Series[bool]:
    return (own["low"] <= own["truth"]) & (own["truth"] <= own["high"])


def biased(draws: pd.DataFrame, method: str) -> Compared:
    """Estimate minus truth, averaged over cells: above 0 is pessimistic."""
    return Compared.of([Measured.of_mean(place, own["estimate"] - own["truth"]) for place, own in _cells(draws, method)])


def covered(draws: pd.DataFrame, method: str) -> Interval:
    """How often the method's intervals hold the true error, averaged over cells."""
    return covering([Measured.of_mean(place, _held(own).astype(float)) for place, own in _cells(draws, method)])


def compare(draws: pd.DataFrame, one: str, other: str, kind: Kind) -> Compared:
    """How one method differs from another on the same samples, averaged over cells.

    The difference of biases, or the logarithm of the ratio of standard deviations or of root mean squared errors.
    """
    found = []
    for (place, a), (_, b) in zip(_cells(draws, one), _cells(draws, other), strict=True):
        if kind == "bias":
            found.append(Measured.of_mean(place, a["estimate"] - b["estimate"]))
            continue
        squares = [_squares(own, kind) for own in (a, b)]
        means = [float(each.mean()) for each in squares]
        if min(means) == 0:
            continue  # an estimate that never moves has no ratio
        influence = (squares[0] / means[0] - squares[1] / means[1]) / 2
        found.append(Measured(place, float(np.log(means[0] / means[1]) / 2), influence, 2 if kind == "deviation" else 1))
    return Compared.of(found)


def _squares(own: pd.DataFrame, kind: Kind) -> pd.Series[float]:
    centre = own["estimate"].mean() if kind == "deviation" else own["truth"]
    return (own["estimate"] - centre) ** 2


def _cells(draws: pd.DataFrame, method: str) -> Iterator[tuple[tuple[str, int], pd.DataFrame]]:
    """A method's draws in each cell, by replicate, with the problem and the number of rows: cells of these share samples."""
    groups: Iterable[tuple[tuple[str, int, str], pd.DataFrame]]
    groups = draws[draws["method"] == method].groupby(CELL, sort=False, observed=True)  # type: ignore[assignment]
    for (problem, n, _), own in groups:
        yield (problem, n), own.set_index("replicate").sort_index()
