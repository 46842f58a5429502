"""Ensembles whose members are copies of one base learner: bagging and AdaBoost.M1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from fairtrial._check import FloatArray, IntArray, check_generator, check_one_of, check_whole_number
from fairtrial.learners.c45 import C45
from fairtrial.learners.learner import (
    TrainingSet,
    TypedClassifier,
    clone_with_seeds,
    expand_probabilities,
    register_learner,
    require_object,
)
from fairtrial.learners.stump import Stump

_ROUNDING_ERROR = 1e-6  # tolerance for a weighted error of 0 or 0.5


class Ensemble(TypedClassifier):
    """Base class for ensembles. The base learner receives the table unchanged."""

    estimator: Any
    n_estimators: int
    random_state: Any

    @property
    def nominal(self) -> Any:
        """The `nominal` parameter of the base learner."""
        return getattr(self._get_base_learner(), "nominal", None)

    def _get_base_learner(self) -> Any:
        raise NotImplementedError

    def _start(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, TrainingSet]:
        check_whole_number("n_estimators", self.n_estimators, 1)
        require_object("estimator", self._get_base_learner(), "fit", "fairtrial.learners.make_learner")
        training = self._read_training(X, y, sample_weight)
        table, _ = self._check_input(X, reset=True)
        if sample_weight is not None:
            table = _safe_indexing(table, np.flatnonzero(np.asarray(sample_weight) > 0))
        return table, training

    def _make_member(self, rng: np.random.Generator) -> Any:
        return clone_with_seeds(self._get_base_learner(), rng)

    def _read_query(self, X: Any) -> Any:
        """Check and return the rows to predict."""
        self._read_rows(X)
        return self._check_input(X, reset=False)[0]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        if hasattr(self._get_base_learner(), "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(self._get_base_learner()).input_tags.allow_nan
        return tags

    def predict(self, X: Any) -> Any:
        """Predict the most probable class of each row. Ties go to the class declared first."""
        return self._choose_most_probable(self.predict_proba(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probability of each class in `classes_` for each row of X."""
        raise NotImplementedError


