"""Nearest neighbours over numeric, nominal and missing values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, check_one_of, check_whole_number
from fairtrial._frames import EncodedTable
from fairtrial.errors import SuspectInputWarning
from fairtrial.kernels import mixed_distance
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.learners.learner import Learner, register_learner

_POWERS = {"uniform": 0.0, "inverse": 1.0}
_VOTE_CHUNK = 64


@register_learner("nearest-neighbours", aliases=("ibk", "knn", "k-nn", "1-nn"))
class NearestNeighbours(Learner):
    """The classes of the nearest training rows, by the heterogeneous distance HEOM (Wilson and Martinez 1997).

    Numbers are scaled by their training range, nominal values differ by 1 or not at all, a missing value differs by 1. All rows
    as near as the last neighbour vote as well. `votes="inverse"` weighs a vote by one over its distance. As in WEKA's IBk each
    class starts with one n-th of a vote, so that no probability is zero. A row of weight 2 counts as two rows.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NearestNeighbours(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    def __init__(self, n_neighbours: int = 1, *, votes: str = "uniform", nominal: Any = None) -> None:
        self.n_neighbours = n_neighbours
        self.votes = votes
        self.nominal = nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NearestNeighbours:
        """Keep the rows and the ranges of their numbers."""
        check_whole_number("n_neighbours", self.n_neighbours, 1)
        check_one_of("votes", self.votes, list(_POWERS))
        training = self._read_training(X, y, sample_weight)
        if training.weight.sum() < self.n_neighbours:
            message = f"all rows weigh {training.weight.sum():.3g} together, less than {self.n_neighbours} neighbours"
            warnings.warn(
                f"{message}: every row votes on every case; make the weights larger", SuspectInputWarning, stacklevel=2
            )
        filled = np.where(np.isnan(training.values).all(axis=0), 0.0, training.values)
        span = np.nanmax(filled, axis=0) - np.nanmin(filled, axis=0)
        self._span = np.where(training.columns.nominal | (span == 0), 1.0, span)
        self._rows, self._codes, self._weight = training.values / self._span, training.codes, training.weight
        return self

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        queries, nominal, k = columns.values / self._span, columns.nominal, len(self.classes_)
        power = _POWERS[self.votes]

        def count_block_votes(start: int, stop: int) -> FloatArray:
            block = queries[start:stop]
            return mixed_distance.count_neighbour_votes(
                block, self._rows, nominal, self._codes, self._weight, self.n_neighbours, power, k
            )

        votes = np.vstack(run_in_chunks(count_block_votes, len(queries), _VOTE_CHUNK)) + 1 / self._weight.sum()
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))
