"""The pairs of rankings in which Berrar looks for the better one: two models, of which the first is truly better."""

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
    """Scores of the better and the worse model, and the classes (1: positive): a line for each pair, a column for each case."""

    labels: npt.NDArray[np.int8]
    better: FloatArray
    worse: FloatArray

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class RankingPairs:
    """Berrar's synthetic experiments (2014, section 4.1, after Ferri et al. 2009), for thousands of pairs at once.

    A score for each of 100 cases is uniform on [0, 1]; cases with a score of at least 0.5 are positive. The better model
    has these scores, but 10 of them are replaced by new uniform numbers; the worse one has the better one's, with 10 further
    ones replaced. At threshold 0.5 the expected accuracies are 95 % and 90 %. Noise is added afterwards, by conditions.

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
        """So many independent pairs. `rng` is a seed or a generator."""
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
