"""Judging learner by learner: what one of them makes of a mean over all is not what the others have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtrial.reproduce.estimates.judging import Compared
from fairtrial.reproduce.interval import Interval, all_above

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ByLearner:
    """The mean over all cells, and that over the cells of each learner, which is what a claim is judged by."""

    whole: Compared
    learners: dict[str, Compared]

    def points(self) -> str:
        """As points of error."""
        return f"{self.whole.as_points()} points; {self._each(Compared.as_points)}; {self.whole.counts(0)}"

    def ratio(self) -> str:
        """As a ratio, for logarithms of ratios."""
        return f"ratio {self.whole.as_ratio()}; {self._each(Compared.as_ratio)}; {self.whole.counts(1)}"

    def _each(self, words: Callable[[Compared], str]) -> str:
        return "by learner: " + ", ".join(f"{name} {words(each)}" for name, each in self.learners.items())


def by_learner(draws: pd.DataFrame, judge: Callable[[pd.DataFrame], Compared]) -> ByLearner:
    """The same judgement of all draws and of those of each learner."""
    groups = draws.groupby("learner", sort=False, observed=True)
    return ByLearner(judge(draws), {str(name): judge(own) for name, own in groups})


def every_learner(*found: ByLearner) -> bool | None:
    """Whether all of these numbers are above 0 for every learner; no, only by intervals widened for so many numbers."""
    numbers: list[Interval] = [each.whole for one in found for each in one.learners.values()]
    return all_above(numbers)
