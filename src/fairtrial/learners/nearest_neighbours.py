"""Nearest-neighbour classifier for numeric, nominal and missing values."""

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
    """k-nearest neighbours classifier with the HEOM distance (Wilson & Martinez 1997).

    HEOM is the heterogeneous Euclidean-overlap metric. Numbers are divided by their range in the training rows. Two different
    nominal values have distance 1, as does a missing value from any value. All rows tied with the farthest neighbour also vote.
    Each class starts with 1/n of a vote, as in WEKA's IBk, so no probability is zero.

    Parameters
    ----------
    n_neighbours : int, default 1
        Number of neighbours. A row of weight 2 counts as two rows.
    votes : {"uniform", "inverse"}, default "uniform"
        With "uniform", all votes have the same weight. With "inverse", a vote is weighted by the inverse of the distance.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NearestNeighbours(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    _kernels = (mixed_distance.count_neighbour_votes,)

    def __init__(self, n_neighbours: int = 1, *, votes: str = "uniform", nominal: Any = None) -> None:
        self.n_neighbours = n_neighbours
        self.votes = votes
        self.nominal = nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NearestNeighbours:
        """Store the training rows and the ranges of the numeric columns.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.
        sample_weight : array-like of shape (n,), optional
            Weight of each row. Rows with weight 0 are ignored.

        Returns
        -------
        self
        """
        check_whole_number("n_neighbours", self.n_neighbours, 1)
        check_one_of("votes", self.votes, list(_POWERS))
        training = self._read_training(X, y, sample_weight)
        if training.weight.sum() < self.n_neighbours:
            message = f"the sum of sample_weight is {training.weight.sum():.3g}, below n_neighbours = {self.n_neighbours}"
            warnings.warn(f"{message}: all rows vote on every case; increase the weights", SuspectInputWarning, stacklevel=2)
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
