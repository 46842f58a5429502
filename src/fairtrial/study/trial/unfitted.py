"""An estimator without what it may have learnt before: nothing of rows that it met elsewhere may reach a trial."""

from __future__ import annotations

from typing import Any

from fairtrial.errors import InputError

_REMEDY = "hand over one that has not learnt yet, or give it scikit-learn's get_params"


def unfitted(estimator: Any, name: str = "learner") -> Any:
    """A copy with the same parameters that has learnt nothing; InputError where no such copy can be made.

    Also of estimators that change their parameters in `__init__`, which scikit-learn's `clone` refuses. One that has no
    `get_params` is copied as it is, unless attributes whose names end in an underscore tell that it has learnt.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> hasattr(unfitted(GaussianNB().fit([[0.0], [1.0]], [0, 1])), "theta_")
    False
    """
    fresh = _fresh(estimator, name)
    _refuse_learnt(fresh, name)
    return fresh


def _fresh(value: Any, name: str) -> Any:
    """What `clone` gives; where it refuses, the same without its insistence that `__init__` keeps each parameter as it is."""
    from sklearn.base import clone

    try:
        return clone(value, safe=False)
    except Exception as error:
        if isinstance(value, (list, tuple, set, frozenset)):
            return type(value)([_fresh(each, name) for each in value])
        if hasattr(value, "get_params"):
            return _made_anew(value, name)
        if hasattr(value, "fit"):
            raise InputError(f"{name} must let a copy of it be made, got {type(value).__name__} ({error}): {_REMEDY}") from None
        return value  # a lock, an open file: whether it can travel is seen when it is to


def _made_anew(estimator: Any, name: str) -> Any:
    parameters = {key: _fresh(each, name) for key, each in estimator.get_params(deep=False).items()}
    try:
        fresh = type(estimator)(**parameters)
    except Exception as error:
        what = f"{type(estimator).__name__}(**get_params()) raises {type(error).__name__}: {error}"
        raise InputError(f"{name} must let an unfitted copy of it be made, got one that does not ({what}): {_REMEDY}") from None
    for key in parameters.keys() & getattr(fresh, "__dict__", {}).keys():  # as they were, not changed by `__init__` once more
        setattr(fresh, key, parameters[key])
    return fresh


def _refuse_learnt(fresh: Any, name: str) -> None:
    """Parts without parameters are copied whole: they must not have learnt."""
    parts = [fresh, *(fresh.get_params(deep=True).values() if hasattr(fresh, "get_params") else ())]
    for part in parts:
        if not hasattr(part, "fit") or hasattr(part, "get_params") or isinstance(part, type):
            continue
        learnt = [each for each in getattr(part, "__dict__", {}) if each.endswith("_") and not each.startswith("_")]
        if learnt:
            what = f"{type(part).__name__} with {learnt[0]}"
            raise InputError(f"{name} must not have learnt before, got {what}, which cannot be made anew: {_REMEDY}")
