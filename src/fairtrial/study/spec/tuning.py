"""A learner whose parameters are tuned by resampling the training set."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from fairtrial._check import FloatArray, check_generator, check_number, check_one_of
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, LearnerError, SuspectInputWarning, UndefinedMeasureWarning
from fairtrial.learners import Facts, Prepared
from fairtrial.learners.learner import has_inner_method
from fairtrial.measures import get_measure
from fairtrial.study.records import find_abstention_label
from fairtrial.study.spec.models import SEARCHES

_DEFAULT_ITERATIONS = 20

_PREDICTION_NEEDS = ("labels", "scores", "probabilities")

_IGNORED = ("One or more of the test scores are non-finite", "The total space of parameters")
"""Expected warnings of scikit-learn's searches. Undefined scores are left out of means, and a small space is searched fully."""


@dataclass(frozen=True)
class ParameterRange:
    """A range of numbers for searches that draw values. If both limits are integers, the values are integers.

    Parameters
    ----------
    low, high : int or float
        Limits of the range. Both are included.
    log : bool, default False
        Draw on a logarithmic scale.

    Examples
    --------
    >>> ParameterRange(1, 4).rvs(random_state=0), round(ParameterRange(0.01, 100, log=True).rvs(random_state=0), 3)
    (3, 1.568)
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            check_number(name, getattr(self, name))
        if not isinstance(self.log, bool):
            raise InputError(f"log must be true or false, got {self.log!r}")
        if not self.low < self.high < np.inf:
            raise InputError(f"low must be below high, got low {self.low!r} and high {self.high!r}: swap or change them")
        if self.log and self.low <= 0:
            raise InputError(f"low must be positive for a logarithmic scale, got {self.low!r}: raise it, or remove log")

    @property
    def is_whole(self) -> bool:
        """Whether the values are integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def rvs(self, size: int | None = None, random_state: Any = None) -> Any:
        """Draw a value, or `size` values. scikit-learn's searches call this method."""
        limits = np.array([self.low, self.high]) + (np.array([-0.5, 0.5]) if self.is_whole else 0.0)
        if self.log:
            limits = np.log(limits)
        values = check_random_state(random_state).uniform(*limits, size=size)
        values = np.exp(values) if self.log else values
        drawn = np.clip(np.rint(values).astype(int) if self.is_whole else values, self.low, self.high)
        return drawn if size is not None else drawn.item()

    def suggest(self, trial: Any, name: str) -> Any:
        """Let an Optuna trial suggest a value."""
        return (trial.suggest_int if self.is_whole else trial.suggest_float)(name, self.low, self.high, log=self.log)


