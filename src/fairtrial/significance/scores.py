"""Scores with their design: which learner had which score on which split of which data set."""

from __future__ import annotations

from collections.abc import Container, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray

if TYPE_CHECKING:
    import pandas as pd

Split = tuple[str, Hashable, Hashable]


@dataclass(frozen=True)
class Design:
    """What was run: learners, data sets, how often each split was repeated, and into how many folds (the most that occur)."""

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    repeats: int = 1
    folds: int = 1

    def __str__(self) -> str:
        parts = [counted(len(self.learners), "learner"), counted(len(self.datasets), "data set")]
        splits = {"repeat": self.repeats, "fold": self.folds}
        return ", ".join(parts + [counted(number, what) for what, number in splits.items() if number > 1])


@dataclass(frozen=True)
class Scores:
    """Scores as they were read. `cells` has a row for each of `splits` (data set, repeat, fold) and a column for each learner,
    NaN where there is no score; `guessed` says what was taken for what; `measure` is named where the source names it."""

    cells: FloatArray = field(repr=False)
    splits: tuple[Split, ...] = field(repr=False)
    learners: tuple[str, ...]
    guessed: tuple[str, ...] = ()
    measure: str | None = None

    @cached_property
    def design(self) -> Design:
        """Learners, data sets, repeats and folds."""
        repeats: dict[str, set[Hashable]] = {}
        folds: dict[tuple[str, Hashable], set[Hashable]] = {}
        for dataset, repeat, fold in self.splits:
            repeats.setdefault(dataset, set()).add(repeat)
            folds.setdefault((dataset, repeat), set()).add(fold)
        return Design(self.learners, tuple(repeats), max(map(len, repeats.values())), max(map(len, folds.values())))

    @property
    def tidy(self) -> pd.DataFrame:
        """A row for each score: dataset, learner, repeat, fold, value; missing ones left out."""
        import pandas as pd

        rows, columns = np.nonzero(~np.isnan(self.cells))
        lines = [(self.splits[i], self.learners[j], self.cells[i, j]) for i, j in zip(rows, columns, strict=True)]
        named = [(split[0], learner, split[1], split[2], value) for split, learner, value in lines]
        return pd.DataFrame(named, columns=["dataset", "learner", "repeat", "fold", "value"])

    def frame(self) -> pd.DataFrame:
        """The same as `tidy`."""
        return self.tidy

    def without(self, datasets: Container[str] = (), learners: Container[str] = ()) -> Scores:
        """Without these data sets and learners."""
        rows = [i for i, split in enumerate(self.splits) if split[0] not in datasets]
        columns = [i for i, name in enumerate(self.learners) if name not in learners]
        splits = tuple(self.splits[i] for i in rows)
        names = tuple(self.learners[i] for i in columns)
        return Scores(self.cells[np.ix_(rows, columns)], splits, names, self.guessed, self.measure)

    def shared(self) -> Scores:
        """Without the splits that a learner lacks while it has others of the same data set: so means stay comparable."""
        if not np.isnan(self.cells).any():
            return self
        kept = np.ones(len(self.splits), dtype=bool)
        for rows in self.rows_of().values():
            holes = np.isnan(self.cells[rows])
            kept[rows] = ~holes[:, ~holes.all(axis=0)].any(axis=1)
        # A data set without any common split stays, as holes for all.
        lost = [rows for rows in self.rows_of().values() if not kept[rows].any()]
        cells = self.cells.copy()
        for rows in lost:
            kept[rows[0]], cells[rows[0]] = True, np.nan
        splits = tuple(split for split, keep in zip(self.splits, kept, strict=True) if keep)
        return Scores(cells[kept], splits, self.learners, self.guessed, self.measure)

    def rows_of(self) -> dict[str, list[int]]:
        """The rows of each data set."""
        rows: dict[str, list[int]] = {}
        for row, (dataset, _, _) in enumerate(self.splits):
            rows.setdefault(dataset, []).append(row)
        return rows

    def means(self) -> FloatArray:
        """The mean over repeats and folds, data sets x learners, of the splits that all learners of a data set have."""
        shared = self.shared()
        rows = shared.rows_of()
        if len(rows) == len(shared.splits):
            return shared.cells
        return np.array([shared.cells[each].mean(axis=0) for each in rows.values()])

    def wide(self) -> pd.DataFrame:
        """`means()` as a frame: rows data sets, columns learners."""
        import pandas as pd

        index = pd.Index(self.design.datasets, name="dataset")
        return pd.DataFrame(self.means(), index=index, columns=list(self.learners))

    def __str__(self) -> str:
        return ". ".join([f"Scores: {self.design}", *self.guessed]) + "."

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>" + self.wide().to_html()


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "fold"), counted(3000, "fold")
    ('1 fold', '3,000 folds')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