@register_learner("bagging")
class Bagging(Ensemble):
    """Bagging: averages or votes of base learners trained on bootstrap samples (Breiman 1996).

    Base learners that do not predict probabilities always vote.

    Parameters
    ----------
    estimator : estimator, optional
        Base learner. Default: C45.
    n_estimators : int, default 10
        Number of members.
    vote : {"average", "majority"}, default "average"
        Whether to average the probabilities of the members or to take a majority vote. With a majority vote, the class
        probabilities are the proportions of votes.
    random_state : int or Generator, optional
        Random seed or generator.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    estimators_ : list of estimators
        The fitted members.
    oob_error_ : float
        Out-of-bag error rate. Each row is predicted only by the members whose bootstrap samples do not contain it. Rows that
        occur in all samples are ignored.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Bagging(random_state=1).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.92
    >>> Bagging(vote="majority", random_state=1).fit(X[::2], y[::2]).predict_proba(X[100:101])
    array([[0., 0., 1.]])
    """

    fairtrial_added_parameters: ClassVar[Mapping[str, Any]] = {"vote": "average"}

    def __init__(
        self, estimator: Any = None, n_estimators: int = 10, *, vote: str = "average", random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.vote = vote
        self.random_state = random_state

    def _get_base_learner(self) -> Any:
        return C45() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any) -> Bagging:
        """Draw bootstrap samples, and fit one member to each.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.

        Returns
        -------
        self
        """
        check_one_of("vote", self.vote, ["average", "majority"])
        table, training = self._start(X, y)
        rng = check_generator("random_state", self.random_state)
        n, labels = len(training.codes), self.classes_[training.codes]
        self.estimators_ = []
        oob_votes = np.zeros((n, len(self.classes_)))
        for _ in range(self.n_estimators):
            rows = rng.integers(n, size=n)
            member = self._make_member(rng).fit(_safe_indexing(table, rows), self._declare_labels(labels[rows]))
            self.estimators_.append(member)
            out_of_bag = np.setdiff1d(np.arange(n), rows)
            if len(out_of_bag):
                oob_votes[out_of_bag] += self._predict_member(member, _safe_indexing(table, out_of_bag))
        self.oob_error_ = _compute_oob_error(oob_votes, training.codes)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the mean probabilities of the members, or the proportions of their votes.

        Members that abstain on a row are ignored. If all members abstain, all classes get the same probability.
        """
        rows = self._read_query(X)
        sums = np.sum([self._predict_member(member, rows) for member in self.estimators_], axis=0)
        sums[~sums.any(axis=1)] = 1.0
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))

    def _predict_member(self, member: Any, rows: Any) -> FloatArray:
        if self.vote == "majority":
            return _predict_member_votes(member, rows, self.classes_)
        return _predict_member_probabilities(member, rows, self.classes_)


@register_learner("adaboost-m1")
class AdaBoostM1(Ensemble):
    """AdaBoost.M1: trains each member on rows weighted by the errors of previous members.

    Boosting stops when the weighted error rate of a member is zero or at least 0.5 (Freund & Schapire 1996). As in WEKA, the
    probability of a class is computed from the summed log odds of the members that vote for it.

    Parameters
    ----------
    estimator : estimator, optional
        Base learner. Default: a decision stump.
    n_estimators : int, default 10
        Number of members.
    by : {"weights", "resampling"}, default "weights"
        Whether to pass the weights to the base learner, or to resample rows with probabilities proportional to their weights.
        If the base learner does not accept weights, rows are always resampled.
    random_state : int or Generator, optional
        Random seed or generator.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    estimators_ : list of estimators
        The fitted members.
    log_odds_ : ndarray
        Voting weight of each member.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostM1().fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.947
    """

    def __init__(self, estimator: Any = None, n_estimators: int = 10, *, by: str = "weights", random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.by = by
        self.random_state = random_state

    def _get_base_learner(self) -> Any:
        return Stump() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostM1:
        """Fit the members sequentially.

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
        check_one_of("by", self.by, ["weights", "resampling"])
        table, training = self._start(X, y, sample_weight)
        labels = self.classes_[training.codes]
        members: list[Any] = []
        odds: list[float] = []
        for member, error in self._iter_rounds(table, labels, training.weight.copy()):
            usable = _ROUNDING_ERROR < error < 0.5 - _ROUNDING_ERROR
            if usable or not members:
                members.append(member)
                odds.append(np.log((1 - error) / error) if usable else 0.0)
            if not usable:
                break
        self.estimators_, self.log_odds_ = members, np.array(odds)
        return self

    def _iter_rounds(self, table: Any, labels: Any, weight: FloatArray) -> Iterator[tuple[Any, float]]:
        """Yield each member with its weighted error rate, then increase the weights of the rows that it misclassifies."""
        rng = check_generator("random_state", self.random_state)
        total = weight.sum()
        for _ in range(self.n_estimators):
            member = self._train_member(table, labels, weight, rng)
            wrong = member.predict(table) != labels
            error = float(weight[wrong].sum() / weight.sum())
            yield member, error
            weight[wrong] *= (1 - error) / error
            weight *= total / weight.sum()

    def _train_member(self, table: Any, labels: Any, weight: FloatArray, rng: np.random.Generator) -> Any:
        member = self._make_member(rng)
        if self.by == "weights" and has_fit_parameter(member, "sample_weight"):
            return member.fit(table, self._declare_labels(labels), sample_weight=weight)
        rows: IntArray = rng.choice(len(labels), size=len(labels), p=weight / weight.sum())
        return member.fit(_safe_indexing(table, rows), self._declare_labels(labels[rows]))

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict probabilities from weighted votes. A single member provides its own probabilities."""
        rows = self._read_query(X)
        if len(self.estimators_) == 1:
            return _predict_member_probabilities(self.estimators_[0], rows, self.classes_)
        sums = np.zeros((len(self._read_rows(X)), len(self.classes_)))
        for member, odds in zip(self.estimators_, self.log_odds_, strict=True):
            sums += odds * (member.predict(rows)[:, None] == self.classes_)
        exponentials = np.exp(sums - sums.max(axis=1, keepdims=True))
        return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def _compute_oob_error(votes: FloatArray, codes: IntArray) -> float:
    """Compute the error rate on the rows that have out-of-bag votes. Return NaN if there are no such rows."""
    has_votes = votes.any(axis=1)
    wrong = np.argmax(votes, axis=1) != codes
    return float(wrong[has_votes].mean()) if has_votes.any() else float("nan")


def _predict_member_votes(member: Any, rows: Any, classes: Any) -> FloatArray:
    """Return the votes of a member: 1 for the predicted class of a row, otherwise 0.

    If the member abstains, all votes for the row are 0.
    """
    return np.asarray(np.asarray(member.predict(rows))[:, None] == classes, dtype=np.float64)


def _predict_member_probabilities(member: Any, rows: Any, classes: Any) -> FloatArray:
    """Predict the probabilities of all classes, or the member's vote if it does not predict probabilities."""
    if not hasattr(member, "predict_proba"):
        return _predict_member_votes(member, rows, classes)
    return expand_probabilities(member.predict_proba(rows), member.classes_, classes)