class Tuned(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A learner that chooses its parameters on inner splits and is then fitted with them.

    A scikit-learn or Optuna search selects the combinations of parameter values to try. If several combinations have the
    best score, the first of them is chosen. A grid is tried in alphabetical order of the parameter names and, for each
    parameter, in the order of its list. After fitting, `chosen_` contains the best parameters, and `score_` is their mean
    score. `tried_` lists the tried combinations with their mean scores, and `learner_` is the fitted learner.

    Parameters
    ----------
    learner : estimator
        Learner to tune.
    grid : mapping of str to list, ParameterRange or distribution
        Values to try for each parameter: a list or, unless the search is "grid", a range. The searches "random" and "halving"
        also accept SciPy distributions. For a prepared learner, the prefix `sampler__` marks parameters of its sampler.
    resampling : splitter, optional
        Splitter for the inner splits. Default: 5 stratified folds.
    measure : str, default "accuracy"
        Measure to optimize.
    random_state : int, optional
        Seed for the inner splits and the search.
    search : {"grid", "random", "halving", "optuna"}, default "grid"
        "grid" tries every combination, and "random" draws combinations. "halving" tries all candidates on few rows, and then
        only the best candidates on more rows. "optuna" draws combinations with the tree-structured Parzen estimator.
    iterations : int, optional
        Number of combinations to draw. Default: 20. For "halving", the default is all combinations of the lists or, if there
        are ranges, as many combinations as the number of rows allows.

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
    fairtrial_added_parameters: ClassVar[Mapping[str, Any]] = {"search": "grid", "iterations": None}
    """Parameters that earlier versions of this class lacked, with their defaults.

    A parameter that has its default is left out of content hashes, so stored trials stay valid.
    """

    def __init__(
        self,
        learner: Any,
        grid: Any,
        resampling: Any = None,
        measure: str = "accuracy",
        random_state: Any = None,
        search: str = "grid",
        iterations: int | None = None,
    ) -> None:
        self.learner = learner
        self.grid = grid
        self.resampling = resampling
        self.measure = measure
        self.random_state = random_state
        self.search = search
        self.iterations = iterations

    def fit(self, X: Any, y: Any, groups: Any = None, time: Any = None) -> Tuned:
        """Choose the parameters, then fit on all rows. The inner splits use `groups` and `time` if the splitter needs them."""
        check_one_of("search", self.search, SEARCHES)
        rng = check_generator("random_state", self.random_state)
        splits = self._make_inner_splits(X, y, groups, time, rng)
        seed = int(rng.integers(2**31))
        tried, finalists = (self._search_with_optuna if self.search == "optuna" else self._search)(X, y, splits, seed)
        means = [mean for _, mean in tried]
        if all(np.isnan(means[index]) for index in finalists):
            raise LearnerError(f"{self.measure} is undefined in all {len(splits)} inner splits: choose another measure")
        best = finalists[int(np.nanargmax([means[index] for index in finalists]))]
        self.tried_ = tried
        self.chosen_, self.score_ = tried[best]
        self.learner_ = self._with_parameters(self.chosen_).fit(X, y)
        self.classes_ = self.learner_.classes_
        return self

    def _make_inner_splits(self, X: Any, y: Any, groups: Any, time: Any, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        from fairtrial.resampling import StratifiedKFold

        splitter = StratifiedKFold(5) if self.resampling is None else self.resampling
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuspectInputWarning)  # rare classes are expected
            return [tuple(split) for split in splitter.freeze(X, y, groups, time=time, random_state=rng)]

    def _search(self, X: Any, y: Any, splits: list[tuple[Any, Any]], seed: int) -> tuple[list[tuple[Any, float]], list[int]]:
        """Return all combinations with their mean scores, and the indices of the final candidates."""
        search = self._build_search({"scoring": self._score, "cv": splits, "refit": False, "return_train_score": False}, seed)
        with warnings.catch_warnings():
            for message in _IGNORED:
                warnings.filterwarnings("ignore", message)
            search.fit(X, y)
        results = search.cv_results_
        scores = np.column_stack([results[f"split{number}_test_score"] for number in range(len(splits))])
        names = {self.get_parameter_path(name): name for name in self.grid}
        order = sorted(self.grid)
        combinations = [{names[path]: value for path, value in parameters.items()} for parameters in results["params"]]
        tried = [
            ({name: combination[name] for name in order}, _average(row))
            for combination, row in zip(combinations, scores, strict=True)
        ]
        last = results.get("iter", np.zeros(len(tried)))
        return tried, np.flatnonzero(last == np.max(last)).tolist()

    def _build_search(self, options: dict[str, Any], seed: int) -> Any:
        from sklearn.experimental import enable_halving_search_cv  # noqa: F401  # makes the next import possible
        from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, HalvingRandomSearchCV, RandomizedSearchCV

        space = {self.get_parameter_path(name): values for name, values in self.grid.items()}
        draws_values = self.iterations is not None or any(hasattr(values, "rvs") for values in space.values())
        if self.search == "grid":
            return GridSearchCV(self.learner, self._list_combinations(), error_score="raise", **options)
        if self.search == "random":
            n_iter = self.iterations or _DEFAULT_ITERATIONS
            return RandomizedSearchCV(self.learner, space, n_iter=n_iter, error_score="raise", random_state=seed, **options)
        if draws_values:
            n_candidates = self.iterations or "exhaust"
            return HalvingRandomSearchCV(self.learner, space, n_candidates=n_candidates, random_state=seed, **options)
        return HalvingGridSearchCV(self.learner, self._list_combinations(), random_state=seed, **options)

    def _list_combinations(self) -> list[dict[str, list[Any]]]:
        """List all combinations, each as a grid with one point.

        scikit-learn would try a single grid in a different order, and the order decides between combinations with equal scores.
        """
        names = sorted(self.grid)
        paths = [self.get_parameter_path(name) for name in names]
        combinations = product(*(self.grid[name] for name in names))
        return [{path: [value] for path, value in zip(paths, values, strict=True)} for values in combinations]

    def _search_with_optuna(
        self, X: Any, y: Any, splits: list[tuple[Any, Any]], seed: int
    ) -> tuple[list[tuple[Any, float]], list[int]]:
        from sklearn.model_selection import cross_val_score

        optuna = import_optuna()
        tried: list[tuple[Any, float]] = []

        def evaluate(trial: Any) -> float:
            combination = {name: _suggest(trial, name, self.grid[name]) for name in sorted(self.grid)}
            learner = self._with_parameters(combination)
            mean = _average(cross_val_score(learner, X, y, cv=splits, scoring=self._score, error_score="raise"))
            tried.append((combination, mean))
            if np.isnan(mean):
                raise optuna.TrialPruned
            return mean

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        study.optimize(evaluate, n_trials=self.iterations or _DEFAULT_ITERATIONS)
        return tried, list(range(len(tried)))

    def _score(self, learner: Any, X: Any, y: Any) -> float:
        """Score a fitted learner. Higher scores are better."""
        learner.abstention_ = find_abstention_label(learner)  # read by the scorer
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            return float(get_measure(self.measure).scorer()(learner, X, y))

    def check_grid(self) -> None:
        """Check that the grid maps parameters to lists of values or, if the search draws values, to ranges."""
        if not isinstance(self.grid, Mapping) or not self.grid:
            raise InputError(
                f"grid must map parameters to lists of values, got {self.grid!r}: write grid = {{ n_neighbours = [1, 3, 5] }}"
            )
        names = self._list_grid_names()
        for name, values in self.grid.items():
            if name not in names:
                raise InputError(f"grid has {name!r}, which is not a parameter: {suggest_name(name, names)}")
            if isinstance(values, ParameterRange) or (hasattr(values, "rvs") and self.search != "optuna"):
                if self.search == "grid":
                    remedy = f'list values, or choose search = "random", "halving" or "optuna" (got {values!r})'
                    raise InputError(f"grid must have a list of values for {name} to try every combination: {remedy}")
            elif not isinstance(values, (list, tuple)) or not values:
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
        """Predict classes with the best parameters."""
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
    """Return the main name of a measure. Refuse measures that do not use predicted classes, scores or probabilities."""
    measure = get_measure(name)
    if measure.facts.needs not in _PREDICTION_NEEDS:
        subject = "numeric predictions" if measure.facts.needs == "values" else "several results"
        raise InputError(f"{name} is a measure of {subject}: choose a measure of predicted classes, such as accuracy")
    return str(measure.name)


def import_optuna() -> Any:
    """Import Optuna, or explain how to install it."""
    try:
        import optuna
    except ImportError:
        raise InputError("search = 'optuna' needs the package optuna: run pip install 'fairtrial[tune]'") from None
    return optuna


def _suggest(trial: Any, name: str, values: Any) -> Any:
    """Let an Optuna trial suggest a value. List items are chosen by index, because they can be any objects."""
    if isinstance(values, ParameterRange):
        return values.suggest(trial, name)
    return values[trial.suggest_categorical(name, list(range(len(values))))]


def _average(scores: Any) -> float:
    """Compute the mean score over the inner splits on which the measure is defined."""
    defined = np.asarray(scores, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    return float(defined.mean()) if len(defined) else float("nan")
