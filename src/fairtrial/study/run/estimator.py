"""Unpickle, copy and seed the learners of trials, and convert data to the form that the learners accept."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial.study.plan.schedule import clone_unfitted

if TYPE_CHECKING:
    from fairtrial.study.run.trial_data import TrialData


_BY_NAME = ("ColumnTransformer", "FeatureUnion", "FunctionTransformer", "Pipeline")  # they may select columns by name
_NAMES_OF_COLUMNS = ("categorical_features", "monotonic_cst")  # parameters that may contain names of columns
_THREAD_PARAMETERS = ("n_jobs", "thread_count", "num_threads", "nthread", "n_threads", "num_thread", "nthreads")
_ONE_THREAD_PACKAGES = ("sklearn", "imblearn", "fairtrial")  # packages that use one thread by default


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
        hold_to_one_thread(estimator)
        forbid_writing_files(estimator)
        self.name = _get_class_name(estimator)
        self.as_declared = PreparedEstimator(estimator)
        bare = extract_bare_learner(estimator)
        self._bare = None if bare is None else PreparedEstimator(bare, is_bare=True)

    def make_estimator(self, seed: int) -> Any:
        """Make an unfitted copy, and set each `random_state` that the study leaves unset to the seed."""
        return self.as_declared.make_estimator(seed)

    def select_estimator(self, finite: bool) -> PreparedEstimator:
        """Return the estimator for a table. `finite` is True if the table contains only finite numbers."""
        return self._bare if finite and self._bare is not None else self.as_declared

    @property
    def has_shortcut(self) -> bool:
        """Whether the preparation can be skipped for tables that contain only finite numbers."""
        return self._bare is not None


class PreparedEstimator:
    """An unfitted estimator, with methods that convert tables and classes to the form that the estimator accepts."""

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
        """Make a copy, and set each `random_state` that the study leaves unset to the seed."""
        estimator = deepcopy(self.prototype)
        for *owners, last in self._paths:
            owner = estimator
            for name in owners:
                owner = getattr(owner, name)
            setattr(owner, last, seed)
        return estimator.set_params(**dict.fromkeys(self._named, seed)) if self._named else estimator

    def convert_table(self, X: Any, data: TrialData) -> Any:
        """Convert a table to a data frame if the estimator may use column names."""
        return data.to_frame(X) if self._by_name else X

    def convert_classes(self, codes: IntArray, data: TrialData) -> Any:
        """Convert codes to labels. Learners that read typed columns get a categorical with all declared classes."""
        if not self._categories:
            return data.labels[codes]
        import pandas as pd

        return pd.Series(data.to_categorical(codes))


def hold_to_one_thread(estimator: Any) -> None:
    """Set the number of threads to 1 in an estimator and its components, unless the study sets it.

    By default, LightGBM, XGBoost and CatBoost use all cores, regardless of environment variables.
    """
    for component in _iter_components(estimator, set()):
        if type(component).__module__.split(".")[0] in _ONE_THREAD_PACKAGES:
            continue
        defaults = _get_thread_defaults(type(component))
        values = component.get_params(deep=False)
        known = [name for name in _THREAD_PARAMETERS if name in defaults or name in values]
        is_set = any(values.get(name) is not None and values[name] != defaults.get(name) for name in known)
        if known and not is_set:
            with suppress(Exception):  # the parameters of third-party classes may be read-only
                component.set_params(**{known[0]: 1})


def forbid_writing_files(estimator: Any) -> None:
    """Prevent CatBoost from writing its log (`catboost_info`) to the working folder, unless the study requests it."""
    for component in _iter_components(estimator, set()):
        if type(component).__module__.split(".")[0] == "catboost":
            values = component.get_params(deep=False)
            if values.get("allow_writing_files") is None and values.get("train_dir") is None:
                component.set_params(allow_writing_files=False)


def _iter_components(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield an estimator and its components, including those in lists, tuples and dictionaries."""
    if id(value) in seen or isinstance(value, (type, str, bytes, np.ndarray)):
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        parts: Any = value
    elif isinstance(value, dict):
        parts = value.values()
    elif hasattr(value, "get_params") and hasattr(value, "set_params"):
        yield value
        parts = value.get_params(deep=False).values()
    else:
        return
    for part in parts:
        yield from _iter_components(part, seen)


def _get_thread_defaults(kind: type[Any]) -> dict[str, Any]:
    """Get the default values of thread parameters from the signatures of a class and its base classes."""
    defaults: dict[str, Any] = {}
    for ancestor in reversed(kind.__mro__[:-1]):
        with suppress(TypeError, ValueError):
            parameters = inspect.signature(ancestor.__init__).parameters  # type: ignore[misc]
            defaults |= {name: parameters[name].default for name in _THREAD_PARAMETERS if name in parameters}
    return defaults


def hold_torch_to_one_thread() -> None:
    """Limit torch to one thread if torch has been imported.

    After the import, torch ignores changes to the environment variables that set the number of threads.
    """
    torch = sys.modules.get("torch")
    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)  # type: ignore[union-attr]


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
    """Return whether the estimator is a scikit-learn learner without components. Such a learner accepts labels in any form."""
    components = (value for value in _get_parameters(estimator).values() if not isinstance(value, np.ndarray))
    alone = not any(hasattr(value, "fit") or isinstance(value, (list, tuple)) for value in components)
    return alone and type(estimator).__module__.split(".")[0] == "sklearn"


def _needs_names(estimator: Any, parameters: dict[str, Any]) -> bool:
    """Return whether an estimator or a component may use column names.

    This applies to classes of unknown packages, to pipelines, and to estimators whose parameters contain column names.
    """
    from fairtrial.learners.prepared import reads_names

    for name, value in [("", estimator), *parameters.items()]:
        last = name.split("__")[-1]
        if hasattr(value, "fit") and (type(value).__name__ in _BY_NAME or reads_names(value)):
            return True
        if (last == "nominal" and value is not None) or (last in _NAMES_OF_COLUMNS and isinstance(value, (list, dict))):
            return True
        if last == "preparation" and not isinstance(value, str):
            return True
    return False


def _is_plain(estimator: Any, path: list[str]) -> bool:
    """Return whether a parameter can be set as an attribute instead of with `set_params`.

    This is possible if all estimators on the path use scikit-learn's `set_params`, which only sets attributes.
    """
    from sklearn.base import BaseEstimator

    owner = estimator
    for index, name in enumerate(path):
        plain = getattr(type(owner), "set_params", None) is BaseEstimator.set_params
        if not plain or name not in getattr(owner, "__dict__", {}):
            return False
        owner = owner if index == len(path) - 1 else getattr(owner, name)
    return True
