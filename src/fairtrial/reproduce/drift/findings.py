"""What came of the runs: cells of the three tables, and both hypotheses by variant, table and learner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairtrial.reproduce.drift.declared import TABLES, Plan, TableName
from fairtrial.reproduce.drift.hypotheses import Losses, average_pd, better_by, loss_of, more_lost, more_points_lost
from fairtrial.reproduce.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fairtrial.reproduce.drift.declared import Part
    from fairtrial.study.environments import EnvironmentMatrix


@dataclass(frozen=True, eq=False)
class Findings:
    """All runs; the variant "" is the main one."""

    plan: Plan
    matrices: Mapping[Part, EnvironmentMatrix]

    def cells(self, table: TableName) -> pd.DataFrame:
        """A line for each learner and change of the main run, and for the usual population (Table III: each) by itself."""
        import pandas as pd

        frames = [self.matrices[part].frame() for (each, _), part in self.plan.parts().items() if each == table]
        cells = pd.concat(frames, ignore_index=True)
        own = (cells["trained_on"] == "NGP") | (table == "definitions")
        return cells[(cells["trained_on"] != cells["tested_on"]) | own]

    @cached_property
    def _losses(self) -> dict[Part, Losses]:
        return {part: Losses.of(matrix.runs()) for part, matrix in self.matrices.items()}

    def losses(self, table: TableName, learner: str, variant: str = "") -> Losses:
        """The errors of one learner in one table."""
        return self._losses[self.plan.parts(variant)[table, learner]]

    def lost(self, table: TableName, learner: str, variant: str = "") -> Interval:
        """What the learner loses on average, in points of error."""
        return loss_of(self.losses(table, learner, variant))

    def average(self, table: TableName, learner: str, variant: str = "") -> Interval:
        """Its averaged pD."""
        return average_pd(self.losses(table, learner, variant))

    def more(self, table: TableName, pair: tuple[str, str], variant: str = "") -> Interval:
        """By how much the averaged pD of the simple learner exceeds that of the complex one."""
        return more_lost(*(self.losses(table, each, variant) for each in pair))

    def more_points(self, table: TableName, pair: tuple[str, str], variant: str = "") -> Interval:
        """The same in points of error."""
        return more_points_lost(*(self.losses(table, each, variant) for each in pair))

    def better(self, pair: tuple[str, str]) -> list[Interval]:
        """Error of the simple learner minus that of the complex one under every change of the three tables, in points."""
        return [each for table in TABLES for each in better_by(*(self.losses(table, name) for name in pair))]
