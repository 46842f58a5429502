"""Simulated scores for pairs of models, as in Berrar (2014). The first model in each pair is the better one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """Simulated scores for pairs of models, with one row per pair and one column per case.

    Attributes
    ----------
    labels : ndarray of int8
        True labels, where 1 is positive.
    better, worse : ndarray
        Scores of the better model and of the worse model.

    Examples
    --------
    >>> pairs = RankingPairs().sample(10, rng=1)
    >>> len(pairs), pairs.labels.shape
    (10, (10, 100))
    """

    labels: npt.NDArray[np.int8]
    better: FloatArray
    worse: FloatArray

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class RankingPairs:
    """Pairs of models from the synthetic experiments of Berrar (2014, section 4.1).

    The experiments follow Ferri et al. (2009). Each case has a uniform score on [0, 1], and cases with a score of at least 0.5
    are positive. The better model has these scores, except that some are replaced with new uniform numbers. The worse model has
    the scores of the better model, except that the same number of other scores is replaced. If 10 of 100 scores are replaced,
    the expected accuracies at threshold 0.5 are 95 % and 90 %. To add noise to labels or scores, apply a condition.

    Parameters
    ----------
    cases : int, default 100
        Number of cases.
    replaced : int, default 10
        Number of scores to replace for each model, at most half the number of cases.

    Examples
    --------
    >>> pairs = RankingPairs().sample(1000, rng=1)
    >>> pairs.better.shape, int((pairs.better[0] != pairs.worse[0]).sum())
    ((1000, 100), 10)
    >>> round(float(((pairs.worse >= 0.5) == pairs.labels).mean()), 2)
    0.9
    """

    cases: int = 100
    replaced: int = 10

    def __post_init__(self) -> None:
        _check.check_whole_number("cases", self.cases, 1)
        _check.check_whole_number("replaced", self.replaced, 0)
        if 2 * self.replaced > self.cases:
            raise InputError(f"replaced must be at most half of the {self.cases} cases, got {self.replaced}")

    def sample(self, pairs: int, rng: Any = None) -> RankedPairs:
        """Draw independent pairs of models.

        Parameters
        ----------
        pairs : int
            Number of pairs of models.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        RankedPairs
        """
        source = _check.check_generator("rng", rng)
        size = (_check.check_whole_number("pairs", pairs, 1), self.cases)
        scores = source.random(size)
        labels = (scores >= 0.5).astype(np.int8)
        chosen = source.random(size).argsort(axis=1)[:, : 2 * self.replaced]
        better = _replace_scores(scores, chosen[:, : self.replaced], source)
        return RankedPairs(labels, better, _replace_scores(better, chosen[:, self.replaced :], source))


def _replace_scores(scores: FloatArray, positions: npt.NDArray[np.intp], rng: np.random.Generator) -> FloatArray:
    new = scores.copy()
    np.put_along_axis(new, positions, rng.random(positions.shape), axis=1)
    return new
