"""Noise filters: samplers that remove training rows that are probably mislabelled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from fairtrial import _check
from fairtrial._check import IntArray
from fairtrial.errors import InputError
from fairtrial.learners.c45 import C45
from fairtrial.learners.learner import clone_with_seeds, require_object

BoolArray = npt.NDArray[np.bool_]


class NoiseFilter(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class for noise filters, with the sampler interface of imbalanced-learn.

    A subclass implements `_find_kept_rows`. The base learner receives the table unchanged, so nominal columns are allowed.
    """

    estimator: Any
    vote: str
    random_state: Any

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Remove the rows that are probably mislabelled.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.

        Returns
        -------
        X, y
            The remaining rows, in the original order, and their classes.
        """
        _check.check_one_of("vote", self.vote, ["majority", "consensus"])
        require_object("estimator", self._get_base_learner(), "fit", "fairtrial.learners.make_learner")
        table = X if hasattr(X, "iloc") else np.asarray(X)
        labels = _check.check_column("y", y)
        if len(table) != len(labels):
            raise InputError(f"X and y must have the same number of rows, got {len(table)} and {len(labels)}")
        self.sample_indices_ = self._find_kept_rows(table, labels, _check.check_generator("random_state", self.random_state))
        return _safe_indexing(table, self.sample_indices_), _safe_indexing(y, self.sample_indices_)

    def _find_kept_rows(self, table: Any, labels: npt.NDArray[Any], rng: np.random.Generator) -> IntArray:
        raise NotImplementedError

    def _get_base_learner(self) -> Any:
        return C45() if self.estimator is None else self.estimator

    def _find_errors(
        self, table: Any, labels: npt.NDArray[Any], training_rows: IntArray, rng: np.random.Generator
    ) -> BoolArray:
        """Train a member on the given training rows, and mark all rows that the member misclassifies."""
        member = clone_with_seeds(self._get_base_learner(), rng)
        member.fit(_safe_indexing(table, training_rows), labels[training_rows])
        return np.asarray(member.predict(table) != labels)

    def _vote(self, errors: BoolArray) -> BoolArray:
        """Mark the rows that are misclassified by all members (consensus) or by more than half of the members (majority)."""
        n_votes, n_members = errors.sum(axis=0), len(errors)
        return np.asarray(n_votes == n_members if self.vote == "consensus" else n_votes > n_members / 2)


def _assign_stratified_folds(labels: npt.NDArray[Any], n_folds: int, rng: np.random.Generator) -> IntArray:
    """Assign rows at random to folds that preserve the class proportions."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(np.unique(labels, return_inverse=True)[1][order], kind="stable")]
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % n_folds
    return folds


