"""Tuning: a learner whose parameters are chosen by resampling the training set."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from fairtrial._check import FloatArray, check_generator
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, LearnerError, SuspectInputWarning, UndefinedMeasureWarning
from fairtrial.learners import Facts, Prepared
from fairtrial.learners.learner import has_inner_method
from fairtrial.measures import get_measure
from fairtrial.study.records import find_abstention_label

_PREDICTION_NEEDS = ("labels", "scores", "probabilities")


class Tuned(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A learner that evaluates a parameter grid on inner splits and is then fitted with the best parameters.

    If several combinations tie, the first one is chosen. Parameter names are sorted alphabetically, and values keep the order
    of their lists. After fitting, `chosen_` contains the best parameters, `tried_` contains all combinations with their mean
    scores, and `learner_` is the fitted learner.

    Parameters
    ----------
    learner : estimator
        Learner to tune.
    grid : mapping of str to list
        Parameters with lists of values. The prefix `sampler__` marks parameters of the sampler of a prepared learner.
    resampling : splitter, optional
        Inner splits. Default: 5 stratified folds.
    measure : str, default "accuracy"
        Measure to optimize.
    random_state : int, optional
        Seed of the inner splits.

    Examples
    --------

    >>> from fairtrial.data import load
    >>> from fairtrial.learners import NearestNeighbours
    >>> from fairtrial.resampling import StratifiedKFold
    >>> data = load("iris")
    >>> tuned = Tuned(NearestNeighbours(), {"n_neighbours": [1, 9, 75]}, StratifiedKFold(3), "accuracy", random_state=1)
    >>> tuned.fit(data.X, data.y).chosen_
    {'n_neighbours': 9}
    """

    fairtrial_facts = Facts(nominal=True, missing=True, prepares=True)

    def __init__(
        self, learner: Any, grid: Any, resampling: Any = None, measure: str = "accuracy", random_state: Any = None
    ) -> None:
        self.learner = learner
        self.grid = grid
        self.resampling = resampling
        self.measure = measure
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None, time: Any = None) -> Tuned:
        """Choose the parameters, then fit on all rows; inner splits use groups and time if their scheme does."""
        names = sorted(self.grid)  # as in the content key: another order would resolve ties differently
        combinations = [dict(zip(names, values, strict=True)) for values in product(*(self.grid[name] for name in names))]
        splits = self._make_inner_splits(X, y, groups, time)
        means = [self._compute_mean(combination, X, y, splits) for combination in combinations]
        if all(np.isnan(means)):
            raise LearnerError(f"{self.measure} is undefined in all {len(splits)} inner splits: choose another measure")
        self.tried_ = list(zip(combinations, means, strict=True))
        self.chosen_ = combinations[int(np.nanargmax(means))]
        self.learner_ = self._with_parameters(self.chosen_).fit(X, y)
        self.classes_ = self.learner_.classes_
        return self

    def _make_inner_splits(self, X: Any, y: Any, groups: Any, time: Any) -> list[tuple[Any, Any]]:
        from fairtrial.resampling import StratifiedKFold

        splitter = StratifiedKFold(5) if self.resampling is None else self.resampling
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuspectInputWarning)  # rare classes are expected
            rng = check_generator("random_state", self.random_state)
            return [tuple(split) for split in splitter.freeze(X, y, groups, time=time, random_state=rng)]

    def _compute_mean(self, combination: Mapping[str, Any], X: Any, y: Any, splits: list[tuple[Any, Any]]) -> float:
        """Compute the mean score over the inner splits on which the measure is defined. Greater is better."""
        values = np.array(list(self._score_splits(combination, X, y, splits)))
        return float(np.mean(values[~np.isnan(values)])) if not np.isnan(values).all() else float("nan")

    def _score_splits(self, combination: Mapping[str, Any], X: Any, y: Any, splits: list[tuple[Any, Any]]) -> Iterator[float]:
        scorer = get_measure(self.measure).scorer()
        for train, test in splits:
            learner = self._with_parameters(combination).fit(_take_rows(X, train), _take_rows(y, train))
            learner.abstention_ = find_abstention_label(learner)  # read by the scorer
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMeasureWarning)
                yield float(scorer(learner, _take_rows(X, test), _take_rows(y, test)))

    def check_grid(self) -> None:
        """Check that the grid maps parameters of the learner to lists of values."""
        if not isinstance(self.grid, Mapping) or not self.grid:
            raise InputError(
                f"grid must map parameters to lists of values, got {self.grid!r}: write grid = {{ n_neighbours = [1, 3, 5] }}"
            )
        names = self._list_grid_names()
        for name, values in self.grid.items():
            if name not in names:
                raise InputError(f"grid has {name!r}, which is not a parameter: {suggest_name(name, names)}")
            if not isinstance(values, (list, tuple)) or not values:
                raise InputError(f"grid must have a list of values for {name}, got {values!r}: write {name} = [{values!r}]")

    def get_parameter_path(self, name: str) -> str:
        """Return the full name of a grid parameter.

        >>> from fairtrial.learners import NearestNeighbours
        >>> Tuned(Prepared(NearestNeighbours()), {}).get_parameter_path("n_neighbours")
        'learner__n_neighbours'
        """
        if not isinstance(self.learner, Prepared) or name.startswith("sampler__"):
            return name
        return f"learner__{name}"

    def _list_grid_names(self) -> list[str]:
        """List the parameters that a grid may contain."""
        names = list(self.learner.get_params(deep=True))
        if not isinstance(self.learner, Prepared):
            return names
        return [name.removeprefix("learner__") for name in names if name.startswith(("learner__", "sampler__"))]

    def _with_parameters(self, combination: Mapping[str, Any]) -> Any:
        parameters = {self.get_parameter_path(name): value for name, value in combination.items()}
        return clone(self.learner).set_params(**clone(parameters, safe=False))

    def predict(self, X: Any) -> Any:
        """Predict with the best parameters."""
        return self._get_fitted().predict(X)

    @available_if(has_inner_method("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Predict probabilities in the order of `classes_`."""
        return np.asarray(self._get_fitted().predict_proba(X))

    @available_if(has_inner_method("decision_function"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values."""
        return np.asarray(self._get_fitted().decision_function(X))

    def _get_fitted(self) -> Any:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "learner_")
        return self.learner_


def check_measure(name: str) -> str:
    """Return the main name of a measure, and refuse measures that are not computed from predictions."""
    measure = get_measure(name)
    if measure.facts.needs not in _PREDICTION_NEEDS:
        subject = "numeric predictions" if measure.facts.needs == "values" else "several results"
        raise InputError(f"{name} is a measure of {subject}: choose a measure of predicted classes, such as accuracy")
    return str(measure.name)


def _take_rows(table: Any, rows: Any) -> Any:
    """Take rows from a frame, a column or a matrix."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table[rows] if hasattr(table, "shape") else [table[row] for row in rows]
