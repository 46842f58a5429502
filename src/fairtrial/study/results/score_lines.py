"""Lines of a table of scores: one for each trial, or one for all folds of a repeat, with a value for each measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.study.archive import Archive
from fairtrial.study.evidence import ABSTAINED, Predictions
from fairtrial.study.results.class_order import ClassOrder
from fairtrial.study.results.scoring import Asked, score

if TYPE_CHECKING:
    import pandas as pd

PLACE = ["dataset", "condition", "level", "learner", "repeat", "fold"]


@dataclass(frozen=True, eq=False)
class Lines:
    """`frame` has PLACE and status; line i is made of `trials[starts[i]:starts[i + 1]]`, of none where one failed."""

    frame: pd.DataFrame
    trials: IntArray
    starts: IntArray

    @classmethod
    def single(cls, trials: pd.DataFrame) -> Lines:
        """A line for each trial."""
        ran = (trials["status"] == "ok").to_numpy()
        numbers = trials["trial"].to_numpy()[ran]
        return cls(trials[[*PLACE, "status"]], numbers, np.concatenate(([0], np.cumsum(ran))))

    @classmethod
    def pooled(cls, trials: pd.DataFrame) -> Lines:
        """A line for all folds of a repeat, with fold -1; where one of them failed or has not run, its status is the line's."""
        import pandas as pd

        groups = trials.groupby(PLACE[:-1], sort=False, observed=True, dropna=False).ngroup().to_numpy()
        order = np.argsort(groups, kind="stable")
        statuses = trials["status"].to_numpy()[order]
        edges = np.flatnonzero(np.diff(groups[order], prepend=-1))
        bad = pd.Series(np.where(statuses == "ok", len(order), np.arange(len(order))))
        worst = bad.groupby(groups[order]).min().to_numpy()
        whole = worst == len(order)
        frame = trials.iloc[order[edges]][[*PLACE, "status"]].reset_index(drop=True)
        frame["fold"] = -1
        frame["status"] = np.where(whole, "ok", statuses[np.minimum(worst, len(order) - 1)])
        used = whole[groups[order]]
        sizes = np.where(whole, np.diff(edges, append=len(order)), 0)
        return cls(frame, trials["trial"].to_numpy()[order[used]], np.concatenate(([0], np.cumsum(sizes))))

    def values(
        self, archive: Archive, orders: Sequence[ClassOrder], wanted: Sequence[Asked]
    ) -> tuple[FloatArray, npt.NDArray[Any]]:
        """Values and reasons, measures x lines, one data set after the other."""
        values = np.full((len(wanted), len(self.frame)), np.nan)
        reasons = np.zeros((len(wanted), len(self.frame)), dtype=np.uint8)
        datasets = self.frame["dataset"].to_numpy()
        for facts, order in zip(archive.datasets, orders, strict=True):
            mine = np.flatnonzero((datasets == facts.name) & (np.diff(self.starts) > 0))
            if len(mine):
                values[:, mine], reasons[:, mine] = score(self._evidence(archive, mine), order, wanted)
        return values, reasons

    def _evidence(self, archive: Archive, lines: IntArray) -> Iterator[Predictions]:
        numbers = [self.trials[self.starts[line] : self.starts[line + 1]] for line in lines]
        found = iter(archive.predictions(np.concatenate(numbers).tolist()))
        for own in numbers:
            yield next(found) if len(own) == 1 else joined([next(found) for _ in own])


def joined(parts: Sequence[Predictions]) -> Predictions:
    """The test rows of several trials as one; scores only where all parts have them and of one kind.

    Shares that sum to 1 in some parts and not in others, where the learner abstained, join as scores that are no probabilities.

    >>> one = Predictions(np.array([0]), np.array([1]), np.array([1]), None, None)
    >>> joined([one, one]).truth.tolist()
    [1, 1]
    """
    scores, kinds = [one.scores for one in parts if one.scores is not None], {one.score_kind for one in parts}
    shares = all(one.score_kind == "probability" or (one.prediction == ABSTAINED).any() for one in parts)
    scored = len(scores) == len(parts) and (len(kinds) == 1 or shares)
    columns = [np.concatenate([getattr(one, name) for one in parts]) for name in ("rows", "truth", "prediction")]
    kind = None if not scored else parts[0].score_kind if len(kinds) == 1 else "decision"
    return Predictions(columns[0], columns[1], columns[2], np.concatenate(scores) if scored else None, kind)