class CVCF(NoiseFilter):
    """Cross-validated committees filter: removes rows that cross-validated models misclassify.

    The rows are divided into stratified folds. For each fold, one member is trained on all other folds and predicts all rows
    (Verbaeten & Van Assche 2003).

    Parameters
    ----------
    estimator : estimator, optional
        Base learner. Default: C45.
    n_folds : int, default 10
        Number of folds.
    vote : {"majority", "consensus"}, default "majority"
        Whether to remove rows that more than half of the members misclassify, or only rows that all members misclassify.
    random_state : int or Generator, optional
        Random seed or generator.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        Indices of the remaining rows.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(40.0)[:, None], np.repeat(["low", "high"], 20)
    >>> y[5] = "high"  # a wrong label
    >>> rows, labels = CVCF(random_state=1).fit_resample(X, y)
    >>> np.setdiff1d(X, rows)
    array([5.])
    """

    def __init__(self, estimator: Any = None, n_folds: int = 10, *, vote: str = "majority", random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.vote = vote
        self.random_state = random_state

    def _find_kept_rows(self, table: Any, labels: npt.NDArray[Any], rng: np.random.Generator) -> IntArray:
        _check.check_whole_number("n_folds", self.n_folds, 2)
        if self.n_folds > len(labels):
            raise InputError(f"n_folds must be at most {len(labels)}, the number of rows, got {self.n_folds}")
        folds = _assign_stratified_folds(labels, self.n_folds, rng)
        errors = [self._find_errors(table, labels, np.flatnonzero(folds != fold), rng) for fold in range(self.n_folds)]
        return np.flatnonzero(~self._vote(np.array(errors)))


class IPF(NoiseFilter):
    """Iterative-partitioning filter: removes rows that models trained on partitions misclassify.

    The rows are divided into stratified partitions, and one member is trained on each. A row is removed if it is misclassified
    both by the vote of the members and by the member trained on its partition (Khoshgoftaar & Rebours 2007). The procedure is
    repeated with new partitions of the remaining rows until several consecutive iterations remove few rows.

    Parameters
    ----------
    estimator : estimator, optional
        Base learner. Default: C45.
    n_partitions : int, default 5
        Number of partitions.
    vote : {"majority", "consensus"}, default "majority"
        Whether to remove rows that more than half of the members misclassify, or only rows that all members misclassify.
    stop_proportion : float, default 0.01
        An iteration removes few rows if it removes at most this proportion of the original rows.
    stop_after : int, default 3
        Number of consecutive iterations that must remove few rows before the filter stops.
    random_state : int or Generator, optional
        Random seed or generator.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        Indices of the remaining rows.
    removed_counts_ : list of int
        Number of rows removed in each iteration.

    Notes
    -----
    Each iteration uses all remaining rows. The original algorithm also sets aside some rows that all members classify
    correctly.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(40.0)[:, None], np.repeat(["low", "high"], 20)
    >>> y[5] = "high"  # a wrong label
    >>> noise_filter = IPF(random_state=1)
    >>> rows, labels = noise_filter.fit_resample(X, y)
    >>> np.setdiff1d(X, rows), noise_filter.removed_counts_
    (array([5.]), [1, 0, 0, 0])
    """

    def __init__(
        self,
        estimator: Any = None,
        n_partitions: int = 5,
        *,
        vote: str = "majority",
        stop_proportion: float = 0.01,
        stop_after: int = 3,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_partitions = n_partitions
        self.vote = vote
        self.stop_proportion = stop_proportion
        self.stop_after = stop_after
        self.random_state = random_state

    def _find_kept_rows(self, table: Any, labels: npt.NDArray[Any], rng: np.random.Generator) -> IntArray:
        _check.check_whole_number("n_partitions", self.n_partitions, 2)
        _check.check_whole_number("stop_after", self.stop_after, 1)
        _check.check_number("stop_proportion", self.stop_proportion)
        if not 0 <= self.stop_proportion < 1:
            raise InputError(f"stop_proportion must be at least 0 and below 1, got {self.stop_proportion!r}")
        if self.n_partitions > len(labels):
            raise InputError(f"n_partitions must be at most {len(labels)}, the number of rows, got {self.n_partitions}")
        kept = np.arange(len(labels))
        self.removed_counts_: list[int] = []
        n_small = 0  # consecutive iterations that removed few rows
        while n_small < self.stop_after and len(kept) >= self.n_partitions:
            is_noisy = self._find_noise(_safe_indexing(table, kept), labels[kept], rng)
            self.removed_counts_.append(int(is_noisy.sum()))
            n_small = n_small + 1 if is_noisy.sum() <= self.stop_proportion * len(labels) else 0
            kept = kept[~is_noisy]
        return kept

    def _find_noise(self, table: Any, labels: npt.NDArray[Any], rng: np.random.Generator) -> BoolArray:
        """Mark the rows that one iteration removes."""
        partitions = _assign_stratified_folds(labels, self.n_partitions, rng)
        members = range(self.n_partitions)
        errors = np.array([self._find_errors(table, labels, np.flatnonzero(partitions == member), rng) for member in members])
        return np.asarray(self._vote(errors) & errors[partitions, np.arange(len(labels))])
