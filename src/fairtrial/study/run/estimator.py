"""Unpickle, copy and seed the learners of trials, and convert data to the form that the learners accept."""

from __future__ import annotations

import hashlib
import pickle
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial.study.plan.schedule import clone_unfitted

if TYPE_CHECKING:
    from fairtrial.study.run.trial_data import TrialData


_BY_NAME = ("ColumnTransformer",)  # classes that select columns by name and need a frame


class TrialLearner:
    """A learner that several trials share. `make_estimator(seed)` makes an unfitted copy for each trial.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> learner = TrialLearner(pickle.dumps(RandomForestClassifier()))
    >>> learner.name, learner.make_estimator(5).random_state
    ('RandomForestClassifier', 5)
    """

    def __init__(self, pickled: bytes) -> None:
        self.identity = hashlib.blake2b(pickled, digest_size=16).digest()
        estimator = clone_unfitted(pickle.loads(pickled))  # pickled by the study that is running, never read from a file
        self.name = _get_class_name(estimator)
        self.as_declared = PreparedEstimator(estimator)
        bare = extract_bare_learner(estimator)
        self._bare = None if bare is None else PreparedEstimator(bare, is_bare=True)

    def make_estimator(self, seed: int) -> Any:
        """Make an unfitted copy and set each unset `random_state` to the seed."""
        return self.as_declared.make_estimator(seed)

    def select_estimator(self, finite: bool) -> PreparedEstimator:
        """Select the estimator for tables of finite numbers (`finite`), or for other tables."""
        return self._bare if finite and self._bare is not None else self.as_declared

    @property
    def has_shortcut(self) -> bool:
        """Whether tables of finite numbers need no preparation."""
        return self._bare is not None


class PreparedEstimator:
    """An unfitted estimator that converts tables and classes to the form it accepts."""

    def __init__(self, estimator: Any, *, is_bare: bool = False) -> None:
        self.prototype = estimator
        parameters = _get_parameters(estimator)
        components = [estimator, *parameters.values()]
        self._categories = (is_bare and not _is_plain_sklearn(estimator)) or any(
            _is_reader(component) for component in components
        )
        self._by_name = _needs_names(estimator, parameters)
        unset = [name for name, value in parameters.items() if name.split("__")[-1] == "random_state" and value is None]
        self._paths = [name.split("__") for name in unset if _is_plain(estimator, name.split("__"))]
        self._named = [name for name in unset if name.split("__") not in self._paths]
        self.scores_pairs = any(
            name.split("__")[-1] == "decision_function_shape" and value == "ovo" for name, value in parameters.items()
        )

    def make_estimator(self, seed: int) -> Any:
        """Make a copy and set each unset `random_state` to the seed."""
        estimator = deepcopy(self.prototype)
        for *owners, last in self._paths:
            owner = estimator
            for name in owners:
                owner = getattr(owner, name)
            setattr(owner, last, seed)
        return estimator.set_params(**dict.fromkeys(self._named, seed)) if self._named else estimator

    def convert_table(self, X: Any, data: TrialData) -> Any:
        """Convert a table to a frame if the estimator selects columns by name."""
        return data.to_frame(X) if self._by_name else X

    def convert_classes(self, codes: IntArray, data: TrialData) -> Any:
        """Convert codes to labels. Learners that read typed columns get a categorical with all declared classes."""
        if not self._categories:
            return data.labels[codes]
        import pandas as pd

        return pd.Series(data.to_categorical(codes))


def extract_bare_learner(estimator: Any) -> Any:
    """Extract the learner from a standard preparation that leaves finite numbers unchanged. Return None in all other cases.

    >>> from fairtrial.learners import Prepared
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> extract_bare_learner(Prepared(GaussianNB())), extract_bare_learner(Prepared(LogisticRegression()))
    (GaussianNB(), None)
    """
    from fairtrial.learners import Prepared
    from fairtrial.learners.prepared import facts_of

    if type(estimator) is not Prepared or not isinstance(estimator.preparation, str) or estimator.preparation != "standard":
        return None
    if estimator.sampler is not None or estimator.nominal is not None or not hasattr(estimator.learner, "fit"):
        return None
    facts = facts_of(estimator.learner)
    return None if facts.scale is not None or facts.numbered or facts.prepares else estimator.learner


def _get_class_name(estimator: Any) -> str:
    """Get the class name of the learner, ignoring its preparation."""
    from fairtrial.learners import Prepared

    return type(estimator.learner if type(estimator) is Prepared else estimator).__name__


def _get_parameters(estimator: Any) -> dict[str, Any]:
    """Get all parameters, including those of components."""
    return dict(estimator.get_params(deep=True)) if hasattr(estimator, "get_params") else {}


def _is_reader(value: Any) -> bool:
    from fairtrial.learners.learner import TypedClassifier

    return isinstance(value, TypedClassifier)


def _is_plain_sklearn(estimator: Any) -> bool:
    """Whether the estimator is a scikit-learn learner without components. Such learners accept labels in any form."""
    components = (value for value in _get_parameters(estimator).values() if not isinstance(value, np.ndarray))
    alone = not any(hasattr(value, "fit") or isinstance(value, (list, tuple)) for value in components)
    return alone and type(estimator).__module__.split(".")[0] == "sklearn"


def _needs_names(estimator: Any, parameters: dict[str, Any]) -> bool:
    """Whether a component selects columns by name."""
    for name, value in [("", estimator), *parameters.items()]:
        last = name.split("__")[-1]
        if type(value).__name__ in _BY_NAME or (last == "nominal" and value is not None):
            return True
        if last == "preparation" and not isinstance(value, str):
            return True
    return False


def _is_plain(estimator: Any, path: list[str]) -> bool:
    """Whether a parameter can be set as an attribute. All its owners must follow the rules of scikit-learn."""
    from sklearn.base import BaseEstimator

    owner = estimator
    for index, name in enumerate(path):
        plain = getattr(type(owner), "set_params", None) is BaseEstimator.set_params
        if not plain or name not in getattr(owner, "__dict__", {}):
            return False
        owner = owner if index == len(path) - 1 else getattr(owner, name)
    return True
