"""Means over cells that share samples: what the learners give on one sample counts as one unit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.interval import Interval

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Measured:
    """A number that rests on replicates. Cells of the same place share their samples, replicate by replicate."""

    place: Hashable
    value: float
    influence: pd.Series[float]  # by replicate: how far it moves the number, times the number of replicates; their mean is 0
    estimated: int = 1  # how many means were taken from these replicates: the degrees of freedom that they cost

    @classmethod
    def of_mean(cls, place: Hashable, values: pd.Series[float]) -> Measured:
        """The mean of a value of each replicate."""
        return cls(place, float(values.mean()), values - values.mean())

    @property
    def freedom(self) -> int:
        """The degrees of freedom of the number's variance."""
        return len(self.influence) - self.estimated

    @property
    def shares(self) -> pd.Series[float]:
        """What each replicate adds to the number; the squares sum to the number's variance."""
        found: pd.Series[float] = self.influence / np.sqrt(len(self.influence) * self.freedom)
        return found


def pooled(cells: Sequence[Measured]) -> Interval:
    """The mean over cells, with Student's interval by the samples, which are independent; its ends are NaN where too few tell.

    Two learners that are right and wrong on the same samples tell no more than one:

    >>> import pandas as pd
    >>> one, other = (Measured.of_mean("here", pd.Series([1.0, 2.0, 4.0])) for _ in range(2))
    >>> pooled([one]).told("{:.2f}"), pooled([one, other]).told("{:.2f}")
    ('2.33 (-1.46 to 6.13)', '2.33 (-1.46 to 6.13)')
    """
    from scipy.stats import t

    value = float(np.mean([each.value for each in cells])) if cells else float("nan")
    variance, freedom = _spread(cells)
    half = float(t.ppf((1 + _LEVEL) / 2, freedom) * np.sqrt(variance))
    return Interval(value, value - half, value + half, freedom)


def covering(cells: Sequence[Measured]) -> Interval:
    """The mean over cells of shares of replicates, with Wilson's interval for as many draws as the samples are worth.

    That number is what independent draws would need for the same variance (Korn and Graubard 1998); where all draws agree,
    which leaves no variance to see, it is the number of samples that all cells of a place have.

    >>> import pandas as pd
    >>> covering([Measured.of_mean(learner, pd.Series([1.0] * 20)) for learner in "ab"]).told("{:.3f}")
    '1.000 (0.912 to 1.000)'
    """
    from scipy.stats import norm, t

    from fairtrial.measures.intervals import compute_wilson_limits

    if not cells:
        return Interval(float("nan"), float("nan"), float("nan"))
    share = float(np.mean([each.value for each in cells]))
    worth = float(sum(min(len(each.influence) for each in group) for group in _by_place(cells)))
    variance, freedom = _spread(cells)
    if variance > 0:
        widened = (t.ppf((1 + _LEVEL) / 2, freedom) / norm.ppf((1 + _LEVEL) / 2)) ** 2
        worth = min(share * (1 - share) / variance / widened, sum(len(each.influence) for each in cells))
    return Interval(share, *compute_wilson_limits(share * worth, worth, _LEVEL))


def _by_place(cells: Sequence[Measured]) -> list[list[Measured]]:
    groups: dict[Hashable, list[Measured]] = {}
    for each in cells:
        groups.setdefault(each.place, []).append(each)
    return list(groups.values())


def _spread(cells: Sequence[Measured]) -> tuple[float, float]:
    """The variance of the mean over cells and its degrees of freedom (Satterthwaite); NaN where they cannot be told.

    In each place, shares of a replicate are added over the cells that have it: a learner with fewer replicates has no part
    in the others. Places have samples of their own, so that their variances add.
    """
    if not cells or min(each.freedom for each in cells) < 1:
        return float("nan"), float("nan")
    groups = _by_place(cells)
    sums = [_added(group) / len(cells) for group in groups]
    variances = np.array([float((each**2).sum()) for each in sums])
    if not variances.any():
        return float("nan"), float("nan")
    freedoms = np.array([min(each.freedom for each in group) for group in groups])
    return float(variances.sum()), float(variances.sum() ** 2 / (variances**2 / freedoms).sum())


def _added(group: Sequence[Measured]) -> pd.Series[float]:
    """The shares of each replicate, added over the cells of one place."""
    import pandas as pd

    if len(group) == 1:
        return group[0].shares
    return pd.concat([each.shares for each in group]).groupby(level=0).sum()
