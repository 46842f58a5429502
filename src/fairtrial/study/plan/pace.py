"""How long a trial takes, learnt as the study runs: by learner and data set, or from other data sets until that is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray


class Pace:
    """Predicted seconds of a trial, data sets x learners. NaN: nothing is known of the learner.

    Where a learner has been seen on other data sets only, its time is taken to grow in proportion to the rows.

    >>> pace = Pace(rows=[100, 200], learners=2)
    >>> pace.learn(learner=0, data=0, seconds=0.5)
    >>> pace.seconds.tolist()
    [[0.5, nan], [1.0, nan]]
    """

    def __init__(self, rows: Sequence[int], learners: int) -> None:
        self._rows = np.asarray(rows, dtype=np.float64)
        self._total = np.zeros((len(rows), learners))
        self._count = np.zeros((len(rows), learners))
        self._seconds = np.full((len(rows), learners), np.nan)
        self._stale: set[int] = set()

    def learn(self, learner: int, data: int, seconds: float, trials: int = 1) -> None:
        """A trial, or the mean of several, took so long."""
        self._total[data, learner] += seconds * trials
        self._count[data, learner] += trials
        self._stale.add(learner)

    @property
    def seconds(self) -> FloatArray:
        """Predicted seconds of a trial; do not write to it."""
        for learner in self._stale:
            self._seconds[:, learner] = self._predicted(learner)
        self._stale.clear()
        return self._seconds

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """Which learners have been seen on which data sets."""
        return self._count > 0

    def _predicted(self, learner: int) -> FloatArray:
        total, count = self._total[:, learner], self._count[:, learner]
        of_a_row = total.sum() / (count * self._rows).sum()
        return np.where(count > 0, total / np.maximum(count, 1), of_a_row * self._rows)
